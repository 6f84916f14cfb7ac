/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Frees traces, copies out single jobs, and names jobs without a duration.
 */
#include "base/alloc.h"
#include "base/printable.h"
#include "traces/trace_impl.h"

#include <stdio.h>

void dls_trace_destroy(dls_trace *trace)
{
    if (!trace) {
        return;
    }
    for (int c = 0; c < DLS_COL_COUNT; c++) {
        dls_free(trace->data[c]);
    }
    dls_strdict_fini(&trace->ids);
#define XX(column, member, dict, one) dls_strdict_fini(&trace->dict);
    DLS_TRACE_TEXT_MAP(XX)
#undef XX
    DLS_FREE_ALL(trace->assigned, trace);
}

const dls_trace_columns *dls_trace_cols(const dls_trace *trace)
{
    return &trace->cols;
}

const dls_trace_info *dls_trace_about(const dls_trace *trace)
{
    return &trace->info;
}

dls_status dls_trace_no_duration(const dls_trace *trace, size_t job, dls_error *err)
{
    static const char needs[] = "the run needs a performance model that knows its work";
    char where[256], id[DLS_PRINTABLE_BYTES];
    size_t without = 0;
    for (size_t i = 0; i < trace->n; i++) {
        without += trace->cols.duration_us[i] == DLS_ABSENT;
    }
    if (without == trace->n) {
        return dls_fail(
            err, DLS_EINPUT, trace->info.path,
            "the file (format %s) has no durations, in 'native' the column 'duration': %s",
            trace->info.format, needs);
    }
    snprintf(where, sizeof where, "%.200s: data row %u", trace->info.path,
             trace->cols.row[job] + 1);
    return dls_fail(err, DLS_EINPUT, where, "the duration of job '%s' is empty: %s",
                    dls_printable(dls_trace_id(trace, job), id), needs);
}

const char *dls_trace_id(const dls_trace *trace, size_t job)
{
    const int32_t *code = trace->data[DLS_COL_ID];
    return job < trace->n ? dls_strdict_get(&trace->ids, code ? code[job] : (int32_t)job) : "";
}

const char *dls_trace_origin(const dls_trace *trace, size_t job)
{
    const int32_t *code = trace->data[DLS_COL_ORIGIN];
    return code && job < trace->n ? dls_strdict_get(&trace->ids, code[job]) : "";
}

#define XX(column, member, dict, one)                                                              \
    const char *dls_trace_##one(const dls_trace *trace, int32_t code)                              \
    {                                                                                              \
        return dls_strdict_get(&trace->dict, code);                                                \
    }                                                                                              \
    size_t dls_trace_n_##dict(const dls_trace *trace)                                              \
    {                                                                                              \
        return trace->dict.n;                                                                      \
    }
DLS_TRACE_TEXT_MAP(XX)
#undef XX

static const char *or_null(const char *text)
{
    return text[0] ? text : NULL;
}

void dls_trace_job(const dls_trace *in, size_t i, dls_job_rec *rec)
{
    const dls_trace_columns *c = dls_trace_cols(in);
    *rec =
        (dls_job_rec){.id = dls_trace_id(in, i),
                      .submit_us = c->submit_us[i],
                      .gpus_milli = c->gpus_milli ? c->gpus_milli[i] : c->gpus[i] * INT64_C(1000),
                      .duration_us = c->duration_us[i],
                      .outcome = (dls_outcome)c->outcome[i],
                      .flags = c->flags[i],
#define XX(column, member, kind, what) .member = dls_trace_i64(c->member, i),
                      DLS_TRACE_NUMBER_MAP(XX)
#undef XX
#define XX(column, member, dict, one)                                                              \
    .member = c->member ? or_null(dls_trace_##one(in, c->member[i])) : NULL,
                          DLS_TRACE_TEXT_MAP(XX)
#undef XX
        };
}
