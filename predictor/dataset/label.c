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
    *o = (dls_label_options){.samples_per_step = 200,
                             .n_samples = 2000,
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

/* Sample and analyse; x holds DLS_TRACKS * n_samples. */
static dls_status observe(const dls_timeline *timeline, const dls_series_options *series,
                          double capacity, double *x, dls_burst burst[DLS_RESOURCES],
                          dls_error *err)
{
    double *rows[DLS_TRACKS];
    for (int r = 0; r < DLS_TRACKS; r++) {
        rows[r] = x + (size_t)r * series->n_samples;
    }
    DLS_TRY(dls_series_sample(timeline, series, rows, err));
    for (int r = 0; r < DLS_TRACKS; r++) {
        const dls_burst_options how = {.interval_s = series->interval_s,
                                       .capacity = is_network(r) ? capacity : 1};
        DLS_TRY(dls_burst_analyze(rows[r], series->n_samples, &how, &burst[r], err));
    }
    return DLS_OK;
}

static dls_status measure(const dls_label_options *o, const dls_timeline *timeline, double capacity,
                          uint64_t entity, double *x, dls_label *out, dls_error *err)
{
    dls_burst exact[DLS_RESOURCES];
    dls_series_options series = {
        .interval_s = o->interval_s > 0 ? o->interval_s : timeline->step_s / o->samples_per_step,
        .n_samples = o->n_samples,
        .seed = o->seed,
        .entity = entity};
    DLS_TRY(observe(timeline, &series, capacity, x, exact, err));
    series.step_spread = o->step_spread;
    series.jitter_frac = o->jitter_frac;
    series.noise_frac = o->noise_frac;
    DLS_TRY(observe(timeline, &series, capacity, x, out->burst, err));
    const dls_profile truth = dls_burst_profile(exact), label = dls_burst_profile(out->burst);
    memcpy(out->truth, truth.metric, sizeof out->truth);
    memcpy(out->metric, label.metric, sizeof out->metric);
    return DLS_OK;
}

/* The mean of the steps that the series saw. */
static double watched_s(const dls_label_options *o, double step_s, double interval_s,
                        uint64_t entity)
{
    dls_rng rng = dls_rng_stream(o->seed, DLS_RNG_PERF, entity);
    const double steps = fmax(1, (double)o->n_samples * interval_s / step_s);
    return step_s * exp(o->step_spread / sqrt(steps) * dls_rng_normal(&rng));
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
        const double interval_s =
            o->interval_s > 0 ? o->interval_s : timeline.step_s / o->samples_per_step;
        out->iteration_s = watched_s(o, timeline.step_s, interval_s, entity);
    }
    dls_free(x);
    dls_timeline_fini(&timeline);
    return status;
}
