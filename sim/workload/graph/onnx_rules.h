/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Rules of ONNX's operations, for the table in onnx_ops.c.
 */
#ifndef DLS_GRAPH_ONNX_RULES_H
#define DLS_GRAPH_ONNX_RULES_H

#include "workload/graph/import_impl.h"

/* bytes << 1 | floating point of a TensorProto.DataType; 0: no numbers. */
int64_t dls_onnx_type(int32_t type);

void dls_onnx_rule_conv(imp_graph *g, imp_node *x);
void dls_onnx_rule_conv_transpose(imp_graph *g, imp_node *x);
void dls_onnx_rule_pool(imp_graph *g, imp_node *x);
void dls_onnx_rule_global_pool(imp_graph *g, imp_node *x);
void dls_onnx_rule_matmul(imp_graph *g, imp_node *x); /* MatMul and Gemm */
void dls_onnx_rule_reduce(imp_graph *g, imp_node *x);
void dls_onnx_rule_arg_max(imp_graph *g, imp_node *x);
void dls_onnx_rule_norm(imp_graph *g, imp_node *x);
void dls_onnx_rule_rnn(imp_graph *g, imp_node *x);
void dls_onnx_rule_concat(imp_graph *g, imp_node *x);
void dls_onnx_rule_split(imp_graph *g, imp_node *x);
void dls_onnx_rule_reshape(imp_graph *g, imp_node *x);
void dls_onnx_rule_flatten(imp_graph *g, imp_node *x);
void dls_onnx_rule_transpose(imp_graph *g, imp_node *x);
void dls_onnx_rule_squeeze(imp_graph *g, imp_node *x);
void dls_onnx_rule_unsqueeze(imp_graph *g, imp_node *x);
void dls_onnx_rule_slice(imp_graph *g, imp_node *x);
void dls_onnx_rule_pad(imp_graph *g, imp_node *x);
void dls_onnx_rule_expand(imp_graph *g, imp_node *x);
void dls_onnx_rule_gather(imp_graph *g, imp_node *x);
void dls_onnx_rule_shape(imp_graph *g, imp_node *x);
void dls_onnx_rule_constant(imp_graph *g, imp_node *x);
void dls_onnx_rule_fill(imp_graph *g, imp_node *x);
void dls_onnx_rule_cast(imp_graph *g, imp_node *x);
void dls_onnx_rule_where(imp_graph *g, imp_node *x);

#endif
