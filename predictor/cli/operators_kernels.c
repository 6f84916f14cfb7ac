/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Fits, writes and judges the constants of measured kernels, and of convolutions of groups; tables
 * are Markdown.
 */
#include "predictor/cli/operators.h"

#include "base/alloc.h"
#include "base/own.h"
#include "predictor/measured/errors.h"
#include "predictor/measured/groupconv_fit.h"

#include <math.h>
#include <stdio.h>

/* Families as the table shows them: aligned and ragged products together. */
static int shown_family(dls_sized_family f)
{
    return dls_sized_has_rates(f) ? f & ~1 : f;
}

/* What is judged, by which constants. */
typedef struct judging {
    const dls_kernel_rows *rows;
    const dls_hardware *hw;
    const dls_sized_table *table;
    dls_judged *row;     /* [rows] owned by the caller */
    dls_numeric numeric; /* of the rows that are judged */
} judging;

/* Prints a line about the judging rows of one family and GPU (-1: all), nothing if there are none.
 */
static dls_status print_line(const judging *j, int family, int32_t gpu, dls_error *err)
{
    dls_errors e;
    size_t n = 0;
    for (size_t i = 0; i < j->rows->n; i++) {
        const dls_kernel_row *row = &j->rows->row[i];
        if (row->judge && row->numeric == j->numeric && shown_family(row->k.family) == family &&
            (gpu < 0 || row->gpu == gpu)) {
            const double s = dls_sized_row_s(row, j->hw, j->table);
            j->row[n] = (dls_judged){.measured = row->seconds,
                                     .predicted = s > 0 ? s : (double)NAN,
                                     .batch = 1,
                                     .peers = (int32_t)n}; /* shapes are many: no pairs */
            n++;
        }
    }
    if (n == 0) {
        return DLS_OK;
    }
    DLS_TRY(dls_errors_of(j->row, n, &e, err));
    const bool fp32 = j->numeric == DLS_NUMERIC_FP32;
    printf("| %s%s%s | %s | %zu |", dls_sized_family_name((dls_sized_family)family),
           fp32 ? "" : ", ", fp32 ? "" : dls_numeric_name((int)j->numeric),
           gpu < 0 ? "all" : j->hw->gpu[gpu].name, e.answered);
    if (e.answered > 0) {
        printf(" %.1f | %.1f | %.1f | %.2f |", 100 * e.median, 100 * e.mean, 100 * e.p90, e.bias);
    } else {
        fputs(" - | - | - | - |", stdout);
    }
    printf(" %zu |\n", e.rows - e.answered);
    return DLS_OK;
}

static void print_head(void)
{
    puts("| kernels | GPU | rows | median % | mean % | p90 % | bias | unanswered |\n"
         "|---|---|---|---|---|---|---|---|");
}

static dls_status print_all(const judging *all, dls_error *err)
{
    judging j = *all;
    print_head();
    for (int k = 0; k < DLS_SIZED_NUMERICS * DLS_SIZED_FAMILIES; k++) {
        const int f = k % DLS_SIZED_FAMILIES;
        const int32_t n = shown_family((dls_sized_family)f) == f ? (int32_t)j.hw->n_gpus : -1;
        j.numeric = (dls_numeric)(k / DLS_SIZED_FAMILIES);
        for (int32_t g = 0; g <= n; g++) { /* all of them last */
            DLS_TRY(print_line(&j, f, g < n ? g : -1, err));
        }
    }
    return DLS_OK;
}

/* Each GPU of the rows by the constants of the others. */
static dls_status print_left_out(const judging *all, dls_error *err)
{
    puts("\nGPUs that fitted nothing:\n");
    print_head();
    for (size_t g = 0; g < all->hw->n_gpus; g++) {
        bool measured = false;
        for (size_t i = 0; i < all->rows->n; i++) {
            measured = measured || (size_t)all->rows->row[i].gpu == g;
        }
        if (measured) {
            DLS_OWN(dls_sized_table_fini) dls_sized_table table = {0};
            judging j = *all;
            j.table = &table;
            DLS_TRY(dls_sized_fit(j.rows, j.hw, &j.hw->gpu[g], &table, err));
            for (int f = 0; f < DLS_SIZED_FAMILIES; f++) {
                DLS_TRY(print_line(&j, f, (int32_t)g, err));
            }
        }
    }
    return DLS_OK;
}

static dls_status run(const dls_operators *o, bool fit, const dls_kernel_rows *rows,
                      dls_sized_table *table, dls_error *err)
{
    const dls_hardware *hw = &o->hw;
    char path[4200];
    DLS_FREED dls_judged *judged = NULL;
    snprintf(path, sizeof path, "%s/kernels.cfg", o->folder);
    if (fit && o->constants) { /* what they lack is fitted */
        DLS_TRY(dls_sized_table_load(o->constants, table, err));
    }
    DLS_TRY(fit ? dls_sized_fit(rows, hw, NULL, table, err)
                : dls_sized_table_load(o->constants ? o->constants : path, table, err));
    if (fit && o->output) {
        DLS_TRY(dls_sized_table_save(table, o->output, err));
    }
    DLS_TRY(dls_alloc_array(&judged, rows->n + 1, sizeof *judged, "errors", err));
    const judging j = {rows, hw, table, judged, DLS_NUMERIC_FP32};
    DLS_TRY(print_all(&j, err));
    return fit && o->left_out ? print_left_out(&j, err) : DLS_OK;
}

dls_status dls_operators_kernels(const dls_operators *o, bool fit, dls_error *err)
{
    DLS_OWN(dls_kernel_rows_fini) dls_kernel_rows rows = {0};
    DLS_OWN(dls_sized_table_fini) dls_sized_table table = {0};
    for (size_t i = 0; i < o->n_files; i++) {
        DLS_TRY(dls_kernel_rows_read(&rows, o->file[i], &o->hw, err));
    }
    return run(o, fit, &rows, &table, err);
}

dls_status dls_operators_grouped(const dls_operators *o, dls_error *err)
{
    const dls_measured_defaults none = {0};
    DLS_OWN(dls_measured_steps_fini) dls_measured_steps steps = {0};
    DLS_OWN(dls_sized_table_fini) dls_sized_table table = {0};
    dls_opmodel model;
    DLS_TRY(dls_opmodel_of(o->folder, &table, &model, err));
    for (size_t i = 0; i < o->n_files; i++) {
        DLS_TRY(dls_measured_steps_read(&steps, o->file[i], &o->hw, &none, err));
    }
    DLS_TRY(dls_groupconv_fit(&steps, &o->hw, &model, err));
    return dls_groupconv_save(&model.groupconv, o->output, err);
}
