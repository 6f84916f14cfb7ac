/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The search that Pollux allocates by: NSGA-II (Deb et al., 2002) over matrices of GPUs, jobs x
 * nodes, with the operators of the Pollux artifact (policy/pollux.py): crossover of rows, mutation
 * that resets, thins and grows rows, repair. A population lives on from round to round.
 */
#ifndef DLS_POLLUX_GENETIC_H
#define DLS_POLLUX_GENETIC_H

#include "dlsim/error.h"

#include <stdint.h>

#define DLS_GENETIC_SPAN 16     /* most nodes of a job */
#define DLS_GENETIC_REPLICAS 64 /* most GPUs of a job */

typedef struct dls_genetic dls_genetic;

typedef struct dls_genetic_problem {
    int32_t jobs, nodes, gpus_per_node;
    const int32_t *id;      /* [jobs] by which rows are known again in the next round */
    const int32_t *most;    /* [jobs] GPUs */
    const uint8_t *present; /* [jobs][nodes] GPUs held */
    const double *factor;   /* [jobs] what a speed-up is worth if the row differs from `present` */
    /* Over a fair share; nodes in 1..SPAN, gpus in 1..REPLICAS. Asked once for each. */
    double (*speedup)(void *user, int32_t job, int32_t nodes, int32_t gpus);
    void *user;
} dls_genetic_problem;

dls_status dls_genetic_create(int32_t nodes, dls_genetic **out, dls_error *err) DLS_MUST_CHECK;
void dls_genetic_destroy(dls_genetic *g); /* NULL-safe */

/* One round, random by `seed`: *best is [jobs][nodes], borrowed until the next call, and its
 * fitness the power mean (exponent -1) of the jobs' speed-ups. Errors: ENOMEM. */
dls_status dls_genetic_search(dls_genetic *g, const dls_genetic_problem *problem, uint64_t seed,
                              const uint8_t **best, double *fitness, dls_error *err) DLS_MUST_CHECK;

#endif
