/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The words that schedulers use for how a job ended.
 */
#ifndef DLS_TRACES_OUTCOME_H
#define DLS_TRACES_OUTCOME_H

#include "base/csv.h"
#include "dlsim/trace.h"

/* Slurm, Kubernetes, Philly and PAI words in any case, and those of DLS_OUTCOME_MAP. False: not
 * known, and *out is UNKNOWN. */
bool dls_outcome_parse(const char *s, size_t len, dls_outcome *out);
/* A cell (absent or empty: UNKNOWN); a word that is not known is noted in the trace. */
dls_outcome dls_outcome_cell(const dls_csv *csv, int col, dls_trace_builder *b);
/* "completed" */
const char *dls_outcome_text(dls_outcome outcome);

#endif
