/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Tracks the running jobs for placements that predict: their expected ends in order, and a list of
 * jobs by network link; answers what a candidate placement would share its links with.
 */
#include "placement/traffic.h"

#include "dlsim/memory.h"
#include "dlsim/predictor.h"

#include <math.h>
#include <string.h>

#define SEVERAL 0.6 /* of an iteration, between two bursts */

size_t dls_traffic_link_count(const dls_place_index *index)
{
    return (size_t)dls_place_nodes(index) + (size_t)dls_place_racks(index);
}

dls_status dls_traffic_init(dls_traffic *t, const dls_place_index *index, dls_error *err)
{
    t->n_nodes = dls_place_nodes(index);
    t->n_racks = dls_place_racks(index);
    t->spare_entry = -1;
    const size_t n_links = dls_traffic_link_count(index);
    DLS_TRY(dls_alloc_array(&t->link, n_links, sizeof *t->link, "links", err));
    memset(t->link, 0xff, n_links * sizeof *t->link);
    return dls_openings_init(&t->openings, index, err);
}

void dls_traffic_fini(dls_traffic *t)
{
    for (size_t i = 0; i < t->n_runners; i++) {
        dls_free(t->runner[i].part);
    }
    for (int32_t k = 0; k < DLS_TYPES_MAX; k++) {
        dls_free(t->ends[k].next);
    }
    DLS_FREE_ALL(t->runner, t->of, t->link, t->entry);
    dls_openings_fini(&t->openings);
}

dls_status dls_traffic_clone(dls_traffic *t, const dls_traffic *from, const dls_place_index *index,
                             dls_error *err)
{
    const size_t n_links = dls_traffic_link_count(index);
    t->n_runners = 0;
    memset(t->ends, 0, sizeof t->ends);
    t->openings = (dls_openings){0};
    DLS_TRY(DLS_COPY_ALL(err, DLS_COPY(t->runner, from->n_runners, from->runner_cap),
                         DLS_COPY(t->of, from->n_jobs, from->job_cap), DLS_COPY(t->link, n_links, n_links),
                         DLS_COPY(t->entry, from->n_entries, from->entry_cap)));
    DLS_TRY(dls_openings_init(&t->openings, index, err));
    for (size_t i = 0; i < from->n_runners; i++) {
        const dls_runner *of = &from->runner[i];
        DLS_TRY(dls_duplicate(&t->runner[i].part, of->part, of->n, of->cap, sizeof *of->part, err));
        t->n_runners = i + 1;
    }
    for (int32_t k = 0; k < DLS_TYPES_MAX; k++) {
        const dls_ends *of = &from->ends[k];
        DLS_TRY(dls_duplicate(&t->ends[k].next, of->next, of->cap, of->cap, sizeof *of->next, err));
        t->ends[k] = (dls_ends){t->ends[k].next, of->n_next, of->n_later, of->cap};
    }
    return DLS_OK;
}

dls_pulse dls_pulse_of(const dls_prediction *f)
{
    const double tx = f->metric[DLS_NET_TX_ACTIVE], rx = f->metric[DLS_NET_RX_ACTIVE];
    const double burst_s = fmin(fmax(tx, rx), f->iteration_s); /* fmax ignores a NAN */
    const bool known = f->iteration_s > 0 && burst_s > 0 && f->link_bps > 0;
    /* Who exchanges several times in an iteration bursts as often. */
    const double idle_s = tx >= rx ? f->metric[DLS_NET_TX_IDLE] : f->metric[DLS_NET_RX_IDLE];
    const bool several = idle_s > 0 && burst_s + idle_s < SEVERAL * f->iteration_s;
    const double period_s = several ? burst_s + idle_s : f->iteration_s;
    return known ? (dls_pulse){.period_s = period_s, .burst_s = burst_s, .bps = f->link_bps}
                 : (dls_pulse){0};
}

/* ---- who runs ------------------------------------------------------------------------------- */

static bool sooner(const dls_by_end *a, const dls_by_end *b)
{
    return a->end_us < b->end_us || (a->end_us == b->end_us && a->runner < b->runner);
}

static void put_later(dls_traffic *t, dls_by_end *heap, size_t at, dls_by_end end)
{
    heap[at] = end;
    t->runner[end.runner].later = (int32_t)at + 1;
}

/* Into the heap of n at a place that is free, or nearer to the root or the leaves if need be. */
static void settle_later(dls_traffic *t, dls_by_end *heap, size_t n, size_t at, dls_by_end end)
{
    for (; at > 0 && sooner(&end, &heap[(at - 1) / 2]); at = (at - 1) / 2) {
        put_later(t, heap, at, heap[(at - 1) / 2]);
    }
    for (size_t child; (child = 2 * at + 1) < n; at = child) {
        child += child + 1 < n && sooner(&heap[child + 1], &heap[child]);
        if (!sooner(&heap[child], &end)) {
            break;
        }
        put_later(t, heap, at, heap[child]);
    }
    put_later(t, heap, at, end);
}

static void remove_later(dls_traffic *t, dls_ends *e, size_t at)
{
    dls_by_end *heap = e->next + DLS_ENDS_NEXT;
    t->runner[heap[at].runner].later = 0;
    if (at < --e->n_later) {
        settle_later(t, heap, e->n_later, at, heap[e->n_later]);
    }
}

static void add_later(dls_traffic *t, dls_ends *e, dls_by_end end)
{
    e->n_later++;
    settle_later(t, e->next + DLS_ENDS_NEXT, e->n_later, e->n_later - 1, end);
}

/* The array has room for one more. */
static void add_end(dls_traffic *t, dls_ends *e, dls_by_end end)
{
    const bool full = e->n_next == DLS_ENDS_NEXT;
    if ((e->n_later > 0 && !sooner(&end, &e->next[DLS_ENDS_NEXT])) ||
        (full && !sooner(&end, &e->next[e->n_next - 1]))) {
        add_later(t, e, end);
        return;
    }
    if (full) {
        add_later(t, e, e->next[--e->n_next]);
    }
    size_t at;
    DLS_BISECT(at, e->n_next, sooner(&e->next[at], &end));
    memmove(e->next + at + 1, e->next + at, (e->n_next - at) * sizeof *e->next);
    e->next[at] = end;
    e->n_next++;
}

static void remove_end(dls_traffic *t, dls_ends *e, dls_by_end end)
{
    const int32_t later = t->runner[end.runner].later;
    if (later > 0) {
        remove_later(t, e, (size_t)later - 1);
        return;
    }
    size_t at;
    DLS_BISECT(at, e->n_next, sooner(&e->next[at], &end));
    e->n_next--;
    memmove(e->next + at, e->next + at + 1, (e->n_next - at) * sizeof *e->next);
    while (e->n_later > 0 && e->n_next < DLS_OPENINGS_ENDS) {
        e->next[e->n_next++] = e->next[DLS_ENDS_NEXT];
        remove_later(t, e, 0);
    }
}

static void leave_link(dls_traffic *t, int32_t link, int32_t slot)
{
    int32_t *at = &t->link[link];
    while (*at >= 0 && t->entry[*at].runner != slot) {
        at = &t->entry[*at].next;
    }
    if (*at >= 0) {
        const int32_t gone = *at;
        *at = t->entry[gone].next;
        t->entry[gone].next = t->spare_entry;
        t->spare_entry = gone;
    }
}

static void join_link(dls_traffic *t, int32_t link, int32_t slot)
{
    int32_t at = t->link[link];
    while (at >= 0 && t->entry[at].runner != slot) {
        at = t->entry[at].next;
    }
    if (at >= 0) {
        return; /* a rack's uplink is met once a node */
    }
    at = t->spare_entry;
    if (at >= 0) {
        t->spare_entry = t->entry[at].next;
    } else {
        if (dls_grow(&t->entry, &t->entry_cap, t->n_entries + 1, sizeof *t->entry, NULL) !=
            DLS_OK) {
            return;
        }
        at = (int32_t)t->n_entries++;
    }
    t->entry[at] = (dls_on_link){.runner = slot, .next = t->link[link]};
    t->link[link] = at;
}

int32_t dls_traffic_link_of(const dls_traffic *t, const dls_place_index *index,
                            const dls_place_part *part, size_t n, bool uplinks, size_t k)
{
    if (k < n) {
        return part[k].node;
    }
    return uplinks && k < 2 * n ? t->n_nodes + dls_place_rack(index, part[k - n].node) : -1;
}

static void each_link(dls_traffic *t, const dls_place_index *index, int32_t slot,
                      void (*visit)(dls_traffic *t, int32_t link, int32_t slot))
{
    const dls_runner *p = &t->runner[slot];
    int32_t link;
    if (p->pulse.period_s > 0 && p->n > 1) {
        for (size_t k = 0;
             (link = dls_traffic_link_of(t, index, p->part, p->n, p->uplinks, k)) >= 0; k++) {
            visit(t, link, slot);
        }
    }
}

/* What is noted of a job; NULL: out of memory. */
static dls_traffic_job *job_of(dls_traffic *t, int32_t job)
{
    if (dls_grow(&t->of, &t->job_cap, (size_t)job + 1, sizeof *t->of, NULL) != DLS_OK) {
        return NULL;
    }
    for (; t->n_jobs < t->job_cap; t->n_jobs++) {
        t->of[t->n_jobs] = (dls_traffic_job){.shift_s = (double)NAN};
    }
    return &t->of[job];
}

void dls_traffic_set_shift(dls_traffic *t, int32_t job, double shift_s)
{
    dls_traffic_job *of = job_of(t, job);
    if (of) {
        of->shift_s = shift_s;
    }
}

/* A free slot with room for n parts and in all the tables; -1: out of memory. */
static int32_t new_slot(dls_traffic *t, const dls_request *r, size_t n)
{
    dls_ends *e = &t->ends[r->type];
    if (dls_grow(&e->next, &e->cap, DLS_ENDS_NEXT + e->n_later + 1, sizeof *e->next, NULL) !=
        DLS_OK) {
        return -1;
    }
    if (t->spare == 0) {
        if (dls_grow(&t->runner, &t->runner_cap, t->n_runners + 1, sizeof *t->runner, NULL) !=
            DLS_OK) {
            return -1;
        }
        t->runner[t->n_runners++] = (dls_runner){0};
        t->spare = (int32_t)t->n_runners;
    }
    const int32_t slot = t->spare - 1;
    dls_runner *p = &t->runner[slot];
    if (dls_grow(&p->part, &p->cap, n, sizeof *p->part, NULL) != DLS_OK) {
        return -1;
    }
    t->spare = p->next;
    return slot;
}

void dls_traffic_started(void *state, const dls_place_index *index, const dls_request *r,
                         const int32_t *nodes, const int32_t *gpus, size_t n)
{
    dls_traffic *t = state;
    dls_traffic_job *of = job_of(t, r->job);
    const int32_t slot = of ? new_slot(t, r, n) : -1;
    if (slot < 0) {
        return;
    }
    dls_runner *p = &t->runner[slot];
    for (size_t i = 0; i < n; i++) {
        p->part[i] = (dls_place_part){nodes[i], gpus[i]};
    }
    const dls_shape shape = dls_place_shape(index, p->part, n);
    dls_prediction f;
    p->n = n;
    p->type = r->type;
    p->job = r->job;
    p->uplinks = shape.n_racks > 1;
    p->end_us = DLS_NEVER;
    p->pulse = (dls_pulse){0};
    if (dls_place_predict(r, r->job, &shape, &f)) {
        const double left_us = f.remaining_s * 1e6;
        p->end_us = left_us < 9e17 ? r->now_us + (int64_t)left_us : DLS_NEVER;
        p->pulse = dls_pulse_of(&f);
        const double shift = isnan(of->shift_s) ? (double)r->now_us / 1e6 : of->shift_s;
        p->pulse.shift_s = p->pulse.period_s > 0 ? fmod(shift, p->pulse.period_s) : 0;
    }
    *of = (dls_traffic_job){.slot = slot + 1, .shift_s = (double)NAN};
    p->later = 0;
    add_end(t, &t->ends[r->type], (dls_by_end){p->end_us, slot});
    t->changes[r->type]++;
    each_link(t, index, slot, join_link);
}

void dls_traffic_stopped(void *state, const dls_place_index *index, int32_t job, int64_t now_us,
                         int64_t worked_us)
{
    dls_traffic *t = state;
    if ((size_t)job >= t->n_jobs || t->of[job].slot == 0) {
        return;
    }
    const int32_t slot = t->of[job].slot - 1;
    dls_runner *p = &t->runner[slot];
    each_link(t, index, slot, leave_link);
    remove_end(t, &t->ends[p->type], (dls_by_end){p->end_us, slot});
    t->changes[p->type]++;
    t->of[job].slot = 0;
    p->next = t->spare;
    t->spare = slot + 1;
}

/* ---- links ---------------------------------------------------------------------------------- */

double dls_traffic_capacity(const dls_traffic *t, const dls_place_index *index, int32_t link)
{
    return link < t->n_nodes ? dls_place_nic_bps(index, link)
                             : dls_place_uplink_bps(index, link - t->n_nodes);
}

size_t dls_traffic_links(const dls_traffic *t, const dls_place_index *index, const dls_grant *grant,
                         const dls_shape *shape, dls_cassini_link links[DLS_CASSINI_LINKS])
{
    size_t n, found = 0;
    const dls_place_part *part = dls_grant_parts(grant, &n);
    const bool uplinks = shape->n_racks > 1;
    int32_t link, last = -1;
    for (size_t k = 0; n > 1 && found < DLS_CASSINI_LINKS &&
                       (link = dls_traffic_link_of(t, index, part, n, uplinks, k)) >= 0;
         k++) {
        const double capacity = dls_traffic_capacity(t, index, link);
        if (link == last || !(capacity > 0) || t->link[link] < 0) {
            continue;
        }
        last = link;
        dls_cassini_link *l = &links[found++];
        *l = (dls_cassini_link){.capacity_bps = capacity};
        for (int32_t at = t->link[link]; at >= 0 && l->n < DLS_CASSINI_JOBS;
             at = t->entry[at].next) {
            l->pulse[l->n++] = t->runner[t->entry[at].runner].pulse;
        }
    }
    return found;
}

static double mean_bps(const dls_pulse *p)
{
    return p->bps * p->burst_s / p->period_s;
}

bool dls_traffic_fits(const dls_traffic *t, const dls_place_index *index, const dls_grant *grant,
                      const dls_shape *shape, const dls_prediction *f, double link_part)
{
    const dls_pulse mine = dls_pulse_of(f);
    const bool uplinks = shape->n_racks > 1;
    size_t n;
    const dls_place_part *part = dls_grant_parts(grant, &n);
    int32_t link;
    if (n < 2) {
        return true;
    }
    if (!(mine.period_s > 0)) {
        return false; /* what it sends is not known */
    }
    for (size_t k = 0; (link = dls_traffic_link_of(t, index, part, n, uplinks, k)) >= 0; k++) {
        const double capacity = dls_traffic_capacity(t, index, link);
        double sum = mean_bps(&mine);
        for (int32_t at = t->link[link]; at >= 0; at = t->entry[at].next) {
            sum += mean_bps(&t->runner[t->entry[at].runner].pulse);
        }
        if (!(capacity > 0) || sum > link_part * capacity) { /* 0: not known */
            return false;
        }
    }
    return true;
}
