/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What an operation of a file costs, by the conventions of the model zoo (docs/graphs.md): unfused
 * kernels that read every input once and write every output once.
 */
#include "workload/graph/grouping.h"
#include "workload/graph/import_impl.h"
#include "workload/graph/work.h"

static int64_t bytes_of(const imp_out *t)
{
    return dls_imp_mul(dls_imp_elements(&t->shape), t->bytes);
}

/* Of all inputs; scalars are arguments and not traffic. */
static int64_t in_bytes(const imp_graph *g, const imp_node *x)
{
    int64_t sum = 0;
    for (int32_t i = 0; i < x->n_in; i++) {
        const imp_out *in = dls_imp_in(g, x, i);
        sum = dls_imp_add(sum, in->shape.rank > 0 ? bytes_of(in) : 0);
    }
    return sum;
}

static int64_t out_bytes(const imp_node *x)
{
    int64_t sum = 0;
    for (int32_t i = 0; i < x->n_out; i++) {
        sum = dls_imp_add(sum, bytes_of(&x->out[i]));
    }
    return sum;
}

/* Shapes are computed on the host: what is known by value costs nothing on the device. */
static bool host_only(const imp_node *x)
{
    return x->n_out > 0 && x->out[0].value && !x->out[0].real;
}

typedef struct cost {
    int64_t read, write;
    double flops;
} cost;

static cost moved(const imp_graph *g, const imp_node *x, int64_t out)
{
    const int64_t in = bytes_of(dls_imp_in(g, x, 0));
    switch (x->kind) {
    case DLS_OP_FILL:
    case DLS_OP_ZEROS_LIKE:
        return (cost){.write = out};
    case DLS_OP_TILE:
    case DLS_OP_PAD:
        return (cost){.read = in, .write = out};
    case DLS_OP_STRIDED_SLICE_GRAD:
        return (cost){.read = bytes_of(dls_imp_in(g, x, 4)), .write = out};
    case DLS_OP_TENSOR_SCATTER: /* a copy of the tensor, and where what is put into it */
        return (cost){.read = in_bytes(g, x), .write = out};
    case DLS_OP_TENSOR_ARRAY_WRITE:
    case DLS_OP_TENSOR_ARRAY_SCATTER: {
        const int64_t value = bytes_of(dls_imp_in(g, x, 2));
        return (cost){.read = value, .write = value};
    }
    default: /* what arrives, also of what was cut out */
        return (cost){.read = out, .write = out};
    }
}

static cost normalised(const imp_graph *g, const imp_node *x, int64_t elements)
{
    const int64_t in = bytes_of(dls_imp_in(g, x, 0));
    const int64_t out = x->n_out > 0 ? bytes_of(&x->out[0]) : 0;
    const bool grad = x->kind == DLS_OP_BATCH_NORM_GRAD || x->kind == DLS_OP_LAYER_NORM_GRAD ||
                      x->kind == DLS_OP_RMS_NORM_GRAD || x->kind == DLS_OP_LRN_GRAD;
    return (cost){.read = dls_imp_mul(grad ? 4 : 2, in),
                  .write = out,
                  .flops = (grad ? DLS_WORK_NORM_GRAD : DLS_WORK_NORM) * (double)elements};
}

static cost pooled(const imp_graph *g, const imp_node *x, int64_t elements, int64_t out)
{
    const int64_t image = dls_imp_elements(&dls_imp_in(g, x, 0)->shape);
    if (x->kind == DLS_OP_MAX_POOL_GRAD) {
        return (cost){.read = in_bytes(g, x), .write = out, .flops = (double)image};
    }
    if (x->kind == DLS_OP_AVG_POOL_GRAD) {
        return (cost){
            .read = bytes_of(dls_imp_in(g, x, 1)), .write = out, .flops = (double)elements};
    }
    return (cost){.read = bytes_of(dls_imp_in(g, x, 0)),
                  .write = out,
                  .flops = (double)elements * x->dims.kernel_h * x->dims.kernel_w};
}

static cost summed(const imp_graph *g, const imp_node *x, int64_t out)
{
    const imp_out *in = dls_imp_in(g, x, 0);
    if (x->n_out > 0 && dls_imp_elements(&in->shape) == dls_imp_elements(&x->out[0].shape)) {
        return (cost){0}; /* over no axis: nothing moves */
    }
    return (cost){
        .read = bytes_of(in), .write = out, .flops = (double)dls_imp_elements(&in->shape)};
}

static cost looked_up(const imp_graph *g, const imp_node *x, int64_t out)
{
    if (x->kind == DLS_OP_SEGMENT_SUM) {
        const imp_out *rows = dls_imp_in(g, x, 0);
        return (cost){
            .read = bytes_of(rows), .write = out, .flops = (double)dls_imp_elements(&rows->shape)};
    }
    return (cost){.read = x->kind == DLS_OP_GATHER ? out : in_bytes(g, x), .write = out};
}

static cost updated(const imp_node *x, dls_optimiser optimiser)
{
    const int64_t words = dls_optimiser_words(optimiser);
    const int64_t bytes = dls_imp_mul(4, x->param_elements);
    return (cost){.read = dls_imp_mul(2 + words, bytes),
                  .write = dls_imp_mul(1 + words, bytes),
                  .flops = dls_work_update(optimiser) * (double)x->param_elements};
}

static cost lost(const imp_graph *g, const imp_node *x, int64_t out)
{
    const imp_out *in = dls_imp_in(g, x, 0);
    const double n = (double)dls_imp_elements(&in->shape);
    if (x->kind == DLS_OP_L2_LOSS) {
        return (cost){.read = bytes_of(in), .flops = 2.0 * n};
    }
    return (cost){.read = dls_imp_mul(2, bytes_of(in)), .write = out, .flops = DLS_WORK_LOSS * n};
}

static cost cost_of(const imp_graph *g, const imp_node *x, dls_optimiser optimiser)
{
    const int64_t elements = x->n_out > 0 ? dls_imp_elements(&x->out[0].shape) : 0;
    const int64_t out = out_bytes(x);
    const double n = (double)elements;
    switch (dls_op_family_of(x->kind)) {
    case DLS_FAMILY_CONV:
    case DLS_FAMILY_MATMUL:
    case DLS_FAMILY_RNN:
        return (cost){.read = in_bytes(g, x), .write = out, .flops = dls_work_product(&x->dims)};
    case DLS_FAMILY_ELEMENTWISE:
        return (cost){.read = in_bytes(g, x),
                      .write = out,
                      .flops = x->kind == DLS_OP_ADD_N && x->n_in > 1 ? n * (x->n_in - 1) : n};
    case DLS_FAMILY_NORM:
        return normalised(g, x, elements);
    case DLS_FAMILY_POOL:
        return pooled(g, x, elements, out);
    case DLS_FAMILY_SOFTMAX:
        return (cost){.read = in_bytes(g, x), .write = out, .flops = DLS_WORK_SOFTMAX * n};
    case DLS_FAMILY_LOSS:
        return lost(g, x, out);
    case DLS_FAMILY_EMBEDDING:
        return looked_up(g, x, out);
    case DLS_FAMILY_REDUCE:
        return summed(g, x, out);
    case DLS_FAMILY_DATA:
        return moved(g, x, out);
    case DLS_FAMILY_RANDOM:
        return (cost){.write = out, .flops = n};
    case DLS_FAMILY_OPTIMISER:
        return x->phase == DLS_PHASE_UPDATE
                   ? updated(x, optimiser)
                   : (cost){.read = in_bytes(g, x), .write = out, .flops = n};
    default:
        return (cost){0};
    }
}

void dls_imp_work(const imp_graph *g, const imp_node *x, dls_optimiser optimiser, dls_op_node *to)
{
    static const imp_shape none = {.rank = -1};
    const imp_shape *s = x->n_out > 0 ? &x->out[0].shape : &none;
    const cost c =
        x->phase == DLS_PHASE_OTHER || host_only(x) ? (cost){0} : cost_of(g, x, optimiser);
    const dls_op_family family = dls_op_family_of(x->kind);
    to->tensor_size = dls_driple_tensor_size(s->dim, s->rank);
    to->out_bytes = out_bytes(x);
    to->read_bytes = c.read;
    to->write_bytes = c.write;
    to->flops = c.flops;
    to->param_bytes = dls_imp_mul(4, x->param_elements);
    if (family == DLS_FAMILY_CONV || family == DLS_FAMILY_MATMUL || family == DLS_FAMILY_RNN) {
        to->dims = x->dims;
    }
}
