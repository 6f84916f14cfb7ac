/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Energy, cost and carbon of a run: integrals over the stretches that its record holds, so that a
 * run that does not ask for them does nothing for them (docs/energy.md).
 */
#ifndef DLS_RESULTS_ENERGY_H
#define DLS_RESULTS_ENERGY_H

#include "cluster/power.h"
#include "dlsim/trace.h"
#include "record/record.h"

/* At the meter, from the first submission to the last end. */
typedef struct dls_energy_summary {
    double jobs_kwh;                    /* of GPUs while jobs hold them */
    double idle_kwh;                    /* of GPUs while none does */
    double nodes_kwh;                   /* of nodes beside their GPUs */
    double energy_kwh, cost, carbon_kg; /* of all that */
    double jobs_cost, jobs_carbon_kg;
    double power_mean_kw;
} dls_energy_summary;

/* Fill the columns of jobs and power_w of the series, and *out. The record must have its
 * allocations. trace: of the jobs. from_us..to_us: while the cluster counts. Errors: ECONFIG (a GPU type whose power is
 * unknown), EINPUT (a table; allocations that do not say where, on several GPU types), ENOMEM.
 * O(allocations log series). */
dls_status dls_energy_account(const dls_energy_params *p, const dls_cluster_spec *cluster,
                              const dls_trace *trace, dls_record *rec, int64_t from_us, int64_t to_us,
                              dls_energy_summary *out, dls_error *err) DLS_MUST_CHECK;

#endif
