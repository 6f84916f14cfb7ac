/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * When places will open if running jobs end as predicted and nothing else starts. For each GPU type
 * the next ends are gone through once, as far as anyone asks, and what they open is written down:
 *
 *      ends, soonest first    e1    e2    e3    e4 ...
 *      largest hole            2     2     4     5         when a node has so many free
 *      idle nodes              .     .     1     1         when so many are
 *
 * What is written down holds until GPUs of the type are taken or given back, or a job of the type
 * starts or stops. A job that waits for a better place is asked about again whenever GPUs of any
 * type are given back, so most questions find their answer there.
 */
#ifndef DLS_PLACEMENT_OPENINGS_H
#define DLS_PLACEMENT_OPENINGS_H

#include "dlsim/policy.h"

#define DLS_OPENINGS_ENDS 64 /* are gone through at most */

typedef struct dls_openings_type {
    uint64_t gpus_version, jobs_version; /* the state of the type that this is about */
    uint64_t pass;                       /* number of the walk over the ends; 0: none is known */
    size_t ends;                         /* gone through */
    int32_t largest, idle; /* most free GPUs of a node, idle nodes: after these ends */
    int64_t *idle_us;      /* [nodes of the type + 1] when so many are idle; INT64_MIN: now */
    int64_t hole_us[DLS_GPUS_PER_NODE_MAX + 1]; /* when a node has so many free; likewise */
} dls_openings_type;

/* GPUs of a node that the ends gone through give back, in the walk of that number. */
typedef struct dls_openings_node {
    uint64_t pass;
    int32_t freed;
} dls_openings_node;

typedef struct dls_openings {
    dls_openings_type type[DLS_TYPES_MAX];
    dls_openings_node *node; /* [nodes] */
    int64_t *idle_us;        /* [nodes + types] those of the types side by side */
    uint64_t passes;
} dls_openings;

dls_status dls_openings_init(dls_openings *o, const dls_place_index *index,
                             dls_error *err) DLS_MUST_CHECK;
void dls_openings_fini(dls_openings *o);

#endif
