/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Measured times of layers: the profiles that PipeDream (Narayanan et al., SOSP 2019) published of
 * image models, a text file for each model with a line per layer and a line per edge:
 *
 *      node10 -- Conv2d(384, 256, kernel_size=(3, 3), stride=(1, 1), ...) --
 *          forward_compute_time=4.423, backward_compute_time=7.197, activation_size=44302336.000, ...
 *      <tab>node10 -- node11
 *
 * Times are milliseconds of a batch, sizes bytes of fp32. A layer becomes one kernel, forward and
 * backward together, described as those of graphs are; the files do not name the GPU.
 */
#ifndef DLS_BASELINES_LAYER_PROFILE_H
#define DLS_BASELINES_LAYER_PROFILE_H

#include "workload/operator/workload.h"

typedef struct dls_layer_profile {
    dls_workload
        w; /* its name is the model's; kernels in order of the layers' numbers, no parameters */
    double *seconds; /* [w.n_kernels] owned */
    size_t cap;
    double batch;
} dls_layer_profile;

/* Layers that took no time are left out, as is the input. The batch follows from the input, images
 * of 224 or 299 pixels a side. *p needs dls_layer_profile_fini only on success. Errors: EINPUT with
 * file and line (unreadable, a line that is neither, a time for a layer of an unknown kind, sizes
 * that contradict each other), ENOMEM. O(lines log lines). */
dls_status dls_layer_profile_read(const char *path, const char *model, dls_layer_profile *p,
                                  dls_error *err) DLS_MUST_CHECK;
void dls_layer_profile_fini(dls_layer_profile *p); /* NULL-safe */

#endif
