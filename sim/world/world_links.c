/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Who holds which GPUs and crosses which links. A change touches the jobs whose rate it can change
 * directly: the job itself, those on its GPUs, those on links that bind. Settling finds the rest.
 */
#include "world/world_impl.h"

#include "base/alloc.h"
#include "base/assert.h"

#include <math.h>

void dls_world_touch(dls_world *w, int32_t slot)
{
    if (!w->slot[slot].touched) {
        w->slot[slot].touched = true;
        w->touched[w->n_touched++] = slot; /* has room for every slot */
    }
}

/* Jobs of a node that hold any of the GPUs: their speed must be computed again. */
static void touch_holders(dls_world *w, int32_t node, uint64_t mask)
{
    const dls_crossing *crossing = w->shares.crossing;
    for (int32_t c = w->shares.link[node].first; c >= 0; c = crossing[c].next) {
        if (crossing[c].mask & mask) {
            w->slot[crossing[c].flow].stale_speed = true;
            dls_world_touch(w, crossing[c].flow);
        }
    }
}

/* ---- load of links --------------------------------------------------------------------------- */

static dls_load_gauge *gauge_of(dls_world *w, int32_t link)
{
    return link < w->n_nodes ? &w->nic_load : link < w->n_links - 1 ? &w->uplink_load : NULL;
}

void dls_world_set_load(dls_world *w, int32_t level, dls_crossing *c, double used_bps)
{
    dls_wire *wire = &w->wire[c->link];
    dls_load_gauge *gauge = gauge_of(w, c->link);
    /* At most all of it: the least speed that a job has is too much for a link that has next to nothing left. */
    const int64_t load =
        llround(fmin(1, used_bps / w->shares.link[c->link].capacity) * (double)DLS_LOAD_ONE);
    if (gauge) {
        dls_load_gauge_move(gauge, wire->load, wire->load + load - c->load);
    }
    wire->load += load - c->load;
    if (w->n_levels > 1 && load != c->load) {
        w->level_load[level][c->link] += load - c->load;
        dls_world_leave_lower(w, c->link, level + 1);
    }
    c->load = load;
}

/* ---- crossings ------------------------------------------------------------------------------- */

static void push_crossing(dls_world *w, dls_shares *shares, int32_t slot, int32_t link,
                          uint64_t mask, bool network)
{
    dls_shares_cross(shares, slot, link, mask, network);
    if (shares->crossing[shares->flow[slot].crossing].network && w->wire[link].users++ == 0 &&
        gauge_of(w, link)) {
        dls_load_gauge_enter(gauge_of(w, link));
    }
}

/* Back to the free ones; returns the job's next. */
static int32_t drop_crossing(dls_world *w, int32_t level, int32_t c)
{
    dls_shares *shares = dls_level_shares(w, level);
    dls_crossing *x = &shares->crossing[c];
    const int32_t link = x->link;
    const bool network = x->network;
    if (network) {
        dls_world_set_load(w, level, x, 0);
    }
    const int32_t next = dls_shares_leave(shares, c);
    if (network && --w->wire[link].users == 0 && gauge_of(w, link)) {
        dls_load_gauge_leave(gauge_of(w, link));
    }
    return next;
}

/* Room for one more job with n crossings, so that what follows cannot fail. */
static dls_status reserve(dls_world *w, size_t n, dls_error *err)
{
    const size_t slots = w->n_slots + (w->free_slot < 0);
    DLS_TRY(dls_grow(&w->slot, &w->slots_cap, slots, sizeof *w->slot, err));
    DLS_TRY(dls_grow(&w->touched, &w->touched_cap, slots, sizeof *w->touched, err));
    if (w->free_slot < 0) {
        w->slot[w->n_slots] = (dls_slot){.job = -1, .next_free = -1};
        w->free_slot = (int32_t)w->n_slots++;
    }
    return dls_shares_reserve(&w->shares, (int32_t)w->n_slots - 1, n, err);
}

/* ---- shapes of seats ------------------------------------------------------------------------- */

static dls_status check_seats(const dls_world *w, int32_t job, int32_t type, const dls_seat *seats,
                              size_t n, dls_error *err)
{
    bool good = n > 0 && job >= 0 && (size_t)job < w->n_jobs && w->slot_of[job] < 0 && type >= 0 &&
                type < w->p.cluster->n_types;
    for (size_t i = 0; i < n && good; i++) {
        good = seats[i].node >= 0 && seats[i].node < w->n_nodes && seats[i].mask != 0 &&
               (i > 0 || w->node[seats[i].node].type == type);
    }
    return good
               ? DLS_OK
               : dls_fail(err, DLS_EINPUT, "world", "job %d cannot start on these seats", (int)job);
}

static bool in_domain(const dls_world *w, const dls_shape *shape)
{
    return w->domain > 0 && shape->n_racks == 1;
}

/* As dls_world_line, of the slowest node's link. */
static int32_t line_of(const dls_world *w, const dls_shape *shape, const dls_seat *seats, size_t n)
{
    double bps = (double)INFINITY;
    if (shape->n_nodes > 1 && in_domain(w, shape)) {
        return dls_world_line_index(w, w->domain);
    }
    for (size_t i = 0; i < n; i++) {
        if (w->wire[seats[i].node].base > 0) {
            bps = fmin(bps, dls_rails_bps(w->wire[seats[i].node].base,
                                          __builtin_popcountll(seats[i].mask),
                                          w->node[seats[i].node].rails));
        }
    }
    if (shape->n_racks > 1 && w->uplink > 0) {
        bps = fmin(bps, w->uplink);
    }
    return shape->n_nodes > 1 && isfinite(bps) ? dls_world_line_index(w, bps) : -1;
}

/* As dls_world_inner, of the seats as they are. */
static int32_t inner_of(const dls_world *w, int32_t type, const dls_seat *seats, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const int32_t domain = w->node[seats[i].node].domain_gpus;
        if (domain > 0 && __builtin_ctzll(seats[i].mask) / domain !=
                              (63 - __builtin_clzll(seats[i].mask)) / domain) {
            return dls_world_line_index(w, w->type_between[type]);
        }
    }
    return -1;
}

static dls_status shape_of(dls_world *w, int32_t job, const dls_shape *shape, const dls_seat *seats,
                           size_t n, int32_t *index, dls_error *err)
{
    const dls_shape_key key = {.kind = w->kinds.of[job],
                               .type = shape->type,
                               .gpus = shape->gpus,
                               .n_nodes = shape->n_nodes,
                               .line = line_of(w, shape, seats, n),
                               .domains = dls_world_domains(w, shape->n_nodes, shape->n_racks),
                               .inner = inner_of(w, shape->type, seats, n)};
    DLS_TRY(dls_world_shape_of(w, &key, index, err));
    dls_shape_entry *e = &w->shapes.entry[*index];
    if (e->solo.link_bytes > 0 && !e->curve) {
        DLS_TRY(dls_alloc_array(&e->curve, 1, sizeof *e->curve, "world", err));
        dls_curve_make(e->curve, &e->solo);
    }
    return DLS_OK;
}

/* ---- memory of shared GPUs ------------------------------------------------------------------- */

/* Most memory that the jobs on any GPU of the seat hold. */
static double held_bytes(const dls_world *w, const dls_seat *seat)
{
    double most = 0;
    for (uint64_t left = seat->mask & w->node[seat->node].used; left; left &= left - 1) {
        double bytes = 0;
        const dls_crossing *crossing = w->shares.crossing;
        for (int32_t c = w->shares.link[seat->node].first; c >= 0; c = crossing[c].next) {
            const int32_t shape = w->slot[crossing[c].flow].shape;
            if (crossing[c].mask & left & -left && shape >= 0) {
                bytes += w->shapes.entry[shape].solo.mem_bytes;
            }
        }
        most = fmax(most, bytes);
    }
    return most;
}

static bool memory_holds(const dls_world *w, int32_t type, double mem_bytes, const dls_seat *seats,
                         size_t n)
{
    const double capacity = 1024.0 * 1024 * 1024 * w->types[type].mem_gib;
    for (size_t i = 0; i < n && capacity > 0; i++) {
        const double held = held_bytes(w, &seats[i]);
        if (held > 0 && held + mem_bytes > capacity) {
            return false;
        }
    }
    return true;
}

bool dls_world_shares(dls_world *w, int32_t job, int32_t type, const dls_seat *seats, size_t n)
{
    const dls_shape shape = dls_world_shape(w, type, seats, n);
    dls_solo solo;
    return dls_world_solo(w, job, &shape, &solo, NULL) == DLS_OK &&
           memory_holds(w, type, solo.mem_bytes, seats, n);
}

/* ---- start and stop -------------------------------------------------------------------------- */

/* On a node's link: the list of those who hold its GPUs is that of level 0. */
static void cross_node(dls_world *w, int32_t slot, const dls_seat *at, bool network)
{
    const int32_t level = w->slot[slot].level;
    const bool sends = network && w->node[at->node].rails == 0;
    push_crossing(w, &w->shares, slot, at->node, at->mask, sends && level == 0);
    if (sends && level > 0) {
        push_crossing(w, w->lower[level], slot, at->node, 0, true);
    }
}

static void seat(dls_world *w, int32_t slot, const dls_seat *at, bool network)
{
    dls_node_gpus *node = &w->node[at->node];
    const uint64_t shared = node->used & at->mask;
    if (shared) {
        touch_holders(w, at->node, shared);
    }
    w->slot[slot].stale_speed = shared || w->slot[slot].stale_speed || w->variability.n > 0;
    node->shared |= shared;
    node->used |= at->mask;
    cross_node(w, slot, at, network);
}

static void unseat(dls_world *w, int32_t node, uint64_t mask)
{
    dls_node_gpus *gpus = &w->node[node];
    if (!(mask & gpus->shared)) {
        gpus->used &= ~mask;
        return;
    }
    touch_holders(w, node, mask);
    gpus->used = gpus->shared = 0;
    const dls_crossing *crossing = w->shares.crossing;
    for (int32_t c = w->shares.link[node].first; c >= 0; c = crossing[c].next) {
        gpus->shared |= gpus->used & crossing[c].mask;
        gpus->used |= crossing[c].mask;
    }
}

/* Uplinks lie in front of the nodes' links. */
static bool crosses(const dls_world *w, const dls_shares *shares, int32_t slot, int32_t uplink)
{
    const dls_crossing *crossing = shares->crossing;
    int32_t c = shares->flow[slot].crossing;
    while (c >= 0 && crossing[c].link != uplink && crossing[c].link >= w->n_nodes) {
        c = crossing[c].next_of_flow;
    }
    return c >= 0 && crossing[c].link == uplink;
}

/* Uplinks of the racks of a job that spans several, and the core between them. */
static void cross_racks(dls_world *w, int32_t slot, const dls_seat *seats, size_t n)
{
    dls_shares *shares = dls_level_shares(w, w->slot[slot].level);
    for (size_t i = 0; i < n; i++) {
        const int32_t uplink =
            w->n_nodes + w->node[seats[i].node].rack * w->n_paths + w->slot[slot].path;
        if (w->wire[uplink].base > 0 && !crosses(w, shares, slot, uplink)) {
            push_crossing(w, shares, slot, uplink, 0, true);
        }
    }
    if (w->wire[w->n_links - 1].base > 0) {
        push_crossing(w, shares, slot, w->n_links - 1, 0, true);
    }
}

/* Whom nobody has given a path: as switches do it, by a hash (splitmix64's). */
static int32_t hashed_path(const dls_world *w, int32_t job)
{
    uint64_t z = ((uint64_t)job + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    return (int32_t)((z >> 32) % (uint64_t)w->n_paths);
}

/* The type of the seats on which the gang takes longest decides, of GPUs and nodes as they all are. */
static dls_status slowest(dls_world *w, int32_t job, const dls_seat *seats, size_t n,
                          dls_shape *shape, int32_t *index, dls_error *err)
{
    uint32_t seen = 0;
    *index = -1;
    for (size_t i = 0; i < n; i++) {
        dls_shape here = *shape;
        int32_t x;
        here.type = w->node[seats[i].node].type;
        if (seen >> here.type & 1) {
            continue;
        }
        seen |= UINT32_C(1) << here.type;
        DLS_TRY(shape_of(w, job, &here, seats, n, &x, err));
        if (!dls_world_fits(w, job, here.type)) {
            return dls_fail(err, DLS_EPOLICY, dls_trace_id(w->p.trace, (size_t)job),
                            "the job does not fit into the memory of a %s",
                            w->types[here.type].name);
        }
        if (*index < 0 ||
            w->shapes.entry[x].solo.iteration_s > w->shapes.entry[*index].solo.iteration_s) {
            *index = x;
            *shape = here;
        }
    }
    return DLS_OK;
}

dls_status dls_world_start(dls_world *w, int32_t job, int32_t type, const dls_seat *seats, size_t n,
                           dls_error *err)
{
    DLS_TRY(check_seats(w, job, type, seats, n, err));
    dls_shape shape = dls_world_shape(w, type, seats, n);
    int32_t index = -1;
    bool network = false, sends = false;
    if (!w->ops->unit_rate) {
        DLS_TRY(slowest(w, job, seats, n, &shape, &index, err));
        const dls_solo *solo = &w->shapes.entry[index].solo;
        sends = solo->link_bytes > 0 && !in_domain(w, &shape);
        network = sends && w->p.contention;
        if (!memory_holds(w, shape.type, solo->mem_bytes, seats, n)) {
            return dls_fail(err, DLS_EPOLICY, dls_trace_id(w->p.trace, (size_t)job),
                            "the job shares GPUs whose memory does not hold all of their jobs");
        }
    }
    DLS_TRY(reserve(w, n + (network && shape.n_racks > 1 ? (size_t)shape.n_racks + 1 : 0), err));
    const int32_t slot = w->free_slot;
    dls_slot *s = &w->slot[slot];
    const bool listed = s->touched;
    w->free_slot = s->next_free;
    *s = (dls_slot){.job = job,
                    .shape = index,
                    .type = shape.type,
                    .shift_s = (double)NAN,
                    .path = hashed_path(w, job),
                    .born = ++w->starts,
                    .own_links = sends && !network,
                    .touched = listed};
    w->slot_of[job] = slot;
    dls_shares_add(&w->shares, slot, network ? w->shapes.entry[index].curve : NULL);
    for (size_t i = 0; i < n; i++) {
        seat(w, slot, &seats[i], network);
    }
    if (network && shape.n_racks > 1) {
        cross_racks(w, slot, seats, n);
    }
    dls_world_touch(w, slot);
    return DLS_OK;
}

/* Off the links of a lower level; nothing at level 0. */
static void leave_lower(dls_world *w, int32_t slot)
{
    const int32_t level = w->slot[slot].level;
    for (int32_t c = level > 0 ? w->lower[level]->flow[slot].crossing : -1; c >= 0;) {
        c = drop_crossing(w, level, c);
    }
    if (level > 0) {
        w->lower[level]->flow[slot].curve = NULL; /* it may have had none */
    }
}

void dls_world_stop(dls_world *w, int32_t job)
{
    const int32_t slot = w->slot_of[job];
    if (slot < 0) {
        return;
    }
    leave_lower(w, slot);
    for (int32_t c = w->shares.flow[slot].crossing; c >= 0;) {
        const int32_t node = w->shares.crossing[c].link;
        const uint64_t mask = w->shares.crossing[c].mask;
        c = drop_crossing(w, 0, c);
        if (mask) {
            unseat(w, node, mask);
        }
    }
    w->n_shifted -= !isnan(w->slot[slot].shift_s);
    w->pull_backs -= w->slot[slot].pull_backs;
    w->pulled_gpus -= w->slot[slot].pulled_gpus;
    w->slot_of[job] = -1;
    w->slot[slot].job = -1;
    w->slot[slot].next_free = w->free_slot;
    w->free_slot = slot;
}

void dls_world_set_shift(dls_world *w, int32_t job, double shift_s)
{
    const int32_t slot = w->slot_of[job];
    if (slot >= 0) {
        w->n_shifted += !isnan(shift_s) - !isnan(w->slot[slot].shift_s);
        w->slot[slot].shift_s = shift_s;
        dls_shares_set_overlap(&w->shares, slot, 1); /* until it is known whom it meets */
        dls_shares_note(&w->shares, slot);
    }
}

void dls_world_link_scale(dls_world *w, int32_t node, double part)
{
    DLS_DEBUG_ASSERT(part > 0 && part <= 1);
    const dls_shares *s = &w->shares;
    const double capacity = w->wire[node].base * part;
    if (capacity > 0 && capacity != s->link[node].capacity) {
        dls_shares_set_capacity(&w->shares, node, capacity);
        for (int32_t level = 0; level < w->n_levels; level++) {
            const dls_shares *of = dls_level_shares(w, level);
            for (int32_t c = of->link[node].first; c >= 0; c = of->crossing[c].next) {
                /* What it uses is another part of the capacity. */
                if (of->crossing[c].network || w->slot[of->crossing[c].flow].own_links) {
                    dls_world_touch(w, of->crossing[c].flow);
                }
            }
        }
        dls_world_leave_lower(w, node, 1);
    }
}

/* ---- routes ---------------------------------------------------------------------------------- */

dls_status dls_world_set_route(dls_world *w, int32_t job, int32_t path, int32_t level,
                               dls_error *err)
{
    const int32_t slot = w->slot_of[job];
    dls_slot *s = slot >= 0 ? &w->slot[slot] : NULL;
    DLS_DEBUG_ASSERT(path >= 0 && path < w->n_paths && level >= 0 && level < DLS_LINK_LEVELS);
    if (!s || (s->path == path && s->level == level)) {
        return DLS_OK;
    }
    const dls_shares *from = dls_level_shares(w, s->level);
    const dls_curve *curve = from->flow[slot].curve;
    size_t n = 0, crossings = 0;
    for (int32_t c = w->shares.flow[slot].crossing; curve && c >= 0;
         c = w->shares.crossing[c].next_of_flow) {
        const dls_crossing *x = &w->shares.crossing[c];
        if (x->mask) {
            DLS_TRY(dls_grow(&w->seat, &w->seat_cap, n + 1, sizeof *w->seat, err));
            w->seat[n++] = (dls_seat){.mask = x->mask, .node = x->link};
        }
    }
    bool racks = false; /* does it leave its rack, over links that limit? */
    for (int32_t c = curve ? from->flow[slot].crossing : -1; c >= 0;
         c = from->crossing[c].next_of_flow) {
        racks = racks || from->crossing[c].link >= w->n_nodes;
        crossings++;
    }
    if (!curve) { /* it sends nothing */
        return DLS_OK;
    }
    DLS_TRY(dls_world_levels(w, level, err));
    DLS_TRY(dls_shares_reserve(dls_level_shares(w, level), slot, crossings + n, err));
    leave_lower(w, slot);
    for (int32_t c = w->shares.flow[slot].crossing; c >= 0;) {
        c = drop_crossing(w, 0, c);
    }
    s->path = path;
    s->level = level;
    s->stale_speed = true;
    s->pause = 0; /* until it is known whom it meets */
    dls_shares_add(&w->shares, slot, level == 0 ? curve : NULL);
    if (level > 0) {
        dls_shares_add(w->lower[level], slot, curve);
    }
    for (size_t i = 0; i < n; i++) {
        cross_node(w, slot, &w->seat[i], true);
    }
    if (racks) {
        cross_racks(w, slot, w->seat, n);
    }
    dls_world_touch(w, slot);
    return DLS_OK;
}
