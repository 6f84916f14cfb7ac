/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Learned baselines: what a network sees of a kernel, the times that it learns from, training, the
 * file, and the two ways of using networks.
 */

#include "base/alloc.h"
#include "predictor/baselines/habitat.h"
#include "predictor/baselines/habitat_nets.h"
#include "predictor/baselines/justus.h"
#include "predictor/dataset/origin.h"
#include "support/must.h"
#include "support/refuse.h"
#include "workload/operator/residual.h"

#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PATH "test_kernel_nets.h5"

/* ---- three graphs on two GPUs ---------------------------------------------------------------- */

static dls_hw_gpu gpus[] = {
    {.name = "Slow", .fp32_flops = 5e12, .mem_bps = 2e11, .mem_bytes = 3e10, .multiprocessors = 20},
    {.name = "Fast",
     .fp32_flops = 2e13,
     .fp16_flops = 1e14,
     .mem_bps = 1e12,
     .mem_bytes = 3e10,
     .multiprocessors = 90}};
static const dls_hardware hardware = {.gpu = gpus, .n_gpus = 2};
static dls_dataset_origin origins[] = {
    {"lenet", "lenet", "mnist", "fp32", "momentum", 32},
    {"lenet", "lenet", "mnist", "fp32", "momentum", 128},
    {"lenet", "lenet", "mnist", "fp32", "momentum", 256},
    {"alexnet", "alexnet", "imagenet", "fp16", "momentum", 32},
    {"vgg11", "vgg", "imagenet", "fp32", "momentum", 8},
    {"lenet", "lenet", "mnist", "fp32", "momentum", 96},
    {"lenet", "lenet", "mnist", "fp32", "momentum", 64},
};
enum { IN_VAL = 5, IN_TEST = 6, GRAPHS = 7 };

typedef struct sample {
    dls_dataset set;
    dls_dataset_setting setting[2];
    int32_t graph[GRAPHS];
    uint8_t split[2][GRAPHS];
    dls_opmodel model;
    dls_kernel_data_options options;
} sample;

static void sample_init(sample *s)
{
    *s = (sample){.graph = {0, 1, 2, 3, 4, 5, 6},
                  .model = {.launch_s = {1e-5, 1e-5, 1e-5}},
                  .options = {.hw = &hardware, .sigma = 0.1, .most = 100000, .seed = 1}};
    for (int i = 0; i < 2; i++) {
        s->split[i][IN_VAL] = DLS_SPLIT_VAL;
        s->split[i][IN_TEST] = DLS_SPLIT_TEST;
        s->setting[i] = (dls_dataset_setting){.graph = s->graph, .split = s->split[i], .n = GRAPHS};
        memcpy(s->setting[i].name, gpus[i].name, sizeof gpus[i].name);
        memcpy(s->setting[i].gpu_type, gpus[i].name, sizeof gpus[i].name);
    }
    for (int n = 0; n < DLS_OPMODEL_NUMERICS; n++) {
        for (int f = 0; f < DLS_KERNEL_FAMILIES; f++) {
            s->model.eta[n][f] = 0.5;
        }
    }
    s->set = (dls_dataset){
        .origin = origins, .n_graphs = GRAPHS, .setting = s->setting, .n_settings = 2, .seed = 3};
    s->options.model = &s->model;
}

static void collect(sample *s, dls_kernel_data *data)
{
    sample_init(s);
    MUST(dls_kernel_data_collect(&s->set, &s->options, data, &e));
}

static void build(int graph, dls_workload *w, dls_numeric *numeric)
{
    assert_int_equal(dls_dataset_workload(&origins[graph], 0, w, numeric, NULL), DLS_OK);
}

/* ---- rows ------------------------------------------------------------------------------------ */

TEST(test_features)
{
    double x[DLS_KERNEL_FEATURES_MAX];
    dls_error err = {0};
    dls_kernel k = {.family = DLS_KERNEL_CONV3,
                    .count = 1,
                    .m = 1024,
                    .n = 64,
                    .k = 36,
                    .at_batch = 4,
                    .window = {16, 4, 64, 3, 3, 1, 0}};
    assert_int_equal(dls_kernel_net_of(&k), DLS_NET_CONV);
    assert_int_equal(dls_kernel_describe(&k, &gpus[1], DLS_NUMERIC_FP16, 4, x, &err), DLS_OK);
    assert_true(x[1] == log2(1e12) && x[2] == log2(90) && x[3] == log2(1e14) && x[4] == 2);
    assert_true(x[5] == 2 && x[6] == 4 && x[7] == 2 && x[8] == 6); /* batch, image, channels */
    assert_true(x[13] == 10 && x[14] == 6 && x[15] == log2(36));   /* m, n, k */
    assert_int_equal(dls_kernel_features(DLS_NET_CONV), 16);
    assert_int_equal(dls_kernel_describe(&k, &gpus[1], DLS_NUMERIC_FP16, 8, x, &err), DLS_EINPUT);
    assert_non_null(strstr(err.msg, "not known at batch 8"));
    k.family = DLS_KERNEL_MATMUL;
    assert_int_equal(dls_kernel_net_of(&k), DLS_NET_PRODUCT);
    k.count = 12;
    assert_int_equal(dls_kernel_net_of(&k), DLS_NET_PRODUCTS);
    assert_int_equal(dls_kernel_describe(&k, &gpus[0], DLS_NUMERIC_FP16, 4, x, &err), DLS_OK);
    assert_true(x[3] == log2(5e12) && x[4] == 4 && x[5] == log2(12) && x[6] == 10);
    k = (dls_kernel){.family = DLS_KERNEL_MEMORY, .op_family = DLS_FAMILY_NORM, .moved = 256};
    assert_int_equal(dls_kernel_describe(&k, &gpus[0], DLS_NUMERIC_FP32, 4, x, &err), DLS_OK);
    assert_true(x[5] == 10 && x[6 + DLS_FAMILY_NORM] == 1 && x[6 + DLS_FAMILY_POOL] == 0);
    dls_hw_gpu unknown = gpus[0];
    unknown.multiprocessors = 0;
    assert_int_equal(dls_kernel_describe(&k, &unknown, DLS_NUMERIC_FP32, 4, x, &err), DLS_EINPUT);
    assert_non_null(strstr(err.msg, "multiprocessors"));
}

/* The rows of a graph on a GPU sum up to the operator model's step times the residual. */
TEST(test_rows)
{
    sample s;
    DLS_OWN(dls_kernel_data_fini) dls_kernel_data data = {0};
    collect(&s, &data);
    assert_string_equal(data.gpus, "Slow,Fast");
    double got = 0, want = 0;
    size_t rows = 0;
    dls_workload w;
    dls_numeric numeric;
    build(IN_VAL, &w, &numeric);
    for (int k = 0; k < DLS_KERNEL_NETS; k++) {
        const dls_kernel_rows *r = &data.rows[k][DLS_SPLIT_VAL];
        assert_int_equal(r->n, r->seen);
        rows += r->n;
        for (size_t i = 0; i < r->n; i++) {
            got += exp(r->y[i]);
        }
    }
    for (int g = 0; g < 2; g++) {
        const dls_rates rates = dls_opmodel_rates(&s.model, &gpus[g], numeric);
        want += dls_residual(3, w.name, gpus[g].name, "", 0.1) *
                dls_step_time(&w, &rates, origins[IN_VAL].batch).gpu_s;
    }
    assert_int_equal(rows, 2 * (w.n_kernels + 1));
    assert_true(fabs(got - want) < 1e-9 * want);
    dls_workload_fini(&w);
    dls_kernel_data_fini(&data);

    /* A GPU that is left out is in test alone; a sample has as many rows as it may. */
    s.options.without_gpu = "fast";
    s.options.most = 40;
    assert_int_equal(dls_kernel_data_collect(&s.set, &s.options, &data, NULL), DLS_OK);
    const dls_kernel_rows *memory = data.rows[DLS_NET_MEMORY];
    assert_int_equal(memory[DLS_SPLIT_TRAIN].n, 40);
    assert_int_equal(memory[DLS_SPLIT_VAL].n, 11);
    assert_true(memory[DLS_SPLIT_TRAIN].seen > 40);
    assert_int_equal(data.rows[DLS_NET_UPDATE][DLS_SPLIT_TRAIN].n, 5);
    assert_int_equal(data.rows[DLS_NET_UPDATE][DLS_SPLIT_TEST].n, 2);
}

TEST(test_bad_sets)
{
    sample s;
    DLS_OWN(dls_kernel_data_fini) dls_kernel_data data = {0};
    dls_error err = {0};
    sample_init(&s);
    s.split[1][0] = DLS_SPLIT_TEST;
    MUST_FAIL(DLS_EINPUT, "graph 0", dls_kernel_data_collect(&s.set, &s.options, &data, &e));
    dls_kernel_data_fini(&data);
    sample_init(&s);
    snprintf(s.setting[1].gpu_type, sizeof s.setting[1].gpu_type, "Abacus");
    assert_int_equal(dls_kernel_data_collect(&s.set, &s.options, &data, &err), DLS_EINPUT);
    dls_kernel_data_fini(&data);
    sample_init(&s);
    dls_dataset_origin odd = {"perceptron", "", "", "fp32", "sgd", 1};
    s.set.origin = &odd;
    MUST_FAIL(DLS_EINPUT, "perceptron", dls_kernel_data_collect(&s.set, &s.options, &data, &e));
}

/* ---- networks -------------------------------------------------------------------------------- */

static void train(dls_learned how, dls_kernel_nets *nets)
{
    sample s;
    DLS_OWN(dls_kernel_data_fini) dls_kernel_data data = {0};
    dls_error err = {0};
    collect(&s, &data);
    dls_kernel_nets_options o = dls_kernel_nets_default(how);
    o.width = 16;
    o.depth = 2;
    o.fit.epochs = 150;
    o.fit.batch = 8;
    o.fit.adam.lr = 0.005;
    const dls_status status = dls_kernel_nets_train(&data, &o, nets, &err);
    if (status != DLS_OK) {
        fail_msg("%s", err.msg);
    }
}

TEST(test_justus)
{
    dls_kernel_nets nets, again;
    train(DLS_LEARNED_JUSTUS, &nets);
    train(DLS_LEARNED_JUSTUS, &again);
    assert_int_equal(nets.net[DLS_NET_PRODUCTS].n_values, 0); /* none of the graphs has any */
    for (int k = 0; k < DLS_KERNEL_NETS; k++) {
        assert_int_equal(nets.net[k].n_values, again.net[k].n_values);
        assert_memory_equal(nets.net[k].value, again.net[k].value,
                            nets.net[k].n_values * sizeof(double));
        assert_true(k == DLS_NET_PRODUCTS || nets.report[k].percent[DLS_SPLIT_TEST] > 0);
    }
    dls_kernel_nets_fini(&again);
    /* LeNet between the batches that were trained. */
    sample s;
    sample_init(&s);
    dls_workload w;
    dls_numeric numeric;
    build(IN_TEST, &w, &numeric);
    for (int g = 0; g < 2; g++) {
        const dls_rates rates = dls_opmodel_rates(&s.model, &gpus[g], numeric);
        const double want = dls_step_time(&w, &rates, origins[IN_TEST].batch).gpu_s *
                            dls_residual(3, w.name, gpus[g].name, "", 0.1);
        double got = 0;
        assert_int_equal(
            dls_justus_step_s(&nets, &w, &gpus[g], numeric, origins[IN_TEST].batch, &got, NULL),
            DLS_OK);
        assert_true(fabs(got / want - 1) < 0.15);
    }
    /* Precisions of which they were shown nothing; no network for its products. */
    dls_error err = {0};
    double got = 0;
    const dls_numeric unseen[] = {DLS_NUMERIC_TF32, DLS_NUMERIC_BF16};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(
            dls_justus_step_s(&nets, &w, &gpus[0], unseen[i], origins[IN_TEST].batch, &got, &err),
            DLS_EINPUT);
        assert_non_null(strstr(err.msg, dls_numeric_name((int)unseen[i])));
    }
    w.kernel[0].family = DLS_KERNEL_MATMUL;
    w.kernel[0].count = 2;
    MUST_FAIL(DLS_EINPUT, "products",
               dls_justus_step_s(&nets, &w, &gpus[0], numeric, origins[IN_TEST].batch, &got, &e));
    dls_workload_fini(&w);
    dls_kernel_nets_fini(&nets);
}

TEST(test_habitat)
{
    DLS_OWN(dls_kernel_nets_fini) dls_kernel_nets nets = {0};
    DLS_OWN(dls_workload_fini) dls_workload w = {0};
    dls_numeric numeric;
    double same = 0, there = 0, back = 0;
    train(DLS_LEARNED_HABITAT, &nets);
    assert_int_equal(nets.net[DLS_NET_MEMORY].n_values, 0);
    assert_int_equal(nets.net[DLS_NET_UPDATE].n_values, 0);
    assert_true(nets.net[DLS_NET_CONV].n_values > 0 && nets.net[DLS_NET_PRODUCT].n_values > 0);
    build(IN_TEST, &w, &numeric);
    assert_int_equal(
        dls_habitat_nets_step_s(&nets, &w, &gpus[0], &gpus[0], numeric, 64, 0.5, &same, NULL),
        DLS_OK);
    assert_true(fabs(same - 0.5) < 1e-12);
    assert_int_equal(
        dls_habitat_nets_step_s(&nets, &w, &gpus[0], &gpus[1], numeric, 64, 0.5, &there, NULL),
        DLS_OK);
    assert_true(there > 0.5 / 6 && there < 0.5);
    /* Without a network everything is scaled as waves. */
    for (int k = 0; k < DLS_KERNEL_NETS; k++) {
        dls_mlp_fini(&nets.net[k]);
    }
    assert_int_equal(
        dls_habitat_nets_step_s(&nets, &w, &gpus[0], &gpus[1], numeric, 64, 0.5, &back, NULL),
        DLS_OK);
    assert_true(back == dls_habitat_step_s(&w, &gpus[0], &gpus[1], numeric, 64, 0.5));
    assert_true(back != there);
}

TEST(test_nothing_to_learn)
{
    dls_kernel_data none = {.gpus = ""};
    DLS_OWN(dls_kernel_nets_fini) dls_kernel_nets nets = {0};
    dls_error err = {0};
    const dls_kernel_nets_options o = dls_kernel_nets_default(DLS_LEARNED_JUSTUS);
    assert_int_equal(dls_kernel_nets_train(&none, &o, &nets, &err), DLS_EINPUT);
}

/* ---- the file -------------------------------------------------------------------------------- */

TEST(test_file)
{
    dls_kernel_nets nets, back;
    dls_error err = {0};
    train(DLS_LEARNED_HABITAT, &nets);
    snprintf(nets.command, sizeof nets.command, "dlsim train");
    assert_int_equal(dls_kernel_nets_save(&nets, PATH, &err), DLS_OK);
    assert_int_equal(dls_kernel_nets_load(PATH, &back, &err), DLS_OK);
    assert_int_equal(back.how, DLS_LEARNED_HABITAT);
    assert_string_equal(back.command, "dlsim train");
    assert_string_equal(back.gpus, "Slow,Fast");
    assert_memory_equal(&back.report, &nets.report, sizeof nets.report);
    for (int k = 0; k < DLS_KERNEL_NETS; k++) {
        const dls_mlp *a = &nets.net[k], *b = &back.net[k];
        assert_int_equal(a->n_values, b->n_values);
        assert_memory_equal(a->value, b->value, a->n_values * sizeof(double));
        assert_memory_equal(a->shift, b->shift, (size_t)a->shape.n_in * sizeof(double));
        assert_memory_equal(a->scale, b->scale, (size_t)a->shape.n_in * sizeof(double));
    }
    dls_kernel_nets_fini(&back);
    assert_int_equal(dls_kernel_nets_save(&nets, "no/such/folder.h5", &err), DLS_EOUTPUT);
    assert_int_equal(dls_kernel_nets_load("missing.h5", &back, &err), DLS_EINPUT);
    dls_kernel_nets_fini(&nets);
    unlink(PATH);
}

static void overwrite(const char *name, hid_t type, const void *data)
{
    const hid_t file = H5Fopen(PATH, H5F_ACC_RDWR, H5P_DEFAULT);
    const hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
    assert_true(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
    H5Dclose(set);
    H5Fclose(file);
}

static void refused(const dls_kernel_nets *nets, const char *name, hid_t type, const void *data,
                    const char *why)
{
    dls_kernel_nets back;
    dls_error err = {0};
    assert_int_equal(dls_kernel_nets_save(nets, PATH, &err), DLS_OK);
    overwrite(name, type, data);
    assert_int_equal(dls_kernel_nets_load(PATH, &back, &err), DLS_EINPUT);
    assert_string_equal(err.where, PATH);
    if (!strstr(err.msg, why)) {
        fail_msg("\"%s\" where \"%s\" is expected", err.msg, why);
    }
}

TEST(test_bad_files)
{
    dls_kernel_nets nets;
    train(DLS_LEARNED_HABITAT, &nets);
    int32_t shape[DLS_KERNEL_NETS][3] = {{16, 16, 2}, {8, 16, 2}};
    double percent[DLS_KERNEL_NETS][DLS_SPLITS] = {{1}};
    refused(&nets, "percent", H5T_NATIVE_DOUBLE, percent, "checksum");
    shape[0][0] = 15;
    refused(&nets, "shape", H5T_NATIVE_INT32, shape, "15 inputs");
    shape[0][0] = 16;
    shape[0][1] = 17;
    refused(&nets, "shape", H5T_NATIVE_INT32, shape, "are needed");
    shape[0][1] = 1 << 16;
    refused(&nets, "shape", H5T_NATIVE_INT32, shape, "out of range");
    shape[0][1] = 16;
    memcpy(shape[DLS_NET_UPDATE], (int32_t[]){11, 4, 1}, sizeof shape[0]);
    refused(&nets, "shape", H5T_NATIVE_INT32, shape, "update");
    nets.net[DLS_NET_CONV].value[3] = (double)NAN; /* with a checksum that is right */
    dls_kernel_nets back;
    dls_error err = {0};
    assert_int_equal(dls_kernel_nets_save(&nets, PATH, &err), DLS_OK);
    MUST_FAIL(DLS_EINPUT, "not finite", dls_kernel_nets_load(PATH, &back, &e));
    dls_kernel_nets_fini(&nets);
    unlink(PATH);
}

static dls_status whole_way(const dls_kernel_nets *nets, const dls_workload *w, dls_numeric numeric)
{
    dls_kernel_nets back;
    double step_s, scaled_s;
    DLS_TRY(dls_kernel_nets_save(nets, PATH, NULL));
    DLS_TRY(dls_kernel_nets_load(PATH, &back, NULL));
    dls_status status = dls_justus_step_s(&back, w, &gpus[0], numeric, 64, &step_s, NULL);
    DLS_THEN(status, dls_habitat_nets_step_s(&back, w, &gpus[0], &gpus[1], numeric, 64, 1,
                                             &scaled_s, NULL));
    dls_kernel_nets_fini(&back);
    return status;
}

TEST(test_no_memory)
{
    dls_kernel_nets nets;
    dls_workload w;
    dls_numeric numeric;
    train(DLS_LEARNED_JUSTUS, &nets);
    build(IN_TEST, &w, &numeric);
    EACH_REFUSED(20, whole_way(&nets, &w, numeric));
    dls_workload_fini(&w);
    dls_kernel_nets_fini(&nets);
    unlink(PATH);
}
