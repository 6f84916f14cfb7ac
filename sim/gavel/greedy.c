/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Gavel's policies that solve nothing: equal shares, first come first served with and without
 * packing, Gandiva's random packing. In the order of operations of the original.
 */
#include "gavel/core.h"

#include <math.h>
#include <string.h>

static void clear(dls_gv *g)
{
    for (size_t i = 0; i < g->n_combos; i++) {
        memset(g->combo[i].share, 0, sizeof g->combo[i].share);
    }
}

/* 1 / m of every type, divided by the job's GPUs, cut where it exceeds all of the time. */
static void equal_share(const dls_gv *g, int32_t m, double gpus, double share[DLS_GV_TYPES])
{
    double sum = 0;
    for (int32_t k = 0; k < g->n_types; k++) {
        share[g->type[k]] = (double)g->gpus[g->type[k]] / m / gpus;
        sum += share[g->type[k]];
    }
    for (int32_t k = 0; k < g->n_types; k++) {
        share[g->type[k]] /= fmax(sum, 1);
    }
}

static dls_status share_equally(dls_gv *g, bool by_gpus)
{
    clear(g);
    for (int32_t i = 0; i < g->n_active; i++) {
        const int32_t job = g->active[i];
        equal_share(g, g->n_active, by_gpus ? g->job[job].gpus : 1, dls_gv_single(g, job)->share);
    }
    return DLS_OK;
}

dls_status dls_gv_isolated(dls_gv *g, dls_error *err)
{
    return share_equally(g, true);
}

dls_status dls_gv_gandiva_fair(dls_gv *g, dls_error *err)
{
    return share_equally(g, false);
}

/* ---- first come, first served ---------------------------------------------------------------- */

/* Types with GPUs left, ascending. */
typedef struct open_types {
    int32_t type[DLS_GV_TYPES], n;
    int32_t room[DLS_GV_TYPES]; /* by type */
} open_types;

static void close_type(open_types *o, int32_t type)
{
    int32_t n = 0;
    for (int32_t i = 0; i < o->n; i++) {
        if (o->type[i] != type) {
            o->type[n++] = o->type[i];
        }
    }
    o->n = n;
}

static void list_open(const dls_gv *g, open_types *o)
{
    o->n = 0;
    for (int32_t k = 0; k < g->n_types; k++) {
        if (o->room[g->type[k]] > 0) {
            o->type[o->n++] = g->type[k];
        }
    }
}

/* The entry of a job that has left goes to the head of the queue, if it fits. */
static void inherit(dls_gv *g, int32_t gone, int32_t *queue, int32_t *head, int32_t n,
                    int32_t *room)
{
    const int32_t type = g->job[gone].home - 1;
    if (*head < n) {
        dls_gv_job *h = &g->job[queue[*head]];
        if (h->gpus <= room[type] && dls_gv_alone(g, queue[*head], type) > 0) {
            h->home = type + 1;
            room[type] -= h->gpus;
            ++*head;
        }
    }
    g->job[gone].home = 0;
}

/* As published: of the types that a job fits on one is drawn, and the last of the list is used. */
static void admit_drawn(dls_gv *g, open_types *o, const int32_t *queue, int32_t head, int32_t n)
{
    while (head < n && o->n > 0) {
        const int32_t job = queue[head++], gpus = g->job[job].gpus;
        int32_t fits[DLS_GV_TYPES], n_fits = 0;
        for (int32_t i = 0; i < o->n; i++) {
            if (o->room[o->type[i]] >= gpus) {
                fits[n_fits++] = o->type[i];
            }
        }
        if (n_fits == 0) {
            break;
        }
        const uint32_t drawn = dls_pyrandom_below(&g->random, (uint32_t)n_fits);
        const int32_t type = o->type[o->n - 1];
        if (dls_gv_alone(g, job, type) > 0) {
            g->job[job].home = type + 1;
            o->room[type] -= gpus;
            if (o->room[type] == 0) {
                close_type(o, fits[drawn]);
            }
        }
    }
}

dls_status dls_gv_fifo(dls_gv *g, dls_error *err)
{
    open_types o;
    int32_t *queue = g->list, n = 0, head = 0;
    memcpy(o.room, g->gpus, sizeof o.room);
    for (int32_t i = 0; i < g->n_active; i++) {
        if (!g->job[g->active[i]].home) {
            queue[n++] = g->active[i];
        }
    }
    for (int32_t j = 0, q = 0; j < g->queued; j++) {
        const dls_gv_job *job = &g->job[j];
        q += q < n && queue[q] < j;
        if (q < n && queue[q] == j) { /* had no entry when this began */
            continue;
        }
        if (job->home && !job->active) {
            inherit(g, j, queue, &head, n, o.room);
        } else if (job->home) {
            o.room[job->home - 1] -= job->gpus;
        }
    }
    list_open(g, &o);
    admit_drawn(g, &o, queue, head, n);
    clear(g);
    for (int32_t i = 0; i < g->n_active; i++) {
        const int32_t home = g->job[g->active[i]].home;
        if (home) {
            dls_gv_single(g, g->active[i])->share[home - 1] = 1;
        }
    }
    return DLS_OK;
}

/* Jobs in order, each on its fastest type, up to the first that does not fit; returns how many of
 * the active ones were looked at. */
static int32_t admit_fastest(dls_gv *g)
{
    open_types o;
    int32_t i = 0;
    memcpy(o.room, g->gpus, sizeof o.room);
    list_open(g, &o);
    while (i < g->n_active && o.n > 0) {
        const int32_t job = g->active[i++], gpus = g->job[job].gpus;
        int32_t best = -1;
        double speed = -1;
        bool fits = false;
        for (int32_t k = 0; k < o.n; k++) {
            const int32_t type = o.type[k];
            if (o.room[type] >= gpus) {
                fits = true;
                if (dls_gv_alone(g, job, type) > speed) {
                    speed = dls_gv_alone(g, job, type);
                    best = type;
                }
            }
        }
        if (!fits) {
            break;
        }
        if (speed > 0) {
            dls_gv_single(g, job)->share[best] = 1;
            o.room[best] -= gpus;
            if (o.room[best] == 0) {
                close_type(&o, best);
            }
        }
    }
    return i;
}

/* What two jobs do together, over what each does alone. */
static double gain(const dls_gv *g, int32_t a, int32_t b, int32_t type)
{
    const int32_t of[2] = {a < b ? a : b, a < b ? b : a};
    const double *v = dls_gv_pair(g, of[0], of[1], type);
    double sum = 0;
    for (int k = 0; k < 2; k++) {
        sum += v[k] > 0 ? v[k] / dls_gv_alone(g, of[k], type) : 0;
    }
    return sum;
}

static int32_t home_of(const dls_gv *g, const dls_gv_combo *c)
{
    for (int32_t k = 0; k < g->n_types; k++) {
        if (c->share[g->type[k]] != 0) {
            return g->type[k];
        }
    }
    return -1;
}

/* Jobs that are left over, behind the one that did not fit, join the single that gains most. */
static void pack(dls_gv *g, int32_t from)
{
    for (int32_t i = from; i < g->n_active; i++) {
        const int32_t job = g->active[i];
        double best = 1.5;
        dls_gv_combo *host = NULL;
        for (int32_t k = 0; k < from; k++) {
            dls_gv_combo *c = dls_gv_single(g, g->active[k]);
            const int32_t type = home_of(g, c);
            if (type >= 0 && g->job[c->a].gpus == g->job[job].gpus &&
                gain(g, c->a, job, type) > best) {
                best = gain(g, c->a, job, type);
                host = c;
            }
        }
        if (!host) {
            return;
        }
        const int32_t type = home_of(g, host);
        host->share[type] = 0;
        dls_gv_find(g, host->a, job)->share[type] = 1;
    }
}

dls_status dls_gv_fifo_perf(dls_gv *g, dls_error *err)
{
    clear(g);
    const int32_t seen = admit_fastest(g);
    if (g->policy->packs) {
        pack(g, seen);
    }
    return DLS_OK;
}

/* ---- Gandiva --------------------------------------------------------------------------------- */

enum { UNDEALT = DLS_GV_ALONE - 1 };

/* Is a pair worth keeping? As published the gains of all types are added. */
static bool pair_is_worth(const dls_gv *g, int32_t a, int32_t b)
{
    double sum = 0;
    for (int32_t k = 0; k < g->n_types; k++) {
        const double *v = dls_gv_pair(g, a, b, g->type[k]);
        for (int i = 0; i < 2; i++) {
            if (v[i] <= 0) {
                return false;
            }
            sum += v[i] / dls_gv_alone(g, i == 0 ? a : b, g->type[k]);
        }
    }
    return sum >= 1;
}

static void drop_partners(dls_gv *g)
{
    for (int32_t j = 0; j < g->queued; j++) {
        dls_gv_job *job = &g->job[j];
        const int32_t other = job->partner;
        if (other == UNDEALT) {
            continue;
        }
        const bool keep = other >= 0 && job->active && g->job[other].active &&
                          pair_is_worth(g, j < other ? j : other, j < other ? other : j);
        if (!keep) {
            job->partner = UNDEALT;
            if (other >= 0) {
                g->job[other].partner = UNDEALT;
            }
        }
    }
}

/* random.sample(list, 2) */
static void draw_two(dls_pyrandom *r, const int32_t *list, int32_t n, int32_t out[2])
{
    const int32_t a = (int32_t)dls_pyrandom_below(r, (uint32_t)n);
    int32_t b;
    if (n <= 21) {
        b = (int32_t)dls_pyrandom_below(r, (uint32_t)n - 1);
        b = b == a ? n - 1 : b;
    } else {
        do {
            b = (int32_t)dls_pyrandom_below(r, (uint32_t)n);
        } while (b == a);
    }
    out[0] = list[a];
    out[1] = list[b];
}

static int32_t without(int32_t *list, int32_t n, int32_t job)
{
    int32_t k = 0;
    for (int32_t i = 0; i < n; i++) {
        if (list[i] != job) {
            list[k++] = list[i];
        }
    }
    return k;
}

static void pair_up(dls_gv *g, int32_t *free_list)
{
    int32_t n = 0;
    for (int32_t i = 0; i < g->n_active; i++) {
        if (g->job[g->active[i]].partner == UNDEALT) {
            free_list[n++] = g->active[i];
        }
    }
    for (int32_t tries = n; n > 1 && tries > 0; tries--) {
        int32_t two[2];
        draw_two(&g->random, free_list, n, two);
        if (g->job[two[0]].gpus == g->job[two[1]].gpus) {
            n = without(free_list, without(free_list, n, two[0]), two[1]);
            g->job[two[0]].partner = two[1];
            g->job[two[1]].partner = two[0];
        }
    }
    for (int32_t i = 0; i < n; i++) {
        g->job[free_list[i]].partner = DLS_GV_ALONE;
    }
}

dls_status dls_gv_gandiva(dls_gv *g, dls_error *err)
{
    int64_t wanted = 0, there = 0;
    int32_t m = 0;
    drop_partners(g);
    for (int32_t i = 0; i < g->n_active; i++) {
        wanted += g->job[g->active[i]].gpus;
    }
    for (int32_t k = 0; k < g->n_types; k++) {
        there += g->gpus[g->type[k]];
    }
    if (wanted <= there) {
        return dls_gv_isolated(g, err);
    }
    pair_up(g, g->list);
    clear(g);
    for (int32_t i = 0; i < g->n_active; i++) {
        m += g->job[g->active[i]].partner < g->active[i];
    }
    for (int32_t i = 0; i < g->n_active; i++) {
        const int32_t job = g->active[i], other = g->job[job].partner;
        if (other < job) {
            dls_gv_combo *c = other < 0 ? dls_gv_single(g, job) : dls_gv_find(g, other, job);
            equal_share(g, m, g->job[job].gpus, c->share);
        }
    }
    return DLS_OK;
}
