/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The clock of a virtual cluster, its GPUs, and the run of all of them.
 */
#include "lucid/core.h"

#include "base/own.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const dls_lucid_policy *const policies[] = {&dls_lucid_fifo, &dls_lucid_sjf,
                                                   &dls_lucid_srtf, &dls_lucid_tiresias,
                                                   &dls_lucid_qssf, &dls_lucid_itself};
enum { N_POLICIES = sizeof policies / sizeof *policies };

const char *dls_lucid_schedule_at(size_t i, const char **summary)
{
    *summary = i < N_POLICIES ? policies[i]->schedule.summary : NULL;
    return i < N_POLICIES ? policies[i]->schedule.name : NULL;
}

/* ---- lists */

DLS_BY(by_key, dls_lucid_keyed, DLS_UP(key), DLS_UP(place));

void dls_lucid_sort(dls_lucid *l, int32_t *job, int32_t n,
                    double (*key)(const dls_lucid *l, int32_t job))
{
    bool sorted = true;
    for (int32_t i = 0; i < n; i++) {
        l->keyed[i] = (dls_lucid_keyed){key(l, job[i]), i, job[i]};
        sorted = sorted && (i == 0 || l->keyed[i - 1].key <= l->keyed[i].key);
    }
    if (!sorted) {
        qsort(l->keyed, (size_t)n, sizeof *l->keyed, by_key);
        for (int32_t i = 0; i < n; i++) {
            job[i] = l->keyed[i].job;
        }
    }
}

void dls_lucid_tidy(dls_lucid *l)
{
    int32_t queued = 0, running = 0;
    for (int32_t i = 0; i < l->n_queue; i++) {
        if (!l->state[l->queue[i]].seat) {
            l->queue[queued++] = l->queue[i];
        }
    }
    for (int32_t i = 0; i < l->n_running; i++) {
        if (l->state[l->running[i]].seat) {
            l->running[running++] = l->running[i];
        }
    }
    l->n_queue = queued;
    l->n_running = running;
}

/* ---- GPUs */

static int32_t free_of(const dls_lucid *l, int32_t node)
{
    return DLS_LUCID_GPUS - __builtin_popcount(l->used[node]);
}

static void take_gpus(dls_lucid *l, dls_lucid_seat *seat, int32_t node, int32_t gpus)
{
    uint32_t mask = 0;
    for (int32_t g = 0; gpus > 0; g++) {
        if (!(l->used[node] >> g & 1)) {
            mask |= UINT32_C(1) << g;
            gpus--;
        }
    }
    l->used[node] |= mask;
    l->free_gpus -= __builtin_popcount(mask);
    seat->part[seat->n++] = (struct dls_lucid_part){node, mask};
}

/* The nodes that a gang would be put on, in `order`; returns how many, 0 if there is no place. Up
 * to a node: the tightest. More: free nodes, and for the rest the next of those with most free
 * GPUs, if that has room. */
static int32_t find_nodes(dls_lucid *l, int32_t gpus)
{
    if (gpus > l->free_gpus) {
        return 0;
    }
    if (gpus <= DLS_LUCID_GPUS) {
        int32_t best = -1;
        for (int32_t i = 0; i < l->n_nodes; i++) {
            const int32_t free = free_of(l, i);
            if (free >= gpus && (best < 0 || free < free_of(l, best))) {
                best = i;
            }
        }
        l->order[0] = best;
        return best >= 0;
    }
    const int32_t wanted = (gpus + DLS_LUCID_GPUS - 1) / DLS_LUCID_GPUS;
    int32_t n = 0;
    for (int32_t free = DLS_LUCID_GPUS; free > 0 && n < wanted; free--) { /* most free first */
        for (int32_t i = 0; i < l->n_nodes && n < wanted; i++) {
            if (free_of(l, i) == free) {
                l->order[n++] = i;
            }
        }
    }
    for (int32_t i = 0; i < n; i++) {
        const int32_t need = i < gpus / DLS_LUCID_GPUS ? DLS_LUCID_GPUS : gpus % DLS_LUCID_GPUS;
        if (free_of(l, l->order[i]) < need) {
            return 0;
        }
    }
    return n == wanted ? n : 0;
}

void dls_lucid_borrow(dls_lucid *l)
{
    l->used[l->n_nodes++] = 0;
    l->free_gpus += DLS_LUCID_GPUS;
    l->extra = l->changed = true;
}

void dls_lucid_return(dls_lucid *l)
{
    l->n_nodes--;
    l->free_gpus -= DLS_LUCID_GPUS;
    l->extra = false;
}

/* ---- jobs */

void dls_lucid_sync(dls_lucid *l, int32_t job)
{
    dls_lucid_state *s = &l->state[job];
    int64_t ticks = l->now_s - s->at_s;
    s->attained += ticks * l->job[job].gpus;
    if (s->rate == 1 && s->left == trunc(s->left)) {
        s->left -= (double)ticks;
    } else {
        for (; ticks > 0; ticks--) {
            s->left -= s->rate;
        }
    }
    s->at_s = l->now_s;
}

void dls_lucid_set_rate(dls_lucid *l, int32_t job, double rate)
{
    dls_lucid_state *s = &l->state[job];
    int64_t ticks = 0;
    s->rate = rate;
    if (s->rate == 1 && s->left == trunc(s->left)) {
        ticks = (int64_t)s->left;
    } else {
        for (double left = s->left; left > 0; left -= s->rate) {
            ticks++;
        }
    }
    s->end_s = s->at_s + ticks + l->policy->late;
}

static void start_job(dls_lucid *l, int32_t job)
{
    dls_lucid_state *s = &l->state[job];
    dls_lucid_job *j = &l->job[job];
    s->at_s = l->now_s;
    dls_lucid_set_rate(l, job, s->rate);
    j->queue_s += l->now_s - s->since_s;
    j->start_s = j->start_s < 0 || l->policy == &dls_lucid_itself ? l->now_s : j->start_s;
    j->first_node = s->seat->part[0].node;
    if (l->extra && j->first_node == l->n_nodes - 1) {
        j->first_node = DLS_LUCID_BORROWED;
    }
    j->gpu_mask = s->seat->part[0].mask;
    l->running[l->n_running++] = job;
    l->changed = true;
}

dls_status dls_lucid_start(dls_lucid *l, int32_t job, bool *started, dls_error *err)
{
    const int32_t gpus = l->job[job].gpus, n = find_nodes(l, gpus);
    *started = n > 0;
    if (n == 0) {
        return DLS_OK;
    }
    const size_t size = sizeof(dls_lucid_seat) + (size_t)n * sizeof(struct dls_lucid_part);
    dls_lucid_seat *seat = l->state[job].seat = dls_alloc(size);
    if (!seat) {
        return dls_nomem(err, "GPUs of a job", size);
    }
    seat->jobs = 1;
    seat->n = 0;
    for (int32_t i = 0, left = gpus; i < n; i++, left -= DLS_LUCID_GPUS) {
        take_gpus(l, seat, l->order[i], left < DLS_LUCID_GPUS ? left : DLS_LUCID_GPUS);
    }
    start_job(l, job);
    return DLS_OK;
}

void dls_lucid_join(dls_lucid *l, int32_t job, int32_t host)
{
    l->state[job].seat = l->state[host].seat;
    l->state[job].host = host;
    l->state[job].seat->jobs++;
    l->job[job].shared_s = l->now_s;
    start_job(l, job);
}

void dls_lucid_stop(dls_lucid *l, int32_t job)
{
    dls_lucid_seat *seat = l->state[job].seat;
    l->state[job].seat = NULL;
    l->changed = true;
    if (--seat->jobs > 0) {
        return;
    }
    for (int32_t i = 0; i < seat->n; i++) {
        l->used[seat->part[i].node] &= ~seat->part[i].mask;
        l->free_gpus += __builtin_popcount(seat->part[i].mask);
    }
    dls_free(seat);
}

dls_status dls_lucid_start_in_order(dls_lucid *l, dls_error *err)
{
    bool started = true;
    for (int32_t i = 0; i < l->n_queue && started; i++) {
        DLS_TRY(dls_lucid_start(l, l->queue[i], &started, err));
    }
    dls_lucid_tidy(l);
    return DLS_OK;
}

/* ---- the clock */

static void end_jobs(dls_lucid *l)
{
    for (int32_t i = 0; i < l->n_running; i++) {
        const int32_t job = l->running[i];
        if (l->state[job].end_s == l->now_s) {
            l->job[job].end_s = l->now_s;
            l->job[job].rate = l->state[job].rate;
            if (l->policy->ended) {
                l->policy->ended(l, job);
            }
            dls_lucid_stop(l, job);
        }
    }
    dls_lucid_tidy(l);
}

static void arrive(dls_lucid *l)
{
    l->n_before = l->n_queue;
    for (; l->next < l->n_coming && l->job[l->coming[l->next]].submit_s == l->now_s; l->next++) {
        l->queue[l->n_queue++] = l->coming[l->next];
        l->state[l->coming[l->next]].since_s = l->now_s;
        l->changed = true;
    }
}

/* The next tick in which anything can happen; INT64_MAX: none. */
static int64_t next_tick(const dls_lucid *l)
{
    const dls_lucid_policy *p = l->policy;
    int64_t next = l->next < l->n_coming ? l->job[l->coming[l->next]].submit_s : INT64_MAX;
    for (int32_t i = 0; i < l->n_running; i++) {
        const int64_t end = l->state[l->running[i]].end_s;
        next = end < next ? end : next;
    }
    if ((l->n_queue > 0 || l->extra) && p->every_s > 0) {
        const int64_t then = (l->now_s / p->every_s + 1) * p->every_s;
        next = then < next ? then : next;
    }
    if (l->changed && l->n_queue > 0 && l->now_s + 1 < next) {
        next = l->now_s + 1;
    }
    return next;
}

static dls_status run_clock(dls_lucid *l, dls_error *err)
{
    l->now_s = l->n_coming > 0 ? l->job[l->coming[0]].submit_s : INT64_MAX;
    while (l->now_s < INT64_MAX) {
        l->changed = false;
        end_jobs(l);
        arrive(l);
        if (!l->policy->only_then || l->now_s % l->policy->every_s == 0) {
            DLS_TRY(l->policy->tick(l, err));
        }
        l->now_s = next_tick(l);
    }
    return DLS_OK;
}

/* ---- a virtual cluster */

static void close_vc(dls_lucid *l)
{
    for (int32_t i = 0; i < l->n_running; i++) {
        dls_lucid_seat *seat = l->state[l->running[i]].seat;
        if (seat && --seat->jobs == 0) {
            dls_free(seat);
        }
    }
    DLS_FREE_ALL(l->queue, l->running, l->used, l->order, l->keyed, l->scratch);
}

static dls_status run_vc(dls_lucid *l, const dls_lucid_policy *policy, int32_t nodes,
                         const int32_t *coming, size_t n, dls_error *err)
{
    l->policy = policy;
    l->coming = coming;
    l->n_coming = n;
    l->next = 0;
    l->n_queue = l->n_running = 0;
    l->n_nodes = nodes;
    l->extra = false;
    l->free_gpus = nodes * DLS_LUCID_GPUS;
    dls_status status = DLS_ALLOC_ALL(
        "a virtual cluster", err, DLS_ARRAY(l->queue, n + 1), DLS_ARRAY(l->running, n + 1),
        DLS_ARRAY(l->used, (size_t)nodes + 2), DLS_ARRAY(l->order, (size_t)nodes + 2),
        DLS_ARRAY(l->keyed, n + 1), DLS_ARRAY(l->scratch, n + 1));
    DLS_THEN(status, run_clock(l, err));
    close_vc(l);
    return status;
}

/* What runs in the virtual cluster, or, -1, comes to the profiler: [returned]. */
static size_t choose_jobs(const dls_lucid *l, int32_t vc, int32_t *out)
{
    size_t n = 0;
    for (size_t i = 0; i < l->trace->n; i++) {
        const dls_lucid_job *j = &l->job[i];
        if (vc >= 0 ? j->vc == vc && !j->done_in_profiler : j->gpus <= l->cluster->profile_gpus) {
            out[n++] = (int32_t)i;
        }
    }
    return n;
}

static void reset(dls_lucid *l, const int32_t *jobs, size_t n, bool profiling)
{
    for (size_t i = 0; i < n; i++) {
        dls_lucid_job *j = &l->job[jobs[i]];
        l->state[jobs[i]] = (dls_lucid_state){
            .left = (double)j->duration_s, .rate = 1, .host = -1, .exclusive = true};
        j->start_s = j->end_s = -1;
        if (profiling && j->duration_s > l->cluster->profile_s) {
            l->state[jobs[i]].left = (double)l->cluster->profile_s;
        }
    }
}

static dls_status profile(dls_lucid *l, int32_t *jobs, dls_error *err)
{
    const size_t n = choose_jobs(l, -1, jobs);
    reset(l, jobs, n, true);
    DLS_TRY(run_vc(l, &dls_lucid_profiler, l->cluster->profiler_nodes, jobs, n, err));
    for (size_t i = 0; i < n; i++) {
        dls_lucid_job *j = &l->job[jobs[i]];
        j->profiled = true;
        j->done_in_profiler = j->duration_s <= l->cluster->profile_s;
    }
    return DLS_OK;
}

/* ---- all of them */

/* Number of the trace's virtual cluster, whose nodes are told; -1. */
static int32_t find_vc(const dls_lucid_cluster *c, const dls_lucid_trace *t, int32_t code)
{
    for (int32_t i = 0; i < c->n; i++) {
        if (strcmp(c->vc[i].name, dls_strdict_get(&t->vcs, code)) == 0) {
            return i;
        }
    }
    return -1;
}

/* Nodes of a virtual cluster beside the profiler. */
static int32_t nodes_of(const dls_lucid_cluster *c, int32_t vc, bool profiling)
{
    return c->vc[vc].nodes - (profiling && vc == c->profiler_vc ? c->profiler_nodes : 0);
}

static dls_status check(const dls_lucid_cluster *c, const dls_lucid_trace *t, bool profiling,
                        dls_error *err)
{
    for (size_t i = 0; i < t->n; i++) {
        const dls_lucid_job *j = &t->job[i];
        const int32_t vc = find_vc(c, t, j->vc);
        const char *name = dls_strdict_get(&t->vcs, j->vc);
        if (vc < 0) {
            return dls_fail(err, DLS_EINPUT, NULL, "how many nodes has virtual cluster '%.64s'?",
                            name);
        }
        if ((j->gpus + DLS_LUCID_GPUS - 1) / DLS_LUCID_GPUS > nodes_of(c, vc, profiling)) {
            return dls_fail(err, DLS_EINPUT, NULL,
                            "job %.64s of %d GPUs can never run on the %d nodes of '%.64s'",
                            dls_strdict_get(&t->ids, j->id), (int)j->gpus,
                            (int)nodes_of(c, vc, profiling), name);
        }
    }
    if (profiling && c->profile_gpus > c->profiler_nodes * DLS_LUCID_GPUS) {
        return dls_fail(err, DLS_EINPUT, NULL, "jobs of %d GPUs do not fit the profiler's %d nodes",
                        (int)c->profile_gpus, (int)c->profiler_nodes);
    }
    return DLS_OK;
}

static dls_status run_all(dls_lucid *l, const dls_lucid_policy *policy, bool profiling,
                          int32_t *jobs, dls_error *err)
{
    if (profiling) {
        DLS_TRY(profile(l, jobs, err));
    }
    for (size_t code = 0; code < l->trace->vcs.n; code++) {
        const int32_t vc = find_vc(l->cluster, l->trace, (int32_t)code);
        const size_t n = choose_jobs(l, (int32_t)code, jobs);
        reset(l, jobs, n, false);
        DLS_TRY(run_vc(l, policy, nodes_of(l->cluster, vc, profiling), jobs, n, err));
    }
    return DLS_OK;
}

dls_status dls_lucid_run(const dls_lucid_cluster *cluster, const char *schedule,
                         dls_lucid_trace *trace, dls_error *err)
{
    const dls_lucid_policy *policy = NULL;
    for (int i = 0; i < N_POLICIES; i++) {
        policy = strcmp(policies[i]->schedule.name, schedule) == 0 ? policies[i] : policy;
    }
    if (!policy) {
        return dls_fail(err, DLS_EINPUT, NULL, "there is no schedule '%s'", schedule);
    }
    const bool profiling = policy == &dls_lucid_itself && cluster->profiler_nodes > 0;
    dls_lucid l = {.cluster = cluster, .trace = trace, .job = trace->job};
    DLS_FREED dls_lucid_state *state = NULL;
    DLS_FREED int32_t *jobs = NULL;
    DLS_TRY(DLS_ALLOC_ALL("jobs", err, DLS_ARRAY(state, trace->n + 1), DLS_ARRAY(jobs, trace->n + 1)));
    l.state = state;
    DLS_TRY(check(cluster, trace, profiling, err));
    return run_all(&l, policy, profiling, jobs, err);
}
