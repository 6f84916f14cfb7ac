/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Justus's networks (predictor/baselines/justus.h) for who asks about one workload at a time.
 */
#ifndef DLS_SOURCES_LAYER_NETS_H
#define DLS_SOURCES_LAYER_NETS_H

#include "workload/operator/hardware.h"
#include "workload/operator/workload.h"

typedef struct dls_layer_nets dls_layer_nets;

/* A file of dlsim train --baseline=justus. Errors: of dls_kernel_nets_load; EINPUT (networks of
 * another method). */
dls_status dls_layer_nets_open(const char *path, dls_layer_nets **out,
                               dls_error *err) DLS_MUST_CHECK;
void dls_layer_nets_close(dls_layer_nets *n); /* NULL-safe */
/* A step on one GPU. Errors: of dls_justus_step_s. */
dls_status dls_layer_nets_step_s(const dls_layer_nets *n, const dls_workload *w,
                                 const dls_hw_gpu *gpu, dls_numeric numeric, double batch,
                                 double *step_s, dls_error *err) DLS_MUST_CHECK;

#endif
