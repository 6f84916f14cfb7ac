/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The figures that comparisons show, as one table: name, title, where the value lies in a summary,
 * and how it is printed.
 */
#include "results/compare_impl.h"

#include <math.h>
#include <string.h>

#define PART(member) offsetof(dls_summary_part, member), DLS_FIGURE_OF_PART
#define RUN(member) offsetof(dls_summary, member), DLS_FIGURE_OF_RUN
#define WORLD(member) offsetof(dls_summary, world.member), DLS_FIGURE_OF_WORLD
const dls_figure dls_figures[DLS_FIGURES] = {
    {"jct_mean", "JCT mean", PART(jct.mean_s), DLS_SHOWN_SECONDS},
    {"jct_median", "JCT median", PART(jct.median_s), DLS_SHOWN_SECONDS},
    {"jct_p95", "JCT p95", PART(jct.p95_s), DLS_SHOWN_SECONDS},
    {"jct_p99", "JCT p99", PART(jct.p99_s), DLS_SHOWN_SECONDS},
    {"queue_mean", "queueing", PART(queue.mean_s), DLS_SHOWN_SECONDS},
    {"makespan", "makespan", RUN(makespan_s), DLS_SHOWN_SECONDS},
    {"utilisation", "GPU use", RUN(utilisation), DLS_SHOWN_PERCENT},
    {"preemptions", "preempts", PART(preemptions), DLS_SHOWN_COUNT},
    {"best_slowdown", "/ best", WORLD(best_slowdown_mean), DLS_SHOWN_FACTOR},
    {"placement_slowdown", "run / best", WORLD(placement_slowdown_mean), DLS_SHOWN_FACTOR},
    {"network_use", "net use", WORLD(nic_mean), DLS_SHOWN_PERCENT},
    {"prediction_error", "pred error", WORLD(prediction_error), DLS_SHOWN_PERCENT},
};
#undef PART
#undef RUN
#undef WORLD

double dls_figure_value(const dls_figure *f, const dls_summary *s, int part)
{
    const bool of_part = f->of == DLS_FIGURE_OF_PART;
    const char *at = (of_part ? (const char *)&s->part[part] : (const char *)s) + f->offset;
    if (f->of == DLS_FIGURE_OF_WORLD && !s->has_world) {
        return (double)NAN;
    }
    if (f->shown == DLS_SHOWN_COUNT) {
        uint64_t count;
        memcpy(&count, at, sizeof count);
        return (double)count;
    }
    double value;
    memcpy(&value, at, sizeof value);
    return value;
}

double dls_figure_ratio(double value, double first)
{
    return first > 0 || first < 0 ? value / first : (double)NAN;
}

void dls_figure_cell(FILE *out, const dls_figure *f, double value, bool in_part)
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
        snprintf(text, sizeof text, value < 100 ? "%.3g" : "%.0f", value); /* a mean may be no whole one */
    }
    fprintf(out, "%s%10s", in_part ? " *" : "  ", text);
}

void dls_figure_ratio_cell(FILE *out, double ratio, bool in_part)
{
    if (isnan(ratio)) {
        fprintf(out, "  %10s", "-");
    } else {
        fprintf(out, "%s%9.3fx", in_part ? " *" : "  ", ratio);
    }
}

void dls_figure_heads(FILE *out, int n)
{
    for (int k = 0; k < n; k++) {
        fprintf(out, "  %10s", dls_figures[k].title);
    }
    fputc('\n', out);
}
