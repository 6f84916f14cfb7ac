/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * `dlsim perf analyze`: the step of a recorded job, bursts and pauses of its resources, in print.
 */
#ifndef DLS_CLI_PERF_ANALYZE_H
#define DLS_CLI_PERF_ANALYZE_H

#include "predictor/measure/recording.h"

#include <stdint.h>

typedef struct dls_perf_request {
    const char *plot;    /* picture of the series; NULL: none */
    double interval_s;   /* of the series; 0: as recorded */
    double from_s, to_s; /* the part since the first reading; to_s 0: to the end */
    int64_t gpu;         /* which one */
    const char *process; /* whose columns, where several are recorded; NULL: the first one's */
    bool json;
} dls_perf_request;

/* Prints a table, or JSON. Errors: EINPUT (too short a recording), EOUTPUT, ENOMEM. */
dls_status dls_perf_analyze(const dls_recording *r, const dls_perf_request *request,
                            dls_error *err) DLS_MUST_CHECK;

#endif
