/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The figures that comparisons show, as one table: name, title, where the value lies in a summary,
 * and how it is printed.
 */
#include "results/compare_impl.h"

#include <math.h>
#include <string.h>

static double makespan(const dls_summary *s)
{
    return s->makespan_s;
}

static double utilisation(const dls_summary *s)
{
    return s->utilisation;
}

static double preemptions(const dls_summary *s)
{
    return (double)s->part[0].preemptions;
}

static double best_slowdown(const dls_summary *s)
{
    return s->has_world ? s->world.best_slowdown_mean : (double)NAN;
}

static double placement_slowdown(const dls_summary *s)
{
    return s->has_world ? s->world.placement_slowdown_mean : (double)NAN;
}

static double nic(const dls_summary *s)
{
    return s->has_world ? s->world.nic_mean : (double)NAN;
}

static double prediction_error(const dls_summary *s)
{
    return s->has_world ? s->world.prediction_error : (double)NAN;
}

#define PART(member) offsetof(dls_summary_part, member)
const dls_figure dls_figures[DLS_FIGURES] = {
    {"jct_mean", "JCT mean", PART(jct.mean_s), NULL, DLS_SHOWN_SECONDS},
    {"jct_median", "JCT median", PART(jct.median_s), NULL, DLS_SHOWN_SECONDS},
    {"jct_p95", "JCT p95", PART(jct.p95_s), NULL, DLS_SHOWN_SECONDS},
    {"jct_p99", "JCT p99", PART(jct.p99_s), NULL, DLS_SHOWN_SECONDS},
    {"queue_mean", "queueing", PART(queue.mean_s), NULL, DLS_SHOWN_SECONDS},
    {"makespan", "makespan", 0, makespan, DLS_SHOWN_SECONDS},
    {"utilisation", "GPU use", 0, utilisation, DLS_SHOWN_PERCENT},
    {"preemptions", "preempts", 0, preemptions, DLS_SHOWN_COUNT},
    {"best_slowdown", "/ best", 0, best_slowdown, DLS_SHOWN_FACTOR},
    {"placement_slowdown", "run / best", 0, placement_slowdown, DLS_SHOWN_FACTOR},
    {"network_use", "net use", 0, nic, DLS_SHOWN_PERCENT},
    {"prediction_error", "pred error", 0, prediction_error, DLS_SHOWN_PERCENT},
};
#undef PART

double dls_figure_value(const dls_figure *f, const dls_summary *s, int part)
{
    if (f->whole) {
        return f->whole(s);
    }
    double value;
    memcpy(&value, (const char *)&s->part[part] + f->offset, sizeof value);
    return value;
}

double dls_figure_ratio(double value, double first)
{
    return first > 0 || first < 0 ? value / first : (double)NAN;
}

void dls_figure_cell(FILE *out, const dls_figure *f, double value)
{
    char text[DLS_SECONDS_TEXT];
    if (f->shown == DLS_SHOWN_SECONDS) {
        dls_format_seconds(text, value);
    } else if (isnan(value)) {
        snprintf(text, sizeof text, "-");
    } else if (f->shown == DLS_SHOWN_FACTOR) {
        snprintf(text, sizeof text, "%.3f", value);
    } else if (f->shown == DLS_SHOWN_PERCENT) {
        snprintf(text, sizeof text, "%.1f %%", 100 * value);
    } else {
        snprintf(text, sizeof text, "%.0f", value);
    }
    fprintf(out, "  %10s", text);
}
