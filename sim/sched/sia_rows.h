/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Sia's integer programme (Jayaram Subramanya et al., SOSP 2023, sections 3.3 and 3.4): what a job
 * may run on, what that is worth to it, and the programme that gives every job one configuration or
 * none.
 */
#ifndef DLS_SCHED_SIA_ROWS_H
#define DLS_SCHED_SIA_ROWS_H

#include "sched/choice.h"

#define DLS_SIA_GPUS 64     /* most of a job */
#define DLS_SIA_CONFIGS 256 /* of all types */
#define DLS_SIA_NONE 1e-4   /* value of a configuration that a job cannot use */

typedef struct dls_sia_config {
    int32_t type, nodes, gpus;
} dls_sia_config;

/* Powers of two in a node, then whole nodes, type by type, of nodes[t] nodes with per_node[t] GPUs:
 * at most DLS_SIA_CONFIGS, at most DLS_SIA_GPUS each. Returns how many. */
int32_t dls_sia_configs(int32_t types, const int32_t *per_node, const int32_t *nodes,
                        dls_sia_config *out);
/* Divide by the least value above DLS_SIA_NONE; others become that. */
void dls_sia_scale(double *value, int32_t n);
/* What a change leaves of a job's goodput in the long run: its age less what `restarts` have cost,
 * over the age with one more. */
double dls_sia_factor(double age_s, double restarts, double restart_s);

typedef struct dls_sia_terms {
    double power;  /* of values; < 0: the sum is minimised */
    double lambda; /* cost of a job without GPUs (power < 0) */
} dls_sia_terms;

/* One job's group: values[n] of configs[n]; present: which it has, -1: none. pinned: it keeps that.
 * Where equals could be chosen, what is present, then the earlier configuration. */
dls_status dls_sia_add(dls_choice *c, const dls_sia_terms *terms, const dls_sia_config *config,
                       const double *value, int32_t n, int32_t present, bool pinned, double factor,
                       dls_error *err) DLS_MUST_CHECK;

#endif
