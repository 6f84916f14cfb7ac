/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * When Slurm's schedulers run. slurmctld's loop looks about every second, by a clock of whole
 * seconds: its main scheduler runs some seconds after its last run if jobs came or ended since, and
 * over the whole queue now and then; backfill sleeps between its runs. Or both ran as a log says.
 *
 * Sources: slurmctld(8)'s background loop and sched/backfill's agent of version 22.05, described in
 * slurm.conf(5); written anew from what they do.
 */
#ifndef DLS_SCHED_SLURM_CLOCK_H
#define DLS_SCHED_SLURM_CLOCK_H

#include "dlsim/policy.h"

/* Slurm's clock has whole seconds. */
static inline int64_t dls_slurm_whole_s(int64_t us)
{
    const int64_t s = us / 1000000;
    return (s - (us < s * 1000000)) * 1000000;
}

/* What runs at an instant. */
enum { DLS_SLURM_MAIN = 1, DLS_SLURM_FULL = 2, DLS_SLURM_BACKFILL = 4 };

typedef struct dls_slurm_logged {
    int64_t at_us;
    int what;
} dls_slurm_logged;

typedef struct dls_slurm_clock {
    int64_t delay_us, interval_us; /* of the main scheduler: between runs; over the whole queue */
    int64_t loop_us, loop_at_us;   /* of slurmctld: its period, and a time at which it looks */
    int64_t bf_interval_us,
        bf_cycle_us; /* from the end of backfill to its next run; what one takes */
    int64_t last_main_us, last_full_us;
    int64_t event_us;      /* first event since the main scheduler ran; DLS_NEVER: none */
    int64_t backfill_us;   /* when backfill looks next; DLS_NEVER: there is none */
    int64_t changed_us;    /* first change since backfill ran; DLS_NEVER: none */
    dls_slurm_logged *log; /* [n_log] in order of time; NULL: by the rules */
    size_t n_log, log_cap, next_log;
} dls_slurm_clock;

/* Fill in the intervals first. boot_us: when backfill began to sleep; first_us: when the
 * first job comes. path: a table `time,scheduler`, seconds and main, full or backfill; "": by the rules. Errors: EINPUT with file
 * and line, ENOMEM. */
dls_status dls_slurm_clock_init(dls_slurm_clock *c, bool backfill, int64_t boot_us,
                                int64_t first_us, const char *path,
                                dls_error *err) DLS_MUST_CHECK;
void dls_slurm_clock_fini(dls_slurm_clock *c);
dls_status dls_slurm_clock_clone(dls_slurm_clock *c, const dls_slurm_clock *from,
                                 dls_error *err) DLS_MUST_CHECK;

/* What happened before now while nobody waited, and what has come of this instant's events. */
void dls_slurm_clock_advance(dls_slurm_clock *c, int64_t now_us, bool events);
/* What runs now: what is returned counts as done. Only where somebody waits. */
int dls_slurm_clock_due(dls_slurm_clock *c, int64_t now_us);
/* The next time at which something runs if somebody waits; DLS_NEVER: none. */
int64_t dls_slurm_clock_next(const dls_slurm_clock *c);

#endif
