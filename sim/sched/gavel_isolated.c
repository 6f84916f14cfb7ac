/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * gavel-isolated: every job gets the same share of every GPU type.
 */
#include "sched/gavel.h"

static const dls_option options[] = {DLS_GAVEL_OPTIONS, {0}};

dls_status dls_gavel_isolated(dls_gavel *g, dls_interior_outcome *outcome, dls_error *err)
{
    dls_timeshares_isolated(&g->shares);
    *outcome = DLS_INTERIOR_OPTIMAL;
    return DLS_OK;
}

static dls_status round_(void *state, const dls_view *view, dls_plan *plan, dls_error *err)
{
    return dls_gavel_round(state, view, plan, dls_gavel_isolated, err);
}

const dls_sched_ops dls_sched_ops_gavel_isolated = {
    DLS_GAVEL_MEMBERS(options),
    .name = "gavel-isolated",
    .summary = "an equal share of every GPU type for every job; rounds of Gavel",
    .init = dls_gavel_init,
};
