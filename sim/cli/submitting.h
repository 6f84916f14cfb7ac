/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim sweep submit: a sweep handed to Slurm, and what Slurm says of it.
 */
#ifndef DLS_CLI_SUBMITTING_H
#define DLS_CLI_SUBMITTING_H

#include "cli/sweeping.h"

typedef struct dls_submit_options {
    bool slurm, yes;
    int64_t chunk; /* points a task; 0: so that there are at most 500 tasks */
    const char *time, *partition;
    dls_words extra;
} dls_submit_options;

/* The script for what is not finished, on stdout, or submitted. The sweep has been planned; the
 * call has its path as its word, and the options that every point takes. */
dls_status dls_submit(const dls_sweeping *s, const dls_call *call, const dls_submit_options *o,
                      dls_error *err) DLS_MUST_CHECK;
/* A line on stdout about the tasks of the sweep that Slurm knows; nothing if none was submitted. */
void dls_submit_status(const dls_sweeping *s);

#endif
