/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Jobs into classes, which ask for the same, and classes into pools, which have a share of the cluster.
 */
#include "base/alloc.h"
#include "base/assert.h"
#include "base/rng.h"
#include "engine/engine.h"

#include <stdlib.h>
#include <string.h>

/* ---- classes ----------------------------------------------------------------------------------- */

static int64_t per_gpu(const int64_t *column, size_t job, int32_t gpus)
{
    const int64_t total = dls_trace_i64(column, job);
    return total > 0 ? (total + gpus - 1) / gpus : 0;
}

static bool same_class(const dls_class *a, const dls_class *b)
{
    return a->gpus == b->gpus && a->types == b->types && a->pool == b->pool &&
           a->cpu_milli == b->cpu_milli && a->mem_mib == b->mem_mib;
}

static uint64_t class_hash(const dls_class *c)
{
    uint64_t h = dls_mix64((uint64_t)c->gpus << 32 | c->types);
    h = dls_mix64(h ^ (uint64_t)c->pool);
    return dls_mix64(h ^ (uint64_t)c->cpu_milli ^ (uint64_t)c->mem_mib << 24);
}

typedef struct class_table {
    int32_t *slot; /* open addressing: class or -1 */
    size_t n_slots;
    size_t cap;    /* of select.cls */
} class_table;

static dls_status table_grow(dls_select *s, class_table *t, dls_error *err)
{
    const size_t n_slots = t->n_slots ? 2 * t->n_slots : 256;
    int32_t *slot;
    DLS_TRY(dls_alloc_array(&slot, n_slots, sizeof *slot, "job classes", err));
    memset(slot, 0xFF, n_slots * sizeof *slot);
    for (int32_t c = 0; c < s->n_classes; c++) {
        size_t i = class_hash(&s->cls[c]) & (n_slots - 1);
        while (slot[i] >= 0) {
            i = (i + 1) & (n_slots - 1);
        }
        slot[i] = c;
    }
    dls_free(t->slot);
    t->slot = slot;
    t->n_slots = n_slots;
    return DLS_OK;
}

static dls_status find_class(dls_select *s, class_table *t, const dls_class *c, int32_t *out,
                             dls_error *err)
{
    if (2 * (size_t)s->n_classes >= t->n_slots) {
        DLS_TRY(table_grow(s, t, err));
    }
    size_t i = class_hash(c) & (t->n_slots - 1);
    while (t->slot[i] >= 0 && !same_class(&s->cls[t->slot[i]], c)) {
        i = (i + 1) & (t->n_slots - 1);
    }
    if (t->slot[i] < 0) {
        DLS_TRY(dls_grow(&s->cls, &t->cap, (size_t)s->n_classes + 1, sizeof *s->cls, err));
        s->cls[s->n_classes] = *c;
        t->slot[i] = s->n_classes++;
    }
    *out = t->slot[i];
    return DLS_OK;
}

/* Order of the classes: by pool, then gang size; so pools own ranges and sizes count up. */
static int class_cmp(const dls_class *a, const dls_class *b)
{
    if (a->pool != b->pool) {
        return a->pool < b->pool ? -1 : 1;
    }
    if (a->gpus != b->gpus) {
        return a->gpus < b->gpus ? -1 : 1;
    }
    if (a->types != b->types) {
        return a->types < b->types ? -1 : 1;
    }
    if (a->cpu_milli != b->cpu_milli) {
        return a->cpu_milli < b->cpu_milli ? -1 : 1;
    }
    return a->mem_mib < b->mem_mib ? -1 : a->mem_mib > b->mem_mib;
}

static int class_ptr_cmp(const void *a, const void *b)
{
    return class_cmp(*(const dls_class *const *)a, *(const dls_class *const *)b);
}

/* Sort the classes and renumber the jobs. */
static dls_status sort_classes(dls_engine *e, dls_error *err)
{
    dls_select *s = &e->select;
    const size_t n = (size_t)s->n_classes;
    dls_class *sorted = dls_alloc((n + 1) * sizeof *sorted);
    const dls_class **ptr = dls_alloc((n + 1) * sizeof *ptr);
    int32_t *renumber = dls_alloc((n + 1) * sizeof *renumber);
    dls_status status = DLS_OK;
    if (sorted && ptr && renumber) {
        for (size_t i = 0; i < n; i++) {
            ptr[i] = &s->cls[i];
        }
        qsort(ptr, n, sizeof *ptr, class_ptr_cmp);
        for (size_t i = 0; i < n; i++) {
            sorted[i] = *ptr[i];
            renumber[ptr[i] - s->cls] = (int32_t)i;
        }
        for (int32_t j = 0; j < e->n; j++) {
            s->class_of[j] = renumber[s->class_of[j]];
        }
        dls_free(s->cls);
        s->cls = sorted;
    } else {
        dls_free(sorted);
        status = dls_nomem(err, "job classes", n * sizeof *sorted);
    }
    dls_free(ptr);
    dls_free(renumber);
    return status;
}

/* Which pool each virtual cluster of the trace belongs to. */
static int32_t *pools_of_vcs(const dls_engine *e)
{
    const dls_cluster_spec *spec = e->params->cluster;
    const size_t n = dls_trace_n_vcs(e->params->trace);
    int32_t *pool = dls_alloc((n + 1) * sizeof *pool);
    for (size_t v = 0; pool && v < n; v++) {
        pool[v] = spec->n_vcs; /* the rest */
        for (int32_t k = 0; k < spec->n_vcs; k++) {
            if (strcmp(spec->vcs[k].name, dls_trace_vc(e->params->trace, (int32_t)v)) == 0) {
                pool[v] = k;
            }
        }
    }
    return pool;
}

/* GPU types that the job allows and on which it can run. */
static uint32_t types_of(const dls_engine *e, int32_t job)
{
    const dls_sim_params *p = e->params;
    uint32_t types =
        dls_cluster_types(p->cluster, dls_trace_gpu_types(p->trace, e->col->gpu_types[job]));
    for (int32_t t = 0; p->pace && p->pace->fits && t < p->cluster->n_types; t++) {
        if (!p->pace->fits(p->pace->user, job, t)) {
            types &= ~(UINT32_C(1) << t);
        }
    }
    return types;
}

dls_status dls_classes_make(dls_engine *e, dls_error *err)
{
    const dls_sim_params *p = e->params;
    dls_select *s = &e->select;
    class_table table = {0};
    DLS_TRY(dls_alloc_array(&s->class_of, (size_t)e->n, sizeof *s->class_of, "job classes", err));
    int32_t *pool_of_vc = pools_of_vcs(e);
    dls_status status = pool_of_vc ? DLS_OK : dls_nomem(err, "virtual clusters", 0);
    const bool cpu = e->index->accounts_cpu && !p->placement->gpus_only;
    const bool mem = e->index->accounts_mem && !p->placement->gpus_only;
    for (int32_t j = 0; j < e->n && status == DLS_OK; j++) {
        const int32_t vc = e->col->vc[j], gpus = e->col->gpus[j];
        const int32_t least = p->elastic && e->walk.on ? p->elastic->min_gpus[j] : gpus;
        const dls_class c = {
            .gpus = least,
            .types = types_of(e, j),
            .cpu_milli = cpu ? per_gpu(e->col->cpu_milli, (size_t)j, gpus) : 0,
            .mem_mib = mem ? per_gpu(e->col->mem_mib, (size_t)j, gpus) : 0,
            .pool = p->sched->share ? gpus : vc >= 0 ? pool_of_vc[vc] : p->cluster->n_vcs,
            .waiting = DLS_ORDER_SET_EMPTY,
            .parked = DLS_ORDER_SET_EMPTY,
            .head = DLS_NONE,
            .refused_pass = UINT64_MAX,
            .refused_releases = UINT64_MAX,
        };
        status = find_class(s, &table, &c, &s->class_of[j], err);
    }
    dls_free(table.slot);
    dls_free(pool_of_vc);
    return status == DLS_OK ? sort_classes(e, err) : status;
}

/* ---- pools ------------------------------------------------------------------------------------- */

void dls_pools_divide(dls_engine *e, int32_t type, int64_t down)
{
    DLS_DEBUG_ASSERT(type >= 0 && type < e->select.n_types && down >= 0);
    const dls_cluster_spec *spec = e->params->cluster;
    dls_select *s = &e->select;
    int64_t rest = e->index->type[type].total_gpus;
    for (int32_t v = 0; v < spec->n_vcs; v++) {
        rest -= spec->vcs[v].quota_gpus[type];
    }
    const int64_t less = down < rest ? down : rest;
    rest -= less;
    down -= less;
    int32_t k = 0;
    for (int32_t v = 0; v < spec->n_vcs; v++) {
        const int64_t quota = spec->vcs[v].quota_gpus[type];
        const int64_t lost = down < quota ? down : quota;
        down -= lost;
        if (k < s->n_pools && s->pool[k].id == v) { /* else no job is of this virtual cluster */
            s->pool[k++].cap[type] = quota - lost;
        }
    }
    if (k < s->n_pools) {
        s->pool[k].cap[type] = rest;
    }
}

dls_status dls_pools_make(dls_engine *e, dls_error *err)
{
    dls_select *s = &e->select;
    int32_t n_pools = 0;
    s->most_sizes = 1;
    for (int32_t c = 0; c < s->n_classes; c++) {
        n_pools += c == 0 || s->cls[c].pool != s->cls[c - 1].pool;
    }
    DLS_TRY(dls_alloc_array(&s->pool, (size_t)n_pools, sizeof *s->pool, "pools", err));
    for (int32_t c = 0; c < s->n_classes; c++) {
        dls_class *cls = &s->cls[c];
        const int32_t id = cls->pool;
        if (c == 0 || id != s->pool[s->n_pools - 1].id) {
            s->pool[s->n_pools++] = (dls_pool){.first_class = c, .id = id};
        }
        dls_pool *pool = &s->pool[s->n_pools - 1];
        if (pool->n_classes == 0 || s->cls[c - 1].gpus != cls->gpus) {
            pool->n_sizes++;
        }
        pool->n_classes++;
        cls->size_idx = pool->n_sizes - 1;
    }
    for (int32_t k = 0; k < s->n_pools; k++) {
        dls_pool *pool = &s->pool[k];
        for (int32_t c = 0; c < pool->n_classes; c++) {
            s->cls[pool->first_class + c].pool = k;
        }
        pool->n_running_sets = s->ageing == DLS_AGE_SERVICE ? pool->n_sizes : 1;
        const size_t n_sets = (size_t)(pool->n_running_sets * s->n_types);
        pool->running = dls_alloc(n_sets * sizeof *pool->running);
        pool->last = dls_alloc(n_sets * sizeof *pool->last);
        const size_t n_first = (size_t)(2 * pool->n_classes * (s->by_type ? s->n_types : 1));
        pool->first = e->walk.on ? NULL : dls_alloc(n_first * sizeof *pool->first);
        if (!pool->running || !pool->last || (!pool->first && !e->walk.on)) {
            return dls_nomem(err, "pools", n_sets * sizeof *pool->running);
        }
        for (size_t i = 0; i < n_first && !e->walk.on; i++) {
            pool->first[i] = DLS_NONE;
        }
        pool->closed = DLS_NONE;
        for (size_t i = 0; i < n_sets; i++) {
            pool->running[i].root = pool->last[i] = DLS_NONE;
        }
        s->most_sizes = pool->n_sizes > s->most_sizes ? pool->n_sizes : s->most_sizes;
    }
    for (int32_t t = 0; t < s->n_types && !e->params->sched->share; t++) {
        dls_pools_divide(e, t, 0); /* else no pool has a share until the policy gives it */
    }
    return DLS_OK;
}
