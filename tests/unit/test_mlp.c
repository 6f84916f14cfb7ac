/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The small networks of learned baselines: what they compute, their gradient against differences,
 * learning by heart, the same bits from the same seed, bad rows, failed allocations.
 */

#include "base/alloc.h"
#include "base/rng.h"
#include "predictor/baselines/mlp.h"
#include "support/must.h"
#include "support/refuse.h"

#include <math.h>
#include <string.h>

#define N_IN 3

static dls_mlp network(int32_t width, int32_t depth, uint64_t seed)
{
    dls_mlp m;
    dls_error err = {0};
    const dls_mlp_shape shape = {N_IN, width, depth};
    assert_int_equal(dls_mlp_create(shape, &m, &err), DLS_OK);
    dls_mlp_draw(&m, seed, 0);
    return m;
}

typedef struct rows {
    double x[200 * N_IN], y[200];
} rows;

/* y = x0 - 2 |x1| + 0.1, the last input a constant. */
static dls_mlp_rows draw_rows(rows *r, size_t n, uint64_t entity)
{
    dls_rng rng = dls_rng_stream(1, DLS_RNG_TEST, entity);
    for (size_t i = 0; i < n; i++) {
        r->x[i * N_IN] = dls_rng_normal(&rng);
        r->x[i * N_IN + 1] = 5 + 10 * dls_rng_normal(&rng);
        r->x[i * N_IN + 2] = 7;
        r->y[i] = r->x[i * N_IN] - 0.2 * fabs(r->x[i * N_IN + 1] - 5) + 0.1;
    }
    return (dls_mlp_rows){r->x, r->y, n};
}

/* One hidden layer of two units by hand. */
TEST(test_forward)
{
    const double values[] = {1,   -1,  2, 0, 0, 3, /* [3][2] */
                             0.5, -1,              /* biases */
                             10,  100,             /* [2][1] */
                             7};
    const double x[] = {1, 1, 1, /* 3.5 and 1 */ 0, 0, 0, /* 0.5 and -1 */ -5, 2, 9 /* 0 and 31 */};
    double out[3];
    DLS_OWN(dls_mlp_fini) dls_mlp m = network(2, 1, 1);
    assert_int_equal(m.n_values, sizeof values / sizeof values[0]);
    memcpy(m.value, values, sizeof values);
    assert_int_equal(dls_mlp_run(&m, x, 3, out, NULL), DLS_OK);
    assert_true(out[0] == 7 + 35 + 100);
    assert_true(out[1] == 7 + 5);
    assert_true(out[2] == 7 + 0 + 3100);
    m.shift[0] = 1;
    m.scale[0] = 2;
    assert_int_equal(dls_mlp_run(&m, x, 1, out, NULL), DLS_OK);
    assert_true(out[0] == 7 + 25 + 200); /* (0, 1, 1): 2.5 and 2 */
}

TEST(test_gradient)
{
    static const int32_t shapes[][2] = {{5, 1}, {4, 3}, {1, 2}};
    rows r;
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
        DLS_OWN(dls_mlp_fini) dls_mlp m = network(shapes[s][0], shapes[s][1], 3 + s);
        const dls_mlp_rows some = draw_rows(&r, 130, s); /* more than two blocks */
        double *gradient = dls_alloc_zero(m.n_values, sizeof *gradient);
        DLS_FREED double *unwanted = dls_alloc_zero(m.n_values, sizeof *unwanted);
        double loss, above, below, greatest = 0;
        dls_rng rng = dls_rng_stream(2, DLS_RNG_TEST, s);
        for (size_t i = 0; i < m.n_values; i++) { /* biases of 0 stand on the edge of ReLU */
            m.value[i] += 0.1 * dls_rng_normal(&rng);
        }
        m.shift[1] = 5;
        m.scale[1] = 0.1;
        assert_int_equal(dls_mlp_gradient(&m, &some, &loss, gradient, NULL), DLS_OK);
        for (size_t i = 0; i < m.n_values; i++) {
            const double before = m.value[i], h = 1e-6;
            m.value[i] = before + h;
            assert_int_equal(dls_mlp_gradient(&m, &some, &above, unwanted, NULL), DLS_OK);
            m.value[i] = before - h;
            assert_int_equal(dls_mlp_gradient(&m, &some, &below, unwanted, NULL), DLS_OK);
            m.value[i] = before;
            const double difference = (above - below) / (2 * h);
            assert_true(fabs(gradient[i] - difference) < 1e-5 * (1 + fabs(difference)));
            greatest = fmax(greatest, fabs(gradient[i]));
        }
        assert_true(greatest > 0.01);
        dls_free(gradient);
    }
}

static dls_mlp_fit quick(void)
{
    dls_mlp_fit fit = {.adam = dls_adam_default(), .epochs = 60, .batch = 8, .seed = 5};
    fit.adam.lr = 0.01;
    fit.adam.weight_decay = 0;
    return fit;
}

TEST(test_by_heart)
{
    rows r;
    DLS_OWN(dls_mlp_fini) dls_mlp m = network(32, 2, 1);
    const dls_mlp_rows eight = draw_rows(&r, 8, 9);
    dls_mlp_fit fit = quick();
    double best = 0, out[8];
    fit.epochs = 1000;
    assert_int_equal(dls_mlp_train(&m, &eight, &eight, &fit, &best, NULL), DLS_OK);
    assert_true(best < 1e-4);
    assert_true(m.scale[2] == 0); /* a constant says nothing */
    assert_int_equal(dls_mlp_run(&m, eight.x, 8, out, NULL), DLS_OK);
    for (int i = 0; i < 8; i++) {
        assert_true(fabs(out[i] - eight.y[i]) < 1e-2);
    }
}

static bool least_val(void *user, int32_t epoch, double train_loss, double val_loss)
{
    double *least = user;
    *least = fmin(*least, val_loss);
    return true;
}

TEST(test_generalises_and_repeats)
{
    rows r, v, t;
    dls_mlp m[3];
    const dls_mlp_rows train = draw_rows(&r, 200, 1), val = draw_rows(&v, 50, 2);
    const dls_mlp_rows test = draw_rows(&t, 100, 3);
    for (uint64_t i = 0; i < 3; i++) {
        dls_mlp_fit fit = quick();
        double best = 0, least = 1e300;
        fit.seed = i < 2 ? 5 : 6;
        fit.progress = least_val;
        fit.user = &least;
        m[i] = network(16, 2, 1);
        assert_int_equal(dls_mlp_train(&m[i], &train, &val, &fit, &best, NULL), DLS_OK);
        assert_true(best == least && best < 0.1);
    }
    assert_memory_equal(m[0].value, m[1].value, m[0].n_values * sizeof(double));
    assert_memory_not_equal(m[0].value, m[2].value, m[0].n_values * sizeof(double));
    double out[100], off = 0;
    assert_int_equal(dls_mlp_run(&m[0], test.x, test.n, out, NULL), DLS_OK);
    for (size_t i = 0; i < test.n; i++) {
        off += (out[i] - test.y[i]) * (out[i] - test.y[i]) / (double)test.n;
    }
    assert_true(off < 0.1); /* their variance is about 2.4 */
    for (int i = 0; i < 3; i++) {
        dls_mlp_fini(&m[i]);
    }
}

static bool stop(void *user, int32_t epoch, double train_loss, double val_loss)
{
    return epoch < 2;
}

TEST(test_bad)
{
    rows r;
    DLS_OWN(dls_mlp_fini) dls_mlp m = {0};
    dls_error err = {0};
    double best;
    const dls_mlp_shape bad[] = {{0, 1, 1}, {1, 0, 1}, {1, 1, 0}, {1, 1 << 16, 2}, {-1, 1, 1}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(dls_mlp_create(bad[i], &m, &err), DLS_EINPUT);
    }
    m = network(4, 1, 1);
    dls_mlp_fit fit = quick();
    dls_mlp_rows some = draw_rows(&r, 20, 1);
    const dls_mlp_rows none = {r.x, r.y, 0};
    assert_int_equal(dls_mlp_train(&m, &none, &some, &fit, &best, &err), DLS_EINPUT);
    assert_int_equal(dls_mlp_train(&m, &some, &none, &fit, &best, &err), DLS_EINPUT);
    r.y[7] = (double)NAN;
    MUST_FAIL(DLS_EINPUT, "not finite", dls_mlp_train(&m, &some, &some, &fit, &best, &e));
    r.y[7] = 1;
    r.x[4] = (double)INFINITY;
    MUST_FAIL(DLS_EINPUT, "input 1", dls_mlp_train(&m, &some, &some, &fit, &best, &e));
    some = draw_rows(&r, 20, 1);
    dls_mlp_draw(&m, 1, 1); /* a training that failed leaves nothing of use */
    fit.progress = stop;
    assert_int_equal(dls_mlp_train(&m, &some, &some, &fit, &best, &err), DLS_EINTERRUPTED);
}

static dls_status make_and_train(const dls_mlp_rows *some, const dls_mlp_fit *fit)
{
    double best;
    dls_mlp m;
    DLS_TRY(dls_mlp_create((dls_mlp_shape){N_IN, 4, 1}, &m, NULL));
    const dls_status status = dls_mlp_train(&m, some, some, fit, &best, NULL);
    dls_mlp_fini(&m);
    return status;
}

TEST(test_no_memory)
{
    rows r;
    const dls_mlp_rows some = draw_rows(&r, 20, 1);
    dls_mlp_fit fit = quick();
    fit.epochs = 1;
    EACH_REFUSED(10, make_and_train(&some, &fit));
}
