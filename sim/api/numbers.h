/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Inside the library: columns and numbers of summaries, of simulations and of files alike.
 */
#ifndef DLS_API_NUMBERS_H
#define DLS_API_NUMBERS_H

#include "dlsim/run.h"
#include "results/schema.h"

/* The column of this name, or the i-th without; false: there is none. */
bool dls_column_of(const dls_trace_columns *trace, const dls_record *rec, dls_table table,
                   const char *name, size_t i, dls_result_column *out);
/* summary NULL: there are none. */
bool dls_number_at(const dls_summary *summary, size_t i, dls_result_number *out);

#endif
