/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Training against the published implementation: outputs, loss, every gradient and the gradient of
 * the features to 1e-8 of its largest element, and ten steps of Adam in three configurations, in
 * float64; float32 of every instruction set to its precision.
 */

#define OWN_MAIN
#include "base/h5.h"
#include "base/alloc.h"
#include "dlsim/predictor.h"
#include "predictor/driple/h5io.h"
#include "predictor/driple/weights.h"
#include "predictor/training/adam.h"
#include "predictor/training/stepper.h"
#include "support/must.h"
#include "support/shared.h"
#include "tests/inspector_golden.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { GRAPHS = 8, NODES = 20, FEATURES = 3, STEPS = 10 };

static char path[1200];
static dls_graph_reader *reader;
static const dls_graph *graphs;
static double target[GRAPHS][DLS_METRICS];

static size_t read_into(const char *name, double *to, size_t most)
{
    hid_t file; /* in the same way as the reader */
    assert_int_equal(dls_h5_open(path, &file, NULL), DLS_OK);
    const hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
    if (set < 0) {
        fail_msg("%s: no %s", path, name);
    }
    const hid_t space = H5Dget_space(set);
    const size_t n = (size_t)H5Sget_simple_extent_npoints(space);
    assert_true(n <= most);
    assert_true(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, to) >= 0);
    H5Sclose(space);
    H5Dclose(set);
    H5Fclose(file);
    return n;
}

typedef struct trained {
    dls_inspector *insp;
    dls_trainee *net;
    dls_stepper *stepper;
    dls_step_sample sample[GRAPHS];
    double out[GRAPHS * DLS_METRICS];
    double *gradient;
    dls_batch batch;
} trained;

static void start(trained *t, const char *group, bool f64, const char *isa, dls_tune tune)
{
    char init[64];
    *t = (trained){0};
    snprintf(init, sizeof init, "%s/init", group);
    MUST(dls_inspector_import(path, init, NULL, &t->insp, &e));
    MUST(dls_trainee_create(t->insp, DLS_SETTING_BASE, tune, &t->net, &e));
    const dls_stepper_options o = {.f64 = f64, .isa = isa, .threads = 1};
    MUST(dls_stepper_create(t->net, &o, &t->stepper, &e));
    t->gradient = malloc(t->net->n_values * sizeof *t->gradient);
    assert_non_null(t->gradient);
    for (int i = 0; i < GRAPHS; i++) {
        t->sample[i] = (dls_step_sample){.graph = &graphs[i], .target = target[i]};
    }
    t->batch = (dls_batch){
        .sample = t->sample, .n = GRAPHS, .out = t->out, .gradient = t->gradient};
}

static void stop(trained *t)
{
    dls_stepper_destroy(t->stepper);
    dls_trainee_destroy(t->net);
    dls_inspector_destroy(t->insp);
    free(t->gradient);
}

static double step(trained *t)
{
    double loss = 0;
    MUST(dls_stepper_run(t->stepper, &t->batch, &loss, &e));
    return loss;
}

/* The worst distance of the network's tensors (values or gradients) to those of a group. */
static double worst_tensor(const trained *t, const double *values, const char *group)
{
    static double expected[1 << 16];
    double worst = 0;
    for (size_t i = 0; i < t->net->n_params; i++) {
        const dls_param *p = &t->net->param[i];
        char name[256];
        snprintf(name, sizeof name, "%s/%s", group, p->spec.name);
        const size_t n = read_into(name, expected, sizeof expected / sizeof *expected);
        assert_int_equal(n, dls_tensor_len(&p->spec));
        const double d = golden_distance(values + p->at, expected, n);
        worst = d > worst || isnan(d) ? d : worst;
    }
    return worst;
}

static void gradients(const char *weights, bool f64, const char *isa, double bound)
{
    trained t;
    char group[64];
    char name[128];
    double expected[GRAPHS * DLS_METRICS];
    snprintf(group, sizeof group, "/%s/f64", weights);
    start(&t, group, f64, isa, DLS_TUNE_BASE);
    (void)step(&t);
    snprintf(name, sizeof name, "%s/output", group);
    read_into(name, expected, GRAPHS * DLS_METRICS);
    const double out = golden_distance(t.out, expected, GRAPHS * DLS_METRICS);
    snprintf(name, sizeof name, "%s/grad", group);
    const double grad = worst_tensor(&t, t.gradient, name);
    print_message("%s %s %s: output %.2g, gradients %.2g\n", weights, f64 ? "f64" : "f32",
                  isa ? isa : "scalar", out, grad);
    assert_true(out < bound);
    assert_true(grad < bound);
    stop(&t);
}

TEST(test_gradients_f64)
{
    gradients("pretrained", true, NULL, 1e-8);
    gradients("random", true, NULL, 1e-8);
}

TEST(test_gradients_f32)
{
    static const char *const isas[] = {"scalar", "avx2", "avx512"};
    for (int i = 0; i < 3; i++) {
        if (dls_step_engine_find(false, isas[i])) {
            gradients("pretrained", false, isas[i], 2e-5);
            gradients("random", false, isas[i], 2e-5);
        } else {
            print_message("%s: not on this machine\n", isas[i]);
        }
    }
}

static void trajectory(const char *weights, const char *run, double lr, double decay, dls_tune tune)
{
    trained t;
    char group[64];
    char name[160];
    double losses[STEPS + 1];
    dls_error e = {0};
    snprintf(group, sizeof group, "/%s/f64", weights);
    start(&t, group, true, NULL, tune);
    dls_adam_options o = dls_adam_default();
    o.lr = lr;
    o.weight_decay = decay;
    dls_adam adam;
    assert_int_equal(dls_adam_init(&adam, t.net, o, &e), DLS_OK);
    snprintf(name, sizeof name, "%s/%s/losses", group, run);
    const size_t n = read_into(name, losses, STEPS + 1);
    double worst = 0;
    for (size_t i = 0; i < n; i++) {
        const double loss = step(&t);
        const double d = fabs(loss - losses[i]) / losses[i];
        worst = d > worst || isnan(d) ? d : worst;
        if (i < STEPS) {
            dls_adam_step(&adam, t.net, t.gradient);
            dls_stepper_load(t.stepper);
        }
    }
    snprintf(name, sizeof name, "%s/%s/params", group, run);
    const double params = worst_tensor(&t, t.net->value, name);
    print_message("%s %s: losses %.2g, parameters after %d steps %.2g\n", weights, run, worst,
                  STEPS, params);
    assert_true(worst < 1e-8);
    assert_true(params < 1e-7);
    dls_adam_fini(&adam);
    stop(&t);
}

TEST(test_adam)
{
    static const char *const weights[] = {"pretrained", "random"};
    for (int i = 0; i < 2; i++) {
        trajectory(weights[i], "adam_lr3e-3_wd1e-6", 3e-3, 1e-6, DLS_TUNE_BASE);
        trajectory(weights[i], "adam_lr1e-3_wd0", 1e-3, 0, DLS_TUNE_BASE);
        trajectory(weights[i], "adam_lr1e-3_wd1e-2", 1e-3, 1e-2, DLS_TUNE_BASE);
    }
}

/* What the published fine-tuning really does: the MLP alone. */
TEST(test_published_transfer)
{
    trajectory("pretrained", "tl_code_mlp_only", 3e-3, 1e-6, DLS_TUNE_MLP);
}

int main(void)
{
    if (!shared_path("golden/driple/driple_grad.h5", path, sizeof path)) {
        return 77;
    }
    dls_error e = {0};
    dls_group_shape shape;
    if (dls_graph_reader_open(path, &reader, &e) != DLS_OK ||
        dls_graph_reader_shape(reader, 0, &shape, &e) != DLS_OK || shape.n_graphs != GRAPHS ||
        shape.n_nodes != NODES ||
        dls_graph_reader_read(reader, 0, &shape, 0, GRAPHS, &graphs, &e) != DLS_OK) {
        fprintf(stderr, "%s\n", e.msg);
        return 1;
    }
    read_into("/y", &target[0][0], GRAPHS * DLS_METRICS);
    const int failed = run_listed();
    dls_graph_reader_close(reader);
    return failed;
}
