/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The published network (graph convolutions, GRU, Set2Set, MLP) once more, loop by loop as its
 * papers write it, against the engines of inference and of training. Needs no data.
 */

#include "inspector_graphs.h"
#include "predictor/driple/arch_text.h"
#include "predictor/driple/cpu_engine.h"
#include "predictor/training/stepper.h"
#include "support/must.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { N_MAX = 16, H_MAX = 16, STEPS_ALL = 0 };

static const dls_inspector *network;

static const double *weights(const char *name)
{
    const dls_weight *t = dls_tensors_find(&network->base, name);
    if (!t) {
        fail_msg("no tensor %s", name);
    }
    return t->data;
}

static double sigmoid(double v)
{
    return 1 / (1 + exp(-v));
}

/* sum of w[row][k] x[k] */
static double dot(const double *w, int row, const double *x, int n)
{
    double sum = 0;
    for (int k = 0; k < n; k++) {
        sum += w[row * n + k] * x[k];
    }
    return sum;
}

static double adjacency(const dls_graph *g, int i, int j)
{
    double a = i == j;
    for (int64_t e = g->row_start[i]; e < g->row_start[i + 1]; e++) {
        a += g->col[e] == j ? (g->weight ? g->weight[e] : 1) : 0;
    }
    return a;
}

/* Kipf and Welling 2017, equation 2, with a leaky ReLU: D^-1/2 (A + I) D^-1/2 X W + b. */
static void convolve(const dls_graph *g, const char *w_name, const char *b_name, int n_in, int h,
                     double x[N_MAX][H_MAX], double y[N_MAX][H_MAX])
{
    const double *w = weights(w_name), *b = weights(b_name);
    double degree[N_MAX] = {0};
    for (int i = 0; i < g->n_nodes; i++) {
        for (int j = 0; j < g->n_nodes; j++) {
            degree[i] += adjacency(g, i, j);
        }
    }
    for (int i = 0; i < g->n_nodes; i++) {
        for (int o = 0; o < h; o++) {
            double sum = b[o];
            for (int j = 0; j < g->n_nodes; j++) {
                for (int k = 0; k < n_in; k++) {
                    sum +=
                        adjacency(g, i, j) / sqrt(degree[i] * degree[j]) * x[j][k] * w[k * h + o];
                }
            }
            y[i][o] = sum > 0 ? sum : 0.01 * sum;
        }
    }
}

/* Cho et al. 2014 as PyTorch has it: the node's last state is the input, the convolution's answer
 * the hidden state. */
static void recur(int h, const double *x, double *y)
{
    const double *wi = weights("gru.gru.weight_ih_l0"), *wh = weights("gru.gru.weight_hh_l0");
    const double *bi = weights("gru.gru.bias_ih_l0"), *bh = weights("gru.gru.bias_hh_l0");
    double next[H_MAX];
    for (int o = 0; o < h; o++) {
        double in[3], own[3];
        for (int gate = 0; gate < 3; gate++) {
            const int row = gate * h + o;
            in[gate] = dot(wi, row, x, h) + bi[row];
            own[gate] = dot(wh, row, y, h) + bh[row];
        }
        const double reset = sigmoid(in[0] + own[0]), keep = sigmoid(in[1] + own[1]);
        next[o] = (1 - keep) * tanh(in[2] + reset * own[2]) + keep * y[o];
    }
    memcpy(y, next, (size_t)h * sizeof *y);
}

/* Vinyals et al. 2016, equations 3 to 7: an LSTM without input asks, the nodes answer by softmax of
 * the product with it, question and answer come back. */
static void set2set(int n, int h, int steps, double x[N_MAX][H_MAX], double *asked)
{
    const double *wi = weights("graph_read_out.set2set.lstm.weight_ih_l0");
    const double *wh = weights("graph_read_out.set2set.lstm.weight_hh_l0");
    const double *bi = weights("graph_read_out.set2set.lstm.bias_ih_l0");
    const double *bh = weights("graph_read_out.set2set.lstm.bias_hh_l0");
    double q[H_MAX] = {0}, cell[H_MAX] = {0};
    memset(asked, 0, 2 * (size_t)h * sizeof *asked);
    for (int t = 0; t < steps; t++) {
        double next[H_MAX], share[N_MAX], all = 0;
        for (int o = 0; o < h; o++) {
            double gate[4];
            for (int k = 0; k < 4; k++) {
                const int row = k * h + o;
                gate[k] = dot(wi, row, asked, 2 * h) + bi[row] + dot(wh, row, q, h) + bh[row];
            }
            cell[o] = sigmoid(gate[1]) * cell[o] + sigmoid(gate[0]) * tanh(gate[2]);
            next[o] = sigmoid(gate[3]) * tanh(cell[o]);
        }
        memcpy(q, next, sizeof q);
        for (int i = 0; i < n; i++) {
            share[i] = exp(dot(&x[i][0], 0, q, h));
            all += share[i];
        }
        for (int o = 0; o < h; o++) {
            asked[o] = q[o];
            asked[h + o] = 0;
            for (int i = 0; i < n; i++) {
                asked[h + o] += share[i] / all * x[i][o];
            }
        }
    }
}

static void answer(const dls_graph *g, int h, int set2set_steps, double out[DLS_METRICS])
{
    double x[N_MAX][H_MAX] = {{0}}, y[N_MAX][H_MAX], v[2 * H_MAX], next[2 * H_MAX];
    const int layers = g->n_nodes / 2 > 1 ? g->n_nodes / 2 : 1;
    for (int i = 0; i < g->n_nodes; i++) {
        memcpy(x[i], g->x + (size_t)i * 3, 3 * sizeof(double));
    }
    for (int l = 0; l < layers; l++) {
        convolve(g, l ? "conv_layers.1.W" : "conv_layers.0.W",
                 l ? "conv_layers.1.b" : "conv_layers.0.b", l ? h : 3, h, x, y);
        for (int i = 0; i < g->n_nodes; i++) {
            recur(h, x[i], y[i]);
        }
        memcpy(x, y, sizeof x);
    }
    set2set(g->n_nodes, h, set2set_steps == STEPS_ALL ? g->n_nodes : set2set_steps, x, v);
    for (int l = 0; l < 3; l++) {
        char name[64];
        const int n_in = l ? h : 2 * h, n_out = l < 2 ? h : DLS_METRICS;
        snprintf(name, sizeof name, "graph_read_out.mlp.fully_connected.%d.linear.weight", l);
        const double *w = weights(name);
        snprintf(name, sizeof name, "graph_read_out.mlp.fully_connected.%d.linear.bias", l);
        const double *b = weights(name);
        for (int o = 0; o < n_out; o++) {
            const double sum = dot(w, o, v, n_in) + b[o];
            next[o] = sum > 0 ? sum : l < 2 ? 0 : 0.01 * sum;
        }
        memcpy(v, next, (size_t)n_out * sizeof *v);
    }
    memcpy(out, v, DLS_METRICS * sizeof *out);
}

static void compare(const double *got, const double *want, double tolerance, const char *what,
                    int n_nodes)
{
    double top = 0;
    for (int k = 0; k < DLS_METRICS; k++) {
        top = fmax(top, fabs(want[k]));
    }
    for (int k = 0; k < DLS_METRICS; k++) {
        if (!(fabs(got[k] - want[k]) <= tolerance * top)) {
            fail_msg("%s, %d nodes, output %d: %.17g, by loops %.17g", what, n_nodes, k, got[k],
                     want[k]);
        }
    }
}

static void by_inference(const dls_graph *g, bool f64, const char *isa, const double *want)
{
    const dls_predictor_options o = {.backend = DLS_BACKEND_CPU,
                                     .precision = f64 ? DLS_PRECISION_F64 : DLS_PRECISION_F32,
                                     .threads = 1,
                                     .cpu_isa = isa};
    const dls_query query = {0, DLS_SETTING_BASE};
    DLS_HOLD(dls_predictor_destroy) dls_predictor *p = NULL;
    dls_profile out;
    MUST(dls_predictor_create(network, &o, &p, &e));
    MUST(dls_predict(p, g, 1, &query, 1, &out, &e));
    compare(out.metric, want, f64 ? 1e-11 : 1e-4, f64 ? "inference" : isa, g->n_nodes);
}

static void by_training(const dls_graph *g, bool f64, const char *isa, const double *want)
{
    const dls_stepper_options o = {.f64 = f64, .isa = isa, .threads = 1};
    const dls_step_sample sample = {.graph = g};
    double out[DLS_METRICS], loss;
    const dls_batch batch = {.sample = &sample, .n = 1, .out = out};
    DLS_HOLD(dls_trainee_destroy) dls_trainee *net = NULL;
    DLS_HOLD(dls_stepper_destroy) dls_stepper *stepper = NULL;
    MUST(dls_trainee_create(network, DLS_SETTING_BASE, DLS_TUNE_BASE, &net, &e));
    MUST(dls_stepper_create(net, &o, &stepper, &e));
    MUST(dls_stepper_run(stepper, &batch, &loss, &e));
    compare(out, want, f64 ? 1e-11 : 1e-4, f64 ? "training" : isa, g->n_nodes);
}

TEST(test_engines)
{
    static const char *const isas[] = {"scalar", "avx2", "avx512"};
    static const int32_t sizes[] = {1, 2, 5, 8, 13};
    static const int steps[] = {STEPS_ALL, 1, 3};
    for (int s = 0; s < 3; s++) {
        char text[64];
        dls_arch arch = dls_arch_default();
        DLS_HOLD(dls_inspector_destroy) dls_inspector *insp = NULL;
        snprintf(text, sizeof text, "hidden=12 set2set_steps=%d", steps[s]);
        MUST(dls_arch_parse(&arch, text, &e));
        MUST(dls_inspector_create(&arch, &insp, &e));
        MUST(dls_inspector_randomise(insp, 3, 0, 64, &e));
        dls_rng rng = dls_rng_stream(4, DLS_RNG_TEST, 0);
        for (size_t t = 0; t < insp->base.n; t++) { /* no bias of 0, and sharp attention */
            const dls_weight *w = &insp->base.t[t];
            for (int64_t i = 0; i < dls_tensor_len(&w->spec); i++) {
                w->data[i] = (double)(float)(1.5 * w->data[i] + 0.2 * (dls_rng_unit(&rng) - 0.5));
            }
        }
        network = insp;
        for (int k = 0; k < 10; k++) {
            dls_graph g;
            double want[DLS_METRICS];
            random_graph(&g, sizes[k % 5], 3, (uint64_t)k,
                         (graph_kind){.density = 0.4, .weighted = k >= 5});
            answer(&g, 12, steps[s], want);
            by_inference(&g, true, NULL, want);
            by_training(&g, true, NULL, want);
            for (int i = 0; i < 3; i++) {
                if (dls_cpu_engine_find(DLS_PRECISION_F32, isas[i])) {
                    by_inference(&g, false, isas[i], want);
                    by_training(&g, false, isas[i], want);
                }
            }
            random_graph_free(&g);
        }
    }
}
