/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Throughputs in folders of CSV files.
 *
 * Pollux (OSDI 2021) and Sia, measured on T4s: <application>/placements.csv with the columns
 * placement (the digits are GPUs on each node), local_bsz, step_time (s), sync_time; scalability.csv
 * with num_nodes, num_replicas, local_bsz, step_time, sync_time.
 *
 * ElasticFlow (ASPLOS 2023): throughputs_<GPU>/<model>.csv with the columns global_batch_size and a
 * number of GPUs each; iterations per second, 0 or nan where nothing was measured.
 */
#include "world/table.h"

#include "base/units.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CELLS 32
#define POLLUX_GPU "T4"

typedef struct lines {
    FILE *f;
    const char *path;
    size_t number;
    char text[4096];
    char *cell[CELLS];
    size_t n;
    dls_error *err;
} lines;

/* Next line, split at commas; false at the end. */
static bool next_line(lines *in)
{
    if (!fgets(in->text, sizeof in->text, in->f)) {
        return false;
    }
    in->number++;
    in->text[strcspn(in->text, "\r\n")] = '\0';
    in->n = 0;
    for (char *p = in->text; p && in->n < CELLS;) {
        in->cell[in->n++] = p;
        p = strchr(p, ',');
        if (p) {
            *p++ = '\0';
        }
    }
    return true;
}

static dls_status wrong(const lines *in, const char *what)
{
    char where[4300];
    snprintf(where, sizeof where, "%s:%zu", in->path, in->number);
    return dls_fail(in->err, DLS_EINPUT, where, "%s", what);
}

static bool count_in(const char *cell, int32_t *out)
{
    int64_t value;
    if (!dls_units_i64(cell, &value) || value < 1 || value > 1 << 24) {
        return false;
    }
    *out = (int32_t)value;
    return true;
}

/* ---- Pollux -------------------------------------------------------------------------------------- */

/* "112": three nodes, four GPUs. */
static bool placement_in(const char *cell, dls_table_row *row)
{
    row->gpus = row->nodes = 0;
    for (; *cell >= '1' && *cell <= '9'; cell++) {
        row->gpus += *cell - '0';
        row->nodes++;
    }
    return *cell == '\0' && row->nodes > 0;
}

static dls_status pollux_rows(lines *in, bool placements, const char *model, dls_table *out)
{
    const size_t batch = placements ? 1 : 2;
    const char *const want = placements ? "placement" : "num_nodes";
    if (!next_line(in) || in->n < batch + 2 || strcmp(in->cell[0], want) != 0 ||
        strcmp(in->cell[batch], "local_bsz") != 0 || strcmp(in->cell[batch + 1], "step_time") != 0) {
        return wrong(in, placements ? "expected the columns placement,local_bsz,step_time"
                                    : "expected the columns num_nodes,num_replicas,local_bsz,step_time");
    }
    while (next_line(in)) {
        dls_table_row row = {0};
        if (in->n == 1 && !*in->cell[0]) {
            continue;
        }
        const bool spread = in->n > batch + 1 &&
                            (placements ? placement_in(in->cell[0], &row)
                                        : count_in(in->cell[0], &row.nodes) &&
                                              count_in(in->cell[1], &row.gpus));
        if (!spread || !count_in(in->cell[batch], &row.batch) ||
            !dls_units_f64(in->cell[batch + 1], &row.iteration_s)) {
            return wrong(in, "expected a placement, a batch size and a time");
        }
        DLS_TRY(dls_table_add(out, model, POLLUX_GPU, row, in->err));
    }
    return DLS_OK;
}

/* ---- ElasticFlow --------------------------------------------------------------------------------- */

static dls_status elasticflow_rows(lines *in, const char *gpu, const char *model, dls_table *out)
{
    int32_t gpus[CELLS] = {0};
    bool good = next_line(in) && in->n > 1 && strcmp(in->cell[0], "global_batch_size") == 0;
    const size_t columns = in->n;
    for (size_t c = 1; c < columns && good; c++) {
        good = count_in(in->cell[c], &gpus[c]);
    }
    if (!good) {
        return wrong(in, "expected the columns global_batch_size and numbers of GPUs");
    }
    while (next_line(in)) {
        int32_t batch;
        if (in->n == 1 && !*in->cell[0]) {
            continue;
        }
        if (in->n != columns || !count_in(in->cell[0], &batch)) {
            return wrong(in, "expected a batch size and a throughput for each number of GPUs");
        }
        for (size_t c = 1; c < columns; c++) {
            double per_s = 0; /* empty, nan: not measured */
            if (dls_units_f64(in->cell[c], &per_s) && per_s > 0 && batch >= gpus[c]) {
                const dls_table_row row = {.batch = (batch + gpus[c] / 2) / gpus[c],
                                           .gpus = gpus[c],
                                           .nodes = DLS_TABLE_PACKED,
                                           .iteration_s = 1 / per_s};
                DLS_TRY(dls_table_add(out, model, gpu, row, in->err));
            }
        }
    }
    return DLS_OK;
}

/* ---- folders ------------------------------------------------------------------------------------- */

static int visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* Names in a folder, sorted; none if it is not one. free_names gives them back. */
static int names_in(const char *path, struct dirent ***names)
{
    const int n = scandir(path, names, visible, alphasort);
    return n > 0 ? n : 0;
}

static void free_names(struct dirent **names, int n)
{
    for (int i = 0; i < n; i++) {
        free(names[i]);
    }
    if (n > 0) {
        free(names);
    }
}

/* *found stays as it is when there is no such file. */
static dls_status pollux_file(const char *folder, const char *model, bool placements, dls_table *out,
                              bool *found, dls_error *err)
{
    char path[4300];
    snprintf(path, sizeof path, "%s/%s/%s", folder, model,
             placements ? "placements.csv" : "scalability.csv");
    lines in = {.f = fopen(path, "r"), .path = path, .err = err};
    if (!in.f) {
        return DLS_OK;
    }
    const dls_status status = pollux_rows(&in, placements, model, out);
    fclose(in.f);
    *found = true;
    return status;
}

dls_status dls_table_read_pollux(const char *path, dls_table *out, bool *found, dls_error *err)
{
    struct dirent **name = NULL;
    const int n = names_in(path, &name);
    dls_status status = DLS_OK;
    for (int i = 0; i < 2 * n && status == DLS_OK; i++) {
        status = pollux_file(path, name[i / 2]->d_name, i % 2 == 0, out, found, err);
    }
    free_names(name, n);
    return status;
}

static dls_status elasticflow_folder(const char *path, const char *gpu, dls_table *out, bool *found,
                                     dls_error *err)
{
    struct dirent **name = NULL;
    const int n = names_in(path, &name);
    dls_status status = DLS_OK;
    for (int i = 0; i < n && status == DLS_OK; i++) {
        char file[4800], model[256];
        snprintf(file, sizeof file, "%s/%s", path, name[i]->d_name);
        snprintf(model, sizeof model, "%s", name[i]->d_name);
        char *dot = strrchr(model, '.');
        lines in = {.path = file, .err = err};
        if (dot && strcmp(dot, ".csv") == 0 && (in.f = fopen(file, "r"))) {
            *dot = '\0';
            status = elasticflow_rows(&in, gpu, model, out);
            fclose(in.f);
            *found = true;
        }
    }
    free_names(name, n);
    return status;
}

dls_status dls_table_read_elasticflow(const char *path, dls_table *out, bool *found, dls_error *err)
{
    static const char mark[] = "throughputs_";
    struct dirent **name = NULL;
    const int n = names_in(path, &name);
    dls_status status = DLS_OK;
    for (int i = 0; i < n && status == DLS_OK; i++) {
        char folder[4400];
        if (strncmp(name[i]->d_name, mark, strlen(mark)) == 0) {
            snprintf(folder, sizeof folder, "%s/%s", path, name[i]->d_name);
            status =
                elasticflow_folder(folder, name[i]->d_name + strlen(mark), out, found, err);
        }
    }
    free_names(name, n);
    return status;
}
