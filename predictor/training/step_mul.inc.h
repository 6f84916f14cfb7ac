/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The products of a backward pass: C (+)= A B and C += A^T B, with B plain or packed in panels of
 * two vectors, which stay in the first-level cache whatever their row length.
 */

SHAPED void mul_rows(const int nv, const bool add, const REAL *a, ptrdiff_t sr, ptrdiff_t sc,
                     int32_t rows, int32_t k, const REAL *b, ptrdiff_t ldb, REAL *c, ptrdiff_t ldc)
{
    enum { HALF = DENSE_ROWS / 2, QUARTER = DENSE_ROWS >= 8 ? DENSE_ROWS / 4 : 1 };
    int32_t i = 0;
    for (; i + DENSE_ROWS <= rows; i += DENSE_ROWS) {
        dense_block(DENSE_ROWS, nv, a + i * sr, sr, sc, k, b, ldb, add ? c + i * ldc : NULL, ldc,
                    ACT_NONE, c + i * ldc, ldc);
    }
    for (; i + HALF <= rows; i += HALF) {
        dense_block(HALF, nv, a + i * sr, sr, sc, k, b, ldb, add ? c + i * ldc : NULL, ldc,
                    ACT_NONE, c + i * ldc, ldc);
    }
    for (; i + QUARTER <= rows; i += QUARTER) {
        dense_block(QUARTER, nv, a + i * sr, sr, sc, k, b, ldb, add ? c + i * ldc : NULL, ldc,
                    ACT_NONE, c + i * ldc, ldc);
    }
    for (; i < rows; i++) {
        dense_block(1, nv, a + i * sr, sr, sc, k, b, ldb, add ? c + i * ldc : NULL, ldc, ACT_NONE,
                    c + i * ldc, ldc);
    }
}

/* C[rows][n] = A[rows][k] B, or += with add: B in panels, n a multiple of V. */
SHAPED void mul_panels(const bool add, const REAL *a, ptrdiff_t lda, int32_t rows, int32_t k,
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
