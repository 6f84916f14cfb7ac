/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Maximum weight matching in a general graph, not necessarily perfect: the primal-dual blossom
 * algorithm with one slack per base (Edmonds 1965; Galil, "Efficient algorithms for finding maximum
 * matching in graphs", ACM Computing Surveys 1986), in doubles.
 */
#ifndef DLS_SCHED_MATCHING_H
#define DLS_SCHED_MATCHING_H

#include "dlsim/error.h"

#include <stdint.h>

/* Memory that calls reuse; zero-initialised. */
typedef struct dls_matching dls_matching;

dls_status dls_matching_create(dls_matching **out, dls_error *err) DLS_MUST_CHECK;
void dls_matching_destroy(dls_matching *m); /* NULL is allowed */

/* weight[n * n]: of the edge from the row's vertex to the column's, > 0; 0: none; never negative.
 * w(u,v) and w(v,u) are the same but for rounding. mate[n]: the partner, -1: single. The order of
 * all operations is fixed, so that equal weights give equal pairs everywhere; the search ends when
 * a vertex whose dual variable is zero, within a relative 1e-5 of the step, is free. O(n^3).
 * Errors: ENOMEM. */
dls_status dls_matching_find(dls_matching *m, int32_t n, const double *weight, int32_t *mate,
                             dls_error *err) DLS_MUST_CHECK;

#endif
