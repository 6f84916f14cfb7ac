/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The compatibility engine at its edges: what it refuses, what must not hang, failing memory, its
 * input files, and decimal rounding.
 */
#include "base/alloc.h"
#include "support/must.h"
#include "support/refuse.h"
#include "support/trace_of.h"
#include "tiresias/gittins.h"
#include "tiresias/tiresias.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct row {
    int64_t gpus, submit_s, duration_s;
} row;

static dls_trace *make_trace(const row *rows, size_t n)
{
    dls_trace *trace;
    EACH_JOB(job, n, &trace) {
        job.rec.gpus_milli = rows[job.i].gpus * 1000;
        job.rec.submit_us = rows[job.i].submit_s * DLS_US_PER_S;
        job.rec.duration_us = rows[job.i].duration_s * DLS_US_PER_S;
    }
    return trace;
}

static const int64_t some_samples[] = {10, 20, 30, 500, 4000, 9000};

static dls_status within_capacity(void *user, const dls_tiresias_event *e, dls_error *err)
{
    const dls_tiresias_cluster *k = user;
    assert_in_range(e->busy_gpus, 0, (int64_t)e->n_nodes * k->gpus_per_node);
    return DLS_OK;
}

static dls_status run(const char *schedule, const char *scheme, dls_tiresias_cluster cluster,
                      const dls_trace *trace, dls_record **rec, dls_error *err)
{
    dls_tiresias_params p;
    p = DLS_TIRESIAS_DEFAULTS;
    p.schedule = schedule;
    p.scheme = scheme;
    p.cluster = cluster;
    p.samples = some_samples;
    p.n_samples = 6;
    p.on_event = within_capacity;
    p.user = &cluster;
    DLS_TRY(dls_record_create(dls_trace_cols(trace)->n, rec, err));
    const dls_status status = dls_tiresias_run(&p, trace, *rec, err);
    if (status != DLS_OK) {
        dls_record_destroy(*rec);
        *rec = NULL;
    }
    return status;
}

static const char *scheme_of(const dls_tiresias_schedule *s, bool last)
{
    const char *space = strrchr(s->schemes, ' ');
    return strcmp(s->schemes, "count yarn") == 0 ? (last ? space + 1 : "count") : s->schemes;
}

/* Every schedule ends the same four jobs; the capacity is never exceeded and nothing is left. */
TEST(test_every_schedule_ends_jobs)
{
    const row rows[] = {{1, 0, 4000}, {2, 10, 50}, {4, 700, 300}, {1, 700, 7300}};
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = make_trace(rows, 4);
    size_t n;
    const dls_tiresias_schedule *s = dls_tiresias_schedules(&n);
    for (size_t i = 0; i < 2 * n; i++) {
        DLS_HOLD(dls_record_destroy) dls_record *rec = NULL;
        dls_error err = {0};
        const dls_tiresias_cluster k = {1, 2, 4, 64, 256};
        const char *scheme = scheme_of(&s[i / 2], i % 2);
        assert_int_equal(run(s[i / 2].name, scheme, k, trace, &rec, &err), DLS_OK);
        assert_true(rec->complete);
        for (size_t j = 0; j < 4; j++) {
            /* multi-dlas-gpu shares GPUs out at fixed times only and may strand the last jobs. */
            if (strcmp(s[i / 2].name, "multi-dlas-gpu") != 0) {
                assert_int_equal(rec->state[j], DLS_JOB_FINISHED);
                assert_true(rec->end_us[j] - rec->start_us[j] >= rows[j].duration_s * 1000000);
            }
        }
    }
}

/* The original never gets past a job whose GPUs exceed what is left of a queue's limit. */
TEST(test_huge_gang_does_not_stand_still)
{
    const row rows[] = {{4000, 0, 10}, {8000, 5, 10}, {3601, 6, 7}};
    const char *const schedules[] = {"dlas-gpu", "dlas-gpu-05", "dlas-gpu-gittins"};
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = make_trace(rows, 3);
    for (size_t i = 0; i < 3; i++) {
        DLS_HOLD(dls_record_destroy) dls_record *rec = NULL;
        const dls_tiresias_cluster k = {1, 1000, 8, 64, 256};
        assert_int_equal(run(schedules[i], "count", k, trace, &rec, NULL), DLS_OK);
        for (size_t j = 0; j < 3; j++) {
            assert_int_equal(rec->state[j], DLS_JOB_FINISHED);
            assert_int_equal(rec->executed_us[j], rows[j].duration_s * 1000000);
        }
    }
}

TEST(test_infeasible_jobs_wait_and_the_run_ends)
{
    const row rows[] = {{9, 0, 10}, {1, 0, 10}, {16, 3, 10}};
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = make_trace(rows, 3);
    size_t n;
    const dls_tiresias_schedule *s = dls_tiresias_schedules(&n);
    for (size_t i = 0; i < n; i++) {
        if (strcmp(s[i].name, "gandiva") == 0) {
            continue; /* has no sets for 9 GPUs */
        }
        DLS_HOLD(dls_record_destroy) dls_record *rec = NULL;
        const dls_tiresias_cluster k = {1, 1, 8, 64, 256};
        assert_int_equal(run(s[i].name, scheme_of(&s[i], true), k, trace, &rec, NULL), DLS_OK);
        assert_int_equal(rec->state[0], DLS_JOB_PENDING);
        assert_int_equal(rec->start_us[2], -1);
    }
}

/* fifo loses the end of a job of no duration; the preemptive schedules do not. */
TEST(test_zero_duration)
{
    const row rows[] = {{1, 0, 0}, {4, 5, 5}};
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = make_trace(rows, 2);
    DLS_HOLD(dls_record_destroy) dls_record *rec = NULL;
    const dls_tiresias_cluster k = {1, 1, 4, 64, 256};
    assert_int_equal(run("fifo", "yarn", k, trace, &rec, NULL), DLS_OK);
    assert_int_equal(rec->state[0], DLS_JOB_RUNNING);
    assert_int_equal(rec->state[1], DLS_JOB_PENDING);
    dls_record_destroy(rec);
    assert_int_equal(run("dlas", "yarn", k, trace, &rec, NULL), DLS_OK);
    assert_int_equal(rec->end_us[0], 0);
    assert_int_equal(rec->end_us[1], 10000000);
}

/* Seconds beyond 2^31, and time that leaves the range of microseconds. */
TEST(test_large_times)
{
    const int64_t far_s = INT64_C(30000000000);
    const row rows[] = {{1, far_s, far_s}, {1, far_s, far_s}};
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = make_trace(rows, 2);
    dls_record *rec;
    const dls_tiresias_cluster k = {1, 1, 1, 64, 256};
    const char *const schedules[] = {"fifo", "sjf", "shortest-gpu", "dlas-gpu-1000"};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(run(schedules[i], "count", k, trace, &rec, NULL), DLS_OK);
        const int64_t a = rec->end_us[0], b = rec->end_us[1];
        assert_true((a > b ? a : b) == 3 * far_s * 1000000);
        dls_record_destroy(rec);
    }
    dls_trace_destroy(trace);
    row *many = calloc(400, sizeof *many);
    assert_non_null(many);
    for (size_t i = 0; i < 400; i++) {
        many[i] = (row){1, 0, far_s};
    }
    trace = make_trace(many, 400);
    MUST_FAIL(DLS_ERUN, "simulated time", run("fifo", "count", k, trace, &rec, &e));
    free(many);
}

TEST(test_refusals)
{
    static const struct {
        const char *schedule, *scheme, *text;
    } cases[] = {
        {"dlas-gpuu", "count", "did you mean 'dlas-gpu'"},
        {"gittins", "count", "dlas-gpu-gittins"},
        {"fifo", "yran", "did you mean 'yarn'"},
        {"fifo", "random", "crashes"},
        {"fifo", "greedy", "stub"},
        {"multi-dlas-gpu", "yarn", "works with scheme count"},
        {"gandiva", "count", "works with scheme gandiva"},
        {"fifo", "gandiva", "works with scheme count or yarn"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        dls_tiresias_params p;
        dls_error err = {0};
        p = DLS_TIRESIAS_DEFAULTS;
        p.schedule = cases[i].schedule;
        p.scheme = cases[i].scheme;
        assert_int_equal(dls_tiresias_check(&p, &err), DLS_EUSAGE);
        if (!strstr(err.msg, cases[i].text)) {
            fail_msg("%s, %s: %s", p.schedule, p.scheme, err.msg);
        }
    }
    dls_tiresias_params p;
    p = DLS_TIRESIAS_DEFAULTS;
    p.cluster = (dls_tiresias_cluster){INT32_MAX, INT32_MAX, 8, 1, 1};
    assert_int_equal(dls_tiresias_check(&p, NULL), DLS_EINPUT);
    p.cluster = (dls_tiresias_cluster){1, 1, 0, 1, 1};
    assert_int_equal(dls_tiresias_check(&p, NULL), DLS_EINPUT);
}

/* Whichever allocation fails, the run reports it and leaves nothing behind. */
TEST(test_failing_memory)
{
    const row rows[] = {{1, 0, 4000}, {2, 10, 50}, {4, 700, 300}, {12, 700, 7300}};
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = make_trace(rows, 4);
    size_t n;
    const dls_tiresias_schedule *s = dls_tiresias_schedules(&n);
    for (size_t i = 0; i < 2 * n; i++) {
        dls_status status = DLS_ENOMEM;
        for (int fail_at = 0; status != DLS_OK; fail_at++) {
            DLS_HOLD(dls_record_destroy) dls_record *rec = NULL;
            const dls_tiresias_cluster k = {1, 4, 4, 64, 256};
            REFUSED(status, fail_at,
                    run(s[i / 2].name, scheme_of(&s[i / 2], i % 2), k, trace, &rec, NULL));
            assert_true(status == DLS_OK || status == DLS_ENOMEM);
            assert_true(fail_at > 3 || status == DLS_ENOMEM);
        }
    }
}

static const char *write_file(const char *text)
{
    static char path[] = "test_compat_input.csv";
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    return path;
}

TEST(test_cluster_file)
{
    static const struct {
        const char *text, *where, *message;
    } bad[] = {
        {"", "", "no header line"},
        {"num_switch,num_node_p_switch,num_gpu_p_node,num_cpu_p_node\n1,2,3,4\n", ":1",
         "lacks the column 'mem_p_node'"},
        {"num_switch,num_node_p_switch,num_gpu_p_node,num_cpu_p_node,mem_p_node\n", ":1", "no row"},
        {"num_switch,num_node_p_switch,num_gpu_p_node,num_cpu_p_node,mem_p_node\n1,2,x,4,5\n", ":2",
         "num_gpu_p_node"},
        {"num_switch,num_node_p_switch,num_gpu_p_node,num_cpu_p_node,mem_p_node\n1,2,0,4,5\n", ":2",
         "at least 1"},
        {"num_switch,num_node_p_switch,num_gpu_p_node,num_cpu_p_node,mem_p_node\n1,2,3\n", ":2",
         "3 cells, but the header has 5"},
        {"num_switch,num_node_p_switch,num_gpu_p_node,num_cpu_p_node,mem_p_node\n"
         "1,2,3,4,5\n1,2,3,4,5\n",
         ":3", "one row"},
        {"num_switch,num_node_p_switch,num_gpu_p_node,num_cpu_p_node,mem_p_node\n"
         "1,2,99999999999999999999,4,5\n",
         ":2", "whole number"},
    };
    dls_tiresias_cluster k;
    dls_error err = {0};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(dls_tiresias_load_cluster(write_file(bad[i].text), &k, &err), DLS_EINPUT);
        assert_non_null(strstr(err.where, bad[i].where));
        if (!strstr(err.msg, bad[i].message)) {
            fail_msg("%zu: %s", i, err.msg);
        }
    }
    const char *good = "\xEF\xBB\xBFmem_p_node,num_switch,note,num_node_p_switch, num_gpu_p_node,"
                       "num_cpu_p_node\r\n254,1,x,16,4,128\r\n\r\n";
    assert_int_equal(dls_tiresias_load_cluster(write_file(good), &k, &err), DLS_OK);
    assert_int_equal(k.switches, 1);
    assert_int_equal(k.nodes_per_switch, 16);
    assert_int_equal(k.gpus_per_node, 4);
    assert_int_equal(k.cpus_per_node, 128);
    assert_int_equal(k.mem_gb_per_node, 254);
    unlink("test_compat_input.csv");
    assert_int_equal(dls_tiresias_load_cluster("test_compat_input.csv", &k, &err), DLS_EINPUT);
}

TEST(test_samples_file)
{
    int64_t *v;
    size_t n;
    dls_error err = {0};
    assert_int_equal(dls_tiresias_load_samples(write_file("duration\n7\n3\n5\n"), &v, &n, &err),
                     DLS_OK);
    assert_int_equal(n, 3);
    assert_int_equal(v[0], 3);
    assert_int_equal(v[2], 7);
    dls_free(v);
    const char *const bad[] = {"duration\n", "7\n3\n", "duration\n7\n-3\n", "duration\n0\n",
                               "duration\n1.5\n"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(dls_tiresias_load_samples(write_file(bad[i]), &v, &n, &err), DLS_EINPUT);
        dls_free(v);
    }
    unlink("test_compat_input.csv");
}

/* 0.125 and 0.375 are exact in binary, 0.145 lies below its decimal, 1.005 too. */
TEST(test_rounding)
{
    static const struct {
        double x, scale;
        int64_t python2, python3;
    } cases[] = {
        {0.125, 100, 13, 12},
        {0.375, 100, 38, 38},
        {0.145, 100, 14, 14},
        {1.005, 100, 100, 100},
        {0.5, 1, 1, 0},
        {1.5, 1, 2, 2},
        {2.5, 1, 3, 2},
        {0, 1e5, 0, 0},
        {0.0000050001, 1e5, 1, 1},
        {123456.78125, 1e4, 1234567813, 1234567812},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(dls_tir_round_scaled(cases[i].x, cases[i].scale, false), cases[i].python2);
        assert_int_equal(dls_tir_round_scaled(cases[i].x, cases[i].scale, true), cases[i].python3);
    }
}
