/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Predicts workloads in settings named by the user, with the inspector, the operator model, Paleo,
 * Habitat or Justus's networks, without a cluster or a trace.
 */
#include "predictor/sources/whatif.h"

#include "base/alloc.h"
#include "base/own.h"
#include "base/suggest.h"
#include "predictor/baselines/habitat.h"
#include "predictor/baselines/justus.h"
#include "predictor/baselines/paleo.h"
#include "predictor/dataset/label.h"
#include "predictor/sources/inspector.h"
#include "workload/operator/llm.h"
#include "workload/operator/timeline.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define DEFAULT_MEASURED_GPU "V100"
#define MEASURED 32 /* numbers of bits that a batch may have */
#define SERVERS_MAX 65536

typedef enum source { DRIPLE, OPERATOR, PALEO, HABITAT, JUSTUS } source;

/* The kernels of a model in one precision and size. */
typedef struct model_work {
    dls_model_names names;
    dls_numeric numeric;
    dls_workload work;
} model_work;

/* What was found last, for who asks of many batches on one GPU, or of many GPUs. */
typedef struct usual_factor {
    const dls_zoo_input *input;
    int32_t setting;
    double step_s;
} usual_factor;

typedef struct measured_step {
    const dls_workload *work;
    const dls_hw_gpu *gpu;
    int32_t batch;
    dls_step step;
} measured_step;

struct dls_whatif {
    dls_whatif_params p;
    source source;
    dls_inspector_session session; /* driple */
    dls_hardware own_hw;           /* the rest */
    const dls_hardware *hw;
    dls_opmodel model;
    dls_sized_table kernels; /* of the model */
    dls_paleo paleo;
    dls_kernel_nets nets; /* justus */
    model_work **known;   /* [n] owned */
    size_t n, cap;
    char name[DLS_MODEL_KEY]; /* whose names these are: looked up last */
    dls_model_names names;
    usual_factor usual;               /* driple: at the model's usual batch, of a step of 1 s */
    measured_step measured[MEASURED]; /* habitat: by the batch's number of bits */
};

const char *const *dls_whatif_sources(void)
{
    static const char *const names[] = {"driple", "operator", "paleo", "habitat", "justus", NULL};
    return names;
}

/* ---- set-up ---------------------------------------------------------------------------------- */

static dls_status open_tables(dls_whatif *w, dls_error *err)
{
    DLS_OWN(dls_pointset_fini) dls_pointset points = {0};
    w->hw = w->source == DRIPLE ? &w->session.hw : &w->own_hw;
    if (w->source != DRIPLE) {
        DLS_TRY(dls_hardware_load(w->p.hardware_dir, &w->own_hw, err));
    }
    DLS_TRY(dls_opmodel_of(w->hw->folder, &w->kernels, &w->model, err));
    if (w->p.left_out) {
        dls_opmodel_forget(&w->model, &w->kernels, w->p.left_out);
    }
    if (w->source == JUSTUS) {
        DLS_TRY(dls_kernel_nets_load(w->p.weights, &w->nets, err));
        return w->nets.how == DLS_LEARNED_JUSTUS
                   ? DLS_OK
                   : dls_fail(err, DLS_EINPUT, w->p.weights, "networks of another method than justus");
    }
    if (w->source != PALEO) {
        return DLS_OK;
    }
    DLS_TRY(dls_pointset_create(w->hw, &points, err));
    return dls_paleo_calibrate(&points, &w->paleo, err);
}

static dls_status open_source(dls_whatif *w, dls_error *err)
{
    const dls_whatif_params *p = &w->p;
    const char *const *names = dls_whatif_sources();
    int found = -1;
    for (int i = 0; names[i]; i++) {
        found = strcmp(names[i], p->source) == 0 ? i : found;
    }
    if (found < 0) {
        return dls_fail(err, DLS_EINPUT, "source",
                        "\"%s\" is not driple, operator, paleo, habitat or justus", p->source);
    }
    w->source = (source)found;
    if (w->source == JUSTUS && !p->weights) {
        return dls_fail(err, DLS_EINPUT, "source",
                        "justus needs a file of dlsim train --baseline=justus");
    }
    const dls_inspector_session_params session = {.weights = p->weights,
                                                  .backend = p->backend,
                                                  .hardware_dir = p->hardware_dir,
                                                  .settings_map = p->settings_map};
    if (w->source == DRIPLE) {
        DLS_TRY(dls_inspector_session_init(&w->session, &session, err));
    }
    return open_tables(w, err);
}

dls_status dls_whatif_create(const dls_whatif_params *p, dls_whatif **out, dls_error *err)
{
    DLS_HOLD(dls_whatif_destroy) dls_whatif *w = NULL;
    DLS_TRY(dls_alloc_array(&w, 1, sizeof *w, "what-if", err));
    w->p = *p;
    DLS_TRY(open_source(w, err));
    *out = dls_take(&w);
    return DLS_OK;
}

void dls_whatif_destroy(dls_whatif *w)
{
    if (w) {
        for (size_t i = 0; i < w->n; i++) {
            dls_workload_fini(&w->known[i]->work);
            dls_free(w->known[i]);
        }
        dls_free(w->known);
        dls_kernel_nets_fini(&w->nets);
        dls_inspector_session_fini(&w->session);
        dls_hardware_fini(&w->own_hw);
        dls_sized_table_fini(&w->kernels);
        dls_free(w);
    }
}

bool dls_names_pytorch(const char *framework)
{
    return strcasestr(framework, "pytorch") != NULL;
}

const dls_hardware *dls_whatif_hardware(const dls_whatif *w)
{
    return w->hw;
}

/* ---- what is asked about --------------------------------------------------------------------- */

static dls_model_names look_up(dls_whatif *w, const char *model)
{
    if (!model || strlen(model) >= sizeof w->name) {
        return dls_model_lookup(model);
    }
    if (!w->names.zoo || strcmp(w->name, model) != 0) {
        strcpy(w->name, model);
        w->names = dls_model_lookup(model);
    }
    return w->names;
}

static dls_status check(dls_whatif *w, const dls_whatif_question *q, dls_model_names *names,
                        dls_error *err)
{
    const dls_setting_spec *s = &q->setting;
    if (q->batch < 1 || s->workers < 1 || s->nodes < 1 || s->workers % s->nodes != 0) {
        return dls_fail(err, DLS_EINPUT, "setting",
                        "%d workers on %d nodes with a batch of %d: not possible", (int)s->workers,
                        (int)s->nodes, (int)q->batch);
    }
    if (q->image < 0 || q->sequence < 0 || s->servers < 0 || s->servers > SERVERS_MAX || !(q->measured_s >= 0 && isfinite(q->measured_s)) ||
        q->measured_batch < 0) {
        return dls_fail(err, DLS_EINPUT, "setting", "a negative size or time, or not 0 to %d servers: not possible",
                        SERVERS_MAX);
    }
    if (q->part == DLS_STEP_FORWARD && w->source != OPERATOR && w->source != HABITAT) {
        return dls_fail(err, DLS_EINPUT, w->p.source, "whole training steps only");
    }
    *names = look_up(w, q->model);
    if (names->match != DLS_MODEL_KNOWN) {
        const char *near = dls_zoo_near(q->model);
        return dls_fail(err, DLS_EINPUT, "model", "unknown model \"%s\"%s", q->model,
                        near ? DLS_DID_YOU_MEAN(near) : " ('dlsim graph zoo' lists those of the zoo)");
    }
    dls_model_resize(names, q->image, q->sequence);
    dls_model_touch(names, q->batch);
    names->shards = q->shards;
    names->memo = w->p.memo;
    if ((q->shards > 1 || q->stages > 1) && (w->source != OPERATOR || names->zoo->design != dls_zoo_gpt)) {
        return dls_fail(err, DLS_EINPUT, w->p.source, "model or pipeline parallel");
    }
    if (w->source != PALEO && w->source != JUSTUS) {
        names->layers = q->pytorch || q->fused_attention ? NULL : names->layers;
        names->runner = DLS_RUN_EAGER | (q->part == DLS_STEP_FORWARD ? DLS_RUN_FORWARD : 0) |
                        (q->compiled ? DLS_RUN_COMPILED : 0) |
                        (q->fused_attention ? DLS_RUN_FUSED_ATTENTION : 0) |
                        (q->channels_first ? DLS_RUN_CHANNELS_FIRST : 0);
    }
    return w->source == DRIPLE ? dls_inspector_knows(w->session.insp, q->numeric, err) : DLS_OK;
}

static dls_status workload_of(dls_whatif *w, const dls_model_names *names, dls_numeric numeric,
                              const dls_workload **out, dls_error *err)
{
    for (size_t i = 0; i < w->n; i++) {
        if (dls_model_same(&w->known[i]->names, names) && w->known[i]->numeric == numeric) {
            *out = &w->known[i]->work;
            return DLS_OK;
        }
    }
    DLS_TRY(dls_grow(&w->known, &w->cap, w->n + 1, sizeof *w->known, err));
    DLS_FREED model_work *k = NULL;
    DLS_TRY(dls_alloc_array(&k, 1, sizeof *k, "workload", err));
    *k = (model_work){.names = *names, .numeric = numeric};
    DLS_TRY(dls_model_workload(names, numeric, &k->work, err));
    *out = &k->work;
    w->known[w->n++] = dls_take(&k);
    return DLS_OK;
}

/* At the GPU's highest rate for the precision (libraries take tf32 for fp32). Algorithms save
 * multiplications (Winograd, FFT), but a pixel and a pair of channels need one at least. */
static double least_s(const dls_whatif_question *q, const dls_workload *work, const dls_hw_gpu *gpu)
{
    const bool half = q->numeric == DLS_NUMERIC_FP16 || q->numeric == DLS_NUMERIC_BF16;
    double flops = 0;
    for (size_t i = 0; i < work->n_kernels; i++) {
        const dls_kernel *k = &work->kernel[i];
        const double window = fmax(1, (double)k->window.kernel_h * k->window.kernel_w);
        if (!k->backward || q->part != DLS_STEP_FORWARD) {
            flops += k->repeats * k->flops / window;
        }
    }
    return q->batch * flops / fmax(1, q->stages) /
           fmax(gpu->fp32_flops, half ? gpu->fp16_flops : gpu->tf32_flops);
}

static dls_status weigh(dls_whatif *w, const dls_whatif_question *q, const dls_workload *work,
                        dls_whatif_answer *out, dls_error *err)
{
    const dls_hw_gpu *gpu;
    DLS_TRY(dls_hardware_gpu(w->hw, q->setting.gpu, &gpu, err));
    const double words = q->part == DLS_STEP_FORWARD     ? 1
                         : q->part == DLS_STEP_NO_UPDATE ? 2
                                                         : 2 + dls_optimiser_words(work->optimiser);
    const double process = dls_words_memory_bytes(work, q->numeric, 0, 0);
    const double whole = dls_whole_memory_bytes(work, q->numeric, q->batch, words);
    out->prediction.mem_bytes = process + (whole - process) / fmax(1, q->stages);
    out->fits = out->prediction.mem_bytes <= gpu->mem_bytes;
    out->least_s = least_s(q, work, gpu);
    return DLS_OK;
}

/* What the operator model knows of a question: the step, and what a worker sends, unless the step
 * alone is asked for. */
static dls_status known_of(const dls_whatif *w, const dls_whatif_question *q,
                           const dls_workload *work, dls_known *known, dls_error *err)
{
    dls_work_setting s;
    dls_fabric fabric;
    DLS_OWN(dls_timeline_fini) dls_timeline timeline = {0};
    DLS_TRY(dls_setting_work(&q->setting, &w->model, w->hw, work, q->batch, q->numeric, &fabric, &s,
                             err));
    s.host = dls_opmodel_host(&w->model, q->host ? q->host : "");
    if (q->step_only) {
        dls_step_in_setting step;
        DLS_TRY(dls_setting_step(&w->model, work, &s, &step, err));
        *known = (dls_known){.step_s = step.step_s};
        return DLS_OK;
    }
    DLS_TRY(dls_timeline_build(&w->model, work, &s, &timeline, err));
    *known = (dls_known){.step_s = timeline.step_s,
                         .link_bytes =
                             dls_track_integral(&timeline.track[DLS_TRACK_TX], timeline.step_s)};
    return DLS_OK;
}

/* ---- the inspector --------------------------------------------------------------------------- */

static dls_status where_is(const dls_whatif *w, const dls_setting_spec *s, dls_whereabouts *out,
                           dls_error *err)
{
    const dls_hw_gpu *gpu;
    const dls_hw_link *link;
    const bool several = s->workers > 1 || s->servers > 0;
    DLS_TRY(dls_hardware_gpu(w->hw, s->gpu, &gpu, err));
    *out = (dls_whereabouts){.gpu = s->gpu,
                             .fp32_flops = gpu->fp32_flops,
                             .workers = s->workers,
                             .nodes = s->nodes,
                             .servers = s->servers,
                             .exchange = s->exchange};
    if (several) {
        DLS_TRY(dls_hardware_link(w->hw, dls_setting_link(s), &link, err));
        out->link_bps = link->bps;
    }
    return DLS_OK;
}

/* A graph of the model at a batch, and what a relative inspector makes of a step that is known. */
static dls_status ask_at(dls_whatif *w, const dls_zoo_input *input, int32_t batch, int32_t setting,
                         const dls_known *known, dls_profile *profile, dls_error *err)
{
    const size_t cells = (size_t)input->graph.n_nodes * (size_t)input->graph.n_features;
    const dls_query query = {0, setting};
    DLS_FREED double *x = NULL;
    DLS_TRY(dls_alloc_array(&x, cells, sizeof *x, "graph", err));
    const dls_graph graph = dls_zoo_input_at(&w->session.inputs, input, batch, x);
    return dls_inspector_session_predict(&w->session, &graph, 1, &query, known, 1, profile, err);
}

/* The profile of the batch asked for; a relative inspector's step goes by what it says of the usual
 * batch alone (driple.c). */
static dls_status ask_at_batches(dls_whatif *w, const dls_whatif_question *q,
                                 const dls_zoo_input *input, int32_t setting,
                                 const dls_known *known, dls_profile *profile, dls_error *err)
{
    if (!dls_inspector_is_relative(w->session.insp)) {
        return ask_at(w, input, q->batch, setting, NULL, profile, err);
    }
    if (w->usual.input != input || w->usual.setting != setting) {
        const dls_known one = {.step_s = 1};
        DLS_TRY(ask_at(w, input, input->model->batch, setting, &one, profile, err));
        w->usual = (usual_factor){input, setting, profile->iteration_s};
    }
    const double step_s = w->usual.step_s * known->step_s;
    if (q->step_only) {
        *profile = (dls_profile){.iteration_s = step_s};
        return DLS_OK;
    }
    DLS_TRY(ask_at(w, input, q->batch, setting, known, profile, err));
    dls_profile_stretch(profile, step_s / profile->iteration_s);
    return DLS_OK;
}

static dls_status ask_inspector(dls_whatif *w, const dls_whatif_question *q,
                                const dls_model_names *names, const dls_workload *work,
                                dls_whatif_answer *out, dls_error *err)
{
    const dls_zoo_options size = {
        .numeric = q->numeric, .image = names->image, .sequence = names->sequence};
    const dls_zoo_input *input;
    dls_whereabouts where;
    dls_profile profile;
    dls_known known = {0};
    int32_t setting;
    DLS_TRY(dls_zoo_input_sized(&w->session.inputs, names->zoo, &size, &input, err));
    DLS_TRY(where_is(w, &q->setting, &where, err));
    DLS_TRY(dls_inspector_session_setting(&w->session, &where, &setting, &out->prediction.distance,
                                          err));
    snprintf(out->setting, sizeof out->setting, "%s",
             dls_inspector_setting(w->session.insp, setting).name);
    if (dls_inspector_is_relative(w->session.insp)) {
        DLS_TRY(known_of(w, q, work, &known, err));
    }
    DLS_TRY(ask_at_batches(w, q, input, setting, &known, &profile, err));
    out->prediction.iteration_s = profile.iteration_s;
    for (int k = 0; k < DLS_METRICS && !q->step_only; k++) { /* no amount is negative, whatever a network says */
        out->prediction.metric[k] = fmax(0, profile.metric[k]);
    }
    return DLS_OK;
}

/* ---- models ---------------------------------------------------------------------------------- */

static double part_s(const dls_step *step, dls_step_part part)
{
    return part == DLS_STEP_FORWARD     ? step->forward_s
           : part == DLS_STEP_NO_UPDATE ? step->gpu_s - step->update_s + step->added_s
                                        : step->gpu_s;
}

/* What the operator model says of the GPU that was not measured either. */
static const dls_step *step_on(dls_whatif *w, const dls_workload *work, const dls_hw_gpu *gpu,
                               const dls_whatif_question *q)
{
    int bits = 0;
    while (q->batch >> bits > 1) {
        bits++;
    }
    measured_step *m = &w->measured[bits];
    if (m->work != work || m->gpu != gpu || m->batch != q->batch) {
        const dls_rates rates = dls_opmodel_rates(&w->model, gpu, q->numeric);
        *m = (measured_step){work, gpu, q->batch, dls_step_time(work, &rates, q->batch)};
    }
    return &m->step;
}

/* A step on one GPU as the source has it. */
static dls_status one_gpu_s(dls_whatif *w, const dls_workload *work, const dls_whatif_question *q,
                            const dls_work_setting *s, double *one_s, dls_error *err)
{
    const dls_hw_gpu *from;
    if (w->source == PALEO) {
        DLS_TRY(dls_paleo_knows(s->numeric, err));
        *one_s = dls_paleo_step_s(&w->paleo, work, s->gpu, s->numeric, s->batch);
        return DLS_OK;
    }
    if (w->source == JUSTUS) {
        return dls_justus_step_s(&w->nets, work, s->gpu, s->numeric, s->batch, one_s, err);
    }
    DLS_TRY(dls_hardware_gpu(w->hw, q->measured_gpu ? q->measured_gpu : DEFAULT_MEASURED_GPU, &from,
                             err));
    DLS_TRY(dls_gpu_knows(from, s->numeric, err));
    DLS_TRY(dls_opmodel_knows(&w->model, from, s->numeric, work, err));
    /* Per sample a measured step serves for any batch. */
    double measured_s = q->measured_s * q->batch / fmax(1, q->measured_batch);
    if (!(measured_s > 0)) {
        measured_s = part_s(step_on(w, work, from, q), q->part);
    }
    *one_s = dls_habitat_step_s(work, from, s->gpu, s->numeric, s->batch, measured_s);
    return DLS_OK;
}

/* The operator model's timeline without noise and residual, analysed as a profiler's. */
static dls_status profile_of(const dls_whatif *w, const dls_setting_spec *spec,
                             const dls_work_setting *s, const dls_workload *work,
                             dls_prediction *out, dls_error *err)
{
    dls_label_options o;
    dls_label label;
    bool fits;
    dls_label_options_init(&o);
    o.step_spread = o.jitter_frac = o.noise_frac = o.node_sigma = o.network_sigma = 0;
    DLS_TRY(dls_label_make(&o, &w->model, spec, s, work, 0, &label, &fits, err));
    if (fits) {
        memcpy(out->metric, label.metric, sizeof label.metric);
    }
    return DLS_OK;
}

/* Every layer split: what one GPU does of it, and what they add up; or in stages, which a
 * micro-batch passes one after the other, there and back. */
static dls_status ask_split(const dls_whatif *w, const dls_whatif_question *q,
                            const dls_workload *work, dls_prediction *out, dls_error *err)
{
    const double n = q->setting.workers, passes = fmax(1, q->micro_batches);
    const double bytes = dls_numeric_bytes(q->numeric) * q->batch;
    dls_setting_spec alone = q->setting;
    const dls_hw_link *link;
    dls_work_setting s;
    dls_fabric fabric;
    dls_step_in_setting step;
    alone.workers = alone.nodes = 1;
    DLS_TRY(dls_hardware_link(w->hw, dls_setting_link(&q->setting), &link, err));
    DLS_TRY(dls_setting_work(&alone, &w->model, w->hw, work, q->batch / passes, q->numeric, &fabric,
                             &s, err));
    s.n_workers = 1;
    DLS_TRY(dls_setting_step(&w->model, work, &s, &step, err));
    const double pass_s = step.gpu.gpu_s - step.gpu.update_s;
    const double update_s = part_s(&step.gpu, q->part) - pass_s;
    out->iteration_s =
        q->shards > 1
            ? pass_s + update_s + 2 * (n - 1) / n * bytes * work->shared / link->goodput_bps
            : (n + passes - 1) / n * pass_s + update_s / n +
                  2 * (n - 1) * bytes * work->stream / link->goodput_bps;
    return DLS_OK;
}

static dls_status ask_model(dls_whatif *w, const dls_whatif_question *q, const dls_workload *work,
                            dls_prediction *out, dls_error *err)
{
    dls_work_setting s;
    dls_fabric fabric;
    dls_step_in_setting step = {.exchange_s = 0};
    double one_s;
    if (q->shards > 1 || q->stages > 1) {
        return ask_split(w, q, work, out, err);
    }
    DLS_TRY(dls_setting_work(&q->setting, &w->model, w->hw, work, q->batch, q->numeric, &fabric, &s,
                             err));
    s.host = w->source == OPERATOR ? dls_opmodel_host(&w->model, q->host ? q->host : "") : NULL;
    if (w->source == OPERATOR || s.n_workers > 1 || s.n_servers > 0) {
        DLS_TRY(dls_setting_step(&w->model, work, &s, &step, err));
    } else { /* which exchanges nothing */
        DLS_TRY(dls_gpu_knows(s.gpu, s.numeric, err));
        DLS_TRY(dls_opmodel_knows(&w->model, s.gpu, s.numeric, work, err));
    }
    out->iteration_s = step.step_s;
    if (w->source != OPERATOR) {
        DLS_TRY(one_gpu_s(w, work, q, &s, &one_s, err));
        out->iteration_s = w->source == PALEO || s.async ? one_s + step.exchange_s
                           : !s.fabric
                               ? one_s
                               : dls_fabric_step_s(&fabric, s.n_workers, one_s, step.exchange_s);
        return DLS_OK;
    }
    if (q->part != DLS_STEP_WHOLE) {
        dls_step part = step.gpu;
        part.gpu_s = part_s(&step.gpu, q->part);
        if (q->part == DLS_STEP_FORWARD) {
            part.runs = part.forward_runs;
            part.tensors = 0;
        }
        one_s = dls_step_host_s(&part, work, s.host);
        out->iteration_s = !s.fabric || q->part == DLS_STEP_FORWARD
                               ? one_s
                               : dls_fabric_step_s(&fabric, s.n_workers, one_s, step.exchange_s);
    }
    return q->step_only ? DLS_OK : profile_of(w, &q->setting, &s, work, out, err);
}

/* A large model, which names its way of dividing itself (docs/large-models.md): whole steps. */
static dls_status ask_large(const dls_whatif *w, const dls_whatif_question *q,
                            dls_whatif_answer *out, dls_error *err)
{
    const dls_setting_spec *s = &q->setting;
    const dls_hw_gpu *gpu;
    const dls_hw_link *peer, *line = NULL;
    dls_llm model;
    dls_llm_step step;
    if (w->source != OPERATOR || q->part == DLS_STEP_FORWARD || s->servers > 0) {
        return dls_fail(err, DLS_EINPUT, w->p.source, "steps of large models by the operator model alone");
    }
    DLS_TRY(dls_llm_parse(q->model, &model, err));
    if (q->fused_attention && !(model.fused > 0)) { /* its name may say which */
        model.fused = 2;
    }
    DLS_TRY(dls_hardware_gpu(w->hw, s->gpu, &gpu, err));
    DLS_TRY(dls_gpu_knows(gpu, q->numeric, err));
    DLS_TRY(dls_hardware_link(w->hw, s->link, &peer, err));
    if (s->nodes > 1) {
        DLS_TRY(dls_hardware_link(w->hw, s->network, &line, err));
    }
    const dls_rates rates = dls_opmodel_rates(&w->model, gpu, q->numeric);
    dls_llm_machine on = dls_llm_machine_of(gpu, peer, &rates, q->numeric, w->model.sized);
    on.gpus = s->workers;
    on.nodes = s->nodes;
    on.line_bps = line ? line->goodput_bps : 0;
    DLS_TRY(dls_llm_time(&model, &on, (double)q->batch * s->workers, &step, err));
    out->prediction.iteration_s =
        step.step_s - (q->part == DLS_STEP_NO_UPDATE ? step.update_s : 0);
    out->prediction.mem_bytes = step.mem_bytes;
    out->fits = step.mem_bytes <= gpu->mem_bytes;
    /* Three passes over all weights but positions, of which a table is. */
    const double weights = step.params - model.sequence * model.hidden / model.tensor;
    const double tokens = q->batch * model.tensor * model.pipeline * model.sequence;
    out->least_s = 6 * weights * tokens / fmax(on.matrix ? gpu->fp16_flops : gpu->tf32_flops, gpu->fp32_flops);
    return DLS_OK;
}

/* ---- asking ---------------------------------------------------------------------------------- */

static dls_status ask_one(dls_whatif *w, const dls_whatif_question *q, dls_whatif_answer *out,
                          dls_error *err)
{
    dls_model_names names;
    const dls_workload *work = NULL;
    if (dls_llm_named(q->model)) {
        return ask_large(w, q, out, err);
    }
    DLS_TRY(check(w, q, &names, err));
    out->network = names.zoo->name;
    out->image = dls_zoo_image(names.zoo);
    out->sequence = names.zoo->sequence;
    out->image = out->image && names.image ? names.image : out->image;
    out->sequence = out->sequence && names.sequence ? names.sequence : out->sequence;
    dls_model_names run = names; /* whoever answers, memory is that of what PyTorch runs */
    run.runner |= DLS_RUN_EAGER | (q->fused_attention ? DLS_RUN_FUSED_ATTENTION : 0);
    run.layers = NULL;
    DLS_TRY(workload_of(w, &run, q->numeric, &work, err));
    DLS_TRY(weigh(w, q, work, out, err));
    DLS_TRY(workload_of(w, &names, q->numeric, &work, err));
    if (w->source == DRIPLE) {
        return ask_inspector(w, q, &names, work, out, err);
    }
    return ask_model(w, q, work, &out->prediction, err);
}

dls_status dls_whatif_ask(dls_whatif *w, const dls_whatif_question *q, dls_whatif_answer *out,
                          dls_error *err)
{
    const double nan = (double)NAN;
    dls_error own = {0};
    *out = (dls_whatif_answer){.prediction = {.remaining_s = nan, .link_bps = nan, .mem_bytes = nan}};
    for (int k = 0; k < DLS_METRICS; k++) {
        out->prediction.metric[k] = nan;
    }
    const dls_status status = ask_one(w, q, out, &own);
    if (status == DLS_EINPUT || status == DLS_EPREDICTOR) {
        snprintf(out->refused, sizeof out->refused, "%.200s", own.msg);
        return DLS_OK;
    }
    return status == DLS_OK ? DLS_OK : dls_fail(err, status, own.where, "%s", own.msg);
}
