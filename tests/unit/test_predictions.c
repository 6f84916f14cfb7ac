/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Predictions: candidate shapes, the table of answers, the oracle and its noisy twin, the operator
 * model, and what is wrong with any of these.
 */
#include "predictions_util.h"

#include "base/alloc.h"
#include "dlsim/predictor.h"
#include "predictor/sources/candidates.h"
#include "predictor/sources/from_solo.h"
#include "predictor/sources/gpu_memory.h"
#include "predictor/sources/keep.h"
#include "support/must.h"
#include "support/refuse.h"
#include "workload/operator/comm.h"
#include "workload/operator/model.h"

#include <math.h>

#define NEAR(a, b, tolerance) assert_true(fabs((a) / (b)-1) < (tolerance))

/* ---- candidates ------------------------------------------------------------------------------ */

static void check_shape(const dls_shape *s, int32_t type, int32_t nodes, int32_t racks)
{
    assert_int_equal(s->type, type);
    assert_int_equal(s->n_nodes, nodes);
    assert_int_equal(s->n_racks, racks);
}

TEST(test_candidates)
{
    dls_cluster_spec cluster;
    dls_candidates c;
    dls_shape shape[DLS_TYPES_MAX * DLS_SPREADS];
    world_cluster(&cluster, groups, 2);
    dls_candidates_init(&c, &cluster);
    /* 8 V100: 2 nodes of 4; 4; a rack has 4 as well; all 8 over both racks. 8 A100: one node, two,
     * four, which are all, in the one rack there is. */
    assert_int_equal(dls_candidates_list(&c, 8, 3, 16, shape), 6);
    check_shape(&shape[0], 0, 2, 1);
    check_shape(&shape[1], 1, 1, 1);
    check_shape(&shape[2], 0, 4, 1);
    check_shape(&shape[3], 1, 2, 1);
    check_shape(&shape[4], 0, 8, 2);
    check_shape(&shape[5], 1, 4, 1);
    assert_int_equal(shape[4].gpus, 8);
    /* Fewer are asked for: the first of each type stay. */
    assert_int_equal(dls_candidates_list(&c, 8, 3, 2, shape), 2);
    check_shape(&shape[1], 1, 1, 1);
    /* One GPU is one node, wherever. */
    assert_int_equal(dls_candidates_list(&c, 1, 3, 16, shape), 2);
    assert_int_equal(dls_candidates_list(&c, 1, 2, 16, shape), 1);
    check_shape(&shape[0], 1, 1, 1);
    /* More than a type, or the cluster, has; a whole type. */
    assert_int_equal(dls_candidates_list(&c, 33, 3, 16, shape), 0);
    assert_int_equal(dls_candidates_list(&c, 32, 1, 16, shape), 1);
    check_shape(&shape[0], 0, 8, 2);
    assert_int_equal(dls_candidates_list(&c, 8, 0, 16, shape), 0);
    free(cluster.groups);
    const dls_shape a = {0, 8, 1, 1}, b = {0, 8, 4, 1}, d = {0, 8, 4, 2}, e = {1, 8, 4, 1};
    assert_true(dls_shape_distance(&a, &a) == 0 && dls_shape_distance(&a, &b) == 2);
    assert_true(dls_shape_distance(&b, &d) == 0.5 && isinf(dls_shape_distance(&b, &e)));
}

/* ---- sources --------------------------------------------------------------------------------- */

TEST(test_oracle)
{
    DLS_OWN(world_fini) world_setup s = {0};
    open_world(&s);
    dls_prediction_params p = predictions_params(&s, "oracle");
    p.sized = false; /* memory as the truth counts it */
    DLS_HOLD(dls_predictions_destroy) dls_predictions *f = predictions_open(&p);
    predictions_prepare(f, 0, N_JOBS);
    for (int32_t j = 0; j < N_JOBS; j++) {
        size_t n;
        const dls_shape *shape = dls_predictions_shapes(f, j, 0, &n);
        double last = 0;
        assert_true((n > 0) == (j != 5)); /* a model that nobody knows */
        for (size_t i = 0; i < n && j != 5; i++) {
            const dls_solo solo =
                world_solo(&s, j, shape[i].type, shape[i].gpus, shape[i].n_nodes, shape[i].n_racks);
            dls_prediction out;
            dls_predictions_get(f, j, &shape[i], 7000000, &out);
            assert_true(out.iteration_s == solo.iteration_s && out.distance == 0);
            NEAR(out.remaining_s, 7 * solo.iteration_s / dls_world_reference_s(s.w, j), 1e-12);
            assert_true(out.iteration_s >= last);
            last = out.iteration_s;
            NEAR(out.metric[DLS_GPU_IDLE] + out.metric[DLS_GPU_ACTIVE], out.iteration_s, 1e-6);
            NEAR(out.metric[DLS_NET_TX_IDLE] + out.metric[DLS_NET_TX_ACTIVE], out.iteration_s,
                 1e-6);
            NEAR(out.metric[DLS_GPU_ACTIVE] / out.iteration_s, solo.gpu_util, 1e-6);
            if (shape[i].n_nodes > 1) {
                NEAR(out.link_bps * out.metric[DLS_NET_TX_ACTIVE], solo.link_bytes, 1e-5);
                assert_true(out.link_bps <= solo.line_bps * 1.000001);
            } else {
                assert_true(!(out.link_bps > 0) && !(out.metric[DLS_NET_TX_ACTIVE] > 0));
            }
            NEAR(out.mem_bytes, solo.mem_bytes, 1e-6);
        }
    }
    /* VGG loses by spreading, ResNet hardly. */
    const double vgg = predictions_get(f, 0, 0, 8, 8, 2).iteration_s /
                       predictions_get(f, 0, 0, 8, 2, 1).iteration_s;
    assert_true(vgg > 0.9);
    /* The estimate: all of the work on the best shape. */
    size_t n;
    const dls_shape *best = dls_predictions_shapes(f, 0, 0, &n);
    dls_prediction out;
    dls_predictions_get(f, 0, best, dls_world_work_us(s.w, 0), &out);
    NEAR((double)dls_predictions_estimate_us(f, 0), out.remaining_s * 1e6, 1e-6);
    /* A shape that is no candidate: the nearest one of its type; a type that is none: nothing. */
    assert_true(predictions_get(f, 0, 0, 8, 7, 2).iteration_s ==
                predictions_get(f, 0, 0, 8, 8, 2).iteration_s);
    assert_true(predictions_get(f, 0, 0, 8, 7, 2).distance > 0);
    assert_true(isnan(predictions_get(f, 0, 2, 8, 1, 1).iteration_s));
    /* Half the GPUs: unknown until it is asked for, then what the world says, as all else is known.
     */
    assert_true(isnan(predictions_get(f, 0, 0, 4, 1, 1).iteration_s));
    assert_null(dls_predictions_shapes(f, 0, 4, &n));
    for (int again = 0; again < 2; again++) {
        dls_error err;
        assert_int_equal(dls_predictions_prepare_size(f, 0, 4, &err), DLS_OK);
        assert_int_equal(dls_predictions_about(f).batches, 2);
        assert_true(predictions_get(f, 0, 0, 4, 1, 1).iteration_s ==
                    world_solo(&s, 0, 0, 4, 1, 1).iteration_s);
        assert_non_null(dls_predictions_shapes(f, 0, 4, &n));
        assert_true(predictions_get(f, 0, 0, 8, 2, 1).iteration_s ==
                    world_solo(&s, 0, 0, 8, 2, 1).iteration_s);
    }
    /* Nobody knows the model: everywhere as at the reference, no more said. */
    const dls_prediction mystery = predictions_get(f, 5, 0, 4, 1, 1);
    assert_true(isnan(mystery.iteration_s) && isnan(mystery.remaining_s));
    assert_true(isnan(mystery.mem_bytes));
    const dls_predictions_stats st = dls_predictions_about(f);
    assert_int_equal(st.batches, 2);
    assert_int_equal(st.kinds, 5);
    assert_int_equal(st.unknown_kinds, 1);
    assert_null(dls_predictions_shapes(f, 5, 0, &n)); /* its candidates are no questions */
    assert_true(st.answers > 0 && st.answers < st.questions);
    assert_int_equal(st.nearest + st.fallbacks + st.disk_hits, 0);
    /* Asked again, and for a job of a row that is known: from the table. */
    predictions_prepare(f, 0, 3);
    assert_int_equal(dls_predictions_about(f).batches, 2);
    assert_true(dls_predictions_about(f).cache_hits > st.cache_hits);
}

/* 4 GB over a link of 2 GB/s take 2 s, whatever is set up before and whatever they hide behind; faster where the
 * iteration is shorter. */
TEST(test_send_rate_by_hand)
{
    static const struct {
        double iteration_s, overlap_s, fixed_s, bytes, line_bps, burst_s, rate_bps;
    } row[] = {{10, 1, 0.5, 4e9, 2e9, 2, 2e9}, {10, 5, 0.5, 4e9, 2e9, 2, 2e9}, {10, 0, 0, 4e9, 2e9, 2, 2e9},
               {1, 0, 0.5, 4e9, 2e9, 1, 4e9},  {10, 1, 0.5, 0, 2e9, 0, 0},     {10, 1, 0.5, 4e9, 0, 0, 0}};
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        const dls_solo solo = {.iteration_s = row[i].iteration_s,
                               .overlap_s = row[i].overlap_s,
                               .fixed_s = row[i].fixed_s,
                               .link_bytes = row[i].bytes,
                               .line_bps = row[i].line_bps,
                               .gpu_util = 0.25,
                               .mem_util = 0.1};
        dls_prediction f = {0};
        dls_prediction_of_solo(&solo, &f);
        assert_true(f.link_bps == row[i].rate_bps);
        for (int to = 0; to < 2; to++) {
            const int idle = to ? DLS_NET_TX_IDLE : DLS_NET_RX_IDLE;
            assert_true(f.metric[idle] == row[i].iteration_s - row[i].burst_s);
            assert_true(f.metric[idle + 1] == row[i].burst_s);
            assert_true(f.metric[idle + 2] == row[i].rate_bps);
        }
        assert_true(f.metric[DLS_GPU_ACTIVE] == row[i].iteration_s / 4);
        NEAR(f.metric[DLS_GPU_MEM_PEAK], 0.4, 1e-12);
    }
}

/* What a node sends in an iteration: its part of a ring, 2 (n - 1) / n of the gradients; to servers
 * on every node, gradients and weights of its own workers to and from the other nodes, or those of
 * all other workers if its server holds the greatest tensor. */
TEST(test_bytes_by_hand)
{
    DLS_OWN(dls_workload_fini) dls_workload vgg = {0};
    assert_int_equal(dls_workload_build("vgg16", &vgg, NULL), DLS_OK);
    const double bytes = 4 * vgg.params, hot = dls_ps_hot_bytes(vgg.tensor, vgg.n_tensors, 2);
    for (int k = 0; k < 2; k++) {
        DLS_OWN(world_fini) world_setup s = {0};
        world_init(&s, "operator", groups, 2, jobs, (size_t)N_JOBS);
        s.p.exchange = k ? "ps-sync" : "allreduce";
        world_open(&s);
        dls_prediction_params p = predictions_params(&s, "operator");
        p.exchange = s.p.exchange;
        DLS_HOLD(dls_predictions_destroy) dls_predictions *f = predictions_open(&p);
        predictions_prepare(f, 0, 1);
        const dls_prediction two = predictions_get(f, 0, 0, 8, 2, 1),
                             eight = predictions_get(f, 0, 0, 8, 8, 2),
                             one = predictions_get(f, 0, 1, 8, 1, 1);
        const double sent = two.link_bps * two.metric[DLS_NET_TX_ACTIVE];
        NEAR(sent, k ? 2 * fmax(4 * bytes / 2, 4 * hot) : bytes, 1e-6);
        if (k == 0) {
            NEAR(eight.link_bps * eight.metric[DLS_NET_TX_ACTIVE], 1.75 * bytes, 1e-6);
        }
        assert_true(one.link_bps == 0);
    }
}

/* One batch for all jobs of a pass or one for each: the same answers. */
TEST(test_one_by_one)
{
    DLS_OWN(world_fini) world_setup s = {0};
    open_world(&s);
    const dls_prediction_params p = predictions_params(&s, "operator");
    dls_predictions *all = predictions_open(&p), *each = predictions_open(&p);
    predictions_prepare(all, 0, N_JOBS);
    for (int32_t j = N_JOBS - 1; j >= 0; j--) {
        predictions_prepare(each, j, j + 1);
    }
    same_answers(all, each, N_JOBS);
    dls_predictions_destroy(all);
    dls_predictions_destroy(each);
}

/* What the operator model gets wrong is the residual: in the mean nothing, in spread its sigma. The
 * noisy oracle likewise, with the sigma that was asked for, and the same draw for the same
 * question. */
TEST(test_errors)
{
    static const char *const sources[] = {"operator", "noisy"};
    for (int k = 0; k < 2; k++) {
        double sum = 0, squares = 0;
        int n = 0;
        for (uint64_t seed = 1; seed <= 8; seed++) {
            world_setup s;
            world_init(&s, "operator", groups, 2, jobs, (size_t)N_JOBS);
            s.p.residual_sigma = s.p.network_residual_sigma = 0.2;
            s.p.seed = seed;
            world_open(&s);
            dls_prediction_params p = predictions_params(&s, sources[k]);
            p.sigma = 0.2;
            p.seed = seed;
            dls_predictions *f = predictions_open(&p), *again = predictions_open(&p);
            predictions_prepare(f, 0, N_JOBS);
            predictions_prepare(again, 0, N_JOBS);
            for (int32_t j = 0; j < N_JOBS; j++) {
                for (int32_t type = 0; type < 2; type++) {
                    if (j == 2 || j == 5) {
                        continue; /* a repetition; unknown */
                    }
                    const int32_t gpus = jobs[j].gpus, nodes = gpus == 8 && type == 0 ? 2 : 1;
                    const dls_prediction x = predictions_get(f, j, type, gpus, nodes, 1);
                    const dls_prediction y = predictions_get(again, j, type, gpus, nodes, 1);
                    const double z =
                        log(x.iteration_s / world_solo(&s, j, type, gpus, nodes, 1).iteration_s);
                    assert_true(x.iteration_s == y.iteration_s);
                    sum += z;
                    squares += z * z;
                    n++;
                }
            }
            dls_predictions_destroy(f);
            dls_predictions_destroy(again);
            world_fini(&s);
        }
        assert_true(fabs(sum / n) < 0.08);
        NEAR(sqrt(squares / n), 0.2, 0.3);
    }
}

/* The baselines: right on the GPU that Habitat measured, of the right size elsewhere; Paleo hides
 * no exchange, so it finds spreading dearer than the operator model does. */
TEST(test_baselines)
{
    DLS_OWN(world_fini) world_setup s = {0};
    open_world(&s);
    const dls_prediction_params p = predictions_params(&s, "habitat"),
                                q = predictions_params(&s, "paleo"),
                                o = predictions_params(&s, "operator");
    dls_predictions *habitat = predictions_open(&p), *paleo = predictions_open(&q),
                    *operator= predictions_open(&o);
    predictions_prepare(habitat, 0, N_JOBS);
    predictions_prepare(paleo, 0, N_JOBS);
    predictions_prepare(operator, 0, N_JOBS);
    NEAR(predictions_get(habitat, 4, 0, 1, 1, 1).iteration_s,
         world_solo(&s, 4, 0, 1, 1, 1).iteration_s, 1e-12);
    for (int32_t j = 0; j < N_JOBS; j++) {
        size_t n;
        const dls_shape *shape = dls_predictions_shapes(operator, j, 0, &n);
        for (size_t i = 0; i < n && j != 5; i++) {
            dls_prediction h, a, m;
            dls_predictions_get(habitat, j, &shape[i], 1000, &h);
            dls_predictions_get(paleo, j, &shape[i], 1000, &a);
            dls_predictions_get(operator, j, &shape[i], 1000, &m);
            assert_true(h.iteration_s / m.iteration_s > 0.4 && h.iteration_s / m.iteration_s < 2.5);
            assert_true(a.iteration_s / m.iteration_s > 0.3 && a.iteration_s / m.iteration_s < 3.5);
            assert_true(h.metric[DLS_GPU_ACTIVE] <= h.iteration_s * 1.000001);
            assert_true(h.distance == 0 && a.distance == 0);
        }
    }
    const double paleo_s = predictions_get(paleo, 1, 0, 8, 8, 2).iteration_s -
                           predictions_get(paleo, 1, 0, 8, 2, 1).iteration_s;
    const double operator_s = predictions_get(operator, 1, 0, 8, 8, 2).iteration_s -
                              predictions_get(operator, 1, 0, 8, 2, 1).iteration_s;
    assert_true(paleo_s > operator_s);
    dls_predictions_destroy(habitat);
    dls_predictions_destroy(paleo);
    dls_predictions_destroy(operator);
}

/* ---- what is wrong --------------------------------------------------------------------------- */

TEST(test_bad)
{
    DLS_OWN(world_fini) world_setup s = {0};
    dls_predictions *f;
    dls_error err;
    open_world(&s);
    dls_prediction_params p = predictions_params(&s, "orakle");
    MUST_FAIL(DLS_EINPUT, "did you mean 'oracle'?", dls_predictions_create(&p, &f, &e));
    p.source = "operator";
    p.numeric = "fp99";
    assert_int_equal(dls_predictions_create(&p, &f, &err), DLS_ECONFIG);
    p.numeric = "fp32";
    p.fabric = "string and cans";
    assert_int_equal(dls_predictions_create(&p, &f, &err), DLS_ECONFIG);
}

/* Without a world jobs run as the trace says. */
TEST(test_no_world)
{
    DLS_OWN(world_fini) world_setup s = {0};
    open_world(&s);
    dls_prediction_params p = predictions_params(&s, "operator");
    p.world = NULL;
    DLS_HOLD(dls_predictions_destroy) dls_predictions *f = predictions_open(&p);
    predictions_prepare(f, 0, N_JOBS);
    assert_int_equal(dls_predictions_estimate_us(f, 0), 1000000000);
    p.source = "oracle";
    DLS_HOLD(dls_predictions_destroy) dls_predictions *o = predictions_open(&p);
    predictions_prepare(o, 0, N_JOBS);
    assert_true(predictions_get(o, 0, 0, 8, 8, 2).remaining_s == 1000);
}

/* What somebody measured, a step of all GPUs; a model that is not in it is at the reference. */
TEST(test_table)
{
    static const char text[] =
        "{\"V100\": {\"('vgg16 (batch size 32)', 8)\": {\"null\": 16},"
        " \"('vgg16 (batch size 64)', 8)\": {\"null\": 10}}, \"A100\": {\"('vgg16 (batch size "
        "32)', 8)\": {\"null\": 80}},"
        " \"V100_unconsolidated\": {\"('vgg16 (batch size 32)', 8)\": {\"null\": 2}}}";
    DLS_OWN(world_fini) world_setup s = {0};
    dls_predictions *f;
    open_world(&s);
    dls_prediction_params p = predictions_params(&s, "table");
    assert_int_equal(dls_predictions_create(&p, &f, NULL), DLS_ECONFIG);
    p.table = file;
    assert_int_equal(dls_predictions_create(&p, &f, NULL), DLS_EINPUT);
    FILE *out = fopen(file, "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
    f = predictions_open(&p);
    predictions_prepare(f, 0, N_JOBS);
    NEAR(predictions_get(f, 0, 0, 8, 2, 1).iteration_s, 0.5, 1e-12);
    NEAR(predictions_get(f, 0, 0, 8, 8, 2).iteration_s, 4, 1e-12);
    NEAR(predictions_get(f, 0, 1, 8, 1, 1).iteration_s, 0.1, 1e-12);
    NEAR(predictions_get(f, 3, 0, 8, 2, 1).iteration_s, 0.8, 1e-12);
    NEAR(predictions_get(f, 1, 0, 8, 2, 1).iteration_s, dls_world_reference_s(s.w, 1), 1e-12);
    assert_true(dls_predictions_about(f).fallbacks > 0);
    dls_predictions_destroy(f);
    unlink(file);
}

/* Memory as PyTorch holds it, whoever says the time; all results of the graph for the truth's
 * version. */
TEST(test_memory)
{
    dls_kind kind = {.names = dls_model_lookup("densenet121"), .batch = 32};
    double bytes[2];
    for (int eager = 0; eager < 2; eager++) {
        DLS_OWN(dls_gpu_memory_fini) dls_gpu_memory m = {.runner = eager ? DLS_RUN_EAGER : DLS_RUN_GRAPH};
        DLS_OWN(dls_workload_fini) dls_workload w = {0};
        dls_model_names names = kind.names;
        names.runner = m.runner;
        assert_int_equal(dls_gpu_memory_of(&m, &kind, &bytes[eager], NULL), DLS_OK);
        assert_int_equal(dls_model_workload(&names, DLS_NUMERIC_FP32, &w, NULL), DLS_OK);
        NEAR(bytes[eager], dls_step_memory_bytes(&w, DLS_NUMERIC_FP32, 32), 1e-9);
    }
    assert_true(bytes[1] < bytes[0]);
    const dls_kind usual = {.names = dls_model_lookup("vit_base"), .batch = 32};
    const dls_kind large = {.names = dls_model_lookup("vit_base_patch16_384"), .batch = 32};
    DLS_OWN(dls_gpu_memory_fini) dls_gpu_memory m = {.runner = DLS_RUN_EAGER};
    assert_int_equal(dls_gpu_memory_of(&m, &usual, &bytes[0], NULL), DLS_OK);
    assert_int_equal(dls_gpu_memory_of(&m, &large, &bytes[1], NULL), DLS_OK);
    assert_true(bytes[1] > 1.5 * bytes[0]);
    /* What is said of its program goes before a model's name, and another's says nothing. */
    const dls_kind said = {.model = "yolo", .names = usual.names, .batch = 32};
    const dls_kind other = {.model = "vit", .names = usual.names, .batch = 32};
    const dls_kind half = {.names = large.names, .batch = 32};
    DLS_OWN(dls_gpu_memory_fini)
    dls_gpu_memory told = {.runner = DLS_RUN_EAGER, .software = "yolo: fp16 zoo=vit_base image=384"};
    DLS_OWN(dls_gpu_memory_fini)
    dls_gpu_memory in_16 = {.runner = DLS_RUN_EAGER, .numeric = DLS_NUMERIC_FP16};
    double of[3];
    assert_int_equal(dls_gpu_memory_of(&told, &said, &of[0], NULL), DLS_OK);
    assert_int_equal(dls_gpu_memory_of(&told, &other, &of[1], NULL), DLS_OK);
    assert_int_equal(dls_gpu_memory_of(&in_16, &half, &of[2], NULL), DLS_OK);
    NEAR(of[0], of[2], 1e-9);
    NEAR(of[1], bytes[0], 1e-9);
    told.software = "yolo: torch";
    assert_int_equal(dls_gpu_memory_of(&told, &said, &of[0], NULL), DLS_ECONFIG);
}

TEST(test_failing_memory)
{
    static const char *const sources[] = {"noisy", "habitat"};
    DLS_OWN(world_fini) world_setup s = {0};
    open_world(&s);
    for (int k = 0; k < 2; k++) {
        bool whole = false;
        for (int i = 0; !whole; i += 1 + i / 40) {
            dls_prediction_params p = predictions_params(&s, sources[k]);
            DLS_HOLD(dls_predictions_destroy) dls_predictions *f = NULL;
            const int32_t ask[] = {0, 1, 6};
            int left = i;
            p.record_path = file;
            dls_alloc_set_hook(refuse, &left);
            dls_status status = dls_predictions_create(&p, &f, NULL);
            if (status == DLS_OK) {
                status = dls_predictions_prepare(f, ask, 3, NULL);
            }
            if (status == DLS_OK) {
                status = dls_predictions_finish(f, NULL, NULL);
            }
            dls_alloc_set_hook(NULL, NULL);
            whole = status == DLS_OK && left >= 0;
            assert_true(whole || left < 0);
        }
    }
    unlink(file);
}

GROUP(make_folder, drop_folder)
