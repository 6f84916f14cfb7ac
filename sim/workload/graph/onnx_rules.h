/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Rules of ONNX's windows, for the table in onnx_rules.c.
 */
#ifndef DLS_GRAPH_ONNX_RULES_H
#define DLS_GRAPH_ONNX_RULES_H

#include "workload/graph/import_impl.h"

imp_rule dls_onnx_rule_conv, dls_onnx_rule_conv_transpose, dls_onnx_rule_pool;
/* As large as the first output, if one is wanted: where the greatest of a pool stood, what a dropout kept. */
void dls_onnx_second_output(imp_graph *g, imp_node *x, int32_t bytes);

#endif
