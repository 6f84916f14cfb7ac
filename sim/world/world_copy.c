/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A second world in the same state: set up as the first was, then given what the first has come to
 * since.
 */
#include "base/own.h"
#include "world/world_impl.h"

#include <string.h>

/* The shapes that were asked for, under the same numbers. */
static dls_status copy_shapes(dls_shapes *s, const dls_shapes *from, dls_error *err)
{
    dls_shapes_fini(s);
    DLS_TRY(dls_duplicate(&s->entry, from->entry, from->n, from->cap, sizeof *s->entry, err));
    s->cap = from->cap;
    for (size_t i = 0; i < from->n; i++) {
        const dls_curve *curve = from->entry[i].curve;
        const dls_shape_key *key = &from->entry[i].key;
        int32_t code;
        DLS_TRY(dls_duplicate(&s->entry[i].curve, curve, 1, 1, sizeof *curve, err));
        s->n = i + 1;
        DLS_TRY(dls_strdict_put(&s->keys, (const char *)key, sizeof *key, &code, err));
    }
    return DLS_OK;
}

static dls_status copy_running(dls_world *w, const dls_world *from, dls_error *err)
{
    const size_t n_nodes = (size_t)from->n_nodes, n_links = (size_t)from->n_links;
    memcpy(w->slot_of, from->slot_of, from->n_jobs * sizeof *w->slot_of);
    memcpy(w->node, from->node, n_nodes * sizeof *w->node);
    memcpy(w->wire, from->wire, n_links * sizeof *w->wire);
    w->nic_load = from->nic_load;
    w->uplink_load = from->uplink_load;
    w->notes = from->notes;
    w->cost = from->cost;
    w->free_slot = from->free_slot;
    w->n_shifted = from->n_shifted;
    w->pull_backs = from->pull_backs;
    w->pulled_gpus = from->pulled_gpus;
    w->starts = from->starts;
    DLS_TRY(
        dls_duplicate(&w->slot, from->slot, from->n_slots, from->slots_cap, sizeof *w->slot, err));
    w->n_slots = from->n_slots;
    w->slots_cap = from->slots_cap;
    DLS_TRY(dls_duplicate(&w->touched, from->touched, from->n_touched, from->touched_cap,
                          sizeof *w->touched, err));
    w->n_touched = from->n_touched;
    w->touched_cap = from->touched_cap;
    DLS_TRY(dls_duplicate(&w->moved, from->moved, from->n_moved, from->moved_cap, sizeof *w->moved,
                          err));
    w->n_moved = from->n_moved;
    w->moved_cap = from->moved_cap;
    DLS_TRY(dls_shares_copy(&w->shares, &from->shares, err));
    for (size_t i = 0; i < w->shares.n_flows; i++) {
        dls_flow *f = &w->shares.flow[i];
        f->curve = f->curve ? w->shapes.entry[w->slot[i].shape].curve : NULL;
    }
    return dls_world_levels_copy(w, from, err);
}

DLS_OWNER(dls_world, dls_world_destroy)

dls_status dls_world_copy(const dls_world *from, dls_world **out, dls_error *err)
{
    DLS_HOLD(dls_world_destroy) dls_world *w = NULL;
    DLS_TRY(dls_world_create(&from->p, &w, err));
    DLS_TRY(copy_shapes(&w->shapes, &from->shapes, err));
    DLS_TRY(copy_running(w, from, err));
    *out = dls_take(&w);
    return DLS_OK;
}
