/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "foresight/networks.h"

#include "predictor/dataset/origin.h"

#include <stdio.h>
#include <string.h>

dls_status dls_networks_init(dls_networks *n, const char *path, dls_learned how, dls_error *err)
{
    *n = (dls_networks){.kind = -1};
    if (!path) {
        return dls_fail(err, DLS_ECONFIG, "predictor.weights",
                        "source %s needs a file of dlsim train --baseline=%s",
                        dls_learned_names[how], dls_learned_names[how]);
    }
    DLS_TRY(dls_kernel_nets_load(path, &n->nets, err));
    if (n->nets.how != how) {
        const dls_status status =
            dls_fail(err, DLS_ECONFIG, "predictor.weights", "%s has networks of %s, not of %s",
                     path, dls_learned_names[n->nets.how], dls_learned_names[how]);
        dls_kernel_nets_fini(&n->nets);
        return status;
    }
    return DLS_OK;
}

void dls_networks_fini(dls_networks *n)
{
    dls_workload_fini(&n->work);
    dls_kernel_nets_fini(&n->nets);
}

dls_status dls_networks_turn_to(dls_networks *n, const dls_baseline *b, int32_t kind,
                                dls_error *err)
{
    const dls_kind *k = &b->kinds->kind[kind];
    dls_dataset_origin origin = {.batch = (int32_t)k->batch};
    dls_numeric numeric;
    if (n->kind == kind) {
        return DLS_OK;
    }
    snprintf(origin.model, sizeof origin.model, "%s", k->names.zoo);
    snprintf(origin.numeric, sizeof origin.numeric, "%s", dls_numeric_name((int)b->numeric));
    dls_workload_fini(&n->work);
    n->kind = -1;
    DLS_TRY(dls_dataset_workload(&origin, &n->work, &numeric, err));
    memset(n->one_s, 0, sizeof n->one_s);
    n->kind = kind;
    return DLS_OK;
}
