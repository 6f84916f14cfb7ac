/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where the jobs of the published ElasticFlow simulator sit. Their speed does not depend on it;
 * whether a job finds its process group there already, and so starts without overhead, does.
 */
#ifndef DLS_ELASTICFLOW_SEATS_H
#define DLS_ELASTICFLOW_SEATS_H

#include "dlsim/error.h"
#include "sched/elasticflow_plan.h"

#define DLS_EF_SIZES 16 /* lists of node sets, by GPUs */

/* Consecutive nodes. */
typedef struct dls_ef_set {
    int32_t *job; /* [n_jobs] in order of arrival, indices into the list that is seated */
    int32_t n_jobs, first_node, room, used;
    int32_t list; /* it is in */
} dls_ef_set;

typedef struct dls_ef_seats {
    int32_t nodes, per_node;
    dls_ef_set *set; /* [n_sets], room for one a node, by first node */
    int32_t *jobs;   /* of the sets */
    int32_t n_sets, next_node;
    int32_t *list[DLS_EF_SIZES]; /* sets */
    int32_t n[DLS_EF_SIZES];
    uint16_t *seen; /* [GPUs] bit k: a job of size k has begun at this GPU before */
} dls_ef_seats;

dls_status dls_ef_seats_init(dls_ef_seats *s, int32_t nodes, int32_t per_node, dls_error *err);
void dls_ef_seats_fini(dls_ef_seats *s);
void dls_ef_seats_forget(dls_ef_seats *s); /* all groups */
/* Seat all jobs with GPUs anew, in the order of the list; cached[i]: job i finds its group. ERUN:
 * the blocks are too scattered for one of them. O(jobs x nodes). */
dls_status dls_ef_seat_all(dls_ef_seats *s, dls_ef_job *const *job, size_t n, bool *cached,
                           dls_error *err);

#endif
