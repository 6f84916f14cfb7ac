/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Inside of a net: the tape that forward operations leave and gradients are played back from.
 */
#ifndef DLS_GRAPH_NET_IMPL_H
#define DLS_GRAPH_NET_IMPL_H

#include "workload/graph/net.h"
#include "workload/graph/work.h"

#define DLS_NET_DIMS 4
#define DLS_NET_INPUTS 40 /* the widest concatenation of the zoo: a dense block, DLRM */

typedef struct dls_shape {
    int64_t dim[DLS_NET_DIMS];
    int n;
} dls_shape;

typedef struct net_tensor {
    dls_shape shape;
    int32_t node;
    int32_t grads; /* list of gradient nodes in net.grads, -1: none */
    int32_t uses;  /* operations that take it */
    bool needs_grad;
    bool wide; /* 32 bits where the net has 16 */
    bool narrow; /* wide, but read as the 16 bits that it was */
    bool planes; /* an image, or its pixels as tokens, lies by channel, as PyTorch's does unless asked otherwise */
    bool within; /* a view of channels that lie among others */
} net_tensor;

typedef struct net_var {
    dls_shape shape;
    int32_t node, read; /* read: what kernels take, after a cast under mixed precision */
    int32_t layer;
    int32_t grads;
    bool decay;
    bool half; /* read is a copy in 16 bits, which PyTorch makes for products alone */
    bool standardised; /* read is computed in each step */
    int64_t sparse_rows; /* > 0: only so many rows change per step */
} net_var;

typedef struct net_grad {
    int32_t node, next;
} net_grad;

typedef enum tape_op {
    TAPE_CONV,
    TAPE_MATMUL, /* with a variable */
    TAPE_BATCH_MATMUL,
    TAPE_ATTENTION,
    TAPE_BIAS,
    TAPE_NORM,
    TAPE_LOOKUP,
    TAPE_ADD_ROWS,
    TAPE_NUMBERS,
    TAPE_UNARY,
    TAPE_ADD,
    TAPE_MUL,
    TAPE_SCALE,
    TAPE_CONCAT,
    TAPE_SPLIT,
    TAPE_FIRST,
    TAPE_POOL,
    TAPE_MEAN,
    TAPE_DROPOUT,
    TAPE_SOFTMAX,
    TAPE_PASS,
    TAPE_CAST,
    TAPE_RESHAPE,
    TAPE_TRANSPOSE,
    TAPE_LOSS,
    TAPE_LOOP_READ,
    TAPE_LOOP_END,
    TAPE_LOOP_STATE,
    TAPE_LOOP_NEXT,
    TAPE_RECURRENCE
} tape_op;

typedef struct tape_rec {
    tape_op op;
    int32_t kind; /* dls_op_kind of the forward node */
    int32_t layer, repeat;
    int32_t node; /* the forward node */
    int32_t aux; /* another node that the gradient needs (dropout's mask), a state, a pass's traffic
                    back */
    int32_t var[2]; /* -1: none */
    int32_t in;     /* first of n_in in net.inputs */
    int32_t n_in;
    dls_tensor out; /* first of n_out */
    int32_t n_out;
    dls_op_dims dims;
    bool flag; /* batch matrix product: second factor transposed; matmul: variable is; split: by indices;
                  pass: scattered; lookup: summed */
} tape_rec;

struct dls_net {
    dls_opgraph *g;
    dls_status status;
    dls_error err;
    bool decay, standardise, swish;
    int32_t shards;
    unsigned runner; /* bits of dls_graph_runner */
    bool wide, planes; /* of what the operation that is being written down makes */
    int32_t element_bytes;
    dls_phase phase;
    int32_t layer, repeat;
    net_tensor *tensors;
    size_t n_tensors, tensor_cap;
    net_var *vars;
    size_t n_vars, var_cap;
    size_t again, again_end; /* variables that stand for the next new ones */
    net_grad *grads;
    size_t n_grads, grad_cap;
    tape_rec *tape;
    size_t n_tape, tape_cap;
    dls_tensor *inputs;
    size_t n_inputs, input_cap;
    dls_strdict bases; /* names without their number, and how often each was used */
    int32_t *base_count;
    size_t base_cap;
    int32_t loop_steps, loop_cond;
    int32_t loss; /* node of the last loss, -1 */
};

static inline int64_t dls_shape_size(const dls_shape *s)
{
    int64_t n = 1;
    for (int i = 0; i < s->n; i++) {
        n *= s->dim[i];
    }
    return n;
}

/* What a kernel does; the rest of a node follows from the net's state. */
typedef struct net_work {
    dls_shape shape; /* of output 0 */
    int32_t element_bytes;
    int64_t extra_out_bytes; /* of the other outputs */
    int64_t read_bytes, write_bytes;
    double flops;
    const dls_op_dims *dims;
    int64_t param_bytes;
    bool on_cpu;
} net_work;

/* A node with data edges from in[n]; -1 after an error and for -1 among the inputs. */
int32_t dls_net_emit(dls_net *net, dls_op_kind kind, const net_work *work, const int32_t *in,
                     int n);
/* Bytes of numbers of the net's size, twice as many where PyTorch keeps 32 bits (net->wide). */
static inline int64_t bytes_of(const dls_net *net, const dls_shape *s)
{
    return dls_shape_size(s) * net->element_bytes * (net->wide ? 2 : 1);
}
/* A node that reads `read` bytes and writes its output. */
static inline int32_t emit(dls_net *net, dls_op_kind kind, const dls_shape *shape, int64_t read,
                           double flops, const int32_t *in, int n)
{
    const net_work work = {.shape = *shape,
                           .element_bytes = net->element_bytes,
                           .read_bytes = read,
                           .write_bytes = bytes_of(net, shape),
                           .flops = flops};
    return dls_net_emit(net, kind, &work, in, n);
}
/* The same, number by number: a compiler makes it a part of what comes before or after. */
static inline int32_t pointwise(dls_net *net, dls_op_kind kind, const dls_shape *shape,
                                int64_t read, const int32_t *in, int n)
{
    const net_work joined = {.shape = *shape, .element_bytes = net->element_bytes};
    return net->runner & DLS_RUN_COMPILED
               ? dls_net_emit(net, kind, &joined, in, n)
               : emit(net, kind, shape, read, (double)dls_shape_size(shape), in, n);
}
/* What PyTorch's kernel of a node sees, where its time depends on it. */
static inline void sees(dls_net *net, int32_t node, const dls_op_dims *d)
{
    if (node >= 0 && net->runner != DLS_RUN_GRAPH) {
        net->g->nodes[node].dims = *d;
    }
}
/* Neighbouring threads of a node read or write numbers that lie apart, as many as an array of that shape has. */
static inline void scattered(dls_net *net, int32_t node, const dls_shape *s)
{
    const int64_t n = dls_shape_size(s) / net->g->info.batch;
    sees(net, node, &(dls_op_dims){.in_c = n < INT32_MAX ? (int32_t)n : INT32_MAX});
}
/* A constant of n elements (0: a scalar). */
int32_t dls_net_const(dls_net *net, int64_t n);
void dls_net_edge(dls_net *net, int32_t from, int32_t to, bool control);
dls_tensor dls_net_tensor(dls_net *net, const dls_shape *shape, int32_t node, bool needs_grad);
int32_t dls_net_var(dls_net *net, const dls_shape *shape, bool decay);
/* A variable or its gradient, of 4 bytes or of the net's, as one of the other. */
int32_t dls_net_of_bytes(dls_net *net, const dls_shape *shape, int32_t node, int32_t bytes);
/* What a product or a convolution, or the bias of one, reads of a variable. */
int32_t dls_net_weight(dls_net *net, int32_t var);
/* A norm of 32 bits over the weights of each channel, or its gradient. */
int32_t dls_net_norm_of_weights(dls_net *net, int32_t var, dls_op_kind kind, int32_t from);
/* A new record on the tape, zeroed but for layer and repeat; NULL after an error. */
tape_rec *dls_net_record(dls_net *net, tape_op op, const dls_tensor *in, int n_in, dls_tensor out,
                         int n_out);
void dls_net_fail(dls_net *net, const char *what);
/* Prepend node to a list of gradients. */
void dls_net_add_grad(dls_net *net, int32_t *list, int32_t node);

/* How numbers come from 16 bits to 32 or back: by a kernel of its own, by the one that reads them
 * (but their gradient's by its own), or by kernels that know both. */
typedef enum net_cast { CAST_APART, CAST_READ, CAST_INSIDE } net_cast;
/* What follows works on x; PyTorch's mixed precision brings it to 32 bits (wide) or 16 before:
 * norms, softmax and losses take 32, products 16, the rest what they get. */
dls_tensor dls_net_at_width(dls_net *net, dls_tensor x, bool wide, net_cast how);
/* x, or a copy of a view of channels, as PyTorch makes one for operations that want all numbers together; `back`
 * passes over memory on the way back. */
dls_tensor dls_net_together(dls_net *net, dls_tensor x, int back);
static inline const net_tensor *at(const dls_net *net, dls_tensor t)
{
    static const net_tensor none = {.shape = {.dim = {1, 1, 1, 1}, .n = 4}, .node = -1};
    return net->status == DLS_OK && t >= 0 ? &net->tensors[t] : &none;
}

/* Bytes of a tensor as it lies in memory. */
static inline int64_t read_of(const dls_net *net, dls_tensor t)
{
    const net_tensor *x = at(net, t);
    return dls_shape_size(&x->shape) * net->element_bytes * (x->wide && !x->narrow ? 2 : 1);
}

/* What follows works on x as it is. */
static inline void on(dls_net *net, dls_tensor x)
{
    net->wide = at(net, x)->wide;
    net->planes = at(net, x)->planes;
}

/* The result of an operation on x, with its record. */
static inline dls_tensor record1(dls_net *net, tape_op op, dls_op_kind kind, dls_tensor x,
                                 const dls_shape *shape, int32_t node, tape_rec **rec)
{
    const dls_tensor out = dls_net_tensor(net, shape, node, at(net, x)->needs_grad);
    tape_rec *r = dls_net_record(net, op, &x, 1, out, 1);
    if (r) {
        r->kind = (int32_t)kind;
    }
    if (rec) {
        *rec = r;
    }
    return out;
}

/* Of an output, given the input's. */
static inline int32_t extent(int64_t in, int32_t kernel, int32_t stride, int32_t pad)
{
    return (int32_t)(pad == DLS_PAD_SAME ? (in + stride - 1) / stride
                                         : (in + 2 * (int64_t)pad - kernel) / stride + 1);
}

/* Bytes of the places in which a pool that PyTorch runs found its results. */
int64_t dls_net_places(const dls_net *net, int32_t kind, const dls_shape *pooled);
/* Images come by channel: PyTorch's default, and in 32 bits nothing else was measured. */
static inline bool by_channel(const dls_net *net)
{
    return dls_net_eager(net) && (net->element_bytes > 2 || net->runner & DLS_RUN_CHANNELS_FIRST);
}
/* Gradients and updates, called by dls_net_finish. */
void dls_net_backward(dls_net *net);
void dls_net_update(dls_net *net);

#endif
