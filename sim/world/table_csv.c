/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Throughputs in folders of CSV files.
 *
 * Pollux (OSDI 2021) and Sia, measured on T4s: <application>/placements.csv with the columns
 * placement (the digits are GPUs on each node), local_bsz, step_time (s), sync_time;
 * scalability.csv with num_nodes, num_replicas, local_bsz, step_time, sync_time.
 *
 * ElasticFlow (ASPLOS 2023): throughputs_<GPU>/<model>.csv with the columns global_batch_size and a
 * number of GPUs each; iterations per second, 0 or nan where nothing was measured.
 */
#include "world/table.h"

#include "base/alloc.h"
#include "base/csv.h"
#include "base/file.h"
#include "base/units.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define POLLUX_GPU "T4"

/* Rows of one file into the table; of that GPU and model. */
typedef dls_status (*read_fn)(dls_csv *csv, const char *gpu, const char *model, dls_table *out,
                              dls_error *err);

static dls_status read_csv(const char *path, read_fn read, const char *gpu, const char *model,
                           dls_table *out, dls_error *err)
{
    char *text;
    size_t len;
    dls_csv csv;
    DLS_TRY(dls_file_read_text(path, DLS_FILE_TABLE, &text, &len, err));
    dls_csv_init(&csv, path, text, len, ',');
    const dls_status status = read(&csv, gpu, model, out, err);
    dls_csv_fini(&csv);
    dls_free(text);
    return status;
}

static dls_status count_in(const dls_csv *csv, int col, int32_t *out, dls_error *err)
{
    int64_t value;
    DLS_TRY(dls_csv_i64(csv, col, "a whole number from 1 on", 0, 1, 1 << 24, &value, err));
    *out = (int32_t)value;
    return DLS_OK;
}

/* ---- Pollux
 * -------------------------------------------------------------------------------------- */

/* "112": three nodes, four GPUs. */
static dls_status placement_in(dls_csv *csv, int col, dls_table_row *row, dls_error *err)
{
    const char *cell = dls_csv_text(csv, col);
    row->gpus = row->nodes = 0;
    for (; *cell >= '1' && *cell <= '9'; cell++) {
        row->gpus += *cell - '0';
        row->nodes++;
    }
    return *cell == '\0' && row->nodes > 0
               ? DLS_OK
               : dls_csv_fail(csv, col, err, "expected the GPUs on each node, such as 112");
}

/* placements.csv, or scalability.csv with counts of nodes and GPUs. */
static dls_status pollux_rows(dls_csv *csv, const char *gpu, const char *model, dls_table *out,
                              dls_error *err)
{
    int placement, nodes, gpus, batch, time;
    DLS_TRY(dls_csv_header(csv, err));
    const bool placements = dls_csv_find(csv, "placement") >= 0;
    const dls_csv_bind binds[] = {{"placement", &placement, placements},
                                  {"num_nodes", &nodes, !placements},
                                  {"num_replicas", &gpus, !placements},
                                  {"local_bsz", &batch, true},
                                  {"step_time", &time, true}};
    DLS_TRY(dls_csv_bind_all(csv, binds, sizeof binds / sizeof *binds, err));
    for (bool more;;) {
        dls_table_row row = {0};
        DLS_TRY(dls_csv_next(csv, &more, err));
        if (!more) {
            return DLS_OK;
        }
        if (placements) {
            DLS_TRY(placement_in(csv, placement, &row, err));
        } else {
            DLS_TRY(count_in(csv, nodes, &row.nodes, err));
            DLS_TRY(count_in(csv, gpus, &row.gpus, err));
        }
        DLS_TRY(count_in(csv, batch, &row.batch, err));
        if (!dls_units_f64(dls_csv_text(csv, time), &row.iteration_s)) {
            return dls_csv_fail(csv, time, err, "expected seconds");
        }
        DLS_TRY(dls_table_add(out, model, gpu, row, err));
    }
}

/* ---- ElasticFlow
 * --------------------------------------------------------------------------------- */

static dls_status elasticflow_rows(dls_csv *csv, const char *gpu, const char *model, dls_table *out,
                                   dls_error *err)
{
    int32_t gpus[DLS_CSV_MAX_COLS] = {0};
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
        int32_t batch;
        DLS_TRY(dls_csv_next(csv, &more, err));
        if (!more) {
            return DLS_OK;
        }
        if (csv->n_cells != columns) {
            return dls_csv_fail(csv, -1, err,
                                "expected a batch size and a throughput for each number of GPUs");
        }
        DLS_TRY(count_in(csv, 0, &batch, err));
        for (size_t c = 1; c < columns; c++) {
            double per_s = 0; /* empty, nan: not measured */
            if (dls_units_f64(dls_csv_text(csv, (int)c), &per_s) && per_s > 0 && batch >= gpus[c]) {
                const dls_table_row row = {.batch = (batch + gpus[c] / 2) / gpus[c],
                                           .gpus = gpus[c],
                                           .nodes = DLS_TABLE_PACKED,
                                           .iteration_s = 1 / per_s};
                DLS_TRY(dls_table_add(out, model, gpu, row, err));
            }
        }
    }
}

/* ---- folders
 * ------------------------------------------------------------------------------------- */

static int visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* Names in a folder, sorted; none if it is a file. free_names gives them back. */
static dls_status names_in(const char *path, struct dirent ***names, int *n, dls_error *err)
{
    *names = NULL;
    *n = scandir(path, names, visible, alphasort);
    if (*n < 0 && errno != ENOTDIR) {
        return dls_fail(err, DLS_EINPUT, path, "the folder cannot be read: %s", strerror(errno));
    }
    *n = *n > 0 ? *n : 0;
    return DLS_OK;
}

static void free_names(struct dirent **names, int n)
{
    for (int i = 0; i < n; i++) {
        free(names[i]);
    }
    free(names);
}

dls_status dls_table_read_pollux(const char *path, dls_table *out, bool *found, dls_error *err)
{
    static const char *const files[] = {"placements.csv", "scalability.csv"};
    struct dirent **name;
    int n;
    DLS_TRY(names_in(path, &name, &n, err));
    dls_status status = DLS_OK;
    for (int i = 0; i < 2 * n && status == DLS_OK; i++) {
        char file[4300];
        const char *model = name[i / 2]->d_name;
        snprintf(file, sizeof file, "%s/%s/%s", path, model, files[i % 2]);
        if (access(file, F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR)) {
            status = read_csv(file, pollux_rows, POLLUX_GPU, model, out, err);
            *found = true;
        }
    }
    free_names(name, n);
    return status;
}

static dls_status elasticflow_folder(const char *path, const char *gpu, dls_table *out, bool *found,
                                     dls_error *err)
{
    struct dirent **name;
    int n;
    DLS_TRY(names_in(path, &name, &n, err));
    dls_status status = DLS_OK;
    for (int i = 0; i < n && status == DLS_OK; i++) {
        char file[4800], model[256];
        snprintf(file, sizeof file, "%s/%s", path, name[i]->d_name);
        snprintf(model, sizeof model, "%s", name[i]->d_name);
        char *dot = strrchr(model, '.');
        if (dot && strcmp(dot, ".csv") == 0) {
            *dot = '\0';
            status = read_csv(file, elasticflow_rows, gpu, model, out, err);
            *found = true;
        }
    }
    free_names(name, n);
    return status;
}

dls_status dls_table_read_elasticflow(const char *path, dls_table *out, bool *found, dls_error *err)
{
    static const char mark[] = "throughputs_";
    struct dirent **name;
    int n;
    DLS_TRY(names_in(path, &name, &n, err));
    dls_status status = DLS_OK;
    for (int i = 0; i < n && status == DLS_OK; i++) {
        char folder[4400];
        if (strncmp(name[i]->d_name, mark, strlen(mark)) == 0) {
            snprintf(folder, sizeof folder, "%s/%s", path, name[i]->d_name);
            status = elasticflow_folder(folder, name[i]->d_name + strlen(mark), out, found, err);
        }
    }
    free_names(name, n);
    return status;
}
