/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Offers to elastic jobs, and rounds that choose among them (offers.h).
 */
#include "sched/offers.h"

#include "dlsim/memory.h"
#include "sched/sia_rows.h"

#include <math.h>

typedef struct dls_allot_entry {
    int32_t pool, job;
    size_t first; /* of its offers */
    int32_t n;
} dls_allot_entry;

double dls_offer_goodput(const dls_view *view, int32_t job, int32_t type, int64_t gpus)
{
    const dls_shape shape = dls_view_packed(view, type, gpus);
    dls_prediction predicted;
    return dls_view_predict(view, job, &shape, &predicted) && predicted.remaining_s > 0
               ? 1 / predicted.remaining_s
               : dls_view_speed(view, job, &shape, DLS_ABSENT);
}

/* The next number of GPUs to offer. */
static int64_t next_size(int64_t gpus, int32_t per_node, bool fine)
{
    if (gpus >= per_node) {
        return gpus - gpus % per_node + per_node;
    }
    if (fine) {
        return gpus + 1;
    }
    int64_t power = 1;
    while (power <= gpus) {
        power *= 2;
    }
    return power < per_node ? power : per_node;
}

int32_t dls_offers_of(const dls_view *view, int32_t job, const int64_t *room, bool fine,
                      dls_offer out[DLS_OFFERS_MAX])
{
    const uint32_t types = dls_view_types(view, job);
    const int32_t least = view->min_gpus[job], most = view->max_gpus[job], gang = view->gpus[job];
    int32_t n = 0;
    for (int32_t t = 0; t < view->n_types; t++) {
        const int32_t node = dls_place_max_gpus(dls_view_index(view), t);
        if (!(types >> t & 1) || node < 1) {
            continue;
        }
        for (int64_t next, g = least; g <= most && g <= room[t] && n < DLS_OFFERS_MAX; g = next) {
            next = next_size(g, node, fine);
            next = g < gang && gang < next ? gang : next;
            next = g < most && most < next ? most : next;
            const double goodput = dls_offer_goodput(view, job, t, g);
            if (goodput > 0 && isfinite(goodput)) {
                out[n++] = (dls_offer){.type = t,
                                       .gpus = (int32_t)g,
                                       .goodput = goodput,
                                       .present = view->running[job] && view->held_type[job] == t &&
                                                  view->held_gpus[job] == g};
            }
        }
    }
    return n;
}

double dls_restart_factor(const dls_view *view, int32_t job, double restart_s)
{
    const double age_s = (double)(view->now_us - view->submit_us[job]) / 1e6;
    const int32_t restarts = view->starts[job] > 1 ? view->starts[job] - 1 : 0;
    return view->running[job] ? dls_sia_factor(age_s, restarts, restart_s) : 1;
}

/* ---- rounds ---------------------------------------------------------------------------------- */

static void list(dls_allot *a, const dls_view *view, int32_t job, size_t *n)
{
    int64_t unused;
    a->entry[(*n)++] = (dls_allot_entry){.pool = dls_view_pool(view, job, 0, &unused), .job = job};
}

DLS_BY(by_pool, dls_allot_entry, DLS_UP(pool), DLS_UP(job));

static dls_status add_offers(dls_allot *a, const dls_view *view, dls_allot_entry *e,
                             size_t *n_offers, bool fine, dls_allot_fn cost, const void *policy,
                             dls_error *err)
{
    double none = 0;
    DLS_TRY(dls_scratch_array(&a->ledger.scratch, 2, &a->offer, *n_offers + DLS_OFFERS_MAX + 1,
                              sizeof *a->offer, err));
    dls_offer *offer = a->offer + *n_offers;
    const bool keeps = dls_is_restoring(view, e->job);
    e->first = *n_offers;
    if (keeps) {
        *offer = (dls_offer){view->held_type[e->job], view->held_gpus[e->job], 1, true, 0};
        e->n = 1;
    } else {
        e->n = dls_offers_of(view, e->job, a->choice.capacity, fine, offer);
        cost(policy, view, e->job, offer, e->n, &none);
    }
    *n_offers += (size_t)e->n;
    DLS_TRY(dls_choice_group(&a->choice, err));
    if (!keeps) {
        DLS_TRY(dls_choice_add(&a->choice, none, 0, 0, err));
    }
    for (int32_t i = 0; i < e->n; i++) {
        DLS_TRY(dls_choice_add(&a->choice, offer[i].cost, offer[i].type, offer[i].gpus, err));
    }
    return DLS_OK;
}

/* As picked; if there is no choice, as it is. */
static void plan_pick(dls_allot *a, const dls_view *view, int32_t group, const dls_allot_entry *e,
                      dls_plan *plan)
{
    const dls_choice *c = &a->choice;
    const int32_t at = c->pick[group] - c->first[group];
    const int32_t offers = c->first[group + 1] - c->first[group];
    if (!c->solved) {
        if (view->running[e->job]) {
            dls_plan_keep(plan, e->job);
        }
        return;
    }
    const int32_t i = at - (offers - e->n); /* -1: none */
    if (i >= 0) {
        const dls_offer *o = &a->offer[e->first + (size_t)i];
        const dls_want want = {.type = o->type, .gpus = o->gpus};
        a->ledger.left[o->type] -= o->gpus;
        if (o->present) {
            dls_plan_keep(plan, e->job);
        } else {
            dls_plan_set(plan, e->job, &want);
        }
    }
}

static dls_status pool(dls_allot *a, const dls_view *view, dls_allot_entry *entry, size_t n,
                       bool fine, double gap, dls_allot_fn cost, const void *policy, dls_plan *plan,
                       dls_error *err)
{
    int64_t capacity[DLS_TYPES_MAX] = {0};
    size_t offers = 0;
    for (int32_t t = 0; t < view->n_types; t++) {
        dls_view_pool(view, entry->job, t, &capacity[t]);
        capacity[t] = capacity[t] < a->ledger.left[t] ? capacity[t] : a->ledger.left[t];
    }
    dls_choice_begin(&a->choice, view->n_types, capacity);
    for (size_t i = 0; i < n; i++) {
        DLS_TRY(add_offers(a, view, &entry[i], &offers, fine, cost, policy, err));
    }
    DLS_TRY(dls_choice_solve(&a->choice, gap, err));
    const double within = fmax(gap, 1e-9) * (1 + fabs(a->choice.bound)); /* of several optima any */
    if (!a->choice.solved || a->choice.cost > a->choice.bound + 1.01 * within) {
        dls_policy_fallback(view);
    }
    for (size_t i = 0; i < n; i++) {
        plan_pick(a, view, (int32_t)i, &entry[i], plan);
    }
    return DLS_OK;
}

dls_status dls_allot_round(dls_allot *a, const dls_view *view, bool fine, double gap,
                           dls_allot_fn cost, const void *policy, dls_plan *plan, dls_error *err)
{
    const size_t jobs = (size_t)view->running_jobs + (size_t)view->waiting_jobs;
    size_t n = 0;
    DLS_TRY(dls_ledger_begin(&a->ledger, view, err));
    DLS_TRY(dls_scratch_array(&a->ledger.scratch, 1, &a->entry, jobs, sizeof *a->entry, err));
    for (int32_t j = dls_view_first_running(view); j >= 0; j = dls_view_next_running(view, j)) {
        if (!dls_plan_guest(plan, view, j)) {
            list(a, view, j, &n);
        }
    }
    for (int32_t j = dls_view_first_waiting(view); j >= 0; j = dls_view_next_waiting(view, j)) {
        list(a, view, j, &n);
    }
    dls_sort(a->entry, n, sizeof *a->entry, by_pool);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && a->entry[end].pool == a->entry[i].pool; end++) {
        }
        DLS_TRY(pool(a, view, &a->entry[i], end - i, fine, gap, cost, policy, plan, err));
    }
    return DLS_OK;
}

void dls_allot_fini(void *state)
{
    dls_choice_fini(&((dls_allot *)state)->choice);
    dls_scratch_fini(state);
}

dls_status dls_allot_clone(void *state, const void *from, const dls_view *view, dls_error *err)
{
    ((dls_allot *)state)->choice = (dls_choice){0};
    return dls_scratch_clone(state, from, view, err);
}
