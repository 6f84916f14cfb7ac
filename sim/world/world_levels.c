/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Priorities on links: a set of shares for each level, of the same links, with the capacity that the levels
 * before it leave on average. Nothing of it is there as long as all jobs are of level 0.
 */
#include "base/alloc.h"
#include "world/world_impl.h"

#include <math.h>

#define LEAST_LEFT (1.0 / 1024) /* of a link: who is served last is not stopped */

void dls_world_leave_lower(dls_world *w, int32_t link, int32_t level)
{
    int64_t taken = 0;
    for (int32_t k = 0; k < w->n_levels; k++) {
        if (k >= level && k > 0) {
            const double left = fmax(LEAST_LEFT, 1 - (double)taken / (double)DLS_LOAD_ONE);
            dls_shares_set_capacity(w->lower[k], link, w->shares.link[link].capacity * left);
        }
        taken += w->n_levels > 1 ? w->level_load[k][link] : 0;
    }
}

/* The first time there is a second level, what is in use is the first's. */
static dls_status add_level(dls_world *w, dls_error *err)
{
    const size_t n = (size_t)w->n_links;
    const int32_t level = w->n_levels;
    if (!w->level_load[0]) {
        DLS_TRY(dls_alloc_array(&w->level_load[0], n, sizeof *w->level_load[0], "levels", err));
        for (size_t l = 0; l < n; l++) {
            w->level_load[0][l] = w->wire[l].load;
        }
    }
    if (!w->level_load[level]) {
        DLS_TRY(dls_alloc_array(&w->level_load[level], n, sizeof *w->level_load[level], "levels", err));
    }
    if (!w->lower[level]) {
        DLS_TRY(dls_alloc_array(&w->lower[level], 1, sizeof *w->lower[level], "levels", err));
        const dls_status status = dls_shares_init(w->lower[level], w->n_links, err);
        if (status != DLS_OK) {
            dls_free(w->lower[level]);
            w->lower[level] = NULL;
            return status;
        }
    }
    w->n_levels++;
    for (int32_t l = 0; l < w->n_links; l++) {
        w->lower[level]->link[l].widest = w->shares.link[l].widest;
        dls_world_leave_lower(w, l, level);
    }
    return DLS_OK;
}

dls_status dls_world_levels(dls_world *w, int32_t level, dls_error *err)
{
    while (w->n_levels <= level) {
        DLS_TRY(add_level(w, err));
    }
    return DLS_OK;
}

void dls_world_levels_fini(dls_world *w)
{
    for (int32_t k = 0; k < DLS_LINK_LEVELS; k++) {
        if (w->lower[k]) {
            dls_shares_fini(w->lower[k]);
        }
        DLS_FREE_ALL(w->lower[k], w->level_load[k]);
    }
}

dls_status dls_world_levels_copy(dls_world *w, const dls_world *from, dls_error *err)
{
    const size_t n = (size_t)from->n_links;
    DLS_TRY(dls_world_levels(w, from->n_levels - 1, err));
    for (int32_t k = 1; k < from->n_levels; k++) {
        dls_shares *s = w->lower[k];
        DLS_TRY(dls_shares_copy(s, from->lower[k], err));
        for (size_t i = 0; i < s->n_flows; i++) {
            dls_flow *f = &s->flow[i];
            f->curve = f->curve ? w->shapes.entry[w->slot[i].shape].curve : NULL;
        }
    }
    for (int32_t k = 0; from->n_levels > 1 && k < from->n_levels; k++) {
        memcpy(w->level_load[k], from->level_load[k], n * sizeof *w->level_load[k]);
    }
    return DLS_OK;
}
