/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What rounds for elastic jobs choose among: for each job the allocations that it can use and how
 * fast it would be with each; and the rounds that give every job one of them, or none, at least
 * cost.
 */
#ifndef DLS_SCHED_OFFERS_H
#define DLS_SCHED_OFFERS_H

#include "sched/choice.h"
#include "sched/gangs.h"

#define DLS_OFFERS_MAX 512 /* of a job */

typedef struct dls_offer {
    int32_t type, gpus;
    double goodput; /* work per time: over that of the gang, or per second if it is predicted */
    bool present;   /* the job has it now */
    double cost;    /* set by the policy */
} dls_offer;

/* Of a job on so many GPUs of a type, as its offers have it; NAN: it cannot run there, or nothing is known. */
double dls_offer_goodput(const dls_view *view, int32_t job, int32_t type, int64_t gpus);

/* Every number of GPUs of a node if `fine`, else its powers of two; whole nodes; the ends of the
 * job's range and its gang; on every type that it may use, and of these with `room` only what fits.
 * Goodput comes from the predictor where there is one, else from the job's profile, which sees no
 * types. Returns how many there are, type by type, ascending. O(offers log rows). */
int32_t dls_offers_of(const dls_view *view, int32_t job, const int64_t *room, bool fine,
                      dls_offer out[DLS_OFFERS_MAX]);

/* Whether the job restores from its last start: such a job is left alone. */
static inline bool dls_is_restoring(const dls_view *view, int32_t job)
{
    return view->running[job] && view->progress_us[job] > view->now_us;
}

/* What a change leaves of a job's goodput in the long run: its age less what its restarts have
 * cost, over the age with one more (Pollux, OSDI 2021, section 4.2; Sia, SOSP 2023, section 3.4). 1
 * for a job that has nothing to lose. */
double dls_restart_factor(const dls_view *view, int32_t job, double restart_s);

/* Set the costs of a job's offers, and what it costs to give it none. */
typedef void (*dls_allot_fn)(const void *policy, const dls_view *view, int32_t job,
                             dls_offer *offer, int32_t n, double *none);

/* Scratch of a round, at the begin of a policy's state. */
typedef struct dls_allot {
    dls_ledger ledger;
    dls_choice choice;
    struct dls_allot_entry *entry; /* [n] */
    dls_offer *offer;
} dls_allot;

/* Plan the round: of every pool the cheapest choice within `gap` (sched/choice.h). */
dls_status dls_allot_round(dls_allot *a, const dls_view *view, bool fine, double gap,
                           dls_allot_fn cost, const void *policy, dls_plan *plan,
                           dls_error *err) DLS_MUST_CHECK;
void dls_allot_fini(void *state);
dls_status dls_allot_clone(void *state, const void *from, const dls_view *view, dls_error *err);

#endif
