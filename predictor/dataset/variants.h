/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which (model, batch, precision, optimiser) a corpus holds, and how they are divided. Rules:
 * corpus.h.
 */
#ifndef DLS_DATASET_VARIANTS_H
#define DLS_DATASET_VARIANTS_H

#include "predictor/dataset/dataset.h"
#include "workload/graph/zoo.h"

typedef struct dls_variant {
    const dls_zoo_model *model;
    int32_t batch;
    dls_numeric numeric;
    dls_optimiser optimiser;
    double memory_bytes; /* of a training step on one GPU */
    double params;
} dls_variant;

/* Variants that need more come last, so that most graphs of a corpus have a label for every GPU. */
#define DLS_VARIANT_MEMORY_BYTES (11.0 * 1024 * 1024 * 1024)

/* n variants, as many of each model as possible, in order of the zoo; the caller frees them.
 * Errors: EINPUT (there are not so many), ENOMEM. */
dls_status dls_variants_draw(size_t n, uint64_t seed, dls_variant **out,
                             dls_error *err) DLS_MUST_CHECK;

/* What a family's models work on. */
typedef enum dls_domain {
    DLS_DOMAIN_IMAGE,
    DLS_DOMAIN_SEQUENCE,
    DLS_DOMAIN_RECOMMENDATION
} dls_domain;
dls_domain dls_variant_domain(const dls_zoo_model *model);

/* split[n], a dls_split for each. Errors: EINPUT (by family: too few families for the rules),
 * ENOMEM. */
dls_status dls_variants_split_family(const dls_variant *variant, size_t n, uint64_t seed,
                                     uint8_t *split, dls_error *err) DLS_MUST_CHECK;
dls_status dls_variants_split_random(size_t n, uint64_t seed, uint8_t *split,
                                     dls_error *err) DLS_MUST_CHECK;

#endif
