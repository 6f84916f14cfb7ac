/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Training steps of large transformers that are divided by tensors, pipeline stages, data and
 * experts (Narayanan et al., SC 2021; Korthikanti et al., 2022), in closed form:
 *
 *      product  2 m k n / (peak x 0.8 d / (d + 100)), d = min(k, n); at least its bytes over
 *               memory; without matrix units the operator model's kernel (model.h)
 *      stage    layers / pp of 4 products, attention and what moves alone; forward, twice that
 *               backward, forward again where activations do not fit, or attention alone; tensor groups' all-reduces;
 *               without matrix units what eager PyTorch launches (docs/operator.md), not Megatron-LM
 *      step     m stages and the last one's logits + (pp - 1) / vp stages of bubble + transfers between
 *               stages + update; exchange of gradients beside the last micro-batch's backward pass
 *
 * Ranks are laid out tensor first, then data (experts within), then pipeline; a node's link is
 * shared evenly by its GPUs. 0.8 and 100 are fitted to two steps on one V100
 * (docs/large-models.md).
 */
#ifndef DLS_OPERATOR_LLM_H
#define DLS_OPERATOR_LLM_H

#include "workload/operator/model.h"

#include <stdbool.h>
#include <stdint.h>

/* "llm-l80-h12288-a96-s2048-v51200-tp8-pp8-vp1-mb1-b2304-z1-e0-k2-ep1-sp1-re2-fa0"; layers, hidden and heads
 * are required. */
typedef struct dls_llm {
    double layers, hidden, heads, sequence, vocabulary;
    double tensor, pipeline, expert; /* ways; data takes the rest of the GPUs */
    double chunks;                   /* that a GPU has of the layers: interleaved stages; 1: not */
    double micro, batch;             /* sequences; batch 0: what the job says */
    double experts, active;          /* of each layer; 0: dense */
    double zero;                     /* stage 0..3 */
    double sharded;                  /* sequence parallelism: what is whole in a layer is divided by `tensor` too */
    double recompute;                /* dls_llm_recompute; -1: all where activations do not fit */
    double fused;                    /* attention in one kernel, which keeps no scores: FlashAttention 1 or 2; 0: not */
} dls_llm;

/* What is run forward again, not kept: nothing, all, attention's scores (selective). */
typedef enum dls_llm_recompute { DLS_LLM_KEEP, DLS_LLM_ALL, DLS_LLM_SCORES } dls_llm_recompute;

bool dls_llm_named(const char *model);
/* Errors: EINPUT (what is wrong with the name). */
dls_status dls_llm_parse(const char *model, dls_llm *out, dls_error *err) DLS_MUST_CHECK;

typedef struct dls_llm_machine {
    double flops; /* the peak of matrix units in 16 bits, if `matrix` */
    bool matrix;  /* the law of sizes holds; else the operator model's rates */
    dls_rates rates;
    dls_sized_pair attention; /* fused, in 16 bits; no row: nothing is known */
    dls_sized_gpu units;      /* of it */
    double word;  /* bytes of an activation */
    double mem_bps, mem_bytes;
    double peer_bps, peer_latency_s; /* between the GPUs of a domain, per GPU */
    int32_t domains;                 /* NVLink domains that its nodes are in; 0: each is one */
    double line_bps;                 /* of a node's network link; 0: unlimited */
    double line_latency_s;
    int32_t gpus, nodes;
} dls_llm_machine;

/* A GPU of the operator model: gpus, nodes and links are the caller's to add. kernels: kernels.cfg for fused attention, which
 * the machine borrows; NULL: without. */
dls_llm_machine dls_llm_machine_of(const dls_hw_gpu *gpu, const dls_hw_link *peer,
                                   const dls_rates *rates, dls_numeric numeric,
                                   const dls_sized_table *kernels);

typedef struct dls_llm_step {
    double compute_s, logits_s, bubble_s, tensor_s, pipeline_s, expert_s, update_s;
    double overlap_s;  /* of these, what the exchange of gradients can hide behind */
    double data_s;     /* of that exchange, within nodes and latencies */
    double link_bytes; /* of it, over each node's link */
    double tensor_bytes, pipeline_bytes, expert_bytes, data_bytes; /* sent by a GPU in a step */
    double params, mem_bytes, activation_bytes;                    /* of a GPU; the last is in mem_bytes */
    dls_llm_recompute recompute;
    double alone_s; /* all but the exchange of gradients */
    double step_s;  /* with line_bps */
} dls_llm_step;

/* batch: sequences of all GPUs, unless the model says it. Errors: EINPUT (GPUs that the model's
 * ways do not divide; fused attention of which nothing is known). */
dls_status dls_llm_time(const dls_llm *model, const dls_llm_machine *on, double batch,
                        dls_llm_step *out, dls_error *err) DLS_MUST_CHECK;

#endif
