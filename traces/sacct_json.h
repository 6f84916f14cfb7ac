/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What `sacct --json` prints (data_parser and openapi/dbv0.0.38 and later), as the table of
 * `sacct -P`.
 */
#ifndef DLS_TRACES_SACCT_JSON_H
#define DLS_TRACES_SACCT_JSON_H

#include "base/csv.h"
#include "dlsim/trace.h"

#include <stdbool.h>

bool dls_sacct_is_json(const char *text);
/* A row per job, times in seconds since 1970 UTC; steps, which stand within their jobs, are not
 * looked at. *text is the caller's, to be freed by dls_free. O(bytes). Errors: EINPUT with the
 * place, ENOMEM. */
dls_status dls_sacct_table(const dls_trace_source *src, char **text, size_t *len,
                           dls_error *err) DLS_MUST_CHECK;
/* The table that a file ("-": standard input; gzip or not) holds as one or as JSON, under the same
 * terms. */
dls_status dls_sacct_text(const char *path, char **text, size_t *len,
                          dls_error *err) DLS_MUST_CHECK;
/* dls_csv_read of such a table, rows with more or fewer cells than the header too. */
dls_status dls_sacct_rows(const dls_trace_source *sacct, const char *const *names, int n,
                          int n_required, dls_csv_row_fn row, void *user,
                          dls_error *err) DLS_MUST_CHECK;

#endif
