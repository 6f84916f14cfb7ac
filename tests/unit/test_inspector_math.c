/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The vector functions keep the error bounds that cpu_simd.inc.h states, on every engine here;
 * depth functions and architecture texts.
 */

#include "predictor/driple/arch_text.h"
#include "predictor/driple/cpu_engine.h"
#include "support/test.h"

#include <math.h>
#include <stdio.h>

enum { POINTS = 1 << 16 };
static double x[POINTS], y[POINTS];

static void spread(double limit)
{
    for (int i = 0; i < POINTS; i++) {
        x[i] = (double)(float)(limit * (2.0 * i / (POINTS - 1) - 1));
    }
}

TEST(test_functions)
{
    static const char *const isas[] = {"scalar", "avx2", "avx512"};
    for (int k = 0; k < 3; k++) {
        const dls_cpu_engine *e = dls_cpu_engine_find(DLS_PRECISION_F32, isas[k]);
        if (!e) {
            continue;
        }
        double worst[3] = {0};
        spread(80);
        e->map_exp(x, y, POINTS);
        for (int i = 0; i < POINTS; i++) {
            const double d = fabs(y[i] - exp(x[i])) / exp(x[i]);
            worst[0] = d > worst[0] ? d : worst[0];
        }
        for (int wide = 0; wide < 2; wide++) {
            spread(wide ? 200 : 12);
            e->map_sigmoid(x, y, POINTS);
            for (int i = 0; i < POINTS; i++) {
                const double d = fabs(y[i] - 1 / (1 + exp(-x[i])));
                worst[1] = !(d <= worst[1]) ? d : worst[1];
            }
            e->map_tanh(x, y, POINTS);
            for (int i = 0; i < POINTS; i++) {
                const double d = fabs(y[i] - tanh(x[i]));
                worst[2] = !(d <= worst[2]) ? d : worst[2];
            }
        }
        printf("%s: exp %.2e relative, sigmoid %.2e, tanh %.2e absolute\n", isas[k], worst[0],
               worst[1], worst[2]);
        assert_true(worst[0] <= 2e-7);
        assert_true(worst[1] <= 1.5e-7);
        assert_true(worst[2] <= 2.5e-7);
        /* What is not a number stays so, and infinities reach the limits. */
        double in[16] = {(double)NAN, (double)INFINITY, -(double)INFINITY};
        double out[16];
        e->map_sigmoid(in, out, 16);
        assert_true(isnan(out[0]) && fabs(out[1] - 1) < 1e-6 && fabs(out[2]) < 1e-6);
        e->map_tanh(in, out, 16);
        assert_true(isnan(out[0]) && fabs(out[1] - 1) < 1e-6 && fabs(out[2] + 1) < 1e-6);
    }
}

TEST(test_depth)
{
    static const struct {
        dls_depth depth;
        int32_t n, layers;
    } row[] = {
        {DLS_DEPTH_N, 100, 100},     {DLS_DEPTH_N_OVER_2, 100, 50}, {DLS_DEPTH_N_OVER_2, 7, 3},
        {DLS_DEPTH_N_OVER_2, 1, 1},  {DLS_DEPTH_N_OVER_3, 100, 33}, {DLS_DEPTH_N_OVER_3, 2, 1},
        {DLS_DEPTH_LOG2N, 100, 6},   {DLS_DEPTH_LOG2N, 64, 6},      {DLS_DEPTH_2LOG2N, 100, 13},
        {DLS_DEPTH_3LOG2N, 100, 19}, {DLS_DEPTH_4LOG2N, 100, 26},   {DLS_DEPTH_LOG10N, 100, 2},
        {DLS_DEPTH_LOG10N, 99, 1},   {DLS_DEPTH_3SQRTN, 100, 30},   {DLS_DEPTH_3SQRTN, 99, 29},
        {DLS_DEPTH_LOG30N, 100, 1},  {DLS_DEPTH_LOG30N, 5, 2},      {DLS_DEPTH_LOG30N, 2, 5},
        {DLS_DEPTH_LOG30N, 1, 1},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        dls_arch a = dls_arch_default();
        a.depth = row[i].depth;
        assert_int_equal(dls_arch_layers(&a, row[i].n), row[i].layers);
    }
    const struct {
        double frozen;
        int32_t layers, prefix;
    } shared[] = {{0.5, 50, 25}, {0.5, 1, 1},   {0.5, 2, 1},   {0, 50, 1},
                  {1, 50, 50},   {0.25, 13, 4}, {0.75, 13, 10}};
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++) {
        dls_arch a = dls_arch_default();
        a.frozen = shared[i].frozen;
        assert_int_equal(dls_arch_prefix_layers(&a, shared[i].layers), shared[i].prefix);
    }
}

TEST(test_text)
{
    dls_error e = {0};
    dls_arch a = dls_arch_default();
    char one[DLS_ARCH_TEXT_MAX];
    char two[DLS_ARCH_TEXT_MAX];
    assert_int_equal(dls_arch_parse(&a,
                                    "conv=mpnn hidden=32 depth=3sqrtN aggregators=mean,max,std "
                                    "scalers=identity,linear self_loop=1 avg_d_lin=3.25 gru=0",
                                    &e),
                     DLS_OK);
    assert_int_equal(a.n_aggregators, 3);
    assert_int_equal(a.aggregators[2], DLS_AGG_STD);
    dls_arch b = dls_arch_default();
    dls_arch_format(&a, one);
    assert_int_equal(dls_arch_parse(&b, one, &e), DLS_OK);
    dls_arch_format(&b, two);
    assert_string_equal(one, two);
    static const char *const bad[] = {
        "hiden=3", "hidden=x",     "hidden=1.5", "conv=cnn",     "gru=2",
        "gru",     "aggregators=", "hidden=",    "avg_d_lin=1e", "hidden=1e10"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(dls_arch_parse(&a, bad[i], &e), DLS_EINPUT);
        assert_true(e.msg[0] != '\0');
    }
    static const char *const wrong[] = {"conv=gat hidden=30 gat_heads=4",
                                        "hidden=2",
                                        "shared=0",
                                        "skip=1",
                                        "conv=mpnn towers=3",
                                        "mlp_layers=0"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        a = dls_arch_default();
        assert_int_equal(dls_arch_parse(&a, wrong[i], &e), DLS_OK);
        assert_int_equal(dls_arch_check(&a, &e), DLS_EINPUT);
    }
}
