/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Damaged results files. The first byte says which: 0, the rest are edits (h5_damage.h) of a good
 * file that is made here; else the rest is the file. What a reader accepts of an edited file is
 * what was written.
 */
#include "../support/results_sample.h"
#include "dlsim/results.h"
#include "h5_damage.h"
#include "results/compare.h"
#include "results/merge.h"
#include "results/read.h"
#include "results/write.h"

#include "base/alloc.h"

#include <unistd.h>

static bytes good;
static char path[64];
static dls_trace *trace;
static dls_record *rec;
static dls_summary summary;

static void make_file(void)
{
    const dls_results_meta meta = {.scheduler = "fifo", .config_text = "a = 1;\n"};
    snprintf(path, sizeof path, "fuzz_results.%d.h5", (int)getpid());
    must(sample_trace(300, &trace, NULL) == DLS_OK);
    must(sample_record(trace, 30, 2, &rec, NULL) == DLS_OK);
    must(dls_summary_make(trace, rec, 0, 0, 1, &summary, NULL) == DLS_OK);
    must(dls_results_write(path, &meta, trace, rec, &summary, NULL) == DLS_OK);
    good = slurp(path);
}

/* Everything that commands ask of a run. */
static void read_run(const dls_results *file, const char *id, bool edited)
{
    dls_run *run = NULL;
    dls_error err;
    if (dls_run_open(file, id, &run, &err) == DLS_OK && dls_run_verify(run, &err) == DLS_OK) {
        must(!edited || run->summary.digest == dls_record_digest(rec));
        FILE *out = fopen("/dev/null", "w");
        const dls_compare_run one = {"x", "", &run->summary, 0, 0};
        dls_compare_print(out, &one, 1);
        fclose(out);
    }
    dls_run_close(run);
    dls_saved *saved;
    if (dls_saved_open(path, id, &saved, &err) == DLS_OK) {
        char digest[17];
        snprintf(digest, sizeof digest, "%016llx",
                 (unsigned long long)dls_record_history_digest(rec));
        must(!edited || strcmp(dls_saved_text(saved, "history_digest"), digest) == 0);
        for (size_t t = 0; t < DLS_TABLE_COUNT; t++) {
            dls_result_column c;
            for (size_t i = 0; dls_saved_column_at(saved, (dls_table)t, i, &c); i++) {
                must(c.n == 0 || c.data);
            }
        }
        dls_saved_close(saved);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!good.at) {
        make_file();
    }
    if (size < 1) {
        return 0;
    }
    if (data[0] == 0) {
        write_damaged(path, &good, data + 1, size - 1);
    } else {
        FILE *f = fopen(path, "wb");
        must(f && fwrite(data + 1, 1, size - 1, f) == size - 1 && fclose(f) == 0);
    }
    dls_results *file = NULL;
    dls_points points;
    dls_error err;
    if (dls_results_open(path, &file, &err) == DLS_OK) {
        (void)!dls_points_read(file, &points, &err);
        dls_points_fini(&points);
        for (size_t i = 0; i < file->ids.n && i < 4; i++) {
            read_run(file, dls_results_run_id(file, i), data[0] == 0);
        }
        dls_results_close(file);
    }
    unlink(path);
    return 0;
}
