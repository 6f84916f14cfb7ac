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
#ifndef DLS_PLACEMENT_OUTLOOK_H
#define DLS_PLACEMENT_OUTLOOK_H

#include "dlsim/policy.h"

#define DLS_OUTLOOK_ENDS 64 /* are gone through at most */

typedef struct dls_outlook_type {
    uint64_t of_gpus, of_jobs; /* the state of the type that this is the outlook of */
    bool known;
    size_t ends;           /* gone through */
    int32_t largest, idle; /* most free GPUs of a node, idle nodes: after these ends */
    int32_t n_touched;
    int32_t *touched; /* [nodes of the type] on which they give back GPUs */
    int64_t *idle_us; /* [nodes of the type + 1] when so many are idle; INT64_MIN: now */
    int64_t hole_us[DLS_GPUS_PER_NODE_MAX + 1]; /* when a node has so many free; likewise */
} dls_outlook_type;

typedef struct dls_outlook {
    dls_outlook_type type[DLS_TYPES_MAX];
    int32_t *freed;   /* [nodes] GPUs that the ends gone through give back */
    int32_t *touched; /* [nodes] those of the types side by side */
    int64_t *idle_us; /* [nodes + types] likewise */
} dls_outlook;

dls_status dls_outlook_init(dls_outlook *o, const dls_place_index *index,
                            dls_error *err) DLS_MUST_CHECK;
void dls_outlook_fini(dls_outlook *o);
void dls_outlook_forget(dls_outlook *o, int32_t type);

#endif
