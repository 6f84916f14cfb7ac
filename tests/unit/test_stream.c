/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Rows beyond a million lie in files: the record, its digests and its results file are those of a
 * record in memory; memory stays bounded; nothing is seen in the folder; a full disk costs memory
 * and nothing else.
 */

#include "base/alloc.h"
#include "record/columns.h"
#include "support/results_file.h"

#include <signal.h>
#include <sys/resource.h>

/* Allocations and rows of the series for each of 700 jobs, of which 686 have some. */
enum { PER_JOB = 3150, ROWS = 2 * DLS_ROWS_IN_MEMORY };

static const dls_error no_error;

/* Pages of files in memory, bytes. */
static size_t resident(void)
{
    long shared = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%*d %*d %ld", &shared), 1);
    fclose(f);
    return (size_t)shared * (size_t)sysconf(_SC_PAGESIZE);
}

static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* The record of many rows; streamed with files of so many bytes, 0: in memory. */
static dls_record *grown(rlim_t most)
{
    dls_record *r;
    dls_error err = no_error;
    assert_int_equal(sample_record(trace, 1, 0, &r, &err), DLS_OK);
    if (most > 0) {
        assert_int_equal(dls_record_stream(r, in_folder("r.h5"), &err), DLS_OK);
        limit_files(most);
    }
    const dls_status status = sample_rows(r, dls_trace_cols(trace), PER_JOB, PER_JOB, &err);
    limit_files(RLIM_INFINITY);
    assert_int_equal(status, DLS_OK);
    assert_true(r->allocs.n > ROWS && r->series.n > ROWS);
    assert_int_equal(entries(), 0);
    return r;
}

static void assert_same_table(const dls_record_table *table, const void *a, const void *b, size_t n)
{
    for (size_t i = 0; i < table->n; i++) {
        const dls_record_column *c = &table->columns[i];
        const void *x = dls_column_cells(c, a), *y = dls_column_cells(c, b);
        assert_int_equal(!x, !y);
        if (x && memcmp(x, y, n * dls_field_width(c->type)) != 0) {
            fail_msg("%s differs", c->name);
        }
    }
}

static void assert_same(const dls_record *a, const dls_record *b)
{
    assert_int_equal(a->allocs.n, b->allocs.n);
    assert_int_equal(a->series.n, b->series.n);
    assert_same_table(&dls_record_tables[DLS_ROWS_ALLOCS], &a->allocs, &b->allocs, a->allocs.n);
    assert_same_table(&dls_record_tables[DLS_ROWS_SERIES], &a->series, &b->series, a->series.n);
}

static void write_record(const dls_record *r, const char *path)
{
    static dls_summary s;
    dls_error err = no_error;
    assert_int_equal(dls_summary_make(trace, r, 0, 0, 1, &s, &err), DLS_OK);
    assert_int_equal(s.history_digest, dls_record_history_digest(rec));
    assert_int_equal(dls_results_write(path, &meta, trace, r, &s, &err), DLS_OK);
}

TEST(same_results)
{
    const char *of_memory = in_folder("memory.h5"), *of_files = in_folder("files.h5");
    const size_t before = resident();
    dls_record *streamed = grown(RLIM_INFINITY);
    const size_t rows = DLS_ROWS_IN_MEMORY * (8 * 3 + 4 * 4 + 1 + 8 + 6 * 4); /* of both */
    const size_t with_rows = resident();
    assert_true(with_rows < before + rows);
    setenv("SOURCE_DATE_EPOCH", "1", 1);
    write_record(streamed, of_files);
    assert_true(resident() < with_rows + rows);
    write_record(rec, of_memory);
    unsetenv("SOURCE_DATE_EPOCH");
    size_t n, m;
    char *a = contents(of_memory, &n), *b = contents(of_files, &m);
    assert_int_equal(n, m);
    assert_int_equal(memcmp(a, b, n), 0);
    free(a);
    free(b);
    dls_saved *saved; /* HDF5 knows the filters, and the sums are right */
    dls_result_column rate;
    assert_int_equal(dls_saved_open(of_files, NULL, &saved, NULL), DLS_OK);
    assert_true(dls_saved_column(saved, DLS_TABLE_ALLOCATIONS, "rate", &rate));
    assert_int_equal(rate.n, streamed->allocs.n);
    assert_memory_equal(rate.data, streamed->allocs.rate, rate.n * sizeof(float));
    dls_saved_close(saved);
    unlink(of_memory);
    unlink(of_files);
    assert_same(rec, streamed);
    dls_record_destroy(streamed);
    assert_true(resident() < before + (8 << 20));
}

/* A copy is in memory, and neither knows of the other's rows. */
TEST(copied)
{
    dls_record *streamed = grown(RLIM_INFINITY), *copy;
    dls_error err = no_error;
    assert_int_equal(dls_record_copy(streamed, &copy, &err), DLS_OK);
    const dls_series_point last = {.t_us = INT64_C(1) << 60, .busy_gpus = 1};
    assert_int_equal(dls_record_series(streamed, &last, &err), DLS_OK);
    assert_same(rec, copy);
    dls_record_destroy(streamed);
    assert_same(rec, copy);
    dls_record_destroy(copy);
}

/* No room for the first files, for some of their columns, or for rows after them. */
TEST(full_disk)
{
    signal(SIGXFSZ, SIG_IGN);
    for (rlim_t mib = 1; mib <= 21; mib += 10) {
        DLS_HOLD(dls_record_destroy) dls_record *streamed = grown(mib << 20);
        assert_same(rec, streamed);
    }
}

/* With so many jobs rows begin in files, to which they go by parts; with fewer, or where there is no room, in memory. */
TEST(many_jobs)
{
    signal(SIGXFSZ, SIG_IGN);
    for (int run = 0; run < 3; run++) {
        DLS_HOLD(dls_record_destroy) dls_record *r = NULL;
        dls_error err = no_error;
        assert_int_equal(dls_record_create(DLS_ROWS_IN_MEMORY / 2 - (run == 1), &r, &err), DLS_OK);
        assert_int_equal(dls_record_stream(r, in_folder("r.h5"), &err), DLS_OK);
        limit_files(run == 2 ? DLS_ROWS_ADDED * 7 : RLIM_INFINITY);
        const size_t n = 2 * DLS_ROWS_ADDED + 1;
        for (size_t i = 0; i < n; i++) {
            const dls_series_point p = {.t_us = (int64_t)i, .busy_gpus = (int32_t)i * 3};
            assert_int_equal(dls_record_series(r, &p, &err), DLS_OK);
        }
        limit_files(RLIM_INFINITY);
        assert_int_equal(r->series.file && r->series.file[0].fd >= 0, run == 0);
        assert_int_equal(r->series.n, n);
        for (size_t i = 0; i < n; i++) {
            assert_true(r->series.t_us[i] == (int64_t)i && r->series.busy_gpus[i] == (int32_t)i * 3);
        }
        assert_int_equal(entries(), 0);
    }
}

static int refuse(void *user, size_t bytes)
{
    return bytes < 1 << 20;
}

/* No room on the disk, and none in memory. */
TEST(no_room)
{
    DLS_HOLD(dls_record_destroy) dls_record *r = NULL;
    dls_error err = no_error;
    assert_int_equal(sample_record(trace, 1600, 0, &r, &err), DLS_OK); /* a capacity of 2^21 */
    assert_int_equal(dls_record_stream(r, in_folder("r.h5"), &err), DLS_OK);
    limit_files(DLS_ROWS_IN_MEMORY * 12);
    dls_alloc_set_hook(refuse, NULL);
    assert_int_equal(sample_rows(r, dls_trace_cols(trace), PER_JOB, 0, &err), DLS_ENOMEM);
    dls_alloc_set_hook(NULL, NULL);
    limit_files(RLIM_INFINITY);
}

static int setup(void **state)
{
    if (make_sample(1) != 0) {
        return -1;
    }
    dls_record_destroy(rec);
    rec = grown(0);
    return 0;
}

GROUP(setup, drop_sample)
