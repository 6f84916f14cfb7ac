/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Learned baselines (predictor/baselines/kernel_nets.h) as sources: what all baselines have, the
 * file of networks, and the kernels of a kind at its own batch, whose sizes the networks take.
 */
#ifndef DLS_SOURCES_NETWORKS_H
#define DLS_SOURCES_NETWORKS_H

#include "predictor/sources/baseline.h"
#include "predictor/baselines/kernel_nets.h"

typedef struct dls_networks {
    dls_baseline base;
    bool learned; /* there are networks */
    dls_kernel_nets nets;
    dls_workload work;           /* of the kind `kind` */
    double one_s[DLS_TYPES_MAX]; /* its step on one GPU of each type; 0: not known yet */
    int32_t kind;                /* -1: none */
} dls_networks;

/* Networks from p->weights; without a file there are none. Errors: ECONFIG (networks of another
 * method), those of dls_kernel_nets_load and dls_baseline_init. */
dls_status dls_networks_open(const dls_prediction_params *p, const dls_kinds *kinds, dls_learned how,
                             dls_networks **out, dls_error *err) DLS_MUST_CHECK;
void dls_networks_close(void *networks);
/* Make it the kind that work and one_s are about: kernels of the zoo's graph. */
dls_status dls_networks_turn_to(dls_networks *n, int32_t kind, dls_error *err) DLS_MUST_CHECK;

#endif
