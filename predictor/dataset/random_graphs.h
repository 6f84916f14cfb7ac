/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Random models as graphs of a dataset: drawn in order of their numbers, with a batch that fits a
 * GPU.
 */
#ifndef DLS_DATASET_RANDOM_GRAPHS_H
#define DLS_DATASET_RANDOM_GRAPHS_H

#include "workload/graph/random_model.h"
#include "workload/operator/workload.h"

/* Of eight random models of a kind one is for validation, so that training stops by models like
 * those it sees. */
#define DLS_RANDOM_PER_VALIDATION 8

/* Where drawing stands. */
typedef struct dls_random_drawing {
    uint64_t seed;
    uint64_t next;                    /* number of the next model */
    size_t of_kind[DLS_RANDOM_KINDS]; /* drawn so far */
    const dls_workload *known;        /* [n_known] borrowed: models that must not be repeated */
    size_t n_known;
} dls_random_drawing;

/* Is a model one of the known: equal in parameters, work of the forward pass and operations. */
bool dls_random_is_known(const dls_random_drawing *d, const dls_workload *w);

/* The next model, its graph (the caller's) and its workload (dls_workload_fini). A batch that does
 * not fit 11 GiB (every fourth model: 64 GiB) becomes the largest that does; models that fit with
 * no batch and known ones are passed over. Errors: EINPUT, ENOMEM; then nothing is to be freed. */
dls_status dls_random_graph_next(dls_random_drawing *d, dls_random_model *m, dls_opgraph **graph,
                                 dls_workload *w, dls_error *err) DLS_MUST_CHECK;

#endif
