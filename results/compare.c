/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Prints runs side by side as a table, or as JSON: every figure, and its ratio to the first run.
 */
#include "results/compare.h"

#include "base/alloc.h"
#include "base/printable.h"
#include "results/compare_impl.h"
#include "results/json_out.h"

#include <inttypes.h>
#include <string.h>

/* Two lines per run but the first: values, and below them the ratios to the first run. */
static void print_rows(FILE *out, const dls_compare_run *runs, size_t n, int part, int n_figures,
                       int width)
{
    for (size_t i = 0; i < n; i++) {
        const dls_summary_part *p = &runs[i].summary->part[part];
        dls_printable_cell(out, runs[i].label, width);
        fprintf(out, "  %9" PRIu64, p->completed);
        for (int k = 0; k < n_figures; k++) {
            dls_figure_cell(out, &dls_figures[k],
                            dls_figure_value(&dls_figures[k], runs[i].summary, part), false);
        }
        fputc('\n', out);
        if (i == 0) {
            continue;
        }
        fprintf(out, "%-*s  %9s", width, "", "");
        for (int k = 0; k < n_figures; k++) {
            const double r =
                dls_figure_ratio(dls_figure_value(&dls_figures[k], runs[i].summary, part),
                                 dls_figure_value(&dls_figures[k], runs[0].summary, part));
            dls_figure_ratio_cell(out, r, false);
        }
        fputc('\n', out);
    }
}

static void print_head(FILE *out, const char *title, int n_figures, int width)
{
    fprintf(out, "%-*s  %9s", width, title, "completed");
    dls_figure_heads(out, n_figures);
}

void dls_compare_print(FILE *out, const dls_compare_run *runs, size_t n)
{
    if (n == 0) {
        return;
    }
    int shown = DLS_PLAIN_FIGURES, width = 10;
    for (size_t i = 0; i < n; i++) {
        width = dls_printable_width(runs[i].label, width);
        shown = runs[i].summary->has_world ? DLS_FIGURES : shown;
    }
    print_head(out, "run", shown, width);
    print_rows(out, runs, n, 0, shown, width);
    for (int part = 1; part < DLS_SUMMARY_PARTS; part++) {
        const dls_summary_part *p = &runs[0].summary->part[part];
        uint64_t jobs = 0;
        for (size_t i = 0; i < n; i++) {
            jobs += runs[i].summary->part[part].jobs;
        }
        if (p->kind == DLS_PART_GPUS && jobs > 0) {
            char title[48];
            snprintf(title, sizeof title, "%s GPU%s", p->name,
                     strcmp(p->name, "1") == 0 ? "" : "s");
            fputc('\n', out);
            print_head(out, title, DLS_PART_FIGURES, width);
            print_rows(out, runs, n, part, DLS_PART_FIGURES, width);
        }
    }
}

dls_status dls_compare_json(FILE *out, const dls_compare_run *runs, size_t n, dls_error *err)
{
    json_object *top = json_object_new_object(), *list = dls_json_list(top, "runs");
    for (size_t i = 0; i < n; i++) {
        const char *sha = runs[i].trace_sha256;
        json_object *run = dls_json_next(list);
        DLS_JSON(run, "label", runs[i].label, "trace_sha256", sha ? sha : "");
        json_object *ratios = dls_json_object(run, "ratio");
        for (int k = 0; k < DLS_FIGURES; k++) {
            const double r =
                dls_figure_ratio(dls_figure_value(&dls_figures[k], runs[i].summary, 0),
                                 dls_figure_value(&dls_figures[k], runs[0].summary, 0));
            dls_json_real(ratios, dls_figures[k].name, r);
        }
        dls_json_summary(dls_json_object(run, "summary"), runs[i].summary);
    }
    return dls_json_print(out, top, err);
}
