/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which nodes with GPUs are in which of Slurm's partitions.
 */
#ifndef DLS_SITE_SLURM_PARTITIONS_H
#define DLS_SITE_SLURM_PARTITIONS_H

#include "base/strdict.h"
#include "dlsim/trace.h"

#include <stdbool.h>
#include <stdio.h>

typedef struct dls_site_partitions {
    dls_strdict lists; /* "a,b" as Slurm prints them */
    dls_strdict names; /* "a", "b" */
    int32_t *list;     /* [n] of each node with GPUs, in order */
    size_t n, cap;
    char *scontrol; /* what `scontrol show partitions -o` printed; NULL: not known */
} dls_site_partitions;

void dls_site_partitions_fini(dls_site_partitions *p);
/* What `scontrol show partitions -o` printed: tiers and limits. Errors: EINPUT, ENOMEM. */
dls_status dls_site_partitions_read(dls_site_partitions *p, const char *path,
                                    dls_error *err) DLS_MUST_CHECK;
/* The next node is in these. Errors: ENOMEM. */
dls_status dls_site_partitions_add(dls_site_partitions *p, const char *list,
                                   dls_error *err) DLS_MUST_CHECK;
/* Are there nodes that are not in the same partitions? */
bool dls_site_partitions_differ(const dls_site_partitions *p);
/* The table of the option `partitions` of the scheduler `slurm`; where tiers are not known all are 1.
 * Jobs of the trace that ran with a longer limit than MaxTime raise it and are counted in `to`. */
void dls_site_partitions_put(const dls_site_partitions *p, const dls_trace *trace, FILE *out,
                             FILE *to);

#endif
