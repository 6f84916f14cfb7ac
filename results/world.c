/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Summarises and prints what placement did in a run: slowdowns, network load, prediction errors,
 * sharing, failures.
 */
#include "results/world.h"

#include <inttypes.h>
#include <math.h>

static double mean(double sum, uint64_t n)
{
    return n > 0 ? sum / (double)n : (double)NAN;
}

static void judge_jobs(const dls_trace *trace, const dls_record *rec, dls_world_summary *out)
{
    const dls_trace_columns *cols = dls_trace_cols(trace);
    double jct = 0, run = 0, effective = -rec->lost_run_gpu_s, wall = 0;
    uint64_t n = 0;
    for (size_t j = 0; j < rec->n_jobs; j++) {
        const double gpu_s = (double)cols->gpus[j] / (double)DLS_US_PER_S;
        out->lost_gpu_s += rec->lost_us ? gpu_s * (double)rec->lost_us[j] : 0;
        if (rec->lost_us && rec->start_us[j] >= 0) {
            effective += gpu_s * (double)rec->executed_us[j];
            wall += gpu_s * (double)(dls_record_left_us(rec, cols->submit_us[j], j) - rec->start_us[j]);
        }
        if (rec->fastest_us && rec->fastest_us[j] > 0 && rec->state[j] == DLS_JOB_FINISHED) {
            const double best = (double)rec->fastest_us[j];
            jct += (double)(rec->end_us[j] - cols->submit_us[j]) / best;
            run += (double)rec->executed_us[j] / best;
            n++;
        }
    }
    out->effective_training_ratio = wall > 0 ? effective / wall : (double)NAN;
    out->best_slowdown_mean = mean(jct, n);
    out->placement_slowdown_mean = mean(run, n);
}

static void judge_starts(const dls_record *rec, dls_world_summary *out)
{
    const dls_start_rows *s = &rec->starts;
    double error = 0, bias = 0;
    for (size_t i = 0; i < s->n; i++) {
        dls_record_pass(rec, i);
        if (!(s->remaining_s[i] > 0) || s->executed_us[i] < DLS_US_PER_S || s->work_us[i] <= 0 ||
            s->left_us[i] <= 0) {
            continue;
        }
        const double done = (double)s->work_us[i] / (double)s->left_us[i];
        const double ratio =
            (double)s->remaining_s[i] * done / ((double)s->executed_us[i] / (double)DLS_US_PER_S);
        error += fabs(ratio - 1);
        bias += log(ratio);
        out->predicted_starts++;
    }
    out->starts = s->n;
    out->prediction_error = mean(error, out->predicted_starts);
    out->prediction_bias = mean(bias, out->predicted_starts);
}

static void judge_links(const dls_record *rec, dls_world_summary *out)
{
    const dls_world_rows *w = &rec->world;
    const int64_t end_us = rec->end_us_of_run;
    double nic = 0, uplink = 0, span = 0;
    for (size_t i = 0; i < w->n; i++) {
        dls_record_pass(rec, i);
        const double dt = (double)((i + 1 < w->n ? w->t_us[i + 1] : end_us) - w->t_us[i]);
        if (dt > 0) {
            nic += dt * (double)w->nic_mean[i];
            uplink += dt * (double)w->uplink_mean[i];
            span += dt;
        }
    }
    out->nic_mean = span > 0 ? nic / span : (double)NAN;
    out->uplink_mean = span > 0 ? uplink / span : (double)NAN;
}

void dls_world_summarise(const dls_trace *trace, const dls_record *rec, dls_world_summary *out)
{
    *out = (dls_world_summary){.guest_starts = rec->guest_starts,
                               .guest_gpu_s = rec->guest_gpu_s,
                               .pull_backs = rec->pull_backs,
                               .pull_back_gpu_s = rec->pull_back_gpu_s,
                               .node_failures = rec->node_failures,
                               .gpu_failures = rec->gpu_failures,
                               .rack_failures = rec->rack_failures,
                               .job_failures = rec->job_failures,
                               .node_drains = rec->node_drains,
                               .facts = rec->facts};
    judge_jobs(trace, rec, out);
    judge_starts(rec, out);
    judge_links(rec, out);
}

void dls_world_print(FILE *out, const dls_world_summary *s)
{
    if (!isnan(s->best_slowdown_mean)) {
        fprintf(out, "against best placement  %.4g x in all, %.4g x while running, mean\n",
                s->best_slowdown_mean, s->placement_slowdown_mean);
    }
    if (s->nic_mean > 0) {
        fprintf(
            out,
            "network use             %.1f %% of the links that jobs cross, %.1f %% of uplinks\n",
            100 * s->nic_mean, 100 * s->uplink_mean);
    }
    if (s->predicted_starts > 0) {
        fprintf(out,
                "prediction error        %.1f %% of the time (%+.1f %% on average) over %" PRIu64
                " starts\n",
                100 * s->prediction_error, 100 * expm1(s->prediction_bias), s->predicted_starts);
    }
    const dls_predictions_stats *f = &s->facts.predictions;
    if (f->questions > 0) {
        fprintf(out,
                "predictor               %" PRIu64 " answers in %" PRIu64
                " batches, %.3g s; %" PRIu64 " from disk; %.1f %% not quite the placement\n",
                f->answers, f->batches, f->predictor_s, f->disk_hits,
                100 * (double)f->nearest / (double)(f->answers + f->disk_hits + (f->answers == 0)));
    }
    if (s->guest_starts > 0) {
        fprintf(out, "shared GPUs             %" PRIu64 " times, %.4g GPU-hours\n", s->guest_starts,
                s->guest_gpu_s / 3600);
    }
    if (s->pull_backs > 0) {
        fprintf(out, "kept in step            %.4g pull-backs, %.4g GPU-hours lost to them\n",
                s->pull_backs, s->pull_back_gpu_s / 3600);
    }
    if (s->node_failures + s->gpu_failures + s->rack_failures + s->job_failures + s->node_drains > 0 ||
        s->lost_gpu_s > 0) {
        fprintf(out, "failures                %" PRIu64 " of nodes, %" PRIu64 " of GPUs",
                s->node_failures, s->gpu_failures);
        if (s->rack_failures + s->job_failures > 0) {
            fprintf(out, ", %" PRIu64 " of racks, %" PRIu64 " of jobs alone", s->rack_failures,
                    s->job_failures);
        }
        if (s->node_drains > 0) {
            fprintf(out, ", %" PRIu64 " nodes drained", s->node_drains);
        }
        fprintf(out,
                "; %.4g GPU-hours of work lost; effective training time %.2f %% of that from start "
                "to end\n",
                s->lost_gpu_s / 3600, 100 * s->effective_training_ratio);
    }
    if (s->facts.world.unknown_model_jobs > 0) {
        fprintf(out, "unknown models          %" PRIu64 " jobs, taken for another\n",
                s->facts.world.unknown_model_jobs);
    }
}
