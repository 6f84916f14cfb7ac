/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * slurmctld's log: what the accounting has in whole seconds only, and when the schedulers ran.
 *
 * Lines of Slurm 22.05 with SlurmctldDebug=debug and DebugFlags=Backfill.
 */
#ifndef DLS_SITE_SLURM_LOG_H
#define DLS_SITE_SLURM_LOG_H

#include "base/strdict.h"
#include "dlsim/trace.h"
#include "site/slurm_held.h"

/* Microseconds, 30 years: clocks of the controller are no further from the first job (`boot`, `calc_at`). */
#define DLS_SITE_NEAR_US (INT64_C(950000000) * 1000000)

typedef struct dls_site_run {
    int64_t at_us;
    const char *what; /* "main", "full" or "backfill": a literal */
} dls_site_run;

typedef struct dls_site_log {
    dls_site_run *run; /* [n_runs] in order of time */
    size_t n_runs, run_cap;
    int64_t decay_us; /* when priorities were first about to be calculated; DLS_ABSENT */
    size_t timed;     /* jobs whose submission, start and end it has */
    dls_strdict reservations;
    int64_t *made_us; /* [reservations.n] */
    size_t made_cap;
} dls_site_log;

/* Replace *trace by one with the log's times, and those of jobs without GPUs; times count from the
 * trace's epoch, those within one millisecond keep their order. The file may be gzip. O(bytes).
 * Errors: EINPUT (not readable, no run of a scheduler in it, a trace without a date), ENOMEM. *log
 * is to be released in any case. */
dls_status dls_site_log_apply(const char *path, dls_trace **trace, dls_site_held *held,
                              dls_site_log *log, dls_error *err) DLS_MUST_CHECK;
void dls_site_log_fini(dls_site_log *log);

#endif
