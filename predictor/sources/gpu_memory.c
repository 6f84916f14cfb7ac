/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * GPU memory of a kind of job: the operator model's estimate at two batch sizes, interpolated for
 * all others and kept by model.
 */
#include "predictor/sources/gpu_memory.h"

#include "base/alloc.h"
#include "workload/operator/model.h"

#include <math.h>

void dls_gpu_memory_fini(dls_gpu_memory *m)
{
    dls_free(m->line);
    *m = (dls_gpu_memory){0};
}

dls_status dls_gpu_memory_of(dls_gpu_memory *m, const dls_kind *kind, double *bytes, dls_error *err)
{
    dls_model_names own = kind->names;
    const dls_model_names *names = &own;
    size_t i = 0;
    if (names->match == DLS_MODEL_UNKNOWN) {
        *bytes = (double)NAN;
        return DLS_OK;
    }
    while (i < m->n && !dls_model_same(&m->line[i].names, &kind->names)) {
        i++;
    }
    if (i == m->n) {
        dls_workload w;
        own.runner |= m->runner;
        own.layers = m->runner & DLS_RUN_EAGER ? NULL : own.layers;
        DLS_TRY(dls_grow(&m->line, &m->cap, m->n + 1, sizeof *m->line, err));
        DLS_TRY(dls_model_workload(names, m->numeric, &w, err));
        const double one = dls_step_memory_bytes(&w, m->numeric, 1);
        const double two = dls_step_memory_bytes(&w, m->numeric, 2);
        dls_workload_fini(&w);
        m->line[m->n++] = (dls_memory_line){kind->names, 2 * one - two, two - one};
    }
    *bytes = m->line[i].fixed_bytes + m->line[i].sample_bytes * (double)kind->batch;
    return DLS_OK;
}
