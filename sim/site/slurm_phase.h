/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The clock of Slurm's backfill, as starts of the jobs that it started show it.
 */
#ifndef DLS_SITE_SLURM_PHASE_H
#define DLS_SITE_SLURM_PHASE_H

#include "dlsim/trace.h"

#include <stdbool.h>

typedef struct dls_site_phase {
    double boot_s;  /* when it began to sleep before its first run, from the trace's epoch */
    double cycle_s; /* what a run takes */
} dls_site_phase;

/* From the columns Start and Flags of the accounting (SchedBackfill): phase and length of the
 * cycle, interval_s and a bit, with which most starts lie within the second that is recorded.
 * *found: at least ten, four fifths of them. What it says of single starts is nothing: a replay is
 * told when backfill looks, not what it found. O(rows + starts log starts). Errors: EINPUT, ENOMEM.
 */
dls_status dls_site_phase_of(const dls_trace_source *sacct, const char *epoch, double interval_s,
                             dls_site_phase *out, bool *found, dls_error *err) DLS_MUST_CHECK;

#endif
