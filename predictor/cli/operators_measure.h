/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim operators measure: times of a training graph's operations, added to a file.
 */
#ifndef DLS_CLI_OPERATORS_MEASURE_H
#define DLS_CLI_OPERATORS_MEASURE_H

#include "workload/graph/graph.h"

typedef struct dls_operators_measure_ask {
    const char *model, *graph; /* of the zoo, or a file: one of them */
    const char *gpu;           /* name in gpus.cfg under which the times are kept */
    const char *device;        /* "cuda", "cpu" */
    const char *output;        /* what is there already stays, but for operations measured again */
    int64_t batch;             /* of a model */
    dls_numeric numeric;       /* of a model */
    double seconds, most_gflop;
} dls_operators_measure_ask;

dls_status dls_operators_measure(const dls_operators_measure_ask *ask,
                                 dls_error *err) DLS_MUST_CHECK;

#endif
