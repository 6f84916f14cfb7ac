/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Gavel's policies where their answers are known: shares by weight, room for everybody, equal jobs,
 * deadlines, prices, a type that a job may not use.
 */
#include "base/alloc.h"
#include "sched/timeshares.h"
#include "support/must.h"
#include "support/sim_setup.h"
#include "support/trace_of.h"

static const char *const policies[] = {"gavel-las",        "gavel-ftf",      "gavel-makespan",
                                       "gavel-throughput", "gavel-isolated", "gavel-cost",
                                       "gavel-las-packed", "gavel-ftf-packed",
                                       "gavel-makespan-packed", "gandiva-pack"};

typedef struct one_job {
    double submit_s, work_s;
    int gpus, weight;
    const char *types;
} one_job;

static dls_trace *trace_of(const one_job *jobs, size_t n)
{
    dls_trace *trace;
    EACH_JOB(job, n, &trace) {
        job.rec.submit_us = S(jobs[job.i].submit_s);
        job.rec.duration_us = S(jobs[job.i].work_s);
        job.rec.gpus_milli = 1000 * jobs[job.i].gpus;
        job.rec.priority = jobs[job.i].weight;
        job.rec.gpu_types = jobs[job.i].types;
    }
    return trace;
}

static dls_record *run(const one_job *jobs, size_t n, dls_cluster_spec cluster, const char *sched,
                       double round_s)
{
    sim_setup s;
    setup_init(&s, cluster, trace_of(jobs, n), sched, "consolidated");
    setup_option(&s, "round")->f = round_s;
    setup_option(&s, "reset")->f = 1e6;
    dls_record *rec = case_run(&s.p);
    setup_fini(&s);
    return rec;
}

/* Enough GPUs for all: everybody starts with the first round and ends as if alone. */
TEST(test_room_for_all)
{
    static const one_job jobs[] = {
        {0, 950, 4, 1, NULL}, {0, 250, 2, 5, NULL}, {150, 777, 1, 1, NULL}, {160, 10, 1, 2, NULL}};
    for (size_t p = 0; p < sizeof policies / sizeof *policies; p++) {
        DLS_HOLD(dls_record_destroy) dls_record *rec = run(jobs, 4, case_cluster(2, 4, 0), policies[p], 100);
        for (int j = 0; j < 4; j++) {
            const double start_s = j < 2 ? 0 : 200;
            assert_int_equal(rec->start_us[j], S(start_s));
            assert_int_equal(rec->end_us[j], S(start_s + jobs[j].work_s));
            assert_int_equal(rec->preempts[j], 0);
        }
    }
}

/* One GPU, weights 3 and 1, work in the same proportion: both are done after all of it, give or
 * take a round. Equal shares let the smaller one end after twice its work. */
TEST(test_weights)
{
    static const one_job jobs[] = {{0, 3000, 1, 3, NULL}, {0, 1000, 1, 1, NULL}};
    DLS_HOLD(dls_record_destroy) dls_record *rec = run(jobs, 2, case_cluster(1, 1, 0), "gavel-las", 10);
    assert_true(rec->end_us[0] >= S(3940) && rec->end_us[1] >= S(3940));
    dls_record_destroy(rec);
    rec = run(jobs, 2, case_cluster(1, 1, 0), "gavel-isolated", 10);
    assert_true(rec->end_us[1] >= S(1960) && rec->end_us[1] <= S(2040));
}

/* Jobs of one GPU and one weight, more of them than GPUs: least attained service is an equal share.
 */
TEST(test_equal_jobs)
{
    one_job jobs[30];
    for (int j = 0; j < 30; j++) {
        jobs[j] = (one_job){37.0 * (j % 7), 200 + 31 * (j * j % 13), 1, 1, NULL};
    }
    dls_record *las = run(jobs, 30, case_cluster(1, 4, 0), "gavel-las", 50);
    DLS_HOLD(dls_record_destroy) dls_record *isolated = run(jobs, 30, case_cluster(1, 4, 0), "gavel-isolated", 50);
    for (int j = 0; j < 30; j++) {
        assert_int_equal(las->end_us[j], isolated->end_us[j]);
        assert_int_equal(las->start_us[j], isolated->start_us[j]);
    }
    dls_record_destroy(las);
}

/* A job that may only use the one type, a gang that only fits the other. */
TEST(test_types)
{
    static const one_job jobs[] = {{0, 500, 1, 1, "P100"}, {0, 500, 4, 1, NULL}};
    for (size_t p = 0; p < sizeof policies / sizeof *policies; p++) {
        dls_cluster_spec cluster = two_types(1, 1, 4, 0);
        cluster.groups[1].gpus_per_node = 2;
        DLS_HOLD(dls_record_destroy) dls_record *rec = run(jobs, 2, cluster, policies[p], 100);
        assert_int_equal(rec->end_us[0], S(500));
        assert_int_equal(rec->end_us[1], S(500));
    }
}

/* ---- objectives ------------------------------------------------------------------------------ */

static dls_timeshares two_jobs(double fast, double slow)
{
    dls_timeshares s = {0};
    dls_timeshares_reset(&s, 2, (double[]){1, 1});
    for (int i = 0; i < 2; i++) {
        dls_timeshare_job *j = dls_timeshares_add(&s);
        assert_non_null(j);
        *j = (dls_timeshare_job){.id = i,
                                 .gpus = 1,
                                 .weight = 1,
                                 .left = 100,
                                 .deadline_s = (double)INFINITY,
                                 .price = {2, 1},
                                 .speed = {i == 0 ? fast : 1, i == 0 ? slow : 1}};
    }
    return s;
}

#define NEAR(a, b) assert_true(fabs((a) - (b)) < 1e-5)

/* One GPU of each type; the first job is 3 times as fast on the first, the other indifferent. */
TEST(test_objectives)
{
    dls_interior_outcome outcome;
    DLS_OWN(dls_timeshares_fini) dls_timeshares s = two_jobs(3, 1);
    assert_int_equal(dls_timeshares_throughput(&s, &outcome, NULL), DLS_OK);
    NEAR(s.best, 4);
    NEAR(s.job[0].share[0], 1);
    NEAR(s.job[1].share[1], 1);
    assert_int_equal(dls_timeshares_duration(&s, &outcome, NULL), DLS_OK);
    NEAR(s.best, 100); /* the slower one has all its time */
    assert_int_equal(dls_timeshares_las(&s, &outcome, NULL), DLS_OK);
    NEAR(s.best, 1); /* the slower one, over 1 in proportion */
    assert_int_equal(dls_timeshares_water_filling(&s, &outcome, NULL), DLS_OK);
    NEAR(s.job[0].share[0], 1); /* and the other as much as there is */
    NEAR(s.job[1].share[1], 1);
}

TEST(test_cost)
{
    dls_interior_outcome outcome;
    bool met;
    DLS_OWN(dls_timeshares_fini) dls_timeshares s = two_jobs(3, 1);
    /* Per price: 1.5 and 1, 0.5 and 1. Deadlines of 100 s are those of a whole GPU. */
    assert_int_equal(dls_timeshares_cost(&s, &met, &outcome, NULL), DLS_OK);
    assert_true(met);
    NEAR(s.best, 2.5);
    s.job[0].deadline_s = 1e3;
    s.job[1].deadline_s = 100;
    assert_int_equal(dls_timeshares_cost(&s, &met, &outcome, NULL), DLS_OK);
    assert_true(met);
    NEAR(s.job[1].share[0] + s.job[1].share[1], 1);
    s.job[1].deadline_s = 99; /* cannot be: deadlines bind nobody */
    assert_int_equal(dls_timeshares_cost(&s, &met, &outcome, NULL), DLS_OK);
    assert_false(met);
    NEAR(s.best, 2.5);
    s.job[1].deadline_s = -1; /* in the past */
    assert_int_equal(dls_timeshares_cost(&s, &met, &outcome, NULL), DLS_OK);
    assert_false(met);
    assert_int_equal(outcome, DLS_INTERIOR_OPTIMAL);
}

TEST(test_bad_prices)
{
    static const char *const bad[] = {"V100", "V100:", "V100:-1", ":3", "V100:1x", "V100:0"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        static const one_job jobs[] = {{0, 1, 1, 1, NULL}};
        DLS_OWN(setup_fini) sim_setup s = {0};
        dls_record *rec = NULL;
        setup_init(&s, case_cluster(1, 1, 0), trace_of(jobs, 1), "gavel-cost", "consolidated");
        setup_option(&s, "prices")->s = bad[i];
        MUST_FAIL(DLS_ECONFIG, "NAME:PRICE", dls_sim_run(&s.p, &rec, &e));
    }
}
