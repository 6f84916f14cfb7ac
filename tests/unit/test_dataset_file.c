/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Dataset files: what is written comes back, one setting can be read alone, and a damaged file is
 * refused with the name of what is wrong.
 */

#include "base/alloc.h"
#include "predictor/dataset/dataset.h"
#include "support/refuse.h"

#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PATH "test_dataset_file.h5"

/* Three graphs, a path of 2, 3 and 4 nodes; two settings. Everything on the heap, as the type says.
 */
static dls_graph path_graph(int32_t n, int32_t features, bool weighted)
{
    double *x = dls_alloc((size_t)(n * features) * sizeof *x);
    int64_t *row_start = dls_alloc_zero((size_t)n + 1, sizeof *row_start);
    int32_t *col = dls_alloc((size_t)(2 * n) * sizeof *col);
    double *weight = weighted ? dls_alloc((size_t)(2 * n) * sizeof *weight) : NULL;
    int64_t e = 0;
    for (int32_t v = 0; v < n; v++) {
        for (int32_t f = 0; f < features; f++) {
            x[v * features + f] = 0.25 * v + f;
        }
        for (int32_t u = v - 1; u <= v + 1; u += 2) {
            if (u >= 0 && u < n) {
                if (weight) {
                    weight[e] = 0.5 * (double)(e + 1);
                }
                col[e++] = u;
            }
        }
        row_start[v + 1] = e;
    }
    return (dls_graph){.n_nodes = n,
                       .n_features = features,
                       .x = x,
                       .row_start = row_start,
                       .col = col,
                       .weight = weight};
}

static void fill_setting(dls_dataset_setting *s, const char *name, size_t n, bool measured)
{
    snprintf(s->name, sizeof s->name, "%s", name);
    snprintf(s->gpu_type, sizeof s->gpu_type, "V100");
    snprintf(s->topology, sizeof s->topology, "ps-sync");
    snprintf(s->network, sizeof s->network, "eth10");
    s->n_ps = 2;
    s->n_workers = 4;
    s->n_nodes = 3;
    s->measured = measured;
    s->n = n;
    s->graph = dls_alloc(n * sizeof *s->graph);
    s->split = dls_alloc(n);
    s->label = dls_alloc(n * DLS_METRICS * sizeof *s->label);
    s->iteration_s = dls_alloc(n * sizeof *s->iteration_s);
    s->truth = measured ? NULL : dls_alloc(n * DLS_METRICS * sizeof *s->truth);
    s->model_s = measured ? NULL : dls_alloc(n * sizeof *s->model_s);
    for (size_t i = 0; i < n; i++) {
        s->graph[i] = (int32_t)(3 - n + i);
        s->split[i] = (uint8_t)i;
        s->iteration_s[i] = 0.5 + (double)i;
        for (size_t k = 0; k < DLS_METRICS; k++) {
            s->label[i * DLS_METRICS + k] = (double)(100 * i + k);
        }
        if (!measured) {
            s->model_s[i] = 0.25;
            memcpy(s->truth, s->label, n * DLS_METRICS * sizeof *s->truth);
        }
    }
}

static dls_dataset *sample(bool weighted)
{
    dls_dataset *set = dls_alloc_zero(1, sizeof *set);
    set->n_graphs = 3;
    set->n_features = 2;
    set->graph = dls_alloc_zero(3, sizeof *set->graph);
    set->origin = dls_alloc_zero(3, sizeof *set->origin);
    for (int32_t i = 0; i < 3; i++) {
        set->graph[i] = path_graph(i + 2, 2, weighted && i == 1);
        snprintf(set->origin[i].model, DLS_DATASET_NAME, "model%d", i);
        snprintf(set->origin[i].family, DLS_DATASET_NAME, "family");
        snprintf(set->origin[i].data, DLS_DATASET_NAME, "imagenet");
        snprintf(set->origin[i].numeric, sizeof set->origin[i].numeric, "fp16");
        snprintf(set->origin[i].optimiser, sizeof set->origin[i].optimiser, "adam");
        set->origin[i].batch = 8 << i;
    }
    set->n_settings = 2;
    set->setting = dls_alloc_zero(2, sizeof *set->setting);
    fill_setting(&set->setting[0], "V100-w4", 3, false);
    fill_setting(&set->setting[1], "V100-w8", 2, true);
    snprintf(set->feature_version, sizeof set->feature_version, "driple");
    set->seed = UINT64_MAX - 1;
    set->features_text = dls_alloc_zero(9000, 1);
    memset(set->features_text, 'j', 8999);
    snprintf(set->command, sizeof set->command, "dlsim dataset build");
    return set;
}

static dls_status save_sample(bool weighted)
{
    dls_error err = {0};
    dls_dataset *set = sample(weighted);
    const dls_status status = dls_dataset_save(set, PATH, &err);
    dls_dataset_destroy(set);
    return status;
}

static void check_setting(const dls_dataset_setting *a, const dls_dataset_setting *b)
{
    assert_string_equal(a->name, b->name);
    assert_string_equal(a->gpu_type, b->gpu_type);
    assert_string_equal(a->topology, b->topology);
    assert_string_equal(a->network, b->network);
    assert_int_equal(a->n_ps, b->n_ps);
    assert_int_equal(a->n_workers, b->n_workers);
    assert_int_equal(a->n_nodes, b->n_nodes);
    assert_int_equal(a->measured, b->measured);
    assert_int_equal(a->n, b->n);
    assert_memory_equal(a->graph, b->graph, a->n * sizeof *a->graph);
    assert_memory_equal(a->split, b->split, a->n);
    assert_memory_equal(a->label, b->label, a->n * DLS_METRICS * sizeof *a->label);
    assert_memory_equal(a->iteration_s, b->iteration_s, a->n * sizeof *a->iteration_s);
    assert_true(!a->truth == !b->truth && !a->model_s == !b->model_s);
    if (a->truth) {
        assert_memory_equal(a->truth, b->truth, a->n * DLS_METRICS * sizeof *a->truth);
        assert_memory_equal(a->model_s, b->model_s, a->n * sizeof *a->model_s);
    }
}

static void check_graph(const dls_graph *a, const dls_graph *b, bool weighted)
{
    const size_t n = (size_t)a->n_nodes, e = (size_t)a->row_start[n];
    assert_int_equal(a->n_nodes, b->n_nodes);
    assert_int_equal(a->n_features, b->n_features);
    assert_memory_equal(a->x, b->x, n * 2 * sizeof *a->x);
    assert_memory_equal(a->row_start, b->row_start, (n + 1) * sizeof *a->row_start);
    assert_memory_equal(a->col, b->col, e * sizeof *a->col);
    assert_int_equal(b->weight != NULL, weighted);
    for (size_t k = 0; weighted && k < e; k++) {
        assert_true(b->weight[k] == (a->weight ? a->weight[k] : 1));
    }
}

static void round_trip(bool weighted)
{
    dls_error err = {0};
    dls_dataset *back, *set = sample(weighted);
    assert_int_equal(dls_dataset_save(set, PATH, &err), DLS_OK);
    assert_int_equal(dls_dataset_load(PATH, NULL, 0, &back, &err), DLS_OK);
    assert_int_equal(back->n_graphs, 3);
    assert_int_equal(back->n_settings, 2);
    assert_int_equal(back->n_features, 2);
    assert_true(back->seed == set->seed);
    assert_string_equal(back->feature_version, set->feature_version);
    assert_string_equal(back->features_text, set->features_text);
    assert_string_equal(back->command, set->command);
    for (size_t i = 0; i < 3; i++) {
        check_graph(&set->graph[i], &back->graph[i], weighted);
        assert_memory_equal(&set->origin[i], &back->origin[i], sizeof set->origin[i]);
    }
    for (size_t i = 0; i < 2; i++) {
        check_setting(&set->setting[i], &back->setting[i]);
    }
    assert_int_equal(dls_dataset_find(back, "V100-w8"), 1);
    assert_int_equal(dls_dataset_find(back, "V100-w9"), -1);
    dls_dataset_destroy(back);
    dls_dataset_destroy(set);
}

TEST(test_round_trip)
{
    round_trip(false);
    round_trip(true);
}

TEST(test_some_settings)
{
    dls_error err = {0};
    dls_dataset *set;
    const char *const one[] = {"V100-w8"}, *const wrong[] = {"V100-w7"};
    assert_int_equal(save_sample(false), DLS_OK);
    assert_int_equal(dls_dataset_load(PATH, one, 1, &set, &err), DLS_OK);
    assert_int_equal(set->n_settings, 1);
    assert_int_equal(set->n_graphs, 3);
    assert_string_equal(set->setting[0].name, "V100-w8");
    dls_dataset_destroy(set);
    assert_int_equal(dls_dataset_load(PATH, wrong, 1, &set, &err), DLS_EINPUT);
    assert_null(set);
    assert_non_null(strstr(err.msg, "V100-w7"));
    assert_non_null(strstr(err.msg, "did you mean"));
}

/* Writing other values over one dataset: what must be said. */
typedef struct damage {
    const char *path;
    hid_t type;
    const void *value;
    const char *says;
} damage;

TEST(test_damage)
{
    static const float zeros[256] = {0};
    static const int32_t wrong_graph[3] = {0, 2, 1}, far_graph[3] = {0, 1, 3};
    static const int32_t nodes[3] = {2, 3, 5}, batch[3] = {0, 0, 0};
    static const uint8_t split[3] = {0, 1, 3};
    float nan_label[3 * DLS_METRICS] = {0};
    nan_label[7] = NAN;
    const damage cases[] = {
        {"/graphs/x", H5T_NATIVE_FLOAT, zeros, "/graphs"},
        {"/graphs/n_nodes", H5T_NATIVE_INT32, nodes, "degree"},
        {"/graphs/batch", H5T_NATIVE_INT32, batch, "checksum"},
        {"/settings/V100-w4/label", H5T_NATIVE_FLOAT, zeros, "V100-w4"},
        {"/settings/V100-w4/label", H5T_NATIVE_FLOAT, nan_label, "element 7 is not finite"},
        {"/settings/V100-w4/graph", H5T_NATIVE_INT32, wrong_graph, "V100-w4"},
        {"/settings/V100-w4/graph", H5T_NATIVE_INT32, far_graph, "V100-w4"},
        {"/settings/V100-w4/split", H5T_NATIVE_UINT8, split, "V100-w4"},
        {"/settings/V100-w4/model_s", H5T_NATIVE_FLOAT, zeros, "V100-w4"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        dls_error err = {0};
        dls_dataset *set;
        assert_int_equal(save_sample(false), DLS_OK);
        const hid_t file = H5Fopen(PATH, H5F_ACC_RDWR, H5P_DEFAULT);
        const hid_t data = H5Dopen2(file, cases[i].path, H5P_DEFAULT);
        assert_true(H5Dwrite(data, cases[i].type, H5S_ALL, H5S_ALL, H5P_DEFAULT, cases[i].value) >=
                    0);
        H5Dclose(data);
        H5Fclose(file);
        assert_int_equal(dls_dataset_load(PATH, NULL, 0, &set, &err), DLS_EINPUT);
        assert_null(set);
        if (!strstr(err.msg, cases[i].says)) {
            fail_msg("%s: \"%s\" does not say \"%s\"", cases[i].path, err.msg, cases[i].says);
        }
        assert_string_equal(err.where, PATH);
    }
}

TEST(test_missing)
{
    static const char *const paths[] = {
        "/graphs/col",      "/graphs/model",           "/graphs/x",
        "/graphs",          "/settings/V100-w8/label", "/settings/V100-w4/iteration_s",
        "/settings/V100-w4"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        dls_error err = {0};
        dls_dataset *set;
        assert_int_equal(save_sample(false), DLS_OK);
        const hid_t file = H5Fopen(PATH, H5F_ACC_RDWR, H5P_DEFAULT);
        assert_true(H5Ldelete(file, paths[i], H5P_DEFAULT) >= 0);
        H5Fclose(file);
        assert_int_equal(dls_dataset_load(PATH, NULL, 0, &set, &err), DLS_EINPUT);
        assert_non_null(strstr(err.msg, strrchr(paths[i], '/') + 1));
    }
    dls_error err = {0};
    dls_dataset *set;
    unlink(PATH);
    assert_int_equal(dls_dataset_load(PATH, NULL, 0, &set, &err), DLS_EINPUT);
    FILE *f = fopen(PATH, "w");
    fputs("no HDF5", f);
    fclose(f);
    assert_int_equal(dls_dataset_load(PATH, NULL, 0, &set, &err), DLS_EINPUT);
}

TEST(test_bad_name)
{
    dls_error err = {0};
    DLS_HOLD(dls_dataset_destroy) dls_dataset *set = sample(false);
    unlink(PATH);
    snprintf(set->setting[1].name, DLS_DATASET_NAME, "a/b");
    assert_int_equal(dls_dataset_save(set, PATH, &err), DLS_EOUTPUT);
    assert_int_not_equal(access(PATH, F_OK), 0);
}

/* Whichever allocation fails: ENOMEM, no set, no leak. */
TEST(test_no_memory)
{
    dls_status status = DLS_ENOMEM;
    int n = 0;
    for (; status == DLS_ENOMEM; n++) {
        dls_error err = {0};
        DLS_HOLD(dls_dataset_destroy) dls_dataset *set = NULL;
        assert_int_equal(save_sample(true), DLS_OK);
        REFUSED(status, n, dls_dataset_load(PATH, NULL, 0, &set, &err));
    }
    assert_int_equal(status, DLS_OK);
    assert_true(n > 20);
    status = DLS_ENOMEM;
    for (n = 0; status == DLS_ENOMEM; n++) {
        dls_error err = {0};
        DLS_HOLD(dls_dataset_destroy) dls_dataset *set = sample(true);
        unlink(PATH);
        REFUSED(status, n, dls_dataset_save(set, PATH, &err));
        assert_int_equal(access(PATH, F_OK) == 0, status == DLS_OK);
    }
    assert_int_equal(status, DLS_OK);
    assert_true(n > 10);
}

static int leave(void **unused)
{
    unlink(PATH);
    return 0;
}

GROUP(NULL, leave)
