/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * FGD and its rivals against the published simulator: node and GPUs of every pod of golden/fgd, the
 * numbers of its own tests, and its published sweeps.
 */
#include "base/alloc.h"
#include "base/csv.h"
#include "fgd/fgd.h"
#include "support/json.h"
#include "support/must.h"
#include "support/shared.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void load(const char *nodes, const char *pods, dls_fgd_input *in)
{
    char node_path[512], pod_path[512];
    if (!shared_path(nodes, node_path, sizeof node_path) ||
        !shared_path(pods, pod_path, sizeof pod_path)) {
        skip();
    }
    MUST(dls_fgd_load(node_path, pod_path, in, &e));
}

/* ---- every pod */

static void print_gpus(uint32_t gpus, char *out, size_t size)
{
    size_t n = 0;
    *out = '\0';
    for (int g = 0; g < DLS_FGD_GPUS; g++) {
        if (gpus >> g & 1) {
            n += (size_t)snprintf(out + n, size - n, n ? "-%d" : "%d", g);
        }
    }
}

static void compare(const dls_fgd_input *in, const char *policy, const dls_fgd_place *place)
{
    char name[64], path[512], line[256], gpus[64];
    snprintf(name, sizeof name, "golden/fgd/a40-%s.csv", policy);
    assert_true(shared_path(name, path, sizeof path));
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_non_null(fgets(line, sizeof line, f));
    size_t wrong = 0;
    for (size_t i = 0; i < in->n_pods; i++) {
        char expected[256];
        assert_non_null(fgets(line, sizeof line, f));
        line[strcspn(line, "\r\n")] = '\0';
        print_gpus(place[i].gpus, gpus, sizeof gpus);
        snprintf(expected, sizeof expected, "%s,%s,%s",
                 dls_strdict_get(&in->names, in->pod_name[i]),
                 place[i].node < 0 ? "" : dls_strdict_get(&in->names, in->node[place[i].node].name),
                 gpus);
        if (strcmp(line, expected) != 0 && wrong++ < 3) {
            print_error("%s: %s, expected %s\n", policy, expected, line);
        }
    }
    assert_null(fgets(line, sizeof line, f));
    fclose(f);
    printf("%s: %zu of %zu pods\n", policy, in->n_pods - wrong, in->n_pods);
    assert_int_equal(0, wrong);
}

TEST(test_pods)
{
    static const char *const policies[] = {"fgd", "bestfit", "dotproduct", "gpupacking",
                                           "gpuclustering"};
    DLS_OWN(dls_fgd_input_fini) dls_fgd_input in = {0};
    dls_fgd_place place[420];
    dls_error err;
    load("golden/fgd/a40_nodes.csv", "golden/fgd/a40_pods.csv", &in);
    assert_int_equal(420, in.n_pods);
    for (int p = 0; p < 5; p++) {
        assert_int_equal(DLS_OK, dls_fgd_run(&in, policies[p], false, 0, in.pod_kind, in.n_pods,
                                             place, NULL, NULL, &err));
        compare(&in, policies[p], place);
    }
    /* Uncut, hardly any two nodes are equal: other places, and no fewer GPUs in use. */
    size_t cut = 0, uncut = 0;
    dls_fgd_place exact[420];
    assert_int_equal(
        DLS_OK, dls_fgd_run(&in, "fgd", false, 0, in.pod_kind, in.n_pods, place, NULL, NULL, &err));
    assert_int_equal(
        DLS_OK, dls_fgd_run(&in, "fgd", true, 0, in.pod_kind, in.n_pods, exact, NULL, NULL, &err));
    size_t differ = 0;
    for (size_t i = 0; i < in.n_pods; i++) {
        const dls_fgd_request *r = &in.kind[in.pod_kind[i]];
        const size_t milli = (size_t)r->gpus * (size_t)r->gpu_milli;
        cut += place[i].node >= 0 ? milli : 0;
        uncut += exact[i].node >= 0 ? milli : 0;
        differ += place[i].node != exact[i].node;
    }
    printf("cut %zu, uncut %zu milli, %zu pods elsewhere\n", cut, uncut, differ);
    assert_true(differ > 20 && uncut + 2000 > cut);
}

/* ---- numbers of the original's tests */

static uint64_t model_of(dls_strdict *models, const char *name)
{
    int32_t code;
    assert_int_equal(DLS_OK, dls_strdict_put(models, name, strlen(name), &code, NULL));
    return UINT64_C(1) << code;
}

static dls_fgd_left read_left(json_object *list)
{
    dls_fgd_left left = {.gpus = (int32_t)json_object_array_length(list)};
    for (size_t g = 0; g < (size_t)left.gpus; g++) {
        left.milli[g] = (int32_t)number(list, g);
    }
    return left;
}

TEST(test_unit)
{
    char path[512];
    SHARED_OR_SKIP("golden/fgd/unit.json", path);
    DLS_HOLD(json_object_put) json_object *all = json_object_from_file(path);
    assert_non_null(all);
    DLS_OWN(dls_strdict_fini) dls_strdict models = {0};
    json_object *cases = member(all, "fragmentation");
    for (size_t i = 0; i < json_object_array_length(cases); i++) {
        json_object *c = json_object_array_get_idx(cases, i);
        char name[32];
        dls_fgd_typical typical[64];
        snprintf(name, sizeof name, "typical_%s", json_object_get_string(member(c, "typical")));
        json_object *rows = member(all, name);
        const size_t n = json_object_array_length(rows);
        for (size_t k = 0; k < n; k++) {
            json_object *row = json_object_array_get_idx(rows, k);
            const char *spec = json_object_get_string(json_object_array_get_idx(row, 3));
            typical[k] = (dls_fgd_typical){{.cpu_milli = (int64_t)number(row, 0),
                                            .gpu_milli = (int32_t)number(row, 1),
                                            .gpus = (int32_t)number(row, 2),
                                            .models = *spec ? model_of(&models, spec) : UINT64_MAX},
                                           number(row, 4)};
        }
        dls_fgd_left left = read_left(member(c, "gpu_left"));
        left.cpu_milli = json_object_get_int64(member(c, "cpu_left"));
        left.model = __builtin_ctzll(model_of(&models, json_object_get_string(member(c, "model"))));
        const double f = dls_fgd_fragmentation(&left, typical, n);
        assert_float_equal(f, json_object_get_double(member(c, "F")), 0.01);
    }
    cases = member(all, "packing_score");
    for (size_t i = 0; i < json_object_array_length(cases); i++) {
        json_object *c = json_object_array_get_idx(cases, i);
        const dls_fgd_left left = read_left(member(c, "gpu_left"));
        assert_int_equal(json_object_get_int(member(c, "score")),
                         dls_fgd_packing_score(&left, json_object_get_int(member(c, "gpus")),
                                               json_object_get_int(member(c, "gpu_milli"))));
    }
}

/* ---- published sweeps: the mean of 10 seeds of another random generator, ours of 12 */

enum { SEEDS = 12 };

typedef struct published {
    double sum[2];
    int n;
} published;

static published find_published(const char *workload, const char *policy)
{
    char path[512], line[512];
    published p = {{0}, 0};
    assert_true(shared_path("golden/fgd/published_allocation.csv", path, sizeof path));
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        char *at = line, *cell[16] = {0};
        for (int i = 0; i < 16 && at; i++) {
            cell[i] = strsep(&at, ",");
        }
        if (strcmp(cell[0], workload) == 0 && strcmp(cell[1], policy) == 0) {
            p.sum[0] += strtod(cell[9], NULL);
            p.sum[1] += strtod(cell[13], NULL);
            p.n++;
        }
    }
    fclose(f);
    assert_int_equal(10, p.n);
    return p;
}

static void sweep(const char *workload)
{
    static const char *const names[][2] = {{"fgd", "FGD"},
                                           {"bestfit", "BestFit"},
                                           {"dotproduct", "DotProd"},
                                           {"gpupacking", "GpuPacking"},
                                           {"gpuclustering", "GpuClustering"},
                                           {"random", "Random"}};
    char pods[128];
    DLS_OWN(dls_fgd_input_fini) dls_fgd_input in = {0};
    dls_error err;
    snprintf(pods, sizeof pods, "data/alibaba_openb_2023/openb_pod_list_%s.csv", workload);
    load("data/alibaba_openb_2023/openb_node_list_gpu_node.csv", pods, &in);
    for (int p = 0; p < 6; p++) {
        double sum[2] = {0};
        const published want = find_published(workload, names[p][1]);
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            double allocated[DLS_FGD_PERCENT];
            assert_int_equal(
                DLS_OK, dls_fgd_experiment(&in, names[p][0], false, seed, 1.3, allocated, &err));
            sum[0] += allocated[100];
            sum[1] += allocated[130];
        }
        for (int k = 0; k < 2; k++) {
            const double got = sum[k] / SEEDS, expected = want.sum[k] / want.n;
            printf("%s %s at %d %%: %.2f, published %.2f\n", workload, names[p][0], k ? 130 : 100,
                   got, expected);
            assert_float_equal(got, expected, 0.3);
        }
    }
}

TEST(test_default)
{
    sweep("default");
}

TEST(test_gpushare)
{
    sweep("gpushare100");
}

TEST(test_multigpu)
{
    sweep("multigpu50");
}
