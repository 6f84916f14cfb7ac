/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Composite layers of the model zoo (convolution with batch norm, LSTM, attention, feed-forward) in
 * terms of net.h.
 */
#include "workload/graph/blocks.h"

#define SAME DLS_PAD_SAME

dls_tensor dls_block_conv_bn(dls_net *net, dls_tensor x, int32_t out, int32_t kernel,
                             int32_t stride)
{
    return dls_net_batch_norm(net, dls_net_conv(net, x,
                                                (dls_conv){.out = out,
                                                           .kernel_h = kernel,
                                                           .kernel_w = kernel,
                                                           .stride = stride,
                                                           .pad = SAME}));
}

dls_tensor dls_block_conv_bn_relu(dls_net *net, dls_tensor x, int32_t out, int32_t kernel,
                                  int32_t stride)
{
    return dls_net_relu(net, dls_block_conv_bn(net, x, out, kernel, stride));
}

dls_tensor dls_block_conv_bias_relu(dls_net *net, dls_tensor x, int32_t out, int32_t kernel,
                                    int32_t stride, int32_t pad)
{
    return dls_net_relu(net, dls_net_conv(net, x,
                                          (dls_conv){.out = out,
                                                     .kernel_h = kernel,
                                                     .kernel_w = kernel,
                                                     .stride = stride,
                                                     .pad = pad,
                                                     .bias = true}));
}

dls_tensor dls_block_depthwise_bn(dls_net *net, dls_tensor x, int32_t kernel, int32_t stride)
{
    return dls_net_batch_norm(net, dls_net_conv(net, x,
                                                (dls_conv){.kernel_h = kernel,
                                                           .kernel_w = kernel,
                                                           .stride = stride,
                                                           .pad = SAME,
                                                           .depthwise = true}));
}

dls_tensor dls_block_squeeze_excite(dls_net *net, dls_tensor x, int32_t inner)
{
    const int64_t c = dls_net_dim(net, x, 3);
    dls_tensor s = dls_net_global_mean(net, x);
    s = dls_net_unary(net, dls_net_dense(net, s, inner, true), DLS_OP_SWISH);
    s = dls_net_unary(net, dls_net_dense(net, s, c, true), DLS_OP_SIGMOID);
    s = dls_net_reshape(net, s, 4, (int64_t[]){dls_net_batch(net), 1, 1, c});
    return dls_net_mul(net, x, s);
}

dls_tensor dls_block_mlp(dls_net *net, dls_tensor x, const int64_t *widths, int n)
{
    for (int i = 0; i < n; i++) {
        x = dls_net_relu(net, dls_net_dense(net, x, widths[i], true));
    }
    return x;
}

dls_tensor dls_block_embed(dls_net *net, int64_t rows, int64_t width, int32_t t)
{
    const dls_table table = dls_net_table(net, rows, width);
    return dls_net_lookup(net, table, dls_net_indices(net, t));
}

dls_tensor dls_block_lstm(dls_net *net, dls_tensor x, int32_t width)
{
    dls_tensor gate[4];
    dls_net_loop_begin(net, (int32_t)dls_net_dim(net, x, 1));
    const dls_tensor h = dls_net_loop_state(net, width);
    const dls_tensor c = dls_net_loop_state(net, width);
    const dls_tensor in = dls_net_loop_read(net, x);
    const dls_tensor both = dls_net_concat(net, (dls_tensor[]){in, h}, 2);
    dls_net_split(net, dls_net_dense(net, both, 4 * (int64_t)width, true), 4, gate);
    const dls_tensor i = dls_net_unary(net, gate[0], DLS_OP_SIGMOID);
    const dls_tensor j = dls_net_unary(net, gate[1], DLS_OP_TANH);
    const dls_tensor f = dls_net_unary(net, gate[2], DLS_OP_SIGMOID);
    const dls_tensor o = dls_net_unary(net, gate[3], DLS_OP_SIGMOID);
    const dls_tensor kept = dls_net_mul(net, c, f);
    const dls_tensor new_c = dls_net_add(net, kept, dls_net_mul(net, i, j));
    const dls_tensor new_h = dls_net_mul(net, dls_net_unary(net, new_c, DLS_OP_TANH), o);
    dls_net_loop_next(net, c, new_c);
    dls_net_loop_next(net, h, new_h);
    return dls_net_loop_end(net, new_h);
}

dls_tensor dls_block_attend(dls_net *net, dls_tensor q, dls_tensor k, dls_tensor v)
{
    const dls_tensor a = dls_net_softmax(net, dls_net_batch_matmul(net, q, k, true));
    return dls_net_batch_matmul(net, a, v, false);
}

static dls_tensor drop(dls_net *net, dls_tensor x, bool dropout)
{
    return dropout ? dls_net_dropout(net, x) : x;
}

dls_tensor dls_block_attention(dls_net *net, dls_tensor x, dls_tensor y, dls_block_heads b)
{
    const int64_t width = dls_net_dim(net, x, -1);
    dls_tensor q = dls_net_split_heads(net, dls_net_dense(net, x, width, b.bias), b.heads);
    dls_tensor k = dls_net_split_heads(net, dls_net_dense(net, y, width, b.bias), b.heads);
    const dls_tensor v = dls_net_split_heads(net, dls_net_dense(net, y, width, b.bias), b.heads);
    if (b.rotary) {
        q = dls_net_rotary(net, q);
        k = dls_net_rotary(net, k);
    }
    dls_tensor a = dls_net_scale(net, dls_net_batch_matmul(net, q, k, true));
    a = drop(net, dls_net_softmax(net, a), b.dropout);
    a = dls_net_merge_heads(net, dls_net_batch_matmul(net, a, v, false));
    return drop(net, dls_net_dense(net, a, width, b.bias), b.dropout);
}

dls_tensor dls_block_feed_forward(dls_net *net, dls_tensor x, int64_t inner, dls_op_kind activation,
                                  bool dropout)
{
    const int64_t width = dls_net_dim(net, x, -1);
    dls_tensor y = dls_net_unary(net, dls_net_dense(net, x, inner, true), activation);
    return drop(net, dls_net_dense(net, y, width, true), dropout);
}

dls_tensor dls_block_post_norm(dls_net *net, dls_tensor x, dls_tensor y)
{
    return dls_net_layer_norm(net, dls_net_add(net, x, y));
}
