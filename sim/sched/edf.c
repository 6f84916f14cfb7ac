/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * edf: earliest deadline first; each job gets as many GPUs as make it faster, or those that are
 * left (the baseline `edf` of ElasticFlow, ASPLOS 2023). Jobs without a deadline come last, equal
 * ones in order of submission. Nobody is turned away.
 */
#include "sched/elastic_levels.h"
#include "sched/gangs.h"

#include <stdlib.h>

#define HOUR_US INT64_C(3600000000)

struct entry {
    int64_t deadline_us;
    int32_t job;
};

struct edf {
    dls_ledger ledger;
    struct entry *list;
};

static dls_status init(void *state, const dls_view *view, const dls_option_value *values,
                       dls_error *err)
{
    ((struct edf *)state)->ledger = (dls_ledger){.interval_us = HOUR_US, .on_events = true};
    return DLS_OK;
}

static int by_deadline(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->deadline_us != y->deadline_us) {
        return x->deadline_us < y->deadline_us ? -1 : 1;
    }
    return x->job < y->job ? -1 : 1;
}

static struct entry entry_of(const dls_view *view, int32_t job)
{
    const bool has = view->deadline_us && view->deadline_us[job] != DLS_ABSENT;
    return (struct entry){has ? view->deadline_us[job] : INT64_MAX, job};
}

/* Of the types that have room for the job the one on which it gets most GPUs. */
static dls_want choose(const struct edf *s, const dls_view *view, int32_t job)
{
    dls_want best = {.type = -1};
    for (int32_t t = 0; t < view->n_types; t++) {
        const int64_t room = dls_ledger_room(&s->ledger, view, job, t);
        dls_levels levels;
        if (room < view->min_gpus[job]) {
            continue;
        }
        dls_levels_of(view, job, t, &levels);
        const int32_t gpus = dls_level_within(&levels, room);
        if (gpus > best.gpus) {
            best.type = t;
            best.gpus = gpus;
        }
    }
    return best;
}

static dls_status round_(void *state, const dls_view *view, dls_plan *plan, dls_error *err)
{
    struct edf *s = state;
    const size_t jobs = (size_t)view->running_jobs + (size_t)view->waiting_jobs;
    size_t n = 0;
    DLS_TRY(dls_ledger_begin(&s->ledger, view, err));
    DLS_TRY(dls_scratch_array(&s->ledger.scratch, 1, &s->list, jobs, sizeof *s->list, err));
    for (int32_t j = dls_view_first_running(view); j >= 0; j = dls_view_next_running(view, j)) {
        s->list[n++] = entry_of(view, j);
    }
    for (int32_t j = dls_view_first_waiting(view); j >= 0; j = dls_view_next_waiting(view, j)) {
        s->list[n++] = entry_of(view, j);
    }
    if (n > 1) {
        qsort(s->list, n, sizeof *s->list, by_deadline);
    }
    for (size_t i = 0; i < n; i++) {
        const int32_t job = s->list[i].job;
        const dls_want want = choose(s, view, job);
        if (want.gpus > 0) {
            dls_ledger_take(&s->ledger, view, job, want.type, want.gpus);
            dls_plan_set(plan, job, &want);
        }
    }
    return DLS_OK;
}

const dls_sched_ops dls_sched_ops_edf = {
    .abi = DLS_POLICY_ABI,
    .name = "edf",
    .summary = "earliest deadline first, each job on as many GPUs as make it faster",
    .state_bytes = sizeof(struct edf),
    .init = init,
    .fini = dls_scratch_fini,
    .clone = dls_scratch_clone,
    .round = round_,
    .timing = dls_ledger_timing,
};
