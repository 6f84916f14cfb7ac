/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The truth `trace`: jobs run as long as the trace says, wherever they are placed.
 */
#include "world/truth.h"

const dls_truth_ops dls_truth_ops_trace = {
    .name = "trace",
    .summary = "every job runs as long as the trace says, wherever it is placed",
    .unit_rate = true,
};
