/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Inside of the readers: a file's operations with their attributes, and what is found out about
 * them. A reader (graphdef.c, onnx.c) fills nodes, attributes and inputs; rules (import_rules_*.c)
 * find shapes in order of the graph; import_work.c says what an operation costs, import_phase.c
 * which part of a step it is.
 *
 * Everything lives in the arena of the graph. A rule that runs out of memory sets imp_graph.nomem
 * and goes on with unknown shapes.
 */
#ifndef DLS_GRAPH_IMPORT_IMPL_H
#define DLS_GRAPH_IMPORT_IMPL_H

#include "workload/graph/arena.h"
#include "workload/graph/import.h"

#define IMP_RANK_MAX 8
#define IMP_VALUES_MAX 1024            /* elements of a tensor whose values are followed */
#define IMP_DIM_MAX ((int64_t)1 << 40) /* a dimension beyond is taken as unknown */
#define IMP_UNKNOWN INT64_MIN          /* an element of a followed tensor that is not known */

typedef struct imp_shape {
    int32_t rank;              /* -1: unknown */
    int64_t dim[IMP_RANK_MAX]; /* -1: unknown */
} imp_shape;

/* One output of an operation. */
typedef struct imp_out {
    imp_shape shape;
    int32_t bytes;        /* of an element; 0: no numbers (handles, strings) */
    bool real;            /* floating point */
    int32_t n_value;      /* elements of value */
    const int64_t *value; /* the elements of a small tensor of integers; NULL: not known */
    imp_shape *inner;     /* what a handle (of a variable, an array, a stack) holds: shared by all
                             copies of the handle, so that a push tells the pop */
} imp_out;

typedef struct imp_attr {
    const char *name;
    int64_t i; /* integer, truth, or a type as (bytes << 1 | real) */
    float f;
    const char *s;
    const int64_t *ints;
    int32_t n_ints;
    const imp_shape *shapes;
    int32_t n_shapes;
    const imp_out *tensor;
    const int64_t *types; /* as i */
    int32_t n_types;
} imp_attr;

typedef struct imp_input {
    int32_t node; /* -1: left out */
    int32_t port;
} imp_input;

typedef struct imp_node imp_node;
typedef struct imp_graph imp_graph;
typedef void imp_rule(imp_graph *g, imp_node *x);

struct imp_node {
    const char *name, *op, *device; /* "" without device */
    const imp_attr *attrs;
    imp_input *in; /* data only */
    imp_out *out;
    const imp_shape *given; /* what the file says of the outputs' shapes */
    int32_t n_attrs, n_in, n_out, n_given;
    int32_t n_wanted; /* outputs that the file names; 0: it does not say */
    int32_t kind;     /* dls_op_kind */
    imp_rule *rule;   /* NULL: not known */
    dls_op_dims dims;
    int64_t param_elements; /* variables and their updates */
    int32_t repeat;
    int32_t phase; /* dls_phase */
    bool on_gpu;
};

typedef struct imp_op {
    const char *names; /* in the file, with blanks between */
    const char *as;    /* the operation that it is, for an ONNX name; NULL: the name itself */
    dls_op_kind kind;  /* the operation that it works like */
    imp_rule *rule;
} imp_op;

/* Inputs that only order: [from], to. */
typedef struct imp_edge {
    int32_t from, to;
    bool control;
} imp_edge;

struct imp_graph {
    const char *file; /* for messages */
    const dls_import_options *options;
    dls_arena arena;
    imp_node *nodes;
    int32_t n_nodes;
    imp_edge *edges; /* in order of consumers and their inputs */
    size_t n_edges, edge_cap;
    dls_strdict op_names; /* of the file, looked up once each: */
    const imp_op **ops;   /* [op_names.n] NULL: not known */
    size_t op_cap;
    bool batch_open; /* some input left its first dimension open */
    bool nomem;
};

/* ---- import.c: what readers call ------------------------------------------------------------- */

/* Shapes, work and phases of what the reader filled. */
dls_status dls_imp_finish(imp_graph *g, dls_opgraph **out, dls_import_report *report,
                          dls_error *err) DLS_MUST_CHECK;
void dls_imp_fini(imp_graph *g);
/* What `find` says of an operation's name; NULL: it is not known. */
dls_status dls_imp_op_of(imp_graph *g, const char *name, const imp_op *(*find)(const char *),
                         const imp_op **op, dls_error *err) DLS_MUST_CHECK;
dls_status dls_imp_add_edge(imp_graph *g, int32_t from, int32_t to, bool control,
                            dls_error *err) DLS_MUST_CHECK;

/* ---- import_shape.c -------------------------------------------------------------------------- */

extern const imp_shape dls_imp_no_shape; /* unknown rank */
extern const imp_shape dls_imp_scalar;

imp_shape dls_imp_shape_of(int32_t rank,
                           const int64_t *dim); /* checked: what is not possible is unknown */
/* Elements; unknown dimensions count as 1, an unknown rank as 0. Never overflows. */
int64_t dls_imp_elements(const imp_shape *s);
bool dls_imp_known(const imp_shape *s);                              /* every dimension */
imp_shape dls_imp_broadcast(const imp_shape *a, const imp_shape *b); /* NumPy's rule */
/* What both say; a wins where they differ. */
imp_shape dls_imp_merge(const imp_shape *a, const imp_shape *b);
/* As a dimension or a size in pixels. */
static inline int64_t dls_imp_bounded(int64_t v)
{
    return v < 0 ? 0 : v > IMP_DIM_MAX ? IMP_DIM_MAX : v;
}
/* Of numbers >= 0; what is beyond 2^42 is 2^42. */
int64_t dls_imp_mul(int64_t a, int64_t b);
int64_t dls_imp_add(int64_t a, int64_t b);
/* axis of a tensor of that rank, from the end if negative; -1: none. */
int32_t dls_imp_axis(int64_t axis, int32_t rank);

/* ---- nodes ----------------------------------------------------------------------------------- */

const imp_attr *dls_imp_attr_find(const imp_node *x, const char *name); /* NULL: none */
int64_t dls_imp_attr_i(const imp_node *x, const char *name, int64_t otherwise);
const char *dls_imp_attr_s(const imp_node *x, const char *name, const char *otherwise);
/* What input i is; an empty output of unknown shape if there is none. */
const imp_out *dls_imp_in(const imp_graph *g, const imp_node *x, int32_t i);
/* Values of input i, or NULL. */
const int64_t *dls_imp_values(const imp_graph *g, const imp_node *x, int32_t i, int32_t *n);
/* Value 0 of input i, or otherwise. */
int64_t dls_imp_scalar_value(const imp_graph *g, const imp_node *x, int32_t i, int64_t otherwise);
/* n outputs of the first input's type and unknown shape; NULL without memory. */
imp_out *dls_imp_outs(imp_graph *g, imp_node *x, int32_t n);
/* One output. */
void dls_imp_out1(imp_graph *g, imp_node *x, const imp_shape *shape);
/* Followed values of output 0; copied. A shape of rank 1 unless scalar. */
void dls_imp_set_values(imp_graph *g, imp_node *x, const int64_t *value, int32_t n, bool scalar);
void dls_imp_set_type(imp_node *x, int64_t type); /* of output 0: bytes << 1 | real */
void dls_imp_set_type_as(imp_node *x, const imp_out *like);
void dls_imp_pass_values(imp_node *x, const imp_out *from); /* to output 0, if there are any */
void *dls_imp_alloc(imp_graph *g, size_t bytes);            /* NULL sets nomem */

/* ---- what rules of both formats share -------------------------------------------------------- */

typedef struct imp_window {
    int64_t kernel[2], stride[2], dilation[2];
    int64_t pad[2][2]; /* before, after, of height and width */
    bool same;         /* output = ceil(input / stride), whatever pad says */
    bool ceil;         /* a window that sticks out counts */
    bool channels_first;
} imp_window;

/* Output of a window over an image; unknown rank where it does not fit. channels < 0: unknown. */
imp_shape dls_imp_windowed(const imp_shape *in, const imp_window *w, int64_t channels);
int64_t dls_imp_channels(const imp_window *w, const imp_shape *image); /* -1: unknown */
imp_shape dls_imp_pooled(imp_node *x, const imp_shape *in, const imp_window *w);
/* dims of a convolution from image, output, and its filter's size. */
void dls_imp_conv_dims(imp_node *x, const imp_shape *in, const imp_shape *out, const imp_window *w,
                       int64_t groups);
imp_shape dls_imp_reduced(const imp_shape *in, const int64_t *axes, int32_t n_axes, bool keep);
imp_shape dls_imp_matmul(imp_node *x, const imp_shape *a, const imp_shape *b, bool ta, bool tb);
void dls_imp_concat(imp_graph *g, imp_node *x, int32_t first, int32_t n, int64_t axis);
void dls_imp_split(imp_graph *g, imp_node *x, int32_t of, int64_t axis, const int64_t *sizes,
                   int32_t n);
void dls_imp_cast(imp_graph *g, imp_node *x, int64_t type); /* as dls_imp_set_type */
/* to: NULL: not known, as many as input 1 has numbers */
void dls_imp_reshape(imp_graph *g, imp_node *x, const int64_t *to, int32_t n, bool zero_copies);
void dls_imp_transpose(imp_graph *g, imp_node *x, const int64_t *perm, int32_t n);
void dls_imp_gather(imp_graph *g, imp_node *x, int64_t axis, int64_t batch_dims);
void dls_imp_slice(imp_graph *g, imp_node *x, int32_t axis, int64_t begin, int64_t end,
                   int64_t step);
void dls_imp_squeeze(imp_graph *g, imp_node *x, const int64_t *axes, int32_t n, bool all);
void dls_imp_unsqueeze(imp_graph *g, imp_node *x, const int64_t *axes, int32_t n);
/* Small integers through an elementwise operation. */
void dls_imp_fold(imp_graph *g, imp_node *x);

/* Rules: the output is as input 0 (handles and values too), of the shape of input 0, as input 1, what
 * inputs 0 and 1 say together, of all inputs' shapes broadcast, the same in truths; there is none;
 * tile repeats input 0 input 1 times; const has the attribute "value". */
imp_rule dls_imp_rule_same, dls_imp_rule_unary, dls_imp_rule_same1, dls_imp_rule_either,
    dls_imp_rule_broadcast, dls_imp_rule_compare, dls_imp_rule_none, dls_imp_rule_scalar,
    dls_imp_rule_shape, dls_imp_rule_size, dls_imp_rule_tile, dls_imp_rule_const,
    dls_imp_rule_input, dls_imp_rule_variable;

/* By one of its names; NULL: none. */
const imp_op *dls_imp_op_find(const imp_op *table, size_t n, const char *name);
const imp_op *dls_imp_tf_op(const char *name);
const imp_op *dls_imp_onnx_op(const char *name);
/* bytes << 1 | floating point of an ONNX TensorProto.DataType; 0: no numbers. */
int64_t dls_onnx_type(int32_t type);

/* ---- what operations cost and where they belong ---------------------------------------------- */

/* Traffic and FLOPs of a node (docs/graphs.md) whose shapes are known. */
void dls_imp_work(const imp_graph *g, const imp_node *x, dls_optimiser optimiser, dls_op_node *to);
/* Executions of the operations in loops: imp_node.repeat. ENOMEM. */
dls_status dls_imp_loops(imp_graph *g, const int32_t *order, dls_error *err) DLS_MUST_CHECK;
/* Parameters, phases, devices. order: producers first. ENOMEM. */
dls_status dls_imp_classify(imp_graph *g, const int32_t *order, dls_import_report *report,
                            dls_error *err) DLS_MUST_CHECK;

/* Loss, gradients and updates behind the nodes of a forward pass. order: producers first. */
dls_status dls_imp_train(imp_graph *g, const int32_t *order, bool *added,
                         dls_error *err) DLS_MUST_CHECK;

#endif
