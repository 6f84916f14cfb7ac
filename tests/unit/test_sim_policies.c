/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What single schedulers promise, on cases small enough to follow by hand (times in seconds).
 */
#include "support/fake_world.h"
#include "support/sim_setup.h"
#include "support/test.h"
#include "support/trace_of.h"

#include <unistd.h>

#define CHECK_S(us, seconds) assert_int_equal((us), S(seconds))

/* ---- orders ---------------------------------------------------------------------------------- */

static int32_t news[8][2][2]; /* of a job when it is submitted and started: arrived, ended */

static void note_news(void *state, const dls_view *view, int32_t job, dls_job_event why, dls_priority *out)
{
    out->key = view->submit_us[job];
    if (why == DLS_EVENT_SUBMITTED || why == DLS_EVENT_STARTED) {
        news[job][why][0] = view->arrived;
        news[job][why][1] = view->ended;
    }
}

/* Who came and who ended is counted since the last pass. */
TEST(test_news_of_orders)
{
    static const case_job jobs[] = {{.duration_s = 10, .gpus = 1},
                                    {.submit_s = 5, .duration_s = 10, .gpus = 1},
                                    {.submit_s = 5, .duration_s = 10, .gpus = 1},
                                    {.submit_s = 7, .duration_s = 10, .gpus = 1}};
    static const int32_t want[4][2][2] = {{{1, 0}, {1, 0}}, {{1, 0}, {0, 1}}, {{2, 0}, {0, 1}}, {{1, 0}, {0, 1}}};
    for (int discipline = DLS_STRICT; discipline <= DLS_PREEMPT; discipline++) {
        if (discipline == DLS_EASY) {
            continue; /* asks nothing about those that run */
        }
        const dls_sched_ops ops = {.abi = DLS_POLICY_ABI, .name = "news", .summary = "", .priority = note_news};
        DLS_OWN(setup_fini) sim_setup s = {0};
        setup_init(&s, case_cluster(1, 1, 0), case_trace(jobs, 4), "fifo", "consolidated");
        s.p.sched = &ops;
        s.p.discipline = discipline;
        dls_record_destroy(case_run(&s.p));
        assert_memory_equal(news, want, sizeof want);
    }
}

/* ---- dlas-gpu -------------------------------------------------------------------------------- */

/* A job of 4 GPUs has its 10 GPU-seconds after 2.5 s, and loses its GPUs then. */
TEST(test_demotion_on_time)
{
    static const case_job jobs[] = {{.duration_s = 100, .gpus = 4},
                                    {.submit_s = 1, .duration_s = 1, .gpus = 4}};
    DLS_OWN(setup_fini) sim_setup s = {0};
    setup_init(&s, case_cluster(1, 4, 0), case_trace(jobs, 2), "dlas-gpu", "consolidated");
    setup_limits(&s, 1, (double[]){10});
    DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
    CHECK_S(rec->start_us[1], 2.5);
    CHECK_S(rec->end_us[1], 3.5);
    CHECK_S(rec->end_us[0], 101);
    assert_int_equal(rec->preempts[0], 1);
    dls_record_destroy(rec);
    /* Three GPUs, a threshold that no microsecond hits: demoted at the first one beyond it. */
    setup_limits(&s, 1, (double[]){10.000001});
    rec = case_run(&s.p);
    assert_int_equal(rec->start_us[1], 2500001);
}

/* Demoted at 10 after 10 s of service, job 0 waits behind newcomers until 10 + 2 x 10; then it
 * stands in the first queue, behind job 3 and before job 4. */
TEST(test_starvation)
{
    static const case_job jobs[] = {{.duration_s = 100, .gpus = 1},
                                    {.submit_s = 10, .duration_s = 10, .gpus = 1},
                                    {.submit_s = 15, .duration_s = 10, .gpus = 1},
                                    {.submit_s = 25, .duration_s = 10, .gpus = 1},
                                    {.submit_s = 35, .duration_s = 10, .gpus = 1}};
    DLS_OWN(setup_fini) sim_setup s = {0};
    setup_init(&s, case_cluster(1, 1, 0), case_trace(jobs, 5), "dlas-gpu", "consolidated");
    setup_limits(&s, 1, (double[]){10});
    setup_option(&s, "promote_knob")->f = 2;
    DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
    CHECK_S(rec->start_us[3], 30);
    CHECK_S(rec->start_us[4], 50);
    CHECK_S(rec->end_us[0], 140);
    assert_int_equal(rec->promotes[0], 1);
    assert_int_equal(rec->preempts[0], 2);
    dls_record_destroy(rec);
    setup_option(&s, "promote_knob")->f = 0;
    rec = case_run(&s.p);
    CHECK_S(rec->start_us[4], 40);
    CHECK_S(rec->end_us[0], 140);
    assert_int_equal(rec->promotes[0], 0);
    assert_int_equal(rec->preempts[0], 1);
}

/* ---- disciplines and estimates --------------------------------------------------------------- */

TEST(test_discipline)
{
    static const case_job jobs[] = {{.duration_s = 100, .gpus = 3},
                                    {.submit_s = 1, .duration_s = 10, .gpus = 2},
                                    {.submit_s = 2, .duration_s = 50, .gpus = 1}};
    DLS_OWN(setup_fini) sim_setup s = {0};
    setup_init(&s, case_cluster(1, 4, 0), case_trace(jobs, 3), "sjf-duration", "consolidated");
    DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
    CHECK_S(rec->start_us[2], 2);
    CHECK_S(rec->start_us[1], 100);
    dls_record_destroy(rec);
    s.p.discipline = DLS_STRICT;
    rec = case_run(&s.p);
    CHECK_S(rec->start_us[1], 100);
    CHECK_S(rec->start_us[2], 100);
    dls_record_destroy(rec);
    s.p.discipline = DLS_PREEMPT;
    rec = case_run(&s.p);
    CHECK_S(rec->start_us[1], 1);
    CHECK_S(rec->start_us[2], 2);
    CHECK_S(rec->end_us[0], 110); /* 1 s, then from 11 on */
}

/* Job 1 must wait for job 0. Job 2 may go first if it is thought to end before job 0 does. */
static dls_trace *easy_trace(int64_t estimate_s, int64_t limit_s)
{
    static const case_job jobs[] = {{.duration_s = 100, .gpus = 3},
                                    {.submit_s = 1, .duration_s = 10, .gpus = 4},
                                    {.submit_s = 2, .duration_s = 50, .gpus = 1}};
    dls_trace *trace;
    EACH_JOB(job, 3, &trace) {
        job.rec.submit_us = S(jobs[job.i].submit_s);
        job.rec.duration_us = S(jobs[job.i].duration_s);
        job.rec.gpus_milli = jobs[job.i].gpus * 1000;
        if (job.i == 2 && estimate_s > 0) {
            job.rec.estimate_us = estimate_s * DLS_US_PER_S;
        }
        if (job.i == 0 && limit_s > 0) {
            job.rec.limit_us = 100 * DLS_US_PER_S;
        } else if (job.i == 2 && limit_s > 0) {
            job.rec.limit_us = limit_s * DLS_US_PER_S;
        }
    }
    return trace;
}

static void check_easy(int64_t estimate_s, int64_t limit_s, bool exact, double start_s)
{
    DLS_OWN(setup_fini) sim_setup s = {0};
    setup_init(&s, case_cluster(1, 4, 0), easy_trace(estimate_s, limit_s), "easy", "consolidated");
    s.p.estimates_exact = exact;
    DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
    CHECK_S(rec->start_us[1], 100);
    CHECK_S(rec->start_us[2], start_s);
}

TEST(test_estimates)
{
    check_easy(0, 0, true, 2);      /* known exactly */
    check_easy(98, 0, true, 2);     /* the trace says it would just do */
    check_easy(99, 0, true, 110);   /* or just not */
    check_easy(99, 10, false, 110); /* and goes before the user's limit */
    check_easy(0, 99, true, 2);     /* limits count only when run times are unknown */
    check_easy(0, 99, false, 110);
    check_easy(0, 98, false, 2);
    check_easy(0, 0, false, 110); /* all jobs are thought to take 53.3 s; job 0 is 2 s ahead */
}

/* When job 0 ends there is one GPU more than job 1 needs: one of two long jobs may have it now. */
TEST(test_spare)
{
    static const case_job jobs[] = {{.duration_s = 100, .gpus = 5},
                                    {.submit_s = 1, .duration_s = 10, .gpus = 7},
                                    {.submit_s = 2, .duration_s = 500, .gpus = 1},
                                    {.submit_s = 2, .duration_s = 500, .gpus = 1}};
    DLS_OWN(setup_fini) sim_setup s = {0};
    setup_init(&s, case_cluster(1, 8, 0), case_trace(jobs, 4), "easy", "consolidated");
    s.p.estimates_exact = true;
    DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
    CHECK_S(rec->start_us[1], 100);
    CHECK_S(rec->start_us[2], 2);
    CHECK_S(rec->start_us[3], 110);
}

/* Job 2 wants a whole node of four GPUs, under yarn: node 0 when job 0 ends, node 1 when job 1 does. By number it would
 * fit when job 0 ends whatever job 3 has, which goes where GPUs are free: on node 0, as the lowest. Job 4 ends in time. */
static void check_reserve(bool nodes, int32_t node_of_3, double start_2, double start_4)
{
    static const case_job jobs[] = {{.duration_s = 100, .gpus = 3},
                                    {.duration_s = 200, .gpus = 2},
                                    {.submit_s = 1, .duration_s = 10, .gpus = 4},
                                    {.submit_s = 2, .duration_s = 300, .gpus = 1},
                                    {.submit_s = 3, .duration_s = 50, .gpus = 1}};
    DLS_OWN(setup_fini) sim_setup s = {0};
    setup_init(&s, case_cluster(2, 4, 0), case_trace(jobs, 5), "easy", "yarn");
    s.p.estimates_exact = s.p.want_allocs = s.p.audit = true;
    s.p.reserve_nodes = nodes;
    DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
    CHECK_S(rec->start_us[3], 2);
    CHECK_S(rec->start_us[2], start_2);
    CHECK_S(rec->start_us[4], start_4);
    bool found = false;
    for (size_t i = 0; i < rec->allocs.n; i++) {
        found = found || (rec->allocs.job[i] == 3 && rec->allocs.node[i] == node_of_3);
    }
    assert_true(found);
}

TEST(test_reserved_nodes)
{
    check_reserve(false, 0, 200, 3);
    check_reserve(true, 1, 100, 3);
}

static double share_all(void *state, const dls_place_index *index, const dls_request *r, int32_t host, const dls_shape *shape)
{
    return 1;
}

/* Job 2 does not fit and joins job 0. Job 3 waited behind it, may have the GPU that is free, and joins nobody. */
TEST(test_behind_a_guest)
{
    static const case_job jobs[] = {{.duration_s = 100, .gpus = 3}, {.duration_s = 100, .gpus = 1},
                                    {.submit_s = 1, .duration_s = 10, .gpus = 3}, {.submit_s = 1, .duration_s = 10, .gpus = 1}};
    for (size_t k = 0; k < 2; k++) {
        DLS_OWN(setup_fini) sim_setup s = {0};
        setup_init(&s, case_cluster(1, 5, 0), case_trace(jobs, 4), k ? "easy" : "fifo", "consolidated");
        dls_placement_ops ops = *s.p.placement;
        ops.share = share_all;
        s.p.placement = &ops;
        DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
        CHECK_S(rec->start_us[2], 1);
        CHECK_S(rec->start_us[3], 1);
        assert_int_equal(rec->guest_starts, 1);
    }
}

/* Job 1 is late at 30, job 0 as well: the reservation of job 2 is for now, and one of their GPUs is spare. */
TEST(test_late)
{
    static const case_job jobs[] = {{.duration_s = 100, .gpus = 4},
                                    {.duration_s = 100, .gpus = 2},
                                    {.submit_s = 30, .duration_s = 10, .gpus = 6},
                                    {.submit_s = 31, .duration_s = 500, .gpus = 1}};
    static const int64_t estimate_s[] = {10, 20, 10, 500};
    DLS_OWN(setup_fini) sim_setup s = {0};
    dls_trace *trace;
    EACH_JOB(job, 4, &trace) {
        job.rec.submit_us = S(jobs[job.i].submit_s);
        job.rec.duration_us = S(jobs[job.i].duration_s);
        job.rec.gpus_milli = jobs[job.i].gpus * 1000;
        job.rec.estimate_us = estimate_s[job.i] * DLS_US_PER_S;
    }
    setup_init(&s, case_cluster(1, 8, 0), trace, "easy", "consolidated");
    DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
    CHECK_S(rec->start_us[2], 100);
    CHECK_S(rec->start_us[3], 31);
}

/* Job 1 finds a free GPU, but not its processors, until job 0 ends: those behind it, which come every 50 s and
 * take 100 s, would keep it waiting as long as they come. Only job 3 ends before job 0 does. */
TEST(test_refused_is_not_starved)
{
    DLS_OWN(setup_fini) sim_setup s = {0};
    dls_trace *trace;
    EACH_JOB(job, 20, &trace) {
        job.rec.submit_us = S(job.i < 2 ? (double)job.i : 2 + 50 * (double)(job.i - 2));
        job.rec.duration_us = S(job.i == 3 ? 48 : 100);
        job.rec.gpus_milli = 1000;
        job.rec.cpu_milli = job.i == 1 ? 8000 : 4000;
    }
    dls_cluster_spec cluster = case_cluster(1, 4, 0);
    cluster.groups[0].cpus_per_node = 8;
    cluster.groups[0].mem_gib_per_node = 64;
    setup_init(&s, cluster, trace, "easy", "consolidated");
    DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
    CHECK_S(rec->start_us[1], 100);
    CHECK_S(rec->start_us[2], 200);
    CHECK_S(rec->start_us[3], 52);
}

/* Job 3 fits on type V100 by number, on no node there. Jobs 4 and 5, which end before it can be tried again, pass it on
 * the one GPU of the type that they may use, one after the other. */
TEST(test_refused_on_types)
{
    static const case_job jobs[] = {{.duration_s = 100, .gpus = 2, .types = "V100"},
                                    {.duration_s = 200, .gpus = 3, .types = "V100"},
                                    {.duration_s = 150, .gpus = 3, .types = "P100"},
                                    {.submit_s = 1, .duration_s = 50, .gpus = 3, .types = "V100|P100"},
                                    {.submit_s = 2, .duration_s = 20, .gpus = 1, .types = "P100"},
                                    {.submit_s = 3, .duration_s = 20, .gpus = 1, .types = "P100"}};
    static const double start_s[] = {0, 0, 0, 100, 2, 22};
    DLS_OWN(setup_fini) sim_setup s = {0};
    setup_init(&s, two_types(2, 1, 4, 0), case_trace(jobs, 6), "easy", "yarn");
    DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
    for (int j = 0; j < 6; j++) {
        CHECK_S(rec->start_us[j], start_s[j]);
    }
}

/* One idle GPU and those of three jobs behind it make room for job 3. */
TEST(test_room_of_several)
{
    static const case_job jobs[] = {{.duration_s = 100, .gpus = 1},
                                    {.duration_s = 90, .gpus = 1},
                                    {.duration_s = 80, .gpus = 1},
                                    {.submit_s = 1, .duration_s = 10, .gpus = 4}};
    DLS_OWN(setup_fini) sim_setup s = {0};
    setup_init(&s, case_cluster(1, 4, 0), case_trace(jobs, 4), "srtf", "consolidated");
    DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
    CHECK_S(rec->start_us[3], 1);
    CHECK_S(rec->end_us[0], 110);
    assert_int_equal(rec->preempts[0] + rec->preempts[1] + rec->preempts[2], 3);
}

/* Type a has nodes of 4: job 0 holds 2 of one, job 1 3 of the other, job 2 the first node's rest.
 * By number job 3 fits there in place of job 2, which would move to type b; on the nodes it does
 * not, so job 2 stays where it is. */
TEST(test_refused_makes_nobody_move)
{
    static const case_job jobs[] = {{.duration_s = 10, .gpus = 2, .types = "a"},
                                    {.duration_s = 20, .gpus = 3, .types = "a"},
                                    {.duration_s = 1000, .gpus = 2},
                                    {.submit_s = 1, .duration_s = 30, .gpus = 3, .types = "a"}};
    DLS_OWN(setup_fini) sim_setup s = {0};
    dls_cluster_spec cluster = case_cluster(2, 4, 0);
    cluster.groups = realloc(cluster.groups, 2 * sizeof *cluster.groups);
    cluster.groups[1] = cluster.groups[0];
    snprintf(cluster.groups[1].name, sizeof cluster.groups[1].name, "one");
    cluster.groups[1].nodes = 1;
    cluster.groups[1].type = 1;
    cluster.n_groups = cluster.n_types = 2;
    cluster.types[1] = cluster.types[0];
    snprintf(cluster.types[0].name, sizeof cluster.types[0].name, "a");
    snprintf(cluster.types[1].name, sizeof cluster.types[1].name, "b");
    setup_init(&s, cluster, case_trace(jobs, 4), "srtf", "yarn");
    DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
    CHECK_S(rec->start_us[2], 0);
    CHECK_S(rec->end_us[2], 1000);
    assert_int_equal(rec->preempts[2], 0);
    CHECK_S(rec->start_us[3], 20);
}

/* ---- gandiva --------------------------------------------------------------------------------- */

TEST(test_turns)
{
    static const case_job jobs[] = {{.duration_s = 100, .gpus = 1}, {.duration_s = 100, .gpus = 1}};
    DLS_OWN(setup_fini) sim_setup s = {0};
    setup_init(&s, case_cluster(1, 1, 0), case_trace(jobs, 2), "gandiva", "consolidated");
    setup_option(&s, "slice")->f = 10;
    DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
    CHECK_S(rec->start_us[1], 10);
    CHECK_S(rec->end_us[0], 190);
    CHECK_S(rec->end_us[1], 200);
    assert_int_equal(rec->preempts[0], 9);
    assert_int_equal(rec->preempts[1], 9);
    dls_record_destroy(rec);
    /* Restoring takes longer than a slice, and yet each turn is a slice of progress. */
    s.p.restore_us = S(15);
    rec = case_run(&s.p);
    assert_true(rec->complete);
    assert_int_equal(rec->preempts[0] + rec->preempts[1], 18);
    CHECK_S(rec->end_us[1], 200 + 18 * 15);
    CHECK_S(rec->overhead_us[0] + rec->overhead_us[1], 18 * 15);
}

/* Alone, a job is never interrupted; when others come late, its turn is long over. */
TEST(test_turns_only_when_others_wait)
{
    static const case_job jobs[] = {{.duration_s = 100, .gpus = 2},
                                    {.submit_s = 55, .duration_s = 20, .gpus = 2}};
    DLS_OWN(setup_fini) sim_setup s = {0};
    setup_init(&s, case_cluster(1, 2, 0), case_trace(jobs, 2), "gandiva", "consolidated");
    setup_option(&s, "slice")->f = 10;
    DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
    CHECK_S(rec->start_us[1], 55);
    CHECK_S(rec->end_us[1], 85); /* 55-65, 75-85 */
    CHECK_S(rec->end_us[0], 120);
    assert_int_equal(rec->preempts[0], 2);
    assert_true(rec->passes < 10);
}

/* Equal jobs that all wait for each other get equal service, within a slice. */
TEST(test_turns_are_fair)
{
    case_job jobs[12];
    for (int j = 0; j < 12; j++) {
        jobs[j] = (case_job){.duration_s = 1000, .gpus = 1};
    }
    DLS_OWN(setup_fini) sim_setup s = {0};
    setup_init(&s, case_cluster(1, 4, 0), case_trace(jobs, 12), "gandiva", "consolidated");
    setup_option(&s, "slice")->f = 10;
    for (int t = 1; t < 60; t += 7) {
        s.p.until_us = S(10.0 * t + 3);
        DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
        int64_t least = INT64_MAX, most = 0;
        for (int j = 0; j < 12; j++) {
            least = rec->executed_us[j] < least ? rec->executed_us[j] : least;
            most = rec->executed_us[j] > most ? rec->executed_us[j] : most;
        }
        assert_true(most - least <= S(10));
    }
}

/* ---- multi-dlas-gpu -------------------------------------------------------------------------- */

/* At the first division 8 GPUs go to 8 wanted by four pairs and 8 wanted by eights of one: half
 * each; the pairs get more only when the cluster is divided anew. */
TEST(test_shares)
{
    case_job jobs[12];
    for (int j = 0; j < 12; j++) {
        jobs[j] = (case_job){.duration_s = j < 8 ? 50 : 1000, .gpus = j < 8 ? 1 : 2};
    }
    DLS_OWN(setup_fini) sim_setup s = {0};
    setup_init(&s, case_cluster(2, 4, 0), case_trace(jobs, 12), "multi-dlas-gpu", "consolidated");
    setup_option(&s, "period")->f = 200;
    setup_limits(&s, 1, (double[]){1e6});
    DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
    for (int j = 0; j < 8; j++) {
        CHECK_S(rec->start_us[j], j < 4 ? 0 : 50);
    }
    CHECK_S(rec->start_us[8], 0);
    CHECK_S(rec->start_us[9], 0);
    CHECK_S(rec->start_us[10], 200);
    CHECK_S(rec->start_us[11], 200);
    assert_true(rec->complete);
}

/* 30 of 52 GPUs that are asked for are 15 of 26, a gang, though 26 x (30 / 52) is less in binary fractions. */
TEST(test_whole_shares)
{
    case_job jobs[24];
    for (int j = 0; j < 24; j++) {
        jobs[j] = (case_job){.duration_s = 1000, .gpus = j < 2 ? 15 : 1};
    }
    DLS_OWN(setup_fini) sim_setup s = {0};
    setup_init(&s, case_cluster(13, 2, 0), case_trace(jobs, 24), "multi-dlas-gpu", "consolidated");
    DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
    CHECK_S(rec->start_us[0], 0);
}

/* Nothing is stranded, even where refusals of the placement cut across the shares. */
TEST(test_shares_random)
{
    for (uint64_t seed = 0; seed < 60; seed++) {
        DLS_OWN(setup_fini) sim_setup s = {0};
        setup_init(&s, case_cluster(4, 4, 2), random_trace(seed, 50, 8, 8, NULL, NULL),
                   "multi-dlas-gpu", seed % 2 ? "yarn" : "consolidated");
        setup_option(&s, "period")->f = 30;
        setup_limits(&s, 1, (double[]){40});
        s.p.restore_us = seed % 3 ? S(2) : 0;
        DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
        assert_true(rec->complete);
        for (size_t j = 0; j < rec->n_jobs; j++) {
            assert_int_equal(rec->state[j], DLS_JOB_FINISHED);
        }
    }
}

/* ---- alarms ---------------------------------------------------------------------------------- */

/* Question and answer, in order. */
static const struct {
    double at_s;
    int32_t job;
    dls_job_event why;
    int32_t level;
    dls_alarm alarm;
    double alarm_s;
} talk[] = {
    {0, 0, DLS_EVENT_SUBMITTED, 0, DLS_ALARM_RESCHEDULE, 10},
    {0, 0, DLS_EVENT_STARTED, 0, DLS_ALARM_RESCHEDULE, 20}, /* none at 10 */
    {20, 0, DLS_EVENT_DUE, 0, DLS_ALARM_YIELD, 30},
    {40, 1, DLS_EVENT_SUBMITTED, 1, DLS_ALARM_NONE, 0},
    {40, 0, DLS_EVENT_DUE, 0, DLS_ALARM_YIELD, 50}, /* nobody waited at 30 */
    {50, 0, DLS_EVENT_DUE, 2, DLS_ALARM_NONE, 0},
    {50, 0, DLS_EVENT_PREEMPTED, 2, DLS_ALARM_RESCHEDULE, 120},
    {50, 1, DLS_EVENT_STARTED, 1, DLS_ALARM_RESCHEDULE, 200},
    {80, 0, DLS_EVENT_STARTED, 2, DLS_ALARM_YIELD,
     125}, /* none of job 1, which has ended, at 200 */
    {120, 2, DLS_EVENT_SUBMITTED, 3, DLS_ALARM_YIELD, 140},
    {125, 0, DLS_EVENT_DUE, 2, DLS_ALARM_YIELD, 140},            /* not at 120 */
    {130, 2, DLS_EVENT_STARTED, 3, DLS_ALARM_RESCHEDULE, 160},   /* job 0 has ended .. */
    {150, 3, DLS_EVENT_SUBMITTED, 4, DLS_ALARM_RESCHEDULE, 220}, /* .. and has no turn to yield */
    {160, 2, DLS_EVENT_DUE, 3, DLS_ALARM_NONE, 0},               /* not at 150 */
    {220, 3, DLS_EVENT_DUE, 4, DLS_ALARM_RESCHEDULE, 225},
    {225, 3, DLS_EVENT_DUE, 4, DLS_ALARM_RESCHEDULE, 228},
    {228, 3, DLS_EVENT_DUE, 4, DLS_ALARM_RESCHEDULE, 240},
    {230, 3, DLS_EVENT_STARTED, 4, DLS_ALARM_NONE, 0}, /* none at 240 */
};
static size_t n_said;

static void converse(void *state, const dls_view *view, int32_t job, dls_job_event why,
                     dls_priority *out)
{
    assert_true(n_said < sizeof talk / sizeof talk[0]);
    CHECK_S(view->now_us, talk[n_said].at_s);
    assert_int_equal(job, talk[n_said].job);
    assert_int_equal(why, talk[n_said].why);
    out->level = talk[n_said].level;
    out->alarm = talk[n_said].alarm;
    out->alarm_us = S(talk[n_said].alarm_s);
    n_said++;
}

/* A job has one alarm: an answer replaces it, also by another kind or by none; it rings once, and
 * not after the end of the job. */
TEST(test_one_alarm)
{
    static const case_job jobs[] = {{.duration_s = 100, .gpus = 1},
                                    {.submit_s = 40, .duration_s = 30, .gpus = 1},
                                    {.submit_s = 120, .duration_s = 100, .gpus = 1},
                                    {.submit_s = 150, .duration_s = 20, .gpus = 1}};
    static const dls_sched_ops ops = {.abi = DLS_POLICY_ABI,
                                      .name = "talker",
                                      .summary = "answers as the test says",
                                      .discipline = DLS_PREEMPT,
                                      .priority = converse};
    DLS_OWN(setup_fini) sim_setup s = {0};
    setup_init(&s, case_cluster(1, 1, 0), case_trace(jobs, 4), "fifo", "consolidated");
    s.p.sched = &ops;
    n_said = 0;
    DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
    assert_int_equal(n_said, sizeof talk / sizeof talk[0]);
    CHECK_S(rec->end_us[0], 130);
    CHECK_S(rec->end_us[3], 250);
}
