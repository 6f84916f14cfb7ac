/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Non-preemptive schedules of a Philly virtual cluster on 64 GPUs against the per-job start and end
 * times of an independent reference, which equals two published simulators where they overlap.
 */
#include "support/shared.h"
#include "support/sim_case.h"

static int compare(const char *folder, const char *name, const char *sched,
                   dls_discipline discipline)
{
    char path[600], line[256];
    dls_trace *trace;
    dls_error err;
    snprintf(path, sizeof path, "%s/philly_trace1.csv", folder);
    if (dls_trace_load(path, NULL, NULL, &trace, &err) != DLS_OK) {
        case_fail(&err);
    }
    dls_cluster_spec cluster = case_cluster(8, 8, 0);
    dls_sim_params p;
    dls_sim_params_init(&p);
    p.cluster = &cluster;
    p.trace = trace;
    p.sched = case_sched(sched);
    p.placement = case_placement("count");
    p.discipline = discipline;
    dls_record *rec = case_run(&p);

    snprintf(path, sizeof path, "%s/philly_trace1-%s.csv", folder, name);
    FILE *f = fopen(path, "r");
    int equal = 0, wrong = 0;
    if (!f || !fgets(line, sizeof line, f)) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    while (fgets(line, sizeof line, f)) {
        long long id, start, end;
        if (sscanf(line, "%lld,%lld,%lld", &id, &start, &end) != 3 || id < 0 ||
            (size_t)id >= rec->n_jobs) {
            fprintf(stderr, "%s: unexpected line %s", path, line);
            exit(1);
        }
        const bool same =
            rec->start_us[id] == start * DLS_US_PER_S && rec->end_us[id] == end * DLS_US_PER_S;
        equal += same;
        wrong += !same;
    }
    fclose(f);
    printf("%-22s %d jobs equal, %d differ, average JCT %.4f s\n", name, equal, wrong,
           case_mean_jct_s(trace, rec));
    const bool complete = (size_t)equal == rec->n_jobs;
    dls_record_destroy(rec);
    dls_trace_destroy(trace);
    free(cluster.groups);
    return wrong || !complete;
}

int main(void)
{
    char folder[512];
    if (!shared_path("golden/philly64", folder, sizeof folder)) {
        return 77;
    }
    int failed = 0;
    failed += compare(folder, "fifo-strict", "fifo", DLS_STRICT);
    failed += compare(folder, "fifo-skip", "fjf", DLS_FIT);
    failed += compare(folder, "sjf-duration-strict", "sjf-duration", DLS_STRICT);
    failed += compare(folder, "sjf-duration-skip", "sjf-duration", DLS_FIT);
    return failed != 0;
}
