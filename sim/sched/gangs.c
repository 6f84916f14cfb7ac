/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Gangs and what is left for them (sched/gangs.h).
 */
#include "sched/gangs.h"

#include "dlsim/memory.h"
#include "dlsim/predictor.h"

#include <math.h>
#include <string.h>

bool dls_has_room(const dls_view *view, int32_t job)
{
    const uint32_t types = dls_view_types(view, job);
    for (int32_t t = 0; t < view->n_types; t++) {
        if (types >> t & 1 && dls_view_quota_gpus(view, job, t) >= view->gpus[job]) {
            return true;
        }
    }
    return false;
}

bool dls_start_gang(const dls_view *view, dls_actions *out, int32_t job)
{
    return dls_has_room(view, job) && dls_act_start(out, job);
}

/* ---- memory of a round ----------------------------------------------------------------------- */

void dls_scratch_fini(void *state)
{
    dls_scratch *s = state;
    for (int i = 0; i < DLS_SCRATCH_ARRAYS; i++) {
        dls_free(s->array[i].at);
    }
}

dls_status dls_scratch_clone(void *state, const void *from, const dls_view *view, dls_error *err)
{
    *(dls_scratch *)state = (dls_scratch){0};
    return DLS_OK;
}

dls_status dls_scratch_array(dls_scratch *s, int which, void *p, size_t n, size_t size,
                             dls_error *err)
{
    DLS_TRY(dls_grow(&s->array[which].at, &s->array[which].cap, n * size, 1, err));
    memcpy(p, &s->array[which].at, sizeof(void *));
    return DLS_OK;
}

/* ---- what is left ---------------------------------------------------------------------------- */

void dls_ledger_timing(const void *state, dls_round_timing *out)
{
    const dls_ledger *l = state;
    *out = (dls_round_timing){
        .interval_us = l->interval_us, .on_arrival = l->on_events, .on_end = l->on_events};
}

static int32_t count_pools(const dls_view *view)
{
    int32_t pools = 1;
    for (int32_t j = 0; j < view->n_jobs; j++) {
        int64_t unused;
        const int32_t pool = dls_view_pool(view, j, 0, &unused);
        pools = pool < pools ? pools : pool + 1;
    }
    return pools;
}

dls_status dls_ledger_begin(dls_ledger *l, const dls_view *view, dls_error *err)
{
    l->pools = l->pools > 0 ? l->pools : count_pools(view);
    for (int32_t t = 0; t < view->n_types; t++) {
        l->left[t] = dls_view_free_gpus(view, t);
    }
    for (int32_t j = dls_view_first_running(view); j >= 0; j = dls_view_next_running(view, j)) {
        l->left[view->held_type[j]] += dls_view_host(view, j) < 0 ? view->held_gpus[j] : 0;
    }
    const size_t n = (size_t)l->pools * (size_t)view->n_types;
    DLS_TRY(dls_scratch_array(&l->scratch, 0, &l->used, n, sizeof *l->used, err));
    memset(l->used, 0, n * sizeof *l->used);
    return DLS_OK;
}

int64_t dls_ledger_room(const dls_ledger *l, const dls_view *view, int32_t job, int32_t type)
{
    int64_t room;
    const int32_t pool = dls_view_pool(view, job, type, &room);
    if (!(dls_view_types(view, job) >> type & 1)) {
        return 0;
    }
    room -= l->used[pool * view->n_types + type];
    return room < l->left[type] ? room : l->left[type];
}

bool dls_ledger_any(const dls_ledger *l, const dls_view *view)
{
    int32_t t = 0;
    while (t < view->n_types && l->left[t] <= 0) {
        t++;
    }
    return t < view->n_types;
}

void dls_ledger_take(dls_ledger *l, const dls_view *view, int32_t job, int32_t type, int64_t gpus)
{
    int64_t unused;
    l->used[dls_view_pool(view, job, type, &unused) * view->n_types + type] += gpus;
    l->left[type] -= gpus;
}

void dls_ledger_keep(dls_ledger *l, const dls_view *view, int32_t job)
{
    if (dls_view_host(view, job) < 0) {
        dls_ledger_take(l, view, job, view->held_type[job], view->held_gpus[job]);
    }
}

bool dls_plan_guest(dls_plan *plan, const dls_view *view, int32_t job)
{
    const bool guest = view->running[job] && dls_view_host(view, job) >= 0;
    if (guest) {
        dls_plan_keep(plan, job);
    }
    return guest;
}

int32_t dls_ledger_type(const dls_ledger *l, const dls_view *view, int32_t job)
{
    int32_t best = -1;
    double least = (double)INFINITY;
    for (int32_t t = 0; t < view->n_types; t++) {
        const int64_t room = dls_ledger_room(l, view, job, t);
        const dls_shape shape = dls_view_packed(view, t, view->gpus[job]);
        dls_prediction said;
        if (room < view->gpus[job]) {
            continue;
        }
        const double value =
            dls_view_predict(view, job, &shape, &said) ? said.iteration_s : -(double)room;
        if (value < least) {
            least = value;
            best = t;
        }
    }
    return best;
}

/* ---- sharing --------------------------------------------------------------------------------- */

double dls_gang_use(const dls_view *view, int32_t job)
{
    const uint32_t types = dls_view_types(view, job);
    dls_prediction p;
    if (types) {
        const dls_shape shape = dls_view_packed(view, __builtin_ctz(types), view->gpus[job]);
        if (dls_view_predict(view, job, &shape, &p) && p.iteration_s > 0) {
            const double use = p.metric[DLS_GPU_ACTIVE] * p.metric[DLS_GPU_PEAK] / p.iteration_s;
            return use < 1 || isnan(use) ? use : 1;
        }
    }
    return (double)NAN;
}

double dls_job_use(const dls_view *view, int32_t job)
{
    dls_use *u = dls_view_job_state(view, job);
    u->use = u->asked ? u->use : dls_gang_use(view, job);
    u->asked = true;
    return u->use;
}

bool dls_has_guest(const dls_view *view, int32_t host)
{
    for (int32_t j = dls_view_first_running(view); j >= 0; j = dls_view_next_running(view, j)) {
        if (dls_view_host(view, j) == host) {
            return true;
        }
    }
    return false;
}
