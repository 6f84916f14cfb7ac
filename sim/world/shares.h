/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Max-min fair bandwidth of jobs that share links, solved together with their iteration times and
 * kept up to date as jobs come and go.
 *
 * A job moves its bytes in bursts. x is the bandwidth that it gets while it bursts, on each link of
 * its way; used(x) = bytes / time(x) what it moves on average. When job j bursts it finds the others at
 * their average, so a link of capacity C holds
 *
 *      x_j + overlap_j * (sum of used_k(x_k), k != j) <= C    for each of its jobs j
 *      sum of used_k(x_k)                             <= C
 *
 * with overlap_j = 1 unless the bursts were shifted against each other. Left sides rise with every x.
 *
 * Levels lie on a grid, numbers with DLS_LEVEL_BITS bits behind the leading one, and used() is whole
 * bytes per second, so that all is exact. The level m_l of a link is the first of the grid at which it
 * is too full, when each of its jobs takes what its other links let it have:
 *
 *      m_l = min g:  link l is too full with min(g, line_j, m_k of j's other links k) for its jobs j
 *      x_j = min(line_j, the grid's number below the least m_l of j's links)
 *
 * There is one such m. Take two, the lowest level v at which they differ, and a link that has it in the
 * first: all levels below v are equal in both and the others are v at least, so at v its jobs take the
 * same in both, and it is too full there in the second, too. So shares depend on who is there and on
 * nothing that was before, and after a change it is enough to make true again what is no longer
 * true: links are looked at in the order of their levels, and only those where a job's limit by
 * another link has moved below their own level. Without the grid these are max-min fair shares; with it
 * they are less by at most one step for each job of the link.
 */
#ifndef DLS_WORLD_SHARES_H
#define DLS_WORLD_SHARES_H

#include "base/evq.h"
#include "world/curve.h"

#define DLS_LEVEL_BITS 16 /* a step is 1/65536 to 1/131072 of the level */
#define DLS_LEVEL_NONE INT32_MAX /* of a link that is never too full */

/* A job on one link, in the list of either. Only those that use the network count; the others, and
 * mask, load and met, belong to the caller. */
typedef struct dls_crossing {
    uint64_t mask;
    int64_t load;
    double met; /* of what others send, the part that meets its shifted bursts */
    int32_t flow, link;
    int32_t prev, next; /* jobs of the link, newest first; -1 ends */
    int32_t next_of_flow;
    bool network;
} dls_crossing;

typedef struct dls_flow {
    const dls_curve *curve;  /* NULL: not there */
    double speed, overlap;   /* of the job's GPUs, 0 < speed <= 1; 0..1 */
    double x;                /* share, after dls_shares_settle */
    int64_t alone;           /* bytes per second that it moves alone, rounded up */
    int32_t crossing;        /* first of its own; -1 none */
    int32_t least, second;   /* the two lowest levels of its links */
    int32_t tightest;        /* the link of the lowest */
    int64_t bytes_at_level[2]; /* bytes per second on average at the level `least`, at `second`; -1: not
                                yet computed */
    bool moved;              /* in the list of flows to look at */
} dls_flow;

typedef struct dls_link {
    double capacity;         /* bytes per second; 0: not limiting */
    double widest;           /* no job's line is wider */
    int64_t lines, alone;    /* sums of what its jobs alone would take, bursting and on average */
    int32_t first;           /* crossing; -1 none */
    int32_t users;           /* crossings that use the network */
    int32_t level, next_level; /* the latter is to come, unless stale */
    bool changed;            /* jobs, demand or capacity, since the last settling */
    bool stale;
} dls_link;

typedef struct dls_taker {   /* a job on the link that is being solved */
    const dls_curve *curve;
    double speed, overlap;
    int64_t limit_bps, used_bps; /* the most that its line and other links allow, and its average use then */
    int64_t x, used;
} dls_taker;

typedef struct dls_shares {
    dls_link *link;          /* [n_links] */
    dls_flow *flow;          /* [n_flows], numbered by the caller */
    dls_crossing *crossing;
    int32_t n_links;
    size_t n_flows, flows_cap, n_crossings, crossings_cap;
    int32_t free_crossing;
    dls_evq due;             /* links to look at, by the lowest level that can change */
    int32_t *changed;        /* links, [n_links] */
    int32_t n_changed;
    int32_t *moved;          /* flows whose share may have changed */
    size_t n_moved, moved_cap;
    dls_taker *taker;
    size_t takers_cap;
    uint64_t solved;         /* how often the level of a link was worked out */
} dls_shares;

/* Links without capacity. Errors: ENOMEM; *s then needs no dls_shares_fini. */
dls_status dls_shares_init(dls_shares *s, int32_t n_links, dls_error *err) DLS_MUST_CHECK;
void dls_shares_fini(dls_shares *s);
/* *s, of as many links and without flows, gets the state of another; the curves of flows are still that
 * one's. */
dls_status dls_shares_copy(dls_shares *s, const dls_shares *from, dls_error *err) DLS_MUST_CHECK;

/* Room for flow number `flow` with n more crossings, so that adding them cannot fail. */
dls_status dls_shares_reserve(dls_shares *s, int32_t flow, size_t n, dls_error *err) DLS_MUST_CHECK;
/* A flow without crossings. curve is borrowed, NULL for one without a network. */
void dls_shares_add(dls_shares *s, int32_t flow, const dls_curve *curve);
/* It crosses one more link; a link once. */
void dls_shares_cross(dls_shares *s, int32_t flow, int32_t link, uint64_t mask, bool network);
/* A crossing ends; returns the flow's next. */
int32_t dls_shares_leave(dls_shares *s, int32_t crossing);

void dls_shares_set_capacity(dls_shares *s, int32_t link, double bytes_per_s);
void dls_shares_set_speed(dls_shares *s, int32_t flow, double speed);
void dls_shares_set_overlap(dls_shares *s, int32_t flow, double overlap);

/* The links of a flow are to be looked at: they are among the changed ones. */
void dls_shares_note(dls_shares *s, int32_t flow);

/* Could the jobs of the link hold each other up? Not if all together, or any one beside the average of
 * all, have room at the best that they get alone: what they take on a link only rises with what they
 * get. */
static inline bool dls_link_binds(const dls_link *link)
{
    return link->capacity > 0 && (double)link->lines > link->capacity &&
           link->widest + (double)link->alone > link->capacity;
}

/* Bring shares up to date. *moved (borrowed until the next change): flows whose share is another one
 * now, those added since included, in no particular order. Cost: the links whose level may change, times their
 * jobs; nothing else is visited. Errors: ENOMEM. */
dls_status dls_shares_settle(dls_shares *s, const int32_t **moved, size_t *n, dls_error *err) DLS_MUST_CHECK;

#endif
