/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Jobs into classes, which ask for the same, and classes into pools, which have a share of the
 * cluster.
 */
#include "base/alloc.h"
#include "base/assert.h"
#include "base/own.h"
#include "base/strdict.h"
#include "engine/engine.h"
#include "engine/select_impl.h"

#include <stdlib.h>
#include <string.h>

/* ---- classes -----------------------------------------------------------------------------------
 */

static int64_t per_gpu(const int64_t *column, size_t job, int32_t gpus)
{
    const int64_t total = dls_trace_i64(column, job);
    return total > 0 ? (total + gpus - 1) / gpus : 0;
}

/* Order of the classes: by pool, then size; so pools own ranges and sizes count up. */
DLS_BY(class_cmp, dls_class, DLS_UP(pool), DLS_UP(weight), DLS_UP(types), DLS_UP(cpu_milli),
       DLS_UP(mem_mib));

/* Sort the classes and renumber the jobs. */
static dls_status sort_classes(dls_engine *e, dls_error *err)
{
    dls_select *s = &e->select;
    int32_t *renumber;
    DLS_TRY(dls_alloc_array(&renumber, (size_t)s->n_classes, sizeof *renumber, "job classes", err));
    for (int32_t c = 0; c < s->n_classes; c++) {
        s->cls[c].size_idx = c; /* until pools are made */
    }
    if (s->n_classes > 0) {
        qsort(s->cls, (size_t)s->n_classes, sizeof *s->cls, class_cmp);
    }
    for (int32_t c = 0; c < s->n_classes; c++) {
        renumber[s->cls[c].size_idx] = c;
    }
    for (int32_t j = 0; j < e->n; j++) {
        s->job[j].cls = renumber[s->job[j].cls];
    }
    dls_free(renumber);
    return DLS_OK;
}

/* Which pool each virtual cluster of the trace belongs to. */
static dls_status pools_of_vcs(const dls_engine *e, int32_t **out, dls_error *err)
{
    const dls_cluster_spec *spec = e->params->cluster;
    const size_t n = dls_trace_n_vcs(e->params->trace);
    DLS_OWN(dls_strdict_fini) dls_strdict quotas = {0}; /* no name is there twice, so codes are their numbers */
    DLS_TRY(dls_alloc_array(out, n + 1, sizeof **out, "virtual clusters", err));
    for (int32_t k = 0; k < spec->n_vcs; k++) {
        int32_t code;
        DLS_TRY(dls_strdict_put(&quotas, spec->vcs[k].name, strlen(spec->vcs[k].name), &code, err));
        DLS_DEBUG_ASSERT(code == k);
    }
    for (size_t v = 0; v < n; v++) {
        const char *name = dls_trace_vc(e->params->trace, (int32_t)v);
        const int32_t k = dls_strdict_find(&quotas, name, strlen(name));
        (*out)[v] = k >= 0 ? k : spec->n_vcs; /* the rest */
    }
    return DLS_OK;
}

/* GPU types that the job allows and on which it can run. */
static uint32_t types_of(const dls_engine *e, int32_t job)
{
    const dls_sim_params *p = e->params;
    uint32_t types =
        dls_cluster_types(p->cluster, dls_trace_gpu_types(p->trace, e->col->gpu_types[job]));
    for (int32_t t = 0; p->pace && p->pace->fits && t < p->cluster->n_types; t++) {
        if (!p->pace->fits(p->pace->world, job, t)) {
            types &= ~(UINT32_C(1) << t);
        }
    }
    return types;
}

/* What makes a class. */
typedef struct class_key {
    int64_t cpu_milli, mem_mib;
    int32_t gpus, weight, pool, unused;
    uint64_t types;
} class_key;

/* Only of jobs that keep to one GPU. */
static int32_t weight_of(const dls_engine *e, int32_t job, int32_t gpus)
{
    const dls_elastic *elastic = e->params->elastic;
    return !e->index->parts || !e->col->gpus_milli || gpus > 1 || (elastic && elastic->max_gpus[job] > 1)
               ? gpus * e->select.unit
               : dls_parts_size(e->index->parts->owner != NULL, e->col->gpus_milli[job]);
}

static class_key key_of(const dls_engine *e, int32_t job, const int32_t *pool_of_vc)
{
    const dls_sim_params *p = e->params;
    const int32_t vc = e->col->vc[job], gpus = e->col->gpus[job];
    const bool side = !p->placement->gpus_only;
    const int32_t least = dls_least_gpus(e, job);
    return (class_key){
        .gpus = least,
        .weight = weight_of(e, job, least),
        .types = types_of(e, job),
        .cpu_milli =
            side && e->index->accounts_cpu ? per_gpu(e->col->cpu_milli, (size_t)job, gpus) : 0,
        .mem_mib = side && e->index->accounts_mem ? per_gpu(e->col->mem_mib, (size_t)job, gpus) : 0,
        .pool = p->sched->share ? gpus
                : vc >= 0       ? pool_of_vc[vc]
                                : p->cluster->n_vcs,
    };
}

/* Whether two jobs ask for the same, so far as the trace tells: then they are of one class. */
static bool ask_alike(const dls_engine *e, int32_t a, int32_t b)
{
    const dls_trace_columns *col = e->col;
    const dls_elastic *elastic = e->params->elastic;
    return col->gpus[a] == col->gpus[b] && col->vc[a] == col->vc[b] &&
           col->gpu_types[a] == col->gpu_types[b] &&
           dls_trace_i64(col->cpu_milli, (size_t)a) == dls_trace_i64(col->cpu_milli, (size_t)b) &&
           dls_trace_i64(col->mem_mib, (size_t)a) == dls_trace_i64(col->mem_mib, (size_t)b) &&
           (!col->gpus_milli || col->gpus_milli[a] == col->gpus_milli[b]) &&
           (!elastic || (elastic->min_gpus[a] == elastic->min_gpus[b] &&
                         elastic->max_gpus[a] == elastic->max_gpus[b]));
}

enum { KNOWN = 256 }; /* jobs that the next ones may be like */

static dls_status find_classes(dls_engine *e, dls_strdict *keys, const int32_t *pool_of_vc,
                               dls_error *err)
{
    dls_select *s = &e->select;
    const bool by_job = e->params->pace && e->params->pace->fits;
    int32_t known[KNOWN];
    size_t cap = 0;
    memset(known, 0xff, sizeof known);
    for (int32_t j = 0; j < e->n; j++) {
        const uint32_t hash = (uint32_t)e->col->gpus[j] * 16 + (uint32_t)e->col->vc[j];
        int32_t *like = &known[hash % KNOWN];
        s->job[j] = (dls_job){.parts = -1, .type = -1};
        if (*like >= 0 && !by_job && ask_alike(e, j, *like)) {
            s->job[j].cls = s->job[*like].cls;
            continue;
        }
        *like = j;
        const class_key key = key_of(e, j, pool_of_vc);
        DLS_TRY(dls_strdict_put(keys, (const char *)&key, sizeof key, &s->job[j].cls, err));
        if (s->job[j].cls < s->n_classes) {
            continue;
        }
        DLS_TRY(dls_grow(&s->cls, &cap, (size_t)s->n_classes + 1, sizeof *s->cls, err));
        s->cls[s->n_classes++] = (dls_class){
            .gpus = key.gpus,
            .weight = key.weight,
            .types = (uint32_t)key.types,
            .cpu_milli = key.cpu_milli,
            .mem_mib = key.mem_mib,
            .pool = key.pool,
            .waiting = dls_line_empty(s, false),
            .parked = DLS_ORDER_SET_EMPTY,
            .head = DLS_NONE,
            .refused_pass = UINT64_MAX,
            .refused_releases = UINT64_MAX,
        };
    }
    return DLS_OK;
}

dls_status dls_classes_make(dls_engine *e, dls_error *err)
{
    dls_select *s = &e->select;
    DLS_OWN(dls_strdict_fini) dls_strdict keys = {0};
    DLS_FREED int32_t *pool_of_vc = NULL;
    const size_t bytes = (size_t)e->n * sizeof *e->job;
    s->job = e->job = dls_alloc_aligned(bytes);
    if (!e->job) {
        return dls_nomem(err, "jobs", bytes);
    }
    DLS_TRY(pools_of_vcs(e, &pool_of_vc, err));
    DLS_TRY(find_classes(e, &keys, pool_of_vc, err));
    return sort_classes(e, err);
}

/* ---- pools -------------------------------------------------------------------------------------
 */

/* GPUs that jobs of a pool have on nodes that drain. O(jobs there). */
static int64_t held_on_drains(const dls_engine *e, int32_t type, int32_t pool)
{
    const dls_failure_state *f = &e->failures;
    int64_t gpus = 0;
    for (int32_t i = 0; i < f->n_drains; i++) {
        const int32_t node = f->drains[i];
        int32_t p = e->index->node[node].type == type ? f->on_node[node] : DLS_NONE;
        for (; p != DLS_NONE; p = f->link[p].next) {
            const int32_t job = f->link[p].job;
            const bool counts = e->select.cls[e->job[job].cls].pool == pool && !dls_is_guest(e, job);
            gpus += counts ? __builtin_popcountll(e->hold.part[p].mask & ~f->kept[node]) : 0;
        }
    }
    return gpus;
}

/* While spares stand in for nodes that drain, a pool may have as much more as its jobs have on these, within its quota:
 * so when they leave, it has what is its share. */
static void add_excess(dls_engine *e, int32_t type, int64_t excess)
{
    dls_select *s = &e->select;
    const dls_cluster_spec *spec = e->params->cluster;
    for (int32_t k = 0; k < s->n_pools && excess > 0; k++) {
        dls_pool *pool = &s->pool[k];
        const int64_t held = held_on_drains(e, type, k) * s->unit;
        const int64_t room =
            pool->id < spec->n_vcs ? (int64_t)spec->vcs[pool->id].quota_gpus[type] * s->unit - pool->cap[type] : held;
        const int64_t wants = held < room ? held : room, more = wants < excess ? wants : excess;
        pool->cap[type] += more;
        excess -= more;
    }
}

void dls_pools_divide(dls_engine *e, int32_t type, int64_t down)
{
    DLS_DEBUG_ASSERT(type >= 0 && type < e->select.n_types && down >= 0);
    const dls_cluster_spec *spec = e->params->cluster;
    dls_select *s = &e->select;
    const int32_t unit = s->unit;
    int64_t rest = e->index->type[type].total_gpus * unit;
    const int64_t excess = dls_spares_excess(e, type) * unit;
    down = down * unit + e->serving.part[type] + excess;
    const bool sound = down == e->failures.spare_gpus[type] * unit + e->serving.least[type];
    for (int32_t v = 0; v < spec->n_vcs; v++) {
        rest -= (int64_t)spec->vcs[v].quota_gpus[type] * unit;
    }
    const int64_t less = down < rest ? down : rest;
    rest -= less;
    down -= less;
    int32_t k = 0;
    for (int32_t v = 0; v < spec->n_vcs; v++) {
        const int64_t quota = (int64_t)spec->vcs[v].quota_gpus[type] * unit;
        const int64_t lost = down < quota ? down : quota;
        down -= lost;
        if (k < s->n_pools && s->pool[k].id == v) { /* else no job is of this virtual cluster */
            s->pool[k++].cap[type] = quota - lost;
        }
    }
    if (k < s->n_pools) {
        s->pool[k].cap[type] = rest;
    }
    for (k = 0; k < s->n_pools && sound; k++) {
        s->pool[k].most[type] = s->pool[k].cap[type];
    }
    add_excess(e, type, excess);
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
    DLS_TRY(dls_bitmap_init(&s->dirty, n_pools, err));
    s->listed = DLS_NONE;
    for (int32_t c = 0; c < s->n_classes; c++) {
        dls_class *cls = &s->cls[c];
        const int32_t id = cls->pool;
        if (c == 0 || id != s->pool[s->n_pools - 1].id) {
            s->pool[s->n_pools++] = (dls_pool){.first_class = c, .id = id};
        }
        dls_pool *pool = &s->pool[s->n_pools - 1];
        if (pool->n_classes == 0 || s->cls[c - 1].weight != cls->weight) {
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
            pool->running[i] = dls_line_empty(s, true);
            pool->last[i] = DLS_NONE;
        }
        s->most_sizes = pool->n_sizes > s->most_sizes ? pool->n_sizes : s->most_sizes;
    }
    for (int32_t t = 0; t < s->n_types && !e->params->sched->share; t++) {
        dls_pools_divide(e, t, 0); /* else no pool has a share until the policy gives it */
    }
    return DLS_OK;
}
