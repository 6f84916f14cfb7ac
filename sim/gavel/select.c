/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Who runs in a round of Gavel's simulator, and on which GPUs.
 *
 * Most pairs have no priority at all; they are looked at when GPUs are left over, and those whose
 * members run already are not even sorted: that is what makes packing affordable.
 */
#include "gavel/core.h"

#include "base/alloc.h"
#include "gavel/market.h"

#include <string.h>

struct dls_gv_candidate {
    double priority, deficit, share;
    size_t combo;
};
typedef struct dls_gv_candidate candidate;

DLS_BY(best_first, candidate, DLS_DOWN(priority), DLS_DOWN(deficit), DLS_DOWN(share),
       DLS_UP(combo));

static bool may_run(const dls_gv *g, const dls_gv_combo *c, int32_t type, int32_t room)
{
    return g->job[c->a].gpus <= room && !g->taken[c->a] && !(c->b >= 0 && g->taken[c->b]) &&
           dls_gv_least(g, c, type) > 0;
}

/* Those that still may run, with or without priority, best first. */
static size_t gather(dls_gv *g, int32_t type, bool wanted, int32_t room)
{
    size_t n = 0;
    for (size_t i = 0; i < g->n_combos; i++) {
        const dls_gv_combo *c = &g->combo[i];
        if ((c->priority[type] > 0) == wanted && may_run(g, c, type, room)) {
            g->candidate[n++] =
                (candidate){c->priority[type], c->deficit[type], c->known ? c->share[type] : 0, i};
        }
    }
    dls_sort(g->candidate, n, sizeof *g->candidate, best_first);
    return n;
}

static dls_status choose(dls_gv *g, int32_t type, bool wanted, int32_t *room, dls_error *err)
{
    const size_t n = *room > 0 ? gather(g, type, wanted, *room) : 0;
    for (size_t i = 0; i<n && * room> 0; i++) {
        const dls_gv_combo *c = &g->combo[g->candidate[i].combo];
        if (!may_run(g, c, type, *room)) {
            continue;
        }
        const int32_t gpus = g->job[c->a].gpus;
        *room -= gpus;
        g->taken[c->a] = 1;
        if (c->b >= 0) {
            g->taken[c->b] = 1;
        }
        if (c->known) { /* else its GPUs idle: it has come since the last allocation */
            dls_gv_round *r = &g->now;
            DLS_TRY(dls_grow(&r->run, &r->cap, r->n + 1, sizeof *r->run, err));
            r->run[r->n++] = (dls_gv_run){.a = c->a, .b = c->b, .type = type, .gpus = gpus};
        }
    }
    return DLS_OK;
}

/* ---- GPUs ------------------------------------------------------------------------------------ */

/* What the combination ran on in the last round, if on this type and if nobody has it yet. */
static const int32_t *kept(const dls_gv *g, const dls_gv_combo *c, const dls_gv_run *r)
{
    if (c->last < 0 || g->before.run[c->last].type != r->type) {
        return NULL;
    }
    const int32_t *gpu = g->before.gpu + g->before.run[c->last].gpu_at;
    for (int32_t i = 0; i < r->gpus; i++) {
        if (g->gpu_taken[gpu[i]]) {
            return NULL;
        }
    }
    return gpu;
}

static void give_gpus(dls_gv *g, dls_gv_run *r, const int32_t *gpu, int32_t *cursor)
{
    r->gpu_at = g->now.n_gpus;
    for (int32_t i = 0; i < r->gpus; i++) {
        while (!gpu && g->gpu_taken[*cursor]) {
            ++*cursor;
        }
        const int32_t id = gpu ? gpu[i] : *cursor;
        g->gpu_taken[id] = 1;
        g->now.gpu[g->now.n_gpus++] = id;
    }
}

static dls_gv_combo *combo_of(dls_gv *g, const dls_gv_run *r)
{
    return r->b < 0 ? dls_gv_single(g, r->a) : dls_gv_find(g, r->a, r->b);
}

/* The runs of one type, [n]; larger gangs first. */
static dls_status place(dls_gv *g, size_t first, int32_t type, dls_error *err)
{
    dls_gv_round *now = &g->now;
    int32_t cursor = g->first_gpu[type], size = INT32_MAX;
    for (;;) {
        int32_t next = 0;
        for (size_t i = first; i < now->n; i++) {
            next = now->run[i].gpus < size && now->run[i].gpus > next ? now->run[i].gpus : next;
        }
        if (next == 0) {
            return DLS_OK;
        }
        size = next;
        DLS_TRY(dls_grow(&now->gpu, &now->gpu_cap, now->n_gpus + (now->n - first) * (size_t)size,
                         sizeof *now->gpu, err));
        for (int32_t keeping = 1; keeping >= 0; keeping--) {
            for (size_t i = first; i < now->n; i++) {
                dls_gv_run *r = &now->run[i];
                if (r->gpus != size || (!keeping && r->finish_s > 0)) {
                    continue;
                }
                const int32_t *gpu = keeping ? kept(g, combo_of(g, r), r) : NULL;
                if (gpu || !keeping) {
                    give_gpus(g, r, gpu, &cursor);
                    r->finish_s = 1; /* has GPUs; the time follows */
                }
            }
        }
    }
}

/* Those of the last round become findable by their combination. */
static void turn_page(dls_gv *g)
{
    const dls_gv_round page = g->before;
    g->before = g->now;
    g->now = page;
    g->now.n = g->now.n_gpus = 0;
    for (size_t i = 0; i < g->n_combos; i++) {
        g->combo[i].last = -1;
    }
    for (size_t i = 0; i < g->before.n; i++) {
        const dls_gv_run *r = &g->before.run[i];
        g->job[r->a].last_run = i;
        if (r->b >= 0) {
            g->job[r->b].last_run = i;
        }
        if (g->job[r->a].active && (r->b < 0 || g->job[r->b].active)) {
            combo_of(g, r)->last = (int32_t)i;
        }
    }
}

static dls_status select_planned(dls_gv *g, dls_error *err)
{
    const int32_t *jobs;
    int32_t n;
    DLS_TRY(dls_gv_market_round(g, g->market, &jobs, &n, err));
    for (int32_t i = 0; i < n; i++) {
        dls_gv_round *r = &g->now;
        if (g->job[jobs[i]].active) {
            DLS_TRY(dls_grow(&r->run, &r->cap, r->n + 1, sizeof *r->run, err));
            r->run[r->n++] = (dls_gv_run){
                .a = jobs[i], .b = DLS_GV_ALONE, .type = 2, .gpus = g->job[jobs[i]].gpus};
        }
    }
    memset(g->gpu_taken, 0, (size_t)g->gpus[2]);
    return place(g, 0, 2, err);
}

dls_status dls_gv_select(dls_gv *g, dls_error *err)
{
    turn_page(g);
    if (g->market) {
        return select_planned(g, err);
    }
    DLS_TRY(dls_grow(&g->candidate, &g->candidate_cap, g->n_combos + 1, sizeof *g->candidate, err));
    memset(g->taken, 0, (size_t)g->n);
    int32_t order[DLS_GV_TYPES];
    for (int32_t k = 0; k < g->n_types; k++) {
        order[k] = g->type[g->n_types - 1 - k];
    }
    if (g->policy->shuffles) {
        dls_pyrandom_shuffle(&g->shuffle, order, g->n_types);
    }
    for (int32_t k = 0; k < g->n_types; k++) {
        const int32_t type = order[k];
        const size_t first = g->now.n;
        int32_t room = g->gpus[type];
        DLS_TRY(choose(g, type, true, &room, err));
        if (!g->policy->fifo) {
            DLS_TRY(choose(g, type, false, &room, err));
        }
        memset(g->gpu_taken, 0, (size_t)g->first_gpu[type] + (size_t)g->gpus[type]);
        DLS_TRY(place(g, first, type, err));
    }
    return DLS_OK;
}
