/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Quotas of Kubernetes: Kueue's ClusterQueues and Cohorts, KAI's Queues; members of objects.
 */
#ifndef DLS_SITE_KUBE_QUOTAS_H
#define DLS_SITE_KUBE_QUOTAS_H

#include "base/strdict.h"
#include "traces/walk.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define DLS_KUBE_GPU "nvidia.com/gpu"
#define DLS_KUBE_KAI "scheduling.run.ai/" /* apiVersion, without the version */

/* ---- members: NULL, "", NULL and 0, 0 where there is none ------------------------------------- */

json_object *dls_kube_get(json_object *of, const char *name);
const char *dls_kube_text(json_object *of, const char *name);
/* A member that is a list, and its length. */
json_object *dls_kube_list_of(json_object *of, const char *name, size_t *n);

/* ---- quotas ---------------------------------------------------------------------------------- */

typedef struct dls_kube_quota {
    int32_t queue, parent; /* in names; a Cohort is "cohort/NAME"; parent -1: none */
    bool kai;
    int64_t gpus, borrow, lend; /* limits -1: none */
    double fair_weight;         /* of Kueue's fair sharing */
    char policies[3][32];       /* within, reclaim, borrowing: Kueue's words, or a priority; "": Never */
    bool strict;
    double quota, limit, weight; /* KAI's; -1: none, of quota and limit */
    int64_t priority;
    char created[32];
} dls_kube_quota;

typedef struct dls_kube_quotas {
    dls_strdict names;
    dls_kube_quota *at;
    size_t n, cap;
    size_t n_kai;
    size_t weighted;                       /* that have a weight of Kueue's */
    char fair[10];                         /* of Kueue's configuration: its strategies, "none"; "": not there */
    size_t stopped, checked, least, others; /* what is not modelled: stopPolicy, admissionChecks, KAI's least run times,
                                               quotas of other resources */
    size_t odd;                            /* numbers that are none */
    char first_odd[64];
} dls_kube_quotas;

void dls_kube_quotas_fini(dls_kube_quotas *q);
/* An object that is a quota is kept, of one that is there twice the last; *is: it is one. Errors: EINPUT with the place (a name
 * that is none). */
dls_status dls_kube_quotas_read(dls_kube_quotas *q, const dls_walk *w, const char *kind,
                                json_object *object, bool *is, dls_error *err) DLS_MUST_CHECK;
/* Errors: EINPUT (one that is within itself), ENOMEM. O(n x depth). */
dls_status dls_kube_quotas_check(const dls_kube_quotas *q, const char *objects, dls_error *err) DLS_MUST_CHECK;
/* A ConfigMap: of Kueue's configuration fair sharing is kept; false: it is another. */
bool dls_kube_quotas_config(dls_kube_quotas *q, json_object *object);
/* A quantity, or nothing, which is counted. */
int64_t dls_kube_quotas_milli(dls_kube_quotas *q, json_object *of, const char *name);
/* Strategies of fair sharing, as the scheduler `kueue` names them. */
const char *dls_kube_quotas_fair(const dls_kube_quotas *q);
/* "queues.csv" where there are KAI's, else "cohorts.csv"; NULL: no quotas. */
const char *dls_kube_quotas_file(const dls_kube_quotas *q);
/* That table, for dls_atomicfile_write. */
dls_status dls_kube_quotas_put(FILE *csv, void *what, dls_error *err) DLS_MUST_CHECK;
void dls_kube_quotas_report(const dls_kube_quotas *q, int64_t gpus, FILE *to);

#endif
