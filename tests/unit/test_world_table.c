/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Measured throughputs: every format, nearest measurement, bad files, and the world that runs by
 * them. Against the published tables where they are.
 */

#include "support/must.h"
#include "support/scratch.h"
#include "support/world_setup.h"

#include "base/alloc.h"
#include "base/h5.h"
#include "support/refuse.h"
#include "support/shared.h"
#include "world/table.h"

#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#define NEAR(a, b, tolerance) assert_true(fabs((a) / (b)-1) < (tolerance))

static const char *subfolder(const char *name)
{
    mkdir(in_folder(name), 0755);
    return in_folder(name);
}

static dls_speed_table load(const char *path)
{
    dls_speed_table table;
    MUST(dls_table_load(path, &table, &e));
    return table;
}

static dls_table_answer ask(const dls_speed_table *t, const char *model, const char *gpu, int64_t batch,
                            int32_t gpus, int32_t nodes, bool spread)
{
    const dls_kind kind = {.model = model, .names = dls_model_lookup(model)};
    const dls_table_ask q = {.model = dls_table_model(t, &kind),
                             .gpu = dls_table_gpu(t, gpu),
                             .batch = batch,
                             .gpus = gpus,
                             .nodes = nodes,
                             .spread = spread};
    dls_table_answer a;
    assert_true(q.model >= 0 && q.gpu >= 0);
    assert_true(dls_table_find(t, &q, &a));
    return a;
}

static const char gavel[] =
    "{\"v100\": {\"('ResNet-50 (batch size 64)', 1)\": {\"null\": 4.0,"
    "   \"('ResNet-50 (batch size 64)', 1)\": [2.5, 2.5]},"
    "  \"('ResNet-50 (batch size 32)', 1)\": {\"null\": 8.0},"
    "  \"('ResNet-50 (batch size 64)', 4)\": {\"null\": 10.0,"
    "   \"('ResNet-50 (batch size 64)', 4)\": [0.0, 0.0]},"
    "  \"('A3C', 1)\": {\"null\": 5}, \"('Broken', 1)\": {\"null\": 0.0}},"
    " \"v100_unconsolidated\": {\"('ResNet-50 (batch size 64)', 4)\": {\"null\": 5.0}}}";

TEST(test_gavel)
{
    DLS_OWN(dls_table_fini) dls_speed_table t = load(put("gavel.json", gavel));
    assert_int_equal(t.n, 5);
    dls_table_answer a = ask(&t, "resnet50", "V100", 64, 1, 1, false);
    NEAR(a.iteration_s, 0.25, 1e-12);
    NEAR(a.beside_s, 0.4, 1e-12);
    assert_false(a.unmeasured || a.extrapolated);
    NEAR(ask(&t, "ResNet-50", "v100", 64, 4, 1, false).iteration_s, 0.4,
         1e-12); /* 10 a second of 4 */
    NEAR(ask(&t, "ResNet-50", "V100-32GB", 64, 4, 2, true).iteration_s, 0.8, 1e-12);
    assert_true(isinf(ask(&t, "imagenet", "V100", 64, 4, 1, false).beside_s));
    /* Between two batches, beyond them, another number of GPUs. */
    a = ask(&t, "resnet50", "V100", 48, 1, 1, false);
    NEAR(a.iteration_s, 0.5 * (0.125 + 0.25), 1e-12);
    assert_true(a.unmeasured);
    NEAR(ask(&t, "resnet50", "V100", 16, 1, 1, false).iteration_s, 0.0625, 1e-12);
    NEAR(ask(&t, "resnet50", "V100", 128, 1, 1, false).iteration_s, 0.5, 1e-12);
    a = ask(&t, "resnet50", "V100", 64, 8, 1, false);
    NEAR(a.iteration_s, 0.4, 1e-12); /* as long, of twice as many */
    assert_true(a.extrapolated);
    assert_int_equal(dls_table_gpu(&t, "K80"), -1);
}

TEST(test_csv)
{
    subfolder("p");
    subfolder("p/imagenet");
    put("p/imagenet/placements.csv", "placement,local_bsz,step_time,sync_time\n1,20,0.1,0\n"
                                      "12,20,0.3,0.1\n21,20,0.5,0.1\r\n4,20,0.2,0\n");
    put("p/imagenet/scalability.csv",
         "num_nodes,num_replicas,local_bsz,step_time,sync_time\n6,24,20,0.9,0.5\n");
    DLS_OWN(dls_table_fini) dls_speed_table t = load(subfolder("p"));
    NEAR(ask(&t, "resnet50", "T4", 20, 3, 2, true).iteration_s, 0.4, 1e-12); /* the mean of two */
    NEAR(ask(&t, "resnet50", "T4", 20, 4, 1, false).iteration_s, 0.2, 1e-12);
    NEAR(ask(&t, "resnet50", "T4", 20, 24, 6, true).iteration_s, 0.9, 1e-12);
    assert_true(ask(&t, "resnet50", "T4", 20, 24, 3, false).unmeasured);
    assert_true(ask(&t, "resnet50", "T4", 20, 20, 6, false).extrapolated);
    dls_table_fini(&t);
    subfolder("e");
    subfolder("e/throughputs_A100");
    put("e/throughputs_A100/vgg16.csv", "global_batch_size,1,2,4\n64,5,8,nan\n128,2.5,,10\n\n");
    t = load(subfolder("e"));
    assert_int_equal(t.n, 4);
    NEAR(ask(&t, "vgg16", "A100-80GB", 32, 2, 1, false).iteration_s, 0.125, 1e-12);
    NEAR(ask(&t, "vgg16", "A100", 32, 4, 1, false).iteration_s, 0.1, 1e-12);
}

static const char *write_h5(const char *name, int32_t gpus, double seconds, const char *format)
{
    static char path[256];
    const int32_t model[2] = {0, 0}, gpu[2] = {0, 0}, batch[2] = {32, 32}, n[2] = {4, gpus},
                  nodes[2] = {1, 4};
    const double s[2] = {0.1, seconds};
    dls_strdict models = {0}, types = {0};
    int32_t code;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    const hid_t f = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    dls_status ok = dls_strdict_put(&models, "vgg16", 5, &code, NULL);
    ok += dls_strdict_put(&types, "V100", 4, &code, NULL);
    ok += dls_h5_put_text(f, "format", format, NULL);
    ok += dls_h5_put_dict(f, "models", &models, NULL);
    ok += dls_h5_put_dict(f, "gpu_types", &types, NULL);
    const int32_t *const columns[] = {model, gpu, batch, n, nodes};
    static const char *const names[] = {"model", "gpu_type", "batch", "gpus", "nodes"};
    for (int i = 0; i < 5; i++) {
        ok +=
            dls_h5_put_data(f, names[i], H5T_STD_I32LE, H5T_NATIVE_INT32, columns[i], 2, 0, NULL);
    }
    ok += dls_h5_put_data(f, "iteration_s", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, s, 2, 0, NULL);
    assert_int_equal(ok, DLS_OK);
    H5Fclose(f);
    dls_strdict_fini(&models);
    dls_strdict_fini(&types);
    return path;
}

TEST(test_h5)
{
    dls_error err;
    dls_speed_table t = load(write_h5("t.h5", 4, 0.3, "dlsim-throughputs"));
    NEAR(ask(&t, "vgg16", "V100", 32, 4, 4, true).iteration_s, 0.3, 1e-12);
    NEAR(ask(&t, "vgg16", "V100", 32, 4, 1, false).iteration_s, 0.1, 1e-12);
    dls_table_fini(&t);
    assert_int_equal(dls_table_load(write_h5("u.h5", 4, 0.3, "other"), &t, &err), DLS_EINPUT);
    MUST_FAIL(DLS_EINPUT, "row 1",
              dls_table_load(write_h5("v.h5", 0, 0.3, "dlsim-throughputs"), &t, &e));
    assert_int_equal(dls_table_load(write_h5("w.h5", 4, -1, "dlsim-throughputs"), &t, &err),
                     DLS_EINPUT);
}

/* A line may be longer than any buffer. */
TEST(test_long_lines)
{
    char text[9000];
    memset(text, '7', sizeof text);
    memcpy(text, "note,placement,local_bsz,step_time\n", 35);
    memcpy(text + sizeof text - 14, ",2,8,0.25\n\0", 12);
    subfolder("long");
    subfolder("long/bert");
    put("long/bert/placements.csv", text);
    DLS_OWN(dls_table_fini) dls_speed_table t = load(subfolder("long"));
    assert_int_equal(t.n, 1);
    NEAR(ask(&t, "bert", "T4", 8, 2, 1, false).iteration_s, 0.25, 1e-12);
}

/* Sia's files: whose GPUs, the end of their names says; what it does not know is nobody's. */
TEST(test_clusters)
{
    static const struct {
        const char *file, *gpu;
    } of[] = {{"placements", "T4"},           {"placements-rtx", "RTX2080TI"},
              {"placements-quad", "RTX6000"}, {"placements-azure", "V100"},
              {"placements-dgx-ext", "A100"}, {"placements-dgx", NULL}};
    char path[64], text[64];
    subfolder("sia");
    subfolder("sia/bert");
    for (int i = 0; i < 6; i++) {
        snprintf(path, sizeof path, "sia/bert/%s.csv", of[i].file);
        snprintf(text, sizeof text, "local_bsz,step_time,placement\n8,%d,11\n", i + 1);
        put(path, text);
    }
    put("sia/bert/scalability-rtx.csv", "num_nodes,num_replicas,local_bsz,step_time\n3,4,8,9\n");
    DLS_OWN(dls_table_fini) dls_speed_table t = load(subfolder("sia"));
    assert_int_equal(t.n, 6);
    for (int i = 0; of[i].gpu; i++) {
        NEAR(ask(&t, "bert", of[i].gpu, 8, 2, 2, true).iteration_s, i + 1, 1e-12);
    }
    NEAR(ask(&t, "bert", "RTX2080TI", 8, 4, 3, true).iteration_s, 9, 1e-12);
}

TEST(test_bad_files)
{
    static const char *const json[] = {"",
                                       "{\"v100\": ",
                                       "[1]",
                                       "{\"v100\": 3}",
                                       "{\"v100\": {\"ResNet-50\": {}}}",
                                       "{\"v100\": {\"('A', 0)\": {\"null\": 1}}}",
                                       "{\"v100\": {\"('A (batch size x)', 1)\": {\"null\": 1}}}",
                                       "{\"v100\": {\"('A', 1)\": [1]}}",
                                       "{\"v100\": {\"('A', 4294967297)\": {\"null\": 1}}}",
                                       "{\"v100\": {\"('A', 1x)\": {\"null\": 1}}}",
                                       "{\"v100\": {\"('A (batch size 4294967297)', 1)\": {\"null\": 1}}}",
                                       "{\"v100\": {\"('A (batch size 8', 1)\": {\"null\": 1}}}",
                                       "{\"v100\": {\"('A', 1)\": {\"null\": \"fast\"}}}",
                                       "{}"};
    static const char *const csv[] = {"",
                                      "placement,local_bsz\n",
                                      "placement,local_bsz,step_time\n1,2\n",
                                      "placement,local_bsz,step_time\n1,x,0.1\n",
                                      "placement,local_bsz,step_time\n0,4,0.1\n",
                                      "placement,local_bsz,step_time\n1,4,soon\n"};
    dls_speed_table t;
    dls_error err;
    for (size_t i = 0; i < sizeof json / sizeof json[0]; i++) {
        assert_int_equal(dls_table_load(put("bad.json", json[i]), &t, &err), DLS_EINPUT);
        assert_null(t.row);
    }
    subfolder("b");
    assert_int_equal(dls_table_load(subfolder("b"), &t, &err), DLS_EINPUT);
    subfolder("b/bert");
    for (size_t i = 0; i < sizeof csv / sizeof csv[0]; i++) {
        put("b/bert/placements.csv", csv[i]);
        assert_int_equal(dls_table_load(subfolder("b"), &t, &err), DLS_EINPUT);
        assert_non_null(strstr(err.where, i > 0 ? "placements.csv:" : "placements.csv"));
    }
    /* There, though it cannot be opened. */
    const char *path = put("b/bert/placements.csv", "");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink("placements.csv", path), 0);
    put("b/bert/scalability.csv", "num_nodes,num_replicas,local_bsz,step_time\n1,1,8,0.5\n");
    assert_int_equal(dls_table_load(subfolder("b"), &t, &err), DLS_EINPUT);
    assert_non_null(strstr(err.where, "placements.csv"));
    assert_non_null(strstr(err.msg, "symbolic links"));
    subfolder("c");
    subfolder("c/throughputs_T4");
    put("c/throughputs_T4/bert.csv", "global_batch_size,one\n");
    assert_int_equal(dls_table_load(subfolder("c"), &t, &err), DLS_EINPUT);
    put("c/throughputs_T4/bert.csv", "global_batch_size,1\n64\n");
    assert_int_equal(dls_table_load(subfolder("c"), &t, &err), DLS_EINPUT);
    assert_int_equal(dls_table_load("/nonexistent", &t, &err), DLS_EINPUT);
}

static const world_group v100s[] = {{"V100", 4, 4, 0, 10}};

TEST(test_world)
{
    const world_job jobs[] = {{"ResNet-50", 4, 64, 0, 1000},
                              {"ResNet-50", 1, 64, 30, 0},
                              {"unheard-of", 4, 64, 70, 1000},
                              {"A3C", 1, 0, 1, 0},
                              {"ResNet-50", 4, 64, 0, 1000}};
    const dls_rate_change *changed;
    DLS_OWN(world_fini) world_setup s = {0};
    world_init(&s, "table", v100s, 1, jobs, 5);
    s.p.table_path = put("gavel.json", gavel);
    s.p.residual_sigma = s.p.network_residual_sigma = 0.5; /* a measurement carries none */
    world_open(&s);
    assert_int_equal(dls_world_work_us(s.w, 0), 100000000); /* 1000 steps, 10 a second */
    assert_int_equal(dls_world_work_us(s.w, 1), 30000000);
    assert_int_equal(dls_world_work_us(s.w, 2), 70000000);
    assert_int_equal(dls_world_about(s.w).unknown_model_jobs, 1);
    world_start(&s, 0, 0, 0, 4, 1, 0);
    world_start(&s, 2, 0, 0, 4, 1, 1);
    assert_int_equal(world_settle(&s, &changed), 2);
    NEAR((double)changed[0].rate / DLS_RATE_ONE, 0.5, 1e-6); /* spread is half as fast */
    assert_true(changed[1].rate == DLS_RATE_ONE);
    dls_world_link_scale(s.w, 0,
                         0.5); /* twice the exchange, which is nearly all that it waits for */
    assert_int_equal(world_settle(&s, &changed), 1);
    const double packed = 0.1, exposed = 0.2 - packed / 3, hidden = packed * 2 / 3;
    const double exchange = pow(pow(exposed, 4) - pow(hidden, 4), 0.25);
    const double want = packed / 3 + pow(pow(hidden, 4) + pow(2 * exchange, 4), 0.25);
    NEAR(0.1 * DLS_RATE_ONE / (double)changed[0].rate, want, 2e-3);
    /* Two that were measured not to fit beside each other are refused. */
    const dls_seat beside = {15, 0};
    dls_world_stop(s.w, 0);
    world_start(&s, 0, 0, 0, 1, 4, 0);
    assert_false(dls_world_shares(s.w, 4, 0, &beside, 1));
    assert_int_equal(dls_world_start(s.w, 4, 0, &beside, 1, NULL), DLS_EPOLICY);
    dls_world_stop(s.w, 0);
    assert_int_equal(dls_world_start(s.w, 4, 0, &beside, 1, NULL), DLS_OK);
}

TEST(test_pair)
{
    const world_job jobs[] = {{"ResNet-50", 1, 64, 30, 0}, {"ResNet-50", 1, 64, 30, 0}};
    const dls_rate_change *changed;
    DLS_OWN(world_fini) world_setup s = {0};
    world_init(&s, "table", v100s, 1, jobs, 2);
    s.p.table_path = put("gavel.json", gavel);
    world_open(&s);
    world_start(&s, 0, 0, 0, 1, 1, 0);
    world_start(&s, 1, 0, 0, 1, 1, 0);
    assert_int_equal(world_settle(&s, &changed), 2);
    /* Measured 2.5 of 4 steps a second, where utilisations below 1 give at least 1 - 0.31 * 1.2. */
    NEAR((double)changed[0].rate / DLS_RATE_ONE, fmax(0.625, 1 - 0.310 * 1.2), 1e-4);
}

TEST(test_refusals)
{
    const world_job jobs[] = {{"ResNet-50", 4, 64, 10, 0}};
    const world_group k80[] = {{"K80", 1, 4, 0, 10}};
    DLS_OWN(world_fini) world_setup s = {0};
    dls_error err;
    world_init(&s, "table", v100s, 1, jobs, 1);
    assert_int_equal(dls_world_create(&s.p, &s.w, &err), DLS_ECONFIG);
    s.p.table_path = "/nonexistent";
    assert_int_equal(dls_world_create(&s.p, &s.w, &err), DLS_EINPUT);
    world_fini(&s);
    world_init(&s, "table", k80, 1, jobs, 1);
    s.p.table_path = put("gavel.json", gavel);
    MUST_FAIL(DLS_ECONFIG, "v100", dls_world_create(&s.p, &s.w, &e));
}

static const char *shared(const char *path)
{
    static char full[1024];
    SHARED_OR_SKIP(path, full);
    return full;
}

/* Consolidated and spread speeds of the world are Gavel's measured ones: the ratios of ResNet-50,
 * Transformer, LM and ResNet-18 on V100 and P100. */
TEST(test_published_gavel)
{
    static const struct {
        const char *model;
        int64_t batch;
        double v100[3], p100[3]; /* 2, 4, 8 GPUs */
    } want[] = {{"ResNet-50", 64, {.867, 1.178, 1.142}, {1.016, 1.019, 1.037}},
                {"Transformer", 64, {.441, .538, .343}, {.698, .677, .761}},
                {"LM", 20, {.230, .301, .118}, {.527, .436, .564}},
                {"ResNet-18", 64, {.425, .401, .247}, {.615, .536, .565}}};
    const world_group groups[] = {{"V100", 8, 8, 0, 10}, {"P100", 8, 8, 0, 10}};
    const char *path = shared("data/gavel/simulation_throughputs.json");
    world_job jobs[12];
    DLS_OWN(world_fini) world_setup s = {0};
    for (int i = 0; i < 12; i++) {
        jobs[i] = (world_job){want[i / 3].model, 2 << (i % 3), want[i / 3].batch, 1, 0};
    }
    world_init(&s, "table", groups, 2, jobs, 12);
    s.p.table_path = path;
    world_open(&s);
    for (int32_t j = 0; j < 12; j++) {
        for (int32_t type = 0; type < 2; type++) {
            const dls_rate_change *changed;
            const int32_t g = jobs[j].gpus;
            double rate[2];
            for (int spread = 0; spread < 2; spread++) {
                world_start(&s, j, type, 8 * type, spread ? 2 : 1, spread ? g / 2 : g, 0);
                assert_int_equal(world_settle(&s, &changed), 1);
                rate[spread] = (double)changed[0].rate;
                dls_world_stop(s.w, j);
            }
            const double got = rate[1] / rate[0];
            const double exact = (type ? want[j / 3].p100 : want[j / 3].v100)[j % 3];
            if (fabs(got - exact) > 0.0006) {
                fail_msg("%s x %d on %s: %.4f instead of %.3f", jobs[j].model, g, groups[type].gpu,
                         got, exact);
            }
        }
    }
    assert_int_equal(dls_world_about(s.w).unmeasured_shapes, 0);
}

TEST(test_published_folders)
{
    DLS_OWN(dls_table_fini) dls_speed_table t = load(shared("data/pollux_aws_t4"));
    assert_int_equal(t.models.n, 6);
    /* VGG is not there; ResNet-50 with 4 GPUs takes longer over four nodes than in one. */
    const double one = ask(&t, "imagenet", "T4", 40, 4, 1, false).iteration_s;
    const double four = ask(&t, "imagenet", "T4", 40, 4, 4, true).iteration_s;
    assert_true(four > one && four < 2 * one);
    dls_table_fini(&t);
    t = load(shared("data/elasticflow_a100_t4/scheduler"));
    assert_int_equal(t.gpus.n, 2);
    NEAR(ask(&t, "vgg16", "A100", 16, 4, 1, false).iteration_s, 1 / 14.755024126128259, 1e-12);
}

TEST(test_no_memory)
{
    char path[2][256];
    snprintf(path[0], sizeof path[0], "%s", put("gavel.json", gavel));
    snprintf(path[1], sizeof path[1], "%s", write_h5("t.h5", 4, 0.3, "dlsim-throughputs"));
    for (int i = 0; i < 2; i++) {
        DLS_OWN(dls_table_fini) dls_speed_table t = {0};
        EACH_REFUSED(5, dls_table_load(path[i], &t, NULL));
    }
}

GROUP(make_folder, drop_folder)
