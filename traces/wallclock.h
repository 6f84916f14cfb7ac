/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Job logs with dates of submission, start and end (Helios, Acme).
 */
#ifndef DLS_TRACES_WALLCLOCK_H
#define DLS_TRACES_WALLCLOCK_H

#include "traces/csv.h"

typedef struct dls_wallclock_cols {
    int submit, start, end, duration, queue; /* -1: not in the file */
} dls_wallclock_cols;

/* Fill submit, duration and queue of rec (times since 1970, for dls_trace_builder_rebase). The
 * duration is end - start; where one of them is missing, the column, with `column_flags` set. With
 * an end missing CENSORED is set. *skip says why the job cannot be used, or is NULL. */
dls_status dls_wallclock_read(const dls_csv *csv, const dls_wallclock_cols *c,
                              uint32_t column_flags, dls_job_rec *rec, const char **skip,
                              dls_error *err) DLS_MUST_CHECK;

#endif
