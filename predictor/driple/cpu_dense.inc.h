/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Products: C = act(A B + bias), the GRU and LSTM cells with their gates fused into the product,
 * and the sparse row sum. Included once per engine.
 *
 * The shape of a block is what fills the registers: DENSE_ROWS x 2 vectors, or GATE_ROWS x 4 gates.
 * Weights of a cell are packed by blocks of V units so that a block (24 KB at H = 64, V = 16) stays
 * in the first-level cache while the rows stream by:
 *
 *     [block of V units][input row k][gate][V]
 *
 * The products stand alone (APART): inlined into a large function they lose their registers.
 */
#define APART static __attribute__((noinline))

typedef enum act { ACT_NONE, ACT_RELU, ACT_LRELU } act;
#define LRELU_SLOPE ((REAL)0.01)

INLINE vreal v_act(vreal a, act f)
{
    if (f == ACT_RELU) {
        return v_max(v_set(0), a);
    }
    if (f == ACT_LRELU) {
        return v_max(a * v_set(LRELU_SLOPE), a);
    }
    return a;
}

/* Row i, term p of the left matrix is a[i * sr + p * sc]. */
SHAPED void dense_block(const int mr, const int nv, const REAL *a, ptrdiff_t sr, ptrdiff_t sc,
                        int32_t k, const REAL *b, ptrdiff_t ldb, const REAL *bias, ptrdiff_t ldbias,
                        act f, REAL *c, ptrdiff_t ldc)
{
    vreal acc[DENSE_ROWS][2];
    UNROLL for (int i = 0; i < mr; i++)
    {
        UNROLL for (int j = 0; j < nv; j++)
        {
            acc[i][j] = bias ? v_load(bias + i * ldbias + j * V) : v_set(0);
        }
    }
    for (int32_t p = 0; p < k; p++) {
        vreal w[2];
        UNROLL for (int j = 0; j < nv; j++)
        {
            w[j] = v_load(b + p * ldb + j * V);
        }
        UNROLL for (int i = 0; i < mr; i++)
        {
            const vreal x = v_set(a[i * sr + p * sc]);
            UNROLL for (int j = 0; j < nv; j++)
            {
                acc[i][j] = v_fma(x, w[j], acc[i][j]);
            }
        }
    }
    UNROLL for (int i = 0; i < mr; i++)
    {
        UNROLL for (int j = 0; j < nv; j++)
        {
            v_store(c + i * ldc + j * V, v_act(acc[i][j], f));
        }
    }
}

SHAPED void dense_rows(const int nv, const REAL *a, ptrdiff_t lda, int32_t rows, int32_t k,
                       const REAL *b, ptrdiff_t ldb, const REAL *bias, act f, REAL *c,
                       ptrdiff_t ldc)
{
    const ptrdiff_t ldbias = bias == c ? ldc : 0;
    int32_t i = 0;
    for (; i + DENSE_ROWS <= rows; i += DENSE_ROWS) {
        dense_block(DENSE_ROWS, nv, a + i * lda, lda, 1, k, b, ldb, bias ? bias + i * ldbias : NULL,
                    ldbias, f, c + i * ldc, ldc);
    }
    for (; i + 4 <= rows; i += 4) {
        dense_block(4, nv, a + i * lda, lda, 1, k, b, ldb, bias ? bias + i * ldbias : NULL, ldbias, f,
                    c + i * ldc, ldc);
    }
    for (; i < rows; i++) {
        dense_block(1, nv, a + i * lda, lda, 1, k, b, ldb, bias ? bias + i * ldbias : NULL, ldbias, f,
                    c + i * ldc, ldc);
    }
}

/* C[rows][n] = f(A[rows][k] B[k][n] + bias): n a multiple of V. bias may be NULL, or c, where every
 * row has its own. */
APART void dense(const REAL *a, ptrdiff_t lda, int32_t rows, int32_t k, const REAL *b,
                 ptrdiff_t ldb, int32_t n, const REAL *bias, act f, REAL *c, ptrdiff_t ldc)
{
    int32_t j = 0;
    for (; j + 2 * V <= n; j += 2 * V) {
        dense_rows(2, a, lda, rows, k, b + j, ldb, bias ? bias + j : NULL, f, c + j, ldc);
    }
    for (; j < n; j += V) {
        dense_rows(1, a, lda, rows, k, b + j, ldb, bias ? bias + j : NULL, f, c + j, ldc);
    }
}

SHAPED void row_times_block(const int nv, const REAL *a, int32_t k, const REAL *b, ptrdiff_t ldb,
                            REAL *c)
{
    vreal even[8];
    vreal odd[8];
    UNROLL for (int j = 0; j < nv; j++)
    {
        even[j] = v_set(0);
        odd[j] = v_set(0);
    }
    int32_t p = 0;
    for (; p + 2 <= k; p += 2) {
        const vreal x = v_set(a[p]);
        const vreal y = v_set(a[p + 1]);
        UNROLL for (int j = 0; j < nv; j++)
        {
            even[j] = v_fma(x, v_load(b + p * ldb + j * V), even[j]);
            odd[j] = v_fma(y, v_load(b + (p + 1) * ldb + j * V), odd[j]);
        }
    }
    for (; p < k; p++) {
        UNROLL for (int j = 0; j < nv; j++)
        {
            even[j] = v_fma(v_set(a[p]), v_load(b + p * ldb + j * V), even[j]);
        }
    }
    UNROLL for (int j = 0; j < nv; j++)
    {
        v_store(c + j * V, even[j] + odd[j]);
    }
}

/* c[n] = a[k] B[k][n]: one row against a matrix that is read once. */
static void row_times(const REAL *a, int32_t k, const REAL *b, ptrdiff_t ldb, int32_t n, REAL *c)
{
    int32_t j = 0;
    for (; j + 4 * V <= n; j += 4 * V) {
        row_times_block(4, a, k, b + j, ldb, c + j);
    }
    for (; j < n; j += V) {
        row_times_block(1, a, k, b + j, ldb, c + j);
    }
}

/* ---- GRU ------------------------------------------------------------------------------------ */

typedef struct cell {
    int32_t width;             /* H */
    int32_t k1, k2;            /* inputs: rows of the two matrices */
    const REAL *w1;            /* [block][k1][3 or 4][V] */
    const REAL *w2;            /* [block][k2][3 or 4][V] */
    const REAL *bias;          /* [block][4][V] */
    uint16_t *tiles1, *tiles2; /* w1 and w2 for cpu_tiles.inc.h */
} cell;

/* From the sums of mr rows, V units, to the new state. Training keeps r, z, n and the hidden half
 * of n, `width` apart in each row. */
SHAPED void gru_gates(const int mr, vreal *r, vreal *z, vreal *nx, vreal *ny, const REAL *y,
                      ptrdiff_t ldy, REAL *out, ptrdiff_t ldo, REAL *keep, ptrdiff_t ldk,
                      int32_t width)
{
    sigmoid_rows(mr, r);
    sigmoid_rows(mr, z); /* before what waits for r */
    UNROLL for (int i = 0; i < mr; i++)
    {
        nx[i] = v_fma(r[i], ny[i], nx[i]);
    }
    tanh_rows(mr, nx);
    UNROLL for (int i = 0; i < mr; i++)
    {
        v_store(out + i * ldo, v_fma(z[i], v_load(y + i * ldy) - nx[i], nx[i]));
        if (keep) {
            REAL *to = keep + i * ldk;
            v_store(to, r[i]);
            v_store(to + width, z[i]);
            v_store(to + 2 * width, nx[i]);
            v_store(to + 3 * width, ny[i]);
        }
    }
}

#ifndef ENGINE_TILES
/* One of the two products of mr rows, V units: r, z and one half of n gather in 3 x mr registers.
 */
SHAPED void gru_product(const int mr, const REAL *x, ptrdiff_t ldx, int32_t k, const REAL *w,
                        vreal *r, vreal *z, vreal *n)
{
    vreal acc[GRU_ROWS][3];
    UNROLL for (int i = 0; i < mr; i++)
    {
        acc[i][0] = r[i];
        acc[i][1] = z[i];
        acc[i][2] = n[i];
    }
    for (int32_t p = 0; p < k; p++, w += 3 * V) {
        const vreal wr = v_load(w), wz = v_load(w + V), wn = v_load(w + 2 * V);
        UNROLL for (int i = 0; i < mr; i++)
        {
            const vreal v = v_set(x[i * ldx + p]);
            acc[i][0] = v_fma(v, wr, acc[i][0]);
            acc[i][1] = v_fma(v, wz, acc[i][1]);
            acc[i][2] = v_fma(v, wn, acc[i][2]);
        }
    }
    UNROLL for (int i = 0; i < mr; i++)
    {
        r[i] = acc[i][0];
        z[i] = acc[i][1];
        n[i] = acc[i][2];
    }
}

/* Nothing but the new state is written. x (k1 columns) is the old state, y (k2) the convolution's
 * output: the published argument order. */
SHAPED void gru_block(const int mr, const REAL *x, ptrdiff_t ldx, int32_t k1, const REAL *w1,
                      const REAL *y, ptrdiff_t ldy, int32_t k2, const REAL *w2, const REAL *bias,
                      const REAL *y_unit, REAL *out, ptrdiff_t ldo, REAL *keep, ptrdiff_t ldk,
                      int32_t width)
{
    vreal r[GRU_ROWS], z[GRU_ROWS], nx[GRU_ROWS], ny[GRU_ROWS];
    UNROLL for (int i = 0; i < mr; i++)
    {
        r[i] = v_load(bias);
        z[i] = v_load(bias + V);
        nx[i] = v_load(bias + 2 * V);
    }
    gru_product(mr, x, ldx, k1, w1, r, z, nx);
    UNROLL for (int i = 0; i < mr; i++)
    {
        ny[i] = v_load(bias + 3 * V);
    }
    gru_product(mr, y, ldy, k2, w2, r, z, ny);
    gru_gates(mr, r, z, nx, ny, y_unit, ldy, out, ldo, keep, ldk, width);
}

/* keep: NULL, or [rows][ldk] for the gates. */
APART void gru(const cell *g, const REAL *x, int32_t k1, const REAL *y, REAL *out, int32_t rows,
               ptrdiff_t ld, REAL *keep, ptrdiff_t ldk)
{
    for (int32_t j = 0; j < g->width; j += V) {
        const REAL *w1 = g->w1 + (ptrdiff_t)j * g->k1 * 3;
        const REAL *w2 = g->w2 + (ptrdiff_t)j * g->k2 * 3;
        const REAL *bias = g->bias + (ptrdiff_t)j * 4;
        int32_t i = 0;
        for (; i + GRU_ROWS <= rows; i += GRU_ROWS) {
            gru_block(GRU_ROWS, x + i * ld, ld, k1, w1, y + i * ld, ld, g->k2, w2, bias,
                      y + i * ld + j, out + i * ld + j, ld, keep ? keep + i * ldk + j : NULL, ldk,
                      g->width);
        }
        for (; i + 2 <= rows; i += 2) {
            gru_block(2, x + i * ld, ld, k1, w1, y + i * ld, ld, g->k2, w2, bias, y + i * ld + j,
                      out + i * ld + j, ld, keep ? keep + i * ldk + j : NULL, ldk, g->width);
        }
        for (; i < rows; i++) {
            gru_block(1, x + i * ld, ld, k1, w1, y + i * ld, ld, g->k2, w2, bias, y + i * ld + j,
                      out + i * ld + j, ld, keep ? keep + i * ldk + j : NULL, ldk, g->width);
        }
    }
}
#endif

/* ---- LSTM ----------------------------------------------------------------------------------- */

/* From the sums of mr rows, V units, to state and output. Training keeps i, f, g, o and tanh(c),
 * `width` apart in each row. */
SHAPED void lstm_gates(const int mr, vreal *in, vreal *forget, vreal *cand, vreal *open, REAL *c,
                       REAL *out, ptrdiff_t ld, REAL *keep, ptrdiff_t ldk, int32_t width)
{
    vreal seen[GATE_ROWS];
    sigmoid_rows(mr, in);
    sigmoid_rows(mr, forget);
    tanh_rows(mr, cand);
    sigmoid_rows(mr, open);
    UNROLL for (int i = 0; i < mr; i++)
    {
        seen[i] = v_fma(forget[i], v_load(c + i * ld), in[i] * cand[i]);
        v_store(c + i * ld, seen[i]);
    }
    tanh_rows(mr, seen);
    UNROLL for (int i = 0; i < mr; i++)
    {
        v_store(out + i * ld, open[i] * seen[i]);
        if (keep) {
            REAL *to = keep + i * ldk;
            v_store(to, in[i]);
            v_store(to + width, forget[i]);
            v_store(to + 2 * width, cand[i]);
            v_store(to + 3 * width, open[i]);
            v_store(to + 4 * width, seen[i]);
        }
    }
}

#ifndef ENGINE_TILES
SHAPED void lstm_block(const int mr, const REAL *h, const REAL *r, ptrdiff_t ld, int32_t k,
                       const REAL *w1, const REAL *w2, const REAL *bias, REAL *c, REAL *out,
                       REAL *keep, ptrdiff_t ldk, int32_t width)
{
    vreal gi[GATE_ROWS], gf[GATE_ROWS], gg[GATE_ROWS], go[GATE_ROWS];
    UNROLL for (int i = 0; i < mr; i++)
    {
        gi[i] = v_load(bias);
        gf[i] = v_load(bias + V);
        gg[i] = v_load(bias + 2 * V);
        go[i] = v_load(bias + 3 * V);
    }
    for (int32_t p = 0; p < k; p++, w1 += 4 * V, w2 += 4 * V) {
        UNROLL for (int i = 0; i < mr; i++)
        {
            const vreal a = v_set(h[i * ld + p]);
            gi[i] = v_fma(a, v_load(w1), gi[i]);
            gf[i] = v_fma(a, v_load(w1 + V), gf[i]);
            gg[i] = v_fma(a, v_load(w1 + 2 * V), gg[i]);
            go[i] = v_fma(a, v_load(w1 + 3 * V), go[i]);
        }
        UNROLL for (int i = 0; i < mr; i++)
        {
            const vreal b = v_set(r[i * ld + p]);
            gi[i] = v_fma(b, v_load(w2), gi[i]);
            gf[i] = v_fma(b, v_load(w2 + V), gf[i]);
            gg[i] = v_fma(b, v_load(w2 + 2 * V), gg[i]);
            go[i] = v_fma(b, v_load(w2 + 3 * V), go[i]);
        }
    }
    lstm_gates(mr, gi, gf, gg, go, c, out, ld, keep, ldk, width);
}

/* One step for `rows` graphs: inputs h and r, state c in place, the new h to out (not h). keep:
 * NULL, or [rows][ldk] for the gates. */
APART void lstm(const cell *g, const REAL *h, const REAL *r, REAL *c, REAL *out, int32_t rows,
                ptrdiff_t ld, REAL *keep, ptrdiff_t ldk)
{
    for (int32_t j = 0; j < g->width; j += V) {
        const REAL *w1 = g->w1 + (ptrdiff_t)j * g->k1 * 4;
        const REAL *w2 = g->w2 + (ptrdiff_t)j * g->k2 * 4;
        const REAL *bias = g->bias + (ptrdiff_t)j * 4;
        int32_t i = 0;
        for (; i + GATE_ROWS <= rows; i += GATE_ROWS) {
            lstm_block(GATE_ROWS, h + i * ld, r + i * ld, ld, g->k1, w1, w2, bias, c + i * ld + j,
                       out + i * ld + j, keep ? keep + i * ldk + j : NULL, ldk, g->width);
        }
        for (; i + 2 <= rows; i += 2) {
            lstm_block(2, h + i * ld, r + i * ld, ld, g->k1, w1, w2, bias, c + i * ld + j,
                       out + i * ld + j, keep ? keep + i * ldk + j : NULL, ldk, g->width);
        }
        for (; i < rows; i++) {
            lstm_block(1, h + i * ld, r + i * ld, ld, g->k1, w1, w2, bias, c + i * ld + j,
                       out + i * ld + j, keep ? keep + i * ldk + j : NULL, ldk, g->width);
        }
    }
}
#endif

/* ---- sparse rows ---------------------------------------------------------------------------- */

typedef struct csr {
    int32_t n;
    const int64_t *start; /* [n + 1], borrowed from the graph */
    const int32_t *col;
    REAL *value; /* [edges] */
    REAL *diag;  /* [n] added on the diagonal */
} csr;

enum { SPARSE_VECTORS = V == 8 ? 8 : 4 }; /* 64 columns at once */

SHAPED void sparse_block(const int nv, const csr *s, const REAL *h, ptrdiff_t ld, REAL *out)
{
    for (int32_t i = 0; i < s->n; i++) {
        vreal acc[SPARSE_VECTORS];
        const vreal d = v_set(s->diag[i]);
        UNROLL for (int j = 0; j < nv; j++)
        {
            acc[j] = d * v_load(h + i * ld + j * V);
        }
        for (int64_t e = s->start[i]; e < s->start[i + 1]; e++) {
            const vreal a = v_set(s->value[e]);
            const REAL *row = h + s->col[e] * ld;
            UNROLL for (int j = 0; j < nv; j++)
            {
                acc[j] = v_fma(a, v_load(row + j * V), acc[j]);
            }
        }
        UNROLL for (int j = 0; j < nv; j++)
        {
            v_store(out + i * ld + j * V, acc[j]);
        }
    }
}

/* out = (S + diag) h, width a multiple of V. */
static void sparse_times(const csr *s, const REAL *h, ptrdiff_t ld, int32_t width, REAL *out)
{
    int32_t j = 0;
    for (; j + SPARSE_VECTORS * V <= width; j += SPARSE_VECTORS * V) {
        sparse_block(SPARSE_VECTORS, s, h + j, ld, out + j);
    }
    for (; j + 4 * V <= width; j += 4 * V) {
        sparse_block(4, s, h + j, ld, out + j);
    }
    for (; j < width; j += V) {
        sparse_block(1, s, h + j, ld, out + j);
    }
}
