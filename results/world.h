/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What placement did in a run: slow-down against the best placement, use of the network,
 * predictions against what came of them, sharing, failures, and what had to be guessed. Only runs
 * in which placement matters have it.
 */
#ifndef DLS_RESULTS_WORLD_H
#define DLS_RESULTS_WORLD_H

#include "dlsim/trace.h"
#include "record/record.h"

#include <stdio.h>

/* NaN where there is nothing to take a mean of. */
typedef struct dls_world_summary {
    double best_slowdown_mean;      /* over finished jobs: completion time / fastest run time */
    double placement_slowdown_mean; /* over finished jobs: time running / fastest run time */
    double nic_mean, uplink_mean;   /* load, over links that jobs cross and over time */
    uint64_t starts, predicted_starts;
    double prediction_error, prediction_bias; /* of the time for the work that was then done */
    uint64_t guest_starts;
    double guest_gpu_s;
    double pull_backs, pull_back_gpu_s; /* as in the record */
    uint64_t node_failures, gpu_failures, rack_failures, job_failures, node_drains;
    double lost_gpu_s;
    double effective_training_ratio; /* GPU time of work that was not lost / GPU time from first
                                        start to end; NaN: nothing fails */
    dls_run_facts facts;
} dls_world_summary;

/* O(jobs + starts + series). A start counts for the error when the job then did work for a second
 * or more: the prediction is scaled to the work done, and the time is that in which the job
 * progressed. */
void dls_world_summarise(const dls_trace *trace, const dls_record *rec, dls_world_summary *out);
/* A few lines of dls_summary_print; what does not apply is left out. */
void dls_world_print(FILE *out, const dls_world_summary *s);

#endif
