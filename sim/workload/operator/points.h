/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Published measurements of training steps. Some fit the constants, the others judge them: a point
 * never does both.
 */
#ifndef DLS_OPERATOR_POINTS_H
#define DLS_OPERATOR_POINTS_H

#include "workload/graph/graph.h"

#include <stddef.h>
#include <stdint.h>

/* Whose measurements: the head of published.csv says it of each. */
#define DLS_POINT_SOURCE_MAP(XX)                                                                   \
    XX(TFB) XX(GCE) XX(EC2) XX(LAM) XX(NVR) XX(U39) XX(TIR) XX(EFL) XX(SIA)
typedef enum dls_point_source {
#define XX(name) DLS_POINT_##name,
    DLS_POINT_SOURCE_MAP(XX)
#undef XX
} dls_point_source;
/* "TFB", ... */
const char *dls_point_source_name(dls_point_source source);

typedef enum dls_point_role { DLS_POINT_CALIBRATE, DLS_POINT_JUDGE } dls_point_role;

typedef struct dls_point {
    char model[32]; /* dls_workload_names */
    char gpu[32];   /* configs/hardware/gpus.cfg */
    dls_point_source source;
    dls_numeric numeric;
    int32_t n_gpus;
    int32_t batch; /* per GPU */
    double step_ms;
    dls_point_role role;
} dls_point;

/* *point is the caller's. Errors: EINPUT with file, line and column; ENOMEM. */
dls_status dls_point_read_all(dls_point **point, size_t *n, dls_error *err) DLS_MUST_CHECK;

#endif
