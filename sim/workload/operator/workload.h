/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One training step as the kernels that a GPU runs, independent of the batch size: what each
 * computes and moves per sample, what it moves once per step (weights), and which parameter
 * tensor's gradient it completes. Forward kernels stand in execution order; the backward pass runs
 * the layers from the last to the first.
 *
 * Counting rules (one sample, in elements): a convolution has a forward, a data-gradient and a
 * weight-gradient kernel of equal FLOPs, 2 * Ho * Wo * Cout * (Cin / groups) * kh * kw, each of
 * which touches input, output and weights; batch norm 3n forward and 5n backward, ReLU 2n and 3n,
 * residual add 3n and 3n, concatenation 2n and 2n, bias 2n and n, pooling n0 + n1 and twice that,
 * attention's scale-mask-softmax-dropout 7a and 8a, bias-dropout-residual-layer norm 8n and 10n,
 * GELU 10n and 12n, the loss 4n and 3n, an embedding row 2d and 3d and its dense gradient.
 */
#ifndef DLS_OPERATOR_WORKLOAD_H
#define DLS_OPERATOR_WORKLOAD_H

#include "dlsim/error.h"
#include "workload/graph/graph.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Families that share one fraction of the peak: XX(name, key, text). */
#define DLS_KERNEL_FAMILY_MAP(XX)                                                                  \
    XX(CONV3, conv3, "3x3 convolution, stride 1")                                                  \
    XX(CONV5, conv5, "5x5 convolution, stride 1")                                                  \
    XX(CONV1, conv1, "1x1 convolution")                                                            \
    XX(CONV_LINE, conv_line, "1xk and kx1 convolution")                                            \
    XX(CONV_OTHER, conv_other, "other convolution")                                                \
    XX(MATMUL, matmul, "matrix product")                                                           \
    XX(MEMORY, memory, "bound by memory alone")

typedef enum dls_kernel_family {
#define XX(name, key, text) DLS_KERNEL_##name,
    DLS_KERNEL_FAMILY_MAP(XX)
#undef XX
        DLS_KERNEL_FAMILIES
} dls_kernel_family;

/* What a convolution sees, in its forward form; all 0 if not known. Of images that are no squares in_h and
 * out_h are edges of squares of as many pixels. */
typedef struct dls_window {
    int32_t in_h, in_c, out_c;
    int32_t kernel_h, kernel_w, stride;
    int32_t out_h;
} dls_window;

/* Which part of a training step a product or a convolution is. */
typedef enum dls_kernel_part {
    DLS_PART_FORWARD,
    DLS_PART_DATA,  /* gradient of what it read */
    DLS_PART_WEIGHT /* gradient of its weights */
} dls_kernel_part;

/* How the images of a convolution lie in memory, where PyTorch's kernels depend on it. */
typedef enum dls_layout {
    DLS_LAYOUT_UNKNOWN,
    DLS_LAYOUT_LAST, /* of one pixel all channels */
    DLS_LAYOUT_FIRST /* of one channel all pixels */
} dls_layout;

/* Which size of a product grows with the batch. */
typedef enum dls_grows {
    DLS_GROWS_UNKNOWN,
    DLS_GROWS_COUNT,
    DLS_GROWS_ROWS,
    DLS_GROWS_DEPTH,
    DLS_GROWS_COLUMNS
} dls_grows;

/* count products of rows x depth by depth x columns, at one batch; batch 0: not known. */
typedef struct dls_product {
    double count, rows, depth, columns;
    double batch;
    dls_grows grows;
} dls_product;

/* What a kernel that is bound by memory does, where multiprocessors cannot do it as fast as memory would let them. */
typedef enum dls_pass_kind {
    DLS_PASS_ANY,
    DLS_PASS_COPY, /* casts, copies, norms of rows */
    DLS_PASS_POOL,
    DLS_PASS_BATCH_NORM, /* cuDNN's */
    DLS_PASS_OWN_NORM,   /* PyTorch's batch norm, in bf16 */
    DLS_PASS_SCATTERED,  /* of numbers that lie apart, window.in_c a sample */
    DLS_PASSES
} dls_pass_kind;

typedef struct dls_kernel {
    uint8_t family;
    uint8_t backward;
    uint8_t op_family; /* dls_op_family of its operation; DLS_FAMILY_OTHER if not known */
    int32_t repeats;   /* times a step runs it (recurrent layers), >= 1 */
    int32_t layer;     /* ascending in forward order */
    int32_t tensor;    /* parameter tensor whose gradient it completes, or -1 */
    double flops;      /* per sample and run */
    double moved;      /* elements read and written, per sample and run */
    double moved_once; /* elements read and written per run, whatever the batch */
    /* As matrix products, `count` of them, at one batch; 0 if not known. */
    int64_t count, m, n, k;
    double at_batch;
    dls_window window;   /* convolutions; pools, which have no out_c; of batch norms in_c */
    dls_product product; /* the same and matrix products, for the sized model */
    uint8_t part;        /* dls_kernel_part */
    uint8_t layout;      /* dls_layout */
    uint8_t pass;        /* dls_pass_kind */
    uint8_t attention;   /* 1: attention in one kernel; in `product` heads, queries, keys seen in the mean */
    uint16_t back;       /* so many before it stands one as fast at any batch; 0: none that is known */
} dls_kernel;
#define DLS_KERNELS_BACK 1024 /* `back` is less */

typedef struct dls_workload {
    char name[48];
    dls_kernel *kernel; /* owned, unless kernel_cap is 0 */
    size_t n_kernels, kernel_cap;
    double *tensor; /* owned, unless tensor_cap is 0: elements of each parameter tensor, in forward order */
    size_t n_tensors, tensor_cap;
    double params;       /* their sum */
    double held;         /* of graphs: parameters beside, rows of tables that a step leaves as they are */
    double activations;  /* elements kept for the backward pass, per sample */
    double kept;         /* of graphs: the most that live at once (from_graph.c); activations are all */
    double process; /* bytes that PyTorch's process holds beside, workspace too; 0: TensorFlow */
    double largest;      /* of graphs: the largest result */
    double shared;       /* of graphs in parts: what GPUs add up in a step, per sample */
    double stream;       /* of graphs: what the last norm writes, which layers hand on */
    double input;        /* elements of one sample that the host sends */
    double made;         /* of graphs: those of rows of numbers that the training loop makes */
    bool by_channel;     /* of graphs: images lie so, whatever is asked for */
    bool attention;      /* of graphs: some kernel is attention in one */
    double forward_macs; /* multiply-adds of the forward pass, per sample */
    int32_t n_ops;       /* operations a framework dispatches in the forward pass */
    int32_t n_layers;
    dls_optimiser optimiser;
} dls_workload;

void dls_workload_fini(dls_workload *w); /* NULL-safe; w is then empty */
/* Find the `back` of its kernels, which are not changed any more: blocks of a network are mostly alike. O(kernels). */
void dls_workload_find_repeats(dls_workload *w);

/* 4-byte elements that a step of the optimiser moves per parameter: gradient, weight and state,
 * read and written; Adam as frameworks of the time ran it, one kernel per arithmetic operation. */
double dls_optimiser_moved(dls_optimiser optimiser);

/* Known networks, NULL behind the last. "resnet50" has its stride in the first 1x1 convolution as
 * the TensorFlow benchmarks, "resnet50_v15" in the 3x3; "alexnet" is their 64-192-384-384-256 form;
 * "resnet18_cifar" works on 32x32; "bert_base_128" on sequences of 128 instead of 384. */
const char *const *dls_workload_names(void);
/* Build one; *w is overwritten, the caller ends it. Errors: EINPUT (unknown), ENOMEM. */
dls_status dls_workload_build(const char *name, dls_workload *w, dls_error *err) DLS_MUST_CHECK;

/* Say how images lie of all convolutions. Those of matrix units in 16 bits on images whose channels
 * lie apart first transpose what they read and then what they write (tf32: sized.h). Errors:
 * ENOMEM. */
dls_status dls_workload_lay_out(dls_workload *w, dls_layout layout, bool transpose,
                                dls_error *err) DLS_MUST_CHECK;

#endif
