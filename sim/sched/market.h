/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Shockwave's market (Zheng et al., NSDI 2023): how many of the coming rounds each job gets, so
 * that the progress of all (the logarithm of each job's part that is done), the longest remaining
 * time and a fair end for each are balanced. The authors hand the program to a solver of integer
 * programs with a limit of 15 s; here it is solved by what it is: only the number of rounds that a
 * job gets in the window counts, progress is concave in it, so for a given longest remaining time
 * the best numbers follow by marginal gain per GPU, and that time is searched for.
 */
#ifndef DLS_SCHED_MARKET_H
#define DLS_SCHED_MARKET_H

#include "dlsim/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DLS_MARKET_WINDOW = 20, DLS_MARKET_REPLAN = 8 }; /* rounds */

typedef struct dls_bidder {
    int32_t job;
    double gpus;
    double left_s;                           /* run time that is left */
    double goal_s;                           /* a fair end */
    double progress[DLS_MARKET_WINDOW + 1];  /* worth (dls_market_worth) with so many rounds */
    double remaining[DLS_MARKET_WINDOW + 1]; /* seconds that are then left */
    double weight;                           /* the rest is the market's own */
    int32_t least, rounds, given;
    bool open, chosen;
} dls_bidder;

typedef struct dls_market {
    dls_bidder *bid; /* [n] */
    int32_t n;
    int32_t *plan, plan_n[DLS_MARKET_WINDOW]; /* jobs of each round: plan + round x n; owned, as all */
    /* Scratch. */
    double *candidate; /* longest remaining times */
    bool plenty;       /* GPUs for everybody all the time */
    int32_t *order, *heap, heap_n;
    double *gain;
    struct dls_market_turn *turn;
    size_t cap[7]; /* of each array */
} dls_market;

/* Room for n bidders, which are then to be filled in. */
dls_status dls_market_begin(dls_market *m, int32_t n, dls_error *err) DLS_MUST_CHECK;
/* The logarithm of progress in 0..1, interpolated between fifths; that of 0 is read as that of
 * 1e-6. */
double dls_market_worth(double progress);
/* Plan the rounds from number `round` on, that begin at round x round_s. A fair end for all if that
 * can be; else those that are late weigh more. O(n x window x log x log). */
void dls_market_plan(dls_market *m, double gpus, double round_s, int64_t round);
/* *m becomes a market with that plan. Errors: ENOMEM. */
dls_status dls_market_clone(dls_market *m, const dls_market *from, dls_error *err) DLS_MUST_CHECK;
void dls_market_fini(dls_market *m);

#endif
