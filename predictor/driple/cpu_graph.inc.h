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

typedef struct scratch {
    REAL *agg;      /* [N][ld]: an aggregated state, or a wide intermediate */
    REAL *wide;     /* [N][wide_ld] */
    REAL *wide2;    /* [N][wide_ld] */
    REAL *dense;    /* [N][pad16(N)]: dense adjacency or attention, if wanted */
    REAL *message;  /* [max degree + 1][pad] */
    REAL *edge;     /* [max degree + 1] weights of the messages */
    REAL *degree;   /* [N] row sums of A */
    int32_t *index; /* [max degree + 1] */
    int32_t wide_ld;
    tile_rows tiles;
} scratch;

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

static REAL leaky(REAL v, REAL slope)
{
    return v >= 0 ? v : slope * v;
}

static REAL elu(REAL v)
{
    return v > 0 ? v : (REAL)expm1((double)v);
}
