/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Grouping against the published implementation (networkx 2.8 and Driple's input builder): random
 * numbers draw by draw, partitions, grouped adjacency and features.
 */

#define OWN_MAIN
#include "base/alloc.h"
#include "support/json.h"
#include "support/must.h"
#include "support/shared.h"
#include "workload/graph/features.h"
#include "workload/graph/graphdef.h"
#include "workload/graph/grouping.h"
#include "workload/graph/pyrandom.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_object *fluid, *builder;

static int32_t integer(json_object *at, const char *key)
{
    return json_object_get_int(member(at, key));
}

static int32_t at(json_object *list, size_t i)
{
    return json_object_get_int(json_object_array_get_idx(list, i));
}

static size_t length(json_object *list)
{
    return json_object_array_length(list);
}

/* ---- random numbers -------------------------------------------------------------------------- */

TEST(test_random)
{
    json_object *rng = member(fluid, "rng");
    dls_pyrandom r;
    dls_pyrandom_seed(&r, (uint64_t)integer(rng, "seed"));
    json_object *bits = member(rng, "python_random_getrandbits32");
    for (size_t i = 0; i < length(bits); i++) {
        assert_int_equal(dls_pyrandom_u32(&r),
                         json_object_get_int64(json_object_array_get_idx(bits, i)));
    }
    int32_t order[10] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    dls_pyrandom_seed(&r, 42);
    dls_pyrandom_shuffle(&r, order, 10);
    for (size_t i = 0; i < 10; i++) {
        assert_int_equal(order[i], at(member(rng, "shuffle_range10"), i));
    }
    dls_pyrandom_seed(&r, 42);
    for (size_t i = 0; i < 20; i++) {
        assert_int_equal(dls_pyrandom_below(&r, 7), at(member(rng, "choice_range7_x20"), i));
    }
    dls_pyrandom_seed(&r, 42);
    for (size_t i = 0; i < 20; i++) {
        assert_int_equal(dls_pyrandom_below(&r, 8), at(member(rng, "choice_range8_x20"), i));
    }
    dls_pyrandom_seed(&r, 42);
    json_object *ones = member(rng, "choice_range1_x3_then_bits");
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(dls_pyrandom_below(&r, 1), at(ones, i));
    }
    assert_int_equal(dls_pyrandom_u32(&r),
                     json_object_get_int64(json_object_array_get_idx(ones, 3)));
}

/* ---- fluid communities ----------------------------------------------------------------------- */

static void check_neighbours(const dls_adjacency *a, json_object *lists)
{
    for (int32_t v = 0; v < a->n; v++) {
        char key[16];
        snprintf(key, sizeof key, "%d", (int)v);
        json_object *list = member(lists, key);
        assert_int_equal(length(list), a->start[v + 1] - a->start[v]);
        for (size_t i = 0; i < length(list); i++) {
            assert_int_equal(a->nbr[a->start[v] + (int64_t)i], at(list, i));
        }
    }
}

static void check_shuffles(json_object *c, int32_t n)
{
    int32_t *order = malloc((size_t)n * sizeof *order);
    assert_non_null(order);
    dls_pyrandom r;
    dls_pyrandom_seed(&r, (uint64_t)integer(c, "seed"));
    static const char *const keys[] = {"init_shuffle", "first_pass_order"};
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t v = 0; v < n; v++) {
            order[v] = v;
        }
        dls_pyrandom_shuffle(&r, order, n);
        for (int32_t i = 0; i < n; i++) {
            assert_int_equal(order[i], at(member(c, keys[pass]), (size_t)i));
        }
    }
    free(order);
}

static void check_fluid(json_object *c)
{
    const int32_t n = integer(c, "n");
    json_object *list = member(c, "edges");
    const size_t n_edges = length(list);
    int32_t(*edges)[2] = malloc((n_edges + 1) * sizeof *edges);
    int32_t *label = malloc((size_t)n * sizeof *label);
    assert_non_null(edges);
    assert_non_null(label);
    for (size_t i = 0; i < n_edges; i++) {
        json_object *e = json_object_array_get_idx(list, i);
        edges[i][0] = at(e, 0);
        edges[i][1] = at(e, 1);
    }
    dls_adjacency a;
    assert_int_equal(
        dls_adjacency_create(n, (const int32_t(*)[2])edges, (int64_t)n_edges, &a, NULL), DLS_OK);
    check_neighbours(&a, member(c, "neighbour_order"));
    check_shuffles(c, n);
    assert_int_equal(dls_fluid(&a, integer(c, "k"), (uint64_t)integer(c, "seed"),
                               integer(c, "max_iter"), label, NULL),
                     DLS_OK);
    json_object *groups = member(c, "communities");
    assert_int_equal(length(groups), integer(c, "k"));
    size_t members = 0;
    for (size_t group = 0; group < length(groups); group++) {
        json_object *ids = json_object_array_get_idx(groups, group);
        for (size_t i = 0; i < length(ids); i++) {
            assert_int_equal(label[at(ids, i)], group);
            members++;
        }
    }
    assert_int_equal(members, n);
    dls_adjacency_fini(&a);
    free(edges);
    free(label);
}

TEST(test_fluid)
{
    json_object *cases = member(fluid, "cases");
    assert_int_equal(length(cases), 19);
    for (size_t i = 0; i < length(cases); i++) {
        check_fluid(json_object_array_get_idx(cases, i));
    }
}

/* ---- the input builder ----------------------------------------------------------------------- */

static int64_t tensor_size(json_object *shape)
{
    int64_t dims[16];
    int n = 0;
    if (shape && json_object_is_type(shape, json_type_array)) {
        for (size_t i = 0; i < length(shape); i++) {
            json_object *dim = json_object_array_get_idx(shape, i);
            dims[n++] = dim ? json_object_get_int64(dim) : -1;
        }
    }
    return dls_driple_tensor_size(dims, n);
}

/* The case as TensorFlow would write it. */
static char *graphdef_of(json_object *c)
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    assert_non_null(f);
    json_object *nodes = member(c, "nodes");
    for (size_t i = 0; i < length(nodes); i++) {
        json_object *x = json_object_array_get_idx(nodes, i);
        json_object *inputs = member(x, "input");
        json_object *shape = member(x, "shape");
        fprintf(f, "node {\n  name: \"%s\"\n  op: \"%s\"\n", json_object_get_string(member(x, "name")),
                json_object_get_string(member(x, "op")));
        for (size_t k = 0; k < length(inputs); k++) {
            fprintf(f, "  input: \"%s\"\n",
                    json_object_get_string(json_object_array_get_idx(inputs, k)));
        }
        fprintf(f, "  device: \"%s\"\n", json_object_get_string(member(x, "device")));
        if (json_object_is_type(shape, json_type_array)) {
            fputs("  attr { key: \"_output_shapes\" value { list { shape {\n", f);
            for (size_t k = 0; k < length(shape); k++) {
                json_object *dim = json_object_array_get_idx(shape, k);
                fprintf(f, "    dim { size: %lld }\n",
                        dim ? (long long)json_object_get_int64(dim) : -1LL);
            }
            fputs("  } } } }\n", f);
        }
        fputs("}\n", f);
    }
    fclose(f);
    return text;
}

/* Read as a file. The shapes of these graphs are random: where one is open, the reader may find
 * what it must be from the inputs, which the builder's was not asked to. */
static dls_opgraph *graph_of(json_object *c)
{
    dls_opgraph *g = NULL;
    const dls_import_options options = {.device = DLS_IMPORT_DEVICE_FILE};
    char *text = graphdef_of(c);
    MUST(dls_graphdef_parse("golden", text, strlen(text), &options, &g, NULL, &e));
    free(text);
    json_object *nodes = member(c, "nodes");
    assert_int_equal(g->n_nodes, length(nodes));
    int n_whole = 0;
    for (int32_t i = 0; i < g->n_nodes; i++) {
        json_object *shape = member(json_object_array_get_idx(nodes, (size_t)i), "shape");
        const int64_t want = tensor_size(shape);
        bool whole = json_object_is_type(shape, json_type_array);
        for (size_t k = 0; whole && k < length(shape); k++) {
            whole = json_object_array_get_idx(shape, k) != NULL;
        }
        if (whole) {
            assert_int_equal(g->nodes[i].tensor_size, want);
        }
        n_whole += whole;
        g->nodes[i].tensor_size = want;
    }
    assert_true(n_whole > g->n_nodes / 3);
    return g;
}

/* The published builder lists a part smaller than half of its graph in the order of a Python set
 * of strings: start again from all nodes and give the kept ones the order of the golden file. */
static void reorder(const dls_opgraph *g, dls_kept *kept, json_object *names)
{
    const size_t n = length(names);
    int32_t(*edges)[2] = malloc(((size_t)g->n_edges + 1) * sizeof *edges);
    int32_t *node = dls_alloc(n * sizeof *node);
    assert_non_null(edges);
    assert_non_null(node);
    int64_t n_edges = 0;
    for (int32_t i = 0; i < g->n_edges; i++) { /* added consumer by consumer */
        const dls_op_edge *e = &g->edges[i];
        if (g->nodes[e->from].on_gpu && g->nodes[e->to].on_gpu) {
            edges[n_edges][0] = e->from;
            edges[n_edges++][1] = e->to;
        }
    }
    dls_adjacency all;
    assert_int_equal(
        dls_adjacency_create(g->n_nodes, (const int32_t(*)[2])edges, n_edges, &all, NULL), DLS_OK);
    for (size_t i = 0; i < n; i++) {
        json_object *name = json_object_array_get_idx(names, i);
        node[i] = dls_strdict_find(&g->names, json_object_get_string(name),
                                   (size_t)json_object_get_string_len(name));
        assert_true(node[i] >= 0);
    }
    /* The same nodes, in another order. */
    assert_int_equal(n, kept->adjacency.n);
    for (int32_t i = 0; i < kept->adjacency.n; i++) {
        bool found = false;
        for (size_t k = 0; k < n; k++) {
            found |= node[k] == kept->node[i];
        }
        assert_true(found);
    }
    dls_kept_fini(kept);
    kept->node = node;
    assert_int_equal(dls_adjacency_restrict(&all, node, (int32_t)n, &kept->adjacency, NULL),
                     DLS_OK);
    dls_adjacency_fini(&all);
    free(edges);
}

static bool same_order(const dls_opgraph *g, const dls_kept *kept, json_object *names)
{
    for (int32_t i = 0; i < kept->adjacency.n; i++) {
        if (strcmp(dls_opgraph_name(g, kept->node[i]),
                   json_object_get_string(json_object_array_get_idx(names, (size_t)i))) != 0) {
            return false;
        }
    }
    return true;
}

static void check_names(const dls_opgraph *g, const dls_kept *kept, json_object *lists)
{
    const dls_adjacency *a = &kept->adjacency;
    for (int32_t v = 0; v < a->n; v++) {
        json_object *list = member(lists, dls_opgraph_name(g, kept->node[v]));
        assert_int_equal(length(list), a->start[v + 1] - a->start[v]);
        for (size_t i = 0; i < length(list); i++) {
            assert_string_equal(dls_opgraph_name(g, kept->node[a->nbr[a->start[v] + (int64_t)i]]),
                                json_object_get_string(json_object_array_get_idx(list, i)));
        }
    }
}

static void check_rows(const dls_grouping *grouping, json_object *adj)
{
    for (int32_t i = 0; i < grouping->n_groups; i++) {
        int64_t e = grouping->row_start[i];
        for (int32_t j = 0; j < grouping->n_groups; j++) {
            const bool edge = e < grouping->row_start[i + 1] && grouping->col[e] == j;
            assert_int_equal(edge, at(json_object_array_get_idx(adj, (size_t)i), (size_t)j));
            e += edge;
        }
        assert_int_equal(e, grouping->row_start[i + 1]);
    }
}

static dls_feature_spec *published_spec(void)
{
    dls_feature_spec *spec = NULL;
    assert_int_equal(dls_feature_spec_create(DLS_FEATURES_DRIPLE, &spec, NULL), DLS_OK);
    struct json_object_iter it;
    json_object_object_foreachC(member(builder, "node_frequency"), it)
    {
        assert_int_equal(dls_feature_spec_set(spec, it.key, json_object_get_double(it.val), NULL),
                         DLS_OK);
    }
    return spec;
}

static void check_features(const dls_opgraph *g, const dls_grouping *grouping, json_object *result)
{
    DLS_HOLD(dls_feature_spec_destroy) dls_feature_spec *spec = published_spec();
    double *x = malloc((size_t)grouping->n_groups * 3 * sizeof *x);
    assert_non_null(x);
    int64_t n_unknown = -1;
    assert_int_equal(dls_features_raw(spec, g, grouping, x, &n_unknown, NULL), DLS_OK);
    assert_int_equal(n_unknown, 0);
    for (int32_t i = 0; i < grouping->n_groups; i++) {
        json_object *row = json_object_array_get_idx(member(result, "features"), (size_t)i);
        json_object *row32 = json_object_array_get_idx(member(result, "features_f32"), (size_t)i);
        for (size_t f = 0; f < 3; f++) {
            const double want = json_object_get_double(json_object_array_get_idx(row, f));
            const double got = x[3 * (size_t)i + f];
            assert_true(fabs(got - want) <= 1e-14 * fabs(want));
            assert_true((float)got ==
                        (float)json_object_get_double(json_object_array_get_idx(row32, f)));
        }
    }
    free(x);
}

static void check_build(json_object *c)
{
    json_object *result = member(c, "result");
    dls_opgraph *g = graph_of(c);
    dls_kept kept;
    assert_int_equal(dls_kept_create(g, &kept, NULL), DLS_OK);
    assert_int_equal(kept.n_gpu, integer(result, "n_gpu"));
    assert_int_equal(kept.adjacency.n, integer(result, "n_kept"));
    if (strcmp(json_object_get_string(member(c, "name")), "five_comp_lcc_lt_half") == 0) {
        reorder(g, &kept, member(result, "node_order"));
    }
    assert_true(same_order(g, &kept, member(result, "node_order")));
    check_names(g, &kept, member(result, "nbr_order"));
    const int32_t k = integer(c, "k");
    int32_t *label = malloc((size_t)kept.adjacency.n * sizeof *label);
    assert_non_null(label);
    assert_int_equal(dls_fluid(&kept.adjacency, k, (uint64_t)integer(c, "seed"), DLS_FLUID_MAX_ITER,
                               label, NULL),
                     DLS_OK);
    dls_grouping grouping;
    assert_int_equal(dls_grouping_from_labels(g, &kept, label, k, &grouping, NULL), DLS_OK);
    struct json_object_iter it;
    json_object_object_foreachC(member(result, "groups"), it)
    {
        assert_int_equal(grouping.group[dls_strdict_find(&g->names, it.key, strlen(it.key))], json_object_get_int(it.val));
    }
    check_rows(&grouping, member(result, "adj"));
    check_features(g, &grouping, result);
    dls_grouping_fini(&grouping);
    dls_kept_fini(&kept);
    dls_opgraph_destroy(g);
    free(label);
}

TEST(test_builder)
{
    json_object *cases = member(builder, "cases");
    assert_int_equal(length(cases), 3);
    for (size_t i = 0; i < length(cases); i++) {
        check_build(json_object_array_get_idx(cases, i));
    }
}

int main(void)
{
    char path[2][1200];
    if (!shared_path("golden/driple/fluid.json", path[0], sizeof path[0]) ||
        !shared_path("golden/driple/builder.json", path[1], sizeof path[1])) {
        return 77;
    }
    fluid = json_object_from_file(path[0]);
    builder = json_object_from_file(path[1]);
    const int rc = run_listed();
    json_object_put(fluid);
    json_object_put(builder);
    return rc;
}
