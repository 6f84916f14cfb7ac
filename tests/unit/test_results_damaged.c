/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Results files that are none, or damaged: refused with the reason, never a crash.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/results_file.h"

/* HDF5 1.10 loses some memory of its own when it refuses a damaged file. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libhdf5";
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

/* HDF5 keeps texts of variable length in collections, and 1.10 believes what such a collection says
 * of its own sizes: it would write past the end of a text. */
static bool in_texts(const char *bytes, size_t len, size_t at)
{
    static const char mark[] = {'G', 'C', 'O', 'L', 1, 0, 0, 0};
    for (size_t i = 0; i + 16 <= len && i <= at; i++) {
        uint64_t size;
        memcpy(&size, bytes + i + sizeof mark, sizeof size);
        if (memcmp(bytes + i, mark, sizeof mark) == 0 && at - i < size) {
            return true;
        }
    }
    return false;
}

/* A file cut anywhere, or with bytes changed anywhere else, is read or refused; never a crash. */
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
        if (in_texts(bytes, len, at)) {
            continue;
        }
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

/* Enough allocations that some columns are in chunks. */
static int setup(void **state)
{
    (void)state;
    return make_sample(12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(not_results),
        cmocka_unit_test(damaged),
        cmocka_unit_test(cut_and_flipped),
    };
    return cmocka_run_group_tests(tests, setup, drop_sample);
}
