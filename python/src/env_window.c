/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Windows of a trace as traces of their own, from time 0, each with a simulation that episodes are
 * cloned from.
 */
#include "env.h"

#include <math.h>
#include <stdlib.h>

static dls_status window_trace(const dls_trace *all, size_t first, size_t n, dls_trace **out,
                               dls_error *err)
{
    const dls_trace_columns *c = dls_trace_cols(all);
    dls_trace_builder *b;
    DLS_TRY(dls_trace_builder_create(NULL, &b, err));
    dls_status status = DLS_OK;
    for (size_t i = first; i < first + n && status == DLS_OK; i++) {
        dls_job_rec r;
        dls_job_rec_init(&r);
        r.id = dls_trace_id(all, i);
        r.submit_us = c->submit_us[i] - c->submit_us[first];
        r.gpus_milli = (int64_t)c->gpus[i] * 1000;
        r.duration_us = c->duration_us[i];
        r.iterations = dls_trace_i64(c->iterations, i);
        r.batch = dls_trace_i64(c->batch, i);
        r.model = c->model[i] >= 0 ? dls_trace_model(all, c->model[i]) : NULL;
        r.vc = c->vc[i] >= 0 ? dls_trace_vc(all, c->vc[i]) : NULL;
        r.gpu_types = c->gpu_types[i] >= 0 ? dls_trace_gpu_types(all, c->gpu_types[i]) : NULL;
        status = dls_trace_builder_add(b, &r, "window", err);
    }
    if (status != DLS_OK) {
        dls_trace_builder_destroy(b);
        return status;
    }
    return dls_trace_builder_finish(b, out, err);
}

dls_status env_window_make(size_t n, dls_setup *setup, const dls_trace *all, size_t first,
                           env_window *w, dls_error *err)
{
    DLS_TRY(window_trace(all, first, n, &w->trace, err));
    DLS_TRY(dls_simulation_create(setup, w->trace, &w->fresh, err));
    const dls_view *v = dls_simulation_view(w->fresh);
    w->n = n;
    w->gpus = calloc(w->n, sizeof *w->gpus);
    w->run = calloc(w->n, sizeof *w->run);
    w->types = calloc(w->n, sizeof *w->types);
    if (!w->gpus || !w->run || !w->types) {
        return dls_fail(err, DLS_ENOMEM, NULL, "out of memory");
    }
    for (size_t i = 0; i < w->n; i++) {
        w->gpus[i] = (float)((double)v->gpus[i] / (double)v->total_gpus);
        w->run[i] = (float)(log1p((double)v->duration_us[i] / 1e6) / 15);
        w->types[i] = dls_view_types(v, (int32_t)i);
    }
    return DLS_OK;
}
