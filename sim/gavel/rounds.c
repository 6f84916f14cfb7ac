/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The loop of Gavel's simulator: a round ends when its slowest member does, its jobs are credited,
 * newcomers are let in, priorities follow from what was due and what was received.
 */
#include "gavel/core.h"

#include "base/own.h"
#include "gavel/market.h"

#include <math.h>
#include <stdlib.h>

enum { FAILURES_ALLOWED = 5, STILL_ROUNDS_MOST = 10000 };
static const double restart_s = 20;

static double reset_interval_s(const dls_gv *g)
{
    return g->p->shockwave ? 1000 : 1920;
}

/* ---- coming and going ------------------------------------------------------------------------ */

static bool is_of(const dls_gv_combo *c, int32_t job)
{
    return c->a == job || c->b == job;
}

static void leave(dls_gv *g, int32_t job, double end_s)
{
    size_t n = 0;
    g->job[job].active = false;
    g->result[job].end_s = end_s;
    g->left--;
    g->still_rounds = 0;
    g->dirty = true;
    if (g->market) {
        dls_gv_market_left(g->market);
    }
    for (size_t i = 0; i < g->n_combos; i++) {
        if (!is_of(&g->combo[i], job)) {
            if (g->combo[i].b < 0) {
                g->job[g->combo[i].a].combo = n;
            }
            g->combo[n++] = g->combo[i];
        }
    }
    g->n_combos = n;
    int32_t k = 0;
    for (int32_t i = 0; i < g->n_active; i++) {
        if (g->active[i] != job) {
            g->active[k++] = g->active[i];
        }
    }
    g->n_active = k;
}

static dls_status add_combo(dls_gv *g, int32_t a, int32_t b, dls_error *err)
{
    DLS_TRY(dls_grow(&g->combo, &g->combo_cap, g->n_combos + 1, sizeof *g->combo, err));
    dls_gv_combo *c = &g->combo[g->n_combos++];
    *c = (dls_gv_combo){.a = a, .b = b, .last = -1};
    for (int32_t k = 0; k < g->n_types && b < 0; k++) {
        c->attained[g->type[k]] = g->p->round_s / 2;
    }
    return DLS_OK;
}

static dls_status arrive(dls_gv *g, int32_t job, dls_error *err)
{
    dls_gv_job *j = &g->job[job];
    j->combo = g->n_combos;
    DLS_TRY(add_combo(g, job, DLS_GV_ALONE, err));
    for (int32_t i = 0; i < g->n_active && g->policy->packs; i++) {
        if (g->job[g->active[i]].gpus == j->gpus) {
            DLS_TRY(add_combo(g, g->active[i], job, err));
        }
    }
    g->active[g->n_active++] = job;
    j->active = true;
    if (g->market) {
        dls_gv_market_arrived(g->market, job, g->now_s);
    }
    g->dirty = true;
    return DLS_OK;
}

dls_gv_combo *dls_gv_find(dls_gv *g, int32_t a, int32_t b)
{
    const int32_t low = a < b ? a : b, high = a < b ? b : a;
    dls_gv_combo *c = dls_gv_single(g, high);
    while (c->a != low) {
        c++;
    }
    return c;
}

/* ---- the end of a round ---------------------------------------------------------------------- */

DLS_BY(latest_first, dls_gv_run, DLS_DOWN(finish_s), DLS_ORDER(y->b < 0, x->b < 0), DLS_UP(a),
       DLS_UP(b));

/* Every GPU reports its share of the steps; one that has nothing to report is a failure. */
static bool has_failed(const dls_gv *g, const dls_gv_run *r, double exec_s)
{
    bool bad = false;
    for (int32_t k = 0; k < (r->b < 0 ? 1 : 2); k++) {
        const int64_t each = r->steps[k] / r->gpus, last = r->steps[k] - (r->gpus - 1) * each;
        const bool none = last <= 0 || (r->gpus > 1 && each <= 0);
        bad |= g->p->shockwave ? none && exec_s <= 0 : none || exec_s <= 0;
    }
    return bad;
}

/* The fork takes the restart off what a job did in its round, if it did not run in the one before.
 */
static void lose_restart(const dls_gv *g, dls_gv_run *r, double *exec_s)
{
    const dls_gv_job *j = &g->job[r->a];
    if (g->round != 1 && j->round_before != g->round - 2 && *exec_s != 0 &&
        g->p->round_s - 5 < *exec_s) {
        const double factor = (*exec_s - restart_s) / *exec_s;
        *exec_s -= restart_s;
        r->steps[0] = (int64_t)((double)r->steps[0] * factor);
        r->steps[1] = (int64_t)((double)r->steps[1] * factor);
    }
}

static dls_status complete(dls_gv *g, const dls_gv_run *done, dls_error *err)
{
    dls_gv_run r = *done;
    double exec_s = r.finish_s - g->round_start_s;
    bool over = false;
    int32_t gone[2] = {-1, -1};
    double end_s[2] = {-1, -1};
    if (g->p->shockwave) {
        dls_gv_job *j = &g->job[r.a];
        lose_restart(g, &r, &exec_s);
        j->run_s += exec_s * r.gpus;
        over = j->run_s / j->gpus > (double)dls_gv_patience_s(j->profile);
    }
    if (g->market) {
        const double speed = exec_s > 0 ? (double)r.steps[0] / exec_s : 0;
        DLS_TRY(dls_gv_market_measured(g, g->market, r.a, speed, err));
    }
    if (has_failed(g, &r, exec_s)) {
        g->dirty = true;
        if (r.b < 0 && ++g->job[r.a].failures >= FAILURES_ALLOWED) {
            gone[0] = r.a;
            end_s[0] = g->p->shockwave ? r.finish_s : -1;
        }
    } else {
        for (int32_t k = 0; k < (r.b < 0 ? 1 : 2); k++) {
            const int32_t job = k == 0 ? r.a : r.b;
            dls_gv_job *j = &g->job[job];
            j->failures = r.b < 0 ? 0 : j->failures;
            j->done += r.steps[k];
            g->still_rounds = 0;
            if (j->total - j->done <= 0 || over) {
                gone[k] = job;
                end_s[k] = r.finish_s;
            }
        }
        dls_gv_combo *c = r.b < 0 ? dls_gv_single(g, r.a) : dls_gv_find(g, r.a, r.b);
        c->attained[r.type] += exec_s;
        g->total[r.type] += exec_s;
    }
    if (g->p->shockwave) {
        dls_gv_rescale(g, r.a);
        if (r.b >= 0) {
            dls_gv_rescale(g, r.b);
        }
    }
    for (int32_t k = 0; k < 2; k++) {
        if (gone[k] >= 0) {
            leave(g, gone[k], end_s[k]);
        }
    }
    return DLS_OK;
}

static dls_status end_round(dls_gv *g, dls_error *err)
{
    dls_gv_round *r = &g->now;
    if (r->n > 0) {
        g->idle_rounds = 0;
        double last_s = r->run[0].finish_s;
        for (size_t i = 1; i < r->n; i++) {
            last_s = fmax(last_s, r->run[i].finish_s);
        }
        if (g->round_end_s >= 0) {
            g->round_start_s = g->round_end_s;
        }
        g->round_end_s = g->now_s = last_s;
        qsort(r->run, r->n, sizeof *r->run, latest_first);
    } else if (g->queued < g->n) {
        g->now_s = g->job[g->queued].arrival_s;
    } else if (g->round > 0 && ++g->idle_rounds > 2) { /* the original goes on for ever */
        return dls_fail(err, DLS_ERUN, NULL, "after %g s none of the %d jobs that are left can run",
                        g->now_s, (int)g->left);
    }
    for (size_t i = 0; i < r->n; i++) {
        DLS_TRY(complete(g, &r->run[i], err));
    }
    /* Pairs may fail as often as they like, and go on for ever in the original. */
    if (r->n > 0 && g->queued == g->n && ++g->still_rounds > STILL_ROUNDS_MOST) {
        return dls_fail(err, DLS_ERUN, NULL, "after %g s none of the %d jobs that are left takes a step in a round",
                        g->now_s, (int)g->left);
    }
    for (int32_t i = 0; i < g->n_active && g->p->shockwave; i++) {
        dls_gv_wish(&g->job[g->active[i]]);
    }
    if (g->market) {
        dls_gv_market_turn(g, g->market);
    }
    while (g->queued < g->n && g->job[g->queued].arrival_s <= g->now_s) {
        DLS_TRY(arrive(g, g->queued++, err));
    }
    return DLS_OK;
}

/* ---- priorities ------------------------------------------------------------------------------ */

static void reset(dls_gv *g, double since_s)
{
    const double half_s = g->p->round_s / 2;
    for (int32_t k = 0; k < g->n_types; k++) {
        const int32_t w = g->type[k];
        g->total[w] = 0;
        for (size_t i = 0; i < g->n_combos; i++) {
            dls_gv_combo *c = &g->combo[i];
            const double due = c->known ? c->share[w] * since_s : 0;
            c->deficit[w] += due - (c->attained[w] - half_s);
            c->attained[w] = half_s;
            g->total[w] += half_s;
        }
    }
    g->last_reset_s = g->now_s;
    g->stale = false;
}

static dls_status allocate(dls_gv *g, dls_error *err)
{
    g->dirty = false;
    for (size_t i = 0; i < g->n_combos; i++) {
        g->combo[i].known = true;
    }
    g->allocations += g->n_active > 0;
    return g->n_active > 0 ? g->policy->allocate(g, err) : DLS_OK;
}

static dls_status prioritise(dls_gv *g, dls_error *err)
{
    const double since_s = g->now_s - g->last_reset_s;
    const bool due = since_s >= reset_interval_s(g) || g->last_reset_s == 0;
    g->stale |= g->dirty;
    if (g->p->immediate && g->dirty) {
        DLS_TRY(allocate(g, err));
    }
    if (g->stale && due) {
        reset(g, since_s);
        if (!g->p->immediate) {
            DLS_TRY(allocate(g, err));
        }
    }
    for (int32_t k = 0; k < g->n_types; k++) {
        const int32_t w = g->type[k];
        for (size_t i = 0; i < g->n_combos; i++) {
            dls_gv_combo *c = &g->combo[i];
            const double received = g->total[w] != 0 ? c->attained[w] / g->total[w] : 0;
            const double share = c->known ? c->share[w] : 0;
            c->priority[w] = 0;
            if (share != 0 && dls_gv_least(g, c, w) != 0) {
                c->priority[w] = received > 0 ? share / received : share * 1e9;
            }
        }
    }
    return DLS_OK;
}

/* ---- a round --------------------------------------------------------------------------------- */

static void start_run(dls_gv *g, dls_gv_run *r)
{
    r->finish_s = g->now_s;
    for (int32_t k = 0; k < (r->b < 0 ? 1 : 2); k++) {
        const int32_t job = k == 0 ? r->a : r->b;
        const double speed =
            r->b < 0 ? dls_gv_alone(g, job, r->type) : dls_gv_pair(g, r->a, r->b, r->type)[k];
        const int64_t left = g->job[job].total - g->job[job].done;
        const double most = speed * g->p->round_s;
        r->steps[k] = most < (double)left ? (int64_t)most : left;
        r->finish_s = fmax(r->finish_s, g->now_s + (double)r->steps[k] / speed);
    }
}

/* Is the set of GPUs another than the job had in the last round? */
static bool has_moved(const dls_gv *g, const dls_gv_run *r, const dls_gv_run *was)
{
    int32_t same = 0;
    for (int32_t i = 0; i < r->gpus; i++) {
        for (int32_t k = 0; k < was->gpus; k++) {
            same += g->now.gpu[r->gpu_at + (size_t)i] == g->before.gpu[was->gpu_at + (size_t)k];
        }
    }
    return same < r->gpus;
}

static void note_jobs(dls_gv *g, const dls_gv_run *r)
{
    for (int32_t k = 0; k < (r->b < 0 ? 1 : 2); k++) {
        const int32_t job = k == 0 ? r->a : r->b;
        dls_gv_job *j = &g->job[job];
        dls_gavel_job *out = &g->result[job];
        const bool went_on = j->last_round == g->round - 1;
        if (out->start_s < 0) {
            out->start_s = g->now_s;
        } else {
            out->preempted += !went_on;
        }
        out->migrated += went_on && has_moved(g, r, &g->before.run[j->last_run]);
        out->rounds++;
        out->rounds_on[r->type]++;
        out->rounds_packed += r->b >= 0;
        j->round_before = j->last_round;
        j->last_round = g->round;
    }
}

/* The live system's rounds are longer: those that stop save, those that start load. */
static void lengthen(dls_gv *g)
{
    size_t started = 0;
    for (size_t i = 0; i < g->now.n; i++) {
        const dls_gv_run *r = &g->now.run[i];
        const dls_gv_job *j = &g->job[r->a];
        started += j->last_round != g->round - 1 || has_moved(g, r, &g->before.run[j->last_run]);
    }
    const double more_s =
        g->now.n ? g->p->growth_s * (double)started / (double)g->now.n + g->p->pause_s : 0;
    for (size_t i = 0; i < g->now.n; i++) {
        g->now.run[i].finish_s += more_s;
    }
}

static dls_status report_round(dls_gv *g, dls_error *err)
{
    DLS_FREED dls_gavel_run *list = NULL;
    size_t cap = 0;
    if (!g->p->on_round) {
        return DLS_OK;
    }
    DLS_TRY(dls_grow(&list, &cap, g->now.n + 1, sizeof *list, err));
    for (size_t i = 0; i < g->now.n; i++) {
        const dls_gv_run *r = &g->now.run[i];
        list[i] = (dls_gavel_run){r->a, r->b, r->type, r->gpus, g->now.gpu + r->gpu_at};
    }
    return g->p->on_round(g->p->user, (size_t)g->round, g->now_s, list, g->now.n, err);
}

dls_status dls_gv_loop(dls_gv *g, dls_error *err)
{
    g->round_end_s = -1;
    g->dirty = true;
    while (g->left > 0) {
        if (g->queued == g->n && g->now.n == 0 && !g->p->shockwave) {
            g->last_reset_s = 0;
        }
        DLS_TRY(end_round(g, err));
        if (g->p->shockwave && g->n_active == 0) {
            break;
        }
        if (!g->market) {
            DLS_TRY(prioritise(g, err));
        }
        DLS_TRY(dls_gv_select(g, err));
        for (size_t i = 0; i < g->now.n; i++) {
            start_run(g, &g->now.run[i]);
        }
        lengthen(g);
        DLS_TRY(report_round(g, err));
        for (size_t i = 0; i < g->now.n; i++) {
            note_jobs(g, &g->now.run[i]);
        }
        g->round++;
    }
    return DLS_OK;
}
