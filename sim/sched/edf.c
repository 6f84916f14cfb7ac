/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * edf: earliest deadline first; each job gets as many GPUs as make it faster, or those that are
 * left (the baseline `edf` of ElasticFlow, ASPLOS 2023). Jobs without a deadline come last, equal
 * ones in order of submission. Nobody is turned away.
 */
#include "sched/elastic_levels.h"
#include "sched/gangs.h"
#include "sched/lines.h"

#define HOUR_US INT64_C(3600000000)

struct edf {
    dls_ledger ledger;
    dls_lines lines; /* of those that run, too */
};

static dls_status init(void *state, const dls_view *view, const dls_option_value *values,
                       dls_error *err)
{
    ((struct edf *)state)->lines.running = true;
    ((struct edf *)state)->ledger = (dls_ledger){.interval_us = HOUR_US, .on_events = true};
    return DLS_OK;
}

static void ask(void *user, const dls_view *view, int32_t job, dls_line_ask *out)
{
    const bool has = view->deadline_us && view->deadline_us[job] != DLS_ABSENT;
    out->key = has ? view->deadline_us[job] : INT64_MAX;
}

/* How little a job disturbs on a type: it is there, as many GPUs are idle, or others have to make way. */
static int32_t ease_of(const dls_view *view, int32_t job, int32_t type, int32_t gpus)
{
    return view->held_type[job] == type ? 2 : dls_view_quota_gpus(view, job, type) >= gpus;
}

/* Of the types that have room for the job the one on which it gets most GPUs, of equals where it disturbs least;
 * *room: there is one. */
static dls_want choose(const struct edf *s, const dls_view *view, int32_t job, bool *room)
{
    *room = false;
    dls_want best = {.type = -1};
    int32_t best_ease = 0;
    for (int32_t t = 0; t < view->n_types; t++) {
        const int64_t most = dls_ledger_room(&s->ledger, view, job, t);
        dls_levels levels;
        if (most < view->min_gpus[job]) {
            continue;
        }
        *room = true;
        dls_levels_of(view, job, t, &levels);
        const int32_t gpus = dls_level_within(&levels, most), ease = ease_of(view, job, t, gpus);
        if (gpus > best.gpus || (gpus == best.gpus && ease > best_ease)) {
            best.type = t;
            best.gpus = gpus;
            best_ease = ease;
        }
    }
    return best;
}

static dls_status round_(void *state, const dls_view *view, dls_plan *plan, dls_error *err)
{
    struct edf *s = state;
    DLS_TRY(dls_ledger_begin(&s->ledger, view, err));
    DLS_TRY(dls_lines_begin(&s->lines, view, ask, s, err));
    for (int32_t j = dls_view_first_running(view); j >= 0; j = dls_view_next_running(view, j)) {
        if (dls_plan_guest(plan, view, j) && dls_lines_has(&s->lines, j)) {
            dls_lines_take(&s->lines, j);
        }
    }
    for (int32_t job; (job = dls_lines_first(&s->lines, view, 0)) >= 0;) {
        bool room;
        const dls_want want = choose(s, view, job, &room);
        if (want.gpus > 0) {
            dls_ledger_take(&s->ledger, view, job, want.type, want.gpus);
            dls_plan_set(plan, job, &want);
        }
        if (room) {
            dls_lines_take(&s->lines, job);
        } else {
            dls_lines_close(&s->lines, job);
        }
    }
    return DLS_OK;
}

static void fini(void *state)
{
    dls_lines_fini(&((struct edf *)state)->lines);
    dls_scratch_fini(state);
}

static dls_status clone(void *state, const void *from, const dls_view *view, dls_error *err)
{
    DLS_TRY(dls_scratch_clone(state, from, view, err));
    return dls_lines_clone(&((struct edf *)state)->lines, &((const struct edf *)from)->lines, view,
                           err);
}

const dls_sched_ops dls_sched_ops_edf = {
    .abi = DLS_POLICY_ABI,
    .name = "edf",
    .summary = "earliest deadline first, each job on as many GPUs as make it faster",
    .state_bytes = sizeof(struct edf),
    .init = init,
    .fini = fini,
    .clone = clone,
    .round = round_,
    .timing = dls_ledger_timing,
};
