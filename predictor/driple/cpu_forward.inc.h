/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The forward pass of the four convolutions, y = conv(h, A), and of the readouts of one pass over
 * the nodes: one for inference and training. Where the published code and the mathematics differ
 * (GAT, PNA), arch.reference chooses the former.
 */

/* What a convolution is given and works in; the last three are for the way back. */
typedef struct conv_args {
    const dls_arch *a;
    const lin *c;   /* its first map: dls_arch_conv_map */
    const REAL *in; /* [N][ld] */
    int32_t in_width;
    ptrdiff_t ld;
    bool first;     /* layer 0 */
    REAL *agg;      /* [N][ld] aggregated state of GCN and GIN */
    REAL *y;        /* [N][ld] */
    REAL *dy, *din; /* [N][ld], din may be NULL */
    REAL *grad;     /* the gradient buffer */
} conv_args;

/* y = f(x W + b) of one map. */
static void apply(const lin *l, const REAL *x, ptrdiff_t ldx, int32_t rows, const REAL *b, act f,
                  REAL *y, ptrdiff_t ldy)
{
    dense(x, ldx, rows, l->k, l->w, l->np, l->np, b, f, y, ldy);
}

/* ---- GCN and GIN ---------------------------------------------------------------------------- */

static void gcn_forward(graph_ctx *x, const conv_args *q)
{
    const int32_t n = x->norm.n;
    const int32_t width = pad16(q->in_width);
    if (x->as_dense) {
        dense(x->s.dense, pad16(n), n, n, q->in, q->ld, width, NULL, ACT_NONE, q->agg, q->ld);
    } else {
        sparse_times(&x->norm, q->in, q->ld, width, q->agg);
    }
#ifdef ENGINE_TILES
    gcn_tiles(&x->s.tiles, q->c, q->agg, n, q->ld, q->y);
#else
    apply(q->c, q->agg, q->ld, n, q->c->b, ACT_LRELU, q->y, q->ld);
#endif
}

/* All activations but the last, which is y; act + l * N * wide_ld is the output of layer l. */
static void gin_forward(graph_ctx *x, const conv_args *q)
{
    const int32_t n = x->norm.n;
    const int32_t layers = q->a->gin_layers;
    const REAL *from = q->agg;
    ptrdiff_t from_ld = q->ld;
    for (int32_t i = 0; i < n; i++) {
        x->norm.diag[i] = 1 + q->c->b[0];
    }
    sparse_times(&x->norm, q->in, q->ld, pad16(q->in_width), q->agg);
    for (int32_t l = 0; l < layers; l++) {
        const lin *f = q->c + 1 + l;
        const bool last = l == layers - 1;
        REAL *to = last ? q->y : x->s.act + (ptrdiff_t)l * n * x->s.wide_ld;
        const ptrdiff_t to_ld = last ? q->ld : x->s.wide_ld;
        apply(f, from, from_ld, n, f->b, ACT_RELU, to, to_ld);
        from = to;
        from_ld = to_ld;
    }
}

/* ---- GAT ------------------------------------------------------------------------------------ */

/* W h of one head into wide[0], the two scores of each node into src and dst. */
static void gat_project(graph_ctx *x, const conv_args *q, const lin *w, int32_t f, REAL *src,
                        REAL *dst)
{
    const ptrdiff_t ldw = x->s.wide_ld;
    const REAL *a = w[1].b;
    apply(w, q->in, q->ld, x->g->n_nodes, NULL, ACT_NONE, x->s.wide[0], ldw);
    for (int32_t i = 0; i < x->g->n_nodes; i++) {
        src[i] = dot(x->s.wide[0] + i * ldw, a, f);
        dst[i] = dot(x->s.wide[0] + i * ldw, a + f, f);
    }
}

/* The node whose row the published reshape puts at position q of the 2 N^2 stacked rows. */
static int64_t reshaped_source(int64_t q, int64_t n)
{
    return q < n * n ? q / n : (q - n * n) % n;
}

/* Published: pairs taken along the wrong axis, no self loop, softmax over the first index; a column
 * without neighbours gives every node 1/N. One head: w [N][ldw] into f columns of y. */
static void gat_head_reference(const dls_arch *a, graph_ctx *x, const REAL *src, const REAL *dst,
                               const REAL *w, ptrdiff_t ldw, int32_t f, REAL *y, ptrdiff_t ld)
{
    const int32_t n = x->g->n_nodes;
    const ptrdiff_t lde = pad16(n);
    REAL *e = x->s.dense;
    for (int32_t i = 0; i < n; i++) {
        for (int32_t j = 0; j < n; j++) {
            e[i * lde + j] = (REAL)-9e15;
        }
        for (int64_t k = x->g->row_start[i]; k < x->g->row_start[i + 1]; k++) {
            const int32_t j = x->g->col[k];
            const int64_t r = (int64_t)i * n + j;
            if (edge_weight(x->g, k) > 0) {
                e[i * lde + j] =
                    leaky(src[reshaped_source(2 * r, n)] + dst[reshaped_source(2 * r + 1, n)],
                          (REAL)a->gat_alpha);
            }
        }
    }
    for (int32_t j = 0; j < n; j++) {
        REAL top = e[j];
        for (int32_t i = 1; i < n; i++) {
            top = e[i * lde + j] > top ? e[i * lde + j] : top;
        }
        REAL sum = 0;
        for (int32_t i = 0; i < n; i++) {
            e[i * lde + j] = (REAL)exp((double)(e[i * lde + j] - top));
            sum += e[i * lde + j];
        }
        for (int32_t i = 0; i < n; i++) {
            e[i * lde + j] /= sum;
        }
    }
    for (int32_t i = 0; i < n; i++) {
        for (int32_t k = 0; k < f; k++) {
            REAL sum = 0;
            for (int32_t j = 0; j < n; j++) {
                sum += e[i * lde + j] * w[j * ldw + k];
            }
            y[i * ld + k] = elu(sum);
        }
    }
}

/* As the method is defined (Velickovic et al., "Graph Attention Networks", ICLR 2018, eq. 3-4): a
 * node attends to itself and its neighbours, the softmax runs over them. */
static void gat_head(const dls_arch *a, graph_ctx *x, const REAL *src, const REAL *dst,
                     const REAL *w, ptrdiff_t ldw, int32_t f, REAL *y, ptrdiff_t ld)
{
    for (int32_t i = 0; i < x->g->n_nodes; i++) {
        const int32_t m = neighbours(x, i);
        REAL top = -(REAL)HUGE_VAL;
        for (int32_t k = 0; k < m; k++) {
            const REAL e = leaky(src[i] + dst[x->s.index[k]], (REAL)a->gat_alpha);
            x->s.edge[k] = e;
            top = e > top ? e : top;
        }
        REAL sum = 0;
        for (int32_t k = 0; k < m; k++) {
            x->s.edge[k] = (REAL)exp((double)(x->s.edge[k] - top));
            sum += x->s.edge[k];
        }
        for (int32_t c = 0; c < f; c++) {
            REAL v = 0;
            for (int32_t k = 0; k < m; k++) {
                v += x->s.edge[k] * w[x->s.index[k] * ldw + c];
            }
            y[i * ld + c] = elu(v / sum);
        }
    }
}

static void gat_forward(graph_ctx *x, const conv_args *q)
{
    const dls_arch *a = q->a;
    const int32_t f = a->hidden / a->gat_heads;
    const ptrdiff_t ldw = x->s.wide_ld;
    REAL *src = x->s.wide[1];
    REAL *dst = x->s.wide[2];
    memset(q->y, 0, (size_t)x->g->n_nodes * (size_t)q->ld * sizeof(REAL));
    for (int32_t head = 0; head < a->gat_heads; head++) {
        REAL *y = q->y + head * f;
        gat_project(x, q, q->c + 2 * head, f, src, dst);
        if (a->reference) {
            gat_head_reference(a, x, src, dst, x->s.wide[0], ldw, f, y, q->ld);
        } else {
            gat_head(a, x, src, dst, x->s.wide[0], ldw, f, y, q->ld);
        }
    }
}

/* ---- MPNN -----------------------------------------------------------------------------------
 *
 * The PNA layer (Corso et al., "Principal Neighbourhood Aggregation for Graph Nets", NeurIPS 2020),
 * of which Driple's MPNN is the case of 4 towers, sum and identity. Only messages along edges are
 * formed, so the cost is that of the edges and not of all pairs.
 *
 * Meant and published differ in five places. Published: max and min run over the first index; the
 * mean inside the moments counts a self loop twice; a moment jumps from -e to e (e^n = 1e-5) where
 * it crosses zero, so that rounding decides; a node without neighbours gives 0/0; scalers divide by
 * log 1. Meant: over the neighbours; the mean of the aggregation; through zero; zero; zero.
 */

typedef struct tower_args {
    const lin *pre_i, *pre_j, *post;
    const REAL *mine; /* the tower's columns of the input */
    int32_t f;
} tower_args;

static tower_args tower_of(const conv_args *q, int32_t t)
{
    const lin *l = q->c + 3 * t;
    return (tower_args){l, l + 1, l + 2, q->in + (q->first ? 0 : t * l->k), l->k};
}

/* u and v of M_ij = u_i + v_j into wide[0], wide[1]; x_i and its scaled aggregates into wide[2]. */
static void open_tower(graph_ctx *x, const conv_args *q, const tower_args *t)
{
    const int32_t n = x->g->n_nodes;
    const ptrdiff_t ld = q->ld;
    const ptrdiff_t ldw = x->s.wide_ld;
    const int32_t f = t->f;
    apply(t->pre_i, t->mine, ld, n, t->pre_i->b, ACT_NONE, x->s.wide[0], ldw);
    apply(t->pre_j, t->mine, ld, n, NULL, ACT_NONE, x->s.wide[1], ldw);
    tower_inputs(q->a, x, t->mine, ld, f, x->s.wide[0], x->s.wide[1], ldw, x->s.wide[2], ldw);
}

/* The outputs of all towers side by side into wide[4]. */
static void towers_forward(graph_ctx *x, const conv_args *q)
{
    const dls_arch *a = q->a;
    const int32_t n = x->g->n_nodes;
    const int32_t out = a->hidden / a->towers;
    const ptrdiff_t ldw = x->s.wide_ld;
    for (int32_t k = 0; k < a->towers; k++) {
        const tower_args t = tower_of(q, k);
        open_tower(x, q, &t);
        apply(t.post, x->s.wide[2], ldw, n, t.post->b, ACT_NONE, x->s.wide[3], ldw);
        for (int32_t i = 0; i < n; i++) {
            memcpy(x->s.wide[4] + i * ldw + k * out, x->s.wide[3] + i * ldw,
                   (size_t)out * sizeof(REAL));
        }
    }
}

static void mpnn_forward(graph_ctx *x, const conv_args *q)
{
    const dls_arch *a = q->a;
    const lin *mix = q->c + 3 * a->towers;
    towers_forward(x, q);
    apply(mix, x->s.wide[4], x->s.wide_ld, x->g->n_nodes, mix->b, ACT_LRELU, q->y, q->ld);
}

static void conv_forward(graph_ctx *x, const conv_args *q)
{
    switch (q->a->conv) {
    case DLS_CONV_GIN:
        gin_forward(x, q);
        break;
    case DLS_CONV_GAT:
        gat_forward(x, q);
        break;
    case DLS_CONV_MPNN:
        mpnn_forward(x, q);
        break;
    default:
        gcn_forward(x, q);
        break;
    }
}

/* ---- readouts of one pass over the nodes ------------------------------------------------------
 */

/* Mean, max or attention (of map l) over nodes [n][dp], d columns, into out; weights of the nodes
 * into w [n padded to 16]. */
static void pool_nodes(const dls_arch *a, const lin *l, const REAL *nodes, int32_t n, int32_t d,
                       ptrdiff_t dp, REAL *w, REAL *out)
{
    const bool attention = a->pool == DLS_POOL_ATTENTION;
    memset(w, 0, (size_t)pad16(n) * sizeof(REAL));
    for (ptrdiff_t i = 0; i < n; i++) {
        w[i] = attention ? l->b[0] : 1 / (REAL)n;
        for (ptrdiff_t k = 0; attention && k < d; k++) {
            w[i] += nodes[i * dp + k] * l->w[k * l->np];
        }
    }
    if (attention) {
        softmax(w, n, pad16(n));
    }
    for (ptrdiff_t k = 0; k < d; k++) {
        REAL v = a->pool == DLS_POOL_MAX ? nodes[k] : 0;
        for (ptrdiff_t i = 0; i < n; i++) {
            const REAL e = nodes[i * dp + k];
            v = a->pool == DLS_POOL_MAX ? (e > v || e != e ? e : v) : v + w[i] * e;
        }
        out[k] = v;
    }
}
