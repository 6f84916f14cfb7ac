/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The GPUs that jobs hold: lists of parts, taken from the index and given back to it.
 */
#include "base/alloc.h"
#include "base/assert.h"
#include "engine/engine.h"

dls_status dls_new_part(dls_engine *e, int32_t node, uint64_t mask, int32_t next, int32_t *out,
                        dls_error *err)
{
    DLS_DEBUG_ASSERT(node >= 0 && node < e->index->n_nodes);
    int32_t at = e->free_part;
    if (at >= 0) {
        e->free_part = e->part[at].next;
    } else {
        DLS_TRY(dls_grow(&e->part, &e->parts_cap, e->n_parts + 1, sizeof *e->part, err));
        at = (int32_t)e->n_parts++;
    }
    e->part[at] = (dls_held){.mask = mask, .node = node, .next = next};
    *out = at;
    return DLS_OK;
}

void dls_free_parts(dls_engine *e, int32_t parts)
{
    while (parts >= 0) {
        const int32_t next = e->part[parts].next;
        e->part[parts].next = e->free_part;
        e->free_part = parts;
        parts = next;
    }
}

void dls_give_back(dls_engine *e, int32_t job, int32_t parts)
{
    int64_t cpu, mem;
    for (int32_t p = parts; p >= 0; p = e->part[p].next) {
        dls_side_resources(e, job, __builtin_popcountll(e->part[p].mask), &cpu, &mem);
        dls_place_give(e->index, e->part[p].node, e->part[p].mask, cpu, mem);
    }
    e->select.releases++;
}

bool dls_retake(dls_engine *e, int32_t job)
{
    DLS_DEBUG_ASSERT(e->held[job] >= 0);
    int64_t cpu, mem;
    for (int32_t p = e->held[job]; p >= 0; p = e->part[p].next) {
        dls_side_resources(e, job, __builtin_popcountll(e->part[p].mask), &cpu, &mem);
        if (!dls_place_retake(e->index, e->part[p].node, e->part[p].mask, cpu, mem)) {
            for (int32_t q = e->held[job]; q != p; q = e->part[q].next) {
                dls_side_resources(e, job, __builtin_popcountll(e->part[q].mask), &cpu, &mem);
                dls_place_give(e->index, e->part[q].node, e->part[q].mask, cpu, mem);
            }
            return false;
        }
    }
    return true;
}

dls_shape dls_shape_of(dls_engine *e, int32_t job)
{
    return dls_shape_of_parts(e, e->held[job]);
}

dls_shape dls_shape_of_parts(dls_engine *e, int32_t parts)
{
    DLS_DEBUG_ASSERT(parts >= 0);
    dls_shape shape = {.type = e->index->node[e->part[parts].node].type};
    e->rack_count++;
    for (int32_t p = parts; p >= 0; p = e->part[p].next) {
        const int32_t rack = e->index->node[e->part[p].node].rack;
        shape.gpus += __builtin_popcountll(e->part[p].mask);
        shape.n_nodes++; /* a grant names a node once */
        shape.n_racks += e->rack_seen[rack] != e->rack_count;
        e->rack_seen[rack] = e->rack_count;
    }
    return shape;
}
