/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Prints the statistics of a trace, and the notes of its reader, as text and as JSON.
 */
#include "cli/trace_print.h"

#include "base/json.h"
#include "base/printable.h"

#include <inttypes.h>

static const char *const quantile_names[DLS_STATS_QUANTILES] = {"p1",  "p5",  "p25", "p50", "p75",
                                                                "p90", "p95", "p99", "max"};
static const char *const outcome_names[] = {
#define XX(name, text) text,
    DLS_OUTCOME_MAP(XX)
#undef XX
};
static const char *const flag_names[] = {
#define XX(name, bit, text) #name,
    DLS_JOB_FLAG_MAP(XX)
#undef XX
};

static double share(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : 0;
}

/* ---- text ------------------------------------------------------------------------------------ */

static void put_dist(FILE *to, const char *name, const dls_stats_dist *dist)
{
    if (dist->n == 0) {
        return;
    }
    fprintf(to, "%-22s", name);
    for (int i = 0; i < DLS_STATS_QUANTILES; i++) {
        fprintf(to, " %10.5g", dist->q[i]);
    }
    fprintf(to, " %10.2f %8.2f\n", dist->mean, dist->cv);
}

static void put_sizes(FILE *to, const dls_trace_stats *stats)
{
    fprintf(to, "\n%-10s %10s %8s %14s %10s\n", "GPUs", "jobs", "jobs %", "GPU-hours",
            "GPU-time %");
    for (size_t i = 0; i < stats->n_sizes; i++) {
        const dls_stats_size *size = &stats->sizes[i];
        fprintf(to, "%-10g %10" PRIu64 " %8.2f %14.1f %10.2f\n", (double)size->gpus_milli * 1e-3,
                size->jobs, share((double)size->jobs, (double)stats->jobs), size->gpu_h,
                share(size->gpu_h, stats->gpu_h));
    }
}

static void put_vcs(FILE *to, const dls_trace *trace, const dls_trace_stats *stats)
{
    if (stats->n_vcs == 0) {
        return;
    }
    fprintf(to, "\n%-22s %10s %14s %10s %8s\n", "virtual cluster", "jobs", "GPU-hours", "median s",
            "max GPUs");
    for (size_t i = 0; i < stats->n_vcs; i++) {
        const dls_stats_vc *vc = &stats->vcs[i];
        char buf[DLS_PRINTABLE_BYTES];
        fprintf(to, "%-22s %10" PRIu64 " %14.1f %10.1f %8g\n",
                vc->code < 0 ? "(none)" : dls_printable(dls_trace_vc(trace, vc->code), buf),
                vc->jobs, vc->gpu_h,
                vc->median_s, (double)vc->max_gpus_milli * 1e-3);
    }
}

void dls_trace_print_text(FILE *to, const dls_trace *trace, const dls_trace_stats *stats)
{
    const dls_trace_info *info = dls_trace_about(trace);
    fprintf(to, "%s (%s)\n", info->path, info->format);
    if (*info->epoch) {
        fprintf(to, "time 0           %s\n", info->epoch);
    }
    fprintf(to,
            "jobs             %" PRIu64 "\n"
            "zero durations   %" PRIu64 "\n"
            "no duration      %" PRIu64 "\n"
            "submit span      %.2f d\n"
            "GPUs per job     mean %.2f, max %g\n"
            "GPU time         %.1f GPU-hours, %.1f GPUs busy on average over the submit span\n"
            "peak demand      %g GPUs if nothing queues\n",
            stats->jobs, stats->zero_duration, stats->no_duration, stats->span_s / 86400,
            stats->mean_gpus, (double)stats->max_gpus_milli * 1e-3, stats->gpu_h, stats->busy_gpus,
            stats->peak_gpus);
    fprintf(to, "\n%-22s", "seconds");
    for (int i = 0; i < DLS_STATS_QUANTILES; i++) {
        fprintf(to, " %10s", quantile_names[i]);
    }
    fprintf(to, " %10s %8s\n", "mean", "CV");
    put_dist(to, "duration", &stats->duration_s);
    put_dist(to, "between submissions", &stats->gap_s);
    put_sizes(to, stats);
    put_vcs(to, trace, stats);
    fputs("\noutcome         ", to);
    for (int i = 0; i < DLS_OUTCOME_COUNT; i++) {
        if (stats->outcomes[i] > 0) {
            fprintf(to, " %s %" PRIu64, outcome_names[i], stats->outcomes[i]);
        }
    }
    fputc('\n', to);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void json_dist(json_object *to, const char *name, const dls_stats_dist *dist)
{
    json_object *obj = dls_json_object(to, name);
    for (int i = 0; i < DLS_STATS_QUANTILES; i++) {
        dls_json_real(obj, quantile_names[i], dist->q[i]);
    }
    dls_json_real(obj, "mean", dist->mean);
    dls_json_real(obj, "cv", dist->cv);
}

/* "name": {"key": count, ...} of the counts above 0. */
static void json_counts(json_object *to, const char *name, const char *const *keys,
                        const uint64_t *counts, int n)
{
    json_object *obj = dls_json_object(to, name);
    for (int i = 0; i < n; i++) {
        if (counts[i] > 0) {
            dls_json_int(obj, keys[i], (int64_t)counts[i]);
        }
    }
}

static void json_vcs(json_object *to, const dls_trace *trace, const dls_trace_stats *stats)
{
    json_object *list = dls_json_list(to, "vcs");
    for (size_t i = 0; i < stats->n_vcs; i++) {
        const dls_stats_vc *vc = &stats->vcs[i];
        json_object *obj = dls_json_next(list);
        dls_json_text(obj, "vc", vc->code < 0 ? "" : dls_trace_vc(trace, vc->code));
        dls_json_int(obj, "jobs", (int64_t)vc->jobs);
        dls_json_real(obj, "gpu_h", vc->gpu_h);
        dls_json_real(obj, "median_s", vc->median_s);
        dls_json_real(obj, "max_gpus", (double)vc->max_gpus_milli * 1e-3);
    }
}

dls_status dls_trace_print_json(FILE *to, const dls_trace *trace, const dls_trace_stats *stats,
                                dls_error *err)
{
    const dls_trace_info *info = dls_trace_about(trace);
    json_object *top = json_object_new_object();
    dls_json_text(top, "path", info->path);
    dls_json_text(top, "format", info->format);
    dls_json_text(top, "sha256", info->sha256);
    dls_json_int(top, "jobs", (int64_t)stats->jobs);
    dls_json_int(top, "zero_duration", (int64_t)stats->zero_duration);
    dls_json_int(top, "no_duration", (int64_t)stats->no_duration);
    dls_json_int(top, "rows_read", (int64_t)info->rows_read);
    dls_json_int(top, "rows_skipped", (int64_t)info->rows_skipped);
    dls_json_real(top, "span_s", stats->span_s);
    dls_json_real(top, "mean_gpus", stats->mean_gpus);
    dls_json_real(top, "max_gpus", (double)stats->max_gpus_milli * 1e-3);
    dls_json_real(top, "gpu_h", stats->gpu_h);
    dls_json_real(top, "busy_gpus", stats->busy_gpus);
    dls_json_real(top, "peak_gpus", stats->peak_gpus);
    json_dist(top, "duration_s", &stats->duration_s);
    json_dist(top, "gap_s", &stats->gap_s);
    json_object *sizes = dls_json_list(top, "sizes");
    for (size_t i = 0; i < stats->n_sizes; i++) {
        json_object *obj = dls_json_next(sizes);
        dls_json_real(obj, "gpus", (double)stats->sizes[i].gpus_milli * 1e-3);
        dls_json_int(obj, "jobs", (int64_t)stats->sizes[i].jobs);
        dls_json_real(obj, "gpu_h", stats->sizes[i].gpu_h);
    }
    json_vcs(top, trace, stats);
    json_counts(top, "outcomes", outcome_names, stats->outcomes, DLS_OUTCOME_COUNT);
    json_counts(top, "flags", flag_names, stats->flags, DLS_JOB_FLAG_COUNT);
    return dls_json_print(to, top, err);
}
