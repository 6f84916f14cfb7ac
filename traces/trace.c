/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/alloc.h"
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
    dls_strdict_fini(&trace->models);
    dls_strdict_fini(&trace->vcs);
    dls_strdict_fini(&trace->users);
    dls_strdict_fini(&trace->classes);
    dls_strdict_fini(&trace->gpu_types);
    dls_free(trace->assigned);
    dls_free(trace);
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
    char where[256];
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
                    dls_trace_id(trace, job), needs);
}

const char *dls_trace_id(const dls_trace *trace, size_t job)
{
    const int32_t *code = trace->data[DLS_COL_ID];
    return job < trace->n ? dls_strdict_get(&trace->ids, code[job]) : "";
}

const char *dls_trace_model(const dls_trace *trace, int32_t code)
{
    return dls_strdict_get(&trace->models, code);
}

const char *dls_trace_vc(const dls_trace *trace, int32_t code)
{
    return dls_strdict_get(&trace->vcs, code);
}

const char *dls_trace_user(const dls_trace *trace, int32_t code)
{
    return dls_strdict_get(&trace->users, code);
}

const char *dls_trace_class(const dls_trace *trace, int32_t code)
{
    return dls_strdict_get(&trace->classes, code);
}

const char *dls_trace_gpu_types(const dls_trace *trace, int32_t code)
{
    return dls_strdict_get(&trace->gpu_types, code);
}

size_t dls_trace_n_models(const dls_trace *trace)
{
    return trace->models.n;
}

size_t dls_trace_n_vcs(const dls_trace *trace)
{
    return trace->vcs.n;
}

size_t dls_trace_n_users(const dls_trace *trace)
{
    return trace->users.n;
}

size_t dls_trace_n_classes(const dls_trace *trace)
{
    return trace->classes.n;
}

size_t dls_trace_n_gpu_types(const dls_trace *trace)
{
    return trace->gpu_types.n;
}
