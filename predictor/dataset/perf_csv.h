/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The measurements that Driple's builder reads: measured.h.
 */
#ifndef DLS_DATASET_PERF_CSV_H
#define DLS_DATASET_PERF_CSV_H

#include "predictor/dataset/dataset.h"

/* What names a job, in the order of the parts of a graph's file name. */
enum {
    DLS_JOB_GPU,
    DLS_JOB_DATA,
    DLS_JOB_MODEL,
    DLS_JOB_SYNC,
    DLS_JOB_HYPER,
    DLS_JOB_NAME,
    DLS_JOB_PARTS
};

typedef struct dls_perf_row {
    char part[DLS_JOB_PARTS][DLS_DATASET_NAME];
    int resource; /* 0..3 in the order of the labels */
    double idle_s, active_s, peak;
    bool used;
} dls_perf_row;

typedef struct dls_perf_csv {
    dls_perf_row *row; /* owned */
    size_t n, cap;
} dls_perf_csv;

/* Rows of other resources are left out. Errors: EINPUT with file and line, ENOMEM. *csv needs
 * dls_perf_csv_fini whatever is returned. */
dls_status dls_perf_csv_load(const char *path, dls_perf_csv *csv, dls_error *err) DLS_MUST_CHECK;
void dls_perf_csv_fini(dls_perf_csv *csv); /* NULL-safe */

#endif
