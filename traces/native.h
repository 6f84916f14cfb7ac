/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the reader and the writer of the native format share; docs/traces.md describes it.
 */
#ifndef DLS_TRACES_NATIVE_H
#define DLS_TRACES_NATIVE_H

#include "traces/table.h"

/* A comment line that starts so holds the wall-clock text of time 0. */
#define DLS_NATIVE_EPOCH "# epoch: "

/* The columns, in the order in which they are written; the first four always are, the others if
 * some job has a value. The last one are the flags. */
enum { DLS_NATIVE_ALWAYS = 4, DLS_NATIVE_FIELDS = 24 };
extern const dls_field dls_native_fields[DLS_NATIVE_FIELDS];

/* Flag names of the column `flags`, by bit; alternatives are joined by '|'. */
extern const char *const dls_native_flags[DLS_JOB_FLAG_COUNT];

#endif
