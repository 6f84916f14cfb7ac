/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What slurm.conf says of scheduling, as options of the scheduler `slurm`.
 */
#ifndef DLS_SITE_SLURM_CONF_H
#define DLS_SITE_SLURM_CONF_H

#include "dlsim/error.h"

#include <stdbool.h>
#include <stdio.h>

/* Write "scheduler: {...};" for a slurm.conf, or what `scontrol show config` prints; conf NULL:
 * defaults. cluster_cpus: of all nodes; shares: is there a shares.csv? What is not understood is
 * named on `to`. Errors: EINPUT. */
dls_status dls_site_put_scheduler(FILE *cfg, const char *conf, double cluster_cpus, bool shares,
                                  const char *epoch, FILE *to, dls_error *err) DLS_MUST_CHECK;

#endif
