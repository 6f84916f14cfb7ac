/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Makes the graphs of a dataset: builds the drawn variants of zoo models and random models, groups
 * their operations, and fits the feature scales to the training graphs.
 */
#include "predictor/dataset/corpus.h"

#include "base/alloc.h"
#include "base/own.h"
#include "predictor/dataset/random_graphs.h"
#include "predictor/dataset/variants.h"
#include "workload/operator/from_graph.h"

#include <stdio.h>

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
    DLS_FREE_ALL(corpus->origin, corpus->split, corpus->numeric, corpus->work, corpus->graph);
    dls_input_spec_fini(&corpus->input);
    *corpus = (dls_corpus){0};
}

static dls_status corpus_alloc(dls_corpus *c, size_t n, dls_error *err)
{
    DLS_TRY(DLS_ALLOC_ALL("corpus", err, DLS_ARRAY(c->origin, n + 1), DLS_ARRAY(c->split, n + 1),
                          DLS_ARRAY(c->numeric, n + 1), DLS_ARRAY(c->work, n + 1),
                          DLS_ARRAY(c->graph, n + 1)));
    c->n = n;
    return DLS_OK;
}

/* ---- inputs ---------------------------------------------------------------------------------- */

/* What lives only while graphs are described. */
typedef struct describer {
    dls_grouping *grouping; /* [n] */
    dls_grouped *train;     /* views of the train graphs */
    size_t n, n_train;
} describer;

static void describer_fini(describer *d)
{
    for (size_t i = 0; i < d->n && d->grouping; i++) {
        dls_grouping_fini(&d->grouping[i]);
    }
    DLS_FREE_ALL(d->grouping, d->train);
}

static dls_status fit_input(const dls_corpus_options *o, dls_opgraph *const *graph, describer *d,
                            const uint8_t *split, dls_input_spec *input, dls_error *err)
{
    DLS_TRY(dls_feature_spec_create(o->features, &input->features, err));
    for (size_t i = 0; i < d->n; i++) {
        if (split[i] == DLS_SPLIT_TRAIN) {
            d->train[d->n_train++] = (dls_grouped){graph[i], &d->grouping[i]};
        }
    }
    return dls_feature_spec_fit(input->features, d->train, d->n_train, err);
}

static dls_status describe(const dls_corpus_options *o, dls_opgraph *const *graph, describer *d,
                           const uint8_t *split, dls_graph *out, dls_input_spec *input,
                           dls_error *err)
{
    const dls_grouping_how how = {.kind = o->grouping,
                                  .n_groups = o->n_groups,
                                  .at_most = true,
                                  .batch = o->group_batch,
                                  .seed = input->seed};
    DLS_TRY(dls_alloc_array(&d->grouping, d->n + 1, sizeof *d->grouping, "corpus", err));
    DLS_TRY(dls_alloc_array(&d->train, d->n + 1, sizeof *d->train, "corpus", err));
    DLS_TRY(dls_groupings_create(graph, d->n, &how, d->grouping, err));
    if (!o->input_text) {
        DLS_TRY(fit_input(o, graph, d, split, input, err));
    }
    for (size_t i = 0; i < d->n; i++) {
        DLS_TRY(dls_input_grouped(input, graph[i], &d->grouping[i], &out[i], NULL, err));
    }
    return DLS_OK;
}

dls_status dls_corpus_describe(const dls_corpus_options *o, dls_opgraph *const *graph, size_t n,
                               const uint8_t *split, dls_graph *out, dls_input_spec *input,
                               dls_error *err)
{
    DLS_OWN(describer_fini) describer d = {.n = n};
    dls_corpus_options how = *o;
    *input = (dls_input_spec){
        .grouping = o->grouping, .n_groups = o->n_groups, .seed = DLS_GROUPING_SEED};
    if (o->input_text) {
        dls_input_spec given;
        DLS_TRY(dls_input_spec_parse(o->input_text, &given, err));
        *input = given;
        how.grouping = given.grouping;
        how.n_groups = given.n_groups;
    }
    return describe(&how, graph, &d, split, out, input, err);
}

/* ---- the zoo --------------------------------------------------------------------------------- */

static void name_origin(const dls_opgraph *g, const char *family, dls_dataset_origin *o)
{
    snprintf(o->model, sizeof o->model, "%.*s", (int)sizeof o->model - 1, g->info.model);
    snprintf(o->family, sizeof o->family, "%s", family);
    snprintf(o->data, sizeof o->data, "%.*s", (int)sizeof o->data - 1, g->info.dataset);
    snprintf(o->numeric, sizeof o->numeric, "%s", dls_numeric_name((int)g->info.numeric));
    snprintf(o->optimiser, sizeof o->optimiser, "%s", dls_optimiser_name((int)g->info.optimiser));
    o->batch = g->info.batch;
}

static dls_status build_graph(const dls_variant *v, dls_corpus *c, size_t i, dls_opgraph **g,
                              dls_error *err)
{
    dls_zoo_options options = dls_zoo_defaults(v->model);
    options.batch = v->batch;
    options.numeric = v->numeric;
    options.optimiser = v->optimiser;
    DLS_TRY(dls_zoo_build(v->model, &options, g, err));
    name_origin(*g, v->model->family, &c->origin[i]);
    c->numeric[i] = v->numeric;
    return dls_workload_from_graph(*g, &c->work[i], err);
}

/* Random models stand behind the zoo's, whose workloads are known by then. */
static dls_status build_random(const dls_corpus_options *o, dls_opgraph **graph, dls_corpus *c,
                               dls_error *err)
{
    dls_random_drawing drawing = {.seed = o->seed, .known = c->work, .n_known = o->n_graphs};
    for (size_t i = o->n_graphs; i < c->n; i++) {
        dls_random_model m;
        char family[DLS_DATASET_NAME];
        DLS_TRY(dls_random_graph_next(&drawing, &m, &graph[i], &c->work[i], err));
        snprintf(family, sizeof family, "random-%s", dls_random_kind_name((int)m.kind));
        name_origin(graph[i], family, &c->origin[i]);
        c->numeric[i] = m.numeric;
        c->split[i] = drawing.of_kind[m.kind] % DLS_RANDOM_PER_VALIDATION == 0 ? DLS_SPLIT_VAL
                                                                               : DLS_SPLIT_TRAIN;
    }
    return DLS_OK;
}

static dls_status make(const dls_corpus_options *o, const dls_variant *variant, dls_opgraph **graph,
                       dls_corpus *c, dls_error *err)
{
    DLS_TRY(corpus_alloc(c, o->n_graphs + o->n_random, err));
    for (size_t i = 0; i < o->n_graphs; i++) {
        DLS_TRY(build_graph(&variant[i], c, i, &graph[i], err));
    }
    if (o->split == DLS_SPLIT_AT_RANDOM) {
        DLS_TRY(dls_variants_split_random(o->n_graphs, o->seed, c->split, err));
    } else {
        DLS_TRY(dls_variants_split_family(variant, o->n_graphs, o->seed, c->split, err));
    }
    DLS_TRY(build_random(o, graph, c, err));
    return dls_corpus_describe(o, graph, c->n, c->split, c->graph, &c->input, err);
}

dls_status dls_corpus_create(const dls_corpus_options *o, dls_corpus *out, dls_error *err)
{
    DLS_FREED dls_variant *variant = NULL;
    DLS_FREED dls_opgraph **graph = NULL;
    const size_t n = o->n_graphs + o->n_random;
    *out = (dls_corpus){0};
    DLS_TRY(dls_variants_draw(o->n_graphs, o->seed, &variant, err));
    DLS_TRY(dls_alloc_array(&graph, n + 1, sizeof(dls_opgraph *), "corpus", err));
    const dls_status status = make(o, variant, graph, out, err);
    for (size_t i = 0; i < n; i++) {
        dls_opgraph_destroy(graph[i]);
    }
    if (status != DLS_OK) {
        dls_corpus_fini(out);
    }
    return status;
}
