/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Products in bf16: GCN's convolution and the cells' sums, with operands rounded to bf16 (8 bits),
 * products and sums in float32; states, gates and all else are float32. Included by engines that
 * define ENGINE_TILES: on AMX's matrix unit, or in plain C, slowly, for tests on any machine.
 *
 * A tile of A is 16 rows x 32 inputs, one of B 32 inputs x 16 units as the unit wants them, pairs
 * of inputs side by side: [16][16][2], 1 KB. Four sums of 16 x 16 gather at a time: four gates of
 * 16 units, or 64 outputs of a convolution. Rows beyond the last of a matrix are computed and
 * ignored.
 */

/* Sums 0 .. n - 1 (the GRU's second product: 0, 1 and 3) += A B over `tiles` tiles; B: n a step. */
typedef enum tile_sums { SUMS_ALL, SUMS_FIRST_3, SUMS_NOT_THIRD } tile_sums;

#if defined(ENGINE_AMX)

INLINE void tiles_begin(void)
{
    struct {
        uint8_t palette, start_row, reserved[14];
        uint16_t row_bytes[16];
        uint8_t rows[16];
    } config = {.palette = 1};
    for (int i = 0; i < 8; i++) {
        config.row_bytes[i] = 64;
        config.rows[i] = TILE;
    }
    _tile_loadconfig(&config);
}

INLINE void tiles_end(void)
{
    _tile_release();
}

/* All rows of sum i begin with bias[i]. */
INLINE void tiles_bias(const REAL *bias, REAL *sum)
{
    (void)sum;
    _tile_loadd(0, bias, 0);
    _tile_loadd(1, bias + TILE, 0);
    _tile_loadd(2, bias + 2 * TILE, 0);
    _tile_loadd(3, bias + 3 * TILE, 0);
}

SHAPED void tiles_add(const tile_sums which, const uint16_t *a, ptrdiff_t lda, int32_t tiles,
                      const uint16_t *b, REAL *sum)
{
    (void)sum;
    for (int32_t t = 0; t < tiles; t++, a += TILE_K) {
        _tile_loadd(4, a, lda * 2);
        _tile_loadd(5, b, 64);
        _tile_loadd(6, b + TILE_LEN, 64);
        _tile_loadd(7, b + 2 * TILE_LEN, 64);
        _tile_dpbf16ps(0, 4, 5);
        _tile_dpbf16ps(1, 4, 6);
        if (which == SUMS_NOT_THIRD) {
            _tile_dpbf16ps(3, 4, 7);
        } else {
            _tile_dpbf16ps(2, 4, 7);
        }
        b += 3 * TILE_LEN;
        if (which == SUMS_ALL) {
            _tile_loadd(5, b, 64);
            _tile_dpbf16ps(3, 4, 5);
            b += TILE_LEN;
        }
    }
}

INLINE void tiles_store(REAL *sum)
{
    _tile_stored(0, sum, 64);
    _tile_stored(1, sum + TILE * TILE, 64);
    _tile_stored(2, sum + 2 * TILE * TILE, 64);
    _tile_stored(3, sum + 3 * TILE * TILE, 64);
}

INLINE void to_bf16(const REAL *x, const bool second, uint16_t *to)
{
    const __m512 high = second ? _mm512_loadu_ps(x + TILE) : _mm512_setzero_ps();
    const __m512bh both = _mm512_cvtne2ps_pbh(high, _mm512_loadu_ps(x));
    memcpy(to, &both, sizeof both);
}

#else

INLINE void tiles_begin(void)
{
}

INLINE void tiles_end(void)
{
}

INLINE void tiles_bias(const REAL *bias, REAL *sum)
{
    for (int i = 0; i < SUMS * TILE; i++) {
        memcpy(sum + i * TILE, bias + i / TILE * TILE, TILE * sizeof *sum);
    }
}

INLINE REAL from_bf16(uint16_t x)
{
    const uint32_t bits = (uint32_t)x << 16;
    REAL v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static void tiles_add(const tile_sums which, const uint16_t *a, ptrdiff_t lda, int32_t tiles,
                      const uint16_t *b, REAL *sum)
{
    for (int32_t t = 0; t < tiles; t++, a += TILE_K) {
        for (int s = 0; s < SUMS; s++) {
            if ((which == SUMS_FIRST_3 && s == 3) || (which == SUMS_NOT_THIRD && s == 2)) {
                continue;
            }
            for (int i = 0; i < TILE * TILE * TILE_K; i++) {
                const int row = i / TILE_LEN, k = i / TILE % TILE_K, unit = i % TILE;
                sum[(s * TILE + row) * TILE + unit] +=
                    from_bf16(a[row * lda + k]) * from_bf16(b[(k / 2 * TILE + unit) * 2 + k % 2]);
            }
            b += TILE_LEN;
        }
    }
}

INLINE void tiles_store(REAL *sum)
{
    (void)sum;
}

INLINE void to_bf16(const REAL *x, const bool second, uint16_t *to)
{
    for (int k = 0; k < TILE_K; k++) {
        to[k] = k < TILE || second ? bf16_of(x[k]) : 0;
    }
}

#endif

/* [rows][k] float32, columns up to the next 16 zero, to [rows][ldh] bf16, up to the next 32 zero.
 */
static void round_rows(const REAL *x, ptrdiff_t ldx, int32_t rows, int32_t k, uint16_t *to,
                       ptrdiff_t ldh)
{
    for (int32_t i = 0; i < rows; i++) {
        for (int32_t j = 0; j < k; j += TILE_K) {
            to_bf16(x + i * ldx + j, k - j > TILE, to + i * ldh + j);
        }
    }
}

/* y = leaky(x W + b). */
static void gcn_tiles(const tile_rows *t, const lin *l, const REAL *x, int32_t rows, ptrdiff_t ld,
                      REAL *y)
{
    static const REAL zero[SUMS * TILE];
    _Alignas(64) REAL sum[SUMS * TILE * TILE];
    const int32_t tiles = tiles_of(l->k);
    round_rows(x, ld, rows, l->k, t->first, t->ld);
    for (int32_t j = 0; j < l->np; j += SUMS * TILE) {
        const int32_t sums = l->np - j < SUMS * TILE ? (l->np - j) / TILE : SUMS;
        for (int32_t i = 0; i < rows; i += TILE) {
            const int32_t m = rows - i < TILE ? rows - i : TILE;
            tiles_bias(zero, sum);
            tiles_add(SUMS_ALL, t->first + i * t->ld, t->ld, tiles,
                      l->tiles + (ptrdiff_t)j * tiles * TILE_K, sum);
            tiles_store(sum);
            for (int32_t q = 0; q < m; q++) {
                for (int32_t s = 0; s < sums; s++) {
                    const vreal v = v_load(sum + (s * TILE + q) * TILE);
                    v_store(y + (i + q) * ld + j + s * TILE,
                            v_act(v + v_load(l->b + j + s * TILE), ACT_LRELU));
                }
            }
        }
    }
}

SHAPED void gate_rows(const int mr, const bool is_gru, const REAL *sum, const REAL *y, REAL *c,
                      REAL *out, ptrdiff_t ld)
{
    vreal s[SUMS][GATE_ROWS];
    UNROLL for (int i = 0; i < mr; i++)
    {
        UNROLL for (int g = 0; g < SUMS; g++)
        {
            s[g][i] = v_load(sum + (g * TILE + i) * TILE);
        }
    }
    if (is_gru) {
        gru_gates(mr, s[0], s[1], s[2], s[3], y, ld, out, ld, NULL, 0, 0);
    } else {
        lstm_gates(mr, s[0], s[1], s[2], s[3], c, out, ld, NULL, 0, 0);
    }
}

/* The gates of up to 16 rows and of 16 units from their sums. */
SHAPED void gates_of(const bool is_gru, const REAL *sum, int32_t rows, const REAL *y, REAL *c,
                     REAL *out, ptrdiff_t ld)
{
    int32_t i = 0;
    for (; i + GATE_ROWS <= rows; i += GATE_ROWS) {
        gate_rows(GATE_ROWS, is_gru, sum + i * TILE, y + i * ld, c + i * ld, out + i * ld, ld);
    }
    for (; i + 4 <= rows; i += 4) {
        gate_rows(4, is_gru, sum + i * TILE, y + i * ld, c + i * ld, out + i * ld, ld);
    }
    for (; i < rows; i++) {
        gate_rows(1, is_gru, sum + i * TILE, y + i * ld, c + i * ld, out + i * ld, ld);
    }
}

/* Either cell: out from x (k1 columns) and y; the LSTM's state c in place. The sums of a block are
 * begun before the gates of the one before, so that both units have work. */
SHAPED void cell_tiles(const bool is_gru, const tile_rows *t, const cell *g, const REAL *x,
                       int32_t k1, const REAL *y, REAL *c, REAL *out, int32_t rows, ptrdiff_t ld)
{
    _Alignas(64) REAL sum[2][SUMS * TILE * TILE];
    const int gates = is_gru ? 3 : 4;
    const int32_t tiles2 = tiles_of(g->k2);
    const int32_t blocks = (rows + TILE - 1) / TILE;
    round_rows(x, ld, rows, k1, t->first, t->ld);
    round_rows(y, ld, rows, g->k2, t->second, t->ld);
    for (int32_t n = 0; n <= g->width / TILE * blocks; n++) {
        const int32_t i = n % blocks * TILE;
        const int32_t j = n / blocks;
        if (j < g->width / TILE) {
            tiles_bias(g->bias + (ptrdiff_t)j * 4 * TILE, sum[n % 2]);
            tiles_add(is_gru ? SUMS_FIRST_3 : SUMS_ALL, t->first + i * t->ld, t->ld, tiles_of(k1),
                      g->tiles1 + (ptrdiff_t)j * tiles_of(g->k1) * gates * TILE_LEN, sum[n % 2]);
            tiles_add(is_gru ? SUMS_NOT_THIRD : SUMS_ALL, t->second + i * t->ld, t->ld, tiles2,
                      g->tiles2 + (ptrdiff_t)j * tiles2 * gates * TILE_LEN, sum[n % 2]);
            tiles_store(sum[n % 2]);
        }
        if (n > 0) {
            const int32_t last_i = (n - 1) % blocks * TILE;
            const ptrdiff_t at = last_i * ld + (n - 1) / blocks * TILE;
            gates_of(is_gru, sum[(n - 1) % 2], rows - last_i < TILE ? rows - last_i : TILE, y + at,
                     c + at, out + at, ld);
        }
    }
}

static void gru_tiles(const tile_rows *t, const cell *g, const REAL *x, int32_t k1, const REAL *y,
                      REAL *out, int32_t rows, ptrdiff_t ld)
{
    cell_tiles(true, t, g, x, k1, y, out, out, rows, ld);
}

static void lstm_tiles(const tile_rows *t, const cell *g, const REAL *h, const REAL *r, REAL *c,
                       REAL *out, int32_t rows, ptrdiff_t ld)
{
    cell_tiles(false, t, g, h, g->k1, r, c, out, rows, ld);
}
