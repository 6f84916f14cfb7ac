/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Recordings: series worked out by hand, files, real commands, what is refused.
 */
#include "base/alloc.h"
#include "predictor/measure/recording.h"
#include "support/must.h"
#include "support/refuse.h"

#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MS ((int64_t)1000000)

/* A counter and a level, read late and unevenly. */
static dls_column columns[2] = {{"net.x.rx_bytes", DLS_COLUMN_COUNTER, 1e6},
                                {"gpu0.util_percent", DLS_COLUMN_LEVEL, 100}};
static int64_t time_ns[5] = {0, 10 * MS, 35 * MS, 40 * MS, 60 * MS};
static double value[10] = {0, 5, 100, 50, 600, 70, 600, 0, 1000, 90};

static int32_t find_column(const dls_recording *r, const char *name)
{
    for (int32_t i = 0; i < (int32_t)r->n_columns; i++) {
        if (strcmp(r->columns[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

static dls_recording by_hand(void)
{
    return (dls_recording){.command = "a command",
                           .notes = "a note",
                           .interval_s = 0.01,
                           .exit_code = 3,
                           .columns = columns,
                           .time_ns = time_ns,
                           .value = value,
                           .n_columns = 2,
                           .n = 5};
}

TEST(series)
{
    const dls_recording r = by_hand();
    double *x = NULL;
    size_t n = 0;
    assert_int_equal(dls_recording_series(&r, 0, 0.01, &x, &n, NULL), DLS_OK);
    assert_int_equal(n, 6);
    /* 100 in 10 ms; then 500 in 25 ms, so 200 each and 100 up to 35 ms; none; 400 in 20 ms */
    const double rate[6] = {10000, 20000, 20000, 10000, 20000, 20000};
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        assert_true(fabs(x[i] - rate[i]) < 1e-6);
        sum += x[i] * 0.01;
    }
    assert_true(fabs(sum - 1000) < 1e-9); /* nothing is lost */
    dls_free(x);
    assert_int_equal(dls_recording_series(&r, 1, 0.01, &x, &n, NULL), DLS_OK);
    const double level[6] = {50, 50, 50, 0, 0, 90};
    assert_int_equal(n, 6);
    for (size_t i = 0; i < n; i++) {
        assert_true(x[i] == level[i]);
    }
    dls_free(x);
    assert_int_equal(dls_recording_series(&r, 0, 0.025, &x, &n, NULL), DLS_OK);
    assert_int_equal(n, 2);
    dls_free(x);
    assert_int_equal(dls_recording_series(&r, 0, 0.04, &x, &n, NULL), DLS_EINPUT);
    assert_int_equal(dls_recording_series(&r, 0, 0, &x, &n, NULL), DLS_EINPUT);
    assert_null(x);
    /* A counter that wrapped or jumped is no series. */
    dls_error err;
    double jumped[10];
    memcpy(jumped, r.value, sizeof jumped);
    jumped[2 * 3] = jumped[2 * 2] - 1;
    dls_recording wrong = r;
    wrong.value = jumped;
    MUST_FAIL(DLS_EINPUT, "goes back", dls_recording_series(&wrong, 0, 0.01, &x, &n, &e));
    jumped[2 * 3] = jumped[2 * 4] = jumped[2 * 2] + 4e5; /* in 5 ms over a link of 1 MB/s */
    assert_int_equal(dls_recording_series(&wrong, 0, 0.01, &x, &n, &err), DLS_EINPUT);
    assert_non_null(strstr(err.msg, "jumps by 4e+05 bytes after 0.035 s"));
    assert_null(x);
}

/* Samples of elsewhere come back as they were. */
TEST(samples)
{
    double memory[3] = {0.25, 0.5, 0.125}, gpu[3] = {1, 0, 0.75}, rx[3] = {3e9, 0, 1e9},
           tx[3] = {0, 5e8, 0};
    double *const x[DLS_RESOURCES] = {memory, gpu, rx, tx};
    static const char *const names[DLS_RESOURCES] = {"gpu0.mem_util_percent", "gpu0.util_percent",
                                                     "net.job.rx_bytes", "net.job.tx_bytes"};
    dls_recording r;
    assert_int_equal(dls_recording_of_samples(x, 3, 0.002, 12e9, &r, NULL), DLS_OK);
    assert_int_equal(r.n, 4);
    assert_int_equal(r.time_ns[3], 6 * MS);
    for (int k = 0; k < DLS_RESOURCES; k++) {
        DLS_FREED double *back = NULL;
        size_t n;
        const int32_t column = find_column(&r, names[k]);
        const bool level = k == DLS_RES_GPU || k == DLS_RES_GPU_MEM;
        assert_true(column >= 0);
        assert_true(r.columns[column].capacity == (level ? 100 : 12e9));
        assert_int_equal(dls_recording_series(&r, (size_t)column, 0.002, &back, &n, NULL), DLS_OK);
        assert_int_equal(n, 3);
        for (size_t i = 0; i < n; i++) {
            assert_true(fabs(back[i] - (level ? 100 : 1) * x[k][i]) <= 1e-9 * 3e9);
        }
    }
    dls_recording_fini(&r);
    assert_int_equal(dls_recording_of_samples(x, 0, 0.002, 0, &r, NULL), DLS_EINPUT);
    assert_int_equal(dls_recording_of_samples(x, 3, 0, 0, &r, NULL), DLS_EINPUT);
    assert_int_equal(dls_recording_of_samples(x, 3, 1e10, 0, &r, NULL), DLS_EINPUT);
}

static const char file[] = "test_recording.h5";

TEST(files)
{
    const dls_recording r = by_hand();
    dls_recording back;
    dls_error err;
    assert_int_equal(dls_recording_save(&r, file, NULL), DLS_OK);
    assert_int_equal(dls_recording_load(file, &back, NULL), DLS_OK);
    assert_string_equal(back.command, r.command);
    assert_string_equal(back.notes, r.notes);
    assert_int_equal(back.exit_code, 3);
    assert_true(back.interval_s == 0.01);
    assert_int_equal(back.n, 5);
    assert_int_equal(back.n_columns, 2);
    assert_memory_equal(back.time_ns, time_ns, sizeof time_ns);
    assert_memory_equal(back.value, value, sizeof value);
    assert_string_equal(back.columns[1].name, "gpu0.util_percent");
    assert_true(back.columns[0].capacity == 1e6);
    assert_int_equal(back.columns[1].kind, DLS_COLUMN_LEVEL);
    dls_recording_fini(&back);
    /* What a reader must not trust. */
    static const char *const parts[] = {"columns", "kind", "capacity", "time_ns", "value"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        assert_int_equal(dls_recording_save(&r, file, NULL), DLS_OK);
        const hid_t h5 = H5Fopen(file, H5F_ACC_RDWR, H5P_DEFAULT);
        assert_true(H5Ldelete(h5, parts[i], H5P_DEFAULT) >= 0);
        H5Fclose(h5);
        assert_int_equal(dls_recording_load(file, &back, &err), DLS_EINPUT);
        assert_non_null(strstr(err.msg, parts[i]));
    }
    dls_recording wrong = by_hand();
    int64_t backwards[5] = {0, 10, 5, 20, 30};
    wrong.time_ns = backwards;
    assert_int_equal(dls_recording_save(&wrong, file, NULL), DLS_OK);
    assert_int_equal(dls_recording_load(file, &back, &err), DLS_EINPUT);
    double endless[10] = {0, 1, 2, 3, (double)NAN, 5, 6, 7, 8, 9};
    wrong = by_hand();
    wrong.value = endless;
    assert_int_equal(dls_recording_save(&wrong, file, NULL), DLS_OK);
    assert_int_equal(dls_recording_load(file, &back, &err), DLS_EINPUT);
    FILE *f = fopen(file, "w");
    assert_non_null(f);
    fputs("no HDF5", f);
    fclose(f);
    assert_int_equal(dls_recording_load(file, &back, &err), DLS_EINPUT);
    assert_int_equal(dls_recording_save(&r, "no/such/folder.h5", &err), DLS_EOUTPUT);
    unlink(file);
}

static int32_t run(const char *script, dls_recording *r)
{
    char *const argv[] = {(char[]){"sh"}, (char[]){"-c"}, strdup(script), NULL};
    const dls_record_options options = {.interval_s = 0.005, .no_gpu = true};
    MUST(dls_record(argv, &options, r, &e));
    free(argv[2]);
    return r->exit_code;
}

TEST(commands)
{
    DLS_OWN(dls_recording_fini) dls_recording r = {0};
    assert_int_equal(run("exit 7", &r), 7);
    assert_true(r.n >= 1);
    assert_true(r.n_columns >= 1);
    assert_string_equal(r.command, "sh -c exit 7");
    dls_recording_fini(&r);
    assert_int_equal(run("kill -9 $$", &r), 128 + 9);
    dls_recording_fini(&r);

    /* The processor time of a child of a child: at least what the shell's clock says it used. */
    assert_int_equal(run("(i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done); sleep 0.3", &r), 0);
    const int32_t cpu = find_column(&r, "cpu.seconds");
    assert_true(cpu >= 0);
    const double used = r.value[(r.n - 1) * r.n_columns + (size_t)cpu];
    const double length = (double)r.time_ns[r.n - 1] * 1e-9;
    assert_true(used > 0.02 && used < length + 0.02);
    for (size_t i = 1; i < r.n; i++) {
        assert_true(r.value[i * r.n_columns + (size_t)cpu] >=
                    r.value[(i - 1) * r.n_columns + (size_t)cpu]);
        assert_true(r.time_ns[i] > r.time_ns[i - 1]);
    }
}

TEST(refused)
{
    DLS_OWN(dls_recording_fini) dls_recording r = {0};
    dls_error err;
    char *const none[] = {(char[]){"/no/such/program"}, NULL};
    char *const text[] = {(char[]){"/etc/passwd"}, NULL};
    char *const true_[] = {(char[]){"true"}, NULL};
    dls_record_options o = {.interval_s = 0.01, .no_gpu = true};
    assert_int_equal(dls_record(none, &o, &r, &err), DLS_ERUN);
    assert_int_equal(r.exit_code, 127);
    dls_recording_fini(&r);
    assert_int_equal(dls_record(text, &o, &r, &err), DLS_ERUN);
    assert_int_equal(r.exit_code, 126);
    dls_recording_fini(&r);
    o.interfaces = "lo,nosuch0";
    MUST_FAIL(DLS_EINPUT, "nosuch0", dls_record(true_, &o, &r, &e));
    dls_recording_fini(&r);
    o = (dls_record_options){.interval_s = 0, .no_gpu = true};
    assert_int_equal(dls_record(true_, &o, &r, &err), DLS_EINPUT);
}

TEST(no_memory)
{
    char *const true_[] = {(char[]){"true"}, NULL};
    const dls_record_options o = {.interval_s = 0.01, .no_gpu = true};
    dls_recording r;
    EACH_REFUSED_THEN(5, dls_record(true_, &o, &r, NULL), dls_recording_fini(&r));
    dls_recording_fini(&r);
    assert_int_equal(dls_recording_save(&(dls_recording){.columns = columns,
                                                         .n_columns = 2,
                                                         .time_ns = time_ns,
                                                         .value = value,
                                                         .n = 5,
                                                         .interval_s = 0.01},
                                        file, NULL),
                     DLS_OK);
    EACH_REFUSED(4, dls_recording_load(file, &r, NULL));
    dls_recording_fini(&r);
    unlink(file);
}
