/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The operator model's formulas: roofline time of each kernel with efficiency factors, step time
 * with host effects, memory of a step.
 */
#include "workload/operator/model.h"

#include <math.h>
#include <strings.h>

#define LAUNCH_PER_TENSOR 0.3 /* of a launch: the optimiser works on several tensors at a time */
#define WORD_BYTES 4.0
#define MIB 1048576.0
#define CONTEXT_BYTES (450 * MIB) /* CUDA context and libraries */
#define WORKSPACE_BYTES (256 * MIB)

const dls_host *dls_opmodel_host(const dls_opmodel *model, const char *name)
{
    for (size_t i = 0; i < model->n_hosts; i++) {
        if (strcasecmp(model->host[i].name, name) == 0) {
            return &model->host[i];
        }
    }
    return NULL;
}

const dls_fabric *dls_opmodel_fabric(const dls_opmodel *model, const char *name)
{
    for (size_t i = 0; i < model->n_fabrics; i++) {
        if (strcasecmp(model->fabric[i].name, name) == 0) {
            return &model->fabric[i].fabric;
        }
    }
    return NULL;
}

static const dls_gpu_factor *factor_of(const dls_opmodel *model, const char *gpu,
                                       dls_numeric numeric)
{
    for (size_t i = 0; i < model->n_factors; i++) {
        if (model->factor[i].numeric == numeric && strcasecmp(model->factor[i].gpu, gpu) == 0) {
            return &model->factor[i];
        }
    }
    return NULL;
}

/* Its own, else those of the GPU it is like: one step, so that no circle of names can hang it. */
static dls_gpu_factor factors_for(const dls_opmodel *model, const dls_hw_gpu *gpu,
                                  dls_numeric numeric)
{
    const char *like = numeric == DLS_NUMERIC_FP32 && *gpu->like_fp32 ? gpu->like_fp32 : gpu->like;
    const dls_gpu_factor *f = factor_of(model, gpu->name, numeric);
    if (!f && *like) {
        f = factor_of(model, like, numeric);
    }
    return f ? *f : (dls_gpu_factor){.compute = 1, .memory = 1};
}

dls_rates dls_opmodel_rates(const dls_opmodel *model, const dls_hw_gpu *gpu, dls_numeric numeric)
{
    double peak = gpu->fp32_flops;
    dls_numeric as = DLS_NUMERIC_FP32;
    if (numeric == DLS_NUMERIC_TF32 && gpu->tf32_flops > 0) {
        peak = gpu->tf32_flops;
        as = DLS_NUMERIC_TF32;
    } else if ((numeric == DLS_NUMERIC_FP16 || numeric == DLS_NUMERIC_BF16) &&
               gpu->fp16_flops > 0) {
        peak = gpu->fp16_flops;
        as = DLS_NUMERIC_FP16;
    }
    const dls_gpu_factor factor = factors_for(model, gpu, as);
    dls_rates r = {.launch_s = model->launch_s[as],
                   .derate = 1,
                   .element_bytes = as == DLS_NUMERIC_FP16 ? 2 : WORD_BYTES,
                   .mem_bps = gpu->mem_bps * factor.memory * model->eta[as][DLS_KERNEL_MEMORY]};
    for (int f = 0; f < DLS_KERNEL_MEMORY; f++) {
        r.flops[f] = peak * factor.compute * model->eta[as][f];
    }
    for (size_t i = 0; i < model->n_derates; i++) {
        if (strcasecmp(model->derate[i].gpu, gpu->name) == 0) {
            r.derate = model->derate[i].factor;
        }
    }
    if (model->measured) {
        r.measured = dls_op_times_of(model->measured, gpu->name, as, &r.n_measured);
    }
    return r;
}

double dls_kernel_bytes(const dls_kernel *k, const dls_rates *rates, double batch)
{
    return k->repeats * rates->element_bytes * (batch * k->moved + k->moved_once);
}

bool dls_kernel_work(const dls_kernel *k, double element_bytes, double batch, dls_op_work *work)
{
    *work = (dls_op_work){.count = 0};
    if (k->family == DLS_KERNEL_MEMORY) {
        const double bytes = element_bytes * (batch * k->moved + k->moved_once);
        work->bytes = bytes < 9e18 ? llrint(bytes) : 0;
        return work->bytes > 0;
    }
    *work = (dls_op_work){.count = k->count, .m = k->m, .n = k->n, .k = k->k};
    return k->count > 0 && k->m > 0 && k->n > 0 && k->k > 0 && k->at_batch == batch;
}

double dls_kernel_s(const dls_kernel *k, const dls_rates *rates, double batch)
{
    dls_op_work work;
    if (rates->n_measured > 0 && dls_kernel_work(k, rates->element_bytes, batch, &work)) {
        const double seconds = dls_op_time_find(rates->measured, rates->n_measured, &work);
        if (seconds > 0) {
            return k->repeats * seconds;
        }
    }
    const double memory = dls_kernel_bytes(k, rates, batch) / rates->mem_bps;
    const double compute = k->family == DLS_KERNEL_MEMORY
                               ? 0
                               : k->repeats * batch * k->flops / rates->flops[k->family];
    return rates->derate * (fmax(compute, memory) + k->repeats * rates->launch_s);
}

dls_step dls_step_time(const dls_workload *w, const dls_rates *rates, double batch)
{
    dls_step step = {0, 0, 0, 0};
    for (size_t i = 0; i < w->n_kernels; i++) {
        const double s = dls_kernel_s(&w->kernel[i], rates, batch);
        *(w->kernel[i].backward ? &step.backward_s : &step.forward_s) += s;
    }
    step.update_s = rates->derate *
                    (WORD_BYTES * dls_optimiser_moved(w->optimiser) * w->params / rates->mem_bps +
                     LAUNCH_PER_TENSOR * rates->launch_s * (double)w->n_tensors);
    step.gpu_s = step.forward_s + step.backward_s + step.update_s;
    return step;
}

double dls_step_host_s(const dls_step *step, const dls_workload *w, const dls_host *host)
{
    if (!host) {
        return step->gpu_s;
    }
    const double gpu = host->slowdown * step->gpu_s;
    const double least = host->floor_s + host->floor_per_op_s * w->n_ops;
    return sqrt(hypot(gpu * gpu, least * least));
}

double dls_step_memory_bytes(const dls_workload *w, dls_numeric numeric, double batch)
{
    const bool mixed = numeric == DLS_NUMERIC_FP16 || numeric == DLS_NUMERIC_BF16;
    const double element = dls_numeric_bytes(numeric);
    const double state = 2 + dls_optimiser_words(w->optimiser);
    return WORD_BYTES * state * w->params + (mixed ? element * w->params : 0) +
           batch * (element * w->activations + WORD_BYTES * w->input) + WORKSPACE_BYTES +
           CONTEXT_BYTES;
}
