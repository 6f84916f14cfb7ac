/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Against hardware: the published runs of Shockwave's testbed (32 V100 in nodes of 4, 120 jobs).
 * The replay with what the live system adds, one set of constants for all policies, has average
 * completion time and makespan within 5 %; per job it says how far it is. And the policy shockwave
 * against its published simulation, whose integer programs another solver solved.
 */
#include "base/csv.h"
#include "gavel/gavel.h"
#include "support/shared.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define TRACE                                                                                      \
    "data/shockwave_tacc/traces/reproduce/"                                                        \
    "120_0.2_5_100_40_25_0,0.5,0.5_0.6,0.3,0.09,0.01_multigpu_dynamic.trace"

/* The live system restarts jobs in 20 s: in a job's own time, and in that of the round that waits.
 */
static const dls_gavel_params live = {.shockwave = true,
                                      .gpus = {0, 0, 32},
                                      .gpus_per_server = 4,
                                      .round_s = 120,
                                      .immediate = true,
                                      .growth_s = 20,
                                      .pause_s = 1};

typedef struct both {
    dls_trace *trace;
    dls_gavel_result got;
    double jct_s; /* mean */
} both;

static void shared_file(const char *name, char path[2048])
{
    if (!shared_path(name, path, 2048)) {
        skip();
    }
}

static void run(dls_gavel_params p, const char *policy, bool factors, both *out)
{
    char trace[2048], throughputs[2048], speeds[2048];
    dls_error err = {0};
    shared_file(TRACE, trace);
    shared_file("data/shockwave_tacc/tacc_throughputs.json", throughputs);
    snprintf(speeds, sizeof speeds, "%s/configs/settings/shockwave_speeds.csv",
             getenv("DLSIM_SOURCE"));
    p.policy = policy;
    p.speed_factors = factors ? speeds : NULL;
    assert_int_equal(dls_trace_load(trace, "gavel", &(dls_trace_options){0}, &out->trace, &err),
                     DLS_OK);
    if (dls_gavel_replay(&p, throughputs, out->trace, &out->got, &err) != DLS_OK) {
        fail_msg("%s: %s", policy, err.msg);
    }
    const dls_trace_columns *c = dls_trace_cols(out->trace);
    out->jct_s = 0;
    for (size_t j = 0; j < c->n; j++) {
        assert_true(out->got.job[j].end_s > 0);
        out->jct_s += (out->got.job[j].end_s - (double)c->submit_us[j] / 1e6) / (double)c->n;
    }
}

static void done(both *b)
{
    dls_gavel_result_fini(&b->got);
    dls_trace_destroy(b->trace);
}

/* A number of a policy's row. */
static double published(const char *file, const char *policy, const char *column)
{
    char path[2048];
    dls_csv csv;
    double value = -1;
    shared_file(file, path);
    assert_int_equal(dls_csv_open(&csv, path, NULL), DLS_OK);
    assert_int_equal(dls_csv_header(&csv, NULL), DLS_OK);
    const int col = dls_csv_find(&csv, column), name = dls_csv_find(&csv, "policy");
    assert_true(col >= 0 && name >= 0);
    for (bool more; dls_csv_next(&csv, &more, NULL) == DLS_OK && more;) {
        if (dls_csv_is(&csv, name, policy)) {
            value = strtod(dls_csv_text(&csv, col), NULL);
        }
    }
    dls_csv_fini(&csv);
    assert_true(value > 0);
    return value;
}

static int ascending(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* Median and ninth decile of |completion time over that of the hardware - 1|. */
static void per_job(const both *b, const char *policy, double *median, double *decile)
{
    char path[2048];
    dls_csv csv;
    double far[200];
    size_t n = 0;
    shared_file("golden/shockwave/physical_jobs.csv", path);
    assert_int_equal(dls_csv_open(&csv, path, NULL), DLS_OK);
    assert_int_equal(dls_csv_header(&csv, NULL), DLS_OK);
    const int name = dls_csv_find(&csv, "policy"), id = dls_csv_find(&csv, "job_id");
    const int jct = dls_csv_find(&csv, "jct_physical");
    for (bool more; dls_csv_next(&csv, &more, NULL) == DLS_OK && more;) {
        if (dls_csv_is(&csv, name, policy)) {
            const size_t j = strtoull(dls_csv_text(&csv, id), NULL, 10);
            assert_true(j < dls_trace_cols(b->trace)->n && n < 200);
            const double own =
                b->got.job[j].end_s - (double)dls_trace_cols(b->trace)->submit_us[j] / 1e6;
            far[n++] = fabs(own / strtod(dls_csv_text(&csv, jct), NULL) - 1);
        }
    }
    dls_csv_fini(&csv);
    assert_int_equal(n, dls_trace_cols(b->trace)->n);
    qsort(far, n, sizeof *far, ascending);
    *median = far[n / 2];
    *decile = far[n * 9 / 10];
}

static void physical(void **state)
{
    static const char *const policies[] = {"max_min_fairness", "max_sum_throughput_perf",
                                           "shockwave"};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        both b;
        double median, decile;
        run(live, policies[i], true, &b);
        const double jct =
            b.jct_s / published("golden/shockwave/physical.csv", policies[i], "avg_jct_physical") -
            1;
        const double makespan = b.got.makespan_s / published("golden/shockwave/physical.csv",
                                                             policies[i], "makespan_physical") -
                                1;
        per_job(&b, policies[i], &median, &decile);
        printf("%s: average JCT %+.1f %%, makespan %+.1f %%; per job: median %.1f %%, ninth decile "
               "%.1f %%\n",
               policies[i], 100 * jct, 100 * makespan, 100 * median, 100 * decile);
        assert_true(fabs(jct) <= 0.05 && fabs(makespan) <= 0.05);
        done(&b);
    }
}

static void market(void **state)
{
    both b;
    dls_gavel_params p = live;
    (void)state;
    p.immediate = false;
    p.growth_s = p.pause_s = 0;
    run(p, "shockwave", false, &b);
    const double jct =
        b.jct_s / published("golden/shockwave/published_sim.csv", "shockwave", "avg_jct") - 1;
    const double makespan = b.got.makespan_s / published("golden/shockwave/published_sim.csv",
                                                         "shockwave", "makespan") -
                            1;
    printf("shockwave, simulated: average JCT %+.2f %%, makespan %+.2f %%\n", 100 * jct,
           100 * makespan);
    assert_true(fabs(jct) <= 0.005 && fabs(makespan) <= 0.005);
    done(&b);
}

int main(void)
{
    char path[2048];
    if (!shared_path("golden/shockwave/physical.csv", path, sizeof path)) {
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(physical),
        cmocka_unit_test(market),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
