/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/wallclock.h"

static dls_status opt_date(const dls_csv *csv, int col, int64_t *us, dls_error *err)
{
    *us = DLS_ABSENT;
    return dls_csv_missing(csv, col) ? DLS_OK : dls_csv_date(csv, col, us, err);
}

dls_status dls_wallclock_read(const dls_csv *csv, const dls_wallclock_cols *c,
                              uint32_t column_flags, dls_job_rec *rec, const char **skip,
                              dls_error *err)
{
    int64_t start_us, end_us;
    *skip = NULL;
    DLS_TRY(dls_csv_date(csv, c->submit, &rec->submit_us, err));
    DLS_TRY(opt_date(csv, c->start, &start_us, err));
    DLS_TRY(opt_date(csv, c->end, &end_us, err));
    if (start_us != DLS_ABSENT) {
        rec->queue_us = start_us > rec->submit_us ? start_us - rec->submit_us : 0;
    } else {
        DLS_TRY(dls_csv_opt_us(csv, c->queue, "seconds", 6, &rec->queue_us, err));
    }
    rec->flags |= end_us == DLS_ABSENT ? DLS_JOB_CENSORED : 0u;
    if (start_us != DLS_ABSENT && end_us != DLS_ABSENT) {
        rec->duration_us = end_us > start_us ? end_us - start_us : 0;
    } else if (!dls_csv_missing(csv, c->duration)) {
        DLS_TRY(dls_csv_duration(csv, c->duration, 6, &rec->duration_us, err));
        rec->flags |= column_flags;
    } else {
        *skip = start_us == DLS_ABSENT ? "never started" : "no end time";
    }
    return DLS_OK;
}
