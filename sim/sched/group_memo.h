/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Times of groups by the profiles of their members, worked out once: clusters run many jobs of few
 * profiles.
 */
#ifndef DLS_SCHED_GROUP_MEMO_H
#define DLS_SCHED_GROUP_MEMO_H

#include "dlsim/error.h"
#include "sched/stages.h"

#include <stddef.h>

/* Which profiles a group's members have, in order: 16 bits each, the first highest. */
typedef uint64_t dls_group_id;
#define DLS_GROUP_PROFILES 65535 /* so many profiles can be told apart */

static inline dls_group_id dls_group_one(int32_t profile)
{
    return (uint64_t)profile + 1;
}

/* The members of b behind those of a; together at most DLS_STAGES_JOBS. */
static inline dls_group_id dls_group_join(dls_group_id a, dls_group_id b, int32_t members_of_b)
{
    return a << (16 * members_of_b) | b;
}

typedef struct dls_group_time {
    dls_group_id id;     /* 0: a free place */
    double time, weight; /* dls_stages_group_time, dls_stages_weight */
    double alone;        /* sum of the members' iterations */
} dls_group_time;

typedef struct dls_group_memo {
    bool monotone, worst;      /* as dls_stages_group_time takes them */
    const double *overhead;    /* likewise; NULL: dls_stages_overhead */
    const dls_stages *profile; /* by number; borrowed */
    dls_group_time *at;        /* open addressing; owned */
    size_t n, room;
} dls_group_memo;

/* Errors: ENOMEM. *out is valid until the next call. */
dls_status dls_group_memo_find(dls_group_memo *m, dls_group_id id, const dls_group_time **out,
                               dls_error *err) DLS_MUST_CHECK;
void dls_group_memo_fini(dls_group_memo *m);

#endif
