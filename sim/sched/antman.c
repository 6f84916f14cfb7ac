/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * antman: guaranteed jobs have GPUs of their own, opportunistic ones what those leave (Xiao et al.,
 * "AntMan: Dynamic Scaling on GPU Clusters for Deep Learning", OSDI 2020). Without
 * `perf.guests_yield` the world slows both down alike (docs/world.md).
 *
 * A guaranteed job has the trace's priority `guaranteed` or more, or the trace has none. They go in
 * order of submission on free GPUs, who does not fit is skipped; if there are too few,
 * opportunistic jobs that have GPUs of their own lose them, those that started last first.
 *
 * Opportunistic jobs go then, in order of submission: as the guest of the guaranteed job that is
 * predicted to use its GPUs least, at most `booked` of them, and has no guest; else on free GPUs,
 * while no guaranteed job waits.
 *
 * A job of which nothing is predicted has no guests. Guests have as many GPUs as their host, on one
 * node. A pass costs O(what waits and asks for different things x running).
 */
#include "sched/gangs.h"
#include "sched/lines.h"

#define ROUNDING 1e-6 /* of a use: answers of predictors are kept in single precision */

enum { OPT_GUARANTEED, OPT_BOOKED };
static const dls_option options[] = {
    {"guaranteed", DLS_OPT_I64, 0, 1e9, "1", "", "least priority of a guaranteed job", NULL},
    {"booked", DLS_OPT_F64, 0, 1, "0.8", "",
     "GPU use of a guaranteed job up to which another may run beside it", NULL},
    {0},
};

enum { GUARANTEED, OPPORTUNISTIC }; /* groups of lines */

typedef struct antman {
    dls_lines lines;
    int64_t guaranteed;
    double booked;
} antman;

static dls_status init(void *state, const dls_view *view, const dls_option_value *values,
                       dls_error *err)
{
    antman *a = state;
    a->guaranteed = values[OPT_GUARANTEED].i;
    a->booked = values[OPT_BOOKED].f;
    return DLS_OK;
}

static bool is_guaranteed(const antman *a, const dls_view *view, int32_t job)
{
    return !view->priority || view->priority[job] == DLS_ABSENT ||
           view->priority[job] >= a->guaranteed;
}

/* ---- guaranteed jobs ------------------------------------------------------------------------- */

/* May a guaranteed job take the GPUs of another? */
static bool may_take(const antman *a, const dls_view *view, int32_t job, int32_t from)
{
    const int32_t type = view->held_type[from];
    int64_t cap;
    return !is_guaranteed(a, view, from) && dls_view_host(view, from) < 0 &&
           dls_view_types(view, job) >> type & 1 &&
           dls_view_pool(view, job, type, &cap) == dls_view_pool(view, from, type, &cap);
}

/* Of the jobs whose GPUs a guaranteed job may take, on the types on which it then has room, the one
 * that started last; -1: none. */
static int32_t victim_for(const antman *a, const dls_view *view, int32_t job)
{
    int64_t gpus[DLS_TYPES_MAX] = {0};
    int32_t last = -1;
    for (int32_t j = dls_view_first_running(view); j >= 0; j = dls_view_next_running(view, j)) {
        gpus[view->held_type[j]] += may_take(a, view, job, j) ? view->held_gpus[j] : 0;
    }
    for (int32_t j = dls_view_first_running(view); j >= 0; j = dls_view_next_running(view, j)) {
        const int32_t t = view->held_type[j];
        if (may_take(a, view, job, j) &&
            dls_view_quota_gpus(view, job, t) + gpus[t] >= view->gpus[job]) {
            last = j;
        }
    }
    return last;
}

/* Whether any opportunistic job has GPUs of its own. */
static bool is_any_lent(const antman *a, const dls_view *view)
{
    for (int32_t j = dls_view_first_running(view); j >= 0; j = dls_view_next_running(view, j)) {
        if (!is_guaranteed(a, view, j) && dls_view_host(view, j) < 0) {
            return true;
        }
    }
    return false;
}

static bool claim(const antman *a, const dls_view *view, dls_actions *out, int32_t job, bool lent, bool *preempts)
{
    bool starts = dls_start_gang(view, out, job);
    for (int32_t victim; lent && !starts && (victim = victim_for(a, view, job)) >= 0;) {
        *preempts = true;
        dls_act_preempt(out, victim);
        starts = dls_start_gang(view, out, job);
    }
    return starts;
}

/* ---- opportunistic jobs ---------------------------------------------------------------------- */

static bool suits(const antman *a, const dls_view *view, int32_t job, int32_t host)
{
    const int32_t type = view->held_type[host];
    int64_t cap;
    dls_place_part part;
    return is_guaranteed(a, view, host) && dls_view_host(view, host) < 0 &&
           view->gpus[job] == view->held_gpus[host] && dls_view_types(view, job) >> type & 1 &&
           dls_job_use(view, host) <= a->booked + ROUNDING && dls_view_nodes(view, host, &part, 1) == 1 &&
           dls_view_pool(view, job, type, &cap) == dls_view_pool(view, host, type, &cap) &&
           !dls_has_guest(view, host);
}

static int32_t host_for(const antman *a, const dls_view *view, int32_t job)
{
    int32_t best = -1;
    for (int32_t h = dls_view_first_running(view); h >= 0; h = dls_view_next_running(view, h)) {
        if (suits(a, view, job, h) && (best < 0 || dls_job_use(view, h) < dls_job_use(view, best))) {
            best = h;
        }
    }
    return best;
}

/* ---- who runs -------------------------------------------------------------------------------- */

static void ask(void *user, const dls_view *view, int32_t job, dls_line_ask *out)
{
    out->group = is_guaranteed(user, view, job) ? GUARANTEED : OPPORTUNISTIC;
}

/* The first of a group has been looked at, and `all` of its line with it. */
static void go_on(antman *a, int32_t job, bool all)
{
    (all ? dls_lines_close : dls_lines_take)(&a->lines, job);
}

/* *waits: some guaranteed job still does. Who is passed by is not looked at again when others lose their GPUs. */
static void start_guaranteed(antman *a, const dls_view *view, dls_actions *out, bool *waits)
{
    const bool lent = is_any_lent(a, view); /* guaranteed jobs only take from these */
    int32_t passed = -1;
    for (int32_t j; (j = dls_lines_first(&a->lines, view, GUARANTEED)) >= 0;) {
        bool preempts = false, starts = false, room = true;
        if (j > passed) {
            room = dls_has_room(view, j);
            starts = claim(a, view, out, j, lent, &preempts);
            *waits |= !starts;
        }
        go_on(a, j, !starts && !room && !preempts);
        if (preempts) {
            passed = j;
            dls_lines_open(&a->lines);
        }
    }
}

static dls_status pass(void *state, const dls_view *view, dls_actions *out, dls_error *err)
{
    antman *a = state;
    bool waits = false;
    DLS_TRY(dls_lines_begin(&a->lines, view, ask, a, err));
    start_guaranteed(a, view, out, &waits);
    DLS_TRY(dls_lines_begin(&a->lines, view, ask, a, err)); /* those that lost their GPUs */
    for (int32_t j; (j = dls_lines_first(&a->lines, view, OPPORTUNISTIC)) >= 0;) {
        const int32_t host = host_for(a, view, j);
        const bool room = !waits && dls_has_room(view, j);
        const bool runs = (host >= 0 && dls_act_join(out, j, host)) || (room && dls_act_start(out, j));
        go_on(a, j, !runs && host < 0 && !room);
    }
    return DLS_OK;
}

const dls_sched_ops dls_sched_ops_antman = {
    .abi = DLS_POLICY_ABI,
    .name = "antman",
    .summary =
        "guaranteed jobs have GPUs of their own, opportunistic ones what they leave (AntMan)",
    .options = options,
    .state_bytes = sizeof(antman),
    .job_state_bytes = sizeof(dls_use),
    .init = init,
    .fini = dls_lines_fini,
    .clone = dls_lines_clone,
    .pass = pass,
    .rigid = true,
    .joins = true,
};
