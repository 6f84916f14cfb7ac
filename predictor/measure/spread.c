/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Bootstrap intervals of the mean phases of a series, steps drawn with replacement.
 */
#include "predictor/measure/spread.h"

#include "base/alloc.h"
#include "base/own.h"
#include "base/rng.h"

#include <assert.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

#define MAX_DRAWS 1000
#define MIN_DRAWS 200
#define MAX_WORK 2e7 /* steps looked at in all */

enum { IDLE_S, BURST_S, BURST_AMOUNT, VALUES };

/* The whole phases of a step. */
typedef struct step {
    double phases[2], samples[2], high_sum; /* [low, high] */
} step;

typedef struct steps {
    step *step;
    size_t n_samples, last, cap;
    double step_samples; /* 0: a pause and a burst are one */
} steps;

static void put(void *user, bool high, size_t first, size_t length, double sum)
{
    steps *s = user;
    if (first == 0 || first + length == s->n_samples) {
        return;
    }
    if (s->step_samples > 0) {
        s->last = (size_t)((double)first / s->step_samples);
    } else if (!high) {
        s->last++;
    }
    assert(s->last < s->cap);
    step *to = &s->step[s->last];
    to->phases[high]++;
    to->samples[high] += (double)length;
    to->high_sum += high ? sum : 0;
}

/* Steps without a whole phase say nothing. */
static size_t compact(steps *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->cap; i++) {
        if (s->step[i].phases[0] + s->step[i].phases[1] > 0) {
            s->step[n++] = s->step[i];
        }
    }
    return n;
}

static void draw(const step *from, size_t n, double interval_s, dls_rng *rng, double value[VALUES])
{
    step sum = {{0}, {0}, 0};
    for (size_t i = 0; i < n; i++) {
        const step *one = &from[dls_rng_below(rng, n)];
        for (int high = 0; high < 2; high++) {
            sum.phases[high] += one->phases[high];
            sum.samples[high] += one->samples[high];
        }
        sum.high_sum += one->high_sum;
    }
    value[IDLE_S] = sum.phases[0] > 0 ? interval_s * sum.samples[0] / sum.phases[0] : 0;
    value[BURST_S] = sum.phases[1] > 0 ? interval_s * sum.samples[1] / sum.phases[1] : 0;
    value[BURST_AMOUNT] = sum.samples[1] > 0 ? sum.high_sum / sum.samples[1] : 0;
}

static dls_range range_of(double *value, size_t draws)
{
    gsl_sort(value, 1, draws);
    return (dls_range){gsl_stats_quantile_from_sorted_data(value, 1, draws, 0.025),
                       gsl_stats_quantile_from_sorted_data(value, 1, draws, 0.975)};
}

static dls_status resample(const step *from, size_t n, double interval_s, uint64_t seed,
                           dls_burst_spread *out, dls_error *err)
{
    const size_t draws = (size_t)fmin(MAX_DRAWS, fmax(MIN_DRAWS, MAX_WORK / (double)n));
    dls_rng rng = dls_rng_stream(seed, DLS_RNG_RESAMPLE, 1);
    DLS_FREED double *drawn = NULL;
    DLS_TRY(dls_alloc_array(&drawn, VALUES * draws, sizeof *drawn, "bootstrap", err));
    for (size_t d = 0; d < draws; d++) {
        double value[VALUES];
        draw(from, n, interval_s, &rng, value);
        for (size_t k = 0; k < VALUES; k++) {
            drawn[k * draws + d] = value[k];
        }
    }
    out->idle_s = range_of(drawn + IDLE_S * draws, draws);
    out->burst_s = range_of(drawn + BURST_S * draws, draws);
    out->burst_amount = range_of(drawn + BURST_AMOUNT * draws, draws);
    return DLS_OK;
}

dls_status dls_burst_spread_find(const double *x, size_t n, double interval_s, const dls_burst *b,
                                 double step_s, uint64_t seed, dls_burst_spread *out,
                                 dls_error *err)
{
    const dls_range unknown = {(double)NAN, (double)NAN};
    *out = (dls_burst_spread){unknown, unknown, unknown, 0};
    if (b->pattern != DLS_PATTERN_BIB) {
        return DLS_OK;
    }
    /* A phase is at least a sample long. */
    steps s = {.n_samples = n, .cap = n + 2, .step_samples = step_s / interval_s};
    DLS_TRY(dls_alloc_array(&s.step, s.cap, sizeof *s.step, "steps", err));
    dls_burst_phases(x, n, b->threshold, put, &s);
    out->n_steps = compact(&s);
    const dls_status status =
        out->n_steps < 3 ? DLS_OK : resample(s.step, out->n_steps, interval_s, seed, out, err);
    dls_free(s.step);
    return status;
}
