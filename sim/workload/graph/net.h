/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Writing a model down: forward operations are added one after the other, and dls_net_finish adds
 * what TensorFlow would: loss, gradients, optimiser, variables with their initialisation. Between
 * create and finish errors are kept and reported by finish, so that a model reads as a plain list.
 *
 *      dls_tensor x = dls_net_image(net, 224, 224, 3);
 *      x = dls_net_conv(net, x, (dls_conv){.out = 64, .kernel_h = 7, .kernel_w = 7, .stride = 2,
 *                                          .pad = DLS_PAD_SAME});
 *      x = dls_net_relu(net, dls_net_batch_norm(net, x));
 *
 * Images are [batch][h][w][c], sequences [batch][tokens][width]. A tensor handle is valid in its
 * net only. Sizes, FLOPs and traffic: docs/graphs.md.
 */
#ifndef DLS_GRAPH_NET_H
#define DLS_GRAPH_NET_H

#include "workload/graph/graph.h"

typedef int32_t dls_tensor; /* -1 after an error */
typedef struct dls_net dls_net;

/* info.batch >= 1. decay: weights of convolutions and matrix products have an L2 term in the loss,
 * as in convolutional networks. */
dls_status dls_net_create(const dls_opgraph_info *info, bool decay, dls_net **out,
                          dls_error *err) DLS_MUST_CHECK;
/* Starts as DLS_RUN_GRAPH. Before the first operation. */
void dls_net_set_runner(dls_net *net, unsigned runner); /* bits of dls_graph_runner */
/* Megatron's split of every layer (Shoeybi et al., 2019): this GPU has one of n parts of its
 * columns or rows; 1 at first. */
void dls_net_set_shards(dls_net *net, int32_t shards);
int64_t dls_net_part(const dls_net *net, int64_t width);
/* What the GPUs must add up here, once forward and once backward. */
dls_tensor dls_net_shared(dls_net *net, dls_tensor x);
bool dls_net_eager(const dls_net *net);
bool dls_net_trains_eagerly(const dls_net *net);
/* What a program writes as several operations are as many kernels. */
bool dls_net_spells_out(const dls_net *net);
bool dls_net_fuses_attention(const dls_net *net);
void dls_net_destroy(dls_net *net); /* NULL-safe */
/* The graph, owned by the caller; the net can only be destroyed afterwards. The first error of any
 * call before. */
dls_status dls_net_finish(dls_net *net, dls_opgraph **out, dls_error *err) DLS_MUST_CHECK;

int32_t dls_net_batch(const dls_net *net);
int32_t dls_net_sequence(const dls_net *net);
/* Dimension i of t, counted from the end for i < 0. */
int64_t dls_net_dim(const dls_net *net, dls_tensor t, int i);
/* The scope of what follows: "block3", made unique by a number if it stands already. */
void dls_net_layer(dls_net *net, const char *name);

/* ---- input ----------------------------------------------------------------------------------- */
/* Square with edges of info.image, if that is given. */
dls_tensor dls_net_image(dls_net *net, int32_t h, int32_t w, int32_t c);
/* What an autoencoder made of such images: each edge over `by`. It must divide by `of`. */
dls_tensor dls_net_latents(dls_net *net, int32_t edge, int32_t by, int32_t of, int32_t c);
/* Integers [batch][n], or [batch] with n = 0: no gradient. */
dls_tensor dls_net_indices(dls_net *net, int32_t n);
/* Numbers [batch][n]: no gradient. */
dls_tensor dls_net_dense_input(dls_net *net, int32_t n);

/* ---- layers with parameters ------------------------------------------------------------------ */
#define DLS_PAD_SAME (-1) /* output = ceil(input / stride) */

typedef struct dls_conv {
    int32_t out; /* channels; depthwise: ignored */
    int32_t kernel_h, kernel_w;
    int32_t stride;
    int32_t stride_w; /* along the width; 0: the same */
    int32_t pad;    /* DLS_PAD_SAME, or zeros on every side */
    bool depthwise; /* one filter per channel */
    bool bias;
    int32_t groups; /* of channels that do not see each other; 0: one */
    const dls_tensor *weights; /* that were worked out; NULL: trained ones */
} dls_conv;

dls_tensor dls_net_conv(dls_net *net, dls_tensor x, dls_conv conv);
/* Last dimension to `out`. */
dls_tensor dls_net_dense(dls_net *net, dls_tensor x, int64_t out, bool bias);
dls_tensor dls_net_batch_norm(dls_net *net, dls_tensor x);
dls_tensor dls_net_layer_norm(dls_net *net, dls_tensor x);
/* Weights of the convolutions that follow are brought to mean 0 and variance 1 in each step, as PyTorch's programs do
 * it: a batch norm of them. */
void dls_net_standardise(dls_net *net);
/* Of images, over groups of channels: one reading more than a layer norm, as a group does not stay
 * in the cache. PyTorch's (1.12) takes and makes images of which a channel lies together: where
 * channels were to lie last, each convolution behind it copies what it reads, and so does the next
 * norm. Where weights are standardised, which leaves them so, too, the network runs as if channels
 * first had been asked for. */
dls_tensor dls_net_group_norm(dls_net *net, dls_tensor x);
dls_tensor dls_net_rms_norm(dls_net *net, dls_tensor x); /* no bias */
/* A table of trained rows. */
typedef int32_t dls_embedding;
dls_embedding dls_net_table(dls_net *net, int64_t rows, int64_t width);
/* [..] indices to [..][width] */
dls_tensor dls_net_lookup(dls_net *net, dls_embedding table, dls_tensor indices);
/* The sum of each sample's rows: [b][n] to [b][width]. */
dls_tensor dls_net_bag(dls_net *net, dls_embedding table, dls_tensor indices);
/* x times the table transposed: the output layer that shares its weights; bias optional. */
dls_tensor dls_net_tied(dls_net *net, dls_tensor x, dls_embedding table, bool bias);
/* x plus the first rows of a table, broadcast over the batch: learned positions. */
dls_tensor dls_net_add_rows(dls_net *net, dls_tensor x, dls_embedding table);
/* x plus n trained numbers for the last dimension, which PyTorch adds in the kernel before. */
dls_tensor dls_net_offset(dls_net *net, dls_tensor x);
/* n trained numbers, to be added to or multiplied with the last dimension of others. */
dls_tensor dls_net_numbers(dls_net *net, int64_t n);
/* Numbers that training leaves as they are: a convolution's weights. */
dls_tensor dls_net_frozen(dls_net *net, int n_dims, const int64_t *dims);

/* Layers that train the same: how many arrays of trained numbers there are, and a promise that the
 * next ones are those from that number on, in the same order and of the same shapes, once more. */
int32_t dls_net_trained(const dls_net *net);
void dls_net_share(dls_net *net, int32_t from);

/* ---- layers without -------------------------------------------------------------------------- */
dls_tensor dls_net_unary(dls_net *net, dls_tensor x, dls_op_kind kind); /* RELU, GELU, TANH, ... */
/* In place of what it reads, as in most of timm's and torchvision's: PyTorch copies that first for Swish and
 * ReLU6, whose gradients need it. */
dls_tensor dls_net_in_place(dls_net *net, dls_tensor x, dls_op_kind kind);
/* dls_net_relu is Swish from here on: networks that are another's with its activations. */
void dls_net_swish_for_relu(dls_net *net);
dls_tensor dls_net_relu(dls_net *net, dls_tensor x); /* in place */
dls_tensor dls_net_add(dls_net *net, dls_tensor x, dls_tensor y);
dls_tensor dls_net_mul(dls_net *net, dls_tensor x, dls_tensor y); /* y may be broadcast to x */
dls_tensor dls_net_scale(dls_net *net, dls_tensor x);             /* by a constant */
dls_tensor dls_net_rotary(dls_net *net, dls_tensor x);
/* Along the last dimension. */
dls_tensor dls_net_concat(dls_net *net, const dls_tensor *x, int n);
/* Images beside each other in one array, which PyTorch lays out by channel, as if that had been asked for. */
dls_tensor dls_net_stack(dls_net *net, const dls_tensor *x, int n);
/* n equal parts of the last dimension; part[n] */
void dls_net_split(dls_net *net, dls_tensor x, int n, dls_tensor *part);
/* The same where each is taken by its index: back each fills up zeros, and they are added. */
void dls_net_index(dls_net *net, dls_tensor x, int n, dls_tensor *part);
/* One row of the middle dimension: [b][t][d] to [b][d]; n of its rows: [b][n][d]. */
dls_tensor dls_net_first_token(dls_net *net, dls_tensor x);
/* n of the channels [..][c] to [..][n] */
dls_tensor dls_net_channels(dls_net *net, dls_tensor x, int64_t n);
dls_tensor dls_net_tokens(dls_net *net, dls_tensor x, int64_t n);
/* Windows out of x, which may overlap, as an array of these lengths; or the sum of what they hold
 * back in its place. */
dls_tensor dls_net_windows(dls_net *net, dls_tensor x, int n_dims, const int64_t *dims);
/* The entries above the diagonal: [b][n][n] to [b][n (n - 1) / 2]. */
dls_tensor dls_net_pairs(dls_net *net, dls_tensor x);
dls_tensor dls_net_pool(dls_net *net, dls_tensor x, dls_op_kind kind, int32_t kernel,
                        int32_t stride, int32_t pad);
dls_tensor dls_net_global_mean(dls_net *net, dls_tensor x); /* [b][h][w][c] to [b][c] */
dls_tensor dls_net_row_mean(dls_net *net, dls_tensor x);    /* [..][n] to [..][1] */
/* The sum of n equal parts of the last dimension, as PyTorch adds them: in one kernel, to 32 bits. */
dls_tensor dls_net_parts_sum(dls_net *net, dls_tensor x, int n);
dls_tensor dls_net_dropout(dls_net *net, dls_tensor x);
dls_tensor dls_net_softmax(dls_net *net, dls_tensor x);
/* A copy in 32 bits of what mixed precision has in 16. */
dls_tensor dls_net_wide(dls_net *net, dls_tensor x);
dls_tensor dls_net_narrow(dls_net *net, dls_tensor x); /* the other way round */
/* Eager PyTorch's: one kernel that reads x and writes as much; its gradient's kernels read and
 * write `back` times as much, 0: they touch nothing. */
dls_tensor dls_net_pass(dls_net *net, dls_tensor x, dls_op_kind kind, int back);
/* The same with a constant of 32 bits, which what comes of it then has. */
dls_tensor dls_net_pass_wide(dls_net *net, dls_tensor x, dls_op_kind kind, int back);
/* A copy of an image with its channels in another order. */
dls_tensor dls_net_shuffle(dls_net *net, dls_tensor x);
dls_tensor dls_net_reshape(dls_net *net, dls_tensor x, int n_dims, const int64_t *dims);
dls_tensor dls_net_flatten(dls_net *net, dls_tensor x); /* [b][...] to [b][rest] */
/* [b][m][n].. to [b][n][m].. */
dls_tensor dls_net_transpose(dls_net *net, dls_tensor x);
/* x with its dimensions in another order, whose numbers are not moved in PyTorch: products, norms and softmax
 * copy what lies so, and products add their bias apart. */
dls_tensor dls_net_turned(dls_net *net, dls_tensor x);
/* [b][t][heads * d] to [b][heads][t][d], and back */
dls_tensor dls_net_split_heads(dls_net *net, dls_tensor x, int64_t heads);
dls_tensor dls_net_merge_heads(dls_net *net, dls_tensor x);
/* Batched over all but the last two dimensions: x [m][k] with y [k][n], or y [n][k] transposed. */
dls_tensor dls_net_batch_matmul(dls_net *net, dls_tensor x, dls_tensor y, bool transpose_y);
/* softmax(q k^T) v in one kernel, [b][heads][t][d] each; keys and values may have fewer heads. Causal:
 * of as many keys as queries each query sees those before. */
dls_tensor dls_net_attention(dls_net *net, dls_tensor q, dls_tensor k, dls_tensor v, bool causal);

/* Softmax cross entropy over the last dimension (width 1: sigmoid), averaged: ends the model. May
 * be called for several outputs; their losses add up. */
void dls_net_loss(dls_net *net, dls_tensor logits);

/* ---- loops: a body that is executed `steps` times per training step -------------------------- */
void dls_net_loop_begin(dls_net *net, int32_t steps);
/* The row of this step: [b][t][d] to [b][d]. */
dls_tensor dls_net_loop_read(dls_net *net, dls_tensor x);
/* A value [b][width] that is carried from step to step. */
dls_tensor dls_net_loop_state(dls_net *net, int64_t width);
void dls_net_loop_next(dls_net *net, dls_tensor state, dls_tensor value);
/* Ends the loop; the values of all steps: [b][d] to [b][steps][d]. */
dls_tensor dls_net_loop_end(dls_net *net, dls_tensor value);

/* A recurrent layer as one call of a library (cuDNN) runs it over all steps of x [b][t][gates *
 * width], what its cells' gates are told by their inputs: in each step one product of the state with
 * weights and biases of its own, and one kernel for the cell; the gradients of these weights are one
 * product over all steps. [b][t][width] */
dls_tensor dls_net_recurrence(dls_net *net, dls_tensor x, int64_t width);

#endif
