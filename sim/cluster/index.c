/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Index of free GPUs: a bitmap of nodes and a tournament tree of racks for each number of free
 * GPUs, updated as GPUs of a node are taken or given back.
 */
#include "cluster/index.h"

#include "base/assert.h"
#include "base/guard.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- racks: a tree of maxima for every number of free GPUs ---------------------------------- */

/* One more node of the rack has so many free GPUs. */
static inline void rack_more(dls_place_index *x, int32_t type, int32_t free_gpus, int32_t rack)
{
    int32_t *tree = x->type[type].rack_tree[free_gpus];
    int32_t i = x->rack_leaves + rack;
    const int32_t have = ++tree[i];
    for (i /= 2; i >= 1 && tree[i] < have; i /= 2) {
        tree[i] = have;
    }
}

/* One less: its ancestors change as far as it alone had the most. */
static inline void rack_less(dls_place_index *x, int32_t type, int32_t free_gpus, int32_t rack)
{
    int32_t *tree = x->type[type].rack_tree[free_gpus];
    int32_t i = x->rack_leaves + rack;
    const int32_t had = tree[i]--;
    for (; i > 1 && tree[i / 2] == had && tree[i ^ 1] < had; i /= 2) {
        tree[i / 2] = had - 1;
    }
}

/* Put the node where its number of free GPUs says. */
static inline void file_node(dls_place_index *x, int32_t node)
{
    const dls_node *p = &x->node[node];
    dls_type_index *ti = &x->type[p->type];
    dls_bitmap_set(&ti->nodes[p->free], node);
    if (p->free > 0 && ti->nodes[p->free].count == 1) {
        ti->some |= UINT64_C(1) << (p->free - 1);
    }
    rack_more(x, p->type, p->free, p->rack);
}

/* Take it from there. */
static inline void unfile_node(dls_place_index *x, int32_t node)
{
    const dls_node *p = &x->node[node];
    dls_type_index *ti = &x->type[p->type];
    dls_bitmap_clear(&ti->nodes[p->free], node);
    if (p->free > 0 && ti->nodes[p->free].count == 0) {
        ti->some &= ~(UINT64_C(1) << (p->free - 1));
    }
    rack_less(x, p->type, p->free, p->rack);
}

/* ---- building ------------------------------------------------------------------------------- */

static dls_status init_type(dls_place_index *x, int32_t t, dls_error *err)
{
    dls_type_index *ti = &x->type[t];
    const size_t n = (size_t)ti->max_gpus + 1;
    DLS_TRY(DLS_ALLOC_ALL("placement index", err, DLS_ARRAY(ti->nodes, n),
                          DLS_ARRAY(ti->rack_tree, n), DLS_ARRAY(ti->sizes, n)));
    for (size_t f = 0; f < n; f++) {
        const size_t leaves = 2 * (size_t)x->rack_leaves;
        DLS_TRY(dls_bitmap_init(&ti->nodes[f], x->n_nodes, err));
        DLS_TRY(dls_alloc_array(&ti->rack_tree[f], leaves, sizeof **ti->rack_tree,
                                "placement index", err));
    }
    return DLS_OK;
}

static int32_t racks_of(const dls_node_group *g)
{
    return g->nodes_per_rack > 0 ? (g->nodes + g->nodes_per_rack - 1) / g->nodes_per_rack : 1;
}

static void add_group(dls_place_index *x, const dls_node_group *g, int32_t *node, int32_t *rack)
{
    const int32_t per_rack = g->nodes_per_rack > 0 ? g->nodes_per_rack : g->nodes;
    const int32_t first = *node;
    for (int32_t i = 0; i < g->nodes; i++) {
        const int32_t r = *rack + i / per_rack;
        x->node[first + i] = (dls_node){
            .free_mask =
                g->gpus_per_node == 64 ? UINT64_MAX : (UINT64_C(1) << g->gpus_per_node) - 1,
            .free_cpu_milli = (int64_t)(g->cpus_per_node * 1000 + 0.5),
            .free_mem_mib = (int64_t)(g->mem_gib_per_node * 1024 + 0.5),
            .rack = r,
            .type = (int16_t)g->type,
            .capacity = (int8_t)g->gpus_per_node,
            .free = (int8_t)g->gpus_per_node,
        };
        if (i % per_rack == 0) {
            x->rack[r].first = first + i;
            x->rack[r].nic_bps = g->nic_bps;
            x->rack[r].domain_gpus = g->domain_gpus;
        }
        x->rack[r].end = first + i + 1;
    }
    *node += g->nodes;
    *rack += racks_of(g);
    dls_type_index *ti = &x->type[g->type];
    const int64_t gpus = (int64_t)g->nodes * g->gpus_per_node;
    ti->total_gpus += gpus;
    ti->free_gpus += gpus;
    ti->sizes[g->gpus_per_node] += g->nodes;
    x->total_gpus += gpus;
    x->free_gpus += gpus;
}

static dls_status build(dls_place_index *x, const dls_cluster_spec *spec, dls_error *err)
{
    int32_t node = 0, rack = 0;
    x->n_types = spec->n_types;
    for (int32_t i = 0; i < spec->n_groups; i++) {
        const dls_node_group *g = &spec->groups[i];
        dls_type_index *ti = &x->type[g->type];
        x->n_nodes += g->nodes;
        x->n_racks += racks_of(g);
        x->has_domains = x->has_domains || g->domain_gpus > 0;
        ti->max_gpus = g->gpus_per_node > ti->max_gpus ? g->gpus_per_node : ti->max_gpus;
        /* A resource is accounted when every node declares it: a group that is silent about its
         * memory does not have none. */
        x->accounts_cpu = (i == 0 || x->accounts_cpu) && g->cpus_per_node > 0;
        x->accounts_mem = (i == 0 || x->accounts_mem) && g->mem_gib_per_node > 0;
    }
    for (x->rack_leaves = 1; x->rack_leaves < x->n_racks; x->rack_leaves *= 2) {
    }
    DLS_TRY(dls_alloc_array(&x->node, (size_t)x->n_nodes, sizeof *x->node, "placement index", err));
    DLS_TRY(dls_alloc_array(&x->rack, (size_t)x->n_racks, sizeof *x->rack, "placement index", err));
    x->paths = dls_cluster_uplinks(spec);
    x->uplink_bps = spec->rack_uplink_bps * x->paths;
    for (int32_t t = 0; t < x->n_types; t++) {
        x->type[t].gpu_mem_bytes = spec->types[t].mem_gib * 0x1p30;
        x->type[t].gpu_flops = spec->types[t].fp32_flops;
        DLS_TRY(init_type(x, t, err));
    }
    for (int32_t i = 0; i < spec->n_groups; i++) {
        add_group(x, &spec->groups[i], &node, &rack);
    }
    for (int32_t i = 0; i < x->n_nodes; i++) {
        file_node(x, i);
    }
    return DLS_OK;
}

dls_status dls_place_index_create(const dls_cluster_spec *spec, dls_place_index **out,
                                  dls_error *err)
{
    DLS_HOLD(dls_place_index_destroy) dls_place_index *x = NULL;
    DLS_TRY(dls_alloc_array(&x, 1, sizeof *x, "placement index", err));
    x->fault = &x->first_fault;
    DLS_TRY(build(x, spec, err));
    *out = dls_take(&x);
    return DLS_OK;
}

dls_status dls_place_index_copy(const dls_place_index *from, const dls_cluster_spec *spec,
                                dls_place_index **out, dls_error *err)
{
    DLS_TRY(dls_place_index_create(spec, out, err));
    dls_place_index *x = *out;
    memcpy(x->node, from->node, (size_t)x->n_nodes * sizeof *x->node);
    for (int32_t t = 0; t < x->n_types; t++) {
        dls_type_index *ti = &x->type[t];
        const dls_type_index *of = &from->type[t];
        ti->free_gpus = of->free_gpus;
        ti->changes = of->changes;
        ti->some = of->some;
        for (int32_t f = 0; f <= ti->max_gpus; f++) {
            dls_bitmap_assign(&ti->nodes[f], &of->nodes[f]);
            memcpy(ti->rack_tree[f], of->rack_tree[f],
                   2 * (size_t)x->rack_leaves * sizeof **ti->rack_tree);
        }
    }
    x->free_gpus = from->free_gpus;
    x->busy_nodes = from->busy_nodes;
    x->full_nodes = from->full_nodes;
    x->first_fault = from->first_fault;
    DLS_TRY(dls_rooms_copy(x, from, err));
    return from->parts ? dls_parts_copy(x, from, err) : DLS_OK;
}

void dls_place_index_destroy(dls_place_index *index)
{
    if (!index) {
        return;
    }
    for (int32_t t = 0; t < index->n_types; t++) {
        dls_type_index *ti = &index->type[t];
        for (int32_t f = 0; f <= ti->max_gpus; f++) {
            if (ti->nodes) {
                dls_bitmap_fini(&ti->nodes[f]);
            }
            if (ti->rack_tree) {
                dls_free(ti->rack_tree[f]);
            }
        }
        DLS_FREE_ALL(ti->nodes, ti->rack_tree, ti->sizes);
    }
    dls_parts_destroy(index->parts);
    dls_rooms_destroy(index->rooms);
    DLS_FREE_ALL(index->node, index->rack, index);
}

/* ---- taking and giving ---------------------------------------------------------------------- */

void dls_place_change(dls_place_index *x, int32_t node, uint64_t free_mask, int32_t free, int64_t cpu_milli,
                      int64_t mem_mib)
{
    dls_node *p = &x->node[node];
    dls_rooms *rooms = x->rooms;
    dls_node_change *noted = rooms ? &rooms->change[rooms->n++ & rooms->mask] : NULL;
    const int32_t old = p->free;
    if (noted) {
        noted->before = *p;
    }
    p->free_mask = free_mask;
    p->free_cpu_milli -= cpu_milli;
    p->free_mem_mib -= mem_mib;
    x->type[p->type].changes++;
    if (free != old) {
        unfile_node(x, node);
        p->free = (int8_t)free;
        file_node(x, node);
        x->free_gpus += free - old;
        x->type[p->type].free_gpus += free - old;
        x->busy_nodes += (free < p->capacity) - (old < p->capacity);
        x->full_nodes += (free == 0) - (old == 0);
    }
    if (noted) {
        noted->after = *p;
    }
}

uint64_t dls_place_take(dls_place_index *index, int32_t node, int32_t gpus, int64_t cpu_milli,
                        int64_t mem_mib)
{
    DLS_DEBUG_ASSERT(node >= 0 && node < index->n_nodes);
    DLS_DEBUG_ASSERT(gpus > 0 && gpus <= index->node[node].free);
    const dls_node *p = &index->node[node];
    const int32_t domain = index->has_domains ? index->rack[p->rack].domain_gpus : 0;
    const uint64_t taken =
        domain > 0 ? dls_by_domain(p->free_mask, gpus, domain) : dls_lowest(p->free_mask, gpus);
    dls_place_change(index, node, p->free_mask & ~taken, p->free - gpus, cpu_milli, mem_mib);
    return taken;
}

bool dls_place_retake(dls_place_index *index, int32_t node, uint64_t mask, int64_t cpu_milli,
                      int64_t mem_mib)
{
    DLS_DEBUG_ASSERT(node >= 0 && node < index->n_nodes && mask != 0);
    const dls_node *p = &index->node[node];
    if ((p->free_mask & mask) != mask || p->free_cpu_milli < cpu_milli ||
        p->free_mem_mib < mem_mib) {
        return false;
    }
    dls_place_change(index, node, p->free_mask & ~mask, p->free - dls_gpus_of(mask), cpu_milli, mem_mib);
    return true;
}

void dls_place_give(dls_place_index *index, int32_t node, uint64_t mask, int64_t cpu_milli,
                    int64_t mem_mib)
{
    DLS_DEBUG_ASSERT(node >= 0 && node < index->n_nodes && mask != 0);
    DLS_DEBUG_ASSERT((index->node[node].free_mask & mask) == 0);
    const dls_node *p = &index->node[node];
    dls_place_change(index, node, p->free_mask | mask, p->free + dls_gpus_of(mask), -cpu_milli, -mem_mib);
}

/* ---- queries -------------------------------------------------------------------------------- */

void dls_fault_note(dls_fault *fault, const char *query, int64_t asked, int64_t n)
{
    if (!fault->query) {
        *fault = (dls_fault){.query = query, .asked = asked, .n = n, .who = fault->who};
    }
}

void dls_policy_fail(const dls_place_index *index, const char *fmt, ...)
{
    if (!index->fault->query) {
        DLS_IN_C_LOCALE;
        va_list ap;
        va_start(ap, fmt);
        vsnprintf(index->fault->said, sizeof index->fault->said, fmt, ap);
        va_end(ap);
        index->fault->query = __func__;
    }
}

static inline bool is_node(const dls_place_index *x, const char *query, int32_t node)
{
    return dls_fault_check(x->fault, query, node, x->n_nodes);
}

static inline bool is_rack(const dls_place_index *x, const char *query, int32_t rack)
{
    return dls_fault_check(x->fault, query, rack, x->n_racks);
}

static inline bool is_type(const dls_place_index *x, const char *query, int32_t type)
{
    return dls_fault_check(x->fault, query, type, x->n_types);
}

int32_t dls_place_nodes(const dls_place_index *index)
{
    return index->n_nodes;
}

int32_t dls_place_racks(const dls_place_index *index)
{
    return index->n_racks;
}

int32_t dls_place_types(const dls_place_index *index)
{
    return index->n_types;
}

int32_t dls_place_type(const dls_place_index *index, int32_t node)
{
    return is_node(index, __func__, node) ? index->node[node].type : 0;
}

int32_t dls_place_busy_nodes(const dls_place_index *index)
{
    return index->busy_nodes;
}

uint64_t dls_place_changes(const dls_place_index *index, int32_t type)
{
    return is_type(index, __func__, type) ? index->type[type].changes : 0;
}

int32_t dls_place_capacity(const dls_place_index *index, int32_t node)
{
    return is_node(index, __func__, node) ? index->node[node].capacity : 0;
}

int32_t dls_place_free(const dls_place_index *index, int32_t node)
{
    return is_node(index, __func__, node) ? index->node[node].free : 0;
}

uint64_t dls_place_free_mask(const dls_place_index *index, int32_t node)
{
    return is_node(index, __func__, node) ? index->node[node].free_mask : 0;
}

int32_t dls_place_rack(const dls_place_index *index, int32_t node)
{
    return is_node(index, __func__, node) ? index->node[node].rack : 0;
}

void dls_place_rack_range(const dls_place_index *index, int32_t rack, int32_t *first, int32_t *end)
{
    const bool there = is_rack(index, __func__, rack);
    *first = there ? index->rack[rack].first : 0;
    *end = there ? index->rack[rack].end : 0;
}

int32_t dls_place_max_gpus(const dls_place_index *index, int32_t type)
{
    return is_type(index, __func__, type) ? index->type[type].max_gpus : 0;
}

int64_t dls_place_free_gpus(const dls_place_index *index, int32_t type)
{
    return is_type(index, __func__, type) ? index->type[type].free_gpus : 0;
}

double dls_place_nic_bps(const dls_place_index *index, int32_t node)
{
    return is_node(index, __func__, node) ? index->rack[index->node[node].rack].nic_bps : 0;
}

int32_t dls_place_paths(const dls_place_index *index)
{
    return index->paths;
}

double dls_place_uplink_bps(const dls_place_index *index, int32_t rack)
{
    return is_rack(index, __func__, rack) ? index->uplink_bps : 0; /* one value for all so far */
}

int64_t dls_place_free_cpu(const dls_place_index *index, int32_t node)
{
    return index->accounts_cpu && is_node(index, __func__, node) ? index->node[node].free_cpu_milli
                                                                 : 0;
}

int64_t dls_place_free_mem(const dls_place_index *index, int32_t node)
{
    return index->accounts_mem && is_node(index, __func__, node) ? index->node[node].free_mem_mib
                                                                 : 0;
}

double dls_place_gpu_flops(const dls_place_index *index, int32_t type)
{
    return is_type(index, __func__, type) ? index->type[type].gpu_flops : 0;
}

double dls_place_gpu_mem_bytes(const dls_place_index *index, int32_t type)
{
    return is_type(index, __func__, type) ? index->type[type].gpu_mem_bytes : 0;
}

/* The type if its nodes can have so many GPUs; NULL. */
static inline const dls_type_index *type_with(const dls_place_index *x, const char *query,
                                              int32_t type, int32_t gpus)
{
    return is_type(x, query, type) && gpus >= 0 && gpus <= x->type[type].max_gpus ? &x->type[type]
                                                                                  : NULL;
}

int32_t dls_place_count(const dls_place_index *index, int32_t type, int32_t free_gpus)
{
    const dls_type_index *ti = type_with(index, __func__, type, free_gpus);
    return ti ? ti->nodes[free_gpus].count : 0;
}

int32_t dls_place_sizes(const dls_place_index *index, int32_t type, int32_t gpus)
{
    const dls_type_index *ti = type_with(index, __func__, type, gpus);
    return ti ? ti->sizes[gpus] : 0;
}

int32_t dls_place_cpu_limit(const dls_place_index *index, const dls_request *r, int32_t node)
{
    return is_node(index, __func__, node) ? dls_node_limit(&index->node[node], r) : 0;
}

/* Lowest node >= from with exactly f free GPUs that has the CPU and memory for `min` of them. */
static int32_t next_with(const dls_place_index *x, const dls_request *r, int32_t f, int32_t min,
                         int32_t from)
{
    const dls_bitmap *members = &x->type[r->type].nodes[f];
    int32_t node = dls_bitmap_next(members, from);
    if (r->cpu_milli_per_gpu > 0 || r->mem_mib_per_gpu > 0) {
        while (node >= 0 && dls_node_limit(&x->node[node], r) < min) {
            node = dls_bitmap_next(members, node + 1);
        }
    }
    return node;
}

int32_t dls_place_first(const dls_place_index *index, const dls_request *r, int32_t min,
                        int32_t max, int32_t from)
{
    const int32_t most = is_type(index, __func__, r->type) ? index->type[r->type].max_gpus : -1;
    int32_t best = -1;
    for (int32_t f = min > 0 ? min : 0; f <= (max < most ? max : most); f++) {
        const int32_t node = next_with(index, r, f, min, from);
        if (node >= 0 && (best < 0 || node < best)) {
            best = node;
        }
    }
    return best;
}

int32_t dls_place_best(const dls_place_index *index, const dls_request *r, int32_t min)
{
    const int32_t most = is_type(index, __func__, r->type) ? index->type[r->type].max_gpus : -1;
    for (int32_t f = min > 0 ? min : 0; f <= most; f++) {
        if (f > 0) { /* not one by one: numbers that some node has */
            const uint64_t some = index->type[r->type].some >> (f - 1);
            if (some == 0) {
                break;
            }
            f += __builtin_ctzll(some);
        }
        const int32_t node = next_with(index, r, f, min, 0);
        if (node >= 0) {
            return node;
        }
    }
    return -1;
}

int32_t dls_place_first_rack(const dls_place_index *index, int32_t type, int32_t free_gpus,
                             int32_t nodes, int32_t from)
{
    const dls_type_index *ti = type_with(index, __func__, type, free_gpus);
    if (!ti || from >= index->n_racks) {
        return -1;
    }
    const int32_t *tree = ti->rack_tree[free_gpus];
    int32_t i = index->rack_leaves + (from < 0 ? 0 : from);
    if (tree[i] < nodes) {
        /* Up, until a right-hand neighbour has what is asked for; then down to its first leaf. */
        for (;;) {
            while (i & 1) {
                i /= 2;
            }
            if (i == 0) {
                return -1;
            }
            i++;
            if (tree[i] >= nodes) {
                break;
            }
        }
        while (i < index->rack_leaves) {
            i = tree[2 * i] >= nodes ? 2 * i : 2 * i + 1;
        }
    }
    const int32_t rack = i - index->rack_leaves;
    return rack < index->n_racks ? rack : -1;
}

int32_t dls_place_fullest_rack(const dls_place_index *index, int32_t type, int32_t free_gpus,
                               int32_t *nodes)
{
    const dls_type_index *ti = type_with(index, __func__, type, free_gpus);
    if (!ti || ti->rack_tree[free_gpus][1] == 0) {
        *nodes = 0;
        return -1;
    }
    *nodes = ti->rack_tree[free_gpus][1];
    return dls_place_first_rack(index, type, free_gpus, *nodes, 0);
}

/* ---- audit ---------------------------------------------------------------------------------- */

dls_status dls_place_index_check(const dls_place_index *index, dls_error *err)
{
    int64_t free_gpus = 0;
    int32_t busy = 0, full = 0;
    for (int32_t i = 0; i < index->n_nodes; i++) {
        const dls_node *p = &index->node[i];
        const dls_type_index *ti = &index->type[p->type];
        if (__builtin_popcountll(p->free_mask) != p->free) {
            return dls_fail(err, DLS_ERUN, NULL, "node %d: mask and count differ", i);
        }
        for (int32_t f = 0; f <= ti->max_gpus; f++) {
            const bool some = f == 0 || (ti->some >> (f - 1) & 1) == (ti->nodes[f].count > 0);
            if (!some || (dls_bitmap_next(&ti->nodes[f], i) == i) != (f == p->free)) {
                return dls_fail(err, DLS_ERUN, NULL, "node %d is not filed under %d free", i,
                                p->free);
            }
        }
        if (p->free_cpu_milli < 0 || p->free_mem_mib < 0) {
            return dls_fail(err, DLS_ERUN, NULL, "node %d: more CPU or memory taken than it has",
                            i);
        }
        free_gpus += p->free;
        busy += p->free < p->capacity;
        full += p->free == 0;
    }
    if (free_gpus != index->free_gpus || busy != index->busy_nodes || full != index->full_nodes) {
        return dls_fail(err, DLS_ERUN, NULL, "totals of the index differ from its nodes");
    }
    DLS_TRY(dls_parts_check(index, err));
    DLS_TRY(dls_rooms_check(index, err));
    for (int32_t t = 0; t < index->n_types; t++) {
        for (int32_t f = 0; f <= index->type[t].max_gpus; f++) {
            for (int32_t r = 0; r < index->n_racks; r++) {
                int32_t have = 0;
                for (int32_t i = index->rack[r].first; i < index->rack[r].end; i++) {
                    have += index->node[i].type == t && index->node[i].free == f;
                }
                if (index->type[t].rack_tree[f][index->rack_leaves + r] != have) {
                    return dls_fail(err, DLS_ERUN, NULL, "rack %d: wrong count of %d free", r, f);
                }
            }
        }
    }
    return DLS_OK;
}
