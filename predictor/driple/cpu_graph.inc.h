/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a pass knows of its graph, and the small functions of the convolutions; shared by inference
 * and training.
 */

/* Rows in bf16, for cpu_tiles.inc.h. */
typedef struct tile_rows {
    uint16_t *first, *second; /* [rows padded to 16][ld] */
    ptrdiff_t ld;
} tile_rows;

enum { FORWARD_ARRAYS = 5, WIDE_ARRAYS = 10 }; /* of the way forward, and back */

typedef struct scratch {
    REAL *wide[WIDE_ARRAYS]; /* [N][wide_ld], not GCN; training has all, inference the first */
    REAL *act;               /* GIN: [gin_layers][N][wide_ld] */
    REAL *dense;             /* [N][pad16(N)]: dense adjacency or attention, if wanted */
    REAL *message;           /* [max degree + 3][pad] */
    REAL *edge;              /* [2 (max degree + 3)] weights of the messages */
    REAL *degree;            /* [N] row sums of A */
    int32_t *index;          /* [max degree + 3] */
    int32_t wide_ld;
    tile_rows tiles;
} scratch;

/* Arrays of all convolutions but GCN, the first `arrays` of wide. */
static void lay_out_conv(const dls_arch *a, size_t nodes, int32_t degree, int arrays, bump *b,
                         scratch *s)
{
    const int32_t hp = pad16(larger(a->hidden, a->n_features));
    const int32_t f = larger(a->n_features, a->hidden / a->towers);
    const size_t m = (size_t)degree + 3;
    if (a->conv == DLS_CONV_GCN) {
        return;
    }
    s->wide_ld = larger(hp, pad16(f * (1 + a->n_aggregators * a->n_scalers)));
    const size_t wide = nodes * (size_t)s->wide_ld;
    for (int i = 0; i < arrays; i++) {
        s->wide[i] = bump_take(b, wide, sizeof(REAL));
    }
    if (a->conv == DLS_CONV_GIN) {
        s->act = bump_take(b, wide * (size_t)a->gin_layers, sizeof(REAL));
    }
    s->message = bump_take(b, m * (size_t)hp, sizeof(REAL));
    s->edge = bump_take(b, 2 * m, sizeof(REAL));
    s->index = bump_take(b, m, sizeof *s->index);
}

/* What a forward pass knows of its graph. */
typedef struct graph_ctx {
    const dls_graph *g;
    csr norm;      /* GCN: normalised; GIN: A and 1 + epsilon; set per graph or layer */
    bool as_dense; /* norm is in scratch.dense instead */
    scratch s;
} graph_ctx;

static REAL edge_weight(const dls_graph *g, int64_t e)
{
    return g->weight ? (REAL)g->weight[e] : 1;
}

/* S = D^-1/2 (A + I) D^-1/2 with d = 1 + row sum; depends on A only, so done once per graph. */
static void normalise(graph_ctx *x, bool as_dense)
{
    const dls_graph *g = x->g;
    const int32_t n = g->n_nodes;
    REAL *root = x->s.degree; /* d^-1/2 while here */
    for (int32_t i = 0; i < n; i++) {
        double d = 1;
        for (int64_t e = g->row_start[i]; e < g->row_start[i + 1]; e++) {
            d += g->weight ? g->weight[e] : 1;
        }
        root[i] = (REAL)(1 / sqrt(d));
    }
    for (int32_t i = 0; i < n; i++) {
        x->norm.diag[i] = root[i] * root[i];
        for (int64_t e = g->row_start[i]; e < g->row_start[i + 1]; e++) {
            x->norm.value[e] = edge_weight(g, e) * root[i] * root[g->col[e]];
        }
    }
    x->as_dense = as_dense;
    if (as_dense) {
        const ptrdiff_t ld = pad16(n);
        memset(x->s.dense, 0, (size_t)n * (size_t)ld * sizeof(REAL));
        for (int32_t i = 0; i < n; i++) {
            for (int64_t e = g->row_start[i]; e < g->row_start[i + 1]; e++) {
                x->s.dense[i * ld + g->col[e]] += x->norm.value[e];
            }
            x->s.dense[i * ld + i] += x->norm.diag[i];
        }
    }
}

/* Take up a graph: the matrix that aggregates, or the degrees of MPNN's aggregators. */
static void take_up(graph_ctx *x, dls_conv_kind kind, const dls_graph *g, REAL *value, REAL *diag,
                    bool as_dense)
{
    x->g = g;
    x->norm = (csr){g->n_nodes, g->row_start, g->col, value, diag};
    if (kind == DLS_CONV_GCN) {
        normalise(x, as_dense);
    }
    for (int32_t i = 0; i < g->n_nodes && kind != DLS_CONV_GCN && kind != DLS_CONV_GAT; i++) {
        REAL d = 0;
        for (int64_t e = g->row_start[i]; e < g->row_start[i + 1]; e++) {
            value[e] = edge_weight(g, e);
            d += value[e];
        }
        x->s.degree[i] = d;
    }
}

/* Features as the network sees them, in the first columns of h [N][ld]. */
static void load_features(const dls_graph *g, const double *shift, const double *scale, REAL *h,
                          ptrdiff_t ld)
{
    memset(h, 0, (size_t)g->n_nodes * (size_t)ld * sizeof(REAL));
    for (int32_t i = 0; i < g->n_nodes; i++) {
        for (int32_t k = 0; k < g->n_features; k++) {
            h[i * ld + k] = (REAL)((g->x[(ptrdiff_t)i * g->n_features + k] - shift[k]) / scale[k]);
        }
    }
}

/* Node i and its neighbours into s.index; returns how many. */
static int32_t neighbours(graph_ctx *x, int32_t i)
{
    const dls_graph *g = x->g;
    int32_t m = 0;
    x->s.index[m++] = i;
    for (int64_t k = g->row_start[i]; k < g->row_start[i + 1]; k++) {
        if (edge_weight(g, k) > 0 && g->col[k] != i) {
            x->s.index[m++] = g->col[k];
        }
    }
    return m;
}

static REAL dot(const REAL *a, const REAL *b, int32_t n)
{
    REAL sum = 0;
    for (int32_t k = 0; k < n; k++) {
        sum += a[k] * b[k];
    }
    return sum;
}

static REAL leaky(REAL v, REAL slope)
{
    return v >= 0 ? v : slope * v;
}

static REAL elu(REAL v)
{
    return v > 0 ? v : (REAL)expm1((double)v);
}
