/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A Kubernetes site's objects as a trace and a configuration that replays it.
 *
 *      kubectl get nodes,pods,workloads,clusterqueues,localqueues -A -o json
 *
 *      Node                      --> cluster.cfg   GPUs (nvidia.com/gpu), their product, processors
 *      Pod                       --> trace.csv     pods of one Job, PyTorchJob, PodGroup are one
 * gang Workload (Kueue)          --> trace.csv     when its gang was submitted, and its queue
 *      ClusterQueue, LocalQueue  --> cluster.cfg   quotas of the scheduler `fair-share`
 *
 * What may be changed here: which members are read. tests/cli/site_kubernetes.sh guards it.
 */
#ifndef DLS_SITE_KUBERNETES_H
#define DLS_SITE_KUBERNETES_H

#include "dlsim/error.h"

#include <stdio.h>

/* Write folder/trace.csv and folder/cluster.cfg, and report to `to` what was read and left out. The
 * text and one object are in memory, and a record per gang. Errors: EINPUT with the place, EOUTPUT,
 * ENOMEM. */
dls_status dls_site_import_kubernetes(const char *objects, const char *folder, FILE *to,
                                      dls_error *err) DLS_MUST_CHECK;

#endif
