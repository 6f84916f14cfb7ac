/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * gandiva-pack: Gandiva (Xiao et al., OSDI 2018) as Gavel has it for comparison: jobs have equal
 * shares of time; while more GPUs are asked for than there are, pairs drawn at random of jobs that have
 * run alone share them, and pairs that are seen to do worse together than by turns are parted.
 */
#include "sched/gavel.h"

static const dls_option options[] = {DLS_GAVEL_OPTIONS, {0}};

static dls_status init(void *state, const dls_view *view, const dls_option_value *values,
                       dls_error *err)
{
    dls_gavel *g = state;
    DLS_TRY(dls_gavel_init(state, view, values, err));
    g->packing.on = g->packing.at_random = true;
    g->packing.rng =
        (dls_rng){.key = {(uint32_t)view->seed, (uint32_t)(view->seed >> 32)}, .counter = {0x6764}};
    return DLS_OK;
}

DLS_GAVEL_ROUND(isolated_round, dls_gavel_isolated)

const dls_sched_ops dls_sched_ops_gandiva_pack = {
    DLS_GAVEL_MEMBERS(options, isolated_round),
    .name = "gandiva-pack",
    .summary = "equal shares of time, pairs drawn at random share GPUs (Gandiva); rounds of Gavel",
    .init = init,
    .joins = true,
};
