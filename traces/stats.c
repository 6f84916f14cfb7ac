/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Computes the statistics of a trace: distributions with GSL, sizes, virtual clusters, and
 * concurrency from sorted starts and ends.
 */
#include "dlsim/traces.h"

#include "base/alloc.h"
#include "base/own.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double probability[DLS_STATS_QUANTILES] = {.01, .05, .25, .5, .75, .9, .95, .99, 1};

static int64_t milli_of(const dls_trace_columns *cols, size_t job)
{
    return cols->gpus_milli ? cols->gpus_milli[job] : cols->gpus[job] * INT64_C(1000);
}

/* Hours of GPU time of a job; none without a duration. */
static double gpu_h_of(const dls_trace_columns *cols, size_t job)
{
    const int64_t duration_us = cols->duration_us[job];
    return duration_us > 0 ? (double)milli_of(cols, job) * 1e-3 * (double)duration_us / 3.6e9 : 0;
}

/* values is sorted in place. */
static void describe(double *values, size_t n, dls_stats_dist *out)
{
    out->n = n;
    out->mean = out->cv = (double)NAN;
    for (int i = 0; i < DLS_STATS_QUANTILES; i++) {
        out->q[i] = (double)NAN;
    }
    if (n == 0) {
        return;
    }
    gsl_sort(values, 1, n);
    for (int i = 0; i < DLS_STATS_QUANTILES; i++) {
        out->q[i] = gsl_stats_quantile_from_sorted_data(values, 1, n, probability[i]);
    }
    out->mean = gsl_stats_mean(values, 1, n);
    out->cv = gsl_stats_sd_with_fixed_mean(values, 1, n, out->mean) / out->mean;
}

static void count_jobs(const dls_trace_columns *cols, dls_trace_stats *out)
{
    double gpus = 0;
    for (size_t i = 0; i < cols->n; i++) {
        const int64_t milli = milli_of(cols, i);
        gpus += (double)milli * 1e-3;
        out->max_gpus_milli = milli > out->max_gpus_milli ? milli : out->max_gpus_milli;
        out->zero_duration += (cols->flags[i] & DLS_JOB_ZERO_DURATION) != 0;
        out->no_duration += cols->duration_us[i] == DLS_ABSENT;
        out->gpu_h += gpu_h_of(cols, i);
        out->outcomes[cols->outcome[i]]++;
        for (int bit = 0; bit < DLS_JOB_FLAG_COUNT; bit++) {
            out->flags[bit] += cols->flags[i] >> bit & 1;
        }
    }
    const int64_t span_us = cols->submit_us[cols->n - 1] - cols->submit_us[0];
    out->jobs = cols->n;
    out->mean_gpus = gpus / (double)cols->n;
    out->span_s = (double)span_us * 1e-6;
    out->busy_gpus = span_us > 0 ? out->gpu_h * 3600 / out->span_s : (double)NAN;
}

DLS_BY(by_gpus, dls_stats_size, DLS_UP(gpus_milli));

DLS_BY(by_jobs, dls_stats_vc, DLS_DOWN(jobs), DLS_UP(code));

/* Sizes are few: a table that is searched from its most recent hit. */
static dls_status count_sizes(const dls_trace_columns *cols, dls_trace_stats *out, dls_error *err)
{
    size_t cap = 0, at = 0;
    for (size_t i = 0; i < cols->n; i++) {
        const int64_t milli = milli_of(cols, i);
        if (out->n_sizes == 0 || out->sizes[at].gpus_milli != milli) {
            for (at = 0; at < out->n_sizes && out->sizes[at].gpus_milli != milli; at++) {
            }
        }
        if (at == out->n_sizes) {
            DLS_TRY(dls_grow(&out->sizes, &cap, out->n_sizes + 1, sizeof *out->sizes, err));
            out->sizes[out->n_sizes++] = (dls_stats_size){.gpus_milli = milli};
        }
        out->sizes[at].jobs++;
        out->sizes[at].gpu_h += gpu_h_of(cols, i);
    }
    qsort(out->sizes, out->n_sizes, sizeof *out->sizes, by_gpus);
    return DLS_OK;
}

/* Jobs sorted into virtual clusters: values[start[v] ..) are the durations of the v-th code. */
static void fill_vcs(const dls_trace_columns *cols, dls_trace_stats *out, double *values,
                     size_t *start)
{
    for (size_t i = 0; i < cols->n; i++) {
        dls_stats_vc *vc = &out->vcs[cols->vc[i] + 1];
        const int64_t milli = milli_of(cols, i);
        vc->jobs++;
        vc->gpu_h += gpu_h_of(cols, i);
        vc->max_gpus_milli = milli > vc->max_gpus_milli ? milli : vc->max_gpus_milli;
        start[cols->vc[i] + 2] += cols->duration_us[i] != DLS_ABSENT;
    }
    for (size_t v = 0; v < out->n_vcs; v++) {
        start[v + 1] += start[v];
    }
    for (size_t i = 0; i < cols->n; i++) {
        if (cols->duration_us[i] != DLS_ABSENT) {
            values[start[cols->vc[i] + 1]++] = (double)cols->duration_us[i] * 1e-6;
        }
    }
    for (size_t v = 0, first = 0; v < out->n_vcs; first = start[v++]) {
        dls_stats_dist durations;
        describe(values + first, start[v] - first, &durations);
        out->vcs[v].code = (int32_t)v - 1;
        out->vcs[v].median_s = durations.q[3];
    }
}

static dls_status count_vcs(const dls_trace *trace, double *values, dls_trace_stats *out,
                            dls_error *err)
{
    if (dls_trace_n_vcs(trace) == 0) {
        return DLS_OK;
    }
    out->n_vcs = dls_trace_n_vcs(trace) + 1; /* the first: jobs that name none */
    DLS_FREED size_t *start = NULL;
    DLS_TRY(dls_alloc_array(&start, out->n_vcs + 1, sizeof *start, "virtual clusters", err));
    DLS_TRY(dls_alloc_array(&out->vcs, out->n_vcs, sizeof *out->vcs, "virtual clusters", err));
    fill_vcs(dls_trace_cols(trace), out, values, start);
    qsort(out->vcs, out->n_vcs, sizeof *out->vcs, by_jobs);
    while (out->n_vcs > 0 && out->vcs[out->n_vcs - 1].jobs == 0) {
        out->n_vcs--;
    }
    return DLS_OK;
}

static void describe_times(const dls_trace_columns *cols, double *values, dls_trace_stats *out)
{
    size_t n = 0;
    for (size_t i = 0; i < cols->n; i++) {
        if (cols->duration_us[i] != DLS_ABSENT) {
            values[n++] = (double)cols->duration_us[i] * 1e-6;
        }
    }
    describe(values, n, &out->duration_s);
    for (size_t i = 1; i < cols->n; i++) {
        values[i - 1] = (double)(cols->submit_us[i] - cols->submit_us[i - 1]) * 1e-6;
    }
    describe(values, cols->n - 1, &out->gap_s);
}

/* Jobs start at submission: merge the submissions, sorted already, with the sorted ends. At equal
 * times ends come first. */
static dls_status find_peak(const dls_trace_columns *cols, double *end_s, dls_trace_stats *out,
                            dls_error *err)
{
    DLS_FREED size_t *order = NULL;
    DLS_TRY(dls_alloc_array(&order, cols->n, sizeof *order, "ends of jobs", err));
    for (size_t i = 0; i < cols->n; i++) { /* microseconds are exact in a double up to 285 years */
        const int64_t duration_us = cols->duration_us[i];
        end_s[i] = (double)(cols->submit_us[i] + (duration_us > 0 ? duration_us : 0));
    }
    gsl_sort_index(order, end_s, 1, cols->n);
    int64_t busy_milli = 0, peak_milli = 0;
    for (size_t next = 0, done = 0; next < cols->n; next++) {
        if (cols->duration_us[next] <= 0) {
            continue;
        }
        for (; end_s[order[done]] <= (double)cols->submit_us[next]; done++) {
            busy_milli -= cols->duration_us[order[done]] > 0 ? milli_of(cols, order[done]) : 0;
        }
        busy_milli += milli_of(cols, next);
        peak_milli = busy_milli > peak_milli ? busy_milli : peak_milli;
    }
    out->peak_gpus = (double)peak_milli * 1e-3;
    return DLS_OK;
}

dls_status dls_trace_stats_compute(const dls_trace *trace, dls_trace_stats *out, dls_error *err)
{
    const dls_trace_columns *cols = dls_trace_cols(trace);
    memset(out, 0, sizeof *out);
    DLS_FREED double *values = NULL;
    DLS_TRY(dls_alloc_array(&values, cols->n, sizeof *values, "trace statistics", err));
    count_jobs(cols, out);
    describe_times(cols, values, out);
    dls_status status = find_peak(cols, values, out, err);
    DLS_THEN(status, count_sizes(cols, out, err));
    DLS_THEN(status, count_vcs(trace, values, out, err));
    if (status != DLS_OK) {
        dls_trace_stats_fini(out);
    }
    return status;
}

void dls_trace_stats_fini(dls_trace_stats *stats)
{
    DLS_FREE_ALL(stats->sizes, stats->vcs);
    memset(stats, 0, sizeof *stats);
}
