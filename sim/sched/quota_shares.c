/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Shares of a tree of quotas (sched/quota_tree.h): at each level first the quotas, as far as they are asked for, then what is
 * left in whole GPUs by weight, those of the highest priority first, then single GPUs to those whose parts were cut most.
 */
#include "sched/quota_tree.h"

#include <math.h>

void dls_quota_ask(dls_quota_tree *t, int32_t queue, double gpus)
{
    for (int32_t at = queue; at >= 0; at = t->at[at].parent) {
        t->at[at].asked += gpus;
    }
}

/* How many more it could use. */
static double open_of(const dls_quota *q)
{
    return fmin(q->limit, q->asked) - q->share;
}

/* One round among siblings of a priority; true: somebody wanted less than its part, so there is more for the others. */
static bool share_once(dls_quota_tree *t, int32_t first, double priority, double *left)
{
    const double all = *left;
    double weights = 0;
    bool again = false;
    for (int32_t i = first; i >= 0; i = t->at[i].next) {
        weights += t->at[i].priority == priority && open_of(&t->at[i]) > 0 ? t->at[i].weight : 0;
    }
    for (int32_t i = first; i >= 0; i = t->at[i].next) {
        dls_quota *q = &t->at[i];
        const double open = open_of(q);
        if (q->priority == priority && open > 0 && q->weight > 0) {
            const double part = all * q->weight / weights, got = open <= part ? open : floor(part);
            again |= open < part;
            q->rest = open <= part ? 0 : part > got ? part - got : q->rest;
            q->share += got;
            *left -= got;
        }
    }
    return again;
}

static void share_rest(dls_quota_tree *t, int32_t first, double priority, double *left)
{
    while (*left > 0) {
        dls_quota *most = NULL;
        for (int32_t i = first; i >= 0; i = t->at[i].next) {
            dls_quota *q = &t->at[i];
            if (q->priority == priority && q->rest > (most ? most->rest : 0)) {
                most = q;
            }
        }
        if (!most) {
            return;
        }
        const double got = fmin(1, *left);
        most->share += got;
        most->rest = 0;
        *left -= got;
    }
}

static void divide(dls_quota_tree *t, int32_t first, double gpus)
{
    double left = gpus, above = (double)INFINITY;
    for (int32_t i = first; i >= 0; i = t->at[i].next) {
        dls_quota *q = &t->at[i];
        q->share = fmin(isinf(q->own) ? gpus : q->own, fmin(q->limit, q->asked));
        q->rest = 0;
        left -= q->share;
    }
    while (left > 0) {
        double priority = -(double)INFINITY;
        for (int32_t i = first; i >= 0; i = t->at[i].next) {
            const double p = t->at[i].priority;
            priority = p < above && p > priority ? p : priority;
        }
        if (isinf(priority)) {
            return;
        }
        while (left > 0 && share_once(t, first, priority, &left)) {
        }
        share_rest(t, first, priority, &left);
        above = priority;
    }
}

void dls_quota_divide(dls_quota_tree *t, double gpus)
{
    divide(t, t->first, gpus);
    for (size_t k = t->n; k-- > 0;) {
        const dls_quota *q = &t->at[t->at[k].order];
        divide(t, q->first, q->share);
    }
}

bool dls_quota_before(const dls_quota_tree *t, int32_t a, int32_t b)
{
    while (t->at[a].parent != t->at[b].parent) {
        const bool deeper = t->at[a].depth >= t->at[b].depth, both = t->at[a].depth == t->at[b].depth;
        b = !deeper || both ? t->at[b].parent : b;
        a = deeper ? t->at[a].parent : a;
    }
    const dls_quota *x = &t->at[a], *y = &t->at[b];
    if (x->priority != y->priority) {
        return x->priority > y->priority;
    }
    return x->used * y->share != y->used * x->share ? x->used * y->share < y->used * x->share : a < b;
}
