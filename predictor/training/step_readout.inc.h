/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Readout and MLP of a block, forward and backward: all its graphs together, so that the LSTM's
 * weights are read once per step for all of them. Set2Set goes through as many steps as a graph has
 * nodes; what a step needs on the way back is kept, the weights' gradients and the nodes' are one
 * product over all steps at the end.
 */

typedef struct readout {
    REAL *nodes;     /* [B][N][dp] */
    REAL *dnodes;    /* [B][N][dp] their gradient */
    REAL *turned;    /* [B][dp][np] X^T */
    REAL *h, *c, *r; /* [T + 1][B][dp] */
    REAL *gates;     /* [T][B][ldk] i, f, g, o, tanh(c); then the gradient of the first four */
    REAL *a, *de;    /* [T][B][np] attention, gradient of its scores */
    REAL *dr;        /* [T][B][dp] gradient of the read vector */
    REAL *dh, *dc;   /* [B][dp] */
    REAL *row;       /* [larger of np and dp] */
    REAL *pooled;    /* [B][ldm] */
    REAL *first;     /* [B][ldm] sums of the MLP's first layer; their gradient */
    REAL *condition; /* [R][n_conditions] */
    REAL *act;       /* [mlp_layers][R][ldm] what every layer of the MLP answers */
    REAL *dact[2];   /* [R][ldm] */
    ptrdiff_t ldk, np;
    int32_t steps;
} readout;

typedef struct pool_args {
    const packed *p;
    readout *o;
    const dls_step_sample *sample; /* [n_graphs] */
    int32_t n_graphs, n_nodes, n_rows;
    REAL *grad; /* NULL: forward only */
} pool_args;

static void turn_nodes(const pool_args *q)
{
    const ptrdiff_t dp = q->p->dp;
    const ptrdiff_t np = q->o->np;
    for (int32_t b = 0; b < q->n_graphs; b++) {
        const REAL *nodes = q->o->nodes + (ptrdiff_t)b * q->n_nodes * dp;
        REAL *t = q->o->turned + b * dp * np;
        for (ptrdiff_t k = 0; k < dp; k++) {
            for (ptrdiff_t i = 0; i < np; i++) {
                t[k * np + i] = i < q->n_nodes ? nodes[i * dp + k] : 0;
            }
        }
    }
}

static void set2set_forward(const pool_args *q)
{
    readout *o = q->o;
    const packed *p = q->p;
    const ptrdiff_t dp = p->dp;
    const ptrdiff_t all = q->n_graphs * dp;
    const int32_t d = dls_arch_readout_width(&p->net->arch);
    turn_nodes(q);
    memset(o->h, 0, (size_t)all * sizeof(REAL));
    memset(o->r, 0, (size_t)all * sizeof(REAL));
    memset(o->c, 0, (size_t)all * sizeof(REAL));
    for (ptrdiff_t t = 0; t < o->steps; t++) {
        REAL *h = o->h + (t + 1) * all;
        REAL *c = o->c + (t + 1) * all;
        memcpy(c, o->c + t * all, (size_t)all * sizeof(REAL));
        lstm(&p->lstm, o->h + t * all, o->r + t * all, c, h, q->n_graphs, dp,
             o->gates + t * q->n_graphs * o->ldk, o->ldk);
        for (ptrdiff_t b = 0; b < q->n_graphs; b++) {
            REAL *a = o->a + (t * q->n_graphs + b) * o->np;
            row_times(h + b * dp, d, o->turned + b * dp * o->np, o->np, (int32_t)o->np, a);
            softmax(a, q->n_nodes, (int32_t)o->np);
            row_times(a, q->n_nodes, o->nodes + b * q->n_nodes * dp, dp, (int32_t)dp,
                      o->r + (t + 1) * all + b * dp);
        }
    }
    for (ptrdiff_t b = 0; b < q->n_graphs; b++) {
        REAL *out = o->pooled + b * p->ldm;
        memcpy(out, o->h + o->steps * all + b * dp, (size_t)d * sizeof(REAL));
        memcpy(out + d, o->r + o->steps * all + b * dp, (size_t)d * sizeof(REAL));
    }
}

/* The LSTM of one graph and step: dh and dc of its output to the gradient of its gates (in place of
 * the gates) and dc of the step before. */
static void lstm_back(REAL *gates, const REAL *c_before, const REAL *dh, REAL *dc, int32_t dp)
{
    for (int32_t k = 0; k < dp; k++) {
        const REAL i = gates[k], f = gates[dp + k], g = gates[2 * dp + k], s = gates[3 * dp + k];
        const REAL seen = gates[4 * dp + k];
        const REAL d = dc[k] + dh[k] * s * (1 - seen * seen);
        gates[k] = d * g * i * (1 - i);
        gates[dp + k] = d * c_before[k] * f * (1 - f);
        gates[2 * dp + k] = d * i * (1 - g * g);
        gates[3 * dp + k] = dh[k] * seen * s * (1 - s);
        dc[k] = d * f;
    }
}

/* One graph and step of the attention: dr (of the read vector) adds to dh and leaves de. */
static void attention_back(const pool_args *q, ptrdiff_t b, const REAL *a, const REAL *dr, REAL *de,
                           REAL *dh)
{
    readout *o = q->o;
    const ptrdiff_t dp = q->p->dp;
    const int32_t d = dls_arch_readout_width(&q->p->net->arch);
    row_times(dr, d, o->turned + b * dp * o->np, o->np, (int32_t)o->np, de);
    REAL mean = 0;
    for (int32_t i = 0; i < q->n_nodes; i++) {
        mean += a[i] * de[i];
    }
    for (ptrdiff_t i = 0; i < o->np; i++) {
        de[i] = a[i] * (de[i] - mean);
    }
    row_times(de, q->n_nodes, o->nodes + b * q->n_nodes * dp, dp, (int32_t)dp, o->row);
    for (ptrdiff_t k = 0; k < dp; k++) {
        dh[k] += o->row[k];
    }
}

static void set2set_backward(const pool_args *q, const REAL *dpooled)
{
    readout *o = q->o;
    const packed *p = q->p;
    const int32_t g = q->n_graphs;
    const ptrdiff_t dp = p->dp;
    const ptrdiff_t all = g * dp;
    const int32_t d = dls_arch_readout_width(&p->net->arch);
    const lin *from_h = &p->lin[p->net->lstm];
    const lin *from_r = from_h + 1;
    memset(o->dc, 0, (size_t)all * sizeof(REAL));
    memset(o->dh, 0, (size_t)all * sizeof(REAL));
    REAL *last = o->dr + (o->steps - 1) * all;
    memset(last, 0, (size_t)all * sizeof(REAL));
    for (ptrdiff_t b = 0; b < g; b++) {
        memcpy(o->dh + b * dp, dpooled + b * p->ldm, (size_t)d * sizeof(REAL));
        memcpy(last + b * dp, dpooled + b * p->ldm + d, (size_t)d * sizeof(REAL));
    }
    for (ptrdiff_t t = o->steps - 1; t >= 0; t--) {
        for (ptrdiff_t b = 0; b < g; b++) {
            attention_back(q, b, o->a + (t * g + b) * o->np, o->dr + t * all + b * dp,
                           o->de + (t * g + b) * o->np, o->dh + b * dp);
            lstm_back(o->gates + (t * g + b) * o->ldk, o->c + t * all + b * dp, o->dh + b * dp,
                      o->dc + b * dp, (int32_t)dp);
        }
        if (t > 0) {
            const REAL *dg = o->gates + t * g * o->ldk;
            mul_to(dg, o->ldk, g, from_h->np, from_h->back, from_h->kp, o->dh, dp);
            mul_to(dg, o->ldk, g, from_r->np, from_r->back, from_r->kp, o->dr + (t - 1) * all, dp);
        }
    }
    lin_gradient(from_h, o->h, dp, o->gates, o->ldk, o->steps * g, q->grad);
    lin_gradient(from_r, o->r, dp, o->gates, o->ldk, o->steps * g, q->grad);
    memset(o->dnodes, 0, (size_t)g * (size_t)q->n_nodes * (size_t)dp * sizeof(REAL));
    for (ptrdiff_t b = 0; b < g; b++) {
        REAL *to = o->dnodes + b * q->n_nodes * dp;
        outer_add(o->a + b * o->np, g * o->np, q->n_nodes, o->steps, o->dr + b * dp, all,
                  (int32_t)dp, to, dp);
        outer_add(o->de + b * o->np, g * o->np, q->n_nodes, o->steps, o->h + all + b * dp, all,
                  (int32_t)dp, to, dp);
    }
}

/* ---- one pass over the nodes ----------------------------------------------------------------- */

static void simple_forward(const pool_args *q)
{
    const packed *p = q->p;
    const dls_arch *a = &p->net->arch;
    const lin *attention = p->net->attention >= 0 ? &p->lin[p->net->attention] : NULL;
    for (ptrdiff_t b = 0; b < q->n_graphs; b++) {
        pool_nodes(a, attention, q->o->nodes + b * q->n_nodes * p->dp, q->n_nodes,
                   dls_arch_readout_width(a), p->dp, q->o->a + b * q->o->np,
                   q->o->pooled + b * p->ldm);
    }
}

/* The gradient of a max goes to the first node that has it. */
static void max_back(const pool_args *q, ptrdiff_t b, const REAL *dout, int32_t d)
{
    const ptrdiff_t dp = q->p->dp;
    const REAL *nodes = q->o->nodes + b * q->n_nodes * dp;
    REAL *dn = q->o->dnodes + b * q->n_nodes * dp;
    for (int32_t k = 0; k < d; k++) {
        int32_t best = 0;
        for (int32_t i = 1; i < q->n_nodes; i++) {
            best = nodes[i * dp + k] > nodes[best * dp + k] ? i : best;
        }
        dn[best * dp + k] += dout[k];
    }
}

static void attention_pool_back(const pool_args *q, ptrdiff_t b, const REAL *dout, int32_t d)
{
    const packed *p = q->p;
    const lin *l = &p->lin[p->net->attention];
    const ptrdiff_t dp = p->dp;
    const REAL *nodes = q->o->nodes + b * q->n_nodes * dp;
    REAL *dn = q->o->dnodes + b * q->n_nodes * dp;
    const REAL *w = q->o->a + b * q->o->np;
    REAL *dw = q->o->row;
    REAL mean = 0;
    for (int32_t i = 0; i < q->n_nodes; i++) {
        dw[i] = dot(nodes + i * dp, dout, d);
        mean += w[i] * dw[i];
    }
    for (int32_t i = 0; i < q->n_nodes; i++) {
        const REAL de = w[i] * (dw[i] - mean);
        for (int32_t k = 0; k < d; k++) {
            dn[i * dp + k] += w[i] * dout[k] + de * l->w[(ptrdiff_t)k * l->np];
            q->grad[l->gw + (size_t)k * (size_t)l->np] += de * nodes[i * dp + k];
        }
        q->grad[l->gb] += de;
    }
}

static void simple_backward(const pool_args *q, const REAL *dpooled)
{
    const packed *p = q->p;
    const dls_arch *a = &p->net->arch;
    const int32_t d = dls_arch_readout_width(a);
    const ptrdiff_t dp = p->dp;
    memset(q->o->dnodes, 0, (size_t)q->n_graphs * (size_t)q->n_nodes * (size_t)dp * sizeof(REAL));
    for (ptrdiff_t b = 0; b < q->n_graphs; b++) {
        const REAL *dout = dpooled + b * p->ldm;
        if (a->pool == DLS_POOL_MAX) {
            max_back(q, b, dout, d);
        } else if (a->pool == DLS_POOL_ATTENTION) {
            attention_pool_back(q, b, dout, d);
        } else {
            for (ptrdiff_t i = 0; i < q->n_nodes; i++) {
                for (int32_t k = 0; k < d; k++) {
                    q->o->dnodes[(b * q->n_nodes + i) * dp + k] = dout[k] / (REAL)q->n_nodes;
                }
            }
        }
    }
}

/* ---- MLP --------------------------------------------------------------------------------------
 *
 * The pooled vector's share of the first layer is computed once for all rows of a graph:
 *
 *      pooled --W--> first --+ row's numbers V, activation--> act 1 --> ... --> act mlp_layers
 */

/* What layer 1.. answers. */
static REAL *activation(const pool_args *q, int32_t layer)
{
    return q->o->act + (ptrdiff_t)(layer - 1) * q->n_rows * q->p->ldm;
}

static void load_conditions(const pool_args *q)
{
    const size_t n = (size_t)q->p->net->arch.n_conditions;
    REAL *to = q->o->condition;
    for (int32_t b = 0; b < q->n_graphs; b++) {
        const dls_step_sample *s = &q->sample[b];
        const size_t cells = dls_step_rows(s) * n;
        for (size_t k = 0; k < cells; k++) {
            to[k] = s->condition ? (REAL)s->condition[k] : 0;
        }
        to += cells;
    }
}

static void first_forward(const pool_args *q)
{
    const packed *p = q->p;
    const lin *l = &p->lin[p->net->mlp];
    const REAL slope = p->net->arch.mlp_layers == 1 ? LRELU_SLOPE : 0;
    REAL *to = activation(q, 1);
    dense(q->o->pooled, p->ldm, q->n_graphs, l->k, l->w, l->np, l->np, l->b, ACT_NONE, q->o->first,
          p->ldm);
    for (int32_t b = 0; b < q->n_graphs; b++) {
        for (size_t row = 0; row < dls_step_rows(&q->sample[b]); row++, to += p->ldm) {
            memcpy(to, q->o->first + (ptrdiff_t)b * p->ldm, (size_t)l->np * sizeof(REAL));
        }
    }
    to = activation(q, 1);
    if (p->net->condition >= 0) {
        const lin *c = &p->lin[p->net->condition];
        load_conditions(q);
        dense(q->o->condition, c->k, q->n_rows, c->k, c->w, c->np, c->np, to, ACT_NONE, to, p->ldm);
    }
    for (int32_t i = 0; i < q->n_rows; i++) {
        for (int32_t k = 0; k < l->np; k++) {
            REAL *y = &to[(ptrdiff_t)i * p->ldm + k];
            *y = *y > 0 ? *y : *y * slope;
        }
    }
}

static void mlp_forward(const pool_args *q)
{
    const packed *p = q->p;
    const int32_t layers = p->net->arch.mlp_layers;
    first_forward(q);
    for (int32_t k = 1; k < layers; k++) {
        const lin *l = &p->lin[p->net->mlp + k];
        dense(activation(q, k), p->ldm, q->n_rows, l->k, l->w, l->np, l->np, l->b,
              k == layers - 1 ? ACT_LRELU : ACT_RELU, activation(q, k + 1), p->ldm);
    }
}

/* d: gradient of the first layer's sums, by rows; returns that of the pooled vectors, by graphs. */
static REAL *first_backward(const pool_args *q, const REAL *d, REAL *dpooled)
{
    const packed *p = q->p;
    const lin *l = &p->lin[p->net->mlp];
    REAL *sum = q->o->first;
    if (p->net->condition >= 0) {
        const lin *c = &p->lin[p->net->condition];
        lin_gradient(c, q->o->condition, c->k, d, p->ldm, q->n_rows, q->grad);
    }
    memset(sum, 0, (size_t)q->n_graphs * (size_t)p->ldm * sizeof(REAL));
    for (int32_t b = 0; b < q->n_graphs; b++, sum += p->ldm) {
        const size_t rows = dls_step_rows(&q->sample[b]);
        rows_add(d, p->ldm, (int32_t)rows, l->np, sum);
        d += rows * (size_t)p->ldm;
    }
    sum = q->o->first;
    lin_gradient(l, q->o->pooled, p->ldm, sum, p->ldm, q->n_graphs, q->grad);
    mul_to(sum, p->ldm, q->n_graphs, l->np, l->back, l->kp, dpooled, p->ldm);
    return dpooled;
}

/* From the gradient of the outputs in dact[0]; returns that of the pooled vectors. */
static REAL *mlp_backward(const pool_args *q)
{
    const packed *p = q->p;
    const int32_t layers = p->net->arch.mlp_layers;
    REAL *d = q->o->dact[0];
    REAL *other = q->o->dact[1];
    for (int32_t k = layers - 1; k >= 0; k--) {
        const lin *l = &p->lin[p->net->mlp + k];
        through_leaky(d, activation(q, k + 1), k == layers - 1 ? LRELU_SLOPE : 0, q->n_rows, l->np,
                      p->ldm, p->ldm);
        if (k == 0) {
            break;
        }
        lin_gradient(l, activation(q, k), p->ldm, d, p->ldm, q->n_rows, q->grad);
        mul_to(d, p->ldm, q->n_rows, l->np, l->back, l->kp, other, p->ldm);
        REAL *swap = d;
        d = other;
        other = swap;
    }
    return first_backward(q, d, other);
}
