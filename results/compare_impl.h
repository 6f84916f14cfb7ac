/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Inside the comparison: the figures that runs are compared by.
 */
#ifndef DLS_RESULTS_COMPARE_IMPL_H
#define DLS_RESULTS_COMPARE_IMPL_H

#include "results/compare.h"

#include <stddef.h>

typedef struct dls_figure {
    const char *name;  /* in JSON */
    const char *title; /* above the column */
    size_t offset;     /* of a double in `of`, of a uint64_t if a count is shown */
    enum { DLS_FIGURE_OF_PART, DLS_FIGURE_OF_RUN, DLS_FIGURE_OF_WORLD } of;
    enum { DLS_SHOWN_SECONDS, DLS_SHOWN_PERCENT, DLS_SHOWN_COUNT, DLS_SHOWN_FACTOR } shown;
} dls_figure;

/* The first ones are figures of parts, too; the last ones only of runs in which placement matters.
 */
enum { DLS_FIGURES = 12, DLS_PLAIN_FIGURES = 8, DLS_PART_FIGURES = 5 };
extern const dls_figure dls_figures[DLS_FIGURES];

double dls_figure_value(const dls_figure *f, const dls_summary *s, int part);
/* value / first; NaN where that says nothing. */
double dls_figure_ratio(double value, double first);
/* Twelve columns each; the heads with the end of their line. in_part: marked, a mean that some have no part in. */
void dls_figure_cell(FILE *out, const dls_figure *f, double value, bool in_part);
void dls_figure_ratio_cell(FILE *out, double ratio, bool in_part);
void dls_figure_heads(FILE *out, int n);

#endif
