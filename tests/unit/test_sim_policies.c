/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What single schedulers promise, on cases small enough to follow by hand (times in seconds).
 */
#include "support/fake_world.h"
#include "support/sim_setup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

#define CHECK_S(us, seconds) assert_int_equal((us), S(seconds))

/* ---- dlas-gpu ----------------------------------------------------------------------------------
 */

/* A job of 4 GPUs has its 10 GPU-seconds after 2.5 s, and loses its GPUs then. */
static void test_demotion_on_time(void **unused)
{
    (void)unused;
    static const case_job jobs[] = {{.duration_s = 100, .gpus = 4},
                                    {.submit_s = 1, .duration_s = 1, .gpus = 4}};
    sim_setup s;
    setup_init(&s, case_cluster(1, 4, 0), case_trace(jobs, 2), "dlas-gpu", "consolidated");
    setup_limits(&s, 1, (double[]){10});
    dls_record *rec = case_run(&s.p);
    CHECK_S(rec->start_us[1], 2.5);
    CHECK_S(rec->end_us[1], 3.5);
    CHECK_S(rec->end_us[0], 101);
    assert_int_equal(rec->preempts[0], 1);
    dls_record_destroy(rec);
    /* Three GPUs, a threshold that no microsecond hits: demoted at the first one beyond it. */
    setup_limits(&s, 1, (double[]){10.000001});
    rec = case_run(&s.p);
    assert_int_equal(rec->start_us[1], 2500001);
    dls_record_destroy(rec);
    setup_fini(&s);
}

/* Demoted at 10 after 10 s of service, job 0 waits behind newcomers until 10 + 2 x 10; then it
 * stands in the first queue, behind job 3 and before job 4. */
static void test_starvation(void **unused)
{
    (void)unused;
    static const case_job jobs[] = {{.duration_s = 100, .gpus = 1},
                                    {.submit_s = 10, .duration_s = 10, .gpus = 1},
                                    {.submit_s = 15, .duration_s = 10, .gpus = 1},
                                    {.submit_s = 25, .duration_s = 10, .gpus = 1},
                                    {.submit_s = 35, .duration_s = 10, .gpus = 1}};
    sim_setup s;
    setup_init(&s, case_cluster(1, 1, 0), case_trace(jobs, 5), "dlas-gpu", "consolidated");
    setup_limits(&s, 1, (double[]){10});
    setup_option(&s, "promote_knob")->f = 2;
    dls_record *rec = case_run(&s.p);
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
    dls_record_destroy(rec);
    setup_fini(&s);
}

/* ---- disciplines and estimates -----------------------------------------------------------------
 */

static void test_discipline(void **unused)
{
    (void)unused;
    static const case_job jobs[] = {{.duration_s = 100, .gpus = 3},
                                    {.submit_s = 1, .duration_s = 10, .gpus = 2},
                                    {.submit_s = 2, .duration_s = 50, .gpus = 1}};
    sim_setup s;
    setup_init(&s, case_cluster(1, 4, 0), case_trace(jobs, 3), "sjf-duration", "consolidated");
    dls_record *rec = case_run(&s.p);
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
    dls_record_destroy(rec);
    setup_fini(&s);
}

/* Job 1 must wait for job 0. Job 2 may go first if it is thought to end before job 0 does. */
static dls_trace *easy_trace(int64_t estimate_s, int64_t limit_s)
{
    static const case_job jobs[] = {{.duration_s = 100, .gpus = 3},
                                    {.submit_s = 1, .duration_s = 10, .gpus = 4},
                                    {.submit_s = 2, .duration_s = 50, .gpus = 1}};
    dls_trace_builder *b;
    dls_trace *trace;
    assert_int_equal(dls_trace_builder_create(NULL, &b, NULL), DLS_OK);
    for (int j = 0; j < 3; j++) {
        dls_job_rec rec;
        dls_job_rec_init(&rec);
        rec.submit_us = S(jobs[j].submit_s);
        rec.duration_us = S(jobs[j].duration_s);
        rec.gpus_milli = jobs[j].gpus * 1000;
        if (j == 2 && estimate_s > 0) {
            rec.estimate_us = estimate_s * DLS_US_PER_S;
        }
        if (j == 0 && limit_s > 0) {
            rec.limit_us = 100 * DLS_US_PER_S;
        } else if (j == 2 && limit_s > 0) {
            rec.limit_us = limit_s * DLS_US_PER_S;
        }
        assert_int_equal(dls_trace_builder_add(b, &rec, "case", NULL), DLS_OK);
    }
    assert_int_equal(dls_trace_builder_finish(b, &trace, NULL), DLS_OK);
    return trace;
}

static void check_easy(int64_t estimate_s, int64_t limit_s, bool exact, double start_s)
{
    sim_setup s;
    setup_init(&s, case_cluster(1, 4, 0), easy_trace(estimate_s, limit_s), "easy", "consolidated");
    s.p.estimates_exact = exact;
    dls_record *rec = case_run(&s.p);
    CHECK_S(rec->start_us[1], 100);
    CHECK_S(rec->start_us[2], start_s);
    dls_record_destroy(rec);
    setup_fini(&s);
}

static void test_estimates(void **unused)
{
    (void)unused;
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
static void test_spare(void **unused)
{
    (void)unused;
    static const case_job jobs[] = {{.duration_s = 100, .gpus = 5},
                                    {.submit_s = 1, .duration_s = 10, .gpus = 7},
                                    {.submit_s = 2, .duration_s = 500, .gpus = 1},
                                    {.submit_s = 2, .duration_s = 500, .gpus = 1}};
    sim_setup s;
    setup_init(&s, case_cluster(1, 8, 0), case_trace(jobs, 4), "easy", "consolidated");
    s.p.estimates_exact = true;
    dls_record *rec = case_run(&s.p);
    CHECK_S(rec->start_us[1], 100);
    CHECK_S(rec->start_us[2], 2);
    CHECK_S(rec->start_us[3], 110);
    dls_record_destroy(rec);
    setup_fini(&s);
}

/* One idle GPU and those of three jobs behind it make room for job 3. */
static void test_room_of_several(void **unused)
{
    (void)unused;
    static const case_job jobs[] = {{.duration_s = 100, .gpus = 1},
                                    {.duration_s = 90, .gpus = 1},
                                    {.duration_s = 80, .gpus = 1},
                                    {.submit_s = 1, .duration_s = 10, .gpus = 4}};
    sim_setup s;
    setup_init(&s, case_cluster(1, 4, 0), case_trace(jobs, 4), "srtf", "consolidated");
    dls_record *rec = case_run(&s.p);
    CHECK_S(rec->start_us[3], 1);
    CHECK_S(rec->end_us[0], 110);
    assert_int_equal(rec->preempts[0] + rec->preempts[1] + rec->preempts[2], 3);
    dls_record_destroy(rec);
    setup_fini(&s);
}

/* Type a has nodes of 4: job 0 holds 2 of one, job 1 3 of the other, job 2 the first node's rest.
 * By number job 3 fits there in place of job 2, which would move to type b; on the nodes it does
 * not, so job 2 stays where it is. */
static void test_refused_makes_nobody_move(void **unused)
{
    (void)unused;
    static const case_job jobs[] = {{.duration_s = 10, .gpus = 2, .types = "a"},
                                    {.duration_s = 20, .gpus = 3, .types = "a"},
                                    {.duration_s = 1000, .gpus = 2},
                                    {.submit_s = 1, .duration_s = 30, .gpus = 3, .types = "a"}};
    sim_setup s;
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
    dls_record *rec = case_run(&s.p);
    CHECK_S(rec->start_us[2], 0);
    CHECK_S(rec->end_us[2], 1000);
    assert_int_equal(rec->preempts[2], 0);
    CHECK_S(rec->start_us[3], 20);
    dls_record_destroy(rec);
    setup_fini(&s);
}

/* ---- gandiva -----------------------------------------------------------------------------------
 */

static void test_turns(void **unused)
{
    (void)unused;
    static const case_job jobs[] = {{.duration_s = 100, .gpus = 1}, {.duration_s = 100, .gpus = 1}};
    sim_setup s;
    setup_init(&s, case_cluster(1, 1, 0), case_trace(jobs, 2), "gandiva", "consolidated");
    setup_option(&s, "slice")->f = 10;
    dls_record *rec = case_run(&s.p);
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
    dls_record_destroy(rec);
    setup_fini(&s);
}

/* Alone, a job is never interrupted; when others come late, its turn is long over. */
static void test_turns_only_when_others_wait(void **unused)
{
    (void)unused;
    static const case_job jobs[] = {{.duration_s = 100, .gpus = 2},
                                    {.submit_s = 55, .duration_s = 20, .gpus = 2}};
    sim_setup s;
    setup_init(&s, case_cluster(1, 2, 0), case_trace(jobs, 2), "gandiva", "consolidated");
    setup_option(&s, "slice")->f = 10;
    dls_record *rec = case_run(&s.p);
    CHECK_S(rec->start_us[1], 55);
    CHECK_S(rec->end_us[1], 85); /* 55-65, 75-85 */
    CHECK_S(rec->end_us[0], 120);
    assert_int_equal(rec->preempts[0], 2);
    assert_true(rec->passes < 10);
    dls_record_destroy(rec);
    setup_fini(&s);
}

/* Equal jobs that all wait for each other get equal service, within a slice. */
static void test_turns_are_fair(void **unused)
{
    (void)unused;
    case_job jobs[12];
    for (int j = 0; j < 12; j++) {
        jobs[j] = (case_job){.duration_s = 1000, .gpus = 1};
    }
    sim_setup s;
    setup_init(&s, case_cluster(1, 4, 0), case_trace(jobs, 12), "gandiva", "consolidated");
    setup_option(&s, "slice")->f = 10;
    for (int t = 1; t < 60; t += 7) {
        s.p.until_us = S(10.0 * t + 3);
        dls_record *rec = case_run(&s.p);
        int64_t least = INT64_MAX, most = 0;
        for (int j = 0; j < 12; j++) {
            least = rec->executed_us[j] < least ? rec->executed_us[j] : least;
            most = rec->executed_us[j] > most ? rec->executed_us[j] : most;
        }
        assert_true(most - least <= S(10));
        dls_record_destroy(rec);
    }
    setup_fini(&s);
}

/* ---- multi-dlas-gpu ----------------------------------------------------------------------------
 */

/* At the first division 8 GPUs go to 8 wanted by four pairs and 8 wanted by eights of one: half
 * each; the pairs get more only when the cluster is divided anew. */
static void test_shares(void **unused)
{
    (void)unused;
    case_job jobs[12];
    for (int j = 0; j < 12; j++) {
        jobs[j] = (case_job){.duration_s = j < 8 ? 50 : 1000, .gpus = j < 8 ? 1 : 2};
    }
    sim_setup s;
    setup_init(&s, case_cluster(2, 4, 0), case_trace(jobs, 12), "multi-dlas-gpu", "consolidated");
    setup_option(&s, "period")->f = 200;
    setup_limits(&s, 1, (double[]){1e6});
    dls_record *rec = case_run(&s.p);
    for (int j = 0; j < 8; j++) {
        CHECK_S(rec->start_us[j], j < 4 ? 0 : 50);
    }
    CHECK_S(rec->start_us[8], 0);
    CHECK_S(rec->start_us[9], 0);
    CHECK_S(rec->start_us[10], 200);
    CHECK_S(rec->start_us[11], 200);
    assert_true(rec->complete);
    dls_record_destroy(rec);
    setup_fini(&s);
}

/* Nothing is stranded, even where refusals of the placement cut across the shares. */
static void test_shares_random(void **unused)
{
    (void)unused;
    for (uint64_t seed = 0; seed < 60; seed++) {
        sim_setup s;
        setup_init(&s, case_cluster(4, 4, 2), random_trace(seed, 50, 8, 8, NULL, NULL),
                   "multi-dlas-gpu", seed % 2 ? "yarn" : "consolidated");
        setup_option(&s, "period")->f = 30;
        setup_limits(&s, 1, (double[]){40});
        s.p.restore_us = seed % 3 ? S(2) : 0;
        dls_record *rec = case_run(&s.p);
        assert_true(rec->complete);
        for (size_t j = 0; j < rec->n_jobs; j++) {
            assert_int_equal(rec->state[j], DLS_JOB_FINISHED);
        }
        dls_record_destroy(rec);
        setup_fini(&s);
    }
}

/* ---- policies that know a distribution ---------------------------------------------------------
 */

static char sample_path[64];

static void write_samples(const char *text)
{
    snprintf(sample_path, sizeof sample_path, "/tmp/dlsim-samples-%d.txt", (int)getpid());
    FILE *f = fopen(sample_path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

/* When job 1 starts: job 0 of `duration_s` has run 50 s when it comes. */
static void check_second_start(const char *sched, const char *samples, double duration_s,
                               double start_s)
{
    const case_job jobs[] = {{.duration_s = duration_s, .gpus = 1},
                             {.submit_s = 50, .duration_s = 5, .gpus = 1},
                             {.submit_s = 90, .duration_s = 5, .gpus = 1}};
    sim_setup s;
    setup_init(&s, case_cluster(1, 1, 0), case_trace(jobs, 3), sched, "consolidated");
    write_samples(samples);
    setup_option(&s, "samples")->s = sample_path;
    if (strcmp(sched, "gittins") == 0) {
        setup_limits(&s, 1, (double[]){80});
    }
    dls_record *rec = case_run(&s.p);
    CHECK_S(rec->start_us[1], start_s);
    assert_int_equal(rec->preempts[0] > 0, start_s < duration_s);
    dls_record_destroy(rec);
    setup_fini(&s);
}

static void test_distribution(void **unused)
{
    (void)unused;
    /* Most jobs are short, a few are long: whoever has run 50 s will go on. With a header line. */
    static const char heavy[] = "gpu_seconds\n10\n10\n10\n10\n10\n10\n10\n10\n10\n1000\n";
    /* All last 100: whoever has run 50 is nearly done. */
    static const char equal[] = "100\n100\r\n\n100,\n";
    check_second_start("gittins", heavy, 500, 50);
    check_second_start("shortest-expected", heavy, 500, 50);
    check_second_start("gittins", equal, 75, 75);
    check_second_start("shortest-expected", equal, 75, 75);
    /* Beyond all samples a job is expected to take as long again as it has, which counts from the
     * next time on that anything happens. */
    check_second_start("shortest-expected", "60\n60\n", 500, 90);
}

static void test_bad_samples(void **unused)
{
    (void)unused;
    static const struct {
        const char *text, *line;
    } bad[] = {
        {"", ""},           {"header\n", ""},     {"1\ntwo\n3\n", ":2"},
        {"1\n2 3\n", ":2"}, {"1\n\n-4\n", ":3"},  {"5\ninf\n", ":2"},
        {"nan\n", ":1"},    {"1\n1e999\n", ":2"},
    };
    static const case_job jobs[] = {{.duration_s = 10, .gpus = 1}};
    static const char *const scheds[] = {"gittins", "shortest-expected"};
    for (size_t k = 0; k < 2; k++) {
        sim_setup s;
        dls_record *rec = NULL;
        dls_error err;
        char where[96];
        setup_init(&s, case_cluster(1, 1, 0), case_trace(jobs, 1), scheds[k], "consolidated");
        setup_option(&s, "samples")->s = sample_path;
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
            write_samples(bad[i].text);
            assert_int_equal(dls_sim_run(&s.p, &rec, &err), DLS_EINPUT);
            assert_null(rec);
            snprintf(where, sizeof where, "%s%s", sample_path, bad[i].line);
            assert_string_equal(err.where, where);
        }
        setup_option(&s, "samples")->s = "/nonexistent/samples";
        assert_int_equal(dls_sim_run(&s.p, &rec, &err), DLS_EINPUT);
        assert_string_equal(err.where, "/nonexistent/samples");
        setup_fini(&s);
    }
    unlink(sample_path);
}

static void test_bad_thresholds(void **unused)
{
    (void)unused;
    static const case_job jobs[] = {{.duration_s = 10, .gpus = 1}};
    static const char *const scheds[] = {"dlas", "dlas-gpu", "gittins", "multi-dlas-gpu"};
    static const double bad[][2] = {{0, 10}, {10, 10}, {20, 10}, {1e-9, 5}};
    for (size_t k = 0; k < 4; k++) {
        sim_setup s;
        dls_record *rec = NULL;
        dls_error err;
        setup_init(&s, case_cluster(1, 1, 0), case_trace(jobs, 1), scheds[k], "consolidated");
        for (size_t i = 0; i < 4; i++) {
            setup_limits(&s, 2, bad[i]);
            assert_int_equal(dls_sim_run(&s.p, &rec, &err), DLS_ECONFIG);
            assert_string_equal(err.where, scheds[k]);
        }
        setup_limits(&s, 0, NULL); /* one queue for all */
        rec = case_run(&s.p);
        assert_true(rec->complete);
        dls_record_destroy(rec);
        setup_fini(&s);
    }
}

/* Service that no key can hold is an error at once, and not a wrong order. */
static void test_service_too_large(void **unused)
{
    (void)unused;
    static const case_job jobs[] = {{.submit_s = 5, .duration_s = 3e10, .gpus = 600}};
    static const char *const scheds[] = {"srsf", "shortest-expected"};
    for (size_t k = 0; k < 2; k++) {
        sim_setup s;
        dls_record *rec = NULL;
        dls_error err;
        setup_init(&s, case_cluster(100, 8, 0), case_trace(jobs, 1), scheds[k], "consolidated");
        assert_int_equal(dls_sim_run(&s.p, &rec, &err), DLS_ERUN);
        assert_string_equal(err.where, scheds[k]);
        assert_null(rec);
        setup_policy(&s, "srtf", "consolidated");
        rec = case_run(&s.p);
        CHECK_S(rec->end_us[0], 3e10 + 5);
        dls_record_destroy(rec);
        setup_fini(&s);
    }
}

/* A world in which every job runs at one rate, or nobody does. */
static int64_t slow_rate;
static dls_rate_change slow_change[2];
static size_t slow_changes;

static dls_status slow_start(void *user, int32_t job, int32_t type, const dls_seat *seats, size_t n,
                             dls_error *err)
{
    (void)user;
    (void)type;
    (void)seats;
    (void)n;
    (void)err;
    slow_change[slow_changes++] = (dls_rate_change){job, slow_rate};
    return DLS_OK;
}

static void slow_stop(void *user, int32_t job)
{
    (void)user;
    (void)job;
}

static dls_status slow_settle(void *user, const dls_rate_change **changed, size_t *n,
                              dls_error *err)
{
    (void)user;
    (void)err;
    *changed = slow_change;
    *n = slow_changes;
    slow_changes = 0;
    return DLS_OK;
}

/* The same when it is the rate that makes the service large. What can be held is ordered rightly.
 */
static void test_slow_rate(void **unused)
{
    (void)unused;
    const dls_pace pace = {.work_us = fake_work_us,
                           .start = slow_start,
                           .stop = slow_stop,
                           .link_scale = fake_link_scale,
                           .settle = slow_settle};
    static const case_job jobs[] = {{.duration_s = 2e8, .gpus = 8},
                                    {.submit_s = 10, .duration_s = 100, .gpus = 8}};
    static const char *const scheds[] = {"srsf", "shortest-expected", "srtf"};
    for (size_t k = 0; k < 6; k++) {
        sim_setup s;
        dls_record *rec = NULL;
        dls_error err;
        fake_world world = {0};
        dls_pace own = pace;
        setup_init(&s, case_cluster(1, 8, 0), case_trace(jobs, 2), scheds[k % 3], "consolidated");
        world.trace = s.trace;
        own.user = &world;
        s.p.pace = &own;
        s.p.until_us = S(60 * 86400);
        slow_changes = 0;
        slow_rate = k < 3 ? DLS_RATE_ONE / 10000 : DLS_RATE_ONE / 1000;
        if (k < 2) {
            assert_int_equal(dls_sim_run(&s.p, &rec, &err), DLS_ERUN);
            assert_string_equal(err.where, scheds[k]);
            assert_null(rec);
        } else {
            rec = case_run(&s.p);
            assert_int_equal(rec->preempts[0], k % 3 == 1 ? 0 : 1);
            dls_record_destroy(rec);
        }
        setup_fini(&s);
    }
}

/* Keys that fall as jobs run leave room for that. */
static int64_t high_key;

static void high(void *state, const dls_view *view, int32_t job, dls_job_event why,
                 dls_priority *out)
{
    (void)state;
    (void)view;
    (void)job;
    (void)why;
    out->key = high_key;
}

static void test_keys_too_large(void **unused)
{
    (void)unused;
    static const case_job jobs[] = {{.submit_s = 5, .duration_s = 10, .gpus = 2}};
    dls_sched_ops ops = {
        .abi = DLS_POLICY_ABI, .name = "high", .discipline = DLS_PREEMPT, .priority = high};
    static const int64_t keys[] = {INT64_MAX, INT64_MIN, INT64_MAX / 2, -INT64_MAX / 2};
    for (int k = 0; k < 12; k++) {
        sim_setup s;
        dls_record *rec = NULL;
        dls_error err;
        setup_init(&s, case_cluster(1, 8, 0), case_trace(jobs, 1), "fifo", "consolidated");
        high_key = keys[k % 4];
        ops.ageing = (dls_ageing)(k / 4);
        s.p.sched = &ops;
        const dls_status status = dls_sim_run(&s.p, &rec, &err);
        assert_int_equal(status, k >= 4 && k % 4 < 2 ? DLS_EPOLICY : DLS_OK);
        assert_true(status == DLS_OK || strcmp(err.where, "high") == 0);
        dls_record_destroy(rec);
        setup_fini(&s);
    }
}

static void test_service(void **unused)
{
    (void)unused;
    assert_int_equal(dls_service_us(7, 3), 21);
    assert_int_equal(dls_service_us(0, INT32_MAX), 0);
    assert_int_equal(dls_service_us(INT64_MAX / 4, 1), INT64_MAX / 4);
    assert_int_equal(dls_service_us(INT64_MAX / 4, 2), INT64_MAX / 4);
    assert_int_equal(dls_service_us(INT64_MAX, 3), INT64_MAX / 4);
}

/* However many gang sizes there are, a pass looks at few of the jobs that wait. */
static void test_many_gang_sizes(void **unused)
{
    (void)unused;
    enum { SIZES = 800 };
    case_job *jobs = calloc(SIZES, sizeof *jobs);
    dls_rng rng = dls_rng_stream(11, DLS_RNG_TEST, 2);
    for (int j = 0; j < SIZES; j++) {
        const int k = (int)dls_rng_below(&rng, (uint64_t)j + 1); /* shuffled as it grows */
        jobs[j].gpus = jobs[k].gpus;
        jobs[k].gpus = j + 1;
        jobs[j].submit_s = 30.0 * j;
        jobs[j].duration_s = 60 + (double)dls_rng_below(&rng, 20000);
    }
    uint64_t most = 0;
    for (size_t k = 0; dls_scheds()[k]; k++) {
        const dls_sched_ops *sched = dls_scheds()[k];
        if (sched->pass || sched->round || sched->discipline == DLS_EASY) {
            continue; /* walk, or look at all gangs that fit in the free GPUs */
        }
        sim_setup s;
        setup_init(&s, case_cluster(140, 8, 0), case_trace(jobs, SIZES), sched->name, "first-fit");
        s.p.audit = s.p.want_allocs = s.p.want_series = false;
        dls_record *rec = case_run(&s.p);
        assert_true(rec->complete && rec->positions > 0);
        if (rec->positions > 12 * rec->events) {
            fail_msg("%s looks at %llu jobs in %llu events", sched->name,
                     (unsigned long long)rec->positions, (unsigned long long)rec->events);
        }
        most = rec->positions / rec->events > most ? rec->positions / rec->events : most;
        dls_record_destroy(rec);
        setup_fini(&s);
    }
    print_message("at most %llu jobs looked at in an event\n", (unsigned long long)most);
    free(jobs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_demotion_on_time),
        cmocka_unit_test(test_starvation),
        cmocka_unit_test(test_discipline),
        cmocka_unit_test(test_estimates),
        cmocka_unit_test(test_spare),
        cmocka_unit_test(test_room_of_several),
        cmocka_unit_test(test_refused_makes_nobody_move),
        cmocka_unit_test(test_turns),
        cmocka_unit_test(test_turns_only_when_others_wait),
        cmocka_unit_test(test_turns_are_fair),
        cmocka_unit_test(test_shares),
        cmocka_unit_test(test_shares_random),
        cmocka_unit_test(test_distribution),
        cmocka_unit_test(test_bad_samples),
        cmocka_unit_test(test_bad_thresholds),
        cmocka_unit_test(test_service_too_large),
        cmocka_unit_test(test_slow_rate),
        cmocka_unit_test(test_keys_too_large),
        cmocka_unit_test(test_service),
        cmocka_unit_test(test_many_gang_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
