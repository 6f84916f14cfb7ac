/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * More or less load: jobs of a history copied or left out.
 */
#include "site/whatif_impl.h"

#include "base/rng.h"
#include "traces/trace_impl.h"

#include <math.h>
#include <stdio.h>

static dls_status add(dls_trace_builder *b, const dls_trace *in, size_t job, int copy,
                      int64_t submit_us, dls_error *err)
{
    dls_job_rec rec;
    char id[300];
    dls_trace_job(in, job, &rec);
    if (rec.deadline_us >= 0) { /* as long after the submission */
        const int64_t deadline_us = rec.deadline_us + submit_us - rec.submit_us;
        rec.deadline_us = deadline_us > 0 ? deadline_us : 0;
    }
    rec.submit_us = submit_us;
    if (copy > 0) {
        snprintf(id, sizeof id, "%.250s+%d", rec.id, copy);
        rec.id = id;
        rec.queue_us = DLS_ABSENT;
    }
    return dls_trace_builder_add(b, &rec, "load", err);
}

static dls_status add_all(dls_trace_builder *b, const dls_trace *in, double load, double block_s,
                          uint64_t seed, dls_error *err)
{
    const dls_trace_columns *c = dls_trace_cols(in);
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
            DLS_TRY(add(b, in, j, k, submit_us, err));
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
