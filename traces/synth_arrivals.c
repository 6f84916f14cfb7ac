/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Operational time to clock time: the inverse of the integrated arrival rate.
 */
#include "traces/synth_plan.h"

#include "base/own.h"
#include "traces/gsl_philox.h"

#include <gsl/gsl_randist.h>
#include <math.h>

#define HOUR_S 3600.0
#define DAY_S INT64_C(86400)
/* Streams of purpose ARRIVALS: days lie above those of synth_plan.c. */
#define DAY_STREAM (UINT64_C(1) << 32)

/* A day's volume beyond its weekday: lognormal with mean 1. */
static double day_factor(const dls_synth_plan *plan, int64_t day)
{
    const double cv = plan->profile->day_cv;
    if (cv <= 0) {
        return 1;
    }
    const double variance = log(1 + cv * cv);
    dls_gsl_rng rng;
    dls_gsl_rng_init(&rng, plan->seed, DLS_RNG_ARRIVALS, DAY_STREAM + (uint64_t)day);
    return gsl_ran_lognormal(&rng.gsl, -variance / 2, sqrt(variance));
}

/* Hours as a cursor over the rate: [start_s, end_s) with a constant rate. */
typedef struct hours {
    const dls_synth_plan *plan;
    const double *days;
    double span_s, start_s, end_s, rate, done; /* done: integral of the rate up to start_s */
    int64_t hour;
} hours;

static void hour_set(hours *h)
{
    const dls_synth_profile *profile = h->plan->profile;
    const int64_t day = h->hour / 24;
    h->start_s = (double)h->hour * HOUR_S;
    h->end_s = fmin(h->start_s + HOUR_S, h->span_s);
    h->rate = profile->hour[h->hour % 24] * profile->weekday[day % 7] * h->days[day];
}

static void hour_next(hours *h)
{
    h->done += h->rate * (h->end_s - h->start_s);
    h->hour++;
    hour_set(h);
}

dls_status dls_synth_arrivals(const dls_synth_plan *plan, int64_t span_s, size_t stride,
                              int64_t *submit_us, dls_error *err)
{
    const size_t n_days = (size_t)(span_s / DAY_S) + 2; /* the cursor may stop just past the end */
    DLS_FREED double *days = NULL;
    DLS_TRY(dls_alloc_array(&days, n_days, sizeof *days, "days of a trace", err));
    for (size_t d = 0; d < n_days; d++) {
        days[d] = day_factor(plan, (int64_t)d);
    }
    const hours from_zero = {.plan = plan, .days = days, .span_s = (double)span_s};
    hours h = from_zero;
    for (hour_set(&h); h.end_s < h.span_s;) {
        hour_next(&h);
    }
    const double total = h.done + h.rate * (h.end_s - h.start_s);

    h = from_zero;
    hour_set(&h);
    for (size_t job = 0, i = 0; job < plan->n; job += stride, i++) {
        const int32_t b = plan->batch[job];
        const double target = plan->batch_at[b] * total;
        while (h.end_s < h.span_s && h.done + h.rate * (h.end_s - h.start_s) < target) {
            hour_next(&h);
        }
        const double start_s = fmin(h.start_s + (target - h.done) / h.rate, h.end_s);
        const double room_s = h.span_s - start_s, extent_s = (double)plan->batch_extent_s[b];
        const double press = extent_s > room_s ? room_s / extent_s : 1;
        const double at_s = start_s + press * (double)plan->offset_s[job];
        submit_us[i] = (int64_t)(at_s * 1e6 / (double)plan->stamp_us) * plan->stamp_us;
    }
    return DLS_OK;
}
