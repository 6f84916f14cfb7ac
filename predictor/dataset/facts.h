/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What Driple's authors report of real jobs (Yang et al., POMACS 6(2), 2022, sections 3 and 4),
 * asked of simulated ones: how often resources burst and pause, how long bursts are against pauses,
 * what depends on the workload and what on the setting, and the workloads that they show.
 */
#ifndef DLS_DATASET_FACTS_H
#define DLS_DATASET_FACTS_H

#include "predictor/dataset/build.h"

/* What a phase is described by. */
enum {
    DLS_FACT_BURST_AMOUNT,
    DLS_FACT_BURST_S,
    DLS_FACT_IDLE_S,
    DLS_FACT_IDLE_AMOUNT,
    DLS_FACT_KINDS
};

/* One of the workloads of the paper. */
typedef struct dls_fact_workload {
    const char *name;
    int resource; /* shown of it: DLS_RES_... */
    dls_burst burst;
} dls_fact_workload;

#define DLS_FACT_WORKLOADS 3

typedef struct dls_facts {
    size_t n;                         /* series of each resource */
    double pattern[DLS_RESOURCES][3]; /* part of them that is I, B, BIB */
    double shorter[DLS_RESOURCES];    /* 1 - burst / pause, the median of those that do both */
    /* Standard deviation over mean: of the workloads in a setting, of the settings of a workload;
     * mean over settings (workloads) and resources. */
    double by_workload[DLS_FACT_KINDS], by_setting[DLS_FACT_KINDS];
    dls_fact_workload workload[DLS_FACT_WORKLOADS];
} dls_facts;

/* o as for dls_dataset_build. The workloads of the paper, whose setting is not published, are taken
 * in the first setting. Errors: those of dls_dataset_build. */
dls_status dls_facts_find(const dls_build_options *o, dls_facts *out,
                          dls_error *err) DLS_MUST_CHECK;

#endif
