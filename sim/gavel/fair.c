/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Gavel's policies that optimise, in the replay. Upstream solves them by an interior-point code
 * (ECOS), and where several allocations are optimal its choice, near the centre of them, decides
 * who runs when GPUs are left over; sched/interior.h ends near the same point, not at the same
 * bits.
 */
#include "gavel/core.h"

#include "base/alloc.h"

#include <string.h>

static dls_status list_jobs(dls_gv *g, dls_error *err)
{
    const dls_gv_belief b = g->policy->believes;
    dls_timeshares *s = &g->shares;
    double gpus[DLS_GV_TYPES];
    for (int32_t k = 0; k < g->n_types; k++) {
        gpus[k] = g->gpus[g->type[k]];
    }
    dls_timeshares_reset(s, g->n_types, gpus);
    for (int32_t i = 0; i < g->n_active; i++) {
        const int32_t job = g->active[i];
        const dls_gv_job *j = &g->job[job];
        dls_timeshare_job *to = dls_timeshares_add(s);
        if (!to) {
            return dls_nomem(err, "shares", sizeof *to);
        }
        *to = (dls_timeshare_job){.id = job,
                                  .gpus = j->gpus,
                                  .weight = j->weight,
                                  .left = dls_gv_left(g, job),
                                  .age = g->now_s - j->arrival_s,
                                  .isolated_s = j->isolated_s};
        for (int32_t k = 0; k < g->n_types; k++) {
            to->speed[k] =
                b == DLS_GV_ONE ? 1 : dls_gv_alone(g, job, b == DLS_GV_V100 ? 2 : g->type[k]);
            if (to->speed[k] < 0) {
                return dls_fail(err, DLS_EINPUT, NULL,
                                "job %d: the table has no speed of it on v100, which this policy "
                                "takes for all types",
                                (int)job);
            }
        }
    }
    return DLS_OK;
}

static void take_shares(dls_gv *g)
{
    for (size_t i = 0; i < g->n_combos; i++) {
        memset(g->combo[i].share, 0, sizeof g->combo[i].share);
    }
    for (size_t i = 0; i < g->shares.n; i++) {
        const dls_timeshare_job *j = &g->shares.job[i];
        for (int32_t k = 0; k < g->n_types; k++) {
            dls_gv_single(g, j->id)->share[g->type[k]] = j->share[k];
        }
    }
}

/* Upstream's solver may fail, too; it then stops or takes equal shares. */
static dls_status finish(dls_gv *g, dls_interior_outcome outcome, dls_error *err)
{
    if (outcome != DLS_INTERIOR_OPTIMAL) {
        g->unsolved++;
        return dls_gv_isolated(g, err);
    }
    take_shares(g);
    return DLS_OK;
}

typedef dls_status (*solver)(dls_timeshares *s, dls_interior_outcome *outcome, dls_error *err);

static dls_status solve(dls_gv *g, solver one, dls_error *err)
{
    dls_interior_outcome outcome;
    DLS_TRY(list_jobs(g, err));
    DLS_TRY(one(&g->shares, &outcome, err));
    return finish(g, outcome, err);
}

dls_status dls_gv_max_min(dls_gv *g, dls_error *err)
{
    return solve(g, dls_timeshares_las, err);
}

dls_status dls_gv_water(dls_gv *g, dls_error *err)
{
    return solve(g, dls_timeshares_water_filling, err);
}

dls_status dls_gv_throughput(dls_gv *g, dls_error *err)
{
    return solve(g, dls_timeshares_throughput, err);
}

/* ---- finish-time fairness -------------------------------------------------------------------- */

dls_status dls_gv_finish_time(dls_gv *g, dls_error *err)
{
    dls_timeshares *s = &g->shares;
    dls_interior_outcome outcome;
    for (int32_t i = 0; i < g->n_active; i++) { /* what was done since the last call */
        dls_gv_job *j = &g->job[g->active[i]];
        j->isolated_s +=
            j->seen ? (j->last_left - dls_gv_left(g, g->active[i])) / j->last_isolated : 0;
    }
    DLS_TRY(list_jobs(g, err));
    for (size_t i = 0; i < s->n; i++) {
        dls_gv_job *j = &g->job[s->job[i].id];
        j->seen = true;
        j->last_left = s->job[i].left;
        j->last_isolated = dls_timeshares_isolated_speed(s, &s->job[i]);
    }
    DLS_TRY(dls_timeshares_finish_time(s, &outcome, err));
    return finish(g, outcome, err);
}

/* ---- minimal total duration ------------------------------------------------------------------ */

/* Upstream's bisection accepts the last duration that is possible: nothing is solved for that,
 * since the shortest possible one says of every other whether it is. */
static double accepted(double shortest_s)
{
    double low = 100, high = 1e6, last = 1e6, found = -1;
    while (found < 0) {
        while (1.05 * low < high) {
            const double mid = (low + high) / 2;
            if (mid >= shortest_s) {
                found = high = mid;
            } else {
                low = mid;
            }
        }
        high = last * 10;
        low = last;
        last *= 10;
    }
    return found;
}

dls_status dls_gv_duration(dls_gv *g, dls_error *err)
{
    dls_timeshares *s = &g->shares;
    dls_interior *lp = &s->lp;
    dls_interior_outcome outcome;
    DLS_TRY(list_jobs(g, err));
    DLS_TRY(dls_timeshares_duration(s, &outcome, err));
    if (outcome == DLS_INTERIOR_OPTIMAL && s->best < 1e12) {
        const double all_s = accepted(s->best);
        lp->cost = 0;
        for (size_t i = 0; i < s->n; i++) {
            dls_interior_job *row = &lp->job[i];
            memcpy(row->gain, s->job[i].speed, sizeof row->gain);
            row->need = s->job[i].left / all_s;
            row->level = 0;
        }
        DLS_TRY(dls_interior_solve(lp, &outcome, err));
        for (size_t i = 0; i < s->n && outcome == DLS_INTERIOR_OPTIMAL; i++) {
            memcpy(s->job[i].share, lp->job[i].x, sizeof s->job[i].share);
        }
        outcome = DLS_INTERIOR_OPTIMAL; /* else that of the shortest duration, which does as well */
    }
    return finish(g, outcome, err);
}
