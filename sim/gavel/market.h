/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Shockwave's own policy: a market over a window of rounds, with predicted batch sizes, that trades
 * the progress of all against the end of the last and a fair end for each.
 */
#ifndef DLS_GAVEL_MARKET_H
#define DLS_GAVEL_MARKET_H

#include "gavel/batches.h"
#include "sched/market.h"

typedef struct dls_gv_market dls_gv_market;

dls_status dls_gv_market_create(dls_gv *g, dls_gv_market **out, dls_error *err) DLS_MUST_CHECK;
void dls_gv_market_destroy(dls_gv_market *m); /* NULL is allowed */
void dls_gv_market_arrived(dls_gv_market *m, int32_t job, double now_s);
void dls_gv_market_left(dls_gv_market *m);
/* What a job did in a round: steps per second. */
dls_status dls_gv_market_measured(dls_gv *g, dls_gv_market *m, int32_t job, double steps_per_s,
                                  dls_error *err) DLS_MUST_CHECK;
/* A round is over; the jobs that ran in it have come on. */
void dls_gv_market_turn(dls_gv *g, dls_gv_market *m);
/* The jobs of the coming round, [*n]; borrowed until the next call. */
dls_status dls_gv_market_round(dls_gv *g, dls_gv_market *m, const int32_t **jobs, int32_t *n,
                               dls_error *err) DLS_MUST_CHECK;

#endif
