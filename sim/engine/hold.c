/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The GPUs that jobs hold: lists of parts, taken from the index and given back to it.
 */
#include "base/alloc.h"
#include "base/assert.h"
#include "engine/engine.h"

#include <math.h>

void dls_hold_init(dls_engine *e)
{
    dls_holding *h = &e->hold;
    h->free_part = -1;
    for (int32_t j = 0; j < e->n; j++) {
        h->type[j] = -1;
    }
    for (int32_t r = 0; r < e->index->n_racks; r++) {
        const dls_rack *rack = &e->index->rack[r];
        int32_t *most = &h->rack_nodes[e->index->node[rack->first].type];
        *most = rack->end - rack->first > *most ? rack->end - rack->first : *most;
    }
}

dls_status dls_new_part(dls_engine *e, int32_t node, uint64_t mask, int32_t next, int32_t *out,
                        dls_error *err)
{
    DLS_DEBUG_ASSERT(node >= 0 && node < e->index->n_nodes);
    int32_t at = e->hold.free_part;
    if (at >= 0) {
        e->hold.free_part = e->hold.part[at].next;
    } else {
        DLS_TRY(dls_grow(&e->hold.part, &e->hold.parts_cap, e->hold.n_parts + 1,
                         sizeof *e->hold.part, err));
        at = (int32_t)e->hold.n_parts++;
    }
    e->hold.part[at] = (dls_held){.mask = mask, .node = node, .next = next};
    *out = at;
    return DLS_OK;
}

void dls_free_parts(dls_engine *e, int32_t parts)
{
    while (parts >= 0) {
        const int32_t next = e->hold.part[parts].next;
        e->hold.part[parts].next = e->hold.free_part;
        e->hold.free_part = parts;
        parts = next;
    }
}

dls_part dls_part_on(dls_engine *e, int32_t job, int32_t node, int32_t gpu)
{
    const dls_pace *pace = e->params->pace;
    const dls_shape shape = {e->index->node[node].type, 1, 1, 1};
    dls_part part = {.job = job, .node = node, .gpu = gpu, .milli = dls_part_of(e, job)};
    dls_solo solo;
    int64_t rate;
    dls_side_resources(e, job, 1, &part.cpu_milli, &part.mem_mib);
    if (pace && pace->solo && pace->solo(pace->world, job, &shape, &solo, &rate, NULL) == DLS_OK &&
        solo.mem_bytes > 0) {
        part.bytes = (int64_t)ceil(solo.mem_bytes);
    }
    return part;
}

static dls_part part_held(dls_engine *e, int32_t job, int32_t part)
{
    const dls_held *held = &e->hold.part[part];
    return dls_part_on(e, job, held->node, __builtin_ctzll(held->mask));
}

static void give_part(dls_engine *e, int32_t job, int32_t part)
{
    int64_t cpu, mem;
    const dls_held *held = &e->hold.part[part];
    dls_side_resources(e, job, dls_gpus_of(held->mask), &cpu, &mem);
    dls_place_give(e->index, held->node, held->mask, cpu, mem);
    dls_drain_keep(e, held->node, held->mask);
}

void dls_give_back(dls_engine *e, int32_t job, int32_t parts)
{
    const bool part = dls_part_of(e, job) > 0;
    for (int32_t p = parts; p >= 0; p = e->hold.part[p].next) {
        if (part) {
            const dls_part had = part_held(e, job, p);
            dls_parts_give(e->index, &had);
            continue;
        }
        give_part(e, job, p);
    }
    e->select.releases++;
}

bool dls_retake(dls_engine *e, int32_t job)
{
    DLS_DEBUG_ASSERT(e->job[job].parts >= 0);
    int64_t cpu, mem;
    if (dls_part_of(e, job) > 0) {
        const dls_part had = part_held(e, job, e->job[job].parts);
        return dls_parts_take(e->index, &had);
    }
    for (int32_t p = e->job[job].parts; p >= 0; p = e->hold.part[p].next) {
        const dls_held *held = &e->hold.part[p];
        dls_side_resources(e, job, dls_gpus_of(held->mask), &cpu, &mem);
        dls_drain_lend(e, held->node, held->mask);
        if (!dls_place_retake(e->index, held->node, held->mask, cpu, mem)) {
            dls_drain_keep(e, held->node, held->mask);
            for (int32_t q = e->job[job].parts; q != p; q = e->hold.part[q].next) {
                give_part(e, job, q);
            }
            return false;
        }
    }
    return true;
}

dls_shape dls_shape_of(const dls_engine *e, int32_t job)
{
    return dls_shape_of_parts(e, e->job[job].parts);
}

dls_shape dls_shape_of_parts(const dls_engine *e, int32_t parts)
{
    DLS_DEBUG_ASSERT(parts >= 0);
    dls_shape shape = {.type = e->index->node[e->hold.part[parts].node].type};
    const uint64_t count = ++e->hold.rack_seen[e->index->n_racks];
    for (int32_t p = parts; p >= 0; p = e->hold.part[p].next) {
        const int32_t rack = e->index->node[e->hold.part[p].node].rack;
        shape.gpus += dls_gpus_of(e->hold.part[p].mask);
        shape.n_nodes++; /* a grant names a node once */
        shape.n_racks += e->hold.rack_seen[rack] != count;
        e->hold.rack_seen[rack] = count;
    }
    return shape;
}
