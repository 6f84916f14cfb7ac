/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Finds burst and idle phases in a sampled series: splits the samples into two classes, takes runs
 * of one class as phases, and averages their lengths and heights.
 */
#include "predictor/measure/burst.h"

#include "predictor/measure/cycle.h"
#include "predictor/measure/two_means.h"

#include <math.h>

#define CONTRAST_FRAC 0.05
#define AGREE_FRAC 0.10

const char *dls_pattern_name(dls_pattern pattern)
{
    static const char *const names[] = {"I", "B", "BIB"};
    return names[pattern];
}

const char *dls_resource_name(int resource)
{
    static const char *const names[] = {"gpu_mem", "gpu", "net_rx", "net_tx"};
    return resource >= 0 && resource < DLS_RESOURCES ? names[resource] : NULL;
}

/* Phases of one kind: whole ones and those that an end of the series cuts. */
typedef struct tally {
    size_t whole, whole_samples, cut, cut_samples;
    double whole_sum, cut_sum;
} tally;

void dls_burst_phases(const double *x, size_t n, double threshold, dls_phase_fn *fn, void *user)
{
    size_t start = 0;
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        const bool high = x[i] > threshold;
        sum += x[i];
        if (i + 1 < n && (x[i + 1] > threshold) == high) {
            continue;
        }
        fn(user, high, start, i + 1 - start, sum);
        start = i + 1;
        sum = 0;
    }
}

/* What count needs beside a phase. */
typedef struct counted {
    size_t n;
    tally kind[2];
} counted;

static void count(void *user, bool high, size_t first, size_t length, double sum)
{
    counted *c = user;
    tally *t = &c->kind[high];
    if (first == 0 || first + length == c->n) {
        t->cut++;
        t->cut_samples += length;
        t->cut_sum += sum;
    } else {
        t->whole++;
        t->whole_samples += length;
        t->whole_sum += sum;
    }
}

static void phase_of(const tally *t, double interval_s, double *length_s, double *amount, size_t *n,
                     bool *cut)
{
    const bool none = t->whole == 0;
    const size_t samples = none ? t->cut_samples : t->whole_samples;
    *n = none ? t->cut : t->whole;
    *length_s = (double)samples * interval_s / (double)*n;
    *amount = (none ? t->cut_sum : t->whole_sum) / (double)samples;
    *cut = *cut || none;
}

static dls_status check(const dls_burst_options *o, dls_error *err)
{
    if (!(o->interval_s > 0) || !isfinite(o->interval_s)) {
        return dls_fail(err, DLS_EINPUT, "interval", "not a positive time");
    }
    if (!(o->capacity > 0) || !isfinite(o->capacity)) {
        return dls_fail(err, DLS_EINPUT, "capacity", "not a positive amount");
    }
    if (!(o->contrast_frac >= 0 && o->contrast_frac < 1)) {
        return dls_fail(err, DLS_EINPUT, "contrast", "not in 0..1");
    }
    return DLS_OK;
}

dls_status dls_burst_analyze(const double *x, size_t n, const dls_burst_options *opts,
                             dls_burst *out, dls_error *err)
{
    dls_two_means classes;
    dls_cycle cycle;
    DLS_TRY(check(opts, err));
    DLS_TRY(dls_two_means_find(x, n, &classes, err));
    double greatest = 0, mean = 0;
    for (size_t i = 0; i < n; i++) {
        greatest = fmax(greatest, fabs(x[i]));
        mean += x[i] / (double)n;
    }
    double variation = 0;
    for (size_t i = 0; i < n; i++) {
        variation += (x[i] - mean) * (x[i] - mean);
    }
    const double contrast = opts->contrast_frac > 0 ? opts->contrast_frac : CONTRAST_FRAC;
    const double whole_s = (double)n * opts->interval_s;
    *out = (dls_burst){.threshold = classes.threshold,
                       .explained = variation > 0 ? fmax(0, 1 - classes.within / variation) : 0};
    if (classes.n_high == 0 || classes.high - classes.low < contrast * greatest) {
        out->cut = true;
        if (mean >= opts->capacity / 2) {
            out->pattern = DLS_PATTERN_B;
            out->burst_s = whole_s;
            out->burst_amount = mean;
            out->n_burst = 1;
        } else {
            out->pattern = DLS_PATTERN_I;
            out->idle_s = whole_s;
            out->idle_amount = mean;
            out->n_idle = 1;
        }
        return DLS_OK;
    }
    counted c = {.n = n};
    dls_burst_phases(x, n, classes.threshold, count, &c);
    out->pattern = DLS_PATTERN_BIB;
    phase_of(&c.kind[0], opts->interval_s, &out->idle_s, &out->idle_amount, &out->n_idle,
             &out->cut);
    phase_of(&c.kind[1], opts->interval_s, &out->burst_s, &out->burst_amount, &out->n_burst,
             &out->cut);
    out->cycle_s = out->idle_s + out->burst_s;
    if (opts->no_cycle) {
        return DLS_OK;
    }
    DLS_TRY(dls_cycle_find(&x, 1, n, &cycle, err));
    out->period_s = cycle.period_samples * opts->interval_s;
    out->correlation = cycle.correlation;
    out->cycle_agrees = out->period_s > 0 && fabs(out->period_s - out->cycle_s) <=
                                                 fmax(opts->interval_s, AGREE_FRAC * out->cycle_s);
    return DLS_OK;
}

double dls_burst_per_step(const dls_burst *b, double step_s)
{
    const double seen_s = (double)b->n_burst * b->burst_s + (double)b->n_idle * b->idle_s;
    return b->pattern == DLS_PATTERN_BIB && !b->cut && seen_s > 0
               ? (double)(b->n_burst + b->n_idle) / 2 * step_s / seen_s
               : 0;
}

dls_profile dls_burst_profile(const dls_burst burst[DLS_RESOURCES], double step_s)
{
    dls_profile profile;
    for (int r = 0; r < DLS_RESOURCES; r++) {
        profile.metric[3 * r] = burst[r].idle_s;
        profile.metric[3 * r + 1] = burst[r].burst_s;
        profile.metric[3 * r + 2] = burst[r].burst_amount;
    }
    profile.iteration_s = step_s;
    return profile;
}
