/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Tables that options of schedulers name: a header and rows of cells with a comma between them.
 */
#ifndef DLS_SCHED_TABLE_H
#define DLS_SCHED_TABLE_H

#include "dlsim/error.h"

#include <stdbool.h>
#include <stdint.h>

#define DLS_SCHED_CELLS 10

/* Every line of a file, plain or gzip, without its end, its number from 1 on and where it is, "FILE:LINE". Errors: those
 * of dls_read_text and of `take`. */
typedef dls_status (*dls_sched_line)(void *user, char *line, int number, const char *where, dls_error *err);
dls_status dls_sched_lines_read(const char *path, dls_sched_line take, void *user, dls_error *err) DLS_MUST_CHECK;

/* where: "FILE:LINE"; cells are texts without outer blanks and quotes (RFC 4180, within a line) and may be changed. */
typedef dls_status (*dls_sched_row)(void *user, char *const *cell, const char *where,
                                    dls_error *err);

/* Every row that is not blank goes to `row`, as many cells as the header has, at most
 * DLS_SCHED_CELLS. Columns at its end that may be missing, and then are empty cells, stand in brackets:
 * "a,b[,c]". Errors: EINPUT with file and line, those of `row`. */
dls_status dls_sched_table_read(const char *path, const char *header, dls_sched_row row, void *user,
                                dls_error *err) DLS_MUST_CHECK;
/* A cell that is a number of seconds, in microseconds. */
bool dls_sched_table_time(const char *cell, int64_t *us);
/* A cell that is a number, and nothing else, within. */
bool dls_sched_table_number(const char *cell, double least, double most, double *out);
/* The same of whole numbers. */
bool dls_sched_table_whole(const char *cell, int32_t least, int32_t most, int32_t *out);

#endif
