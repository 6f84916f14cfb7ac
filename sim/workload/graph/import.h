/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Graphs from files of other programs: what the readers share (graphdef.h, onnx.h).
 *
 *      file --> operations with their attributes --> shapes --> work per operation --> dls_opgraph
 *
 * Names of operations are TensorFlow's, also of an ONNX file, because they are the key of the
 * features. An operation that the readers do not know keeps its name, has kind DLS_OP_OTHER and no
 * work, and is counted.
 */
#ifndef DLS_GRAPH_IMPORT_H
#define DLS_GRAPH_IMPORT_H

#include "base/suggest.h"
#include "workload/graph/graph.h"

typedef enum dls_import_device {
    DLS_IMPORT_DEVICE_AUTO, /* as the file says, if it puts anything on a GPU; else everything there */
    DLS_IMPORT_DEVICE_FILE, /* Driple's rule: what the file puts on a device named "...GPU..." */
    DLS_IMPORT_DEVICE_GPU,  /* everything but input, checkpoints and what runs on the host alone */
} dls_import_device;

/* All zero is a good default. */
typedef struct dls_import_options {
    const char *model;   /* NULL: the file's name without folder and extension */
    const char *dataset; /* a label; NULL: none */
    /* What the unknown first dimension of an input stands for; 0: it stays unknown, counts as 1 in
     * FLOPs and bytes, and starts Driple's tensor size anew. */
    int32_t batch;
    int32_t sequence; /* the same for the other unknown dimensions of inputs */
    dls_import_device device;
    /* Add loss, gradients and optimiser to a graph that has none (every ONNX file); outputs that
     * nobody reads are taken for logits. */
    bool training;
    dls_optimiser optimiser; /* of a graph that names none */
} dls_import_options;

/* What the graph does not show of its file. */
typedef struct dls_import_report {
    int32_t n_unknown;     /* operations that the readers do not know */
    int32_t n_unknown_ops; /* kinds of them */
    char unknown[512];     /* "FooBar (3), Baz (1)", cut with "..." */
    int32_t n_shapeless;   /* known operations on the GPU whose output's shape stayed unknown */
    bool placed;           /* the file says what runs on a GPU */
    bool trains;           /* an optimiser was found in the file */
    bool added_training;   /* gradients were added on request */
} dls_import_report;

/* Does its name end as those of files for dls_graph_import? Others are the project's own graphs. */
static inline bool dls_graph_is_imported(const char *path)
{
    return dls_ends_with(path, ".pb") || dls_ends_with(path, ".pbtxt") ||
           dls_ends_with(path, ".onnx");
}
/* By content: ONNX, GraphDef text or binary. report may be NULL. */
dls_status dls_graph_import(const char *path, const dls_import_options *options, dls_opgraph **out,
                            dls_import_report *report, dls_error *err) DLS_MUST_CHECK;

#endif
