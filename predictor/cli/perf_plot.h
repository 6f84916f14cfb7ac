/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Series as pictures: one line of text, or an SVG file with a panel for each.
 */
#ifndef DLS_CLI_PERF_PLOT_H
#define DLS_CLI_PERF_PLOT_H

#include "dlsim/error.h"

#include <stddef.h>
#include <stdio.h>

typedef struct dls_plot_series {
    const char *name, *unit;
    const double *x;
    size_t n;
    double interval_s;
    double threshold; /* drawn as a line; negative: none */
} dls_plot_series;

/* The greatest value of each of `width` parts in eight steps between 0 and the greatest of all. */
void dls_plot_line(FILE *to, const dls_plot_series *s, size_t width);
/* EOUTPUT; the file appears when it is whole. */
dls_status dls_plot_svg(const char *path, const char *title, const dls_plot_series *series,
                        size_t n, dls_error *err) DLS_MUST_CHECK;

#endif
