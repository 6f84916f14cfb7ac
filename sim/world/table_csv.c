/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Throughputs in folders of CSV files.
 *
 * Pollux (OSDI 2021), measured on T4s: <application>/placements.csv with the columns placement (the
 * digits are GPUs on each node), local_bsz, step_time (s), sync_time; scalability.csv with
 * num_nodes, num_replicas, local_bsz, step_time, sync_time. Sia (SOSP 2023): the same and, for its
 * other clusters, placements-rtx.csv and so on.
 *
 * ElasticFlow (ASPLOS 2023): workload/throughputs.h.
 */
#include "world/table.h"

#include "base/csv.h"
#include "base/file.h"
#include "base/own.h"
#include "base/units.h"
#include "workload/throughputs.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

/* Whose GPUs, by the end of a file's name; Sia's "dgx" are some of "dgx-ext". */
static const struct cluster {
    const char *suffix, *gpu;
} clusters[] = {{"", "T4"},           {"-aws", "T4"},     {"-rtx", "RTX2080TI"},
                {"-quad", "RTX6000"}, {"-azure", "V100"}, {"-dgx-ext", "A100"}};

#define CLUSTERS ((int)(sizeof clusters / sizeof *clusters))

static dls_status count_in(const dls_csv *csv, int col, int32_t *out, dls_error *err)
{
    int64_t value;
    DLS_TRY(dls_csv_i64(csv, col, "a whole number from 1 on", 0, 1, 1 << 24, &value, err));
    *out = (int32_t)value;
    return DLS_OK;
}

/* ---- Pollux ---------------------------------------------------------------------------------- */

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
static dls_status pollux_rows(const char *path, const char *gpu, const char *model, dls_speed_table *out,
                              dls_error *err)
{
    int placement, nodes, gpus, batch, time;
    DLS_OWN(dls_csv_fini) dls_csv table = {0};
    dls_csv *csv = &table;
    DLS_TRY(dls_csv_open(csv, path, err));
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

/* ---- folders --------------------------------------------------------------------------------- */

dls_status dls_table_read_pollux(const char *path, dls_speed_table *out, bool *found, dls_error *err)
{
    static const char *const files[] = {"placements", "scalability"};
    struct dirent **name;
    int n;
    DLS_TRY(dls_file_names(path, &name, &n, err));
    dls_status status = DLS_OK;
    for (int i = 0; i < 2 * CLUSTERS * n && status == DLS_OK; i++) {
        char file[4300];
        const char *model = name[i / 2 / CLUSTERS]->d_name;
        const struct cluster *c = &clusters[i / 2 % CLUSTERS];
        snprintf(file, sizeof file, "%s/%s/%s%s.csv", path, model, files[i % 2], c->suffix);
        if (access(file, F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR)) {
            status = pollux_rows(file, c->gpu, model, out, err);
            *found = true;
        }
    }
    dls_file_free_names(name, n);
    return status;
}

static dls_status add_throughput(void *user, const dls_throughput *row, dls_error *err)
{
    const dls_table_row measured = {.batch = (int32_t)((row->batch + row->gpus / 2) / row->gpus),
                                    .gpus = row->gpus,
                                    .nodes = DLS_TABLE_PACKED,
                                    .iteration_s = 1 / row->per_s};
    return dls_table_add(user, row->model, row->gpu, measured, err);
}

dls_status dls_table_read_elasticflow(const char *path, dls_speed_table *out, bool *found, dls_error *err)
{
    return dls_throughputs_read(path, add_throughput, out, found, err);
}
