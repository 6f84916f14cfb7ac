/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Statistics of the published traces against figures that were computed independently (numpy, from
 * the same files), to the digits printed there: durations and gaps to five significant digits.
 * A figure is right when rounding ours to the digits of theirs gives theirs. Muri's durations are
 * iterations x iteration_time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/owners.h"
#include "support/shared.h"
#include "dlsim/traces.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DAY_US (INT64_C(86400) * DLS_US_PER_S)
#define MAX_SIZES 6

typedef struct size_share {
    double gpus, jobs_percent, gpu_time_percent; /* -1: not printed there */
} size_share;

typedef struct expected {
    const char *title, *path;
    const char *vc;         /* only this virtual cluster */
    int64_t from_us, to_us; /* only submissions in [from, to); to 0: all */
    uint64_t jobs, zero_duration;
    double span_d;
    double mean_gpus, max_gpus;
    double duration_s[DLS_STATS_QUANTILES], duration_mean_s;
    double gap_s[DLS_STATS_QUANTILES], gap_mean_s, gap_cv;
    double gpu_h, busy_gpus, peak_gpus;
    size_share sizes[MAX_SIZES];
} expected;

/* Time 0 is 2017-08-14 23:27:00; from 2017-10-03 00:00 to the end of day 123, 2017-12-15 23:27. */
#define WINDOW_FROM_US (INT64_C(49) * DAY_US + INT64_C(1980) * DLS_US_PER_S)
#define WINDOW_TO_US (INT64_C(123) * DAY_US)

/* clang-format off */
static const expected traces[] = {
    {.title = "Philly, filtered copy", .path = "philly_msr_2017/philly.csv",
     .jobs = 82247, .span_d = 108.90, .mean_gpus = 1.30, .max_gpus = 128,
     .duration_s = {17, 48, 115, 1144, 2932, 11265, 43646, 2.5476e+05, 4.6282e+06},
     .duration_mean_s = 13136,
     .gap_s = {0, 0, 3, 8, 44, 361, 599, 601, 2.472e+05}, .gap_mean_s = 114.40, .gap_cv = 15.14,
     .gpu_h = 978078, .busy_gpus = 374.2, .peak_gpus = 1243,
     .sizes = {{1, 93.2, 18.1}, {2, 2.2, 3.2}, {4, 2.3, 16.7}, {8, 2.0, 48.4}, {16, .2, 11.5},
               {32, .1, 1.8}}},
    {.title = "Philly, full copy", .path = "philly_msr_2017/philly_trace.csv",
     .jobs = 111549, .zero_duration = 10, .span_d = 129.36, .mean_gpus = 1.74, .max_gpus = 128,
     .duration_s = {13, 35, 140, 1321, 5361, 33474, 1.2392e+05, 7.5554e+05, 5.1962e+06},
     .duration_mean_s = 35595,
     .gap_s = {0, 0, 2, 8, 47, 221, 397, 600, 2.6656e+05}, .gap_mean_s = 100.19, .gap_cv = 19.83,
     .gpu_h = 3622169, .busy_gpus = 1166.7, .peak_gpus = 2796,
     .sizes = {{1, 86.7, 18.0}, {2, 2.3, 2.6}, {4, 4.9, 17.2}, {8, 5.1, 48.7}, {16, .8, 10.2},
               {32, -1, 2.3}}},
    {.title = "Philly, full copy, October to mid December",
     .path = "philly_msr_2017/philly_trace.csv",
     .from_us = WINDOW_FROM_US, .to_us = WINDOW_TO_US,
     .jobs = 99050, .zero_duration = 9, .span_d = 73.97, .mean_gpus = 1.72, .max_gpus = 128,
     .duration_s = {14, 36, 177, 1462, 5524.8, 30160, 1.129e+05, 5.9935e+05, 5.1859e+06},
     .duration_mean_s = 28796,
     .gap_s = {0, 0, 2, 8, 42, 208, 375, 600, 16970}, .gap_mean_s = 64.53, .gap_cv = 2.96,
     .gpu_h = 2794765, .busy_gpus = 1574.2, .peak_gpus = 2704,
     .sizes = {{1, 86.8, 15.5}, {2, 2.3, 2.6}, {4, 5.0, 18.7}, {8, 4.9, 48.1}, {16, .7, 11.4},
               {32, .2, 2.7}}},
    {.title = "Philly, jobs with attempts", .path = "philly_msr_2017/jobs.json",
     .jobs = 3034, .span_d = 108.76, .mean_gpus = 7.13, .max_gpus = 128,
     .duration_s = {619.98, 908.3, 10084, 50432, 1.6505e+05, 2.9425e+05, 4.9826e+05, 1.1136e+06,
                    4.6282e+06},
     .duration_mean_s = 128210,
     .gap_s = {0, 4, 43, 759, 2992, 6778, 10545, 23455, 6.6486e+05},
     .gap_mean_s = 3098.19, .gap_cv = 5.25,
     .gpu_h = 772361, .busy_gpus = 295.9, .peak_gpus = 836,
     .sizes = {{4, 48.0, 21.2}, {8, 44.6, 61.5}, {16, 4.9, 14.5}, {32, 2.0, 2.3}}},
    {.title = "Helios Venus", .path = "helios_2020/helios_trace.csv",
     .jobs = 125303, .span_d = 193.83, .mean_gpus = 6.74, .max_gpus = 200,
     .duration_s = {1, 6, 72, 204, 1285, 18201, 58054, 1.728e+05, 1.728e+05},
     .duration_mean_s = 9088,
     .gap_s = {0, 0, 11, 44, 116, 250, 411, 1222, 6.5151e+05}, .gap_mean_s = 133.65,
     .gap_cv = 14.73, .gpu_h = 2423407, .busy_gpus = 520.9, .peak_gpus = 1240,
     .sizes = {{1, 51.8, 4.7}, {2, 5.5, 2.9}, {4, 7.3, 5.0}, {8, 24.7, 28.0}, {16, 4.2, 17.2},
               {32, 2.7, 23.3}}},
    {.title = "Helios Venus vcvGl", .path = "helios_2020/helios_venus_2vc_sept.csv", .vc = "vcvGl",
     .jobs = 1452, .span_d = 25.65, .mean_gpus = 57.96, .max_gpus = 144,
     .duration_s = {2, 4, 9, 80, 194.25, 1571.6, 5772.9, 1.5168e+05, 5.6733e+05},
     .duration_mean_s = 4606,
     .gap_s = {0, 2, 6, 24, 112, 633, 3212.5, 41126, 1.7401e+05}, .gap_mean_s = 1527.52,
     .gap_cv = 6.28, .gpu_h = 109221, .busy_gpus = 177.4, .peak_gpus = 384,
     .sizes = {{8, 22.7, 3.2}, {16, 9.4, 4.9}, {32, 2.3, 10.1}, {104, .4, 1.2}, {128, 27.6, 73.4},
               {136, 2.3, 1.5}}},
    {.title = "Helios Venus vcvlY", .path = "helios_2020/helios_venus_2vc_sept.csv", .vc = "vcvlY",
     .jobs = 415, .span_d = 25.10, .mean_gpus = 8.68, .max_gpus = 16,
     .duration_s = {1, 15.7, 77.5, 192, 793.5, 12056, 57226, 1.6382e+05, 2.9358e+05},
     .duration_mean_s = 9307,
     .gap_s = {0, 0, 83, 220, 817.75, 6740, 21087, 1.0502e+05, 2.9197e+05}, .gap_mean_s = 5238.64,
     .gap_cv = 4.29, .gpu_h = 9097, .busy_gpus = 15.1, .peak_gpus = 32,
     .sizes = {{1, 2.4, -1}, {8, 87.0, 88.5}, {16, 10.6, 11.5}}},
    {.title = "Muri trace1", .path = "muri_philly_vcs/trace1.csv",
     .jobs = 1494, .span_d = 125.20, .mean_gpus = 4.95, .max_gpus = 32,
     .duration_s = {14.976, 55.86, 630.42, 14392, 1.3825e+05, 6.5581e+05, 1.7169e+06, 2.6583e+06,
                    4.6282e+06},
     .duration_mean_s = 250452,
     .gap_s = {3, 3, 7, 161, 2387, 15205, 34508, 1.4936e+05, 5.2298e+05}, .gap_mean_s = 7245.53,
     .gap_cv = 3.92, .gpu_h = 383326, .busy_gpus = 127.6, .peak_gpus = 349,
     .sizes = {{1, 35.9, 16.1}, {4, 28.3, 6.6}, {8, 31.1, 72.6}, {16, 2.7, 3.7}, {32, 1.7, -1}}},
    {.title = "Muri trace2", .path = "muri_philly_vcs/trace2.csv",
     .jobs = 5755, .span_d = 99.22, .mean_gpus = 5.18, .max_gpus = 32,
     .duration_s = {4.653, 26.838, 618.64, 8652.9, 67493, 2.3795e+05, 3.9891e+05, 1.4238e+06, 4.2574e+06},
     .duration_mean_s = 99986,
     .gap_s = {0, 4, 44, 297.5, 1149.8, 3140.9, 5797.4, 17184, 2.7278e+05}, .gap_mean_s = 1489.80,
     .gap_cv = 4.50, .gpu_h = 824080, .busy_gpus = 346.1, .peak_gpus = 837,
     .sizes = {{1, 40.6, 9.1}, {2, 3.0, -1}, {4, 16.3, 5.5}, {8, 31.7, 57.5}, {16, 7.4, 21.6},
               {32, 1.1, 5.9}}},
    {.title = "Muri trace4", .path = "muri_philly_vcs/trace4.csv",
     .jobs = 2638, .span_d = 85.23, .mean_gpus = 2.01, .max_gpus = 8,
     .duration_s = {24.254, 61.399, 195.98, 3317.6, 1.5389e+05, 3.6581e+05, 5.9177e+05, 9.8451e+05,
                    4.0141e+06},
     .duration_mean_s = 119336,
     .gap_s = {0, 1, 3, 4, 6, 16, 524.2, 80043, 5.8934e+05}, .gap_mean_s = 2792.55,
     .gap_cv = 8.66, .gpu_h = 204902, .busy_gpus = 100.2, .peak_gpus = 628,
     .sizes = {{1, 63.7, 18.9}, {2, 10.0, 17.4}, {4, 23.2, 56.9}, {8, 3.1, 6.7}}},
    {.title = "ElasticFlow, Philly VC 103959",
     .path = "elasticflow_a100_t4/traces_for_ElasticFlow/philly_103959.csv",
     .jobs = 876, .span_d = 91.56, .mean_gpus = 2.17, .max_gpus = 4,
     .duration_s = {622, 841.5, 13632, 24049, 82130, 1.8132e+05, 1.8887e+05, 2.6544e+05,
                    1.7924e+06},
     .duration_mean_s = 56571,
     .gap_s = {0, 0, 40, 1929, 8207, 23803, 37162, 99075, 3.7768e+05}, .gap_mean_s = 9040.61,
     .gap_cv = 2.55, .gpu_h = 42816, .busy_gpus = 19.5, .peak_gpus = 88,
     .sizes = {{1, 58.6, 7.5}, {2, 3.8, 6.1}, {4, 37.7, 86.4}}},
};
/* clang-format on */
#define N_TRACES (sizeof traces / sizeof traces[0])

static int wrong;

static void must(const expected *e, const char *what, double ours, double theirs, double digit)
{
    if (!(fabs(ours - theirs) <= .5 * digit * (1 + 1e-9))) {
        print_error("%s: %s is %.9g, published %.9g\n", e->title, what, ours, theirs);
        wrong++;
    }
}

/* Last of five significant digits. */
static double fifth(double value)
{
    return value > 0 ? pow(10, floor(log10(value)) - 4) : 1e-4;
}

static void must_dist(const expected *e, const char *what, const dls_stats_dist *ours,
                      const double *theirs)
{
    for (int i = 0; i < DLS_STATS_QUANTILES; i++) {
        must(e, what, ours->q[i], theirs[i], fifth(theirs[i]));
    }
}

static void must_sizes(const expected *e, const dls_trace_stats *s)
{
    for (const size_share *size = e->sizes; size < e->sizes + MAX_SIZES && size->gpus > 0; size++) {
        size_t i = 0;
        while (i < s->n_sizes && s->sizes[i].gpus_milli != (int64_t)(size->gpus * 1000)) {
            i++;
        }
        assert_true(i < s->n_sizes);
        if (size->jobs_percent >= 0) {
            must(e, "share of jobs, %", 100 * (double)s->sizes[i].jobs / (double)s->jobs,
                 size->jobs_percent, .1);
        }
        if (size->gpu_time_percent >= 0) {
            must(e, "share of GPU time, %", 100 * s->sizes[i].gpu_h / s->gpu_h,
                 size->gpu_time_percent, .1);
        }
    }
}

/* The jobs of one virtual cluster or window as a trace of their own. */
static dls_trace *subset(const expected *e, dls_trace *whole)
{
    const dls_trace_options opts = {.keep_zero_duration = true};
    const dls_trace_columns *c = dls_trace_cols(whole);
    dls_trace_builder *b;
    dls_trace *part;
    assert_int_equal(dls_trace_builder_create(&opts, &b, NULL), DLS_OK);
    for (size_t i = 0; i < c->n; i++) {
        if ((e->vc && strcmp(e->vc, dls_trace_vc(whole, c->vc[i])) != 0) ||
            (e->to_us > 0 && (c->submit_us[i] < e->from_us || c->submit_us[i] >= e->to_us))) {
            continue;
        }
        dls_job_rec rec;
        dls_job_rec_init(&rec);
        rec.submit_us = c->submit_us[i];
        rec.duration_us = c->duration_us[i];
        rec.gpus_milli = c->gpus[i] * INT64_C(1000);
        assert_int_equal(dls_trace_builder_add(b, &rec, "subset", NULL), DLS_OK);
    }
    assert_int_equal(dls_trace_builder_finish(b, &part, NULL), DLS_OK);
    dls_trace_destroy(whole);
    return part;
}

static dls_trace *load(const char *path)
{
    char full[1024];
    const dls_trace_options opts = {.keep_zero_duration = true};
    dls_trace *trace;
    dls_error err;
    snprintf(full, sizeof full, "%s/data/%s", getenv("DLSIM_SHARED"), path);
    if (dls_trace_load(full, NULL, &opts, &trace, &err) != DLS_OK) {
        fail_msg("%s: %s", err.where, err.msg);
    }
    return trace;
}

static void published_figures(void **state)
{
    const expected *e = *state;
    dls_trace *trace = load(e->path);
    if (e->vc || e->to_us > 0) {
        trace = subset(e, trace);
    }
    dls_trace_stats s;
    assert_int_equal(dls_trace_stats_compute(trace, &s, NULL), DLS_OK);
    wrong = 0;
    must(e, "jobs", (double)s.jobs, (double)e->jobs, 0);
    must(e, "zero durations", (double)s.zero_duration, (double)e->zero_duration, 0);
    must(e, "span, days", s.span_s / 86400, e->span_d, .01);
    must(e, "mean GPUs", s.mean_gpus, e->mean_gpus, .01);
    must(e, "most GPUs", (double)s.max_gpus_milli * 1e-3, e->max_gpus, 0);
    must_dist(e, "duration, s", &s.duration_s, e->duration_s);
    must(e, "mean duration, s", s.duration_s.mean, e->duration_mean_s,
         e->duration_mean_s > 1e5 ? 10 : 1);
    must_dist(e, "gap, s", &s.gap_s, e->gap_s);
    must(e, "mean gap, s", s.gap_s.mean, e->gap_mean_s, .01);
    must(e, "variation of gaps", s.gap_s.cv, e->gap_cv, .01);
    must(e, "GPU-hours", s.gpu_h, e->gpu_h, 1);
    must(e, "busy GPUs", s.busy_gpus, e->busy_gpus, .1);
    must(e, "peak demand", s.peak_gpus, e->peak_gpus, 1);
    must_sizes(e, &s);
    dls_trace_stats_fini(&s);
    dls_trace_destroy(trace);
    assert_int_equal(wrong, 0);
}

/* Published: jobs, GPU-hours, median, most GPUs of each virtual cluster of the filtered copy. */
static void philly_virtual_clusters(void **state)
{
    static const struct {
        const char *vc;
        uint64_t jobs;
        double gpu_h, median_s;
        int64_t max_gpus;
    } rows[] = {
        {"6214e9", 41226, 97185, 1902, 8},  {"11cb48", 16091, 28104, 69, 16},
        {"6c71a0", 9953, 82203, 1267, 16},  {"b436b2", 7423, 125740, 1388, 24},
        {"103959", 1934, 42880, 474, 4},    {"ee9e8c", 1511, 256112, 33376, 128},
        {"0e4a51", 1435, 77556, 242, 4},    {"ed69ec", 1137, 8937, 3223, 1},
        {"7f04ca", 723, 164931, 17359, 16}, {"2869ce", 422, 80695, 11112, 32},
        {"e13805", 374, 13558, 13022, 32},  {"23dbec", 8, 157, 11534, 8},
        {"51b7ef", 4, 12, 450, 1},
    };
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = load("philly_msr_2017/philly.csv");
    DLS_OWN(dls_trace_stats_fini) dls_trace_stats s = {0};
    assert_int_equal(dls_trace_stats_compute(trace, &s, NULL), DLS_OK);
    assert_int_equal(s.n_vcs, 15);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_string_equal(dls_trace_vc(trace, s.vcs[i].code), rows[i].vc);
        assert_int_equal(s.vcs[i].jobs, rows[i].jobs);
        assert_true(fabs(s.vcs[i].gpu_h - rows[i].gpu_h) <= .5);
        assert_true(fabs(s.vcs[i].median_s - rows[i].median_s) <= .5);
        assert_int_equal(s.vcs[i].max_gpus_milli, rows[i].max_gpus * 1000);
    }
}

/* The published figures count pods that were never scheduled as jobs, which the reader leaves out:
 * what those pods hardly touch must agree all the same. */
static void openb(void **state)
{
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = load("alibaba_openb_2023/openb_pod_list_default.csv");
    DLS_OWN(dls_trace_stats_fini) dls_trace_stats s = {0};
    assert_int_equal(dls_trace_stats_compute(trace, &s, NULL), DLS_OK);
    assert_int_equal(s.jobs, 7064 - 861);
    assert_true(fabs(s.span_s / 86400 - 149.33) <= .005);
    assert_true(fabs(s.busy_gpus - 14.4) <= .05);
    assert_true(fabs(s.peak_gpus - 65) <= .5);
}

int main(void)
{
    char probe[1024];
    if (!shared_path("data/philly_msr_2017/philly.csv", probe, sizeof probe)) {
        return 77;
    }
    struct CMUnitTest tests[N_TRACES + 2];
    for (size_t i = 0; i < N_TRACES; i++) {
        tests[i] = (struct CMUnitTest){.name = traces[i].title,
                                       .test_func = published_figures,
                                       .initial_state = (void *)(uintptr_t)&traces[i]};
    }
    tests[N_TRACES] = (struct CMUnitTest)cmocka_unit_test(philly_virtual_clusters);
    tests[N_TRACES + 1] = (struct CMUnitTest)cmocka_unit_test(openb);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
