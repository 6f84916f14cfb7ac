/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * For how many GPUs nodes have the CPU and memory, by what is asked for a GPU: who was refused is not searched nodes for
 * as long as there are too few. A sum is kept for each request that was refused, and follows from what has changed:
 *
 *      ring of changes      node 7: before, after   node 3: before, after   ...
 *      sum of a request     += what it could use after - before, of all that have come since it was last asked for
 *
 * Where more has changed than the ring holds, it is counted again.
 */
#include "cluster/index.h"

#include "base/alloc.h"

#include <string.h>

typedef struct dls_room_sum {
    int64_t gpus;
    uint64_t seen; /* number of the first change that it does not contain; UNKNOWN: not counted */
} sum;

#define UNKNOWN UINT64_MAX

/* What tells requests apart. */
typedef struct ask {
    int64_t type, cpu_milli, mem_mib;
} ask;

static ask ask_of(const dls_request *r)
{
    return (ask){r->type, r->cpu_milli_per_gpu, r->mem_mib_per_gpu};
}

/* Counting half of the nodes takes as long as going through a ring of as many changes: two looks each. */
static dls_status rooms_create(dls_place_index *x, dls_error *err)
{
    DLS_TRY(dls_alloc_array(&x->rooms, 1, sizeof *x->rooms, "rooms", err));
    uint64_t size = 64;
    while (size < (uint64_t)x->n_nodes / 2) {
        size *= 2;
    }
    x->rooms->mask = size - 1;
    return dls_alloc_array(&x->rooms->change, size, sizeof *x->rooms->change, "rooms", err);
}

void dls_rooms_destroy(dls_rooms *rooms)
{
    if (rooms) {
        dls_strdict_fini(&rooms->asks);
        DLS_FREE_ALL(rooms->change, rooms->sum, rooms);
    }
}

dls_status dls_place_refused(dls_place_index *index, const dls_request *r, dls_error *err)
{
    if (r->cpu_milli_per_gpu <= 0 && r->mem_mib_per_gpu <= 0) {
        return DLS_OK;
    }
    if (!index->rooms) {
        DLS_TRY(rooms_create(index, err));
    }
    dls_rooms *rooms = index->rooms;
    const ask key = ask_of(r);
    const size_t n = rooms->asks.n;
    int32_t code;
    DLS_TRY(dls_grow(&rooms->sum, &rooms->cap, n + 1, sizeof *rooms->sum, err));
    DLS_TRY(dls_strdict_put(&rooms->asks, (const char *)&key, sizeof key, &code, err));
    if ((size_t)code == n) {
        rooms->sum[n] = (sum){.seen = UNKNOWN};
    }
    return DLS_OK;
}

/* What the i-th of those that were refused asks for. */
static dls_request asked(const dls_rooms *rooms, size_t i)
{
    ask key;
    memcpy(&key, dls_strdict_get(&rooms->asks, (int32_t)i), sizeof key);
    return (dls_request){.type = (int32_t)key.type, .cpu_milli_per_gpu = key.cpu_milli, .mem_mib_per_gpu = key.mem_mib};
}

dls_status dls_rooms_copy(dls_place_index *index, const dls_place_index *from, dls_error *err)
{
    for (size_t i = 0; from->rooms && i < from->rooms->asks.n; i++) {
        const dls_request r = asked(from->rooms, i);
        DLS_TRY(dls_place_refused(index, &r, err));
    }
    return DLS_OK;
}

/* Those of nodes with free GPUs, up to `enough`. */
static int64_t count(const dls_place_index *x, const dls_request *r, int64_t enough)
{
    const dls_type_index *ti = &x->type[r->type];
    int64_t gpus = 0;
    for (int32_t f = ti->max_gpus; f >= 1 && gpus < enough; f--) {
        for (int32_t n = dls_bitmap_next(&ti->nodes[f], 0); n >= 0 && gpus < enough;
             n = dls_bitmap_next(&ti->nodes[f], n + 1)) {
            gpus += dls_node_limit(&x->node[n], r);
        }
    }
    return gpus;
}

/* All that has changed since; false: more than the ring holds. */
static bool catch_up(const dls_place_index *x, const dls_request *r, sum *s)
{
    const dls_rooms *rooms = x->rooms;
    if (s->seen == UNKNOWN || rooms->n - s->seen > rooms->mask + 1) {
        return false;
    }
    for (; s->seen < rooms->n; s->seen++) {
        const dls_node_change *c = &rooms->change[s->seen & rooms->mask];
        if (c->after.type == r->type) {
            s->gpus += dls_node_limit(&c->after, r) - dls_node_limit(&c->before, r);
        }
    }
    return true;
}

bool dls_place_has_room(const dls_place_index *index, const dls_request *r)
{
    const dls_rooms *rooms = index->rooms;
    const ask key = ask_of(r);
    const int32_t code = rooms ? dls_strdict_find(&rooms->asks, (const char *)&key, sizeof key) : -1;
    if (code < 0) {
        return true;
    }
    sum *s = &rooms->sum[code];
    if (!catch_up(index, r, s)) {
        s->gpus = count(index, r, r->gpus);
        s->seen = s->gpus < r->gpus ? rooms->n : UNKNOWN; /* with enough it was not counted to the end */
    }
    return s->gpus >= r->gpus;
}

dls_status dls_rooms_check(const dls_place_index *index, dls_error *err)
{
    const dls_rooms *rooms = index->rooms;
    for (size_t i = 0; rooms && i < rooms->asks.n; i++) {
        const dls_request r = asked(rooms, i);
        sum s = rooms->sum[i];
        if (catch_up(index, &r, &s) && s.gpus != count(index, &r, INT64_MAX)) {
            return dls_fail(err, DLS_ERUN, NULL, "wrong room for jobs that were refused");
        }
    }
    return DLS_OK;
}
