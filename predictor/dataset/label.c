/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Labels one workload in one setting: the operator model's timeline, stretched by the residual,
 * sampled like a profiler, smoothed like utilisation counters, and analysed as burst and idle
 * phases.
 */
#include "predictor/dataset/label.h"

#include "base/alloc.h"
#include "base/own.h"
#include "base/rng.h"
#include "workload/operator/residual.h"
#include "workload/operator/series.h"

#include <math.h>
#include <string.h>

/* The labels, the tracks and the analysis count the resources alike. */
_Static_assert((int)DLS_TRACKS == (int)DLS_RESOURCES &&
                   (int)DLS_TRACK_GPU_MEM == (int)DLS_RES_GPU_MEM &&
                   (int)DLS_TRACK_GPU == (int)DLS_RES_GPU &&
                   (int)DLS_TRACK_RX == (int)DLS_RES_NET_RX &&
                   (int)DLS_TRACK_TX == (int)DLS_RES_NET_TX,
               "order of the resources");

void dls_label_options_init(dls_label_options *o)
{
    *o = (dls_label_options){.samples_per_step = 64,
                             .n_samples = 1024,
                             .window_frac = 0.25,
                             .step_spread = 0.02,
                             .jitter_frac = 0.1,
                             .noise_frac = 0.02,
                             .node_sigma = DLS_RESIDUAL_NODE_SIGMA,
                             .network_sigma = DLS_RESIDUAL_NETWORK_SIGMA,
                             .seed = 1};
}

static bool is_network(int track)
{
    return track == DLS_TRACK_RX || track == DLS_TRACK_TX;
}

/* Everything takes `factor` times as long; the bytes of a step stay. */
static void stretch(dls_timeline *t, double factor)
{
    t->step_s *= factor;
    for (int r = 0; r < DLS_TRACKS; r++) {
        dls_track *track = &t->track[r];
        for (size_t i = 0; i < track->n; i++) {
            track->end_s[i] *= factor;
            track->rate[i] /= is_network(r) ? factor : 1;
            track->sum[i] *= is_network(r) ? 1 : factor;
        }
    }
}

/* x[n + window - 1] become n means over `window` samples each. */
static void smooth(double *x, size_t n, size_t window)
{
    double sum = 0;
    for (size_t i = 0; i + 1 < window; i++) {
        sum += x[i];
    }
    for (size_t i = 0; i < n; i++) {
        const double first = x[i];
        sum += x[i + window - 1];
        x[i] = fmax(0, sum / (double)window);
        sum -= first;
    }
}

/* Sample and analyse n values of each resource; x holds DLS_TRACKS * series->n_samples, which are
 * window - 1 more, so that the first mean is of a whole window, too. */
static dls_status observe(const dls_timeline *timeline, const dls_series_options *series,
                          double capacity, size_t window, double *x, dls_burst burst[DLS_RESOURCES],
                          dls_error *err)
{
    const size_t n = series->n_samples - (window - 1);
    double *rows[DLS_TRACKS];
    for (int r = 0; r < DLS_TRACKS; r++) {
        rows[r] = x + (size_t)r * series->n_samples;
    }
    DLS_TRY(dls_series_sample(timeline, series, rows, err));
    smooth(rows[DLS_TRACK_GPU], n, window);
    smooth(rows[DLS_TRACK_GPU_MEM], n, window);
    for (int r = 0; r < DLS_TRACKS; r++) {
        const dls_burst_options how = {.interval_s = series->interval_s,
                                       .capacity = is_network(r) ? capacity : 1,
                                       .no_cycle = true};
        const double *values = rows[r] + (is_network(r) ? window - 1 : 0);
        DLS_TRY(dls_burst_analyze(values, n, &how, &burst[r], err));
    }
    return DLS_OK;
}

/* The mean of the steps that a series of this length sees. */
static double watched_s(const dls_label_options *o, double step_s, double interval_s,
                        uint64_t entity)
{
    dls_rng rng = dls_rng_stream(o->seed, DLS_RNG_PERF, entity);
    const double steps = fmax(1, (double)o->n_samples * interval_s / step_s);
    return step_s * exp(o->step_spread / sqrt(steps) * dls_rng_normal(&rng));
}

/* Idle and active time are those of a step, together its length. Where nothing alternates the
 * length of a phase is that of the recording, which says nothing: the step stands for it. Where a
 * resource pauses several times in a step, or not in every one, the step is divided as the whole
 * phases of the recording are: how many of them a step has jumps with the smallest change of a
 * timeline, what they come to does not. */
static void label_of(dls_burst burst[DLS_RESOURCES], double step_s, double metric[DLS_METRICS])
{
    dls_burst told[DLS_RESOURCES];
    for (int r = 0; r < DLS_RESOURCES; r++) {
        if (burst[r].pattern == DLS_PATTERN_I) {
            burst[r].idle_s = step_s;
        } else if (burst[r].pattern == DLS_PATTERN_B) {
            burst[r].burst_s = step_s;
        }
        told[r] = burst[r];
        if (burst[r].pattern == DLS_PATTERN_BIB) {
            const double high = (double)burst[r].n_burst * burst[r].burst_s;
            const double low = (double)burst[r].n_idle * burst[r].idle_s;
            told[r].burst_s = step_s * high / (high + low);
            told[r].idle_s = step_s - told[r].burst_s;
        }
    }
    const dls_profile profile = dls_burst_profile(told, step_s);
    memcpy(metric, profile.metric, sizeof profile.metric);
}

/* Samples over which a counter of utilisation is averaged. */
static size_t window_of(const dls_label_options *o, double step_s, double interval_s)
{
    const double window = fmax(1, rint(o->window_frac * step_s / interval_s));
    return window < (double)o->n_samples ? (size_t)window : o->n_samples;
}

static dls_status measure(const dls_label_options *o, const dls_timeline *timeline, double capacity,
                          uint64_t entity, dls_label *out, dls_error *err)
{
    dls_burst exact[DLS_RESOURCES];
    const double step_s = timeline->step_s;
    dls_series_options series = {.interval_s = o->interval_s > 0 ? o->interval_s
                                                                 : step_s / o->samples_per_step,
                                 .seed = o->seed,
                                 .entity = entity};
    const size_t window = window_of(o, step_s, series.interval_s);
    series.n_samples = o->n_samples + window - 1;
    double *x;
    DLS_TRY(dls_alloc_array(&x, DLS_TRACKS * series.n_samples, sizeof *x, "samples", err));
    dls_status status = observe(timeline, &series, capacity, window, x, exact, err);
    series.step_spread = o->step_spread;
    series.jitter_frac = o->jitter_frac;
    series.noise_frac = o->noise_frac;
    out->iteration_s = watched_s(o, step_s, series.interval_s, entity);
    DLS_THEN(status, observe(timeline, &series, capacity, window, x, out->burst, err));
    dls_free(x);
    DLS_TRY(status);
    label_of(exact, step_s, out->truth);
    label_of(out->burst, out->iteration_s, out->metric);
    return DLS_OK;
}

dls_status dls_label_make(const dls_label_options *o, const dls_opmodel *model,
                          const dls_setting_spec *spec, const dls_work_setting *work,
                          const dls_workload *w, uint64_t entity, dls_label *out, bool *fits,
                          dls_error *err)
{
    DLS_OWN(dls_timeline_fini) dls_timeline timeline = {0};
    *fits = dls_step_memory_bytes(w, work->numeric, work->batch) <= work->gpu->mem_bytes;
    if (!*fits) {
        return DLS_OK;
    }
    const double residual =
        dls_residual(o->seed, w->name, spec->gpu, dls_setting_link(spec),
                     spec->nodes > 1 || spec->servers > 0 ? o->network_sigma : o->node_sigma);
    DLS_TRY(dls_timeline_build(model, w, work, &timeline, err));
    out->model_s = timeline.step_s;
    out->link_bytes = dls_track_integral(&timeline.track[DLS_TRACK_TX], timeline.step_s);
    stretch(&timeline, residual);
    return measure(o, &timeline, work->fabric ? work->fabric->bps : 1, entity, out, err);
}
