/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Policies on Gavel's rounds; they differ in what shares of the time are best.
 *
 *   gavel-isolated     the same of every GPU type for every job
 *   gavel-las          least attained service over GPU types: the normalised speed of who has least is
 *                      raised as far as it goes, then that of the next, and so on. Without `types` this
 *                      is LAS as others have it
 *   gavel-ftf          finish-time fairness (Mahajan et al., Themis, NSDI 2020): the largest ratio of a
 *                      job's time from submission to end over that with an equal share of the cluster
 *                      is smallest
 *   gavel-makespan     the time at which all work is done is smallest
 *   gavel-throughput   the sum of all training speeds, in steps per second, is largest; a job may starve
 *   ...-packed         jobs of equal gangs share GPUs in pairs while more GPUs are asked for than there
 *                      are
 */
#include "sched/gavel.h"

static const dls_option options[] = {DLS_GAVEL_OPTIONS, {0}};

dls_status dls_gavel_isolated(dls_gavel *g, dls_interior_outcome *outcome, dls_error *err)
{
    dls_timeshares_isolated(&g->shares);
    *outcome = DLS_INTERIOR_OPTIMAL;
    return DLS_OK;
}

static dls_status least_service(dls_gavel *g, dls_interior_outcome *outcome, dls_error *err)
{
    return dls_timeshares_water_filling(&g->shares, outcome, err);
}

static dls_status finish_time(dls_gavel *g, dls_interior_outcome *outcome, dls_error *err)
{
    DLS_TRY(dls_timeshares_finish_time(&g->shares, outcome, err));
    return *outcome == DLS_INTERIOR_OPTIMAL ? dls_timeshares_fill(&g->shares, outcome, err)
                                            : DLS_OK;
}

static dls_status makespan(dls_gavel *g, dls_interior_outcome *outcome, dls_error *err)
{
    DLS_TRY(dls_timeshares_duration(&g->shares, outcome, err));
    return *outcome == DLS_INTERIOR_OPTIMAL ? dls_timeshares_fill(&g->shares, outcome, err)
                                            : DLS_OK;
}

static dls_status throughput(dls_gavel *g, dls_interior_outcome *outcome, dls_error *err)
{
    return dls_timeshares_throughput(&g->shares, outcome, err);
}

DLS_GAVEL_ROUND(isolated_round, dls_gavel_isolated)
DLS_GAVEL_ROUND(las_round, least_service)
DLS_GAVEL_ROUND(ftf_round, finish_time)
DLS_GAVEL_ROUND(makespan_round, makespan)
DLS_GAVEL_ROUND(throughput_round, throughput)

const dls_sched_ops dls_sched_ops_gavel_isolated = {
    DLS_GAVEL_MEMBERS(options, isolated_round),
    .name = "gavel-isolated",
    .summary = "an equal share of every GPU type for every job; rounds of Gavel",
    .init = dls_gavel_init,
};

const dls_sched_ops dls_sched_ops_gavel_las = {
    DLS_GAVEL_MEMBERS(options, las_round),
    .name = "gavel-las",
    .summary = "least attained service (max-min fairness), by water filling; rounds of Gavel",
    .init = dls_gavel_init,
};

const dls_sched_ops dls_sched_ops_gavel_las_packed = {
    DLS_GAVEL_PACKED(las_round),
    .name = "gavel-las-packed",
    .summary = "least attained service, jobs share GPUs in pairs; rounds of Gavel",
};

const dls_sched_ops dls_sched_ops_gavel_ftf = {
    DLS_GAVEL_MEMBERS(options, ftf_round),
    .name = "gavel-ftf",
    .summary = "finish-time fairness (Themis): the largest ratio to an equal share is smallest; "
               "rounds of Gavel",
    .init = dls_gavel_init,
};

const dls_sched_ops dls_sched_ops_gavel_ftf_packed = {
    DLS_GAVEL_PACKED(ftf_round),
    .name = "gavel-ftf-packed",
    .summary = "finish-time fairness, jobs share GPUs in pairs; rounds of Gavel",
};

const dls_sched_ops dls_sched_ops_gavel_makespan = {
    DLS_GAVEL_MEMBERS(options, makespan_round),
    .name = "gavel-makespan",
    .summary = "all work done soonest; rounds of Gavel",
    .init = dls_gavel_init,
};

const dls_sched_ops dls_sched_ops_gavel_makespan_packed = {
    DLS_GAVEL_PACKED(makespan_round),
    .name = "gavel-makespan-packed",
    .summary = "all work done soonest, jobs share GPUs in pairs; rounds of Gavel",
};

const dls_sched_ops dls_sched_ops_gavel_throughput = {
    DLS_GAVEL_MEMBERS(options, throughput_round),
    .name = "gavel-throughput",
    .summary = "largest sum of training speeds; rounds of Gavel",
    .init = dls_gavel_init,
};
