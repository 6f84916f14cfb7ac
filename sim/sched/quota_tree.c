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
        .parent = -1, .own = -1, .borrow = (double)INFINITY, .lend = (double)INFINITY};
    memcpy(t->at[*which].name, name, strlen(name) + 1);
    return DLS_OK;
}

static bool number(const char *cell, double missing, double *out)
{
    *out = missing;
    return !*cell || dls_sched_table_number(cell, 0, 1e9, out);
}

static dls_status read_row(void *user, char *const *cell, const char *where, dls_error *err)
{
    dls_quota_tree *t = user;
    dls_quota row = {.parent = -1};
    int32_t which;
    if (!*cell[0] || !number(cell[2], 0, &row.own) ||
        !number(cell[3], (double)INFINITY, &row.borrow) ||
        !number(cell[4], (double)INFINITY, &row.lend)) {
        return dls_fail(err, DLS_EINPUT, where, "expected a name and numbers of GPUs");
    }
    if (*cell[1]) {
        DLS_TRY(member(t, cell[1], where, &row.parent, err));
    }
    DLS_TRY(member(t, cell[0], where, &which, err));
    if (t->at[which].own >= 0) {
        return dls_fail(err, DLS_EINPUT, where, "\"%s\" is there already", cell[0]);
    }
    memcpy(row.name, t->at[which].name, sizeof row.name);
    t->at[which] = row;
    return DLS_OK;
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

/* What members lend goes to their cohorts; how many steps there are up to the top. */
static void sum_up(dls_quota_tree *t)
{
    for (size_t k = 0; k < t->n; k++) {
        dls_quota *q = &t->at[t->at[k].order];
        q->all += q->own;
        q->kept = q->all > q->lend ? q->all - q->lend : 0;
        if (q->parent >= 0) {
            t->at[q->parent].all += q->all - q->kept;
        }
    }
    for (size_t k = t->n; k-- > 0;) {
        dls_quota *q = &t->at[t->at[k].order];
        q->depth = q->parent >= 0 ? t->at[q->parent].depth + 1 : 0;
        t->depth = q->depth > t->depth ? q->depth : t->depth;
    }
}

dls_status dls_quota_tree_read(dls_quota_tree *t, const char *path, dls_error *err)
{
    DLS_TRY(dls_sched_table_read(path, "name,parent,gpus,borrow,lend", read_row, t, err));
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

void dls_quota_tree_fini(dls_quota_tree *t)
{
    dls_free(t->at);
}

dls_status dls_quota_tree_clone(dls_quota_tree *t, const dls_quota_tree *from, dls_error *err)
{
    *t = (dls_quota_tree){.n = from->n, .cap = from->n, .depth = from->depth};
    return dls_duplicate(&t->at, from->at, from->n, from->n, sizeof *t->at, err);
}

/* ---- who uses what --------------------------------------------------------------------------- */

void dls_quota_clear(dls_quota_tree *t)
{
    for (size_t i = 0; i < t->n; i++) {
        t->at[i].used = 0;
    }
}

/* What of its use is the cohort's. */
static double borrowed(const dls_quota *q)
{
    return q->used > q->kept ? q->used - q->kept : 0;
}

double dls_quota_free(const dls_quota_tree *t, int32_t queue, int32_t steps)
{
    const dls_quota *q = &t->at[queue];
    if (steps == 0 || q->parent < 0) {
        return q->all - q->used;
    }
    const double above = dls_quota_free(t, q->parent, steps - 1);
    const double most = q->all - q->kept - borrowed(q) + q->borrow;
    return (q->kept > q->used ? q->kept - q->used : 0) + (above < most ? above : most);
}

void dls_quota_use(dls_quota_tree *t, int32_t queue, double gpus)
{
    for (int32_t at = queue; at >= 0 && gpus > 0; at = t->at[at].parent) {
        dls_quota *q = &t->at[at];
        const double before = borrowed(q);
        q->used += gpus;
        gpus = borrowed(q) - before;
    }
}
