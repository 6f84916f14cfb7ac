/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Fits, writes and judges the constants of measured kernels, and fits those of convolutions of
 * groups and of hosts; tables are Markdown.
 */
#include "predictor/cli/operators.h"

#include "base/own.h"
#include "predictor/measured/groupconv_fit.h"
#include "predictor/measured/host_fit.h"
#include "predictor/measured/sized_fit.h"

#include <stdio.h>

/* What is judged, by which constants. */
typedef struct judging {
    const dls_measured_kernels *rows;
    const dls_hardware *hw;
    const dls_sized_table *table;
} judging;

/* About the judging rows of one family, GPU (NULL: all) and precision. */
static dls_status errors_of(const judging *j, int family, const dls_hw_gpu *gpu, dls_numeric units,
                            dls_errors *e, dls_error *err)
{
    const dls_kernel_choice c = {
        .family = (dls_sized_family)family, .set = -1, .gpu = gpu, .apart = true, .units = units};
    return dls_measured_kernels_judge(j->rows, &c, dls_measured_sized_s, j->table, e, err);
}

/* Nothing if there are no rows. */
static void print_line(const dls_errors *e, int family, const char *gpu, dls_numeric units)
{
    const bool fp32 = units == DLS_NUMERIC_FP32;
    if (e->rows == 0) {
        return;
    }
    printf("| %s%s%s | %s | %zu |", dls_sized_family_name(family), fp32 ? "" : ", ",
           fp32 ? "" : dls_numeric_name((int)units), gpu, e->answered);
    if (e->answered > 0) {
        printf(" %.1f | %.1f | %.1f | %.2f |", 100 * e->median, 100 * e->mean, 100 * e->p90,
               e->bias);
    } else {
        fputs(" - | - | - | - |", stdout);
    }
    printf(" %zu |\n", e->rows - e->answered);
}

static void print_head(void)
{
    puts("| kernels | GPU | rows | median % | mean % | p90 % | bias | unanswered |\n"
         "|---|---|---|---|---|---|---|---|");
}

static dls_status print_all(const judging *j, dls_error *err)
{
    print_head();
    for (int k = 0; k < DLS_SIZED_NUMERICS * DLS_SIZED_FAMILIES; k++) {
        const dls_numeric units = (dls_numeric)(k / DLS_SIZED_FAMILIES);
        const int family = k % DLS_SIZED_FAMILIES;
        dls_errors all, one;
        DLS_TRY(errors_of(j, family, NULL, units, &all, err));
        for (size_t g = 0; all.rows > 0 && g < j->hw->n_gpus; g++) {
            DLS_TRY(errors_of(j, family, &j->hw->gpu[g], units, &one, err));
            print_line(&one, family, j->hw->gpu[g].name, units);
        }
        print_line(&all, family, "all", units);
    }
    return DLS_OK;
}

/* Each GPU of the rows by the constants of the others. */
static dls_status print_left_out(const judging *all, dls_error *err)
{
    puts("\nGPUs that fitted nothing:\n");
    print_head();
    for (size_t g = 0; g < all->hw->n_gpus; g++) {
        const dls_hw_gpu *gpu = &all->hw->gpu[g];
        bool measured = false;
        for (size_t i = 0; i < all->rows->n; i++) {
            measured = measured || all->rows->row[i].gpu == gpu;
        }
        if (measured) {
            DLS_OWN(dls_sized_table_fini) dls_sized_table table = {0};
            const judging j = {all->rows, all->hw, &table};
            DLS_TRY(dls_sized_fit(j.rows, j.hw, gpu, &table, err));
            for (int f = 0; f < DLS_SIZED_FAMILIES; f++) {
                dls_errors e;
                DLS_TRY(errors_of(&j, f, gpu, DLS_NUMERIC_FP32, &e, err));
                print_line(&e, f, gpu->name, DLS_NUMERIC_FP32);
            }
        }
    }
    return DLS_OK;
}

static dls_status run(const dls_operators *o, bool fit, const dls_measured_kernels *rows,
                      dls_sized_table *table, dls_error *err)
{
    const dls_hardware *hw = &o->hw;
    char path[4200];
    snprintf(path, sizeof path, "%s/kernels.cfg", o->folder);
    if (fit && o->constants) { /* what they lack is fitted */
        DLS_TRY(dls_sized_table_load(o->constants, table, err));
    }
    DLS_TRY(fit ? dls_sized_fit(rows, hw, NULL, table, err)
                : dls_sized_table_load(o->constants ? o->constants : path, table, err));
    if (fit && o->output) {
        DLS_TRY(dls_sized_table_save(table, o->output, err));
    }
    const judging j = {rows, hw, table};
    DLS_TRY(print_all(&j, err));
    return fit && o->left_out ? print_left_out(&j, err) : DLS_OK;
}

dls_status dls_operators_kernels(const dls_operators *o, bool fit, dls_error *err)
{
    DLS_OWN(dls_measured_kernels_fini) dls_measured_kernels rows = {0};
    DLS_OWN(dls_sized_table_fini) dls_sized_table table = {0};
    for (size_t i = 0; i < o->n_files; i++) {
        DLS_TRY(dls_measured_kernels_read(&rows, o->file[i], &o->hw, NULL, err));
    }
    if (rows.bad.n > 0) {
        return dls_fail(err, DLS_EINPUT, NULL, "%s", rows.bad.at[0].text);
    }
    return run(o, fit, &rows, &table, err);
}

dls_status dls_operators_grouped(const dls_operators *o, dls_error *err)
{
    const dls_measured_defaults none = {0};
    DLS_OWN(dls_measured_steps_fini) dls_measured_steps steps = {0};
    DLS_OWN(dls_measured_kernels_fini) dls_measured_kernels rows = {0};
    DLS_OWN(dls_sized_table_fini) dls_sized_table table = {0};
    dls_opmodel model;
    DLS_TRY(dls_opmodel_of(o->folder, &table, &model, err));
    for (size_t i = 0; i < o->n_files; i++) {
        bool kernels = false;
        DLS_TRY(dls_measured_is_kernels(o->file[i], &kernels, err));
        DLS_TRY(kernels ? dls_measured_kernels_read(&rows, o->file[i], &o->hw, NULL, err)
                        : dls_measured_steps_read(&steps, o->file[i], &o->hw, &none, err));
    }
    DLS_TRY(dls_groupconv_fit(&steps, &rows, &o->hw, &model, err));
    return dls_groupconv_save(&model.groupconv, o->output, err);
}

dls_status dls_operators_host(const dls_operators *o, dls_error *err)
{
    dls_opmodel model;
    DLS_OWN(dls_sized_table_fini) dls_sized_table table = {0};
    DLS_OWN(dls_host_fit_fini) dls_host_fit fit = {.model = &model, .hw = &o->hw};
    DLS_TRY(dls_opmodel_of(o->folder, &table, &model, err));
    for (size_t i = 0; i < o->n_files; i++) {
        DLS_TRY(dls_host_fit_read(&fit, o->file[i], o->host, err));
    }
    const dls_host *known = dls_opmodel_host(&model, o->host);
    if (!known && model.n_hosts == DLS_OPMODEL_ROWS) {
        return dls_fail(err, DLS_EINPUT, "hosts", "more than %d", DLS_OPMODEL_ROWS);
    }
    dls_host *host = &model.host[known ? (size_t)(known - model.host) : model.n_hosts++];
    if (!known) {
        *host = (dls_host){.slowdown = 1};
        snprintf(host->name, sizeof host->name, "%s", o->host);
    }
    DLS_TRY(dls_host_fit_run(&fit, host, err));
    return dls_opmodel_save(&model, o->output, err);
}
