/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A turn of the scheduler `slurm`: the queue, the main scheduler with preemption, and backfill.
 */
#include "sched/slurm_state.h"

#include "dlsim/memory.h"

#include <stdlib.h>
#include <string.h>

/* ---- what a job asks for --------------------------------------------------------------------- */

/* How many nodes of the type have so many GPUs, free or not. */
static int32_t nodes_with(const dls_place_index *index, int32_t type, int32_t gpus)
{
    int32_t n = 0;
    for (int32_t size = gpus; size <= dls_place_max_gpus(index, type); size++) {
        n += dls_place_sizes(index, type, size);
    }
    return n;
}

static int32_t partition_of(const struct slurm *s, const dls_view *view, int32_t job)
{
    return job < view->n_jobs ? dls_slurm_partition_of(&s->partitions, job)
                              : s->cpu.job[job - view->n_jobs].partition;
}

/* -1: none, or it is over: nobody waits for ever. */
static int32_t reservation_of(const struct slurm *s, const dls_view *view, int32_t job)
{
    const dls_slurm_named *known = dls_slurm_job(&s->jobs, job);
    const int32_t which = known ? known->reservation : -1;
    return which >= 0 && dls_slurm_reservation_begin(&s->outages, which, view->now_us) != DLS_NEVER
               ? which
               : -1;
}

/* GPUs by node: as the trace says, or on as few nodes as hold them. */
static dls_slurm_ask ask_of(const struct slurm *s, const dls_view *view, int32_t job, int32_t type)
{
    const dls_place_index *index = dls_view_index(view);
    if (job >= view->n_jobs) {
        const dls_slurm_cpu_job *j = &s->cpu.job[job - view->n_jobs];
        return (dls_slurm_ask){.type = -1,
                               .only = dls_slurm_partition_nodes(&s->partitions, j->partition),
                               .nodes = j->nodes,
                               .cpus = j->cpus,
                               .mem = j->mem,
                               .limit_us = dls_slurm_limit(s, j->limit_us),
                               .reservation = -1};
    }
    const int32_t gang = view->gpus[job], most = dls_place_max_gpus(index, type);
    const int64_t named = view->nodes ? view->nodes[job] : DLS_ABSENT;
    const int32_t least = (gang + most - 1) / most;
    dls_slurm_ask ask = {.type = type,
                         .gang = gang,
                         .limit_us = s->limit_us[job],
                         .reservation = reservation_of(s, view, job)};
    ask.only =
        dls_slurm_partition_nodes(&s->partitions, dls_slurm_partition_of(&s->partitions, job));
    ask.nodes = named >= least && named <= gang ? (int32_t)named : least;
    const int32_t each = (gang + ask.nodes - 1) / ask.nodes; /* some nodes get one less */
    ask.gpus = s->exclusive ? most : each;
    ask.cpus = dls_view_cpu_per_gpu(view, job) * each;
    ask.mem = dls_view_mem_per_gpu(view, job) * each;
    if (nodes_with(index, type, ask.gpus) < ask.nodes ||
        (dls_slurm_plan_lacks(&s->plan, &ask) &&
         dls_view_most_gpus(view, job, type) < dls_view_total_gpus(view, type))) {
        ask.nodes = 0; /* nodes of several sizes, fewer than it names, or services always have some: any that there are */
    }
    return ask;
}

/* May a job have its gang on that type now, as far as quotas go? What it may not have blocks
 * nobody. */
static bool may_have(const dls_view *view, int32_t job, int32_t type, bool now)
{
    int64_t cap = 0;
    if (job >= view->n_jobs) {
        return type == 0; /* the same whatever the type */
    }
    (void)dls_view_pool(view, job, type, &cap);
    return dls_view_types(view, job) >> type & 1 && view->gpus[job] <= cap &&
           (!now || view->gpus[job] <= dls_view_quota_gpus(view, job, type) ||
            view->gpus[job] > dls_view_free_gpus(view, type));
}

bool dls_slurm_can_run(const struct slurm *s, const dls_view *view, int32_t job)
{
    for (int32_t t = 0; t < view->n_types; t++) {
        const dls_slurm_ask ask = ask_of(s, view, job, t);
        if (dls_view_types(view, job) >> t & 1 && dls_slurm_plan_holds(&s->plan, &ask, &s->outages, view->now_us)) {
            return true;
        }
    }
    return false;
}

/* Start a job on the nodes that the plan has chosen; false: the engine refused (processors,
 * memory). */
static dls_status start(struct slurm *s, const dls_view *view, dls_actions *out, int32_t job,
                        const dls_slurm_ask *ask, bool *started, dls_error *err)
{
    dls_want want = {.type = ask->type};
    *started = false;
    if (job >= view->n_jobs) {
        const int32_t k = job - view->n_jobs;
        *started = true;
        DLS_TRY(dls_slurm_cpu_start(&s->cpu, k, view->now_us, err));
        return dls_slurm_plan_started(&s->plan, view, job, ask,
                                      view->now_us + s->cpu.job[k].duration_us, err);
    }
    if (view->gpus[job] > dls_view_quota_gpus(view, job, ask->type)) {
        return DLS_OK;
    }
    if (ask->nodes > 0) {
        want.n_nodes = dls_slurm_plan_parts(&s->plan, ask, &want.nodes);
    }
    *started = dls_act_allocate(out, job, &want);
    return *started ? dls_slurm_plan_started(&s->plan, view, job, ask, DLS_NEVER, err) : DLS_OK;
}

/* ---- the queue ------------------------------------------------------------------------------- */

/* Is a waiting job in the queue: do no others have to end before, and has it waited out what
 * follows a preemption? */
static bool is_eligible(const struct slurm *s, const dls_view *view, int32_t job)
{
    return !dls_slurm_job_depends(&s->jobs, view, job) &&
           (!s->preempt || view->starts[job] == 0 ||
            view->since_us[job] + s->requeue_us <= view->now_us);
}

/* Slurm looks whether a job could ever run when it comes. */
static void came(struct slurm *s, const dls_view *view, int32_t job)
{
    const int64_t at_us =
        job < view->n_jobs ? view->submit_us[job] : s->cpu.job[job - view->n_jobs].submit_us;
    if (s->plan.cpu_jobs && at_us > s->seen_us) {
        const dls_slurm_ask ask = ask_of(s, view, job, 0);
        dls_slurm_mark_anew(&s->plan, ask.only, s->plan.idle, &ask);
    }
}

/* Those that came first, of both kinds. */
static dls_status list_waiting(struct slurm *s, const dls_view *view, size_t *n, dls_error *err)
{
    const dls_slurm_cpu *c = &s->cpu;
    size_t k = 0;
    *n = 0;
    dls_slurm_jobs_look(&s->jobs, view);
    for (int32_t j = dls_slurm_first_waiting(view); j >= 0 || k < c->n_waiting;) {
        const bool gpus =
            j >= 0 && (k == c->n_waiting || view->submit_us[j] <= c->job[c->waiting[k]].submit_us);
        const int32_t job = gpus ? j : view->n_jobs + c->waiting[k++];
        DLS_TRY(dls_grow(&s->waiting, &s->waiting_cap, *n + 1, sizeof *s->waiting, err));
        came(s, view, job);
        if (!gpus || is_eligible(s, view, job)) {
            s->waiting[(*n)++] = job;
        }
        j = gpus ? dls_view_next_waiting(view, j) : j;
    }
    s->seen_us = view->now_us;
    return dls_slurm_priority_sort(&s->priority, c, &s->partitions, view->n_jobs, s->waiting, *n,
                                   err);
}

#define GRACE_CHECK_US INT64_C(30000000)

/* ---- the two schedulers ---------------------------------------------------------------------- */

/* Of a partition that has failed no more jobs are looked at, and its nodes are given to no others.
 */
static dls_status fail_partition(struct slurm *s, int32_t which, dls_error *err)
{
    if (!s->failed) {
        DLS_TRY(dls_alloc_array(&s->failed, s->partitions.n, sizeof *s->failed, "partitions", err));
    }
    s->failed[which] = true;
    dls_slurm_plan_close(&s->plan, dls_slurm_partition_nodes(&s->partitions, which));
    return DLS_OK;
}

/* Running jobs that it may preempt, the least QoS first and of one the last that started. */
DLS_BY(by_rank, dls_slurm_ranked, DLS_UP(value), DLS_DOWN(id));

/* s->victim: running jobs that a job may take GPUs from, in the order in which they give way. */
static dls_status list_victims(struct slurm *s, const dls_view *view, int32_t job, int32_t *n, dls_error *err)
{
    dls_slurm_priority *p = &s->priority;
    size_t k = 0;
    *n = 0;
    if (!s->preempt || job >= view->n_jobs) {
        return DLS_OK;
    }
    for (int32_t j = dls_view_first_running(view); j >= 0; j = dls_view_next_running(view, j)) {
        const int64_t ran_us = dls_slurm_whole_s(view->now_us) - dls_slurm_whole_s(view->since_us[j]);
        if (dls_slurm_preempts(&s->jobs, job, j, ran_us)) {
            DLS_TRY(dls_grow(&p->room, &p->room_cap, k + 1, sizeof *p->room, err));
            p->room[k++] = (dls_slurm_ranked){.value = dls_slurm_qos_factor(&s->jobs, j), .id = j};
        }
    }
    if (k == 0) {
        return DLS_OK;
    }
    qsort(p->room, k, sizeof *p->room, by_rank);
    DLS_TRY(dls_grow(&s->victim, &s->victim_cap, k, sizeof *s->victim, err));
    for (*n = 0; *n < (int32_t)k; ++*n) {
        s->victim[*n] = p->room[*n].id;
    }
    return DLS_OK;
}

static void take_away(const struct slurm *s, dls_actions *out, int32_t job)
{
    dls_act_preempt(out, job);
    if (dls_slurm_is_cancelled(&s->jobs, job)) {
        dls_act_decline(out, job);
    }
}

/* slurmctld looks for jobs whose time is over every 30 s, from the first look of its loop on. */
static int64_t check_after(const struct slurm *s, int64_t at_us)
{
    const int64_t loop_us = s->clock.loop_us, first_us = s->boot_us + loop_us;
    const int64_t every_us = (GRACE_CHECK_US + loop_us - 1) / loop_us * loop_us;
    return first_us + (at_us > first_us ? (at_us - first_us + every_us - 1) / every_us * every_us : 0);
}

/* The first n of s->victim are told to, and go where they have no grace. */
static void give_way(struct slurm *s, const dls_view *view, dls_actions *out, int32_t n)
{
    const int64_t now_us = dls_slurm_whole_s(view->now_us);
    for (int32_t i = 0; i < n; i++) {
        const int32_t j = s->victim[i];
        const int64_t gone_us = dls_slurm_tell(&s->jobs, j, dls_slurm_whole_s(view->since_us[j]), now_us);
        const int64_t check_us = check_after(s, gone_us);
        if (!dls_slurm_has_grace(&s->jobs, j)) {
            take_away(s, out, j);
        } else if (check_us > view->now_us) {
            s->check_us = check_us < s->check_us ? check_us : s->check_us;
        }
    }
}

void dls_slurm_end_graces(struct slurm *s, const dls_view *view, dls_actions *out)
{
    if (view->now_us < s->check_us) {
        return;
    }
    s->check_us = DLS_NEVER;
    for (int32_t j = dls_view_first_running(view), next; j >= 0; j = next) {
        const int64_t gone_us = dls_slurm_gone_by(&s->jobs, j, dls_slurm_whole_s(view->since_us[j]));
        next = dls_view_next_running(view, j);
        if (gone_us <= view->now_us) {
            take_away(s, out, j);
        } else if (gone_us != DLS_NEVER) {
            const int64_t check_us = check_after(s, gone_us);
            s->check_us = check_us < s->check_us ? check_us : s->check_us;
        }
    }
}

/* Others give way to a job, which can start once they have: *done, *ask is what it asks for and the plan has chosen
 * its nodes. unreserved: without touching a reservation. */
static dls_status preempt(struct slurm *s, const dls_view *view, dls_actions *out, int32_t job, bool unreserved,
                          dls_slurm_ask *ask, bool *done, dls_error *err)
{
    int32_t n;
    *done = false;
    DLS_TRY(list_victims(s, view, job, &n, err));
    for (int32_t t = 0; n > 0 && t < view->n_types && !*done; t++) {
        *ask = ask_of(s, view, job, t);
        const int32_t gone = may_have(view, job, t, false) && ask->nodes > 0
                                 ? dls_slurm_plan_preempt(&s->plan, ask, unreserved, s->victim, n)
                                 : -1;
        *done = gone >= 0;
        give_way(s, view, out, gone);
    }
    return DLS_OK;
}

/* In order of priority until one does not fit: those behind it in its partition are not looked at.
 */
static dls_status main_scheduler(struct slurm *s, const dls_view *view, dls_actions *out, size_t n,
                                 bool full, dls_error *err)
{
    for (size_t i = 0; i < n && (full || (int64_t)i <= s->queue_depth); i++) {
        const int32_t job = s->waiting[i];
        const int32_t which = partition_of(s, view, job);
        bool started = false, fits_by_quota = false;
        if (which >= 0 && s->failed && s->failed[which]) {
            continue;
        }
        dls_slurm_job_tested(&s->jobs, job);
        for (int32_t t = 0; t < view->n_types && !started; t++) {
            if (may_have(view, job, t, true)) {
                const dls_slurm_ask ask = ask_of(s, view, job, t);
                fits_by_quota = true;
                if (dls_slurm_plan_now(&s->plan, &ask)) {
                    DLS_TRY(start(s, view, out, job, &ask, &started, err));
                }
            }
        }
        if (fits_by_quota && !started) {
            dls_slurm_ask ask;
            bool done;
            DLS_TRY(preempt(s, view, out, job, false, &ask, &done, err));
            s->waiting[i] = done ? -1 : job; /* its victims are not gone yet: backfill would take others */
        }
        if (fits_by_quota && !started && reservation_of(s, view, job) < 0) {
            if (which < 0) {
                return DLS_OK;
            }
            DLS_TRY(fail_partition(s, which, err));
        }
        s->waiting[i] = started ? -1 : s->waiting[i];
    }
    return DLS_OK;
}

/* The type on which a job can start first, *ask and *start_us are of it, the plan has chosen its
 * nodes. */
static bool earliest(struct slurm *s, const dls_view *view, int32_t job, dls_slurm_ask *ask,
                     int64_t *start_us)
{
    int32_t best = -1;
    *start_us = DLS_NEVER;
    for (int32_t t = 0; t < view->n_types; t++) {
        if (may_have(view, job, t, false)) {
            *ask = ask_of(s, view, job, t);
            const int64_t when_us = dls_slurm_plan_start(&s->plan, view, ask);
            best = when_us < *start_us ? t : best;
            *start_us = when_us < *start_us ? when_us : *start_us;
        }
    }
    if (best >= 0 && ask->type >= 0 && best != ask->type) {
        *ask = ask_of(s, view, job, best);
        (void)dls_slurm_plan_start(&s->plan, view, ask);
    }
    return best >= 0;
}

/* How many jobs backfill looks at. */
static size_t looked_at(struct slurm *s, size_t n)
{
    size_t i = 0;
    for (int64_t tested = 0; i < n && tested < s->bf_jobs; i++) {
        if (s->waiting[i] >= 0) {
            dls_slurm_job_tested(&s->jobs, s->waiting[i]);
            tested++;
        }
    }
    return i;
}

/* Might a job start now beside what has been reserved so far? Once it cannot, it cannot in this turn. */
static bool might_start(struct slurm *s, const dls_view *view, int32_t job)
{
    if (s->preempt && dls_slurm_may_preempt(&s->jobs, job)) {
        return true;
    }
    for (int32_t t = 0; job >= 0 && t < view->n_types; t++) {
        const dls_slurm_ask ask = ask_of(s, view, job, t);
        if (dls_slurm_plan_has_room(&s->plan, &ask) && may_have(view, job, t, true) &&
            dls_slurm_plan_unreserved(&s->plan, view, &ask)) {
            return true;
        }
    }
    return false;
}

/* Waits a job without GPUs behind number i, of n? *last: that number or a later one, moved. */
static bool cpu_job_behind(const struct slurm *s, const dls_view *view, size_t i, size_t n, size_t *last)
{
    *last = *last < n ? *last : n - 1;
    while (*last > i && s->waiting[*last] < view->n_jobs) {
        --*last;
    }
    return *last > i;
}

static dls_status backfill(struct slurm *s, const dls_view *view, dls_actions *out, size_t n,
                           dls_error *err)
{
    size_t last_cpu = SIZE_MAX;
    n = looked_at(s, n);
    for (size_t i = 0; i < n; i++) {
        const int32_t job = s->waiting[i];
        if (job < 0) {
            continue;
        }
        while (n > i && !might_start(s, view, s->waiting[n - 1])) {
            n--; /* what is planned behind the last that might start changes nothing */
        }
        if (n == i) {
            break;
        }
        dls_slurm_ask ask;
        int64_t start_us;
        bool started = false;
        s->plan.marks = s->plan.cpu_jobs && cpu_job_behind(s, view, i, n, &last_cpu);
        const bool finds = earliest(s, view, job, &ask, &start_us);
        if (start_us > view->now_us && s->preempt) {
            bool done;
            DLS_TRY(preempt(s, view, out, job, true, &ask, &done, err));
            if (done) { /* its nodes are its own from now on: it starts in a later turn */
                DLS_TRY(dls_slurm_plan_reserve(&s->plan, view->now_us, ask.limit_us, err));
                continue;
            }
            (void)earliest(s, view, job, &ask, &start_us);
        }
        if (!finds) {
            continue;
        }
        if (start_us == view->now_us) {
            dls_slurm_plan_again(&s->plan, &ask);
            DLS_TRY(start(s, view, out, job, &ask, &started, err));
        }
        if (!started) {
            DLS_TRY(dls_slurm_plan_reserve(&s->plan, start_us, ask.limit_us, err));
        }
    }
    return DLS_OK;
}

/* Nodes have gone for good: who waits and can run no more is turned away, as at its arrival. */
static void turn_away(struct slurm *s, const dls_view *view, dls_actions *out)
{
    const size_t gone = dls_slurm_outages_for_good(&s->outages, view->now_us);
    for (int32_t j = gone != s->gone ? dls_view_first_waiting(view) : -1, next; j >= 0; j = next) {
        next = dls_view_next_waiting(view, j);
        if (!dls_slurm_can_run(s, view, j)) {
            dls_act_decline(out, j);
        }
    }
    s->gone = gone;
}

dls_status dls_slurm_run_due(struct slurm *s, const dls_view *view, dls_actions *out,
                             dls_error *err)
{
    const int due = dls_slurm_clock_due(&s->clock, view->now_us);
    size_t n;
    if (due == 0) {
        return DLS_OK;
    }
    dls_slurm_priority_look(&s->priority, view, &s->cpu, &s->jobs, &s->partitions);
    turn_away(s, view, out);
    DLS_TRY(list_waiting(s, view, &n, err));
    dls_slurm_outages_look(&s->outages, view->now_us);
    s->plan.outages = &s->outages;
    DLS_TRY(dls_slurm_plan_begin(&s->plan, view, err));
    if (due & DLS_SLURM_MAIN) {
        if (s->failed) {
            memset(s->failed, 0, s->partitions.n * sizeof *s->failed);
        }
        DLS_TRY(main_scheduler(s, view, out, n, due & DLS_SLURM_FULL, err));
    }
    return due & DLS_SLURM_BACKFILL ? backfill(s, view, out, n, err) : DLS_OK;
}
