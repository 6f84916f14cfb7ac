/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Inspectors whose outputs are relative to what is known of a question: metrics that agree with
 * each other whatever the network says, labels there and back, files, questions without what is
 * known, and as a source: the step grows with the batch as the operator model's does. Steps as the library's users
 * ask for them.
 */

#include "support/input_graph.h"
#include "support/predictions_setup.h"
#include "support/tiny_inspector.h"

#include "base/rng.h"
#include "dlsim/steps.h"
#include "predictor/sources/whatif.h"

#include <math.h>
#include <unistd.h>

static char folder[] = "/tmp/dlsim-relative-XXXXXX";
static char weights[128];

static const tiny_setting settings[] = {
    {"V100-w1", "V100", "one", "", 0, 1, 1},
    {"V100-w8-eth10", "V100", "allreduce", "eth10", 0, 8, 2},
    {"V100-w8-eth100", "V100", "allreduce", "eth100", 0, 8, 2},
    {"V100-p2w8-eth10", "V100", "ps-sync", "eth10", 2, 8, 2},
};

/* Idle and busy time are the step, bursts carry the bytes of the link, nothing is negative. */
static void agrees(const dls_profile *p, const dls_known *k)
{
    const double *m = p->metric;
    assert_true(p->iteration_s > 0);
    for (int r = 0; r < DLS_METRICS; r += 3) {
        assert_true(m[r] >= 0 && m[r + 1] >= 0 && m[r + 2] >= 0);
        assert_true(fabs((m[r] + m[r + 1]) / p->iteration_s - 1) < 1e-12);
        if (r < DLS_NET_RX_IDLE) {
            assert_true(m[r + 2] <= 1);
            continue;
        }
        assert_true(fabs(m[r + 1] * m[r + 2] - k->link_bytes) <= 1e-9 * k->link_bytes);
        assert_true((m[r + 1] > 0) == (k->link_bytes > 0));
    }
}

TEST(test_outputs)
{
    dls_rng rng = dls_rng_stream(3, DLS_RNG_TEST, 1);
    for (int i = 0; i < 20000; i++) {
        const dls_known k = {.step_s = exp(4 * dls_rng_normal(&rng)),
                             .link_bytes = i % 3 ? exp(20 + 3 * dls_rng_normal(&rng)) : 0};
        double out[DLS_METRICS], again[DLS_METRICS];
        dls_profile p;
        for (int o = 0; o < DLS_METRICS; o++) {
            out[o] = 0.5 + (i % 2 ? 3 : 0.2) * dls_rng_normal(&rng);
        }
        dls_relative_from_outputs(out, &k, &p);
        agrees(&p, &k);
        dls_relative_to_outputs(p.metric, &k, again);
        dls_profile back;
        dls_relative_from_outputs(again, &k, &back);
        for (int o = 0; o < DLS_METRICS; o++) {
            assert_true(fabs(back.metric[o] - p.metric[o]) <=
                        1e-9 * (1e-9 + p.metric[o]) + 1e-12 * p.iteration_s);
        }
        dls_profile_stretch(&p, 1.5);
        agrees(&p, &k);
        assert_true(fabs(p.iteration_s / back.iteration_s / 1.5 - 1) < 1e-9);
    }
}

TEST(test_files)
{
    DLS_HOLD(dls_inspector_destroy) dls_inspector *insp = NULL;
    dls_predictor *predictor;
    DLS_OWN(dls_input_spec_fini) dls_input_spec spec = {0};
    DLS_HOLD(dls_opgraph_destroy) dls_opgraph *g = NULL;
    DLS_OWN(dls_input_graph_fini) dls_graph graph = {0};
    dls_profile profile[2];
    const dls_zoo_model *model = dls_zoo_find("vgg11");
    const dls_zoo_options options = dls_zoo_defaults(model);
    const dls_predictor_options cpu = {.backend = DLS_BACKEND_CPU, .threads = 1};
    const dls_query query[] = {{0, 1}, {0, 1}};
    const dls_known known[] = {{0.1, 1e8}, {0.2, 1e8}}, none[] = {{0.1, 1e8}, {0, 0}};
    TINY(dls_inspector_load(weights, &insp, err));
    assert_true(dls_inspector_is_relative(insp));
    TINY(dls_input_spec_parse(dls_inspector_features(insp), &spec, err));
    TINY(dls_zoo_build(model, &options, &g, err));
    TINY(input_graph(&spec, g, &graph, NULL, err));
    TINY(dls_predictor_create(insp, &cpu, &predictor, err));
    TINY(dls_predict_known(predictor, &graph, 1, query, known, 2, profile, err));
    agrees(&profile[0], &known[0]);
    assert_true(fabs(profile[1].iteration_s / profile[0].iteration_s - 2) < 1e-12);
    dls_error why = {0};
    assert_int_equal(dls_predict(predictor, &graph, 1, query, 2, profile, &why), DLS_EINPUT);
    assert_non_null(strstr(why.msg, "nothing is known"));
    assert_int_equal(dls_predict_known(predictor, &graph, 1, query, none, 2, profile, &why),
                     DLS_EINPUT);
    assert_string_equal(why.where, "query 1");
    dls_predictor_destroy(predictor);
}

/* The step of a batch over that of half of it, by whoever is asked. */
static double doubling(dls_whatif *w, const char *model, int32_t batch, dls_numeric numeric)
{
    dls_whatif_answer a[2];
    for (int i = 0; i < 2; i++) {
        const dls_whatif_question q = {
            .model = model,
            .batch = batch << i,
            .numeric = numeric,
            .setting = {
                .gpu = "V100", .link = "nvlink2", .exchange = "one", .workers = 1, .nodes = 1}};
        TINY(dls_whatif_ask(w, &q, &a[i], err));
        assert_string_equal(a[i].refused, "");
    }
    return a[1].prediction.iteration_s / a[0].prediction.iteration_s;
}

TEST(test_doublings)
{
    DLS_HOLD(dls_whatif_destroy) dls_whatif *ours = NULL, *model = NULL;
    const dls_whatif_params p = {.source = "driple", .weights = weights, .backend = "cpu"};
    const dls_whatif_params of = {.source = "operator"};
    TINY(dls_whatif_create(&p, &ours, err));
    TINY(dls_whatif_create(&of, &model, err));
    for (int32_t batch = 1; batch < 64; batch *= 2) {
        const double ratio = doubling(ours, "vgg16", batch, DLS_NUMERIC_FP32);
        assert_true(ratio >= 1 && ratio <= 2.1);
        assert_true(fabs(ratio / doubling(model, "vgg16", batch, DLS_NUMERIC_FP32) - 1) < 1e-9);
    }
    assert_true(doubling(ours, "resnet50", 16, DLS_NUMERIC_TF32) > 1); /* known by the model */
}

TEST(test_steps)
{
    const dls_step_predictor_params params = {.source = "operator"}, of = {.source = "nobody"};
    const dls_step_question question[] = {
        {.model = "vgg16", .batch = 32, .gpu = "v100", .link = "nvlink2"},
        {.model = "vgg16", .batch = 32, .gpu = "V100", .workers = 4, .servers = 1, .async = true},
        {.model = "vgg16", .batch = 32, .gpu = "V100", .workers = 4, .nodes = 2},
        {.model = "vgg17b", .batch = 32, .gpu = "V100"},
        {.model = "vgg16", .batch = 0, .gpu = "V100"},
        {.model = "vgg16", .batch = 32, .gpu = "V100", .image = -1},
        {.model = "vgg16", .batch = 32, .gpu = "V100", .workers = 4, .servers = -1},
        {.model = "vgg16", .batch = 32, .gpu = "V100", .workers = 4, .servers = INT32_MAX},
        {.model = "vgg16", .batch = 32, .gpu = "V100", .measured_s = (double)NAN},
        {.model = "vgg16", .batch = 32, .gpu = "V100", .measured_s = 1, .measured_batch = -2},
        {.model = "vgg16", .batch = 32, .gpu = "Q100"},
    };
    dls_step_answer a[11];
    dls_step_predictor *p;
    dls_whatif *w;
    const dls_whatif_params same = {.source = "operator"};
    const dls_whatif_question inner = {
        .model = "vgg16",
        .batch = 32,
        .setting = {.gpu = "V100", .link = "nvlink2", .exchange = "one", .workers = 1, .nodes = 1}};
    dls_whatif_answer expected;
    dls_error wrong;
    const char *name;
    TINY(dls_step_predictor_create(&params, &p, err));
    TINY(dls_whatif_create(&same, &w, err));
    TINY(dls_whatif_ask(w, &inner, &expected, err));
    TINY(dls_step_predict(p, question, 10, a, err));
    assert_true(a[0].prediction.iteration_s == expected.prediction.iteration_s);
    assert_true(a[0].prediction.mem_bytes == expected.prediction.mem_bytes && a[0].fits);
    assert_string_equal(a[0].gpu, "V100");
    assert_string_equal(a[0].exchange, "one");
    assert_string_equal(a[1].exchange, "ps-async");
    assert_string_equal(a[2].exchange, "allreduce");
    assert_true(a[2].prediction.iteration_s > a[0].prediction.iteration_s);
    assert_non_null(strstr(a[3].refused, "unknown model \"vgg17b\" (did you mean 'vgg"));
    for (int i = 4; i < 10; i++) {
        assert_non_null(strstr(a[i].refused, "not possible"));
    }
    /* Which network a name was taken for, and how large images are. */
    const dls_step_question small[] = {{.model = "resnet18", .batch = 32, .gpu = "V100"},
                                       {.model = "resnet18", .batch = 32, .gpu = "V100", .image = 224},
                                       {.model = "bert", .batch = 32, .gpu = "V100"}};
    TINY(dls_step_predict(p, small, 3, a, err));
    assert_string_equal(a[0].network, "resnet18_cifar");
    assert_int_equal(a[0].image, 32);
    assert_string_equal(a[1].network, "resnet18_imagenet");
    assert_int_equal(a[1].image, 224);
    assert_string_equal(a[2].network, "bert_base");
    assert_int_equal(a[2].image, 0);
    assert_int_equal(a[2].sequence, 128);
    assert_int_equal(dls_step_predict(p, question, 11, a, &wrong), DLS_EINPUT);
    assert_int_equal(dls_step_gpu(p, "Q100", &name, &wrong), DLS_EINPUT);
    dls_whatif_destroy(w);
    dls_step_predictor_destroy(p);
    assert_int_equal(dls_step_predictor_create(&of, &p, &wrong), DLS_EINPUT);
    assert_null(p);
}

static const world_group groups[] = {{"V100-32GB", 8, 4, 4, 10}};
static const world_job jobs[] = {{"vgg16", 8, 32, 1000, 0},
                                 {"vgg16", 8, 64, 500, 0},
                                 {"resnet50", 1, 256, 100, 0},
                                 {"mystery", 4, 32, 100, 0}};

TEST(test_source)
{
    DLS_OWN(world_fini) world_setup s = {0};
    world_init(&s, "operator", groups, 1, jobs, 4);
    world_open(&s);
    dls_prediction_params p = predictions_params(&s, "driple");
    p.weights = weights;
    p.backend = "cpu";
    dls_predictions *ours = predictions_open(&p);
    p.source = "operator";
    DLS_HOLD(dls_predictions_destroy) dls_predictions *model = predictions_open(&p);
    predictions_prepare(ours, 0, 4);
    predictions_prepare(model, 0, 4);
    const dls_prediction a = predictions_get(ours, 0, 0, 8, 2, 1);
    const dls_prediction b = predictions_get(ours, 1, 0, 8, 2, 1);
    const dls_prediction of_a = predictions_get(model, 0, 0, 8, 2, 1);
    const dls_prediction of_b = predictions_get(model, 1, 0, 8, 2, 1);
    /* The same factor at every batch. */
    assert_true(fabs(b.iteration_s / a.iteration_s / (of_b.iteration_s / of_a.iteration_s) - 1) <
                1e-9);
    assert_true(a.link_bps > 0 && a.metric[DLS_NET_TX_ACTIVE] * a.link_bps <
                                      1.001 * of_a.link_bps * of_a.iteration_s);
    assert_true(predictions_get(ours, 2, 0, 1, 1, 1).iteration_s > 0);
    assert_int_equal(dls_predictions_about(ours).unknown_kinds, 1);
    dls_predictions_destroy(ours);
}

static int set_up(void **unused)
{
    dls_inspector *insp;
    if (!mkdtemp(folder)) {
        return -1;
    }
    snprintf(weights, sizeof weights, "%s/w.h5", folder);
    tiny_inspector(weights, settings, 4, "hidden=16 n_features=15", NULL, 12);
    TINY(dls_inspector_load(weights, &insp, err));
    insp->relative = true;
    TINY(dls_inspector_save(insp, weights, err));
    dls_inspector_destroy(insp);
    return 0;
}

static int tear_down(void **unused)
{
    unlink(weights);
    return rmdir(folder);
}

GROUP(set_up, tear_down)
