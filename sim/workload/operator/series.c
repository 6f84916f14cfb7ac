/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Samples a timeline as a profiler would: integrates the tracks over jittered intervals and adds
 * multiplicative noise.
 */
#include "workload/operator/series.h"

#include "base/rng.h"

#include <math.h>

/* A factor's deviation from 1. Nothing is drawn for one that has none. */
static double draw(dls_rng *rng, double spread)
{
    return spread > 0 ? spread * dls_rng_normal(rng) : 0;
}

/* The step that is running: where it began, how much longer than the model's it is, and the
 * integrals of all steps before it. */
typedef struct clock_hand {
    const dls_timeline *timeline;
    const dls_series_options *opts;
    dls_rng rng;
    double began_s, stretch;
    double before[DLS_TRACKS];
} clock_hand;

static bool is_network(int track)
{
    return track == DLS_TRACK_RX || track == DLS_TRACK_TX;
}

static double part(const clock_hand *c, int track, double model_s)
{
    const double integral = dls_track_integral(&c->timeline->track[track], model_s);
    return is_network(track) ? integral : c->stretch * integral;
}

static void advance(clock_hand *c, double t_s, double integral[DLS_TRACKS])
{
    const double step_s = c->timeline->step_s;
    while (c->began_s + c->stretch * step_s < t_s) {
        for (int r = 0; r < DLS_TRACKS; r++) {
            c->before[r] += part(c, r, step_s);
        }
        c->began_s += c->stretch * step_s;
        c->stretch = exp(draw(&c->rng, c->opts->step_spread));
    }
    for (int r = 0; r < DLS_TRACKS; r++) {
        integral[r] = c->before[r] + part(c, r, (t_s - c->began_s) / c->stretch);
    }
}

/* What a counter has counted of an integral: whole packets, and the rest when nothing more follows.
 */
static double counted(const clock_hand *c, int track, double t_s, double integral, double before)
{
    const double packet = c->opts->packet_bytes, at_s = (t_s - c->began_s) / c->stretch;
    const dls_track *of = &c->timeline->track[track];
    if (!(packet > 0) || !is_network(track) ||
        dls_track_integral(of, at_s) <= dls_track_integral(of, fmax(0, at_s - 1e-7))) {
        return integral;
    }
    return fmax(before, packet * floor(integral / packet));
}

static dls_status check(const dls_series_options *o, dls_error *err)
{
    if (!(o->interval_s > 0) || !isfinite(o->interval_s) || o->n_samples == 0) {
        return dls_fail(err, DLS_EINPUT, "series", "a positive interval and number of samples");
    }
    if (!(o->step_spread >= 0 && o->step_spread < 1) ||
        !(o->jitter_frac >= 0 && o->jitter_frac < 0.5) ||
        !(o->noise_frac >= 0 && o->noise_frac < 1) || !(o->packet_bytes >= 0)) {
        return dls_fail(err, DLS_EINPUT, "series", "noise out of range");
    }
    return DLS_OK;
}

dls_status dls_series_sample(const dls_timeline *timeline, const dls_series_options *opts,
                             double *const x[DLS_TRACKS], dls_error *err)
{
    DLS_TRY(check(opts, err));
    clock_hand c = {.timeline = timeline,
                    .opts = opts,
                    .rng = dls_rng_stream(opts->seed, DLS_RNG_PREDICTOR, opts->entity),
                    .stretch = 1};
    double before[DLS_TRACKS], now[DLS_TRACKS];
    const double start_s = dls_rng_unit(&c.rng) * timeline->step_s;
    double from_s = start_s;
    advance(&c, from_s, before);
    for (size_t i = 0; i < opts->n_samples; i++) {
        const double off = opts->jitter_frac * (2 * dls_rng_unit(&c.rng) - 1);
        const double to_s = start_s + ((double)(i + 1) + off) * opts->interval_s;
        advance(&c, to_s, now);
        for (int r = 0; r < DLS_TRACKS; r++) {
            now[r] = counted(&c, r, to_s, now[r], before[r]);
            const double mean = (now[r] - before[r]) / (to_s - from_s);
            const double value = fmax(0, mean * (1 + draw(&c.rng, opts->noise_frac)));
            x[r][i] = is_network(r) ? value : fmin(1, value);
            before[r] = now[r];
        }
        from_s = to_s;
    }
    return DLS_OK;
}
