/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Base of the sources that predict with learned kernel networks: loads the file of networks and
 * keeps the kernel times of one kind of job at a time.
 */
#include "predictor/sources/networks.h"

#include "base/alloc.h"
#include "base/own.h"

#include <string.h>

DLS_OWNER(dls_networks, dls_networks_close)

static dls_status load(dls_networks *n, const char *path, dls_learned how, dls_error *err)
{
    DLS_TRY(dls_kernel_nets_load(path, &n->nets, err));
    return n->nets.how == how
               ? DLS_OK
               : dls_fail(err, DLS_ECONFIG, "predictor.weights", "%s has networks of %s, not of %s",
                          path, dls_learned_names[n->nets.how], dls_learned_names[how]);
}

dls_status dls_networks_open(const dls_prediction_params *p, const dls_kinds *kinds,
                             dls_learned how, dls_networks **out, dls_error *err)
{
    DLS_HOLD(dls_networks_close) dls_networks *n = NULL;
    DLS_TRY(dls_alloc_array(&n, 1, sizeof *n, "networks", err));
    n->kind = -1;
    n->learned = p->weights != NULL;
    DLS_TRY(n->learned ? load(n, p->weights, how, err) : DLS_OK);
    DLS_TRY(dls_baseline_init(&n->base, p, kinds, err));
    *out = dls_take(&n);
    return DLS_OK;
}

void dls_networks_close(void *networks)
{
    dls_networks *n = networks;
    if (n) {
        dls_workload_fini(&n->work);
        dls_kernel_nets_fini(&n->nets);
        dls_baseline_fini(&n->base);
        dls_free(n);
    }
}

dls_status dls_networks_turn_to(dls_networks *n, int32_t kind, dls_error *err)
{
    const dls_kind *k = &n->base.kinds->kind[kind];
    if (n->kind == kind) {
        return DLS_OK;
    }
    dls_workload_fini(&n->work);
    n->kind = -1;
    DLS_TRY(dls_model_at_batch(&k->names, (int32_t)k->batch, n->base.numeric, &n->work, err));
    memset(n->one_s, 0, sizeof n->one_s);
    n->kind = kind;
    return DLS_OK;
}
