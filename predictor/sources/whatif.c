/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Predicts one workload in settings named by the user, with the inspector, the operator model,
 * Paleo or Habitat, without a cluster or a trace.
 */
#include "predictor/sources/whatif.h"

#include "base/alloc.h"
#include "predictor/sources/inspector.h"
#include "predictor/baselines/habitat.h"
#include "predictor/baselines/paleo.h"
#include "predictor/dataset/label.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define DEFAULT_MEASURED_GPU "V100"

typedef enum source { DRIPLE, OPERATOR, PALEO, HABITAT } source;

struct dls_whatif {
    dls_whatif_params p;
    source source;
    dls_model_names names;
    dls_inspector_session session; /* driple */
    dls_hardware hw; /* the rest */
    dls_opmodel model;
    dls_paleo paleo;
    const dls_hw_gpu *measured_gpu;
    bool has_hw;
};

const char *const *dls_whatif_sources(void)
{
    static const char *const names[] = {"driple", "operator", "paleo", "habitat", NULL};
    return names;
}

/* ---- set-up ------------------------------------------------------------------------------------
 */

static dls_status open_tables(dls_whatif *w, dls_error *err)
{
    char buf[4096], path[4200];
    dls_pointset points;
    const char *folder = dls_hardware_folder(w->p.hardware_dir, buf, sizeof buf);
    snprintf(path, sizeof path, "%s/operator.cfg", folder);
    DLS_TRY(dls_opmodel_load(path, &w->model, err));
    DLS_TRY(dls_hardware_load(folder, &w->hw, err));
    w->has_hw = true;
    const char *gpu = w->p.measured_gpu ? w->p.measured_gpu : DEFAULT_MEASURED_GPU;
    DLS_TRY(dls_hardware_gpu(&w->hw, gpu, &w->measured_gpu, err));
    if (w->source != PALEO) {
        return DLS_OK;
    }
    DLS_TRY(dls_pointset_create(&w->hw, &points, err));
    const dls_status status = dls_paleo_calibrate(&points, &w->paleo, err);
    dls_pointset_fini(&points);
    return status;
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
                        "\"%s\" is not driple, operator, paleo or habitat", p->source);
    }
    w->source = (source)found;
    w->names = dls_model_lookup(p->model);
    if (w->names.match == DLS_MODEL_UNKNOWN) {
        return dls_fail(err, DLS_EINPUT, "model",
                        "nothing is known of a model \"%s\" ('dlsim graph zoo' lists those of the "
                        "zoo)",
                        p->model);
    }
    const dls_inspector_session_params session = {.weights = p->weights,
                                    .backend = p->backend,
                                    .hardware_dir = p->hardware_dir,
                                    .settings_map = p->settings_map,
                                    .numeric = p->numeric};
    return w->source == DRIPLE ? dls_inspector_session_init(&w->session, &session, err) : open_tables(w, err);
}

dls_status dls_whatif_create(const dls_whatif_params *p, dls_whatif **out, dls_error *err)
{
    dls_whatif *w = dls_alloc_zero(1, sizeof *w);
    if (!w) {
        return dls_nomem(err, "what-if", sizeof *w);
    }
    w->p = *p;
    const dls_status status = open_source(w, err);
    if (status != DLS_OK) {
        dls_whatif_destroy(w);
        return status;
    }
    *out = w;
    return DLS_OK;
}

void dls_whatif_destroy(dls_whatif *w)
{
    if (w) {
        dls_inspector_session_fini(&w->session);
        if (w->has_hw) {
            dls_hardware_fini(&w->hw);
        }
        dls_free(w);
    }
}

const dls_hardware *dls_whatif_hardware(const dls_whatif *w)
{
    return w->source == DRIPLE ? &w->session.hw : &w->hw;
}

/* ---- the inspector -----------------------------------------------------------------------------
 */

static dls_status where_is(const dls_whatif *w, const dls_setting_spec *s, dls_whereabouts *out,
                           dls_error *err)
{
    const dls_hw_gpu *gpu;
    const dls_hw_link *link;
    const bool several = s->workers > 1 || s->servers > 0;
    DLS_TRY(dls_hardware_gpu(&w->session.hw, s->gpu, &gpu, err));
    *out = (dls_whereabouts){.gpu = s->gpu,
                             .fp32_flops = gpu->fp32_flops,
                             .workers = s->workers,
                             .nodes = s->nodes,
                             .servers = s->servers,
                             .exchange = s->exchange};
    if (several) {
        DLS_TRY(dls_hardware_link(&w->session.hw, dls_setting_link(s), &link, err));
        out->link_bps = link->bps;
    }
    return DLS_OK;
}

static dls_status ask_inspector(dls_whatif *w, const dls_whatif_question *q, size_t n,
                                dls_whatif_answer *out, dls_error *err)
{
    const dls_zoo_input *input;
    DLS_TRY(dls_zoo_input_of(&w->session.inputs, dls_zoo_find(w->names.zoo), &input, err));
    const size_t cells = (size_t)input->graph.n_nodes * (size_t)input->graph.n_features;
    double *x = dls_alloc(n * cells * sizeof *x + 1);
    dls_graph *graph = dls_alloc(n * sizeof *graph + 1);
    dls_query *query = dls_alloc(n * sizeof *query + 1);
    dls_profile *profile = dls_alloc(n * sizeof *profile + 1);
    dls_status status =
        x && graph && query && profile ? DLS_OK : dls_nomem(err, "graphs", n * cells);
    for (size_t i = 0; i < n && status == DLS_OK; i++) {
        dls_whereabouts where;
        graph[i] = dls_zoo_input_at(&w->session.inputs, input, q[i].batch, x + i * cells);
        status = where_is(w, &q[i].setting, &where, err);
        int32_t s = 0;
        if (status == DLS_OK) {
            status = dls_inspector_session_setting(&w->session, &where, &s, &out[i].prediction.distance, err);
        }
        if (status == DLS_OK) {
            query[i] = (dls_query){.graph_idx = (int32_t)i, .setting_idx = s};
            snprintf(out[i].setting, sizeof out[i].setting, "%s",
                     dls_inspector_setting(w->session.insp, s).name);
        }
    }
    if (status == DLS_OK) {
        status = dls_inspector_session_predict(&w->session, graph, n, query, n, profile, err);
    }
    for (size_t i = 0; i < n && status == DLS_OK; i++) {
        out[i].prediction.iteration_s = profile[i].iteration_s;
        for (int k = 0; k < DLS_METRICS; k++) { /* no amount is negative, whatever a network says */
            out[i].prediction.metric[k] = fmax(0, profile[i].metric[k]);
        }
    }
    dls_free(x);
    dls_free(graph);
    dls_free(query);
    dls_free(profile);
    return status;
}

/* ---- models ------------------------------------------------------------------------------------
 */

/* A step on one GPU as the source has it. */
static double one_gpu_s(const dls_whatif *w, const dls_workload *work, const dls_whatif_question *q,
                        const dls_work_setting *s)
{
    if (w->source == PALEO) {
        return dls_paleo_step_s(&w->paleo, work, s->gpu, s->numeric, s->batch);
    }
    /* Per sample a measured step serves for any batch. */
    double measured_s = w->p.measured_s * q->batch / fmax(1, w->p.measured_batch);
    if (!(measured_s > 0)) {
        const dls_rates rates = dls_opmodel_rates(&w->model, w->measured_gpu, s->numeric);
        const dls_step step = dls_step_time(work, &rates, s->batch);
        measured_s = dls_step_host_s(&step, work, NULL);
    }
    return dls_habitat_step_s(work, w->measured_gpu, s->gpu, s->numeric, s->batch, measured_s);
}

/* The operator model's timeline without noise and residual, analysed as a profiler's. */
static dls_status profile_of(const dls_whatif *w, const dls_setting_spec *spec,
                             const dls_work_setting *s, const dls_workload *work, dls_prediction *out,
                             dls_error *err)
{
    dls_label_options o;
    dls_label label;
    bool fits;
    dls_label_options_init(&o);
    o.step_spread = o.jitter_frac = o.noise_frac = o.node_sigma = o.network_sigma = 0;
    DLS_TRY(dls_label_make(&o, &w->model, spec, s, work, 0, &label, &fits, err));
    if (!fits) {
        return dls_fail(err, DLS_EINPUT, spec->gpu, "%s with a batch of %g does not fit its memory",
                        w->p.model, s->batch);
    }
    memcpy(out->metric, label.metric, sizeof label.metric);
    return DLS_OK;
}

static dls_status ask_model(dls_whatif *w, const dls_whatif_question *q, const dls_workload *work,
                            dls_prediction *out, dls_error *err)
{
    dls_work_setting s;
    dls_fabric fabric;
    dls_step_in_setting step;
    DLS_TRY(dls_setting_work(&q->setting, &w->model, &w->hw, work, q->batch, w->p.numeric, &fabric,
                             &s, err));
    DLS_TRY(dls_setting_step(&w->model, work, &s, &step, err));
    out->iteration_s = step.step_s;
    if (w->source == PALEO) {
        out->iteration_s = one_gpu_s(w, work, q, &s) + step.exchange_s;
    } else if (w->source == HABITAT) {
        const double one_s = one_gpu_s(w, work, q, &s);
        out->iteration_s = s.n_workers < 2 ? one_s
                           : s.async
                               ? one_s + step.exchange_s
                               : dls_fabric_step_s(&fabric, s.n_workers, one_s, step.exchange_s);
    } else {
        DLS_TRY(profile_of(w, &q->setting, &s, work, out, err));
    }
    return DLS_OK;
}

static dls_status ask_models(dls_whatif *w, const dls_whatif_question *q, size_t n,
                             dls_whatif_answer *out, dls_error *err)
{
    dls_workload work;
    dls_status status = DLS_OK;
    DLS_TRY(dls_model_workload(&w->names, w->p.numeric, &work, err));
    for (size_t i = 0; i < n && status == DLS_OK; i++) {
        status = ask_model(w, &q[i], &work, &out[i].prediction, err);
    }
    dls_workload_fini(&work);
    return status;
}

dls_status dls_whatif_ask(dls_whatif *w, const dls_whatif_question *question, size_t n,
                          dls_whatif_answer *out, dls_error *err)
{
    for (size_t i = 0; i < n; i++) {
        const dls_setting_spec *s = &question[i].setting;
        if (question[i].batch < 1 || s->workers < 1 || s->nodes < 1 || s->workers % s->nodes != 0) {
            return dls_fail(err, DLS_EINPUT, "setting",
                            "%d workers on %d nodes with a batch of %d: not possible",
                            (int)s->workers, (int)s->nodes, (int)question[i].batch);
        }
        out[i] = (dls_whatif_answer){
            .prediction = {.remaining_s = (double)NAN, .link_bps = (double)NAN, .mem_bytes = (double)NAN}};
        for (int k = 0; k < DLS_METRICS; k++) {
            out[i].prediction.metric[k] = (double)NAN;
        }
    }
    return w->source == DRIPLE ? ask_inspector(w, question, n, out, err)
                               : ask_models(w, question, n, out, err);
}
