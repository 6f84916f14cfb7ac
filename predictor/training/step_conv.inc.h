/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * GCN, GIN and GAT forward and backward on one graph. Backward gets what forward was given, the
 * output y and its gradient dy (destroyed), adds to the parameters' gradient and writes din unless
 * it is NULL. GCN, which is what is trained in earnest, keeps its aggregated state; the others
 * compute their intermediates again.
 */

typedef struct view {
    graph_ctx x; /* norm: the matrix that aggregates */
    csr turned;  /* its transpose */
    int64_t *turned_start;
    int32_t *turned_col;
    REAL *dmessage; /* MPNN: as x.s.message */
    REAL *dagg;     /* [N][ld] */
} view;

static void turn(view *v)
{
    const csr *s = &v->x.norm;
    const int32_t n = s->n;
    const int64_t edges = s->start[n];
    memset(v->turned_start, 0, ((size_t)n + 1) * sizeof *v->turned_start);
    for (int64_t e = 0; e < edges; e++) {
        v->turned_start[s->col[e] + 1]++;
    }
    for (int32_t i = 0; i < n; i++) {
        v->turned_start[i + 1] += v->turned_start[i];
    }
    for (int32_t i = 0; i < n; i++) {
        for (int64_t e = s->start[i]; e < s->start[i + 1]; e++) {
            const int64_t at = v->turned_start[s->col[e]]++;
            v->turned_col[at] = i;
            v->turned.value[at] = s->value[e];
        }
    }
    memmove(v->turned_start + 1, v->turned_start, (size_t)n * sizeof *v->turned_start);
    v->turned_start[0] = 0;
    v->turned.n = n;
    v->turned.start = v->turned_start;
    v->turned.col = v->turned_col;
    v->turned.diag = s->diag;
}

/* Take up a graph: the aggregating matrix and its transpose. */
static void view_graph(view *v, const dls_arch *a, const dls_graph *g, REAL *value, REAL *diag)
{
    take_up(&v->x, a->conv, g, value, diag, false);
    if (a->conv == DLS_CONV_GCN || a->conv == DLS_CONV_GIN) {
        turn(v);
    }
}

/* Gradient of a map y = x W + b: parameters from x [n][k] and dy [n][np]. */
static void lin_gradient(const lin *l, const REAL *x, ptrdiff_t ldx, const REAL *dy, ptrdiff_t ldy,
                         int32_t rows, REAL *grad)
{
    if (l->map->trained) {
        outer_add(x, ldx, l->k, rows, dy, ldy, l->np, grad + l->gw, l->np);
        rows_add(dy, ldy, rows, l->np, grad + l->gb);
    }
}

/* d *= slope where y <= 0 */
static void through_leaky(REAL *d, const REAL *y, REAL slope, int32_t rows, int32_t cols,
                          ptrdiff_t ldd, ptrdiff_t ldy)
{
    for (int32_t i = 0; i < rows; i++) {
        for (int32_t k = 0; k < cols; k++) {
            const REAL s = y[i * ldy + k] > 0 ? 1 : slope;
            d[i * ldd + k] *= s;
        }
    }
}

/* ---- GCN ------------------------------------------------------------------------------------ */

static void gcn_backward(view *v, const conv_args *q)
{
    const lin *l = q->c;
    const ptrdiff_t ld = q->ld;
    const int32_t n = v->x.g->n_nodes;
    through_leaky(q->dy, q->y, LRELU_SLOPE, n, l->np, ld, ld);
    lin_gradient(l, q->agg, ld, q->dy, ld, n, q->grad);
    if (q->din) {
        mul_to(q->dy, ld, n, l->np, l->back, l->kp, v->dagg, ld);
        sparse_times(&v->turned, v->dagg, ld, l->kp, q->din);
    }
}

/* ---- GIN ------------------------------------------------------------------------------------ */

static void gin_backward(view *v, const conv_args *q)
{
    const int32_t n = v->x.g->n_nodes;
    const int32_t layers = q->a->gin_layers;
    const ptrdiff_t ld = q->ld;
    const ptrdiff_t ldw = v->x.s.wide_ld;
    gin_forward(&v->x, q); /* y comes out as it is */
    REAL *d = q->dy;
    ptrdiff_t ldd = ld;
    const REAL *y = q->y;
    ptrdiff_t ldy = ld;
    for (int32_t l = layers - 1; l >= 0; l--) {
        const lin *f = q->c + 1 + l;
        const REAL *from = l ? v->x.s.act + (ptrdiff_t)(l - 1) * n * ldw : q->agg;
        const ptrdiff_t from_ld = l ? ldw : ld;
        through_leaky(d, y, 0, n, f->np, ldd, ldy);
        lin_gradient(f, from, from_ld, d, ldd, n, q->grad);
        REAL *back = l ? v->x.s.wide[l % 2] : v->dagg;
        const ptrdiff_t back_ld = l ? ldw : ld;
        mul_to(d, ldd, n, f->np, f->back, f->kp, back, back_ld);
        d = back;
        ldd = back_ld;
        y = from;
        ldy = from_ld;
    }
    if (q->c->map->trained) {
        REAL sum = 0;
        for (int32_t i = 0; i < n; i++) {
            for (int32_t k = 0; k < q->in_width; k++) {
                sum += v->dagg[i * ld + k] * q->in[i * ld + k];
            }
        }
        q->grad[q->c->gb] += sum;
    }
    if (q->din) {
        sparse_times(&v->turned, v->dagg, ld, pad16(q->in_width), q->din);
    }
}

/* ---- GAT ------------------------------------------------------------------------------------ */

/* Node i and its neighbours into x.s.index, their attention into x.s.edge, and behind it, room
 * apart, the slope of each score; returns how many. */
static int32_t attend(view *v, int32_t i, const REAL *src, const REAL *dst, REAL alpha,
                      REAL **slope)
{
    const int32_t *index = v->x.s.index;
    REAL *w = v->x.s.edge;
    const int32_t m = neighbours(&v->x, i);
    *slope = w + m;
    REAL top = -(REAL)HUGE_VAL;
    for (int32_t k = 0; k < m; k++) {
        const REAL score = src[i] + dst[index[k]];
        (*slope)[k] = score >= 0 ? 1 : alpha;
        w[k] = leaky(score, alpha);
        top = w[k] > top ? w[k] : top;
    }
    REAL sum = 0;
    for (int32_t k = 0; k < m; k++) {
        w[k] = (REAL)exp((double)(w[k] - top));
        sum += w[k];
    }
    for (int32_t k = 0; k < m; k++) {
        w[k] /= sum;
    }
    return m;
}

/* dscore of node i's attention, from dv_i (the gradient of the weighted sum) of one head. */
static void gat_node_backward(view *v, int32_t i, int32_t m, int32_t f, const REAL *slope,
                              const REAL *dv, REAL *dsrc, REAL *ddst)
{
    const ptrdiff_t ldw = v->x.s.wide_ld;
    REAL *dw = v->x.s.wide[3];
    const REAL *w = v->x.s.edge;
    REAL mean = 0;
    for (int32_t e = 0; e < m; e++) {
        const int32_t j = v->x.s.index[e];
        dw[e] = dot(dv, v->x.s.wide[0] + j * ldw, f);
        mean += w[e] * dw[e];
        for (int32_t k = 0; k < f; k++) {
            v->x.s.wide[4][j * ldw + k] += w[e] * dv[k];
        }
    }
    for (int32_t e = 0; e < m; e++) {
        const REAL d = w[e] * (dw[e] - mean) * slope[e];
        dsrc[i] += d;
        ddst[v->x.s.index[e]] += d;
    }
}

static void gat_backward(view *v, const conv_args *q)
{
    const dls_arch *a = q->a;
    const int32_t n = v->x.g->n_nodes;
    const int32_t f = a->hidden / a->gat_heads;
    const ptrdiff_t ld = q->ld;
    const ptrdiff_t ldw = v->x.s.wide_ld;
    REAL *src = v->x.s.wide[1];
    REAL *dst = v->x.s.wide[2];
    REAL *dsrc = v->x.s.wide[5];
    REAL *ddst = v->x.s.wide[6];
    REAL *dwh = v->x.s.wide[4];
    for (int32_t head = 0; head < a->gat_heads; head++) {
        const lin *w = q->c + 2 * head;
        gat_project(&v->x, q, w, f, src, dst);
        memset(dsrc, 0, (size_t)n * sizeof(REAL));
        memset(ddst, 0, (size_t)n * sizeof(REAL));
        memset(dwh, 0, (size_t)n * (size_t)ldw * sizeof(REAL));
        for (int32_t i = 0; i < n; i++) {
            REAL *slope = NULL;
            REAL *dv = q->dy + i * ld + head * f;
            const REAL *y = q->y + i * ld + head * f;
            for (int32_t k = 0; k < f; k++) {
                dv[k] *= y[k] > 0 ? 1 : y[k] + 1;
            }
            const int32_t m = attend(v, i, src, dst, (REAL)a->gat_alpha, &slope);
            gat_node_backward(v, i, m, f, slope, dv, dsrc, ddst);
        }
        REAL *da = q->grad + w[1].gb;
        for (int32_t i = 0; i < n; i++) {
            for (int32_t k = 0; k < f; k++) {
                if (w[1].map->trained) {
                    da[k] += dsrc[i] * v->x.s.wide[0][i * ldw + k];
                    da[f + k] += ddst[i] * v->x.s.wide[0][i * ldw + k];
                }
                dwh[i * ldw + k] += dsrc[i] * w[1].b[k] + ddst[i] * w[1].b[f + k];
            }
        }
        lin_gradient(w, q->in, ld, dwh, ldw, n, q->grad);
        if (q->din && head == 0) {
            mul_to(dwh, ldw, n, w->np, w->back, w->kp, q->din, ld);
        } else if (q->din) {
            mul_add(dwh, ldw, n, w->np, w->back, w->kp, q->din, ld);
        }
    }
}
