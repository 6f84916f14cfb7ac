/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Vectors of REAL for one instruction set, chosen by the flags this is compiled with, and the
 * functions that the network needs of them. Included once per engine; everything is static.
 *
 * Error bounds of the float32 vector functions, checked by test_inspector_math:
 *   exp      2e-7 relative on [-80, 80]; arguments outside are clamped
 *   sigmoid  1.5e-7 absolute
 *   tanh     2.5e-7 absolute
 * exp(x) = 2^n * p(x - n ln 2) with p of degree 6, a minimax fit of relative error 3.1e-9.
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))
/* What is inlined for each shape of a block (its first arguments), and its loops unrolled. Where speed is not the aim
 * one of each is enough: the copies are most of what an engine takes to compile. */
#if defined(__SANITIZE_ADDRESS__) || !defined(__OPTIMIZE__)
#define SHAPED static inline
#define UNROLL
#else
#define SHAPED INLINE
#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif
#endif

#define EXP_CLAMP 80

#if defined(ENGINE_AVX512) || defined(ENGINE_AVX2)
#include <immintrin.h>
#define LOG2E 1.44269504f
#define LN2_HI 0.693359375f
#define LN2_LO (-2.12194440e-4f)
#define EXP_C2 0.4999999345f
#define EXP_C3 0.1666652063f
#define EXP_C4 0.04166838805f
#define EXP_C5 0.008368716967f
#define EXP_C6 0.001381459859f
#endif

#if defined(ENGINE_AVX512)

#if defined(ENGINE_TILES) /* whose sums come from memory */
enum { V = 16, DENSE_ROWS = 12, GATE_ROWS = 8 };
#else
enum { V = 16, DENSE_ROWS = 12, GATE_ROWS = 6, GRU_ROWS = 8 };
#endif
typedef __m512 vreal;
INLINE vreal v_set(REAL x)
{
    return _mm512_set1_ps(x);
}
INLINE vreal v_load(const REAL *p)
{
    return _mm512_loadu_ps(p);
}
INLINE void v_store(REAL *p, vreal a)
{
    _mm512_storeu_ps(p, a);
}
INLINE vreal v_fma(vreal a, vreal b, vreal c)
{
    return _mm512_fmadd_ps(a, b, c);
}
INLINE vreal v_max(vreal a, vreal b)
{
    return _mm512_max_ps(a, b);
} /* b where either is NaN */
INLINE vreal v_min(vreal a, vreal b)
{
    return _mm512_min_ps(a, b);
}
INLINE vreal v_rcp(vreal a)
{
    const vreal r = _mm512_rcp14_ps(a);
    return _mm512_fmadd_ps(r, _mm512_fnmadd_ps(a, r, _mm512_set1_ps(1)), r);
}
INLINE vreal v_pow2(vreal p, vreal n)
{
    return _mm512_scalef_ps(p, n);
} /* p * 2^n */
INLINE vreal v_round(vreal a)
{
    return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

#elif defined(ENGINE_AVX2)

enum { V = 8, DENSE_ROWS = 6, GATE_ROWS = 3, GRU_ROWS = 4 };
typedef __m256 vreal;
INLINE vreal v_set(REAL x)
{
    return _mm256_set1_ps(x);
}
INLINE vreal v_load(const REAL *p)
{
    return _mm256_loadu_ps(p);
}
INLINE void v_store(REAL *p, vreal a)
{
    _mm256_storeu_ps(p, a);
}
INLINE vreal v_fma(vreal a, vreal b, vreal c)
{
    return _mm256_fmadd_ps(a, b, c);
}
INLINE vreal v_max(vreal a, vreal b)
{
    return _mm256_max_ps(a, b);
}
INLINE vreal v_min(vreal a, vreal b)
{
    return _mm256_min_ps(a, b);
}
INLINE vreal v_rcp(vreal a)
{
    return _mm256_div_ps(_mm256_set1_ps(1),
                         a); /* rcp has 12 bits: a step of Newton is not enough */
}
INLINE vreal v_pow2(vreal p, vreal n)
{
    const __m256i e = _mm256_slli_epi32(_mm256_cvtps_epi32(n), 23);
    return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(p), e));
}
INLINE vreal v_round(vreal a)
{
    return _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

#else /* any machine: 16 bytes, or a tile's row; functions from the C library */

#if defined(ENGINE_TILES)
#define BYTES 64
enum { V = 16, DENSE_ROWS = 4, GATE_ROWS = 8 };
#else
#define BYTES 16
enum { V = BYTES / sizeof(REAL), DENSE_ROWS = 4, GATE_ROWS = 2, GRU_ROWS = 2 };
#endif
typedef REAL vreal __attribute__((vector_size(BYTES)));
INLINE vreal v_set(REAL x)
{
    vreal v = {0};
    for (int i = 0; i < V; i++) {
        v[i] = x;
    }
    return v;
}
INLINE vreal v_load(const REAL *p)
{
    vreal v;
    memcpy(&v, p, sizeof v);
    return v;
}
INLINE void v_store(REAL *p, vreal a)
{
    memcpy(p, &a, sizeof a);
}
INLINE vreal v_fma(vreal a, vreal b, vreal c)
{
    return a * b + c;
}
INLINE vreal v_max(vreal a, vreal b)
{
    for (int i = 0; i < V; i++) {
        b[i] = a[i] > b[i] ? a[i] : b[i];
    }
    return b;
}
SHAPED void exp_rows(const int n, vreal *x)
{
    for (int i = 0; i < n; i++) {
        vreal v = x[i];
        for (int k = 0; k < V; k++) {
            v[k] = (REAL)exp((double)v[k]);
        }
        x[i] = v;
    }
}
SHAPED void sigmoid_rows(const int n, vreal *x)
{
    for (int i = 0; i < n; i++) {
        vreal v = x[i];
        for (int k = 0; k < V; k++) {
            v[k] = (REAL)(1 / (1 + exp(-(double)v[k])));
        }
        x[i] = v;
    }
}
SHAPED void tanh_rows(const int n, vreal *x)
{
    for (int i = 0; i < n; i++) {
        vreal v = x[i];
        for (int k = 0; k < V; k++) {
            v[k] = (REAL)tanh((double)v[k]);
        }
        x[i] = v;
    }
}

#endif

#if defined(ENGINE_AVX512) || defined(ENGINE_AVX2)
/* In place. All rows take a step before any takes the next: one alone would wait for itself. */
#define EACH UNROLL for (int i = 0; i < n; i++)
SHAPED void exp_rows(const int n, vreal *x)
{
    vreal e[8], p[8]; /* as many as there are rows at most */
    /* The variable stands second, so that a NaN comes through. */
    EACH x[i] = v_min(v_set(EXP_CLAMP), v_max(v_set(-EXP_CLAMP), x[i]));
    EACH e[i] = v_round(x[i] * v_set(LOG2E));
    EACH x[i] = v_fma(e[i], v_set(-LN2_HI), x[i]);
    EACH x[i] = v_fma(e[i], v_set(-LN2_LO), x[i]);
    EACH p[i] = v_fma(v_set(EXP_C6), x[i], v_set(EXP_C5));
    EACH p[i] = v_fma(p[i], x[i], v_set(EXP_C4));
    EACH p[i] = v_fma(p[i], x[i], v_set(EXP_C3));
    EACH p[i] = v_fma(p[i], x[i], v_set(EXP_C2));
    EACH p[i] = v_fma(p[i], x[i], v_set(1));
    EACH p[i] = v_fma(p[i], x[i], v_set(1));
    EACH x[i] = v_pow2(p[i], e[i]);
}
SHAPED void sigmoid_rows(const int n, vreal *x)
{
    EACH x[i] = -x[i];
    exp_rows(n, x);
    EACH x[i] = v_rcp(v_set(1) + x[i]);
}
SHAPED void tanh_rows(const int n, vreal *x)
{
    EACH x[i] = x[i] + x[i];
    exp_rows(n, x);
    EACH x[i] = v_fma(v_set(-2), v_rcp(v_set(1) + x[i]), v_set(1));
}
#undef EACH
#endif

INLINE vreal v_exp(vreal x)
{
    exp_rows(1, &x);
    return x;
}

INLINE int32_t pad16(int32_t n)
{
    return (n + 15) & ~15;
}
INLINE size_t pad16z(size_t n)
{
    return (n + 15) & ~(size_t)15;
}

/* In place over w[0..n); exactly 0 up to np, which is a multiple of V. */
static void softmax(REAL *w, int32_t n, int32_t np)
{
    REAL top = w[0];
    for (int32_t i = 1; i < n; i++) {
        top = w[i] > top ? w[i] : top;
    }
    for (int32_t i = 0; i < np; i += V) {
        v_store(w + i, v_exp(v_load(w + i) - v_set(top)));
    }
    REAL sum = 0;
    for (int32_t i = 0; i < n; i++) {
        sum += w[i];
    }
    const REAL scale = 1 / sum;
    for (int32_t i = 0; i < np; i++) {
        w[i] = i < n ? w[i] * scale : 0;
    }
}
