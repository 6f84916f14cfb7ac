/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Measured times of operations: the table, its file, that an entry takes the formula's place, and
 * the measuring itself on a device whose answers are known.
 */

#include "base/alloc.h"
#include "support/must.h"
#include "support/refuse.h"
#include "workload/operator/measure.h"
#include "workload/operator/model.h"

#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH "test_op_times.h5"

static dls_op_time row_of(const char *gpu, dls_numeric numeric, dls_op_work work, double seconds)
{
    dls_op_time row = {.numeric = numeric, .work = work, .seconds = seconds};
    snprintf(row.gpu, sizeof row.gpu, "%s", gpu);
    snprintf(row.method, sizeof row.method, "cpu");
    return row;
}

static void put(dls_op_times *t, const char *gpu, dls_numeric numeric, dls_op_work work,
                double seconds)
{
    const dls_op_time row = row_of(gpu, numeric, work, seconds);
    assert_int_equal(dls_op_times_put(t, &row, NULL), DLS_OK);
}

/* Five rows of two GPUs, given out of order. */
static void sample(dls_op_times *t)
{
    *t = (dls_op_times){0};
    put(t, "V100", DLS_NUMERIC_FP32, (dls_op_work){.bytes = 1000}, 0.5);
    put(t, "V100", DLS_NUMERIC_FP16, (dls_op_work){1, 2, 3, 4, 0}, 0.25);
    put(t, "A100", DLS_NUMERIC_FP32, (dls_op_work){1, 2, 3, 4, 0}, 0.125);
    put(t, "V100", DLS_NUMERIC_FP32, (dls_op_work){1, 2, 3, 4, 0}, 9);
    put(t, "V100", DLS_NUMERIC_FP32, (dls_op_work){1, 2, 3, 5, 0}, 2);
    put(t, "v100", DLS_NUMERIC_FP32, (dls_op_work){1, 2, 3, 4, 0}, 1); /* again */
}

static double find(const dls_op_times *t, const char *gpu, dls_numeric numeric, dls_op_work work)
{
    size_t n;
    const dls_op_time *row = dls_op_times_of(t, gpu, numeric, &n);
    return dls_op_time_find(row, n, &work);
}

static void check_sample(const dls_op_times *t)
{
    assert_int_equal(t->n, 5);
    assert_true(find(t, "V100", DLS_NUMERIC_FP32, (dls_op_work){1, 2, 3, 4, 0}) == 1);
    assert_true(find(t, "v100", DLS_NUMERIC_FP32, (dls_op_work){1, 2, 3, 5, 0}) == 2);
    assert_true(find(t, "V100", DLS_NUMERIC_FP32, (dls_op_work){.bytes = 1000}) == 0.5);
    assert_true(find(t, "V100", DLS_NUMERIC_FP16, (dls_op_work){1, 2, 3, 4, 0}) == 0.25);
    assert_true(find(t, "A100", DLS_NUMERIC_FP32, (dls_op_work){1, 2, 3, 4, 0}) == 0.125);
    assert_true(find(t, "V100", DLS_NUMERIC_FP32, (dls_op_work){1, 2, 3, 6, 0}) == 0);
    assert_true(find(t, "V100", DLS_NUMERIC_FP32, (dls_op_work){.bytes = 1001}) == 0);
    assert_true(find(t, "T4", DLS_NUMERIC_FP32, (dls_op_work){1, 2, 3, 4, 0}) == 0);
    assert_true(find(t, "V100", DLS_NUMERIC_TF32, (dls_op_work){1, 2, 3, 4, 0}) == 0);
}

/* Moves between two sizes: on the line in logarithms; products and sizes outside: not known. */
TEST(test_between)
{
    DLS_OWN(dls_op_times_fini) dls_op_times t = {0};
    for (int64_t i = 200; i > 0; i--) { /* backwards, and many */
        put(&t, "V100", DLS_NUMERIC_FP32, (dls_op_work){1, i, 8, 8, 0}, (double)i);
    }
    put(&t, "V100", DLS_NUMERIC_FP32, (dls_op_work){.bytes = 4000}, 0.004);
    put(&t, "V100", DLS_NUMERIC_FP32, (dls_op_work){.bytes = 1000}, 0.001);
    assert_int_equal(t.n, 202);
    assert_true(fabs(find(&t, "V100", DLS_NUMERIC_FP32, (dls_op_work){.bytes = 2000}) / 0.002 - 1) <
                1e-12);
    assert_true(find(&t, "V100", DLS_NUMERIC_FP32, (dls_op_work){.bytes = 999}) == 0);
    assert_true(find(&t, "V100", DLS_NUMERIC_FP32, (dls_op_work){.bytes = 4001}) == 0);
    assert_true(find(&t, "V100", DLS_NUMERIC_FP32, (dls_op_work){1, 7, 8, 9, 0}) == 0);
    for (int64_t i = 1; i <= 200; i++) {
        assert_true(find(&t, "V100", DLS_NUMERIC_FP32, (dls_op_work){1, i, 8, 8, 0}) == (double)i);
    }
}

TEST(test_table)
{
    DLS_OWN(dls_op_times_fini) dls_op_times t = {0};
    sample(&t);
    check_sample(&t);
    const dls_op_time wrong[] = {row_of("V100", DLS_NUMERIC_FP32, (dls_op_work){1, 2, 3, 4, 5}, 1),
                                 row_of("V100", DLS_NUMERIC_FP32, (dls_op_work){1, 2, 0, 4, 0}, 1),
                                 row_of("V100", DLS_NUMERIC_FP32, (dls_op_work){.count = 0}, 1),
                                 row_of("V100", DLS_NUMERIC_FP32, (dls_op_work){1, 2, 3, 4, 0}, 0),
                                 row_of("V100", DLS_NUMERIC_FP32, (dls_op_work){.bytes = 9}, -1),
                                 row_of("", DLS_NUMERIC_FP32, (dls_op_work){.bytes = 9}, 1)};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(dls_op_times_put(&t, &wrong[i], NULL), DLS_EINPUT);
    }
    check_sample(&t);
}

TEST(test_file)
{
    dls_op_times t, back;
    dls_error err = {0};
    sample(&t);
    assert_int_equal(dls_op_times_save(&t, PATH, &err), DLS_OK);
    assert_int_equal(dls_op_times_load(PATH, &back, &err), DLS_OK);
    check_sample(&back);
    assert_string_equal(back.row[0].method, "cpu");
    dls_op_times_fini(&back);
    dls_op_times_fini(&t);
    assert_int_equal(dls_op_times_save(&t, PATH, &err), DLS_OK); /* none is a file, too */
    assert_int_equal(dls_op_times_load(PATH, &back, &err), DLS_OK);
    assert_int_equal(back.n, 0);
}

static void overwrite(const char *name, hid_t type, const void *value)
{
    const hid_t file = H5Fopen(PATH, H5F_ACC_RDWR, H5P_DEFAULT);
    const hid_t data = H5Dopen2(file, name, H5P_DEFAULT);
    assert_true(H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, value) >= 0);
    H5Dclose(data);
    H5Fclose(file);
}

TEST(test_bad_file)
{
    dls_op_times t, back;
    dls_error err = {0};
    const double seconds[5] = {1, 2, 3, 4, 5};
    const int64_t whole[5] = {7, 7, 7, 7, 7};
    static const char *const gone[] = {"gpu", "precision", "m", "seconds", "method"};
    sample(&t);
    assert_int_equal(dls_op_times_save(&t, PATH, &err), DLS_OK);
    overwrite("seconds", H5T_NATIVE_DOUBLE, seconds);
    assert_int_equal(dls_op_times_load(PATH, &back, &err), DLS_EINPUT);
    assert_string_equal(err.where, PATH);
    assert_non_null(strstr(err.msg, "checksum"));
    assert_int_equal(dls_op_times_save(&t, PATH, &err), DLS_OK);
    overwrite("k", H5T_NATIVE_INT64, whole);
    assert_int_equal(dls_op_times_load(PATH, &back, &err), DLS_EINPUT);
    for (size_t i = 0; i < sizeof gone / sizeof gone[0]; i++) {
        assert_int_equal(dls_op_times_save(&t, PATH, &err), DLS_OK);
        const hid_t file = H5Fopen(PATH, H5F_ACC_RDWR, H5P_DEFAULT);
        assert_true(H5Ldelete(file, gone[i], H5P_DEFAULT) >= 0);
        H5Fclose(file);
        assert_int_equal(dls_op_times_load(PATH, &back, &err), DLS_EINPUT);
        assert_non_null(strstr(err.msg, gone[i]));
    }
    FILE *f = fopen(PATH, "w");
    fputs("no HDF5", f);
    fclose(f);
    assert_int_equal(dls_op_times_load(PATH, &back, &err), DLS_EINPUT);
    unlink(PATH);
    assert_int_equal(dls_op_times_load(PATH, &back, &err), DLS_EINPUT);
    dls_op_times_fini(&t);
}

TEST(test_no_memory)
{
    DLS_OWN(dls_op_times_fini) dls_op_times t = {0}, back = {0};
    dls_error err = {0};
    sample(&t);
    assert_int_equal(dls_op_times_save(&t, PATH, &err), DLS_OK);
    EACH_REFUSED(8, dls_op_times_load(PATH, &back, &err));
}

/* ---- in the model ---------------------------------------------------------------------------- */

static dls_kernel kernels[3] = {
    {.family = DLS_KERNEL_MATMUL,
     .repeats = 2,
     .tensor = -1,
     .flops = 1e6,
     .moved = 10,
     .count = 1,
     .m = 100,
     .n = 20,
     .k = 30,
     .at_batch = 4},
    {.family = DLS_KERNEL_MEMORY, .backward = 1, .repeats = 1, .tensor = 0, .moved = 50},
    {.family = DLS_KERNEL_MATMUL, .repeats = 1, .tensor = -1, .flops = 1e6, .moved = 10},
};

static dls_workload work_of(double *tensor)
{
    return (dls_workload){.name = "three",
                          .kernel = kernels,
                          .n_kernels = 3,
                          .tensor = tensor,
                          .n_tensors = 1,
                          .params = 1,
                          .n_layers = 1};
}

static dls_opmodel formula(void)
{
    dls_opmodel m = {.launch_s = {1e-5, 1e-5, 1e-5}};
    for (int i = 0; i < DLS_OPMODEL_NUMERICS; i++) {
        for (int f = 0; f < DLS_KERNEL_FAMILIES; f++) {
            m.eta[i][f] = 0.5;
        }
    }
    return m;
}

TEST(test_override)
{
    double tensor[1] = {1};
    const dls_hw_gpu gpu = {.name = "V100", .fp32_flops = 1e12, .mem_bps = 1e11};
    const dls_workload w = work_of(tensor);
    dls_opmodel m = formula();
    DLS_OWN(dls_op_times_fini) dls_op_times t = {0};
    const dls_rates plain = dls_opmodel_rates(&m, &gpu, DLS_NUMERIC_FP32);
    const dls_step before = dls_step_time(&w, &plain, 4);
    m.measured = &t;
    dls_rates rates = dls_opmodel_rates(&m, &gpu, DLS_NUMERIC_FP32);
    dls_step after = dls_step_time(&w, &rates, 4);
    assert_true(after.gpu_s == before.gpu_s); /* nothing measured */
    put(&t, "V100", DLS_NUMERIC_FP32, (dls_op_work){1, 100, 20, 30, 0}, 0.25);
    put(&t, "V100", DLS_NUMERIC_FP32, (dls_op_work){.bytes = 4 * 4 * 50}, 0.125);
    put(&t, "K80", DLS_NUMERIC_FP32, (dls_op_work){1, 100, 20, 30, 0}, 100);
    rates = dls_opmodel_rates(&m, &gpu, DLS_NUMERIC_FP32);
    after = dls_step_time(&w, &rates, 4);
    assert_true(fabs(after.forward_s - (2 * 0.25 + dls_kernel_s(&kernels[2], &plain, 4))) < 1e-12);
    assert_true(fabs(after.backward_s - 0.125) < 1e-15);
    /* At another batch the products are others: the formula. */
    assert_true(dls_kernel_s(&kernels[0], &rates, 8) == dls_kernel_s(&kernels[0], &plain, 8));
    assert_true(dls_kernel_s(&kernels[1], &rates, 8) == dls_kernel_s(&kernels[1], &plain, 8));
}

/* ---- measuring ------------------------------------------------------------------------------- */

/* A device on which a product takes its FLOPs in nanoseconds and a move its bytes. */
static int fake_product(void *device, int precision, int64_t count, int64_t m, int64_t n, int64_t k,
                        double budget_s, double *seconds, char *err, size_t err_size)
{
    int *asked = device;
    ++*asked;
    if (precision == DLS_METER_TF32) {
        snprintf(err, err_size, "no tf32 here");
        return 1;
    }
    *seconds = 2e-9 * (double)(count * m * n * k);
    return 0;
}

static int fake_move(void *device, int64_t bytes, double budget_s, double *seconds, char *err,
                     size_t err_size)
{
    int *asked = device;
    ++*asked;
    *seconds = 1e-9 * (double)bytes;
    return 0;
}

TEST(test_measure)
{
    double tensor[1] = {1};
    int asked = 0;
    const dls_workload w = work_of(tensor);
    const dls_meter_ops ops = {
        .abi = DLS_METER_ABI, .method = "fake", .product = fake_product, .move = fake_move};
    const dls_meter meter = {.ops = &ops, .device = &asked};
    dls_measure_options o = {.gpu = "V100", .batch = 4, .budget_s = 1};
    dls_measure_report report;
    DLS_OWN(dls_op_times_fini) dls_op_times t = {0};
    dls_error err = {0};
    assert_int_equal(dls_measure_workload(&meter, &w, &o, &t, &report, &err), DLS_OK);
    assert_int_equal(report.n_measured, 2);
    assert_int_equal(report.n_nameless, 1);
    assert_int_equal(asked, 2);
    assert_string_equal(t.row[0].method, "fake");
    assert_true(fabs(find(&t, "V100", DLS_NUMERIC_FP32, (dls_op_work){1, 100, 20, 30, 0}) -
                     120000e-9) < 1e-15);
    assert_true(fabs(find(&t, "V100", DLS_NUMERIC_FP32, (dls_op_work){.bytes = 800}) - 800e-9) <
                1e-15);
    o.most_flops = 1000;
    assert_int_equal(dls_measure_workload(&meter, &w, &o, &t, &report, &err), DLS_OK);
    assert_int_equal(report.n_measured, 1);
    assert_int_equal(report.n_left_out, 1);
    assert_int_equal(t.n, 2);
    o.most_flops = 0;
    o.numeric = DLS_NUMERIC_TF32;
    assert_int_equal(dls_measure_workload(&meter, &w, &o, &t, &report, &err), DLS_EPREDICTOR);
    assert_non_null(strstr(err.msg, "no tf32 here"));
    o.numeric = DLS_NUMERIC_BF16;
    assert_int_equal(dls_measure_workload(&meter, &w, &o, &t, &report, &err), DLS_EINPUT);
}

/* A meter that does not open may be closed, and has nothing of the module that was closed with it. */
TEST(test_no_module)
{
    DLS_OWN(dls_meter_close) dls_meter meter = {0};
    dls_error err = {0};
    setenv("DLSIM_METER_MODULE", "libc.so.6", 1); /* opens, and is none */
    assert_int_equal(dls_meter_open("cuda", &meter, &err), DLS_EPREDICTOR);
    assert_non_null(strstr(err.msg, "not a module of this version"));
    assert_null(meter.module);
    assert_null(meter.ops);
}

TEST(test_cpu)
{
    DLS_OWN(dls_meter_close) dls_meter meter = {0};
    dls_error err = {0};
    double small = 0, large = 0;
    char why[128];
    assert_int_equal(dls_meter_open("cpu", &meter, &err), DLS_OK);
    assert_int_equal(
        meter.ops->product(meter.device, DLS_METER_FP32, 2, 8, 8, 8, 1e-4, &small, why, sizeof why),
        0);
    assert_int_equal(meter.ops->product(meter.device, DLS_METER_FP32, 2, 128, 128, 128, 1e-4,
                                        &large, why, sizeof why),
                     0);
    assert_true(small > 0 && large > 10 * small); /* 4096 times the work */
    assert_int_equal(meter.ops->move(meter.device, 1001, 1e-4, &small, why, sizeof why), 0);
    assert_true(small > 0);
    /* The first runs are of memory that was used before; so are later ones. */
    assert_int_equal(meter.ops->move(meter.device, 8 << 20, 1e-9, &small, why, sizeof why), 0);
    assert_int_equal(meter.ops->move(meter.device, 8 << 20, 0.02, &large, why, sizeof why), 0);
    assert_true(large < 2.5 * small);
    assert_int_not_equal(
        meter.ops->product(meter.device, DLS_METER_FP16, 1, 8, 8, 8, 1e-4, &small, why, sizeof why),
        0);
}

static int leave(void **unused)
{
    unlink(PATH);
    return 0;
}

GROUP(NULL, leave)
