/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Turns what a truth model says of a job running alone into a prediction: burst and idle lengths
 * and heights of GPU, memory and network.
 */
#include "predictor/sources/from_solo.h"

#include "dlsim/predictor.h"

#include <math.h>

void dls_prediction_of_solo(const dls_solo *solo, dls_prediction *out)
{
    const double iteration_s = solo->iteration_s;
    const double busy_s = fmin(1, solo->gpu_util) * iteration_s;
    double *m = out->metric;
    out->iteration_s = iteration_s;
    out->distance = 0;
    m[DLS_GPU_ACTIVE] = m[DLS_GPU_MEM_ACTIVE] = busy_s;
    m[DLS_GPU_IDLE] = m[DLS_GPU_MEM_IDLE] = iteration_s - busy_s;
    m[DLS_GPU_PEAK] = busy_s > 0 ? 1 : 0;
    m[DLS_GPU_MEM_PEAK] = busy_s > 0 ? fmin(1, solo->mem_util * iteration_s / busy_s) : 0;
    double burst_s = 0;
    if (solo->link_bytes > 0 && solo->line_bps > 0) {
        burst_s = fmin(iteration_s, solo->link_bytes / solo->line_bps);
    }
    out->link_bps = burst_s > 0 ? solo->link_bytes / burst_s : 0;
    m[DLS_NET_TX_ACTIVE] = m[DLS_NET_RX_ACTIVE] = burst_s;
    m[DLS_NET_TX_IDLE] = m[DLS_NET_RX_IDLE] = iteration_s - burst_s;
    m[DLS_NET_TX_PEAK] = m[DLS_NET_RX_PEAK] = out->link_bps;
}
