/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The table of reservations of Slurm's backfill and the search for the earliest start in it.
 */
#include "sched/slurm_plan.h"

#include "dlsim/memory.h"
#include "sched/slurm_clock.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define SIZES (DLS_GPUS_PER_NODE_MAX + 2)

void dls_slurm_plan_fini(dls_slurm_plan *p)
{
    DLS_FREE_ALL(p->run, p->parts, p->span, p->sets, p->room, p->avail, p->want, p->near,
                 p->of_type, p->with, p->having, p->held);
    dls_slurm_when_fini(&p->when);
    *p = (dls_slurm_plan){0};
}

/* ---- running jobs ---------------------------------------------------------------------------- */

DLS_BY(by_end, dls_slurm_run, DLS_UP(end_us), DLS_UP(job));

/* p->having as the node's free GPUs are. */
static void list(dls_slurm_plan *p, int32_t node, int32_t from, int32_t to, bool has)
{
    const uint64_t bit = UINT64_C(1) << node % 64;
    for (int32_t g = from; g < to; g++) {
        uint64_t *word = &p->having[g * p->words + node / 64];
        *word = has ? *word | bit : *word & ~bit;
    }
}

/* What a node has free now. Processors are cut as a part's are: the index is short of less than ten
 * thousandths of one, by what is cut off. */
static dls_slurm_room room_of(const dls_slurm_plan *p, const dls_place_index *index, int32_t node)
{
    return (dls_slurm_room){
        .gpus = dls_place_free(index, node),
        .cpus = p->unaccounted.cpus + dls_place_free_cpu(index, node) / 10 * 10 - p->held[node].cpus,
        .mem = p->unaccounted.mem + dls_place_free_mem(index, node) - p->held[node].mem};
}

static void look(dls_slurm_plan *p, const dls_place_index *index, int32_t node)
{
    const int32_t had = p->room[node].gpus;
    p->room[node] = room_of(p, index, node);
    list(p, node, had + 1, p->room[node].gpus + 1, true);
    list(p, node, p->room[node].gpus + 1, had + 1, false);
    if (p->room[node].gpus != had) {
        dls_slurm_when_stale(p, node);
    }
}

/* Unsorted, at the end of the list. */
static dls_status add_run(dls_slurm_plan *p, const dls_view *view, int32_t job,
                          const dls_slurm_ask *ask, dls_error *err)
{
    const bool gpus = ask->type >= 0;
    const int32_t held = gpus ? view->held_gpus[job] : ask->nodes;
    const size_t most = (size_t)(held < p->n_nodes ? held : p->n_nodes);
    const dls_place_part *chosen = NULL;
    dls_slurm_run r = {.end_us = dls_slurm_whole_s(view->now_us) + ask->limit_us,
                       .job = job,
                       .first_part = (int32_t)p->n_parts,
                       .cpus_per_gpu = gpus ? dls_view_cpu_per_gpu(view, job) : 0,
                       .mem_per_gpu = gpus ? dls_view_mem_per_gpu(view, job) : 0,
                       .cpus = gpus ? 0 : ask->cpus,
                       .mem = gpus ? 0 : ask->mem};
    DLS_TRY(dls_grow(&p->run, &p->run_cap, p->n_run + 1, sizeof *p->run, err));
    DLS_TRY(dls_grow(&p->parts, &p->parts_cap, p->n_parts + most, sizeof *p->parts, err));
    if (gpus) {
        r.n_parts = (int32_t)dls_view_nodes(view, job, p->parts + p->n_parts, most);
    } else {
        r.n_parts = dls_slurm_plan_parts(p, ask, &chosen);
        memcpy(p->parts + p->n_parts, chosen, (size_t)r.n_parts * sizeof *chosen);
    }
    p->run[p->n_run++] = r;
    p->n_parts += (size_t)r.n_parts;
    return DLS_OK;
}

dls_status dls_slurm_plan_init(dls_slurm_plan *p, const dls_view *view, dls_error *err)
{
    const dls_place_index *index = dls_view_index(view);
    const int32_t n_nodes = dls_place_nodes(index), n_types = dls_place_types(index);
    p->n_nodes = n_nodes;
    p->words = (n_nodes + 63) / 64;
    DLS_TRY(DLS_ALLOC_ALL("nodes", err, DLS_ARRAY(p->room, (size_t)n_nodes * 3),
                          DLS_ARRAY(p->held, (size_t)n_nodes),
                          DLS_ARRAY(p->avail, (size_t)p->words * 5),
                          DLS_ARRAY(p->having, (size_t)p->words * SIZES),
                          DLS_ARRAY(p->want, (size_t)n_nodes), DLS_ARRAY(p->near, (size_t)n_nodes),
                          DLS_ARRAY(p->of_type, (size_t)((n_types + 1) * p->words))));
    p->n_types = n_types;
    for (int32_t n = 0; n < n_nodes; n++) {
        const uint64_t bit = UINT64_C(1) << n % 64;
        p->of_type[dls_place_type(index, n) * p->words + n / 64] |= bit;
        p->of_type[n_types * p->words + n / 64] |= bit;
        p->having[n / 64] |= bit;
    }
    DLS_TRY(dls_alloc_array(&p->with, (size_t)(2 * n_types * SIZES), sizeof *p->with, "nodes", err));
    p->able = p->with + n_types * SIZES;
    p->later = p->room + n_nodes;
    p->idle = p->later + n_nodes;
    p->chosen = p->avail + p->words;
    p->may = p->chosen + p->words;
    p->closed = p->may + p->words;
    p->usable = p->closed + p->words;
    for (int32_t n = 0; n < n_nodes; n++) {
        p->idle[n] = room_of(p, index, n);
    }
    return dls_slurm_when_init(p, index, err);
}

dls_status dls_slurm_plan_clone(dls_slurm_plan *p, const dls_slurm_plan *from, const dls_view *view,
                                dls_error *err)
{
    *p = (dls_slurm_plan){.unaccounted = from->unaccounted,
                          .cpu_jobs = from->cpu_jobs,
                          .clock_us = from->clock_us,
                          .resolution_us = from->resolution_us,
                          .window_us = from->window_us};
    DLS_TRY(dls_slurm_plan_init(p, view, err));
    memcpy(p->idle, from->idle, (size_t)p->n_nodes * sizeof *p->idle);
    memcpy(p->held, from->held, (size_t)p->n_nodes * sizeof *p->held);
    memcpy(p->near, from->near, (size_t)p->n_nodes * sizeof *p->near);
    DLS_TRY(dls_duplicate(&p->run, from->run, from->n_run, from->run_cap, sizeof *p->run, err));
    p->n_run = from->n_run;
    p->run_cap = from->run_cap;
    DLS_TRY(dls_duplicate(&p->parts, from->parts, from->n_parts, from->parts_cap, sizeof *p->parts,
                          err));
    p->n_parts = from->n_parts;
    p->parts_cap = from->parts_cap;
    return dls_slurm_when_grow(p, err);
}

/* with: [types][SIZES] nodes that have so many GPUs in `room`, or more. */
static void count_sizes(const dls_slurm_plan *p, const dls_place_index *index, const dls_slurm_room *room, int32_t *with)
{
    const int32_t n_types = dls_place_types(index);
    memset(with, 0, (size_t)(n_types * SIZES) * sizeof *with);
    for (int32_t n = 0; n < p->n_nodes; n++) {
        with[dls_place_type(index, n) * SIZES + room[n].gpus]++;
    }
    for (int32_t t = 0; t < n_types; t++) {
        for (int32_t g = SIZES - 2; g >= 0; g--) {
            with[t * SIZES + g] += with[t * SIZES + g + 1];
        }
    }
}

/* Where GPUs are lacking that neither are free nor held by jobs: services have them, or they have failed. */
static void count_able(dls_slurm_plan *p, const dls_view *view, int64_t held)
{
    p->lacks = view->total_gpus - view->free_gpus > held;
    if (!p->lacks) {
        return;
    }
    memcpy(p->later, p->room, (size_t)p->n_nodes * sizeof *p->later);
    for (size_t i = 0; i < p->n_run; i++) {
        const dls_slurm_run *r = &p->run[i];
        for (int32_t k = 0; r->until_us == DLS_NEVER && k < r->n_parts; k++) {
            const dls_place_part *part = &p->parts[r->first_part + k];
            int32_t *gpus = &p->later[part->node].gpus; /* jobs may have parts of one */
            *gpus = *gpus + part->gpus < SIZES - 2 ? *gpus + part->gpus : SIZES - 2;
        }
    }
    count_sizes(p, dls_view_index(view), p->later, p->able);
}

/* parts[] without those of jobs that are gone. */
static dls_status compact(dls_slurm_plan *p, size_t n_parts, dls_error *err)
{
    dls_place_part *parts;
    size_t n = 0;
    DLS_TRY(dls_alloc_array(&parts, n_parts + 1, sizeof *parts, "parts", err));
    for (size_t i = 0; i < p->n_run; i++) {
        dls_slurm_run *r = &p->run[i];
        memcpy(parts + n, p->parts + r->first_part, (size_t)r->n_parts * sizeof *parts);
        r->first_part = (int32_t)n;
        n += (size_t)r->n_parts;
    }
    dls_free(p->parts);
    p->parts = parts;
    p->n_parts = n;
    p->parts_cap = n_parts + 1;
    return DLS_OK;
}

/* Jobs that run no more go. What starts comes by dls_slurm_plan_started alone. *held: GPUs of those that run. */
static dls_status drop_ended(dls_slurm_plan *p, const dls_view *view, int64_t *held, dls_error *err)
{
    size_t n = 0, n_parts = 0;
    for (size_t i = 0; i < p->n_run; i++) {
        const dls_slurm_run *r = &p->run[i];
        if (r->until_us == DLS_NEVER ? view->held_gpus[r->job] > 0 : r->until_us > view->now_us) {
            n_parts += (size_t)r->n_parts;
            *held += r->until_us == DLS_NEVER ? view->held_gpus[r->job] : 0;
            p->run[n++] = *r;
            continue;
        }
        for (int32_t k = 0; k < r->n_parts; k++) {
            const int32_t node = p->parts[r->first_part + k].node;
            p->held[node].cpus -= r->cpus;
            p->held[node].mem -= r->mem;
            dls_slurm_when_stale(p, node);
        }
    }
    p->n_run = n;
    return p->n_parts > 2 * n_parts + 4096 ? compact(p, n_parts, err) : DLS_OK;
}

dls_status dls_slurm_plan_begin(dls_slurm_plan *p, const dls_view *view, dls_error *err)
{
    const dls_place_index *index = dls_view_index(view);
    size_t all;
    int64_t held = 0;
    DLS_TRY(drop_ended(p, view, &held, err));
    p->n_span = p->n_sets = 0;
    p->now_us = view->now_us;
    memset(p->closed, 0, (size_t)p->words * sizeof *p->closed);
    for (int32_t n = 0; n < p->n_nodes; n++) {
        look(p, index, n);
    }
    count_sizes(p, index, p->room, p->with);
    count_able(p, view, held);
    DLS_TRY(dls_slurm_plan_new_set(p, &all, err));
    memset(p->sets + all, 0xff, (size_t)p->words * sizeof *p->sets);
    DLS_TRY(dls_grow(&p->span, &p->span_cap, 1, sizeof *p->span, err));
    p->span[p->n_span++] =
        (dls_slurm_span){dls_slurm_plan_cut(p, view->now_us),
                         dls_slurm_plan_cut(p, view->now_us + p->window_us), all};
    return DLS_OK;
}

dls_status dls_slurm_plan_started(dls_slurm_plan *p, const dls_view *view, int32_t job,
                                  const dls_slurm_ask *ask, int64_t until_us, dls_error *err)
{
    DLS_TRY(add_run(p, view, job, ask, err));
    DLS_TRY(dls_slurm_when_grow(p, err));
    dls_slurm_run made = p->run[p->n_run - 1];
    made.until_us = until_us;
    for (int32_t k = 0; k < made.n_parts; k++) {
        const int32_t node = p->parts[made.first_part + k].node;
        p->held[node].cpus += made.cpus;
        p->held[node].mem += made.mem;
        look(p, dls_view_index(view), node);
        dls_slurm_when_stale(p, node);
    }
    size_t at = p->n_run - 1;
    for (; at > 0 && by_end(&p->run[at - 1], &made) > 0; at--) {
        p->run[at] = p->run[at - 1];
    }
    p->run[at] = made;
    return DLS_OK;
}

/* ---- the search ------------------------------------------------------------------------------ */

/* Is a chosen node reserved for somebody else at some time between? */
static bool overlaps(const dls_slurm_plan *p, int64_t start_us, int64_t end_us)
{
    for (size_t i = 0; i < p->n_span && p->span[i].begin_us < end_us; i++) {
        const uint64_t *set = p->sets + p->span[i].nodes;
        for (int32_t w = 0; p->span[i].end_us > start_us && w < p->words; w++) {
            if (p->chosen[w] & ~set[w]) {
                return true;
            }
        }
    }
    return false;
}

/* The nodes that a job may be on that starts then: good until the next call. *later_us: when the first
 * reservation of others behind that is over. */
static const uint64_t *nodes_for(dls_slurm_plan *p, const dls_slurm_ask *ask, int64_t start_us,
                                 int64_t *later_us)
{
    const uint64_t *all = p->of_type + (ask->type < 0 ? p->n_types : ask->type) * p->words;
    *later_us = DLS_NEVER;
    if (!ask->only && p->outages->n == 0) {
        return all;
    }
    for (int32_t w = 0; w < p->words; w++) {
        p->may[w] = all[w] & (ask->only ? ask->only[w] : UINT64_MAX);
    }
    if (p->outages->n > 0) {
        *later_us = dls_slurm_outages_apply(p->outages, ask->reservation, start_us,
                                            start_us + ask->limit_us, p->may);
    }
    return p->may;
}

/* When it may start at the earliest, where it waits for its reservation. */
static int64_t allowed(const dls_slurm_plan *p, const dls_slurm_ask *ask, int64_t now_us)
{
    const int64_t begin_us = ask->reservation < 0
                                 ? now_us
                                 : dls_slurm_reservation_begin(p->outages, ask->reservation, now_us);
    return begin_us > now_us ? begin_us : now_us;
}

void dls_slurm_plan_close(dls_slurm_plan *p, const uint64_t *nodes)
{
    for (int32_t w = 0; w < p->words; w++) {
        p->closed[w] |= nodes[w];
    }
}

bool dls_slurm_plan_holds(const dls_slurm_plan *p, const dls_slurm_ask *ask, const dls_slurm_outages *outages,
                          int64_t now_us)
{
    const uint64_t *all = p->of_type + (ask->type < 0 ? p->n_types : ask->type) * p->words;
    int32_t left = ask->nodes > 0 ? ask->nodes : ask->gang; /* any nodes: their GPUs count */
    for (int32_t w = 0; w < p->words; w++) {
        p->may[w] = all[w] & (ask->only ? ask->only[w] : UINT64_MAX);
    }
    dls_slurm_outages_gone(outages, ask->reservation, now_us, p->may);
    for (int32_t n = 0; n < p->n_nodes && left > 0; n++) {
        const bool may = p->may[n / 64] >> n % 64 & 1;
        left -= !may ? 0 : ask->nodes == 0 ? p->idle[n].gpus : dls_slurm_holds(&p->idle[n], ask);
    }
    return left <= 0;
}

bool dls_slurm_plan_has_room(const dls_slurm_plan *p, const dls_slurm_ask *ask)
{
    return ask->type < 0 || p->with[ask->type * SIZES + ask->gpus] >= ask->nodes;
}

/* A job gives back what it has in p->later; nodes where it then fits are usable. */
static void release(dls_slurm_plan *p, const dls_slurm_run *r, const dls_slurm_ask *ask)
{
    for (int32_t k = 0; k < r->n_parts; k++) {
        const dls_place_part *part = &p->parts[r->first_part + k];
        dls_slurm_room *room = &p->later[part->node];
        uint64_t *usable = &p->usable[part->node / 64];
        const uint64_t bit = UINT64_C(1) << part->node % 64;
        dls_slurm_give_back(room, r, part);
        if (p->avail[part->node / 64] & bit & ~*usable && dls_slurm_holds(room, ask)) {
            *usable |= bit;
        }
    }
}

/* p->avail: the nodes that a job may have now. */
static void open_now(dls_slurm_plan *p, const dls_slurm_ask *ask)
{
    int64_t later_us;
    const uint64_t *may = nodes_for(p, ask, p->now_us, &later_us);
    for (int32_t w = 0; w < p->words; w++) {
        p->avail[w] = may[w] & ~p->closed[w];
    }
}

int32_t dls_slurm_fitting(dls_slurm_plan *p, const dls_slurm_ask *ask)
{
    const uint64_t *having = p->having + ask->gpus * p->words;
    int32_t fits = 0;
    for (int32_t w = 0; w < p->words; w++) {
        p->usable[w] = p->avail[w] & having[w];
        for (uint64_t bits = p->usable[w]; bits; bits &= bits - 1) {
            const int32_t n = 64 * w + __builtin_ctzll(bits);
            if (!dls_slurm_holds(&p->room[n], ask)) {
                p->usable[w] &= ~(bits & -bits);
            }
        }
        fits += __builtin_popcountll(p->usable[w]);
    }
    return fits;
}

bool dls_slurm_plan_now(dls_slurm_plan *p, const dls_slurm_ask *ask)
{
    open_now(p, ask);
    dls_slurm_mark_anew(p, ask->only, p->room, ask);
    const bool fits = dls_slurm_plan_has_room(p, ask) && allowed(p, ask, p->now_us) <= p->now_us &&
                      dls_slurm_fitting(p, ask) >= ask->nodes && dls_slurm_choose(p, p->room, ask);
    if (!fits) { /* then Slurm looks whether the job could ever run */
        dls_slurm_mark_anew(p, ask->only, p->idle, ask);
    }
    return fits;
}

void dls_slurm_plan_again(dls_slurm_plan *p, const dls_slurm_ask *ask)
{
    dls_slurm_mark_anew(p, p->avail, p->room, ask);
    if (p->cpu_jobs && ask->type < 0) {
        (void)dls_slurm_choose(p, p->room, ask);
    }
}

/* The run of a job of the view; NULL: it has none. O(running). */
static const dls_slurm_run *run_of(const dls_slurm_plan *p, int32_t job)
{
    for (size_t i = 0; i < p->n_run; i++) {
        if (p->run[i].job == job) {
            return &p->run[i];
        }
    }
    return NULL;
}

int32_t dls_slurm_plan_parts(dls_slurm_plan *p, const dls_slurm_ask *ask,
                             const dls_place_part **parts)
{
    int32_t n = 0;
    const int32_t each = ask->gang / ask->nodes, more = ask->gang % ask->nodes;
    for (int32_t w = 0; w < p->words; w++) {
        for (uint64_t bits = p->chosen[w]; bits; bits &= bits - 1) {
            p->want[n] = (dls_place_part){64 * w + __builtin_ctzll(bits), each + (n < more)};
            n++;
        }
    }
    *parts = p->want;
    return n;
}

/* Are there nodes to gain where span i ends: some that the next has, and that a job from within
 * span i on could not have? */
static bool gains(const dls_slurm_plan *p, const uint64_t *all, size_t i)
{
    const uint64_t *here = p->sets + p->span[i].nodes, *next = p->sets + p->span[i + 1].nodes;
    for (int32_t w = 0; w < p->words; w++) {
        if (all[w] & next[w] & ~(p->avail[w] & here[w])) {
            return true;
        }
    }
    return false;
}

/* p->avail: the nodes that nobody reserves between start and end. *later_us: when some that are
 * reserved become free. *first: a span, none before which lasts beyond start; moved on. */
static void unreserved(dls_slurm_plan *p, const dls_slurm_ask *ask, int64_t start_us, size_t *first,
                       int64_t *later_us)
{
    const int64_t end_us = start_us + ask->limit_us;
    const uint64_t *all = nodes_for(p, ask, start_us, later_us);
    const int32_t words = p->words;
    uint64_t *avail = p->avail;
    int64_t found_us = DLS_NEVER;
    memcpy(avail, all, (size_t)words * sizeof *avail);
    while (*first < p->n_span && p->span[*first].end_us <= start_us) {
        ++*first;
    }
    for (size_t i = *first; i < p->n_span; i++) {
        if (found_us == DLS_NEVER && i + 1 < p->n_span && gains(p, all, i)) {
            found_us = p->span[i].end_us;
        }
        if (p->span[i].begin_us > end_us) {
            break;
        }
        const uint64_t *set = p->sets + p->span[i].nodes;
        for (int32_t w = 0; w < words; w++) {
            avail[w] &= set[w];
        }
    }
    *later_us = found_us < *later_us ? found_us : *later_us;
}

int32_t dls_slurm_plan_preempt(dls_slurm_plan *p, const dls_slurm_ask *ask, bool free, int32_t *victim, int32_t n)
{
    int32_t tried = 0, needed = 0;
    bool fits = false;
    if (free) {
        const int64_t now_us = dls_slurm_whole_s(p->now_us);
        int64_t later_us;
        size_t first = 0;
        unreserved(p, ask, now_us, &first, &later_us);
    } else {
        open_now(p, ask);
    }
    if (allowed(p, ask, p->now_us) > p->now_us) {
        return -1;
    }
    (void)dls_slurm_fitting(p, ask);
    memcpy(p->later, p->room, (size_t)p->n_nodes * sizeof *p->later);
    for (; tried < n && !fits; tried++) {
        const dls_slurm_run *r = run_of(p, victim[tried]);
        if (r) {
            release(p, r, ask);
            fits = dls_slurm_touches(p, r, p->avail) && dls_slurm_choose(p, p->later, ask);
        }
    }
    for (int32_t i = 0; fits && i < tried; i++) {
        const dls_slurm_run *r = run_of(p, victim[i]);
        if (r && dls_slurm_touches(p, r, p->chosen)) {
            victim[needed++] = victim[i];
        }
    }
    return fits ? needed : -1;
}

bool dls_slurm_plan_unreserved(dls_slurm_plan *p, const dls_view *view, const dls_slurm_ask *ask)
{
    const int64_t now_us = dls_slurm_whole_s(view->now_us);
    int64_t later_us;
    size_t first = 0;
    if (allowed(p, ask, now_us) > now_us) {
        return false;
    }
    unreserved(p, ask, now_us, &first, &later_us);
    return dls_slurm_fitting(p, ask) >= ask->nodes && dls_slurm_choose(p, p->room, ask);
}

int64_t dls_slurm_plan_start(dls_slurm_plan *p, const dls_view *view, const dls_slurm_ask *ask)
{
    const int64_t now_us = dls_slurm_whole_s(view->now_us);
    const int64_t last_us = now_us + p->window_us;
    int64_t from_us = allowed(p, ask, now_us);
    size_t first = 0;
    while (from_us <= last_us) {
        int64_t later_us;
        unreserved(p, ask, from_us, &first, &later_us);
        int64_t start_us =
            dls_slurm_when_starts(p, ask, now_us, later_us < last_us ? later_us : last_us);
        start_us = start_us > from_us ? start_us : from_us;
        if (start_us <= now_us) {
            return view->now_us;
        }
        if (start_us > later_us || start_us > last_us) { /* reserved nodes may be free by then */
            from_us = later_us;
            continue;
        }
        if (!overlaps(p, dls_slurm_plan_cut(p, start_us),
                      dls_slurm_plan_cut(p, start_us + ask->limit_us))) {
            return start_us;
        }
        assert(start_us > from_us); /* from there on nothing is reserved on p->avail */
        from_us = start_us;
    }
    return DLS_NEVER;
}
