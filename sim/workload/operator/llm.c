/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The name of a large model, and its step in closed form.
 */
#include "workload/operator/llm.h"

#include <ctype.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define PART_OF_PEAK 0.8
#define HALF_SIZE 100.0
#define HIDING (2.0 / 3.0)
#define GAMMA 4.0
#define MEMORY_PART 0.81 /* of its bandwidth (operator.cfg) */
#define FIRST_VERSION 2.0 /* FlashAttention's time over FlashAttention-2's (Dao, arXiv 2307.08691: abstract, table 1) */
#define SCORE_KERNELS 4   /* eager PyTorch's: scale, mask, softmax, dropout */

/* ---- names ----------------------------------------------------------------------------------- */

static const struct {
    const char *key;
    size_t at;
    double least, most;
} fields[] = {
    {"l", offsetof(dls_llm, layers), 1, 10000},     {"h", offsetof(dls_llm, hidden), 1, 1e6},
    {"a", offsetof(dls_llm, heads), 1, 10000},      {"s", offsetof(dls_llm, sequence), 1, 1e7},
    {"v", offsetof(dls_llm, vocabulary), 1, 1e7},   {"tp", offsetof(dls_llm, tensor), 1, 100000},
    {"pp", offsetof(dls_llm, pipeline), 1, 100000}, {"ep", offsetof(dls_llm, expert), 1, 100000},
    {"vp", offsetof(dls_llm, chunks), 1, 10000},    {"mb", offsetof(dls_llm, micro), 1, 1e6},
    {"b", offsetof(dls_llm, batch), 1, 1e9},
    {"e", offsetof(dls_llm, experts), 0, 100000},   {"k", offsetof(dls_llm, active), 1, 1000},
    {"z", offsetof(dls_llm, zero), 0, 3},           {"re", offsetof(dls_llm, recompute), 0, 2},
    {"sp", offsetof(dls_llm, sharded), 0, 1},       {"fa", offsetof(dls_llm, fused), 0, 2},
};

bool dls_llm_named(const char *model)
{
    return strncmp(model, "llm-", 4) == 0;
}

dls_status dls_llm_parse(const char *model, dls_llm *out, dls_error *err)
{
    *out = (dls_llm){.sequence = 2048,
                     .vocabulary = 51200,
                     .tensor = 1,
                     .pipeline = 1,
                     .expert = 1,
                     .chunks = 1,
                     .micro = 1,
                     .active = 2,
                     .recompute = -1};
    for (const char *at = model + 4; dls_llm_named(model) && *at; at += *at == '-') {
        const char *digits = at;
        char *end;
        while (islower((unsigned char)*digits)) {
            digits++;
        }
        const double value = strtod(digits, &end);
        size_t i = 0;
        while (i < sizeof fields / sizeof fields[0] &&
               (strlen(fields[i].key) != (size_t)(digits - at) ||
                strncmp(fields[i].key, at, (size_t)(digits - at)) != 0)) {
            i++;
        }
        if (i == sizeof fields / sizeof fields[0] || !isdigit((unsigned char)*digits) ||
            (*end && *end != '-') || value < fields[i].least || value > fields[i].most ||
            value != floor(value)) {
            return dls_fail(err, DLS_EINPUT, model,
                            "\"%.*s\" is no part of the name of a large model "
                            "(docs/large-models.md)",
                            (int)strcspn(at, "-"), at);
        }
        *(double *)(void *)((char *)out + fields[i].at) = value;
        at = end;
    }
    if (out->layers < 1 || out->hidden < 1 || out->heads < 1) {
        return dls_fail(err, DLS_EINPUT, model,
                        "a large model needs layers, hidden and heads: llm-l80-h12288-a96");
    }
    if (out->experts > 0 && fmod(out->experts, out->expert) != 0) {
        return dls_fail(err, DLS_EINPUT, model, "ep does not divide the experts");
    }
    if (out->chunks > 1 && (out->pipeline < 2 || fmod(out->layers, out->pipeline * out->chunks) != 0)) {
        return dls_fail(err, DLS_EINPUT, model, "vp needs stages, and layers that pp x vp divides");
    }
    return DLS_OK;
}

dls_llm_machine dls_llm_machine_of(const dls_hw_gpu *gpu, const dls_hw_link *peer,
                                   const dls_rates *rates, dls_numeric numeric,
                                   const dls_sized_table *kernels)
{
    const bool matrix =
        (numeric == DLS_NUMERIC_FP16 || numeric == DLS_NUMERIC_BF16) && gpu->fp16_flops > 0;
    const dls_sized_pair none = {0};
    dls_sized_gpu units = dls_sized_gpu_of(gpu, DLS_NUMERIC_FP16);
    units.alone = false;
    return (dls_llm_machine){.flops = gpu->fp16_flops,
                             .matrix = matrix,
                             .rates = *rates,
                             .attention = matrix && kernels ? dls_sized_table_for(kernels, gpu, DLS_SIZED_ATTENTION,
                                                                                  DLS_NUMERIC_FP16)
                                                            : none,
                             .units = units,
                             .word = rates->element_bytes,
                             .mem_bps = gpu->mem_bps,
                             .mem_bytes = gpu->mem_bytes,
                             .peer_bps = peer->goodput_bps,
                             .peer_latency_s = peer->latency_s,
                             .line_latency_s = 30e-6,
                             .gpus = 1,
                             .nodes = 1};
}

/* ---- one layer on one GPU -------------------------------------------------------------------- */

/* `count` products of m x k by k x n; a single one's `grows` with the tokens. */
static double product_s(const dls_llm_machine *on, double m, double k, double n, double count,
                        dls_grows grows)
{
    const double d = fmin(k, n), elements = m * k + k * n + m * n;
    if (!on->matrix) {
        const dls_kernel kernel = {.family = DLS_KERNEL_MATMUL,
                                   .repeats = 1,
                                   .flops = 2 * count * m * k * n,
                                   .moved = count * elements,
                                   .product = {count, m, k, n, 1,
                                               count > 1 ? DLS_GROWS_COUNT : grows}};
        return dls_kernel_s(&kernel, &on->rates, 1);
    }
    const double rate = on->flops * PART_OF_PEAK * d / (d + HALF_SIZE);
    return count *
           fmax(2 * m * k * n / rate, on->word * elements / (on->mem_bps * MEMORY_PART));
}

/* Kernels that move so many numbers. */
static double moved_s(const dls_llm_machine *on, double kernels, double numbers)
{
    return on->matrix ? on->word * numbers / (on->mem_bps * MEMORY_PART)
                      : on->rates.derate * (on->word * numbers / on->rates.mem_bps +
                                            kernels * on->rates.launch_s);
}

typedef struct passes {
    double forward_s, backward_s;
    double scores_s; /* of forward: what keeps attention's scores */
} passes;

static void add_product(const dls_llm_machine *on, double m, double k, double n, double count,
                        passes *p)
{
    const double s = product_s(on, m, k, n, count, DLS_GROWS_ROWS);
    p->forward_s += s;
    p->backward_s += on->matrix ? 2 * s
                                : product_s(on, m, n, k, count, DLS_GROWS_ROWS) +
                                      product_s(on, k, m, n, count, DLS_GROWS_DEPTH);
}

/* What moves alone in a layer and its kernels, in numbers a token and hidden unit (of all, of a
 * part of the tensor group) and in scores: Megatron-LM's of fused kernels; eager PyTorch's of GPT, as
 * the table of docs/operator.md counts norms, dropout, residuals; transposes, GELU spelled out, the
 * meeting of queries, keys and values; scale, mask, softmax, dropout; gradients of biases. */
typedef struct traffic {
    double kernels, whole, part, scores;
} traffic;
static const traffic megatron = {0, 14, 20, 6.5}, eager = {22, 14.5, 80, 8.25},
                     eager_back = {38, 22.5, 133, 12.25};

static double traffic_s(const dls_llm *l, const dls_llm_machine *on, traffic t)
{
    const double tokens = l->micro * l->sequence, ways = l->tensor;
    return moved_s(on, t.kernels,
                   tokens * (t.whole * l->hidden / (l->sharded > 0 ? ways : 1) + t.part * l->hidden / ways +
                             t.scores * l->heads * l->sequence / ways));
}

/* Attention in one kernel, forward or back: each query sees half of the keys in the mean. */
static double fused_s(const dls_llm *l, const dls_llm_machine *on, bool back)
{
    const double heads = l->micro * l->heads / l->tensor, s = l->sequence;
    const dls_sized_kernel kernel = {
        .family = DLS_SIZED_ATTENTION, .op = back, .b = heads, .m = s, .n = (s + 1) / 2, .k = l->hidden / l->heads};
    return (l->fused < 2 ? FIRST_VERSION : 1) * dls_sized_pair_s(&kernel, on->attention, &on->units);
}

/* One micro-batch through a layer. */
static passes layer_s(const dls_llm *l, const dls_llm_machine *on)
{
    const double h = l->hidden, t = l->tensor, tokens = l->micro * l->sequence;
    const double wide = l->experts > 0 ? l->active : 1; /* each token passes so many experts */
    const double depth = h / l->heads, heads = l->micro * l->heads / t, s = l->sequence;
    passes p = {0};
    add_product(on, tokens, h, 3 * h / t, 1, &p);
    add_product(on, tokens, h / t, h, 1, &p);
    add_product(on, wide * tokens, h, 4 * h / t, 1, &p);
    add_product(on, wide * tokens, 4 * h / t, h, 1, &p);
    if (l->fused > 0) {
        const double rest_s = traffic_s(l, on, (traffic){.whole = megatron.whole, .part = megatron.part});
        p.forward_s += fused_s(l, on, false) + rest_s;
        p.backward_s += fused_s(l, on, true) + 2 * rest_s;
        return p;
    }
    if (on->matrix) { /* attention's products and the rest */
        const double part = PART_OF_PEAK * fmin(1, 2 * depth / (depth + HALF_SIZE));
        const double products_s = 4 * tokens * s * h / t / (on->flops * part);
        const double rest_s = products_s + traffic_s(l, on, megatron);
        p.forward_s += rest_s;
        p.backward_s += 2 * rest_s;
        p.scores_s = products_s + traffic_s(l, on, (traffic){.scores = megatron.scores});
        return p;
    }
    const double before_s = p.forward_s;
    add_product(on, s, depth, s, heads, &p);
    add_product(on, s, s, depth, heads, &p);
    p.scores_s = p.forward_s - before_s + traffic_s(l, on, (traffic){.kernels = SCORE_KERNELS, .scores = eager.scores});
    p.forward_s += traffic_s(l, on, eager);
    p.backward_s += traffic_s(l, on, eager_back);
    return p;
}

/* Of the last stage: the loss over the vocabulary. */
static double logits_s(const dls_llm *l, const dls_llm_machine *on)
{
    const double tokens = l->micro * l->sequence, words = l->vocabulary / l->tensor;
    passes p = {0};
    add_product(on, tokens, l->hidden, words, 1, &p);
    return p.forward_s + p.backward_s +
           (on->matrix ? 36 * tokens * words / (on->mem_bps * MEMORY_PART)
                       : moved_s(on, 6, 14 * tokens * words));
}

/* ---- groups ---------------------------------------------------------------------------------- */

typedef struct ways {
    double data, micro_batches, layers;
    double per_node, inside; /* GPUs on a node, in an NVLink domain */
    double message; /* bytes of a micro-batch's activations */
    double line;    /* bytes per second of a node's link */
} ways;

/* An all-reduce of the tensor group: a ring over its GPUs, whose slowest link is the network's
 * where it leaves the domain. */
static double tensor_reduce_s(const dls_llm *l, const dls_llm_machine *on, const ways *w)
{
    const double n = l->tensor, bytes = 2 * (n - 1) / n * w->message;
    return n <= w->inside
               ? bytes / on->peer_bps + (n - 1) * on->peer_latency_s
               : bytes / fmin(w->line, on->peer_bps) + 2 * (n - 1) * on->line_latency_s;
}

static void add_tensor(const dls_llm *l, const dls_llm_machine *on, const ways *w,
                       dls_llm_step *out)
{
    const double count = w->micro_batches * w->layers * (out->recompute == DLS_LLM_ALL ? 6 : 4);
    if (l->tensor > 1) {
        out->tensor_s = count * tensor_reduce_s(l, on, w);
        out->tensor_bytes = count * 2 * (l->tensor - 1) / l->tensor * w->message;
    }
}

static void add_pipeline(const dls_llm *l, const dls_llm_machine *on, const ways *w,
                         dls_llm_step *out)
{
    const double n = 2 * (w->micro_batches * l->chunks + l->pipeline - 1);
    const double bytes = w->message / l->tensor;
    const bool network = l->tensor * w->data >= w->inside && w->inside < on->gpus;
    if (l->pipeline > 1) {
        out->pipeline_s = n * (network ? bytes / (w->line / w->per_node) + on->line_latency_s
                                       : bytes / on->peer_bps + on->peer_latency_s);
        out->pipeline_bytes = 2 * w->micro_batches * l->chunks * bytes;
    }
}

/* Tokens go to their experts and come back, forward and backward. */
static void add_experts(const dls_llm *l, const dls_llm_machine *on, const ways *w,
                        dls_llm_step *out)
{
    const double group = l->tensor * l->expert, inside = fmin(1, w->inside / group);
    if (l->experts > 0 && l->expert > 1) {
        const double bytes = 4 * w->micro_batches * w->layers * l->active * w->message / l->tensor *
                             (l->expert - 1) / l->expert;
        out->expert_bytes = bytes;
        out->expert_s =
            bytes * inside / on->peer_bps + bytes * (1 - inside) / (w->line / w->per_node);
    }
}

/* Gradients: a ring over the data group, in the domain and between domains; the rings of a node share its
 * link. */
static void add_data(const dls_llm *l, const dls_llm_machine *on, const ways *w,
                     double experts_params, dls_llm_step *out)
{
    const double inner = fmin(w->data, fmax(1, w->inside / l->tensor)), outer = w->data / inner;
    const double shared =
        w->data / (l->experts > 0 ? l->expert : 1); /* experts have fewer copies */
    const double dense = out->params - experts_params;
    /* Weights that are divided are gathered there and back, and gradients divided, for each micro-batch. */
    const double again = l->zero >= 3 ? 1.5 * w->micro_batches : 1;
    const double bytes = on->word * again * (dense + (shared > 1 ? experts_params : 0));
    if (w->data <= 1) {
        return;
    }
    out->data_bytes = 2 * (w->data - 1) / w->data * bytes;
    out->data_s =
        2 * (inner - 1) / inner * bytes / on->peer_bps + 2 * (inner - 1) * on->peer_latency_s;
    if (outer > 1) {
        out->link_bytes = 2 * (outer - 1) / outer * bytes * fmin(l->tensor, w->inside) * w->per_node / w->inside;
        out->data_s += 2 * (outer - 1) * on->line_latency_s;
    }
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Weights and gradients, a copy of each in 32 bits, two moments; activations of the micro-batches
 * under way. */
static void add_memory(const dls_llm *l, const dls_llm_machine *on, const ways *w,
                       dls_llm_step *out)
{
    const double tokens = l->micro * l->sequence, d = w->data;
    /* Interleaved stages have begun more micro-batches (Korthikanti et al., 2022, section 4.2.3). */
    const double more = l->chunks > 1 ? 1 + (l->pipeline - 1) / (l->pipeline * l->chunks) : 1;
    const double begun = fmin(w->micro_batches, l->pipeline * more);
    /* The same, table 2: bytes of a layer that are whole on each GPU or divided with the sequence, and of its scores. */
    const double whole = l->sharded > 0 ? l->tensor : 1, layer = tokens * l->hidden;
    const double scores = l->fused > 0 ? 0 : layer * 5 * l->heads * l->sequence / l->hidden / l->tensor;
    const double rest = layer * (10 / whole + 24 / l->tensor);
    const double kept[] = {[DLS_LLM_KEEP] = (rest + scores) * w->layers * begun,
                           [DLS_LLM_ALL] = 2 * layer / whole * w->layers * begun + rest + scores,
                           [DLS_LLM_SCORES] = rest * w->layers * begun + scores};
    const double states = on->matrix ? 12 : 8;
    const double fixed =
        out->params * (on->word / (l->zero >= 3 ? d : 1) + on->word / (l->zero >= 2 ? d : 1) +
                       states / (l->zero >= 1 ? d : 1));
    const bool full = on->mem_bytes > 0 && fixed + kept[DLS_LLM_KEEP] > on->mem_bytes;
    out->recompute = l->recompute < 0 ? (full ? DLS_LLM_ALL : DLS_LLM_KEEP) : (dls_llm_recompute)l->recompute;
    out->activation_bytes = kept[out->recompute];
    out->mem_bytes = fixed + out->activation_bytes;
}

dls_status dls_llm_time(const dls_llm *l, const dls_llm_machine *on, double batch,
                        dls_llm_step *out, dls_error *err)
{
    const double h = l->hidden, sequences = l->batch > 0 ? l->batch : batch;
    ways w = {.data = on->gpus / (l->tensor * l->pipeline),
              .per_node = ceil((double)on->gpus / on->nodes),
              .inside = ceil((double)on->gpus / (on->domains > 0 ? on->domains : on->nodes)),
              .layers = l->layers / l->pipeline,
              .message = on->word * l->micro * l->sequence * h,
              .line = on->line_bps > 0 ? on->line_bps : 1e15};
    *out = (dls_llm_step){0};
    if (w.data < 1 || w.data != floor(w.data)) {
        return dls_fail(err, DLS_EINPUT, NULL, "%d GPUs are no multiple of tp x pp = %.0f",
                        (int)on->gpus, l->tensor * l->pipeline);
    }
    if (l->experts > 0 && fmod(w.data, l->expert) != 0) {
        return dls_fail(err, DLS_EINPUT, NULL, "ep = %.0f does not divide the data groups, %.0f",
                        l->expert, w.data);
    }
    if (l->fused > 0 && !on->attention.row) {
        return dls_fail(err, DLS_EINPUT, NULL,
                        "fused attention: not known on this GPU and precision (in 16 bits, from Ampere to Hopper)");
    }
    w.micro_batches = fmax(1, ceil(sequences / (w.data * l->micro)));
    const double experts_params =
        l->experts > 0 ? w.layers * 8 * h * h * l->experts / l->expert / l->tensor : 0;
    const double dense = l->experts > 0 ? 4 : 12;
    out->params =
        (w.layers * (dense * h * h + 13 * h) + (l->vocabulary + l->sequence) * h) / l->tensor +
        experts_params;
    add_memory(l, on, &w, out);
    const passes p = layer_s(l, on);
    const double again_s = out->recompute == DLS_LLM_ALL ? p.forward_s : out->recompute == DLS_LLM_SCORES ? p.scores_s : 0;
    const double pass_s = w.layers * (p.forward_s + p.backward_s + again_s);
    const double last_s = logits_s(l, on);
    out->compute_s = w.micro_batches * pass_s;
    out->logits_s = w.micro_batches * last_s;
    add_tensor(l, on, &w, out);
    add_pipeline(l, on, &w, out);
    add_experts(l, on, &w, out);
    add_data(l, on, &w, experts_params, out);
    out->bubble_s =
        (l->pipeline - 1) / l->chunks * (pass_s + (out->tensor_s + out->expert_s) / w.micro_batches);
    const double own = out->params / (l->zero >= 1 ? w.data : 1); /* updated here */
    out->update_s = on->matrix ? 28 * own / (on->mem_bps * MEMORY_PART)
                               : moved_s(on, 0, dls_optimiser_moved(DLS_OPTIMISER_ADAM) * own);
    out->overlap_s = HIDING * (pass_s + last_s) * (l->zero >= 3 ? w.micro_batches : 1);
    out->alone_s = out->compute_s + out->logits_s + out->bubble_s + out->tensor_s +
                   out->pipeline_s + out->expert_s + out->update_s;
    const double data_s = out->data_s + out->link_bytes / w.line;
    out->step_s = out->alone_s - out->overlap_s +
                  pow(pow(out->overlap_s, GAMMA) + pow(data_s, GAMMA), 1 / GAMMA);
    return DLS_OK;
}
