/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The results of a sweep in one file, with a table of its points (docs/sweeps.md).
 */
#ifndef DLS_SWEEP_MERGE_H
#define DLS_SWEEP_MERGE_H

#include "sweep/plan.h"

/* Merge the finished points of the plan's folder into `path`, by copies or by links. *n_finished:
 * how many they are. Errors: EINPUT, EOUTPUT, ENOMEM; ERUN if none is finished. */
dls_status dls_sweep_merge(const dls_sweep_plan *plan, const char *folder, const char *path,
                           bool link, size_t *n_finished, dls_error *err) DLS_MUST_CHECK;

#endif
