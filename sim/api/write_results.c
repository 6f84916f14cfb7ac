/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Writes the results file of a run that was made from a configuration: collects the resolved
 * configuration, digests, policies and versions that go into it.
 */
#include "api/write_results.h"

#include "build_info.h"
#include "results/write.h"
#include "traces/assign.h"

#include <time.h>
#include <unistd.h>

dls_status dls_config_write_results(const dls_config *config, const char *path,
                                    const dls_written_by *by, const dls_trace *trace,
                                    const dls_record *rec, const dls_summary *summary,
                                    dls_error *err)
{
    char hostname[256] = "", started[32];
    const time_t start = time(NULL) - (time_t)summary->wall_s;
    struct tm utc;
    gethostname(hostname, sizeof hostname - 1);
    strftime(started, sizeof started, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&start, &utc));
    const dls_results_meta meta = {
        .run_id = by->run_id,
        .seed = config->sim.seed,
        .scheduler = config->scheduler,
        .placement = config->placement,
        .predictor = config->predictions.source,
        .backend = rec->facts.predictions.backend,
        .perf = config->world.model,
        .git_sha = DLS_GIT_SHA,
        .build = DLS_BUILD,
        .cmdline = by->command,
        .config_text = config->text,
        .hostname = hostname,
        .started_utc = started,
        .workload_assign = dls_trace_assigned(trace),
        .cluster = &config->cluster,
    };
    return dls_results_write(path, &meta, trace, rec, summary, err);
}
