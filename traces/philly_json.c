/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The multi-GPU subset of Philly with its attempts (jobs.json): id, num_gpus, runtime, attempts,
 * submitted_time. `runtime` (minutes, gaps inside) repeats what the attempts say and is not read.
 */
#include "traces/philly_jobs.h"

static int sniff(const dls_trace_source *src)
{
    return dls_philly_sniff(src, "\"num_gpus\"");
}

const dls_trace_format dls_trace_format_philly_json = {
    .name = "philly-json",
    .summary = "Philly, the multi-GPU subset jobs.json with attempts",
    .sniff = sniff,
    .read = dls_philly_read_jobs,
};
