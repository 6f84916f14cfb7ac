/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Fits, writes and judges the constants of measured kernels, and of convolutions of groups; tables
 * are Markdown.
 */
#include "predictor/cli/operators.h"

#include "base/alloc.h"
#include "base/own.h"
#include "predictor/measured/groupconv_fit.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>
#include <math.h>
#include <stdio.h>

/* Families as the table shows them: aligned and ragged products together. */
static int shown_family(dls_sized_family f)
{
    return dls_sized_has_rates(f) ? f & ~1 : f;
}

typedef struct tally {
    double *off; /* [rows] |predicted / measured - 1| */
    size_t n, unanswered;
    double log_bias;
} tally;

static void print_tally(const char *family, const char *gpu, tally *t)
{
    printf("| %s | %s | %zu |", family, gpu, t->n);
    if (t->n > 0) {
        gsl_sort(t->off, 1, t->n);
        printf(" %.1f | %.1f | %.1f | %.2f |",
               100 * gsl_stats_median_from_sorted_data(t->off, 1, t->n),
               100 * gsl_stats_mean(t->off, 1, t->n),
               100 * gsl_stats_quantile_from_sorted_data(t->off, 1, t->n, 0.9),
               exp(t->log_bias / (double)t->n));
    } else {
        fputs(" - | - | - | - |", stdout);
    }
    printf(" %zu |\n", t->unanswered);
}

/* Judging rows of one family and GPU (-1: all) into t. */
static void count(const dls_kernel_rows *rows, const dls_hardware *hw, const dls_sized_table *table,
                  int family, int32_t gpu, tally *t)
{
    for (size_t i = 0; i < rows->n; i++) {
        const dls_kernel_row *row = &rows->row[i];
        if (!row->judge || shown_family(row->k.family) != family || (gpu >= 0 && row->gpu != gpu)) {
            continue;
        }
        const double s = dls_sized_row_s(row, hw, table);
        if (s > 0) {
            t->off[t->n++] = fabs(s / row->seconds - 1);
            t->log_bias += log(s / row->seconds);
        } else {
            t->unanswered++;
        }
    }
}

static void print_head(void)
{
    puts("| kernels | GPU | rows | median % | mean % | p90 % | bias | unanswered |\n"
         "|---|---|---|---|---|---|---|---|");
}

static void print_all(const dls_kernel_rows *rows, const dls_hardware *hw,
                      const dls_sized_table *table, double *off)
{
    print_head();
    for (int f = 0; f < DLS_SIZED_FAMILIES; f++) {
        tally all = {.off = off};
        if (shown_family((dls_sized_family)f) != f) {
            continue;
        }
        for (size_t g = 0; g < hw->n_gpus; g++) {
            tally t = {.off = off};
            count(rows, hw, table, f, (int32_t)g, &t);
            if (t.n + t.unanswered > 0) {
                print_tally(dls_sized_family_name(f), hw->gpu[g].name, &t);
            }
        }
        count(rows, hw, table, f, -1, &all);
        if (all.n + all.unanswered > 0) {
            print_tally(dls_sized_family_name(f), "all", &all);
        }
    }
}

/* Each GPU of the rows by the constants of the others. */
static dls_status print_left_out(const dls_kernel_rows *rows, const dls_hardware *hw, double *off,
                                 dls_error *err)
{
    puts("\nGPUs that fitted nothing:\n");
    print_head();
    for (size_t g = 0; g < hw->n_gpus; g++) {
        bool measured = false;
        for (size_t i = 0; i < rows->n; i++) {
            measured = measured || (size_t)rows->row[i].gpu == g;
        }
        if (measured) {
            dls_sized_table table = {0};
            DLS_TRY(dls_sized_fit(rows, hw, &hw->gpu[g], &table, err));
            for (int f = 0; f < DLS_SIZED_FAMILIES; f++) {
                tally t = {.off = off};
                count(rows, hw, &table, f, (int32_t)g, &t);
                if (t.n + t.unanswered > 0) {
                    print_tally(dls_sized_family_name(f), hw->gpu[g].name, &t);
                }
            }
            dls_sized_table_fini(&table);
        }
    }
    return DLS_OK;
}

static dls_status run(const dls_operators *o, bool fit, const dls_kernel_rows *rows,
                      dls_sized_table *table, dls_error *err)
{
    const dls_hardware *hw = &o->hw;
    char path[4200];
    DLS_FREED double *off = NULL;
    snprintf(path, sizeof path, "%s/kernels.cfg", o->folder);
    DLS_TRY(fit ? dls_sized_fit(rows, hw, NULL, table, err)
                : dls_sized_table_load(o->constants ? o->constants : path, table, err));
    if (fit && o->output) {
        DLS_TRY(dls_sized_table_save(table, o->output, err));
    }
    DLS_TRY(dls_alloc_array(&off, rows->n + 1, sizeof *off, "errors", err));
    print_all(rows, hw, table, off);
    return fit && o->left_out ? print_left_out(rows, hw, off, err) : DLS_OK;
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
