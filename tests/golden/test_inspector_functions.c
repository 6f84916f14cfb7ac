/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The PNA layer's aggregators and scalers and a GAT layer on graphs with isolated nodes, one by one
 * against the published code. The engine's own source is included: these are its inner functions.
 */

#define REAL double
#define ENGINE_NAME functions_engine
#define ENGINE_ISA "functions"
#define OWN_MAIN
#include "predictor/driple/cpu_engine.inc.h"
#include "support/shared.h"
#include "support/test.h"
#include "tests/inspector_golden.h"

#define N 7
#define F 3
#define LD 16
#define LIMIT 1e-12

static char path[1200];

/* A graph from its dense adjacency, and room for what the layer's functions work in. */
typedef struct bench {
    dls_graph g;
    int64_t row_start[N + 1];
    int32_t col[N * N];
    graph_ctx x;
    int32_t index[N + 3];
    double edge[2 * (N + 3)], degree[N], message[(N + 3) * LD];
    double wide[3][N * LD], dense[N * LD];
    double u[N * LD], v[N * LD], h[N * LD], z[N * LD], y[N * LD];
} bench;

static void bench_init(bench *b, const double *adj)
{
    *b = (bench){.g = {.n_nodes = N, .n_features = F}};
    b->g.row_start = b->row_start;
    b->g.col = b->col;
    for (int32_t i = 0; i < N; i++) {
        b->row_start[i + 1] = b->row_start[i];
        for (int32_t j = 0; j < N; j++) {
            if (adj[i * N + j] != 0) {
                b->col[b->row_start[i + 1]++] = j;
                b->degree[i] += 1;
            }
        }
    }
    b->x = (graph_ctx){.g = &b->g,
                       .s = {.wide = {b->wide[0], b->wide[1], b->wide[2]},
                             .dense = b->dense,
                             .message = b->message,
                             .edge = b->edge,
                             .degree = b->degree,
                             .index = b->index,
                             .wide_ld = LD}};
}

/* The aggregate of node i when M_ij is x [N][N][F]: what a tower forms is u_i + v_j, so the
 * messages along one row or one column at a time. */
static const double *one_node(bench *b, const dls_arch *a, const double *x, int32_t i, bool column)
{
    memset(b->u, 0, sizeof b->u);
    memset(b->v, 0, sizeof b->v);
    for (int32_t j = 0; j < N; j++) {
        for (int32_t k = 0; k < F; k++) {
            (column ? b->u : b->v)[j * LD + k] = x[((column ? j * N + i : i * N + j)) * F + k];
        }
    }
    tower_inputs(a, &b->x, b->h, LD, F, b->u, b->v, LD, b->z, LD);
    return b->z + i * LD + F;
}

static void check(const char *what, const double *mine, const double *expected)
{
    for (int32_t k = 0; k < F; k++) {
        const bool same = isfinite(expected[k])
                              ? fabs(mine[k] - expected[k]) <= LIMIT * (1 + fabs(expected[k]))
                          : isnan(expected[k]) ? isnan(mine[k])
                                               : mine[k] == expected[k];
        if (!same) {
            fail_msg("%s: %.17g, published %.17g", what, mine[k], expected[k]);
        }
    }
}

/* What the published code and the mathematics agree on, where a node has neighbours. */
static bool undisputed(int32_t kind)
{
    return kind != DLS_AGG_MAX && kind != DLS_AGG_MIN && kind < DLS_AGG_MOMENT3;
}

TEST(test_aggregators)
{
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    size_t n;
    double *adj = golden_doubles(file, "functions/adj", &n);
    assert_int_equal(n % (N * N), 0);
    const size_t graphs = n / (N * N);
    double *x = golden_doubles(file, "functions/X_edge", &n);
    assert_int_equal(n, graphs * N * N * F);
    for (int32_t kind = 0; kind < DLS_AGG_COUNT; kind++) {
        for (int loop = 0; loop < 2; loop++) {
            char name[96];
            snprintf(name, sizeof name, "functions/agg/%s/%s", dls_aggregator_names[kind],
                     loop ? "self" : "noself");
            double *expected = golden_doubles(file, name, &n);
            assert_int_equal(n, graphs * N * F);
            for (size_t g = 0; g < graphs; g++) {
                bench b;
                bench_init(&b, adj + g * N * N);
                dls_arch a = dls_arch_default();
                a.aggregators[0] = (dls_aggregator)kind;
                a.self_loop = loop;
                for (int32_t i = 0; i < N; i++) {
                    const double *want = expected + (g * N + (size_t)i) * F;
                    const bool column = kind == DLS_AGG_MAX || kind == DLS_AGG_MIN;
                    a.reference = true;
                    check(name, one_node(&b, &a, x + g * N * N * F, i, column), want);
                    a.reference = false;
                    if (undisputed(kind) && b.degree[i] > 0) {
                        check(name, one_node(&b, &a, x + g * N * N * F, i, false), want);
                    }
                }
            }
            free(expected);
        }
    }
    free(x);
    free(adj);
    H5Fclose(file);
}

TEST(test_scalers)
{
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    size_t n;
    double *adj = golden_doubles(file, "functions/adj", &n);
    double *x = golden_doubles(file, "functions/X_node", &n);
    const size_t graphs = n / (N * F);
    for (int32_t kind = 0; kind < DLS_SCALE_COUNT; kind++) {
        char name[96];
        snprintf(name, sizeof name, "functions/scale/%s", dls_scaler_names[kind]);
        double *expected = golden_doubles(file, name, &n);
        assert_int_equal(n, graphs * N * F);
        for (size_t g = 0; g < graphs; g++) {
            bench b;
            bench_init(&b, adj + g * N * N);
            dls_arch a = dls_arch_default();
            a.aggregators[0] = DLS_AGG_IDENTITY;
            a.scalers[0] = (dls_scaler)kind;
            a.reference = true;
            a.avg_d_lin = 3;
            a.avg_d_log = 1.3;
            for (int32_t i = 0; i < N * F; i++) {
                b.u[i / F * LD + i % F] = x[g * N * F + (size_t)i];
            }
            tower_inputs(&a, &b.x, b.h, LD, F, b.u, b.v, LD, b.z, LD);
            for (int32_t i = 0; i < N; i++) {
                check(name, b.z + i * LD + F, expected + (g * N + (size_t)i) * F);
            }
        }
        free(expected);
    }
    free(x);
    free(adj);
    H5Fclose(file);
}

TEST(test_gat_isolated)
{
    enum { HEADS = 2, WIDTH = 4 };
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    size_t n;
    double *adj = golden_doubles(file, "gat_layer_isolated/adj", &n);
    double *x = golden_doubles(file, "gat_layer_isolated/x", &n);
    double *y = golden_doubles(file, "gat_layer_isolated/y", &n);
    const size_t graphs = n / (N * HEADS * WIDTH);
    _Alignas(64) double w[HEADS][F * LD] = {0};
    double both[HEADS][2 * WIDTH];
    lin maps[2 * HEADS] = {{0}};
    for (int32_t head = 0; head < HEADS; head++) {
        char name[64];
        snprintf(name, sizeof name, "gat_layer_isolated/weights/heads.%d.W", (int)head);
        double *m = golden_doubles(file, name, &n);
        assert_int_equal(n, F * WIDTH);
        snprintf(name, sizeof name, "gat_layer_isolated/weights/heads.%d.a", (int)head);
        double *v = golden_doubles(file, name, &n);
        assert_int_equal(n, 2 * WIDTH);
        for (int32_t k = 0; k < WIDTH; k++) {
            for (int32_t i = 0; i < F; i++) {
                w[head][i * LD + k] = m[i * WIDTH + k];
            }
        }
        memcpy(both[head], v, sizeof both[head]);
        maps[2 * head] = (lin){.k = F, .n = WIDTH, .np = LD, .w = w[head]};
        maps[2 * head + 1].b = both[head];
        free(m);
        free(v);
    }
    dls_arch a = dls_arch_default();
    a.conv = DLS_CONV_GAT;
    a.hidden = HEADS * WIDTH;
    a.gat_heads = HEADS;
    a.reference = true;
    int isolated = 0;
    for (size_t g = 0; g < graphs; g++) {
        bench b;
        bench_init(&b, adj + g * N * N);
        for (int32_t i = 0; i < N * F; i++) {
            b.h[i / F * LD + i % F] = x[g * N * F + (size_t)i];
        }
        gat_forward(&b.x, &(conv_args){
                              .a = &a, .c = maps, .in = b.h, .in_width = F, .ld = LD, .y = b.y});
        double mine[N * HEADS * WIDTH];
        for (int32_t i = 0; i < N; i++) {
            memcpy(mine + i * HEADS * WIDTH, b.y + i * LD, HEADS * WIDTH * sizeof *mine);
            isolated += b.degree[i] == 0;
        }
        const double d = golden_distance(mine, y + g * N * HEADS * WIDTH, N * HEADS * WIDTH);
        if (!(d <= LIMIT)) {
            fail_msg("graph %zu: off by %.3g", g, d);
        }
    }
    assert_true(graphs == 2 && isolated > 0);
    free(adj);
    free(x);
    free(y);
    H5Fclose(file);
}

int main(void)
{
    if (!shared_path("golden/driple/driple_variants.h5", path, sizeof path)) {
        return 77;
    }
    return run_listed();
}
