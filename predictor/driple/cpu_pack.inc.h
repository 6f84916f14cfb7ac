/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Packing an inspector's tensors for an engine: linear maps become [in][out padded to 16], cells
 * are blocked as cpu_dense.inc.h says, padding is zero, and zero stays zero through every layer.
 */

typedef struct lin {
    int32_t k, n, np; /* inputs, outputs, outputs padded */
    REAL *w;          /* [k][np] */
    REAL *b;          /* [np], NULL: no bias */
    uint16_t *tiles;  /* w for cpu_tiles.inc.h */
} lin;

typedef struct packed {
    dls_arch arch;
    const dls_inspector *insp;
    int32_t ld;        /* leading dimension of a state: max(features, H) padded */
    int32_t dp;        /* readout width padded */
    int32_t conv_maps; /* of a convolution: dls_arch_conv_map */
    lin *convs;        /* [n_convs][conv_maps] of the base */
    lin *own;          /* [room][conv_maps], those of a setting; unused without */
    lin *mlp;          /* [1 + room][mlp_layers], the base first */
    size_t n_settings, room;
    cell gru, lstm;
    lin attention;
    block_list blocks; /* everything allocated here */
} packed;

static void engine_unpack(void *state)
{
    packed *p = state;
    if (p) {
        blocks_free(&p->blocks);
        dls_free(p);
    }
}

/* Which tensors a packing step reads. */
typedef struct source {
    packed *p;
    int32_t setting;
    bool suffix;
} source;

__attribute__((format(printf, 2, 3))) static const dls_weight *tensor(const source *s,
                                                                      const char *fmt, ...)
{
    char name[DLS_TENSOR_NAME_MAX];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(name, sizeof name, fmt, ap);
    va_end(ap);
    return dls_inspector_tensor(s->p->insp, s->setting, s->suffix, name);
}

static dls_status lin_init(packed *p, lin *l, int32_t k, int32_t n, bool bias, dls_error *err)
{
    *l = (lin){.k = k, .n = n, .np = pad16(n)};
    DLS_TRY(take(&p->blocks, (size_t)k * (size_t)l->np * sizeof(REAL), &l->w, err));
    return bias ? take(&p->blocks, (size_t)l->np * sizeof(REAL), &l->b, err) : DLS_OK;
}

/* From columns first_col .. first_col + k - 1 of a torch linear layer, [out][in]; plain: from a
 * matrix [in][out]. w NULL: a vector in place of the bias. */
static dls_status lin_from(packed *p, lin *l, const dls_weight *w, const dls_weight *b,
                           int32_t first_col, int32_t k, bool plain, dls_error *err)
{
    const int64_t n = !w ? dls_tensor_len(&b->spec) : plain ? w->spec.cols : w->spec.rows;
    DLS_TRY(lin_init(p, l, k, (int32_t)n, b != NULL, err));
    for (int32_t i = 0; i < k; i++) {
        for (int64_t j = 0; j < n; j++) {
            l->w[(size_t)i * (size_t)l->np + (size_t)j] =
                (REAL)w->data[plain ? i * n + j : j * w->spec.cols + first_col + i];
        }
    }
    for (int64_t j = 0; b && j < n; j++) {
        l->b[j] = (REAL)b->data[j];
    }
    return DLS_OK;
}

static dls_status linear_from(const source *s, lin *l, const char *name, dls_error *err)
{
    const dls_weight *w = tensor(s, "%s.linear.weight", name);
    return lin_from(s->p, l, w, tensor(s, "%s.linear.bias", name), 0, (int32_t)w->spec.cols, false,
                    err);
}

#ifdef ENGINE_TILES
enum { TILE = 16, TILE_K = 2 * TILE, TILE_LEN = TILE_K * TILE, SUMS = 4 };

INLINE int32_t tiles_of(int32_t k)
{
    return (k + TILE_K - 1) / TILE_K;
}

INLINE uint16_t bf16_of(REAL v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    const uint32_t even = bits >> 16 & 1; /* to nearest, ties to even; a NaN stays one */
    return (uint16_t)(v != v ? 0x7fc0 : (bits + 0x7fff + even) >> 16);
}

/* Tiles [block][inputs / 32][sums][16][16][2] of a matrix that has unit u of sum g of a block for
 * input i at from[block * by_block + i * by_input + g * TILE + u]; what the last block lacks is 0.
 */
static dls_status pack_tiles(packed *p, const REAL *from, int32_t k, int32_t sums, int32_t units,
                             ptrdiff_t by_block, ptrdiff_t by_input, uint16_t **out, dls_error *err)
{
    const int32_t blocks = (units + sums * TILE - 1) / (sums * TILE);
    const size_t tiles = (size_t)blocks * (size_t)tiles_of(k) * (size_t)sums;
    DLS_TRY(take(&p->blocks, tiles * TILE_LEN * sizeof **out, out, err));
    for (int32_t j = 0; j < units; j++) {
        const int32_t block = j / (sums * TILE), g = j / TILE % sums, u = j % TILE;
        for (int32_t i = 0; i < k; i++) {
            const ptrdiff_t tile = ((ptrdiff_t)block * tiles_of(k) + i / TILE_K) * sums + g;
            (*out)[tile * TILE_LEN + (i % TILE_K / 2 * TILE + u) * 2 + i % 2] =
                bf16_of(from[block * by_block + i * by_input + g * TILE + u]);
        }
    }
    return DLS_OK;
}

static dls_status pack_cell_tiles(packed *p, cell *c, int32_t gates, dls_error *err)
{
    const ptrdiff_t step = (ptrdiff_t)gates * TILE;
    DLS_TRY(
        pack_tiles(p, c->w1, c->k1, gates, gates * c->width, c->k1 * step, step, &c->tiles1, err));
    return pack_tiles(p, c->w2, c->k2, gates, gates * c->width, c->k2 * step, step, &c->tiles2,
                      err);
}
#endif

static dls_status pack_conv(const source *s, int32_t layer, lin *c, dls_error *err)
{
    for (int32_t i = 0; i < s->p->conv_maps; i++) {
        const dls_conv_map m = dls_arch_conv_map(&s->p->arch, layer, i);
        const dls_weight *w = *m.weight ? tensor(s, "%s", m.weight) : NULL;
        const dls_weight *b = *m.bias ? tensor(s, "%s", m.bias) : NULL;
        DLS_TRY(lin_from(s->p, &c[i], w, b, m.first, m.k, m.plain, err));
    }
#ifdef ENGINE_TILES
    if (s->p->arch.conv == DLS_CONV_GCN) {
        DLS_TRY(pack_tiles(s->p, c->w, c->k, SUMS, c->np, SUMS * TILE, c->np, &c->tiles, err));
    }
#endif
    return DLS_OK;
}

/* m[gate * H + unit][first .. first + k - 1] (+ add[...], in double) into [block][k][gates][V]. */
static dls_status pack_gates(packed *p, int32_t gates, int32_t width, int32_t k,
                             const dls_weight *m, int32_t first, const dls_weight *add,
                             const REAL **out, dls_error *err)
{
    const int32_t wp = pad16(width);
    REAL *w = NULL;
    DLS_TRY(take(&p->blocks, (size_t)wp * (size_t)k * (size_t)gates * sizeof(REAL), &w, err));
    for (int32_t u = 0; u < width; u++) {
        for (int32_t i = 0; i < k; i++) {
            for (int32_t g = 0; g < gates; g++) {
                const int64_t row = (int64_t)g * width + u;
                double v = m->data[row * m->spec.cols + first + i];
                v += add ? add->data[row * add->spec.cols + i] : 0;
                w[(((ptrdiff_t)(u / V) * k + i) * gates + g) * V + u % V] = (REAL)v;
            }
        }
    }
    *out = w;
    return DLS_OK;
}

static dls_status pack_cells(packed *p, dls_error *err)
{
    const source s = {p, DLS_SETTING_BASE, false};
    const int32_t h = p->arch.hidden;
    REAL *bias = NULL;
    if (p->arch.gru) {
        const dls_weight *bi = tensor(&s, "gru.gru.bias_ih_l0");
        const dls_weight *bh = tensor(&s, "gru.gru.bias_hh_l0");
        p->gru = (cell){.width = pad16(h), .k1 = h, .k2 = h};
        DLS_TRY(
            pack_gates(p, 3, h, h, tensor(&s, "gru.gru.weight_ih_l0"), 0, NULL, &p->gru.w1, err));
        DLS_TRY(
            pack_gates(p, 3, h, h, tensor(&s, "gru.gru.weight_hh_l0"), 0, NULL, &p->gru.w2, err));
        DLS_TRY(take(&p->blocks, (size_t)pad16(h) * 4 * sizeof(REAL), &bias, err));
        for (int32_t u = 0; u < h; u++) {
            REAL *b = bias + (ptrdiff_t)(u / V) * 4 * V + u % V;
            b[0] = (REAL)(bi->data[u] + bh->data[u]);
            b[V] = (REAL)(bi->data[h + u] + bh->data[h + u]);
            b[2 * V] = (REAL)bi->data[2 * h + u];
            b[3 * V] = (REAL)bh->data[2 * h + u]; /* stays inside the product with r */
        }
        p->gru.bias = bias;
#ifdef ENGINE_TILES
        DLS_TRY(pack_cell_tiles(p, &p->gru, 3, err));
#endif
    }
    if (p->arch.pool == DLS_POOL_SET2SET) {
        /* Its input begins with h, which is also its hidden state: W_ih h + W_hh h is one product.
         */
        const int32_t d = dls_arch_readout_width(&p->arch);
        const dls_weight *wi = tensor(&s, "graph_read_out.set2set.lstm.weight_ih_l0");
        const dls_weight *bi = tensor(&s, "graph_read_out.set2set.lstm.bias_ih_l0");
        const dls_weight *bh = tensor(&s, "graph_read_out.set2set.lstm.bias_hh_l0");
        p->lstm = (cell){.width = pad16(d), .k1 = d, .k2 = d};
        DLS_TRY(pack_gates(p, 4, d, d, wi, 0,
                           tensor(&s, "graph_read_out.set2set.lstm.weight_hh_l0"), &p->lstm.w1,
                           err));
        DLS_TRY(pack_gates(p, 4, d, d, wi, d, NULL, &p->lstm.w2, err));
        DLS_TRY(take(&p->blocks, (size_t)pad16(d) * 4 * sizeof(REAL), &bias, err));
        for (int32_t u = 0; u < d; u++) {
            for (int32_t g = 0; g < 4; g++) {
                bias[(ptrdiff_t)(u / V) * 4 * V + g * V + u % V] =
                    (REAL)(bi->data[g * d + u] + bh->data[g * d + u]);
            }
        }
        p->lstm.bias = bias;
#ifdef ENGINE_TILES
        DLS_TRY(pack_cell_tiles(p, &p->lstm, 4, err));
#endif
    } else if (p->arch.pool == DLS_POOL_ATTENTION) {
        DLS_TRY(linear_from(&s, &p->attention, "graph_read_out.attention", err));
    }
    return DLS_OK;
}

/* A setting that is told has the base's weights and biases of its own: rows of such settings are
 * one product. */
static dls_status mlp_from(const source *s, lin *l, const lin *base, const char *name,
                           dls_error *err)
{
    const dls_weight *w = tensor(s, "%s.linear.weight", name);
    const source origin = {s->p, DLS_SETTING_BASE, true};
    const dls_weight *of_base = tensor(&origin, "%s.linear.weight", name);
    const size_t bytes = (size_t)dls_tensor_len(&w->spec) * sizeof *w->data;
    if (l == base || memcmp(w->data, of_base->data, bytes) != 0) {
        return linear_from(s, l, name, err);
    }
    const dls_weight *b = tensor(s, "%s.linear.bias", name);
    *l = *base;
    DLS_TRY(take(&s->p->blocks, (size_t)l->np * sizeof(REAL), &l->b, err));
    for (int32_t j = 0; j < l->n; j++) {
        l->b[j] = (REAL)b->data[j];
    }
    return DLS_OK;
}

/* -1: the base. */
static dls_status pack_setting(packed *p, int32_t i, dls_error *err)
{
    const size_t n_layers = (size_t)p->arch.mlp_layers;
    const source s = {p, i, true};
    if (i >= 0 && p->insp->settings[i].has_conv) {
        DLS_TRY(pack_conv(&s, 1, p->own + (ptrdiff_t)i * p->conv_maps, err));
    }
    for (size_t l = 0; l < n_layers; l++) {
        char name[72];
        snprintf(name, sizeof name, "graph_read_out.mlp.fully_connected.%zu", l);
        DLS_TRY(mlp_from(&s, &p->mlp[(size_t)(i + 1) * n_layers + l], &p->mlp[l], name, err));
    }
    return DLS_OK;
}

/* Room for n settings. The tables that it replaces stay among the blocks: all of them together are
 * no longer than the last, which is twice as long as the one before. */
static dls_status make_room(packed *p, size_t n, dls_error *err)
{
    const size_t layers = (size_t)p->arch.mlp_layers * sizeof(lin);
    const size_t maps = (size_t)p->conv_maps * sizeof(lin);
    const size_t room = n < 2 * p->room ? 2 * p->room : n;
    lin *own = NULL;
    lin *mlp = NULL;
    if (n <= p->room && p->mlp) {
        return DLS_OK;
    }
    DLS_TRY(take(&p->blocks, room * maps, &own, err));
    DLS_TRY(take(&p->blocks, (1 + room) * layers, &mlp, err));
    if (p->mlp) {
        memcpy(own, p->own, p->n_settings * maps);
        memcpy(mlp, p->mlp, (1 + p->n_settings) * layers);
    }
    p->own = own;
    p->mlp = mlp;
    p->room = room;
    return DLS_OK;
}

static dls_status engine_extend(void *state, dls_error *err)
{
    packed *p = state;
    DLS_TRY(make_room(p, p->insp->n_settings, err));
    for (; p->n_settings < p->insp->n_settings; p->n_settings++) {
        DLS_TRY(pack_setting(p, (int32_t)p->n_settings, err));
    }
    return DLS_OK;
}

static dls_status pack_all(packed *p, dls_error *err)
{
    const int32_t n_convs = dls_arch_n_convs(&p->arch);
    DLS_TRY(take(&p->blocks, (size_t)(n_convs * p->conv_maps) * sizeof(lin), &p->convs, err));
    const source base = {p, DLS_SETTING_BASE, false};
    for (int32_t l = 0; l < n_convs; l++) {
        DLS_TRY(pack_conv(&base, l, p->convs + (ptrdiff_t)l * p->conv_maps, err));
    }
    DLS_TRY(make_room(p, p->insp->n_settings, err));
    DLS_TRY(pack_setting(p, -1, err));
    DLS_TRY(engine_extend(p, err));
    return pack_cells(p, err);
}

static dls_status engine_pack(const dls_inspector *insp, void **out, dls_error *err)
{
    *out = NULL;
    packed *p;
    DLS_TRY(dls_alloc_array(&p, 1, sizeof *p, "packed weights", err));
    p->arch = insp->arch;
    p->insp = insp;
    p->conv_maps = dls_arch_conv_maps(&insp->arch);
    p->ld = pad16(insp->arch.n_features > insp->arch.hidden ? insp->arch.n_features
                                                            : insp->arch.hidden);
    p->dp = pad16(dls_arch_readout_width(&insp->arch));
    const dls_status status = pack_all(p, err);
    if (status != DLS_OK) {
        engine_unpack(p);
        return status;
    }
    *out = p;
    return DLS_OK;
}
