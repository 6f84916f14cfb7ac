/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Lines of jobs that wait (lines.h): pairing heaps of jobs in lines, and of lines in groups.
 */
#include "sched/lines.h"

#include "dlsim/memory.h"

#include <string.h>

/* ---- heaps ----------------------------------------------------------------------------------- */

static bool precedes(const dls_line_node *a, const dls_line_node *b)
{
    return a->key != b->key ? a->key < b->key : a->tie < b->tie;
}

static int32_t meld(dls_line_node *x, int32_t a, int32_t b)
{
    if (a < 0 || b < 0) {
        return a < 0 ? b : a;
    }
    const int32_t top = precedes(&x[b], &x[a]) ? b : a, under = top == a ? b : a;
    x[under].next = x[top].child;
    x[under].before = top;
    if (x[top].child >= 0) {
        x[x[top].child].before = under;
    }
    x[top].child = under;
    x[top].next = x[top].before = -1;
    return top;
}

static int32_t insert(dls_line_node *x, int32_t root, int32_t i, int64_t key, int32_t tie)
{
    x[i] = (dls_line_node){.key = key, .tie = tie, .child = -1, .next = -1, .before = -1};
    return meld(x, root, i);
}

static int32_t without_first(dls_line_node *x, int32_t root)
{
    int32_t pairs = -1, all = -1;
    for (int32_t a = x[root].child, b, rest; a >= 0; a = rest) {
        b = x[a].next;
        rest = b >= 0 ? x[b].next : -1;
        const int32_t pair = meld(x, a, b);
        x[pair].next = pairs;
        pairs = pair;
    }
    for (int32_t rest; pairs >= 0; pairs = rest) {
        rest = x[pairs].next;
        all = meld(x, all, pairs);
    }
    if (all >= 0) {
        x[all].next = x[all].before = -1;
    }
    return all;
}

/* Takes one that is not the first from its siblings, with what is under it. */
static void cut(dls_line_node *x, int32_t i)
{
    const int32_t before = x[i].before;
    if (x[before].child == i) {
        x[before].child = x[i].next;
    } else {
        x[before].next = x[i].next;
    }
    if (x[i].next >= 0) {
        x[x[i].next].before = before;
    }
}

static int32_t without(dls_line_node *x, int32_t root, int32_t i)
{
    if (i == root) {
        return without_first(x, root);
    }
    cut(x, i);
    return meld(x, root, without_first(x, i));
}

/* The heap after a key has become less. */
static int32_t sooner(dls_line_node *x, int32_t root, int32_t i, int64_t key, int32_t tie)
{
    x[i].key = key;
    x[i].tie = tie;
    if (i == root) {
        return root;
    }
    cut(x, i);
    return meld(x, root, i);
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void preset(const dls_view *view, int32_t job, dls_line_ask *out)
{
    int64_t unused;
    *out = (dls_line_ask){.gpus = view->gpus[job],
                          .least = view->min_gpus[job],
                          .pool = dls_view_pool(view, job, 0, &unused),
                          .types = dls_view_types(view, job),
                          .part = view->gpus_milli ? view->gpus_milli[job] : 0};
}

static bool is_same(const dls_line_ask *a, const dls_line_ask *b)
{
    return a->group == b->group && a->gpus == b->gpus && a->least == b->least && a->pool == b->pool &&
           a->types == b->types && a->part == b->part && a->more == b->more;
}

static size_t bucket_of(const dls_lines *l, const dls_line_ask *a)
{
    const uint64_t part[] = {(uint64_t)a->group << 32 | (uint32_t)a->pool, (uint64_t)a->gpus << 32 | (uint32_t)a->least,
                             a->types, (uint64_t)a->part, (uint64_t)a->more};
    uint64_t x = 0;
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        x = (x ^ part[i]) * UINT64_C(0x9e3779b97f4a7c15);
        x ^= x >> 29;
    }
    size_t at = x & (l->n_buckets - 1);
    while (l->bucket[at] >= 0 && !is_same(&l->line[l->bucket[at]].ask, a)) {
        at = (at + 1) & (l->n_buckets - 1);
    }
    return at;
}

static dls_status grow_buckets(dls_lines *l, dls_error *err)
{
    const size_t n = l->n_buckets > 0 ? 2 * l->n_buckets : 64;
    int32_t *bucket;
    DLS_TRY(dls_alloc_array(&bucket, n, sizeof *bucket, "lines of jobs", err));
    memset(bucket, -1, n * sizeof *bucket);
    dls_free(l->bucket);
    l->bucket = bucket;
    l->n_buckets = n;
    for (size_t i = 0; i < l->n; i++) {
        l->bucket[bucket_of(l, &l->line[i].ask)] = (int32_t)i;
    }
    return DLS_OK;
}

/* The line of those that ask for this. */
static dls_status find_line(dls_lines *l, const dls_line_ask *ask, int32_t *out, dls_error *err)
{
    if (2 * (l->n + 1) > l->n_buckets) {
        DLS_TRY(grow_buckets(l, err));
    }
    const size_t at = bucket_of(l, ask);
    if (l->bucket[at] < 0) {
        DLS_TRY(dls_grow(&l->line, &l->cap, l->n + 1, sizeof *l->line, err));
        DLS_TRY(dls_grow(&l->head, &l->head_cap, l->n + 1, sizeof *l->head, err));
        DLS_TRY(dls_grow(&l->closed, &l->closed_cap, l->n + 1, sizeof *l->closed, err));
        DLS_TRY(dls_grow(&l->group, &l->group_cap, (size_t)ask->group + 1, sizeof *l->group, err));
        while (l->n_groups <= (size_t)ask->group) {
            l->group[l->n_groups++] = -1;
        }
        l->bucket[at] = (int32_t)l->n;
        l->line[l->n++] = (dls_line){.ask = *ask, .first = -1};
    }
    *out = l->bucket[at];
    return DLS_OK;
}

/* A line stands in its group by its first, if there is one. */
static void show(dls_lines *l, int32_t i)
{
    const dls_line *line = &l->line[i];
    int32_t *root = &l->group[line->ask.group];
    if (line->first >= 0) {
        *root = insert(l->head, *root, i, l->job[line->first].key, line->first);
    }
}

dls_status dls_lines_again(dls_lines *l, const dls_view *view, dls_line_ask_fn ask, void *user, int32_t job,
                           dls_error *err)
{
    dls_line_ask of;
    preset(view, job, &of);
    ask(user, view, job, &of);
    if (l->line_of[job] < 0) {
        DLS_TRY(find_line(l, &of, &l->line_of[job], err));
    }
    DLS_TRY(dls_grow(&l->out, &l->out_cap, l->n_out + l->standing + 1, sizeof *l->out, err));
    l->standing++;
    const int32_t i = l->line_of[job], first = l->line[i].first;
    dls_line *line = &l->line[i];
    line->first = insert(l->job, first, job, of.key, job);
    line->jobs++;
    if (first < 0) {
        show(l, i);
    } else if (line->first != first) {
        int32_t *root = &l->group[line->ask.group];
        *root = sooner(l->head, *root, i, of.key, job);
    }
    return DLS_OK;
}

void dls_lines_open(dls_lines *l)
{
    for (size_t i = 0; i < l->n_closed; i++) {
        show(l, l->closed[i]);
    }
    l->n_closed = 0;
}

static bool is_waiting(const dls_view *view, int32_t job)
{
    return (job > 0 ? dls_view_next_waiting(view, job - 1) : dls_view_first_waiting(view)) == job;
}

static bool stands(const dls_lines *l, const dls_view *view, int32_t job)
{
    return is_waiting(view, job) || (l->running && view->running[job]);
}

dls_status dls_lines_begin(dls_lines *l, const dls_view *view, dls_line_ask_fn ask, void *user,
                           dls_error *err)
{
    if (!l->job) {
        l->n_jobs = (size_t)view->n_jobs;
        DLS_TRY(dls_alloc_array(&l->job, l->n_jobs, sizeof *l->job, "lines of jobs", err));
        DLS_TRY(dls_alloc_array(&l->line_of, l->n_jobs, sizeof *l->line_of, "lines of jobs", err));
        memset(l->line_of, -1, l->n_jobs * sizeof *l->line_of);
    }
    dls_lines_open(l);
    size_t n = 0;
    for (size_t i = 0; i < l->n_out; i++) { /* who was taken twice is there twice */
        const int32_t job = l->out[i];
        if (l->job[job].tie != -1) {
            continue;
        }
        if (stands(l, view, job)) {
            DLS_TRY(dls_lines_again(l, view, ask, user, job, err));
        } else if (view->running[job]) {
            l->job[job].tie = -2;
            l->out[n++] = job;
        }
    }
    l->n_out = n;
    for (size_t i = 0; i < n; i++) {
        l->job[l->out[i]].tie = -1;
    }
    for (; dls_lines_next_us(l, view) <= view->now_us; l->next++) {
        if (is_waiting(view, l->next)) {
            DLS_TRY(dls_lines_again(l, view, ask, user, l->next, err));
        }
    }
    return DLS_OK;
}

int64_t dls_lines_next_us(const dls_lines *l, const dls_view *view)
{
    const bool came = l->next < view->n_jobs && view->submit_us[l->next] <= view->now_us;
    return !came ? DLS_NEVER : is_waiting(view, l->next) ? view->submit_us[l->next] + l->delay_us : view->now_us;
}

int32_t dls_lines_first(dls_lines *l, const dls_view *view, int32_t group)
{
    while ((size_t)group < l->n_groups && l->group[group] >= 0) {
        const int32_t job = l->line[l->group[group]].first;
        if (stands(l, view, job)) {
            return job;
        }
        dls_lines_take(l, job);
    }
    return -1;
}

bool dls_lines_has(const dls_lines *l, int32_t job)
{
    return l->line_of[job] >= 0 && l->job[job].tie >= 0;
}

void dls_lines_take(dls_lines *l, int32_t job)
{
    const int32_t i = l->line_of[job];
    dls_line *line = &l->line[i];
    int32_t *root = &l->group[line->ask.group];
    const bool first = line->first == job;
    l->standing--;
    l->out[l->n_out++] = job;
    line->first = without(l->job, line->first, job);
    line->jobs--;
    l->job[job].tie = -1;
    if (first) {
        *root = without(l->head, *root, i);
        show(l, i);
    }
}

void dls_lines_close(dls_lines *l, int32_t job)
{
    const int32_t i = l->line_of[job];
    l->closed[l->n_closed++] = i;
    l->group[l->line[i].ask.group] = without_first(l->head, i);
}

void dls_lines_fini(void *lines)
{
    dls_lines *l = lines;
    DLS_FREE_ALL(l->line, l->head, l->job, l->line_of, l->group, l->bucket, l->out, l->closed);
}

dls_status dls_lines_clone(void *lines, const void *from, const dls_view *view, dls_error *err)
{
    const dls_lines *of = from;
    dls_lines *l = lines;
    *l = *of;
    return DLS_COPY_ALL(err, DLS_COPY(l->line, of->n, of->cap), DLS_COPY(l->head, of->n, of->head_cap),
                        DLS_COPY(l->job, of->n_jobs, of->n_jobs), DLS_COPY(l->line_of, of->n_jobs, of->n_jobs),
                        DLS_COPY(l->group, of->n_groups, of->group_cap),
                        DLS_COPY(l->bucket, of->n_buckets, of->n_buckets),
                        DLS_COPY(l->out, of->n_out, of->out_cap),
                        DLS_COPY(l->closed, of->n_closed, of->closed_cap));
}
