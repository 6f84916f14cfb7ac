/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Levels of elastic jobs (elastic_levels.h).
 */
#include "sched/elastic_levels.h"

#include "dlsim/memory.h"
#include "dlsim/predictor.h"

#include <math.h>
#include <string.h>

void dls_levels_of(const dls_view *view, int32_t job, int32_t type, dls_levels *out)
{
    const int32_t least = view->min_gpus[job], most = view->max_gpus[job], gang = view->gpus[job];
    out->n = 0;
    for (int64_t next, g = least; g <= most && out->n < DLS_LEVELS_MAX; g = next) {
        next = 1;
        while (next <= g) {
            next *= 2;
        }
        next = g < gang && gang < next ? gang : next;
        next = g < most && most < next ? most : next;
        const dls_shape shape = dls_view_packed(view, type, g);
        const double speed = dls_view_speed(view, job, &shape, DLS_ABSENT);
        if (out->n > 0 && !(speed > out->speed[out->n - 1])) {
            return;
        }
        out->gpus[out->n] = (int32_t)g;
        out->speed[out->n++] = speed;
    }
}

int32_t dls_level_within(const dls_levels *l, int64_t gpus)
{
    int32_t best = 0;
    for (int32_t i = 0; i < l->n && l->gpus[i] <= gpus; i++) {
        best = l->gpus[i];
    }
    return best;
}

/* ---- what is left ---------------------------------------------------------------------------- */

static dls_status see(dls_ledger *l, const dls_view *view, int32_t job, dls_error *err)
{
    int64_t unused;
    const size_t had = l->cap;
    const size_t need = ((size_t)dls_view_pool(view, job, 0, &unused) + 1) * (size_t)view->n_types;
    DLS_TRY(dls_grow(&l->used, &l->cap, need, sizeof *l->used, err));
    if (l->cap > had) {
        memset(l->used + had, 0, (l->cap - had) * sizeof *l->used);
    }
    if (view->running[job] && dls_view_host(view, job) < 0) {
        l->left[view->held_type[job]] += view->held_gpus[job];
    }
    return DLS_OK;
}

dls_status dls_ledger_begin(dls_ledger *l, const dls_view *view, dls_error *err)
{
    if (l->cap > 0) {
        memset(l->used, 0, l->cap * sizeof *l->used);
    }
    for (int32_t t = 0; t < view->n_types; t++) {
        l->left[t] = dls_view_free_gpus(view, t);
    }
    for (int32_t j = dls_view_first_running(view); j >= 0; j = dls_view_next_running(view, j)) {
        DLS_TRY(see(l, view, j, err));
    }
    for (int32_t j = dls_view_first_waiting(view); j >= 0; j = dls_view_next_waiting(view, j)) {
        DLS_TRY(see(l, view, j, err));
    }
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

void dls_ledger_take(dls_ledger *l, const dls_view *view, int32_t job, int32_t type, int64_t gpus)
{
    int64_t unused;
    l->used[dls_view_pool(view, job, type, &unused) * view->n_types + type] += gpus;
    l->left[type] -= gpus;
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

bool dls_admit_gang(void *state, const dls_view *view, int32_t job)
{
    (void)state;
    for (int32_t t = 0; t < view->n_types; t++) {
        if (dls_view_most_gpus(view, job, t) >= view->gpus[job]) {
            return true;
        }
    }
    return false;
}
