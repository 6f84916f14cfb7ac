/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Generates a synthetic trace: plan, calibration of the span to the load or queueing, tags (virtual
 * cluster, user, outcome), and the report.
 */
#include "dlsim/traces.h"

#include "base/guard.h"
#include "base/own.h"
#include "base/rng.h"
#include "base/suggest.h"
#include "base/units.h"
#include "traces/synth_draw.h"
#include "traces/synth_plan.h"
#include "traces/synth_profile.h"
#include "traces/trace_impl.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define DAY_S 86400.0
/* Streams of purpose JOB: jobs are numbered from 0 (synth_plan.c), tags and units above. */
#define TAG_STREAM (UINT64_C(1) << 40)
#define UNIT_STREAM (UINT64_C(2) << 40)
#define MAX_PROFILES 15

void dls_synth_params_init(dls_synth_params *params)
{
    *params = (dls_synth_params){
        .profile = "philly", .n_jobs = 5000, .stamp_us = DLS_US_PER_S, .seed = 1};
}

dls_status dls_synth_parse_queueing(const char *text, dls_synth_params *params, dls_error *err)
{
    DLS_IN_C_LOCALE;
    if (strcmp(text, "none") == 0) {
        params->waiting_frac = params->time_frac = 0;
        return DLS_OK;
    }
    if (strcmp(text, "heavy") == 0) {
        params->waiting_frac = .1;
        params->time_frac = 1. / 3;
        return DLS_OK;
    }
    char share[64];
    const char *colon = strchr(text, ':');
    double waiting_frac, time_frac;
    if (!colon || (size_t)(colon - text) >= sizeof share) {
        return dls_fail(err, DLS_EUSAGE, "queueing",
                        "\"%s\" is not \"none\", \"heavy\" or \"SHARE:TIME\" such as \"0.1:0.5\"",
                        text);
    }
    memcpy(share, text, (size_t)(colon - text));
    share[colon - text] = '\0';
    if (!dls_units_f64(share, &waiting_frac) || !dls_units_f64(colon + 1, &time_frac) ||
        !(waiting_frac > 0 && waiting_frac < 1 && time_frac > 0 && time_frac < 1)) {
        return dls_fail(err, DLS_EUSAGE, "queueing",
                        "\"%s\": the share of the jobs and of the time must lie between 0 and 1",
                        text);
    }
    params->waiting_frac = waiting_frac;
    params->time_frac = time_frac;
    return DLS_OK;
}

static dls_status find_profile(const char *name, const dls_synth_profile **out, dls_error *err)
{
    *out = name ? dls_synth_profile_find(name) : NULL;
    if (*out) {
        return DLS_OK;
    }
    const char *names[MAX_PROFILES + 1] = {NULL};
    for (int i = 0; i < MAX_PROFILES && dls_synth_profile_name(i); i++) {
        names[i] = dls_synth_profile_name(i);
    }
    return dls_fail(err, DLS_EUSAGE, "profile", "no profile \"%s\"%s", name ? name : "",
                    DLS_DID_YOU_MEAN(dls_suggest(name ? name : "", names)));
}

static dls_status check(const dls_synth_params *p, dls_error *err)
{
    if (p->n_jobs < 2 || p->n_jobs > DLS_SYNTH_JOBS_MAX) {
        return dls_fail(err, DLS_EUSAGE, "jobs", "%" PRId64 " jobs: must be 2 to %d", p->n_jobs,
                        DLS_SYNTH_JOBS_MAX);
    }
    if (p->cluster_gpus < 0 || p->cluster_gpus > DLS_GPUS_MAX) {
        return dls_fail(err, DLS_EUSAGE, "gpus", "%" PRId64 " GPUs: must be 1 to %d",
                        p->cluster_gpus, DLS_GPUS_MAX);
    }
    if (!(p->load >= 0) || p->load > DLS_SYNTH_LOAD_MAX) {
        return dls_fail(err, DLS_EUSAGE, "load", "load %g: must be 0 to %d", p->load,
                        DLS_SYNTH_LOAD_MAX);
    }
    if (!(p->multi_frac >= 0 && p->multi_frac <= 1)) {
        return dls_fail(err, DLS_EUSAGE, "multi", "share %g of jobs of several GPUs: 0 to 1",
                        p->multi_frac);
    }
    if (p->multi_frac > 0 && p->cluster_gpus == 1) {
        return dls_fail(err, DLS_EUSAGE, "multi", "on one GPU no job has several");
    }
    if (p->duration_max_s < 0) {
        return dls_fail(err, DLS_EUSAGE, "max-duration", "the longest duration is negative");
    }
    if (p->stamp_us != 1 && p->stamp_us != DLS_US_PER_S) {
        return dls_fail(err, DLS_EUSAGE, "stamps", "times are whole seconds or microseconds");
    }
    const bool none = p->waiting_frac == 0 && p->time_frac == 0;
    if (!none &&
        !(p->waiting_frac > 0 && p->waiting_frac < 1 && p->time_frac > 0 && p->time_frac < 1)) {
        return dls_fail(err, DLS_EUSAGE, "queueing",
                        "queueing %g:%g: both must lie between 0 and 1", p->waiting_frac,
                        p->time_frac);
    }
    if (!none && p->load > 0) {
        return dls_fail(err, DLS_EUSAGE, "queueing",
                        "give a load or the queueing wanted, not both: queueing sets the load");
    }
    return DLS_OK;
}

/* Below its shortest job a distribution has nothing to draw. */
static dls_status check_longest(const dls_synth_profile *profile, int64_t duration_max_s, dls_error *err)
{
    double least_s = (double)INFINITY;
    for (int c = 0; c < DLS_SYNTH_CLASSES; c++) {
        least_s = fmin(least_s, profile->durations[c].seconds[0] * profile->scale[c]);
    }
    return duration_max_s == 0 || least_s <= (double)duration_max_s
               ? DLS_OK
               : dls_fail(err, DLS_EUSAGE, "max-duration", "no job of profile %s is as short as %" PRId64 " s, but %g s",
                          profile->name, duration_max_s, least_s);
}

/* ---- the rows -------------------------------------------------------------------------------- */

#define USER_SIZE 48

static int vc_of(const dls_synth_profile *profile, int32_t gpus, int64_t duration_us, double at)
{
    static const int64_t band_s[DLS_SYNTH_BANDS - 1] = {60, 600, 3600, 21600, 86400};
    int band = 0;
    while (band < DLS_SYNTH_BANDS - 1 && duration_us >= band_s[band] * DLS_US_PER_S) {
        band++;
    }
    const int class_idx = dls_synth_class(gpus), group = class_idx < 3 ? class_idx : 3;
    const int16_t *weight = profile->vc_weight + (group * DLS_SYNTH_BANDS + band) * profile->n_vcs;
    double total = 0;
    for (int v = 0; v < profile->n_vcs; v++) {
        total += weight[v];
    }
    int v = 0;
    for (double left = at * total - weight[0]; left >= 0 && v + 1 < profile->n_vcs;) {
        left -= weight[++v];
    }
    return v;
}

/* Virtual cluster and user belong to the unit: all its jobs get the same. */
static void tag_unit(const dls_synth_plan *plan, const dls_synth_params *params, int32_t unit,
                     int64_t duration_max_s, dls_job_rec *rec, char user[USER_SIZE])
{
    const dls_synth_profile *profile = plan->profile;
    dls_rng rng = dls_rng_stream(plan->seed, DLS_RNG_JOB, UNIT_STREAM + (uint64_t)unit);
    if (profile->n_vcs > 0) {
        const size_t job = plan->unit_first[unit];
        rec->vc =
            profile
                ->vcs[vc_of(profile, dls_synth_gpus(plan, job, params->cluster_gpus),
                            dls_synth_duration_us(plan, job, duration_max_s), dls_rng_unit(&rng))];
    }
    if (profile->users_per_vc > 0) {
        /* floor(N^u) has the weights log((r + 1) / r) / log N, close to Zipf's 1 / r */
        const int rank = (int)exp(dls_rng_unit(&rng) * log(profile->users_per_vc));
        snprintf(user, USER_SIZE, "%s%su%03d", rec->vc ? rec->vc : "", rec->vc ? "-" : "", rank);
        rec->user = user;
    }
}

static void tag_job(const dls_synth_profile *profile, dls_rng *rng, int32_t gpus,
                    int64_t duration_us, dls_job_rec *rec)
{
    if (profile->outcome) {
        const double *p =
            profile->outcome[dls_synth_class(gpus)][duration_us >= 21600 * DLS_US_PER_S];
        const double at = dls_rng_unit(rng);
        rec->outcome = at < p[0]          ? DLS_OUTCOME_COMPLETED
                       : at < p[0] + p[1] ? DLS_OUTCOME_KILLED
                                          : DLS_OUTCOME_FAILED;
    }
    if (profile->n_models > 0) {
        const int model = (int)dls_rng_below(rng, (uint64_t)profile->n_models);
        const int class_idx = dls_synth_class(gpus);
        const double iteration_s = profile->iteration_s[model][class_idx < 3 ? class_idx : 3];
        rec->model = profile->models[model];
        rec->batch = profile->batch_per_gpu * gpus;
        rec->iterations = (int64_t)((double)duration_us * 1e-6 / iteration_s);
        rec->flags |= DLS_JOB_SYNTHETIC_MODEL;
    }
}

static dls_status add_rows(const dls_synth_plan *plan, const dls_synth_params *params,
                           const dls_synth_jobs *jobs, const dls_synth_report *report,
                           dls_trace_builder *b, dls_error *err)
{
    for (size_t i = 0; i < jobs->n; i++) {
        const uint32_t job = jobs->job[i];
        dls_job_rec rec;
        char user[USER_SIZE];
        dls_job_rec_init(&rec);
        rec.submit_us = jobs->submit_us[i];
        rec.duration_us = jobs->duration_us[i];
        rec.gpus_milli = plan->gpus_milli[job];
        if (rec.gpus_milli > params->cluster_gpus * 1000) {
            rec.gpus_milli = params->cluster_gpus * 1000;
        }
        dls_rng rng = dls_rng_stream(plan->seed, DLS_RNG_JOB, TAG_STREAM + job);
        tag_unit(plan, params, plan->unit[job], report->duration_max_s, &rec, user);
        tag_job(plan->profile, &rng, jobs->gpus[i], jobs->duration_us[i], &rec);
        DLS_TRY(dls_trace_builder_add(b, &rec, "synthetic", err));
    }
    dls_trace_info *info = dls_trace_builder_info(b);
    snprintf(info->path, sizeof info->path, "synthetic:%s", plan->profile->name);
    snprintf(info->format, sizeof info->format, "synthetic");
    snprintf(info->epoch, sizeof info->epoch, "a Monday 00:00");
    return DLS_OK;
}

static dls_status build(const dls_synth_plan *plan, const dls_synth_params *params,
                        const dls_synth_jobs *jobs, const dls_synth_report *report, dls_trace **out,
                        dls_error *err)
{
    dls_trace_builder *b;
    DLS_TRY(dls_trace_builder_create(NULL, &b, err));
    return dls_trace_builder_end(b, add_rows(plan, params, jobs, report, b, err), out, err);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static dls_status draw_jobs(const dls_synth_plan *plan, const dls_synth_params *params,
                            dls_synth_jobs *jobs, dls_synth_report *report, dls_error *err)
{
    report->duration_max_s = params->duration_max_s;
    if (params->waiting_frac > 0) {
        return dls_synth_calibrate(plan, params, jobs, report, err);
    }
    int64_t span_s;
    if (params->load > 0) {
        const double gpu_s = dls_synth_gpu_s(plan, 1, params->cluster_gpus, params->duration_max_s);
        const double least_s = gpu_s / ((double)params->cluster_gpus * params->load);
        if (least_s < 1) {
            return dls_fail(err, DLS_EUSAGE, "load", "load %g would press the trace into %.3g s; at least 1",
                            params->load, least_s);
        }
        DLS_TRY(dls_synth_span_s(gpu_s, params->cluster_gpus, params->load, &span_s, err));
    } else {
        span_s = (int64_t)((double)(plan->n - 1) / plan->profile->jobs_per_day * DAY_S + .5);
    }
    return dls_synth_draw(plan, 1, params->cluster_gpus, params->duration_max_s, span_s, jobs, err);
}

static void measure(const dls_synth_jobs *jobs, dls_synth_report *report)
{
    const int64_t span_us = jobs->submit_us[jobs->n - 1] - jobs->submit_us[0];
    report->span_s = span_us / DLS_US_PER_S;
    for (size_t i = 0; i < jobs->n; i++) {
        report->gpu_s += 1e-6 * (double)(jobs->gpus[i] * jobs->duration_us[i]);
    }
    report->load = span_us > 0
                       ? report->gpu_s / (1e-6 * (double)report->cluster_gpus * (double)span_us)
                       : (double)INFINITY;
}

static dls_status generate(dls_synth_plan *plan, const dls_synth_profile *profile,
                           const dls_synth_params *params, dls_synth_jobs *jobs, dls_trace **out,
                           dls_synth_report *report, dls_error *err)
{
    DLS_TRY(dls_synth_plan_init(plan, profile, (size_t)params->n_jobs, params->multi_frac,
                                params->seed, params->stamp_us, err));
    DLS_TRY(dls_synth_jobs_init(jobs, plan, 1, err));
    DLS_TRY(draw_jobs(plan, params, jobs, report, err));
    measure(jobs, report);
    return build(plan, params, jobs, report, out, err);
}

dls_status dls_synth_generate(const dls_synth_params *params, dls_trace **out,
                              dls_synth_report *report, dls_error *err)
{
    const dls_synth_profile *profile;
    dls_synth_params p = *params;
    DLS_TRY(check(&p, err));
    DLS_TRY(find_profile(p.profile, &profile, err));
    DLS_TRY(check_longest(profile, p.duration_max_s, err));
    p.cluster_gpus = p.cluster_gpus > 0 ? p.cluster_gpus : profile->cluster_gpus;
    dls_synth_report made = {.cluster_gpus = p.cluster_gpus};
    DLS_OWN(dls_synth_plan_fini) dls_synth_plan plan = {0};
    DLS_OWN(dls_synth_jobs_fini) dls_synth_jobs jobs = {0};
    DLS_TRY(generate(&plan, profile, &p, &jobs, out, &made, err));
    if (report) {
        *report = made;
    }
    return DLS_OK;
}
