/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Per-job equality of the compatibility engine with the published simulator's own results: every
 * file of golden/tiresias/runs, runs_memfix and golden/philly64/tiresias, to the second. The files'
 * names are <trace>__<cluster>__<schedule>__<scheme>.csv. Files made with the original's memory
 * leak are left out here: runs_memfix has the same runs without it.
 */
#define OWN_MAIN
#include "base/alloc.h"
#include "support/shared.h"
#include "support/test.h"
#include "tiresias/tiresias.h"
#include "traces/reader.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *shared;

typedef struct tally {
    int files, skipped;
    long jobs, phantoms;
} tally;

typedef struct one_run {
    char trace[64], cluster[64], schedule[64], scheme[64];
} one_run;

/* The cells of a line; "" where there are fewer. */
static void split(char *line, char *cell[], int max)
{
    static char empty[] = "";
    line[strcspn(line, "\r\n")] = '\0';
    for (int i = 0; i < max; i++) {
        cell[i] = line ? strsep(&line, ",") : empty;
    }
}

static long long number(const char *text)
{
    return *text ? atoll(text) : -1;
}

static long long seconds(int64_t us)
{
    return us < 0 ? -1 : us / DLS_US_PER_S;
}

static const char *state_name(uint8_t state)
{
    return state == DLS_JOB_FINISHED  ? "END"
           : state == DLS_JOB_RUNNING ? "RUNNING"
           : state == DLS_JOB_PENDING ? "PENDING"
                                      : "?";
}

static bool parse_name(const char *name, one_run *run)
{
    char copy[256], *rest = copy, *part[4];
    snprintf(copy, sizeof copy, "%s", name);
    char *dot = strstr(copy, ".csv");
    if (!dot) {
        return false;
    }
    *dot = '\0';
    for (int i = 0; i < 4; i++) {
        part[i] = rest;
        rest = rest ? strstr(rest, "__") : NULL;
        if (rest) {
            *rest = '\0';
            rest += 2;
        }
    }
    if (!part[3]) {
        return false;
    }
    snprintf(run->trace, sizeof run->trace, "%.63s", part[0]);
    snprintf(run->cluster, sizeof run->cluster, "%.63s", part[1]);
    snprintf(run->schedule, sizeof run->schedule, "%.63s", part[2]);
    snprintf(run->scheme, sizeof run->scheme, "%.63s", part[3]);
    return true;
}

/* One expected row against the record; cell names of the header are found by the caller. */
static void compare_row(const char *file, const dls_trace *trace, const dls_record *rec, size_t j,
                        char *const cell[], const char *const column[], int n_columns, tally *sum)
{
    for (int i = 0; i < n_columns; i++) {
        const char *c = column[i];
        long long got = -1;
        if (strcmp(c, "final_status") == 0) {
            if (strcmp(cell[i], state_name(rec->state[j])) != 0) {
                fail_msg("%s: job %zu is %s, expected %s", file, j, state_name(rec->state[j]),
                         cell[i]);
            }
            continue;
        }
        if (strcmp(c, "job_id") == 0) {
            assert_string_equal(cell[i], dls_trace_id(trace, j));
            continue;
        }
        const bool ended = rec->state[j] == DLS_JOB_FINISHED;
        if (strcmp(c, "num_gpu") == 0) {
            got = dls_trace_cols(trace)->gpus[j];
        } else if (strcmp(c, "submit") == 0) {
            got = seconds(dls_trace_cols(trace)->submit_us[j]);
        } else if (strcmp(c, "duration") == 0) {
            got = seconds(dls_trace_cols(trace)->duration_us[j]);
        } else if (strcmp(c, "start") == 0) {
            got = seconds(rec->start_us[j]);
        } else if (strcmp(c, "end") == 0) {
            got = seconds(rec->end_us[j]);
        } else if (strcmp(c, "jct") == 0) {
            got = ended ? seconds(rec->end_us[j] - dls_trace_cols(trace)->submit_us[j]) : -1;
        } else if (strcmp(c, "pending") == 0) {
            got = seconds(rec->pending_us[j]);
        } else if (strcmp(c, "preempt") == 0) {
            got = rec->preempts[j];
        } else if (strcmp(c, "resume") == 0) {
            got = rec->resumes[j];
        } else if (strcmp(c, "promote") == 0) {
            got = rec->promotes[j];
        } else if (strcmp(c, "executed_wall") == 0) {
            got = ended ? seconds(rec->end_us[j] - rec->start_us[j]) : -1;
        } else if (strcmp(c, "executed_true") == 0) {
            /* The non-preemptive schedules keep no such figure for jobs that did not end. */
            got = *cell[i] ? seconds(rec->executed_us[j]) : -1;
        } else {
            fail_msg("%s: unexpected column %s", file, c);
        }
        if (number(cell[i]) != got) {
            fail_msg("%s: job %zu (id %s): %s is %lld, expected %s", file, j,
                     dls_trace_id(trace, j), c, got, cell[i]);
        }
    }
    sum->jobs++;
    sum->phantoms += rec->state[j] == DLS_JOB_FINISHED &&
                     rec->executed_us[j] < dls_trace_cols(trace)->duration_us[j];
}

static void compare_file(const char *path, const dls_trace *trace, const dls_record *rec,
                         tally *sum)
{
    FILE *f = fopen(path, "r");
    char header[1024], line[1024], *column[32], *cell[32];
    int n = 0;
    size_t j = 0;
    assert_non_null(f);
    assert_non_null(fgets(header, sizeof header, f));
    split(header, column, 32);
    while (n < 32 && *column[n]) {
        n++;
    }
    for (; fgets(line, sizeof line, f); j++) {
        split(line, cell, 32);
        assert_true(j < rec->n_jobs);
        compare_row(path, trace, rec, j, cell, (const char *const *)column, n, sum);
    }
    assert_int_equal(j, rec->n_jobs);
    fclose(f);
    sum->files++;
}

static void run_and_compare(const char *folder, const char *name, const char *traces,
                            const char *clusters, const one_run *run, tally *sum)
{
    char path[PATH_MAX], samples[PATH_MAX];
    dls_error err = {0};
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = NULL;
    DLS_HOLD(dls_record_destroy) dls_record *rec = NULL;
    dls_tiresias_params p;
    const dls_trace_options opts = {.keep_zero_duration = true, .allow_duplicate_ids = true};
    snprintf(path, sizeof path, "%s/%s/%s.csv", shared, traces, run->trace);
    snprintf(samples, sizeof samples, "%s/golden/tiresias/traces/yarn-gput1000.csv", shared);
    p = DLS_TIRESIAS_DEFAULTS;
    p.schedule = run->schedule;
    p.scheme = run->scheme;
    p.samples_path = samples;
    if (dls_trace_load(path, "tiresias", &opts, &trace, &err) != DLS_OK) {
        fail_msg("%s: %s: %s", path, err.where, err.msg);
    }
    snprintf(path, sizeof path, "%s/%s/%s.csv", shared, clusters, run->cluster);
    assert_int_equal(dls_tiresias_load_cluster(path, &p.cluster, &err), DLS_OK);
    assert_int_equal(dls_record_create(dls_trace_cols(trace)->n, &rec, &err), DLS_OK);
    if (dls_tiresias_run(&p, trace, rec, &err) != DLS_OK) {
        fail_msg("%s: %s", name, err.msg);
    }
    snprintf(path, sizeof path, "%s/%s/%s", shared, folder, name);
    compare_file(path, trace, rec, sum);
}

/* sjf and shortest* lose node memory under yarn in the original as published. */
static bool leaks(const one_run *run)
{
    return strcmp(run->scheme, "yarn") == 0 &&
           (strcmp(run->schedule, "sjf") == 0 || strncmp(run->schedule, "shortest", 8) == 0);
}

static void compare_folder(const char *folder, const char *traces, const char *clusters,
                           bool may_leak, tally *sum)
{
    char path[PATH_MAX];
    struct dirent **entry;
    snprintf(path, sizeof path, "%s/%s", shared, folder);
    const int n = scandir(path, &entry, NULL, alphasort);
    assert_true(n > 0);
    for (int i = 0; i < n; i++) {
        one_run run;
        if (parse_name(entry[i]->d_name, &run)) {
            if (may_leak && leaks(&run)) {
                sum->skipped++;
            } else {
                run_and_compare(folder, entry[i]->d_name, traces, clusters, &run, sum);
            }
        }
        free(entry[i]);
    }
    free(entry);
    printf("%s: %d files, %ld jobs equal (%ld ended without having run to the end); %d files made "
           "with the memory leak left out\n",
           folder, sum->files, sum->jobs, sum->phantoms, sum->skipped);
}

TEST(test_runs)
{
    tally sum = {0};
    compare_folder("golden/tiresias/runs", "golden/tiresias/traces", "golden/tiresias/clusters",
                   true, &sum);
    assert_true(sum.files > 300);
    assert_true(sum.phantoms > 0);
}

TEST(test_runs_without_leak)
{
    tally sum = {0};
    compare_folder("golden/tiresias/runs_memfix", "golden/tiresias/traces",
                   "golden/tiresias/clusters", false, &sum);
    assert_int_equal(sum.files, 19);
}

TEST(test_philly64)
{
    tally sum = {0};
    compare_folder("golden/philly64/tiresias", "golden/philly64", "golden/philly64", false, &sum);
    assert_int_equal(sum.files, 11);
}

int main(void)
{
    char path[PATH_MAX];
    shared = getenv("DLSIM_SHARED");
    if (!shared_path("golden/tiresias/runs", path, sizeof path)) {
        return 77;
    }
    return run_listed();
}
