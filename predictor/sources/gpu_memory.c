/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * GPU memory of a kind of job: the operator model's estimate at two batch sizes, interpolated for
 * all others and kept by model.
 */
#include "predictor/sources/gpu_memory.h"

#include "base/alloc.h"
#include "workload/operator/model.h"
#include "workload/software.h"

#include <math.h>

void dls_gpu_memory_fini(dls_gpu_memory *m)
{
    dls_free(m->line);
    *m = (dls_gpu_memory){0};
}

dls_status dls_gpu_memory_of(dls_gpu_memory *m, const dls_kind *kind, double *bytes, dls_error *err)
{
    dls_software run;
    size_t i = 0;
    if (kind->names.match == DLS_MODEL_UNKNOWN) {
        *bytes = (double)NAN;
        return DLS_OK;
    }
    DLS_TRY(dls_software_of(m->software, kind->model, &kind->names, m->numeric, &run, err));
    run.names.runner |= m->runner;
    run.names.layers = m->runner & DLS_RUN_EAGER ? NULL : run.names.layers;
    while (i < m->n && !(m->line[i].numeric == run.numeric &&
                         dls_model_same(&m->line[i].names, &run.names))) {
        i++;
    }
    if (i == m->n) {
        dls_workload w;
        DLS_TRY(dls_grow(&m->line, &m->cap, m->n + 1, sizeof *m->line, err));
        DLS_TRY(dls_model_workload(&run.names, run.numeric, &w, err));
        const double words = 2 + dls_optimiser_words(w.optimiser);
        const double one = dls_whole_memory_bytes(&w, run.numeric, 1, words);
        const double two = dls_whole_memory_bytes(&w, run.numeric, 2, words);
        dls_workload_fini(&w);
        m->line[m->n++] = (dls_memory_line){run.names, run.numeric, 2 * one - two, two - one};
    }
    *bytes = m->line[i].fixed_bytes + m->line[i].sample_bytes * (double)kind->batch;
    return DLS_OK;
}
