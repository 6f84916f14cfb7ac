/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * elasticflow: the smallest share with which a job meets its deadline, or none at all; what is left
 * goes where it costs the least (Gu et al., ASPLOS 2023; elasticflow_plan.h).
 *
 * A round at every arrival and end, and at the first slot from the next change of a plan on.
 * Between them nothing is planned anew.
 */
#include "dlsim/memory.h"
#include "sched/elastic_levels.h"
#include "sched/elasticflow_plan.h"
#include "sched/gangs.h"

#include <math.h>
#include <string.h>

enum { OPT_SLOT, OPT_MARGIN, OPT_QUIRKS };

static const dls_option options[] = {
    [OPT_SLOT] = {"slot", DLS_OPT_F64, 1, 1e7, "60", "s",
                  "plans change at whole slots, or when jobs come and go", NULL},
    [OPT_MARGIN] = {"margin", DLS_OPT_F64, 0, 1e7, "0", "s",
                    "plan to finish so much before the deadline, for what restoring takes", NULL},
    [OPT_QUIRKS] = {"quirks", DLS_OPT_STR, 0, 0, "none", "",
                    "upstream: who comes in and who gets spare GPUs as in the authors' program",
                    "none|upstream"},
    {0},
};

/* Of a job, from round to round. */
struct known {
    double last_speed; /* at which it ran last; 0: never */
    int32_t floor;     /* promised */
    int32_t home;      /* admitted: the type it runs on, from 1 on */
};

/* The GPUs of one type and the jobs that run on them. */
struct part {
    dls_ef_planner plans;
    dls_ef_job **list; /* [n] */
    size_t n, cap;
};

struct elasticflow {
    double slot_s, margin_s;
    double change_s;   /* nothing changes before that, */
    int64_t free_gpus; /* if so many are free: no GPU failed or came back, nobody was refused */
    bool upstream;
    /* Scratch of a round. */
    struct part part[DLS_TYPES_MAX];
    dls_ledger ledger;
    dls_ef_job *job; /* [n] */
    int32_t *newcomer;
    dls_ef_job **trial;
    bool *was_late; /* as `job` */
    size_t n_jobs, n, n_newcomers, cap_job, cap_newcomer, cap_trial, cap_late;
};

static void timing(const void *state, dls_round_timing *out)
{
    const struct elasticflow *s = state;
    *out = (dls_round_timing){
        .interval_us = llround(s->slot_s * 1e6), .on_arrival = true, .on_end = true};
}

static dls_status init(void *state, const dls_view *view, const dls_option_value *values,
                       dls_error *err)
{
    struct elasticflow *s = state;
    s->slot_s = values[OPT_SLOT].f;
    s->upstream = strcmp(values[OPT_QUIRKS].s, "upstream") == 0;
    s->margin_s = values[OPT_MARGIN].f;
    return view->n_types == 1 || !s->upstream
               ? DLS_OK
               : dls_fail(err, DLS_ECONFIG, "elasticflow",
                          "quirks = \"upstream\" knows one GPU type; the cluster has %d",
                          view->n_types);
}

static void fini(void *state)
{
    struct elasticflow *s = state;
    for (size_t i = 0; i < s->n_jobs; i++) {
        dls_ef_job_fini(&s->job[i]);
    }
    for (int32_t t = 0; t < DLS_TYPES_MAX; t++) {
        dls_ef_planner_fini(&s->part[t].plans);
        dls_free(s->part[t].list);
    }
    dls_scratch_fini(&s->ledger);
    DLS_FREE_ALL(s->job, s->newcomer, s->trial, s->was_late);
}

/* Plans are made anew in every round: the scratch is not copied. */
static dls_status clone(void *state, const void *from, const dls_view *view, dls_error *err)
{
    const struct elasticflow *of = from;
    *(struct elasticflow *)state = (struct elasticflow){.slot_s = of->slot_s,
                                                        .margin_s = of->margin_s,
                                                        .upstream = of->upstream,
                                                        .change_s = of->change_s,
                                                        .free_gpus = of->free_gpus};
    return DLS_OK;
}

/* ---- the jobs of a round --------------------------------------------------------------------- */

static dls_status make_room(struct elasticflow *s, const dls_view *view, dls_error *err)
{
    const size_t n = (size_t)(view->running_jobs + view->waiting_jobs) + 1;
    DLS_TRY(dls_grow(&s->job, &s->cap_job, n, sizeof *s->job, err));
    if (n > s->n_jobs) {
        memset(s->job + s->n_jobs, 0, (n - s->n_jobs) * sizeof *s->job);
        s->n_jobs = n;
    }
    DLS_TRY(dls_grow(&s->newcomer, &s->cap_newcomer, n, sizeof *s->newcomer, err));
    DLS_TRY(dls_grow(&s->trial, &s->cap_trial, n, sizeof *s->trial, err));
    DLS_TRY(dls_grow(&s->was_late, &s->cap_late, n, sizeof *s->was_late, err));
    for (int32_t t = 0; t < view->n_types; t++) {
        DLS_TRY(dls_grow(&s->part[t].list, &s->part[t].cap, n, sizeof *s->part[t].list, err));
    }
    return DLS_OK;
}

static struct known *known(const dls_view *view, int32_t job)
{
    return dls_view_job_state(view, job);
}

/* What is left of a job is known at the speed at which it ran last, as far as that is its own. */
static void look_at(const struct elasticflow *s, const dls_view *view, int32_t job, int32_t type,
                    dls_ef_job *out)
{
    struct known *k = known(view, job);
    dls_levels levels;
    dls_levels_of(view, job, type, &levels);
    out->id = job;
    out->planned = false;
    out->n_levels = 0;
    out->floor = s->upstream ? 0 : dls_level_within(&levels, k->floor); /* failures may leave less than was promised */
    for (int32_t i = 0; i < levels.n; i++) {
        dls_ef_job_level(out, levels.gpus[i], levels.speed[i]);
    }
    const double speed = view->held_gpus[job] > 0 ? dls_ef_speed(out, view->held_gpus[job]) : 0;
    k->last_speed = speed > 0 ? speed : k->last_speed;
    out->left = (double)dls_view_remaining_us(view, job) / 1e6 * (k->last_speed > 0 ? k->last_speed : 1) *
                (1 - 1e-9); /* what just fits is not to fail by rounding */
    out->deadline = DLS_EF_NO_DEADLINE;
    if (view->deadline_us && view->deadline_us[job] != DLS_ABSENT) {
        out->deadline =
            fmax((double)view->deadline_us[job] / 1e6 - s->margin_s, (double)view->now_us / 1e6);
    }
}

static void sort_out(struct elasticflow *s, const dls_view *view, int32_t job)
{
    const int32_t home = known(view, job)->home;
    if (home == 0) {
        s->newcomer[s->n_newcomers++] = job;
        return;
    }
    struct part *p = &s->part[home - 1];
    dls_ef_job *j = &s->job[s->n++];
    look_at(s, view, job, home - 1, j);
    p->list[p->n++] = j;
}

static dls_status gather(struct elasticflow *s, const dls_view *view, dls_plan *plan, dls_error *err)
{
    DLS_TRY(make_room(s, view, err));
    DLS_TRY(dls_ledger_begin(&s->ledger, view, err));
    s->n = s->n_newcomers = 0;
    for (int32_t t = 0; t < view->n_types; t++) {
        struct part *p = &s->part[t];
        p->n = 0;
        p->plans.gpus = (int32_t)s->ledger.left[t];
        p->plans.slot_s = s->slot_s;
        p->plans.upstream = s->upstream;
    }
    for (int32_t j = dls_view_first_running(view); j >= 0; j = dls_view_next_running(view, j)) {
        if (!dls_plan_guest(plan, view, j)) {
            sort_out(s, view, j);
        }
    }
    for (int32_t j = dls_view_first_waiting(view); j >= 0; j = dls_view_next_waiting(view, j)) {
        sort_out(s, view, j);
    }
    return DLS_OK;
}

/* ---- who comes in ---------------------------------------------------------------------------- */

static bool is_late(const dls_ef_job *j)
{
    return j->plan.real_end > j->deadline;
}

/* Does a plan with these in addition make nobody late who was not so before? As published: who is
 * late anyway counts too. Of several types the best is chosen by their ends, so those are planned. */
static bool fits(struct elasticflow *s, struct part *p, dls_ef_job *more, size_t n, double now_s,
                 int32_t types)
{
    if (p->n > 0) {
        memcpy(s->trial, p->list, p->n * sizeof *p->list);
    }
    for (size_t i = 0; i < n; i++) {
        s->trial[p->n + i] = &more[i];
        s->was_late[&more[i] - s->job] = false;
    }
    bool good = dls_ef_plan_all(&p->plans, s->trial, p->n + n, now_s, types > 1);
    for (size_t i = 0; i < p->n + n && !s->upstream; i++) {
        good = (i == 0 || good) && (!is_late(s->trial[i]) || s->was_late[s->trial[i] - s->job]);
    }
    return good;
}

static void let_in(struct elasticflow *s, const dls_view *view, int32_t type, size_t n)
{
    struct part *p = &s->part[type];
    for (size_t i = 0; i < n; i++) {
        dls_ef_job *j = &s->job[s->n++];
        known(view, j->id)->home = type + 1;
        p->list[p->n++] = j;
    }
}

/* The type on which a newcomer would be done first; -1: it fits on none. */
static int32_t best_type(struct elasticflow *s, const dls_view *view, int32_t job, double now_s)
{
    int32_t best = -1;
    double first = (double)INFINITY;
    for (int32_t t = 0; t < view->n_types; t++) {
        int64_t gpus;
        struct part *p = &s->part[t];
        dls_view_pool(view, job, t, &gpus);
        if (!(dls_view_types(view, job) >> t & 1) || gpus < view->min_gpus[job] ||
            p->plans.gpus < view->min_gpus[job]) {
            continue;
        }
        look_at(s, view, job, t, &s->job[s->n]);
        if (fits(s, p, &s->job[s->n], 1, now_s, view->n_types) && s->job[s->n].plan.real_end < first) {
            first = s->job[s->n].plan.real_end;
            best = t;
        }
    }
    return best;
}

/* A job without a deadline is not turned away; while it cannot run anywhere it waits. */
static bool may_wait(const dls_view *view, int32_t job)
{
    return !view->deadline_us || view->deadline_us[job] == DLS_ABSENT;
}

static void admit(struct elasticflow *s, const dls_view *view, dls_plan *plan)
{
    const double now_s = (double)view->now_us / 1e6;
    for (int32_t t = 0; t < view->n_types && s->n_newcomers > 0; t++) {
        struct part *p = &s->part[t];
        dls_ef_plan_all(&p->plans, p->list, p->n, now_s, false);
        for (size_t i = 0; i < p->n; i++) {
            s->was_late[p->list[i] - s->job] = is_late(p->list[i]);
        }
    }
    if (s->upstream) { /* together, or none of them */
        for (size_t i = 0; i < s->n_newcomers; i++) {
            look_at(s, view, s->newcomer[i], 0, &s->job[s->n + i]);
        }
        const bool in =
            s->n_newcomers > 0 && fits(s, &s->part[0], &s->job[s->n], s->n_newcomers, now_s, 1);
        for (size_t i = 0; i < s->n_newcomers && !in; i++) {
            dls_plan_decline(plan, s->newcomer[i]);
        }
        let_in(s, view, 0, in ? s->n_newcomers : 0);
        return;
    }
    for (size_t i = 0; i < s->n_newcomers; i++) {
        const int32_t job = s->newcomer[i], type = best_type(s, view, job, now_s);
        if (type >= 0) {
            if (view->n_types > 1) { /* the type looked at last may be another */
                look_at(s, view, job, type, &s->job[s->n]);
            }
            let_in(s, view, type, 1);
        } else if (!may_wait(view, job)) {
            dls_plan_decline(plan, job);
        }
    }
}

/* ---- rounds ---------------------------------------------------------------------------------- */

/* The first change of a plan, the end of one included, and the start of one that was not made. */
static double next_change(const struct part *p, double now_s)
{
    double first = p->plans.room_s;
    for (size_t i = 0; i < p->n; i++) {
        const dls_ef_plan *of = &p->list[i]->plan;
        for (size_t k = 0; k < of->gpus.n; k++) {
            first = of->gpus.t[k] > now_s ? fmin(first, of->gpus.t[k]) : first;
        }
        first = fmin(first, fmax(of->end, now_s));
    }
    return first;
}

/* Shares become allocations, less where a virtual cluster may not have as many. */
static void plan_shares(struct elasticflow *s, const dls_view *view, int32_t type, dls_plan *plan)
{
    for (size_t i = 0; i < s->part[type].n; i++) {
        const dls_ef_job *j = s->part[type].list[i];
        const int64_t room = dls_ledger_room(&s->ledger, view, j->id, type);
        dls_want want = {.type = type};
        for (int32_t k = 0; k < j->n_levels && j->gpus_at[k] <= j->gpus && j->gpus_at[k] <= room;
             k++) {
            want.gpus = j->gpus_at[k];
        }
        if (want.gpus > 0) {
            dls_ledger_take(&s->ledger, view, j->id, type, want.gpus);
            dls_plan_set(plan, j->id, &want);
        }
    }
}

static dls_status round_(void *state, const dls_view *view, dls_plan *plan, dls_error *err)
{
    struct elasticflow *s = state;
    const double now_s = (double)view->now_us / 1e6;
    if (view->arrived == 0 && view->ended == 0 && now_s < s->change_s &&
        view->free_gpus == s->free_gpus) {
        dls_plan_keep_all(plan);
        return DLS_OK;
    }
    DLS_TRY(gather(s, view, plan, err));
    admit(s, view, plan);
    s->change_s = (double)INFINITY;
    s->free_gpus = 0;
    for (int32_t t = 0; t < view->n_types; t++) {
        struct part *p = &s->part[t];
        dls_ef_plan_all(&p->plans, p->list, p->n, now_s, false);
        for (size_t i = 0; i < p->n; i++) {
            known(view, p->list[i]->id)->floor = p->list[i]->plan.quota;
        }
        dls_ef_spread(&p->plans, p->list, p->n, now_s);
        if (p->plans.failed) {
            return dls_nomem(err, "plans", p->n * sizeof *s->job);
        }
        plan_shares(s, view, t, plan);
        s->change_s = fmin(s->change_s, next_change(p, now_s));
        s->free_gpus += s->ledger.left[t];
    }
    return DLS_OK;
}

const dls_sched_ops dls_sched_ops_elasticflow = {
    .abi = DLS_POLICY_ABI,
    .name = "elasticflow",
    .summary =
        "deadlines with as few GPUs as possible, or declined; spare GPUs where they cost least",
    .options = options,
    .state_bytes = sizeof(struct elasticflow),
    .job_state_bytes = sizeof(struct known),
    .init = init,
    .fini = fini,
    .clone = clone,
    .round = round_,
    .timing = timing,
};
