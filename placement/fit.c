/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Consolidating: a gang that fits on a node gets the node with the fewest free GPUs that suffices.
 * A larger one takes the emptiest nodes, which is the fewest, and its remainder the tightest fit.
 * Nodes of equal emptiness come from the first rack that has enough of them, else from the rack
 * with the most and then by number; the remainder from the last of these racks if it is as tight
 * there. So the number of racks is a greedy answer. Where CPU or memory leave GPUs of nodes without use the same
 * search runs over what they leave usable, whatever the racks.
 */
#include "placement/fit.h"

#include <math.h>

/* GPUs of the node that the request may still take. */
static int32_t room_on(const dls_place_index *index, const dls_request *r, const dls_grant *grant,
                       int32_t node)
{
    const int32_t taken = dls_place_free(index, node) - dls_grant_left(grant, index, node);
    return dls_place_cpu_limit(index, r, node) - taken;
}

int32_t dls_fit_exactly(const dls_place_index *index, const dls_request *r, int32_t f, int32_t from)
{
    dls_request bare = *r;
    bare.cpu_milli_per_gpu = bare.mem_mib_per_gpu = 0;
    return dls_place_first(index, &bare, f, f, from);
}

/* The remainder: the tightest node that holds all of it, in `rack` if one there is as tight. */
static int32_t tightest(const dls_place_index *index, const dls_request *r, const dls_grant *grant,
                        int32_t need, int32_t rack)
{
    const int32_t most = dls_place_max_gpus(index, r->type);
    for (int32_t f = need; f <= most; f++) {
        int32_t first = 0, end = 0;
        if (dls_place_count(index, r->type, f) == 0) {
            continue;
        }
        if (rack >= 0) {
            dls_place_rack_range(index, rack, &first, &end);
        }
        int32_t node = rack >= 0 ? dls_fit_exactly(index, r, f, first) : -1;
        while (node >= 0 && node < end && room_on(index, r, grant, node) < need) {
            node = dls_fit_exactly(index, r, f, node + 1);
        }
        if (node >= 0 && node < end) {
            return node;
        }
        node = dls_fit_exactly(index, r, f, 0);
        while (node >= 0 && room_on(index, r, grant, node) < need) {
            node = dls_fit_exactly(index, r, f, node + 1);
        }
        if (node >= 0) {
            return node;
        }
    }
    return -1;
}

/* Take up to `want` nodes with exactly f free GPUs, whole; returns how many were taken. */
static int32_t take_nodes(const dls_place_index *index, const dls_request *r, dls_grant *grant,
                          int32_t f, int32_t want, int32_t *rack)
{
    int32_t taken = 0;
    /* A rack that has enough of them; failing that the fullest, then nodes by number. */
    const int32_t enough = dls_place_first_rack(index, r->type, f, want, 0);
    int32_t most = 0;
    const int32_t start = enough >= 0 ? enough : dls_place_fullest_rack(index, r->type, f, &most);
    for (int32_t pass = 0; pass < 2 && taken < want && start >= 0; pass++) {
        int32_t first = 0, end = dls_place_nodes(index);
        if (pass == 0) {
            dls_place_rack_range(index, start, &first, &end);
        }
        for (int32_t node = dls_place_first(index, r, f, f, first);
             taken < want && node >= 0 && node < end;
             node = dls_place_first(index, r, f, f, node + 1)) {
            if (dls_grant_left(grant, index, node) == f) {
                dls_grant_add(grant, node, f);
                *rack = dls_place_rack(index, node);
                taken++;
            }
        }
    }
    return taken;
}

int32_t dls_fit_gather(const dls_place_index *index, const dls_request *r, dls_grant *grant, int32_t left,
                       int32_t first, int32_t end)
{
    const int32_t most = dls_place_max_gpus(index, r->type);
    for (int32_t node = dls_place_first(index, r, 1, most, first);
         left > 0 && node >= 0 && node < end; node = dls_place_first(index, r, 1, most, node + 1)) {
        const int32_t room = room_on(index, r, grant, node);
        const int32_t take = room < left ? room : left;
        if (take > 0) {
            dls_grant_add(grant, node, take);
            left -= take;
        }
    }
    return left;
}

/* What is left when CPU or memory, and not GPUs, are short. */
static bool gather(const dls_place_index *index, const dls_request *r, dls_grant *grant, int32_t left,
                   int32_t first, int32_t end)
{
    return left == 0 || dls_fit_gather(index, r, grant, left, first, end) == 0;
}

/* The search for GPUs that are not there would look at every node. */
static bool is_hopeless(const dls_place_index *index, const dls_request *r)
{
    return dls_place_free_gpus(index, r->type) < r->gpus;
}

/* Fewest nodes for the gang if CPU and memory are no matter; have: how many nodes there are with so many GPUs. */
static int32_t fewest(const dls_place_index *index, const dls_request *r,
                      int32_t (*have)(const dls_place_index *index, int32_t type, int32_t gpus))
{
    int32_t nodes = 0, left = r->gpus;
    for (int32_t size = dls_place_max_gpus(index, r->type); size >= 1 && left > 0; size--) {
        const int32_t n = have(index, r->type, size), want = (left + size - 1) / size;
        const int32_t take = n < want ? n : want;
        nodes += take;
        left -= take * size;
    }
    return left > 0 ? 0 : nodes;
}

/* Nodes with free GPUs that lack the CPU or memory for them all may have made the search miss the fewest nodes. */
static bool is_few(const dls_place_index *index, const dls_request *r, const dls_grant *grant)
{
    dls_shape shape;
    return (r->cpu_milli_per_gpu <= 0 && r->mem_mib_per_gpu <= 0) || !dls_grant_shape(grant, index, &shape) ||
           shape.n_nodes == fewest(index, r, dls_place_count);
}

/* The same search by what nodes have room for, whatever their racks. Of equal room the fewest free GPUs. */
static bool by_room(const dls_place_index *index, const dls_request *r, dls_grant *grant)
{
    const int32_t most = dls_place_max_gpus(index, r->type);
    int32_t left = r->gpus;
    for (int32_t room = most; room >= 1 && left > 0; room--) {
        for (int32_t f = room; f <= most && left >= room; f++) {
            for (int32_t node = dls_fit_exactly(index, r, f, 0); node >= 0 && left >= room;
                 node = dls_fit_exactly(index, r, f, node + 1)) {
                if (room_on(index, r, grant, node) == room) {
                    dls_grant_add(grant, node, room);
                    left -= room;
                }
            }
        }
        const int32_t rest = left > 0 && left <= room ? tightest(index, r, grant, left, -1) : -1;
        if (rest >= 0) {
            dls_grant_add(grant, rest, left);
            left = 0;
        }
    }
    return left == 0;
}

bool dls_fit_consolidated(const dls_place_index *index, const dls_request *r, dls_grant *grant)
{
    const int32_t most = dls_place_max_gpus(index, r->type);
    int32_t left = r->gpus, rack = -1;
    if (is_hopeless(index, r)) {
        return false;
    }
    const int32_t whole = left <= most ? dls_place_best(index, r, left) : -1;
    if (whole >= 0) {
        dls_grant_add(grant, whole, left);
        return true;
    }
    for (int32_t f = most; f >= 1 && left > 0; f--) {
        if (left >= f && dls_place_count(index, r->type, f) > 0) {
            left -= f * take_nodes(index, r, grant, f, left / f, &rack);
        }
        const int32_t rest = left > 0 && left <= f ? tightest(index, r, grant, left, rack) : -1;
        if (rest >= 0) {
            dls_grant_add(grant, rest, left);
            left = 0;
        }
    }
    if (left == 0 && is_few(index, r, grant)) {
        return true;
    }
    if (!gather(index, r, grant, left, 0, dls_place_nodes(index))) {
        return false;
    }
    dls_grant_reset(grant);
    return by_room(index, r, grant);
}

bool dls_fit_rack(const dls_place_index *index, const dls_request *r, int32_t rack,
                  dls_grant *grant)
{
    const int32_t most = dls_place_max_gpus(index, r->type);
    int32_t first, end, left = r->gpus;
    dls_place_rack_range(index, rack, &first, &end);
    for (int32_t f = most; f >= 1 && left > 0; f--) {
        for (int32_t node = dls_place_first(index, r, f, f, first);
             left >= f && node >= 0 && node < end;
             node = dls_place_first(index, r, f, f, node + 1)) {
            dls_grant_add(grant, node, f);
            left -= f;
        }
        /* Now less than f is missing, or no node with f is left: the tightest node for the rest. */
        for (int32_t g = left; g >= 1 && g <= f && left > 0; g++) {
            for (int32_t node = dls_place_first(index, r, g, g, first);
                 left > 0 && node >= 0 && node < end;
                 node = dls_place_first(index, r, g, g, node + 1)) {
                if (room_on(index, r, grant, node) >= left) {
                    dls_grant_add(grant, node, left);
                    left = 0;
                }
            }
        }
    }
    return gather(index, r, grant, left, first, end);
}

static bool rack_holds(const dls_place_index *index, const dls_request *r, int32_t rack)
{
    int32_t first, end, room = 0;
    dls_place_rack_range(index, rack, &first, &end);
    for (int32_t node = first; node < end && room < r->gpus && dls_place_type(index, first) == r->type; node++) {
        room += dls_place_cpu_limit(index, r, node);
    }
    return room >= r->gpus;
}

int32_t dls_fit_find_rack(const dls_place_index *index, const dls_request *r)
{
    for (int32_t f = dls_place_max_gpus(index, r->type); f >= 1; f--) {
        int32_t nodes;
        const int32_t rack = dls_place_fullest_rack(index, r->type, f, &nodes);
        if (rack >= 0 && rack_holds(index, r, rack)) {
            return rack;
        }
    }
    for (int32_t rack = 0; rack < dls_place_racks(index); rack++) {
        if (rack_holds(index, r, rack)) {
            return rack;
        }
    }
    return -1;
}

bool dls_fit_fragments(const dls_place_index *index, const dls_request *r, dls_grant *grant)
{
    const int32_t most = dls_place_max_gpus(index, r->type);
    int32_t left = r->gpus;
    if (is_hopeless(index, r)) {
        return false;
    }
    for (int32_t f = 1; f <= most && left > 0; f++) {
        for (int32_t node = dls_fit_exactly(index, r, f, 0); left > 0 && node >= 0;
             node = dls_fit_exactly(index, r, f, node + 1)) {
            const int32_t room = dls_place_cpu_limit(index, r, node);
            const int32_t take = room < left ? room : left;
            if (take > 0) {
                dls_grant_add(grant, node, take);
                left -= take;
            }
        }
    }
    return left == 0;
}

/* Number k, from 0 on, of the nodes with room for so many GPUs more; -1: there are as few as *n. */
static int32_t with_room(const dls_place_index *index, const dls_request *r, const dls_grant *grant, int32_t gpus,
                         int32_t k, int32_t *n)
{
    const int32_t most = dls_place_max_gpus(index, r->type);
    *n = 0;
    for (int32_t node = dls_place_first(index, r, gpus, most, 0); node >= 0;
         node = dls_place_first(index, r, gpus, most, node + 1)) {
        if (room_on(index, r, grant, node) >= gpus && (*n)++ == k) {
            return node;
        }
    }
    return -1;
}

/* Few are counted, of many a number of draws is cheaper. */
int32_t dls_fit_draw(const dls_place_index *index, const dls_request *r, const dls_grant *grant, int32_t gpus,
                     dls_rng *rng)
{
    const int32_t n = dls_place_nodes(index), most = dls_place_max_gpus(index, r->type);
    int64_t have = 0; /* but for what the grant, CPU and memory take of them */
    for (int32_t f = gpus; f <= most; f++) {
        have += dls_place_count(index, r->type, f);
    }
    for (int32_t tries = 0; tries < n && have * have > n; tries++) {
        const int32_t node = (int32_t)dls_rng_below(rng, (uint64_t)n);
        if (dls_place_free(index, node) >= gpus && dls_place_type(index, node) == r->type &&
            room_on(index, r, grant, node) >= gpus) {
            return node;
        }
    }
    int32_t rooms;
    with_room(index, r, grant, gpus, n, &rooms);
    return rooms > 0 ? with_room(index, r, grant, gpus, (int32_t)dls_rng_below(rng, (uint64_t)rooms), &rooms) : -1;
}

int32_t dls_fit_fewest_nodes(const dls_place_index *index, const dls_request *r)
{
    return fewest(index, r, dls_place_sizes);
}

double dls_fit_ideal_s(const dls_place_index *index, const dls_request *r)
{
    const int32_t nodes = dls_fit_fewest_nodes(index, r);
    const dls_shape shape = {.type = r->type, .gpus = r->gpus, .n_nodes = nodes, .n_racks = 1};
    dls_prediction f;
    if (nodes == 0) {
        return (double)INFINITY;
    }
    return dls_place_predict(r, r->job, &shape, &f) ? f.remaining_s : (double)NAN;
}
