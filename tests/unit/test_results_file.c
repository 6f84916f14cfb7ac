/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Results files: what is written is read back, and nothing half-written appears.
 */

#include "base/alloc.h"
#include "dlsim/results.h"
#include "support/must.h"
#include "support/refuse.h"
#include "support/results_file.h"

#include <math.h>
#include <signal.h>
#include <sys/resource.h>

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

/* A column of a table, as the public interface reads it. */
#define assert_saved(saved, table, name, a, n_)                                                    \
    do {                                                                                           \
        dls_result_column c_;                                                                      \
        assert_true(dls_saved_column(saved, table, name, &c_));                                    \
        assert_int_equal(c_.n, n_);                                                                \
        assert_memory_equal(c_.data, a, (n_) * sizeof *(a));                                       \
    } while (0)

TEST(round_trip)
{
    const char *path = in_folder("a.h5");
    write_to(path);
    assert_int_equal(entries(), 1);
    dls_results *file = NULL;
    dls_run *run = NULL;
    assert_int_equal(dls_results_open(path, &file, NULL), DLS_OK);
    assert_int_equal(file->ids.n, 1);
    assert_string_equal(dls_results_run_id(file, 0), "r1");
    assert_int_equal(dls_run_open(file, NULL, &run, NULL), DLS_OK);
    assert_string_equal(dls_run_attr(run, "seed"), "18446744073709551601");
    assert_string_equal(dls_run_attr(run, "scheduler"), "dlas-gpu");
    assert_string_equal(dls_run_attr(run, "cmdline"), "dlsim --é");
    assert_string_equal(dls_run_attr(run, "config_text"), meta.config_text);
    assert_int_equal(strlen(dls_run_attr(run, "config_sha256")), 64);
    assert_string_equal(dls_run_attr(run, "wall_s"), "1.5");
    assert_string_equal(dls_run_attr(run, "predictor"), "");
    assert_string_equal(dls_run_attr(run, "no such"), "");

    const dls_summary *s = &run->summary;
    assert_int_equal(s->digest, summary.digest);
    assert_memory_equal(&s->makespan_s, &summary.makespan_s, sizeof s->makespan_s);
    assert_int_equal(s->complete, true);
    assert_int_equal(s->positions, summary.positions);
    for (int p = 0; p < DLS_SUMMARY_PARTS; p++) {
        const dls_summary_part *a = &s->part[p], *b = &summary.part[p];
        assert_int_equal(a->kind, b->kind);
        assert_string_equal(a->name, b->name);
        assert_int_equal(a->jobs, b->jobs);
        assert_int_equal(a->promotions, b->promotions);
        assert_memory_equal(&a->jct, &b->jct, sizeof a->jct);
        assert_memory_equal(&a->first_start, &b->first_start, sizeof a->first_start);
    }

    dls_saved *saved;
    assert_int_equal(dls_saved_open(path, NULL, &saved, NULL), DLS_OK);
    const dls_trace_columns *t = dls_trace_cols(trace);
    assert_int_equal(dls_saved_rows(saved, DLS_TABLE_JOBS), t->n);
    assert_saved(saved, DLS_TABLE_JOBS, "submit_us", t->submit_us, t->n);
    assert_saved(saved, DLS_TABLE_JOBS, "duration_us", t->duration_us, t->n);
    assert_saved(saved, DLS_TABLE_JOBS, "gpus", t->gpus, t->n);
    assert_saved(saved, DLS_TABLE_JOBS, "outcome", t->outcome, t->n);
    assert_saved(saved, DLS_TABLE_JOBS, "start_us", rec->start_us, t->n);
    const dls_alloc_rows *a = &rec->allocs;
    assert_saved(saved, DLS_TABLE_ALLOCATIONS, "job", a->job, a->n);
    assert_saved(saved, DLS_TABLE_ALLOCATIONS, "gpu_mask", a->gpu_mask, a->n);
    assert_saved(saved, DLS_TABLE_ALLOCATIONS, "end_us", a->end_us, a->n);
    assert_saved(saved, DLS_TABLE_ALLOCATIONS, "rate", a->rate, a->n);
    assert_saved(saved, DLS_TABLE_SERIES, "t_us", rec->series.t_us, rec->series.n);
    assert_saved(saved, DLS_TABLE_SERIES, "full_nodes", rec->series.full_nodes, rec->series.n);
    assert_string_equal(dls_saved_id(saved, 0), dls_trace_id(trace, 0));
    assert_string_equal(dls_saved_id(saved, t->n - 1), dls_trace_id(trace, t->n - 1));
    for (size_t j = 0; j < t->n; j += 99) {
        const char *user = dls_saved_name(saved, "user", (uint32_t)t->user[j]);
        const char *vc = dls_saved_name(saved, "vc", (uint32_t)t->vc[j]);
        assert_string_equal(user ? user : "", dls_trace_user(trace, t->user[j]));
        assert_string_equal(vc ? vc : "", dls_trace_vc(trace, t->vc[j]));
    }
    dls_saved_close(saved);

    dls_run_close(run);
    dls_results_close(file);
    unlink(path);
}

static void assert_same_file(const char *a, const char *b)
{
    size_t n_a, n_b;
    char *bytes_a = contents(a, &n_a), *bytes_b = contents(b, &n_b);
    assert_int_equal(n_a, n_b);
    assert_memory_equal(bytes_a, bytes_b, n_a);
    free(bytes_a);
    free(bytes_b);
}

/* More rows than a chunk holds, and texts in blocks. */
TEST(many_chunks)
{
    enum { ROWS = 200001 };
    dls_record *big = NULL;
    DLS_HOLD(dls_trace_destroy) dls_trace *t = NULL;
    static dls_summary s;
    assert_int_equal(sample_trace(70000, &t, NULL), DLS_OK);
    assert_int_equal(sample_record(t, 3, 1, &big, NULL), DLS_OK);
    assert_true(big->allocs.n > ROWS);
    assert_int_equal(dls_summary_make(t, big, 0, 0, 0, &s, NULL), DLS_OK);
    const char *path = in_folder("big.h5");
    assert_int_equal(dls_results_write(path, &meta, t, big, &s, NULL), DLS_OK);
    dls_saved *saved;
    assert_int_equal(dls_saved_open(path, "r1", &saved, NULL), DLS_OK);
    const dls_alloc_rows *a = &big->allocs;
    assert_saved(saved, DLS_TABLE_JOBS, "end_us", big->end_us, big->n_jobs);
    assert_saved(saved, DLS_TABLE_ALLOCATIONS, "start_us", a->start_us, a->n);
    assert_saved(saved, DLS_TABLE_ALLOCATIONS, "gpu_mask", a->gpu_mask, a->n);
    assert_saved(saved, DLS_TABLE_ALLOCATIONS, "node", a->node, a->n);
    assert_saved(saved, DLS_TABLE_SERIES, "pending_jobs", big->series.pending_jobs, big->series.n);
    for (size_t j = 0; j < big->n_jobs; j++) {
        assert_string_equal(dls_saved_id(saved, j), dls_trace_id(t, j));
    }
    dls_saved_close(saved);
    /* The same bytes again. */
    const char *again = in_folder("again.h5");
    setenv("SOURCE_DATE_EPOCH", "1", 1);
    assert_int_equal(dls_results_write(path, &meta, t, big, &s, NULL), DLS_OK);
    assert_int_equal(dls_results_write(again, &meta, t, big, &s, NULL), DLS_OK);
    unsetenv("SOURCE_DATE_EPOCH");
    assert_same_file(path, again);
    unlink(path);
    unlink(again);
    dls_record_destroy(big);
}

TEST(same_bytes)
{
    const char *a = in_folder("a.h5"), *b = in_folder("b.h5");
    setenv("SOURCE_DATE_EPOCH", "86400", 1);
    write_to(a);
    /* Other times and another machine; the heap has been used in between. */
    const dls_summary measured = summary;
    summary.wall_s = 99;
    summary.events_per_s = 1;
    dls_results_meta elsewhere = meta;
    elsewhere.hostname = "there";
    elsewhere.started_utc = "2025-01-01T00:00:00Z";
    char *junk = malloc(1 << 20);
    assert_non_null(junk);
    memset(junk, 0xA5, 1 << 20);
    free(junk);
    assert_int_equal(dls_results_write(b, &elsewhere, trace, rec, &summary, NULL), DLS_OK);
    summary = measured;
    unsetenv("SOURCE_DATE_EPOCH");
    assert_same_file(a, b);
    dls_results *file = NULL;
    dls_run *run = NULL;
    assert_int_equal(dls_results_open(a, &file, NULL), DLS_OK);
    assert_int_equal(dls_run_open(file, NULL, &run, NULL), DLS_OK);
    assert_string_equal(dls_run_attr(run, "started_utc"), "1970-01-02T00:00:00Z");
    assert_string_equal(dls_run_attr(run, "hostname"), "");
    dls_run_close(run);
    dls_results_close(file);
    unlink(a);
    unlink(b);
}

TEST(several_runs)
{
    const char *path = in_folder("m.h5");
    write_to(path);
    const hid_t h5 = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(H5Ocopy(h5, "runs/r1", h5, "runs/r0", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    H5Fclose(h5);
    dls_results *file = NULL;
    dls_run *run = NULL;
    dls_error err;
    assert_int_equal(dls_results_open(path, &file, NULL), DLS_OK);
    assert_int_equal(file->ids.n, 2);
    assert_string_equal(dls_results_run_id(file, 0), "r0");
    MUST_FAIL(DLS_EINPUT, "holds 2 runs", dls_run_open(file, NULL, &run, &e));
    MUST_FAIL(DLS_EINPUT, "no run 'r2'", dls_run_open(file, "r2", &run, &e));
    assert_int_equal(dls_run_open(file, "r0", &run, &err), DLS_OK);
    assert_int_equal(run->n_jobs, 700);
    dls_run_close(run);
    dls_results_close(file);
    unlink(path);
}

TEST(without_rows)
{
    dls_record *bare = NULL;
    dls_summary s;
    dls_error err;
    const char *path = in_folder("bare.h5");
    const dls_results_meta nothing = {.seed = 1};
    assert_int_equal(dls_record_create(700, &bare, NULL), DLS_OK);
    assert_int_equal(dls_summary_make(trace, bare, 0, 0, 0, &s, NULL), DLS_OK);
    assert_int_equal(dls_results_write(path, &nothing, trace, bare, &s, &err), DLS_OK);
    dls_results *file = NULL;
    dls_run *run = NULL;
    assert_int_equal(dls_results_open(path, &file, NULL), DLS_OK);
    assert_int_equal(dls_run_open(file, "0", &run, NULL), DLS_OK);
    assert_true(isnan(run->summary.makespan_s));
    assert_true(isnan(run->summary.part[0].jct.p99_s));
    dls_saved *saved;
    assert_int_equal(dls_saved_open(path, "0", &saved, NULL), DLS_OK);
    assert_int_equal(dls_saved_rows(saved, DLS_TABLE_ALLOCATIONS), 0);
    assert_int_equal(dls_saved_rows(saved, DLS_TABLE_SERIES), 0);
    dls_saved_close(saved);
    dls_run_close(run);
    dls_results_close(file);
    dls_record_destroy(bare);
    unlink(path);
}

TEST(bad_arguments)
{
    dls_error err;
    const char *path = in_folder("e.h5");
    dls_results_meta wrong = meta;
    wrong.run_id = "a/b";
    assert_int_equal(dls_results_write(path, &wrong, trace, rec, &summary, &err), DLS_EINPUT);
    dls_summary other = summary;
    other.part[0].jobs--;
    assert_int_equal(dls_results_write(path, &meta, trace, rec, &other, &err), DLS_EINPUT);
    assert_false(exists(path));
}

/* ---- what can go wrong while writing --------------------------------------------------------- */

TEST(no_place)
{
    dls_error err;
    const char *path = in_folder("no/such/folder.h5");
    assert_int_equal(dls_results_write(path, &meta, trace, rec, &summary, &err), DLS_EOUTPUT);
    assert_string_equal(err.where, path);
    assert_non_null(strstr(err.msg, "No such file"));
    assert_int_equal(dls_results_write(folder, &meta, trace, rec, &summary, &err), DLS_EOUTPUT);
    assert_int_equal(dls_results_write("/dev/full", &meta, trace, rec, &summary, &err),
                     DLS_EOUTPUT);
}

/* Files may grow to `bytes` and no further, as on a full disk. */
static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

TEST(full_disk)
{
    const char *path = in_folder("full.h5");
    write_to(path);
    size_t len, after;
    char *before = contents(path, &len);
    signal(SIGXFSZ, SIG_IGN);
    int cases = 0;
    for (size_t room = 0; room < len; room += len / 25 + 1, cases++) {
        dls_error err;
        limit_files(room);
        const dls_status status = dls_results_write(path, &meta, trace, rec, &summary, &err);
        limit_files(RLIM_INFINITY);
        assert_int_equal(status, DLS_EOUTPUT);
        assert_string_equal(err.where, path);
        if (!strstr(err.msg, "File too large")) {
            fail_msg("%zu bytes of room: %s", room, err.msg);
        }
        assert_int_equal(entries(), 1);
    }
    assert_true(cases > 20);
    /* The old file is untouched, and writing works again. */
    char *now = contents(path, &after);
    assert_int_equal(len, after);
    assert_memory_equal(before, now, len);
    free(before);
    free(now);
    write_to(path);
    assert_int_equal(read_all(path, NULL), DLS_OK);
    unlink(path);
    assert_int_equal(entries(), 0);
}

TEST(failed_allocations)
{
    const char *path = in_folder("alloc.h5");
    dls_error err;
    EACH_REFUSED_THEN(5, dls_results_write(path, &meta, trace, rec, &summary, &err),
                      assert_int_equal(entries(), 0));
    assert_true(exists(path) && entries() == 1);
    EACH_REFUSED(50, read_all(path, &err));
    unlink(path);
}

TEST(through_a_link)
{
    const char *path = in_folder("real.h5"), *link = in_folder("link.h5");
    put_contents(path, "old", 3);
    assert_int_equal(symlink(path, link), 0);
    write_to(link);
    struct stat st;
    assert_int_equal(lstat(link, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(read_all(path, NULL), DLS_OK);
    unlink(path);
    unlink(link);
}

static int setup(void **state)
{
    return make_sample(3);
}

GROUP(setup, drop_sample)
