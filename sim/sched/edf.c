/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * edf: earliest deadline first; each job gets as many GPUs as make it faster, or those that are
 * left (the baseline `edf` of ElasticFlow, ASPLOS 2023). Jobs without a deadline come last, equal
 * ones in order of submission. Nobody is turned away.
 */
#include "dlsim/memory.h"
#include "sched/elastic_levels.h"
#include "sched/gangs.h"

#include <stdlib.h>

#define HOUR_US INT64_C(3600000000)

struct entry {
    int64_t deadline_us;
    int32_t job;
};

struct edf { /* scratch */
    struct entry *list;
    size_t cap;
    dls_ledger ledger;
};

static void timing(const void *state, dls_round_timing *out)
{
    (void)state;
    *out = (dls_round_timing){.interval_us = HOUR_US, .on_arrival = true, .on_end = true};
}

static void fini(void *state)
{
    struct edf *s = state;
    dls_free(s->list);
    dls_free(s->ledger.used);
}

static dls_status clone(void *state, const void *from, const dls_view *view, dls_error *err)
{
    (void)from;
    (void)view;
    (void)err;
    *(struct edf *)state = (struct edf){0};
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

static dls_status add_job(struct edf *s, const dls_view *view, int32_t job, size_t *n,
                          dls_error *err)
{
    const bool has = view->deadline_us && view->deadline_us[job] != DLS_ABSENT;
    DLS_TRY(dls_grow(&s->list, &s->cap, *n + 1, sizeof *s->list, err));
    s->list[(*n)++] = (struct entry){has ? view->deadline_us[job] : INT64_MAX, job};
    return DLS_OK;
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
    size_t n = 0;
    DLS_TRY(dls_ledger_begin(&s->ledger, view, err));
    for (int32_t j = dls_view_first_running(view); j >= 0; j = dls_view_next_running(view, j)) {
        DLS_TRY(add_job(s, view, j, &n, err));
    }
    for (int32_t j = dls_view_first_waiting(view); j >= 0; j = dls_view_next_waiting(view, j)) {
        DLS_TRY(add_job(s, view, j, &n, err));
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
    .fini = fini,
    .clone = clone,
    .round = round_,
    .timing = timing,
};
