/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim operators fit-kernels, kernels: the sized model fitted to measured kernels, and judged by
 * those that fitted nothing.
 */
#ifndef DLS_CLI_OPERATORS_KERNELS_H
#define DLS_CLI_OPERATORS_KERNELS_H

#include "workload/operator/sized_fit.h"

typedef struct dls_operators_kernels_ask {
    const dls_hardware *hw;
    char *const *file; /* [n_files] */
    size_t n_files;
    const char *constants; /* kernels.cfg to judge; NULL: fit */
    const char *output;    /* where a fit goes; NULL: nowhere */
    bool left_out;         /* judge each GPU by a fit without it, too */
} dls_operators_kernels_ask;

dls_status dls_operators_kernels(const dls_operators_kernels_ask *ask,
                                 dls_error *err) DLS_MUST_CHECK;

#endif
