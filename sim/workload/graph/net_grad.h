/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the gradients of operations share: the record that is played back, and where gradients go.
 */
#ifndef DLS_GRAPH_NET_GRAD_H
#define DLS_GRAPH_NET_GRAD_H

#include "workload/graph/net_impl.h"

typedef struct ctx {
    dls_net *net;
    const tape_rec *rec;
    int32_t dy;          /* gradient of the output */
    const dls_tensor *x; /* the record's inputs */
} ctx;

/* Shape arithmetic: touches no data. */
static inline int32_t view(dls_net *net, dls_op_kind kind, const dls_shape *shape, const int32_t *in,
                    int n)
{
    const net_work work = {.shape = *shape, .element_bytes = net->element_bytes};
    return dls_net_emit(net, kind, &work, in, n);
}

static inline const net_tensor *input(const ctx *c, int i)
{
    return &c->net->tensors[c->x[i]];
}

static inline void give(const ctx *c, int i, int32_t node)
{
    net_tensor *t = &c->net->tensors[c->x[i]];
    if (t->needs_grad) {
        dls_net_add_grad(c->net, &t->grads, node);
    }
}

/* The sum of a list of gradients: -1 if it is empty. */
int32_t dls_net_sum(dls_net *net, int32_t list, const dls_shape *shape);

/* Of operations that move and pool. */
typedef void dls_net_grad(const ctx *c);
dls_net_grad dls_net_grad_concat, dls_net_grad_split, dls_net_grad_first, dls_net_grad_pool,
    dls_net_grad_mean, dls_net_grad_reshape, dls_net_grad_transpose;

#endif
