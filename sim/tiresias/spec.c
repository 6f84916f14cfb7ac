/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The original's input files other than the trace: cluster_spec.csv and the GPU-time samples.
 */
#include "base/csv.h"
#include "base/own.h"
#include "tiresias/gittins.h"

#include <stdlib.h>

#define N_COLUMNS 5

/* The first three at least 1. */
static const char *const columns[N_COLUMNS] = {"num_switch", "num_node_p_switch", "num_gpu_p_node",
                                               "num_cpu_p_node", "mem_p_node"};

/* One row below the header; columns beyond the five are ignored as there. */
static dls_status read_cluster(dls_csv *csv, const int *col, void *user, dls_error *err)
{
    dls_tiresias_cluster *out = user;
    int64_t v[N_COLUMNS];
    if (out->switches > 0) {
        return dls_csv_fail(csv, -1, err, "a cluster has one row; this is another");
    }
    for (int i = 0; i < N_COLUMNS; i++) {
        DLS_TRY(dls_csv_i64(csv, col[i], i < 3 ? "a whole number, at least 1" : "a whole number", 0,
                            i < 3, INT32_MAX, &v[i], err));
    }
    *out = (dls_tiresias_cluster){(int32_t)v[0], (int32_t)v[1], (int32_t)v[2], (int32_t)v[3],
                                  (int32_t)v[4]};
    return DLS_OK;
}

dls_status dls_tiresias_load_cluster(const char *path, dls_tiresias_cluster *out, dls_error *err)
{
    DLS_OWN(dls_csv_fini) dls_csv csv = {0};
    *out = (dls_tiresias_cluster){0};
    DLS_TRY(dls_csv_open(&csv, path, err));
    DLS_TRY(dls_csv_read(&csv, columns, N_COLUMNS, N_COLUMNS, read_cluster, out, err));
    return out->switches > 0 ? DLS_OK
                             : dls_csv_fail(&csv, -1, err, "there is no row below the header");
}

typedef struct samples {
    int64_t *at;
    size_t n, cap;
} samples;

static dls_status add_sample(dls_csv *csv, const int *col, void *user, dls_error *err)
{
    samples *s = user;
    DLS_TRY(dls_grow(&s->at, &s->cap, s->n + 1, sizeof *s->at, err));
    return dls_csv_i64(csv, col[0], "a whole number of seconds, at least 1", 0, 1, INT64_C(1) << 46,
                       &s->at[s->n++], err);
}

dls_status dls_tiresias_load_samples(const char *path, int64_t **out, size_t *n, dls_error *err)
{
    samples s = {0};
    const dls_status status =
        dls_csv_rows(path, (const char *const[]){"duration"}, 1, 1, add_sample, &s, err);
    *out = s.at;
    *n = s.n;
    DLS_TRY(status);
    if (s.n == 0) {
        return dls_fail(err, DLS_EINPUT, path, "there are no samples");
    }
    qsort(s.at, s.n, sizeof *s.at, dls_tir_compare_i64);
    return DLS_OK;
}
