/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Profiles of layers: what a layer becomes, files that are wrong, and the study that leaves a
 * family out, on layers whose times follow a rule; the published profiles where they are there.
 */

#include "base/alloc.h"
#include "predictor/baselines/layer_study.h"
#include "support/must.h"
#include "support/refuse.h"
#include "support/scratch.h"
#include "support/shared.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH "test_layer_profile.txt"

/* Batch 2; 224 x 224 x 3 -> 112 x 112 x 8 -> normalised -> 8 x 8 x 8 -> 10 classes. */
static const char good[] =
    "node2 -- Conv2d(3, 8, kernel_size=(5, 3), stride=(2, 2), padding=(1, 1)) -- "
    "forward_compute_time=1.500, backward_compute_time=2.500, activation_size=802816.000, "
    "parameter_size=1.0\n"
    "node1 -- Input -- forward_compute_time=635.902, backward_compute_time=0.000, "
    "activation_size=1204224.000, parameter_size=0.000\n"
    "node3 -- BatchNorm2d(8, eps=1e-05) -- forward_compute_time=0.25, backward_compute_time=0.25, "
    "activation_size=802816.0, parameter_size=0.000\n"
    "node4 -- Dropout(p=0.5) -- forward_compute_time=0.0, backward_compute_time=0.0, "
    "activation_size=802816.0, parameter_size=0.000\n"
    "node5 -- Conv2d(8, 8, kernel_size=(1, 1), stride=(14, 14), groups=4, bias=False) -- "
    "forward_compute_time=1.0, backward_compute_time=1.0, activation_size=4096.0, "
    "parameter_size=0.000\n"
    "node6 -- Linear(in_features=512, out_features=10, bias=True) -- forward_compute_time=0.125, "
    "backward_compute_time=0.125, activation_size=80.000, parameter_size=0.000\n"
    "\tnode1 -- node2\n\tnode2 -- node3\n\tnode3 -- node4\n\tnode4 -- node5\n\tnode5 -- node6\n";

TEST(test_read)
{
    dls_layer_profile p;
    write_file(PATH, good);
    MUST(dls_layer_profile_read(PATH, "tiny", &p, &e));
    assert_true(p.batch == 2);
    assert_string_equal(p.w.name, "tiny");
    assert_int_equal(p.w.n_kernels, 4);
    const dls_kernel *k = p.w.kernel;
    assert_true(p.seconds[0] == 0.004 && p.seconds[1] == 0.0005 && p.seconds[3] == 0.00025);
    assert_int_equal(k[0].m, 2 * 112 * 112);
    assert_int_equal(k[0].n, 8);
    assert_int_equal(k[0].k, 45);
    assert_int_equal(k[0].window.in_h, 224);
    assert_int_equal(k[0].window.kernel_h, 5);
    assert_int_equal(k[0].window.stride, 2);
    assert_true(k[0].flops == 3 * 2.0 * 112 * 112 * 8 * 45);
    assert_true(k[0].moved == 3 * (224.0 * 224 * 3 + 112 * 112 * 8));
    assert_int_equal(k[1].family, DLS_KERNEL_MEMORY);
    assert_int_equal(k[1].op_family, DLS_FAMILY_NORM);
    assert_true(k[1].moved == 4 * 112.0 * 112 * 8);
    assert_int_equal(k[2].count, 4);
    assert_int_equal(k[2].k, 2);
    assert_int_equal(k[2].window.in_h, 112);
    assert_int_equal(k[3].m, 2);
    assert_int_equal(k[3].k, 512);
    dls_layer_profile_fini(&p);
    unlink(PATH);
}

/* good with `from` replaced by `to`. */
static void refused(const char *from, const char *to, const char *why)
{
    char text[sizeof good + 256];
    const char *at = strstr(good, from);
    dls_layer_profile p;
    dls_error err = {0};
    assert_non_null(at);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - good), good, to, at + strlen(from));
    write_file(PATH, text);
    assert_int_equal(dls_layer_profile_read(PATH, "tiny", &p, &err), DLS_EINPUT);
    if (!strstr(err.msg, why) || !strstr(err.where, PATH)) {
        fail_msg("%s: \"%s\" where \"%s\" is expected", err.where, err.msg, why);
    }
}

TEST(test_bad)
{
    refused("forward_compute_time=1.500", "forward_compute_time=nan", "not a layer");
    refused("forward_compute_time=1.500", "forward_compute_time=-1", "not a layer");
    refused("backward_compute_time=2.500", "elsewhere=2.5", "not a layer");
    refused("node2 -- Conv2d", "layer2 -- Conv2d", "not a layer");
    refused("\tnode1 -- node2", "\tnode1 -> node2", "not an edge");
    refused("\tnode1 -- node2", "\tnode1 -- node9", "not there");
    refused("node3 -- BatchNorm2d", "node2 -- BatchNorm2d", "already");
    refused("BatchNorm2d(8, eps=1e-05)", "Oracle(8)", "unknown kind");
    refused("Conv2d(3, 8", "Conv2d(0, 8", "impossible size");
    refused("groups=4", "groups=3", "impossible size");
    refused("groups=4", "groups=0", "impossible size");
    refused("\tnode1 -- node2\n", "", "impossible size"); /* a convolution that reads nothing */
    refused("activation_size=1204224", "activation_size=1204000", "224 or 299");
    refused(good, "", "no layer");
    dls_layer_profile p;
    dls_error err = {0};
    unlink(PATH);
    assert_int_equal(dls_layer_profile_read(PATH, "tiny", &p, &err), DLS_EINPUT);
}

TEST(test_no_memory)
{
    dls_layer_profile p;
    write_file(PATH, good);
    EACH_REFUSED(3, dls_layer_profile_read(PATH, "tiny", &p, NULL));
    dls_layer_profile_fini(&p);
    unlink(PATH);
}

/* ---- leaving a family out -------------------------------------------------------------------- */

static const dls_hw_gpu gpu = {
    .name = "unit", .fp32_flops = 1e13, .mem_bps = 5e11, .mem_bytes = 1e10, .multiprocessors = 50};

#define LAYERS 60

/* Products whose time follows from their sizes in a way that no roofline knows. */
static void make_profile(const char *name, uint64_t entity, dls_kernel *kernel, double *seconds,
                         dls_layer_profile *p)
{
    dls_rng rng = dls_rng_stream(1, DLS_RNG_TEST, entity);
    for (int i = 0; i < LAYERS; i++) {
        const int64_t m = 1 << (4 + dls_rng_below(&rng, 6)), n = 1 << (4 + dls_rng_below(&rng, 6));
        kernel[i] = (dls_kernel){.family = DLS_KERNEL_MATMUL,
                                 .repeats = 1,
                                 .tensor = -1,
                                 .flops = 2.0 * (double)m * (double)n,
                                 .moved = (double)(m + n),
                                 .count = 1,
                                 .m = m,
                                 .n = n,
                                 .k = 64,
                                 .at_batch = 1};
        seconds[i] = 1e-6 * pow((double)m, 0.7) * pow((double)n, 0.4);
    }
    *p = (dls_layer_profile){
        .w = {.kernel = kernel, .n_kernels = LAYERS}, .seconds = seconds, .batch = 1};
    snprintf(p->w.name, sizeof p->w.name, "%s", name);
}

static void count_families(void *user, const char *model)
{
    int *n = user;
    assert_true(strcmp(model, "alpha") == 0 || strcmp(model, "gamma1") == 0 ||
                strcmp(model, "omega") == 0);
    ++*n;
}

TEST(test_study)
{
    static const char *const names[] = {"alpha", "gamma1", "gamma2", "omega"};
    static dls_kernel kernel[4][LAYERS];
    double seconds[4][LAYERS];
    dls_layer_profile profile[4];
    dls_layer_verdict verdict[4];
    dls_error err = {0};
    int families = 0;
    for (uint64_t i = 0; i < 4; i++) {
        make_profile(names[i], i, kernel[i], seconds[i], &profile[i]);
    }
    dls_layer_study_options o = {.profile = profile,
                                 .n = 4,
                                 .gpu = &gpu,
                                 .nets = dls_kernel_nets_default(DLS_LEARNED_JUSTUS),
                                 .begin = count_families,
                                 .user = &families};
    o.nets.width = 16;
    o.nets.depth = 2;
    o.nets.fit.epochs = 200;
    o.nets.fit.batch = 8;
    o.nets.fit.adam.lr = 0.005;
    MUST(dls_layer_study_run(&o, verdict, &e));
    assert_int_equal(families, 3);
    for (int i = 0; i < 4; i++) {
        assert_string_equal(verdict[i].model, names[i]);
        assert_true(fabs(verdict[i].justus_s / verdict[i].measured_s - 1) < 0.1);
        assert_true(verdict[i].justus_layer < 0.15 && verdict[i].roofline_layer > 0.2);
    }
    o.n = 3; /* alpha and gamma are two families */
    assert_int_equal(dls_layer_study_run(&o, verdict, &err), DLS_EINPUT);
    o.n = 0;
    assert_int_equal(dls_layer_study_run(&o, verdict, &err), DLS_EINPUT);
}

/* Published: layers and milliseconds of a step, and that networks which never saw a family predict
 * it better than the roofline. */
TEST(test_published)
{
    static const struct {
        const char *model;
        double batch;
        size_t layers;
        double step_ms;
    } known[] = {{"alexnet", 256, 18, 85.3},        {"densenet121", 64, 368, 326.2},
                 {"inception_v3", 128, 305, 689.0}, {"resnet101", 64, 311, 411.1},
                 {"resnet50", 128, 158, 443.4},     {"squeezenet1_0", 256, 56, 285.4},
                 {"vgg16", 128, 36, 672.5}};
    enum { MODELS = sizeof known / sizeof known[0] };
    const char *shared = getenv("DLSIM_SHARED");
    char path[4096];
    dls_layer_profile profile[MODELS];
    dls_layer_verdict verdict[MODELS];
    const char *const profiles = "data/pipedream_layers/image_classification/profiles";
    SHARED_OR_SKIP(profiles, path);
    for (int i = 0; i < MODELS; i++) {
        snprintf(path, sizeof path, "%s/%s/%s/graph.txt", shared, profiles, known[i].model);
        MUST(dls_layer_profile_read(path, known[i].model, &profile[i], &e));
        double sum = 0;
        for (size_t k = 0; k < profile[i].w.n_kernels; k++) {
            sum += profile[i].seconds[k];
        }
        assert_true(profile[i].batch == known[i].batch);
        assert_int_equal(profile[i].w.n_kernels, known[i].layers);
        assert_true(fabs(1e3 * sum - known[i].step_ms) < 0.06);
    }
    dls_layer_study_options o = {.profile = profile,
                                 .n = MODELS,
                                 .gpu = &gpu,
                                 .nets = dls_kernel_nets_default(DLS_LEARNED_JUSTUS)};
    o.nets.width = 32;
    o.nets.depth = 2;
    o.nets.fit.epochs = 60;
    o.nets.fit.batch = 16;
    MUST(dls_layer_study_run(&o, verdict, &e));
    double justus = 0, roofline = 0;
    for (int i = 0; i < MODELS; i++) {
        justus += verdict[i].justus_layer / MODELS;
        roofline += verdict[i].roofline_layer / MODELS;
        dls_layer_profile_fini(&profile[i]);
    }
    assert_true(justus < 0.6 * roofline);
}
