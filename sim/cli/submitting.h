/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim sweep submit: a sweep handed to Slurm, and what Slurm says of it.
 */
#ifndef DLS_CLI_SUBMITTING_H
#define DLS_CLI_SUBMITTING_H

#include "cli/sweeping.h"

#define DLS_SUBMIT_EXTRA_MAX 32

typedef struct dls_submit_options {
    bool slurm, yes;
    int64_t chunk; /* points a task; 0: so that there are at most 500 tasks */
    const char *time, *partition;
    const char *extra[DLS_SUBMIT_EXTRA_MAX];
    size_t n_extra;
} dls_submit_options;

/* The script for what is not finished, on stdout, or submitted. The sweep has been planned. Exit
 * code. */
int dls_submit(const dls_sweeping *s, const char *sweep_path, const dls_submit_options *o);
/* A line on stdout about the tasks of the sweep that Slurm knows; nothing if none was submitted. */
void dls_submit_status(const dls_sweeping *s);

#endif
