/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Rules of TensorFlow's operations, for the table in tf_ops.c.
 */
#ifndef DLS_GRAPH_TF_RULES_H
#define DLS_GRAPH_TF_RULES_H

#include "workload/graph/import_impl.h"

void dls_tf_rule_matmul(imp_graph *g, imp_node *x); /* ONNX's too, and where it chooses */
void dls_tf_rule_select(imp_graph *g, imp_node *x);

void dls_tf_rule_concat(imp_graph *g, imp_node *x);    /* axis first */
void dls_tf_rule_concat_v2(imp_graph *g, imp_node *x); /* axis last */
void dls_tf_rule_split(imp_graph *g, imp_node *x);
void dls_tf_rule_split_v(imp_graph *g, imp_node *x);
void dls_tf_rule_pack(imp_graph *g, imp_node *x);
void dls_tf_rule_unpack(imp_graph *g, imp_node *x);
void dls_tf_rule_reshape(imp_graph *g, imp_node *x);
void dls_tf_rule_transpose(imp_graph *g, imp_node *x);
void dls_tf_rule_expand_dims(imp_graph *g, imp_node *x);
void dls_tf_rule_squeeze(imp_graph *g, imp_node *x);
void dls_tf_rule_slice(imp_graph *g, imp_node *x);
void dls_tf_rule_strided_slice(imp_graph *g, imp_node *x);
void dls_tf_rule_pad(imp_graph *g, imp_node *x);
void dls_tf_rule_range(imp_graph *g, imp_node *x);
void dls_tf_rule_one_hot(imp_graph *g, imp_node *x);
void dls_tf_rule_gather(imp_graph *g, imp_node *x);
void dls_tf_rule_segment_sum(imp_graph *g, imp_node *x);
void dls_tf_rule_concat_offset(imp_graph *g, imp_node *x);
void dls_tf_rule_broadcast_args(imp_graph *g, imp_node *x);
void dls_tf_rule_invert(imp_graph *g, imp_node *x);

void dls_tf_rule_switch(imp_graph *g, imp_node *x);
void dls_tf_rule_merge(imp_graph *g, imp_node *x);
void dls_tf_rule_read(imp_graph *g, imp_node *x); /* of a variable through its handle */
void dls_tf_rule_truth(imp_graph *g, imp_node *x);
void dls_tf_rule_array(imp_graph *g, imp_node *x); /* TensorArray, Stack: a handle, a flow */
void dls_tf_rule_array_grad(imp_graph *g, imp_node *x);
void dls_tf_rule_push(imp_graph *g, imp_node *x);
void dls_tf_rule_array_write(imp_graph *g, imp_node *x);
void dls_tf_rule_array_scatter(imp_graph *g, imp_node *x);
void dls_tf_rule_array_read(imp_graph *g, imp_node *x);
void dls_tf_rule_array_gather(imp_graph *g, imp_node *x);
void dls_tf_rule_array_size(imp_graph *g, imp_node *x);
void dls_tf_rule_unique(imp_graph *g, imp_node *x);

#endif
