/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Finds what period series repeat: peaks of their mean autocorrelation, by fast Fourier transforms.
 */
#include "predictor/measure/cycle.h"

#include "base/alloc.h"
#include "base/own.h"
#include "base/rng.h"

#include <assert.h>
#include <gsl/gsl_fft_complex.h>
#include <math.h>

#define FRACTIONS 5       /* parts of the highest peak's lag that are tried */
#define FRACTION_HIGH 0.7 /* of its height that such a part has at least */
#define MULTIPLE_HIGH 0.5
#define REARRANGEMENTS 99
#define TESTED_SAMPLES 8192

/* Room for transforms of series of n samples. */
typedef struct spectrum {
    size_t n, size; /* size: a power of two; zeros behind the series, or its ends would meet */
    double *work;   /* [2 size] real and imaginary parts in turn */
    double *mean;   /* [n / 2 + 2] mean autocorrelation by lag */
    double *smooth; /* [n / 2 + 2] */
    size_t lags;    /* peaks are looked for at lags below this */
} spectrum;

static void spectrum_fini(spectrum *s)
{
    DLS_FREE_ALL(s->work, s->mean, s->smooth);
}

static dls_status spectrum_init(spectrum *s, size_t n, dls_error *err)
{
    *s = (spectrum){.n = n, .size = 8, .lags = n / 2 + 1};
    while (s->size < 2 * n) {
        s->size *= 2;
    }
    s->work = dls_alloc(2 * s->size * sizeof *s->work);
    s->mean = dls_alloc((s->lags + 1) * sizeof *s->mean);
    s->smooth = dls_alloc((s->lags + 1) * sizeof *s->smooth);
    return s->work && s->mean && s->smooth
               ? DLS_OK
               : dls_nomem(err, "autocorrelation", 2 * s->size * sizeof *s->work);
}

/* work becomes the autocorrelation, which is the transform of the power spectrum (the even one
 * needs no inverse). */
static void autocorrelate(spectrum *s, const double *x)
{
    double mean = 0;
    for (size_t i = 0; i < s->n; i++) {
        mean += x[i] / (double)s->n;
    }
    for (size_t i = 0; i < s->size; i++) {
        s->work[2 * i] = i < s->n ? x[i] - mean : 0;
        s->work[2 * i + 1] = 0;
    }
    gsl_fft_complex_radix2_forward(s->work, 1, s->size);
    for (size_t i = 0; i < s->size; i++) {
        s->work[2 * i] = s->work[2 * i] * s->work[2 * i] + s->work[2 * i + 1] * s->work[2 * i + 1];
        s->work[2 * i + 1] = 0;
    }
    gsl_fft_complex_radix2_forward(s->work, 1, s->size);
}

static void mean_autocorrelation(spectrum *s, const double *const *x, size_t m)
{
    size_t counted = 0;
    for (size_t lag = 0; lag <= s->lags; lag++) {
        s->mean[lag] = 0;
    }
    for (size_t k = 0; k < m; k++) {
        autocorrelate(s, x[k]);
        const double power = s->work[0];
        if (power > 0) {
            counted++;
            for (size_t lag = 0; lag <= s->lags; lag++) {
                s->mean[lag] += s->work[2 * lag] / power;
            }
        }
    }
    for (size_t lag = 0; lag <= s->lags && counted > 1; lag++) {
        s->mean[lag] /= (double)counted;
    }
    s->smooth[0] = s->mean[0];
    s->smooth[s->lags] = s->mean[s->lags];
    for (size_t lag = 1; lag < s->lags; lag++) {
        s->smooth[lag] = (s->mean[lag - 1] + 2 * s->mean[lag] + s->mean[lag + 1]) / 4;
    }
}

static size_t first_zero(const spectrum *s)
{
    size_t lag = 1;
    while (lag < s->lags && s->mean[lag] > 0) {
        lag++;
    }
    return lag;
}

/* The highest peak at a lag within low .. high, both inclusive; 0: none. */
static size_t peak_within(const spectrum *s, double low, double high)
{
    size_t best = 0;
    for (size_t lag = (size_t)fmax(2, ceil(low)); lag < s->lags && (double)lag <= high; lag++) {
        const double here = s->smooth[lag];
        if (here > 0 && here > s->smooth[lag - 1] && here >= s->smooth[lag + 1] &&
            (best == 0 || here > s->smooth[best])) {
            best = lag;
        }
    }
    return best;
}

/* Where the parabola through a peak and its neighbours has its top. */
static double top_of(const spectrum *s, size_t lag)
{
    const double left = s->smooth[lag - 1], right = s->smooth[lag + 1];
    const double bend = left - 2 * s->smooth[lag] + right;
    return (double)lag + (bend < 0 ? 0.5 * (left - right) / bend : 0);
}

static dls_cycle cycle_of(const spectrum *s)
{
    const size_t begin = first_zero(s);
    const size_t highest = peak_within(s, (double)begin, (double)s->lags);
    size_t base = highest;
    if (highest == 0) {
        return (dls_cycle){0, 0};
    }
    for (int part = 2; part <= FRACTIONS; part++) {
        const double at = (double)highest / part, wide = fmax(1, 0.05 * at);
        const size_t lag = peak_within(s, fmax((double)begin, at - wide), at + wide);
        if (lag > 0 && s->smooth[lag] >= FRACTION_HIGH * s->smooth[highest]) {
            base = lag;
        }
    }
    double period = top_of(s, base);
    for (int times = 2; period * times < (double)s->lags; times++) {
        const double at = period * times, wide = fmax(1.5, 0.05 * period);
        const size_t lag = peak_within(s, at - wide, at + wide);
        if (lag == 0 || s->smooth[lag] < MULTIPLE_HIGH * s->smooth[base]) {
            break;
        }
        period = top_of(s, lag) / times;
    }
    return (dls_cycle){period, s->mean[base]};
}

dls_status dls_cycle_find(const double *const *x, size_t m, size_t n, dls_cycle *out,
                          dls_error *err)
{
    DLS_OWN(spectrum_fini) spectrum s = {0};
    assert(x || m == 0);
    *out = (dls_cycle){0, 0};
    if (n < 4 || m == 0) {
        return DLS_OK;
    }
    const dls_status status = spectrum_init(&s, n, err);
    if (status == DLS_OK) {
        mean_autocorrelation(&s, x, m);
        *out = cycle_of(&s);
    }
    return status;
}

/* ---- chance ---------------------------------------------------------------------------------- */

/* to[k] becomes x[k] with its blocks in the order of `order`; the last, shorter one stays. */
static void rearrange(const double *const *x, double *const *to, size_t m, size_t n, size_t block,
                      const size_t *order)
{
    const size_t blocks = n / block;
    for (size_t k = 0; k < m; k++) {
        for (size_t i = 0; i < n; i++) {
            const size_t b = i / block;
            to[k][i] = b < blocks ? x[k][order[b] * block + i % block] : x[k][i];
        }
    }
}

static void shuffle(size_t *order, size_t n, dls_rng *rng)
{
    for (size_t i = n; i > 1; i--) {
        const size_t other = dls_rng_below(rng, i);
        const size_t kept = order[i - 1];
        order[i - 1] = order[other];
        order[other] = kept;
    }
}

/* room: m rows of n samples, then their m addresses. */
static double chance_of(spectrum *s, const double *const *x, size_t m, double *const *room,
                        size_t *order, uint64_t seed)
{
    mean_autocorrelation(s, x, m);
    const dls_cycle found = cycle_of(s);
    const size_t block = first_zero(s);
    dls_rng rng = dls_rng_stream(seed, DLS_RNG_RESAMPLE, 0);
    int as_high = 1;
    if (!(found.period_samples > 0)) {
        return 1;
    }
    for (size_t i = 0; i < s->n / block; i++) {
        order[i] = i;
    }
    for (int turn = 0; turn < REARRANGEMENTS; turn++) {
        shuffle(order, s->n / block, &rng);
        rearrange(x, room, m, s->n, block, order);
        mean_autocorrelation(s, (const double *const *)room, m);
        as_high += cycle_of(s).correlation >= found.correlation;
    }
    return (double)as_high / (REARRANGEMENTS + 1);
}

dls_status dls_cycle_chance(const double *const *x, size_t m, size_t n, uint64_t seed,
                            double *chance, dls_error *err)
{
    DLS_OWN(spectrum_fini) spectrum s = {0};
    *chance = 1;
    n = n < TESTED_SAMPLES ? n : TESTED_SAMPLES;
    if (n < 4 || m == 0) {
        return DLS_OK;
    }
    DLS_FREED double *rows = dls_alloc(m * n * sizeof *rows);
    DLS_FREED double **room = dls_alloc(m * sizeof *room);
    DLS_FREED size_t *order = dls_alloc(n * sizeof *order);
    dls_status status = spectrum_init(&s, n, err);
    if (!rows || !room || !order) {
        status = dls_nomem(err, "rearranged series", m * n * sizeof *rows);
    }
    if (status == DLS_OK) {
        for (size_t k = 0; k < m; k++) {
            room[k] = rows + k * n;
        }
        *chance = chance_of(&s, x, m, room, order, seed);
    }
    return status;
}
