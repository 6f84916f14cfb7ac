/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * BERT (Devlin et al. 2019) fine-tuned for question answering: two logits a token, no pooler.
 */
#include "workload/operator/layers.h"

#define VOCABULARY 30522
#define POSITIONS 512
#define HEAD_WIDTH 64

/* Bias, dropout, residual and layer norm on n elements of width d. */
static void norm_block(dls_layers *b, double n, double d)
{
    dls_layers_parameters(b, 2, d);
    dls_layers_elementwise(b, 8 * n, 10 * n, 2 * n);
}

/* Operations that PyTorch dispatches for one encoder layer: 6 products with their biases, 10
 * reshapes and transpositions of heads, 2 batched products, scale, mask, softmax and dropout, GELU,
 * and twice dropout, residual and layer norm. */
#define OPS_PER_LAYER 35
#define OPS_OUTSIDE 8 /* three gathers, two additions, norm, dropout, the head */

void dls_layers_net_bert(dls_layers *b, int n_layers, int hidden, int sequence)
{
    const double s = sequence, d = hidden, heads = d / HEAD_WIDTH, wide = 4 * d;
    b->w->input = 3 * s;
    dls_layers_embedding(b, s, d, VOCABULARY);
    dls_layers_embedding(b, s, d, POSITIONS);
    dls_layers_embedding(b, s, d, 2);
    norm_block(b, s * d, d);
    for (int i = 0; i < n_layers; i++) {
        for (int k = 0; k < 3; k++) {
            dls_layers_linear(b, s, d, d, true);
        }
        dls_layers_matmul(b, heads, s, HEAD_WIDTH, s);
        dls_layers_elementwise(b, 7 * heads * s * s, 8 * heads * s * s, 2 * heads * s * s);
        dls_layers_matmul(b, heads, s, s, HEAD_WIDTH);
        dls_layers_linear(b, s, d, d, true);
        norm_block(b, s * d, d);
        dls_layers_linear(b, s, d, wide, true);
        dls_layers_elementwise(b, 10 * s * wide, 12 * s * wide, s * wide);
        dls_layers_linear(b, s, wide, d, true);
        norm_block(b, s * d, d);
    }
    dls_layers_linear(b, s, d, 2, true);
    dls_layers_loss(b, 2 * s);
    b->w->optimiser = DLS_OPTIMISER_ADAM;
    b->w->n_ops = n_layers * OPS_PER_LAYER + OPS_OUTSIDE;
}
