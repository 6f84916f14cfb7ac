/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Against hardware: the published runs of Shockwave's testbed (32 V100 in nodes of 4, 120 jobs).
 * The replay with what the live system adds, one set of constants for all policies, has average
 * completion time and makespan within 5 %, with the speeds of the other two runs, too; per job it
 * says how far it is. And the policy shockwave
 * against its published simulation, whose integer programs another solver solved.
 */
#include "base/csv.h"
#include "gavel/gavel.h"
#include "support/shared.h"
#include "support/test.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

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

static void run(dls_gavel_params p, const char *policy, const char *speeds, both *out)
{
    char trace[2048], throughputs[2048];
    dls_error err = {0};
    shared_file(TRACE, trace);
    shared_file("data/shockwave_tacc/tacc_throughputs.json", throughputs);
    p.policy = policy;
    p.speed_factors = speeds;
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

static const char *const policies[] = {"max_min_fairness", "max_sum_throughput_perf", "shockwave"};
enum { POLICIES = 3, KINDS = 100, LEASES = 2000 };

/* Leases of a model, batch and number of GPUs: measured over tabled steps per second, by policy. */
typedef struct kind {
    char model[64];
    long batch;
    int32_t gpus;
    double ratio[POLICIES][LEASES];
    size_t n[POLICIES];
} kind;

static size_t read_kinds(const dls_trace *trace, kind *kinds)
{
    char path[2048];
    dls_csv csv;
    size_t n = 0;
    shared_file("golden/shockwave/physical_speed.csv", path);
    assert_int_equal(dls_csv_open(&csv, path, NULL), DLS_OK);
    assert_int_equal(dls_csv_header(&csv, NULL), DLS_OK);
    const int name = dls_csv_find(&csv, "policy"), id = dls_csv_find(&csv, "job_id");
    const int batch = dls_csv_find(&csv, "batch"), own = dls_csv_find(&csv, "steps_per_s");
    const int tabled = dls_csv_find(&csv, "table_steps_per_s");
    for (bool more; dls_csv_next(&csv, &more, NULL) == DLS_OK && more;) {
        const size_t j = strtoull(dls_csv_text(&csv, id), NULL, 10);
        const dls_trace_columns *c = dls_trace_cols(trace);
        kind k = {.batch = strtol(dls_csv_text(&csv, batch), NULL, 10), .gpus = c->gpus[j]};
        size_t i = 0, p = 0;
        assert_int_equal(1, sscanf(dls_trace_model(trace, c->model[j]), "%63[^ (]", k.model));
        while (i < n && (strcmp(kinds[i].model, k.model) != 0 || kinds[i].batch != k.batch ||
                         kinds[i].gpus != k.gpus)) {
            i++;
        }
        while (!dls_csv_is(&csv, name, policies[p])) {
            assert_true(++p < POLICIES);
        }
        if (i == n) {
            assert_true(n < KINDS);
            kinds[n++] = k;
        }
        assert_true(kinds[i].n[p] < LEASES);
        kinds[i].ratio[p][kinds[i].n[p]++] =
            strtod(dls_csv_text(&csv, own), NULL) / strtod(dls_csv_text(&csv, tabled), NULL);
    }
    dls_csv_fini(&csv);
    return n;
}

/* The factors of configs/settings/shockwave_speeds.csv from all runs but one. */
static void write_factors(const kind *kinds, size_t n, size_t left_out, const char *path)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs("gpu,model,batch,gpus,factor\n", f);
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        int runs = 0;
        for (size_t p = 0; p < POLICIES; p++) {
            const size_t m = kinds[i].n[p];
            double sorted[LEASES];
            if (m == 0 || p == left_out) {
                continue;
            }
            memcpy(sorted, kinds[i].ratio[p], m * sizeof *sorted);
            qsort(sorted, m, sizeof *sorted, ascending);
            const double at = 0.9 * (double)(m - 1);
            const size_t k = (size_t)at, next = k + 1 < m ? k + 1 : k;
            sum += sorted[k] + (sorted[next] - sorted[k]) * (at - (double)k);
            runs++;
        }
        if (runs > 0) {
            fprintf(f, "v100,%s,%ld,%d,%.3f\n", kinds[i].model, kinds[i].batch, (int)kinds[i].gpus,
                    sum / runs);
        }
    }
    assert_int_equal(0, fclose(f));
}

static void against_hardware(const char *policy, const char *what, const char *speeds)
{
    both b;
    double median, decile;
    run(live, policy, speeds, &b);
    const double jct =
        b.jct_s / published("golden/shockwave/physical.csv", policy, "avg_jct_physical") - 1;
    const double makespan =
        b.got.makespan_s / published("golden/shockwave/physical.csv", policy, "makespan_physical") -
        1;
    per_job(&b, policy, &median, &decile);
    printf("%s, %s: average JCT %+.1f %%, makespan %+.1f %%; per job: median %.1f %%, ninth decile "
           "%.1f %%\n",
           policy, what, 100 * jct, 100 * makespan, 100 * median, 100 * decile);
    assert_true(fabs(jct) <= 0.05);
    assert_true(fabs(makespan) <= (speeds ? 0.05 : 0.1));
    done(&b);
}

TEST(physical)
{
    char speeds[2048];
    snprintf(speeds, sizeof speeds, "%s/configs/settings/shockwave_speeds.csv",
             getenv("DLSIM_SOURCE"));
    for (size_t i = 0; i < POLICIES; i++) {
        against_hardware(policies[i], "speeds of all runs", speeds);
        against_hardware(policies[i], "the table's speeds", NULL);
    }
}

/* The speeds of a run's jobs are those that the other two runs have shown. */
TEST(left_out)
{
    static kind kinds[KINDS];
    char trace[2048], speeds[] = "/tmp/dlsim-speeds-XXXXXX";
    dls_trace *t;
    const int fd = mkstemp(speeds);
    assert_true(fd >= 0 && close(fd) == 0);
    shared_file(TRACE, trace);
    assert_int_equal(dls_trace_load(trace, "gavel", &(dls_trace_options){0}, &t, NULL), DLS_OK);
    const size_t n = read_kinds(t, kinds);
    dls_trace_destroy(t);
    for (size_t p = 0; p < POLICIES; p++) {
        write_factors(kinds, n, p, speeds);
        against_hardware(policies[p], "speeds of the other two runs", speeds);
    }
    unlink(speeds);
}

TEST(market)
{
    both b;
    dls_gavel_params p = live;
    p.immediate = false;
    p.growth_s = p.pause_s = 0;
    run(p, "shockwave", NULL, &b);
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

NEEDS_SHARED("golden/shockwave/physical.csv")
