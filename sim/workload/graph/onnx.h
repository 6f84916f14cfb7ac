/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ONNX models, as torch.onnx.export leaves them: forward operations only. With
 * options.training gradients, optimiser and variables' updates are added (docs/graphs.md).
 */
#ifndef DLS_GRAPH_ONNX_H
#define DLS_GRAPH_ONNX_H

#include "workload/graph/import.h"

#include <stddef.h>

/* As dls_graphdef_parse. A value that nobody gives, a name twice and a cycle are EINPUT. Weights
 * may lie outside of the file: only their shapes are needed. */
dls_status dls_onnx_parse(const char *name, const void *data, size_t size,
                          const dls_import_options *options, dls_opgraph **out,
                          dls_import_report *report, dls_error *err) DLS_MUST_CHECK;

#endif
