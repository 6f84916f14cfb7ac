/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Microsoft's Philly trace (Jeon et al., ATC 2019) as published: the JSON file cluster_job_log.
 */
#include "traces/philly_jobs.h"

static int sniff(const dls_trace_source *src)
{
    return dls_philly_sniff(src, "\"jobid\"");
}

const dls_trace_format dls_trace_format_philly_log = {
    .name = "philly-log",
    .summary = "Philly, the published cluster_job_log (JSON)",
    .sniff = sniff,
    .read = dls_philly_read_jobs,
};
