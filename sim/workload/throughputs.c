/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reads folders of throughputs (throughputs.h).
 */
#include "workload/throughputs.h"

#include "base/csv.h"
#include "base/file.h"
#include "base/units.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

static dls_status count_in(const dls_csv *csv, int col, int64_t *out, dls_error *err)
{
    return dls_csv_i64(csv, col, "a whole number from 1 on", 0, 1, 1 << 24, out, err);
}

static dls_status read_rows(dls_csv *csv, dls_throughput row, dls_throughput_fn each, void *user,
                            dls_error *err)
{
    int64_t gpus[DLS_CSV_MAX_COLS] = {0};
    bool more;
    /* The header's counts are read as a row. */
    DLS_TRY(dls_csv_next(csv, &more, err));
    if (!more || csv->n_cells < 2 || !dls_csv_is(csv, 0, "global_batch_size")) {
        return dls_csv_fail(csv, -1, err,
                            "expected the columns global_batch_size and numbers of GPUs");
    }
    for (size_t c = 1; c < csv->n_cells; c++) {
        DLS_TRY(count_in(csv, (int)c, &gpus[c], err));
    }
    const size_t columns = csv->n_cells;
    for (;;) {
        DLS_TRY(dls_csv_next(csv, &more, err));
        if (!more) {
            return DLS_OK;
        }
        if (csv->n_cells != columns) {
            return dls_csv_fail(csv, -1, err,
                                "expected a batch size and a throughput for each number of GPUs");
        }
        DLS_TRY(count_in(csv, 0, &row.batch, err));
        for (size_t c = 1; c < columns; c++) {
            row.per_s = 0; /* empty, nan: not measured */
            row.gpus = (int32_t)gpus[c];
            if (dls_units_f64(dls_csv_text(csv, (int)c), &row.per_s) && row.per_s > 0 &&
                row.batch >= row.gpus) {
                DLS_TRY(each(user, &row, err));
            }
        }
    }
}

static dls_status read_file(const char *path, const char *gpu, const char *model,
                            dls_throughput_fn each, void *user, dls_error *err)
{
    dls_csv csv;
    DLS_TRY(dls_csv_open(&csv, path, err));
    const dls_throughput row = {.gpu = gpu, .model = model};
    const dls_status status = read_rows(&csv, row, each, user, err);
    dls_csv_fini(&csv);
    return status;
}

static dls_status read_folder(const char *path, const char *gpu, dls_throughput_fn each, void *user,
                              bool *found, dls_error *err)
{
    struct dirent **name;
    int n;
    DLS_TRY(dls_file_names(path, &name, &n, err));
    dls_status status = DLS_OK;
    for (int i = 0; i < n && status == DLS_OK; i++) {
        char file[4800], model[256];
        snprintf(file, sizeof file, "%s/%s", path, name[i]->d_name);
        snprintf(model, sizeof model, "%s", name[i]->d_name);
        char *dot = strrchr(model, '.');
        if (dot && strcmp(dot, ".csv") == 0) {
            *dot = '\0';
            status = read_file(file, gpu, model, each, user, err);
            *found = true;
        }
    }
    dls_file_free_names(name, n);
    return status;
}

dls_status dls_throughputs_read(const char *path, dls_throughput_fn each, void *user, bool *found,
                                dls_error *err)
{
    static const char mark[] = "throughputs_";
    struct dirent **name;
    int n;
    DLS_TRY(dls_file_names(path, &name, &n, err));
    dls_status status = DLS_OK;
    for (int i = 0; i < n && status == DLS_OK; i++) {
        char folder[4400];
        if (strncmp(name[i]->d_name, mark, strlen(mark)) == 0) {
            snprintf(folder, sizeof folder, "%s/%s", path, name[i]->d_name);
            status = read_folder(folder, name[i]->d_name + strlen(mark), each, user, found, err);
        }
    }
    dls_file_free_names(name, n);
    return status;
}
