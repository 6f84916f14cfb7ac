/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Random models: the same for a seed, whole graphs of every kind, none of the zoo's, none in a test
 * split; what the features of the whole graph say of them; and where errors of a split come from.
 */

#include "base/alloc.h"
#include "predictor/dataset/build.h"
#include "predictor/dataset/origin.h"
#include "predictor/dataset/random_graphs.h"
#include "predictor/dataset/variants.h"
#include "support/must.h"
#include "workload/graph/zoo.h"
#include "workload/operator/from_graph.h"
#include "workload/operator/model.h"
#include "predictor/training/families.h"
#include "support/dataset_setup.h"
#include "support/refuse.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- models ---------------------------------------------------------------------------------- */

TEST(test_same_for_a_seed)
{
    size_t other = 0;
    for (uint64_t number = 0; number < 8; number++) {
        const dls_random_model m = dls_random_model_draw(5, number);
        dls_random_model twice = m;
        DLS_HOLD(dls_opgraph_destroy) dls_opgraph *a = NULL, *b = NULL, *c = NULL;
        dls_opgraph_totals ta, tb, tc;
        twice.batch = 2 * m.batch;
        MUST(dls_random_model_build(&m, &a, &e));
        MUST(dls_random_model_build(&m, &b, &e));
        MUST(dls_random_model_build(&twice, &c, &e));
        dls_opgraph_sum(a, &ta);
        dls_opgraph_sum(b, &tb);
        dls_opgraph_sum(c, &tc);
        assert_int_equal(a->n_nodes, b->n_nodes);
        assert_memory_equal(&ta, &tb, sizeof ta);
        /* Another batch is the same model. */
        assert_int_equal(ta.n_params, tc.n_params);
        assert_int_equal(a->n_nodes, c->n_nodes);
        const dls_random_model seed6 = dls_random_model_draw(6, number);
        other += seed6.kind != m.kind || seed6.batch != m.batch;
    }
    assert_true(other > 4);
    assert_null(dls_random_kind_name(-1));
    assert_null(dls_random_kind_name(DLS_RANDOM_KINDS));
}

/* Every kind is drawn, trains something, fits a GPU, and is no model of the zoo. */
TEST(test_drawing)
{
    enum { KNOWN = 34, DRAWN = 120 };
    dls_workload zoo[KNOWN];
    size_t n_zoo = 0;
    for (; n_zoo < dls_zoo_size() && n_zoo < KNOWN; n_zoo++) {
        const dls_zoo_options options = dls_zoo_defaults(dls_zoo_at(n_zoo));
        DLS_HOLD(dls_opgraph_destroy) dls_opgraph *g = NULL;
        MUST(dls_zoo_build(dls_zoo_at(n_zoo), &options, &g, &e));
        MUST(dls_workload_from_graph(g, &zoo[n_zoo], &e));
    }
    dls_random_drawing d = {.seed = 1, .known = zoo, .n_known = n_zoo};
    for (size_t i = 0; i < n_zoo; i++) {
        assert_true(dls_random_is_known(&d, &zoo[i]));
        zoo[i].params += 1;
        const dls_workload other = zoo[i];
        zoo[i].params -= 1;
        assert_false(dls_random_is_known(&d, &other));
    }
    size_t large = 0;
    for (int i = 0; i < DRAWN; i++) {
        dls_random_model m;
        DLS_HOLD(dls_opgraph_destroy) dls_opgraph *g = NULL;
        DLS_OWN(dls_workload_fini) dls_workload w = {.n_kernels = 0};
        MUST(dls_random_graph_next(&d, &m, &g, &w, &e));
        const double memory = dls_step_memory_bytes(&w, m.numeric, m.batch);
        assert_true(m.batch >= 1 && m.batch == g->info.batch);
        assert_true(memory <= 64.0 * (1 << 30));
        large += memory > DLS_VARIANT_MEMORY_BYTES;
        assert_true(w.params > 0 && w.n_kernels > 0);
        assert_false(dls_random_is_known(&d, &w));
    }
    size_t all = 0;
    for (int k = 0; k < DLS_RANDOM_KINDS; k++) {
        assert_true(d.of_kind[k] > 0);
        all += d.of_kind[k];
    }
    assert_int_equal(all, DRAWN);
    assert_true(large > 0 && large < DRAWN / 4);
    for (size_t i = 0; i < n_zoo; i++) {
        dls_workload_fini(&zoo[i]);
    }
}

/* ---- datasets -------------------------------------------------------------------------------- */

static dls_build_options options_of(size_t n_random)
{
    dls_build_options o = {.model = &model, .hw = &hw, .setting = paper.spec, .n_settings = 1};
    dls_corpus_options_init(&o.corpus);
    dls_label_options_init(&o.label);
    assert_int_equal(o.corpus.n_random, 0);
    o.corpus.n_graphs = 68;
    o.corpus.n_random = n_random;
    o.corpus.n_groups = 4;
    o.corpus.features = DLS_FEATURES_KERNELS;
    o.label.n_samples = 64;
    return o;
}

/* The zoo's graphs keep their splits and labels; none of the others is for testing. */
TEST(test_beside_the_zoo)
{
    enum { N = 60 };
    DLS_HOLD(dls_dataset_destroy) dls_dataset *plain = NULL, *set = NULL;
    dls_build_options o = options_of(0);
    MUST(dls_dataset_build(&o, &plain, &e));
    o = options_of(N);
    MUST(dls_dataset_build(&o, &set, &e));
    assert_int_equal(set->n_graphs, plain->n_graphs + N);
    const dls_dataset_setting *a = &plain->setting[0], *b = &set->setting[0];
    size_t val = 0, random = 0;
    assert_memory_equal(a->split, b->split, a->n);
    assert_memory_equal(a->label, b->label, a->n * DLS_METRICS * sizeof(double));
    for (size_t i = a->n; i < b->n; i++) {
        const dls_dataset_origin *origin = &set->origin[b->graph[i]];
        assert_true(strncmp(origin->family, "random-", 7) == 0);
        assert_true(strncmp(origin->model, origin->family, strlen(origin->family)) == 0);
        assert_int_not_equal(b->split[i], DLS_SPLIT_TEST);
        val += b->split[i] == DLS_SPLIT_VAL;
        random++;
    }
    /* Its kernels can be had again, for methods that learn from them. */
    for (size_t i = plain->n_graphs; i < set->n_graphs; i += 7) {
        dls_workload w = {.n_kernels = 0};
        dls_numeric numeric = DLS_NUMERIC_FP32;
        MUST(dls_dataset_workload(&set->origin[i], set->seed, &w, &numeric, &e));
        assert_string_equal(w.name, set->origin[i].model);
        assert_string_equal(dls_numeric_name((int)numeric), set->origin[i].numeric);
        dls_workload_fini(&w);
        dls_dataset_origin other = set->origin[i];
        other.model[7] = '?';
        dls_error why = {0};
        assert_int_equal(dls_dataset_workload(&other, set->seed, &w, &numeric, &why), DLS_EINPUT);
    }
    assert_true(random > N / 2 && val > 0 && val < random / 4);
}

/* Columns of the whole graph, as sums over its operations. */
TEST(test_columns)
{
    DLS_HOLD(dls_opgraph_destroy) dls_opgraph *g = NULL;
    DLS_OWN(dls_grouping_fini) dls_grouping grouping = {0};
    DLS_HOLD(dls_feature_spec_destroy) dls_feature_spec *spec = NULL;
    double x[4 * DLS_FEATURES_MAX];
    const dls_zoo_options options = dls_zoo_defaults(dls_zoo_find("vgg11"));
    MUST(dls_zoo_build(dls_zoo_find("vgg11"), &options, &g, &e));
    MUST(dls_grouping_create(g, DLS_GROUPING_UNIFORM, 4, DLS_GROUPING_SEED, &grouping, &e));
    MUST(dls_feature_spec_create(DLS_FEATURES_KERNELS, &spec, &e));
    assert_int_equal(spec->n_features, 23);
    MUST(dls_features_raw(spec, g, &grouping, x, NULL, &e));
    double column[DLS_FEATURES_MAX];
    const char *names[DLS_FEATURES_MAX];
    for (int32_t f = 0; f < spec->n_features; f++) {
        names[f] = dls_feature_name(f);
        assert_non_null(names[f]);
        column[f] = x[f];
    }
    for (int32_t f = 8; f < spec->n_features; f++) {
        for (int row = 1; row < 4; row++) {
            assert_true(x[row * spec->n_features + f] == column[f]);
        }
    }
    assert_string_equal(names[8], "all_flops");
    assert_string_equal(names[15], "all_conv1_flops");
    assert_string_equal(names[21], "all_update_flops");
    assert_string_equal(names[22], "largest_update_bytes");
    assert_true(column[15] == 0 && column[17] == 0); /* VGG is 3 x 3 throughout */
    assert_true(column[16] > 0.9 * column[8] && column[18] > 0 && column[16] < column[8]);
    assert_true(column[22] == 4.0 * 25088 * 4096); /* its first dense layer */
    const double update = column[21] / (column[10] / 4);
    assert_true(update > 5.9 && update <= 6); /* momentum 4, the decay of weights 2 */
    dls_feature_spec_destroy(spec);
    /* The same as sums of the groups' own, but for the largest update. */
    MUST(dls_feature_spec_create(DLS_FEATURES_OWN, &spec, &e));
    assert_int_equal(spec->n_features, 23);
    MUST(dls_features_raw(spec, g, &grouping, x, NULL, &e));
    for (int32_t f = 8; f < spec->n_features; f++) {
        double sum = 0, most = 0;
        for (int row = 0; row < 4; row++) {
            sum += x[row * spec->n_features + f];
            most = fmax(most, x[row * spec->n_features + f]);
        }
        const bool alike = f == 14; /* bytes of a value */
        assert_true(fabs((alike || f == 22 ? most : sum) - column[f]) <= 1e-12 * column[f]);
    }
}

TEST(test_no_memory)
{
    dls_build_options o = options_of(6);
    o.corpus.n_graphs = 34;
    o.corpus.split = DLS_SPLIT_AT_RANDOM;
    o.label.n_samples = 16;
    int all = INT_MAX;
    dls_error e = {0};
    dls_dataset *set;
    dls_alloc_set_hook(refuse, &all);
    assert_int_equal(dls_dataset_build(&o, &set, &e), DLS_OK);
    dls_alloc_set_hook(NULL, NULL);
    dls_dataset_destroy(set);
    all = INT_MAX - all;
    for (int n = all / 8; n < all; n += all / 4) {
        int left = n;
        dls_alloc_set_hook(refuse, &left);
        const dls_status status = dls_dataset_build(&o, &set, &e);
        dls_alloc_set_hook(NULL, NULL);
        assert_int_equal(status, DLS_ENOMEM);
        assert_null(set);
    }
}

/* ---- families -------------------------------------------------------------------------------- */

TEST(test_families)
{
    dls_dataset_origin origin[4] = {
        {.family = "a"}, {.family = "b"}, {.family = "a"}, {.family = "c"}};
    int32_t graph[4] = {0, 1, 2, 3};
    dls_dataset_setting setting = {.n = 4, .graph = graph};
    const dls_dataset set = {.origin = origin, .setting = &setting, .n_settings = 1, .n_graphs = 4};
    size_t row[3] = {0, 1, 2};
    double label[3 * DLS_METRICS] = {0}, answer[3 * DLS_METRICS] = {0};
    double step[3] = {1, 2, 5};
    dls_yardsticks y = {.n = 3, .row = row, .label = label, .iteration_s = step};
    for (int i = 0; i < 3; i++) {
        label[i * DLS_METRICS + DLS_GPU_IDLE] = step[i];
        answer[i * DLS_METRICS + DLS_GPU_IDLE] = step[i];
    }
    answer[DLS_GPU_IDLE] = 3;                 /* a: 2 too much of 1 */
    answer[DLS_METRICS + DLS_GPU_ACTIVE] = 1; /* b: 1 too much of 2 */
    dls_family_error f[DLS_FAMILIES_MAX];
    size_t n = 0;
    MUST(dls_family_errors(&set, 0, &y, answer, f, &n, &e));
    assert_int_equal(n, 2);
    assert_string_equal(f[0].name, "a");
    assert_int_equal(f[0].n, 2);
    assert_true(fabs(f[0].iteration - sqrt(2.0) / 4) < 1e-12);
    assert_true(fabs(f[0].by_range - sqrt(2.0) / 4) < 1e-12); /* the one metric that varies */
    assert_true(fabs(f[0].percent - 100) < 1e-9);
    assert_true(fabs(f[0].share - 0.8) < 1e-12);
    assert_int_equal(f[1].n, 1);
    assert_true(fabs(f[1].iteration - 0.25) < 1e-12 && f[1].by_range == 0);
    assert_true(fabs(f[1].percent - 50) < 1e-9 && fabs(f[1].share - 0.2) < 1e-12);
}

GROUP(begin, end)
