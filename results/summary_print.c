/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Prints the summary of a run as text.
 */
#include "results/summary.h"

#include <inttypes.h>
#include <math.h>

const char *dls_format_seconds(char buf[DLS_SECONDS_TEXT], double seconds)
{
    static const struct {
        double below_s, unit_s;
        const char *name;
    } units[] = {
        {1, 1e-3, "ms"},     {120, 1, "s"},          {7200, 60, "min"},
        {172800, 3600, "h"}, {HUGE_VAL, 86400, "d"},
    };
    if (isnan(seconds)) {
        snprintf(buf, DLS_SECONDS_TEXT, "-");
        return buf;
    }
    if (seconds == 0) {
        snprintf(buf, DLS_SECONDS_TEXT, "0 s");
        return buf;
    }
    size_t u = 0;
    while (fabs(seconds) >= units[u].below_s && u + 1 < sizeof units / sizeof units[0]) {
        u++;
    }
    const double value = seconds / units[u].unit_s;
    const int decimals = fabs(value) < 9.995 ? 2 : fabs(value) < 9999.5 ? 1 : 0;
    snprintf(buf, DLS_SECONDS_TEXT, "%.*f %s", decimals, value, units[u].name);
    return buf;
}

static void seconds_cell(FILE *out, double seconds)
{
    char text[DLS_SECONDS_TEXT];
    fprintf(out, "  %10s", dls_format_seconds(text, seconds));
}

static void stats_row(FILE *out, const char *name, const dls_stats *st)
{
    fprintf(out, "%-22s", name);
    const double values[] = {st->mean_s, st->median_s, st->p95_s, st->p99_s, st->max_s};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        seconds_cell(out, values[i]);
    }
    fputc('\n', out);
}

static void parts_table(FILE *out, const dls_summary *s, dls_part_kind kind, const char *title)
{
    fprintf(out, "\n%-14s %9s %9s  %10s  %10s  %10s  %10s  %10s  %8s\n", title, "jobs", "completed",
            "JCT mean", "median", "p95", "queueing", "preempts", "slowdown");
    for (int i = 0; i < DLS_SUMMARY_PARTS; i++) {
        const dls_summary_part *p = &s->part[i];
        if (p->kind != kind || p->jobs == 0) {
            continue;
        }
        fprintf(out, "%-14s %9" PRIu64 " %9" PRIu64, p->name, p->jobs, p->completed);
        seconds_cell(out, p->jct.mean_s);
        seconds_cell(out, p->jct.median_s);
        seconds_cell(out, p->jct.p95_s);
        seconds_cell(out, p->queue.mean_s);
        fprintf(out, "  %10" PRIu64, p->preemptions);
        if (isnan(p->slowdown_mean)) {
            fprintf(out, "  %8s\n", "-");
        } else {
            fprintf(out, "  %8.2f\n", p->slowdown_mean);
        }
    }
}

static void number_line(FILE *out, const char *name, double value)
{
    if (isnan(value)) {
        fprintf(out, "%-22s  not recorded\n", name);
    } else {
        fprintf(out, "%-22s  %.4g\n", name, value);
    }
}

static void guesses(FILE *out, const dls_summary *s)
{
    if (s->unprofiled_jobs + s->other_batch_jobs > 0) {
        fprintf(out,
                "%-22s  %" PRIu64 " jobs by model, run as their gang; %" PRIu64
                " by batch, as the nearest\n",
                "not in perf.elastic", s->unprofiled_jobs, s->other_batch_jobs);
    }
    if (s->policy_fallbacks > 0) {
        fprintf(out, "%-22s  %" PRIu64 " times\n", "scheduler's fallback", s->policy_fallbacks);
    }
}

static void energy_line(FILE *out, const dls_summary *s)
{
    if (s->has_energy) {
        const dls_energy_summary *e = &s->energy;
        fprintf(
            out,
            "%-22s  %.4g kWh (jobs %.4g, idle GPUs %.4g, nodes beside %.4g), %.4g kW in the mean; "
            "cost %.4g, carbon %.4g kg\n",
            "energy", e->energy_kwh, e->jobs_kwh, e->idle_kwh, e->nodes_kwh, e->power_mean_kw,
            e->cost, e->carbon_kg);
    }
}

static void services_line(FILE *out, const dls_summary *s)
{
    if (s->has_services) {
        const dls_service_summary *v = &s->services;
        fprintf(out,
                "%-22s  %" PRIu64
                ", within their bound %.4g %% of the time (the worst %.4g %%); of "
                "%.4g GPU-hours they had %.4g, jobs %.4g; %" PRIu64
                " jobs preempted for them, %" PRIu64 " shrunk\n",
                "services", v->services, 100 * v->services_kept, 100 * v->services_least_kept,
                v->services_own_gpu_s / 3600, v->services_used_gpu_s / 3600,
                v->services_lent_gpu_s / 3600, v->services_preemptions, v->services_shrinks);
    }
}

void dls_summary_print(FILE *out, const dls_summary *s, bool parts)
{
    const dls_summary_part *all = &s->part[0];
    char text[2][DLS_SECONDS_TEXT];
    fprintf(out,
            "%-22s  %" PRIu64 ": %" PRIu64 " completed, %" PRIu64 " infeasible, %" PRIu64
            " unfinished%s\n",
            "jobs", all->jobs, all->completed, all->infeasible, all->unfinished,
            s->complete ? "" : " (the run was stopped early)");
    if (all->declined > 0) {
        fprintf(out, "%-22s  %" PRIu64 "\n", "jobs declined", all->declined);
    }
    if (all->deadlines > 0) {
        fprintf(out, "%-22s  %" PRIu64 " of %" PRIu64 " (%.1f %%)\n", "deadlines met",
                all->deadlines_met, all->deadlines,
                100 * (double)all->deadlines_met / (double)all->deadlines);
    }
    if (s->warmup_s > 0 || s->cooldown_s > 0) {
        fprintf(out, "%-22s  %" PRIu64 " completed jobs, without the first %s and the last %s\n",
                "statistics over", all->jct.n, dls_format_seconds(text[0], s->warmup_s),
                dls_format_seconds(text[1], s->cooldown_s));
    }
    fprintf(out, "%-22s  %10s  %10s  %10s  %10s  %10s\n", "", "mean", "median", "p95", "p99",
            "max");
    stats_row(out, "job completion time", &all->jct);
    stats_row(out, "queueing delay", &all->queue);
    stats_row(out, "delay to first start", &all->first_start);
    fprintf(out, "%-22s  %s\n", "makespan", dls_format_seconds(text[0], s->makespan_s));
    fprintf(out, "%-22s  %.1f %% of %" PRId64 " GPUs (%.1f %% without restoring)\n",
            "GPU utilisation", 100 * s->utilisation, s->total_gpus, 100 * s->useful_utilisation);
    fprintf(out, "%-22s  %" PRIu64 " (%" PRIu64 " starts and resumes, %" PRIu64 " promotions)\n",
            "preemptions", all->preemptions, all->resumes, all->promotions);
    number_line(out, "slowdown, mean", all->slowdown_mean);
    number_line(out, "waiting jobs, mean", s->waiting_mean);
    fprintf(out, "%-22s  %" PRId64 "\n", "waiting jobs, peak", s->waiting_peak);
    fprintf(out, "%-22s  %" PRIu64 " (%" PRIu64 " passes, %.3g positions visited per event)\n",
            "events", s->events, s->passes, s->positions_per_event);
    if (s->wall_s > 0) {
        fprintf(out, "%-22s  %s (%.3g events/s)\n", "wall time",
                dls_format_seconds(text[0], s->wall_s), s->events_per_s);
    }
    guesses(out, s);
    if (s->has_world) {
        dls_world_print(out, &s->world);
    }
    energy_line(out, s);
    services_line(out, s);
    fprintf(out, "%-22s  %016" PRIx64 "\n", "digest", s->digest);
    if (parts) {
        parts_table(out, s, DLS_PART_GPUS, "GPUs");
        parts_table(out, s, DLS_PART_CLASS, "class");
        parts_table(out, s, DLS_PART_OUTCOME, "outcome");
    }
}
