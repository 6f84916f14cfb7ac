/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * gavel-makespan: the time at which all work is done is smallest.
 * gavel-makespan-packed: jobs of equal gangs share GPUs in pairs while more GPUs are asked for than
 * there are.
 */
#include "sched/gavel.h"

static const dls_option options[] = {DLS_GAVEL_OPTIONS, {0}};

static dls_status objective(dls_gavel *g, dls_interior_outcome *outcome, dls_error *err)
{
    DLS_TRY(dls_timeshares_duration(&g->shares, outcome, err));
    return *outcome == DLS_INTERIOR_OPTIMAL ? dls_timeshares_fill(&g->shares, outcome, err)
                                            : DLS_OK;
}

static dls_status round_(void *state, const dls_view *view, dls_plan *plan, dls_error *err)
{
    return dls_gavel_round(state, view, plan, objective, err);
}

const dls_sched_ops dls_sched_ops_gavel_makespan = {
    DLS_GAVEL_MEMBERS(options),
    .name = "gavel-makespan",
    .summary = "all work done soonest; rounds of Gavel",
    .init = dls_gavel_init,
};

const dls_sched_ops dls_sched_ops_gavel_makespan_packed = {
    DLS_GAVEL_PACKED,
    .name = "gavel-makespan-packed",
    .summary = "all work done soonest, jobs share GPUs in pairs; rounds of Gavel",
};
