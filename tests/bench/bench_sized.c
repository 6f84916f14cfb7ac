/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The operator model: microseconds for a step of a network by families and by sizes, nanoseconds
 * for a kernel of each family, seconds of a fit to 2,000 kernels. Prints JSON; --smoke: fewer
 * turns.
 */
#include "predictor/measured/sized_fit.h"
#include "support/bench.h"
#include "workload/operator/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double step_us(const dls_opmodel *model, const dls_hw_gpu *gpu, const char *name, int turns)
{
    dls_error err;
    dls_workload w;
    double sum = 0;
    must(dls_workload_build(name, &w, &err), &err);
    const dls_rates rates = dls_opmodel_rates(model, gpu, DLS_NUMERIC_FP32);
    const double begin = wall_s();
    for (int i = 0; i < turns; i++) {
        sum += dls_step_time(&w, &rates, 1 + i % 64).gpu_s;
    }
    const double took_s = wall_s() - begin;
    dls_workload_fini(&w);
    return sum > 0 ? 1e6 * took_s / turns : 0;
}

static double fit_s(const dls_hardware *hw, const dls_hw_gpu *gpu, const dls_sized_table *table,
                    size_t n)
{
    dls_error err;
    dls_measured_kernels rows = {.row = calloc(n, sizeof *rows.row), .n = n};
    dls_sized_table fitted = {0};
    const dls_sized_row *made =
        dls_sized_table_for(table, gpu, DLS_SIZED_LINEAR, DLS_NUMERIC_FP32).row;
    const dls_sized_gpu how = dls_sized_gpu_of(gpu, DLS_NUMERIC_FP32);
    if (!rows.row) {
        exit(1);
    }
    for (size_t i = 0; i < n; i++) {
        dls_measured_kernel *row = &rows.row[i];
        row->work = (dls_sized_kernel){.family = DLS_SIZED_LINEAR,
                                       .b = 1,
                                       .m = 64 * (double)(1 + i % 61),
                                       .n = 64 * (double)(1 + i % 67),
                                       .k = 64 * (double)(1 + i % 71)};
        row->gpu = gpu;
        row->seconds = dls_sized_s(&row->work, made, &how);
        row->tile = made->tile[0][i % made->n_tiles[0]];
    }
    const double begin = wall_s();
    must(dls_sized_fit(&rows, hw, NULL, &fitted, &err), &err);
    const double took_s = wall_s() - begin;
    dls_sized_table_fini(&fitted);
    free(rows.row);
    return took_s;
}

int main(int argc, char **argv)
{
    static dls_opmodel families, sized;
    const bool smoke = argc > 1 && strcmp(argv[1], "--smoke") == 0;
    const int turns = smoke ? 20 : 2000;
    char buf[4096], path[4200];
    dls_error err;
    dls_hardware hw;
    dls_sized_table table;
    const dls_hw_gpu *gpu;
    const char *folder = dls_hardware_folder(NULL, buf, sizeof buf);
    snprintf(path, sizeof path, "%s/operator.cfg", folder);
    must(dls_hardware_load(folder, &hw, &err), &err);
    must(dls_opmodel_load(path, &families, &err), &err);
    must(dls_opmodel_of(folder, &table, &sized, &err), &err);
    must(dls_hardware_gpu(&hw, "V100", &gpu, &err), &err);
    static const char *const nets[] = {"resnet50", "inception4", "bert_large"};
    printf("{\n  \"steps\": [\n");
    for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
        printf("    {\"network\": \"%s\", \"families_us\": %.1f, \"sized_us\": %.1f}%s\n", nets[i],
               step_us(&families, gpu, nets[i], turns), step_us(&sized, gpu, nets[i], turns),
               i + 1 < sizeof nets / sizeof *nets ? "," : "");
    }
    printf("  ],\n  \"fit_s\": %.3f\n}\n", fit_s(&hw, gpu, &table, smoke ? 100 : 2000));
    dls_sized_table_fini(&table);
    dls_hardware_fini(&hw);
    return 0;
}
