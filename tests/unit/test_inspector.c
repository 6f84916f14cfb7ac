/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The inspector on graphs and weights of our own: what must not change an answer (order of nodes,
 * company in a batch, threads, memory, sharing of a prefix), what must be refused, failed
 * allocations.
 */

#include "base/alloc.h"
#include "inspector_graphs.h"
#include "predictor/driple/arch_text.h"
#include "predictor/driple/cpu_engine.h"
#include "support/must.h"
#include "support/refuse.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static dls_inspector *inspector(const char *arch, int32_t n_settings)
{
    dls_inspector *insp = NULL;
    dls_arch a = dls_arch_default();
    MUST(dls_arch_parse(&a, arch, &e));
    MUST(dls_inspector_create(&a, &insp, &e));
    MUST(dls_inspector_randomise(insp, 3, n_settings, 64, &e));
    return insp;
}

static void ask(const dls_inspector *insp, const dls_predictor_options *o, const dls_graph *g,
                size_t n_graphs, const dls_query *q, size_t n, dls_profile *out)
{
    DLS_HOLD(dls_predictor_destroy) dls_predictor *p = NULL;
    MUST(dls_predictor_create(insp, o, &p, &e));
    MUST(dls_predict(p, g, n_graphs, q, n, out, &e));
}

static const dls_predictor_options f64 = {
    .backend = DLS_BACKEND_CPU, .precision = DLS_PRECISION_F64, .threads = 1};
static const dls_predictor_options f32 = {.backend = DLS_BACKEND_CPU, .threads = 1};
static const dls_predictor_options fast = {
    .backend = DLS_BACKEND_CPU, .precision = DLS_PRECISION_FAST, .threads = 1};

static void equal(const dls_profile *a, const dls_profile *b, double tolerance, const char *what)
{
    double top = 0;
    for (int i = 0; i < DLS_METRICS; i++) {
        top = fabs(b->metric[i]) > top ? fabs(b->metric[i]) : top;
    }
    for (int i = 0; i < DLS_METRICS; i++) {
        if (!(fabs(a->metric[i] - b->metric[i]) <= tolerance * top)) {
            fail_msg("%s: metric %d: %.17g, expected %.17g", what, i, a->metric[i], b->metric[i]);
        }
    }
}

static const char *const archs[] = {
    "conv=gcn hidden=24",
    "conv=gin hidden=16 pool=mean depth=log2N",
    "conv=gat hidden=16 pool=attention",
    "conv=mpnn hidden=16 aggregators=sum depth=log2N",
    "conv=mpnn hidden=16 depth=log2N pool=max self_loop=1 "
    "aggregators=mean,max,min,var,std,normalised_mean,"
    "softmax,softmin,moment3,moment4,moment5,identity scalers=identity,amplification,attenuation,"
    "linear,inverse_linear",
    "conv=gcn hidden=16 gru=0 skip=1 depth=fixed n_layers=4",
    "conv=gcn hidden=16 shared=0 depth=fixed n_layers=5",
    "conv=gcn hidden=20 depth=3sqrtN set2set_steps=6 mlp_layers=2",
};
enum { N_ARCHS = sizeof archs / sizeof *archs };

static void random_order(int32_t *order, int32_t n, uint64_t seed)
{
    dls_rng rng = dls_rng_stream(seed, DLS_RNG_TEST, 1);
    for (int32_t i = 0; i < n; i++) {
        const int32_t j = (int32_t)dls_rng_below(&rng, (uint64_t)i + 1);
        order[i] = order[j];
        order[j] = i;
    }
}

/* Node k of the result is node order[k] of g. */
static void permuted(const dls_graph *g, const int32_t *order, dls_graph *out)
{
    const size_t n = (size_t)g->n_nodes;
    int32_t *place = malloc(n * sizeof *place);
    double *x = malloc(n * (size_t)g->n_features * sizeof *x);
    int64_t *start = calloc(n + 1, sizeof *start);
    int32_t *col = malloc(((size_t)g->row_start[n] + 1) * sizeof *col);
    assert_true(place && x && start && col);
    for (size_t k = 0; k < n; k++) {
        place[order[k]] = (int32_t)k;
    }
    int64_t m = 0;
    for (size_t k = 0; k < n; k++) {
        for (int32_t f = 0; f < g->n_features; f++) {
            x[k * (size_t)g->n_features + (size_t)f] = g->x[order[k] * g->n_features + f];
        }
        for (size_t j = 0; j < n; j++) {
            for (int64_t e = g->row_start[order[k]]; e < g->row_start[order[k] + 1]; e++) {
                if (place[g->col[e]] == (int32_t)j) {
                    col[m++] = (int32_t)j;
                }
            }
        }
        start[k + 1] = m;
    }
    free(place);
    *out = (dls_graph){g->n_nodes, g->n_features, x, start, col, NULL};
}

TEST(test_permutation)
{
    for (int a = 0; a < N_ARCHS; a++) {
        DLS_HOLD(dls_inspector_destroy) dls_inspector *insp = inspector(archs[a], 0);
        dls_graph g[2];
        random_graph(&g[0], 23, 3, 5, (graph_kind){.density = 0.2});
        int32_t order[23];
        random_order(order, 23, 9);
        permuted(&g[0], order, &g[1]);
        const dls_query q[2] = {{0, -1}, {1, -1}};
        dls_profile out[2];
        ask(insp, &f64, g, 2, q, 2, out);
        equal(&out[1], &out[0], 1e-9, archs[a]);
        random_graph_free(&g[0]);
        random_graph_free(&g[1]);
    }
}

/* The same bits alone, among others, in another order, with threads, with little memory. */
TEST(test_company)
{
    enum { GRAPHS = 2 + FEWER(28) };
    static const dls_predictor_options *const precision[] = {&f64, &f32, &fast};
    for (int a = 0; a < N_ARCHS; a++) {
        DLS_HOLD(dls_inspector_destroy) dls_inspector *insp = inspector(archs[a], 0);
        dls_graph g[GRAPHS];
        dls_query q[2 * GRAPHS];
        dls_profile together[2 * GRAPHS];
        dls_profile other[2 * GRAPHS];
        for (int i = 0; i < GRAPHS; i++) {
            /* sizes that are stacked and that are not, graphs that are dense alone */
            random_graph(&g[i],
                         i % 3 == 0   ? 17
                         : i % 3 == 1 ? 5 + i % 4
                                      : 50,
                         3, (uint64_t)i,
                         (graph_kind){.density = 0.15 * (i % 7), .asymmetric = i % 2});
            q[i] = (dls_query){i, -1};
            q[GRAPHS + i] = (dls_query){GRAPHS - 1 - i, -1}; /* each asked twice */
        }
        for (int k = 0; k < 3; k++) {
            ask(insp, precision[k], g, GRAPHS, q, 2 * GRAPHS, together);
            for (int i = 0; i < GRAPHS; i++) {
                const dls_query alone = {0, -1};
                ask(insp, precision[k], &g[i], 1, &alone, 1, other);
                assert_memory_equal(other, &together[i], sizeof *other);
                assert_memory_equal(&together[2 * GRAPHS - 1 - i], &together[i], sizeof *other);
            }
            dls_predictor_options o = *precision[k];
            o.threads = 3;
            o.memory_bytes = 100000;
            ask(insp, &o, g, GRAPHS, q, 2 * GRAPHS, other);
            assert_memory_equal(other, together, sizeof together);
        }
        for (int i = 0; i < GRAPHS; i++) {
            random_graph_free(&g[i]);
        }
    }
}

/* A setting whose tensors are the base's answers as the base; settings asked together answer as
 * alone; two that differ in the suffix differ in the answer; label scales apply. */
TEST(test_settings)
{
    for (int a = 0; a < N_ARCHS; a++) {
        DLS_HOLD(dls_inspector_destroy) dls_inspector *insp = inspector(archs[a], 4);
        dls_setting *s = &insp->settings[2];
        for (size_t i = 0; i < s->tensors.n; i++) {
            char name[DLS_TENSOR_NAME_MAX];
            snprintf(name, sizeof name, "%s", s->tensors.t[i].spec.name);
            if (strncmp(name, "conv_layers.2.", 14) == 0) {
                name[12] = '1';
            }
            const dls_weight *b = dls_tensors_find(&insp->base, name);
            assert_non_null(b);
            memcpy(s->tensors.t[i].data, b->data,
                   (size_t)dls_tensor_len(&b->spec) * sizeof *b->data);
        }
        insp->settings[3].labels.scale[DLS_GPU_PEAK] = 4;
        dls_graph g;
        random_graph(&g, 19, 3, 77, (graph_kind){.density = 0.25});
        const dls_query q[5] = {{0, 3}, {0, -1}, {0, 1}, {0, 2}, {0, 0}};
        dls_profile out[5];
        for (int k = 0; k < 2; k++) {
            ask(insp, k ? &f32 : &f64, &g, 1, q, 5, out);
            assert_memory_equal(&out[3], &out[1], sizeof out[1]);
            assert_memory_not_equal(&out[2], &out[1], sizeof out[1]);
            assert_memory_not_equal(&out[2], &out[4], sizeof out[1]);
            for (int i = 0; i < 5; i++) {
                dls_profile alone;
                ask(insp, k ? &f32 : &f64, &g, 1, &q[i], 1, &alone);
                assert_memory_equal(&alone, &out[i], sizeof alone);
            }
        }
        const double scaled = out[0].metric[DLS_GPU_PEAK];
        insp->settings[3].labels.scale[DLS_GPU_PEAK] = 1;
        ask(insp, &f32, &g, 1, q, 1, out);
        assert_true(scaled == 4 * out[0].metric[DLS_GPU_PEAK]);
        assert_true(out[0].iteration_s ==
                    out[0].metric[DLS_GPU_IDLE] + out[0].metric[DLS_GPU_ACTIVE]);
        random_graph_free(&g);
    }
}

/* Settings that are told have one MLP but for a bias: together as alone, and each its own. */
TEST(test_told_settings)
{
    enum { SETTINGS = 9, GRAPHS = 4, QUERIES = SETTINGS * GRAPHS };
    static const dls_predictor_options *const precision[] = {&f64, &f32, &fast};
    DLS_HOLD(dls_inspector_destroy) dls_inspector *insp = inspector("hidden=24 mlp_layers=2", 0);
    dls_graph g[GRAPHS];
    dls_query q[QUERIES];
    dls_profile together[QUERIES], alone;
    MUST(dls_inspector_condition(insp, "number", 1, &e));
    dls_weight *w = NULL;
    for (size_t i = 0; i < insp->base.n; i++) {
        w = strcmp(insp->base.t[i].spec.name, DLS_CONDITION_TENSOR) == 0 ? &insp->base.t[i] : w;
    }
    assert_non_null(w);
    for (int64_t i = 0; i < dls_tensor_len(&w->spec); i++) {
        w->data[i] = 0.1 * (double)(i % 5 - 2);
    }
    for (int i = 0; i < SETTINGS; i++) {
        char name[16];
        const double number = i;
        dls_setting *setting;
        snprintf(name, sizeof name, "told%d", i);
        MUST(dls_inspector_settle(insp, name, &number, &setting, &e));
    }
    for (int i = 0; i < GRAPHS; i++) {
        random_graph(&g[i], 7, 3, (uint64_t)i, (graph_kind){.density = 0.3});
    }
    for (int i = 0; i < QUERIES; i++) {
        q[i] = (dls_query){i % GRAPHS, i / GRAPHS};
    }
    for (int k = 0; k < 3; k++) {
        ask(insp, precision[k], g, GRAPHS, q, QUERIES, together);
        for (int i = 0; i < QUERIES; i++) {
            ask(insp, precision[k], g, GRAPHS, &q[i], 1, &alone);
            assert_memory_equal(&alone, &together[i], sizeof alone);
            for (int j = 0; j < i; j++) {
                assert_memory_not_equal(&together[j], &together[i], sizeof alone);
            }
        }
    }
    for (int i = 0; i < GRAPHS; i++) {
        random_graph_free(&g[i]);
    }
}

/* float32 of every instruction set against float64, sparse, dense, weighted, asymmetric, tiny. */
TEST(test_engines)
{
    static const graph_kind kinds[] = {
        {.density = 0.1}, {.density = 1}, {.density = 0}, {.density = 0.4, true, true}};
    static const int32_t sizes[] = {1, 2, 3, 13, 40};
    static const char *const isas[] = {"scalar", "avx2", "avx512"};
    for (int a = 0; a < N_ARCHS; a++) {
        DLS_HOLD(dls_inspector_destroy) dls_inspector *insp = inspector(archs[a], 0);
        for (int k = 0; k < 20; k++) {
            dls_graph g;
            random_graph(&g, sizes[k % 5], 3, (uint64_t)k, kinds[k / 5]);
            const dls_query q = {0, -1};
            dls_profile want;
            dls_profile got;
            ask(insp, &f64, &g, 1, &q, 1, &want);
            for (int i = 0; i < 3; i++) {
                dls_predictor_options o = f32;
                o.cpu_isa = isas[i];
                if (dls_cpu_engine_find(DLS_PRECISION_F32, isas[i])) {
                    ask(insp, &o, &g, 1, &q, 1, &got);
                    equal(&got, &want, 1e-4, archs[a]);
                }
            }
            random_graph_free(&g);
        }
    }
}

/* bf16 against float64: within the bound of CUDA's fast mode, worse than float32, and nearly what
 * the emulation of its rounding says. */
TEST(test_bf16)
{
    static const char *const arch[] = {
        "", "hidden=24", "hidden=96 n_features=23 depth=fixed n_layers=4 set2set_steps=3",
        "hidden=5 n_features=9 gru=0", "hidden=70 shared=0 depth=fixed n_layers=3 pool=attention"};
    static const int32_t sizes[] = {1, 2, 7, 16, 40};
    const bool amx = dls_cpu_engine_find(DLS_PRECISION_FAST, "amx") != NULL;
    if (!amx) {
        printf("no AMX for bf16 here: the emulation alone\n");
    }
    for (size_t a = 0; a < sizeof arch / sizeof *arch; a++) {
        DLS_HOLD(dls_inspector_destroy) dls_inspector *insp = inspector(arch[a], 0);
        for (int k = 0; k < 5; k++) {
            dls_graph g;
            random_graph(&g, sizes[k], insp->arch.n_features, (uint64_t)k,
                         (graph_kind){.density = 0.2});
            const dls_query q = {0, -1};
            dls_profile want, emulated, got;
            dls_predictor_options o = fast;
            ask(insp, &f64, &g, 1, &q, 1, &want);
            o.cpu_isa = "emulated";
            ask(insp, &o, &g, 1, &q, 1, &emulated);
            equal(&emulated, &want, 5e-3, arch[a]);
            o.cpu_isa = "amx";
            if (amx) {
                ask(insp, &o, &g, 1, &q, 1, &got);
                equal(&got, &want, 5e-3, arch[a]);
                equal(&got, &emulated, 5e-4, arch[a]);
            }
            random_graph_free(&g);
        }
    }
}

/* fast is bf16 where the processor has a matrix unit, and float32 that says so elsewhere. */
TEST(test_fast_says_what_it_is)
{
    DLS_HOLD(dls_inspector_destroy) dls_inspector *insp = inspector("hidden=16", 0);
    dls_predictor *p = NULL;
    const dls_cpu_engine *best = dls_cpu_engine_find(DLS_PRECISION_FAST, NULL);
    dls_predictor_options o = fast;
    MUST(dls_predictor_create(insp, &o, &p, &e));
    assert_true(best->bf16 == (strcmp(best->isa, "amx") == 0));
    assert_true(best->bf16 == (strstr(dls_predictor_backend(p), "bf16") != NULL));
    assert_true(best->bf16 == (dls_predictor_notes(p)[0] == '\0'));
    dls_predictor_destroy(p);
    o.cpu_isa = "scalar";
    MUST(dls_predictor_create(insp, &o, &p, &e));
    assert_non_null(strstr(dls_predictor_backend(p), "scalar, f32"));
    assert_non_null(strstr(dls_predictor_notes(p), "float32: no matrix unit"));
    dls_predictor_destroy(p);
    o = f32;
    o.cpu_isa = "emulated";
    assert_int_equal(dls_predictor_create(insp, &o, &p, NULL), DLS_EPREDICTOR);
}

/* ---- refusals ------------------------------------------------------------------------------- */

static void refused(const dls_inspector *insp, const dls_graph *g, const dls_query *q,
                    const char *says)
{
    DLS_HOLD(dls_predictor_destroy) dls_predictor *p = NULL;
    dls_profile out;
    MUST(dls_predictor_create(insp, &f32, &p, &e));
    dls_error e = {0};
    assert_int_not_equal(dls_predict(p, g, 1, q, 1, &out, &e), DLS_OK);
    if (!strstr(e.msg, says)) {
        fail_msg("\"%s\" does not say \"%s\"", e.msg, says);
    }
}

TEST(test_bad_graphs)
{
    DLS_HOLD(dls_inspector_destroy) dls_inspector *insp = inspector("hidden=16", 0);
    double x[6] = {1, 2, 3, 4, 5, 6};
    int64_t start[3] = {0, 1, 2};
    int32_t col[2] = {1, 0};
    double w[2] = {1, 1};
    const dls_graph good = {2, 3, x, start, col, w};
    const dls_query q = {0, -1};
    dls_profile out;
    ask(insp, &f32, &good, 1, &q, 1, &out);
    dls_graph g = good;
    g.n_nodes = 0;
    refused(insp, &g, &q, "no nodes");
    g = good;
    g.n_features = 2;
    refused(insp, &g, &q, "features per node");
    x[4] = (double)NAN;
    refused(insp, &good, &q, "node 1: feature 1 is NaN");
    x[4] = (double)INFINITY;
    refused(insp, &good, &q, "infinite");
    x[4] = 5;
    w[1] = -1;
    refused(insp, &good, &q, "edge (1, 0)");
    w[1] = (double)NAN;
    refused(insp, &good, &q, "edge (1, 0)");
    w[1] = 1;
    col[0] = 2;
    refused(insp, &good, &q, "out of range");
    col[0] = -1;
    refused(insp, &good, &q, "out of range");
    col[0] = 1;
    start[1] = 2;
    refused(insp, &good, &q, "out of order");
    start[1] = 3;
    refused(insp, &good, &q, "backwards");
    start[1] = 1;
    const dls_query wrong[] = {{1, -1}, {-1, -1}, {0, 0}, {0, -2}};
    for (int i = 0; i < 4; i++) {
        refused(insp, &good, &wrong[i], "no graph");
    }
    for (int i = 0; i < 6; i++) {
        x[i] = 1e39; /* no float32 */
    }
    refused(insp, &good, &q, "not finite");
    ask(insp, &f64, &good, 1, &q, 1, &out);
}

/* Graphs of a large batch are checked by all threads; the first bad one is named. */
TEST(test_bad_graph_of_many)
{
    enum { MANY = 1500 };
    static dls_graph g[MANY];
    DLS_HOLD(dls_inspector_destroy) dls_inspector *insp = inspector("hidden=4", 0);
    const double x[3] = {1, 2, 3};
    const double bad[3] = {1, (double)NAN, 3};
    const int64_t start[2] = {0, 0};
    const int32_t none = 0;
    for (int i = 0; i < MANY; i++) {
        g[i] = (dls_graph){1, 3, i == 700 || i == 1100 || i == 1499 ? bad : x, start, &none, NULL};
    }
    const dls_predictor_options o = {.backend = DLS_BACKEND_CPU, .threads = 4};
    const dls_query q = {0, -1};
    DLS_HOLD(dls_predictor_destroy) dls_predictor *p = NULL;
    dls_profile out;
    dls_error e = {0};
    assert_int_equal(dls_predictor_create(insp, &o, &p, &e), DLS_OK);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(dls_predict(p, g, MANY, &q, 1, &out, &e), DLS_EINPUT);
        assert_string_equal(e.where, "graph 700");
    }
}

TEST(test_no_cuda)
{
    DLS_HOLD(dls_inspector_destroy) dls_inspector *insp = inspector("hidden=16", 0);
    dls_predictor *p = NULL;
    dls_predictor_options o = {.backend = DLS_BACKEND_CUDA, .module_path = "/nowhere/module.so"};
    dls_error why = {0};
    assert_int_equal(dls_predictor_create(insp, &o, &p, &why), DLS_EPREDICTOR);
    assert_null(p);
    assert_non_null(strstr(why.msg, "does not open"));
    o.backend = DLS_BACKEND_AUTO;
    MUST(dls_predictor_create(insp, &o, &p, &e));
    assert_int_equal(strncmp(dls_predictor_backend(p), "cpu", 3), 0);
    assert_non_null(strstr(dls_predictor_notes(p), "does not open"));
    dls_predictor_destroy(p);
    o = (dls_predictor_options){.backend = DLS_BACKEND_CPU, .cpu_isa = "sse9"};
    assert_int_equal(dls_predictor_create(insp, &o, &p, NULL), DLS_EPREDICTOR);
    o = (dls_predictor_options){.backend = DLS_BACKEND_CUDA, .precision = DLS_PRECISION_F64};
    assert_int_equal(dls_predictor_create(insp, &o, &p, NULL), DLS_EPREDICTOR);
}

/* ---- failed allocations --------------------------------------------------------------------- */

static dls_status make_and_predict(const dls_arch *a, const dls_predictor_options *o,
                                   const dls_graph *g)
{
    dls_inspector *insp = NULL;
    dls_predictor *p = NULL;
    const dls_query q[3] = {{0, 0}, {0, -1}, {0, 1}};
    dls_profile out[3];
    dls_status status = dls_inspector_create(a, &insp, NULL);
    DLS_THEN(status, dls_inspector_randomise(insp, 3, 2, 1, NULL));
    DLS_THEN(status, dls_predictor_create(insp, o, &p, NULL));
    DLS_THEN(status, dls_predict(p, g, 1, q, 3, out, NULL));
    dls_predictor_destroy(p);
    dls_inspector_destroy(insp);
    return status;
}

TEST(test_out_of_memory)
{
    dls_arch a = dls_arch_default();
    MUST(dls_arch_parse(&a, "conv=mpnn hidden=16", &e));
    dls_graph g;
    random_graph(&g, 9, 3, 1, (graph_kind){.density = 0.3});
    EACH_REFUSED(21, make_and_predict(&a, &f32, &g));
    MUST(dls_arch_parse(&a, "conv=gcn hidden=16", &e));
    EACH_REFUSED(21, make_and_predict(&a, &fast, &g));
    random_graph_free(&g);
}
