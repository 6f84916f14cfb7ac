/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * `dlsim operators profile`: samples the modelled GPU and network use of one worker, prints its
 * burst and idle phases and saves the samples.
 */
#include "predictor/cli/operators.h"

#include "base/alloc.h"
#include "base/own.h"
#include "predictor/measure/recording.h"

#include <stdio.h>

/* Tracks and resources are numbered alike: predictor/dataset/label.c asserts it. */

static void print(const dls_burst burst[DLS_RESOURCES], double step_s)
{
    printf("step_s %.6g\nresource pattern idle_s burst_s idle_amount burst_amount cycle_s "
           "period_s agrees\n",
           step_s);
    for (int r = 0; r < DLS_RESOURCES; r++) {
        const dls_burst *b = &burst[r];
        printf("%s %s %.4g %.4g %.4g %.4g %.4g %.4g %s\n", dls_resource_name(r),
               dls_pattern_name(b->pattern), b->idle_s, b->burst_s, b->idle_amount, b->burst_amount,
               b->cycle_s, b->period_s, b->cycle_agrees ? "yes" : "no");
    }
    const dls_profile profile = dls_burst_profile(burst, step_s);
    fputs("metrics", stdout);
    for (int k = 0; k < DLS_METRICS; k++) {
        printf(" %.6g", profile.metric[k]);
    }
    putchar('\n');
}

static dls_status save(const dls_workload *w, const dls_work_setting *setting,
                       const dls_series_options *opts, double *const x[DLS_TRACKS],
                       const char *path, dls_error *err)
{
    DLS_OWN(dls_recording_fini) dls_recording r = {0};
    DLS_TRY(dls_recording_of_samples(x, opts->n_samples, opts->interval_s,
                                     setting->fabric ? setting->fabric->bps : 0, &r, err));
    snprintf(r.command, sizeof r.command, "%s on %d %s", w->name, setting->n_workers,
             setting->gpu->name);
    snprintf(r.notes, sizeof r.notes, "simulated by the operator model");
    return dls_recording_save(&r, path, err);
}

dls_status dls_operators_profile(const dls_opmodel *model, const dls_workload *w,
                                 const dls_work_setting *setting, const dls_series_options *opts,
                                 const char *path, dls_error *err)
{
    DLS_OWN(dls_timeline_fini) dls_timeline timeline = {0};
    dls_burst burst[DLS_RESOURCES];
    double *x[DLS_TRACKS];
    DLS_TRY(dls_timeline_build(model, w, setting, &timeline, err));
    DLS_FREED double *samples = NULL;
    DLS_TRY(
        dls_alloc_array(&samples, DLS_TRACKS * opts->n_samples, sizeof *samples, "samples", err));
    for (int r = 0; r < DLS_TRACKS; r++) {
        x[r] = samples + (size_t)r * opts->n_samples;
    }
    DLS_TRY(dls_series_sample(&timeline, opts, x, err));
    for (int r = 0; r < DLS_TRACKS; r++) {
        const bool network = r == DLS_TRACK_RX || r == DLS_TRACK_TX;
        const dls_burst_options how = {.interval_s = opts->interval_s,
                                       .capacity =
                                           network && setting->fabric ? setting->fabric->bps : 1};
        DLS_TRY(dls_burst_analyze(x[r], opts->n_samples, &how, &burst[r], err));
    }
    if (path) {
        DLS_TRY(save(w, setting, opts, x, path, err));
    }
    print(burst, timeline.step_s);
    return DLS_OK;
}
