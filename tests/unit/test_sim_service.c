/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Schedulers that order by service: a distribution that they know, and services and keys at the
 * limits of what can be held.
 */
#include "support/fake_world.h"
#include "support/sim_setup.h"
#include "support/test.h"

#include <unistd.h>

#define CHECK_S(us, seconds) assert_int_equal((us), S(seconds))

/* ---- policies that know a distribution ------------------------------------------------------- */

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
    DLS_OWN(setup_fini) sim_setup s = {0};
    setup_init(&s, case_cluster(1, 1, 0), case_trace(jobs, 3), sched, "consolidated");
    write_samples(samples);
    setup_option(&s, "samples")->s = sample_path;
    if (strcmp(sched, "gittins") == 0) {
        setup_limits(&s, 1, (double[]){80});
    }
    DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
    CHECK_S(rec->start_us[1], start_s);
    assert_int_equal(rec->preempts[0] > 0, start_s < duration_s);
}

TEST(test_distribution)
{
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

TEST(test_bad_samples)
{
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
        DLS_OWN(setup_fini) sim_setup s = {0};
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
    }
    unlink(sample_path);
}

TEST(test_bad_thresholds)
{
    static const case_job jobs[] = {{.duration_s = 10, .gpus = 1}};
    static const char *const scheds[] = {"dlas", "dlas-gpu", "gittins", "multi-dlas-gpu"};
    static const double bad[][2] = {{0, 10}, {10, 10}, {20, 10}, {1e-9, 5}};
    for (size_t k = 0; k < 4; k++) {
        DLS_OWN(setup_fini) sim_setup s = {0};
        DLS_HOLD(dls_record_destroy) dls_record *rec = NULL;
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
    }
}

/* Service that no key can hold is an error at once, and not a wrong order. */
TEST(test_service_too_large)
{
    static const case_job jobs[] = {{.submit_s = 5, .duration_s = 3e10, .gpus = 600}};
    static const char *const scheds[] = {"srsf", "shortest-expected"};
    for (size_t k = 0; k < 2; k++) {
        DLS_OWN(setup_fini) sim_setup s = {0};
        DLS_HOLD(dls_record_destroy) dls_record *rec = NULL;
        dls_error err;
        setup_init(&s, case_cluster(100, 8, 0), case_trace(jobs, 1), scheds[k], "consolidated");
        assert_int_equal(dls_sim_run(&s.p, &rec, &err), DLS_ERUN);
        assert_string_equal(err.where, scheds[k]);
        assert_null(rec);
        setup_policy(&s, "srtf", "consolidated");
        rec = case_run(&s.p);
        CHECK_S(rec->end_us[0], 3e10 + 5);
    }
}

/* A world in which every job runs at one rate, or nobody does. */
static int64_t slow_rate;
static dls_rate_change slow_change[2];
static size_t slow_changes;

static dls_status slow_start(dls_world *w, int32_t job, int32_t type, const dls_seat *seats, size_t n,
                             dls_error *err)
{
    slow_change[slow_changes++] = (dls_rate_change){job, slow_rate};
    return DLS_OK;
}

static void slow_stop(dls_world *w, int32_t job)
{
}

static dls_status slow_settle(dls_world *w, const dls_rate_change **changed, size_t *n,
                              dls_error *err)
{
    *changed = slow_change;
    *n = slow_changes;
    slow_changes = 0;
    return DLS_OK;
}

/* The same when it is the rate that makes the service large. What can be held is ordered rightly.
 */
TEST(test_slow_rate)
{
    const dls_pace pace = {.work_us = fake_work_us,
                           .start = slow_start,
                           .stop = slow_stop,
                           .link_scale = fake_link_scale,
                           .settle = slow_settle};
    static const case_job jobs[] = {{.duration_s = 2e8, .gpus = 8},
                                    {.submit_s = 10, .duration_s = 100, .gpus = 8}};
    static const char *const scheds[] = {"srsf", "shortest-expected", "srtf"};
    for (size_t k = 0; k < 6; k++) {
        DLS_OWN(setup_fini) sim_setup s = {0};
        dls_record *rec = NULL;
        dls_error err;
        fake_world world = {0};
        dls_pace own = pace;
        setup_init(&s, case_cluster(1, 8, 0), case_trace(jobs, 2), scheds[k % 3], "consolidated");
        world.trace = s.trace;
        own.world = &world;
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
    }
}

/* Keys that fall as jobs run leave room for that. */
static int64_t high_key;

static void high(void *state, const dls_view *view, int32_t job, dls_job_event why,
                 dls_priority *out)
{
    out->key = high_key;
}

TEST(test_keys_too_large)
{
    static const case_job jobs[] = {{.submit_s = 5, .duration_s = 10, .gpus = 2}};
    dls_sched_ops ops = {
        .abi = DLS_POLICY_ABI, .name = "high", .discipline = DLS_PREEMPT, .priority = high};
    static const int64_t keys[] = {INT64_MAX, INT64_MIN, INT64_MAX / 2, -INT64_MAX / 2};
    for (int k = 0; k < 12; k++) {
        DLS_OWN(setup_fini) sim_setup s = {0};
        DLS_HOLD(dls_record_destroy) dls_record *rec = NULL;
        dls_error err;
        setup_init(&s, case_cluster(1, 8, 0), case_trace(jobs, 1), "fifo", "consolidated");
        high_key = keys[k % 4];
        ops.ageing = (dls_ageing)(k / 4);
        s.p.sched = &ops;
        const dls_status status = dls_sim_run(&s.p, &rec, &err);
        assert_int_equal(status, k >= 4 && k % 4 < 2 ? DLS_EPOLICY : DLS_OK);
        assert_true(status == DLS_OK || strcmp(err.where, "high") == 0);
    }
}

TEST(test_service)
{
    assert_int_equal(dls_service_us(7, 3), 21);
    assert_int_equal(dls_service_us(0, INT32_MAX), 0);
    assert_int_equal(dls_service_us(INT64_MAX / 4, 1), INT64_MAX / 4);
    assert_int_equal(dls_service_us(INT64_MAX / 4, 2), INT64_MAX / 4);
    assert_int_equal(dls_service_us(INT64_MAX, 3), INT64_MAX / 4);
}

/* However many gang sizes there are, a pass looks at few of the jobs that wait. */
TEST(test_many_gang_sizes)
{
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
        DLS_OWN(setup_fini) sim_setup s = {0};
        setup_init(&s, case_cluster(140, 8, 0), case_trace(jobs, SIZES), sched->name, "first-fit");
        s.p.audit = s.p.want_allocs = s.p.want_series = false;
        DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
        assert_true(rec->complete && rec->positions > 0);
        if (rec->positions > 12 * rec->events) {
            fail_msg("%s looks at %llu jobs in %llu events", sched->name,
                     (unsigned long long)rec->positions, (unsigned long long)rec->events);
        }
        most = rec->positions / rec->events > most ? rec->positions / rec->events : most;
    }
    print_message("at most %llu jobs looked at in an event\n", (unsigned long long)most);
    free(jobs);
}
