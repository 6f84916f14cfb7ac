/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Random graphs: order against its definition, fluid communities against a plain implementation,
 * grouping against brute force, files round trip and every flipped byte is noticed or harmless.
 */

#define OWN_MAIN
#include "base/alloc.h"
#include "base/rng.h"
#include "support/refuse.h"
#include "workload/graph/features.h"
#include "workload/graph/grouping.h"
#include "workload/graph/pyrandom.h"
#include "workload/graph/zoo.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static dls_rng rng;

static int32_t below(int32_t n)
{
    return (int32_t)dls_rng_below(&rng, (uint64_t)n);
}

/* Edges go from lower to higher numbers of a random permutation: no cycle. */
static dls_opgraph *random_graph(int32_t n, int32_t n_edges, double gpu_frac)
{
    const dls_opgraph_info info = {.model = "random", .batch = 1};
    dls_opgraph *g;
    assert_int_equal(dls_opgraph_create(&info, &g, NULL), DLS_OK);
    int32_t *rank = malloc((size_t)n * sizeof *rank);
    assert_non_null(rank);
    for (int32_t i = 0; i < n; i++) {
        char name[32];
        int32_t idx;
        const dls_op_node node = {.kind = below(DLS_OP_COUNT),
                                  .phase = below(DLS_PHASE_COUNT),
                                  .on_gpu = dls_rng_unit(&rng) < gpu_frac,
                                  .tensor_size = below(1000),
                                  .read_bytes = below(1000),
                                  .flops = dls_rng_unit(&rng)};
        snprintf(name, sizeof name, "node/%d", (int)i);
        assert_int_equal(dls_opgraph_add_node(g, name, NULL, &node, &idx, NULL), DLS_OK);
        assert_int_equal(idx, i);
        rank[i] = below(1 << 30);
    }
    for (int32_t i = 0; i < n_edges && n > 1; i++) {
        const int32_t u = below(n);
        const int32_t v = below(n);
        if (rank[u] != rank[v]) {
            assert_int_equal(dls_opgraph_add_edge(g, rank[u] < rank[v] ? u : v,
                                                  rank[u] < rank[v] ? v : u, below(2), NULL),
                             DLS_OK);
        }
    }
    free(rank);
    return g;
}

TEST(test_order)
{
    for (int round = 0; round < 200; round++) {
        const int32_t n = 1 + below(60);
        DLS_HOLD(dls_opgraph_destroy) dls_opgraph *g = random_graph(n, below(4 * n), 1);
        int32_t *order = malloc((size_t)n * sizeof *order);
        int32_t *place = malloc((size_t)n * sizeof *place);
        assert_non_null(order);
        assert_non_null(place);
        memset(place, -1, (size_t)n * sizeof *place);
        assert_int_equal(dls_opgraph_order(g, order, NULL), DLS_OK);
        for (int32_t i = 0; i < n; i++) {
            assert_int_equal(place[order[i]], -1);
            place[order[i]] = i;
        }
        for (int32_t i = 0; i < g->n_edges; i++) {
            if (g->nodes[g->edges[i].from].kind != DLS_OP_NEXT_ITERATION) {
                assert_true(place[g->edges[i].from] < place[g->edges[i].to]);
            }
        }
        free(order);
        free(place);
    }
}

TEST(test_cycle)
{
    DLS_HOLD(dls_opgraph_destroy) dls_opgraph *g = random_graph(6, 0, 1);
    dls_error err;
    for (int32_t i = 0; i < 6; i++) {
        g->nodes[i].kind = DLS_OP_RELU;
    }
    static const int32_t edges[][2] = {{0, 1}, {1, 2}, {2, 3}, {3, 1}, {3, 4}, {4, 5}};
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(dls_opgraph_add_edge(g, edges[i][0], edges[i][1], false, NULL), DLS_OK);
    }
    assert_int_equal(dls_opgraph_validate(g, &err), DLS_EINPUT);
    const int32_t named = dls_strdict_find(&g->names, err.where, strlen(err.where));
    assert_true(named >= 1 && named <= 3);
    g->nodes[3].kind = DLS_OP_NEXT_ITERATION;
    assert_int_equal(dls_opgraph_validate(g, &err), DLS_OK);
    assert_int_equal(dls_opgraph_add_edge(g, 2, 2, false, NULL), DLS_EINPUT);
    assert_int_equal(dls_opgraph_add_edge(g, 2, 6, false, NULL), DLS_EINPUT);
    const dls_op_node again = {.kind = DLS_OP_RELU};
    int32_t idx;
    assert_int_equal(dls_opgraph_add_node(g, "node/3", NULL, &again, &idx, NULL), DLS_EINPUT);
    g->nodes[2].flops = (double)NAN;
    assert_int_equal(dls_opgraph_validate(g, &err), DLS_EINPUT);
    assert_string_equal(err.where, "node/2");
}

/* ---- fluid communities, written down once more in the plainest way --------------------------- */

static void plain_fluid(const dls_adjacency *a, int32_t k, uint64_t seed, int32_t *label)
{
    dls_pyrandom r;
    int32_t *order = malloc((size_t)a->n * sizeof *order);
    int32_t *count = calloc((size_t)k, sizeof *count);
    assert_non_null(order);
    assert_non_null(count);
    dls_pyrandom_seed(&r, seed);
    for (int32_t v = 0; v < a->n; v++) {
        order[v] = v;
        label[v] = -1;
    }
    dls_pyrandom_shuffle(&r, order, a->n);
    for (int32_t c = 0; c < k; c++) {
        label[order[c]] = c;
        count[c] = 1;
    }
    bool changed = true;
    for (int pass = 0; pass <= DLS_FLUID_MAX_ITER && changed; pass++) {
        changed = false;
        for (int32_t v = 0; v < a->n; v++) {
            order[v] = v;
        }
        dls_pyrandom_shuffle(&r, order, a->n);
        for (int32_t i = 0; i < a->n; i++) {
            const int32_t v = order[i];
            int32_t seen[64];
            double score[64];
            int n = 0;
            for (int64_t e = a->start[v] - 1; e < a->start[v + 1]; e++) {
                const int32_t c = e < a->start[v] ? label[v] : label[a->nbr[e]];
                int at = 0;
                while (at < n && seen[at] != c) {
                    at++;
                }
                if (c >= 0) {
                    score[at] = (at < n ? score[at] : 0) + 1.0 / count[c];
                    seen[at] = c;
                    n += at == n;
                }
            }
            double top = 0;
            for (int j = 0; j < n; j++) {
                top = fmax(top, score[j]);
            }
            int32_t best[64];
            int n_best = 0;
            bool stays = n == 0;
            for (int j = 0; j < n; j++) {
                if (top - score[j] < 1e-4) {
                    best[n_best++] = seen[j];
                    stays |= seen[j] == label[v];
                }
            }
            if (!stays) {
                if (label[v] >= 0) {
                    count[label[v]]--;
                }
                label[v] = best[dls_pyrandom_below(&r, (uint32_t)n_best)];
                count[label[v]]++;
                changed = true;
            }
        }
    }
    free(order);
    free(count);
}

TEST(test_fluid)
{
    for (int round = 0; round < 300; round++) {
        const int32_t n = 2 + below(50);
        const int32_t k = 1 + below(n < 20 ? n : 20);
        int32_t edges[160][2];
        int32_t n_edges = 0;
        for (int32_t v = 1; v < n; v++) {
            edges[n_edges][0] = below(v);
            edges[n_edges++][1] = v;
        }
        for (int32_t extra = below(2 * n); extra > 0; extra--) {
            edges[n_edges][0] = below(n);
            edges[n_edges++][1] = below(n);
        }
        DLS_OWN(dls_adjacency_fini) dls_adjacency a = {0};
        assert_int_equal(dls_adjacency_create(n, (const int32_t(*)[2])edges, n_edges, &a, NULL),
                         DLS_OK);
        int32_t got[64];
        int32_t want[64];
        assert_int_equal(dls_fluid(&a, k, (uint64_t)round, DLS_FLUID_MAX_ITER, got, NULL), DLS_OK);
        plain_fluid(&a, k, (uint64_t)round, want);
        int32_t size[64] = {0};
        for (int32_t v = 0; v < n; v++) {
            assert_true(got[v] >= 0 && got[v] < k);
            size[got[v]]++;
            for (int32_t w = 0; w < n; w++) { /* the same partition */
                assert_int_equal(got[v] == got[w], want[v] == want[w]);
            }
        }
        for (int32_t c = 0; c < k; c++) {
            assert_true(size[c] > 0);
        }
    }
    DLS_OWN(dls_adjacency_fini) dls_adjacency a = {0};
    int32_t label[4];
    assert_int_equal(dls_adjacency_create(4, (const int32_t[][2]){{0, 1}, {2, 3}}, 2, &a, NULL),
                     DLS_OK);
    assert_int_equal(dls_fluid(&a, 2, 1, 100, label, NULL), DLS_EINPUT);
    assert_int_equal(dls_fluid(&a, 5, 1, 100, label, NULL), DLS_EINPUT);
    assert_int_equal(dls_fluid(&a, 0, 1, 100, label, NULL), DLS_EINPUT);
}

/* A path is so long that 101 passes do not reach its ends: they still get a group. */
TEST(test_fluid_large)
{
    const int32_t n = 100000;
    int32_t(*edges)[2] = malloc((size_t)n * sizeof *edges);
    int32_t *label = malloc((size_t)n * sizeof *label);
    assert_non_null(edges);
    assert_non_null(label);
    for (int32_t v = 1; v < n; v++) {
        edges[v - 1][0] = v - 1;
        edges[v - 1][1] = v;
    }
    dls_adjacency a;
    assert_int_equal(dls_adjacency_create(n, (const int32_t(*)[2])edges, n - 1, &a, NULL), DLS_OK);
    assert_int_equal(dls_fluid(&a, 100, 42, DLS_FLUID_MAX_ITER, label, NULL), DLS_OK);
    int32_t changes = 0;
    for (int32_t v = 0; v < n; v++) {
        assert_true(label[v] >= 0 && label[v] < 100);
        changes += v > 0 && label[v] != label[v - 1];
    }
    assert_true(changes >= 99);
    dls_adjacency_fini(&a);
    free(edges);
    free(label);
}

/* ---- grouping -------------------------------------------------------------------------------- */

TEST(test_grouping)
{
    int made = 0;
    for (int round = 0; round < 200; round++) {
        const int32_t n = 2 + below(60);
        dls_opgraph *g = random_graph(n, 1 + below(2 * n), 0.8);
        dls_kept kept;
        if (dls_kept_create(g, &kept, NULL) != DLS_OK) {
            for (int32_t i = 0; i < g->n_edges; i++) {
                assert_false(g->nodes[g->edges[i].from].on_gpu && g->nodes[g->edges[i].to].on_gpu);
            }
            dls_opgraph_destroy(g);
            continue;
        }
        const int32_t k = 1 + below(kept.adjacency.n);
        dls_grouping grouping;
        assert_int_equal(dls_grouping_create(g, DLS_GROUPING_UNIFORM, k, 42, &grouping, NULL),
                         DLS_OK);
        unsigned char adj[64][64] = {{0}};
        int32_t n_kept = 0;
        for (int32_t v = 0; v < n; v++) {
            n_kept += grouping.group[v] >= 0;
            assert_true(grouping.group[v] < 0 || g->nodes[v].on_gpu);
        }
        assert_int_equal(n_kept, kept.adjacency.n);
        for (int32_t i = 0; i < g->n_edges; i++) {
            const int32_t u = grouping.group[g->edges[i].from];
            const int32_t v = grouping.group[g->edges[i].to];
            if (u >= 0 && v >= 0 && u != v) {
                adj[u][v] = adj[v][u] = 1;
            }
        }
        for (int32_t u = 0; u < k; u++) {
            int64_t e = grouping.row_start[u];
            for (int32_t v = 0; v < k; v++) {
                const bool edge = e < grouping.row_start[u + 1] && grouping.col[e] == v;
                assert_int_equal(edge, adj[u][v]);
                e += edge;
            }
        }
        /* Sums over groups are sums over nodes. */
        dls_feature_spec *spec;
        double x[64 * 8];
        assert_int_equal(dls_feature_spec_create(DLS_FEATURES_WORK, &spec, NULL), DLS_OK);
        const dls_grouped corpus = {g, &grouping};
        assert_int_equal(dls_feature_spec_fit(spec, &corpus, 1, NULL), DLS_OK);
        int64_t unknown;
        assert_int_equal(dls_features_raw(spec, g, &grouping, x, &unknown, NULL), DLS_OK);
        assert_int_equal(unknown, 0);
        double size = 0;
        double members = 0;
        for (int32_t u = 0; u < k; u++) {
            size += x[8 * u];
            members += x[8 * u + 1];
        }
        double want = 0;
        for (int32_t v = 0; v < n; v++) {
            want += grouping.group[v] >= 0 ? (double)g->nodes[v].tensor_size : 0;
        }
        assert_true(size == want);
        assert_true(members == n_kept);
        double top = 0;
        assert_int_equal(dls_features(spec, g, &grouping, x, NULL, NULL), DLS_OK);
        for (int32_t i = 0; i < 8 * k; i++) {
            assert_true(x[i] >= 0 && x[i] <= 1);
            top = fmax(top, x[i]);
        }
        assert_true(top == 1);
        dls_feature_spec_destroy(spec);
        dls_grouping_fini(&grouping);
        assert_int_equal(
            dls_grouping_create(g, DLS_GROUPING_UNIFORM, n_kept + 1, 42, &grouping, NULL),
            DLS_EINPUT);
        assert_int_equal(dls_grouping_create(g, DLS_GROUPING_NONE, 0, 42, &grouping, NULL), DLS_OK);
        assert_int_equal(grouping.n_groups, n_kept);
        dls_grouping_fini(&grouping);
        dls_kept_fini(&kept);
        dls_opgraph_destroy(g);
        made++;
    }
    assert_true(made > 100);
}

TEST(test_proportional)
{
    /* Batches of sorted sizes: {100, 110}, {1000, 1200}, {5000}. */
    const int32_t kept[5] = {1200, 100, 1000, 110, 5000};
    int32_t k[5];
    assert_int_equal(dls_grouping_proportional(kept, 5, 2, k, NULL), DLS_OK);
    assert_int_equal(k[1], 52); /* 105 / log10(105) = 51.95 */
    assert_int_equal(k[3], 52);
    assert_int_equal(k[0], 362); /* 1100 / log10(1100) = 361.7 */
    assert_int_equal(k[2], 362);
    assert_int_equal(k[4], 1352); /* 5000 / log10(5000) = 1351.7 */
}

/* ---- files ----------------------------------------------------------------------------------- */

static bool same(const dls_opgraph *a, const dls_opgraph *b)
{
    bool equal = a->n_nodes == b->n_nodes && a->n_edges == b->n_edges &&
                 strcmp(a->info.model, b->info.model) == 0 && a->info.batch == b->info.batch &&
                 a->info.numeric == b->info.numeric;
    for (int32_t i = 0; i < a->n_nodes && equal; i++) {
        const dls_op_node *x = &a->nodes[i];
        const dls_op_node *y = &b->nodes[i];
        equal =
            strcmp(dls_opgraph_name(a, i), dls_opgraph_name(b, i)) == 0 &&
            strcmp(dls_opgraph_op(a, i), dls_opgraph_op(b, i)) == 0 && x->kind == y->kind &&
            x->phase == y->phase && x->repeat == y->repeat && x->on_gpu == y->on_gpu &&
            x->flops == y->flops && x->tensor_size == y->tensor_size &&
            x->param_bytes == y->param_bytes && x->read_bytes == y->read_bytes &&
            x->dims.k == y->dims.k && x->dims.groups == y->dims.groups &&
            strcmp(dls_opgraph_layer_name(a, x->layer), dls_opgraph_layer_name(b, y->layer)) == 0;
    }
    for (int32_t i = 0; i < a->n_edges && equal; i++) {
        equal = a->edges[i].from == b->edges[i].from && a->edges[i].to == b->edges[i].to &&
                a->edges[i].control == b->edges[i].control;
    }
    return equal;
}

TEST(test_files)
{
    char path[] = "/tmp/dlsim-graph-XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    const dls_zoo_model *m = dls_zoo_find("lenet");
    const dls_zoo_options o = dls_zoo_defaults(m);
    dls_opgraph *g;
    dls_opgraph *back;
    assert_int_equal(dls_zoo_build(m, &o, &g, NULL), DLS_OK);
    assert_int_equal(dls_opgraph_save(g, path, NULL), DLS_OK);
    assert_int_equal(dls_opgraph_load(path, &back, NULL), DLS_OK);
    assert_true(same(g, back));
    dls_opgraph_destroy(back);

    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    static unsigned char bytes[1 << 20];
    const size_t n = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    assert_true(n > 1000 && n < sizeof bytes);
    int refused = 0;
    for (int round = 0; round < 60; round++) {
        const size_t at = (size_t)below((int32_t)n);
        bytes[at] ^= (unsigned char)(1 << below(8));
        f = fopen(path, "wb");
        assert_non_null(f);
        assert_int_equal(fwrite(bytes, 1, round % 4 ? n : at, f), round % 4 ? n : at);
        fclose(f);
        dls_error err;
        const dls_status status = dls_opgraph_load(path, &back, &err);
        refused += status != DLS_OK;
        if (status == DLS_OK) {
            assert_true(same(g, back)); /* the byte was not part of the graph */
        } else {
            assert_int_equal(status, DLS_EINPUT);
            assert_null(back);
        }
        dls_opgraph_destroy(back);
        bytes[at] = 0;
        f = fopen(path, "wb");
        assert_non_null(f);
        fclose(f);
        assert_int_equal(dls_opgraph_save(g, path, NULL), DLS_OK);
        f = fopen(path, "rb");
        assert_non_null(f);
        assert_int_equal(fread(bytes, 1, sizeof bytes, f), n);
        fclose(f);
    }
    assert_true(refused > 15);
    dls_grouping grouping;
    dls_feature_spec *spec;
    assert_int_equal(dls_grouping_create(g, DLS_GROUPING_UNIFORM, 20, 42, &grouping, NULL), DLS_OK);
    assert_int_equal(dls_feature_spec_create(DLS_FEATURES_DRIPLE, &spec, NULL), DLS_OK);
    const dls_grouped corpus = {g, &grouping};
    assert_int_equal(dls_feature_spec_fit(spec, &corpus, 1, NULL), DLS_OK);
    assert_int_equal(dls_grouped_save(path, spec, &corpus, 1, NULL), DLS_OK);
    assert_int_equal(dls_opgraph_load(path, &back, NULL), DLS_EINPUT); /* another format */
    dls_feature_spec_destroy(spec);
    dls_grouping_fini(&grouping);
    dls_opgraph_destroy(g);
    unlink(path);
    assert_int_equal(dls_opgraph_load(path, &back, NULL), DLS_EINPUT);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static dls_status whole_way(const char *path, dls_error *err)
{
    const dls_zoo_model *m = dls_zoo_find("lenet");
    const dls_zoo_options o = dls_zoo_defaults(m);
    dls_opgraph *g = NULL;
    dls_opgraph *back = NULL;
    dls_feature_spec *spec = NULL;
    dls_grouping grouping = {0};
    dls_status status = dls_zoo_build(m, &o, &g, err);
    status = status == DLS_OK ? dls_opgraph_save(g, path, err) : status;
    status = status == DLS_OK ? dls_opgraph_load(path, &back, err) : status;
    status = status == DLS_OK
                 ? dls_grouping_create(back, DLS_GROUPING_UNIFORM, 20, 42, &grouping, err)
                 : status;
    status = status == DLS_OK ? dls_feature_spec_create(DLS_FEATURES_WORK, &spec, err) : status;
    const dls_grouped corpus = {back, &grouping};
    status = status == DLS_OK ? dls_feature_spec_fit(spec, &corpus, 1, err) : status;
    status = status == DLS_OK ? dls_grouped_save(path, spec, &corpus, 1, err) : status;
    dls_feature_spec_destroy(spec);
    dls_grouping_fini(&grouping);
    dls_opgraph_destroy(back);
    dls_opgraph_destroy(g);
    return status;
}

/* Whichever allocation fails, the caller hears of it and nothing is left behind. */
TEST(test_memory)
{
    char path[] = "/tmp/dlsim-graph-XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    EACH_REFUSED(51, whole_way(path, NULL));
    unlink(path);
}

int main(void)
{
    rng = dls_rng_stream(2024, DLS_RNG_TEST, 11);
    return run_listed();
}
