/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * allox: the smallest sum of completion times over GPU types (Le et al., AlloX, EuroSys 2020), as
 * Gavel's authors have it: jobs that run are left alone; those that wait are matched with places in
 * the queues of the free GPUs, where the k-th job from the end of a queue costs k times its run
 * time there, and the first of each queue starts. A job of several GPUs sends one unit for each to
 * the places, which is the same for gangs of one. `alpha` lets only that part of the jobs, those
 * that wait longest, into the matching.
 */
#include "dlsim/memory.h"
#include "sched/gangs.h"
#include "sched/transport.h"

#include <math.h>
#include <stdlib.h>

enum { OPT_INTERVAL, OPT_ALPHA, OPT_WINDOW };

static const dls_option options[] = {
    [OPT_INTERVAL] = {"interval", DLS_OPT_TIME, 1, 1e7, "10 min", "",
                      "longest time between two matchings; there is one whenever jobs come or end",
                      NULL},
    [OPT_ALPHA] =
        {"alpha", DLS_OPT_F64, 0, 1, "1", "",
         "part of the waiting jobs, the eldest, that are matched; as many as GPUs are free "
         "in any case",
         NULL},
    [OPT_WINDOW] = {"window", DLS_OPT_I64, 1, 4096, "64", "jobs",
                    "most jobs that are matched if fewer GPUs are free", NULL},
    {0},
};

typedef struct place { /* a job's in the queues of a type */
    int32_t job, type;
    size_t k; /* from the end */
} place;

struct allox {
    dls_ledger ledger;
    double alpha;
    size_t window;
    dls_transport match;
    place *list;
};

static dls_status init(void *state, const dls_view *view, const dls_option_value *values,
                       dls_error *err)
{
    *(struct allox *)state = (struct allox){
        .ledger = {.interval_us = llround(values[OPT_INTERVAL].f * 1e6), .on_events = true},
        .alpha = values[OPT_ALPHA].f,
        .window = (size_t)values[OPT_WINDOW].i};
    return DLS_OK;
}

/* Run time on a type, as far as is known. */
static double run_s(const dls_view *view, int32_t job, int32_t type)
{
    const dls_shape shape = dls_view_packed(view, type, view->gpus[job]);
    dls_prediction said;
    return dls_view_predict(view, job, &shape, &said) && said.remaining_s > 0
               ? said.remaining_s
               : (double)dls_view_remaining_us(view, job) / 1e6;
}

/* The jobs that are matched, eldest first: those that find room somewhere, as many as may be. */
static dls_status list_waiting(struct allox *a, const dls_view *view, size_t *n, int64_t *gpus,
                               dls_error *err)
{
    int64_t free = 0;
    for (int32_t t = 0; t < view->n_types; t++) {
        free += a->ledger.left[t];
    }
    const double part = fmin(floor(a->alpha * view->waiting_jobs), (double)a->window);
    const size_t most = (size_t)fmax(part, (double)free);
    *n = 0;
    *gpus = 0;
    for (int32_t j = dls_view_first_waiting(view); j >= 0 && *n < most && free > 0;
         j = dls_view_next_waiting(view, j)) {
        bool fits = false;
        for (int32_t t = 0; t < view->n_types && !fits; t++) {
            fits = dls_ledger_room(&a->ledger, view, j, t) >= view->gpus[j];
        }
        if (fits) {
            DLS_TRY(dls_scratch_array(&a->ledger.scratch, 1, &a->list, *n + 1, sizeof *a->list, err));
            a->list[(*n)++] = (place){.job = j, .type = -1};
            *gpus += view->gpus[j];
        }
    }
    return DLS_OK;
}

/* Places of a type: as many in each of its queues as everybody together could need. */
static size_t places_of(const struct allox *a, int32_t type, size_t jobs, int64_t gpus)
{
    const int64_t free = a->ledger.left[type];
    const size_t all = free > 0 ? (size_t)((gpus + free - 1) / free) : 0;
    return all < jobs ? all : jobs;
}

static dls_status match(struct allox *a, const dls_view *view, size_t n, int64_t gpus,
                        dls_error *err)
{
    dls_transport *m = &a->match;
    size_t first[DLS_TYPES_MAX + 1] = {0};
    for (int32_t t = 0; t < view->n_types; t++) {
        first[t + 1] = first[t] + places_of(a, t, n, gpus);
    }
    DLS_TRY(dls_transport_begin(m, &a->ledger.scratch, 2, n, first[view->n_types], err));
    for (int32_t t = 0; t < view->n_types; t++) {
        for (size_t c = first[t]; c < first[t + 1]; c++) {
            m->room[c] = a->ledger.left[t];
        }
    }
    for (size_t i = 0; i < n; i++) {
        const int32_t job = a->list[i].job;
        m->supply[i] = view->gpus[job];
        for (int32_t t = 0; t < view->n_types; t++) {
            const bool fits = dls_ledger_room(&a->ledger, view, job, t) >= view->gpus[job];
            const double time = fits ? run_s(view, job, t) : (double)INFINITY;
            for (size_t c = first[t]; c < first[t + 1]; c++) {
                m->cost[i * m->columns + c] = (double)(c - first[t] + 1) * time;
            }
        }
    }
    dls_transport_solve(m);
    for (size_t i = 0; i < n; i++) {
        int64_t most = 0;
        for (int32_t t = 0; t < view->n_types; t++) {
            for (size_t c = first[t]; c < first[t + 1]; c++) {
                if (m->sent[c * n + i] > most) {
                    most = m->sent[c * n + i];
                    a->list[i].type = t;
                    a->list[i].k = c - first[t] + 1;
                }
            }
        }
    }
    return DLS_OK;
}

/* Who stands farthest from the end goes first, then who came first. */
DLS_BY(by_place, place, DLS_DOWN(k), DLS_UP(job));

static dls_status round_(void *state, const dls_view *view, dls_plan *plan, dls_error *err)
{
    struct allox *a = state;
    size_t n;
    int64_t gpus;
    dls_plan_keep_all(plan);
    DLS_TRY(dls_ledger_begin(&a->ledger, view, err));
    for (int32_t j = dls_view_first_running(view); j >= 0; j = dls_view_next_running(view, j)) {
        dls_ledger_keep(&a->ledger, view, j);
    }
    DLS_TRY(list_waiting(a, view, &n, &gpus, err));
    if (n == 0) {
        return DLS_OK;
    }
    DLS_TRY(match(a, view, n, gpus, err));
    qsort(a->list, n, sizeof *a->list, by_place);
    for (size_t i = 0; i < n; i++) {
        const place *p = &a->list[i];
        if (p->type >= 0 &&
            dls_ledger_room(&a->ledger, view, p->job, p->type) >= view->gpus[p->job]) {
            const dls_want want = {.type = p->type};
            dls_ledger_take(&a->ledger, view, p->job, p->type, view->gpus[p->job]);
            dls_plan_set(plan, p->job, &want);
        }
    }
    return DLS_OK;
}

const dls_sched_ops dls_sched_ops_allox = {
    .abi = DLS_POLICY_ABI,
    .name = "allox",
    .summary = "smallest sum of completion times over GPU types, nobody interrupted (AlloX)",
    .options = options,
    .state_bytes = sizeof(struct allox),
    .init = init,
    .fini = dls_scratch_fini,
    .clone = dls_scratch_clone,
    .round = round_,
    .timing = dls_ledger_timing,
    .rigid = true,
};
