/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Layers append their kernels to a workload. A builder carries the shape of the current tensor
 * and the first error: calls after an error do nothing, so that networks read as a list of layers.
 */
#ifndef DLS_OPERATOR_LAYERS_H
#define DLS_OPERATOR_LAYERS_H

#include "workload/operator/workload.h"

#include <stdbool.h>

typedef struct dls_shape {
    int32_t h, w, c;
} dls_shape;

typedef struct dls_layers {
    dls_workload *w; /* borrowed */
    dls_shape at;    /* of the tensor that the next layer reads */
    bool first;      /* no data gradient: nothing before this layer learns */
    dls_status status;
    dls_error *err;
} dls_layers;

enum { DLS_VALID = 0, DLS_SAME = 1 };
/* What follows a convolution. */
enum { DLS_BIAS = 1, DLS_NORM = 2, DLS_RELU = 4 };

void dls_layers_begin(dls_layers *b, dls_workload *w, dls_error *err);

/* Convolution of kh x kw to c channels; `then` joins DLS_BIAS, DLS_NORM, DLS_RELU. */
void dls_layers_conv(dls_layers *b, int32_t kh, int32_t kw, int32_t stride, int32_t c, int padding,
                     int then);
void dls_layers_pool(dls_layers *b, int32_t k, int32_t stride, int padding);
void dls_layers_pool_global(dls_layers *b);
void dls_layers_relu(dls_layers *b);
void dls_layers_residual_add(dls_layers *b);
/* The current tensor becomes h x w of the last branch with c channels in all. */
void dls_layers_concat(dls_layers *b, int32_t c);
/* The current tensor, flattened, to `out` values, with a bias. */
void dls_layers_dense(dls_layers *b, int32_t out);
/* Softmax and loss over n values a sample. */
void dls_layers_loss(dls_layers *b, double n);

/* `rows` rows of `in` values, each times a weight matrix in x out; bias: one more tensor. */
void dls_layers_linear(dls_layers *b, double rows, double in, double out, bool bias);
/* `count` products of m x k and k x n matrices per sample, both operands activations. */
void dls_layers_matmul(dls_layers *b, double count, double m, double k, double n);
/* A pass over memory: elements moved forward and backward and kept, per sample. */
void dls_layers_elementwise(dls_layers *b, double forward, double backward, double kept);
/* Tensors without a kernel of their own (scales and shifts): n of `elements` each. */
void dls_layers_parameters(dls_layers *b, int n, double elements);
/* rows of width d out of a table of `entries` rows. */
void dls_layers_embedding(dls_layers *b, double rows, double d, double entries);

/* The networks, by family. Each appends all its layers. */
bool dls_layers_net_text(dls_layers *b, const char *name);      /* false: not of that kind */
void dls_layers_net_resnet(dls_layers *b, int depth, bool v15); /* 50, 101, 152 */
void dls_layers_net_resnet18_cifar(dls_layers *b);
void dls_layers_net_bert(dls_layers *b, int n_layers, int hidden, int sequence);

#endif
