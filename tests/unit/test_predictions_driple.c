/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The inspector as a source of predictions: inputs of any batch out of two graphs, settings for
 * shapes, answers against the inspector asked directly, the cache on disk, weights that do not fit.
 */

#include "support/input_graph.h"
#include "support/predictions_setup.h"
#include "support/tiny_inspector.h"

#include "dlsim/predictor.h"
#include "predictor/sources/inspector.h"
#include "predictor/sources/setting_map.h"
#include "predictor/sources/setting_files.h"
#include "predictor/sources/zoo_inputs.h"

#include <math.h>
#include <unistd.h>

static const tiny_setting settings[] = {
    {"V100-w1", "V100", "one", "", 0, 1, 1},
    {"V100-w4", "V100", "allreduce", "nvlink2", 0, 4, 1},
    {"V100-w8-eth10", "V100", "allreduce", "eth10", 0, 8, 2},
    {"V100-w8-eth100", "V100", "allreduce", "eth100", 0, 8, 2},
    {"A100-w8", "A100", "allreduce", "nvlink3", 0, 8, 1},
    {"V100-p2w8-eth10", "V100", "ps-sync", "eth10", 2, 8, 2},
    {"2080Ti-w8-eth10", "RTX2080TI", "allreduce", "eth10", 0, 8, 2},
};
#define N_SETTINGS ((int32_t)(sizeof settings / sizeof settings[0]))
#define ARCH "hidden=16 n_features=15"

static const world_group groups[] = {{"V100-32GB", 8, 4, 4, 10}, {"A100", 4, 8, 0, 100}};
static const world_job jobs[] = {{"vgg16", 8, 32, 1000, 0},   {"resnet50", 8, 32, 1000, 0},
                                 {"vgg16", 4, 32, 500, 0},    {"vgg16", 8, 64, 500, 0},
                                 {"resnet50", 1, 32, 100, 0}, {"mystery", 4, 32, 100, 0},
                                 {"bert_base", 8, 8, 100, 0}};
#define N_JOBS ((int32_t)(sizeof jobs / sizeof jobs[0]))

static char folder[] = "/tmp/dlsim-predictions-XXXXXX";
static char weights[128], cache[128];

/* ---- inputs ---------------------------------------------------------------------------------- */

TEST(test_inputs)
{
    const dls_zoo_options own = {.numeric = DLS_NUMERIC_FP32};
    static const int32_t batches[] = {1, 2, 5, 32, 300};
    DLS_OWN(dls_input_spec_fini) dls_input_spec spec = {0};
    tiny_input_spec(&spec, 12);
    DLS_OWN(dls_zoo_inputs_fini) dls_zoo_inputs z = {.spec = &spec};
    /* All that datasets draw, and some of each table behind them. */
    for (size_t m = 0; m < dls_zoo_size(); m += m < dls_zoo_drawn() ? 1 : 11) {
        const dls_zoo_model *model = dls_zoo_at(m);
        const dls_zoo_input *input, *again;
        TINY(dls_zoo_input_sized(&z, model, &own, &input, err));
        TINY(dls_zoo_input_sized(&z, model, &own, &again, err));
        assert_ptr_equal(input, again);
        const size_t cells = (size_t)input->graph.n_nodes * (size_t)input->graph.n_features;
        double *x = malloc(cells * sizeof *x);
        const bool all = FEWER(4) == 4; /* else the smallest and the largest in turn */
        for (size_t b = all ? 0 : m % 2 * 4; b < sizeof batches / sizeof batches[0]; b += all ? 1 : 5) {
            dls_zoo_options options = dls_zoo_defaults(model);
            DLS_HOLD(dls_opgraph_destroy) dls_opgraph *g = NULL;
            DLS_OWN(dls_input_graph_fini) dls_graph direct = {0};
            options.batch = batches[b];
            TINY(dls_zoo_build(model, &options, &g, err));
            TINY(input_graph(&spec, g, &direct, NULL, err));
            const dls_graph at = dls_zoo_input_at(&z, input, batches[b], x);
            assert_int_equal(at.n_nodes, direct.n_nodes);
            assert_memory_equal(at.row_start, direct.row_start,
                                ((size_t)at.n_nodes + 1) * sizeof *at.row_start);
            assert_memory_equal(at.col, direct.col,
                                (size_t)at.row_start[at.n_nodes] * sizeof *at.col);
            for (size_t i = 0; i < cells; i++) {
                if (fabs(at.x[i] - direct.x[i]) > 1e-14 * fabs(direct.x[i])) {
                    fail_msg("%s at batch %d: feature %zu is %.17g, not %.17g", model->name,
                             (int)batches[b], i, at.x[i], direct.x[i]);
                }
            }
        }
        free(x);
        assert_true(m == 0 || input->checksum != z.input[0]->checksum);
    }
}

/* ---- settings -------------------------------------------------------------------------------- */

static void load_hardware(dls_hardware *hw)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/configs/hardware",
             getenv("DLSIM_SOURCE") ? getenv("DLSIM_SOURCE") : ".");
    TINY(dls_hardware_load(path, hw, err));
}

TEST(test_settings)
{
    static const struct {
        dls_whereabouts where;
        int32_t setting;
        double distance; /* at least; 0: exact */
    } cases[] = {
        {{"V100", 15.7e12, 1, 1, 0, "allreduce", 0}, 0, 0},
        {{"V100-32GB", 15.7e12, 1, 1, 150e9, "ps-sync", 0}, 0, 0},
        {{"V100", 15.7e12, 4, 1, 150e9, "allreduce", 0}, 1, 0},
        {{"V100", 15.7e12, 8, 2, 1.25e9, "allreduce", 0}, 2, 0},
        {{"V100", 15.7e12, 8, 2, 12.5e9, "allreduce", 0}, 3, 0},
        {{"V100", 15.7e12, 8, 2, 5e9, "allreduce", 0}, 3, 1},
        {{"V100", 15.7e12, 8, 2, 1.25e9, "ps-sync", 0}, 5, 0},
        {{"V100", 15.7e12, 8, 2, 1.25e9, "ps-async", 0}, 5, 1},
        {{"V100", 15.7e12, 8, 4, 1.25e9, "allreduce", 0}, 2, 1},
        {{"V100", 15.7e12, 2, 1, 150e9, "allreduce", 0}, 1, 1},
        {{"RTX2080TI", 13.45e12, 1, 1, 0, "allreduce", 0}, 0, 2},
        {{"V100-PCIE", 14e12, 4, 1, 15.75e9, "allreduce", 0}, 3, 2},
        {{"MYGPU", 0, 8, 1, 300e9, "allreduce", 0}, 4, 3},
    };
    DLS_OWN(dls_hardware_fini) dls_hardware hw = {0};
    DLS_HOLD(dls_inspector_destroy) dls_inspector *insp = NULL;
    dls_setting_map map;
    double d;
    load_hardware(&hw);
    TINY(dls_inspector_load(weights, &insp, err));
    TINY(dls_setting_map_init(&map, insp, &hw, NULL, err));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const int32_t got = dls_setting_map_find(&map, &cases[i].where, &d);
        if (got != cases[i].setting || !(d >= cases[i].distance) ||
            (d > 0) != (cases[i].distance > 0)) {
            fail_msg("case %zu: setting %d at %g", i, (int)got, d);
        }
    }
    dls_setting_map_fini(&map);
    /* Somebody's table counts before any distance, in its order. */
    TINY(dls_setting_map_init(&map, insp, &hw,
                              " V100:8/2 = A100-w8 ;\n*:*/4=V100-w1\n V100:8/* = V100-w4;", err));
    dls_whereabouts w = {"V100", 15.7e12, 8, 2, 1.25e9, "allreduce", 0};
    assert_int_equal(dls_setting_map_find(&map, &w, &d), 4);
    assert_true(d == 0);
    w.nodes = 4;
    assert_int_equal(dls_setting_map_find(&map, &w, &d), 0);
    w.nodes = 8;
    assert_int_equal(dls_setting_map_find(&map, &w, &d), 1);
    w.workers = 4;
    w.nodes = 1;
    w.link_bps = 150e9;
    assert_int_equal(dls_setting_map_find(&map, &w, &d), 1);
    dls_setting_map_fini(&map);
    static const char *const bad[] = {"V100",         "V100:8=V100-w1",   "V100:8/2",
                                      ":8/2=V100-w1", "V100:0/1=V100-w1", "V100:x/1=V100-w1",
                                      "V100:1/1= "};
    dls_error err;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(dls_setting_map_init(&map, insp, &hw, bad[i], &err), DLS_ECONFIG);
    }
    assert_int_equal(dls_setting_map_init(&map, insp, &hw, "*:1/1=H100-w1", &err), DLS_EPREDICTOR);
    assert_non_null(strstr(err.msg, "H100-w1"));
}

/* ---- answers --------------------------------------------------------------------------------- */

static dls_profile direct(const char *model, int32_t batch, const char *setting)
{
    dls_inspector *insp;
    dls_predictor *predictor;
    dls_input_spec spec;
    dls_opgraph *g;
    dls_graph graph;
    dls_profile profile;
    const dls_zoo_model *m = dls_zoo_find(model);
    dls_zoo_options options = dls_zoo_defaults(m);
    const dls_predictor_options cpu = {.backend = DLS_BACKEND_CPU, .threads = 1};
    options.batch = batch;
    TINY(dls_inspector_load(weights, &insp, err));
    TINY(dls_input_spec_parse(dls_inspector_features(insp), &spec, err));
    TINY(dls_zoo_build(m, &options, &g, err));
    TINY(input_graph(&spec, g, &graph, NULL, err));
    TINY(dls_predictor_create(insp, &cpu, &predictor, err));
    const dls_query query = {0, dls_inspector_find(insp, setting)};
    TINY(dls_predict(predictor, &graph, 1, &query, 1, &profile, err));
    dls_predictor_destroy(predictor);
    dls_input_graph_fini(&graph);
    dls_opgraph_destroy(g);
    dls_input_spec_fini(&spec);
    dls_inspector_destroy(insp);
    return profile;
}

static void same_as(const dls_prediction *f, const dls_profile *p, double reference_s)
{
    if (!(p->iteration_s > 0)) { /* random weights may say so: then as at the reference */
        assert_true(f->iteration_s == reference_s);
        return;
    }
    assert_true(fabs(f->iteration_s / p->iteration_s - 1) < 1e-5);
    for (int k = 0; k < DLS_METRICS; k++) {
        assert_true(fabs(f->metric[k] - fmax(0, p->metric[k])) <= 1e-5 * (1 + fabs(p->metric[k])));
    }
}

static dls_prediction_params driple_params(world_setup *s)
{
    dls_prediction_params p = predictions_params(s, "driple");
    p.weights = weights;
    p.backend = "cpu";
    return p;
}

TEST(test_answers)
{
    DLS_OWN(world_fini) world_setup s = {0};
    world_init(&s, "operator", groups, 2, jobs, (size_t)N_JOBS);
    world_open(&s);
    const dls_prediction_params p = driple_params(&s);
    DLS_HOLD(dls_predictions_destroy) dls_predictions *f = predictions_open(&p);
    predictions_prepare(f, 0, N_JOBS);
    const dls_profile vgg = direct("vgg16", 32, "V100-w8-eth10");
    const dls_profile more = direct("vgg16", 64, "A100-w8");
    const dls_profile four = direct("vgg16", 32, "V100-w4");
    const dls_profile one = direct("resnet50", 32, "V100-w1");
    const dls_prediction a = predictions_get(f, 0, 0, 8, 2, 1), b = predictions_get(f, 3, 1, 8, 1, 1);
    const dls_prediction c = predictions_get(f, 2, 0, 4, 1, 1), d = predictions_get(f, 4, 0, 1, 1, 1);
    same_as(&a, &vgg, dls_world_reference_s(s.w, 0));
    same_as(&b, &more, dls_world_reference_s(s.w, 3));
    same_as(&c, &four, dls_world_reference_s(s.w, 2));
    same_as(&d, &one, dls_world_reference_s(s.w, 4));
    assert_true(a.distance == 0 && b.distance == 0 && c.distance == 0 && d.distance == 0);
    assert_true(vgg.iteration_s != more.iteration_s);
    assert_true(a.mem_bytes > 1e9);
    /* Spread over four nodes nobody was trained for. */
    assert_true(predictions_get(f, 0, 0, 8, 4, 1).distance > 0);
    const dls_predictions_stats st = dls_predictions_about(f);
    assert_int_equal(st.batches, 1);
    assert_true(st.nearest > 0 && st.nearest < st.answers && st.disk_hits == 0);
    assert_int_equal(st.unknown_kinds, 1);
    assert_non_null(strstr(st.backend, "cpu"));
}

/* In a ring what is received is what was sent; with servers a link must carry the larger of pushing
 * and pulling, of each of the four workers on a node. */
TEST(test_links)
{
    char other[160];
    bool differ = false;
    dls_inspector *insp;
    snprintf(other, sizeof other, "%s/links.h5", folder);
    TINY(dls_inspector_load(weights, &insp, err));
    for (int32_t i = 0; i < N_SETTINGS; i++) {
        insp->settings[i].labels.scale[DLS_NET_RX_PEAK] = 1000;
    }
    TINY(dls_inspector_save(insp, other, err));
    dls_inspector_destroy(insp);
    for (int32_t k = 0; k < 4; k++) {
        DLS_OWN(world_fini) world_setup s = {0};
        world_init(&s, "operator", groups, 2, jobs, (size_t)N_JOBS);
        s.p.exchange = k % 2 ? "ps-sync" : "allreduce";
        world_open(&s);
        dls_prediction_params p = driple_params(&s);
        p.weights = k < 2 ? weights : other;
        p.exchange = s.p.exchange;
        DLS_HOLD(dls_predictions_destroy) dls_predictions *f = predictions_open(&p);
        predictions_prepare(f, 0, 1);
        const dls_prediction at = predictions_get(f, 0, 0, 8, 2, 1);
        const double sent = at.metric[DLS_NET_TX_PEAK], received = at.metric[DLS_NET_RX_PEAK];
        const double link = k % 2 ? 4 * fmax(sent, received) : sent;
        assert_true(link > 0 && fabs(at.link_bps - link) <= 1e-9 * link);
        differ = differ || (k % 2 && received > sent);
    }
    unlink(other);
    assert_true(differ);
}

/* ---- an inspector of all settings ------------------------------------------------------------ */

/* One that was tuned, too: nvlink2 among four V100. */
static void all_settings_file(const char *path, const dls_hardware *hw)
{
    DLS_HOLD(dls_inspector_destroy) dls_inspector *insp = NULL;
    tiny_inspector(path, settings, 0, ARCH, NULL, 12);
    TINY(dls_inspector_load(path, &insp, err));
    TINY(dls_inspector_condition(insp, dls_condition_names, DLS_CONDITIONS, err));
    dls_weight *t = (dls_weight *)(uintptr_t)dls_tensors_find(&insp->base, DLS_CONDITION_TENSOR);
    for (int64_t i = 0; i < dls_tensor_len(&t->spec); i++) {
        t->data[i] = (double)(float)(0.01 * (double)(i % 7 - 2));
    }
    for (int k = 0; k < DLS_METRICS * DLS_CONDITIONS; k++) {
        insp->condition.label_slope[k] = 0.01 * (k % DLS_CONDITIONS);
    }
    const dls_setting_info four = {"V100-w4", "V100", "allreduce", "nvlink2", 0, 4, 1};
    TINY(dls_settle(insp, hw, &four, err));
    TINY(dls_inspector_save(insp, path, err));
}

static int32_t ask_place(dls_inspector_session *a, dls_whereabouts where)
{
    int32_t setting;
    double distance;
    TINY(dls_inspector_session_setting(a, &where, &setting, &distance, err));
    assert_true(distance == 0);
    return setting;
}

TEST(test_all_settings)
{
    char path[160], dir[1024];
    dls_hardware hw;
    dls_inspector_session a;
    snprintf(path, sizeof path, "%s/all.h5", folder);
    snprintf(dir, sizeof dir, "%s/configs/hardware",
             getenv("DLSIM_SOURCE") ? getenv("DLSIM_SOURCE") : ".");
    load_hardware(&hw);
    all_settings_file(path, &hw);
    const dls_inspector_session_params p = {
        .weights = path, .backend = "cpu", .hardware_dir = dir, .threads = 1};
    TINY(dls_inspector_session_init(&a, &p, err));
    assert_int_equal(strlen(a.hardware_sha), 64);
    assert_int_equal(ask_place(&a, (dls_whereabouts){"V100", 0, 4, 1, 150e9, "allreduce", 0}), 0);
    const int32_t slow = ask_place(&a, (dls_whereabouts){"V100", 0, 8, 2, 1.25e9, "allreduce", 0});
    const int32_t fast = ask_place(&a, (dls_whereabouts){"V100", 0, 8, 2, 12.5e9, "allreduce", 0});
    const int32_t ps = ask_place(&a, (dls_whereabouts){"V100", 0, 8, 2, 1.25e9, "ps-sync", 0});
    const int32_t one = ask_place(&a, (dls_whereabouts){"V100-32GB", 0, 1, 1, 0, "allreduce", 0});
    assert_int_equal(slow, 1);
    assert_int_equal(fast, 2);
    assert_int_equal(ask_place(&a, (dls_whereabouts){"V100", 0, 8, 2, 1.25e9, "allreduce", 0}),
                     slow);
    assert_string_equal(dls_inspector_setting(a.insp, slow).network, "eth10");
    assert_int_equal(dls_inspector_setting(a.insp, ps).n_ps, 2);
    assert_string_equal(dls_inspector_setting(a.insp, one).topology, "one");
    /* The same as the setting by its name. */
    const dls_setting_info named = {"V100-w8-eth10", "V100", "allreduce", "eth10", 0, 8, 2};
    TINY(dls_settle(a.insp, &hw, &named, err));
    const dls_zoo_input *input;
    TINY(dls_zoo_input_sized(&a.inputs, dls_zoo_find("vgg16"), &(dls_zoo_options){0}, &input, err));
    double *x = malloc((size_t)input->graph.n_nodes * (size_t)input->graph.n_features * sizeof *x);
    assert_non_null(x);
    const dls_graph graph = dls_zoo_input_at(&a.inputs, input, 32, x);
    const dls_query query[] = {{0, slow}, {0, fast}, {0, ps}, {0, one}, {0, one + 1}};
    dls_profile profile[5];
    TINY(dls_inspector_session_predict(&a, &graph, 1, query, NULL, 5, profile, err));
    assert_true(profile[0].iteration_s == profile[4].iteration_s);
    assert_true(profile[0].iteration_s != profile[1].iteration_s);
    assert_true(profile[0].iteration_s != profile[2].iteration_s);
    assert_true(profile[0].iteration_s != profile[3].iteration_s);
    /* Settings that come later are taken in by the predictor that is there, and answer as in a new one. */
    const dls_predictor *same = a.predictor;
    for (int32_t k = 0; k < 40; k++) {
        const int32_t at =
            ask_place(&a, (dls_whereabouts){"V100", 0, 8, 2, 1e9 * (2 + k), "allreduce", 0});
        const dls_query later = {0, at}, first = {0, slow};
        dls_profile mine, its, again;
        DLS_HOLD(dls_predictor_destroy) dls_predictor *fresh = NULL;
        TINY(dls_inspector_session_predict(&a, &graph, 1, &later, NULL, 1, &mine, err));
        TINY(dls_inspector_session_predict(&a, &graph, 1, &first, NULL, 1, &again, err));
        TINY(dls_predictor_create(a.insp, &a.options, &fresh, err));
        TINY(dls_predict(fresh, &graph, 1, &later, 1, &its, err));
        assert_memory_equal(&mine, &its, sizeof mine);
        assert_true(again.iteration_s == profile[0].iteration_s);
    }
    assert_ptr_equal(a.predictor, same);
    free(x);
    /* Numbers that nobody has. */
    dls_error err;
    int32_t setting;
    double distance;
    const dls_whereabouts unknown = {"MYGPU", 1e12, 8, 1, 300e9, "allreduce", 0};
    assert_int_equal(dls_inspector_session_setting(&a, &unknown, &setting, &distance, &err), DLS_EPREDICTOR);
    assert_non_null(strstr(err.msg, "MYGPU"));
    dls_inspector_session_fini(&a);
    dls_hardware_fini(&hw);
    unlink(path);
}

TEST(test_cache)
{
    DLS_OWN(world_fini) world_setup s = {0};
    world_init(&s, "operator", groups, 2, jobs, (size_t)N_JOBS);
    world_open(&s);
    dls_prediction_params p = driple_params(&s);
    dls_error err;
    p.cache_path = cache;
    dls_predictions *cold = predictions_open(&p);
    assert_non_null(strstr(dls_predictions_about(cold).notes, "starting an empty one"));
    predictions_prepare(cold, 0, 4);
    assert_int_equal(dls_predictions_finish(cold, NULL, &err), DLS_OK);
    /* Warm: nothing is asked, the same is said; a new kind is added to what is there. */
    dls_predictions *warm = predictions_open(&p);
    assert_string_equal(dls_predictions_about(warm).notes, "");
    predictions_prepare(warm, 0, 4);
    assert_int_equal(dls_predictions_about(warm).batches, 0);
    assert_int_equal(dls_predictions_about(warm).disk_hits, dls_predictions_about(cold).answers);
    assert_int_equal(dls_predictions_about(warm).nearest, dls_predictions_about(cold).nearest);
    for (int32_t j = 0; j < 4; j++) {
        size_t n;
        const dls_shape *shape = dls_predictions_shapes(warm, j, 0, &n);
        for (size_t i = 0; i < n; i++) {
            dls_prediction x, y;
            dls_predictions_get(cold, j, &shape[i], 1000, &x);
            dls_predictions_get(warm, j, &shape[i], 1000, &y);
            assert_memory_equal(&x, &y, sizeof x);
        }
    }
    predictions_prepare(warm, 4, N_JOBS);
    assert_int_equal(dls_predictions_about(warm).batches, 1);
    assert_int_equal(dls_predictions_finish(warm, NULL, &err), DLS_OK);
    dls_predictions_destroy(warm);
    warm = predictions_open(&p);
    predictions_prepare(warm, 0, N_JOBS);
    assert_int_equal(dls_predictions_about(warm).batches, 0);
    dls_predictions_destroy(warm);
    /* Another table of settings, another exchange: other questions. */
    p.settings_map = "*:*/*=V100-w1";
    warm = predictions_open(&p);
    predictions_prepare(warm, 0, 4);
    assert_int_equal(dls_predictions_about(warm).disk_hits, 0);
    dls_predictions_destroy(warm);
    p.settings_map = NULL;
    p.exchange = "ps-sync";
    warm = predictions_open(&p);
    predictions_prepare(warm, 0, 4);
    assert_int_equal(dls_predictions_about(warm).disk_hits, 0);
    dls_predictions_destroy(warm);
    p.exchange = "allreduce";
    /* Broken: a note, and as without. */
    assert_int_equal(truncate(cache, 100), 0);
    warm = predictions_open(&p);
    assert_non_null(strstr(dls_predictions_about(warm).notes, "cut off"));
    predictions_prepare(warm, 0, 4);
    assert_int_equal(dls_predictions_about(warm).disk_hits, 0);
    assert_int_equal(dls_predictions_finish(warm, NULL, &err), DLS_OK);
    dls_predictions_destroy(warm);
    dls_predictions_destroy(cold);
    unlink(cache);
}

/* What was recorded under one table of settings is not replayed under another. */
TEST(test_recorded_map)
{
    static const char *const maps[] = {NULL, "*:*/*=V100-w1", "*:*/*=V100-w1; *:1/1=V100-w1"};
    DLS_OWN(world_fini) world_setup s = {0};
    dls_error err;
    const int32_t job = 0;
    world_init(&s, "operator", groups, 2, jobs, (size_t)N_JOBS);
    world_open(&s);
    for (int i = 0; i < 3; i++) {
        dls_prediction_params p = driple_params(&s);
        p.settings_map = maps[i];
        p.record_path = cache;
        dls_predictions *f = predictions_open(&p);
        predictions_prepare(f, 0, N_JOBS);
        assert_int_equal(dls_predictions_finish(f, NULL, &err), DLS_OK);
        dls_predictions_destroy(f);
        p.record_path = NULL;
        p.replay_path = cache;
        for (int k = 0; k < 3; k++) {
            p.settings_map = maps[k];
            f = predictions_open(&p);
            assert_int_equal(dls_predictions_prepare(f, &job, 1, &err),
                             k == i ? DLS_OK : DLS_EINPUT);
            assert_true(k == i || k == 0 || strstr(err.msg, "under this predictor.settings_map"));
            dls_predictions_destroy(f);
        }
    }
    unlink(cache);
}

static void refused(dls_prediction_params *p, dls_status want, const char *says)
{
    dls_predictions *f;
    dls_error err;
    assert_int_equal(dls_predictions_create(p, &f, &err), want);
    if (!strstr(err.msg, says)) {
        fail_msg("\"%s\" does not say \"%s\"", err.msg, says);
    }
}

TEST(test_bad_weights)
{
    DLS_OWN(world_fini) world_setup s = {0};
    world_init(&s, "operator", groups, 2, jobs, (size_t)N_JOBS);
    world_open(&s);
    dls_prediction_params p = driple_params(&s);
    p.weights = "/nowhere.h5";
    refused(&p, DLS_EINPUT, "o such file");
    p.weights = cache;
    tiny_inspector(cache, settings, N_SETTINGS, ARCH, "", 12);
    refused(&p, DLS_EPREDICTOR, "which features");
    tiny_inspector(cache, settings, N_SETTINGS, ARCH, "{\"grouping\": 7}", 12);
    refused(&p, DLS_EINPUT, "");
    tiny_inspector(cache, settings, N_SETTINGS, "hidden=16 n_features=3", NULL, 12);
    refused(&p, DLS_EPREDICTOR, "3 features, but their description has 15");
    tiny_inspector(cache, settings, 0, ARCH, NULL, 12);
    refused(&p, DLS_EPREDICTOR, "no settings");
    p.weights = weights;
    p.settings_map = "V100";
    refused(&p, DLS_ECONFIG, "GPU:GPUS/NODES=SETTING");
    unlink(cache);
}

static int make_folder(void **state)
{
    if (!mkdtemp(folder)) {
        return -1;
    }
    snprintf(weights, sizeof weights, "%s/weights.h5", folder);
    snprintf(cache, sizeof cache, "%s/cache", folder);
    tiny_inspector(weights, settings, N_SETTINGS, ARCH, NULL, 12);
    return 0;
}

static int drop_folder(void **state)
{
    unlink(weights);
    return rmdir(folder);
}

GROUP(make_folder, drop_folder)
