/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * gavel-las: least attained service over GPU types: the normalised speed of who has least is raised
 * as far as it goes, then that of the next, and so on. Without `types` this is LAS as others have
 * it.
 * gavel-las-packed: jobs of equal gangs share GPUs in pairs while more GPUs are asked for than
 * there are.
 */
#include "sched/gavel.h"

static const dls_option options[] = {DLS_GAVEL_OPTIONS, {0}};

static dls_status objective(dls_gavel *g, dls_interior_outcome *outcome, dls_error *err)
{
    return dls_timeshares_water_filling(&g->shares, outcome, err);
}

static dls_status round_(void *state, const dls_view *view, dls_plan *plan, dls_error *err)
{
    return dls_gavel_round(state, view, plan, objective, err);
}

const dls_sched_ops dls_sched_ops_gavel_las = {
    DLS_GAVEL_MEMBERS(options),
    .name = "gavel-las",
    .summary = "least attained service (max-min fairness), by water filling; rounds of Gavel",
    .init = dls_gavel_init,
};

const dls_sched_ops dls_sched_ops_gavel_las_packed = {
    DLS_GAVEL_PACKED,
    .name = "gavel-las-packed",
    .summary = "least attained service, jobs share GPUs in pairs; rounds of Gavel",
};
