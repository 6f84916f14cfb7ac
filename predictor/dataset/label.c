/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "predictor/dataset/label.h"

#include "base/alloc.h"
#include "base/rng.h"
#include "predictor/operator/residual.h"
#include "predictor/operator/series.h"

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

/* Means over the last `window` samples, those at the start over what there is. */
static void smooth(double *x, size_t n, size_t window)
{
    double sum = 0;
    /* From the end, so that what is needed is not yet overwritten. */
    for (size_t i = n; i-- > n - (window < n ? window : n);) {
        sum += x[i];
    }
    for (size_t i = n; i-- > 0;) {
        const size_t held = i + 1 < window ? i + 1 : window;
        const double last = x[i];
        x[i] = sum / (double)held;
        sum -= last;
        if (i >= window) {
            sum += x[i - window];
        }
    }
}

/* Sample and analyse; x holds DLS_TRACKS * n_samples. */
static dls_status observe(const dls_timeline *timeline, const dls_series_options *series,
                          double capacity, size_t window, double *x, dls_burst burst[DLS_RESOURCES],
                          dls_error *err)
{
    double *rows[DLS_TRACKS];
    for (int r = 0; r < DLS_TRACKS; r++) {
        rows[r] = x + (size_t)r * series->n_samples;
    }
    DLS_TRY(dls_series_sample(timeline, series, rows, err));
    smooth(rows[DLS_TRACK_GPU], series->n_samples, window);
    smooth(rows[DLS_TRACK_GPU_MEM], series->n_samples, window);
    for (int r = 0; r < DLS_TRACKS; r++) {
        const dls_burst_options how = {.interval_s = series->interval_s,
                                       .capacity = is_network(r) ? capacity : 1,
                                       .no_cycle = true};
        DLS_TRY(dls_burst_analyze(rows[r], series->n_samples, &how, &burst[r], err));
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

/* Where nothing alternates the length of a phase is that of the recording, which says nothing: the
 * step stands for it, which is the cycle of everything that the job does. */
static void label_of(dls_burst burst[DLS_RESOURCES], double step_s, double metric[DLS_METRICS])
{
    for (int r = 0; r < DLS_RESOURCES; r++) {
        if (burst[r].pattern == DLS_PATTERN_I) {
            burst[r].idle_s = step_s;
        } else if (burst[r].pattern == DLS_PATTERN_B) {
            burst[r].burst_s = step_s;
        }
    }
    const dls_profile profile = dls_burst_profile(burst);
    memcpy(metric, profile.metric, sizeof profile.metric);
}

static dls_status measure(const dls_label_options *o, const dls_timeline *timeline, double capacity,
                          uint64_t entity, double *x, dls_label *out, dls_error *err)
{
    dls_burst exact[DLS_RESOURCES];
    const double step_s = timeline->step_s;
    dls_series_options series = {.interval_s = o->interval_s > 0 ? o->interval_s
                                                                 : step_s / o->samples_per_step,
                                 .n_samples = o->n_samples,
                                 .seed = o->seed,
                                 .entity = entity};
    const size_t window = (size_t)fmax(1, rint(o->window_frac * step_s / series.interval_s));
    DLS_TRY(observe(timeline, &series, capacity, window, x, exact, err));
    label_of(exact, step_s, out->truth);
    series.step_spread = o->step_spread;
    series.jitter_frac = o->jitter_frac;
    series.noise_frac = o->noise_frac;
    out->iteration_s = watched_s(o, step_s, series.interval_s, entity);
    DLS_TRY(observe(timeline, &series, capacity, window, x, out->burst, err));
    label_of(out->burst, out->iteration_s, out->metric);
    return DLS_OK;
}

dls_status dls_label_make(const dls_label_options *o, const dls_opmodel *model,
                          const dls_setting_spec *spec, const dls_work_setting *work,
                          const dls_workload *w, uint64_t entity, dls_label *out, bool *fits,
                          dls_error *err)
{
    dls_timeline timeline;
    *fits = dls_step_memory_bytes(w, work->numeric, work->batch) <= work->gpu->mem_bytes;
    if (!*fits) {
        return DLS_OK;
    }
    const double residual =
        dls_residual(o->seed, w->name, spec->gpu, dls_setting_link(spec),
                     spec->nodes > 1 || spec->servers > 0 ? o->network_sigma : o->node_sigma);
    DLS_TRY(dls_timeline_build(model, w, work, &timeline, err));
    double *x = dls_alloc_zero(DLS_TRACKS * o->n_samples, sizeof *x);
    dls_status status = x ? DLS_OK : dls_nomem(err, "samples", o->n_samples * sizeof *x);
    if (status == DLS_OK) {
        out->model_s = timeline.step_s;
        stretch(&timeline, residual);
        status = measure(o, &timeline, work->fabric ? work->fabric->bps : 1, entity, x, out, err);
    }
    dls_free(x);
    dls_timeline_fini(&timeline);
    return status;
}
