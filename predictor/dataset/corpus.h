/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The graphs of a dataset: variants of the model zoo's models, divided into train, val and test by
 * family, grouped and described for the inspector.
 *
 * Variants of a model are batches from an eighth to four times its usual one, fp32 and fp16, and
 * four optimisers; they are drawn in a seeded order in which usual optimisers come first and what
 * does not fit 11 GiB comes last.
 *
 * Random models (sim/workload/graph/random_model.h) may stand beside the zoo's. They go into train,
 * one of eight of every kind into val; test is the zoo's alone.
 *
 * Families are divided by seeded tries: train and test have image, sequence and recommendation
 * models, val has image and sequence models; train has the smallest and the largest model of images
 * and of sequences by parameters, so that the others lie between; and of the divisions that keep
 * this the one is taken whose shares are nearest to 60/20/20, in all and for images and sequences
 * alone. Only variants that fit 11 GiB count.
 */
#ifndef DLS_DATASET_CORPUS_H
#define DLS_DATASET_CORPUS_H

#include "predictor/dataset/dataset.h"
#include "workload/graph/input.h"
#include "workload/operator/workload.h"

typedef enum dls_split_rule {
    DLS_SPLIT_BY_FAMILY,
    DLS_SPLIT_AT_RANDOM /* as Driple does: variants of one model may be in train and in test */
} dls_split_rule;

typedef struct dls_corpus_options {
    size_t n_graphs; /* of the zoo */
    size_t n_random; /* random models beside them, none of them in test */
    uint64_t seed;
    dls_split_rule split;
    dls_grouping_kind grouping;
    int32_t n_groups;
    size_t group_batch; /* proportional: graphs that share a number of groups */
    dls_features_version features;
    /* How graphs become inputs, as JSON (sim/workload/graph/input.h), borrowed: of an inspector that
     * is to be asked; grouping, n_groups and features above do not count then. NULL: frequencies
     * and scales are those of the train graphs. */
    const char *input_text;
} dls_corpus_options;

/* 320 graphs, none random, seed 1, by family, uniform, 100 groups, 32, eight features. */
void dls_corpus_options_init(dls_corpus_options *o);

typedef struct dls_corpus {
    size_t n;
    dls_dataset_origin *origin; /* all [n], owned */
    uint8_t *split;
    dls_numeric *numeric;
    dls_workload *work;
    dls_graph *graph;     /* the inspector's input; NULL and origin NULL if somebody took them */
    dls_input_spec input; /* how graphs became inputs */
} dls_corpus;

/* Errors: EINPUT (more graphs than there are variants), ENOMEM. *out needs dls_corpus_fini only on
 * success. */
dls_status dls_corpus_create(const dls_corpus_options *o, dls_corpus *out,
                             dls_error *err) DLS_MUST_CHECK;
/* Graphs that come from elsewhere, as inputs: grouped as o says, described by the frequencies and
 * scales of those in train. out[n] and *input are the caller's (dls_input_graph_fini,
 * dls_input_spec_fini), whatever is returned. Errors: EINPUT, ENOMEM. */
dls_status dls_corpus_describe(const dls_corpus_options *o, dls_opgraph *const *graph, size_t n,
                               const uint8_t *split, dls_graph *out, dls_input_spec *input,
                               dls_error *err) DLS_MUST_CHECK;
void dls_corpus_fini(dls_corpus *corpus); /* NULL-safe */

#endif
