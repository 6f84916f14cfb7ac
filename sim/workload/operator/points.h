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

/* Whose measurements; the head of published.csv says more of each. XX(key, title, tuned, servers,
 * GPUs of a node or 0 for all, fabric or NULL for what the GPU has, network between nodes) */
#define DLS_POINT_SOURCE_MAP(XX)                                                                   \
    XX(TFB, "TensorFlow, DGX-1", true, false, 0, "dgx1_p100", "")                                  \
    XX(GCE, "TensorFlow, K80", true, false, 0, "k80_node", "")                                     \
    XX(EC2, "TensorFlow, K80 nodes", true, false, 8, "k80_p2_nodes", "eth10")                      \
    XX(LAM, "TensorFlow, lambdal", true, false, 0, NULL, "")                                       \
    XX(NVR, "NVIDIA examples", true, false, 0, NULL, "")                                           \
    XX(U39, "PyTorch 2017-2019", false, false, 0, NULL, "")                                        \
    XX(TIR, "Tiresias mix, servers", false, true, 4, "p100_servers", "ib_edr")                     \
    XX(EFL, "ElasticFlow", false, false, 8, "a100_nodes", "ib_hdr")                                \
    XX(SIA, "Sia", false, false, 0, NULL, "")
typedef enum dls_point_source {
#define XX(key, ...) DLS_POINT_##key,
    DLS_POINT_SOURCE_MAP(XX)
#undef XX
        DLS_POINT_SOURCES
} dls_point_source;

typedef struct dls_point_place {
    const char *key, *title;
    bool tuned;   /* runs of a tuned benchmark: GPU work alone */
    bool servers; /* gradients go through parameter servers */
    int32_t per_node;
    const char *fabric, *network;
} dls_point_place;
extern const dls_point_place dls_point_places[DLS_POINT_SOURCES];

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
