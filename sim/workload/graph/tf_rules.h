/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Rules of TensorFlow's operations, for the table in tf_ops.c.
 */
#ifndef DLS_GRAPH_TF_RULES_H
#define DLS_GRAPH_TF_RULES_H

#include "workload/graph/import_impl.h"

/* concat has its axis first, concat_v2 last; read is of a variable through its handle; array makes
 * the handle and flow of a TensorArray or Stack. ONNX has matmul, and select where it chooses, too. */
imp_rule dls_tf_rule_matmul, dls_tf_rule_select, dls_tf_rule_concat, dls_tf_rule_concat_v2,
    dls_tf_rule_split, dls_tf_rule_split_v, dls_tf_rule_pack, dls_tf_rule_unpack,
    dls_tf_rule_reshape, dls_tf_rule_transpose, dls_tf_rule_expand_dims, dls_tf_rule_squeeze,
    dls_tf_rule_slice, dls_tf_rule_strided_slice, dls_tf_rule_pad, dls_tf_rule_range,
    dls_tf_rule_one_hot, dls_tf_rule_gather, dls_tf_rule_segment_sum, dls_tf_rule_concat_offset,
    dls_tf_rule_broadcast_args, dls_tf_rule_invert, dls_tf_rule_switch, dls_tf_rule_merge,
    dls_tf_rule_read, dls_tf_rule_truth, dls_tf_rule_array, dls_tf_rule_array_grad,
    dls_tf_rule_push, dls_tf_rule_array_write, dls_tf_rule_array_scatter, dls_tf_rule_array_read,
    dls_tf_rule_array_gather, dls_tf_rule_array_size, dls_tf_rule_unique;

#endif
