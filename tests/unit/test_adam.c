/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Steps of Adam worked out by hand: both kinds of weight decay, clipping, frozen parameters.
 */

#include "predictor/driple/arch_text.h"
#include "predictor/training/adam.h"
#include "support/test.h"

#include <math.h>

#define NEAR(a, b) assert_true(fabs((a) - (b)) < 1e-9)

/* Betas of 1/2 and 3/4 and no epsilon, so that two steps can be done on paper. */
static dls_adam_options simple(void)
{
    return (dls_adam_options){.lr = 0.1, .beta1 = 0.5, .beta2 = 0.75};
}

static void start(dls_adam *adam, size_t n, dls_adam_options o)
{
    assert_int_equal(dls_adam_init_values(adam, n, o, NULL), DLS_OK);
}

TEST(test_two_steps)
{
    DLS_OWN(dls_adam_fini) dls_adam adam = {0};
    double value = 2, gradient = 3;
    start(&adam, 1, simple());
    /* m = 1.5, v = 2.25, without their bias 3 and 9: one lr down. */
    dls_adam_step_values(&adam, &value, &gradient, 1);
    NEAR(value, 1.9);
    NEAR(adam.m[0], 1.5);
    NEAR(adam.v[0], 2.25);
    /* m = 0.25, v = 1.9375; of their bias 3/4 and 7/16 are left: 1/3 and 31/7. */
    gradient = -1;
    dls_adam_step_values(&adam, &value, &gradient, 1);
    NEAR(value, 1.9 - 0.1 / 3 / sqrt(31.0 / 7));
    assert_int_equal(adam.t, 2);
}

/* Coupled, half of the value is added to the gradient; decoupled, it shrinks the value by lr / 2
 * and the moments never see it. */
TEST(test_decay)
{
    for (int decoupled = 0; decoupled < 2; decoupled++) {
        DLS_OWN(dls_adam_fini) dls_adam adam = {0};
        dls_adam_options o = simple();
        double value[2] = {2, -4}, gradient[2] = {3, 3};
        o.weight_decay = 0.5;
        o.decoupled = decoupled;
        start(&adam, 2, o);
        dls_adam_step_values(&adam, value, gradient, 2);
        NEAR(adam.m[0], decoupled ? 1.5 : 2);
        NEAR(adam.m[1], decoupled ? 1.5 : 0.5);
        NEAR(adam.v[1], decoupled ? 2.25 : 0.25);
        NEAR(value[0], decoupled ? 1.9 - 0.1 : 1.9);
        NEAR(value[1], decoupled ? -3.8 - 0.1 : -4.1);
    }
}

TEST(test_clipping)
{
    static const double most[] = {0, 1, 5.001, 10};
    for (int i = 0; i < 4; i++) {
        DLS_OWN(dls_adam_fini) dls_adam adam = {0};
        dls_adam_options o = simple();
        double value[2] = {0, 0}, gradient[2] = {3, -4};
        o.clip_norm = most[i];
        start(&adam, 2, o);
        dls_adam_step_values(&adam, value, gradient, 2);
        const double left = most[i] == 1 ? 0.2 : 1; /* of a norm of 5 */
        NEAR(gradient[0], 3 * left);
        NEAR(gradient[1], -4 * left);
        NEAR(adam.m[0], 1.5 * left);
        NEAR(adam.v[1], 4 * left * left);
    }
}

/* Epsilon is beside the root of the moment without its bias, not under it. */
TEST(test_epsilon)
{
    DLS_OWN(dls_adam_fini) dls_adam adam = {0};
    dls_adam_options o = simple();
    double value = 0, gradient = 3;
    o.epsilon = 2;
    start(&adam, 1, o);
    dls_adam_step_values(&adam, &value, &gradient, 1);
    NEAR(value, -0.1 * 3 / (3 + 2));
}

/* The gradient's norm is that of all values, moving or not; only the trained ones move. */
TEST(test_frozen)
{
    dls_arch arch = dls_arch_default();
    DLS_HOLD(dls_inspector_destroy) dls_inspector *insp = NULL;
    DLS_HOLD(dls_trainee_destroy) dls_trainee *net = NULL;
    DLS_OWN(dls_adam_fini) dls_adam adam = {0};
    assert_int_equal(dls_arch_parse(&arch, "hidden=8 gru=0 pool=mean mlp_layers=1", NULL), DLS_OK);
    assert_int_equal(dls_inspector_create(&arch, &insp, NULL), DLS_OK);
    assert_int_equal(dls_inspector_randomise(insp, 3, 0, 1, NULL), DLS_OK);
    assert_int_equal(dls_trainee_create(insp, DLS_SETTING_BASE, DLS_TUNE_MLP, &net, NULL), DLS_OK);
    static double gradient[4096], was[4096];
    assert_true(net->n_values <= 4096);
    for (size_t i = 0; i < net->n_values; i++) {
        gradient[i] = 1;
        was[i] = net->value[i];
    }
    assert_int_equal(dls_adam_init(&adam, net, simple(), NULL), DLS_OK);
    dls_adam_step(&adam, net, gradient);
    size_t trained = 0;
    for (size_t p = 0; p < net->n_params; p++) {
        const dls_param *q = &net->param[p];
        for (size_t i = q->at; i < q->at + (size_t)dls_tensor_len(&q->spec); i++) {
            NEAR(net->value[i], was[i] - (q->trained ? 0.1 : 0));
        }
        trained += q->trained;
    }
    assert_true(trained > 0 && trained < net->n_params);
}
