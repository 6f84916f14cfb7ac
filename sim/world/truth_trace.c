/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "world/truth.h"

const dls_truth_ops dls_truth_ops_trace = {
    .name = "trace",
    .summary = "every job runs as long as the trace says, wherever it is placed",
    .unit_rate = true,
};
