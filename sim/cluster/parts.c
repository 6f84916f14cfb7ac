/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Parts of GPUs: how much of which GPU jobs have, and the fullest that still has a part.
 *
 * A GPU of which somebody has a part is not free (its bit in the node's mask is 0). Those with
 * something left lie in an ordered set per type, by what is left. Slices of MIG lie at fixed places
 * of the eight memory slices of a GPU (NVIDIA, "Multi-Instance GPU User Guide", A100 and H100):
 *
 *      slice      1g          2g        3g       4g   7g
 *      begins at  0 .. 6      0, 2, 4   0, 4     0    0
 *      is wide    1           2         4        4    8
 *
 * and so where a slice lies decides what still fits: what is "left" is the largest slice that does.
 */
#include "cluster/index.h"

#include "base/alloc.h"
#include "base/assert.h"

#include <string.h>

enum { WHOLE = DLS_GPU_MILLI, MIG_KINDS = 5 };

typedef struct mig_slice {
    int32_t sevenths, wide, step, last; /* begins at last, last - step, .. 0 */
} mig_slice;

static const mig_slice mig[MIG_KINDS] = {
    {1, 1, 1, 6}, {2, 2, 2, 4}, {3, 4, 4, 4}, {4, 4, 4, 0}, {7, 8, 8, 0}};

int32_t dls_parts_size(bool is_mig, int64_t milli)
{
    int32_t k = 0;
    if (!is_mig || milli >= WHOLE) {
        return milli < WHOLE ? (int32_t)milli : WHOLE;
    }
    while (7 * milli > WHOLE * mig[k].sevenths) {
        k++;
    }
    return WHOLE * mig[k].sevenths / 7; /* cut: seven of the smallest are at most a GPU */
}

int32_t dls_parts_of_gpu(bool is_mig, int32_t milli)
{
    int32_t k = 0;
    while (is_mig && WHOLE * mig[k].sevenths / 7 < milli) {
        k++;
    }
    return is_mig                          ? mig[k].last / mig[k].step + 1
           : WHOLE / milli > DLS_GROUP_MAX ? DLS_GROUP_MAX
                                           : WHOLE / milli;
}

/* The largest slice that fits beside those in use, in thousandths. */
static int32_t largest(uint32_t in_use)
{
    for (int32_t k = MIG_KINDS; k-- > 0;) {
        for (int32_t at = mig[k].last; at >= 0; at -= mig[k].step) {
            if (!(in_use & ((1U << mig[k].wide) - 1) << at)) {
                return WHOLE * mig[k].sevenths / 7;
            }
        }
    }
    return 0;
}

/* Where a slice is put: so that the largest that still fits is as large as can be, then as far back
 * as can be; -1: nowhere. */
static int32_t place_slice(uint32_t in_use, int32_t milli, uint32_t *bits)
{
    int32_t k = 0, best = -1, most = -1;
    while (WHOLE * mig[k].sevenths / 7 < milli) {
        k++;
    }
    for (int32_t at = mig[k].last; at >= 0; at -= mig[k].step) {
        const uint32_t here = ((1U << mig[k].wide) - 1) << at;
        if (!(in_use & here) && largest(in_use | here) > most) {
            most = largest(in_use | here);
            best = at;
            *bits = here;
        }
    }
    return best;
}

static int32_t left_of(const dls_gpu_parts *p, int32_t gpu)
{
    return p->jobs[gpu] == DLS_GROUP_MAX ? 0
           : p->owner                    ? largest(p->slices[gpu])
                                         : WHOLE - p->taken[gpu];
}

/* ---- building -------------------------------------------------------------------------------- */

dls_status dls_parts_create(dls_place_index *index, bool is_mig, dls_error *err)
{
    dls_gpu_parts *p;
    const int32_t n = (int32_t)index->total_gpus;
    DLS_TRY(dls_alloc_array(&p, 1, sizeof *p, "parts of GPUs", err));
    index->parts = p;
    for (int32_t t = 0; t < DLS_TYPES_MAX; t++) {
        p->used[t] = (dls_order_set)DLS_ORDER_SET_EMPTY;
    }
    DLS_TRY(DLS_ALLOC_ALL("parts of GPUs", err, DLS_ARRAY(p->first, (size_t)index->n_nodes + 1),
                          DLS_ARRAY(p->node_of, (size_t)n), DLS_ARRAY(p->taken, (size_t)n),
                          DLS_ARRAY(p->jobs, (size_t)n), DLS_ARRAY(p->bytes, (size_t)n)));
    if (is_mig) {
        DLS_TRY(dls_alloc_array(&p->slices, (size_t)n, sizeof *p->slices, "slices of GPUs", err));
        DLS_TRY(dls_alloc_array(&p->owner, (size_t)n, sizeof *p->owner, "slices of GPUs", err));
    }
    for (int32_t i = 0; i < index->n_nodes; i++) {
        p->first[i + 1] = p->first[i] + index->node[i].capacity;
        for (int32_t g = p->first[i]; g < p->first[i + 1]; g++) {
            p->node_of[g] = i;
        }
    }
    return dls_order_init(&p->order, n + 1, index->n_types, err);
}

void dls_parts_destroy(dls_gpu_parts *p)
{
    if (p) {
        DLS_FREE_ALL(p->first, p->node_of, p->taken, p->jobs, p->bytes, p->slices, p->owner);
        dls_order_fini(&p->order);
        dls_free(p);
    }
}

dls_status dls_parts_copy(dls_place_index *index, const dls_place_index *from, dls_error *err)
{
    const dls_gpu_parts *of = from->parts;
    const size_t n = (size_t)from->total_gpus;
    DLS_TRY(dls_parts_create(index, of->owner != NULL, err));
    dls_gpu_parts *p = index->parts;
    memcpy(p->taken, of->taken, n * sizeof *p->taken);
    memcpy(p->jobs, of->jobs, n * sizeof *p->jobs);
    memcpy(p->bytes, of->bytes, n * sizeof *p->bytes);
    if (p->owner) {
        memcpy(p->slices, of->slices, n * sizeof *p->slices);
        memcpy(p->owner, of->owner, n * sizeof *p->owner);
    }
    memcpy(p->used, of->used, sizeof p->used);
    p->taken_milli = of->taken_milli;
    p->gpus = of->gpus;
    dls_order_fini(&p->order);
    return dls_order_copy(&p->order, &of->order, err);
}

/* ---- taking and giving ----------------------------------------------------------------------- */

/* The GPU's place among those of its type after `taken` has changed. */
static void file_gpu(dls_place_index *x, int32_t gpu)
{
    dls_gpu_parts *p = x->parts;
    const int32_t type = x->node[p->node_of[gpu]].type, left = left_of(p, gpu);
    if (dls_order_has(&p->order, gpu)) {
        dls_order_remove(&p->order, &p->used[type], gpu);
    }
    if (p->taken[gpu] > 0 && left > 0) {
        dls_order_insert(&p->order, &p->used[type], gpu, (dls_rank){.key = left, .id = gpu}, 1, 0);
    }
}

bool dls_parts_take(dls_place_index *index, const dls_part *part)
{
    DLS_DEBUG_ASSERT(part->milli > 0 && part->milli < WHOLE);
    dls_gpu_parts *p = index->parts;
    dls_node *at = &index->node[part->node];
    const int32_t g = p->first[part->node] + part->gpu;
    const double total = index->type[at->type].gpu_mem_bytes;
    uint32_t bits = 0;
    if (dls_place_gpu_left(index, part->node, part->gpu) < part->milli ||
        at->free_cpu_milli < part->cpu_milli || at->free_mem_mib < part->mem_mib ||
        (p->bytes[g] > 0 && total > 0 && (double)(p->bytes[g] + part->bytes) > total)) {
        return false;
    }
    if (p->taken[g] == 0) { /* it is free: nobody's whole from now on */
        const bool free = dls_place_retake(index, part->node, UINT64_C(1) << part->gpu,
                                           part->cpu_milli, part->mem_mib);
        DLS_ASSERT(free);
        p->gpus++;
    } else {
        dls_place_change(index, part->node, at->free_mask, at->free, part->cpu_milli, part->mem_mib);
    }
    if (p->owner) {
        p->owner[g][place_slice(p->slices[g], part->milli, &bits)] = part->job + 1;
        p->slices[g] |= (uint8_t)bits;
    }
    p->taken[g] = (int16_t)(p->taken[g] + part->milli);
    p->taken_milli += part->milli;
    p->bytes[g] += part->bytes;
    p->jobs[g]++;
    file_gpu(index, g);
    return true;
}

void dls_parts_give(dls_place_index *index, const dls_part *part)
{
    dls_gpu_parts *p = index->parts;
    dls_node *at = &index->node[part->node];
    const int32_t g = p->first[part->node] + part->gpu;
    DLS_DEBUG_ASSERT(p->jobs[g] > 0 && p->taken[g] >= part->milli && p->bytes[g] >= part->bytes);
    if (p->owner) {
        int32_t k = 0, slice = 0;
        while (WHOLE * mig[k].sevenths / 7 < part->milli) {
            k++;
        }
        while (p->owner[g][slice] != part->job + 1) {
            slice++;
            DLS_ASSERT(slice < 8);
        }
        p->owner[g][slice] = 0;
        p->slices[g] &= (uint8_t) ~(((1U << mig[k].wide) - 1) << slice);
    }
    p->taken[g] = (int16_t)(p->taken[g] - part->milli);
    p->taken_milli -= part->milli;
    p->bytes[g] -= part->bytes;
    p->jobs[g]--;
    file_gpu(index, g);
    if (p->jobs[g] == 0) {
        p->gpus--;
        dls_place_give(index, part->node, UINT64_C(1) << part->gpu, part->cpu_milli, part->mem_mib);
    } else {
        dls_place_change(index, part->node, at->free_mask, at->free, -part->cpu_milli, -part->mem_mib);
    }
}

/* ---- queries --------------------------------------------------------------------------------- */

int32_t dls_place_gpu_left(const dls_place_index *index, int32_t node, int32_t gpu)
{
    if (!dls_fault_check(index->fault, __func__, node, index->n_nodes) ||
        !dls_fault_check(index->fault, __func__, gpu, index->node[node].capacity)) {
        return 0;
    }
    const dls_gpu_parts *p = index->parts;
    return index->node[node].free_mask >> gpu & 1    ? WHOLE
           : p && p->taken[p->first[node] + gpu] > 0 ? left_of(p, p->first[node] + gpu)
                                                     : 0;
}

int64_t dls_place_demand(const dls_place_index *index, size_t i, dls_request *out)
{
    if (i >= index->n_demand) {
        return 0;
    }
    *out = index->demand[i].request;
    return index->demand[i].jobs;
}

int32_t dls_parts_tightest(const dls_place_index *index, int32_t type, int32_t milli, int32_t after)
{
    const dls_gpu_parts *p = index->parts;
    const int32_t n = (int32_t)index->total_gpus;
    if (after < 0) { /* behind what would have one thousandth less */
        p->order.member[n].rank = (dls_rank){.key = milli, .tie = -1};
        after = n;
    }
    return dls_order_next(&p->order, p->used[type], after);
}

/* ---- audit ----------------------------------------------------------------------------------- */

dls_status dls_parts_check(const dls_place_index *index, dls_error *err)
{
    const dls_gpu_parts *p = index->parts;
    int64_t taken = 0;
    int32_t gpus = 0;
    for (int32_t g = 0; p && g < index->total_gpus; g++) {
        const int32_t node = p->node_of[g];
        const bool free = index->node[node].free_mask >> (g - p->first[node]) & 1;
        const bool good = p->taken[g] <= WHOLE && (p->taken[g] > 0) == (p->jobs[g] > 0) &&
                          !(free && p->taken[g] > 0) &&
                          dls_order_has(&p->order, g) == (p->taken[g] > 0 && left_of(p, g) > 0) &&
                          (!p->owner || (p->slices[g] != 0) == (p->taken[g] > 0));
        if (!good) {
            return dls_fail(err, DLS_ERUN, NULL, "GPU %d of node %d: %d thousandths in %d parts",
                            g - p->first[node], node, p->taken[g], p->jobs[g]);
        }
        taken += p->taken[g];
        gpus += p->jobs[g] > 0;
    }
    return !p || (taken == p->taken_milli && gpus == p->gpus)
               ? DLS_OK
               : dls_fail(err, DLS_ERUN, NULL, "the sums of parts of GPUs differ from the parts");
}
