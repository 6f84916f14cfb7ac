/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Graphs: time to build, group and describe; fluid communities on 100 000 nodes; reading a GraphDef
 * of 100 000 nodes. Prints JSON; --smoke: a tenth of the networks, and of the size.
 */
#include "graphdef.pb-c.h"
#include "workload/graph/features.h"
#include "workload/graph/graphdef.h"
#include "workload/graph/zoo.h"

#include "base/rng.h"
#include "support/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A chain with shortcuts of up to 200 nodes, as training graphs have them. */
static void bench_fluid(int32_t n, int32_t k, const char *end)
{
    dls_error err;
    dls_rng rng = dls_rng_stream(1, DLS_RNG_TEST, 0);
    int32_t(*edges)[2] = malloc(2 * (size_t)n * sizeof *edges);
    int32_t *label = malloc((size_t)n * sizeof *label);
    if (!edges || !label) {
        exit(1);
    }
    int32_t n_edges = 0;
    for (int32_t v = 1; v < n; v++) {
        const int32_t far = (int32_t)dls_rng_below(&rng, (uint64_t)(v < 200 ? v : 200)) + 1;
        edges[n_edges][0] = v - 1;
        edges[n_edges++][1] = v;
        edges[n_edges][0] = v - far;
        edges[n_edges++][1] = v;
    }
    dls_adjacency a;
    must(dls_adjacency_create(n, (const int32_t(*)[2])edges, n_edges, &a, &err), &err);
    const double begin = wall_s();
    must(dls_fluid(&a, k, 42, DLS_FLUID_MAX_ITER, label, &err), &err);
    printf("    {\"nodes\": %d, \"edges\": %d, \"groups\": %d, \"fluid_s\": %.4f}%s\n", (int)n,
           (int)n_edges, (int)k, wall_s() - begin, end);
    dls_adjacency_fini(&a);
    free(edges);
    free(label);
}

/* Of every step-th network. */
static void bench_zoo(size_t step)
{
    dls_error err;
    double build_s = 0;
    double group_s = 0;
    int64_t nodes = 0;
    for (size_t i = 0; i < dls_zoo_size(); i += step) {
        const dls_zoo_model *m = dls_zoo_at(i);
        const dls_zoo_options o = dls_zoo_defaults(m);
        DLS_HOLD(dls_opgraph_destroy) dls_opgraph *g = NULL;
        DLS_OWN(dls_grouping_fini) dls_grouping grouping = {0};
        const double begin = wall_s();
        must(dls_zoo_build(m, &o, &g, &err), &err);
        const double built = wall_s();
        must(dls_grouping_create(g, DLS_GROUPING_UNIFORM, DLS_GROUPS_DEFAULT, DLS_GROUPING_SEED,
                                 &grouping, &err),
             &err);
        group_s += wall_s() - built;
        build_s += built - begin;
        nodes += g->n_nodes;
    }
    printf("  \"zoo\": {\"models\": %zu, \"nodes\": %lld, \"build_s\": %.4f, \"group_s\": %.4f},\n",
           (dls_zoo_size() + step - 1) / step, (long long)nodes, build_s, group_s);
}

/* ---- reading --------------------------------------------------------------------------------- */

typedef struct bytes {
    uint8_t *data;
    size_t n, cap;
} bytes;

static void put(bytes *b, const void *data, size_t n)
{
    if (b->n + n > b->cap) {
        b->cap = 2 * (b->n + n);
        b->data = realloc(b->data, b->cap);
        if (!b->data) {
            exit(1);
        }
    }
    memcpy(b->data + b->n, data, n);
    b->n += n;
}

/* One node, field 1 of a GraphDef: a sequence of such is the whole. */
static void put_node(bytes *b, Dls__Tf__NodeDef *node)
{
    uint8_t packed[1024];
    uint8_t head[12] = {1 << 3 | 2};
    size_t n = dls__tf__node_def__pack(node, packed);
    size_t at = 1;
    for (size_t rest = n; rest || at == 1; rest >>= 7) {
        head[at++] = (uint8_t)((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0));
    }
    put(b, head, at);
    put(b, packed, n);
}

/* A tower of blocks of three operations and a weight, with the attributes that TensorFlow writes.
 */
static void write_graph(bytes *b, int32_t n)
{
    char name[3][64];
    char *input[3] = {name[1], name[2], NULL};
    char key[4][16] = {"T", "data_format", "strides", "padding"};
    char device[] = "/job:worker/replica:0/task:0/device:GPU:0";
    static const char *const ops[] = {"VariableV2", "Conv2D", "Relu", "AddV2"};
    int64_t strides[4] = {1, 1, 1, 1};
    int64_t dims[4] = {3, 3, 64, 64};
    Dls__Tf__AttrList list = DLS__TF__ATTR_LIST__INIT;
    Dls__Tf__AttrValue values[4] = {DLS__TF__ATTR_VALUE__INIT, DLS__TF__ATTR_VALUE__INIT,
                                    DLS__TF__ATTR_VALUE__INIT, DLS__TF__ATTR_VALUE__INIT};
    Dls__Tf__AttrEntry entries[4];
    Dls__Tf__AttrEntry *entry[4];
    Dls__Tf__TensorShapeDim dim[4];
    Dls__Tf__TensorShapeDim *of[4];
    Dls__Tf__TensorShape shape = DLS__TF__TENSOR_SHAPE__INIT;
    for (int i = 0; i < 4; i++) {
        dls__tf__attr_entry__init(&entries[i]);
        dls__tf__tensor_shape_dim__init(&dim[i]);
        entries[i].key = key[i];
        entries[i].value = &values[i];
        entry[i] = &entries[i];
        dim[i].has_size = 1;
        dim[i].size = dims[i];
        of[i] = &dim[i];
    }
    shape.n_dim = 4;
    shape.dim = of;
    values[0].has_type = 1;
    values[0].type = DLS__TF__DATA_TYPE__DT_FLOAT;
    values[1].has_s = 1;
    values[1].s = (ProtobufCBinaryData){4, (uint8_t[]){'N', 'H', 'W', 'C'}};
    list.n_i = 4;
    list.i = strides;
    values[2].list = &list;
    values[3].has_s = 1;
    values[3].s = (ProtobufCBinaryData){4, (uint8_t[]){'S', 'A', 'M', 'E'}};
    for (int32_t i = 0; i < n; i++) {
        Dls__Tf__NodeDef node = DLS__TF__NODE_DEF__INIT;
        char op[16];
        const int kind = i % 4;
        snprintf(op, sizeof op, "%s", i < 4 && kind == 1 ? "Placeholder" : ops[kind]);
        snprintf(name[0], sizeof name[0], "tower_0/block_%d/unit/%s_%d", (int)i / 4, op, kind);
        /* Conv2D(block before, weight), Relu(Conv2D), Add(Relu, block before) */
        const int32_t back[4][2] = {{0, 0}, {2, 1}, {1, 0}, {1, 4}};
        size_t n_input = 0;
        for (int k = 0; k < 2 && i > 7; k++) {
            const int32_t from = i - back[kind][k];
            if (back[kind][k] > 0) {
                snprintf(name[1 + n_input++], sizeof name[1], "tower_0/block_%d/unit/%s_%d",
                         (int)from / 4, ops[from % 4], (int)from % 4);
            }
        }
        snprintf(key[0], sizeof key[0], "%s", kind == 0 ? "dtype" : "T");
        strcpy(key[1], kind == 0 ? "shape" : "data_format");
        values[1].shape = kind == 0 ? &shape : NULL;
        values[1].has_s = kind != 0;
        node.name = name[0];
        node.op = op;
        node.device = device;
        node.n_input = n_input;
        node.input = input;
        node.n_attr = kind == 1 ? 4 : 2;
        node.attr = entry;
        put_node(b, &node);
    }
}

static void bench_read(int32_t n)
{
    dls_error err;
    bytes b = {NULL, 0, 0};
    dls_opgraph *g;
    write_graph(&b, n);
    const double begin = wall_s();
    const clock_t begin_cpu = clock();
    must(dls_graphdef_parse("bench", b.data, b.n, NULL, &g, NULL, &err), &err);
    const double cpu_s = (double)(clock() - begin_cpu) / CLOCKS_PER_SEC;
    const double read_s = wall_s() - begin;
    printf("  \"graphdef\": {\"nodes\": %d, \"edges\": %d, \"bytes\": %zu, \"read_s\": %.4f, "
           "\"cpu_s\": %.4f}\n",
           (int)g->n_nodes, (int)g->n_edges, b.n, read_s, cpu_s);
    dls_opgraph_destroy(g);
    free(b.data);
}

int main(int argc, char **argv)
{
    const bool smoke = argc > 1 && strcmp(argv[1], "--smoke") == 0;
    const int32_t n = smoke ? 10000 : 100000;
    puts("{");
    bench_zoo(smoke ? 10 : 1);
    puts("  \"fluid\": [");
    bench_fluid(n, 10, ",");
    bench_fluid(n, 100, ",");
    bench_fluid(n, 1000, "");
    puts("  ],");
    bench_read(n);
    puts("}");
    return 0;
}
