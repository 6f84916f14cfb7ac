/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Write a run to HDF5 (docs/results.md gives the layout) or its jobs to CSV.
 *
 * A file appears under its name only when it is whole (base/atomicfile.h). An existing file is
 * replaced; whether it may be is for the caller to ask. HDF5 is not thread safe: one thread of a
 * process at a time.
 *
 * With SOURCE_DATE_EPOCH in the environment the same run gives the same bytes: started_utc is that
 * time, hostname is empty, and the wall times are 0.
 */
#ifndef DLS_RESULTS_WRITE_H
#define DLS_RESULTS_WRITE_H

#include "cluster/cluster.h"
#include "results/summary.h"

/* Where a run comes from. Strings are borrowed; NULL is written as "". */
typedef struct dls_results_meta {
    const char *run_id; /* NULL: "0"; no '/' */
    uint64_t seed;
    const char *scheduler, *placement;
    const char *predictor, *backend, *perf;
    const char *git_sha, *build; /* of this program */
    const char *cmdline;
    const char *config_text; /* the resolved configuration */
    const char *hostname;
    const char *started_utc;         /* "2024-05-01T12:00:00Z" */
    const char *workload_assign;     /* table that gave jobs their models */
    const dls_cluster_spec *cluster; /* NULL: not described */
} dls_results_meta;

/* O(size of the record); 10 MiB of working memory. Allocations and series are written when the
 * record has rows of them. Errors: EOUTPUT (folder, disk, permissions), ENOMEM, EINPUT (the parts
 * do not belong together). */
dls_status dls_results_write(const char *path, const dls_results_meta *meta, const dls_trace *trace,
                             const dls_record *rec, const dls_summary *summary,
                             dls_error *err) DLS_MUST_CHECK;

#endif
