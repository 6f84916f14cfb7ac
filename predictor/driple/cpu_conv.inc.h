/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The four convolutions on one graph: y = conv(h, A). Where the published code and the mathematics
 * differ (GAT, PNA), arch.reference chooses the former.
 */

/* ---- GCN and GIN ---------------------------------------------------------------------------- */

static void conv_gcn(const conv *c, graph_ctx *x, const REAL *h, int32_t in, ptrdiff_t ld, REAL *y)
{
    const int32_t n = x->norm.n;
    if (x->as_dense) {
        dense(x->s.dense, pad16(n), n, n, h, ld, pad16(in), NULL, ACT_NONE, x->s.agg, ld);
    } else {
        sparse_times(&x->norm, h, ld, pad16(in), x->s.agg);
    }
#ifdef ENGINE_TILES
    gcn_tiles(&x->s.tiles, &c->main, x->s.agg, n, ld, y);
#else
    dense(x->s.agg, ld, n, in, c->main.w, c->main.np, c->main.np, c->main.b, ACT_LRELU, y, ld);
#endif
}

static void conv_gin(const dls_arch *a, const conv *c, graph_ctx *x, const REAL *h, int32_t in,
                     ptrdiff_t ld, REAL *y)
{
    const int32_t n = x->norm.n;
    for (int32_t i = 0; i < n; i++) {
        x->norm.diag[i] = 1 + c->epsilon;
    }
    sparse_times(&x->norm, h, ld, pad16(in), x->s.agg);
    const REAL *from = x->s.agg;
    ptrdiff_t from_ld = ld;
    for (int32_t l = 0; l < a->gin_layers; l++) {
        const lin *f = &c->fc[l];
        const bool last = l == a->gin_layers - 1;
        REAL *to = last ? y : (l % 2 ? x->s.wide2 : x->s.wide);
        const ptrdiff_t to_ld = last ? ld : x->s.wide_ld;
        dense(from, from_ld, n, f->k, f->w, f->np, f->np, f->b, ACT_RELU, to, to_ld);
        from = to;
        from_ld = to_ld;
    }
}

/* ---- GAT ------------------------------------------------------------------------------------ */

/* The node whose row the published reshape puts at position q of the 2 N^2 stacked rows. */
static int64_t reshaped_source(int64_t q, int64_t n)
{
    return q < n * n ? q / n : (q - n * n) % n;
}

/* Published: pairs taken along the wrong axis, no self loop, softmax over the first index; a column
 * without neighbours gives every node 1/N. One head: columns k0 .. k0+f-1 of w into y. */
static void gat_head_reference(const dls_arch *a, graph_ctx *x, const REAL *src, const REAL *dst,
                               const REAL *w, ptrdiff_t ldw, int32_t k0, int32_t f, REAL *y,
                               ptrdiff_t ld)
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
        for (int32_t k = k0; k < k0 + f; k++) {
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
                     const REAL *w, ptrdiff_t ldw, int32_t k0, int32_t f, REAL *y, ptrdiff_t ld)
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
        for (int32_t c = k0; c < k0 + f; c++) {
            REAL v = 0;
            for (int32_t k = 0; k < m; k++) {
                v += x->s.edge[k] * w[x->s.index[k] * ldw + c];
            }
            y[i * ld + c] = elu(v / sum);
        }
    }
}

static void conv_gat(const dls_arch *a, const conv *c, graph_ctx *x, const REAL *h, int32_t in,
                     ptrdiff_t ld, REAL *y)
{
    const int32_t n = x->g->n_nodes;
    const int32_t f = a->hidden / a->gat_heads;
    const ptrdiff_t ldw = x->s.wide_ld;
    dense(h, ld, n, in, c->main.w, c->main.np, c->main.np, NULL, ACT_NONE, x->s.wide, ldw);
    REAL *src = x->s.wide2;
    REAL *dst = x->s.wide2 + n;
    memset(y, 0, (size_t)n * (size_t)ld * sizeof(REAL));
    for (int32_t head = 0; head < a->gat_heads; head++) {
        const int32_t k0 = head * f;
        for (int32_t i = 0; i < n; i++) {
            src[i] = dot(x->s.wide + i * ldw + k0, c->a_src + k0, f);
            dst[i] = dot(x->s.wide + i * ldw + k0, c->a_dst + k0, f);
        }
        if (a->reference) {
            gat_head_reference(a, x, src, dst, x->s.wide, ldw, k0, f, y, ld);
        } else {
            gat_head(a, x, src, dst, x->s.wide, ldw, k0, f, y, ld);
        }
    }
}
