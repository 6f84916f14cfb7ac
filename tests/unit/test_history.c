/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Run times learned from the jobs that have ended, worked out by hand, and a run that goes by them;
 * trees on them.
 */
#include "support/sim_setup.h"
#include "support/test.h"
#include "support/trace_of.h"

#include "workload/history.h"

typedef struct past_job {
    double submit_s, duration_s;
    int gpus;
    const char *user, *model, *vc;
    double limit_s; /* 0: none */
} past_job;

static dls_trace *trace_of(const past_job *jobs, size_t n)
{
    dls_trace *trace;
    EACH_JOB(job, n, &trace) {
        job.rec.submit_us = S(jobs[job.i].submit_s);
        job.rec.duration_us = jobs[job.i].duration_s < 0 ? DLS_ABSENT : S(jobs[job.i].duration_s);
        job.rec.gpus_milli = jobs[job.i].gpus * 1000;
        job.rec.user = jobs[job.i].user;
        job.rec.model = jobs[job.i].model;
        job.rec.vc = jobs[job.i].vc;
        job.rec.limit_us = jobs[job.i].limit_s > 0 ? S(jobs[job.i].limit_s) : DLS_ABSENT;
    }
    return trace;
}

static dls_history *history_of(const dls_trace *trace, const dls_trace *past, bool trees)
{
    dls_history *h;
    dls_error err;
    assert_int_equal(dls_history_create(trace, past, trees, &h, &err), DLS_OK);
    return h;
}

static dls_learned begin(const dls_history *h, size_t n_jobs)
{
    dls_learned l = {.runs = calloc(dls_history_groups(h), sizeof *l.runs)};
    if (dls_history_trees(h)) {
        l.lessons = calloc(1, sizeof *l.lessons);
        l.asked = calloc(n_jobs, sizeof *l.asked);
    }
    dls_history_begin(h, &l);
    return l;
}

static void end(dls_learned *l)
{
    free(l->runs);
    free(l->lessons);
    free(l->asked);
}

#define CHECK_ESTIMATE(job, s)                                                                     \
    assert_true(fabs((double)dls_history_ask_us(h, &l, job, 0) / (1e6 * (s)) - 1) < 1e-6)

/* Nothing known: an hour, or the limit. Then job 0, 100 s on one GPU: it moves the logarithm of an
 * estimate halfway in each group that a job shares with it. */
TEST(test_groups)
{
    static const past_job jobs[] = {
        {0, 100, 1, "ann", NULL, NULL, 0}, /* ends */
        {1, 1, 1, "ann", NULL, NULL, 0},   /* shares all, GPUs, user, user and GPUs */
        {2, 1, 2, "bob", NULL, NULL, 0},   /* shares all */
        {3, 1, 1, "bob", NULL, NULL, 400}, /* shares all and GPUs; its limit in an hour's place */
        {4, 1, 2, "ann", "vgg16", "vc1", 150}, /* shares all and the user; no more than its limit */
        {5, 1, 4, NULL, NULL, NULL, 0},        /* shares all */
    };
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = trace_of(jobs, 6);
    DLS_HOLD(dls_history_destroy) dls_history *h = history_of(trace, NULL, false);
    dls_learned l = begin(h, 6);
    for (size_t g = 0; g < dls_history_groups(h); g++) {
        assert_int_equal(l.runs[g].n, 0);
    }
    CHECK_ESTIMATE(0, 3600);
    CHECK_ESTIMATE(3, 400);
    dls_history_see(h, &l, 0, S(100));
    CHECK_ESTIMATE(1, 100 * pow(36, 1 / 16.0));
    CHECK_ESTIMATE(2, 600);
    CHECK_ESTIMATE(3, 100 * pow(4, 1 / 4.0));
    CHECK_ESTIMATE(4, 100 * pow(1.5, 1 / 4.0));
    CHECK_ESTIMATE(5, 600);
    /* A second one of bob's on 2 GPUs, 1 s: all (3600 x 100 x 1)^(1/3), then GPUs, bob, both. */
    dls_history_see(h, &l, 2, S(1));
    CHECK_ESTIMATE(2, pow(360000, 1 / 24.0));
    CHECK_ESTIMATE(5, pow(360000, 1 / 3.0));
    /* What takes no time counts as a second: all and GPUs again, 4: bob's and his on one GPU. */
    dls_history_see(h, &l, 3, 0);
    CHECK_ESTIMATE(5, pow(360000, 1 / 4.0));
    end(&l);
}

/* The same as seen before the run, by names; a job without a run time tells nothing. */
TEST(test_past)
{
    static const past_job before[] = {{0, 9, 2, "eve", "resnet50", "vc2", 0},
                                      {5, 16, 1, "ann", "vgg16", "vc1", 0},
                                      {7, -1, 1, "ann", "vgg16", "vc1", 0}};
    static const past_job jobs[] = {{0, 1, 8, "eve", "vgg16", "vc1", 0},
                                    {1, 1, 1, "ann", "vgg16", "vc1", 0}};
    dls_trace *past = trace_of(before, 3), *trace = trace_of(jobs, 2);
    dls_history *of = history_of(trace, past, false), *h;
    dls_error err;
    assert_int_equal(dls_history_copy(of, &h, &err), DLS_OK);
    dls_history_destroy(of);
    dls_trace_destroy(past); /* no longer needed */
    dls_learned l = begin(h, 2);
    /* All: e = (3600 x 9 x 16)^(1/3); job 0 shares model and vc with the second, the user with the
     * first: e = ((e 16)^(1/2) 16)^(1/2), then (e 9)^(1/2). */
    const double all = cbrt(3600 * 9 * 16), both = sqrt(sqrt(all * 16) * 16);
    CHECK_ESTIMATE(0, sqrt(both * 9));
    /* Job 1 shares eight groups with the second. */
    CHECK_ESTIMATE(1, 16 * pow(all / 16, 1 / 256.0));
    end(&l);
    dls_history_destroy(h);
    dls_trace_destroy(trace);
}

/* Jobs of 10 s for three days, then of 10,000 s, and so on: the means say 316 s at last, the trees
 * what the last one was. Nothing before a job has ended, and nothing of one that has not. */
TEST(test_trees)
{
    enum { N = 1200, BLOCK = 100 };
    static past_job jobs[N];
    for (int i = 0; i < N; i++) {
        jobs[i] = (past_job){i * 2592.0, i / BLOCK % 2 ? 10000 : 10, 1, NULL, NULL, NULL, 0};
    }
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = trace_of(jobs, N);
    DLS_HOLD(dls_history_destroy) dls_history *h = history_of(trace, NULL, true);
    dls_learned l = begin(h, N);
    int good = 0;
    for (int32_t i = 0; i < N; i++) {
        const double s = (double)dls_history_ask_us(h, &l, i, S(jobs[i].submit_s)) / 1e6;
        assert_true(i > 0 || fabs(s - 3600) < 1e-3);
        assert_true(i >= 200 || l.lessons->trees.n == 0); /* two leaves */
        good += i >= N / 2 && fabs(log(s / jobs[i].duration_s)) < log(4);
        dls_history_see(h, &l, i, S(jobs[i].duration_s));
    }
    assert_int_equal(l.lessons->ended, N);
    assert_true(l.lessons->fitted < N); /* not at every job */
    assert_true(good >= N / 2 - 6);     /* all but those after a change */
    end(&l);
    dls_history_destroy(h);
    /* As the past of itself it is known before the first job, and the same when copied. */
    dls_history *of = history_of(trace, trace, true);
    dls_error err;
    assert_int_equal(dls_history_copy(of, &h, &err), DLS_OK);
    dls_history_destroy(of);
    l = begin(h, N);
    assert_int_equal(l.lessons->ended, N);
    const double s = (double)dls_history_ask_us(h, &l, 0, 0) / 1e6;
    assert_true(fabs(log(s / 10000)) < log(4)); /* as the last ones ran */
    end(&l);
}

/* One GPU, least estimated time first. When job 2 ends, ann's jobs are known to be long and bob's
 * to be short, so job 4 goes before job 3, whose time is shorter in truth; what was believed is on
 * record. */
TEST(test_run)
{
    static const past_job jobs[] = {{0, 1000, 1, "ann", NULL, NULL, 0},
                                    {1000, 10, 1, "bob", NULL, NULL, 0},
                                    {1010, 100, 1, "eve", NULL, NULL, 0},
                                    {1020, 1, 1, "ann", NULL, NULL, 0},
                                    {1030, 50, 1, "bob", NULL, NULL, 0}};
    sim_setup s;
    setup_init(&s, case_cluster(1, 1, 0), trace_of(jobs, 5), "sjf-duration", "consolidated");
    DLS_HOLD(dls_history_destroy) dls_history *h = history_of(s.trace, NULL, false);
    s.p.history = h;
    s.p.estimates_predicted = true;
    dls_record *rec = case_run(&s.p);
    assert_int_equal(rec->end_us[4], S(1160));
    assert_int_equal(rec->end_us[3], S(1161));
    assert_int_equal(rec->starts.n, 5);
    assert_true(fabs((double)rec->starts.remaining_s[0] - 3600) < 0.01);
    /* bob, when only ann's job of as many GPUs had ended: all and GPUs. */
    assert_true(fabs((double)rec->starts.remaining_s[1] - 1000 * pow(3.6, 1 / 4.0)) < 0.01);
    dls_record_destroy(rec);
    setup_fini(&s);
}
