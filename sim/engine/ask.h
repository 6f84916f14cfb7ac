/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the policies and the predictor are asked: their state, what they want to be asked again and when, and
 * the buffers of requests and answers.
 */
#ifndef DLS_ENGINE_ASK_H
#define DLS_ENGINE_ASK_H

#include "cluster/index.h"
#include "engine/pace.h"

typedef struct dls_asking {
    void *sched_state, *placement_state;
    int32_t *again;        /* jobs that the scheduler wants to be asked about after the pass */
    size_t n_again, again_cap;

    dls_grant grant;
    int64_t *retry_us;     /* [classes] when to ask the placement again, from its `cost` in this pass; DLS_NEVER */
    bool any_retry;        /* any of retry_us is set */
    int32_t early_job;     /* the last one whose retry_us was not in the future */
    double *shift_s;       /* [n] of the bursts, from the last grant, else NAN; NULL if not needed */
    dls_seat *seat;        /* scratch: GPUs of one job by node, as nodes and as counts */
    int32_t *seat_node, *seat_gpus;
    size_t n_seats, seat_cap, seat_node_cap, seat_gpus_cap;

    dls_place_predictor predictor; /* as the placement sees it */
    dls_pace pace;         /* likewise; of params->pace, if there is one */
    dls_error predicting;  /* what went wrong when a policy asked; raised when it has returned */
    int32_t *arrivals;     /* scratch: jobs submitted now */
    size_t arrivals_cap;
} dls_asking;

#define DLS_ASK_ARRAYS(XX)                                                                         \
    XX(ask.retry_us, (size_t)e->select.n_classes + 1, e->params->placement->cost)                  \
    XX(ask.shift_s, e->n, e->params->pace && e->params->pace->set_shift)

#define DLS_ASK_LISTS(XX)                                                                          \
    XX(ask.again, e->ask.n_again, e->ask.again_cap)                                                \
    XX(ask.seat, 0, e->ask.seat_cap)                                                               \
    XX(ask.seat_node, 0, e->ask.seat_node_cap)                                                     \
    XX(ask.seat_gpus, 0, e->ask.seat_gpus_cap)                                                     \
    XX(ask.arrivals, 0, e->ask.arrivals_cap)

/* ---- ask.c ------------------------------------------------------------------------------------- */

void dls_ask_init(dls_engine *e);
/* What is asked for is answered from this engine: of a clone too. */
void dls_ask_bind(dls_engine *e);
/* Would the placement accept the job at that time, were the index as it is now? e->ask.grant says where; nothing is taken. */
dls_status dls_place_trial(dls_engine *e, int32_t job, int32_t type, int64_t at_us, bool *fits,
                           dls_error *err) DLS_MUST_CHECK;
/* Place a job on GPUs of a type; *parts gets the list. false: refused. */
dls_status dls_place_job(dls_engine *e, int32_t job, int32_t type, int32_t *parts, bool *placed,
                         dls_error *err) DLS_MUST_CHECK;
/* The same on nodes that the scheduler names. */
dls_status dls_place_on(dls_engine *e, int32_t job, const dls_place_part *nodes, int32_t n, int32_t *parts,
                        dls_error *err) DLS_MUST_CHECK;
/* Tell the world and the placement that a job has got or lost its GPUs. */
dls_status dls_tell_started(dls_engine *e, int32_t job, dls_error *err) DLS_MUST_CHECK;
void dls_tell_stopped(dls_engine *e, int32_t job);
/* Have the host's GPUs memory for a waiting job beside those that run there? O(GPUs). */
dls_status dls_shares_memory(dls_engine *e, int32_t job, int32_t host, bool *fits,
                             dls_error *err) DLS_MUST_CHECK;
/* How good it would be for a waiting job to be the guest of a host; <= 0: it may not. */
dls_status dls_ask_share(dls_engine *e, int32_t job, int32_t host, double *value,
                         dls_error *err) DLS_MUST_CHECK;
/* After a pass: the times at which those that would rather wait want to be asked again. */
dls_status dls_set_retries(dls_engine *e, dls_error *err) DLS_MUST_CHECK;
/* Jobs submitted now: what is to be known of them is asked for in one batch. */
dls_status dls_predict_arrivals(dls_engine *e, size_t first, size_t end, dls_error *err) DLS_MUST_CHECK;

#endif
