/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Models for traces that name none: a table of GPU count -> weighted (model, batch), drawn with one
 * random stream per job, so that the model of a job depends on the seed and its place in the trace
 * alone. As text (what a results file stores and a configuration may name), one entry per line:
 *
 *     # from GPUs on   model      batch per GPU   weight
 *     1                resnet50   32              1
 *
 * An entry holds for jobs with at least that many GPUs, up to the next larger count in the table;
 * jobs below the smallest count use the smallest.
 */
#ifndef DLS_TRACES_ASSIGN_H
#define DLS_TRACES_ASSIGN_H

#include "dlsim/traces.h"

#include <stddef.h>
#include <stdint.h>

typedef struct dls_assign_entry {
    int32_t gpus;          /* from so many GPUs on, >= 1 */
    char model[60];        /* no blanks */
    int64_t batch_per_gpu; /* >= 1; the job's global batch is this times its GPUs */
    double weight;         /* > 0 */
} dls_assign_entry;

typedef struct dls_assign_table {
    dls_assign_entry *entries; /* ascending in gpus */
    size_t n, cap;
} dls_assign_table;

void dls_assign_table_fini(dls_assign_table *table); /* of {0}, too */

/* Read a table; `where` names the text in errors (ECONFIG, "where:line"). table is overwritten. */
dls_status dls_assign_table_parse(const char *text, const char *where, dls_assign_table *table,
                                  dls_error *err) DLS_MUST_CHECK;

/* As snprintf: the entries as text that parse reads back to the same table. */
size_t dls_assign_table_print(const dls_assign_table *table, char *buf, size_t size);

/* A new trace, owned by the caller, in which each job without a model has one, a batch where it had
 * none, and the flag ASSIGNED_MODEL. Everything else is as in `in`. O(n log entries). */
dls_status dls_trace_assign(const dls_trace *in, const dls_assign_table *table, uint64_t seed,
                            dls_trace **out, dls_error *err) DLS_MUST_CHECK;
/* The table, as dls_assign_table_print has it, that gave jobs of the trace their models; "" none. */
const char *dls_trace_assigned(const dls_trace *trace);

#endif
