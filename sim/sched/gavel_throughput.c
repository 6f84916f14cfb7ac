/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * gavel-throughput: the sum of all training speeds, in steps per second, is largest; a job may
 * starve.
 */
#include "sched/gavel.h"

static const dls_option options[] = {DLS_GAVEL_OPTIONS, {0}};

static dls_status objective(dls_gavel *g, dls_interior_outcome *outcome, dls_error *err)
{
    return dls_timeshares_throughput(&g->shares, outcome, err);
}

static dls_status round_(void *state, const dls_view *view, dls_plan *plan, dls_error *err)
{
    return dls_gavel_round(state, view, plan, objective, err);
}

const dls_sched_ops dls_sched_ops_gavel_throughput = {
    DLS_GAVEL_MEMBERS(options),
    .name = "gavel-throughput",
    .summary = "largest sum of training speeds; rounds of Gavel",
    .init = dls_gavel_init,
};
