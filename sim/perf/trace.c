/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "perf/perf.h"

static int64_t rate(int32_t job, int32_t gpus, int32_t type, int32_t n_nodes)
{
    (void)job;
    (void)gpus;
    (void)type;
    (void)n_nodes;
    return DLS_RATE_ONE;
}

const dls_perf_ops dls_perf_trace = {
    .name = "trace",
    .summary = "every job runs as long as the trace says, wherever it is placed",
    .rate = rate,
};
