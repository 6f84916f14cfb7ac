/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Whom Kueue preempts: candidates are taken in order until the workload fits, then put back, the last first, if it still does.
 */
#include "sched/kueue_preempt.h"

#include "dlsim/memory.h"

#include <math.h>

#define NO_WEIGHT 1e15 /* the share of who borrows without a weight */

/* Who is tried first: what is nearer to the preemptor than to the candidate, other queues, its own. */
enum { LIST_NEARER, LIST_OTHER, LIST_OWN };

struct dls_kueue_candidate {
    size_t load;
    size_t next; /* of its queue, in order; [n]: none */
    int32_t list, queue, job;
    int64_t priority, since_us;
    bool rejected, out; /* of fair sharing: for the second strategy; taken or passed over */
};

void dls_kueue_search_fini(dls_kueue_search *s)
{
    DLS_FREE_ALL(s->at, s->taken);
}

/* ---- the tree -------------------------------------------------------------------------------- */

static bool borrows_with(const dls_quota *q, double gpus)
{
    return q->used + gpus > q->all;
}

double dls_kueue_share(const dls_quota_tree *t, int32_t node)
{
    const dls_quota *q = &t->at[node];
    if (q->parent < 0 || q->used <= q->all) {
        return 0;
    }
    const double lendable = t->at[q->parent].most;
    const double ratio = lendable > 0 ? 1000 * (q->used - q->all) / lendable : 0;
    return q->weight > 0 ? ratio / q->weight : NO_WEIGHT + ratio;
}

/* The nodes in which the paths of two queues to the top part. */
static void part(const dls_quota_tree *t, int32_t *a, int32_t *b)
{
    while (t->at[*a].parent != t->at[*b].parent) {
        const int32_t x = t->at[*a].depth, y = t->at[*b].depth;
        *a = x >= y ? t->at[*a].parent : *a;
        *b = y >= x ? t->at[*b].parent : *b;
    }
}

static bool fits(const dls_quota_tree *t, const dls_kueue_load *in, bool borrow)
{
    return (borrow || !borrows_with(&t->at[in->queue], in->gpus)) &&
           in->gpus <= dls_quota_free(t, in->queue, t->steps);
}

/* ---- candidates ------------------------------------------------------------------------------ */

static bool allowed(dls_quota_policy policy, const dls_kueue_load *in, const dls_kueue_load *of)
{
    const bool lower = of->priority < in->priority;
    const bool newer = of->priority == in->priority && in->submit_us < of->submit_us;
    return policy == DLS_QUOTA_ANY || (policy == DLS_QUOTA_LOWER && lower) ||
           (policy == DLS_QUOTA_NEWER && (lower || newer));
}

DLS_BY(by_order, dls_kueue_candidate, DLS_UP(list), DLS_UP(priority), DLS_DOWN(since_us),
       DLS_UP(job));

/* Queues below a node that have more than their quota, but for those of a subtree; `top`: where the way from there meets
 * the preemptor's. */
static void mark(dls_quota_tree *t, int32_t node, int32_t skip, int32_t top, int32_t list)
{
    for (int32_t c = t->at[node].first; c >= 0; c = t->at[c].next) {
        if (c != skip && borrows_with(&t->at[c], 0)) {
            t->at[c].list = list;
            t->at[c].meets = top;
            mark(t, c, -1, top, list);
        }
    }
}

/* Upwards from the queue: as soon as what it asks for is within a node's quota, all beyond that node is nearer to it. */
static void mark_all(dls_quota_tree *t, const dls_kueue_load *in, bool fair)
{
    double rest = in->gpus;
    bool nearer = false;
    int32_t below = in->queue;
    for (size_t i = 0; i < t->n; i++) {
        t->at[i].list = -1;
    }
    if (t->at[in->queue].reclaim != DLS_QUOTA_NEVER) {
        for (int32_t at = in->queue; at >= 0; at = t->at[at].parent) {
            const dls_quota *q = &t->at[at];
            if (at != in->queue) {
                mark(t, at, below, at, nearer ? LIST_NEARER : LIST_OTHER);
            }
            nearer = !fair && (nearer || q->used + rest <= q->all);
            rest -= fmin(rest, fmax(0, q->kept - q->used));
            below = at;
        }
    }
    t->at[in->queue].list = LIST_OWN;
}

static dls_status collect(dls_kueue_search *s, dls_quota_tree *t, const dls_kueue_load *load, size_t n,
                          const dls_kueue_load *in, bool fair, dls_error *err)
{
    const dls_quota *own = &t->at[in->queue];
    s->n = s->n_taken = 0;
    mark_all(t, in, fair);
    for (size_t i = 0; i < n; i++) {
        const int32_t list = load[i].gone || load[i].fixed ? -1 : t->at[load[i].queue].list;
        if (list >= 0 && allowed(list == LIST_OWN ? own->within : own->reclaim, in, &load[i])) {
            DLS_TRY(dls_grow(&s->at, &s->cap, s->n + 1, sizeof *s->at, err));
            s->at[s->n++] = (dls_kueue_candidate){.load = i,
                                                  .list = list,
                                                  .queue = load[i].queue,
                                                  .job = load[i].job,
                                                  .priority = load[i].priority,
                                                  .since_us = load[i].since_us};
        }
    }
    dls_sort(s->at, s->n, sizeof *s->at, by_order);
    return dls_grow(&s->taken, &s->cap_taken, s->n + 1, sizeof *s->taken, err);
}

void dls_kueue_put(dls_quota_tree *t, dls_kueue_load *of, bool gone)
{
    of->gone = gone;
    dls_quota_use(t, of->queue, gone ? -of->gpus : of->gpus);
}

static void take(dls_kueue_search *s, dls_quota_tree *t, dls_kueue_load *load, size_t k)
{
    dls_kueue_put(t, &load[s->at[k].load], true);
    s->at[k].out = true;
    s->taken[s->n_taken++] = k;
}

void dls_kueue_restore(dls_kueue_search *s, dls_quota_tree *t, dls_kueue_load *load)
{
    while (s->n_taken > 0) {
        dls_kueue_put(t, &load[s->at[s->taken[--s->n_taken]].load], false);
    }
}

size_t dls_kueue_targets(const dls_kueue_search *s, size_t *out)
{
    for (size_t i = 0; i < s->n_taken; i++) {
        out[i] = s->at[s->taken[i]].load;
    }
    return s->n_taken;
}

/* Those without which it fits, too, are put back; the last one taken is not tried. */
static void fill_back(dls_kueue_search *s, dls_quota_tree *t, dls_kueue_load *load, const dls_kueue_load *in, bool borrow)
{
    size_t kept = s->n_taken;
    for (size_t i = s->n_taken - 1; i-- > 0;) {
        dls_kueue_load *of = &load[s->at[s->taken[i]].load];
        dls_kueue_put(t, of, false);
        if (!fits(t, in, borrow)) {
            dls_kueue_put(t, of, true);
        } else {
            s->taken[i] = s->taken[--kept];
        }
    }
    s->n_taken = kept;
}

/* ---- by priority and place ------------------------------------------------------------------- */

/* Others give way while they, and all between them and where their way meets ours, have more than their quota. */
static bool valid(const dls_quota_tree *t, const dls_kueue_candidate *c, const dls_kueue_load *in, bool borrow)
{
    const dls_quota *own = &t->at[in->queue];
    if (c->list == LIST_OWN) {
        return true;
    }
    if (borrow && c->list == LIST_OTHER &&
        (!own->borrows || c->priority >= in->priority || (double)c->priority > own->threshold)) {
        return false;
    }
    for (int32_t at = c->queue; at != t->at[c->queue].meets; at = t->at[at].parent) {
        if (!borrows_with(&t->at[at], 0)) {
            return false;
        }
    }
    return true;
}

static bool attempt(dls_kueue_search *s, dls_quota_tree *t, dls_kueue_load *load, const dls_kueue_load *in, bool borrow)
{
    for (size_t k = 0; k < s->n; k++) {
        if (valid(t, &s->at[k], in, borrow)) {
            take(s, t, load, k);
            if (fits(t, in, borrow)) {
                fill_back(s, t, load, in, borrow);
                return true;
            }
        }
    }
    dls_kueue_restore(s, t, load);
    return false;
}

static bool by_priority(dls_kueue_search *s, dls_quota_tree *t, dls_kueue_load *load, const dls_kueue_load *in)
{
    const dls_quota *own = &t->at[in->queue];
    const bool under = own->used < own->all, nearer = s->n > 0 && s->at[0].list == LIST_NEARER,
               others = s->n > 0 && s->at[0].list != LIST_OWN;
    if (!others || (!own->borrows && !under)) {
        return attempt(s, t, load, in, true);
    }
    const bool first = own->borrows || nearer;
    return attempt(s, t, load, in, first) || attempt(s, t, load, in, !first);
}

/* ---- by fair sharing ------------------------------------------------------------------------- */

/* The next candidate of a queue; s->n: none. */
static size_t head_of(const dls_kueue_search *s, dls_quota_tree *t, int32_t queue)
{
    size_t *k = &t->at[queue].candidate;
    while (*k < s->n && s->at[*k].out) {
        *k = s->at[*k].next;
    }
    return *k;
}

/* From a cohort downwards the member with the highest share; one that cannot give any more is left out from then on. -1: some
 * were left out, look again. */
static int32_t highest(const dls_kueue_search *s, dls_quota_tree *t, int32_t cohort, int32_t own)
{
    int32_t best = -1;
    for (int32_t c = t->at[cohort].first; c >= 0; c = t->at[c].next) {
        dls_quota *q = &t->at[c];
        const bool queue = q->first < 0;
        const double share = dls_kueue_share(t, c);
        q->pruned |= queue ? (share == 0 && c != own) || head_of(s, t, c) == s->n : share == 0 && !q->path;
        const double most = best < 0 ? -1 : dls_kueue_share(t, best);
        if (!q->pruned && (share > most || (share == most && (!queue || t->at[best].first < 0)))) {
            best = c;
        }
    }
    if (best < 0) {
        t->at[cohort].pruned = true;
        return -1;
    }
    return t->at[best].first < 0 ? best : highest(s, t, best, own);
}

/* With what comes in the tree. */
static bool fits_counted(dls_quota_tree *t, const dls_kueue_load *in)
{
    dls_quota_use(t, in->queue, -in->gpus);
    const bool is = fits(t, in, true);
    dls_quota_use(t, in->queue, in->gpus);
    return is;
}

static void begin(dls_kueue_search *s, dls_quota_tree *t, int32_t own, bool again)
{
    for (size_t i = 0; i < t->n; i++) {
        t->at[i].pruned = t->at[i].path = false;
        t->at[i].candidate = s->n;
    }
    for (int32_t at = own; at >= 0; at = t->at[at].parent) {
        t->at[at].path = true;
    }
    for (size_t k = 0; k < s->n && again; k++) {
        s->at[k].out = !s->at[k].rejected;
    }
    for (size_t k = s->n; k-- > 0;) {
        size_t *first = &t->at[s->at[k].queue].candidate;
        s->at[k].next = *first;
        *first = k;
    }
}

static int32_t top_of(const dls_quota_tree *t, int32_t at)
{
    while (t->at[at].parent >= 0) {
        at = t->at[at].parent;
    }
    return at;
}

static double share_without(dls_quota_tree *t, int32_t node, dls_kueue_load *of)
{
    dls_kueue_put(t, of, true);
    const double share = dls_kueue_share(t, node);
    dls_kueue_put(t, of, false);
    return share;
}

/* The first candidate of a queue whose leaving is fair; false: none, all are rejected. */
static bool take_fair(dls_kueue_search *s, dls_quota_tree *t, dls_kueue_load *load, const dls_kueue_load *in,
                      int32_t from, bool initial)
{
    int32_t mine = in->queue, theirs = from;
    part(t, &mine, &theirs);
    const double own = dls_kueue_share(t, mine), before = dls_kueue_share(t, theirs);
    double least = (double)INFINITY; /* whose leaving was not fair: nor is that of larger ones */
    for (size_t k; (k = head_of(s, t, from)) < s->n;) {
        dls_kueue_load *of = &load[s->at[k].load];
        if (of->gpus < least && (initial ? own < before : own <= share_without(t, theirs, of))) {
            take(s, t, load, k);
            return true;
        }
        least = fmin(least, of->gpus);
        s->at[k].out = s->at[k].rejected = true;
    }
    return false;
}

static bool first_pass(dls_kueue_search *s, dls_quota_tree *t, dls_kueue_load *load, const dls_kueue_load *in, bool initial)
{
    const int32_t top = top_of(t, in->queue);
    const bool within = !borrows_with(&t->at[in->queue], 0);
    begin(s, t, in->queue, false);
    while (!t->at[top].pruned) {
        const int32_t from = highest(s, t, top, in->queue);
        if (from < 0) {
            continue;
        }
        bool took = true;
        if (from == in->queue || within) {
            take(s, t, load, head_of(s, t, from));
        } else {
            took = take_fair(s, t, load, in, from, initial);
        }
        if (took && fits_counted(t, in)) {
            return true;
        }
    }
    return false;
}

/* What was rejected, one of a queue. */
static bool second_pass(dls_kueue_search *s, dls_quota_tree *t, dls_kueue_load *load, const dls_kueue_load *in)
{
    const int32_t top = top_of(t, in->queue);
    begin(s, t, in->queue, true);
    while (!t->at[top].pruned) {
        const int32_t from = highest(s, t, top, in->queue);
        if (from >= 0 && take_fair(s, t, load, in, from, true) && fits_counted(t, in)) {
            return true;
        }
        if (from >= 0) {
            t->at[from].pruned = true;
        }
    }
    return false;
}

static bool by_share(dls_kueue_search *s, dls_quota_tree *t, dls_kueue_load *load, const dls_kueue_load *in, dls_kueue_fair fair)
{
    if (t->at[in->queue].parent < 0) {
        return attempt(s, t, load, in, true);
    }
    dls_quota_use(t, in->queue, in->gpus);
    const bool found = first_pass(s, t, load, in, fair == DLS_KUEUE_INITIAL) ||
                       (fair == DLS_KUEUE_BOTH && second_pass(s, t, load, in));
    dls_quota_use(t, in->queue, -in->gpus);
    if (found) {
        fill_back(s, t, load, in, true);
    } else {
        dls_kueue_restore(s, t, load);
    }
    return found;
}

dls_status dls_kueue_preempt(dls_kueue_search *s, dls_quota_tree *t, dls_kueue_load *load, size_t n,
                             const dls_kueue_load *in, dls_kueue_fair fair, bool *found, dls_error *err)
{
    *found = false;
    DLS_TRY(collect(s, t, load, n, in, fair != DLS_KUEUE_UNFAIR, err));
    *found = s->n > 0 && (fair == DLS_KUEUE_UNFAIR ? by_priority(s, t, load, in) : by_share(s, t, load, in, fair));
    return DLS_OK;
}
