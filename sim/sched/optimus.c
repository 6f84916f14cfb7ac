/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * optimus: every job its least number of GPUs in order of submission, then GPU after GPU where they
 * shorten the remaining time most (Peng et al., EuroSys 2018). The next size may be several GPUs
 * away: a job whose next GPU alone would slow it down, as the first on another node may, is not
 * stuck.
 */
#include "dlsim/memory.h"
#include "sched/heap.h"
#include "sched/offers.h"

#include <math.h>
#include <stdlib.h>

enum { OPT_INTERVAL };

static const dls_option options[] = {
    [OPT_INTERVAL] = {"interval", DLS_OPT_TIME, 1, 1e7, "10 min", "", "time between two rounds",
                      NULL},
    {0},
};

/* Of a job, from round to round: with what it ran last. */
struct known {
    int32_t gpus, type; /* gpus 0: never */
};

struct share {
    int32_t job, n; /* offers of the one type that it is on */
    size_t first, at;
    size_t to;     /* the offer that gains most a GPU */
    double gain;   /* seconds a GPU; <= 0: none */
    double left_s; /* on what it would finish with one unit of goodput */
};

struct optimus {
    dls_ledger ledger;
    struct share *share;
    int32_t *order, *heap;
    dls_offer *offer;
    size_t n, n_offers;
    int32_t n_heap;
};

static dls_status init(void *state, const dls_view *view, const dls_option_value *values,
                       dls_error *err)
{
    ((struct optimus *)state)->ledger.interval_us = llround(values[OPT_INTERVAL].f * 1e6);
    return DLS_OK;
}

/* The offer from which on GPUs shorten the job most, each. */
static void find_gain(const struct optimus *s, const dls_view *view, struct share *x)
{
    const dls_offer *now = &s->offer[x->at];
    const int64_t room = dls_ledger_room(&s->ledger, view, x->job, now->type);
    x->gain = 0;
    for (size_t i = x->at + 1; i < x->first + (size_t)x->n; i++) {
        const dls_offer *o = &s->offer[i];
        if (o->gpus - now->gpus > room) {
            return;
        }
        const double gain = x->left_s * (1 / now->goodput - 1 / o->goodput) / (o->gpus - now->gpus);
        if (gain > x->gain) {
            x->gain = gain;
            x->to = i;
        }
    }
}

/* A job that restores keeps what it has. */
static dls_status leave(struct optimus *s, const dls_view *view, int32_t job, dls_error *err)
{
    DLS_TRY(dls_scratch_array(&s->ledger.scratch, 4, &s->offer, s->n_offers + 1, sizeof *s->offer, err));
    s->offer[s->n_offers] = (dls_offer){
        .type = view->held_type[job], .gpus = view->held_gpus[job], .goodput = 1, .present = true};
    s->share[s->n++] = (struct share){.job = job, .n = 1, .first = s->n_offers, .at = s->n_offers};
    s->n_offers++;
    dls_ledger_take(&s->ledger, view, job, view->held_type[job], view->held_gpus[job]);
    return DLS_OK;
}

/* The least allocation on the type on which it is fastest with that; keeps the type that it has. */
static dls_status begin(struct optimus *s, const dls_view *view, int32_t job, dls_error *err)
{
    int64_t room[DLS_TYPES_MAX];
    DLS_TRY(dls_scratch_array(&s->ledger.scratch, 4, &s->offer, s->n_offers + DLS_OFFERS_MAX,
                              sizeof *s->offer, err));
    dls_offer *offer = s->offer + s->n_offers;
    for (int32_t t = 0; t < view->n_types; t++) {
        room[t] = dls_ledger_room(&s->ledger, view, job, t);
    }
    const int32_t n = dls_offers_of(view, job, room, true, offer);
    int32_t best = -1, end;
    for (int32_t i = 0; i < n; i++) {
        const bool first = i == 0 || offer[i - 1].type != offer[i].type;
        const bool held = view->running[job] && view->held_type[job] == offer[i].type;
        if (first && (best < 0 || held ||
                      (offer[i].goodput > offer[best].goodput &&
                       !(view->running[job] && view->held_type[job] == offer[best].type)))) {
            best = i;
        }
    }
    if (best < 0) {
        return DLS_OK;
    }
    for (end = best; end < n && offer[end].type == offer[best].type; end++) {
    }
    struct share *x = &s->share[s->n++];
    *x = (struct share){.job = job,
                        .n = end - best,
                        .first = s->n_offers + (size_t)best,
                        .at = s->n_offers + (size_t)best};
    s->n_offers += (size_t)end;
    dls_ledger_take(&s->ledger, view, job, offer[best].type, offer[best].gpus);
    return DLS_OK;
}

/* Remaining time is known at the rate at which the job ran last, or would as the trace asks, whether there is room for
 * that now or not. */
static void weigh(const struct optimus *s, const dls_view *view, struct share *x)
{
    struct known *k = dls_view_job_state(view, x->job);
    const dls_offer *least = &s->offer[x->first];
    if (view->running[x->job]) {
        *k = (struct known){view->held_gpus[x->job], view->held_type[x->job]};
    }
    const double goodput = k->gpus > 0 ? dls_offer_goodput(view, x->job, k->type, k->gpus)
                                       : dls_offer_goodput(view, x->job, least->type, view->gpus[x->job]);
    x->left_s = (double)dls_view_remaining_us(view, x->job) / 1e6 *
                (goodput > 0 && isfinite(goodput) ? goodput : least->goodput);
}

/* ---- the heap: greatest gain first, of equals the earlier job -------------------------------- */

static bool is_above(const void *of, int32_t a, int32_t b)
{
    const struct optimus *s = of;
    const struct share *x = &s->share[a], *y = &s->share[b];
    return x->gain != y->gain ? x->gain > y->gain : x->job < y->job;
}

/* What others have taken meanwhile makes gains stale; a gain is then found anew. */
static void grow_shares(struct optimus *s, const dls_view *view)
{
    dls_heap_make(s->heap, s->n_heap, is_above, s);
    while (s->n_heap > 0) {
        struct share *x = &s->share[s->heap[0]];
        const dls_offer *now = &s->offer[x->at], *to = &s->offer[x->to];
        if (!(x->gain > 0)) {
            return;
        }
        if (to->gpus - now->gpus <= dls_ledger_room(&s->ledger, view, x->job, now->type)) {
            dls_ledger_take(&s->ledger, view, x->job, now->type, to->gpus - now->gpus);
            x->at = x->to;
        }
        find_gain(s, view, x);
        if (!(x->gain > 0)) {
            s->heap[0] = s->heap[--s->n_heap];
        }
        dls_heap_sink(s->heap, s->n_heap, 0, is_above, s);
    }
}

DLS_BY(by_number, int32_t, DLS_ORDER(*x, *y));

static dls_status round_(void *state, const dls_view *view, dls_plan *plan, dls_error *err)
{
    struct optimus *s = state;
    const size_t jobs = (size_t)(view->running_jobs + view->waiting_jobs);
    size_t n = 0;
    s->n = s->n_offers = s->n_heap = 0;
    dls_scratch *scratch = &s->ledger.scratch;
    DLS_TRY(dls_scratch_array(scratch, 1, &s->share, jobs + 1, sizeof *s->share, err));
    DLS_TRY(dls_scratch_array(scratch, 2, &s->order, jobs + 1, sizeof *s->order, err));
    DLS_TRY(dls_scratch_array(scratch, 3, &s->heap, jobs + 1, sizeof *s->heap, err));
    DLS_TRY(dls_ledger_begin(&s->ledger, view, err));
    for (int32_t j = dls_view_first_running(view); j >= 0; j = dls_view_next_running(view, j)) {
        if (dls_plan_guest(plan, view, j)) {
            continue;
        }
        if (dls_is_restoring(view, j)) {
            DLS_TRY(leave(s, view, j, err));
        } else {
            s->order[n++] = j;
        }
    }
    for (int32_t j = dls_view_first_waiting(view); j >= 0; j = dls_view_next_waiting(view, j)) {
        s->order[n++] = j;
    }
    qsort(s->order, n, sizeof *s->order, by_number);
    for (size_t i = 0; i < n; i++) {
        DLS_TRY(begin(s, view, s->order[i], err));
    }
    for (size_t i = 0; i < s->n; i++) {
        weigh(s, view, &s->share[i]);
        find_gain(s, view, &s->share[i]);
        if (s->share[i].gain > 0) {
            s->heap[s->n_heap++] = (int32_t)i;
        }
    }
    grow_shares(s, view);
    for (size_t i = 0; i < s->n; i++) {
        const dls_offer *o = &s->offer[s->share[i].at];
        const dls_want want = {.type = o->type, .gpus = o->gpus};
        if (o->present) {
            dls_plan_keep(plan, s->share[i].job);
        } else {
            dls_plan_set(plan, s->share[i].job, &want);
        }
    }
    return DLS_OK;
}

const dls_sched_ops dls_sched_ops_optimus = {
    .abi = DLS_POLICY_ABI,
    .name = "optimus",
    .summary = "GPU after GPU to the job whose remaining time it shortens most",
    .options = options,
    .state_bytes = sizeof(struct optimus),
    .job_state_bytes = sizeof(struct known),
    .init = init,
    .fini = dls_scratch_fini,
    .clone = dls_scratch_clone,
    .round = round_,
    .timing = dls_ledger_timing,
};
