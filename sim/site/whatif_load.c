/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * More or less load: jobs of a history copied or left out.
 */
#include "site/whatif_impl.h"

#include "base/own.h"
#include "base/rng.h"
#include "base/strdict.h"
#include "traces/trace_impl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ID_BYTES = 300 };

/* ID+COPY, or with the next number that neither a job of the history nor a copy has. */
static void copy_id(const dls_trace_builder *b, const dls_strdict *ids, const char *id, int copy, char out[ID_BYTES])
{
    char other[ID_BYTES];
    do {
        snprintf(out, ID_BYTES, "%.250s+%d", id, copy++);
    } while (dls_strdict_find(ids, out, strlen(out)) >= 0 ||
             dls_trace_builder_new_id(b, out, other, sizeof other) != out);
}

static dls_status add(dls_trace_builder *b, const dls_trace *in, const dls_strdict *ids, size_t job, int copy,
                      int64_t submit_us, dls_error *err)
{
    dls_job_rec rec;
    char id[ID_BYTES];
    dls_trace_job(in, job, &rec);
    if (rec.deadline_us >= 0) { /* as long after the submission */
        const int64_t deadline_us = rec.deadline_us + submit_us - rec.submit_us;
        rec.deadline_us = deadline_us > 0 ? deadline_us : 0;
    }
    rec.submit_us = submit_us;
    if (copy == 0) {
        return dls_trace_builder_add(b, &rec, "load", err);
    }
    const char *origin = rec.id;
    copy_id(b, ids, origin, copy, id);
    rec.id = id;
    rec.queue_us = DLS_ABSENT;
    DLS_TRY(dls_trace_builder_add(b, &rec, "load", err));
    return dls_trace_builder_copied(b, origin, err);
}

static dls_status add_all(dls_trace_builder *b, const dls_trace *in, double load, double block_s,
                          uint64_t seed, dls_error *err)
{
    const dls_trace_columns *c = dls_trace_cols(in);
    DLS_OWN(dls_strdict_fini) dls_strdict ids = {0};
    int32_t code;
    for (size_t j = 0; j < c->n; j++) {
        const char *id = dls_trace_id(in, j);
        DLS_TRY(dls_strdict_put(&ids, id, strlen(id), &code, err));
    }
    const int64_t first_us = c->n ? c->submit_us[0] : 0, last_us = c->n ? c->submit_us[c->n - 1] : 0;
    const int64_t block_us = (int64_t)(block_s * 1e6), blocks = (last_us - first_us) / block_us + 1;
    for (size_t j = 0; j < c->n; j++) {
        dls_rng rng = dls_rng_stream(seed, DLS_RNG_RESAMPLE, j);
        const double at = dls_rng_unit(&rng);
        const int copies = (int)floor(load) + (at < load - floor(load));
        for (int k = 0; k < copies; k++) {
            /* A copy keeps its place in the week. */
            const int64_t later = k == 0 ? 0 : (int64_t)(dls_rng_unit(&rng) * (double)blocks);
            int64_t submit_us = c->submit_us[j] + later * block_us;
            submit_us -= submit_us > last_us && later > 0 ? blocks * block_us : 0;
            submit_us += submit_us < first_us ? block_us : 0;
            DLS_TRY(add(b, in, &ids, j, k, submit_us, err));
        }
    }
    return DLS_OK;
}

dls_status dls_whatif_load(const dls_trace *in, double load, double block_s, uint64_t seed,
                           dls_trace **out, dls_error *err)
{
    const dls_trace_options opts = {.keep_zero_duration = true};
    dls_trace_builder *b;
    DLS_TRY(dls_trace_builder_create(&opts, &b, err));
    *dls_trace_builder_info(b) = *dls_trace_about(in);
    return dls_trace_builder_end(b, add_all(b, in, load, block_s, seed, err), out, err);
}
