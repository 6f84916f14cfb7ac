/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The original's input files other than the trace: cluster_spec.csv and the GPU-time samples.
 */
#include "base/alloc.h"
#include "base/csv.h"
#include "tiresias/gittins.h"

#include <stdlib.h>

#define N_COLUMNS 5

/* The first three at least 1. */
static const char *const columns[N_COLUMNS] = {"num_switch", "num_node_p_switch", "num_gpu_p_node",
                                               "num_cpu_p_node", "mem_p_node"};

/* One row below the header; columns beyond the five are ignored as there. */
static dls_status parse_cluster(dls_csv *csv, dls_tiresias_cluster *out, dls_error *err)
{
    int col[N_COLUMNS];
    dls_csv_bind binds[N_COLUMNS];
    int64_t v[N_COLUMNS];
    bool more;
    for (int i = 0; i < N_COLUMNS; i++) {
        binds[i] = (dls_csv_bind){columns[i], &col[i], true};
    }
    DLS_TRY(dls_csv_header(csv, err));
    DLS_TRY(dls_csv_bind_all(csv, binds, N_COLUMNS, err));
    DLS_TRY(dls_csv_next(csv, &more, err));
    if (!more) {
        return dls_csv_fail(csv, -1, err, "there is no row below the header");
    }
    for (int i = 0; i < N_COLUMNS; i++) {
        DLS_TRY(dls_csv_i64(csv, col[i], i < 3 ? "a whole number, at least 1" : "a whole number", 0,
                            i < 3, INT32_MAX, &v[i], err));
    }
    DLS_TRY(dls_csv_next(csv, &more, err));
    if (more) {
        return dls_csv_fail(csv, -1, err, "a cluster has one row; this is another");
    }
    *out = (dls_tiresias_cluster){(int32_t)v[0], (int32_t)v[1], (int32_t)v[2], (int32_t)v[3],
                                  (int32_t)v[4]};
    return DLS_OK;
}

dls_status dls_tiresias_load_cluster(const char *path, dls_tiresias_cluster *out, dls_error *err)
{
    dls_csv csv;
    DLS_TRY(dls_csv_open(&csv, path, err));
    const dls_status status = parse_cluster(&csv, out, err);
    dls_csv_fini(&csv);
    return status;
}

static dls_status parse_samples(dls_csv *csv, int64_t **out, size_t *n, dls_error *err)
{
    size_t room = 0;
    int col;
    DLS_TRY(dls_csv_header(csv, err));
    DLS_TRY(dls_csv_bind_all(csv, &(dls_csv_bind){"duration", &col, true}, 1, err));
    for (bool more;;) {
        DLS_TRY(dls_csv_next(csv, &more, err));
        if (!more) {
            break;
        }
        DLS_TRY(dls_grow(out, &room, *n + 1, sizeof **out, err));
        DLS_TRY(dls_csv_i64(csv, col, "a whole number of seconds, at least 1", 0, 1,
                            INT64_C(1) << 46, &(*out)[*n], err));
        (*n)++;
    }
    if (*n == 0) {
        return dls_csv_fail(csv, -1, err, "there are no samples");
    }
    qsort(*out, *n, sizeof **out, dls_tir_compare_i64);
    return DLS_OK;
}

dls_status dls_tiresias_load_samples(const char *path, int64_t **out, size_t *n, dls_error *err)
{
    dls_csv csv;
    *out = NULL;
    *n = 0;
    DLS_TRY(dls_csv_open(&csv, path, err));
    const dls_status status = parse_samples(&csv, out, n, err);
    dls_csv_fini(&csv);
    if (status != DLS_OK) {
        dls_free(*out);
        *out = NULL;
    }
    return status;
}
