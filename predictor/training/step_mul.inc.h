/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The products of a backward pass: C (+)= A B and C += A^T B, with B plain or packed in panels of
 * two vectors, which stay in the first-level cache whatever their row length.
 */

/* Row i, term p of the left matrix is a[i * sr + p * sc]. */
INLINE void mul_block(const int mr, const int nv, const bool add, const REAL *a, ptrdiff_t sr,
                      ptrdiff_t sc, int32_t k, const REAL *b, ptrdiff_t ldb, REAL *c, ptrdiff_t ldc)
{
    vreal acc[DENSE_ROWS][2];
    UNROLL for (int i = 0; i < mr; i++)
    {
        UNROLL for (int j = 0; j < nv; j++)
        {
            acc[i][j] = add ? v_load(c + i * ldc + j * V) : v_set(0);
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
            v_store(c + i * ldc + j * V, acc[i][j]);
        }
    }
}

INLINE void mul_rows(const int nv, const bool add, const REAL *a, ptrdiff_t sr, ptrdiff_t sc,
                     int32_t rows, int32_t k, const REAL *b, ptrdiff_t ldb, REAL *c, ptrdiff_t ldc)
{
    enum { HALF = DENSE_ROWS / 2, QUARTER = DENSE_ROWS >= 8 ? DENSE_ROWS / 4 : 1 };
    int32_t i = 0;
    for (; i + DENSE_ROWS <= rows; i += DENSE_ROWS) {
        mul_block(DENSE_ROWS, nv, add, a + i * sr, sr, sc, k, b, ldb, c + i * ldc, ldc);
    }
    for (; i + HALF <= rows; i += HALF) {
        mul_block(HALF, nv, add, a + i * sr, sr, sc, k, b, ldb, c + i * ldc, ldc);
    }
    for (; i + QUARTER <= rows; i += QUARTER) {
        mul_block(QUARTER, nv, add, a + i * sr, sr, sc, k, b, ldb, c + i * ldc, ldc);
    }
    for (; i < rows; i++) {
        mul_block(1, nv, add, a + i * sr, sr, sc, k, b, ldb, c + i * ldc, ldc);
    }
}

/* C[rows][n] = A[rows][k] B, or += with add: B in panels, n a multiple of V. */
INLINE void mul_panels(const bool add, const REAL *a, ptrdiff_t lda, int32_t rows, int32_t k,
                       const REAL *panels, int32_t n, REAL *c, ptrdiff_t ldc)
{
    int32_t j = 0;
    for (; j + 2 * V <= n; j += 2 * V) {
        mul_rows(2, add, a, lda, 1, rows, k, panels + (ptrdiff_t)j * k, 2 * V, c + j, ldc);
    }
    for (; j < n; j += V) {
        mul_rows(1, add, a, lda, 1, rows, k, panels + (ptrdiff_t)j * k, V, c + j, ldc);
    }
}

static void mul_to(const REAL *a, ptrdiff_t lda, int32_t rows, int32_t k, const REAL *panels,
                   int32_t n, REAL *c, ptrdiff_t ldc)
{
    mul_panels(false, a, lda, rows, k, panels, n, c, ldc);
}

static void mul_add(const REAL *a, ptrdiff_t lda, int32_t rows, int32_t k, const REAL *panels,
                    int32_t n, REAL *c, ptrdiff_t ldc)
{
    mul_panels(true, a, lda, rows, k, panels, n, c, ldc);
}

/* C[rows][n] += A[rows][k] B: n a multiple of V. */
static void times_add(const REAL *a, ptrdiff_t lda, int32_t rows, int32_t k, const REAL *b,
                      ptrdiff_t ldb, int32_t n, REAL *c, ptrdiff_t ldc)
{
    int32_t j = 0;
    for (; j + 2 * V <= n; j += 2 * V) {
        mul_rows(2, true, a, lda, 1, rows, k, b + j, ldb, c + j, ldc);
    }
    for (; j < n; j += V) {
        mul_rows(1, true, a, lda, 1, rows, k, b + j, ldb, c + j, ldc);
    }
}

/* C[cols of A][n] += A^T B over `rows` rows of both: n a multiple of V. */
static void outer_add(const REAL *a, ptrdiff_t lda, int32_t cols, int32_t rows, const REAL *b,
                      ptrdiff_t ldb, int32_t n, REAL *c, ptrdiff_t ldc)
{
    int32_t j = 0;
    for (; j + 2 * V <= n; j += 2 * V) {
        mul_rows(2, true, a, 1, lda, cols, rows, b + j, ldb, c + j, ldc);
    }
    for (; j < n; j += V) {
        mul_rows(1, true, a, 1, lda, cols, rows, b + j, ldb, c + j, ldc);
    }
}

/* c[n] += the sum of the rows of B. */
static void rows_add(const REAL *b, ptrdiff_t ldb, int32_t rows, int32_t n, REAL *c)
{
    for (int32_t j = 0; j < n; j += V) {
        vreal sum = v_load(c + j);
        for (int32_t i = 0; i < rows; i++) {
            sum = sum + v_load(b + i * ldb + j);
        }
        v_store(c + j, sum);
    }
}
