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
