/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Builds the workloads of the operator model's own networks by name, and frees workloads.
 */
#include "workload/operator/workload.h"

#include "base/alloc.h"
#include "base/fnv.h"
#include "base/suggest.h"
#include "workload/operator/layers.h"

#include <stdio.h>
#include <string.h>

void dls_workload_fini(dls_workload *w)
{
    if (w) {
        DLS_FREE_ALL(w->kernel_cap ? w->kernel : NULL, w->tensor_cap ? w->tensor : NULL);
        *w = (dls_workload){0};
    }
}

double dls_optimiser_moved(dls_optimiser optimiser)
{
    static const double moved[DLS_OPTIMISER_COUNT] = {[DLS_OPTIMISER_SGD] = 3,
                                                      [DLS_OPTIMISER_MOMENTUM] = 5,
                                                      [DLS_OPTIMISER_RMSPROP] = 7,
                                                      [DLS_OPTIMISER_ADAM] = 24};
    return moved[optimiser];
}

static const char *const names[] = {"alexnet",       "vgg11",          "vgg16",
                                    "vgg19",         "googlenet",      "inception3",
                                    "inception4",    "resnet50",       "resnet101",
                                    "resnet152",     "resnet50_v15",   "resnet101_v15",
                                    "resnet152_v15", "resnet18_cifar", "bert_base",
                                    "bert_base_128", "bert_large",     NULL};

const char *const *dls_workload_names(void)
{
    return names;
}

static bool is(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

static void append(dls_layers *b, const char *name)
{
    int depth = 0;
    if (dls_layers_net_text(b, name)) {
        return;
    }
    if (is(name, "resnet18_cifar")) {
        dls_layers_net_resnet18_cifar(b);
    } else if (sscanf(name, "resnet%d", &depth) == 1) {
        dls_layers_net_resnet(b, depth, strstr(name, "_v15") != NULL);
    } else if (is(name, "bert_large")) {
        dls_layers_net_bert(b, 24, 1024, 384);
    } else {
        dls_layers_net_bert(b, 12, 768, is(name, "bert_base_128") ? 128 : 384);
    }
}

dls_status dls_workload_build(const char *name, dls_workload *w, dls_error *err)
{
    bool known = false;
    for (size_t i = 0; names[i]; i++) {
        known = known || is(names[i], name);
    }
    if (!known) {
        const char *near = dls_suggest(name, names);
        return dls_fail(err, DLS_EINPUT, "model", "unknown model \"%s\"%s", name,
                        near ? DLS_DID_YOU_MEAN(near)
                             : " ('dlsim operators list' shows those written as layers; 'dlsim predict --whatif' answers for all)");
    }
    dls_layers b;
    *w = (dls_workload){.optimiser = DLS_OPTIMISER_MOMENTUM};
    snprintf(w->name, sizeof w->name, "%s", name);
    dls_layers_begin(&b, w, err);
    append(&b, name);
    if (b.status != DLS_OK) {
        dls_workload_fini(w);
    }
    return b.status;
}

dls_status dls_workload_lay_out(dls_workload *w, dls_layout layout, bool transpose, dls_error *err)
{
    const size_t n = w->n_kernels;
    DLS_TRY(dls_grow(&w->kernel, &w->kernel_cap, (1 + transpose) * n, sizeof *w->kernel, err));
    for (size_t i = 0; i < n; i++) {
        w->kernel[i].layout = (uint8_t)layout;
    }
    for (size_t i = 0; i < n && transpose && layout == DLS_LAYOUT_FIRST; i++) {
        const dls_kernel conv = w->kernel[i];
        const dls_window *v = &conv.window;
        if (v->out_c < 1 || conv.product.count > 1) { /* groups: groupconv.h */
            continue;
        }
        const double in = (double)v->in_h * v->in_h * v->in_c;
        const double out = (double)v->out_h * v->out_h * v->out_c;
        w->kernel[w->n_kernels++] = (dls_kernel){.family = DLS_KERNEL_MEMORY,
                                                 .backward = conv.backward,
                                                 .op_family = conv.op_family,
                                                 .repeats = conv.repeats,
                                                 .layer = conv.layer,
                                                 .tensor = -1,
                                                 .moved = 2 * (in + out)};
    }
    return DLS_OK;
}

/* In all that their time follows from. */
static bool alike(const dls_kernel *a, const dls_kernel *b)
{
    const dls_product *p = &a->product, *q = &b->product;
    return a->flops == b->flops && a->moved == b->moved && a->moved_once == b->moved_once &&
           a->family == b->family && a->backward == b->backward && a->op_family == b->op_family &&
           a->repeats == b->repeats && a->part == b->part && a->layout == b->layout &&
           a->pass == b->pass && a->count == b->count && a->m == b->m && a->n == b->n &&
           a->k == b->k && a->at_batch == b->at_batch &&
           memcmp(&a->window, &b->window, sizeof a->window) == 0 && p->count == q->count &&
           p->rows == q->rows && p->depth == q->depth && p->columns == q->columns &&
           p->batch == q->batch && p->grows == q->grows;
}

void dls_workload_find_repeats(dls_workload *w)
{
    enum { SLOTS = 4096 };
    uint32_t latest[SLOTS] = {0}; /* number of the kernel + 1, by a hash */
    for (size_t i = 0; i < w->n_kernels; i++) {
        dls_kernel *k = &w->kernel[i];
        const double sizes[] = {k->flops,        k->moved,           k->moved_once, k->product.rows,
                                k->product.depth, k->product.columns, k->family,     k->op_family,
                                k->part,          k->backward};
        uint32_t *slot = &latest[dls_fnv(DLS_FNV_START, sizes, sizeof sizes) % SLOTS];
        const size_t back = *slot ? i + 1 - *slot : 0;
        k->back = back > 0 && back < DLS_KERNELS_BACK && alike(k, &w->kernel[*slot - 1]) ? (uint16_t)back : 0;
        *slot = (uint32_t)i + 1;
    }
}
