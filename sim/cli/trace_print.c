/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/trace_print.h"

#include "cli/ui.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const char *const quantile_names[DLS_STATS_QUANTILES] = {"p1",  "p5",  "p25", "p50", "p75",
                                                                "p90", "p95", "p99", "max"};
static const char *const outcome_names[] = {
#define XX(name, text) text,
    DLS_OUTCOME_MAP(XX)
#undef XX
};
static const char *const flag_texts[] = {
#define XX(name, bit, text) text,
    DLS_JOB_FLAG_MAP(XX)
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
        fprintf(to, "%-22s %10" PRIu64 " %14.1f %10.1f %8g\n",
                vc->code < 0 ? "(none)" : dls_trace_vc(trace, vc->code), vc->jobs, vc->gpu_h,
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

void dls_trace_print_notes(FILE *to, const dls_trace *trace)
{
    const dls_trace_info *info = dls_trace_about(trace);
    for (const char *line = info->notes; *line; line += strcspn(line, "\n") + 1) {
        fprintf(to, "dlsim: %s: %.*s\n", info->path, (int)strcspn(line, "\n"), line);
    }
    for (int bit = 0; bit < DLS_JOB_FLAG_COUNT; bit++) {
        if (info->flag_count[bit] > 0) {
            fprintf(to, "dlsim: %s: %" PRIu64 " jobs: %s\n", info->path, info->flag_count[bit],
                    flag_texts[bit]);
        }
    }
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void json_number(FILE *to, const char *name, double value)
{
    fprintf(to, "\"%s\": ", name);
    if (isfinite(value)) {
        fprintf(to, "%.10g", value);
    } else {
        fputs("null", to);
    }
}

static void json_dist(FILE *to, const char *name, const dls_stats_dist *dist)
{
    fprintf(to, ",\n  \"%s\": {", name);
    for (int i = 0; i < DLS_STATS_QUANTILES; i++) {
        json_number(to, quantile_names[i], dist->q[i]);
        fputs(", ", to);
    }
    json_number(to, "mean", dist->mean);
    fputs(", ", to);
    json_number(to, "cv", dist->cv);
    fputc('}', to);
}

/* "name": {"key": count, ...} of the counts above 0. */
static void json_counts(FILE *to, const char *name, const char *const *keys, const uint64_t *counts,
                        int n)
{
    const char *comma = "";
    fprintf(to, ",\n  \"%s\": {", name);
    for (int i = 0; i < n; i++) {
        if (counts[i] > 0) {
            fprintf(to, "%s\"%s\": %" PRIu64, comma, keys[i], counts[i]);
            comma = ", ";
        }
    }
    fputc('}', to);
}

void dls_trace_print_json(FILE *to, const dls_trace *trace, const dls_trace_stats *stats)
{
    const dls_trace_info *info = dls_trace_about(trace);
    fputs("{\n  \"path\": ", to);
    dls_ui_json_string(to, info->path);
    fputs(", \"format\": ", to);
    dls_ui_json_string(to, info->format);
    fputs(", \"sha256\": ", to);
    dls_ui_json_string(to, info->sha256);
    fprintf(to,
            ",\n  \"jobs\": %" PRIu64 ", \"zero_duration\": %" PRIu64 ", \"no_duration\": %" PRIu64
            ", \"rows_read\": %" PRIu64 ", \"rows_skipped\": %" PRIu64 ",\n  ",
            stats->jobs, stats->zero_duration, stats->no_duration, info->rows_read,
            info->rows_skipped);
    json_number(to, "span_s", stats->span_s);
    fputs(", ", to);
    json_number(to, "mean_gpus", stats->mean_gpus);
    fputs(", ", to);
    json_number(to, "max_gpus", (double)stats->max_gpus_milli * 1e-3);
    fputs(", ", to);
    json_number(to, "gpu_h", stats->gpu_h);
    fputs(", ", to);
    json_number(to, "busy_gpus", stats->busy_gpus);
    fputs(", ", to);
    json_number(to, "peak_gpus", stats->peak_gpus);
    json_dist(to, "duration_s", &stats->duration_s);
    json_dist(to, "gap_s", &stats->gap_s);
    fputs(",\n  \"sizes\": [", to);
    for (size_t i = 0; i < stats->n_sizes; i++) {
        fputs(i ? ",\n    {" : "\n    {", to);
        json_number(to, "gpus", (double)stats->sizes[i].gpus_milli * 1e-3);
        fprintf(to, ", \"jobs\": %" PRIu64 ", ", stats->sizes[i].jobs);
        json_number(to, "gpu_h", stats->sizes[i].gpu_h);
        fputc('}', to);
    }
    fputs("],\n  \"vcs\": [", to);
    for (size_t i = 0; i < stats->n_vcs; i++) {
        const dls_stats_vc *vc = &stats->vcs[i];
        fputs(i ? ",\n    {\"vc\": " : "\n    {\"vc\": ", to);
        dls_ui_json_string(to, vc->code < 0 ? "" : dls_trace_vc(trace, vc->code));
        fprintf(to, ", \"jobs\": %" PRIu64 ", ", vc->jobs);
        json_number(to, "gpu_h", vc->gpu_h);
        fputs(", ", to);
        json_number(to, "median_s", vc->median_s);
        fputs(", ", to);
        json_number(to, "max_gpus", (double)vc->max_gpus_milli * 1e-3);
        fputc('}', to);
    }
    fputc(']', to);
    json_counts(to, "outcomes", outcome_names, stats->outcomes, DLS_OUTCOME_COUNT);
    json_counts(to, "flags", flag_names, stats->flags, DLS_JOB_FLAG_COUNT);
    fputs("\n}\n", to);
}
