/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The original's yarn placement with its network load: first switch that holds the gang, nodes
 * found by a tournament tree, memory charged in the original's order.
 */
#include "tiresias/yarn.h"

#include "base/suggest.h"

/* Tensors of at least about 1 MB of the original's nine models, in 0.1 MB; a name that is not here
 * counts as inception3 there. */
static const struct {
    const char *name;
    int64_t tenth_mb;
} models[] = {
    {"vgg19", 5471},   {"vgg16", 5268},      {"vgg11", 5065},
    {"alexnet", 2358}, {"resnet152", 1496},  {"resnet101", 1197},
    {"resnet50", 806}, {"inception4", 1328}, {"inception3", 566},
};
#define N_MODELS (sizeof models / sizeof models[0])

static int64_t model_tenth_mb(const char *name)
{
    const size_t i = DLS_NAMED(models, name);
    return models[i < N_MODELS ? i : N_MODELS - 1].tenth_mb;
}

/* Nodes that a job of g GPUs takes, 0 if no switch is large enough. */
static int32_t parts_of(const dls_tiresias_cluster *k, int32_t g)
{
    const int32_t parts = g / k->gpus_per_node + (g % k->gpus_per_node != 0);
    return parts <= k->nodes_per_switch ? parts : 0;
}

static dls_status init_jobs(dls_tir_yarn *y, dls_tir *s, dls_error *err)
{
    const size_t n = (size_t)s->n;
    const int32_t *codes = dls_trace_cols(s->trace)->model;
    y->first = dls_tir_array(s, n + 1, sizeof *y->first);
    y->model_tenth_mb = dls_tir_array(s, n, sizeof *y->model_tenth_mb);
    DLS_TRY(dls_tir_arrays_got(s, err));
    for (int32_t j = 0; j < s->n; j++) {
        y->first[j + 1] = y->first[j] + (size_t)parts_of(&y->k, s->job[j].gpus);
        y->model_tenth_mb[j] = model_tenth_mb(dls_trace_model(s->trace, codes[j]));
    }
    y->part = dls_tir_array(s, y->first[n], sizeof *y->part);
    return dls_tir_arrays_got(s, err);
}

dls_status dls_tir_yarn_init(dls_tir_yarn *y, dls_tir *s, dls_error *err)
{
    *y = (dls_tir_yarn){.k = s->p->cluster, .n_nodes = s->n_nodes, .leaves = 1};
    while (y->leaves < y->n_nodes && y->leaves < 1 << 29) {
        y->leaves *= 2;
    }
    if (y->leaves < y->n_nodes) {
        return dls_fail(err, DLS_EINPUT, NULL, "yarn placement takes at most %d nodes", 1 << 29);
    }
    y->node = dls_tir_array(s, (size_t)y->n_nodes, sizeof *y->node);
    y->tree = dls_tir_array(s, (size_t)y->leaves * 2, sizeof *y->tree);
    DLS_TRY(dls_tir_arrays_got(s, err));
    DLS_TRY(init_jobs(y, s, err));
    dls_tir_yarn_clear(y);
    return DLS_OK;
}

void dls_tir_yarn_clear(dls_tir_yarn *y)
{
    const int32_t g = y->k.gpus_per_node;
    for (int32_t i = 0; i < y->n_nodes; i++) {
        y->node[i] = (dls_tiresias_node){.free_gpus = g,
                                         .free_cpus = y->k.cpus_per_node,
                                         .free_mem_gb = (double)y->k.mem_gb_per_node};
        y->tree[y->leaves + i] = g;
    }
    for (int32_t i = y->leaves - 1; i >= 1; i--) {
        const int32_t l = y->tree[2 * i], r = y->tree[2 * i + 1];
        y->tree[i] = l > r ? l : r;
    }
    y->free_gpus = (int64_t)y->n_nodes * g;
}

/* The lowest node from `from` on, before `end`, with `gpus` free ones; `end` if there is none. */
static int32_t next_node(const dls_tir_yarn *y, int32_t from, int32_t end, int32_t gpus)
{
    int32_t i = y->leaves + from;
    if (from >= end) {
        return end;
    }
    while (y->tree[i] < gpus) {
        while (i & 1) { /* a right child: nothing further in this subtree */
            i /= 2;
        }
        if (i == 0) {
            return end;
        }
        i++;
    }
    while (i < y->leaves) {
        i = 2 * i + (y->tree[2 * i] < gpus);
    }
    i -= y->leaves;
    return i < end ? i : end;
}

/* The lowest node from `from` on that takes the part and is not one of the n_taken (ascending). */
static int32_t fit_part(const dls_tir_yarn *y, const dls_tir_part *part, int32_t from, int32_t end,
                        const dls_tir_part *taken, int32_t n_taken)
{
    int32_t skip = 0;
    for (;; from++) {
        from = next_node(y, from, end, part->gpus);
        if (from == end) {
            return end;
        }
        while (skip < n_taken && taken[skip].node < from) {
            skip++;
        }
        if (skip < n_taken && taken[skip].node == from) {
            continue;
        }
        const dls_tiresias_node *node = &y->node[from];
        if (node->free_cpus >= part->cpus && node->free_mem_gb >= part->mem_gb) {
            return from;
        }
    }
}

/* Find the parts of a job of g GPUs in one switch; false if it does not fit there. */
static bool find_in_switch(const dls_tir_yarn *y, int32_t g, int32_t begin, int32_t end,
                           dls_tir_part *found)
{
    const int32_t per_node = y->k.gpus_per_node, idle = g / per_node, rest = g % per_node;
    const double per_gpu_gb = 11 + 0.1 * g;
    int32_t at = begin;
    if (g <= per_node) {
        *found = (dls_tir_part){.gpus = g, .cpus = g == 1 ? 2 : 6 * g, .mem_gb = 5};
        found->node = fit_part(y, found, begin, end, NULL, 0);
        return found->node < end;
    }
    for (int32_t i = 0; i < idle + (rest > 0); i++) {
        const int32_t gpus = i < idle ? per_node : rest;
        dls_tir_part *part = &found[i];
        *part = (dls_tir_part){.gpus = gpus, .cpus = 6 * gpus, .mem_gb = per_gpu_gb * gpus};
        part->node = i < idle ? fit_part(y, part, at, end, NULL, 0)
                              : fit_part(y, part, begin, end, found, idle);
        if (part->node == end) {
            return false;
        }
        at = part->node + 1;
    }
    return true;
}

static void charge(dls_tir_yarn *y, const dls_tir_part *part, int sign, int64_t tenth_mb)
{
    dls_tiresias_node *node = &y->node[part->node];
    node->free_gpus -= sign * part->gpus;
    node->free_cpus -= sign * part->cpus;
    node->free_mem_gb -= sign * part->mem_gb;
    node->net_tenth_mb += sign * tenth_mb;
    y->free_gpus -= sign * part->gpus;
    int32_t i = y->leaves + part->node;
    y->tree[i] = node->free_gpus;
    for (i /= 2; i >= 1; i /= 2) {
        const int32_t l = y->tree[2 * i], r = y->tree[2 * i + 1];
        y->tree[i] = l > r ? l : r;
    }
}

/* Charge a job's parts, or free them again. Traffic: a worker exchanges the whole model, and as
 * many parameter servers as workers share the load of all workers evenly; inside one node there is
 * none. */
static void charge_job(dls_tir_yarn *y, int32_t j, int sign)
{
    const size_t first = y->first[j], end = y->first[j + 1];
    for (size_t i = first; i < end; i++) {
        const dls_tir_part *part = &y->part[i];
        charge(y, part, sign, end - first > 1 ? 2 * part->gpus * y->model_tenth_mb[j] : 0);
    }
}

bool dls_tir_yarn_place(dls_tir_yarn *y, const dls_tir *s, int32_t j)
{
    const int32_t g = s->job[j].gpus, per_switch = y->k.nodes_per_switch;
    bool fits = false;
    if (y->first[j] == y->first[j + 1] || g > y->free_gpus) {
        return false;
    }
    for (int32_t begin = 0; !fits && begin < y->n_nodes; begin += per_switch) {
        fits = find_in_switch(y, g, begin, begin + per_switch, &y->part[y->first[j]]);
    }
    if (fits) {
        charge_job(y, j, 1);
    }
    return fits;
}

void dls_tir_yarn_release(dls_tir_yarn *y, int32_t j)
{
    charge_job(y, j, -1);
}
