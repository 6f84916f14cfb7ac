/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Settings that datasets are built for: which GPUs, how many, and what connects them. Read from
 * files of configs/settings or of the user.
 *
 *      settings = (
 *        { name = "V100-P1w2"; gpu = "V100"; workers = 2; servers = 1; nodes = 1;
 *          exchange = "ps-sync"; link = "pcie3"; network = ""; }
 *      );
 *
 * With buckets = true all-reduce is that of PyTorch's DistributedDataParallel, with apart = true servers
 * have machines of their own (workload/operator/schedule.h).
 */
#ifndef DLS_DATASET_SETTING_H
#define DLS_DATASET_SETTING_H

#include "predictor/dataset/dataset.h"
#include "workload/operator/timeline.h"

typedef struct dls_setting_spec {
    char name[DLS_DATASET_NAME];
    char gpu[DLS_HW_NAME];
    char exchange[16];         /* "one", "allreduce", "ps-sync", "ps-async" */
    char link[DLS_HW_NAME];    /* between the GPUs of a node */
    char network[DLS_HW_NAME]; /* between the nodes; "" for one node */
    int32_t workers, servers, nodes;
    bool buckets, apart; /* schedule.h; false where a file does not say */
} dls_setting_spec;

typedef struct dls_setting_list {
    dls_setting_spec *spec; /* owned */
    size_t n, cap;
} dls_setting_list;

void dls_setting_list_fini(dls_setting_list *list); /* NULL-safe */

/* Append the settings of a file. Errors: ECONFIG with file and line (unreadable, a missing or wrong
 * member, a GPU or link that hw does not have, workers that do not divide over the nodes, a name
 * that is there already), ENOMEM. */
dls_status dls_setting_list_load(const char *path, const dls_hardware *hw, dls_setting_list *list,
                                 dls_error *err) DLS_MUST_CHECK;

/* The operator model's view. The fabric is made from the tables of links for the workload
 * (dls_topology_fabric), so it must live as long as *out. spec is one that was loaded with hw.
 * Errors: ECONFIG (operator.cfg without the fabrics whose overlap is taken), EINPUT. */
dls_status dls_setting_work(const dls_setting_spec *spec, const dls_opmodel *model,
                            const dls_hardware *hw, const dls_workload *w, double batch,
                            dls_numeric numeric, dls_fabric *fabric, dls_work_setting *out,
                            dls_error *err) DLS_MUST_CHECK;

/* The link that workers exchange over: that between nodes, if there are several; "" for one worker.
 */
const char *dls_setting_link(const dls_setting_spec *spec);
/* What a dataset says of its setting; *s has no rows yet. */
void dls_dataset_setting_describe(const dls_setting_spec *spec, dls_dataset_setting *s);

#endif
