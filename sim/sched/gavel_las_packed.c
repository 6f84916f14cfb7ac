/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * gavel-las-packed: as gavel-las, but jobs of equal gangs share GPUs in pairs while more GPUs are
 * asked for than there are (sched/gavel.h).
 */
#include "sched/gavel.h"

static const dls_option options[] = {DLS_GAVEL_OPTIONS, DLS_GAVEL_PACKING_OPTIONS, {0}};

static dls_status objective(dls_gavel *g, dls_interior_outcome *outcome, dls_error *err)
{
    return dls_timeshares_water_filling(&g->shares, outcome, err);
}

static dls_status round_(void *state, const dls_view *view, dls_plan *plan, dls_error *err)
{
    return dls_gavel_round(state, view, plan, objective, err);
}

const dls_sched_ops dls_sched_ops_gavel_las_packed = {
    DLS_GAVEL_MEMBERS,
    .name = "gavel-las-packed",
    .summary = "least attained service, jobs share GPUs in pairs; rounds of Gavel",
    .init = dls_gavel_init_packed,
    .joins = true,
};
