/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * slurm: what slurmctld does with waiting jobs. Its main scheduler looks at them in order of
 * priority when jobs came or ended, not more often than every few seconds, and stops at the first
 * that does not fit; its backfill plans all of them in a table of reservations by time limits, and
 * starts what can start without delaying any. Nodes are chosen lowest first (select/cons_tres with
 * equal weights), GPUs are asked for by node.
 *
 * Sources: Slurm's guide to scheduling configuration and slurm.conf(5), version 22.05. Left out:
 * licences, limits of QoS and associations.
 */
#include "dlsim/memory.h"
#include "sched/gangs.h"
#include "sched/slurm_state.h"

#include <math.h>
#include <stdlib.h>

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
    WEIGHT_PARTITION,
    WEIGHT_QOS,
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
    QOS,
    JOBS,
    OUTAGES,
    PREEMPT,
    REQUEUE_DELAY,
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
    {"weight_partition", DLS_OPT_F64, 0, 1e9, "0", "", "PriorityWeightPartition", NULL},
    {"weight_qos", DLS_OPT_F64, 0, 1e9, "0", "", "PriorityWeightQOS", NULL},
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
     "table submit,duration,limit,nodes,cpus,mem_mib,user,account,partition of jobs without GPUs, "
     "which wait in the same queue and hold processors and memory",
     NULL},
    {"partitions", DLS_OPT_PATH, 0, 0, "", "",
     "table partition,tier,factor,limit,most,first,last: of jobs whose virtual cluster has that name; "
     "factor: of their priority, 0 to 1; limit: seconds, of jobs that have none; most: jobs of a "
     "longer limit are turned away; nodes by number, "
     "those behind all that are named are in every partition",
     NULL},
    {"qos", DLS_OPT_PATH, 0, 0, "", "",
     "table qos,priority,preempts[,mode,exempt,grace]: whose running jobs give way, joined by '+'; mode: what "
     "becomes of its own that do, requeue, cancel, or none: they do not give way; exempt: seconds that they "
     "run before they do; grace: that they run on",
     NULL},
    {"jobs", DLS_OPT_PATH, 0, 0, "", "",
     "table job,cpus,qos,reservation,after[,requeue]: by their ids; processors that they asked for, jobs that "
     "have to end before, joined by '+', arrays by their number; requeue: no, cancelled where others that give way are requeued",
     NULL},
    {"outages", DLS_OPT_PATH, 0, 0, "", "",
     "table reservation,known,start,end,first,last: nodes by number that are reserved for its jobs, or "
     "without a name out of service",
     NULL},
    {"preempt", DLS_OPT_BOOL, 0, 0, "false", "",
     "jobs take GPUs from those of QoS that theirs preempts, which are requeued or cancelled", NULL},
    {"requeue_delay", DLS_OPT_TIME, 0, 86400, "121 s", "",
     "from there on they are not looked at (cred_expire and a second)", NULL},
    {"runs", DLS_OPT_PATH, 0, 0, "", "",
     "table time,scheduler (main, full or backfill) of when they ran, from slurmctld's log; in "
     "place of "
     "the intervals",
     NULL},
    {"clock", DLS_OPT_F64, 0, 86400, "0", "s",
     "of the day at time 0: reservations are cut to whole bf_resolution", NULL},
    {.name = NULL},
};

static int64_t us_of(const dls_option_value *value)
{
    return (int64_t)llround(value->f * 1e6);
}

/* What a node counts for where nothing is known of it: more than anybody asks for. */
static dls_slurm_room unaccounted(const dls_place_index *index)
{
    return (dls_slurm_room){.cpus = dls_place_free_cpu(index, 0) > 0 ? 0 : 1024000,
                            .mem = dls_place_free_mem(index, 0) > 0 ? 0 : INT64_C(1) << 50};
}

/* Everything that is read from tables. */
static dls_status read_tables(struct slurm *s, const dls_view *view, const dls_option_value *v,
                              dls_error *err)
{
    DLS_TRY(dls_slurm_priority_init(&s->priority, view, v[SHARES].s, err));
    DLS_TRY(dls_slurm_partitions_init(&s->partitions, view, v[PARTITIONS].s, err));
    DLS_TRY(dls_slurm_outages_init(&s->outages, view, v[OUTAGES].s, err));
    DLS_TRY(dls_slurm_jobs_init(&s->jobs, view, v[QOS].s, v[JOBS].s, dls_slurm_reservation_find,
                                &s->outages, err));
    DLS_TRY(dls_slurm_cpu_init(&s->cpu, view, &s->priority, &s->partitions, v[CPU_JOBS].s, err));
    s->plan.cpu_jobs = s->cpu.n > 0;
    const int64_t first_us = dls_slurm_cpu_next(&s->cpu);
    return dls_slurm_clock_init(&s->clock, v[BACKFILL].b, us_of(&v[BOOT]),
                                first_us < 0 ? first_us : 0, v[RUNS].s, err);
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
    s->priority.weight_partition = v[WEIGHT_PARTITION].f;
    s->priority.weight_qos = v[WEIGHT_QOS].f;
    s->priority.last_us = us_of(&v[BOOT]);
    s->priority.next_us = s->priority.multifactor ? us_of(&v[CALC_AT]) : DLS_NEVER;
    s->plan.clock_us = us_of(&v[CLOCK]);
    s->plan.unaccounted = unaccounted(dls_view_index(view));
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
    s->seen_us = INT64_MIN;
    s->preempt = v[PREEMPT].b;
    s->requeue_us = us_of(&v[REQUEUE_DELAY]);
    s->boot_us = us_of(&v[BOOT]);
    s->check_us = DLS_NEVER;
    DLS_TRY(dls_slurm_plan_init(&s->plan, view, err));
    DLS_TRY(read_tables(s, view, v, err));
    DLS_TRY(
        dls_alloc_array(&s->limit_us, (size_t)view->n_jobs, sizeof *s->limit_us, "limits", err));
    for (int32_t j = 0; j < view->n_jobs; j++) {
        const int64_t given_us = view->limit_us ? view->limit_us[j] : DLS_ABSENT;
        const int32_t which = dls_slurm_partition_of(&s->partitions, j);
        s->limit_us[j] = dls_slurm_limit(s, given_us > 0 || which < 0 ? given_us
                                                               : s->partitions.at[which].limit_us);
    }
    return DLS_OK;
}

static void fini(void *state)
{
    struct slurm *s = state;
    DLS_FREE_ALL(s->limit_us, s->waiting, s->victim);
    dls_slurm_clock_fini(&s->clock);
    dls_slurm_cpu_fini(&s->cpu);
    dls_slurm_partitions_fini(&s->partitions);
    dls_slurm_outages_fini(&s->outages);
    dls_slurm_jobs_fini(&s->jobs);
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
    s->outages = (dls_slurm_outages){0};
    s->jobs = (dls_slurm_jobs){0};
    s->clock = (dls_slurm_clock){0};
    s->priority = (dls_slurm_priority){0};
    s->failed = NULL;
    s->waiting = s->victim = NULL;
    s->waiting_cap = s->victim_cap = 0;
    s->limit_us = NULL;
    DLS_TRY(dls_slurm_plan_clone(&s->plan, &f->plan, view, err));
    DLS_TRY(dls_slurm_cpu_clone(&s->cpu, &f->cpu, err));
    DLS_TRY(dls_slurm_partitions_clone(&s->partitions, &f->partitions, err));
    DLS_TRY(dls_slurm_outages_clone(&s->outages, &f->outages, err));
    DLS_TRY(dls_slurm_jobs_clone(&s->jobs, &f->jobs, err));
    DLS_TRY(dls_slurm_clock_clone(&s->clock, &f->clock, err));
    DLS_TRY(dls_slurm_priority_clone(&s->priority, &f->priority, view, err));
    return dls_duplicate(&s->limit_us, f->limit_us, n, n, sizeof *s->limit_us, err);
}

/* ---- passes ------------------------------------------------------------------------------------ */

/* Everything due now; *next_us: when something is due again. */
static dls_status step(struct slurm *s, const dls_view *view, dls_actions *out, int64_t *next_us,
                       dls_error *err)
{
    bool events;
    DLS_TRY(dls_slurm_cpu_advance(&s->cpu, view->now_us, &events, err));
    const bool changed = dls_slurm_outages_next(&s->outages, view->now_us - 1) == view->now_us;
    dls_slurm_clock_advance(&s->clock, view->now_us,
                            events || changed || view->arrived > 0 || view->ended > 0);
    dls_slurm_priority_calculate(&s->priority, view, &s->cpu, &s->jobs, &s->partitions);
    dls_slurm_end_graces(s, view, out);
    const bool waits = dls_slurm_first_waiting(view) >= 0 || s->cpu.n_waiting > 0;
    *next_us = DLS_NEVER;
    if (waits) {
        DLS_TRY(dls_slurm_run_due(s, view, out, err));
        *next_us = dls_slurm_clock_next(&s->clock);
    }
    /* What runs as priorities are calculated counts, whether somebody waits or not. */
    if (waits || dls_view_first_running(view) >= 0 || s->cpu.n_running > 0) {
        *next_us = *next_us < s->priority.next_us ? *next_us : s->priority.next_us;
    }
    *next_us = s->check_us < *next_us ? s->check_us : *next_us;
    const int64_t cpu_us = dls_slurm_cpu_next(&s->cpu);
    *next_us = cpu_us < *next_us ? cpu_us : *next_us;
    const int64_t outage_us = waits ? dls_slurm_outages_next(&s->outages, view->now_us) : DLS_NEVER;
    *next_us = outage_us < *next_us ? outage_us : *next_us;
    return DLS_OK;
}

/* What jobs without GPUs did before the first job of the view came. */
static dls_status catch_up(struct slurm *s, const dls_view *view, dls_actions *out, dls_error *err)
{
    dls_view then = *view;
    then.arrived = then.ended = 0;
    for (int64_t at_us = dls_slurm_cpu_next(&s->cpu); at_us < view->now_us;) {
        then.now_us = at_us;
        DLS_TRY(step(s, &then, out, &at_us, err));
    }
    s->begun = true;
    return DLS_OK;
}

static dls_status pass(void *state, const dls_view *view, dls_actions *out, dls_error *err)
{
    struct slurm *s = state;
    int64_t next_us;
    if (!s->begun) {
        DLS_TRY(catch_up(s, view, out, err));
    }
    DLS_TRY(step(s, view, out, &next_us, err));
    if (next_us != DLS_NEVER) {
        dls_act_wake(out, next_us);
    }
    return DLS_OK;
}

/* A job that asks for what no nodes have, or for more time than its partition allows, is refused, or
 * waits for ever. */
static bool admit(void *state, const dls_view *view, int32_t job)
{
    const struct slurm *s = state;
    const int32_t which = dls_slurm_partition_of(&s->partitions, job);
    const int64_t most_us = which < 0 ? -1 : s->partitions.at[which].most_us;
    return dls_slurm_can_run(s, view, job) &&
           (most_us < 0 || !view->limit_us || view->limit_us[job] <= most_us);
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
    .rigid = true,
    .admit = admit,
};
