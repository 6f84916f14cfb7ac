/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "predictor/dataset/corpus.h"

#include "base/alloc.h"
#include "predictor/dataset/variants.h"
#include "predictor/operator/from_graph.h"

#include <stdio.h>
#include <string.h>

void dls_corpus_options_init(dls_corpus_options *o)
{
    *o = (dls_corpus_options){.n_graphs = 320,
                              .seed = 1,
                              .split = DLS_SPLIT_BY_FAMILY,
                              .grouping = DLS_GROUPING_UNIFORM,
                              .n_groups = DLS_GROUPS_DEFAULT,
                              .group_batch = 32,
                              .features = DLS_FEATURES_WORK};
}

void dls_corpus_fini(dls_corpus *corpus)
{
    if (!corpus) {
        return;
    }
    for (size_t i = 0; i < corpus->n; i++) {
        dls_workload_fini(&corpus->work[i]);
        if (corpus->graph) { /* may have been taken */
            dls_input_graph_fini(&corpus->graph[i]);
        }
    }
    dls_free(corpus->origin);
    dls_free(corpus->split);
    dls_free(corpus->numeric);
    dls_free(corpus->work);
    dls_free(corpus->graph);
    dls_input_spec_fini(&corpus->input);
    *corpus = (dls_corpus){0};
}

static dls_status corpus_alloc(dls_corpus *c, size_t n, dls_error *err)
{
    c->origin = dls_alloc_zero(n + 1, sizeof *c->origin);
    c->split = dls_alloc_zero(n + 1, sizeof *c->split);
    c->numeric = dls_alloc_zero(n + 1, sizeof *c->numeric);
    c->work = dls_alloc_zero(n + 1, sizeof *c->work);
    c->graph = dls_alloc_zero(n + 1, sizeof *c->graph);
    if (!c->origin || !c->split || !c->numeric || !c->work || !c->graph) {
        return dls_nomem(err, "corpus", n * sizeof *c->work);
    }
    c->n = n;
    return DLS_OK;
}

/* What lives only while the corpus is made. */
typedef struct maker {
    dls_opgraph **graph; /* [n] */
    dls_grouping *grouping;
    dls_grouped *train; /* views of the train graphs */
    size_t n, n_train;
    int32_t *n_kept, *n_groups;
} maker;

static void maker_fini(maker *m)
{
    for (size_t i = 0; i < m->n && m->graph && m->grouping; i++) {
        dls_opgraph_destroy(m->graph[i]);
        dls_grouping_fini(&m->grouping[i]);
    }
    dls_free(m->graph);
    dls_free(m->grouping);
    dls_free(m->train);
    dls_free(m->n_kept);
    dls_free(m->n_groups);
}

static dls_status maker_alloc(maker *m, size_t n, dls_error *err)
{
    m->n = n;
    m->graph = dls_alloc_zero(n + 1, sizeof(dls_opgraph *));
    m->grouping = dls_alloc_zero(n + 1, sizeof *m->grouping);
    m->train = dls_alloc_zero(n + 1, sizeof *m->train);
    m->n_kept = dls_alloc_zero(n + 1, sizeof *m->n_kept);
    m->n_groups = dls_alloc_zero(n + 1, sizeof *m->n_groups);
    if (!m->graph || !m->grouping || !m->train || !m->n_kept || !m->n_groups) {
        return dls_nomem(err, "corpus", n * sizeof *m->grouping);
    }
    return DLS_OK;
}

static dls_status build_graph(const dls_variant *v, dls_corpus *c, size_t i, dls_opgraph **g,
                              dls_error *err)
{
    dls_zoo_options options = dls_zoo_defaults(v->model);
    dls_dataset_origin *o = &c->origin[i];
    options.batch = v->batch;
    options.numeric = v->numeric;
    options.optimiser = v->optimiser;
    DLS_TRY(dls_zoo_build(v->model, &options, g, err));
    snprintf(o->model, sizeof o->model, "%s", v->model->name);
    snprintf(o->family, sizeof o->family, "%s", v->model->family);
    snprintf(o->data, sizeof o->data, "%s", v->model->dataset);
    snprintf(o->numeric, sizeof o->numeric, "%s", dls_numeric_name((int)v->numeric));
    snprintf(o->optimiser, sizeof o->optimiser, "%s", dls_optimiser_name((int)v->optimiser));
    o->batch = v->batch;
    c->numeric[i] = v->numeric;
    return dls_workload_from_graph(*g, &c->work[i], err);
}

static dls_status group_graphs(const dls_corpus_options *o, maker *m, dls_error *err)
{
    for (size_t i = 0; i < m->n; i++) {
        dls_kept kept;
        DLS_TRY(dls_kept_create(m->graph[i], &kept, err));
        m->n_kept[i] = kept.adjacency.n;
        m->n_groups[i] = o->n_groups < kept.adjacency.n ? o->n_groups : kept.adjacency.n;
        dls_kept_fini(&kept);
    }
    if (o->grouping == DLS_GROUPING_PROPORTIONAL) {
        DLS_TRY(dls_grouping_proportional(m->n_kept, m->n, o->group_batch, m->n_groups, err));
    }
    for (size_t i = 0; i < m->n; i++) {
        DLS_TRY(dls_grouping_create(m->graph[i], o->grouping, m->n_groups[i], DLS_GROUPING_SEED,
                                    &m->grouping[i], err));
    }
    return DLS_OK;
}

static dls_status describe(const dls_corpus_options *o, maker *m, dls_corpus *c, dls_error *err)
{
    c->input = (dls_input_spec){
        .grouping = o->grouping, .n_groups = o->n_groups, .seed = DLS_GROUPING_SEED};
    DLS_TRY(dls_feature_spec_create(o->features, &c->input.features, err));
    for (size_t i = 0; i < m->n; i++) {
        if (c->split[i] == DLS_SPLIT_TRAIN) {
            m->train[m->n_train++] = (dls_grouped){m->graph[i], &m->grouping[i]};
        }
    }
    DLS_TRY(dls_feature_spec_fit(c->input.features, m->train, m->n_train, err));
    for (size_t i = 0; i < m->n; i++) {
        DLS_TRY(
            dls_input_grouped(&c->input, m->graph[i], &m->grouping[i], &c->graph[i], NULL, err));
    }
    return DLS_OK;
}

static dls_status make(const dls_corpus_options *o, const dls_variant *variant, maker *m,
                       dls_corpus *c, dls_error *err)
{
    DLS_TRY(corpus_alloc(c, o->n_graphs, err));
    DLS_TRY(maker_alloc(m, o->n_graphs, err));
    for (size_t i = 0; i < o->n_graphs; i++) {
        DLS_TRY(build_graph(&variant[i], c, i, &m->graph[i], err));
    }
    DLS_TRY(group_graphs(o, m, err));
    if (o->split == DLS_SPLIT_AT_RANDOM) {
        DLS_TRY(dls_variants_split_random(o->n_graphs, o->seed, c->split, err));
    } else {
        DLS_TRY(dls_variants_split_family(variant, o->n_graphs, o->seed, c->split, err));
    }
    return describe(o, m, c, err);
}

dls_status dls_corpus_create(const dls_corpus_options *o, dls_corpus *out, dls_error *err)
{
    dls_variant *variant;
    maker m = {0};
    *out = (dls_corpus){0};
    DLS_TRY(dls_variants_draw(o->n_graphs, o->seed, &variant, err));
    const dls_status status = make(o, variant, &m, out, err);
    maker_fini(&m);
    dls_free(variant);
    if (status != DLS_OK) {
        dls_corpus_fini(out);
    }
    return status;
}
