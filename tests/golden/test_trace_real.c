/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The published traces, as far as they are at hand: rows, GPUs, GPU time, spans and flags. The
 * expected numbers were computed from the same files with pandas, not with these readers.
 */

#define OWN_MAIN
#include "dlsim/trace.h"
#include "support/must.h"
#include "support/shared.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *shared;

typedef struct totals {
    uint64_t rows_read;
    size_t n;
    int64_t gpus_milli;
    int64_t gpu_ms_s; /* sum of GPUs in 1/1000 times seconds of duration, each product cut */
    int64_t span_s;
} totals;

static dls_trace *load(const char *name, const char *format, const dls_trace_options *opts)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", shared, name);
    dls_trace *t = NULL;
    MUST(dls_trace_load(path, NULL, opts, &t, &e));
    assert_string_equal(dls_trace_about(t)->format, format);
    return t;
}

static int64_t milli_of(const dls_trace_columns *c, size_t i)
{
    return c->gpus_milli ? c->gpus_milli[i] : (int64_t)c->gpus[i] * 1000;
}

static totals sum(const dls_trace *t)
{
    const dls_trace_columns *c = dls_trace_cols(t);
    totals s = {.rows_read = dls_trace_about(t)->rows_read, .n = c->n};
    for (size_t i = 0; i < c->n; i++) {
        assert_true(i == 0 || c->submit_us[i - 1] <= c->submit_us[i]);
        s.gpus_milli += milli_of(c, i);
        if (c->duration_us[i] != DLS_ABSENT) {
            assert_true(c->duration_us[i] % 1000 == 0);
            s.gpu_ms_s += milli_of(c, i) * (c->duration_us[i] / 1000) / 1000;
        }
    }
    s.span_s = (c->submit_us[c->n - 1] - c->submit_us[0]) / DLS_US_PER_S;
    return s;
}

TEST(totals_of_every_trace)
{
    static const struct {
        const char *name, *format;
        totals want;
    } files[] = {
        {"data/philly_msr_2017/philly.csv",
         "philly-csv",
         {82247, 82247, 107235000, 3521082502000, 9408690}},
        {"data/philly_msr_2017/philly_trace.csv",
         "philly-rfold",
         {111549, 111549, 194266000, 13039807598000, 11176511}},
        {"data/philly_msr_2017/jobs.json",
         "philly-json",
         {3034, 3034, 21631000, 2780499366000, 9396823}},
        {"data/helios_2020/helios_trace.csv",
         "helios-conv",
         {125303, 125303, 843981000, 8724263562000, 16747071}},
        {"data/helios_2020/helios_venus_2vc_sept.csv",
         "helios-2vc",
         {1867, 1867, 87757000, 425944113000, 2216428}},
        {"data/muri_philly_vcs/trace1.csv", "muri", {1494, 1494, 7398000, 1379974477235, 10817570}},
        {"data/muri_philly_vcs/trace2.csv", "muri", {5755, 5755, 29825000, 2966687708252, 8572283}},
        {"data/muri_philly_vcs/trace4.csv", "muri", {2638, 2638, 5310000, 737646244386, 7363956}},
        {"data/elasticflow_a100_t4/traces_for_ElasticFlow/philly_103959.csv",
         "elasticflow",
         {876, 876, 1899000, 154137879000, 7910536}},
        {"data/alibaba_openb_2023/openb_pod_list_default.csv",
         "openb",
         {8152, 6203, 5484930, 185294426970, 12901761}},
        {"data/alibaba_openb_2023/openb_pod_list_gpushare100.csv",
         "openb",
         {8152, 5891, 3383890, 54539845020, 12474700}},
        {"data/alibaba_openb_2023/openb_pod_list_gpuspec33.csv",
         "openb",
         {8152, 6203, 5484930, 185294426970, 12901761}},
        {"data/alibaba_openb_2023/openb_pod_list_multigpu50.csv",
         "openb",
         {9061, 7973, 11358800, 0, 0}},
        {"golden/muri/testbed/cluster_trace.csv", "muri", {400, 400, 3766000, 237550066919, 2344695}},
        {"data/tiresias/60_job.csv", "tiresias", {60, 60, 170000, 26624000, 1779}},
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        DLS_HOLD(dls_trace_destroy) dls_trace *t = load(files[i].name, files[i].format, NULL);
        const totals got = sum(t), want = files[i].want;
        if (got.rows_read != want.rows_read || got.n != want.n ||
            got.gpus_milli != want.gpus_milli || got.gpu_ms_s != want.gpu_ms_s ||
            got.span_s != want.span_s) {
            fail_msg("%s: %" PRIu64 " rows, %zu jobs, %" PRId64 " GPU/1000, %" PRId64
                     " GPU s/1000, span %" PRId64 " s",
                     files[i].name, got.rows_read, got.n, got.gpus_milli, got.gpu_ms_s, got.span_s);
        }
    }
}

/* All files of a folder that end in .trace, added up. */
static totals sum_folder(const char *name, size_t *n_files, int64_t *steps)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", shared, name);
    DIR *dir = opendir(path);
    assert_non_null(dir);
    totals all = {0};
    *n_files = 0;
    *steps = 0;
    for (const struct dirent *e; (e = readdir(dir));) {
        if (!strstr(e->d_name, ".trace")) {
            continue;
        }
        char file[800];
        snprintf(file, sizeof file, "%s/%s", name, e->d_name);
        dls_trace *t = load(file, "gavel", NULL);
        const totals one = sum(t);
        all.n += one.n;
        all.gpus_milli += one.gpus_milli;
        all.gpu_ms_s += one.gpu_ms_s;
        for (size_t i = 0; i < one.n; i++) {
            *steps += dls_trace_cols(t)->iterations[i];
        }
        dls_trace_destroy(t);
        (*n_files)++;
    }
    closedir(dir);
    return all;
}

TEST(gavel_and_shockwave)
{
    static const struct {
        const char *folder;
        size_t n_files, n;
        int64_t gpus, steps, gpu_s;
    } folders[] = {
        {"data/gavel/traces/msr/seed=0", 15, 15264, 42192, 71547598694, 0},
        {"data/gavel/traces/physical_cluster", 8, 287, 448, 72439192, 0},
        {"data/shockwave_tacc/traces/reproduce", 5, 2600, 3950, 607152565, 17334132},
    };
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        size_t n_files;
        int64_t steps;
        const totals got = sum_folder(folders[i].folder, &n_files, &steps);
        assert_int_equal(n_files, folders[i].n_files);
        assert_int_equal(got.n, folders[i].n);
        assert_int_equal(got.gpus_milli, folders[i].gpus * 1000);
        assert_int_equal(steps, folders[i].steps);
        assert_int_equal(got.gpu_ms_s, folders[i].gpu_s * 1000);
    }
}

static int64_t sum_i64(const int64_t *column, size_t n)
{
    int64_t s = 0;
    for (size_t i = 0; i < n; i++) {
        s += dls_trace_i64(column, i);
    }
    return s;
}

TEST(details)
{
    DLS_HOLD(dls_trace_destroy) dls_trace *t = load("data/philly_msr_2017/philly.csv", "philly-csv", NULL);
    assert_string_equal(dls_trace_about(t)->epoch, "2017-09-04 10:30:41");
    assert_int_equal(dls_trace_n_vcs(t), 15);
    assert_int_equal(dls_trace_about(t)->rows_changed, 0);
    dls_trace_destroy(t);

    t = load("data/philly_msr_2017/philly_trace.csv", "philly-rfold", NULL);
    assert_int_equal(dls_trace_about(t)->rows_changed, 10); /* zero durations */
    assert_int_equal(dls_trace_about(t)->flag_count[1], 10);
    assert_int_equal(sum_i64(dls_trace_cols(t)->nodes, dls_trace_cols(t)->n), 122045);
    dls_trace_destroy(t);

    const dls_trace_options span = {.philly_span = true};
    t = load("data/philly_msr_2017/jobs.json", "philly-json", &span);
    const dls_trace_columns *c = dls_trace_cols(t);
    assert_int_equal(sum(t).gpu_ms_s, 2794830565000);
    assert_int_equal(sum_i64(c->attempts, c->n), 4490);
    assert_int_equal(sum_i64(c->queue_us, c->n), INT64_C(11256907) * DLS_US_PER_S);
    assert_int_equal(dls_trace_about(t)->flag_count[2], 816); /* jobs with several attempts */
    dls_trace_destroy(t);

    t = load("data/helios_2020/helios_trace.csv", "helios-conv", NULL);
    assert_int_equal(dls_trace_about(t)->flag_count[0], 2379); /* cut off at two days */
    dls_trace_destroy(t);

    t = load("data/helios_2020/helios_venus_2vc_sept.csv", "helios-2vc", NULL);
    assert_int_equal(dls_trace_n_vcs(t), 2);
    assert_int_equal(dls_trace_n_users(t), 12);
    size_t outcomes[DLS_OUTCOME_COUNT] = {0};
    for (size_t i = 0; i < dls_trace_cols(t)->n; i++) {
        outcomes[dls_trace_cols(t)->outcome[i]]++;
    }
    assert_int_equal(outcomes[DLS_OUTCOME_COMPLETED], 786);
    assert_int_equal(outcomes[DLS_OUTCOME_KILLED], 589);
    assert_int_equal(outcomes[DLS_OUTCOME_FAILED], 491);
    assert_int_equal(outcomes[DLS_OUTCOME_NODE_FAIL], 1);
    dls_trace_destroy(t);

    t = load("data/alibaba_openb_2023/openb_pod_list_default.csv", "openb", NULL);
    assert_int_equal(dls_trace_about(t)->flag_count[6], 2573); /* fractions of a GPU */
    assert_int_equal(dls_trace_about(t)->flag_count[4], 4149); /* still running */
    dls_trace_destroy(t);

    t = load("data/elasticflow_a100_t4/traces_for_ElasticFlow/philly_103959.csv", "elasticflow",
             NULL);
    assert_int_equal(sum_i64(dls_trace_cols(t)->deadline_us, dls_trace_cols(t)->n),
                     INT64_C(3602487475) * DLS_US_PER_S);
}

/* Tables that are no job traces are refused by what they are. */
TEST(other_tables_are_refused)
{
    static const struct {
        const char *name, *part;
    } files[] = {
        {"data/philly_msr_2017/philly_runtime.csv", "a list of run times"},
        {"data/philly_msr_2017/cluster_machine_list", "a list of machines"},
        {"data/alibaba_openb_2023/openb_node_list_gpu_node.csv", "a list of nodes"},
        {"data/tiresias/yarn-gput1000.csv", "a list of durations"},
        {"data/tiresias/n32g4.csv", "a cluster specification"},
        {"data/pollux_aws_t4/bert/placements.csv", "a table of step times"},
        {"data/elasticflow_a100_t4/scheduler/throughputs_A100/bert.csv", "a table of throughputs"},
        {"data/spot_availability/p3-trace.csv", "not recognised"},
        {"data/gavel/simulation_throughputs.json", "not recognised"},
        {"data/gavel/philly_job_distribution.pickle", "not a text file"},
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", shared, files[i].name);
        dls_trace *t = NULL;
        dls_error err = {0};
        assert_int_equal(dls_trace_load(path, NULL, NULL, &t, &err), DLS_EINPUT);
        if (!strstr(err.msg, files[i].part)) {
            fail_msg("%s: '%s' lacks '%s'", files[i].name, err.msg, files[i].part);
        }
    }
}

int main(void)
{
    shared = getenv("DLSIM_SHARED");
    char path[512];
    if (!shared_path("data/philly_msr_2017/philly.csv", path, sizeof path)) {
        return 77;
    }
    return run_listed();
}
