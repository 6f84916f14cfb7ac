/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The operator model's formulas: roofline time of each kernel with efficiency factors, step time
 * with host effects, memory of a step.
 */
#include "workload/operator/model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define LAUNCH_PER_TENSOR 0.3 /* of a launch: the optimiser works on several tensors at a time */
#define WORD_BYTES 4.0
#define WORDS_TO_ADD 3.0   /* two gradients read, one written */
#define CORE_BPS 12e9      /* memory of a core: EPYC-CORE of gpus.cfg */
#define COPY_BPS 8.4e9     /* 108 copies to an A100, 423 MB (HolisticTraceAnalysis) */
#define PASSES_TO_MAKE 3.0 /* written; read and written once more where the GPU copies it from */
#define ALIGNED 32
#define ACROSS_TF32 1.1 /* an H100's and H200's transformers that fit */
/* Matrix units reach 0.3 to 0.45 of their rate in tf32, vector units all of theirs and 1.6 times it with
 * Winograd's algorithm: above this many times their rate matrix units are faster in any case. */
#define FASTER 4
/* What PyTorch's kernels move in a second on a multiprocessor where memory is fast enough, by the kinds of kernels
 * of networks that fit on an H100 and an H200, whose memories differ and multiprocessors do not
 * (docs/operator.md). Since Ampere, as nothing older was looked at. */
static const double pass_bps[DLS_PASSES] = {[DLS_PASS_ANY] = 45e9,
                                            [DLS_PASS_COPY] = 30e9,
                                            [DLS_PASS_POOL] = 45e9,
                                            [DLS_PASS_BATCH_NORM] = 26.5e9,
                                            [DLS_PASS_OWN_NORM] = 14.25e9,
                                            [DLS_PASS_SCATTERED] = 30e9};
/* In a second: numbers of a channel, if images lie by channel, that a batch norm moves; numbers that a pool makes
 * on a multiprocessor, and what each that it looks at is of one; numbers that a multiprocessor moves which lie
 * apart (docs/operator.md). */
#define CHANNEL_NUMBERS 3.8e9
#define POOL_NUMBERS 0.89e9
#define POOL_TAP 0.15
#define SCATTERED_NUMBERS 1.12e9
#define FLOOR_POWER 3
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

/* "V100-PCIE", "V100-PCIE-32GB": not a board with NVLink. */
static bool is_card(const char *gpu)
{
    return strcasestr(gpu, "-PCIE") != NULL;
}

/* The clock at which a GPU runs kernels that were measured on another, over the clock there, in fp32. A card of the
 * same chip is the same card; a board of NVLink keeps more of its clock than its card, and like_fp32's factor, of
 * another such pair, says something of that. */
static double clock_of(const char *gpu, const char *kernels, double board, double own)
{
    const bool same = dls_hardware_same_chip(gpu, kernels);
    return same && is_card(gpu) == is_card(kernels) ? 1 : same && is_card(kernels) ? board : own;
}

void dls_opmodel_forget(dls_opmodel *model, dls_sized_table *table, const char *gpu)
{
    size_t n = 0;
    for (size_t i = 0; i < model->n_factors; i++) {
        if (!dls_hardware_same_chip(gpu, model->factor[i].gpu)) {
            model->factor[n++] = model->factor[i];
        }
    }
    model->n_factors = n;
    n = 0;
    for (size_t i = 0; i < model->n_derates; i++) {
        if (!dls_hardware_same_chip(gpu, model->derate[i].gpu)) {
            model->derate[n++] = model->derate[i];
        }
    }
    model->n_derates = n;
    n = 0;
    for (size_t i = 0; i < table->n; i++) {
        if (!dls_hardware_same_chip(gpu, table->row[i].gpu)) {
            table->row[n++] = table->row[i];
        }
    }
    table->n = n;
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

/* Its own, else those of a GPU it is like: one step, so that no circle of names can hang it. */
static dls_gpu_factor factors_for(const dls_opmodel *model, const dls_hw_gpu *gpu, const char *like,
                                  dls_numeric numeric)
{
    const dls_gpu_factor *f = factor_of(model, gpu->name, numeric);
    if (!f && *like) {
        f = factor_of(model, like, numeric);
    }
    return f ? *f : (dls_gpu_factor){.compute = 1, .memory = 1};
}

dls_status dls_gpu_knows(const dls_hw_gpu *gpu, dls_numeric numeric, dls_error *err)
{
    return numeric == DLS_NUMERIC_BF16 && !(gpu->bf16_flops > 0)
               ? dls_fail(err, DLS_EINPUT, "precision", "%s has no units for bf16", gpu->name)
               : DLS_OK;
}

dls_numeric dls_gpu_multiplies_in(const dls_hw_gpu *gpu, dls_numeric numeric)
{
    const bool half = numeric == DLS_NUMERIC_FP16 || numeric == DLS_NUMERIC_BF16;
    return numeric == DLS_NUMERIC_TF32 && gpu->tf32_flops > 0 ? DLS_NUMERIC_TF32
           : half && gpu->fp16_flops > 0                      ? DLS_NUMERIC_FP16
                                                              : DLS_NUMERIC_FP32;
}

dls_status dls_opmodel_knows(const dls_opmodel *model, const dls_hw_gpu *gpu, dls_numeric numeric,
                             const dls_workload *w, dls_error *err)
{
    if (!w->attention || (model->sized && dls_numeric_bytes(numeric) == 2 &&
                          dls_sized_table_for(model->sized, gpu, DLS_SIZED_ATTENTION, DLS_NUMERIC_FP16).row)) {
        return DLS_OK;
    }
    return dls_fail(err, DLS_EINPUT, "attention",
                    "fused attention in %s on %s: not known (in 16 bits, from Ampere to Hopper)",
                    dls_numeric_name(numeric), gpu->name);
}

/* What goes number by number in 16 bits, measured one after the other in a graph: on the GPU itself or its like, or,
 * since no matrix unit has a part in it, on the first that lends it kernels in fp32; NULL: nobody did. */
static const dls_sized_row *elements16(const dls_opmodel *model, const dls_hw_gpu *gpu)
{
    if (!model->sized) {
        return NULL;
    }
    const dls_sized_row *row = dls_sized_table_for(model->sized, gpu, DLS_SIZED_ELEMENTS, DLS_NUMERIC_FP16).row;
    char first[DLS_HW_NAME];
    snprintf(first, sizeof first, "%.*s", (int)strcspn(gpu->kernels_like, " +"), gpu->kernels_like);
    return row ? row : dls_sized_table_find(model->sized, first, DLS_SIZED_ELEMENTS, DLS_NUMERIC_FP16);
}

/* numeric: what was asked for, which these units multiply in `as`. */
static dls_units units_of(const dls_opmodel *model, const dls_hw_gpu *gpu, dls_numeric as,
                          dls_numeric numeric, dls_gpu_factor factor)
{
    const double peak = as == DLS_NUMERIC_FP32        ? gpu->fp32_flops
                        : as == DLS_NUMERIC_TF32      ? gpu->tf32_flops
                        : numeric == DLS_NUMERIC_BF16 ? gpu->bf16_flops
                                                      : gpu->fp16_flops;
    const double own = factors_for(model, gpu, gpu->like, as).compute;
    dls_units u = {.numeric = as, .gpu = dls_sized_gpu_of(gpu, as)};
    u.gpu.alone = false;
    u.launches = elements16(model, gpu) != NULL;
    for (int f = 0; f < DLS_KERNEL_MEMORY; f++) {
        u.eta[f] = model->eta[as][f];
        u.flops[f] = peak * factor.compute * u.eta[f];
    }
    for (int f = 0; model->sized && f < DLS_SIZED_FAMILIES; f++) {
        u.sized[f] = dls_sized_table_for(model->sized, gpu, (dls_sized_family)f, as);
        if (u.sized[f].row) {
            u.clock[f] = as != DLS_NUMERIC_FP32 ? 1
                                                : clock_of(gpu->name, u.sized[f].row->gpu, factor.compute, own);
            /* What convolutions gained with their library lifts no product above the data sheet's rate. */
            u.clock[f] = fmin(u.clock[f], fmax(1, 1 / dls_sized_best_rate(u.sized[f].row)));
        }
    }
    return u;
}

static dls_gpu_factor factors_in(const dls_opmodel *model, const dls_hw_gpu *gpu, dls_numeric as)
{
    const bool fp32 = as == DLS_NUMERIC_FP32;
    return factors_for(model, gpu, fp32 && *gpu->like_fp32 ? gpu->like_fp32 : gpu->like, as);
}

dls_rates dls_opmodel_rates(const dls_opmodel *model, const dls_hw_gpu *gpu, dls_numeric numeric)
{
    const dls_numeric as = dls_gpu_multiplies_in(gpu, numeric);
    const bool fp32 = as == DLS_NUMERIC_FP32;
    const dls_gpu_factor factor = factors_in(model, gpu, as);
    dls_rates r = {.own = units_of(model, gpu, as, numeric, factor),
                   .launch_s = model->launch_s[as],
                   .fp32_flops = gpu->fp32_flops,
                   .groupconv = model->groupconv,
                   .derate = 1,
                   .element_bytes = as == DLS_NUMERIC_FP16 ? 2 : WORD_BYTES,
                   .half_units = as == DLS_NUMERIC_FP16,
                   .mem_bps = gpu->mem_bps * factor.memory * model->eta[as][DLS_KERNEL_MEMORY]};
    /* Numbers of 16 bits are that in memory whatever multiplies them. Families have them as words,
     * as the labels and truths that were made with them do. */
    if (model->sized && dls_numeric_bytes(numeric) <= 2) {
        r.element_bytes = r.own.gpu.element_bytes = dls_numeric_bytes(numeric);
    }
    r.has_vector = model->sized && as == DLS_NUMERIC_TF32 &&
                   !r.own.sized[DLS_SIZED_LINEAR].row &&
                   gpu->tf32_flops < FASTER * gpu->fp32_flops;
    if (r.has_vector) {
        r.vector = units_of(model, gpu, DLS_NUMERIC_FP32, DLS_NUMERIC_FP32,
                            factors_in(model, gpu, DLS_NUMERIC_FP32));
    }
    /* There the shortest says what a launch costs, and those that go number by number what memory gives. */
    const dls_sized_row *measured = elements16(model, gpu);
    if (measured) {
        r.launch_s = 1e-6 * measured->c[DLS_ELEMENTS_FLOOR];
        const dls_sized_row *row =
            r.half_units ? measured
                         : dls_sized_table_for(model->sized, gpu, DLS_SIZED_ELEMENTS, DLS_NUMERIC_FP32).row;
        r.mem_bps = row ? gpu->mem_bps * row->c[DLS_ELEMENTS_MEMORY] : r.mem_bps;
    }
    r.bound = model->sized && gpu->tf32_flops > 0;
    for (int i = 0; i < DLS_PASSES; i++) {
        const double all = r.own.gpu.multiprocessors * pass_bps[i];
        const double slower = pow(1 + pow(r.mem_bps / all, FLOOR_POWER), 1.0 / FLOOR_POWER);
        r.pass_bps[i] = r.bound ? r.mem_bps / slower : r.mem_bps;
    }
    for (size_t i = 0; i < model->n_derates; i++) {
        if (strcasecmp(model->derate[i].gpu, gpu->name) == 0) {
            r.derate = model->derate[i].factor;
        }
    }
    for (size_t i = 0; fp32 && i < model->n_rates; i++) {
        if (strcasecmp(model->rates[i].gpu, gpu->name) == 0) {
            r.op = &model->rates[i];
            r.launch_s = r.op->run_s;
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

/* The product at a batch. */
static dls_sized_kernel product_at(const dls_product *p, double batch, dls_numeric units)
{
    const double grown = batch / p->batch;
    dls_sized_kernel k = {.b = p->count, .m = p->rows, .n = p->depth, .k = p->columns};
    double *const size[] = {
        [DLS_GROWS_UNKNOWN] = p->count > 1 ? &k.b : &k.m,
        [DLS_GROWS_COUNT] = &k.b,
        [DLS_GROWS_ROWS] = &k.m,
        [DLS_GROWS_DEPTH] = &k.n,
        [DLS_GROWS_COLUMNS] = &k.k,
    };
    /* Alignment and family are the layer's: a batch more or less changes no kernel of the library.
     */
    double *const size_of_batch = size[p->grows], at = *size_of_batch;
    *size_of_batch = ALIGNED;
    const bool batched = p->count > 1 || p->grows == DLS_GROWS_COUNT;
    k.family = dls_sized_product_family(batched, k.m, k.n, k.k, units);
    k.streamed = p->grows == DLS_GROWS_DEPTH;
    k.row_n = k.streamed ? k.m : k.n;
    k.row_k = k.k;
    *size_of_batch = at * grown;
    return k;
}

/* The same work as a convolution: the gradient of the data is one with the channels swapped. */
static dls_sized_kernel window_at(const dls_kernel *k, double batch)
{
    const dls_window *w = &k->window;
    const bool data = k->part == DLS_PART_DATA;
    return (dls_sized_kernel){.family = DLS_SIZED_CONV,
                              .batch = batch,
                              .in_c = data ? w->out_c : w->in_c,
                              .out_c = data ? w->in_c : w->out_c,
                              .in_h = w->in_h,
                              .in_w = w->in_h,
                              .out_h = w->out_h,
                              .out_w = w->out_h,
                              .kernel_h = w->kernel_h,
                              .kernel_w = w->kernel_w,
                              .stride = w->stride};
}

/* What the sized model knows: not convolutions of groups, whose work is small beside their bytes.
 */
static bool sized_kernel(const dls_kernel *k, double batch, dls_numeric units,
                         dls_sized_kernel *out)
{
    const bool conv = k->family < DLS_KERNEL_MATMUL, matrix = units != DLS_NUMERIC_FP32;
    if (!(k->product.batch > 0) || (k->family == DLS_KERNEL_CONV5 && !matrix) ||
        (conv && k->product.count > 1)) {
        return false;
    }
    /* On vector units 1x1 is a product, and so is what no algorithm saves work on. */
    const bool window = matrix ? k->part != DLS_PART_WEIGHT
                               : k->family != DLS_KERNEL_CONV1 &&
                                     (k->part != DLS_PART_WEIGHT || k->family == DLS_KERNEL_CONV3);
    *out = conv && window ? window_at(k, batch) : product_at(&k->product, batch, units);
    if (conv && window) {
        (void)dls_sized_as_product(out, units);
    } else if (conv ||
               (k->backward && units == DLS_NUMERIC_FP16 && out->family == DLS_SIZED_LINEAR)) {
        out->row_n = out->row_k = 0; /* what fills no vectors costs no more there */
    }
    return true;
}

static double attention_s(const dls_kernel *k, const dls_units *u, double batch)
{
    const dls_product *p = &k->product;
    const dls_sized_kernel work = {.family = DLS_SIZED_ATTENTION,
                                   .op = k->backward,
                                   .b = p->count * batch / p->batch,
                                   .m = p->rows,
                                   .n = p->columns,
                                   .k = p->depth};
    return dls_sized_pair_s(&work, u->sized[DLS_SIZED_ATTENTION], &u->gpu);
}

/* Seconds of one run and of its launch, if that is known; 0: the formula of families answers. */
static double sized_s(const dls_kernel *k, const dls_units *u, double batch, double *launch_s)
{
    if (k->attention && u->sized[DLS_SIZED_ATTENTION].row) {
        return attention_s(k, u, batch);
    }
    dls_sized_kernel work;
    const dls_sized_row *conv = u->sized[DLS_SIZED_CONV].row;
    const dls_numeric units = u->numeric;
    if (!u->sized[DLS_SIZED_LINEAR].row || (k->family < DLS_KERNEL_MATMUL && !conv) ||
        !sized_kernel(k, batch, units, &work) || !u->sized[work.family].row) {
        return 0;
    }
    /* A family's efficiency in 16 bits and tf32 is of the data sheet's rate, not of the kernels'.
     */
    const dls_sized_pair by = u->sized[work.family];
    const double eta = by.row->numeric == DLS_NUMERIC_FP32 ? u->eta[k->family] : 1;
    if (u->launches && by.row->numeric != DLS_NUMERIC_FP32) {
        *launch_s =
            1e-6 *
            by.row->c[work.family == DLS_SIZED_CONV ? (int)DLS_CONV_FLOOR : (int)DLS_PRODUCT_FLOOR];
    }
    double s = dls_sized_pair_s(&work, by, &u->gpu) / (eta * u->clock[work.family]);
    /* In tf32 the library is fastest where both operands lie along the sum, as a linear layer's do and those of its
     * gradients do not. */
    if (units == DLS_NUMERIC_TF32 && k->backward && k->family == DLS_KERNEL_MATMUL &&
        work.family == DLS_SIZED_LINEAR) {
        s *= ACROSS_TF32;
    }
    /* The gradient of weights transposes what it reads, as the convolution did. */
    if (units != DLS_NUMERIC_FP32 && k->family < DLS_KERNEL_MATMUL && k->part == DLS_PART_WEIGHT) {
        work = window_at(k, batch);
        return s + dls_sized_turned_s(&work, conv, &u->gpu);
    }
    return s;
}

/* One run of a kernel that multiplies, and its launch, if that is known. */
static double compute_s(const dls_kernel *k, const dls_units *u, double batch, double *launch_s)
{
    const double s = sized_s(k, u, batch, launch_s);
    return s > 0 ? s : batch * k->flops / u->flops[k->family];
}

/* What takes as long whatever the bytes: a batch norm of few channels that lie apart, each of which
 * one block of threads moves; the numbers of a pool and those that each looks at. */
static double window_s(const dls_kernel *k, const dls_rates *rates, double batch, double bytes)
{
    const dls_window *w = &k->window;
    if (!rates->bound || w->in_c < 1) {
        return 0;
    }
    if (k->pass == DLS_PASS_BATCH_NORM || k->pass == DLS_PASS_OWN_NORM) {
        return k->layout == DLS_LAYOUT_FIRST
                   ? bytes / rates->element_bytes / (CHANNEL_NUMBERS * w->in_c)
                   : 0;
    }
    if (k->pass == DLS_PASS_SCATTERED) {
        return batch * w->in_c / (SCATTERED_NUMBERS * rates->own.gpu.multiprocessors);
    }
    if (k->pass != DLS_PASS_POOL) {
        return 0;
    }
    const double edge = k->backward ? w->in_h : w->out_h, across = k->backward ? w->stride : 1;
    const double taps = w->kernel_h / across * w->kernel_w / across;
    return batch * edge * edge * w->in_c * (1 + POOL_TAP * taps) /
           (POOL_NUMBERS * rates->own.gpu.multiprocessors);
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
    if (rates->op) {
        return k->repeats *
                   (rates->op->run_s + rates->op->flop_s[k->op_family] * batch * k->flops) +
               rates->op->byte_s[k->op_family] * dls_kernel_bytes(k, rates, batch);
    }
    const double bytes = dls_kernel_bytes(k, rates, batch);
    const double memory = fmax(bytes / rates->pass_bps[k->pass], window_s(k, rates, batch, bytes));
    const dls_groupconv *g = &rates->groupconv;
    const double once = bytes / k->repeats, mem_bps = rates->own.gpu.mem_bps;
    const bool half = rates->half_units;
    double grouped = half && rates->own.sized[DLS_SIZED_CONV].row
                         ? dls_groupconv9_s(g, k, batch, once, mem_bps, rates->fp32_flops, rates->own.gpu.flops)
                         : 0;
    if (!(grouped > 0)) {
        grouped = half ? dls_groupconv_s(g, k, batch, once, mem_bps, rates->fp32_flops)
                       : dls_groupconv32_s(g, k, batch, once, mem_bps, rates->fp32_flops,
                                           rates->own.gpu.flops);
    }
    if (grouped > 0) {
        return rates->derate * k->repeats * (grouped + rates->launch_s);
    }
    double launch_s = rates->launch_s, compute = 0;
    if (k->family != DLS_KERNEL_MEMORY) {
        compute = k->repeats * compute_s(k, &rates->own, batch, &launch_s);
    }
    if (rates->has_vector && k->family != DLS_KERNEL_MEMORY) {
        compute = fmin(compute, k->repeats * compute_s(k, &rates->vector, batch, &launch_s));
    }
    return rates->derate * (fmax(compute, memory) + k->repeats * launch_s);
}

/* PyTorch's optimisers go over all parameters once an operation: with momentum a product (2 numbers
 * moved) and two sums (3); AdamW's decay, two means (3, 2 and 3), root, quotient, sum (2) and step
 * (4). */
double dls_update_bytes(const dls_workload *w)
{
    const double moved = w->process > 0 && w->optimiser == DLS_OPTIMISER_MOMENTUM ? 8
                         : w->process > 0 && w->optimiser == DLS_OPTIMISER_ADAM
                             ? 20
                             : dls_optimiser_moved(w->optimiser);
    return WORD_BYTES * moved * w->params;
}

double dls_update_runs(const dls_workload *w)
{
    return LAUNCH_PER_TENSOR * (double)w->n_tensors;
}

dls_step dls_step_kernels(const dls_workload *w, const dls_rates *rates, double batch,
                          double *kernel_s)
{
    dls_step step = {.input_s =
                         WORD_BYTES * batch * w->made * (PASSES_TO_MAKE / CORE_BPS + 1 / COPY_BPS)};
    double lately[DLS_KERNELS_BACK]; /* seconds of kernels before, by number modulo that */
    for (size_t i = 0; i < w->n_kernels; i++) {
        const dls_kernel *k = &w->kernel[i];
        const double s =
            k->back ? lately[(i - k->back) % DLS_KERNELS_BACK] : dls_kernel_s(k, rates, batch);
        lately[i % DLS_KERNELS_BACK] = s;
        if (kernel_s) {
            kernel_s[i] = s;
        }
        *(w->kernel[i].backward ? &step.backward_s : &step.forward_s) += s;
        *(w->kernel[i].backward ? &step.runs : &step.forward_runs) +=
            s > 0 ? w->kernel[i].repeats : 0;
    }
    const double byte_s =
        rates->op ? rates->op->byte_s[DLS_FAMILY_OPTIMISER] : 1 / rates->pass_bps[DLS_PASS_ANY];
    step.update_s =
        rates->derate * (dls_update_bytes(w) * byte_s + dls_update_runs(w) * rates->launch_s);
    step.runs += step.forward_runs + dls_update_runs(w);
    step.tensors = (double)w->n_tensors;
    step.gpu_s = step.forward_s + step.backward_s + step.update_s;
    step.added_s = rates->derate * (WORDS_TO_ADD * WORD_BYTES * w->params * byte_s +
                                    (double)w->n_tensors * rates->launch_s);
    return step;
}

double dls_step_host_s(const dls_step *step, const dls_workload *w, const dls_host *host)
{
    if (!host && !(step->input_s > 0)) {
        return step->gpu_s;
    }
    const double gpu = (host ? host->slowdown : 1) * step->gpu_s;
    const double floor_s = host ? host->floor_s + host->floor_per_op_s * w->n_ops +
                                      host->launch_s * step->runs + host->tensor_s * step->tensors
                                : 0;
    const double least = fmax(floor_s, step->input_s);
    return sqrt(hypot(gpu * gpu, least * least));
}

double dls_words_memory_bytes(const dls_workload *w, dls_numeric numeric, double batch,
                              double words)
{
    const bool mixed = numeric == DLS_NUMERIC_FP16 || numeric == DLS_NUMERIC_BF16;
    const double element = dls_numeric_bytes(numeric);
    return WORD_BYTES * words * w->params + (mixed ? element * w->params : 0) +
           batch * (element * w->activations + WORD_BYTES * w->input) +
           (w->process > 0 ? w->process : CONTEXT_BYTES + WORKSPACE_BYTES);
}

double dls_whole_memory_bytes(const dls_workload *w, dls_numeric numeric, double batch,
                              double words)
{
    return dls_words_memory_bytes(w, numeric, batch, words) + WORD_BYTES * w->held;
}

double dls_step_memory_bytes(const dls_workload *w, dls_numeric numeric, double batch)
{
    return dls_words_memory_bytes(w, numeric, batch, 2 + dls_optimiser_words(w->optimiser));
}
