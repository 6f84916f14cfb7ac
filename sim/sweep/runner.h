/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Run the points of a plan, each in a process of its own, several at a time.
 *
 * The processes are forked: what the plan has loaded is theirs without a copy, and nothing that one
 * does, dying included, reaches another. Finished points are left alone. A point that fails is
 * remembered with its reason and the rest goes on; it is tried again the next time. What another
 * process has in hand is waited for, and run here if that one dies. Workers die with the process
 * that started them.
 */
#ifndef DLS_SWEEP_RUNNER_H
#define DLS_SWEEP_RUNNER_H

#include "sweep/store.h"

/* Points first..first+n-1 of the plan (those it has resolved), at most `workers` at a time; the
 * folder has been opened. *done: what became of them; failed points are no error here. The calling
 * process must have no threads. Errors: EOUTPUT, ERUN (no process can be started), EINTERRUPTED
 * (points in flight are lost). */
dls_status dls_sweep_run(const dls_sweep_plan *plan, const char *folder, int workers,
                         dls_study_progress *done, dls_error *err) DLS_MUST_CHECK;

#endif
