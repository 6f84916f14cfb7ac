/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Muri-S, Muri-L and its ablations in Muri's simulator: up to four jobs of as many GPUs each share
 * these, in groups formed anew at every event.
 *
 *      list by key -> candidates -> merged in pairs by matching -> apart again where it does not pay
 *                  -> groups by key -> who fits runs
 *
 * Jobs of as many GPUs are a class; groups of a class lie together in one array.
 */
#include "muri/core.h"

#include "base/alloc.h"
#include "sched/group_memo.h"
#include "sched/matching.h"

#include <math.h>
#include <string.h>

enum { MOST = DLS_STAGES_JOBS };

typedef struct group {
    int32_t job[MOST], n;
    dls_group_id id;
    double key;
    bool placed;
} group;

typedef struct class
{
    int32_t gpus;
    int32_t *job, n; /* of the list, in its order */
    int32_t marked;  /* the first are candidates */
    group *group;
    int32_t n_groups;
} class;

typedef struct packing {
    class *class; /* [n_classes] */
    int32_t n_classes;
    int32_t *order, n_order; /* classes by first appearance in the list */
    int32_t *class_of;       /* [jobs] */
    int32_t *jobs;           /* room of the classes */
    group *groups, *spare;
    double *key;    /* [jobs] */
    double *weight; /* [weights] of a class's graph */
    size_t weights;
    int32_t *mate, *by_key;
    bool *marked;
    dls_matching *matching;
    dls_group_memo memo, best; /* best: in the best order, if the other is in the worst */
    dls_stages *profile;       /* [n_profiles] */
} packing;

/* ---- grouping -------------------------------------------------------------------------------- */

/* On the testbed without the price of sharing. */
static dls_status fill_weights(dls_muri *m, const class *c, dls_error *err)
{
    packing *p = m->state;
    const size_t n = (size_t)c->n_groups;
    DLS_TRY(dls_grow(&p->weight, &p->weights, n * n, sizeof *p->weight, err));
    for (size_t u = 0; u < n; u++) {
        for (size_t v = 0; v < n; v++) {
            const dls_group_time *time;
            double *w = &p->weight[u * n + v];
            *w = 0;
            if (u != v && c->group[u].n + c->group[v].n <= m->group_max) {
                DLS_TRY(dls_group_memo_find(
                    &p->memo, dls_group_join(c->group[u].id, c->group[v].id, c->group[v].n), &time,
                    err));
                const int32_t k = c->group[u].n + c->group[v].n;
                *w = m->testbed ? time->weight * dls_stages_overhead[k] : time->weight;
            }
        }
    }
    return DLS_OK;
}

/* Pairs become groups while the demand is too much; the others of a pair stand side by side. */
static void merge(packing *p, class *c, int64_t capacity, int64_t *demand)
{
    int32_t n = 0;
    for (int32_t u = 0; u < c->n_groups; u++) {
        const int32_t v = p->mate[u];
        if (v > u) {
            continue; /* listed with the other */
        }
        p->spare[n] = c->group[v < 0 ? u : v];
        if (v >= 0 && *demand > capacity) {
            group *g = &p->spare[n];
            memcpy(g->job + g->n, c->group[u].job, (size_t)c->group[u].n * sizeof *g->job);
            g->id = dls_group_join(g->id, c->group[u].id, c->group[u].n);
            g->n += c->group[u].n;
            *demand -= c->gpus;
        } else if (v >= 0) {
            p->spare[++n] = c->group[u];
        }
        n++;
    }
    memcpy(c->group, p->spare, (size_t)n * sizeof *c->group);
    c->n_groups = n;
}

/* Each run of jobs that were marked together is a group while the demand is too much; the others of
 * a run stand before it. */
static void form_in_order(packing *p, int32_t most, int64_t capacity, int64_t demand)
{
    for (int32_t i = 0; i < p->n_order; i++) {
        class *c = &p->class[p->order[i]];
        int32_t n = 0;
        for (int32_t first = 0; first < c->n_groups; first += most) {
            group run = c->group[first];
            for (int32_t k = first + 1; k < first + most && k < c->n_groups; k++) {
                if (demand > capacity) {
                    run.id = dls_group_join(run.id, c->group[k].id, 1);
                    run.job[run.n++] = c->group[k].job[0];
                    demand -= c->gpus;
                } else {
                    p->spare[n++] = c->group[k];
                }
            }
            p->spare[n++] = run;
        }
        memcpy(c->group, p->spare, (size_t)n * sizeof *c->group);
        c->n_groups = n;
    }
}

/* At most as many rounds as a group has members. */
static dls_status form_groups(dls_muri *m, int64_t demand, dls_error *err)
{
    packing *p = m->state;
    const int64_t capacity = (int64_t)m->n_nodes * m->cluster.gpus_per_node;
    if (m->policy->in_order) {
        form_in_order(p, m->group_max, capacity, demand);
        return DLS_OK;
    }
    for (int round = 0; round < m->group_max && (round == 0 || demand > capacity); round++) {
        for (int32_t i = 0; i < p->n_order; i++) {
            class *c = &p->class[p->order[i]];
            DLS_TRY(fill_weights(m, c, err));
            DLS_TRY(dls_matching_find(p->matching, c->n_groups, p->weight, p->mate, err));
            merge(p, c, capacity, &demand);
        }
    }
    return DLS_OK;
}

/* ---- candidates ------------------------------------------------------------------------------ */

static void list_classes(dls_muri *m)
{
    packing *p = m->state;
    int32_t *room = p->jobs;
    p->n_order = 0;
    for (int32_t k = 0; k < p->n_classes; k++) {
        p->class[k].n = p->class[k].marked = p->class[k].n_groups = 0;
    }
    for (int32_t i = 0; i < m->n_list; i++) {
        class *c = &p->class[p->class_of[m->list[i]]];
        if (c->n++ == 0) {
            p->order[p->n_order++] = p->class_of[m->list[i]];
        }
        p->marked[m->list[i]] = false;
    }
    group *groups = p->groups;
    for (int32_t i = 0; i < p->n_order; i++) {
        class *c = &p->class[p->order[i]];
        c->job = room;
        c->group = groups;
        room += c->n;
        groups += c->n;
        c->n = 0;
    }
    for (int32_t i = 0; i < m->n_list; i++) {
        class *c = &p->class[p->class_of[m->list[i]]];
        c->job[c->n++] = m->list[i];
    }
}

/* The next of a class becomes a candidate. */
static void mark_next(dls_muri *m, class *c, int64_t *demand)
{
    packing *p = m->state;
    const int32_t job = c->job[c->marked++];
    p->marked[job] = true;
    c->group[c->n_groups++] =
        (group){.job = {job}, .n = 1, .id = dls_group_one(m->job[job].profile), .key = p->key[job]};
    *demand += c->gpus;
}

static int64_t find_candidates(dls_muri *m)
{
    packing *p = m->state;
    int64_t demand = 0;
    dls_muri_empty(m);
    for (int32_t i = 0; i < m->n_list; i++) {
        class *c = &p->class[p->class_of[m->list[i]]];
        if (p->marked[m->list[i]] || !dls_muri_place(m, c->gpus)) {
            continue;
        }
        for (int32_t k = 0; k < m->group_max && c->marked < c->n; k++) {
            mark_next(m, c, &demand);
        }
    }
    return demand;
}

/* ---- who runs -------------------------------------------------------------------------------- */

/* All groups in one list, those that are slower together than one after the other apart; on the
 * testbed none, and the largest first. They lie in p->spare. */
static dls_status unpack(dls_muri *m, int32_t *out, dls_error *err)
{
    packing *p = m->state;
    int32_t n = 0;
    for (int32_t i = 0; i < p->n_order; i++) {
        const class *c = &p->class[p->order[i]];
        for (int32_t k = 0; k < c->n_groups; k++) {
            const group *g = &c->group[k];
            const dls_group_time *time;
            double key = p->key[g->job[0]];
            DLS_TRY(dls_group_memo_find(m->policy->worst ? &p->best : &p->memo, g->id, &time, err));
            for (int32_t j = 0; j < g->n; j++) {
                key = fmin(key, p->key[g->job[j]]);
            }
            if (time->time / time->alone > 1 && !m->together) {
                for (int32_t j = 0; j < g->n; j++) {
                    p->spare[n++] = (group){.job = {g->job[j]},
                                            .n = 1,
                                            .id = dls_group_one(m->job[g->job[j]].profile),
                                            .key = p->key[g->job[j]]};
                }
            } else {
                p->spare[n] = *g;
                p->spare[n++].key = m->testbed ? -m->job[g->job[0]].gpus : key;
            }
        }
    }
    *out = n;
    return DLS_OK;
}

/* Groups of p->spare that fit, least key first: run[].group of their members. */
static dls_status keep_groups(dls_muri *m, int32_t n, dls_error *err)
{
    packing *p = m->state;
    const bool all = m->together && !m->testbed; /* who fits, most GPUs first */
    for (int32_t i = 0; i < n; i++) {
        p->by_key[i] = i;
        p->key[i] = p->spare[i].key;
    }
    DLS_TRY(dls_muri_sort(p->by_key, n, p->key, err));
    for (int32_t i = 0; i < m->n_list; i++) {
        m->run[m->list[i]].group = -1;
    }
    dls_muri_empty(m);
    for (int32_t i = 0; i < n; i++) {
        const group *g = &p->spare[p->by_key[i]];
        if (all || dls_muri_place(m, m->job[g->job[0]].gpus)) {
            for (int32_t k = 0; k < g->n; k++) {
                m->run[g->job[k]].group = p->by_key[i];
            }
        }
    }
    return DLS_OK;
}

static dls_status apply(dls_muri *m, dls_error *err)
{
    packing *p = m->state;
    for (int32_t i = 0; i < m->n_list; i++) {
        p->key[i] = -m->job[m->list[i]].gpus;
    }
    DLS_TRY(dls_muri_sort(m->list, m->n_list, p->key, err));
    dls_muri_empty(m);
    for (int32_t i = 0; i < m->n_list; i++) {
        const int32_t job = m->list[i];
        dls_muri_run_job *r = &m->run[job];
        group *g = r->group >= 0 ? &p->spare[r->group] : NULL;
        if (!g || (!g->placed && !dls_muri_place(m, m->job[job].gpus))) {
            r->running = false;
            continue;
        }
        const dls_group_time *time;
        DLS_TRY(dls_group_memo_find(&p->memo, g->id, &time, err));
        g->placed = true; /* for all of its members */
        r->iteration = time->time;
        r->startup = 0;
        for (int32_t k = 0; k < g->n; k++) {
            r->startup += m->job[g->job[k]].startup_s;
        }
        dls_muri_start(m, job);
    }
    return DLS_OK;
}

static dls_status decide(dls_muri *m, dls_error *err)
{
    packing *p = m->state;
    for (int32_t i = 0; i < m->n_list; i++) {
        const dls_muri_job *j = &m->job[m->list[i]];
        const dls_muri_run_job *r = &m->run[m->list[i]];
        p->key[i] = m->policy->by_gpus      ? r->executed * j->gpus
                    : r->ever || m->testbed ? r->left * j->stages.iteration * j->gpus
                                            : j->duration_s * j->gpus;
        m->run[m->list[i]].key = p->key[i];
    }
    DLS_TRY(dls_muri_sort(m->list, m->n_list, p->key, err));
    for (int32_t i = 0; i < m->n_list; i++) {
        p->key[m->list[i]] = m->run[m->list[i]].key; /* by job from here on */
    }
    list_classes(m);
    int32_t n;
    DLS_TRY(form_groups(m, find_candidates(m), err));
    DLS_TRY(unpack(m, &n, err));
    DLS_TRY(keep_groups(m, n, err));
    return apply(m, err);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static dls_status classify(dls_muri *m, dls_error *err)
{
    packing *p = m->state;
    size_t room = 0;
    for (int32_t j = 0; j < m->n; j++) {
        int32_t k = 0;
        while (k < p->n_classes && p->class[k].gpus != m->job[j].gpus) {
            k++;
        }
        if (k == p->n_classes) {
            DLS_TRY(dls_grow(&p->class, &room, (size_t)k + 1, sizeof *p->class, err));
            p->class[p->n_classes++] = (class){.gpus = m->job[j].gpus};
        }
        p->class_of[j] = k;
        p->profile[m->job[j].profile] = m->job[j].stages;
    }
    return DLS_OK;
}

/* The program has four cost less where there is no matching. */
static const double overhead_in_order[MOST + 1] = {
    1, 1, 1.33 / DLS_STAGES_PROFILER, 1.5 / DLS_STAGES_PROFILER, 1.3 / DLS_STAGES_PROFILER};

static dls_status open_packing(dls_muri *m, dls_error *err)
{
    const size_t n = (size_t)m->n + 1;
    packing *p = dls_alloc_zero(1, sizeof *p);
    m->state = p;
    if (!p) {
        return dls_nomem(err, "groups", sizeof *p);
    }
    if (m->trace->n_profiles > DLS_GROUP_PROFILES) {
        return dls_fail(err, DLS_EINPUT, m->policy->schedule.name,
                        "more than 65535 different profiles");
    }
    DLS_TRY(DLS_ALLOC_ALL("groups", err, DLS_ARRAY(p->order, n), DLS_ARRAY(p->class_of, n),
                          DLS_ARRAY(p->jobs, n), DLS_ARRAY(p->mate, n), DLS_ARRAY(p->by_key, n),
                          DLS_ARRAY(p->groups, n), DLS_ARRAY(p->spare, n), DLS_ARRAY(p->key, n),
                          DLS_ARRAY(p->marked, n), DLS_ARRAY(p->profile, n)));
    DLS_TRY(dls_matching_create(&p->matching, err));
    p->memo.profile = p->best.profile = p->profile;
    p->memo.worst = m->policy->worst;
    p->memo.overhead = m->policy->in_order ? overhead_in_order : NULL;
    return classify(m, err);
}

static void close_packing(dls_muri *m)
{
    packing *p = m->state;
    DLS_FREE_ALL(p->class, p->order, p->class_of, p->jobs, p->mate, p->by_key, p->groups, p->spare,
                 p->key, p->marked, p->profile, p->weight);
    dls_group_memo_fini(&p->memo);
    dls_group_memo_fini(&p->best);
    dls_matching_destroy(p->matching);
}

dls_status dls_muri_group(const dls_muri_cluster *cluster, dls_muri_trace *trace, int32_t *group_of,
                          dls_error *err)
{
    dls_muri m = {.policy = &dls_muri_s,
                  .cluster = *cluster,
                  .trace = trace,
                  .job = trace->job,
                  .n = (int32_t)trace->n,
                  .group_max = MOST,
                  .n_nodes = cluster->switches * cluster->nodes_per_switch};
    int64_t demand = 0;
    int32_t n = 0;
    m.n_list = m.n;
    m.list = dls_alloc_zero(trace->n + 1, sizeof *m.list);
    dls_status status =
        m.list ? open_packing(&m, err) : dls_nomem(err, "jobs", trace->n * sizeof *m.list);
    packing *p = m.state;
    if (status == DLS_OK) {
        for (int32_t j = 0; j < m.n; j++) {
            m.list[j] = j;
        }
        list_classes(&m);
        for (int32_t i = 0; i < p->n_order; i++) {
            class *c = &p->class[p->order[i]];
            while (c->marked < c->n) {
                mark_next(&m, c, &demand);
            }
        }
        status = form_groups(&m, demand, err);
    }
    for (int32_t i = 0; status == DLS_OK && i < p->n_order; i++) {
        const class *c = &p->class[p->order[i]];
        for (int32_t k = 0; k < c->n_groups; k++, n++) {
            for (int32_t j = 0; j < c->group[k].n; j++) {
                group_of[c->group[k].job[j]] = n;
            }
        }
    }
    if (p) {
        close_packing(&m);
    }
    DLS_FREE_ALL(p, m.list);
    return status;
}

const dls_muri_policy dls_muri_s = {
    .schedule = {"muri-s", "multi-resource-blossom-same-gpu",
                 "groups of up to four, least remaining service first"},
    .together_s = 1e-4,
    .open = open_packing,
    .close = close_packing,
    .decide = decide,
};
const dls_muri_policy dls_muri_l = {
    .schedule = {"muri-l", "multi-resource-blossom-same-gpu-unaware",
                 "groups of up to four, least attained service first"},
    .by_gpus = true,
    .together_s = 1e-4,
    .open = open_packing,
    .close = close_packing,
    .decide = decide,
};
const dls_muri_policy dls_muri_l_worst = {
    .schedule = {"muri-l-worst", "multi-resource-blossom-same-gpu-unaware-worstordering",
                 "muri-l, the members of a group in the worst of all orders"},
    .by_gpus = true,
    .worst = true,
    .together_s = 1e-4,
    .open = open_packing,
    .close = close_packing,
    .decide = decide,
};
const dls_muri_policy dls_muri_l_in_order = {
    .schedule = {"muri-l-in-order", "multi-resource-gpu-unaware",
                 "muri-l without a matching: jobs of one size as they stand in the list"},
    .by_gpus = true,
    .in_order = true,
    .together_s = 1e-4,
    .open = open_packing,
    .close = close_packing,
    .decide = decide,
};
