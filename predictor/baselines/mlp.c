/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Multilayer perceptron with ReLU layers: blocked forward and backward passes in float64, trained
 * with Adam; the values with the least validation loss are kept.
 */
#include "predictor/baselines/mlp.h"

#include "base/alloc.h"
#include "base/own.h"
#include "base/rng.h"
#include "predictor/training/shuffle.h"

#include <math.h>
#include <string.h>

#define VALUES_MAX ((size_t)1 << 24)
#define BLOCK 64 /* rows that run together */

/* ---- shape ----------------------------------------------------------------------------------- */

/* Layer 0 reads the inputs, layer `depth` gives the output. */
static size_t in_of(dls_mlp_shape s, int32_t layer)
{
    return (size_t)(layer == 0 ? s.n_in : s.width);
}

static size_t out_of(dls_mlp_shape s, int32_t layer)
{
    return layer == s.depth ? 1 : (size_t)s.width;
}

static size_t layer_values(dls_mlp_shape s, int32_t layer)
{
    return (in_of(s, layer) + 1) * out_of(s, layer);
}

size_t dls_mlp_values(dls_mlp_shape s)
{
    return layer_values(s, 0) + (size_t)(s.depth - 1) * layer_values(s, 1) +
           layer_values(s, s.depth);
}

static size_t widest(dls_mlp_shape s)
{
    return (size_t)(s.n_in > s.width ? s.n_in : s.width);
}

dls_status dls_mlp_create(dls_mlp_shape shape, dls_mlp *m, dls_error *err)
{
    *m = (dls_mlp){.shape = shape};
    if (shape.n_in < 1 || shape.width < 1 || shape.depth < 1 || shape.n_in > 1 << 16 ||
        shape.width > 1 << 16 || shape.depth > 1 << 8 || dls_mlp_values(shape) > VALUES_MAX) {
        return dls_fail(err, DLS_EINPUT, "network", "%d inputs, %d layers of %d: out of range",
                        (int)shape.n_in, (int)shape.depth, (int)shape.width);
    }
    m->n_values = dls_mlp_values(shape);
    m->value = dls_alloc_zero(m->n_values, sizeof *m->value);
    m->shift = dls_alloc_zero((size_t)shape.n_in, sizeof *m->shift);
    m->scale = dls_alloc_zero((size_t)shape.n_in, sizeof *m->scale);
    if (!m->value || !m->shift || !m->scale) {
        dls_mlp_fini(m);
        return dls_nomem(err, "network", dls_mlp_values(shape) * sizeof(double));
    }
    for (int32_t i = 0; i < shape.n_in; i++) {
        m->scale[i] = 1;
    }
    return DLS_OK;
}

void dls_mlp_draw(dls_mlp *m, uint64_t seed, uint64_t entity)
{
    dls_rng rng = dls_rng_stream(seed, DLS_RNG_INIT, entity);
    double *at = m->value;
    for (int32_t l = 0; l <= m->shape.depth; l++) {
        const double sigma = sqrt(2.0 / (double)in_of(m->shape, l));
        const size_t weights = in_of(m->shape, l) * out_of(m->shape, l);
        for (size_t i = 0; i < weights; i++) {
            at[i] = sigma * dls_rng_normal(&rng);
        }
        at += layer_values(m->shape, l);
    }
}

void dls_mlp_fini(dls_mlp *m)
{
    if (m) {
        DLS_FREE_ALL(m->value, m->shift, m->scale);
        *m = (dls_mlp){0};
    }
}

/* ---- forward and backward of a block --------------------------------------------------------- */

/* y[rows][n] += x[rows][k] w[k][n]; four rows of w at a time, so that y is read and written a
 * quarter as often. */
static void multiply(const double *x, const double *w, double *y, size_t rows, size_t k, size_t n)
{
    for (size_t r = 0; r < rows; r++) {
        const double *xr = x + r * k;
        double *yr = y + r * n;
        size_t i = 0;
        for (; i + 4 <= k; i += 4) {
            const double a = xr[i], b = xr[i + 1], c = xr[i + 2], d = xr[i + 3];
            const double *wa = w + i * n, *wb = wa + n, *wc = wb + n, *wd = wc + n;
            for (size_t j = 0; j < n; j++) {
                yr[j] += (a * wa[j] + b * wb[j]) + (c * wc[j] + d * wd[j]);
            }
        }
        for (; i < k; i++) {
            for (size_t j = 0; j < n; j++) {
                yr[j] += xr[i] * w[i * n + j];
            }
        }
    }
}

/* to[n][m] = from[m][n] */
static void transpose(const double *from, double *to, size_t m, size_t n)
{
    for (size_t i = 0; i < m; i++) {
        for (size_t j = 0; j < n; j++) {
            to[j * m + i] = from[i * n + j];
        }
    }
}

/* Outputs of every layer of a block, and room for what goes back. */
typedef struct workspace {
    double *memory; /* owned */
    double **act;   /* [depth + 2] owned: the inputs, then each layer's [BLOCK][out] */
    double *back, *next, *turned;
} workspace;

static void workspace_fini(workspace *w)
{
    DLS_FREE_ALL(w->memory, w->act);
    *w = (workspace){0};
}

static dls_status workspace_init(workspace *w, dls_mlp_shape s, dls_error *err)
{
    const size_t wide = widest(s), layers = (size_t)s.depth + 2;
    const size_t turned = wide * ((size_t)s.width + BLOCK);
    const size_t n = BLOCK * wide * (layers + 2) + turned;
    *w = (workspace){.memory = dls_alloc_zero(n, sizeof(double)),
                     .act = dls_alloc_zero(layers, sizeof *w->act)};
    if (!w->memory || !w->act) {
        workspace_fini(w);
        return dls_nomem(err, "network", n * sizeof(double));
    }
    for (size_t l = 0; l < layers; l++) {
        w->act[l] = w->memory + l * BLOCK * wide;
    }
    w->back = w->memory + layers * BLOCK * wide;
    w->next = w->back + BLOCK * wide;
    w->turned = w->next + BLOCK * wide;
    return DLS_OK;
}

static const double *forward(const dls_mlp *m, workspace *w, const double *x, size_t rows)
{
    const dls_mlp_shape s = m->shape;
    const size_t n_in = (size_t)s.n_in;
    const double *at = m->value;
    for (size_t i = 0; i < rows * n_in; i++) {
        w->act[0][i] = (x[i] - m->shift[i % n_in]) * m->scale[i % n_in];
    }
    for (int32_t l = 0; l <= s.depth; l++) {
        const size_t k = in_of(s, l), n = out_of(s, l);
        double *y = w->act[l + 1];
        for (size_t r = 0; r < rows; r++) {
            memcpy(y + r * n, at + k * n, n * sizeof *y);
        }
        multiply(w->act[l], at, y, rows, k, n);
        for (size_t i = 0; l < s.depth && i < rows * n; i++) {
            y[i] = y[i] > 0 ? y[i] : 0;
        }
        at += layer_values(s, l);
    }
    return w->act[s.depth + 1];
}

/* w->back holds d loss / d output of the rows that went forward last; gradient grows. */
static void backward(const dls_mlp *m, workspace *w, size_t rows, double *gradient)
{
    const dls_mlp_shape s = m->shape;
    size_t at = m->n_values;
    for (int32_t l = s.depth; l >= 0; l--) {
        const size_t k = in_of(s, l), n = out_of(s, l);
        const double *x = w->act[l];
        at -= layer_values(s, l);
        transpose(x, w->turned, rows, k);
        multiply(w->turned, w->back, gradient + at, k, rows, n);
        for (size_t r = 0; r < rows; r++) {
            for (size_t j = 0; j < n; j++) {
                gradient[at + k * n + j] += w->back[r * n + j];
            }
        }
        if (l > 0) {
            transpose(m->value + at, w->turned, k, n);
            memset(w->next, 0, rows * k * sizeof *w->next);
            multiply(w->back, w->turned, w->next, rows, n, k);
            for (size_t i = 0; i < rows * k; i++) {
                w->next[i] = x[i] > 0 ? w->next[i] : 0;
            }
            double *swap = w->back;
            w->back = w->next;
            w->next = swap;
        }
    }
}

dls_status dls_mlp_run(const dls_mlp *m, const double *x, size_t n, double *out, dls_error *err)
{
    DLS_OWN(workspace_fini) workspace w = {0};
    DLS_TRY(workspace_init(&w, m->shape, err));
    for (size_t i = 0; i < n; i += BLOCK) {
        const size_t rows = n - i < BLOCK ? n - i : BLOCK;
        const double *y = forward(m, &w, x + i * (size_t)m->shape.n_in, rows);
        memcpy(out + i, y, rows * sizeof *out);
    }
    return DLS_OK;
}

/* Of the rows that order names. */
static double gradient_of(const dls_mlp *m, workspace *w, const dls_mlp_rows *rows,
                          const size_t *order, size_t n, double *x, double *gradient)
{
    const size_t n_in = (size_t)m->shape.n_in;
    double sum = 0;
    memset(gradient, 0, m->n_values * sizeof *gradient);
    for (size_t i = 0; i < n; i += BLOCK) {
        const size_t count = n - i < BLOCK ? n - i : BLOCK;
        for (size_t r = 0; r < count; r++) {
            memcpy(x + r * n_in, rows->x + order[i + r] * n_in, n_in * sizeof *x);
        }
        const double *y = forward(m, w, x, count);
        for (size_t r = 0; r < count; r++) {
            const double off = y[r] - rows->y[order[i + r]];
            sum += off * off;
            w->back[r] = 2 * off / (double)n;
        }
        backward(m, w, count, gradient);
    }
    return sum / (double)n;
}

/* ---- training -------------------------------------------------------------------------------- */

typedef struct training {
    workspace w;
    dls_adam adam;
    double *x;        /* [BLOCK][n_in] */
    double *gradient; /* [n_values] */
    double *best;     /* [n_values] */
    double *out;      /* [n of val] */
    size_t *order;    /* [n of train] */
} training;

static void training_fini(training *t)
{
    workspace_fini(&t->w);
    dls_adam_fini(&t->adam);
    DLS_FREE_ALL(t->x, t->gradient, t->best, t->out, t->order);
}

static dls_status training_init(training *t, const dls_mlp *m, size_t n_train, size_t n_val,
                                dls_adam_options adam, dls_error *err)
{
    *t = (training){.x = dls_alloc_zero(BLOCK * (size_t)m->shape.n_in, sizeof *t->x),
                    .gradient = dls_alloc_zero(m->n_values, sizeof *t->gradient),
                    .best = dls_alloc_zero(m->n_values, sizeof *t->best),
                    .out = dls_alloc_zero(n_val + 1, sizeof *t->out),
                    .order = dls_alloc_zero(n_train + 1, sizeof *t->order)};
    dls_status status = t->x && t->gradient && t->best && t->out && t->order
                            ? workspace_init(&t->w, m->shape, err)
                            : dls_nomem(err, "training", m->n_values * sizeof(double));
    DLS_THEN(status, dls_adam_init_values(&t->adam, m->n_values, adam, err));
    for (size_t i = 0; i < n_train && status == DLS_OK; i++) {
        t->order[i] = i;
    }
    return status;
}

dls_status dls_mlp_gradient(const dls_mlp *m, const dls_mlp_rows *rows, double *loss,
                            double *gradient, dls_error *err)
{
    DLS_OWN(training_fini) training t = {0};
    DLS_TRY(training_init(&t, m, rows->n, 0, dls_adam_default(), err));
    *loss = gradient_of(m, &t.w, rows, t.order, rows->n, t.x, gradient);
    return DLS_OK;
}

/* Inputs to mean 0 and deviation 1, the output to the mean of y. */
static dls_status normalise(dls_mlp *m, const dls_mlp_rows *rows, dls_error *err)
{
    const size_t n_in = (size_t)m->shape.n_in;
    double sum_y = 0;
    for (size_t i = 0; i < n_in; i++) {
        double mean = 0, square = 0;
        for (size_t r = 0; r < rows->n; r++) {
            mean += rows->x[r * n_in + i] / (double)rows->n;
        }
        for (size_t r = 0; r < rows->n; r++) {
            const double off = rows->x[r * n_in + i] - mean;
            square += off * off / (double)rows->n;
        }
        const double deviation = sqrt(square);
        m->shift[i] = mean;
        m->scale[i] = deviation > 1e-9 * fmax(1, fabs(mean)) ? 1 / deviation : 0;
        if (!isfinite(mean) || !isfinite(deviation)) {
            return dls_fail(err, DLS_EINPUT, "network", "input %zu is not finite in all rows", i);
        }
    }
    for (size_t r = 0; r < rows->n; r++) {
        sum_y += rows->y[r];
    }
    m->value[m->n_values - 1] = sum_y / (double)rows->n;
    return DLS_OK;
}

static dls_status validate(const dls_mlp *m, const dls_mlp_rows *val, double *out, double *loss,
                           dls_error *err)
{
    double sum = 0;
    DLS_TRY(dls_mlp_run(m, val->x, val->n, out, err));
    for (size_t i = 0; i < val->n; i++) {
        sum += (out[i] - val->y[i]) * (out[i] - val->y[i]);
    }
    *loss = sum / (double)val->n;
    return DLS_OK;
}

static dls_status epochs(dls_mlp *m, const dls_mlp_rows *train, const dls_mlp_rows *val,
                         const dls_mlp_fit *fit, training *t, double *best, dls_error *err)
{
    *best = (double)INFINITY;
    for (int32_t e = 0; e < fit->epochs; e++) {
        double sum = 0, val_loss = 0;
        t->adam.options.lr = 2 * e < fit->epochs ? fit->adam.lr : fit->adam.lr / 5;
        dls_shuffle(t->order, train->n, fit->seed, dls_mix64(fit->entity) ^ (uint64_t)e);
        for (size_t i = 0; i < train->n; i += (size_t)fit->batch) {
            const size_t n = train->n - i < (size_t)fit->batch ? train->n - i : (size_t)fit->batch;
            sum += (double)n * gradient_of(m, &t->w, train, t->order + i, n, t->x, t->gradient);
            dls_adam_step_values(&t->adam, m->value, t->gradient, m->n_values);
        }
        DLS_TRY(validate(m, val, t->out, &val_loss, err));
        if (!isfinite(sum) || !isfinite(val_loss)) {
            return dls_fail(err, DLS_EINPUT, "network", "the loss of epoch %d is not finite",
                            (int)e + 1);
        }
        if (val_loss < *best) {
            *best = val_loss;
            memcpy(t->best, m->value, m->n_values * sizeof *t->best);
        }
        if (fit->progress && !fit->progress(fit->user, e + 1, sum / (double)train->n, val_loss)) {
            return dls_fail(err, DLS_EINTERRUPTED, NULL, "interrupted in epoch %d", (int)e + 1);
        }
    }
    memcpy(m->value, t->best, m->n_values * sizeof *t->best);
    return DLS_OK;
}

dls_status dls_mlp_train(dls_mlp *m, const dls_mlp_rows *train, const dls_mlp_rows *val,
                         const dls_mlp_fit *fit, double *best, dls_error *err)
{
    DLS_OWN(training_fini) training t = {0};
    if (train->n == 0 || val->n == 0 || fit->epochs < 1 || fit->batch < 1) {
        return dls_fail(err, DLS_EINPUT, "network", "no rows to train on or to validate with");
    }
    DLS_TRY(normalise(m, train, err));
    DLS_TRY(training_init(&t, m, train->n, val->n, fit->adam, err));
    return epochs(m, train, val, fit, &t, best, err);
}
