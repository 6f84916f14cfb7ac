/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Jobs that interleave on the same GPUs: how long an iteration of all of them takes, from how long
 * each keeps the disk and the CPUs, the GPU and the network busy.
 *
 * The law is the world's own, and knows no order of turns. Let E be what the group cannot beat: the
 * longest iteration of a member, and the time for which all members together need any one of the
 * three. Let S be what it takes when nothing overlaps: the sum of the iterations. Then the time is
 *
 *      E + (1 - overlap) (S - E)
 *
 * in which each member makes one iteration: members run in step, as Muri's executor has it.
 */
#ifndef DLS_WORLD_STAGE_TABLE_H
#define DLS_WORLD_STAGE_TABLE_H

#include "dlsim/error.h"
#include "dlsim/trace.h"

#include <stdint.h>

typedef struct dls_stage_row {
    char model[64]; /* as dls_model_key has it */
    int32_t gpus;
    double busy_s[3];   /* data, compute, exchange: >= 0, not all of them 0 */
    double iteration_s; /* alone; > 0 */
} dls_stage_row;

typedef struct dls_stage_table {
    dls_stage_row *row; /* [n] owned */
    size_t n, cap;
    const dls_stage_row **of; /* [jobs] of the trace; owned */
    uint64_t nearest;         /* jobs with a row of another number of GPUs */
} dls_stage_table;

/* CSV with the columns model, gpus, data_s, compute_s, exchange_s and, if wanted, iteration_s (else
 * the sum); for each job of the trace the row of its model and gang, or of the nearest gang by
 * ratio. Errors: EINPUT (file:line:column; a model and gang twice; a job whose model is not there),
 * ENOMEM. */
dls_status dls_stage_table_load(const char *path, const dls_trace *trace, dls_stage_table *out,
                                dls_error *err) DLS_MUST_CHECK;
void dls_stage_table_fini(dls_stage_table *t);

/* Iteration of all members in step; n >= 1. O(n). */
double dls_stage_group_s(const dls_stage_row *const member[], int32_t n, double overlap);

#endif
