/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * hadar: prices of GPU types, and gangs over several of them (Sultana et al., "Hadar:
 * Heterogeneity-Aware Optimization-Based Online Scheduling for Deep Learning Cluster", IPDPS 2024;
 * arXiv 2503.10918). docs/schedulers-rounds.md says what of it was at hand.
 *
 * Every round all jobs are given GPUs anew, those worth most per GPU-second first:
 *
 *      worth of being done x seconds from now      U(x) = T / (age + x)    T: run time on the best type
 *      price of a GPU-second of a type             least (most / least)^(part of the type given out)
 *      payoff                                      U(x) - x sum of the prices of its GPUs
 *
 * least and most are those of U(x) / (GPUs x x) over jobs and types. A job takes the allocation of
 * greatest payoff: what it has, or one type; if none has room, several, of which the slowest
 * decides x. Who would lose by it comes after all others and has what is left. O(jobs x types x
 * nodes).
 */
#include "dlsim/memory.h"
#include "sched/gangs.h"
#include "sched/offers.h"

#include <math.h>

enum { OPT_INTERVAL, OPT_RESTART };

static const dls_option options[] = {
    [OPT_INTERVAL] = {"interval", DLS_OPT_TIME, 1, 1e7, "6 min", "", "time between two rounds",
                      NULL},
    [OPT_RESTART] = {"restart", DLS_OPT_TIME, 0, 1e7, "30 s", "",
                     "what a restart is taken to cost a job", NULL},
    {0},
};

typedef struct entry {
    double left_s[DLS_TYPES_MAX]; /* alone on a type; INFINITY: it cannot */
    double age_s, total_s;        /* total_s: T */
    double worth;                 /* at best, per GPU-second */
    int32_t job;
} entry;

typedef struct room { /* of a node */
    int64_t gpus, cpu, mem;
    int32_t type, parts; /* running jobs that have a part of a GPU */
} room;

struct hadar {
    dls_ledger ledger;
    double restart_s;
    entry *entry;         /* [n] */
    room *room;           /* [nodes] not yet given out */
    dls_place_part *part; /* [nodes] of one job */
    size_t n;
    int64_t total[DLS_TYPES_MAX];
    double least, most;
};

/* How many GPUs of each type, and when the job is done then. */
typedef struct offer {
    int64_t gpus[DLS_TYPES_MAX];
    double left_s, payoff;
} offer;

static dls_status init(void *state, const dls_view *view, const dls_option_value *values,
                       dls_error *err)
{
    *(struct hadar *)state =
        (struct hadar){.ledger = {.interval_us = llround(values[OPT_INTERVAL].f * 1e6)},
                       .restart_s = values[OPT_RESTART].f};
    return DLS_OK;
}

/* ---- what there is --------------------------------------------------------------------------- */

/* A job takes its part of a node, or gives it back (sign 1). */
static void move_job(room *r, const dls_view *view, int32_t job, int64_t gpus, int sign)
{
    r->gpus += sign * gpus;
    r->cpu += sign * gpus * dls_view_cpu_per_gpu(view, job);
    r->mem += sign * gpus * dls_view_mem_per_gpu(view, job);
}

static void take_parts(struct hadar *h, const dls_view *view, int32_t job,
                       const dls_place_part *part, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        room *r = &h->room[part[i].node];
        move_job(r, view, job, part[i].gpus, -1);
        dls_ledger_take(&h->ledger, view, job, r->type, part[i].gpus);
    }
}

/* GPUs of a node for a job that wants so much CPU and memory for each. */
static int64_t room_for(const room *r, int64_t cpu, int64_t mem)
{
    int64_t gpus = r->gpus;
    gpus = cpu > 0 && r->cpu / cpu < gpus ? r->cpu / cpu : gpus;
    return mem > 0 && r->mem / mem < gpus ? r->mem / mem : gpus;
}

/* The node of a running job that has a part of a GPU, NULL of others. */
static room *parted(struct hadar *h, const dls_view *view, int32_t job)
{
    dls_place_part at;
    return dls_view_part(view, job) < 1000 && dls_view_nodes(view, job, &at, 1) == 1 ? &h->room[at.node] : NULL;
}

/* Others may be on the same GPU: the job stays where it is. */
static bool is_pinned(struct hadar *h, const dls_view *view, int32_t job)
{
    const room *r = parted(h, view, job);
    return r && r->parts > 1;
}

/* All GPUs that work and are not in parts; those of jobs that restore stay theirs. */
static dls_status look_at_nodes(struct hadar *h, const dls_view *view, dls_plan *plan,
                                dls_error *err)
{
    const dls_place_index *index = dls_view_index(view);
    const int32_t nodes = dls_place_nodes(index);
    const size_t jobs = (size_t)view->running_jobs + (size_t)view->waiting_jobs;
    dls_scratch *scratch = &h->ledger.scratch;
    DLS_TRY(dls_scratch_array(scratch, 1, &h->room, (size_t)nodes, sizeof *h->room, err));
    DLS_TRY(dls_scratch_array(scratch, 2, &h->part, (size_t)nodes, sizeof *h->part, err));
    DLS_TRY(dls_scratch_array(scratch, 3, &h->entry, jobs, sizeof *h->entry, err));
    DLS_TRY(dls_ledger_begin(&h->ledger, view, err));
    for (int32_t i = 0; i < nodes; i++) {
        h->room[i] = (room){dls_place_free(index, i), dls_place_free_cpu(index, i),
                            dls_place_free_mem(index, i), dls_place_type(index, i), 0};
    }
    for (int32_t j = dls_view_first_running(view); j >= 0; j = dls_view_next_running(view, j)) {
        room *r = parted(h, view, j);
        if (r) {
            r->parts++;
        }
    }
    for (int32_t j = dls_view_first_running(view); j >= 0; j = dls_view_next_running(view, j)) {
        const size_t n = is_pinned(h, view, j) ? 0 : dls_view_nodes(view, j, h->part, (size_t)nodes);
        for (size_t i = 0; i < n; i++) {
            move_job(&h->room[h->part[i].node], view, j, h->part[i].gpus, 1);
        }
    }
    for (int32_t t = 0; t < view->n_types; t++) {
        h->total[t] = 0;
    }
    for (int32_t i = 0; i < nodes; i++) {
        h->total[h->room[i].type] += h->room[i].gpus;
    }
    for (int32_t t = 0; t < view->n_types; t++) { /* a gang of several types is on them all */
        h->ledger.left[t] = h->total[t];
    }
    for (int32_t j = dls_view_first_running(view); j >= 0; j = dls_view_next_running(view, j)) {
        const size_t n = dls_view_nodes(view, j, h->part, (size_t)nodes);
        if (is_pinned(h, view, j)) {
            const int32_t type = h->room[h->part[0].node].type;
            h->ledger.left[type]++; /* of which it is none; its quota is used */
            dls_ledger_take(&h->ledger, view, j, type, 1);
            dls_plan_keep(plan, j);
        } else if (dls_is_restoring(view, j)) {
            take_parts(h, view, j, h->part, n);
            dls_plan_keep(plan, j);
        }
    }
    return DLS_OK;
}

/* ---- what it is worth ------------------------------------------------------------------------ */

static double worth_of(const entry *e, double left_s)
{
    return e->total_s / (e->age_s + left_s);
}

/* Run time on a type, from the predictor; without one all types are alike. */
static double left_on(const dls_view *view, int32_t job, int32_t type)
{
    const dls_shape shape = dls_view_packed(view, type, view->gpus[job]);
    dls_prediction said;
    const double left_s = dls_view_predict(view, job, &shape, &said)
                              ? said.remaining_s
                              : (double)dls_view_remaining_us(view, job) / 1e6;
    return fmax(left_s, 1e-6);
}

static void list(struct hadar *h, const dls_view *view, int32_t job)
{
    entry e = {.job = job, .age_s = (double)(view->now_us - view->submit_us[job]) / 1e6};
    double best_s = (double)INFINITY;
    for (int32_t t = 0; t < view->n_types; t++) {
        e.left_s[t] = dls_view_types(view, job) >> t & 1 ? left_on(view, job, t) : (double)INFINITY;
        best_s = fmin(best_s, e.left_s[t]);
    }
    e.total_s = (double)dls_view_executed_us(view, job) / 1e6 + best_s;
    e.worth = worth_of(&e, best_s) / (best_s * view->gpus[job]);
    for (int32_t t = 0; t < view->n_types; t++) {
        if (isfinite(e.left_s[t])) {
            h->least = fmin(h->least, worth_of(&e, e.left_s[t]) / (e.left_s[t] * view->gpus[job]));
        }
    }
    h->most = fmax(h->most, e.worth);
    h->entry[h->n++] = e;
}

DLS_BY(by_worth, entry, DLS_DOWN(worth), DLS_UP(job));

/* A GPU-second of a type, by how many of its GPUs are given out. */
static double price_of(const struct hadar *h, int32_t type)
{
    const int64_t given = h->total[type] - h->ledger.left[type];
    return h->least * pow(h->most / h->least, (double)given / (double)h->total[type]);
}

static void judge_offer(const struct hadar *h, const dls_view *view, const entry *e, offer *o,
                        double restart_s)
{
    double rent = 0;
    o->left_s = restart_s;
    for (int32_t t = 0; t < view->n_types; t++) {
        if (o->gpus[t] > 0) {
            o->left_s = fmax(o->left_s, restart_s + e->left_s[t]);
            rent += price_of(h, t) * (double)o->gpus[t];
        }
    }
    o->payoff = worth_of(e, o->left_s) - rent * o->left_s;
}

/* ---- an allocation --------------------------------------------------------------------------- */

/* GPUs of a type that a job could have, as far as it wants them. */
static int64_t room_on(const struct hadar *h, const dls_view *view, int32_t job, int32_t type)
{
    const int64_t cpu = dls_view_cpu_per_gpu(view, job), mem = dls_view_mem_per_gpu(view, job),
                  quota = dls_ledger_room(&h->ledger, view, job, type),
                  most = quota < view->gpus[job] ? quota : view->gpus[job];
    const int32_t nodes = dls_place_nodes(dls_view_index(view));
    int64_t gpus = 0;
    for (int32_t i = 0; gpus < most && i < nodes; i++) {
        gpus += h->room[i].type == type ? room_for(&h->room[i], cpu, mem) : 0;
    }
    return gpus < most ? gpus : most;
}

/* Are the GPUs that a running job has still there for it? *out: by type. */
static bool may_stay(struct hadar *h, const dls_view *view, int32_t job, offer *out)
{
    const size_t n =
        view->running[job]
            ? dls_view_nodes(view, job, h->part, (size_t)dls_place_nodes(dls_view_index(view)))
            : 0;
    bool there = n > 0;
    *out = (offer){0};
    for (size_t i = 0; i < n; i++) {
        const room *r = &h->room[h->part[i].node];
        out->gpus[r->type] += h->part[i].gpus;
        there = there && room_for(r, dls_view_cpu_per_gpu(view, job), dls_view_mem_per_gpu(view, job)) >=
                             h->part[i].gpus;
    }
    for (int32_t t = 0; t < view->n_types; t++) {
        there = there &&
                (out->gpus[t] == 0 || dls_ledger_room(&h->ledger, view, job, t) >= out->gpus[t]);
    }
    return there;
}

/* The gang over all types that are no slower than this one, the cheapest first; false: no room. */
static bool mix(const struct hadar *h, const dls_view *view, const entry *e, int32_t slowest,
                const int64_t *room_of, offer *out)
{
    int64_t lacking = view->gpus[e->job];
    *out = (offer){0};
    while (lacking > 0) {
        int32_t best = -1;
        for (int32_t t = 0; t < view->n_types; t++) {
            if (e->left_s[t] <= e->left_s[slowest] && out->gpus[t] == 0 && room_of[t] > 0 &&
                (best < 0 || price_of(h, t) < price_of(h, best))) {
                best = t;
            }
        }
        if (best < 0) {
            return false;
        }
        out->gpus[best] = room_of[best] < lacking ? room_of[best] : lacking;
        lacking -= out->gpus[best];
    }
    return true;
}

/* The best offer; false: no GPUs. *stays: it is what the job has. */
static bool choose(struct hadar *h, const dls_view *view, const entry *e, offer *best, bool *stays)
{
    const double restart_s = view->starts[e->job] > 0 ? h->restart_s : 0;
    int64_t room_of[DLS_TYPES_MAX] = {0};
    bool found = *stays = may_stay(h, view, e->job, best);
    bool whole = false; /* some type has room for all of it */
    double within_s = (double)INFINITY;
    if (found) {
        judge_offer(h, view, e, best, 0);
        within_s = best->left_s; /* nobody moves to be done later */
    }
    for (int32_t t = 0; t < view->n_types; t++) {
        room_of[t] = isfinite(e->left_s[t]) ? room_on(h, view, e->job, t) : 0;
        whole = whole || room_of[t] >= view->gpus[e->job];
    }
    for (int32_t t = 0; t < view->n_types; t++) {
        offer o = {0};
        if (!isfinite(e->left_s[t]) || (whole && room_of[t] < view->gpus[e->job])) {
            continue;
        }
        if (whole) {
            o.gpus[t] = view->gpus[e->job];
        } else if (!mix(h, view, e, t, room_of, &o)) {
            continue;
        }
        judge_offer(h, view, e, &o, restart_s);
        if (o.left_s < within_s && (!found || o.payoff > best->payoff)) {
            *best = o;
            *stays = false;
            found = true;
        }
    }
    return found;
}

/* The node of a type that holds what is lacking with least to spare, else the one with most room.
 */
static int32_t next_node(const struct hadar *h, const dls_view *view, int32_t job, int32_t type,
                         int64_t lacking)
{
    const int64_t cpu = dls_view_cpu_per_gpu(view, job), mem = dls_view_mem_per_gpu(view, job);
    const int32_t nodes = dls_place_nodes(dls_view_index(view));
    int32_t best = -1;
    int64_t best_room = 0;
    for (int32_t i = 0; best_room != lacking && i < nodes; i++) {
        const int64_t here = h->room[i].type == type ? room_for(&h->room[i], cpu, mem) : 0;
        const bool enough = here >= lacking, had = best_room >= lacking;
        if (here > 0 && (best < 0 || (enough && (!had || here < best_room)) ||
                         (!enough && !had && here > best_room))) {
            best = i;
            best_room = here;
        }
    }
    return best;
}

static void plan_offer(struct hadar *h, const dls_view *view, dls_plan *plan, const entry *e,
                       const offer *o, bool stays)
{
    size_t n = 0;
    if (stays) {
        take_parts(
            h, view, e->job, h->part,
            dls_view_nodes(view, e->job, h->part, (size_t)dls_place_nodes(dls_view_index(view))));
        dls_plan_keep(plan, e->job);
        return;
    }
    for (int32_t t = 0; t < view->n_types; t++) {
        for (int64_t lacking = o->gpus[t]; lacking > 0; n++) {
            const int32_t node = next_node(h, view, e->job, t, lacking);
            const int64_t here = room_for(&h->room[node], dls_view_cpu_per_gpu(view, e->job),
                                          dls_view_mem_per_gpu(view, e->job));
            h->part[n] = (dls_place_part){node, (int32_t)(here < lacking ? here : lacking)};
            take_parts(h, view, e->job, &h->part[n], 1);
            lacking -= h->part[n].gpus;
        }
    }
    const dls_want want = {.type = -1, .nodes = h->part, .n_nodes = (int32_t)n};
    dls_plan_set(plan, e->job, &want);
}

static dls_status round_(void *state, const dls_view *view, dls_plan *plan, dls_error *err)
{
    struct hadar *h = state;
    h->n = 0;
    h->least = (double)INFINITY;
    h->most = 0;
    DLS_TRY(look_at_nodes(h, view, plan, err));
    for (int32_t j = dls_view_first_running(view); j >= 0; j = dls_view_next_running(view, j)) {
        if (!dls_is_restoring(view, j) && !is_pinned(h, view, j)) {
            list(h, view, j);
        }
    }
    for (int32_t j = dls_view_first_waiting(view); j >= 0; j = dls_view_next_waiting(view, j)) {
        list(h, view, j);
    }
    dls_sort(h->entry, h->n, sizeof *h->entry, by_worth);
    for (int32_t pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < h->n; i++) {
            offer best;
            bool stays;
            if (h->entry[i].job >= 0 && choose(h, view, &h->entry[i], &best, &stays) &&
                (pass > 0 || best.payoff >= 0)) {
                plan_offer(h, view, plan, &h->entry[i], &best, stays);
                h->entry[i].job = -1;
            }
        }
    }
    return DLS_OK;
}

const dls_sched_ops dls_sched_ops_hadar = {
    .abi = DLS_POLICY_ABI,
    .name = "hadar",
    .summary = "prices of GPU types, gangs over several of them (Hadar)",
    .options = options,
    .state_bytes = sizeof(struct hadar),
    .init = init,
    .fini = dls_scratch_fini,
    .clone = dls_scratch_clone,
    .round = round_,
    .timing = dls_ledger_timing,
    .mixes = true,
    .rigid = true,
};
