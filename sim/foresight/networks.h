/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Learned baselines (predictor/baselines/kernel_nets.h) as sources: the file of networks, and the
 * kernels of a kind at its own batch, whose sizes the networks take.
 */
#ifndef DLS_FORESIGHT_NETWORKS_H
#define DLS_FORESIGHT_NETWORKS_H

#include "foresight/baseline.h"
#include "predictor/baselines/kernel_nets.h"

typedef struct dls_networks {
    dls_kernel_nets nets;
    dls_workload work;           /* of the kind `kind` */
    double one_s[DLS_TYPES_MAX]; /* its step on one GPU of each type; 0: not known yet */
    int32_t kind;                /* -1: none */
} dls_networks;

/* *n needs dls_networks_fini only on success. Errors: ECONFIG (no file, networks of another
 * method), those of dls_kernel_nets_load. */
dls_status dls_networks_init(dls_networks *n, const char *path, dls_learned how,
                             dls_error *err) DLS_MUST_CHECK;
void dls_networks_fini(dls_networks *n);
/* Make it the kind that work and one_s are about: kernels of the zoo's graph. */
dls_status dls_networks_turn_to(dls_networks *n, const dls_baseline *b, int32_t kind,
                                dls_error *err) DLS_MUST_CHECK;

#endif
