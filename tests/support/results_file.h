/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * For tests of results files: a made-up run, a folder, and files of it that are written, read and
 * spoilt.
 */
#ifndef TESTS_RESULTS_FILE_H
#define TESTS_RESULTS_FILE_H

#include "dlsim/results.h"
#include "results/read.h"
#include "results/write.h"
#include "support/must.h"
#include "support/results_sample.h"

#include <dirent.h>
#include <hdf5.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];
static dls_trace *trace;
static dls_record *rec;
static dls_summary summary;

static inline const char *in_folder(const char *name)
{
    static char path[4][128];
    static int next;
    next = (next + 1) % 4;
    snprintf(path[next], sizeof path[next], "%s/%s", folder, name);
    return path[next];
}

static dls_node_group groups[] = {
    {.name = "p100", .nodes = 321, .gpus_per_node = 2, .nic_bps = 1.25e9},
    {.name = "big", .nodes = 231, .gpus_per_node = 8, .type = 1, .cpus_per_node = 64}};
static dls_vc_spec vcs[] = {{.name = "vc-a", .quota_gpus = {100, 200}}};
static const dls_cluster_spec cluster = {
    .types = {{.name = "P100", .mem_gib = 16}, {.name = "V100"}},
    .n_types = 2,
    .groups = groups,
    .n_groups = 2,
    .vcs = vcs,
    .n_vcs = 1,
    .rack_uplink_bps = 5e9};
static const dls_results_meta meta = {.run_id = "r1",
                                      .seed = UINT64_C(0xFFFFFFFFFFFFFFF1),
                                      .scheduler = "dlas-gpu",
                                      .placement = "consolidated",
                                      .cmdline = "dlsim --é",
                                      .config_text = "scheduler = \"dlas-gpu\";\n",
                                      .hostname = "here",
                                      .started_utc = "2024-05-01T12:00:00Z",
                                      .cluster = &cluster};

static inline void write_to(const char *path)
{
    MUST(dls_results_write(path, &meta, trace, rec, &summary, &e));
}

/* Of 700 jobs. */
static inline int make_sample(int allocs_per_job)
{
    snprintf(folder, sizeof folder, "/tmp/dlsim-results-XXXXXX");
    if (!mkdtemp(folder) || sample_trace(700, &trace, NULL) != DLS_OK ||
        sample_record(trace, allocs_per_job, 2, &rec, NULL) != DLS_OK) {
        return -1;
    }
    unsetenv("SOURCE_DATE_EPOCH");
    return dls_summary_make(trace, rec, 60 * DLS_US_PER_S, 0, 1.5, &summary, NULL) == DLS_OK ? 0
                                                                                             : -1;
}

static inline int drop_sample(void **state)
{
    dls_record_destroy(rec);
    dls_trace_destroy(trace);
    return rmdir(folder); /* fails if a test left something behind */
}

/* Files in the folder. */
static inline int entries(void)
{
    int n = -2;
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    while (readdir(dir)) {
        n++;
    }
    closedir(dir);
    return n;
}

static inline char *contents(const char *path, size_t *len)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    struct stat st;
    assert_int_equal(fstat(fileno(f), &st), 0);
    char *bytes = malloc((size_t)st.st_size + 1);
    assert_non_null(bytes);
    *len = fread(bytes, 1, (size_t)st.st_size, f);
    assert_int_equal(*len, st.st_size);
    fclose(f);
    return bytes;
}

static inline void put_contents(const char *path, const char *bytes, size_t len)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, len, f), len);
    assert_int_equal(fclose(f), 0);
}

/* Open, read everything; the status of the first failure. */
static inline dls_status read_all(const char *path, dls_error *err)
{
    dls_results *file = NULL;
    dls_run *run = NULL;
    dls_saved *saved = NULL;
    dls_status status = dls_results_open(path, &file, err);
    if (status == DLS_OK) {
        status = dls_run_open(file, NULL, &run, err);
    }
    if (status == DLS_OK) {
        status = dls_saved_open(path, NULL, &saved, err); /* verifies it, too */
    }
    if (status == DLS_OK) { /* then it is what was written */
        const dls_summary *s = &run->summary;
        assert_int_equal(s->digest, summary.digest);
        assert_int_equal(s->history_digest, summary.history_digest);
        assert_memory_equal(&s->part[0].jct, &summary.part[0].jct, sizeof summary.part[0].jct);
        assert_int_equal(s->events, summary.events);
    }
    dls_saved_close(saved);
    dls_run_close(run);
    dls_results_close(file);
    return status;
}

#endif
