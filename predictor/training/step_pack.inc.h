/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A network's parameters as an engine computes with them: each map as w [k][np] for the way forward
 * and transposed in panels for the way back, np being its chunks padded to 16 each; the recurrent
 * cells once more in the blocked form of their fused kernels. A gradient is one buffer in which
 * each map has its w and b in the same layout. Padding is 0 everywhere.
 */

typedef struct lin {
    int32_t k, kp, n, np, wp; /* inputs; padded; outputs; padded; padded outputs of a chunk */
    REAL *w;                  /* [k][np] */
    REAL *b;                  /* [np] */
    REAL *back;               /* [np][kp] in panels */
    size_t gw, gb;            /* where its gradient is */
    const dls_map *map;
} lin;

typedef struct packed {
    const dls_trainee *net;
    lin *lin;                     /* [n_maps] */
    int32_t hp, ld, ldg, dp, ldm; /* H, a state, gates, readout, MLP activations: padded */
    cell gru, lstm;
    REAL *gru_bias, *lstm_bias, *cell_w[4];
    size_t n_gradient;
    block_list blocks;
} packed;

static void step_close(void *state)
{
    packed *p = state;
    if (p) {
        blocks_free(&p->blocks);
        dls_free(p);
    }
}

static dls_status make_lin(packed *p, const dls_map *m, lin *l, dls_error *err)
{
    const int32_t wp = pad16(m->width);
    *l = (lin){.k = m->k,
               .kp = pad16(m->k),
               .n = m->width * m->chunks,
               .np = wp * m->chunks,
               .wp = wp,
               .map = m};
    l->gw = p->n_gradient;
    l->gb = l->gw + (size_t)l->k * (size_t)l->np;
    p->n_gradient = l->gb + (size_t)l->np;
    DLS_TRY(take(&p->blocks, (size_t)l->k * (size_t)l->np * sizeof(REAL), &l->w, err));
    DLS_TRY(take(&p->blocks, (size_t)l->kp * (size_t)l->np * sizeof(REAL), &l->back, err));
    return take(&p->blocks, (size_t)l->np * sizeof(REAL), &l->b, err);
}

static dls_status make_cell(packed *p, int32_t gates, int32_t width, int32_t which, cell *c,
                            REAL **bias, dls_error *err)
{
    const int32_t wp = pad16(width);
    const size_t n = (size_t)wp * (size_t)width * (size_t)gates;
    DLS_TRY(take(&p->blocks, n * sizeof(REAL), &p->cell_w[which], err));
    DLS_TRY(take(&p->blocks, n * sizeof(REAL), &p->cell_w[which + 1], err));
    DLS_TRY(take(&p->blocks, (size_t)wp * 4 * sizeof(REAL), bias, err));
    *c = (cell){.width = wp,
                .k1 = width,
                .k2 = width,
                .w1 = p->cell_w[which],
                .w2 = p->cell_w[which + 1],
                .bias = *bias};
    return DLS_OK;
}

static dls_status make_all(packed *p, dls_error *err)
{
    const dls_trainee *net = p->net;
    const dls_arch *a = &net->arch;
    DLS_TRY(take(&p->blocks, net->n_maps * sizeof *p->lin, &p->lin, err));
    for (size_t i = 0; i < net->n_maps; i++) {
        DLS_TRY(make_lin(p, &net->map[i], &p->lin[i], err));
    }
    const int32_t d = dls_arch_readout_width(a);
    p->hp = pad16(a->hidden);
    p->ld = pad16(larger(a->n_features, a->hidden));
    p->ldg = 4 * p->hp + 16; /* not a power of two: rows would share the cache's sets */
    p->dp = pad16(d);
    p->ldm = pad16(dls_arch_pooled_width(a));
    for (int32_t l = 0; l < a->mlp_layers; l++) {
        p->ldm = larger(p->ldm, p->lin[net->mlp + l].np);
    }
    if (net->gru >= 0) {
        DLS_TRY(make_cell(p, 3, a->hidden, 0, &p->gru, &p->gru_bias, err));
    }
    if (net->lstm >= 0) {
        DLS_TRY(make_cell(p, 4, d, 2, &p->lstm, &p->lstm_bias, err));
    }
    return DLS_OK;
}

/* Index in w and in a gradient of input i, chunk c, unit u. */
static size_t lin_at(const lin *l, int32_t i, int32_t c, int32_t u)
{
    return (size_t)i * (size_t)l->np + (size_t)(c * l->wp + u);
}

static void load_lin(const dls_trainee *net, lin *l)
{
    const dls_map *m = l->map;
    const double *v = net->value;
    for (int32_t c = 0; c < m->chunks; c++) {
        for (int32_t u = 0; u < m->width; u++) {
            const size_t row = (size_t)(m->chunk[c] * m->width + u);
            for (int32_t i = 0; i < m->k; i++) {
                double w = v[m->w + (size_t)i * m->in_step + row * m->out_step];
                w += m->w2 == DLS_NOWHERE ? 0
                                          : v[m->w2 + (size_t)i * m->in_step + row * m->out_step2];
                l->w[lin_at(l, i, c, u)] = (REAL)w;
            }
            if (m->b != DLS_NOWHERE) {
                l->b[c * l->wp + u] =
                    (REAL)(v[m->b + row] + (m->b2 == DLS_NOWHERE ? 0 : v[m->b2 + row]));
            }
        }
    }
    for (int32_t j = 0; j < l->kp; j++) {
        const int32_t panel = j / (2 * V) * (2 * V);
        const int32_t wide = l->kp - panel < 2 * V ? V : 2 * V;
        for (int32_t o = 0; j < l->k && o < l->np; o++) {
            l->back[(ptrdiff_t)panel * l->np + (ptrdiff_t)o * wide + (j - panel)] =
                l->w[(size_t)j * (size_t)l->np + (size_t)o];
        }
    }
}

/* order[g]: which chunk of the map is gate g of the kernel. */
static void load_cell_matrix(const lin *l, int32_t gates, const int *order, REAL *w)
{
    for (int32_t u = 0; u < l->map->width; u++) {
        for (int32_t i = 0; i < l->k; i++) {
            for (int32_t g = 0; g < gates; g++) {
                w[(((ptrdiff_t)(u / V) * l->k + i) * gates + g) * V + u % V] =
                    l->w[lin_at(l, i, order[g], u)];
            }
        }
    }
}

static void load_cells(packed *p)
{
    const dls_trainee *net = p->net;
    static const int input_order[] = {1, 2, 0};
    static const int plain_order[] = {0, 1, 2, 3};
    if (net->gru >= 0) {
        const lin *x = &p->lin[net->gru];
        const lin *y = x + 1;
        load_cell_matrix(x, 3, input_order, p->cell_w[0]);
        load_cell_matrix(y, 3, plain_order, p->cell_w[1]);
        for (int32_t u = 0; u < p->net->arch.hidden; u++) {
            REAL *b = p->gru_bias + (ptrdiff_t)(u / V) * 4 * V + u % V;
            b[0] = x->b[x->wp + u] + y->b[u];
            b[V] = x->b[2 * x->wp + u] + y->b[y->wp + u];
            b[2 * V] = x->b[u];
            b[3 * V] = y->b[2 * y->wp + u];
        }
    }
    if (net->lstm >= 0) {
        const lin *h = &p->lin[net->lstm];
        load_cell_matrix(h, 4, plain_order, p->cell_w[2]);
        load_cell_matrix(h + 1, 4, plain_order, p->cell_w[3]);
        for (int32_t u = 0; u < h->map->width; u++) {
            for (int32_t g = 0; g < 4; g++) {
                p->lstm_bias[(ptrdiff_t)(u / V) * 4 * V + g * V + u % V] = h->b[g * h->wp + u];
            }
        }
    }
}

static void step_load(void *state)
{
    packed *p = state;
    for (size_t i = 0; i < p->net->n_maps; i++) {
        load_lin(p->net, &p->lin[i]);
    }
    load_cells(p);
}

static dls_status step_open(const dls_trainee *net, void **out, dls_error *err)
{
    *out = NULL;
    packed *p;
    DLS_TRY(dls_alloc_array(&p, 1, sizeof *p, "packed network", err));
    p->net = net;
    const dls_status status = make_all(p, err);
    if (status != DLS_OK) {
        step_close(p);
        return status;
    }
    step_load(p);
    *out = p;
    return DLS_OK;
}

/* ---- gradients ------------------------------------------------------------------------------ */

static size_t step_gradient_bytes(const void *state)
{
    const packed *p = state;
    return (p->n_gradient + V) * sizeof(REAL);
}

static void step_add(const void *state, void *into, const void *from)
{
    const packed *p = state;
    REAL *a = into;
    const REAL *b = from;
    for (size_t i = 0; i < p->n_gradient; i++) {
        a[i] += b[i];
    }
}

static void step_scatter(const void *state, const void *gradient, double *into)
{
    const packed *p = state;
    const REAL *g = gradient;
    memset(into, 0, p->net->n_values * sizeof *into);
    for (size_t q = 0; q < p->net->n_maps; q++) {
        const lin *l = &p->lin[q];
        const dls_map *m = l->map;
        for (int32_t c = 0; m->trained && c < m->chunks; c++) {
            for (int32_t u = 0; u < m->width; u++) {
                const size_t row = (size_t)(m->chunk[c] * m->width + u);
                for (int32_t i = 0; i < m->k; i++) {
                    const double d = (double)g[l->gw + lin_at(l, i, c, u)];
                    into[m->w + (size_t)i * m->in_step + row * m->out_step] += d;
                    if (m->w2 != DLS_NOWHERE) {
                        into[m->w2 + (size_t)i * m->in_step + row * m->out_step2] += d;
                    }
                }
                if (m->b != DLS_NOWHERE) {
                    const double d = (double)g[l->gb + (size_t)(c * l->wp + u)];
                    into[m->b + row] += d;
                    if (m->b2 != DLS_NOWHERE) {
                        into[m->b2 + row] += d;
                    }
                }
            }
        }
    }
}
