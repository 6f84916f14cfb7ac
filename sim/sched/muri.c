/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A round of Muri: candidates, groups, who runs.
 */
#include "sched/muri.h"

#include "dlsim/memory.h"
#include "sched/heap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const dls_option dls_muri_options[DLS_MURI_N_OPTIONS + 1] = {
    {.name = "stages",
     .type = DLS_OPT_PATH,
     .def = "",
     .unit = "",
     .doc = "profiles: model,gpus,data_s,compute_s,exchange_s[,iteration_s]; empty: predictions"},
    {.name = "interval",
     .type = DLS_OPT_TIME,
     .min = 1,
     .max = 1e9,
     .def = "6 min",
     .unit = "",
     .doc = "length of a round"},
    {.name = "group_max",
     .type = DLS_OPT_I64,
     .min = 1,
     .max = 4,
     .def = "4",
     .unit = "",
     .doc = "jobs in a group"},
    {0},
};

/* ---- candidates ------------------------------------------------------------------------------ */

static double key_of(const dls_muri_state *s, const dls_view *view, int32_t job)
{
    const dls_muri_seen *seen = dls_view_job_state(view, job);
    if (s->by_attained) {
        /* In doublings of a GPU-hour: jobs that have had about as much do not take turns every
         * round. */
        const double hours = (double)dls_view_service_us(view, job, -1) / 3.6e9;
        return hours < 1 ? 0 : 1 + floor(log2(hours));
    }
    /* Alone: what is left is told at the pace of the group. */
    const double left = (double)dls_view_remaining_us(view, job);
    return left / (seen->slowdown > 0 ? seen->slowdown : 1) * view->gpus[job];
}

typedef struct keyed {
    double key;
    int32_t job;
} keyed;

DLS_BY(by_key, keyed, DLS_UP(key), DLS_UP(job));

static dls_status sort_by_key(int32_t *list, int32_t n, const double *key, dls_error *err)
{
    keyed *k;
    DLS_TRY(dls_alloc_array(&k, (size_t)n + 1, sizeof *k, "round", err));
    for (int32_t i = 0; i < n; i++) {
        k[i] = (keyed){key[list[i]], list[i]};
    }
    qsort(k, (size_t)n, sizeof *k, by_key);
    for (int32_t i = 0; i < n; i++) {
        list[i] = k[i].job;
    }
    dls_free(k);
    return DLS_OK;
}

static bool before(const void *key, int32_t a, int32_t b)
{
    const double *k = key;
    return k[a] != k[b] ? k[a] < k[b] : a < b;
}

static dls_status class_of(dls_muri_state *s, const dls_view *view, int32_t job, size_t *out,
                           dls_error *err)
{
    const uint32_t types = dls_view_types(view, job);
    int64_t unused;
    const int32_t pool = dls_view_pool(view, job, 0, &unused);
    size_t k = 0;
    while (k < s->n_classes && (s->class[k].gpus != view->gpus[job] || s->class[k].types != types ||
                                s->class[k].pool != pool)) {
        k++;
    }
    *out = k;
    if (k == s->n_classes) {
        DLS_TRY(dls_grow(&s->class, &s->classes_room, k + 1, sizeof *s->class, err));
        s->class[s->n_classes++] = (dls_muri_class){.gpus = view->gpus[job], .types = types, .pool = pool};
    }
    return DLS_OK;
}

static dls_status list_job(dls_muri_state *s, const dls_view *view, int32_t job, int32_t *n,
                           dls_error *err)
{
    size_t k;
    DLS_TRY(class_of(s, view, job, &k, err));
    s->order[job] = (int32_t)k;
    s->class[k].n++;
    s->key[job] = key_of(s, view, job);
    s->heap[(*n)++] = job;
    return DLS_OK;
}

/* All jobs as a heap by key, s->order[job] its class. Many wait, few of which a round looks at. */
static dls_status list_jobs(dls_muri_state *s, const dls_view *view, int32_t *n, dls_error *err)
{
    *n = 0;
    s->n_classes = 0;
    for (int32_t j = dls_view_first_running(view); j >= 0; j = dls_view_next_running(view, j)) {
        DLS_TRY(list_job(s, view, j, n, err));
    }
    for (int32_t j = dls_view_first_waiting(view); j >= 0; j = dls_view_next_waiting(view, j)) {
        DLS_TRY(list_job(s, view, j, n, err));
    }
    dls_heap_make(s->heap, *n, before, s->key);
    return DLS_OK;
}

static void all_free(const dls_view *view, int64_t left[DLS_TYPES_MAX])
{
    for (int32_t t = 0; t < view->n_types; t++) {
        left[t] = dls_view_total_gpus(view, t);
    }
}

/* What has been taken of a type out of the quota for the job; NULL: the quota does not hold the
 * gang, too. */
static dls_status quota_of(dls_muri_state *s, const dls_view *view, int32_t job, int32_t type,
                           int64_t **out, dls_error *err)
{
    int64_t quota;
    const size_t at = (size_t)dls_view_pool(view, job, type, &quota) * DLS_TYPES_MAX + (size_t)type;
    if (at >= s->n_taken) {
        DLS_TRY(dls_grow(&s->taken, &s->taken_room, at + 1, sizeof *s->taken, err));
        memset(s->taken + s->n_taken, 0, (at + 1 - s->n_taken) * sizeof *s->taken);
        s->n_taken = at + 1;
    }
    *out = s->taken[at] + view->gpus[job] <= quota ? &s->taken[at] : NULL;
    return DLS_OK;
}

/* Take GPUs of one type for a job: the type that it has if as many are left, else the first; *type
 * is -1 if there are none. */
static dls_status take_gpus(dls_muri_state *s, const dls_view *view, int64_t left[DLS_TYPES_MAX],
                            int32_t job, int32_t *type, dls_error *err)
{
    const int32_t held = view->held_type[job];
    *type = -1;
    for (int32_t i = -1; *type < 0 && i < view->n_types; i++) {
        const int32_t t = i < 0 ? held : i;
        int64_t *taken;
        if (t < 0 || !(dls_view_types(view, job) >> t & 1) || left[t] < view->gpus[job]) {
            continue;
        }
        DLS_TRY(quota_of(s, view, job, t, &taken, err));
        if (taken) {
            *taken += view->gpus[job];
            left[t] -= view->gpus[job];
            *type = t;
        }
    }
    return DLS_OK;
}

static int32_t missing(const dls_muri_class *c)
{
    return c->marked > c->n_groups ? c->marked - c->n_groups : 0;
}

/* For each gang that fits, in order, as many jobs of its class as a group may have; those that are
 * marked lie in s->by_class in the same order. Who comes when no GPU is left marks nobody. */
static dls_status mark_candidates(dls_muri_state *s, const dls_view *view, int32_t n,
                                  dls_error *err)
{
    int64_t left[DLS_TYPES_MAX], open = 0;
    int32_t wanted = 0; /* marked, not yet listed */
    int32_t at = 0, seen = 0;
    all_free(view, left);
    for (int32_t t = 0; t < view->n_types; t++) {
        open += left[t];
    }
    s->n_taken = 0;
    while (n > 0 && (open > 0 || wanted > 0)) {
        const int32_t job = s->heap[0];
        s->heap[0] = s->heap[--n];
        dls_heap_sink(s->heap, n, 0, before, s->key);
        dls_muri_class *c = &s->class[s->order[job]];
        if (c->n_groups == 0) {
            c->rank = seen++;
            c->first = c->groups = at;
            at += c->n;
        }
        wanted -= missing(c);
        const int32_t place = c->n_groups++; /* of the job in its class, until groups are made */
        int32_t type = -1;
        s->by_class[c->first + place] = job;
        if (place >= c->marked) {
            DLS_TRY(take_gpus(s, view, left, job, &type, err));
        }
        if (type >= 0) {
            open -= c->gpus;
            c->marked = c->marked + s->most < c->n ? c->marked + s->most : c->n;
        }
        wanted += missing(c);
    }
    /* Classes stand in the order of their first jobs; of the others nobody is a candidate. */
    for (int32_t k = 0; k < seen;) {
        const dls_muri_class other = s->class[k];
        if (other.n_groups > 0 && other.rank == k) {
            k++;
        } else if (other.n_groups > 0) {
            s->class[k] = s->class[other.rank];
            s->class[other.rank] = other;
        } else {
            s->class[k] = s->class[--s->n_classes];
        }
    }
    s->n_classes = (size_t)seen;
    return DLS_OK;
}

/* ---- groups ---------------------------------------------------------------------------------- */

static dls_status new_group(dls_muri_state *s, const dls_view *view, int32_t at, int32_t job,
                            dls_error *err)
{
    int32_t profile;
    DLS_TRY(dls_muri_profile_of(s, view, job, &profile, err));
    s->group[at] = (dls_muri_set){.job = {job}, .n = 1, .key = s->key[job]};
    s->group[at].id = profile >= 0 ? dls_group_one(profile) : 0;
    return DLS_OK;
}

static void join(dls_muri_set *a, const dls_muri_set *b)
{
    memcpy(a->job + a->n, b->job, (size_t)b->n * sizeof *a->job);
    a->id = dls_group_join(a->id, b->id, b->n);
    a->n += b->n;
    a->key = fmin(a->key, b->key);
}

/* Are there GPUs for all groups, and for one more of a class (NULL: no more)? */
static bool room_for_all(const dls_muri_state *s, const dls_view *view, const dls_muri_class *more)
{
    int64_t left[DLS_TYPES_MAX];
    all_free(view, left);
    for (size_t k = 0; k < s->n_classes; k++) {
        const dls_muri_class *c = &s->class[k];
        int64_t need = c->live + (c == more);
        for (uint32_t types = c->types; need > 0 && types; types &= types - 1) {
            int64_t *of_type = &left[__builtin_ctz(types)];
            const int64_t gangs = *of_type / c->gpus < need ? *of_type / c->gpus : need;
            *of_type -= gangs * c->gpus;
            need -= gangs;
        }
        if (need > 0) {
            return false;
        }
    }
    return true;
}

/* Candidates that share GPUs now stay together. */
static dls_status first_groups(dls_muri_state *s, const dls_view *view, dls_error *err)
{
    for (size_t k = 0; k < s->n_classes; k++) {
        dls_muri_class *c = &s->class[k];
        c->n_groups = 0;
        for (int32_t i = 0; i < c->marked; i++) {
            const int32_t job = s->by_class[c->first + i], host = dls_view_host(view, job);
            s->mate[host >= 0 ? host : job] = -2; /* group by owner of GPUs: of no candidate */
        }
        for (int32_t i = 0; i < c->marked; i++) {
            s->mate[s->by_class[c->first + i]] = -1; /* of one, not made yet */
        }
        for (int32_t i = 0; i < c->marked; i++) {
            const int32_t job = s->by_class[c->first + i], host = dls_view_host(view, job);
            const int32_t owner = host >= 0 ? host : job;
            const bool marked = view->running[job] && s->mate[owner] != -2;
            const int32_t at = c->groups + c->n_groups;
            DLS_TRY(new_group(s, view, at, job, err));
            if (marked && s->mate[owner] >= 0) {
                join(&s->group[s->mate[owner]], &s->group[at]);
                continue;
            }
            c->n_groups++;
            if (marked) {
                s->mate[owner] = at;
            }
        }
        c->live = c->n_groups;
    }
    return DLS_OK;
}

static dls_status fill_weights(dls_muri_state *s, const dls_muri_class *c, dls_error *err)
{
    const int32_t n = c->n_groups;
    DLS_TRY(dls_grow(&s->weight, &s->weights_room, (size_t)n * (size_t)n, sizeof *s->weight, err));
    for (int32_t u = 0; u < n; u++) {
        for (int32_t v = 0; v <= u; v++) {
            const dls_muri_set *a = &s->group[c->groups + u], *b = &s->group[c->groups + v];
            const dls_group_time *t;
            double w = 0;
            if (u != v && a->id && b->id && a->n + b->n <= s->most) {
                DLS_TRY(dls_group_memo_find(&s->memo, dls_group_join(a->id, b->id, b->n), &t, err));
                w = t->time < t->alone ? t->weight : 0;
            }
            s->weight[(size_t)u * (size_t)n + (size_t)v] = w;
            s->weight[(size_t)v * (size_t)n + (size_t)u] = w;
        }
    }
    return DLS_OK;
}

DLS_BY(heaviest, dls_muri_pair, DLS_DOWN(weight), DLS_UP(a));

/* Drop the groups that have become part of others. */
static void close_gaps(dls_muri_state *s)
{
    for (size_t k = 0; k < s->n_classes; k++) {
        dls_muri_class *c = &s->class[k];
        int32_t n = 0;
        for (int32_t i = 0; i < c->n_groups; i++) {
            if (s->group[c->groups + i].n > 0) {
                s->group[c->groups + n++] = s->group[c->groups + i];
            }
        }
        c->n_groups = n;
    }
}

/* One matching for each class; the pairs that use the resources best are merged until the rest
 * fits. */
static dls_status merge_once(dls_muri_state *s, const dls_view *view, dls_error *err)
{
    size_t pairs = 0;
    for (size_t k = 0; k < s->n_classes; k++) {
        dls_muri_class *c = &s->class[k];
        DLS_TRY(fill_weights(s, c, err));
        DLS_TRY(dls_matching_find(s->matching, c->n_groups, s->weight, s->mate, err));
        for (int32_t u = 0; u < c->n_groups; u++) {
            if (s->mate[u] > u) {
                s->pair[pairs++] = (dls_muri_pair){
                    c->groups + u, c->groups + s->mate[u], c,
                    s->weight[(size_t)u * (size_t)c->n_groups + (size_t)s->mate[u]]};
            }
        }
    }
    qsort(s->pair, pairs, sizeof *s->pair, heaviest);
    for (size_t i = 0; i < pairs && !room_for_all(s, view, NULL); i++) {
        dls_muri_set *a = &s->group[s->pair[i].a], *b = &s->group[s->pair[i].b];
        s->pair[i].of->live--;
        join(a, b);
        b->n = 0;
    }
    close_gaps(s);
    return DLS_OK;
}

/* While GPUs are left, groups are taken apart again: first those that gain least by sharing. */
static dls_status split(dls_muri_state *s, const dls_view *view, dls_error *err)
{
    for (;;) {
        dls_muri_class *of = NULL;
        dls_muri_set *worst = NULL;
        double least = (double)INFINITY;
        for (size_t k = 0; k < s->n_classes; k++) {
            dls_muri_class *c = &s->class[k];
            const bool more = room_for_all(s, view, c);
            for (int32_t i = 0; more && i < c->n_groups; i++) {
                dls_muri_set *g = &s->group[c->groups + i];
                const dls_group_time *t;
                if (g->n > 1) {
                    DLS_TRY(dls_group_memo_find(&s->memo, g->id, &t, err));
                    if (t->alone / t->time < least) {
                        least = t->alone / t->time;
                        worst = g;
                        of = c;
                    }
                }
            }
        }
        if (!worst) {
            return DLS_OK;
        }
        worst->id >>= 16; /* the last is the lowest */
        DLS_TRY(new_group(s, view, of->groups + of->n_groups++, worst->job[--worst->n], err));
        of->live++;
    }
}

/* ---- who runs -------------------------------------------------------------------------------- */

/* The member with GPUs of its own, else the first. */
static int32_t host_of(const dls_view *view, const dls_muri_set *g)
{
    for (int32_t i = 0; i < g->n; i++) {
        if (view->running[g->job[i]] && dls_view_host(view, g->job[i]) < 0) {
            return g->job[i];
        }
    }
    return g->job[0];
}

static dls_status plan_group(dls_muri_state *s, const dls_view *view, dls_plan *plan,
                             const dls_muri_set *g, int32_t host, int32_t type, dls_error *err)
{
    const dls_want want = {.type = type};
    const dls_group_time *t = NULL;
    dls_plan_set(plan, host, &want);
    if (g->n > 1) {
        DLS_TRY(dls_group_memo_find(&s->memo, g->id, &t, err));
    }
    for (int32_t i = 0; i < g->n; i++) {
        const int32_t job = g->job[i];
        dls_muri_seen *seen = dls_view_job_state(view, job);
        seen->slowdown = t ? fmax(1, t->time / s->profile[s->profile_of[job]].iteration) : 1;
        if (job != host) {
            dls_plan_join(plan, job, host);
        }
    }
    return DLS_OK;
}

static dls_status plan_groups(dls_muri_state *s, const dls_view *view, dls_plan *plan, int32_t n,
                              dls_error *err)
{
    int64_t left[DLS_TYPES_MAX];
    all_free(view, left);
    s->n_taken = 0;
    s->planned = 0;
    for (int32_t i = 0; i < n; i++) {
        dls_muri_set *g = &s->group[s->order[i]];
        const int32_t host = host_of(view, g);
        int32_t type;
        DLS_TRY(take_gpus(s, view, left, host, &type, err));
        if (type >= 0) {
            s->planned += g->n;
            DLS_TRY(plan_group(s, view, plan, g, host, type, err));
        }
    }
    return DLS_OK;
}

dls_status dls_muri_round(void *state, const dls_view *view, dls_plan *plan, dls_error *err)
{
    dls_muri_state *s = state;
    int32_t n, groups = 0;
    /* Where GPUs fail, a repair is a reason to plan, too. */
    if (!s->by_attained && !view->failures && view->arrived == 0 && view->ended == 0 &&
        view->running_jobs == s->planned) {
        dls_plan_keep_all(
            plan); /* those that run have come nearer to their ends, nobody else has */
        return DLS_OK;
    }
    DLS_TRY(list_jobs(s, view, &n, err));
    DLS_TRY(mark_candidates(s, view, n, err));
    DLS_TRY(first_groups(s, view, err));
    DLS_TRY(split(s, view, err));
    for (int32_t size = 1; size < s->most && !room_for_all(s, view, NULL); size *= 2) {
        DLS_TRY(merge_once(s, view, err));
    }
    for (size_t k = 0; k < s->n_classes; k++) {
        for (int32_t i = 0; i < s->class[k].n_groups; i++) {
            const int32_t at = s->class[k].groups + i;
            s->order[groups++] = at;
            s->key[at] = s->group[at].key; /* keys are by group from here on */
        }
    }
    DLS_TRY(sort_by_key(s->order, groups, s->key, err));
    return plan_groups(s, view, plan, groups, err);
}

void dls_muri_timing(const void *state, dls_round_timing *out)
{
    *out = (dls_round_timing){.interval_us = ((const dls_muri_state *)state)->interval_us};
}

/* ---- memory ---------------------------------------------------------------------------------- */

static dls_status make_room(dls_muri_state *s, size_t n, dls_error *err)
{
    DLS_TRY(DLS_ALLOC_ALL("muri", err, DLS_ARRAY(s->heap, n), DLS_ARRAY(s->by_class, n),
                          DLS_ARRAY(s->mate, n), DLS_ARRAY(s->order, n), DLS_ARRAY(s->key, n),
                          DLS_ARRAY(s->profile_of, n), DLS_ARRAY(s->group, n),
                          DLS_ARRAY(s->pair, n)));
    for (size_t j = 0; j < n; j++) {
        s->profile_of[j] = DLS_MURI_UNASKED;
    }
    s->memo.monotone = true;
    return dls_matching_create(&s->matching, err);
}

dls_status dls_muri_init(dls_muri_state *s, const dls_view *view, const dls_option_value *values,
                         bool by_attained, dls_error *err)
{
    s->by_attained = by_attained;
    s->interval_us = (int64_t)(values[DLS_MURI_OPT_INTERVAL].f * 1e6);
    s->most = (int32_t)values[DLS_MURI_OPT_MOST].i;
    DLS_TRY(make_room(s, (size_t)view->n_jobs + 1, err));
    const char *path = values[DLS_MURI_OPT_STAGES].s;
    return path && *path ? dls_muri_read_profiles(s, path, err) : DLS_OK;
}

void dls_muri_fini(void *state)
{
    dls_muri_state *s = state;
    void *const owned[] = {s->row,   s->profile, s->heap,       s->by_class, s->mate,
                           s->order, s->key,     s->profile_of, s->class,    s->group,
                           s->pair,  s->weight,  s->taken};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) {
        dls_free(owned[i]);
    }
    dls_group_memo_fini(&s->memo);
    dls_matching_destroy(s->matching);
}

dls_status dls_muri_clone(void *state, const void *from, const dls_view *view, dls_error *err)
{
    const dls_muri_state *f = from;
    dls_muri_state *s = state;
    const size_t n = (size_t)view->n_jobs + 1;
    *s = (dls_muri_state){.by_attained = f->by_attained,
                          .interval_us = f->interval_us,
                          .most = f->most,
                          .planned = f->planned,
                          .n_rows = f->n_rows,
                          .rows_room = f->n_rows,
                          .n_profiles = f->n_profiles,
                          .profiles_room = f->n_profiles};
    DLS_TRY(make_room(s, n, err));
    memcpy(s->profile_of, f->profile_of, n * sizeof *s->profile_of);
    DLS_TRY(dls_duplicate(&s->row, f->row, f->n_rows, f->n_rows, sizeof *s->row, err));
    DLS_TRY(dls_duplicate(&s->profile, f->profile, f->n_profiles, f->n_profiles, sizeof *s->profile,
                          err));
    s->memo.profile = s->profile;
    return DLS_OK;
}
