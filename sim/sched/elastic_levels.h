/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What rounds for elastic jobs share: the numbers of GPUs to choose between.
 */
#ifndef DLS_SCHED_ELASTIC_LEVELS_H
#define DLS_SCHED_ELASTIC_LEVELS_H

#include "dlsim/policy.h"

#define DLS_LEVELS_MAX 32

typedef struct dls_levels {
    int32_t n;                    /* >= 1 */
    int32_t gpus[DLS_LEVELS_MAX]; /* ascending */
    double speed[DLS_LEVELS_MAX]; /* over the gang of the trace, ascending */
} dls_levels;

/* The powers of two that the job can use, the ends of its range and its gang, up to where it stops
 * growing faster, on as few nodes of the type as there need be. O(levels log rows). */
void dls_levels_of(const dls_view *view, int32_t job, int32_t type, dls_levels *out);
/* The greatest level that is at most that; 0: there is none. */
int32_t dls_level_within(const dls_levels *l, int64_t gpus);

#endif
