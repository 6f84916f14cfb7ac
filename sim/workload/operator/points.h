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

typedef enum dls_point_source {
    DLS_POINT_TFB, /* TensorFlow benchmarks page, r1: DGX-1 with P100 */
    DLS_POINT_GCE, /* the same page, Google Compute Engine, K80 */
    DLS_POINT_EC2, /* the same page, Amazon p2.8xlarge, K80, parameter servers */
    DLS_POINT_LAM, /* logs of lambdal/lambda-tensorflow-benchmark, synthetic images, replicated */
    DLS_POINT_NVR, /* NVIDIA DeepLearningExamples, ResNet-50 v1.5 (batch sizes assumed) */
    DLS_POINT_U39, /* u39kun/deep-learning-benchmark, PyTorch, without optimiser */
    DLS_POINT_TIR, /* 60-job mix on P100 PCIe, parameter servers (batch 32 assumed) */
    DLS_POINT_EFL, /* ElasticFlow's A100 throughput tables */
    DLS_POINT_SIA  /* one-GPU profiles of Sia's artifact */
} dls_point_source;
/* "TFB", ... */
const char *dls_point_source_name(dls_point_source source);

typedef enum dls_point_role { DLS_POINT_CALIBRATE, DLS_POINT_JUDGE } dls_point_role;

typedef struct dls_point {
    const char *model; /* dls_workload_names */
    const char *gpu;   /* configs/hardware/gpus.cfg */
    dls_point_source source;
    dls_numeric numeric;
    int32_t n_gpus;
    int32_t batch; /* per GPU */
    double step_ms;
    dls_point_role role;
} dls_point;

const dls_point *dls_points(size_t *n);

#endif
