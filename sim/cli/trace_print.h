/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The statistics of a trace as text and as JSON.
 */
#ifndef DLS_CLI_TRACE_PRINT_H
#define DLS_CLI_TRACE_PRINT_H

#include "dlsim/traces.h"

#include <stdio.h>

/* A page for people. */
void dls_trace_print_text(FILE *to, const dls_trace *trace, const dls_trace_stats *stats);
/* One JSON object; figures that do not exist are null. */
dls_status dls_trace_print_json(FILE *to, const dls_trace *trace, const dls_trace_stats *stats,
                                dls_error *err) DLS_MUST_CHECK;

#endif
