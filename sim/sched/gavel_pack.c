/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Pairs of jobs that share GPUs, for Gavel's rounds (OSDI 2020, section 3.4, and its baseline
 * Gandiva). The authors' programs have a column for every pair of jobs; here pairs are made first,
 * and the program has one job for each. A pair stays together until one of the two is over, they do
 * badly, or room for everybody has come.
 */
#include "sched/gavel.h"

#include "dlsim/memory.h"

#include <math.h>

struct dls_gavel_single {
    double key;
    uint32_t types;
    int32_t pool; /* whose quota it is held against: only those of one may share */
    int32_t gpus, job;
};
typedef struct dls_gavel_single single;

static dls_gavel_entry *entry_of(const dls_gavel *g, const dls_view *view, int32_t job)
{
    const size_t at = *(const size_t *)dls_view_job_state(view, job);
    return at > 0 ? &g->entry[at - 1] : NULL;
}

dls_gavel_entry *dls_gavel_partner(const dls_gavel *g, const dls_view *view,
                                   const dls_gavel_entry *e)
{
    return e->partner >= 0 ? entry_of(g, view, e->partner) : NULL;
}

bool dls_gavel_leads(const dls_gavel *g, const dls_view *view, const dls_gavel_entry *e)
{
    if (!dls_gavel_partner(g, view, e)) {
        return true;
    }
    const bool has = view->running[e->job] && dls_view_host(view, e->job) < 0;
    const bool other = view->running[e->partner] && dls_view_host(view, e->partner) < 0;
    return has != other ? has : e->job < e->partner;
}

double dls_gavel_beside(const dls_gavel *g, const dls_gavel_entry *a, const dls_gavel_entry *b)
{
    if (g->packing.at_random) { /* nothing is known beforehand */
        return a->beside > 0 && b->beside > 0 ? fmin(1, (a->beside + b->beside) / 2) : 1;
    }
    return fmax(0.5, 1 - g->packing.slope * fmax(0, a->use + b->use - g->packing.knee));
}

/* ---- what was seen --------------------------------------------------------------------------- */

/* Rate of a job alone on a type; where it has not been so, by its rate on another and what is known of
 * their speeds. 0: it has not run alone. */
static double alone_on(const dls_gavel *g, const dls_gavel_entry *e, int32_t type)
{
    double rate = e->alone[type];
    for (int32_t k = 0; k < g->n_types && rate == 0; k++) {
        const int32_t t = g->type[k];
        rate = e->speed[t] > 0 ? e->alone[t] * e->speed[type] / e->speed[t] : 0;
    }
    return rate;
}

/* The rate that a job has shown since the last round; true: its first alone. Nothing is made of that of a
 * job whose partner is just over: it may be that of both or its own. */
static bool look_at(const dls_gavel *g, const dls_view *view, dls_gavel_entry *e)
{
    dls_observation seen;
    const bool paired = e->partner >= 0;
    if (!g->packing.at_random || !dls_view_observed(view, e->job, &seen) ||
        (paired && dls_view_host(view, e->job) != e->partner && dls_view_host(view, e->partner) != e->job)) {
        return false;
    }
    const double alone = alone_on(g, e, seen.type);
    if (paired) {
        e->beside = alone > 0 ? seen.rate / alone : 0;
        return false;
    }
    e->alone[seen.type] = fmax(e->alone[seen.type], seen.rate);
    return alone == 0;
}

/* ---- parting --------------------------------------------------------------------------------- */

static void split(dls_gavel_entry *a, dls_gavel_entry *b)
{
    a->partner = b->partner = -1;
    a->beside = b->beside = 0;
}

static bool has_failed(const dls_gavel_entry *e, int32_t with)
{
    for (uint32_t i = 0; i < DLS_GAVEL_FAILED && i < e->n_failed; i++) {
        if (e->failed[i] == with) {
            return true;
        }
    }
    return false;
}

static void fail_pair(dls_gavel_entry *a, dls_gavel_entry *b)
{
    a->failed[a->n_failed++ % DLS_GAVEL_FAILED] = b->job;
    b->failed[b->n_failed++ % DLS_GAVEL_FAILED] = a->job;
    split(a, b);
}

bool dls_gavel_part(dls_gavel *g, const dls_view *view)
{
    bool any = false;
    for (size_t i = 0; i < g->n; i++) {
        any |= look_at(g, view, &g->entry[i]);
    }
    for (size_t i = 0; i < g->n; i++) {
        dls_gavel_entry *e = &g->entry[i], *other = dls_gavel_partner(g, view, e);
        if (!other) {
            any |= e->partner >= 0;
            e->partner = -1;
            e->beside = 0;
            continue;
        }
        /* Together last time, and now one runs and the other does not: its GPUs had not the memory.
         */
        const bool was = e->joined + 1 == g->round && other->joined + 1 == g->round;
        if (was && view->running[e->job] && !view->running[other->job]) {
            other->apart = true;
            split(e, other);
            any = true;
        } else if (g->packing.at_random && 2 * dls_gavel_beside(g, e, other) < 1) {
            fail_pair(e, other);
            any = true;
        }
    }
    return any;
}

/* ---- pairing --------------------------------------------------------------------------------- */

/* Larger gangs first: a pair of them saves more. */
DLS_BY(least_use, single, DLS_DOWN(gpus), DLS_UP(types), DLS_UP(pool), DLS_UP(key), DLS_UP(job));

static size_t list_singles(dls_gavel *g, const dls_view *view, int64_t *asked)
{
    size_t n = 0;
    *asked = 0;
    for (size_t i = 0; i < g->n; i++) {
        dls_gavel_entry *e = &g->entry[i];
        *asked += view->gpus[e->job];
        if (e->partner >= 0 || e->apart || (g->packing.at_random && alone_on(g, e, g->type[0]) == 0)) {
            continue; /* jobs that nothing has been seen of run alone first */
        }
        if (!g->packing.at_random && e->use == 0) {
            e->use = dls_gang_use(view, e->job);
        }
        const double key = g->packing.at_random ? dls_rng_unit(&g->packing.rng) : e->use;
        if (isfinite(key)) {
            const uint32_t types = dls_view_types(view, e->job);
            int64_t cap;
            g->packing.single[n++] = (single){
                key, types, types ? dls_view_pool(view, e->job, __builtin_ctz(types), &cap) : 0,
                view->gpus[e->job], e->job};
        }
    }
    return n;
}

/* Who is to run beside a job, of those behind it: the next, or the first that it was not parted from. */
static single *find_partner(const dls_gavel *g, const dls_view *view, single *a, const single *end)
{
    const dls_gavel_entry *x = entry_of(g, view, a->job);
    for (single *b = a + 1; b < end && b - a <= 1 + (ptrdiff_t)x->n_failed && b - a <= 1 + DLS_GAVEL_FAILED; b++) {
        if (a->gpus != b->gpus || a->types != b->types || a->pool != b->pool) {
            return NULL;
        }
        if (!has_failed(x, b->job) && 2 * dls_gavel_beside(g, x, entry_of(g, view, b->job)) > 1) {
            return b;
        }
    }
    return NULL;
}

dls_status dls_gavel_pair(dls_gavel *g, const dls_view *view, dls_error *err)
{
    int64_t asked, there = 0;
    DLS_TRY(
        dls_grow(&g->packing.single, &g->packing.cap, g->n + 1, sizeof *g->packing.single, err));
    const size_t n = list_singles(g, view, &asked);
    for (int32_t k = 0; k < g->n_types; k++) {
        there += g->there[g->type[k]];
    }
    for (size_t i = 0; i < g->n; i++) {
        dls_gavel_entry *e = &g->entry[i], *other = dls_gavel_partner(g, view, e);
        if (other && asked <= there) {
            split(e, other);
        } else if (other && e->job < other->job) {
            asked -= view->gpus[e->job];
        }
    }
    dls_sort(g->packing.single, n, sizeof *g->packing.single, least_use);
    for (size_t i = 0; i + 1 < n && asked > there; i++) {
        single *a = &g->packing.single[i], *b = find_partner(g, view, a, g->packing.single + n);
        if (b) {
            dls_gavel_entry *x = entry_of(g, view, a->job), *y = entry_of(g, view, b->job);
            x->partner = y->job;
            y->partner = x->job;
            asked -= a->gpus;
            *b = a[1]; /* which is looked at where b was */
            i++;
        }
    }
    return DLS_OK;
}

const dls_option dls_gavel_packed_options[] = {DLS_GAVEL_OPTIONS, DLS_PAIR_OPTIONS, {0}};

dls_status dls_gavel_init_packed(void *state, const dls_view *view, const dls_option_value *values,
                                 dls_error *err)
{
    dls_gavel *g = state;
    DLS_TRY(dls_gavel_init(state, view, values, err));
    g->packing.on = true;
    g->packing.knee = values[DLS_GAVEL_OPTIONS_N].f;
    g->packing.slope = values[DLS_GAVEL_OPTIONS_N + 1].f;
    return DLS_OK;
}
