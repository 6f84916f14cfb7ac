/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * TensorFlow's GraphDef, as tf.io.write_graph leaves it: text (.pbtxt) or binary (.pb). Nodes stay
 * in the file's order and edges follow each node's inputs in order, which is what Driple's grouping
 * depends on (docs/graphs.md).
 */
#ifndef DLS_GRAPH_GRAPHDEF_H
#define DLS_GRAPH_GRAPHDEF_H

#include "workload/graph/import.h"

#include <stddef.h>

/* A file's bytes, text or binary by their content; `name` stands for it in messages. The graph is
 * owned by the caller. options and report may be NULL. O(size of the file), and O((nodes + edges)
 * log nodes) for the order. EINPUT names the line or the node: not a GraphDef, truncated, a name
 * twice, an input that is no node, a cycle that no NextIteration closes. ENOMEM. */
dls_status dls_graphdef_parse(const char *name, const void *data, size_t size,
                              const dls_import_options *options, dls_opgraph **out,
                              dls_import_report *report, dls_error *err) DLS_MUST_CHECK;

#endif
