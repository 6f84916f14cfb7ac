/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The model zoo: training graphs of published models, at the granularity of TensorFlow operations.
 * Their sizes are checked against published parameter counts and FLOPs
 * (tests/unit/test_graph_zoo.c, docs/graphs.md).
 */
#ifndef DLS_GRAPH_ZOO_H
#define DLS_GRAPH_ZOO_H

#include "workload/graph/net.h"

typedef void dls_zoo_design(dls_net *net, const char *spec);

typedef struct dls_zoo_model {
    const char *name;
    const char *family;  /* models of one family are variants of one design */
    const char *dataset; /* what it is usually trained on */
    int32_t batch;       /* a usual batch per worker */
    int32_t sequence;    /* tokens per sample; 0: not a sequence */
    dls_optimiser optimiser;
    bool decay;
    dls_zoo_design *design;
    const char *spec; /* which member of the design's family (zoo_impl.h) */
    int32_t image;    /* pixels of an edge; 0: the data set's */
} dls_zoo_model;

struct dls_zoo_file;

size_t dls_zoo_size(void);
/* The first so many are those that datasets draw from; the others came later and are asked about by
 * name, so that a dataset stays what it was. */
size_t dls_zoo_drawn(void);
const dls_zoo_model *dls_zoo_at(size_t i);
const dls_zoo_model *dls_zoo_find(const char *name); /* NULL: no such model */
/* Whose name is nearest to a mistyped one, whoever publishes it ("who/name"); NULL: none is near. */
const char *dls_zoo_near(const char *name);

/* A model out of a file: ONNX, GraphDef, or ours (docs/graphs.md). Loss, gradients and updates are
 * added where there are none. It is named by its path and lives as long as *files, and the file is
 * read again for every batch. *files is a list, NULL at first. EINPUT: not such a file. */
dls_status dls_zoo_open(struct dls_zoo_file **files, const char *path, const dls_zoo_model **out,
                        dls_error *err) DLS_MUST_CHECK;
void dls_zoo_files_free(struct dls_zoo_file *files);
/* Has it tables of which a step changes and exchanges the rows alone that its samples look up? */
bool dls_zoo_tables(const dls_zoo_model *model);
/* The one batch that a file is of; 0: it can be any. */
int32_t dls_zoo_only_batch(const dls_zoo_model *model);

/* 0, NULL: the model's own. precision and optimiser are always taken from here. */
typedef struct dls_zoo_options {
    const char *dataset; /* "imagenet" or "cifar10" for image models, else a label */
    int32_t batch, sequence;
    int32_t image; /* pixels of an edge */
    dls_numeric numeric;
    dls_optimiser optimiser;
    unsigned runner; /* bits of dls_graph_runner */
    int32_t shards;  /* GPT alone: one of so many parts of every layer; 0: all */
} dls_zoo_options;

dls_zoo_options dls_zoo_defaults(const dls_zoo_model *model);
/* Pixels of an edge of a model's usual images; 0: it sees none. */
int32_t dls_zoo_image(const dls_zoo_model *model);
/* EINPUT: a sequence length or an image size for a model without one, sizes below 1 or too small
 * for the model's windows. */
dls_status dls_zoo_build(const dls_zoo_model *model, const dls_zoo_options *options,
                         dls_opgraph **out, dls_error *err) DLS_MUST_CHECK;

/* Of GPT, the only one that can be built in parts. */
dls_zoo_design dls_zoo_gpt;

#endif
