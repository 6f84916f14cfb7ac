/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The original's yarn placement with its network load: first switch that holds the gang, nodes
 * found by a tournament tree, memory charged in the original's order.
 */
#include "tiresias/yarn.h"

#include "base/alloc.h"

#include <string.h>

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
    for (size_t i = 0; i < N_MODELS; i++) {
        if (strcmp(models[i].name, name) == 0) {
            return models[i].tenth_mb;
        }
    }
    return models[N_MODELS - 1].tenth_mb;
}

/* Nodes that a job of g GPUs takes, 0 if no switch is large enough. */
static int32_t parts_of(const dls_tiresias_cluster *k, int32_t g)
{
    const int32_t parts = g / k->gpus_per_node + (g % k->gpus_per_node != 0);
    return parts <= k->nodes_per_switch ? parts : 0;
}

static dls_status init_jobs(dls_tir_yarn *y, const dls_tir *s, dls_error *err)
{
    const size_t n = (size_t)s->n;
    const int32_t *codes = dls_trace_cols(s->trace)->model;
    int32_t most = 1;
    y->first = dls_alloc_zero(n + 1, sizeof *y->first);
    y->n_parts = dls_alloc_zero(n, sizeof *y->n_parts);
    y->model_tenth_mb = dls_alloc_zero(n, sizeof *y->model_tenth_mb);
    if (!y->first || !y->n_parts || !y->model_tenth_mb) {
        return dls_nomem(err, "placements", n * 20);
    }
    for (int32_t j = 0; j < s->n; j++) {
        const int32_t parts = parts_of(&y->k, s->job[j].gpus);
        most = parts > most ? parts : most;
        y->first[j + 1] = y->first[j] + (size_t)parts;
        y->model_tenth_mb[j] = model_tenth_mb(dls_trace_model(s->trace, codes[j]));
    }
    y->part = dls_alloc_zero(y->first[n], sizeof *y->part);
    y->found = dls_alloc_zero((size_t)most, sizeof *y->found);
    return y->part && y->found ? DLS_OK
                               : dls_nomem(err, "placements", y->first[n] * sizeof *y->part);
}

dls_status dls_tir_yarn_init(dls_tir_yarn *y, const dls_tir *s, dls_error *err)
{
    *y = (dls_tir_yarn){.k = s->p->cluster, .n_nodes = s->n_nodes, .leaves = 1};
    while (y->leaves < y->n_nodes && y->leaves < 1 << 29) {
        y->leaves *= 2;
    }
    if (y->leaves < y->n_nodes) {
        return dls_fail(err, DLS_EINPUT, NULL, "yarn placement takes at most %d nodes", 1 << 29);
    }
    y->node = dls_alloc_zero((size_t)y->n_nodes, sizeof *y->node);
    y->tree = dls_alloc_zero((size_t)y->leaves * 2, sizeof *y->tree);
    if (!y->node || !y->tree) {
        return dls_nomem(err, "nodes", (size_t)y->n_nodes * sizeof *y->node);
    }
    DLS_TRY(init_jobs(y, s, err));
    dls_tir_yarn_clear(y);
    return DLS_OK;
}

void dls_tir_yarn_fini(dls_tir_yarn *y)
{
    dls_free(y->node);
    dls_free(y->tree);
    dls_free(y->part);
    dls_free(y->first);
    dls_free(y->n_parts);
    dls_free(y->found);
    dls_free(y->model_tenth_mb);
}

void dls_tir_yarn_clear(dls_tir_yarn *y)
{
    const int32_t g = y->k.gpus_per_node;
    const uint64_t all = g >= 64 ? (g == 64 ? UINT64_MAX : 0) : (UINT64_C(1) << g) - 1;
    for (int32_t i = 0; i < y->n_nodes; i++) {
        y->node[i] = (dls_tiresias_node){.free_gpus = g,
                                       .free_cpus = y->k.cpus_per_node,
                                       .free_mem_gb = (double)y->k.mem_gb_per_node,
                                       .free_mask = all};
        y->tree[y->leaves + i] = g;
    }
    for (int32_t i = y->leaves - 1; i >= 1; i--) {
        const int32_t l = y->tree[2 * i], r = y->tree[2 * i + 1];
        y->tree[i] = l > r ? l : r;
    }
    y->free_gpus = (int64_t)y->n_nodes * g;
    y->busy_nodes = y->full_nodes = 0;
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

/* The lowest node from `from` on that takes the part and is not one of the n_taken (ascending) in
 * found. */
static int32_t fit_part(const dls_tir_yarn *y, const dls_tir_part *part, int32_t from, int32_t end,
                        int32_t n_taken)
{
    int32_t skip = 0;
    for (;; from++) {
        from = next_node(y, from, end, part->gpus);
        if (from == end) {
            return end;
        }
        while (skip < n_taken && y->found[skip].node < from) {
            skip++;
        }
        if (skip < n_taken && y->found[skip].node == from) {
            continue;
        }
        const dls_tiresias_node *node = &y->node[from];
        if (node->free_cpus >= part->cpus && node->free_mem_gb >= part->mem_gb) {
            return from;
        }
    }
}

/* Find the parts of a job of g GPUs in one switch; false if it does not fit there. */
static bool find_in_switch(dls_tir_yarn *y, int32_t g, int32_t begin, int32_t end)
{
    const int32_t per_node = y->k.gpus_per_node;
    if (g <= per_node) {
        y->found[0] = (dls_tir_part){.gpus = g, .cpus = g == 1 ? 2 : 6 * g, .mem_gb = 5};
        y->found[0].node = fit_part(y, &y->found[0], begin, end, 0);
        return y->found[0].node < end;
    }
    const double per_gpu_gb = 11 + 0.1 * g;
    const int32_t idle = g / per_node, rest = g % per_node;
    int32_t at = begin;
    for (int32_t i = 0; i < idle; i++) {
        dls_tir_part *part = &y->found[i];
        *part =
            (dls_tir_part){.gpus = per_node, .cpus = 6 * per_node, .mem_gb = per_gpu_gb * per_node};
        part->node = fit_part(y, part, at, end, 0);
        if (part->node == end) {
            return false;
        }
        at = part->node + 1;
    }
    if (rest > 0) {
        dls_tir_part *part = &y->found[idle];
        *part = (dls_tir_part){.gpus = rest, .cpus = 6 * rest, .mem_gb = per_gpu_gb * rest};
        part->node = fit_part(y, part, begin, end, idle);
        return part->node < end;
    }
    return true;
}

static void charge(dls_tir_yarn *y, const dls_tir_part *part, int sign, int64_t tenth_mb)
{
    dls_tiresias_node *node = &y->node[part->node];
    const int32_t all = y->k.gpus_per_node;
    y->busy_nodes -= node->free_gpus < all;
    y->full_nodes -= node->free_gpus == 0;
    node->free_gpus -= sign * part->gpus;
    node->free_cpus -= sign * part->cpus;
    node->free_mem_gb -= sign * part->mem_gb;
    node->net_tenth_mb += sign * tenth_mb;
    y->busy_nodes += node->free_gpus < all;
    y->full_nodes += node->free_gpus == 0;
    y->free_gpus -= sign * part->gpus;
    int32_t i = y->leaves + part->node;
    y->tree[i] = node->free_gpus;
    for (i /= 2; i >= 1; i /= 2) {
        const int32_t l = y->tree[2 * i], r = y->tree[2 * i + 1];
        y->tree[i] = l > r ? l : r;
    }
}

/* Traffic of a part: a worker exchanges the whole model, and as many parameter servers as workers
 * share the load of all workers evenly. Inside one node there is none. */
static int64_t traffic(const dls_tir_yarn *y, int32_t j, const dls_tir_part *part, int32_t parts)
{
    return parts > 1 ? 2 * part->gpus * y->model_tenth_mb[j] : 0;
}

static bool same_nodes(const dls_tir_part *a, const dls_tir_part *b, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        if (a[i].node != b[i].node) {
            return false;
        }
    }
    return true;
}

bool dls_tir_yarn_place(dls_tir_yarn *y, dls_tir *s, int32_t j)
{
    const int32_t g = s->job[j].gpus;
    const int32_t parts = parts_of(&y->k, g), per_switch = y->k.nodes_per_switch;
    bool fits = false;
    if (parts == 0 || g > y->free_gpus) {
        return false;
    }
    for (int32_t begin = 0; !fits && begin < y->n_nodes; begin += per_switch) {
        fits = find_in_switch(y, g, begin, begin + per_switch);
    }
    if (!fits) {
        return false;
    }
    dls_tir_part *mine = &y->part[y->first[j]];
    if (y->n_parts[j] == 0 || !same_nodes(mine, y->found, parts)) {
        dls_tir_yarn_leave(y, s, j);
        memcpy(mine, y->found, (size_t)parts * sizeof *mine);
        y->n_parts[j] = parts;
    }
    for (int32_t i = 0; i < parts; i++) {
        charge(y, &mine[i], 1, traffic(y, j, &mine[i], parts));
        y->node[mine[i].node].free_mask &= ~mine[i].mask;
    }
    return true;
}

static uint64_t lowest_bits(uint64_t mask, int32_t n)
{
    uint64_t rest = mask;
    for (int32_t i = 0; i < n; i++) {
        rest &= rest - 1;
    }
    return mask & ~rest;
}

dls_status dls_tir_yarn_seat(dls_tir_yarn *y, dls_tir *s, int32_t j, dls_error *err)
{
    for (int32_t i = 0; i < y->n_parts[j]; i++) {
        dls_tir_part *part = &y->part[y->first[j] + (size_t)i];
        if (part->seated) {
            continue;
        }
        dls_tiresias_node *node = &y->node[part->node];
        part->mask = lowest_bits(node->free_mask, part->gpus);
        part->row = SIZE_MAX;
        part->seated = true;
        node->free_mask &= ~part->mask;
        if (s->rec->want_allocs) {
            DLS_TRY(dls_record_alloc_row(s->rec, j, part->node, s->now_s * DLS_US_PER_S, part->mask,
                                         part->gpus, 1.0F, &part->row, err));
        }
    }
    return DLS_OK;
}

void dls_tir_yarn_leave(dls_tir_yarn *y, dls_tir *s, int32_t j)
{
    for (int32_t i = 0; i < y->n_parts[j]; i++) {
        const dls_tir_part *part = &y->part[y->first[j] + (size_t)i];
        if (part->seated && part->row != SIZE_MAX) {
            s->rec->allocs.end_us[part->row] = s->now_s * DLS_US_PER_S;
        }
    }
    y->n_parts[j] = 0;
}

void dls_tir_yarn_release(dls_tir_yarn *y, dls_tir *s, int32_t j)
{
    const int32_t parts = y->n_parts[j];
    for (int32_t i = 0; i < parts; i++) {
        const dls_tir_part *part = &y->part[y->first[j] + (size_t)i];
        charge(y, part, -1, traffic(y, j, part, parts));
        y->node[part->node].free_mask |= part->mask;
    }
    dls_tir_yarn_leave(y, s, j);
}
