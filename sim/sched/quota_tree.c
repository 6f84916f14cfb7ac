/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Quotas as a tree: what a queue may use when its cohorts lend.
 */
#include "sched/quota_tree.h"

#include "dlsim/memory.h"
#include "sched/table.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* ---- the table ------------------------------------------------------------------------------- */

int32_t dls_quota_find(const dls_quota_tree *t, const char *name)
{
    for (size_t i = 0; i < t->n; i++) {
        if (strcmp(t->at[i].name, name) == 0) {
            return (int32_t)i;
        }
    }
    return -1;
}

/* The member of that name, made where there is none; own < 0 until its row is read. */
static dls_status member(dls_quota_tree *t, const char *name, const char *where, int32_t *which,
                         dls_error *err)
{
    *which = dls_quota_find(t, name);
    if (*which >= 0) {
        return DLS_OK;
    }
    if (strlen(name) >= sizeof t->at->name) {
        return dls_fail(err, DLS_EINPUT, where, "a name of more than %zu bytes",
                        sizeof t->at->name - 1);
    }
    DLS_TRY(dls_grow(&t->at, &t->cap, t->n + 1, sizeof *t->at, err));
    *which = (int32_t)t->n++;
    t->at[*which] = (dls_quota){
        .parent = -1, .own = -1, .borrow = (double)INFINITY, .lend = (double)INFINITY,
        .limit = (double)INFINITY, .weight = 1, .priority = 100};
    memcpy(t->at[*which].name, name, strlen(name) + 1);
    return DLS_OK;
}

static bool number(const char *cell, double missing, double *out)
{
    *out = missing;
    return !*cell || dls_sched_table_number(cell, 0, 1e9, out);
}

static dls_status put_row(dls_quota_tree *t, char *const *cell, dls_quota *row, const char *where,
                          dls_error *err)
{
    int32_t which;
    row->parent = -1;
    if (*cell[1]) {
        DLS_TRY(member(t, cell[1], where, &row->parent, err));
    }
    DLS_TRY(member(t, cell[0], where, &which, err));
    if (t->at[which].own >= 0) {
        return dls_fail(err, DLS_EINPUT, where, "\"%s\" is there already", cell[0]);
    }
    memcpy(row->name, t->at[which].name, sizeof row->name);
    t->at[which] = *row;
    return DLS_OK;
}

/* A word of the list, its number into *out; empty: the first. */
static bool one_of(const char *cell, const char *const *words, int n, int *out)
{
    *out = 0;
    while (*cell && *out < n && strcmp(cell, words[*out]) != 0) {
        ++*out;
    }
    return *out < n;
}

static dls_status read_policies(char *const *cell, dls_quota *row, const char *where, dls_error *err)
{
    static const char *const policies[] = {"Never", "LowerPriority", "LowerOrNewerEqualPriority", "Any"},
                             *const orders[] = {"BestEffortFIFO", "StrictFIFO"};
    int within, reclaim, order, lower = 1;
    if (!one_of(cell[6], policies, 3, &within) || !one_of(cell[7], policies, 4, &reclaim)) {
        return dls_fail(err, DLS_EINPUT, where,
                        "expected Never, LowerPriority or LowerOrNewerEqualPriority, of others Any, too; found \"%s\", \"%s\"",
                        cell[6], cell[7]);
    }
    row->threshold = (double)INFINITY;
    if (!one_of(cell[8], policies, 2, &lower) && !dls_sched_table_number(cell[8], -1e15, 1e15, &row->threshold)) {
        return dls_fail(err, DLS_EINPUT, where, "expected Never, LowerPriority or a priority, found \"%s\"", cell[8]);
    }
    if (!one_of(cell[9], orders, 2, &order)) {
        return dls_fail(err, DLS_EINPUT, where, "expected BestEffortFIFO or StrictFIFO, found \"%s\"", cell[9]);
    }
    row->within = (dls_quota_policy)within;
    row->reclaim = (dls_quota_policy)reclaim;
    row->borrows = lower > 0;
    row->strict = order > 0;
    return DLS_OK;
}

static dls_status read_cohort(void *user, char *const *cell, const char *where, dls_error *err)
{
    dls_quota row = {.own = 0};
    if (!*cell[0] || !number(cell[2], 0, &row.own) || !number(cell[3], (double)INFINITY, &row.borrow) ||
        !number(cell[4], (double)INFINITY, &row.lend) || !number(cell[5], 1, &row.weight)) {
        return dls_fail(err, DLS_EINPUT, where, "expected a name, numbers of GPUs and a weight");
    }
    DLS_TRY(read_policies(cell, &row, where, err));
    return put_row(user, cell, &row, where, err);
}

static const char *unless_all(const char *cell)
{
    return strcmp(cell, "-1") == 0 ? "" : cell;
}

static dls_status read_share(void *user, char *const *cell, const char *where, dls_error *err)
{
    const bool all = strcmp(cell[2], "-1") == 0;
    dls_quota row = {.lend = (double)INFINITY};
    return *cell[0] && number(unless_all(cell[2]), all ? (double)INFINITY : 0, &row.own) &&
                   number(unless_all(cell[3]), (double)INFINITY, &row.limit) &&
                   number(cell[4], 1, &row.weight) &&
                   (!*cell[5] || dls_sched_table_number(cell[5], -1e15, 1e15, &row.priority))
               ? (row.priority = *cell[5] ? row.priority : 100, put_row(user, cell, &row, where, err))
               : dls_fail(err, DLS_EINPUT, where,
                          "expected a name, numbers of GPUs, a weight and a priority");
}

/* Every member into `order` before its parent; false: some are within themselves. */
static bool sort_out(dls_quota_tree *t)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++) {
        if (t->at[i].parent >= 0) {
            t->at[t->at[i].parent].members++;
        }
    }
    for (size_t i = 0; i < t->n; i++) {
        if (t->at[i].members == 0) {
            t->at[n++].order = (int32_t)i;
        }
    }
    for (size_t k = 0; k < n; k++) {
        const int32_t up = t->at[t->at[k].order].parent;
        if (up >= 0 && --t->at[up].members == 0) {
            t->at[n++].order = up;
        }
    }
    return n == t->n;
}

/* What members lend goes to their cohorts; who is whose member, in the order of the table. */
static void sum_up(dls_quota_tree *t)
{
    for (size_t k = 0; k < t->n; k++) {
        dls_quota *q = &t->at[t->at[k].order];
        q->all += q->own;
        q->kept = q->all > q->lend ? q->all - q->lend : 0;
        if (q->parent >= 0) {
            dls_quota *up = &t->at[q->parent];
            up->all += q->all - q->kept;
            up->height = q->height + 1 > up->height ? q->height + 1 : up->height;
        }
    }
    for (size_t k = t->n; k-- > 0;) {
        dls_quota *q = &t->at[t->at[k].order];
        const dls_quota *up = q->parent >= 0 ? &t->at[q->parent] : NULL;
        q->depth = up ? up->depth + 1 : 0;
        q->most = up ? q->kept + fmin(up->most, q->all - q->kept + q->borrow) : q->all;
        q->first = -1;
        t->steps = t->shares ? 2 : q->depth > t->steps ? q->depth : t->steps;
    }
    t->first = -1;
    for (size_t i = t->n; i-- > 0;) {
        int32_t *head = t->at[i].parent >= 0 ? &t->at[t->at[i].parent].first : &t->first;
        t->at[i].next = *head;
        *head = (int32_t)i;
    }
}

static dls_status read_tree(dls_quota_tree *t, const char *path, const char *header, dls_sched_row row,
                            dls_error *err)
{
    DLS_TRY(dls_sched_table_read(path, header, row, t, err));
    if (!sort_out(t)) {
        size_t i = 0;
        while (t->at[i].members == 0) {
            i++;
        }
        return dls_fail(err, DLS_ECONFIG, path, "\"%s\" is a member of itself", t->at[i].name);
    }
    for (size_t i = 0; i < t->n; i++) {
        t->at[i].own = fmax(t->at[i].own, 0);
    }
    sum_up(t);
    return DLS_OK;
}

dls_status dls_quota_cohorts_read(dls_quota_tree *t, const char *path, dls_error *err)
{
    static const char header[] = "name,parent,gpus,borrow,lend[,weight,within,reclaim,borrowing,order]";
    return read_tree(t, path, header, read_cohort, err);
}

dls_status dls_quota_shares_read(dls_quota_tree *t, const char *path, dls_error *err)
{
    t->shares = true;
    return read_tree(t, path, "name,parent,gpus,limit,weight,priority", read_share, err);
}

void dls_quota_tree_fini(dls_quota_tree *t)
{
    dls_free(t->at);
}

dls_status dls_quota_tree_clone(dls_quota_tree *t, const dls_quota_tree *from, dls_error *err)
{
    *t = *from;
    t->cap = from->n;
    return dls_duplicate(&t->at, from->at, from->n, from->n, sizeof *t->at, err);
}

/* ---- who uses what --------------------------------------------------------------------------- */

void dls_quota_clear(dls_quota_tree *t)
{
    for (size_t i = 0; i < t->n; i++) {
        t->at[i].used = t->at[i].asked = 0;
    }
}

/* What of its use is the cohort's. */
static double borrowed(const dls_quota *q)
{
    return q->used > q->kept ? q->used - q->kept : 0;
}

static double share_left(const dls_quota_tree *t, int32_t queue, int32_t steps)
{
    double left = (double)INFINITY;
    for (int32_t at = queue; at >= 0; at = t->at[at].parent) {
        const dls_quota *q = &t->at[at];
        const double most = steps == 0 ? q->own : steps == 1 ? q->share : q->limit;
        left = fmin(left, fmin(most, q->limit) - q->used);
    }
    return left;
}

double dls_quota_free(const dls_quota_tree *t, int32_t queue, int32_t steps)
{
    const dls_quota *q = &t->at[queue];
    if (t->shares) {
        return share_left(t, queue, steps);
    }
    if (steps == 0 || q->parent < 0) {
        return q->all - q->used;
    }
    const double above = dls_quota_free(t, q->parent, steps - 1);
    const double most = q->all - q->kept - borrowed(q) + q->borrow;
    return (q->kept > q->used ? q->kept - q->used : 0) + (above < most ? above : most);
}

double dls_quota_most(const dls_quota_tree *t, int32_t queue)
{
    double most = t->shares ? (double)INFINITY : t->at[queue].most;
    for (int32_t at = queue; t->shares && at >= 0; at = t->at[at].parent) {
        most = fmin(most, t->at[at].limit);
    }
    return most;
}

void dls_quota_use(dls_quota_tree *t, int32_t queue, double gpus)
{
    for (int32_t at = queue; at >= 0 && gpus != 0; at = t->at[at].parent) {
        dls_quota *q = &t->at[at];
        const double before = borrowed(q);
        q->used += gpus;
        gpus = borrowed(q) - before;
    }
}
