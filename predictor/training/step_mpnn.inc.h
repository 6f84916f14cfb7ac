/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The PNA layer forward and backward on one graph (what is computed:
 * predictor/driple/cpu_forward.inc.h, "meant"). Backward forms the messages of a node again rather
 * than keep them.
 */

/* dm [m + 1][ldm] += what the gradient of one aggregate says of each message; row m is M_ii. One
 * function: every kind of aggregate uses some of the sums over the messages. */
static void aggregate_back(dls_aggregator kind, const inbox *b, const REAL *dout, REAL *dm)
{
    for (int32_t k = 0; k < b->f; k++) {
        const REAL g = dout[k];
        if (kind == DLS_AGG_IDENTITY) {
            dm[b->m * b->ldm + k] += g;
            continue;
        }
        if (b->m == 0) {
            continue;
        }
        REAL sum = 0;
        REAL square = 0;
        for (int32_t e = 0; e < b->m; e++) {
            const REAL v = b->message[e * b->ldm + k];
            sum += b->weight[e] * v;
            square += b->weight[e] * v * v;
        }
        const REAL mean = sum / b->sum;
        const REAL var = square / b->sum - mean * mean;
        const bool extreme_kind = kind == DLS_AGG_MAX || kind == DLS_AGG_MIN;
        const REAL best = extreme_kind ? extreme(b, k, kind == DLS_AGG_MAX) : 0;
        const REAL sign = kind == DLS_AGG_SOFTMIN ? -1 : 1;
        REAL top = -(REAL)HUGE_VAL;
        REAL down = 0;
        REAL soft = 0;
        if (kind == DLS_AGG_SOFTMAX || kind == DLS_AGG_SOFTMIN) {
            for (int32_t e = 0; e < b->m; e++) {
                const REAL v = sign * b->message[e * b->ldm + k];
                top = v > top ? v : top;
            }
            for (int32_t e = 0; e < b->m; e++) {
                const REAL v = b->message[e * b->ldm + k];
                down += b->weight[e] * (REAL)exp((double)(sign * v - top));
            }
            soft = soft_extreme(b, k, sign);
        }
        const int32_t order = 3 + (int32_t)kind - (int32_t)DLS_AGG_MOMENT3;
        REAL moment = 0;
        REAL below = 0; /* the weighted mean of (v - mean)^(order - 1) */
        for (int32_t e = 0; order >= 3 && e < b->m; e++) {
            const double d = (double)(b->message[e * b->ldm + k] - mean);
            const REAL power = (REAL)pow(d, order - 1);
            below += b->weight[e] * power / b->sum;
            moment += b->weight[e] * power * (REAL)d / b->sum;
        }
        const REAL root = (REAL)pow(fabs((double)moment) + 1e-5, 1.0 / order - 1);
        bool taken = false;
        for (int32_t e = 0; e < b->m; e++) {
            const REAL v = b->message[e * b->ldm + k];
            const REAL w = b->weight[e];
            REAL d = 0;
            switch (kind) {
            case DLS_AGG_SUM:
                d = w;
                break;
            case DLS_AGG_MEAN:
                d = w / b->sum;
                break;
            case DLS_AGG_NORMALISED_MEAN:
                d = w * b->root[e];
                break;
            case DLS_AGG_MAX:
            case DLS_AGG_MIN:
                d = !taken && v == best ? 1 : 0;
                taken |= v == best;
                break;
            case DLS_AGG_VAR:
            case DLS_AGG_STD:
                d = var > 0 ? 2 * w * (v - mean) / b->sum : 0;
                d *= kind == DLS_AGG_STD ? (REAL)(0.5 / sqrt((double)(var < 0 ? 0 : var) + 1e-5))
                                         : 1;
                break;
            case DLS_AGG_SOFTMAX:
            case DLS_AGG_SOFTMIN:
                d = w * (REAL)exp((double)(sign * v - top)) / down * (1 + sign * (v - soft));
                break;
            default:
                d = root * w / b->sum * ((REAL)pow((double)(v - mean), order - 1) - below);
                break;
            }
            dm[e * b->ldm + k] += g * d;
        }
    }
}

/* From the gradient of a tower's inputs (wide[5]) to those of u (wide[6]) and v (wide[7]). */
static void messages_back(view *v, const conv_args *q, const tower_args *t)
{
    const dls_arch *a = q->a;
    const int32_t n = v->x.g->n_nodes;
    const ptrdiff_t ldw = v->x.s.wide_ld;
    const int32_t f = t->f;
    const int32_t block = a->n_aggregators * f;
    memset(v->x.s.wide[6], 0, (size_t)n * (size_t)ldw * sizeof(REAL));
    memset(v->x.s.wide[7], 0, (size_t)n * (size_t)ldw * sizeof(REAL));
    for (int32_t i = 0; i < n; i++) {
        const inbox b = gather(a, &v->x, i, f, v->x.s.wide[0], v->x.s.wide[1], ldw);
        REAL *d = v->x.s.wide[5] + i * ldw + f;
        for (int32_t k = 0; k < block; k++) {
            REAL sum = 0;
            for (int32_t s = 0; s < a->n_scalers; s++) {
                sum += d[s * block + k] * scale_factor(a, a->scalers[s], v->x.s.degree[i]);
            }
            d[k] = sum;
        }
        memset(v->dmessage, 0, (size_t)(b.m + 1) * (size_t)b.ldm * sizeof(REAL));
        for (int32_t s = 0; s < a->n_aggregators; s++) {
            aggregate_back(a->aggregators[s], &b, d + s * f, v->dmessage);
        }
        for (int32_t e = 0; e <= b.m; e++) {
            const int32_t j = e == b.m ? i : v->x.s.index[e];
            for (int32_t k = 0; k < f; k++) {
                v->x.s.wide[6][i * ldw + k] += v->dmessage[e * b.ldm + k];
                v->x.s.wide[7][j * ldw + k] += v->dmessage[e * b.ldm + k];
            }
        }
    }
}

static void add_columns(const conv_args *q, const tower_args *t, const REAL *from, ptrdiff_t ldf,
                        int32_t n)
{
    REAL *to = q->din + (t->mine - q->in);
    for (int32_t i = 0; i < n; i++) {
        for (int32_t k = 0; k < t->f; k++) {
            to[i * q->ld + k] += from[i * ldf + k];
        }
    }
}

static void mpnn_backward(view *v, const conv_args *q)
{
    const dls_arch *a = q->a;
    const lin *mix = q->c + 3 * a->towers;
    const int32_t n = v->x.g->n_nodes;
    const int32_t out = a->hidden / a->towers;
    const ptrdiff_t ld = q->ld;
    const ptrdiff_t ldw = v->x.s.wide_ld;
    towers_forward(&v->x, q);
    through_leaky(q->dy, q->y, LRELU_SLOPE, n, mix->np, ld, ld);
    lin_gradient(mix, v->x.s.wide[4], ldw, q->dy, ld, n, q->grad);
    mul_to(q->dy, ld, n, mix->np, mix->back, mix->kp, v->x.s.wide[4], ldw);
    if (q->din) {
        memset(q->din, 0, (size_t)n * (size_t)ld * sizeof(REAL));
    }
    for (int32_t k = 0; k < a->towers; k++) {
        const tower_args t = tower_of(q, k);
        open_tower(&v->x, q, &t);
        memset(v->x.s.wide[3], 0, (size_t)n * (size_t)ldw * sizeof(REAL));
        for (int32_t i = 0; i < n; i++) {
            memcpy(v->x.s.wide[3] + i * ldw, v->x.s.wide[4] + i * ldw + k * out,
                   (size_t)out * sizeof(REAL));
        }
        lin_gradient(t.post, v->x.s.wide[2], ldw, v->x.s.wide[3], ldw, n, q->grad);
        mul_to(v->x.s.wide[3], ldw, n, t.post->np, t.post->back, t.post->kp, v->x.s.wide[5], ldw);
        if (q->din) {
            add_columns(q, &t, v->x.s.wide[5], ldw, n);
        }
        messages_back(v, q, &t);
        lin_gradient(t.pre_i, t.mine, ld, v->x.s.wide[6], ldw, n, q->grad);
        lin_gradient(t.pre_j, t.mine, ld, v->x.s.wide[7], ldw, n, q->grad);
        if (q->din) {
            mul_to(v->x.s.wide[6], ldw, n, t.pre_i->np, t.pre_i->back, t.pre_i->kp, v->x.s.wide[8],
                   ldw);
            mul_add(v->x.s.wide[7], ldw, n, t.pre_j->np, t.pre_j->back, t.pre_j->kp, v->x.s.wide[8],
                    ldw);
            add_columns(q, &t, v->x.s.wide[8], ldw, n);
        }
    }
}
