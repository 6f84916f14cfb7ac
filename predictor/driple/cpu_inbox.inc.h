/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The messages that a node of a PNA layer receives, their aggregates and scalers; shared by inference
 * and training. What is meant and what was published: cpu_forward.inc.h.
 */

/* The messages of node i: m of them, [m][ldm], with weights. */
typedef struct inbox {
    const REAL *message;
    const REAL *weight;
    int32_t m, f;
    ptrdiff_t ldm;
    REAL sum;         /* of the weights: D_i */
    REAL mean_sum;    /* published moments: D_i with the self loop once more */
    const REAL *own;  /* M_ii */
    const REAL *root; /* normalised_mean: per message (D_i D_j)^-1/2 */
} inbox;

static REAL weighted_moment(const inbox *b, int32_t k, int32_t order, REAL mean, bool reference)
{
    REAL c = 0;
    for (int32_t e = 0; e < b->m; e++) {
        const REAL d = b->message[e * b->ldm + k] - mean;
        REAL p = d;
        for (int32_t o = 1; o < order; o++) {
            p *= d;
        }
        c += b->weight[e] * p;
    }
    c /= b->sum;
    REAL root = (REAL)pow(fabs((double)c) + 1e-5, 1.0 / order);
    root -= reference ? 0 : (REAL)pow(1e-5, 1.0 / order);
    return c > 0 ? root : c < 0 ? -root : c; /* NaN stays */
}

static REAL soft_extreme(const inbox *b, int32_t k, REAL sign)
{
    /* sum M e^(sM) A / sum e^(sM) A, shifted by the largest exponent */
    REAL top = -(REAL)HUGE_VAL;
    for (int32_t e = 0; e < b->m; e++) {
        const REAL v = sign * b->message[e * b->ldm + k];
        top = v > top ? v : top;
    }
    REAL up = 0;
    REAL down = 0;
    for (int32_t e = 0; e < b->m; e++) {
        const REAL v = b->message[e * b->ldm + k];
        const REAL w = b->weight[e] * (REAL)exp((double)(sign * v - top));
        up += w * v;
        down += w;
    }
    return up / down;
}

static REAL extreme(const inbox *b, int32_t k, bool largest)
{
    REAL best = largest ? -(REAL)HUGE_VAL : (REAL)HUGE_VAL;
    for (int32_t e = 0; e < b->m; e++) {
        const REAL v = b->message[e * b->ldm + k];
        best = (largest ? v > best : v < best) ? v : best;
    }
    return best;
}

/* out[f] = one aggregate of the inbox. */
static void aggregate(dls_aggregator kind, const inbox *b, bool reference, REAL *out)
{
    for (int32_t k = 0; k < b->f; k++) {
        if (kind == DLS_AGG_IDENTITY) {
            out[k] = b->own[k];
            continue;
        }
        if (b->m == 0 && !reference) {
            out[k] = 0;
            continue;
        }
        REAL sum = 0;
        REAL square = 0;
        for (int32_t e = 0; e < b->m; e++) {
            const REAL v = b->message[e * b->ldm + k];
            const REAL w =
                kind == DLS_AGG_NORMALISED_MEAN ? b->weight[e] * b->root[e] : b->weight[e];
            sum += w * v;
            square += w * v * v;
        }
        const REAL mean = sum / b->sum;
        const REAL var = square / b->sum - mean * mean;
        switch (kind) {
        case DLS_AGG_SUM:
        case DLS_AGG_NORMALISED_MEAN:
            out[k] = sum;
            break;
        case DLS_AGG_MEAN:
            out[k] = mean;
            break;
        case DLS_AGG_MAX:
        case DLS_AGG_MIN:
            out[k] = extreme(b, k, kind == DLS_AGG_MAX);
            break;
        case DLS_AGG_VAR:
            out[k] = var < 0 ? 0 : var;
            break;
        case DLS_AGG_STD:
            out[k] = (REAL)sqrt((double)(var < 0 ? 0 : var) + 1e-5);
            break;
        case DLS_AGG_SOFTMAX:
            out[k] = soft_extreme(b, k, 1);
            break;
        case DLS_AGG_SOFTMIN:
            out[k] = soft_extreme(b, k, -1);
            break;
        default: {
            const REAL centre = reference && b->mean_sum != b->sum
                                    ? (sum + b->own[k] * (b->mean_sum - b->sum)) / b->mean_sum
                                    : mean;
            out[k] = weighted_moment(b, k, 3 + (int32_t)kind - DLS_AGG_MOMENT3, centre, reference);
            break;
        }
        }
    }
}

static REAL scale_factor(const dls_arch *a, dls_scaler kind, REAL degree)
{
    const REAL lin_mean = (REAL)a->avg_d_lin;
    const REAL log_mean = (REAL)a->avg_d_log;
    const REAL log_degree = (REAL)log((double)degree + 1);
    switch (kind) {
    case DLS_SCALE_AMPLIFICATION:
        return log_degree / log_mean;
    case DLS_SCALE_ATTENUATION:
        return degree == 0 && !a->reference ? 0 : log_mean / log_degree;
    case DLS_SCALE_LINEAR:
        return degree / lin_mean;
    case DLS_SCALE_INVERSE_LINEAR:
        return degree == 0 && !a->reference ? 0 : lin_mean / degree;
    default:
        return 1;
    }
}

/* D of node i as the aggregators see it. */
static REAL loop_degree(const dls_arch *a, const graph_ctx *x, int32_t i)
{
    return x->s.degree[i] + (a->self_loop ? 1 : 0);
}

/* Gather the messages that node i receives in tower t; u and v are [N][ldw] from column 0. */
static inbox gather(const dls_arch *a, graph_ctx *x, int32_t i, int32_t f, const REAL *u,
                    const REAL *v, ptrdiff_t ldw)
{
    const dls_graph *g = x->g;
    const ptrdiff_t ldm = pad16(f);
    int32_t m = 0;
    bool looped = !a->self_loop;
    for (int64_t e = g->row_start[i]; e <= g->row_start[i + 1]; e++) {
        const bool end = e == g->row_start[i + 1];
        if (!looped && (end || g->col[e] >= i)) {
            /* the self loop, in its place or added to the weight of one that is there */
            looped = true;
            x->s.index[m] = i;
            x->s.edge[m] = 1 + (!end && g->col[e] == i ? edge_weight(g, e) : 0);
            m++;
            if (end || g->col[e] == i) {
                continue;
            }
        }
        if (!end && edge_weight(g, e) > 0) {
            x->s.index[m] = g->col[e];
            x->s.edge[m++] = edge_weight(g, e);
        }
    }
    REAL *root = x->s.edge + m;
    for (int32_t e = 0; e < m; e++) {
        const int32_t j = x->s.index[e];
        for (int32_t k = 0; k < f; k++) {
            x->s.message[e * ldm + k] = u[i * ldw + k] + v[j * ldw + k];
        }
        root[e] = (REAL)(1 / sqrt((double)loop_degree(a, x, i) * (double)loop_degree(a, x, j)));
    }
    REAL *own = x->s.message + m * ldm;
    for (int32_t k = 0; k < f; k++) {
        own[k] = u[i * ldw + k] + v[i * ldw + k];
    }
    const REAL sum = loop_degree(a, x, i);
    return (inbox){x->s.message, x->s.edge, m, f, ldm, sum, sum + (a->self_loop ? 1 : 0),
                   own,          root};
}

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
