/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The operator model (docs/operator.md) as the truth: a step of one GPU out of the model's kernels,
 * and what its workers exchange, out of the cluster's links:
 *
 *      one node       ring over its GPUs
 *      several nodes  reduce-scatter and all-gather in the node, ring between the nodes; gradients
 *                     in buckets of 25 MB, each with a latency
 *      servers        one on each node of the job; tensors dealt out in turn, so that a large one
 *                     makes its server's link the bottleneck
 *
 * A batch that does not fit into the GPU's memory is worked off in equal micro-batches, the fewest
 * that fit, whose gradients add up before they are exchanged.
 */
#include "world/truth.h"

#include "base/alloc.h"
#include "base/own.h"
#include "workload/operator/llm.h"
#include "workload/operator/topology.h"
#include "workload/software.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define WORD_BYTES 4.0
#define HIDING (2.0 / 3.0)      /* of a step: its backward pass (comm.h) */
#define NETWORK_LATENCY_S 30e-6 /* of 10 to 40 GbE (links.cfg) */
#define PEER_EFFICIENCY 0.76    /* of a slot or bridge that links.cfg does not name */
#define PEER_LATENCY_S 10e-6
#define GIB (1024.0 * 1024 * 1024)

typedef enum exchange { ALLREDUCE, PS_SYNC, PS_ASYNC } exchange;

/* A GPU type as the model sees it. */
typedef struct gpu_row {
    dls_hw_gpu hw;
    dls_hw_link peer;
    const dls_kind *asked; /* last: shapes of a kind are asked in turn */
    dls_step step;         /* of its micro-batch */
} gpu_row;

/* The kernels of a model. */
typedef struct kept_workload {
    const dls_kind *kind; /* the first that is of it */
    dls_software run;     /* as who trains it runs it */
    dls_workload w;
} kept_workload;

typedef struct state {
    dls_opmodel model;
    dls_sized_table kernels; /* of the model, if it is the sized one, or of large models' fused attention */
    char *folder;            /* owned: where it is */
    gpu_row gpu[DLS_TYPES_MAX + 1];
    const dls_host *host;
    dls_fabric like; /* overlap and waiting */
    dls_allreduce allreduce;
    exchange exchange;
    dls_numeric numeric;
    const char *software; /* borrowed; NULL, "": nothing is said */
    kept_workload *kept;
    size_t n_kept, kept_cap;
} state;

/* ---- tables ---------------------------------------------------------------------------------- */

/* A GPU that gpus.cfg does not have is as the cluster's table has it, without fitted factors. */
static gpu_row row_of(const dls_hardware *hw, const dls_gpu_type *type)
{
    const dls_hw_gpu *known = dls_hardware_gpu_variant(hw, type->name);
    const dls_hw_link *link;
    gpu_row row = {.hw = {.fp32_flops = type->fp32_flops,
                          .fp16_flops = type->tensor_flops,
                          .mem_bps = type->mem_bps,
                          .mem_bytes = GIB * type->mem_gib}};
    snprintf(row.hw.name, sizeof row.hw.name, "%s", type->name);
    if (known) {
        row.hw = *known;
        if (type->mem_gib > 0) {
            row.hw.mem_bytes = GIB * type->mem_gib;
        }
    }
    if (known && dls_hardware_link(hw, known->link, &link, NULL) == DLS_OK) {
        row.peer = *link;
    } else {
        row.peer = (dls_hw_link){.bps = type->peer_bps,
                                 .goodput_bps = PEER_EFFICIENCY * type->peer_bps,
                                 .latency_s = PEER_LATENCY_S};
    }
    return row;
}

static dls_status check_row(const gpu_row *row, dls_error *err)
{
    return row->hw.fp32_flops > 0 && row->hw.mem_bps > 0 && row->peer.goodput_bps > 0
               ? DLS_OK
               : dls_fail(err, DLS_ECONFIG, "perf.model",
                          "the operator model needs the rates of the GPU type \"%s\"",
                          row->hw.name);
}

static dls_status choose(state *s, const dls_world_params *p, dls_error *err)
{
    static const char *const exchanges[] = {"allreduce", "ps-sync", "ps-async", NULL};
    int found = -1;
    for (int i = 0; exchanges[i]; i++) {
        found = strcmp(exchanges[i], p->exchange) == 0 ? i : found;
    }
    if (found < 0) {
        return dls_fail(err, DLS_ECONFIG, "perf.exchange", "unknown exchange \"%s\"", p->exchange);
    }
    s->exchange = (exchange)found;
    const char *const *how = dls_allreduce_names();
    for (found = 0; how[found] && strcmp(how[found], p->allreduce) != 0;) {
        found++;
    }
    if (!how[found]) {
        return dls_fail(err, DLS_ECONFIG, "perf.allreduce", "unknown all-reduce \"%s\"",
                        p->allreduce);
    }
    s->allreduce = (dls_allreduce)found;
    if (!dls_numeric_find(p->numeric, &s->numeric)) {
        return dls_fail(err, DLS_ECONFIG, "perf.numeric", "unknown precision \"%s\"", p->numeric);
    }
    if (p->host && *p->host && !(s->host = dls_opmodel_host(&s->model, p->host))) {
        return dls_fail(err, DLS_ECONFIG, "perf.host", "unknown host \"%s\"", p->host);
    }
    const char *name = p->fabric && *p->fabric ? p->fabric : "pcie";
    const dls_fabric *fabric = dls_opmodel_fabric(&s->model, name);
    if (!fabric) {
        return dls_fail(err, DLS_ECONFIG, "perf.fabric", "unknown fabric \"%s\"", name);
    }
    s->like = *fabric;
    return DLS_OK;
}

static dls_status load(state *s, const dls_world_params *p, const dls_gpu_type *types,
                       int32_t n_types, dls_error *err)
{
    DLS_OWN(dls_hardware_fini) dls_hardware hw = {0};
    DLS_TRY(dls_hardware_load(p->hardware_dir, &hw, err));
    DLS_TRY(dls_opmodel_of(hw.folder, p->sized ? &s->kernels : NULL, &s->model, err));
    DLS_TRY(choose(s, p, err));
    if (!(s->folder = dls_strdup(hw.folder))) {
        return dls_nomem(err, "operator model", strlen(hw.folder));
    }
    s->software = p->software;
    const dls_model_names any = dls_model_lookup("");
    dls_software checked;
    DLS_TRY(dls_software_of(p->software, "", &any, s->numeric, &checked, err));
    for (int32_t t = 0; t < n_types; t++) {
        s->gpu[t] = row_of(&hw, &types[t]);
        DLS_TRY(check_row(&s->gpu[t], err));
    }
    return DLS_OK;
}

static void op_close(void *opaque)
{
    state *s = opaque;
    for (size_t i = 0; s && i < s->n_kept; i++) {
        dls_workload_fini(&s->kept[i].w);
    }
    if (s) {
        dls_sized_table_fini(&s->kernels);
        DLS_FREE_ALL(s->kept, s->folder, s);
    }
}

DLS_OWNER(state, op_close)

static dls_status op_open(const dls_world_params *p, const dls_gpu_type *types, int32_t n_types,
                          void **out, dls_error *err)
{
    DLS_HOLD(op_close) state *s = NULL;
    DLS_TRY(dls_alloc_array(&s, 1, sizeof *s, "operator model", err));
    DLS_TRY(load(s, p, types, n_types, err));
    *out = dls_take(&s);
    return DLS_OK;
}

/* ---- one GPU --------------------------------------------------------------------------------- */

static bool alike(const state *s, const dls_kind *a, const dls_kind *b)
{
    return s->software && *s->software ? a == b : dls_model_same(&a->names, &b->names);
}

static dls_status workload_of(state *s, const dls_kind *kind, const kept_workload **out,
                              dls_error *err)
{
    for (size_t i = 0; i < s->n_kept; i++) {
        if (alike(s, s->kept[i].kind, kind)) {
            *out = &s->kept[i];
            return DLS_OK;
        }
    }
    DLS_TRY(dls_grow(&s->kept, &s->kept_cap, s->n_kept + 1, sizeof *s->kept, err));
    kept_workload *k = &s->kept[s->n_kept];
    *k = (kept_workload){.kind = kind};
    DLS_TRY(dls_software_of(s->software, kind->model, &kind->names, s->numeric, &k->run, err));
    k->run.names.runner = s->model.sized ? DLS_RUN_EAGER : DLS_RUN_GRAPH;
    DLS_TRY(dls_model_workload(&k->run.names, k->run.numeric, &k->w, err));
    s->n_kept++;
    *out = k;
    return DLS_OK;
}

/* Whole tables aside, which smaller batches do not make smaller. */
static bool holds(const state *s, const kept_workload *k, int32_t type, double batch)
{
    return dls_step_memory_bytes(&k->w, k->run.numeric, batch) <= s->gpu[type].hw.mem_bytes;
}

/* Micro-batches that a batch is worked off in: 1, 2, 4, ... and one sample each at last. */
static double micro_batches(const state *s, const kept_workload *k, int32_t type, double batch)
{
    double n = 1;
    while (n < batch && s->gpu[type].hw.mem_bytes > 0 && !holds(s, k, type, batch / n)) {
        n = fmin(2 * n, batch);
    }
    return n;
}

/* A ring over several NVLink domains of a node is as slow as the link between them. */
static dls_hw_link peer_of(const gpu_row *gpu, double inner_bps)
{
    dls_hw_link peer = gpu->peer;
    if (inner_bps > 0) {
        peer.goodput_bps = fmin(peer.goodput_bps, inner_bps);
    }
    return peer;
}

/* A large model names its way of dividing itself (docs/large-models.md). Gradients share links with
 * other jobs; what tensor groups and stages send is charged at the full bandwidth. */
static dls_status llm_time(state *s, const dls_kind *kind, int32_t type, const dls_truth_ask *ask,
                           dls_llm_step *out, dls_error *err)
{
    const gpu_row *gpu = &s->gpu[type];
    const dls_hw_link peer = peer_of(gpu, ask ? ask->inner_bps : 0);
    const dls_rates rates = dls_opmodel_rates(&s->model, &gpu->hw, s->numeric);
    dls_llm model;
    DLS_TRY(dls_llm_parse(kind->model, &model, err));
    if (model.fused > 0 && s->kernels.n == 0) {
        char path[4200];
        snprintf(path, sizeof path, "%s/kernels.cfg", s->folder);
        DLS_TRY(dls_sized_table_load(path, &s->kernels, err));
    }
    dls_llm_machine on = dls_llm_machine_of(&gpu->hw, &peer, &rates, s->numeric, &s->kernels);
    on.gpus = ask ? ask->gpus : (int32_t)(model.tensor * model.pipeline * model.expert);
    on.nodes = ask ? ask->n_nodes : 1;
    on.line_bps = ask ? ask->line_bps : 0;
    on.domains = ask ? ask->domains : 0;
    if (on.domains > 0) { /* a node's part of it is shared evenly, too */
        on.peer_bps = fmin(on.peer_bps, ask->domain_bps * on.nodes / on.gpus);
    }
    return dls_llm_time(&model, &on, (double)kind->batch * on.gpus, out, err);
}

static dls_status llm_solo(state *s, const dls_truth_ask *ask, dls_solo *out, dls_error *err)
{
    dls_llm_step step;
    DLS_TRY(llm_time(s, ask->kind, ask->type, ask, &step, err));
    *out = (dls_solo){.compute_s = step.alone_s,
                      .overlap_s = step.overlap_s,
                      .gamma = 4,
                      .fixed_s = step.data_s,
                      .link_bytes = step.link_bytes,
                      .gpu_util = fmin(1, (step.compute_s + step.logits_s) / step.step_s),
                      .mem_bytes = step.mem_bytes,
                      .checkpoint_bytes = 14 * step.params * ask->gpus};
    return DLS_OK;
}

/* One sample at a time, at worst. */
static dls_status op_fits(void *opaque, const dls_kind *kind, int32_t type, int32_t gpus, bool *fits,
                          dls_error *err)
{
    state *s = opaque;
    const kept_workload *k;
    if (dls_llm_named(kind->model)) {
        dls_llm_step step;
        const dls_truth_ask ask = {.kind = kind, .type = type, .gpus = gpus, .n_nodes = 1};
        DLS_TRY(llm_time(s, kind, type, gpus > 0 ? &ask : NULL, &step, err));
        *fits = !(s->gpu[type].hw.mem_bytes > 0) || step.mem_bytes <= s->gpu[type].hw.mem_bytes;
        return DLS_OK;
    }
    DLS_TRY(workload_of(s, kind, &k, err));
    *fits = !(s->gpu[type].hw.mem_bytes > 0) || holds(s, k, type, 1);
    return DLS_OK;
}

static double moved_bytes(const dls_workload *w, const dls_rates *rates, double batch)
{
    double bytes = WORD_BYTES * dls_optimiser_moved(w->optimiser) * w->params;
    for (size_t i = 0; i < w->n_kernels; i++) {
        bytes += dls_kernel_bytes(&w->kernel[i], rates, batch);
    }
    return bytes;
}

/* ---- exchange -------------------------------------------------------------------------------- */

/* One server on each node. Every worker sends its gradients and fetches the weights; the server
 * with the most bytes does so with all workers of other nodes. */
static void exchange_servers(const dls_hw_link *peer, const dls_workload *w, int32_t gpus,
                             int32_t nodes, dls_solo *out)
{
    const double bytes = WORD_BYTES * w->params;
    const double hot = dls_ps_hot_bytes(w->tensor, w->n_tensors, nodes);
    const double per_node = (gpus + nodes - 1) / nodes;
    if (nodes == 1) {
        out->fixed_s = 2 * per_node * bytes / peer->goodput_bps + 2 * peer->latency_s;
        return;
    }
    out->fixed_s = 2 * bytes / peer->goodput_bps + 2 * NETWORK_LATENCY_S;
    out->link_bytes =
        fmax(2 * per_node * bytes * (nodes - 1) / nodes, dls_ps_served_bytes(gpus - per_node, hot));
}

static dls_status op_solo(void *opaque, const dls_truth_ask *ask, dls_solo *out,
                          dls_truth_note *note, dls_error *err)
{
    state *s = opaque;
    gpu_row *gpu = &s->gpu[ask->type];
    const kept_workload *k;
    if (dls_llm_named(ask->kind->model)) {
        return llm_solo(s, ask, out, err);
    }
    DLS_TRY(workload_of(s, ask->kind, &k, err));
    const dls_workload *w = &k->w;
    const double batch = (double)ask->kind->batch, n = micro_batches(s, k, ask->type, batch);
    const dls_rates rates = dls_opmodel_rates(&s->model, &gpu->hw, k->run.numeric);
    if (gpu->asked != ask->kind) {
        gpu->asked = ask->kind;
        gpu->step = dls_step_time(w, &rates, batch / n);
        dls_software_add(&k->run, w, &rates, &gpu->step);
    }
    const dls_step step = gpu->step;
    const double pass_s = dls_step_host_s(&step, w, s->host);
    const double update_s = step.update_s * (s->host ? s->host->slowdown : 1);
    const double one_s = n * pass_s - (n - 1) * fmin(update_s, pass_s) +
                         dls_software_after_s(&k->run, w, &rates, s->host, ask->gpus == 1);
    const dls_hw_link peer = peer_of(gpu, ask->inner_bps);
    const bool several = ask->gpus > 1, async = s->exchange == PS_ASYNC;
    note->unknown = ask->kind->names.match == DLS_MODEL_UNKNOWN;
    note->stand_in = ask->kind->names.match == DLS_MODEL_STAND_IN;
    note->split_batch = n > 1;
    *out = (dls_solo){.compute_s = one_s, .gamma = 1};
    if (several && s->exchange == ALLREDUCE) {
        const dls_exchange x =
            dls_exchange_of(s->allreduce, ask->gpus, ask->n_nodes, WORD_BYTES * w->params,
                            &peer, ask->line_bps, NETWORK_LATENCY_S);
        out->fixed_s = x.fixed_s;
        out->link_bytes = x.line_bytes;
    } else if (several) {
        exchange_servers(&peer, w, ask->gpus, ask->n_nodes, out);
    }
    if (several && !async) { /* the last micro-batch hides the exchange, and workers wait */
        out->gamma = s->like.gamma;
        out->overlap_s = HIDING * pass_s;
        out->compute_s = one_s * (1 + s->like.straggle * (1 - 1.0 / ask->gpus));
    }
    dls_solo alone = *out;
    alone.link_bytes = ask->line_bps > 0 ? out->link_bytes : 0;
    const double iteration_s = dls_solo_time(&alone, ask->line_bps);
    out->gpu_util = fmin(1, n * step.gpu_s / iteration_s);
    out->mem_util =
        fmin(1, n * moved_bytes(w, &rates, batch / n) / (gpu->hw.mem_bps * iteration_s));
    out->mem_bytes =
        dls_whole_memory_bytes(w, k->run.numeric, batch / n, 2 + dls_optimiser_words(w->optimiser));
    out->checkpoint_bytes = WORD_BYTES * ((1 + dls_optimiser_words(w->optimiser)) * w->params + w->held);
    return DLS_OK;
}

const dls_truth_ops dls_truth_ops_operator = {
    .name = "operator",
    .summary = "the operator-level model of the step and of the exchange, with a residual",
    .modelled = true,
    .open = op_open,
    .close = op_close,
    .solo = op_solo,
    .fits = op_fits,
};
