/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * slurm.conf as options of the scheduler `slurm`.
 */
#ifndef DLS_SITE_SLURM_CONF_H
#define DLS_SITE_SLURM_CONF_H

#include "dlsim/error.h"
#include "dlsim/site.h"
#include "site/slurm_log.h"

#include <stdbool.h>
#include <stdio.h>

typedef struct dls_site_tables {
    bool cpu_jobs, partitions, jobs, outages; /* .csv */
} dls_site_tables;

/* What decides how other files are read: `memory` is what jobs are given by node, running jobs of a lower
 * QoS give way; mode: what becomes of them, as dls_site_preempt_mode. path NULL: Slurm's defaults.
 * Errors: EINPUT (no setting of Slurm's is in it), ENOMEM. */
typedef struct dls_site_rules {
    bool memory, preempt, no_requeue; /* no_requeue: of jobs that do not ask for it (JobRequeue=0) */
    double exempt_s;                  /* PreemptExemptTime */
    const char *mode;
} dls_site_rules;
/* A PreemptMode as the table of QoS has it: "requeue", "cancel", "none" (SUSPEND, not modelled), "" (OFF). */
const char *dls_site_preempt_mode(const char *text);
/* Seconds of a PreemptExemptTime or GraceTime; 0 of NONE or -1, or what is no time. */
double dls_site_span_of(const char *text);
dls_status dls_site_rules_read(const char *path, dls_site_rules *rules,
                               dls_error *err) DLS_MUST_CHECK;

/* Write "scheduler: {...};" for a slurm.conf, or what `scontrol show config` prints; site->conf
 * NULL: Slurm's defaults. epoch: date of the trace's time 0. log: NULL, or what runs.csv was made
 * of; tables: which others were made. What is not understood or not modelled goes to `to`. Errors:
 * EINPUT, ENOMEM. */
dls_status dls_site_put_scheduler(FILE *cfg, const dls_site_slurm *site, const dls_trace_source *sacct, double cluster_cpus,
                                  dls_site_tables tables, const char *epoch,
                                  const dls_site_log *log, FILE *to, dls_error *err) DLS_MUST_CHECK;

#endif
