/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * slurm: what slurmctld does with waiting jobs. Its main scheduler looks at them in order of
 * priority when jobs came or ended, not more often than every few seconds, and stops at the first
 * that does not fit; its backfill plans all of them in a table of reservations by time limits, and
 * starts what can start without delaying any. Nodes are chosen lowest first (select/cons_tres with
 * equal weights), GPUs are asked for by node.
 *
 * Sources: Slurm's guide to scheduling configuration and slurm.conf(5), version 22.05. Left out:
 * preemption, reservations of the administrator, QoS, licences, memory.
 */
#include "dlsim/memory.h"
#include "sched/gangs.h"
#include "sched/slurm_clock.h"
#include "sched/slurm_plan.h"
#include "sched/slurm_priority.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LIMIT_US INT64_C(31622400000000) /* a leap year: Slurm's "unlimited" */

enum {
    PRIORITY,
    BACKFILL,
    SCHED_DELAY,
    SCHED_INTERVAL,
    LOOP,
    LOOP_AT,
    BF_INTERVAL,
    BF_CYCLE,
    BF_WINDOW,
    BF_RESOLUTION,
    BF_MAX_JOBS,
    QUEUE_DEPTH,
    DEFAULT_LIMIT,
    EXCLUSIVE,
    WEIGHT_AGE,
    WEIGHT_FAIR,
    WEIGHT_SIZE,
    MAX_AGE,
    HALF_LIFE,
    CALC_PERIOD,
    CALC_AT,
    BILLING,
    CLUSTER_CPUS,
    SHARES,
    BOOT,
    CPU_JOBS,
    PARTITIONS,
    RUNS,
    CLOCK
};

static const dls_option options[] = {
    {"priority", DLS_OPT_STR, 0, 0, "basic", "", "order of the queue (PriorityType)",
     "basic|multifactor"},
    {"backfill", DLS_OPT_BOOL, 0, 0, "true", "", "sched/backfill; false: sched/builtin", NULL},
    {"sched_delay", DLS_OPT_TIME, 0, 86400, "3 s", "",
     "least time between two runs of the main scheduler "
     "(batch_sched_delay)",
     NULL},
    {"sched_interval", DLS_OPT_TIME, 1, 86400, "60 s", "",
     "a run of the main scheduler at the latest", NULL},
    {"loop", DLS_OPT_TIME, 0.001, 60, "1.0016 s", "",
     "how often slurmctld looks whether its main scheduler is to run", NULL},
    {"loop_at", DLS_OPT_F64, -1e9, 1e9, "0.5", "s", "a time at which it looks", NULL},
    {"bf_interval", DLS_OPT_TIME, 0.001, 86400, "30 s", "",
     "from the end of backfill to its next run", NULL},
    {"bf_cycle", DLS_OPT_TIME, 0, 3600, "10 ms", "", "how long a run of backfill takes", NULL},
    {"bf_window", DLS_OPT_TIME, 60, 1e9, "1 d", "", "how far ahead backfill plans", NULL},
    {"bf_resolution", DLS_OPT_TIME, 1, 3600, "60 s", "", "of backfill's reservations", NULL},
    {"bf_max_job_test", DLS_OPT_I64, 1, 1000000, "500", "", "jobs that backfill looks at", NULL},
    {"queue_depth", DLS_OPT_I64, 1, 1000000, "100", "",
     "jobs that the main scheduler looks at "
     "(default_queue_depth)",
     NULL},
    {"default_limit", DLS_OPT_TIME, 1, 31622400, "31622400 s", "", "of jobs without a time limit",
     NULL},
    {"exclusive", DLS_OPT_BOOL, 0, 0, "false", "", "jobs have their nodes to themselves", NULL},
    {"weight_age", DLS_OPT_F64, 0, 1e9, "0", "", "PriorityWeightAge", NULL},
    {"weight_fairshare", DLS_OPT_F64, 0, 1e9, "0", "", "PriorityWeightFairshare", NULL},
    {"weight_size", DLS_OPT_F64, 0, 1e9, "0", "", "PriorityWeightJobSize", NULL},
    {"max_age", DLS_OPT_TIME, 1, 1e9, "7 d", "", "of full weight (PriorityMaxAge)", NULL},
    {"half_life", DLS_OPT_TIME, 0, 1e9, "7 d", "",
     "of usage (PriorityDecayHalfLife); 0: never decays", NULL},
    {"calc_period", DLS_OPT_TIME, 1, 86400, "5 min", "", "PriorityCalcPeriod", NULL},
    {"calc_at", DLS_OPT_F64, -1e9, 1e9, "0.5", "s", "when priorities are first calculated", NULL},
    {"billing", DLS_OPT_STR, 0, 0, "gpu", "", "what usage and size count", "gpu|cpu"},
    {"cluster_cpus", DLS_OPT_F64, 0, 1e12, "0", "",
     "processors of the cluster, for the size of jobs; 0: nodes "
     "alone count",
     NULL},
    {"shares", DLS_OPT_PATH, 0, 0, "", "", "table account,user,shares", NULL},
    {"boot", DLS_OPT_F64, -1e9, 1e9, "0", "s",
     "when slurmctld started: backfill runs its interval after it", NULL},
    {"cpu_jobs", DLS_OPT_PATH, 0, 0, "", "",
     "table submit,duration,limit,nodes,cpus,user,account,partition of jobs without GPUs, which "
     "wait in the "
     "same "
     "queue and hold processors",
     NULL},
    {"partitions", DLS_OPT_PATH, 0, 0, "", "",
     "table partition,tier,first,last: nodes by number, of jobs whose virtual cluster has that "
     "name; "
     "nodes behind all that are named are in every partition",
     NULL},
    {"runs", DLS_OPT_PATH, 0, 0, "", "",
     "table time,scheduler (main, full or backfill) of when they ran, from slurmctld's log; in "
     "place of "
     "the intervals",
     NULL},
    {"clock", DLS_OPT_F64, 0, 86400, "0", "s",
     "of the day at time 0: reservations are cut to whole bf_resolution", NULL},
    {.name = NULL},
};

struct slurm {
    dls_slurm_priority priority;
    dls_slurm_plan plan;
    dls_slurm_clock clock;
    bool exclusive;
    int64_t bf_jobs, queue_depth, default_limit_us;
    dls_slurm_cpu cpu; /* whose numbers, for what follows, begin behind the jobs of the view */
    int64_t *limit_us; /* [jobs] */
    dls_slurm_partitions partitions;
    bool *failed;     /* [partitions] in this run of the main scheduler; NULL: none yet */
    int32_t *waiting; /* by priority */
    size_t waiting_cap;
};

static int64_t us_of(const dls_option_value *value)
{
    return (int64_t)llround(value->f * 1e6);
}

static int64_t limit_of(const struct slurm *s, int64_t limit_us)
{
    const int64_t given_us = limit_us > 0 ? limit_us : s->default_limit_us;
    return given_us < MAX_LIMIT_US ? given_us : MAX_LIMIT_US;
}

static dls_status init(void *state, const dls_view *view, const dls_option_value *v, dls_error *err)
{
    struct slurm *s = state;
    s->priority = (dls_slurm_priority){.multifactor = v[PRIORITY].i == 1,
                                       .by_cpu = v[BILLING].i == 1,
                                       .cluster_cpus = v[CLUSTER_CPUS].f,
                                       .weight_age = v[WEIGHT_AGE].f,
                                       .weight_fair = v[WEIGHT_FAIR].f,
                                       .weight_size = v[WEIGHT_SIZE].f,
                                       .max_age_us = us_of(&v[MAX_AGE]),
                                       .half_life_us = us_of(&v[HALF_LIFE]),
                                       .calc_us = us_of(&v[CALC_PERIOD])};
    s->priority.last_us = us_of(&v[BOOT]);
    s->priority.next_us = s->priority.multifactor ? us_of(&v[CALC_AT]) : DLS_NEVER;
    s->plan.clock_us = us_of(&v[CLOCK]);
    s->plan.unaccounted = dls_place_free_cpu(dls_view_index(view), 0) > 0 ? 0 : 1024000;
    s->plan.window_us = us_of(&v[BF_WINDOW]);
    s->plan.resolution_us = us_of(&v[BF_RESOLUTION]);
    s->exclusive = v[EXCLUSIVE].b;
    s->bf_jobs = v[BF_MAX_JOBS].i;
    s->queue_depth = v[QUEUE_DEPTH].i;
    s->default_limit_us = us_of(&v[DEFAULT_LIMIT]);
    s->clock = (dls_slurm_clock){.delay_us = us_of(&v[SCHED_DELAY]),
                                 .interval_us = us_of(&v[SCHED_INTERVAL]),
                                 .loop_us = us_of(&v[LOOP]),
                                 .loop_at_us = us_of(&v[LOOP_AT]),
                                 .bf_interval_us = us_of(&v[BF_INTERVAL]),
                                 .bf_cycle_us = us_of(&v[BF_CYCLE])};
    DLS_TRY(dls_slurm_clock_init(&s->clock, v[BACKFILL].b, us_of(&v[BOOT]), v[RUNS].s, err));
    DLS_TRY(
        dls_alloc_array(&s->limit_us, (size_t)view->n_jobs, sizeof *s->limit_us, "limits", err));
    for (int32_t j = 0; j < view->n_jobs; j++) {
        s->limit_us[j] = limit_of(s, view->limit_us ? view->limit_us[j] : DLS_ABSENT);
    }
    DLS_TRY(dls_slurm_priority_init(&s->priority, view, v[SHARES].s, err));
    DLS_TRY(dls_slurm_partitions_init(&s->partitions, view, v[PARTITIONS].s, err));
    return dls_slurm_cpu_init(&s->cpu, view, &s->priority, &s->partitions, v[CPU_JOBS].s, err);
}

static void fini(void *state)
{
    struct slurm *s = state;
    dls_free(s->limit_us);
    dls_free(s->waiting);
    dls_slurm_clock_fini(&s->clock);
    dls_slurm_cpu_fini(&s->cpu);
    dls_slurm_partitions_fini(&s->partitions);
    dls_free(s->failed);
    dls_slurm_plan_fini(&s->plan);
    dls_slurm_priority_fini(&s->priority);
}

static dls_status clone(void *state, const void *from, const dls_view *view, dls_error *err)
{
    struct slurm *s = state;
    const struct slurm *f = from;
    const size_t n = (size_t)view->n_jobs;
    s->plan = (dls_slurm_plan){0}; /* nothing of what is copied below is of `from` any more */
    s->cpu = (dls_slurm_cpu){0};
    s->partitions = (dls_slurm_partitions){0};
    s->clock = (dls_slurm_clock){0};
    s->priority = (dls_slurm_priority){0};
    s->failed = NULL;
    s->waiting = NULL;
    s->waiting_cap = 0;
    s->limit_us = NULL;
    DLS_TRY(dls_slurm_plan_clone(&s->plan, &f->plan, view, err));
    DLS_TRY(dls_slurm_cpu_clone(&s->cpu, &f->cpu, err));
    DLS_TRY(dls_slurm_partitions_clone(&s->partitions, &f->partitions, err));
    DLS_TRY(dls_slurm_clock_clone(&s->clock, &f->clock, err));
    DLS_TRY(dls_slurm_priority_clone(&s->priority, &f->priority, view, err));
    return dls_duplicate(&s->limit_us, f->limit_us, n, n, sizeof *s->limit_us, err);
}

/* ---- what a job asks for -----------------------------------------------------------------------
 */

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
                               .limit_us = limit_of(s, j->limit_us)};
    }
    const int32_t gang = view->gpus[job], most = dls_place_max_gpus(index, type);
    const int64_t named = view->nodes ? view->nodes[job] : DLS_ABSENT;
    const int32_t least = (gang + most - 1) / most;
    dls_slurm_ask ask = {.type = type, .gang = gang, .limit_us = s->limit_us[job]};
    ask.only =
        dls_slurm_partition_nodes(&s->partitions, dls_slurm_partition_of(&s->partitions, job));
    ask.nodes = named >= least && named <= gang ? (int32_t)named : least;
    ask.gpus = s->exclusive ? most : (gang + ask.nodes - 1) / ask.nodes;
    ask.cpus = dls_view_cpu_per_gpu(view, job) * gang / ask.nodes;
    if (nodes_with(index, type, ask.gpus) < ask.nodes) {
        ask.nodes = 0; /* nodes of several sizes, or fewer than it names: any that there are */
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

/* ---- the queue ---------------------------------------------------------------------------------
 */

static dls_status list_waiting(struct slurm *s, const dls_view *view, size_t *n, dls_error *err)
{
    const dls_slurm_cpu *c = &s->cpu;
    size_t k = 0;
    *n = 0;
    for (int32_t j = dls_view_first_waiting(view); j >= 0 || k < c->n_waiting; (*n)++) {
        const bool gpus =
            j >= 0 && (k == c->n_waiting || view->submit_us[j] <= c->job[c->waiting[k]].submit_us);
        DLS_TRY(dls_grow(&s->waiting, &s->waiting_cap, *n + 1, sizeof *s->waiting, err));
        s->waiting[*n] = gpus ? j : view->n_jobs + c->waiting[k++];
        j = gpus ? dls_view_next_waiting(view, j) : j;
    }
    return dls_slurm_priority_sort(&s->priority, c, &s->partitions, view->n_jobs, s->waiting, *n,
                                   err);
}

/* ---- the two schedulers ------------------------------------------------------------------------
 */

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
            if (which < 0) {
                return DLS_OK;
            }
            DLS_TRY(fail_partition(s, which, err));
        }
        s->waiting[i] = started ? -1 : job;
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

/* Of the jobs that backfill looks at, how many stand before the last that might start now, were
 * nothing reserved: what it plans for those behind it changes nothing. */
static size_t worth_planning(const struct slurm *s, const dls_view *view, size_t n)
{
    size_t last = 0;
    int64_t tested = 0;
    for (size_t i = 0; i < n && tested < s->bf_jobs; i++) {
        const int32_t job = s->waiting[i];
        tested += job >= 0;
        for (int32_t t = 0; job >= 0 && t < view->n_types; t++) {
            const dls_slurm_ask ask = ask_of(s, view, job, t);
            if (dls_slurm_plan_has_room(&s->plan, &ask) && may_have(view, job, t, true)) {
                last = i + 1;
            }
        }
    }
    return last;
}

static dls_status backfill(struct slurm *s, const dls_view *view, dls_actions *out, size_t n,
                           dls_error *err)
{
    n = worth_planning(s, view, n);
    for (size_t i = 0; i < n; i++) {
        const int32_t job = s->waiting[i];
        if (job < 0) {
            continue;
        }
        dls_slurm_ask ask;
        int64_t start_us;
        bool started = false;
        if (!earliest(s, view, job, &ask, &start_us)) {
            continue;
        }
        if (start_us == view->now_us) {
            DLS_TRY(start(s, view, out, job, &ask, &started, err));
        }
        if (!started) {
            DLS_TRY(dls_slurm_plan_reserve(&s->plan, start_us, ask.limit_us, err));
        }
    }
    return DLS_OK;
}

static dls_status run(struct slurm *s, const dls_view *view, dls_actions *out, dls_error *err)
{
    const int due = dls_slurm_clock_due(&s->clock, view->now_us);
    size_t n;
    if (due == 0) {
        return DLS_OK;
    }
    dls_slurm_priority_look(&s->priority, view, &s->cpu);
    DLS_TRY(list_waiting(s, view, &n, err));
    DLS_TRY(dls_slurm_plan_begin(&s->plan, view, err));
    if (due & DLS_SLURM_MAIN) {
        if (s->failed) {
            memset(s->failed, 0, s->partitions.n * sizeof *s->failed);
        }
        DLS_TRY(main_scheduler(s, view, out, n, due & DLS_SLURM_FULL, err));
    }
    return due & DLS_SLURM_BACKFILL ? backfill(s, view, out, n, err) : DLS_OK;
}

static dls_status pass(void *state, const dls_view *view, dls_actions *out, dls_error *err)
{
    struct slurm *s = state;
    bool events;
    DLS_TRY(dls_slurm_cpu_advance(&s->cpu, view->now_us, &events, err));
    dls_slurm_clock_advance(&s->clock, view->now_us,
                            events || view->arrived > 0 || view->ended > 0);
    dls_slurm_priority_calculate(&s->priority, view, &s->cpu);
    const bool waits = dls_view_first_waiting(view) >= 0 || s->cpu.n_waiting > 0;
    int64_t next_us = DLS_NEVER;
    if (waits) {
        DLS_TRY(run(s, view, out, err));
        next_us = dls_slurm_clock_next(&s->clock);
    }
    /* What runs as priorities are calculated counts, whether somebody waits or not. */
    if (waits || dls_view_first_running(view) >= 0 || s->cpu.n_running > 0) {
        next_us = next_us < s->priority.next_us ? next_us : s->priority.next_us;
    }
    const int64_t cpu_us = dls_slurm_cpu_next(&s->cpu);
    next_us = cpu_us < next_us ? cpu_us : next_us;
    if (next_us != DLS_NEVER) {
        dls_act_wake(out, next_us);
    }
    return DLS_OK;
}

const dls_sched_ops dls_sched_ops_slurm = {
    .abi = DLS_POLICY_ABI,
    .name = "slurm",
    .summary = "slurmctld's main scheduler and backfill, basic or multifactor priority",
    .options = options,
    .state_bytes = sizeof(struct slurm),
    .init = init,
    .fini = fini,
    .clone = clone,
    .pass = pass,
    .admit = dls_admit_gang,
};
