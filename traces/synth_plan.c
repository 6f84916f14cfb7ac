/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Draws the plan of a synthetic trace: batches, Poisson starts, stratified GPU counts and
 * durations.
 */
#include "traces/synth_plan.h"

#include "base/own.h"
#include "traces/gsl_philox.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

/* Streams of purpose ARRIVALS; those of purpose JOB are numbered by job. */
enum { SIZE_STREAM, START_STREAM, GAP_STREAM, STRAY_STREAM, GPU_STREAM, DURATION_STREAM };

static dls_status add_unit(dls_synth_plan *plan, size_t job, int32_t *unit, dls_error *err)
{
    DLS_TRY(dls_grow(&plan->unit_first, &plan->units_cap, plan->n_units + 1,
                     sizeof *plan->unit_first, err));
    plan->unit_first[plan->n_units] = (uint32_t)job;
    *unit = (int32_t)plan->n_units++;
    return DLS_OK;
}

/* Jobs first .. first + k - 1 become a batch: offsets, and strays apart from the common unit. */
static dls_status add_batch(dls_synth_plan *plan, size_t first, size_t k, gsl_rng *gaps,
                            dls_rng *strays, dls_error *err)
{
    const dls_synth_profile *profile = plan->profile;
    double offset_s = 0;
    int32_t common = -1;
    for (size_t j = first; j < first + k; j++) {
        const bool stray = k > 1 && dls_rng_unit(strays) < profile->batch_stray_frac;
        if (j > first) {
            offset_s += gsl_ran_exponential(gaps, profile->batch_gap_s);
        }
        plan->batch[j] = (int32_t)plan->n_batches;
        plan->offset_s[j] = (float)offset_s;
        if (stray) {
            DLS_TRY(add_unit(plan, j, &plan->unit[j], err));
            continue;
        }
        if (common < 0) {
            DLS_TRY(add_unit(plan, j, &common, err));
        }
        plan->unit[j] = common;
    }
    size_t cap = plan->batches_cap;
    DLS_TRY(dls_grow(&plan->batch_extent_s, &cap, plan->n_batches + 1, sizeof *plan->batch_extent_s,
                     err));
    DLS_TRY(dls_grow(&plan->batch_at, &plan->batches_cap, plan->n_batches + 1,
                     sizeof *plan->batch_at, err));
    plan->batch_extent_s[plan->n_batches++] = (float)offset_s;
    return DLS_OK;
}

static dls_status draw_batches(dls_synth_plan *plan, dls_error *err)
{
    const dls_synth_profile *profile = plan->profile;
    const int largest = profile->batch_exponent > 0 ? profile->batch_max : 1;
    DLS_FREED double *cumulative = NULL;
    DLS_TRY(dls_alloc_array(&cumulative, (size_t)largest, sizeof *cumulative, "batch sizes", err));
    double sum = 0;
    for (int k = 1; k <= largest; k++) {
        cumulative[k - 1] = sum += exp(-profile->batch_exponent * log(k));
    }
    dls_rng sizes = dls_rng_stream(plan->seed, DLS_RNG_ARRIVALS, SIZE_STREAM);
    dls_rng strays = dls_rng_stream(plan->seed, DLS_RNG_ARRIVALS, STRAY_STREAM);
    dls_gsl_rng gaps;
    dls_gsl_rng_init(&gaps, plan->seed, DLS_RNG_ARRIVALS, GAP_STREAM);
    for (size_t first = 0, k; first < plan->n; first += k) {
        const double at = dls_rng_unit(&sizes) * sum;
        k = 1;
        while (k < (size_t)largest && cumulative[k - 1] <= at) {
            k++;
        }
        k = k < plan->n - first ? k : plan->n - first;
        DLS_TRY(add_batch(plan, first, k, &gaps.gsl, &strays, err));
    }
    return DLS_OK;
}

/* Poisson starts in operational time, the first at 0 and the last at 1. */
static void draw_starts(dls_synth_plan *plan)
{
    dls_gsl_rng rng;
    dls_gsl_rng_init(&rng, plan->seed, DLS_RNG_ARRIVALS, START_STREAM);
    double at = 0;
    for (size_t b = 0; b < plan->n_batches; b++) {
        plan->batch_at[b] = at;
        at += gsl_ran_exponential(&rng.gsl, 1);
    }
    const double last = plan->batch_at[plan->n_batches - 1];
    for (size_t b = 0; b < plan->n_batches && last > 0; b++) {
        plan->batch_at[b] /= last;
    }
}

/* All jobs, unit by unit, the units in random order: order[0..n). scratch: [n_units + 1]. */
static void shuffle_units(const dls_synth_plan *plan, uint64_t stream, uint32_t *order,
                          uint32_t *rank, uint32_t *scratch)
{
    dls_rng rng = dls_rng_stream(plan->seed, DLS_RNG_ARRIVALS, stream);
    for (size_t u = 0; u < plan->n_units; u++) {
        const size_t v = (size_t)dls_rng_below(&rng, u + 1);
        rank[u] = rank[v];
        rank[v] = (uint32_t)u;
    }
    memset(scratch, 0, (plan->n_units + 1) * sizeof *scratch);
    for (size_t j = 0; j < plan->n; j++) {
        scratch[rank[plan->unit[j]] + 1]++;
    }
    for (size_t u = 0; u < plan->n_units; u++) {
        scratch[u + 1] += scratch[u];
    }
    for (size_t j = 0; j < plan->n; j++) {
        order[scratch[rank[plan->unit[j]]]++] = (uint32_t)j;
    }
}

static int class_of(const dls_synth_plan *plan, size_t job)
{
    return dls_synth_class((plan->gpus_milli[job] + 999) / 1000);
}

/* The i-th job of a random order of units gets the GPU count at probability (i + 1/2) / n. */
static void draw_gpus(dls_synth_plan *plan, double multi_frac, const uint32_t *order)
{
    const dls_synth_profile *profile = plan->profile;
    double part[2] = {0, 0}; /* of one GPU at most, of more */
    for (int s = 0; s < profile->n_sizes; s++) {
        part[profile->sizes[s].gpus_milli > 1000] += profile->sizes[s].weight;
    }
    const double total = part[0] + part[1];
    double factor[2] = {1, 1};
    for (int k = 0; multi_frac > 0 && k < 2; k++) {
        factor[k] = part[k] > 0 ? (k ? multi_frac : 1 - multi_frac) * total / part[k] : 0;
    }
    double below = 0;
    for (size_t i = 0, s = 0; i < plan->n; i++) {
        const double at = total * ((double)i + .5) / (double)plan->n;
        for (;; s++) {
            const dls_synth_size *size = &profile->sizes[s];
            const double weight = size->weight * factor[size->gpus_milli > 1000];
            if (at < below + weight || s + 1 == (size_t)profile->n_sizes) {
                plan->gpus_milli[order[i]] = size->gpus_milli;
                break;
            }
            below += weight;
        }
    }
}

static double reflect(double u)
{
    u = u < 0 ? -u : u;
    return u >= 1 ? fmax(2 - u, 0) * (1 - 0x1p-53) : u;
}

/* The i-th of the m jobs of a class, in another random order of units, gets the quantile level
 * (i + v) / m, moved by the batch spread and reflected at 0 and 1, which keeps levels uniform. */
static void draw_levels(dls_synth_plan *plan, const uint32_t *order)
{
    size_t members[DLS_SYNTH_CLASSES] = {0}, seen[DLS_SYNTH_CLASSES] = {0};
    for (size_t j = 0; j < plan->n; j++) {
        members[class_of(plan, j)]++;
    }
    const double spread = plan->profile->batch_exponent > 0 ? plan->profile->batch_spread : 0;
    for (size_t i = 0; i < plan->n; i++) {
        const uint32_t j = order[i];
        const int c = class_of(plan, j);
        dls_rng rng = dls_rng_stream(plan->seed, DLS_RNG_JOB, j);
        const double at = ((double)seen[c]++ + dls_rng_unit(&rng)) / (double)members[c];
        plan->level[j] = reflect(at + spread * (2 * dls_rng_unit(&rng) - 1));
    }
}

static dls_status draw_bodies(dls_synth_plan *plan, double multi_frac, dls_error *err)
{
    const size_t words = plan->n + 2 * plan->n_units + 1;
    DLS_FREED uint32_t *order = NULL;
    DLS_TRY(dls_alloc_array(&order, words, sizeof *order, "order of a synthetic trace", err));
    uint32_t *rank = order + plan->n, *scratch = rank + plan->n_units;
    shuffle_units(plan, GPU_STREAM, order, rank, scratch);
    draw_gpus(plan, multi_frac, order);
    shuffle_units(plan, DURATION_STREAM, order, rank, scratch);
    draw_levels(plan, order);
    return DLS_OK;
}

dls_status dls_synth_plan_init(dls_synth_plan *plan, const dls_synth_profile *profile, size_t n,
                               double multi_frac, uint64_t seed, int64_t stamp_us, dls_error *err)
{
    memset(plan, 0, sizeof *plan);
    plan->profile = profile;
    plan->seed = seed;
    plan->stamp_us = stamp_us;
    plan->n = n;
    DLS_TRY(DLS_ALLOC_ALL("synthetic trace", err, DLS_ARRAY(plan->batch, n),
                          DLS_ARRAY(plan->offset_s, n), DLS_ARRAY(plan->unit, n),
                          DLS_ARRAY(plan->gpus_milli, n), DLS_ARRAY(plan->level, n)));
    for (int c = 0; c < DLS_SYNTH_CLASSES; c++) {
        for (int k = 0; k < profile->durations[c].n; k++) {
            plan->log_s[c][k] = log(profile->durations[c].seconds[k] * profile->scale[c]);
        }
    }
    DLS_TRY(draw_batches(plan, err));
    draw_starts(plan);
    return draw_bodies(plan, multi_frac, err);
}

void dls_synth_plan_fini(dls_synth_plan *plan)
{
    DLS_FREE_ALL(plan->batch, plan->offset_s, plan->unit, plan->gpus_milli, plan->level,
                 plan->batch_at, plan->batch_extent_s, plan->unit_first);
    memset(plan, 0, sizeof *plan);
}

int32_t dls_synth_gpus(const dls_synth_plan *plan, size_t job, int64_t cluster_gpus)
{
    const int32_t gpus = (plan->gpus_milli[job] + 999) / 1000;
    return gpus <= cluster_gpus ? gpus : (int32_t)cluster_gpus;
}

/* Probability that a duration of the class is at most exp(log_s). */
static double level_of(const dls_synth_plan *plan, int c, double log_s)
{
    const dls_synth_quantiles *q = &plan->profile->durations[c];
    const double *at = plan->log_s[c];
    int k = q->n - 1;
    while (k > 0 && at[k] > log_s) {
        k--;
    }
    if (k == q->n - 1) {
        return 1;
    }
    const double part = at[k + 1] > at[k] ? (log_s - at[k]) / (at[k + 1] - at[k]) : 0;
    return q->p[k] + fmax(part, 0) * (q->p[k + 1] - q->p[k]);
}

int64_t dls_synth_duration_us(const dls_synth_plan *plan, size_t job, int64_t duration_max_s)
{
    const int c = class_of(plan, job);
    const dls_synth_quantiles *q = &plan->profile->durations[c];
    const double *at = plan->log_s[c];
    double level = plan->level[job];
    if (duration_max_s > 0) {
        level *= level_of(plan, c, log((double)duration_max_s));
    }
    int low; /* p[low] <= level < p[high] */
    DLS_BISECT(low, q->n - 2, q->p[low + 1] <= level);
    const int high = low + 1;
    const double part = (level - q->p[low]) / (q->p[high] - q->p[low]);
    double seconds = fmax(exp(at[low] + part * (at[high] - at[low])), 1);
    if (duration_max_s > 0) {
        seconds = fmin(seconds, (double)duration_max_s);
    }
    return (int64_t)(seconds * 1e6 / (double)plan->stamp_us + .5) * plan->stamp_us;
}
