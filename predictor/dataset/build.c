/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Builds a dataset with simulated labels: labels every graph of a corpus in every setting where it
 * fits, with noise that depends on graph and setting alone.
 */
#include "predictor/dataset/build.h"

#include "base/alloc.h"
#include "base/rng.h"

#include <stdio.h>
#include <string.h>

/* The graphs move from the corpus to the set. */
static dls_status take_graphs(dls_corpus *c, dls_dataset *set, dls_error *err)
{
    set->graph = c->graph;
    set->origin = c->origin;
    set->n_graphs = c->n;
    c->origin = NULL;
    c->graph = NULL;
    set->n_features = c->input.features->n_features;
    return dls_input_spec_text(&c->input, &set->features_text, err);
}

static dls_status setting_alloc(dls_dataset_setting *s, size_t n, dls_error *err)
{
    s->graph = dls_alloc_zero(n + 1, sizeof *s->graph);
    s->split = dls_alloc_zero(n + 1, sizeof *s->split);
    s->label = dls_alloc_zero(n * DLS_METRICS + 1, sizeof *s->label);
    s->truth = dls_alloc_zero(n * DLS_METRICS + 1, sizeof *s->truth);
    s->iteration_s = dls_alloc_zero(n + 1, sizeof *s->iteration_s);
    s->model_s = dls_alloc_zero(n + 1, sizeof *s->model_s);
    s->link_bytes = dls_alloc_zero(n + 1, sizeof *s->link_bytes);
    return s->graph && s->split && s->label && s->truth && s->iteration_s && s->model_s &&
                   s->link_bytes
               ? DLS_OK
               : dls_nomem(err, s->name, n * DLS_METRICS * sizeof *s->label);
}

/* Noise belongs to a graph in a setting: it does not change when other settings are built beside.
 */
static uint64_t entity_of(const dls_setting_spec *spec, size_t graph)
{
    uint64_t h = 0;
    for (const char *p = spec->name; *p; p++) {
        h = dls_mix64(h ^ (uint64_t)(unsigned char)*p);
    }
    return dls_mix64(h ^ (uint64_t)graph);
}

dls_status dls_corpus_label(const dls_build_options *o, const dls_corpus *corpus, size_t graph,
                            const dls_setting_spec *spec, dls_label *out, bool *fits,
                            dls_error *err)
{
    dls_fabric fabric;
    dls_work_setting work;
    const dls_workload *w = &corpus->work[graph];
    DLS_TRY(dls_setting_work(spec, o->model, o->hw, w, corpus->origin[graph].batch,
                             corpus->numeric[graph], &fabric, &work, err));
    return dls_label_make(&o->label, o->model, spec, &work, w, entity_of(spec, graph), out, fits,
                          err);
}

static dls_status build_setting(const dls_build_options *o, const dls_setting_spec *spec,
                                const dls_corpus *c, dls_dataset_setting *s, dls_error *err)
{
    dls_dataset_setting_describe(spec, s);
    DLS_TRY(setting_alloc(s, c->n, err));
    for (size_t i = 0; i < c->n; i++) {
        dls_label label;
        bool fits;
        DLS_TRY(dls_corpus_label(o, c, i, spec, &label, &fits, err));
        if (fits) {
            s->graph[s->n] = (int32_t)i;
            s->split[s->n] = c->split[i];
            s->iteration_s[s->n] = label.iteration_s;
            s->model_s[s->n] = label.model_s;
            s->link_bytes[s->n] = label.link_bytes;
            memcpy(s->label + s->n * DLS_METRICS, label.metric, sizeof label.metric);
            memcpy(s->truth + s->n * DLS_METRICS, label.truth, sizeof label.truth);
            s->n++;
        }
    }
    return s->n > 0
               ? DLS_OK
               : dls_fail(err, DLS_EINPUT, s->name, "no graph fits the memory of a %s", spec->gpu);
}

static dls_status build(const dls_build_options *o, dls_corpus *c, dls_dataset *set, dls_error *err)
{
    DLS_TRY(dls_corpus_create(&o->corpus, c, err));
    snprintf(set->feature_version, sizeof set->feature_version, "%s",
             dls_features_version_name((int)c->input.features->version));
    snprintf(set->command, sizeof set->command, "%s", o->command ? o->command : "");
    set->seed = o->corpus.seed;
    DLS_TRY(
        dls_alloc_array(&set->setting, o->n_settings + 1, sizeof *set->setting, "settings", err));
    for (size_t k = 0; k < o->n_settings; k++) {
        set->n_settings++;
        DLS_TRY(build_setting(o, &o->setting[k], c, &set->setting[k], err));
        if (o->progress) {
            o->progress(o->user, k + 1, o->n_settings);
        }
    }
    return take_graphs(c, set, err);
}

dls_status dls_dataset_build(const dls_build_options *o, dls_dataset **out, dls_error *err)
{
    DLS_OWN(dls_corpus_fini) dls_corpus c = {0};
    DLS_HOLD(dls_dataset_destroy) dls_dataset *set = NULL;
    *out = NULL;
    DLS_TRY(dls_alloc_array(&set, 1, sizeof *set, "dataset", err));
    DLS_TRY(build(o, &c, set, err));
    *out = dls_take(&set);
    return DLS_OK;
}
