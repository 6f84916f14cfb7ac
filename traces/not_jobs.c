/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Tables that lie beside the public traces and are taken for them: a clear refusal beats a missing
 * column.
 */
#include "base/csv.h"
#include "traces/reader.h"

#include <string.h>

static const struct {
    const char *columns; /* that the header has, possibly among others */
    const char *what;
} tables[] = {
    {"time,active,total", "an occupancy series (nodes in use over time)"},
    {"time,total_job_num", "an occupancy series (running jobs over time)"},
    {"time,submit_job_all", "an occupancy series (jobs submitted over time)"},
    {"sn,cpu_milli,memory_mib,gpu,model", "a list of nodes (openb)"},
    {"gpu_capacity_num", "a list of nodes (Alibaba spot GPUs)"},
    {"machineId,number of GPUs", "a list of machines (Philly)"},
    {"num_switch,num_node_p_switch,num_gpu_p_node", "a cluster specification (Tiresias)"},
    {"vc,node num", "a list of virtual clusters (Philly)"},
    {"date,total", "a list of the GPUs of each virtual cluster by day (Helios)"},
    {"placement,local_bsz,step_time", "a table of step times (Pollux)"},
    {"num_nodes,num_replicas,local_bsz,step_time", "a table of step times (Pollux)"},
    {"global_batch_size", "a table of throughputs (ElasticFlow)"},
    {"time,machineId", "a utilisation series (Philly)"},
    {"time,machine_id", "a utilisation series (Philly)"},
};

/* Tables of a single column. */
static const struct {
    const char *column;
    const char *what;
} lists[] = {
    {"runtime", "a list of run times without submissions"},
    {"duration", "a list of durations without submissions (such as Tiresias's Gittins samples)"},
};

const char *dls_trace_not_jobs(const dls_trace_source *src)
{
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        if (dls_csv_sniff(src->text, src->len, ',', tables[i].columns)) {
            return tables[i].what;
        }
    }
    const size_t line_len = strcspn(src->text, "\r\n");
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        const size_t len = strlen(lists[i].column);
        if (line_len == len && memcmp(src->text, lists[i].column, len) == 0) {
            return lists[i].what;
        }
    }
    return NULL;
}
