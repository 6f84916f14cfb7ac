/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The folder of a sweep: one file per point, by its id.
 *
 *      FOLDER/points/3f/3f09...c1.h5       the result, there only when it is whole: a run called 3f09..
 *      FOLDER/points/3f/3f09...c1.lock     held by the process that runs the point
 *      FOLDER/points/3f/3f09...c1.failed   why it failed, the last time
 *
 * Any number of processes on any number of machines may work in one folder: whoever holds the lock
 * runs the point (a lock of an open file, fcntl's F_OFD_SETLK). It goes with its process, so a file
 * that is left behind by one that was killed is in nobody's way.
 */
#ifndef DLS_SWEEP_STORE_H
#define DLS_SWEEP_STORE_H

#include "dlsim/error.h"
#include "sweep/plan.h"

#include <stdbool.h>
#include <stddef.h>

/* Make the folder and what it holds. Errors: EOUTPUT. */
dls_status dls_sweep_store_open(const char *folder, dls_error *err) DLS_MUST_CHECK;
/* Remove the parts of files that nobody writes any more. */
void dls_sweep_store_clean(const char *folder);

/* FOLDER/points/../ID<ext> into buf. Returns buf. */
const char *dls_sweep_store_path(const char *folder, const char *id, const char *ext, char *buf,
                                 size_t n);
/* Whether the point's file is there and says that it is of this point. O(1), reads its head. */
bool dls_sweep_finished(const char *folder, const char *id);
/* Takes no lock. */
dls_study_state dls_sweep_state_of(const char *folder, const char *id);

/* The right to run a point, for this process. *taken false: somebody else has it. Errors: EOUTPUT.
 */
typedef struct dls_sweep_lock {
    int fd;
    char path[4200];
} dls_sweep_lock;
dls_status dls_sweep_lock_take(const char *folder, const char *id, dls_sweep_lock *lock,
                               bool *taken, dls_error *err) DLS_MUST_CHECK;
void dls_sweep_lock_release(dls_sweep_lock *lock);

/* Remember a failure, forget it (NULL message), and what it was ("" if none). */
dls_status dls_sweep_failure_put(const char *folder, const char *id, const char *message,
                                 dls_error *err) DLS_MUST_CHECK;
void dls_sweep_failure_get(const char *folder, const char *id, char message[DLS_STUDY_FAILURE]);

/* ---- runner.c, merge.c ----------------------------------------------------------------------------- */

/* Points first..first+n-1 of the plan (those it has resolved), at most `workers` at a time; the
 * folder has been opened. *done: what became of them; failed points are no error here. The calling
 * process must have no threads. Errors: EOUTPUT, ERUN (no process can be started), EINTERRUPTED
 * (points in flight are lost). */
dls_status dls_sweep_run(const dls_sweep_plan *plan, const char *folder, int workers,
                         dls_study_progress *done, dls_error *err) DLS_MUST_CHECK;

/* Merge the finished points of the plan's folder into `path`, by copies or by links. *n_finished:
 * how many they are. Errors: EINPUT, EOUTPUT, ENOMEM; ERUN if none is finished. */
dls_status dls_sweep_merge(const dls_sweep_plan *plan, const char *folder, const char *path,
                           bool link, size_t *n_finished, dls_error *err) DLS_MUST_CHECK;

#endif
