/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Draws random models as dataset graphs: skips those whose workload equals a known one, and reduces
 * the batch to what fits in GPU memory.
 */
#include "predictor/dataset/random_graphs.h"

#include "predictor/dataset/variants.h"
#include "workload/operator/from_graph.h"
#include "workload/operator/model.h"

#define LARGE_EVERY 4
#define LARGE_MEMORY_BYTES (64.0 * 1024 * 1024 * 1024)

bool dls_random_is_known(const dls_random_drawing *d, const dls_workload *w)
{
    for (size_t i = 0; i < d->n_known; i++) {
        const dls_workload *k = &d->known[i];
        if (k->params == w->params && k->forward_macs == w->forward_macs && k->n_ops == w->n_ops) {
            return true;
        }
    }
    return false;
}

/* 0: not even one sample. */
static int32_t fitting_batch(const dls_workload *w, const dls_random_model *m)
{
    const double memory =
        m->number % LARGE_EVERY == 0 ? LARGE_MEMORY_BYTES : DLS_VARIANT_MEMORY_BYTES;
    const double fixed = dls_step_memory_bytes(w, m->numeric, 0);
    const double sample = dls_step_memory_bytes(w, m->numeric, 1) - fixed;
    const double most = fixed < memory ? (memory - fixed) / sample : 0;
    return most < m->batch ? (int32_t)most : m->batch;
}

static dls_status build(const dls_random_model *m, dls_opgraph **graph, dls_workload *w,
                        dls_error *err)
{
    DLS_TRY(dls_random_model_build(m, graph, err));
    const dls_status status = dls_workload_from_graph(*graph, w, err);
    if (status != DLS_OK) {
        dls_opgraph_destroy(*graph);
        *graph = NULL;
    }
    return status;
}

static void discard(dls_opgraph **graph, dls_workload *w)
{
    dls_opgraph_destroy(*graph);
    *graph = NULL;
    dls_workload_fini(w);
}

dls_status dls_random_graph_next(dls_random_drawing *d, dls_random_model *m, dls_opgraph **graph,
                                 dls_workload *w, dls_error *err)
{
    for (;;) {
        *m = dls_random_model_draw(d->seed, d->next++);
        DLS_TRY(build(m, graph, w, err));
        const int32_t batch = fitting_batch(w, m);
        if (batch < 1 || dls_random_is_known(d, w)) {
            discard(graph, w);
            continue;
        }
        if (batch < m->batch) {
            discard(graph, w);
            m->batch = batch;
            DLS_TRY(build(m, graph, w, err));
        }
        d->of_kind[m->kind]++;
        return DLS_OK;
    }
}
