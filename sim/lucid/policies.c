/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Lucid and those that it was compared with, as their published simulator has them.
 */
#include "lucid/core.h"

#include <math.h>

/* ---- lists in order */

static double submit_key(const dls_lucid *l, int32_t job)
{
    return (double)l->job[job].submit_s;
}

static double duration_key(const dls_lucid *l, int32_t job)
{
    return (double)l->job[job].duration_s;
}

static double gpus_key(const dls_lucid *l, int32_t job)
{
    return l->job[job].gpus;
}

static double priority_key(const dls_lucid *l, int32_t job)
{
    return l->state[job].priority;
}

static dls_status fifo_tick(dls_lucid *l, dls_error *err)
{
    dls_lucid_sort(l, l->queue, l->n_queue, submit_key);
    return dls_lucid_start_in_order(l, err);
}

static dls_status sjf_tick(dls_lucid *l, dls_error *err)
{
    dls_lucid_sort(l, l->queue, l->n_queue, duration_key);
    return dls_lucid_start_in_order(l, err);
}

/* The mean of the next five forecasts of arriving jobs or GPUs, all if fewer than six are left;
 * INFINITY: none is. */
static double expected(const dls_lucid *l, int64_t after_s, bool gpus)
{
    const dls_lucid_trace *t = l->trace;
    size_t i = 0;
    double sum = 0;
    while (i < t->n_forecast && t->forecast[i].time_s <= after_s) {
        i++;
    }
    const size_t left = t->n_forecast - i, n = left < 6 ? left : 5;
    for (size_t k = 0; k < n; k++) {
        sum += gpus ? t->forecast[i + k].gpus : t->forecast[i + k].jobs;
    }
    return n > 0 ? sum / (double)n : (double)INFINITY;
}

#define PROFILER_S 10       /* how often it looks at its queue */
#define PROFILER_CALM_S 100 /* how often it thinks of giving the node back */
#define PROFILER_MANY 10    /* waiting jobs beyond which it borrows a node */
#define PROFILER_FEW 5      /* below which it may give it back, if arrivals are few: */
#define PROFILER_ARRIVALS 5 /* times the GPUs of its largest job, in 10 minutes */

static dls_status profiler_tick(dls_lucid *l, dls_error *err)
{
    dls_lucid_sort(l, l->queue, l->n_queue, gpus_key);
    DLS_TRY(dls_lucid_start_in_order(l, err));
    if (l->trace->n_forecast == 0) {
        return DLS_OK;
    }
    if (!l->extra) {
        if (l->now_s % PROFILER_S == 0 && l->n_queue > PROFILER_MANY) {
            dls_lucid_borrow(l);
        }
    } else if (l->now_s % PROFILER_CALM_S == 0 && l->n_queue < PROFILER_FEW &&
               l->used[l->n_nodes - 1] == 0) {
        const double gpus = expected(l, l->now_s, true);
        if (isinf(gpus) || gpus <= PROFILER_ARRIVALS * l->cluster->profile_gpus) {
            dls_lucid_return(l);
        }
    }
    return DLS_OK;
}

/* Predicted GPU time; jobs of a tick to which nobody waited go by size alone. */
static dls_status qssf_tick(dls_lucid *l, dls_error *err)
{
    dls_lucid_sort(l, l->queue, l->n_queue, gpus_key);
    if (l->n_before > 0) {
        for (int32_t i = 0; i < l->n_queue; i++) {
            const dls_lucid_job *j = &l->job[l->queue[i]];
            l->state[l->queue[i]].priority = (double)j->qssf_s * j->gpus;
        }
        dls_lucid_sort(l, l->queue, l->n_queue, priority_key);
    }
    return dls_lucid_start_in_order(l, err);
}

const dls_lucid_policy dls_lucid_fifo = {.schedule = {"fifo", "in order of submission"},
                                         .tick = fifo_tick};
const dls_lucid_policy dls_lucid_sjf = {.schedule = {"sjf", "shortest job first"},
                                        .tick = sjf_tick};
const dls_lucid_policy dls_lucid_qssf = {
    .schedule = {"qssf", "least predicted run time x GPUs first"}, .tick = qssf_tick};
const dls_lucid_policy dls_lucid_profiler = {
    .schedule = {"profiler", ""}, .tick = profiler_tick, .every_s = PROFILER_S};

/* ---- preemption */

#define CHECKPOINT_S 40      /* that a preemption costs a job of at most a node, */
#define CHECKPOINT_WIDE_S 60 /* or of more */
#define LOW_QUEUE 18000      /* GPU-seconds */

static double left_key(const dls_lucid *l, int32_t job)
{
    return l->state[job].left;
}

/* Two queues by attained service, each by submission. */
static double attained_key(const dls_lucid *l, int32_t job)
{
    return (double)l->job[job].submit_s + (l->state[job].attained > LOW_QUEUE ? 0x1p42 : 0);
}

static void preempt(dls_lucid *l, int32_t job)
{
    dls_lucid_stop(l, job);
    l->job[job].checkpoints++;
    l->state[job].left += l->job[job].gpus <= DLS_LUCID_GPUS ? CHECKPOINT_S : CHECKPOINT_WIDE_S;
    l->state[job].since_s = l->now_s;
    l->queue[l->n_queue++] = job;
}

/* Who is within the virtual cluster's number of GPUs in this order runs, if there is a place. */
static dls_status select_tick(dls_lucid *l, double (*key)(const dls_lucid *l, int32_t job),
                              dls_error *err)
{
    int32_t *all = l->scratch, n = 0, quota = l->n_nodes * DLS_LUCID_GPUS, chosen = 0;
    for (int32_t i = 0; i < l->n_queue; i++) {
        all[n++] = l->queue[i];
    }
    for (int32_t i = 0; i < l->n_running; i++) {
        dls_lucid_sync(l, l->running[i]);
        all[n++] = l->running[i];
    }
    dls_lucid_sort(l, all, n, key);
    for (int32_t i = 0; i < n; i++) {
        const bool fits = l->job[all[i]].gpus <= quota;
        const bool runs = l->state[all[i]].seat;
        quota -= fits ? l->job[all[i]].gpus : 0;
        if (fits && !runs) {
            all[chosen++] = all[i];
        } else if (!fits && runs) {
            preempt(l, all[i]);
        }
    }
    dls_lucid_tidy(l);
    for (int32_t i = 0; i < chosen; i++) {
        bool started;
        DLS_TRY(dls_lucid_start(l, all[i], &started, err));
    }
    dls_lucid_tidy(l);
    return DLS_OK;
}

static dls_status srtf_tick(dls_lucid *l, dls_error *err)
{
    return select_tick(l, left_key, err);
}

static dls_status tiresias_tick(dls_lucid *l, dls_error *err)
{
    return select_tick(l, attained_key, err);
}

const dls_lucid_policy dls_lucid_srtf = {
    .schedule = {"srtf", "least remaining time first, preemptive"},
    .late = true,
    .tick = srtf_tick};
const dls_lucid_policy dls_lucid_tiresias = {
    .schedule = {"tiresias", "two queues by attained service, every minute"},
    .late = true,
    .tick = tiresias_tick,
    .every_s = 60,
    .only_then = true};

/* ---- Lucid */

#define SHARING_EVERY_S 100
#define QUIET 2.0 /* expected arrivals in 10 minutes for which nobody shares */
#define MEMORY_MIB 24576.0
#define SCORE_MOST 2
#define PATIENCE 2.0 /* a job joins none that is expected to be so much shorter */

static bool is_sharing(const dls_lucid *l)
{
    const int64_t at_s = l->now_s / SHARING_EVERY_S * SHARING_EVERY_S;
    return !(expected(l, at_s, false) <= QUIET);
}

static bool may_join(const dls_lucid *l, int32_t job, int32_t host)
{
    const dls_lucid_job *j = &l->job[job], *h = &l->job[host];
    const dls_lucid_state *s = &l->state[host];
    return s->exclusive && h->gpus == j->gpus && h->gmem_mib + j->gmem_mib < MEMORY_MIB &&
           h->share_score + j->share_score <= SCORE_MOST &&
           l->state[job].priority <= PATIENCE * s->priority;
}

static dls_status speeds_of(const dls_lucid *l, int32_t a, int32_t b, double *of_a, double *of_b,
                            dls_error *err)
{
    const dls_lucid_trace *t = l->trace;
    const size_t x = (size_t)l->job[a].workload, y = (size_t)l->job[b].workload;
    *of_a = *of_b = 1;
    if (l->job[a].never_slower || l->job[b].never_slower) {
        return DLS_OK;
    }
    *of_a = t->speed ? t->speed[x * t->n_speed + y] : (double)NAN;
    *of_b = !t->speed ? (double)NAN : x == y ? t->speed_of_host[x] : t->speed[y * t->n_speed + x];
    if (isnan(*of_a) || isnan(*of_b)) {
        return dls_fail(err, DLS_EINPUT, NULL, "the table of pairs has no %s beside %s",
                        dls_strdict_get(&t->workloads, (int32_t)x),
                        dls_strdict_get(&t->workloads, (int32_t)y));
    }
    return DLS_OK;
}

static dls_status share(dls_lucid *l, int32_t job, int32_t host, dls_error *err)
{
    dls_lucid_state *a = &l->state[job], *b = &l->state[host];
    dls_lucid_sync(l, host);
    double host_rate;
    DLS_TRY(speeds_of(l, job, host, &a->rate, &host_rate, err));
    dls_lucid_set_rate(l, host, host_rate);
    a->exclusive = b->exclusive = false;
    dls_lucid_join(l, job, host);
    return DLS_OK;
}

static dls_status lucid_tick(dls_lucid *l, dls_error *err)
{
    for (int32_t i = 0; i < l->n_queue; i++) {
        const dls_lucid_job *j = &l->job[l->queue[i]];
        l->state[l->queue[i]].priority = (double)j->lucid_s * j->gpus;
    }
    dls_lucid_sort(l, l->queue, l->n_queue, priority_key);
    if (!is_sharing(l)) {
        return dls_lucid_start_in_order(l, err);
    }
    for (int32_t i = 0; i < l->n_queue; i++) {
        const int32_t job = l->queue[i];
        int32_t k = l->job[job].gpus <= DLS_LUCID_GPUS ? 0 : l->n_running;
        while (k < l->n_running && !may_join(l, job, l->running[k])) {
            k++;
        }
        if (k < l->n_running) {
            DLS_TRY(share(l, job, l->running[k], err));
        } else {
            bool started;
            DLS_TRY(dls_lucid_start(l, job, &started, err));
        }
    }
    dls_lucid_tidy(l);
    return DLS_OK;
}

/* Who had been joined is restored when its guest goes; a guest whose host goes keeps its speed, and
 * the program restores whoever goes. */
static void lucid_ended(dls_lucid *l, int32_t job)
{
    const int32_t host = l->state[job].host;
    if (host < 0 || l->job[host].end_s >= 0) {
        l->job[job].rate = 1;
    } else {
        dls_lucid_sync(l, host);
        dls_lucid_set_rate(l, host, 1);
        l->state[host].exclusive = true;
    }
}

const dls_lucid_policy dls_lucid_itself = {
    .schedule = {"lucid", "least predicted run time x GPUs first; pairs share GPUs"},
    .late = true,
    .tick = lucid_tick,
    .every_s = SHARING_EVERY_S,
    .ended = lucid_ended};
