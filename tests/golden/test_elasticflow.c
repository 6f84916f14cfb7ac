/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Per-job equality of the replay of ElasticFlow's simulator with its own results: state, start and
 * end of every job, and the GPUs of every job after every event, of all runs of its schedule with
 * admission.
 */
#include "base/alloc.h"
#include "base/file.h"
#include "base/owners.h"
#include "elasticflow/replay.h"
#include "support/shared.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static char shared[1024];

typedef struct one_run {
    const char *name, *trace, *gpu;
    int32_t nodes, gpus_per_node;
    size_t jobs, declined, met; /* as published or as the authors' program printed */
    bool edf;
} one_run;

static char *read_shared(const char *name)
{
    char path[2048], *text;
    size_t len;
    snprintf(path, sizeof path, "%s/%s", shared, name);
    assert_int_equal(dls_file_read(path, DLS_FILE_TABLE, &text, &len, NULL), DLS_OK);
    return text;
}

typedef struct told {
    const dls_trace *trace;
    char *text, *at;
    size_t lines;
} told;

/* One line of the log of allocations: "time,job:gpus job:gpus ...". */
static dls_status compare_shares(void *user, double now_s, const dls_elasticflow_share *share,
                                 size_t n, dls_error *err)
{
    told *t = user;
    char *line = strsep(&t->at, "\n"), *rest = line;
    assert_non_null(line);
    const double time_s = strtod(rest, &rest);
    if (fabs(time_s - now_s) > 1e-3) {
        fail_msg("line %zu: an event at %.6f, expected %s", t->lines + 2, now_s, line);
    }
    for (size_t i = 0; i < n; i++) {
        char want[64];
        snprintf(want, sizeof want, "%s:%d", dls_trace_id(t->trace, (size_t)share[i].job),
                 share[i].gpus);
        rest++;
        if (strncmp(rest, want, strlen(want)) != 0) {
            fail_msg("line %zu at %.3f: %s, expected %s", t->lines + 2, now_s, want, line);
        }
        rest += strlen(want);
    }
    if (*rest && strcmp(rest, ",") != 0) {
        fail_msg("line %zu at %.3f: more jobs have GPUs: %s", t->lines + 2, now_s, rest);
    }
    t->lines++;
    return DLS_OK;
}

static void compare_jobs(const one_run *run, const dls_trace *trace, const dls_record *rec,
                         char *text)
{
    char *at = text;
    size_t j = 0, declined = 0;
    strsep(&at, "\n"); /* job_id,status,start,end,jct */
    for (char *line; (line = strsep(&at, "\n")) && *line; j++) {
        const char *id = strsep(&line, ","), *status = strsep(&line, ",");
        const char *start = strsep(&line, ","), *end = strsep(&line, ",");
        assert_string_equal(id, dls_trace_id(trace, j));
        const bool done = strcmp(status, "done") == 0;
        declined += !done;
        if (rec->state[j] != (done ? DLS_JOB_FINISHED : DLS_JOB_DECLINED)) {
            fail_msg("%s: job %s is in state %d, expected %s", run->name, id, rec->state[j],
                     status);
        }
        if (done && (fabs((double)rec->start_us[j] / 1e6 - strtod(start, NULL)) > 1e-3 ||
                     fabs((double)rec->end_us[j] / 1e6 - strtod(end, NULL)) > 1e-3)) {
            fail_msg("%s: job %s runs from %.3f to %.3f, expected %s to %s", run->name, id,
                     (double)rec->start_us[j] / 1e6, (double)rec->end_us[j] / 1e6, start, end);
        }
    }
    assert_int_equal(j, run->jobs);
    assert_int_equal(declined, run->declined);
}

static void replay(const one_run *run)
{
    char path[2048], name[256];
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = NULL;
    DLS_HOLD(dls_elastic_destroy) dls_elastic_jobs *speeds = NULL;
    DLS_HOLD(dls_record_destroy) dls_record *rec = NULL;
    dls_error err = {0};
    size_t late;
    dls_cluster_spec cluster = {.n_types = 1};
    snprintf(cluster.types[0].name, sizeof cluster.types[0].name, "%s", run->gpu);
    snprintf(path, sizeof path, "%s/%s", shared, run->trace);
    if (dls_trace_load(path, "elasticflow", &(dls_trace_options){0}, &trace, &err) != DLS_OK) {
        fail_msg("%s: %s", err.where, err.msg);
    }
    snprintf(path, sizeof path, "%s/data/elasticflow_a100_t4/scheduler", shared);
    if (dls_elastic_create(path, trace, &cluster, &speeds, &err) != DLS_OK) {
        fail_msg("%s: %s", err.where, err.msg);
    }
    assert_int_equal(dls_record_create(dls_trace_cols(trace)->n, &rec, &err), DLS_OK);
    snprintf(name, sizeof name, "golden/elasticflow/runs/%s.alloc.csv", run->name);
    told log = {.trace = trace, .text = read_shared(name)};
    log.at = log.text;
    strsep(&log.at, "\n");
    const dls_elasticflow_params p = {.nodes = run->nodes,
                                      .gpus_per_node = run->gpus_per_node,
                                      .slot_s = 60,
                                      .edf = run->edf,
                                      .speeds = speeds,
                                      .gpu = run->gpu,
                                      .on_event = compare_shares,
                                      .user = &log};
    if (dls_elasticflow_replay(&p, trace, rec, &late, &err) != DLS_OK) {
        fail_msg("%s: %s", run->name, err.msg);
    }
    assert_true(log.at && !*log.at);
    dls_free(log.text);
    snprintf(name, sizeof name, "golden/elasticflow/runs/%s.csv", run->name);
    DLS_FREED char *text = read_shared(name);
    compare_jobs(run, trace, rec, text);
    assert_int_equal(run->jobs - run->declined - late, run->met);
    printf("%s: %zu jobs equal, %zu events\n", run->name, run->jobs, log.lines);
}

/* Deadlines met: the published ratios times the jobs (README of the published outputs). */
static const one_run runs[] = {
    {"ph0_60-n4g8-ef", "golden/elasticflow/traces/ph0_60.csv", "A100", 4, 8, 60, 4, 56, false},
    {"ph300_120-n8g8-ef", "golden/elasticflow/traces/ph300_120.csv", "A100", 8, 8, 120, 9, 111, false},
    {"vpollux-n16g4-ef", "golden/elasticflow/traces/vpollux.csv", "T4", 16, 4, 195, 50, 142, false},
    {"phall-n32g8-ef", "data/elasticflow_a100_t4/traces_for_ElasticFlow/philly_103959.csv", "A100",
     32, 8, 876, 77, 797, false},
    {"ph0_60-n4g8-edf", "golden/elasticflow/traces/ph0_60.csv", "A100", 4, 8, 60, 0, 9, true},
    {"vpollux-n16g4-edf", "golden/elasticflow/traces/vpollux.csv", "T4", 16, 4, 195, 0, 23, true},
};

static void test_run(void **state)
{
    replay(*state);
}

int main(void)
{
    if (!shared_path("golden/elasticflow", shared, sizeof shared)) {
        return 77;
    }
    snprintf(shared, sizeof shared, "%s", getenv("DLSIM_SHARED"));
    struct CMUnitTest tests[sizeof runs / sizeof *runs];
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        tests[i] =
            (struct CMUnitTest){runs[i].name, test_run, NULL, NULL, (void *)(uintptr_t)&runs[i]};
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
