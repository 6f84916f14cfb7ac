/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A Slurm site's files as a trace and a configuration that replays it.
 *
 *      sacct -P            --> trace.csv       (traces/sacct.c reads it)
 *      scontrol show nodes --> cluster.cfg     nodes with GPUs, in Slurm's order
 *      slurm.conf          --> cluster.cfg     options of the scheduler `slurm`
 *      sshare -a -P        --> shares.csv
 *      slurmctld's log     --> runs.csv        when the schedulers ran (option `runs`)
 *
 * What may be changed here: which fields are read. tests/cli/site.sh guards it, with recordings of
 * a real Slurm in tests/slurm.
 */
#ifndef DLS_SITE_SLURM_H
#define DLS_SITE_SLURM_H

#include "dlsim/error.h"

#include <stdio.h>

typedef struct dls_site_slurm {
    const char *sacct, *nodes; /* files; needed */
    const char *conf;          /* slurm.conf or `scontrol show config`; NULL: Slurm's defaults */
    const char *shares;        /* `sshare -a -P`; NULL: every user has the same share */
    const char *log;           /* slurmctld's, for what is between seconds; NULL: there is none */
    const char *folder;        /* made if it is not there; files in it are replaced */
} dls_site_slurm;

/* Write folder/trace.csv, folder/cluster.cfg, with shares and log
 * folder/shares.csv and folder/runs.csv, and report to `to`
 * what was read, left out and changed. O(bytes); the trace is in memory. Errors: EINPUT with file
 * and line, EOUTPUT, ENOMEM. */
dls_status dls_site_import_slurm(const dls_site_slurm *site, FILE *to,
                                 dls_error *err) DLS_MUST_CHECK;

#endif
