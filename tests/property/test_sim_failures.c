/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Nodes and GPUs that fail: exact times on small cases, and random failures under every scheduler,
 * with rates that change and jobs that share GPUs, audited after every event.
 */
#include "support/fake_world.h"
#include "support/must.h"
#include "support/sim_setup.h"

/* Node 0 fails at 25 s and is repaired at 40 s. */
static dls_failure_event one_failure[] = {{25000000, 0, DLS_NODE_FAILS, 1},
                                          {40000000, 0, DLS_NODE_REPAIRED, 1}};
static const dls_failure_trace one_trace = {one_failure, 2, 0};

static dls_record *run_one(double duration_s, int64_t period_us, int64_t cost_us,
                           int64_t restore_us)
{
    const case_job jobs[] = {{0, duration_s, 4, NULL, NULL}};
    sim_setup s;
    setup_init(&s, case_cluster(1, 4, 0), case_trace(jobs, 1), "fifo", "consolidated");
    s.p.failure_trace = &one_trace;
    s.p.checkpoint_period_us = period_us;
    s.p.checkpoint_us = cost_us;
    s.p.restore_us = restore_us;
    dls_record *rec = case_run(&s.p);
    setup_fini(&s);
    return rec;
}

TEST(test_lost_work)
{
    /* Without checkpoints all 25 s are lost: 60 s anew from 40 on, restored for 2 s first. */
    DLS_HOLD(dls_record_destroy) dls_record *rec = run_one(60, 0, 0, S(2));
    assert_int_equal(rec->end_us[0], S(102));
    assert_int_equal(rec->lost_us[0], S(25));
    assert_int_equal(rec->failures[0], 1);
    assert_int_equal(rec->preempts[0], 1);
    assert_int_equal(rec->node_failures, 1);
    assert_int_equal(rec->pending_us[0], S(15));
    assert_int_equal(rec->executed_us[0], S(85));
    dls_record_destroy(rec);

    /* Every 10 s for nothing: 20 s are saved. */
    rec = run_one(60, S(10), 0, S(2));
    assert_int_equal(rec->lost_us[0], S(5));
    assert_int_equal(rec->end_us[0], S(82));
    dls_record_destroy(rec);

    /* Every 10 s for 3 s: saved at 13, the next checkpoint is being written from 23 on: 10 s are
     * lost, and 50 s with four more checkpoints follow. */
    rec = run_one(60, S(10), S(3), S(2));
    assert_int_equal(rec->lost_us[0], S(10));
    assert_int_equal(rec->end_us[0], S(40 + 2 + 50 + 4 * 3));
    assert_int_equal(rec->overhead_us[0], S(5 + 2 + 4 * 3));
    dls_record_destroy(rec);

    /* Done before it fails; a repair that nobody waits for is not waited for. */
    rec = run_one(20, 0, 0, 0);
    assert_int_equal(rec->end_us[0], S(20));
    assert_int_equal(rec->lost_us[0], 0);
    assert_int_equal(rec->end_us_of_run, S(20));
}

TEST(test_elsewhere)
{
    /* The other node takes over at once; a finish at the instant of the failure comes first. */
    const case_job jobs[] = {
        {0, 60, 4, NULL, NULL}, {1, 24, 4, NULL, NULL}, {2, 10, 4, NULL, NULL}};
    DLS_OWN(setup_fini) sim_setup s = {0};
    setup_init(&s, case_cluster(2, 4, 0), case_trace(jobs, 3), "fjf", "first-fit");
    s.p.failure_trace = &one_trace;
    DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
    assert_int_equal(rec->end_us[1], S(25));
    assert_int_equal(rec->start_us[2],
                     S(40)); /* job 0 is first in line for the node that is left */
    assert_int_equal(rec->end_us[0], S(85));
    assert_int_equal(rec->failures[1] + rec->failures[2], 0);
}

TEST(test_gone_for_good)
{
    /* Never repaired: the run ends, the job waits. */
    const case_job jobs[] = {{0, 60, 4, NULL, NULL}};
    const dls_failure_trace trace = {one_failure, 1, 0};
    DLS_OWN(setup_fini) sim_setup s = {0};
    setup_init(&s, case_cluster(1, 4, 0), case_trace(jobs, 1), "srtf", "consolidated");
    s.p.failure_trace = &trace;
    DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
    assert_int_equal(rec->state[0], DLS_JOB_PENDING);
    assert_true(rec->complete);
}

/* Who arrives while all GPUs are down waits for the repair, whatever the policy asks at arrival. */
TEST(test_arrival_while_down)
{
    static dls_vc_spec vcs[1] = {{"a", {3}}};
    const case_job jobs[] = {
        {0, 1, 1, NULL, NULL}, {30, 60, 3, "a", NULL}, {31, 60, 1, NULL, NULL}};
    for (const dls_sched_ops *const *sched = dls_scheds(); *sched; sched++) {
        if (!(*sched)->admit) {
            continue;
        }
        DLS_OWN(setup_fini) sim_setup s = {0};
        setup_init(&s, case_cluster(1, 4, 0), case_trace(jobs, 3), (*sched)->name, "first-fit");
        s.cluster.vcs = vcs;
        s.cluster.n_vcs = 1;
        s.p.failure_trace = &one_trace;
        DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
        for (int j = 1; j < 3; j++) {
            if (rec->state[j] != DLS_JOB_FINISHED || rec->start_us[j] < S(40)) {
                fail_msg("%s: job %d is left in state %d", (*sched)->name, j, rec->state[j]);
            }
        }
    }
}

/* ---- draining -------------------------------------------------------------------------------- */

/* Two nodes of four GPUs; node 0 drains at 10 s. */
TEST(test_drain)
{
    static const struct {
        case_job job[3];
        dls_failure_event event[2];
        double start_s[3];
        uint64_t drains, failures;
    } cases[] = {
        /* A job of 30 s goes on there; the next two run one behind the other on node 1: first fit would have
         * taken node 0 for the third at 12 s. Repaired at 100 s. */
        {{{0, 30, 2, NULL, NULL}, {11, 40, 4, NULL, NULL}, {12, 5, 2, NULL, NULL}},
         {{10000000, 0, DLS_NODE_DRAINS, 1}, {100000000, 0, DLS_NODE_REPAIRED, 1}},
         {0, 11, 51},
         1,
         0},
        /* Repaired while the job still runs: the two free GPUs are there at once. */
        {{{0, 30, 2, NULL, NULL}, {11, 40, 4, NULL, NULL}, {12, 5, 2, NULL, NULL}},
         {{10000000, 0, DLS_NODE_DRAINS, 1}, {20000000, 0, DLS_NODE_REPAIRED, 1}},
         {0, 11, 20},
         1,
         0},
        /* It fails before it is empty: the job is lost and waits for node 1. */
        {{{0, 30, 2, NULL, NULL}, {11, 40, 4, NULL, NULL}, {12, 5, 2, NULL, NULL}},
         {{10000000, 0, DLS_NODE_DRAINS, 1}, {15000000, 0, DLS_NODE_FAILS, 1}},
         {0, 11, 51},
         1,
         1},
        /* Without jobs it is down at once. */
        {{{0, 5, 2, NULL, NULL}, {11, 40, 4, NULL, NULL}, {12, 5, 2, NULL, NULL}},
         {{10000000, 0, DLS_NODE_DRAINS, 1}, {60000000, 0, DLS_NODE_REPAIRED, 1}},
         {0, 11, 51},
         1,
         0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        dls_failure_event event[2];
        memcpy(event, cases[i].event, sizeof event);
        const dls_failure_trace trace = {event, 2, 0};
        DLS_OWN(setup_fini) sim_setup s = {0};
        setup_init(&s, case_cluster(2, 4, 0), case_trace(cases[i].job, 3), "fifo", "first-fit");
        s.p.failure_trace = &trace;
        DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
        for (int j = 0; j < 3; j++) {
            assert_int_equal(rec->start_us[j], S(cases[i].start_s[j]));
        }
        assert_int_equal(rec->node_drains, cases[i].drains);
        assert_int_equal(rec->node_failures, cases[i].failures);
        assert_int_equal(rec->failures[0], cases[i].failures);
    }
}

/* A job that yields its GPUs on a node that drains gives them to nobody: the one that came for them waits. */
TEST(test_drain_preempted)
{
    const case_job jobs[] = {{0, 100, 4, NULL, NULL}, {0, 90, 4, NULL, NULL}, {20, 10, 4, NULL, NULL}};
    dls_failure_event event[] = {{10000000, 0, DLS_NODE_DRAINS, 1}};
    const dls_failure_trace trace = {event, 1, 0};
    DLS_OWN(setup_fini) sim_setup s = {0};
    setup_init(&s, case_cluster(2, 4, 0), case_trace(jobs, 3), "srtf", "first-fit");
    s.p.failure_trace = &trace;
    DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
    assert_int_equal(rec->state[2], DLS_JOB_FINISHED);
    assert_true(rec->start_us[2] >= S(20));
    assert_int_equal(rec->node_drains, 1);
}

/* Policies that name nodes may count on GPUs that running jobs give back, of a node that drains, too. */
TEST(test_drain_named)
{
    for (uint64_t seed = 0; seed < FEWER(60); seed++) {
        const dls_failure_params fail = {.node_mtbf_s = 100, .gpu_mtbf_s = (double)INFINITY, .shape = 1, .drains = 1, .repair_s = 20};
        DLS_OWN(setup_fini) sim_setup s = {0};
        setup_init(&s, case_cluster(4, 4, 0), random_trace(seed, 40, 5, 8, NULL, NULL), "hadar", "first-fit");
        setup_option(&s, "interval")->f = 7;
        s.p.failures = &fail;
        s.p.seed = seed;
        s.p.until_us = S(5e6);
        DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
        assert_true(rec->node_drains > 0);
    }
}

/* ---- spares ---------------------------------------------------------------------------------- */

/* Node 0 is a V100 of four GPUs, nodes 1 to 3 are P100s, of which the last stands by. */
TEST(test_spares)
{
    static const struct {
        case_job job;
        dls_failure_event event[4];
        double start_s;
    } cases[] = {
        /* A repaired node stands by for none of another type. */
        {{25, 10, 4, NULL, "V100"},
         {{10000000, 1, DLS_NODE_FAILS, 1},
          {20000000, 0, DLS_NODE_FAILS, 1},
          {30000000, 0, DLS_NODE_REPAIRED, 1},
          {50000000, 1, DLS_NODE_REPAIRED, 1}},
         30},
        /* It works where another is still missing. */
        {{15, 10, 8, NULL, "P100"},
         {{10000000, 1, DLS_NODE_FAILS, 1},
          {12000000, 2, DLS_NODE_FAILS, 1},
          {20000000, 1, DLS_NODE_REPAIRED, 1},
          {40000000, 2, DLS_NODE_REPAIRED, 1}},
         20},
        /* So does a spare that was not sound when it was needed. */
        {{12, 10, 8, NULL, "P100"},
         {{5000000, 3, DLS_NODE_FAILS, 1},
          {10000000, 1, DLS_NODE_FAILS, 1},
          {15000000, 3, DLS_NODE_REPAIRED, 1},
          {30000000, 1, DLS_NODE_REPAIRED, 1}},
         15},
    };
    const dls_failure_params one = {.spares = 1};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        /* The first needs the spare, too, and so can never run: it keeps nobody waiting. */
        const case_job jobs[] = {{0, 60, 12, NULL, "P100"}, cases[i].job};
        dls_failure_event event[4];
        memcpy(event, cases[i].event, sizeof event);
        const dls_failure_trace trace = {event, 4, 0};
        DLS_OWN(setup_fini) sim_setup s = {0};
        setup_init(&s, two_types(1, 3, 4, 0), case_trace(jobs, 2), "fifo", "first-fit");
        s.p.failure_trace = &trace;
        s.p.failures = &one;
        DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
        assert_int_equal(rec->state[0], DLS_JOB_INFEASIBLE);
        assert_int_equal(rec->start_us[1], S(cases[i].start_s));
    }
}

/* Nodes 0 and 1 work, node 2 stands by; node 0 drains at 10 s. Virtual cluster a may have 7 GPUs, which
 * leaves one for jobs of none. */
TEST(test_spare_of_drain)
{
    static dls_vc_spec vcs[1] = {{"a", {7}}};
    static const struct {
        case_job job[6];
        int64_t repaired_us;
        double start_s[6];
    } cases[] = {
        /* What a job of a has on node 0 is of its quota: jobs of none gain nothing by the spare. */
        {{{0, 30, 4, "a", NULL}, {11, 99, 1, NULL, NULL}, {11, 99, 1, NULL, NULL},
          {12, 9, 4, "a", NULL}, {13, 9, 3, "a", NULL}, {14, 9, 3, "a", NULL}},
         60000000,
         {0, 11, 110, 30, 30, 39}},
        /* What a job of none has there is not of the share that they have elsewhere. */
        {{{0, 99, 1, NULL, NULL}, {11, 99, 1, NULL, NULL}, {12, 9, 1, NULL, NULL},
          {13, 9, 7, "a", NULL}, {14, 9, 1, "a", NULL}, {15, 9, 1, NULL, NULL}},
         200000000,
         {0, 11, 110, 13, 22, 119}},
        /* Nobody loses work when node 0 does not drain after all: it stands by when its job has left. */
        {{{0, 99, 1, NULL, NULL}, {11, 99, 1, NULL, NULL}, {12, 9, 1, NULL, NULL},
          {13, 60, 7, "a", NULL}, {30, 9, 1, "a", NULL}, {31, 9, 1, NULL, NULL}},
         20000000,
         {0, 11, 110, 13, 73, 119}},
    };
    const dls_failure_params one = {.spares = 1};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        dls_failure_event event[] = {{10000000, 0, DLS_NODE_DRAINS, 1},
                                     {cases[i].repaired_us, 0, DLS_NODE_REPAIRED, 1}};
        const dls_failure_trace trace = {event, 2, 0};
        DLS_OWN(setup_fini) sim_setup s = {0};
        setup_init(&s, case_cluster(3, 4, 0), case_trace(cases[i].job, 6), "fifo", "first-fit");
        s.p.failure_trace = &trace;
        s.p.failures = &one;
        s.cluster.vcs = vcs;
        s.cluster.n_vcs = 1;
        DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
        for (int j = 0; j < 6; j++) {
            assert_int_equal(rec->start_us[j], S(cases[i].start_s[j]));
            assert_int_equal(rec->preempts[j], 0);
        }
    }
}

/* ---- jobs that fail by themselves ------------------------------------------------------------ */

static double share_always(void *state, const dls_place_index *index, const dls_request *r,
                           int32_t host, const dls_shape *shape)
{
    return 1;
}

/* As often as was asked for, whether a job shares the GPUs of another or has its own. */
TEST(test_jobs_alone)
{
    const case_job jobs[] = {{0, 20000, 4, NULL, NULL}, {0, 20000, 4, NULL, NULL}};
    const dls_failure_params alone = {.job_mtbf_s = 100};
    DLS_OWN(setup_fini) sim_setup s = {0};
    setup_init(&s, case_cluster(1, 4, 0), case_trace(jobs, 2), "fifo", "first-fit");
    dls_placement_ops ops = *s.p.placement;
    ops.share = share_always;
    s.p.placement = &ops;
    s.p.failures = &alone;
    s.p.checkpoint_period_us = S(1);
    DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
    const double ran_s = (double)(rec->executed_us[0] + rec->executed_us[1]) / 1e6;
    assert_true(rec->guest_us[0] + rec->guest_us[1] > S(15000));
    assert_true(fabs((double)rec->job_failures * 100 / ran_s - 1) < 0.15);
}

/* ---- virtual clusters ------------------------------------------------------------------------ */

/* Node 1 of two fails at 10 s and stays down; one quota of 8 of the 16 GPUs, one of 4, 4 for the
 * rest. */
static dls_record *run_quotas(const case_job *jobs, size_t n)
{
    static dls_vc_spec vcs[2] = {{"a", {8}}, {"b", {4}}};
    static dls_failure_event gone[] = {{10000000, 1, DLS_NODE_FAILS, 1}};
    const dls_failure_trace trace = {gone, 1, 0};
    sim_setup s;
    setup_init(&s, case_cluster(2, 8, 0), case_trace(jobs, n), "srtf", "first-fit");
    s.cluster.vcs = vcs;
    s.cluster.n_vcs = 2;
    s.p.failure_trace = &trace;
    dls_record *rec = case_run(&s.p);
    setup_fini(&s);
    return rec;
}

/* Of 8 failed GPUs 4 are missing in what the quotas leave and 4 in the first quota, whoever has
 * jobs. */
TEST(test_quotas)
{
    const case_job alone[] = {{0, 60, 4, "b", NULL}};
    DLS_HOLD(dls_record_destroy) dls_record *rec = run_quotas(alone, 1);
    assert_int_equal(rec->end_us[0], S(60));
    assert_int_equal(rec->preempts[0], 0);
    dls_record_destroy(rec);

    const case_job all[] = {{0, 60, 4, "a", NULL},
                            {1, 60, 4, "b", NULL},
                            {100, 5, 4, "a", NULL},
                            {100, 9, 4, "a", NULL}};
    rec = run_quotas(all, 4);
    assert_int_equal(rec->end_us[0], S(60));
    assert_int_equal(rec->end_us[1], S(61));
    assert_int_equal(rec->end_us[2], S(105));
    assert_int_equal(rec->start_us[3], S(105)); /* the quota is 4 now */
    dls_record_destroy(rec);

    const case_job rest[] = {{0, 60, 4, NULL, NULL}, {0, 60, 4, "b", NULL}};
    rec = run_quotas(rest, 2);
    assert_int_equal(rec->state[0], DLS_JOB_PENDING); /* nothing is left to it */
    assert_int_equal(rec->end_us[1], S(60));
}

/* ---- what a failed job is expected to take --------------------------------------------------- */

/* Job 1 waits for both nodes until 190. Job 2 goes ahead of it, loses node 0 at 95 after 90 s of
 * 100 that are saved, and needs 10 s more when the node is back at 100, after it is restored: it goes ahead once
 * more if both are done by 190. */
static void check_backfill_after_failure(double restore_s, double end_s)
{
    const case_job jobs[] = {
        {0, 190, 4, NULL, NULL}, {1, 50, 8, NULL, NULL}, {2, 100, 2, NULL, NULL}};
    static dls_failure_event event[] = {{95000000, 1, DLS_NODE_FAILS, 1},
                                        {100000000, 1, DLS_NODE_REPAIRED, 1}};
    const dls_failure_trace trace = {event, 2, 0};
    DLS_OWN(setup_fini) sim_setup s = {0};
    setup_init(&s, case_cluster(2, 4, 0), case_trace(jobs, 3), "easy", "first-fit");
    s.p.failure_trace = &trace;
    s.p.checkpoint_period_us = S(10);
    s.p.restore_us = S(restore_s);
    DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
    assert_int_equal(rec->failures[2], 1);
    assert_int_equal(rec->lost_us[2], S(3));
    assert_int_equal(rec->end_us[2], S(end_s));
    assert_int_equal(rec->start_us[1], S(190));
}

TEST(test_backfill_after_failure)
{
    check_backfill_after_failure(0, 110);
    check_backfill_after_failure(80, 190);
    check_backfill_after_failure(81, 240 + 81 + 10);
}

/* ---- random ---------------------------------------------------------------------------------- */

static const dls_alloc_rows *rows;

static int by_node(const void *a, const void *b)
{
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return rows->node[x] != rows->node[y]         ? (rows->node[x] < rows->node[y] ? -1 : 1)
           : rows->start_us[x] != rows->start_us[y] ? (rows->start_us[x] < rows->start_us[y] ? -1 : 1)
                                                    : 0;
}

/* Time that nodes have jobs, by the allocations and by the series. */
static void check_busy_nodes(const dls_record *rec)
{
    const dls_series_rows *s = &rec->series;
    rows = &rec->allocs;
    size_t *order = calloc(rows->n + 1, sizeof *order);
    int64_t want = 0, has = 0, until = 0;
    for (size_t i = 0; i < rows->n; i++) {
        order[i] = i;
    }
    qsort(order, rows->n, sizeof *order, by_node);
    for (size_t i = 0; i < rows->n; i++) {
        const size_t r = order[i];
        if (i == 0 || rows->node[r] != rows->node[order[i - 1]]) {
            until = 0;
        }
        const int64_t from = rows->start_us[r] > until ? rows->start_us[r] : until;
        want += rows->end_us[r] > from ? rows->end_us[r] - from : 0;
        until = rows->end_us[r] > until ? rows->end_us[r] : until;
    }
    for (size_t i = 0; i < s->n; i++) {
        assert_in_range(s->full_nodes[i], 0, s->busy_nodes[i]);
        has += s->busy_nodes[i] * ((i + 1 < s->n ? s->t_us[i + 1] : rec->end_us_of_run) - s->t_us[i]);
    }
    free(order);
    assert_int_equal(has, want);
}

/* Now and then nodes drain or work again, in no order. */
static dls_failure_trace random_drains(uint64_t seed, dls_failure_event *event, size_t n)
{
    dls_rng rng = dls_rng_stream(seed, 1, 99);
    for (size_t i = 0; i < n; i++) {
        event[i] = (dls_failure_event){S(4) * (int64_t)i, (int32_t)(dls_rng_u64(&rng) % 5),
                                       dls_rng_u64(&rng) % 2 && i + 10 < n ? DLS_NODE_DRAINS : DLS_NODE_REPAIRED, 1};
    }
    for (size_t i = n - 5; i < n; i++) { /* at last all work */
        event[i].node = (int32_t)(n - 1 - i);
    }
    return (dls_failure_trace){event, n, 0};
}

TEST(test_random)
{
    static const char *const names[4] = {"a", "b", "c", NULL};
    static const char *const types[4] = {"V100", "P100", "V100|P100", NULL};
    static dls_vc_spec vcs[2] = {{"a", {4, 2}}, {"b", {2, 2}}};
    uint64_t nodes = 0, gpus = 0, failures = 0;
    int64_t lost_us = 0;
    size_t n = 0;
    while (dls_scheds()[n]) {
        n++;
    }
    for (uint64_t seed = 0; seed < FEWER(1200); seed++) {
        const dls_sched_ops *sched = dls_scheds()[seed % n];
        if (sched->share || seed % 15 == 0) {
            continue;
        }
        const dls_failure_params fail = {.node_mtbf_s = seed % 5 ? 150 : (double)INFINITY,
                                         .gpu_mtbf_s = seed % 3 ? 500 : (double)INFINITY,
                                         .shape = seed % 4 ? 1 : 0.7,
                                         .drains = seed % 7 ? 0.5 : 0,
                                         .spares = (seed + seed / n) % 3 == 0,
                                         .repair_s = 20};
        dls_failure_event event[40];
        const dls_failure_trace drains = random_drains(seed, event, 40);
        DLS_OWN(setup_fini) sim_setup s = {0};
        fake_world world;
        setup_init(&s, two_types(2, 3, 4, 1), random_trace(seed, 40, 5, 4, names, types),
                   sched->name, "first-fit");
        dls_placement_ops ops = *s.p.placement;
        ops.share = seed % 2 && !sched->joins ? share_by_chance : NULL;
        const dls_pace pace = fake_pace(&world, s.trace);
        world.by_gpu = seed % 2;
        s.p.placement = &ops;
        s.p.pace = seed / n % 4 ? &pace : NULL;
        s.p.failures = &fail;
        s.p.failure_trace = (seed + seed / n) % 4 == 0 ? &drains : NULL;
        s.p.seed = seed;
        s.p.restore_us = seed / n % 2 ? S(3) : 0;
        s.p.checkpoint_period_us = seed / n % 3 ? S(5) + 7 : 0;
        s.p.checkpoint_us = seed / n % 3 == 2 ? S(1) + 3 : 0;
        s.cluster.vcs = seed / n % 2 ? vcs : NULL;
        s.cluster.n_vcs = seed / n % 2 ? 2 : 0;
        s.p.until_us = S(5e6);
        DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
        for (size_t j = 0; j < rec->n_jobs; j++) {
            if (rec->state[j] != DLS_JOB_FINISHED && rec->state[j] != DLS_JOB_INFEASIBLE) {
                fail_msg("seed %llu, %s: job %zu is left in state %d", (unsigned long long)seed,
                         sched->name, j, rec->state[j]);
            }
            assert_true(rec->failures[j] <= rec->preempts[j]);
            assert_true((rec->lost_us[j] == 0) || rec->failures[j] > 0);
            failures += (uint64_t)rec->failures[j];
            lost_us += rec->lost_us[j];
        }
        check_busy_nodes(rec);
        assert_int_equal(world.starts, world.stops);
        nodes += rec->node_failures;
        gpus += rec->gpu_failures;
    }
    print_message("%llu nodes, %llu GPUs failed; %llu times a job, %.0f s of work lost\n",
                  (unsigned long long)nodes, (unsigned long long)gpus, (unsigned long long)failures,
                  (double)lost_us / 1e6);
    assert_true(nodes > 500 && gpus > 500 && failures > 500 && lost_us > S(1000));
}

/* What fails when does not depend on the policy: the same draws. The mean is what was asked for. */
TEST(test_draws)
{
    const double shapes[] = {0.6, 1, 2.5};
    for (int k = 0; k < 3; k++) {
        const dls_failure_params p = {.node_mtbf_s = 100, .shape = shapes[k], .repair_s = 7};
        double works = 0, repair = 0;
        for (uint32_t i = 0; i < 40000; i++) {
            works += (double)dls_failure_draw_us(&p, 5, i % 100, 100, 2 * (i / 100)) / 1e6;
            repair += (double)dls_failure_draw_us(&p, 5, i % 100, 100, 2 * (i / 100) + 1) / 1e6;
        }
        assert_true(fabs(works / 40000 - 100) < 3);
        assert_true(fabs(repair / 40000 - 7) < 0.2);
    }
    const dls_failure_params never = {.shape = 1, .repair_s = (double)INFINITY};
    assert_true(dls_failure_draw_us(&never, 1, 1, (double)INFINITY, 0) == INT64_MAX);
    assert_true(dls_failure_draw_us(&never, 1, 1, 1, 1) == INT64_MAX);
}

TEST(test_shares_refused)
{
    const case_job jobs[] = {{0, 60, 4, NULL, NULL}};
    dls_record *rec = NULL;
    DLS_OWN(setup_fini) sim_setup s = {0};
    setup_init(&s, case_cluster(1, 4, 0), case_trace(jobs, 1), "multi-dlas-gpu", "consolidated");
    s.p.failure_trace = &one_trace;
    MUST_FAIL(DLS_ECONFIG, "failures", dls_sim_run(&s.p, &rec, &e));
}
