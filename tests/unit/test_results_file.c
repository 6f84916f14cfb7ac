/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Results files: what is written is read back, damage is reported, nothing half-written appears.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "results/read.h"
#include "results/write.h"
#include "support/results_sample.h"

#include <errno.h>
#include <hdf5.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* HDF5 1.10 loses some memory of its own when it refuses a damaged file. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libhdf5";
}

static char folder[64];
static dls_trace *trace;
static dls_record *rec;
static dls_summary summary;

static const char *in_folder(const char *name)
{
    static char path[4][128];
    static int next;
    next = (next + 1) % 4;
    snprintf(path[next], sizeof path[next], "%s/%s", folder, name);
    return path[next];
}

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
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
                                      .compat = "none",
                                      .cmdline = "dlsim --é",
                                      .config_text = "scheduler = \"dlas-gpu\";\n",
                                      .hostname = "here",
                                      .started_utc = "2024-05-01T12:00:00Z",
                                      .cluster = &cluster};

static void write_to(const char *path)
{
    dls_error err;
    if (dls_results_write(path, &meta, trace, rec, &summary, &err) != DLS_OK) {
        fail_msg("%s: %s", err.where, err.msg);
    }
}

static int make_sample(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/dlsim-results-XXXXXX");
    if (!mkdtemp(folder) || sample_trace(700, &trace, NULL) != DLS_OK ||
        sample_record(trace, 3, 2, &rec, NULL) != DLS_OK) {
        return -1;
    }
    unsetenv("SOURCE_DATE_EPOCH");
    return dls_summary_make(trace, rec, 60 * DLS_US_PER_S, 0, 1.5, &summary, NULL) == DLS_OK ? 0
                                                                                             : -1;
}

static int drop_sample(void **state)
{
    (void)state;
    dls_record_destroy(rec);
    dls_trace_destroy(trace);
    return rmdir(folder); /* fails if a test left something behind */
}

#define assert_column(a, b, n) assert_memory_equal(a, b, (n) * sizeof *(a))

static void round_trip(void **state)
{
    (void)state;
    const char *path = in_folder("a.h5");
    write_to(path);
    assert_false(exists(in_folder("a.h5.part")));
    dls_results *file = NULL;
    dls_run *run = NULL;
    dls_record *back = NULL;
    dls_run_jobs jobs;
    assert_int_equal(dls_results_open(path, &file, NULL), DLS_OK);
    assert_int_equal(dls_results_n_runs(file), 1);
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

    const dls_summary *s = dls_run_summary(run);
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

    assert_int_equal(dls_run_read_jobs(run, &jobs, NULL), DLS_OK);
    const dls_trace_columns *t = dls_trace_cols(trace);
    assert_int_equal(jobs.n, t->n);
    assert_column(jobs.submit_us, t->submit_us, t->n);
    assert_column(jobs.duration_us, t->duration_us, t->n);
    assert_column(jobs.gpus, t->gpus, t->n);
    assert_column(jobs.outcome, t->outcome, t->n);
    assert_string_equal(dls_run_job_id(&jobs, 0), dls_trace_id(trace, 0));
    assert_string_equal(dls_run_job_id(&jobs, t->n - 1), dls_trace_id(trace, t->n - 1));
    for (size_t j = 0; j < t->n; j += 99) {
        char *name = NULL;
        assert_int_equal(dls_run_read_name(run, "user", j, &name, NULL), DLS_OK);
        assert_string_equal(name, dls_trace_user(trace, t->user[j]));
        dls_free(name);
        assert_int_equal(dls_run_read_name(run, "vc", j, &name, NULL), DLS_OK);
        assert_string_equal(name, dls_trace_vc(trace, t->vc[j]));
        dls_free(name);
    }
    dls_run_jobs_fini(&jobs);

    assert_int_equal(dls_run_read_record(run, true, true, &back, NULL), DLS_OK);
    assert_int_equal(dls_record_digest(back), dls_record_digest(rec));
    assert_int_equal(back->start_us[100], -1); /* infeasible */
    assert_int_equal(back->allocs.n, rec->allocs.n);
    assert_column(back->allocs.job, rec->allocs.job, rec->allocs.n);
    assert_column(back->allocs.gpu_mask, rec->allocs.gpu_mask, rec->allocs.n);
    assert_column(back->allocs.end_us, rec->allocs.end_us, rec->allocs.n);
    assert_column(back->allocs.rate, rec->allocs.rate, rec->allocs.n);
    assert_int_equal(back->series.n, rec->series.n);
    assert_column(back->series.t_us, rec->series.t_us, rec->series.n);
    assert_column(back->series.full_nodes, rec->series.full_nodes, rec->series.n);
    dls_record_destroy(back);
    dls_run_close(run);
    dls_results_close(file);
    unlink(path);
}

static char *contents(const char *path, size_t *len)
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

static void assert_same_file(const char *a, const char *b)
{
    size_t n_a, n_b;
    char *bytes_a = contents(a, &n_a), *bytes_b = contents(b, &n_b);
    assert_int_equal(n_a, n_b);
    assert_memory_equal(bytes_a, bytes_b, n_a);
    free(bytes_a);
    free(bytes_b);
}

/* More rows than a chunk holds, and enough for the threads. */
static void many_chunks(void **state)
{
    (void)state;
    enum { ROWS = 200001 };
    dls_record *big = NULL, *back = NULL;
    dls_trace *t = NULL;
    static dls_summary s;
    assert_int_equal(sample_trace(70000, &t, NULL), DLS_OK);
    assert_int_equal(sample_record(t, 3, 1, &big, NULL), DLS_OK);
    assert_true(big->allocs.n > ROWS);
    assert_int_equal(dls_summary_make(t, big, 0, 0, 0, &s, NULL), DLS_OK);
    const char *path = in_folder("big.h5");
    assert_int_equal(dls_results_write(path, &meta, t, big, &s, NULL), DLS_OK);
    dls_results *file = NULL;
    dls_run *run = NULL;
    dls_run_jobs jobs;
    assert_int_equal(dls_results_open(path, &file, NULL), DLS_OK);
    assert_int_equal(dls_run_open(file, "r1", &run, NULL), DLS_OK);
    assert_int_equal(dls_run_read_record(run, true, true, &back, NULL), DLS_OK);
    assert_int_equal(dls_record_digest(back), dls_record_digest(big));
    assert_int_equal(back->allocs.n, big->allocs.n);
    assert_column(back->allocs.start_us, big->allocs.start_us, big->allocs.n);
    assert_column(back->allocs.gpu_mask, big->allocs.gpu_mask, big->allocs.n);
    assert_column(back->allocs.node, big->allocs.node, big->allocs.n);
    assert_column(back->series.pending_jobs, big->series.pending_jobs, big->series.n);
    assert_int_equal(dls_run_read_jobs(run, &jobs, NULL), DLS_OK);
    for (size_t j = 0; j < jobs.n; j++) {
        assert_string_equal(dls_run_job_id(&jobs, j), dls_trace_id(t, j));
    }
    dls_run_jobs_fini(&jobs);
    dls_record_destroy(back);
    dls_run_close(run);
    dls_results_close(file);
    /* The threads' timing does not show in the bytes. */
    const char *again = in_folder("again.h5");
    setenv("SOURCE_DATE_EPOCH", "1", 1);
    assert_int_equal(dls_results_write(path, &meta, t, big, &s, NULL), DLS_OK);
    assert_int_equal(dls_results_write(again, &meta, t, big, &s, NULL), DLS_OK);
    unsetenv("SOURCE_DATE_EPOCH");
    assert_same_file(path, again);
    unlink(path);
    unlink(again);
    dls_record_destroy(big);
    dls_trace_destroy(t);
}

static void put_contents(const char *path, const char *bytes, size_t len)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, len, f), len);
    assert_int_equal(fclose(f), 0);
}

static void same_bytes(void **state)
{
    (void)state;
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

/* Open, read everything; the status of the first failure. */
static dls_status read_all(const char *path, dls_error *err)
{
    dls_results *file = NULL;
    dls_run *run = NULL;
    dls_record *back = NULL;
    dls_run_jobs jobs = {0};
    dls_status status = dls_results_open(path, &file, err);
    if (status == DLS_OK) {
        status = dls_run_open(file, NULL, &run, err);
    }
    if (status == DLS_OK) {
        status = dls_run_read_jobs(run, &jobs, err);
    }
    if (status == DLS_OK) {
        status = dls_run_read_record(run, true, true, &back, err);
    }
    dls_record_destroy(back);
    dls_run_jobs_fini(&jobs);
    dls_run_close(run);
    dls_results_close(file);
    return status;
}

static void not_results(void **state)
{
    (void)state;
    dls_error err;
    const char *path = in_folder("x.h5");
    assert_int_equal(read_all(path, &err), DLS_EINPUT);
    assert_string_equal(err.where, path);
    assert_non_null(strstr(err.msg, "No such file"));
    assert_int_equal(read_all(folder, &err), DLS_EINPUT);
    assert_non_null(strstr(err.msg, "not a regular file"));
    put_contents(path, "job_id,gpus\n1,2\n", 16);
    assert_int_equal(read_all(path, &err), DLS_EINPUT);
    assert_non_null(strstr(err.msg, "cannot be read as HDF5"));
    put_contents(path, "", 0);
    assert_int_equal(read_all(path, &err), DLS_EINPUT);
    /* HDF5, but something else's. */
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(file >= 0);
    H5Fclose(file);
    assert_int_equal(read_all(path, &err), DLS_EINPUT);
    assert_non_null(strstr(err.msg, "not a results file of dlsim"));
    unlink(path);
}

/* Change one object of a good file by hand. */
typedef void (*change)(hid_t file);

static void drop_column(hid_t file)
{
    H5Ldelete(file, "runs/r1/jobs/pending_us", H5P_DEFAULT);
}

static void drop_summary_table(hid_t file)
{
    H5Ldelete(file, "runs/r1/summary/parts", H5P_DEFAULT);
}

static void drop_attribute(hid_t file)
{
    H5Adelete_by_name(file, "runs/r1/summary", "makespan_s", H5P_DEFAULT);
}

static void drop_runs(hid_t file)
{
    H5Ldelete(file, "runs/r1", H5P_DEFAULT);
}

static void newer_version(hid_t file)
{
    const uint64_t two = 2;
    const hid_t attr = H5Aopen(file, "format_version", H5P_DEFAULT);
    H5Awrite(attr, H5T_NATIVE_UINT64, &two);
    H5Aclose(attr);
}

static void change_value(hid_t file)
{
    static int64_t values[700];
    const hid_t set = H5Dopen2(file, "runs/r1/jobs/end_us", H5P_DEFAULT);
    H5Dread(set, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    values[3]++;
    H5Dwrite(set, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    H5Dclose(set);
}

static void job_out_of_range(hid_t file)
{
    const hid_t set = H5Dopen2(file, "runs/r1/allocations/job", H5P_DEFAULT);
    const hid_t space = H5Dget_space(set), one = H5Screate(H5S_SCALAR);
    const hsize_t at = 5;
    const int32_t job = 700;
    H5Sselect_elements(space, H5S_SELECT_SET, 1, &at);
    H5Dwrite(set, H5T_NATIVE_INT32, one, space, H5P_DEFAULT, &job);
    H5Sclose(one);
    H5Sclose(space);
    H5Dclose(set);
}

/* A column of n numbers in place of the one there. */
static void replace_column(hid_t file, const char *name, hid_t type, hsize_t n)
{
    H5Ldelete(file, name, H5P_DEFAULT);
    const hid_t space = H5Screate_simple(1, &n, NULL);
    const hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
    const hsize_t chunk = 600;
    H5Pset_chunk(dcpl, 1, &chunk);
    H5Dclose(H5Dcreate2(file, name, type, space, H5P_DEFAULT, dcpl, H5P_DEFAULT));
    H5Pclose(dcpl);
    H5Sclose(space);
}

static void shorter_column(hid_t file)
{
    replace_column(file, "runs/r1/jobs/preempts", H5T_STD_I32LE, 699);
}

static void float_column(hid_t file)
{
    replace_column(file, "runs/r1/jobs/gpus", H5T_IEEE_F64LE, 700);
}

static void endless_column(hid_t file)
{
    replace_column(file, "runs/r1/series/cluster/t_us", H5T_STD_I64LE, (hsize_t)1 << 60);
}

static void damaged(void **state)
{
    (void)state;
    static const struct {
        change what;
        const char *says;
    } cases[] = {
        {drop_column, "no column 'jobs/pending_us'"},
        {drop_summary_table, "no table 'parts'"},
        {drop_attribute, "no attribute 'makespan_s'"},
        {drop_runs, "holds no run"},
        {newer_version, "has format version 2, expected 1"},
        {change_value, "do not have the digest"},
        {job_out_of_range, "row 5 of 'allocations/job' names job 700 of 700"},
        {shorter_column, "column 'jobs/preempts' does not have 700 rows"},
        {float_column, "column 'jobs/gpus' has an unexpected type"},
        {endless_column, "column 'series/cluster/t_us' is not a list"},
    };
    const char *path = in_folder("d.h5");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        dls_error err = {.msg = ""};
        write_to(path);
        assert_int_equal(read_all(path, &err), DLS_OK);
        const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
        assert_true(file >= 0);
        cases[i].what(file);
        H5Fclose(file);
        assert_int_equal(read_all(path, &err), DLS_EINPUT);
        assert_string_equal(err.where, path);
        if (!strstr(err.msg, cases[i].says)) {
            fail_msg("case %zu says: %s", i, err.msg);
        }
    }
    unlink(path);
}

/* A file cut anywhere, or with bytes changed anywhere, is read or refused; never a crash. */
static void cut_and_flipped(void **state)
{
    (void)state;
    const char *path = in_folder("c.h5"), *bad = in_folder("bad.h5");
    write_to(path);
    size_t len;
    char *bytes = contents(path, &len);
    dls_error err;
    for (size_t cut = 0; cut < len; cut += len / 40 + 1) {
        put_contents(bad, bytes, cut);
        assert_int_equal(read_all(bad, &err), DLS_EINPUT);
    }
    dls_rng rng = dls_rng_stream(11, DLS_RNG_TEST, 0);
    int refused = 0;
    for (int i = 0; i < 300; i++) {
        const size_t at = (size_t)dls_rng_below(&rng, len);
        const char was = bytes[at];
        bytes[at] = (char)(was ^ (char)(1 + dls_rng_below(&rng, 255)));
        put_contents(bad, bytes, len);
        bytes[at] = was;
        const dls_status status = read_all(bad, &err);
        assert_true(status == DLS_OK || status == DLS_EINPUT || status == DLS_ENOMEM);
        refused += status != DLS_OK;
    }
    assert_true(refused > 0);
    free(bytes);
    unlink(path);
    unlink(bad);
}

static void several_runs(void **state)
{
    (void)state;
    const char *path = in_folder("m.h5");
    write_to(path);
    const hid_t h5 = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(H5Ocopy(h5, "runs/r1", h5, "runs/r0", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    H5Fclose(h5);
    dls_results *file = NULL;
    dls_run *run = NULL;
    dls_error err;
    assert_int_equal(dls_results_open(path, &file, NULL), DLS_OK);
    assert_int_equal(dls_results_n_runs(file), 2);
    assert_string_equal(dls_results_run_id(file, 0), "r0");
    assert_int_equal(dls_run_open(file, NULL, &run, &err), DLS_EINPUT);
    assert_non_null(strstr(err.msg, "holds 2 runs"));
    assert_int_equal(dls_run_open(file, "r2", &run, &err), DLS_EINPUT);
    assert_non_null(strstr(err.msg, "no run 'r2'"));
    assert_int_equal(dls_run_open(file, "r0", &run, &err), DLS_OK);
    assert_int_equal(dls_run_n_jobs(run), 700);
    dls_run_close(run);
    dls_results_close(file);
    unlink(path);
}

static void without_rows(void **state)
{
    (void)state;
    dls_record *bare = NULL, *back = NULL;
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
    assert_true(isnan(dls_run_summary(run)->makespan_s));
    assert_true(isnan(dls_run_summary(run)->part[0].jct.p99_s));
    assert_int_equal(dls_run_n_allocs(run) + dls_run_n_series(run), 0);
    assert_int_equal(dls_run_read_record(run, true, true, &back, NULL), DLS_OK);
    assert_int_equal(back->allocs.n, 0);
    dls_record_destroy(back);
    dls_run_close(run);
    dls_results_close(file);
    dls_record_destroy(bare);
    unlink(path);
}

static void bad_arguments(void **state)
{
    (void)state;
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

/* ---- what can go wrong while writing -----------------------------------------------------------
 */

static void no_place(void **state)
{
    (void)state;
    dls_error err;
    const char *path = in_folder("no/such/folder.h5");
    assert_int_equal(dls_results_write(path, &meta, trace, rec, &summary, &err), DLS_EOUTPUT);
    assert_string_equal(err.where, path);
    assert_non_null(strstr(err.msg, "No such file"));
    assert_int_equal(dls_results_write(folder, &meta, trace, rec, &summary, &err), DLS_EOUTPUT);
    assert_int_equal(dls_results_write("/dev/full", &meta, trace, rec, &summary, &err),
                     DLS_EOUTPUT);
    assert_false(exists("/dev/full.part"));
    assert_int_equal(dls_results_write_csv(path, trace, rec, &err), DLS_EOUTPUT);
}

/* Files may grow to `bytes` and no further, as on a full disk. */
static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void full_disk(void **state)
{
    (void)state;
    const char *path = in_folder("full.h5"), *part = in_folder("full.h5.part");
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
        assert_false(exists(part));
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
    dls_error err;
    const char *csv = in_folder("full.csv");
    limit_files(5000);
    assert_int_equal(dls_results_write_csv(csv, trace, rec, &err), DLS_EOUTPUT);
    limit_files(RLIM_INFINITY);
    assert_false(exists(csv));
    assert_false(exists(in_folder("full.csv.part")));
}

static int fail_at;

static int refuse(void *user, size_t bytes)
{
    (void)user;
    (void)bytes;
    return fail_at-- != 0;
}

static void failed_allocations(void **state)
{
    (void)state;
    const char *path = in_folder("alloc.h5"), *part = in_folder("alloc.h5.part");
    dls_error err;
    dls_status status = DLS_ENOMEM;
    int n = 0;
    for (; status != DLS_OK && n < 1000; n++) {
        fail_at = n;
        dls_alloc_set_hook(refuse, NULL);
        status = dls_results_write(path, &meta, trace, rec, &summary, &err);
        dls_alloc_set_hook(NULL, NULL);
        assert_true(status == DLS_OK || status == DLS_ENOMEM);
        assert_int_equal(exists(path), status == DLS_OK);
        assert_false(exists(part));
    }
    assert_true(n > 5 && n < 1000);
    status = DLS_ENOMEM;
    for (n = 0; status != DLS_OK && n < 1000; n++) {
        fail_at = n;
        dls_alloc_set_hook(refuse, NULL);
        status = read_all(path, &err);
        dls_alloc_set_hook(NULL, NULL);
        assert_true(status == DLS_OK || status == DLS_ENOMEM);
    }
    assert_true(n > 50 && n < 1000);
    unlink(path);
}

static void through_a_link(void **state)
{
    (void)state;
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

static void csv(void **state)
{
    (void)state;
    const char *path = in_folder("jobs.csv");
    assert_int_equal(dls_results_write_csv(path, trace, rec, NULL), DLS_OK);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    char line[512];
    size_t rows = 0, finished = 0;
    assert_non_null(fgets(line, sizeof line, f));
    assert_int_equal(strncmp(line, "job_id,submission_time,requested_number_of_resources,", 53), 0);
    const dls_trace_columns *t = dls_trace_cols(trace);
    for (size_t j = 0; j < t->n; j++) {
        if (rec->state[j] != DLS_JOB_FINISHED) {
            continue;
        }
        finished++;
        assert_non_null(fgets(line, sizeof line, f));
        char id[64];
        double submit, gpus, start, execution, finish, waiting, turnaround, stretch;
        assert_int_equal(sscanf(line, "%63[^,],%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf,", id, &submit,
                                &gpus, &start, &execution, &finish, &waiting, &turnaround,
                                &stretch),
                         9);
        assert_string_equal(id, dls_trace_id(trace, j));
        assert_true((int64_t)(submit * 1e6) == t->submit_us[j]);
        assert_true((int64_t)(finish * 1e6) == rec->end_us[j]);
        assert_true(fabs(waiting - (start - submit)) < 1e-6);
        assert_true(fabs(stretch - turnaround / execution) < 1e-6 * stretch);
        rows++;
    }
    assert_null(fgets(line, sizeof line, f));
    assert_int_equal(rows, finished);
    fclose(f);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip),     cmocka_unit_test(many_chunks),
        cmocka_unit_test(same_bytes),     cmocka_unit_test(not_results),
        cmocka_unit_test(damaged),        cmocka_unit_test(cut_and_flipped),
        cmocka_unit_test(several_runs),   cmocka_unit_test(without_rows),
        cmocka_unit_test(bad_arguments),  cmocka_unit_test(no_place),
        cmocka_unit_test(full_disk),      cmocka_unit_test(failed_allocations),
        cmocka_unit_test(through_a_link), cmocka_unit_test(csv),
    };
    return cmocka_run_group_tests(tests, make_sample, drop_sample);
}
