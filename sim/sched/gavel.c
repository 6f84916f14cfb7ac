/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The round mechanism of Gavel (sched/gavel.h).
 */
#include "sched/gavel.h"

#include "dlsim/memory.h"

#include <math.h>
#include <string.h>

static const double negligible = 1e-6; /* share of the time: the solver's zero */

struct dls_gavel_candidate {
    double priority;
    int64_t service_us;
    size_t entry;
    int32_t type, job;
};
typedef struct dls_gavel_candidate candidate;

/* ---- who there is ---------------------------------------------------------------------------- */

/* A job's bytes: its entry + 1. */
static size_t *entry_of(const dls_view *view, int32_t job)
{
    return dls_view_job_state(view, job);
}

static dls_status meet(dls_gavel *g, const dls_view *view, int32_t job, dls_error *err)
{
    size_t *at = entry_of(view, job);
    if (*at == 0) {
        DLS_TRY(dls_grow(&g->entry, &g->cap, g->n + 1, sizeof *g->entry, err));
        g->entry[g->n] = (dls_gavel_entry){.job = job, .partner = -1};
        for (int32_t t = 0; t < view->n_types; t++) {
            g->entry[g->n].reset_us[t] = dls_view_service_us(view, job, t);
        }
        *at = ++g->n;
        g->allocated = false;
    }
    g->entry[*at - 1].round = g->round;
    return DLS_OK;
}

/* Speeds from the predictor, on as few nodes as there need be; of a job that it does not know, and
 * without one, all types are alike. */
static void ask_speeds(const dls_gavel *g, const dls_view *view, dls_gavel_entry *e)
{
    for (int32_t t = 0; t < view->n_types; t++) {
        const dls_shape shape = dls_view_packed(view, t, view->gpus[e->job]);
        dls_prediction said;
        e->speed[t] = 0;
        if ((dls_view_types(view, e->job) >> t & 1) && shape.gpus <= dls_view_total_gpus(view, t)) {
            e->speed[t] = !g->same_types && dls_view_predict(view, e->job, &shape, &said) &&
                                  said.iteration_s > 0
                              ? 1 / said.iteration_s
                              : 1;
        }
    }
    e->asked = true;
}

static dls_status look_around(dls_gavel *g, const dls_view *view, dls_error *err)
{
    g->round++;
    for (int32_t j = dls_view_first_running(view); j >= 0; j = dls_view_next_running(view, j)) {
        DLS_TRY(meet(g, view, j, err));
    }
    for (int32_t j = dls_view_first_waiting(view); j >= 0; j = dls_view_next_waiting(view, j)) {
        DLS_TRY(meet(g, view, j, err));
    }
    for (size_t i = 0; i < g->n;) { /* the last takes the place of one that is over */
        dls_gavel_entry *e = &g->entry[i];
        if (e->round == g->round) {
            if (!e->asked) {
                ask_speeds(g, view, e);
            }
            e->chosen = false;
            i++;
            continue;
        }
        *entry_of(view, e->job) = 0;
        g->n--;
        if (i < g->n) {
            *e = g->entry[g->n];
            *entry_of(view, e->job) = i + 1;
        }
        g->allocated = false;
    }
    DLS_TRY(dls_ledger_begin(&g->ledger, view, err));
    g->n_types = 0;
    for (int32_t t = 0; t < view->n_types; t++) {
        g->allocated &= g->there[t] == g->ledger.left[t];
        g->there[t] = g->ledger.left[t];
        if (g->there[t] > 0) {
            g->type[g->n_types++] = t;
        }
    }
    return DLS_OK;
}

/* ---- shares ---------------------------------------------------------------------------------- */

/* Work left, in the unit of the job's speeds. */
static double work_left(const dls_gavel *g, const dls_view *view, const dls_gavel_entry *e)
{
    const double left_s = (double)dls_view_remaining_us(view, e->job) / 1e6;
    for (int32_t t = 0; t < view->n_types && !g->same_types; t++) {
        dls_prediction said;
        const dls_shape shape = dls_view_packed(view, t, view->gpus[e->job]);
        if (e->speed[t] > 0 && dls_view_predict(view, e->job, &shape, &said) &&
            said.remaining_s > 0) {
            return said.remaining_s * e->speed[t];
        }
    }
    return fmax(left_s, 1e-6);
}

/* Is every job equally fast on all types? Then they are one. */
static bool one_speed(const dls_gavel *g)
{
    for (size_t i = 0; i < g->n; i++) {
        for (int32_t k = 1; k < g->n_types; k++) {
            if (g->entry[i].speed[g->type[k]] != g->entry[i].speed[g->type[0]]) {
                return false;
            }
        }
    }
    return true;
}

/* A pair has the speeds and the work of the one that needs longer alone, slowed down. */
static void as_pair(const dls_gavel *g, const dls_view *view, const dls_gavel_entry *e,
                    dls_timeshare_job *j)
{
    const dls_gavel_entry *other = dls_gavel_partner(g, view, e);
    if (!other) {
        return;
    }
    const int32_t t = g->type[0];
    const bool longer = other->left * e->speed[t] > e->left * other->speed[t];
    const dls_gavel_entry *slow = longer ? other : e;
    j->beside = dls_gavel_beside(g, e, other);
    j->left = slow->left;
    for (int32_t k = 0; k < g->shares.n_types; k++) {
        j->speed[k] = slow->speed[g->type[k]] * j->beside;
    }
    j->age = fmax(j->age, (double)(view->now_us - view->submit_us[other->job]) / 1e6);
    if (view->priority && view->priority[other->job] > (int64_t)j->weight) {
        j->weight = (double)view->priority[other->job];
    }
}

static dls_status list_jobs(dls_gavel *g, const dls_view *view, dls_error *err)
{
    double gpus[DLS_TYPES_MAX] = {0};
    g->merged = g->n_types > 1 && !g->prices && one_speed(g);
    for (int32_t k = 0; k < g->n_types; k++) {
        gpus[g->merged ? 0 : k] += (double)g->there[g->type[k]];
    }
    dls_timeshares_reset(&g->shares, g->merged ? 1 : g->n_types, gpus);
    for (size_t i = 0; i < g->n; i++) {
        dls_gavel_entry *e = &g->entry[i];
        bool runs = false;
        memset(e->share, 0, sizeof e->share);
        e->left = work_left(g, view, e);
        for (int32_t k = 0; k < g->n_types; k++) {
            runs |= e->speed[g->type[k]] > 0;
        }
        if (!runs || !dls_gavel_leads(g, view, e)) {
            continue; /* nowhere it can run at present; or its partner stands for both */
        }
        dls_timeshare_job *j = dls_timeshares_add(&g->shares);
        if (!j) {
            return dls_nomem(err, "shares", g->n * sizeof *j);
        }
        const int64_t weight = view->priority ? view->priority[e->job] : 1;
        *j = (dls_timeshare_job){.id = (int32_t)i,
                                 .gpus = view->gpus[e->job],
                                 .weight = weight > 0 ? (double)weight : 1,
                                 .left = e->left,
                                 .age = (double)(view->now_us - view->submit_us[e->job]) / 1e6,
                                 .isolated_s = e->isolated_s,
                                 .deadline_s = (double)INFINITY};
        if (view->deadline_us && view->deadline_us[e->job] != DLS_ABSENT) {
            j->deadline_s = (double)(view->deadline_us[e->job] - view->now_us) / 1e6;
        }
        for (int32_t k = 0; k < g->shares.n_types; k++) {
            j->speed[k] = e->speed[g->type[k]];
            j->price[k] = g->price[g->type[k]] * j->gpus;
        }
        as_pair(g, view, e, j);
    }
    return DLS_OK;
}

/* What was done since the last allocation would have taken that long with an equal share. */
static void account_isolated(dls_gavel *g, const dls_view *view)
{
    for (size_t i = 0; i < g->n; i++) {
        dls_gavel_entry *e = &g->entry[i];
        dls_timeshare_job own = {.gpus = view->gpus[e->job]};
        for (int32_t k = 0; k < g->shares.n_types; k++) {
            own.speed[k] = e->speed[g->type[k]];
        }
        if (e->last_isolated > 0 && e->last_left > e->left) {
            e->isolated_s += (e->last_left - e->left) / e->last_isolated;
        }
        e->last_left = e->left;
        e->last_isolated = dls_timeshares_isolated_speed(&g->shares, &own);
    }
    for (size_t i = 0; i < g->shares.n; i++) {
        const dls_gavel_entry *e = &g->entry[g->shares.job[i].id];
        const dls_gavel_entry *other = dls_gavel_partner(g, view, e);
        g->shares.job[i].isolated_s = fmax(e->isolated_s, other ? other->isolated_s : 0);
    }
}

static dls_status allocate(dls_gavel *g, const dls_view *view, dls_gavel_objective objective,
                           dls_error *err)
{
    dls_interior_outcome outcome = DLS_INTERIOR_OPTIMAL;
    if (g->packing.on) {
        DLS_TRY(dls_gavel_pair(g, view, err));
    }
    DLS_TRY(list_jobs(g, view, err));
    account_isolated(g, view);
    g->relaxed = false;
    if (g->shares.n > 0 && g->n_types > 0) {
        DLS_TRY(objective(g, &outcome, err));
    }
    if (g->relaxed || outcome != DLS_INTERIOR_OPTIMAL) {
        dls_policy_fallback(view);
    }
    if (outcome != DLS_INTERIOR_OPTIMAL) {
        dls_timeshares_isolated(&g->shares);
    }
    for (size_t i = 0; i < g->shares.n; i++) {
        const dls_timeshare_job *j = &g->shares.job[i];
        for (int32_t k = 0; k < g->n_types; k++) {
            const int32_t of = g->merged ? 0 : k;
            const double part = g->merged ? (double)g->there[g->type[k]] / g->shares.gpus[0] : 1;
            const bool counts = j->speed[of] > 0 && j->share[of] > negligible;
            g->entry[j->id].share[g->type[k]] = counts ? j->share[of] * part : 0;
        }
        dls_gavel_entry *other = dls_gavel_partner(g, view, &g->entry[j->id]);
        if (other) {
            memcpy(other->share, g->entry[j->id].share, sizeof other->share);
        }
    }
    g->allocated = true;
    return DLS_OK;
}

/* ---- priorities ------------------------------------------------------------------------------ */

/* Seconds that the job, or in the mean the pair, had GPUs of the type since the last reset, with
 * half a round of credit. */
static double received_s(const dls_gavel *g, const dls_view *view, const dls_gavel_entry *e,
                         int32_t type)
{
    const dls_gavel_entry *other = dls_gavel_partner(g, view, e);
    double us = (double)(dls_view_service_us(view, e->job, type) - e->reset_us[type]);
    if (other) {
        us += (double)(dls_view_service_us(view, other->job, type) - other->reset_us[type]);
        us /= 2;
    }
    return us / 1e6 / view->gpus[e->job] + (double)g->round_us / 2e6;
}

static void reset(dls_gavel *g, const dls_view *view)
{
    for (size_t i = 0; i < g->n; i++) {
        for (int32_t t = 0; t < view->n_types; t++) {
            g->entry[i].reset_us[t] = dls_view_service_us(view, g->entry[i].job, t);
        }
    }
    g->last_reset_us = view->now_us;
}

DLS_BY(most_wanted, candidate, DLS_DOWN(priority), DLS_UP(service_us), DLS_UP(job), DLS_UP(type));

static void join(dls_gavel *g, dls_plan *plan, dls_gavel_entry *e, dls_gavel_entry *other)
{
    dls_plan_join(plan, other->job, e->job);
    other->chosen = true;
    e->joined = other->joined = g->round;
}

static void choose(dls_gavel *g, const dls_view *view, dls_plan *plan, size_t entry, int32_t type)
{
    dls_gavel_entry *e = &g->entry[entry];
    const int32_t gpus = view->gpus[e->job];
    if (!e->chosen && gpus <= dls_ledger_room(&g->ledger, view, e->job, type)) {
        const dls_want want = {.type = type};
        dls_ledger_take(&g->ledger, view, e->job, type, gpus);
        dls_gavel_entry *other = dls_gavel_partner(g, view, e);
        dls_plan_set(plan, e->job, &want);
        e->chosen = true;
        if (other) {
            join(g, plan, e, other);
        }
    }
}

static dls_status by_priority(dls_gavel *g, const dls_view *view, dls_plan *plan, dls_error *err)
{
    double total_s[DLS_TYPES_MAX] = {0};
    size_t n = 0;
    DLS_TRY(dls_grow(&g->candidate, &g->candidate_cap, g->n * (size_t)(g->n_types + 1) + 1,
                     sizeof *g->candidate, err));
    for (size_t i = 0; i < g->n; i++) {
        for (int32_t k = 0; k < g->n_types && dls_gavel_leads(g, view, &g->entry[i]); k++) {
            total_s[g->type[k]] += received_s(g, view, &g->entry[i], g->type[k]);
        }
    }
    for (size_t i = 0; i < g->n; i++) {
        const dls_gavel_entry *e = &g->entry[i];
        for (int32_t k = 0; k < g->n_types && dls_gavel_leads(g, view, e); k++) {
            const int32_t t = g->type[k];
            if (e->share[t] > 0) {
                g->candidate[n++] =
                    (candidate){.priority = e->share[t] * total_s[t] / received_s(g, view, e, t),
                                .service_us = dls_view_service_us(view, e->job, -1),
                                .entry = i,
                                .type = t,
                                .job = e->job};
            }
        }
    }
    dls_sort(g->candidate, n, sizeof *g->candidate, most_wanted);
    for (size_t i = 0; i < n; i++) {
        choose(g, view, plan, g->candidate[i].entry, g->candidate[i].type);
    }
    return DLS_OK;
}

/* What nobody's share claims: least attained service first, each on its fastest type with room. */
static void leftovers(dls_gavel *g, const dls_view *view, dls_plan *plan)
{
    size_t n = 0;
    int64_t left = 0;
    for (int32_t k = 0; k < g->n_types; k++) {
        left += g->ledger.left[g->type[k]];
    }
    for (size_t i = 0; i < g->n && left > 0; i++) {
        const dls_gavel_entry *e = &g->entry[i];
        for (int32_t k = 0; k < g->n_types && !e->chosen && dls_gavel_leads(g, view, e); k++) {
            if (e->speed[g->type[k]] > 0) {
                g->candidate[n++] = (candidate){
                    .service_us = dls_view_service_us(view, e->job, -1), .entry = i, .job = e->job};
                break;
            }
        }
    }
    dls_sort(g->candidate, n, sizeof *g->candidate, most_wanted);
    for (size_t i = 0; i < n; i++) {
        const dls_gavel_entry *e = &g->entry[g->candidate[i].entry];
        for (int32_t tries = 0; tries < g->n_types && !e->chosen; tries++) {
            int32_t best = -1;
            for (int32_t k = 0; k < g->n_types; k++) {
                const int32_t t = g->type[k];
                if (e->speed[t] > (best < 0 ? 0 : e->speed[best]) &&
                    dls_ledger_room(&g->ledger, view, e->job, t) >= view->gpus[e->job]) {
                    best = t;
                }
            }
            if (best < 0) {
                break;
            }
            choose(g, view, plan, g->candidate[i].entry, best);
        }
    }
}

dls_status dls_gavel_round(dls_gavel *g, const dls_view *view, dls_plan *plan,
                           dls_gavel_objective objective, dls_error *err)
{
    DLS_TRY(look_around(g, view, err));
    g->allocated &= !g->packing.on || !dls_gavel_part(g, view);
    if (view->now_us - g->last_reset_us >= g->reset_us) {
        reset(g, view);
    }
    if (!g->allocated) {
        DLS_TRY(allocate(g, view, objective, err));
    }
    for (size_t i = 0; i < g->n && !g->packing.on; i++) {
        g->entry[i].chosen = dls_plan_guest(plan, view, g->entry[i].job);
    }
    DLS_TRY(by_priority(g, view, plan, err));
    leftovers(g, view, plan);
    return DLS_OK;
}

/* ---- the table's other functions ------------------------------------------------------------- */

dls_status dls_gavel_init(void *state, const dls_view *view, const dls_option_value *values,
                          dls_error *err)
{
    dls_gavel *g = state;
    g->round_us = (int64_t)(values[DLS_GAVEL_OPT_ROUND].f * 1e6);
    g->reset_us = (int64_t)(values[DLS_GAVEL_OPT_RESET].f * 1e6);
    g->same_types = !values[DLS_GAVEL_OPT_TYPES].b;
    for (int32_t t = 0; t < view->n_types; t++) {
        g->price[t] = 1;
    }
    return DLS_OK;
}

void dls_gavel_fini(void *state)
{
    dls_gavel *g = state;
    DLS_FREE_ALL(g->entry, g->candidate, g->packing.single);
    dls_scratch_fini(&g->ledger);
    dls_timeshares_fini(&g->shares);
}

dls_status dls_gavel_clone(void *state, const void *from, const dls_view *view, dls_error *err)
{
    const dls_gavel *of = from;
    dls_gavel *g = state;
    g->candidate = NULL;
    g->packing.single = NULL;
    g->candidate_cap = g->packing.cap = 0;
    g->ledger = (dls_ledger){0};
    g->shares = (dls_timeshares){0};
    g->cap = of->n;
    return dls_duplicate(&g->entry, of->entry, of->n, of->n, sizeof *g->entry, err);
}

void dls_gavel_timing(const void *state, dls_round_timing *out)
{
    *out = (dls_round_timing){.interval_us = ((const dls_gavel *)state)->round_us};
}
