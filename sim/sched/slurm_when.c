/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * When a job fits by the time limits of what runs: which of Slurm's windows of ends holds it.
 *
 * What runs on each node is kept by end with what is free then, and from when on a node has so many GPUs free. So a
 * search that cannot succeed is none, and one that can looks at few nodes.
 */
#include "sched/slurm_plan.h"

#include "dlsim/memory.h"

#include <string.h>

#define WINDOW_US INT64_C(30000000)
#define WINDOW_JOBS 200 /* ends taken together at most */

dls_status dls_slurm_when_init(dls_slurm_plan *p, const dls_place_index *index, dls_error *err)
{
    dls_slurm_when *w = &p->when;
    for (int32_t t = 0; t < p->n_types; t++) {
        const int32_t most = dls_place_max_gpus(index, t);
        w->most_gpus = most > w->most_gpus ? most : w->most_gpus;
    }
    const size_t rows = (size_t)w->most_gpus + 1, nodes = (size_t)p->n_nodes, words = (size_t)p->words;
    DLS_TRY(DLS_ALLOC_ALL("nodes", err, DLS_ARRAY(w->ready_us, rows * nodes),
                          DLS_ARRAY(w->order, rows * nodes), DLS_ARRAY(w->first_us, nodes),
                          DLS_ARRAY(w->begin, nodes + 2), DLS_ARRAY(w->stale, words)));
    for (size_t i = 0; i < rows * nodes; i++) {
        w->order[i] = (int32_t)(i % nodes);
    }
    for (int32_t n = 0; n < p->n_nodes; n++) {
        dls_slurm_when_stale(p, n);
    }
    return DLS_OK;
}

void dls_slurm_when_fini(dls_slurm_when *w)
{
    DLS_FREE_ALL(w->ready_us, w->order, w->first_us, w->begin, w->stale, w->on);
}

dls_status dls_slurm_when_grow(dls_slurm_plan *p, dls_error *err)
{
    return dls_grow(&p->when.on, &p->when.on_cap, p->n_parts + 1, sizeof *p->when.on, err);
}

void dls_slurm_when_stale(dls_slurm_plan *p, int32_t node)
{
    p->when.stale[node / 64] |= UINT64_C(1) << node % 64;
    p->when.any_stale = true;
}

/* ---- what is kept of nodes ------------------------------------------------------------------- */

/* Parts by node, in the order of their ends, and what is free after each. */
static void list_parts(const dls_slurm_plan *p)
{
    const dls_slurm_when *w = &p->when;
    memset(w->begin, 0, ((size_t)p->n_nodes + 2) * sizeof *w->begin);
    for (size_t i = 0; i < p->n_run; i++) {
        for (int32_t k = 0; k < p->run[i].n_parts; k++) {
            w->begin[p->parts[p->run[i].first_part + k].node + 2]++;
        }
    }
    for (int32_t n = 0; n < p->n_nodes; n++) {
        w->begin[n + 2] += w->begin[n + 1];
    }
    for (size_t i = 0; i < p->n_run; i++) {
        for (int32_t k = 0; k < p->run[i].n_parts; k++) {
            const int32_t part = p->run[i].first_part + k;
            w->on[w->begin[p->parts[part].node + 1]++] =
                (dls_slurm_on){.end_us = p->run[i].end_us, .run = (int32_t)i, .part = part};
        }
    }
    for (int32_t n = 0; n < p->n_nodes; n++) {
        dls_slurm_room room = p->room[n];
        for (dls_slurm_on *on = w->on + w->begin[n]; on < w->on + w->begin[n + 1]; on++) {
            dls_slurm_give_back(&room, &p->run[on->run], &p->parts[on->part]);
            on->room = room;
        }
    }
}

/* From when on a node has so many GPUs free: always up to what is free now. */
static void count_gpus(const dls_slurm_plan *p, int32_t node)
{
    const dls_slurm_when *w = &p->when;
    int32_t g = 0;
    int64_t *ready_us = w->ready_us + node;
    for (; g <= p->room[node].gpus; g++) {
        ready_us[(size_t)g * (size_t)p->n_nodes] = INT64_MIN;
    }
    for (int32_t i = w->begin[node]; i < w->begin[node + 1]; i++) {
        for (; g <= w->on[i].room.gpus && g <= w->most_gpus; g++) {
            ready_us[(size_t)g * (size_t)p->n_nodes] = w->on[i].end_us;
        }
    }
    for (; g <= w->most_gpus; g++) {
        ready_us[(size_t)g * (size_t)p->n_nodes] = DLS_NEVER;
    }
}

/* The stale nodes to their places in the order of a row. */
static void sort_row(const dls_slurm_plan *p, int32_t gpus)
{
    const dls_slurm_when *w = &p->when;
    const int64_t *ready_us = w->ready_us + (size_t)gpus * (size_t)p->n_nodes;
    int32_t *order = w->order + (size_t)gpus * (size_t)p->n_nodes, n = 0;
    for (int32_t i = 0; i < p->n_nodes; i++) {
        order[n] = order[i];
        n += !(w->stale[order[i] / 64] >> order[i] % 64 & 1);
    }
    for (int32_t i = 0; i < p->words; i++) {
        for (uint64_t bits = w->stale[i]; bits; bits &= bits - 1) {
            const int32_t node = 64 * i + __builtin_ctzll(bits);
            int32_t at = n++;
            for (; at > 0 && ready_us[order[at - 1]] > ready_us[node]; at--) {
                order[at] = order[at - 1];
            }
            order[at] = node;
        }
    }
}

static void renew(dls_slurm_plan *p)
{
    dls_slurm_when *w = &p->when;
    if (!w->any_stale) {
        return;
    }
    list_parts(p);
    for (int32_t i = 0; i < p->words; i++) {
        for (uint64_t bits = w->stale[i]; bits; bits &= bits - 1) {
            count_gpus(p, 64 * i + __builtin_ctzll(bits));
        }
    }
    for (int32_t g = 0; g <= w->most_gpus; g++) {
        sort_row(p, g);
    }
    memset(w->stale, 0, (size_t)p->words * sizeof *w->stale);
    w->any_stale = false;
}

/* ---- the search ------------------------------------------------------------------------------ */

/* From when on a node holds one of the job's parts. INT64_MIN: now; INT64_MAX: not before then. */
static int64_t holds_from(const dls_slurm_plan *p, const dls_slurm_ask *ask, int32_t node,
                          int64_t before_us)
{
    const dls_slurm_when *w = &p->when;
    const dls_slurm_on *on = w->on + w->begin[node], *end = w->on + w->begin[node + 1];
    if (dls_slurm_holds(&p->room[node], ask)) {
        return INT64_MIN;
    }
    while (on < end && on->end_us < before_us && !dls_slurm_holds(&on->room, ask)) {
        on++;
    }
    return on < end && on->end_us < before_us ? on->end_us : INT64_MAX;
}

/* From when on enough of p->avail hold it. INT64_MIN: now; INT64_MAX: not until then. Nodes come in the order in which
 * they have the GPUs, so that few are looked at that have nothing to go with them. */
static int64_t enough(const dls_slurm_plan *p, const dls_slurm_ask *ask, int64_t until_us)
{
    const size_t row = (size_t)ask->gpus * (size_t)p->n_nodes;
    const int64_t *ready_us = p->when.ready_us + row;
    const int32_t *order = p->when.order + row;
    int64_t *first_us = p->when.first_us; /* of the nodes looked at those that hold it first */
    int32_t n = 0;
    int64_t before_us = until_us + 1;
    for (int32_t i = 0; i < p->n_nodes && ready_us[order[i]] < before_us; i++) {
        const int64_t from_us = dls_slurm_is_avail(p, order[i])
                                    ? holds_from(p, ask, order[i], before_us)
                                    : INT64_MAX;
        if (from_us == INT64_MAX) {
            continue;
        }
        n += n < ask->nodes;
        int32_t at = n - 1;
        for (; at > 0 && first_us[at - 1] > from_us; at--) {
            first_us[at] = first_us[at - 1];
        }
        first_us[at] = from_us;
        before_us = n == ask->nodes ? first_us[n - 1] : before_us;
    }
    return n == ask->nodes ? first_us[n - 1] : INT64_MAX;
}

/* What a node has free when all that runs up to number `last` has ended. */
static dls_slurm_room room_after(const dls_slurm_plan *p, int32_t node, size_t last)
{
    const dls_slurm_when *w = &p->when;
    int32_t i = w->begin[node];
    while (i < w->begin[node + 1] && (size_t)w->on[i].run <= last) {
        i++;
    }
    return i > w->begin[node] ? w->on[i - 1].room : p->room[node];
}

/* Does the job fit on p->avail when all that runs up to number `last` has ended? */
static bool fits_after(dls_slurm_plan *p, const dls_slurm_ask *ask, size_t last)
{
    const size_t row = (size_t)(ask->nodes > 0 ? ask->gpus : 0) * (size_t)p->n_nodes;
    const int64_t *ready_us = p->when.ready_us + row;
    const int32_t *order = p->when.order + row;
    int32_t fits = 0;
    memset(p->usable, 0, (size_t)p->words * sizeof *p->usable);
    for (int32_t i = 0; i < p->n_nodes && ready_us[order[i]] <= p->run[last].end_us; i++) {
        const int32_t n = order[i];
        if (dls_slurm_is_avail(p, n)) {
            p->later[n] = room_after(p, n, last);
            const bool holds = dls_slurm_holds(&p->later[n], ask);
            p->usable[n / 64] |= (uint64_t)holds << n % 64;
            fits += holds;
        }
    }
    return fits >= ask->nodes && dls_slurm_choose(p, p->later, ask);
}

/* The first job from number i on that runs on p->avail; n_run: there is none. */
static size_t next_there(const dls_slurm_plan *p, size_t i)
{
    while (i < p->n_run && !dls_slurm_touches(p, &p->run[i], p->avail)) {
        i++;
    }
    return i;
}

/* The first from number i on that ends later; n_run: none does. */
static size_t next_later(const dls_slurm_plan *p, size_t i, int64_t end_us)
{
    size_t at;
    DLS_BISECT(at, p->n_run - i, p->run[i + at].end_us <= end_us);
    return i + at;
}

/* The last job of p->avail, from number i on, that is taken with those before it: behind it the
 * next of all ends later, or it is the last of so many. n_run: there is none. */
static size_t last_of_window(const dls_slurm_plan *p, size_t i, int64_t end_us)
{
    const size_t later = next_later(p, i, end_us);
    size_t last = p->n_run;
    if (later > i && later - i <= WINDOW_JOBS) { /* so few that they need not be counted */
        last = next_there(p, later - 1);
        i = last < p->n_run ? p->n_run : i;
    }
    for (int n = 0; n < WINDOW_JOBS && (i = next_there(p, i)) < p->n_run; n++) {
        last = i++;
        if (i < p->n_run && p->run[i].end_us > end_us) {
            break;
        }
    }
    return last;
}

/* As dls_slurm_when_starts, without marks; *at: the number of the run whose end it is, else as it was. */
static int64_t search(dls_slurm_plan *p, const dls_slurm_ask *ask, int64_t now_us, int64_t until_us,
                      size_t *at)
{
    const int64_t enough_us = ask->nodes > 0 ? enough(p, ask, until_us) : INT64_MIN;
    if (enough_us == INT64_MIN && dls_slurm_fitting(p, ask) >= ask->nodes &&
        dls_slurm_choose(p, p->room, ask)) {
        return now_us;
    }
    if (enough_us > until_us) {
        return DLS_NEVER;
    }
    int64_t window_us = WINDOW_US;
    size_t i = next_there(p, 0);
    if (i == p->n_run) {
        return DLS_NEVER;
    }
    const int64_t end_us = p->run[i].end_us;
    const int64_t from_us = end_us + WINDOW_US - (end_us + p->clock_us) % WINDOW_US;
    while (i < p->n_run) {
        const size_t last = last_of_window(p, i, from_us + window_us);
        if (last == p->n_run || p->run[last].end_us > until_us) {
            return DLS_NEVER;
        }
        if (p->run[last].end_us >= enough_us && fits_after(p, ask, last)) {
            const int64_t last_us = p->run[last].end_us;
            *at = last;
            return last_us > now_us ? last_us : now_us + 1000000;
        }
        i = last + 1;
        do {
            window_us *= 2;
        } while (i < p->n_run && window_us < INT64_MAX / 4 &&
                 p->run[i].end_us > from_us + window_us);
    }
    return DLS_NEVER;
}

int64_t dls_slurm_when_starts(dls_slurm_plan *p, const dls_slurm_ask *ask, int64_t now_us, int64_t until_us)
{
    size_t last = p->n_run;
    renew(p);
    const int64_t start_us = search(p, ask, now_us, p->marks ? INT64_MAX - 1 : until_us, &last);
    if (p->marks && start_us == now_us) {
        dls_slurm_mark(p, p->room, ask);
    } else if (p->marks && ask->type >= 0) {
        for (int32_t n = 0; n < p->n_nodes; n++) {
            p->later[n] = room_after(p, n, last);
        }
        dls_slurm_mark(p, p->later, ask);
    }
    return start_us;
}
