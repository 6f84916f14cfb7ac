/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A setting in numbers: what an inspector of all settings is told of the hardware that it answers
 * for. Data sheets and links come from the tables of configs/hardware. Amounts are base-2
 * logarithms, because times are products and quotients of them; the network standardises.
 *
 *      gpu_fp32, gpu_bandwidth, gpu_memory   FLOP/s, B/s, B
 *      gpu_link             B/s of the link that the GPU has to its neighbours in a node
 *      link, link_latency   B/s as specified and s, of the link that workers exchange over; of one
 *                           worker, that of the GPU
 *      workers, nodes, servers (of 1 + servers)
 *      allreduce, parameter_servers, asynchronous   0 or 1
 */
#ifndef DLS_DATASET_CONDITION_H
#define DLS_DATASET_CONDITION_H

#include "dlsim/predictor.h"
#include "workload/operator/hardware.h"

#define DLS_CONDITIONS 12
/* '\n' between them, as weights files have them. */
extern const char dls_condition_names[];

typedef struct dls_condition_place {
    const dls_hw_gpu *gpu;
    const dls_hw_link *link; /* that workers exchange over; NULL: the GPU's own */
    int32_t workers, nodes, servers;
    const char *exchange; /* "one", "allreduce", "ps-sync", "ps-async" */
} dls_condition_place;

/* Errors: EINPUT (the GPU's link is not in the table, a count below 1). */
dls_status dls_condition_of(const dls_hardware *hw, const dls_condition_place *place,
                            double number[DLS_CONDITIONS], dls_error *err) DLS_MUST_CHECK;

/* The same by names, as settings of datasets and weights files have them. Errors: EINPUT with the
 * GPU or link that the tables do not have. */
dls_status dls_condition_of_setting(const dls_hardware *hw, const dls_setting_info *setting,
                                    double number[DLS_CONDITIONS], dls_error *err) DLS_MUST_CHECK;

#endif
