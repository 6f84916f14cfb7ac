/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Between the files of the what-if: changes of a set-up, load, speeds, waits.
 */
#ifndef DLS_SITE_WHATIF_IMPL_H
#define DLS_SITE_WHATIF_IMPL_H

#include "base/owners.h"
#include "dlsim/site.h"

/* ---- whatif_change.c ------------------------------------------------------------------------- */

/* A group of nodes of a set-up: cluster.nodes[at]. */
typedef struct dls_whatif_nodes {
    char name[64], type[64];
    int64_t count, gpus;
} dls_whatif_nodes;

/* The i-th group; false: there are no more. */
bool dls_whatif_nodes_at(dls_setup *setup, size_t i, dls_whatif_nodes *out);
dls_status dls_whatif_set_count(dls_setup *setup, size_t group, int64_t count,
                                dls_error *err) DLS_MUST_CHECK;
/* All of `asked` but load and target; w->speed is filled. *first_added: the first group added, or
 * SIZE_MAX. */
dls_status dls_whatif_change(dls_setup *setup, const dls_whatif_asked *asked, dls_whatif *w,
                             size_t *first_added, dls_error *err) DLS_MUST_CHECK;

/* Errors: EUSAGE (a quota of a partition that neither a job nor the configuration names). */
dls_status dls_whatif_check_quotas(dls_setup *before, const dls_whatif_asked *asked, const dls_trace *trace,
                                   dls_error *err) DLS_MUST_CHECK;

/* ---- whatif_speed.c -------------------------------------------------------------------------- */

/* How fast jobs of the zoo's models run on one GPU of `type` against one of `reference`: the
 * geometric mean, the least, the most. Both must be types of 'dlsim list gpus'. */
dls_status dls_whatif_predict(const char *type, const char *reference, dls_whatif_speed *out,
                              dls_error *err) DLS_MUST_CHECK;

/* ---- whatif_load.c --------------------------------------------------------------------------- */

/* The trace with load times its jobs: fewer are drawn from it, more are copies that come as many
 * blocks later as are drawn. A job that is there with some load is there with every higher one. */
dls_status dls_whatif_load(const dls_trace *in, double load, double block_s, uint64_t seed,
                           dls_trace **out, dls_error *err) DLS_MUST_CHECK;

/* ---- whatif_waits.c -------------------------------------------------------------------------- */

/* One side of the comparison. */
typedef struct dls_whatif_run {
    const dls_trace *trace;
    const dls_simulation *sim; /* finished */
} dls_whatif_run;

/* "mean wait", "p95 wait of 8 GPUs", "p99 wait of partition main", "... of account ml", with "<
 * 1h". */
typedef struct dls_whatif_target {
    double quantile; /* negative: the mean */
    char kind[16], name[64];
    double limit_s;
} dls_whatif_target;
dls_status dls_whatif_target_of(const char *text, dls_whatif_target *out,
                                dls_error *err) DLS_MUST_CHECK;

/* The submissions of w->trace that count, and the blocks into which they fall. */
dls_status dls_whatif_blocks(dls_whatif *w, dls_setup *before, dls_error *err) DLS_MUST_CHECK;
/* Fill w->group. O(jobs x draws). */
dls_status dls_whatif_compare(dls_whatif *w, const dls_whatif_run *before,
                              const dls_whatif_run *after, uint64_t seed,
                              dls_error *err) DLS_MUST_CHECK;
/* The target's number in a run; with an interval if want_draws. Infinite where a job never starts.
 */
dls_status dls_whatif_measure(const dls_whatif *w, const dls_whatif_run *run,
                              const dls_whatif_target *target, bool want_draws, uint64_t seed,
                              dls_whatif_number *out, dls_error *err) DLS_MUST_CHECK;

#endif
