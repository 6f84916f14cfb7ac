/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A sweep as a job array of Slurm: task t runs points t * chunk to (t + 1) * chunk - 1.
 */
#ifndef DLS_SWEEP_SLURM_H
#define DLS_SWEEP_SLURM_H

#include "dlsim/error.h"

#include <stddef.h>
#include <stdio.h>

typedef struct dls_slurm_array {
    const char *name;             /* of the job */
    const char *program;          /* dlsim, the whole path */
    const char *folder;           /* where the tasks start */
    const char *sweep, *results;  /* file and folder of the sweep, from there */
    const char *options;          /* of 'sweep run', as a shell wants them; "" none */
    const char *time, *partition; /* NULL: the cluster's default */
    const char *const *extra;     /* further options of sbatch, a line each */
    size_t n_extra;
    size_t chunk, n_points;
    int workers;        /* processes, and processors, of a task */
    const size_t *task; /* [n_tasks] those to run, ascending */
    size_t n_tasks;
} dls_slurm_array;

/* The batch script. Errors: EUSAGE (a text with a line end in it), EOUTPUT. */
dls_status dls_slurm_script(FILE *out, const dls_slurm_array *array, dls_error *err) DLS_MUST_CHECK;

/* How many tasks are in which state, in order of first mention. */
enum { DLS_SLURM_STATES_MAX = 24 };
typedef struct dls_slurm_states {
    char name[DLS_SLURM_STATES_MAX][24];
    size_t tasks[DLS_SLURM_STATES_MAX];
    size_t n;
} dls_slurm_states;

/* Count a line of sacct ("12_3|CANCELLED by 0") or squeue ("12_3 RUNNING"). Tasks of an array that
 * have not started share one: "12_[0-3,7,10-20:2%4]|PENDING" is 11 tasks. A line that is none of
 * these, and a 25th state, is passed over. */
void dls_slurm_count(dls_slurm_states *states, const char *line);

#endif
