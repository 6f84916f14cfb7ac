/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What fails in a cluster, and when: at random, or as a file says.
 */
#ifndef DLS_MODEL_FAILURES_H
#define DLS_MODEL_FAILURES_H

#include "dlsim/error.h"

#include <stddef.h>
#include <stdint.h>

/* At random. Each node and each GPU fails on its own: it works for a time that is Weibull distributed
 * with the given mean and shape, is repaired for an exponential time, and starts anew. */
typedef struct dls_failure_params {
    double node_mtbf_s, gpu_mtbf_s; /* mean time between failures while it works; INFINITY: never */
    double shape;                   /* 1: exponential */
    double repair_s;                /* mean time to repair */
} dls_failure_params;

#endif
