/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Pods of gangs. Each counts once, however often it was listed; a gang is as large as most of its pods at once, for those
 * that were started anew or one after the other never held their GPUs together.
 */
#ifndef DLS_SITE_KUBE_PODS_H
#define DLS_SITE_KUBE_PODS_H

#include "base/strdict.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct dls_kube_pod {
    int32_t gang, name; /* name: "namespace/name" */
    int64_t gpus, cpu_milli;
    int64_t start_us, end_us; /* DLS_ABSENT: never bound; still runs, or is lost */
    bool undated, failed;     /* undated: nobody knows when it came */
} dls_kube_pod;

typedef struct dls_kube_pods {
    dls_strdict keys, names;
    dls_kube_pod *at; /* [keys.n] */
    size_t cap, again; /* again: listed before */
} dls_kube_pods;

/* What the pods of a gang come to. */
typedef struct dls_kube_gathered {
    int64_t gpus, cpu_milli;  /* of most pods at once */
    int64_t start_us, end_us; /* when they were that many first; of the last pod */
    int64_t all_gpus;         /* of all pods */
    bool some, undated, unbound, running, failed; /* there are pods; of some */
} dls_kube_gathered;

void dls_kube_pods_fini(dls_kube_pods *p);
/* Of a pod that was listed before what is known of its end stays. The name is taken from the text. */
dls_status dls_kube_pods_put(dls_kube_pods *p, const char *key, const char *name, dls_kube_pod *pod,
                             dls_error *err) DLS_MUST_CHECK;
/* The pods that were bound, with their jobs and when they were there: pods.csv, which dlsim import dcgm takes. */
dls_status dls_kube_pods_write(const dls_kube_pods *p, const dls_strdict *jobs, const char *path,
                               dls_error *err) DLS_MUST_CHECK;
/* out[gangs]. O(pods log pods). */
dls_status dls_kube_pods_gather(const dls_kube_pods *p, size_t gangs, dls_kube_gathered *out, dls_error *err) DLS_MUST_CHECK;

#endif
