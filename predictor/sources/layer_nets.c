/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Keeps a file of Justus's networks open, away from headers that use the same names for other
 * things.
 */
#include "predictor/sources/layer_nets.h"

#include "base/alloc.h"
#include "base/own.h"
#include "predictor/baselines/justus.h"

DLS_OWNER(dls_layer_nets, dls_layer_nets_close)

struct dls_layer_nets {
    dls_kernel_nets nets;
};

dls_status dls_layer_nets_open(const char *path, dls_layer_nets **out, dls_error *err)
{
    DLS_HOLD(dls_layer_nets_close) dls_layer_nets *n = NULL;
    DLS_TRY(dls_alloc_array(&n, 1, sizeof *n, "networks", err));
    DLS_TRY(dls_kernel_nets_load(path, &n->nets, err));
    if (n->nets.how != DLS_LEARNED_JUSTUS) {
        return dls_fail(err, DLS_EINPUT, path, "networks of another method than justus");
    }
    *out = dls_take(&n);
    return DLS_OK;
}

void dls_layer_nets_close(dls_layer_nets *n)
{
    if (n) {
        dls_kernel_nets_fini(&n->nets);
        dls_free(n);
    }
}

dls_status dls_layer_nets_step_s(const dls_layer_nets *n, const dls_workload *w,
                                 const dls_hw_gpu *gpu, dls_numeric numeric, double batch,
                                 double *step_s, dls_error *err)
{
    return dls_justus_step_s(&n->nets, w, gpu, numeric, batch, step_s, err);
}
