/* SPDX-License-Identifier: GPL-3.0-or-later
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

/* One tower: x_i and its scaled aggregates side by side, into z [N][ldz]. */
static void tower_inputs(const dls_arch *a, graph_ctx *x, const REAL *h, ptrdiff_t ld, int32_t f,
                         const REAL *u, const REAL *v, ptrdiff_t ldw, REAL *z, ptrdiff_t ldz)
{
    const int32_t n = x->g->n_nodes;
    const int32_t block = a->n_aggregators * f;
    for (int32_t i = 0; i < n; i++) {
        const inbox b = gather(a, x, i, f, u, v, ldw);
        REAL *row = z + i * ldz;
        for (int32_t k = 0; k < f; k++) {
            row[k] = h[i * ld + k];
        }
        for (int32_t q = 0; q < a->n_aggregators; q++) {
            const dls_aggregator kind = a->aggregators[q];
            if (!a->reference || (kind != DLS_AGG_MAX && kind != DLS_AGG_MIN)) {
                aggregate(kind, &b, a->reference, row + f + q * f);
            }
        }
    }
    for (int32_t q = 0; a->reference && q < a->n_aggregators; q++) {
        const bool largest = a->aggregators[q] == DLS_AGG_MAX;
        if (!largest && a->aggregators[q] != DLS_AGG_MIN) {
            continue;
        }
        /* published: node j takes the extreme of the messages M_ij that others formed about it */
        for (int32_t i = 0; i < n; i++) {
            for (int32_t k = 0; k < f; k++) {
                z[i * ldz + f + q * f + k] = largest ? -(REAL)HUGE_VAL : (REAL)HUGE_VAL;
            }
        }
        for (int32_t i = 0; i < n; i++) {
            const inbox b = gather(a, x, i, f, u, v, ldw);
            for (int32_t e = 0; e < b.m; e++) {
                REAL *best = z + x->s.index[e] * ldz + f + q * f;
                for (int32_t k = 0; k < f; k++) {
                    const REAL m = b.message[e * b.ldm + k];
                    best[k] = (largest ? m > best[k] : m < best[k]) ? m : best[k];
                }
            }
        }
    }
    for (int32_t i = 0; i < n; i++) {
        REAL *row = z + i * ldz + f;
        for (int32_t s = a->n_scalers - 1; s >= 0; s--) {
            const REAL c = scale_factor(a, a->scalers[s], x->s.degree[i]);
            for (int32_t k = 0; k < block; k++) {
                row[s * block + k] = row[k] * c;
            }
        }
    }
}

/* Scratch: wide holds u | v | one tower's output | all outputs, wide2 the inputs of a tower. */
static void conv_mpnn(const dls_arch *a, const conv *c, graph_ctx *x, const REAL *h, bool first,
                      ptrdiff_t ld, REAL *y)
{
    const int32_t n = x->g->n_nodes;
    const int32_t out = a->hidden / a->towers;
    const ptrdiff_t ldw = x->s.wide_ld;
    const ptrdiff_t hp = pad16(a->hidden > a->n_features ? a->hidden : a->n_features);
    REAL *u = x->s.wide;
    REAL *v = u + hp;
    REAL *one = v + hp;
    REAL *all = one + hp;
    for (int32_t i = 0; i < n; i++) {
        REAL d = 0;
        for (int64_t e = x->g->row_start[i]; e < x->g->row_start[i + 1]; e++) {
            d += edge_weight(x->g, e);
        }
        x->s.degree[i] = d;
    }
    for (int32_t t = 0; t < a->towers; t++) {
        const tower *w = &c->towers[t];
        const int32_t f = w->pre_i.k;
        const REAL *mine = h + (first ? 0 : t * f);
        dense(mine, ld, n, f, w->pre_i.w, w->pre_i.np, w->pre_i.np, w->pre_i.b, ACT_NONE, u, ldw);
        dense(mine, ld, n, f, w->pre_j.w, w->pre_j.np, w->pre_j.np, NULL, ACT_NONE, v, ldw);
        tower_inputs(a, x, mine, ld, f, u, v, ldw, x->s.wide2, ldw);
        dense(x->s.wide2, ldw, n, w->post.k, w->post.w, w->post.np, w->post.np, w->post.b, ACT_NONE,
              one, ldw);
        for (int32_t i = 0; i < n; i++) {
            memcpy(all + i * ldw + t * out, one + i * ldw, (size_t)out * sizeof(REAL));
        }
    }
    dense(all, ldw, n, a->hidden, c->main.w, c->main.np, c->main.np, c->main.b, ACT_LRELU, y, ld);
}
