/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Any bytes through recognition and through every trace reader: an error or a sound trace.
 */
#include "traces/reader.h"
#include "ways.h"

#include <stdlib.h>

static void check(const dls_trace *t)
{
    const dls_trace_columns *c = dls_trace_cols(t);
    if (c->n == 0) {
        abort();
    }
    for (size_t i = 0; i < c->n; i++) {
        const int64_t submit_us = c->submit_us[i], duration_us = c->duration_us[i];
        if (submit_us < 0 || submit_us > DLS_TIME_MAX_US || duration_us < DLS_ABSENT ||
            duration_us > DLS_TIME_MAX_US || c->gpus[i] < 1 || c->gpus[i] > DLS_GPUS_MAX ||
            c->outcome[i] >= DLS_OUTCOME_COUNT || c->flags[i] >> DLS_JOB_FLAG_COUNT ||
            (i > 0 && submit_us < c->submit_us[i - 1]) || !dls_trace_id(t, i)[0] ||
            c->model[i] >= (int64_t)dls_trace_n_models(t)) {
            abort();
        }
    }
}

static void try_format(const uint8_t *data, size_t size, const char *format,
                       const dls_trace_options *opts)
{
    dls_trace *t = NULL;
    dls_error err = {0};
    const dls_status status = dls_trace_parse("fuzz", data, size, format, opts, &t, &err);
    if (status == DLS_OK) {
        check(t);
        dls_trace_destroy(t);
    } else if (!err.msg[0] || t) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const dls_trace_options strict = {0};
    const dls_trace_options lax = {.keep_zero_duration = true,
                                   .allow_duplicate_ids = true,
                                   .philly_span = true,
                                   .swf_processor_is_gpu = true};
    const dls_trace_format *const *const formats = dls_trace_formats();
    size_t n = 0;
    while (formats[n]) {
        n++;
    }
    if (read_in_way(0, 2, data, size)) {
        try_format(data, size, NULL, &strict);
    }
    for (size_t i = 0; i < n; i++) {
        if (read_in_way(1, 2, data, size) && read_in_way(i, n, data, size)) {
            try_format(data, size, formats[i]->name, &lax);
        }
    }
    return 0;
}
