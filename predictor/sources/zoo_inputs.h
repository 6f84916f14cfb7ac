/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The inspector's input for any batch of a model of the zoo. Of a training graph only the amounts
 * depend on the batch, and they do so linearly, operation by operation, hence group by group: two
 * graphs of a model, batch 1 and 2, tell the features of all (tests/unit/test_zoo_inputs.c).
 * Grouping, the expensive part, is done once a model.
 */
#ifndef DLS_SOURCES_ZOO_INPUTS_H
#define DLS_SOURCES_ZOO_INPUTS_H

#include "base/memo.h"
#include "base/sha256.h"
#include "workload/graph/input.h"
#include "workload/graph/zoo.h"

typedef struct dls_zoo_input {
    const dls_zoo_model *model;
    dls_zoo_options size; /* image, sequence and precision; the rest is not read */
    dls_graph graph;   /* owned; its features are those of batch 1, raw */
    double *per_batch; /* [nodes][features] owned: what one more in the batch adds */
    uint64_t checksum; /* of all that */
} dls_zoo_input;

typedef struct dls_zoo_inputs {
    const dls_input_spec *spec; /* borrowed */
    dls_numeric numeric;
    dls_memo *memo; /* borrowed; where inputs are kept, too, by spec_sha; NULL: nowhere */
    char spec_sha[DLS_SHA256_HEX];
    dls_zoo_input **input; /* [n] owned, in order of first use */
    size_t n, cap;
} dls_zoo_inputs;

void dls_zoo_inputs_fini(dls_zoo_inputs *z);
/* Made if it is not there; borrowed, stays where it is. size: image, sequence (0: the model's own) and
 * precision. EINPUT, ENOMEM. */
dls_status dls_zoo_input_sized(dls_zoo_inputs *z, const dls_zoo_model *model,
                               const dls_zoo_options *size, const dls_zoo_input **out,
                               dls_error *err) DLS_MUST_CHECK;
/* The normalised features for a batch >= 1 into x[nodes][features]; the graph then borrows the
 * input's edges and x. */
dls_graph dls_zoo_input_at(const dls_zoo_inputs *z, const dls_zoo_input *input, int64_t batch,
                           double *x);

#endif
