/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Sharing of GPUs: a guest job runs on exactly the GPUs of a running host job.
 *
 * A guest holds the same GPUs as its host and is not counted by the selection: it is in none of its
 * sets. It ends with its own finish, or is preempted with its host; when the host finishes first it
 * stays as the owner. Who may be whose guest is the placement's to say, about waiting jobs that a
 * pass has left without GPUs:
 *
 *      hosts without a guest   one list per (class, type), newest last
 *      a waiting job           is asked about once with each host, newest first
 *
 * A pass asks for the first jobs of each class, for the next ones when one of them has found a host, and with at most
 * HOSTS_MAX new hosts each.
 */
#include "base/assert.h"
#include "engine/engine.h"

#include <stdlib.h>

enum { HOSTS_MAX = 64 };

dls_status dls_guests_init(dls_engine *e, dls_error *err)
{
    dls_guests *g = &e->guests;
    if (!g->on) {
        return DLS_OK;
    }
    for (int32_t j = 0; j < e->n; j++) {
        g->job[j] = (dls_guest){.host = DLS_NONE,
                                .guest = DLS_NONE,
                                .next = DLS_NONE,
                                .older = DLS_NONE,
                                .newer = DLS_NONE};
    }
    const int32_t n_lists = e->select.n_classes * e->select.n_types;
    for (int32_t i = 0; i < n_lists; i++) {
        g->newest[i] = DLS_NONE;
    }
    /* A gang over several types is nobody's host. */
    g->asks = e->params->placement->share != NULL && !e->params->sched->mixes;
    return dls_bitmap_init(&g->lists, n_lists, err);
}

static int32_t list_of(const dls_engine *e, int32_t job)
{
    return e->job[job].cls * e->select.n_types + e->hold.type[job];
}

/* A running job that could have a guest. */
static void offer(dls_engine *e, int32_t host)
{
    dls_guest *g = e->guests.job;
    if (!e->guests.asks) {
        return;
    }
    const int32_t list = list_of(e, host);
    int32_t *newest = &e->guests.newest[list];
    g[host].older = *newest;
    g[host].newer = DLS_NONE;
    if (*newest != DLS_NONE) {
        g[*newest].newer = host;
    } else {
        dls_bitmap_set(&e->guests.lists, list);
    }
    *newest = host;
    g[host].offer = ++e->guests.offers;
    g[host].offered = true;
    e->guests.news = true;
}

static void withdraw(dls_engine *e, int32_t host)
{
    dls_guest *g = e->guests.job;
    if (!g[host].offered) {
        return;
    }
    if (g[host].newer != DLS_NONE) {
        g[g[host].newer].older = g[host].older;
    } else {
        const int32_t list = list_of(e, host);
        e->guests.newest[list] = g[host].older;
        if (g[host].older == DLS_NONE) {
            dls_bitmap_clear(&e->guests.lists, list);
        }
    }
    if (g[host].older != DLS_NONE) {
        g[g[host].older].newer = g[host].newer;
    }
    g[host].offered = false;
}

/* ---- comings and goings ------------------------------------------------------------------------
 */

void dls_guest_offer(dls_engine *e, int32_t job)
{
    if (e->guests.job && !dls_is_guest(e, job)) {
        offer(e, job);
    }
}

void dls_guest_wanted(dls_engine *e, int32_t job)
{
    if (e->guests.asks) {
        e->guests.job[job].seen = 0;
        e->guests.news = true;
    }
}

/* The guest no longer shares its host's GPUs. */
static void unpair(dls_engine *e, int32_t guest)
{
    dls_guest *g = &e->guests.job[guest];
    int32_t *at = &e->guests.job[g->host].guest;
    while (*at != guest) {
        at = &e->guests.job[*at].next;
    }
    *at = g->next;
    g->host = g->next = DLS_NONE;
    e->select.guest[guest] = 0;
    e->guests.n--;
}

void dls_guest_finished(dls_engine *e, int32_t guest)
{
    DLS_DEBUG_ASSERT(dls_is_guest(e, guest));
    const int32_t host = e->guests.job[guest].host;
    unpair(e, guest);
    offer(e, host);
}

/* The job gets no more guests. Returns its first guest or DLS_NONE. */
static int32_t stop_hosting(dls_engine *e, int32_t host)
{
    if (!e->guests.job) {
        return DLS_NONE;
    }
    withdraw(e, host);
    return e->guests.job[host].guest;
}

void dls_guest_account(dls_engine *e, int32_t job)
{
    const int64_t us = e->clock.now_us - e->jobs.state_since_us[job];
    e->rec->guest_us[job] += us;
    e->rec->guest_gpu_s += (double)dls_gpu_time_us(e, job, us) / (double)DLS_US_PER_S;
}

dls_status dls_guest_inherit(dls_engine *e, int32_t host, dls_error *err)
{
    const int32_t guest = stop_hosting(e, host);
    if (guest == DLS_NONE) {
        return DLS_OK;
    }
    const dls_rank rank = dls_select_rank(&e->select, guest, e->clock.now_us);
    DLS_TRY(dls_job_split(e, guest, err)); /* its rows as a guest end here */
    dls_guest_account(e, guest);
    if (e->rec->gpu_us) { /* its own from here on */
        e->rec->gpu_us[guest] -=
            dls_gpu_time_us(e, guest, e->clock.now_us - e->jobs.state_since_us[guest]);
        e->rec->gpu_restore_us[guest] -= dls_gpu_time_us(e, guest, dls_job_stalled_us(e, guest));
    }
    unpair(e, guest);
    if (!dls_retake(e, guest)) { /* they were freed just now, so this cannot fail */
        return dls_fail(err, DLS_ERUN, NULL, "job %d cannot inherit the GPUs of job %d", guest,
                        host);
    }
    dls_select_add_running(&e->select, guest, e->hold.type[guest], rank, e->clock.now_us);
    offer(e, guest);
    /* The others are its guests from now on. */
    dls_guest *g = e->guests.job;
    g[guest].guest = g[host].guest;
    g[host].guest = DLS_NONE;
    for (int32_t k = g[guest].guest; k != DLS_NONE; k = g[k].next) {
        g[k].host = guest;
    }
    return DLS_OK;
}

/* Lose the shared GPUs and wait. */
static dls_status stop_guest(dls_engine *e, int32_t guest, bool failed, dls_error *err)
{
    DLS_TRY(dls_job_lose(e, guest, failed, err));
    const dls_rank rank = dls_select_rank(&e->select, guest, e->clock.now_us);
    unpair(e, guest);
    dls_select_add_waiting(&e->select, guest, rank,
                           dls_estimate_left_us(e, guest, e->job[guest].work) + e->params->restore_us);
    return DLS_OK;
}

dls_status dls_guest_stop(dls_engine *e, int32_t guest, bool failed, dls_error *err)
{
    DLS_DEBUG_ASSERT(dls_is_guest(e, guest));
    const int32_t host = e->guests.job[guest].host;
    DLS_TRY(stop_guest(e, guest, failed, err));
    offer(e, host);
    return DLS_OK;
}

dls_status dls_guest_evict(dls_engine *e, int32_t host, dls_error *err)
{
    for (int32_t guest = stop_hosting(e, host); guest != DLS_NONE;
         guest = e->guests.job[host].guest) {
        e->guests.evicted = true;
        DLS_TRY(stop_guest(e, guest, false, err));
    }
    return DLS_OK;
}

/* ---- asking ------------------------------------------------------------------------------------
 */

dls_status dls_guest_join(dls_engine *e, int32_t guest, int32_t host, dls_error *err)
{
    DLS_DEBUG_ASSERT(!e->jobs.running[guest] && e->jobs.running[host] && !dls_is_guest(e, host));
    dls_select *s = &e->select;
    int32_t parts = DLS_NONE;
    const dls_rank rank = s->order.member[guest].rank;
    for (int32_t p = e->job[host].parts; p >= 0; p = e->hold.part[p].next) {
        DLS_TRY(dls_new_part(e, e->hold.part[p].node, e->hold.part[p].mask, parts, &parts, err));
    }
    withdraw(e, host);
    dls_select_take_waiting(s, guest);
    s->guest[guest] = 1;
    dls_select_set_guest_rank(s, guest, rank, e->clock.now_us);
    e->guests.job[guest].host = host;
    int32_t *last = &e->guests.job[host].guest;
    while (*last != DLS_NONE) {
        last = &e->guests.job[*last].next;
    }
    *last = guest;
    e->guests.n++;
    e->rec->guest_starts++;
    return dls_job_start(e, guest, e->hold.type[host], parts, err);
}

/* The best of the hosts in one list that the job has not yet been asked about with. */
static dls_status best_host(dls_engine *e, int32_t job, int32_t list, int32_t *budget,
                            double *most, int32_t *best, dls_error *err)
{
    const dls_guest *g = e->guests.job;
    int32_t host = e->guests.newest[list];
    for (; host != DLS_NONE && g[host].offer > g[job].seen && *budget > 0; host = g[host].older) {
        double value;
        --*budget;
        if (e->select.size[host] != e->select.size[job]) {
            continue; /* it has been resized */
        }
        DLS_TRY(dls_ask_share(e, job, host, &value, err));
        if (value > *most) {
            *most = value;
            *best = host;
        }
    }
    return DLS_OK;
}

static dls_status find_host(dls_engine *e, int32_t job, dls_error *err)
{
    const dls_select *s = &e->select;
    const dls_class *c = &s->cls[s->job[job].cls];
    const dls_pool *p = &s->pool[c->pool];
    int32_t budget = HOSTS_MAX, best = DLS_NONE;
    double most = 0;
    if (e->walk.on) {
        e->walk.size[job] = c->gpus; /* what it asks for, whatever it had before */
    }
    /* Hosts that ask for as many GPUs, and for as much CPU and memory, so that they can be
     * inherited. */
    const int32_t end = (p->first_class + p->n_classes) * s->n_types;
    for (int32_t list = dls_bitmap_next(&e->guests.lists, p->first_class * s->n_types); list >= 0 && list < end;
         list = dls_bitmap_next(&e->guests.lists, list + 1)) {
        const dls_class *other = &s->cls[list / s->n_types];
        if (other->gpus == c->gpus && other->weight >= c->weight && other->cpu_milli >= c->cpu_milli &&
            other->mem_mib >= c->mem_mib && c->types >> (list % s->n_types) & 1) {
            DLS_TRY(best_host(e, job, list, &budget, &most, &best, err));
        }
    }
    e->guests.job[job].seen = e->guests.offers;
    if (best == DLS_NONE) {
        return DLS_OK;
    }
    DLS_TRY(dls_guest_join(e, job, best, err));
    if (!e->walk.on && (e->discipline == DLS_STRICT || e->discipline == DLS_EASY)) {
        if (dls_select_has_refused(c)) { /* maybe for its sake */
            dls_select_clear_refusal(&e->select, e->select.job[job].cls);
        }
        e->guests.left = true;
        dls_mark_dirty(e, job);
    }
    return DLS_OK;
}

/* Of a class, those that were refused and the first that wait, but for whom there is no host that they have not been
 * asked about with; returns how many. */
static size_t heads_of(dls_engine *e, dls_class *c, int32_t *out)
{
    dls_select *s = &e->select;
    size_t n = 0;
    int32_t j = dls_order_first(&s->order, c->parked);
    for (int32_t i = 0; i < DLS_PARKED_MAX && j != DLS_NONE; i++, j = dls_order_next(&s->order, c->parked, j)) {
        out[n] = j;
        n += e->guests.job[j].seen != e->guests.offers;
    }
    j = c->head;
    for (int32_t i = 0; i < DLS_GUEST_HEADS && j != DLS_NONE; i++, j = dls_select_next_waiting(s, c, j)) {
        out[n] = j;
        n += e->guests.job[j].seen != e->guests.offers;
    }
    return n;
}

/* Ask for the first jobs of all classes, until one joins that others may have waited for; *joined: one has a host now. */
static dls_status ask_heads(dls_engine *e, bool *joined, dls_error *err)
{
    dls_select *s = &e->select;
    int32_t *asking = e->guests.asking;
    const int32_t guests = e->guests.n;
    size_t n = 0;
    for (int32_t k = 0; k < s->n_classes; k++) {
        n += heads_of(e, &s->cls[k], asking + n);
    }
    if (n > 1) {
        qsort_r(asking, n, sizeof *asking, dls_select_by_rank, s);
    }
    for (size_t i = 0; i < n && !e->guests.left; i++) {
        DLS_TRY(find_host(e, asking[i], err));
    }
    *joined = e->guests.n > guests;
    return DLS_OK;
}

/* A host is there for jobs of several classes, so all are asked for in the order in which they stand; and when one has
 * joined, for the next of its class. Where those behind it have waited for it (e->guests.left), they may get GPUs of their
 * own first, and the rest is asked after that. */
dls_status dls_guest_pass(dls_engine *e, dls_error *err)
{
    bool joined = true;
    while (joined && !e->guests.left) {
        DLS_TRY(ask_heads(e, &joined, err));
    }
    e->guests.news = e->guests.left; /* else all have been asked: a new guest cannot be a host, so none has appeared */
    return DLS_OK;
}
