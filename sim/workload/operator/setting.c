/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Step time of a workload on several workers: checks the setting, then all-reduce or parameter
 * servers, synchronous or not, over the given fabric.
 */
#include "workload/operator/schedule.h"

#include "base/own.h"

#include <math.h>

#define WORD_BYTES 4.0

static dls_status check(const dls_work_setting *s, dls_error *err)
{
    if (s->n_workers < 1 || s->n_servers < 0 || !(s->batch > 0)) {
        return dls_fail(err, DLS_EINPUT, "setting", "at least one worker and a positive batch");
    }
    if (!s->fabric && (s->n_workers > 1 || s->n_servers > 0)) {
        return dls_fail(err, DLS_EINPUT, "setting", "several machines need a fabric");
    }
    if (s->async && s->n_servers == 0) {
        return dls_fail(err, DLS_EINPUT, "setting", "asynchronous training needs a server");
    }
    return DLS_OK;
}

dls_rates dls_setting_rates(const dls_opmodel *model, const dls_work_setting *s, dls_op_rates *own)
{
    dls_rates rates = dls_opmodel_rates(model, s->gpu, s->numeric);
    const double beside = s->fabric && s->n_workers > 1 ? 1 + s->fabric->beside : 1;
    if (beside > 1) {
        rates.mem_bps /= beside;
        for (int i = 0; i < DLS_PASSES; i++) {
            rates.pass_bps[i] /= beside;
        }
    }
    if (rates.op && beside > 1) {
        *own = *rates.op;
        rates.op = own;
        for (int f = 0; f < DLS_FAMILY_COUNT; f++) {
            own->byte_s[f] *= beside;
        }
    }
    return rates;
}

double dls_setting_late(const dls_work_setting *s)
{
    return s->fabric ? 1 + s->fabric->straggle * (1 - 1.0 / s->n_workers) : 1;
}

dls_status dls_setting_step(const dls_opmodel *model, const dls_workload *w,
                            const dls_work_setting *s, dls_step_in_setting *out, dls_error *err)
{
    DLS_FREED double *kernel_s = NULL;
    if (dls_setting_is_scheduled(s)) {
        DLS_TRY(dls_alloc_array(&kernel_s, w->n_kernels + 1, sizeof *kernel_s, "kernels", err));
    }
    return dls_setting_kernels(model, w, s, kernel_s, out, err);
}

dls_status dls_setting_kernels(const dls_opmodel *model, const dls_workload *w,
                               const dls_work_setting *s, double *kernel_s,
                               dls_step_in_setting *out, dls_error *err)
{
    DLS_TRY(check(s, err));
    if (model->sized) {
        DLS_TRY(dls_gpu_knows(s->gpu, s->numeric, err));
    }
    DLS_TRY(dls_opmodel_knows(model, s->gpu, s->numeric, w, err));
    dls_op_rates own;
    const dls_rates rates = dls_setting_rates(model, s, &own);
    out->gpu = dls_step_kernels(w, &rates, s->batch, kernel_s);
    out->one_s = dls_step_host_s(&out->gpu, w, s->host);
    out->exchange_s = 0;
    out->step_s = out->one_s;
    if (s->n_workers < 2 && s->n_servers == 0) {
        return DLS_OK;
    }
    const double bytes = WORD_BYTES * w->params;
    const double hot = dls_ps_hot_bytes(w->tensor, w->n_tensors, s->n_servers);
    if (s->async) {
        out->step_s =
            dls_fabric_async_s(s->fabric, s->n_workers, out->one_s, bytes, hot, w->n_tensors);
        out->exchange_s = out->step_s - out->one_s;
        return DLS_OK;
    }
    if (dls_setting_is_scheduled(s)) {
        double begin_s, end_s, backward_end_s;
        DLS_TRY(dls_timeline_messages(model, w, s, out, kernel_s, &begin_s, &end_s, &backward_end_s, err));
        const double update_s = (s->host ? s->host->slowdown : 1) * out->gpu.update_s;
        out->exchange_s = end_s - begin_s;
        out->step_s = fmax(end_s, backward_end_s) + update_s;
        return DLS_OK;
    }
    out->exchange_s = s->n_servers > 0
                          ? dls_fabric_ps_s(s->fabric, s->n_workers, bytes, hot, w->n_tensors)
                          : dls_fabric_allreduce_s(s->fabric, s->n_workers, bytes, w->n_tensors);
    out->step_s = dls_fabric_step_s(s->fabric, s->n_workers, out->one_s, out->exchange_s);
    return DLS_OK;
}
