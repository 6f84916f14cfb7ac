/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Results files that are none, or damaged: refused with the reason, never a crash.
 */

#include "base/owners.h"
#include "dlsim/study.h"
#include "results/schema.h"
#include "support/must.h"
#include "support/results_file.h"

#define TEXT(x) #x
#define TEXT_OF(x) TEXT(x)

/* HDF5 1.10 loses some memory of its own when it refuses a damaged file. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libhdf5";
}

TEST(not_results)
{
    dls_error err;
    const char *path = in_folder("x.h5");
    assert_int_equal(read_all(path, &err), DLS_EINPUT);
    assert_string_equal(err.where, path);
    assert_non_null(strstr(err.msg, "No such file"));
    MUST_FAIL(DLS_EINPUT, "not a regular file", read_all(folder, &e));
    put_contents(path, "job_id,gpus\n1,2\n", 16);
    MUST_FAIL(DLS_EINPUT, "not an HDF5 file", read_all(path, &e));
    put_contents(path, "", 0);
    assert_int_equal(read_all(path, &err), DLS_EINPUT);
    /* HDF5, but something else's. */
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(file >= 0);
    H5Fclose(file);
    MUST_FAIL(DLS_EINPUT, "not a results file of dlsim", read_all(path, &e));
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
    const uint64_t next = 99;
    const hid_t attr = H5Aopen(file, "format_version", H5P_DEFAULT);
    H5Awrite(attr, H5T_NATIVE_UINT64, &next);
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

static void put_job(hid_t file, int32_t job)
{
    const hid_t set = H5Dopen2(file, "runs/r1/allocations/job", H5P_DEFAULT);
    const hid_t space = H5Dget_space(set), one = H5Screate(H5S_SCALAR);
    const hsize_t at = 5;
    H5Sselect_elements(space, H5S_SELECT_SET, 1, &at);
    H5Dwrite(set, H5T_NATIVE_INT32, one, space, H5P_DEFAULT, &job);
    H5Sclose(one);
    H5Sclose(space);
    H5Dclose(set);
}

static void job_out_of_range(hid_t file)
{
    put_job(file, 700);
}

static void another_job(hid_t file)
{
    put_job(file, 699);
}

/* A column of n numbers in place of the one there. */
static void replace_column(hid_t file, const char *name, hid_t type, hsize_t n)
{
    H5Ldelete(file, name, H5P_DEFAULT);
    const hid_t space = H5Screate_simple(1, &n, NULL);
    const hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
    const hsize_t chunk = 600;
    H5Pset_chunk(dcpl, 1, &chunk);
    H5Pset_alloc_time(dcpl, n < 1000 ? H5D_ALLOC_TIME_EARLY : H5D_ALLOC_TIME_LATE);
    H5Dclose(H5Dcreate2(file, name, type, space, H5P_DEFAULT, dcpl, H5P_DEFAULT));
    H5Pclose(dcpl);
    H5Sclose(space);
}

static void shorter_column(hid_t file)
{
    replace_column(file, "runs/r1/jobs/preempts", H5T_STD_I32LE, 699);
}

static void no_ids(hid_t file)
{
    H5Ldelete(file, "runs/r1/jobs/id", H5P_DEFAULT);
}

static void float_column(hid_t file)
{
    replace_column(file, "runs/r1/jobs/gpus", H5T_IEEE_F64LE, 700);
}

static void endless_column(hid_t file)
{
    replace_column(file, "runs/r1/series/cluster/t_us", H5T_STD_I64LE, (hsize_t)1 << 60);
}

/* ---- what would lead out of the file, or trust it too much ----------------------------------- */

static void external_link(hid_t file)
{
    H5Ldelete(file, "runs/r1/jobs", H5P_DEFAULT);
    H5Lcreate_external(in_folder("good.h5"), "/runs/r1/jobs", file, "runs/r1/jobs", H5P_DEFAULT,
                       H5P_DEFAULT);
}

static void external_run(hid_t file)
{
    H5Ldelete(file, "runs/r1", H5P_DEFAULT);
    H5Lcreate_external(in_folder("good.h5"), "/runs/r1/../r1", file, "runs/r1", H5P_DEFAULT,
                       H5P_DEFAULT);
}

/* A column of 700 int32 whose cells dcpl puts elsewhere. */
static void elsewhere(hid_t file, hid_t dcpl)
{
    const hsize_t n = 700;
    const hid_t space = H5Screate_simple(1, &n, NULL);
    H5Ldelete(file, "runs/r1/jobs/preempts", H5P_DEFAULT);
    const hid_t set = H5Dcreate2(file, "runs/r1/jobs/preempts", H5T_STD_I32LE, space, H5P_DEFAULT,
                                 dcpl, H5P_DEFAULT);
    assert_true(set >= 0);
    H5Dclose(set);
    H5Pclose(dcpl);
    H5Sclose(space);
}

static void virtual_column(hid_t file)
{
    const hsize_t n = 700;
    const hid_t space = H5Screate_simple(1, &n, NULL), dcpl = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_virtual(dcpl, space, in_folder("good.h5"), "/runs/r1/jobs/resumes", space);
    H5Sclose(space);
    elsewhere(file, dcpl);
}

static void raw_column(hid_t file)
{
    const hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_external(dcpl, "/etc/passwd", 0, 2800);
    elsewhere(file, dcpl);
}

/* Its name is in the file; the reader must not look for it. */
static size_t pass(unsigned flags, size_t n_values, const unsigned *values, size_t bytes,
                   size_t *room, void **buffer)
{
    (void)flags, (void)n_values, (void)values, (void)room, (void)buffer;
    return bytes;
}

static void plugin_column(hid_t file)
{
    static const H5Z_class2_t class = {.version = H5Z_CLASS_T_VERS,
                                       .id = 300,
                                       .encoder_present = 1,
                                       .decoder_present = 1,
                                       .name = "plug-in",
                                       .filter = pass};
    static const int32_t values[700];
    const hsize_t n = 700;
    const hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
    assert_true(H5Zregister(&class) >= 0);
    H5Pset_chunk(dcpl, 1, &n);
    assert_true(H5Pset_filter(dcpl, 300, 0, 0, NULL) >= 0);
    elsewhere(file, dcpl);
    const hid_t set = H5Dopen2(file, "runs/r1/jobs/preempts", H5P_DEFAULT);
    assert_true(H5Dwrite(set, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Dclose(set);
    H5Zunregister(300);
}

static void variable_text(hid_t file)
{
    const char *text = "dlas";
    const hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    H5Tset_size(type, H5T_VARIABLE);
    H5Adelete_by_name(file, "runs/r1", "scheduler", H5P_DEFAULT);
    const hid_t attr = H5Acreate_by_name(file, "runs/r1", "scheduler", type, space, H5P_DEFAULT,
                                         H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Awrite(attr, type, &text) >= 0);
    H5Aclose(attr);
    H5Sclose(space);
    H5Tclose(type);
}

static void variable_ids(hid_t file)
{
    const char *ids[700];
    const hsize_t n = 700;
    const hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate_simple(1, &n, NULL);
    for (int i = 0; i < 700; i++) {
        ids[i] = "job";
    }
    H5Tset_size(type, H5T_VARIABLE);
    H5Ldelete(file, "runs/r1/jobs/id", H5P_DEFAULT);
    const hid_t set =
        H5Dcreate2(file, "runs/r1/jobs/id", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, ids) >= 0);
    H5Dclose(set);
    H5Sclose(space);
    H5Tclose(type);
}

TEST(damaged)
{
    static const struct {
        change what;
        const char *says;
    } cases[] = {
        {drop_column, "no column 'jobs/pending_us'"},
        {drop_summary_table, "no table 'parts'"},
        {drop_attribute, "attribute \"makespan_s\" is missing"},
        {drop_runs, "holds no run"},
        {newer_version, "has format version 99, expected " TEXT_OF(DLS_RESULTS_VERSION)},
        {change_value, "do not have the digest"},
        {job_out_of_range, "row 5 of 'allocations/job' names job 700 of 700"},
        {another_job, "allocations and series of run 'r1' do not have the digest"},
        {shorter_column, "column 'jobs/preempts' does not have 700 rows"},
        {no_ids, "column 'jobs/id' does not have 700 rows"},
        {float_column, "column 'jobs/gpus' has an unexpected type"},
        {endless_column, "\"series/cluster/t_us\" is larger than what the file holds of it"},
        {external_link, "\"jobs/submit_us\" is missing"},
        {external_run, "run 'r1' is a link to something else"},
        {virtual_column, "\"jobs/preempts\" lies in another file"},
        {raw_column, "\"jobs/preempts\" lies in another file"},
        {plugin_column, "\"jobs/preempts\" is damaged: filter plugins disabled"},
        {variable_text, "attribute 'scheduler' is not one text or number"},
        {variable_ids, "\"jobs/id\" has cells of variable width"},
    };
    char path[128], good[128];
    snprintf(path, sizeof path, "%s/d.h5", folder);
    snprintf(good, sizeof good, "%s/good.h5", folder);
    write_to(good);
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
        if (cases[i].what != float_column && cases[i].what != no_ids) { /* it takes nothing of the trace */
            DLS_HOLD(dls_comparison_destroy) dls_comparison *c = NULL;
            MUST(dls_comparison_create(&c, &e));
            MUST_FAIL(DLS_EINPUT, cases[i].says, dls_comparison_add(c, path, NULL, &e));
        }
    }
    unlink(path);
    unlink(good);
}

/* A file cut anywhere is refused, one with a byte changed anywhere is read or refused: never a
 * crash. */
TEST(cut_and_flipped)
{
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

/* Where `n` bytes lie in others. */
static size_t find(const char *bytes, size_t len, const void *what, size_t n)
{
    const char *at = memmem(bytes, len, what, n);
    assert_non_null(at);
    return (size_t)(at - bytes);
}

/* The middle of the first chunk of a column. */
static size_t in_chunk(const char *path, const char *name)
{
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t set = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(set);
    hsize_t offset[1], size;
    unsigned mask;
    haddr_t at;
    assert_true(H5Dget_chunk_info(set, space, 0, offset, &mask, &at, &size) >= 0);
    /* Its own checksum, as what deflate cannot shrink is stored as it is. */
    const hid_t how = H5Dget_create_plist(set);
    size_t none = 0;
    unsigned flags, config;
    assert_true(H5Pget_filter_by_id2(how, H5Z_FILTER_FLETCHER32, &flags, &none, NULL, 0, NULL,
                                     &config) >= 0);
    H5Pclose(how);
    H5Sclose(space);
    H5Dclose(set);
    H5Fclose(file);
    return (size_t)(at + size / 2);
}

/* A changed byte in the cells of a column is noticed, and the column is named: short columns in
 * their headers, long ones in chunks, also of tables that nobody asked for. */
TEST(flipped_cells)
{
    const char *path = in_folder("n.h5"), *bad = in_folder("b.h5");
    write_to(path);
    size_t len;
    char *bytes = contents(path, &len);
    const struct {
        const char *name;
        size_t at;
    } cells[] = {
        {"\"jobs/executed_us\"",
         find(bytes, len, rec->executed_us, 700 * sizeof *rec->executed_us)},
        {"\"jobs/end_us\"", find(bytes, len, rec->end_us, 700 * sizeof *rec->end_us)},
        {"\"series/cluster/pending_jobs\"",
         find(bytes, len, rec->series.pending_jobs, 4 * rec->series.n)},
        {"\"allocations/start_us\"", in_chunk(path, "runs/r1/allocations/start_us")},
        {"\"allocations/gpu_mask\"", in_chunk(path, "runs/r1/allocations/gpu_mask")},
    };
    for (size_t i = 0; i < sizeof cells / sizeof cells[0]; i++) {
        dls_error err = {.msg = ""};
        bytes[cells[i].at + 2] ^= 4;
        put_contents(bad, bytes, len);
        bytes[cells[i].at + 2] ^= 4;
        assert_int_equal(read_all(bad, &err), DLS_EINPUT);
        assert_string_equal(err.where, bad);
        if (!strstr(err.msg, cells[i].name)) {
            fail_msg("%s: %s", cells[i].name, err.msg);
        }
    }
    free(bytes);
    unlink(path);
    unlink(bad);
}

/* Enough allocations that some columns are in chunks. */
static int setup(void **state)
{
    return make_sample(12);
}

GROUP(setup, drop_sample)
