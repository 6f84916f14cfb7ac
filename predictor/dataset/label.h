/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Simulated labels of a workload in a setting: the operator model's timeline, longer by the frozen
 * residual, sampled as a profiler would and analysed as bursts and pauses.
 *
 * Utilisation counters are means over a period of their own (NVML: a sixth of a second to a
 * second), so GPU and GPU memory are smoothed over a part of the step; byte counters are exact.
 */
#ifndef DLS_DATASET_LABEL_H
#define DLS_DATASET_LABEL_H

#include "predictor/dataset/setting.h"
#include "predictor/measure/burst.h"

typedef struct dls_label_options {
    double interval_s;       /* between samples; 0: the step over samples_per_step */
    double samples_per_step; /* > 0 */
    size_t n_samples;
    double window_frac;                          /* of a step, over which utilisation is averaged */
    double step_spread, jitter_frac, noise_frac; /* of the series (series.h) */
    double node_sigma, network_sigma;            /* of the residual, in a node and between nodes */
    uint64_t seed;
} dls_label_options;

/* 64 samples a step, 1024 in all, a quarter of a step, spread 2 %, jitter 10 %, noise 2 %; sigmas
 * of residual.h. */
void dls_label_options_init(dls_label_options *o);

typedef struct dls_label {
    /* The second as a profiler without noise has it. Idle and active time of a resource come to a
     * step, however often it pauses in one. */
    double metric[DLS_METRICS], truth[DLS_METRICS];
    double iteration_s; /* as a stop watch over the series has it */
    double link_bytes;  /* that a worker sends in a step */
    double model_s;
    dls_burst burst[DLS_RESOURCES]; /* of the noisy series */
} dls_label;

/* entity: of the noise, different for every label of a set. work: dls_setting_work. *fits: false,
 * and *out is not set, if the model does not fit the GPU's memory. Errors: EINPUT, ENOMEM.
 * O(kernels + samples log samples). */
dls_status dls_label_make(const dls_label_options *o, const dls_opmodel *model,
                          const dls_setting_spec *spec, const dls_work_setting *work,
                          const dls_workload *w, uint64_t entity, dls_label *out, bool *fits,
                          dls_error *err) DLS_MUST_CHECK;

#endif
