/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Grants: the GPUs by node that a placement chooses for one request, and the shape (type, GPUs,
 * nodes, racks) that they make.
 */
#include "cluster/index.h"

#include "base/alloc.h"

#include <math.h>
#include <math.h>
#include <string.h>

dls_grant *dls_grant_create(void)
{
    dls_grant *grant = dls_alloc_zero(1, sizeof *grant);
    if (grant) {
        dls_grant_reset(grant);
    }
    return grant;
}

void dls_grant_destroy(dls_grant *grant)
{
    if (grant) {
        dls_grant_fini(grant);
        dls_free(grant);
    }
}

void dls_grant_reset(dls_grant *grant)
{
    grant->n = 0;
    grant->gpus = 0;
    grant->failed = false;
    grant->shift_s = (double)NAN;
}

void dls_grant_shift(dls_grant *grant, double shift_s)
{
    grant->shift_s = shift_s;
}

void dls_grant_fini(dls_grant *grant)
{
    DLS_FREE_ALL(grant->part, grant->mask, grant->part_of);
}

/* The part that names a node; NULL. O(1). */
static dls_place_part *find_part(const dls_grant *grant, int32_t node)
{
    if (node < 0 || (size_t)node >= grant->nodes_cap) {
        return NULL;
    }
    const size_t at = (size_t)grant->part_of[node];
    return at < grant->n && grant->part[at].node == node ? &grant->part[at] : NULL;
}

/* What cannot be is as far off as can be said: the check of the grant reports it. */
static void add(int32_t *sum, int32_t gpus)
{
    if (__builtin_add_overflow(*sum, gpus, sum)) {
        *sum = gpus < 0 ? INT32_MIN : INT32_MAX;
    }
}

void dls_grant_add(dls_grant *grant, int32_t node, int32_t gpus)
{
    dls_place_part *known = find_part(grant, node);
    grant->gpus += gpus;
    if (known) {
        add(&known->gpus, gpus);
        return;
    }
    /* A number that names no node is not entered in part_of; the check of the grant reports it. */
    const size_t nodes = node >= 0 && node < DLS_NODES_MAX ? (size_t)node + 1 : 0;
    const size_t old = grant->nodes_cap;
    if (dls_grow(&grant->part, &grant->cap, grant->n + 1, sizeof *grant->part, NULL) != DLS_OK ||
        dls_grow(&grant->mask, &grant->mask_cap, grant->n + 1, sizeof *grant->mask, NULL) !=
            DLS_OK ||
        dls_grow(&grant->part_of, &grant->nodes_cap, nodes, sizeof *grant->part_of, NULL) !=
            DLS_OK) {
        grant->failed = true;
        return;
    }
    if (grant->nodes_cap > old) {
        memset(grant->part_of + old, 0, (grant->nodes_cap - old) * sizeof *grant->part_of);
    }
    if (nodes > 0) {
        grant->part_of[node] = (int32_t)grant->n;
    }
    grant->mask[grant->n] = 0;
    grant->part[grant->n++] = (dls_place_part){node, gpus};
}

void dls_grant_add_gpus(dls_grant *grant, int32_t node, uint64_t gpus)
{
    dls_grant_add(grant, node, __builtin_popcountll(gpus));
    const dls_place_part *part = find_part(grant, node);
    if (part) {
        grant->mask[part - grant->part] |= gpus;
    }
}

int32_t dls_grant_left(const dls_grant *grant, const dls_place_index *index, int32_t node)
{
    const dls_place_part *taken = find_part(grant, node);
    return dls_fault_check(index->fault, __func__, node, index->n_nodes)
               ? (int32_t)fmin((double)index->node[node].free - (taken ? taken->gpus : 0), INT32_MAX)
               : 0;
}

const dls_place_part *dls_grant_parts(const dls_grant *grant, size_t *n)
{
    *n = grant->failed ? 0 : grant->n;
    return *n > 0 ? grant->part : NULL;
}

dls_shape dls_place_shape(const dls_place_index *index, const dls_place_part *part, size_t n)
{
    dls_shape shape = {.type = n > 0 ? dls_place_type(index, part[0].node) : 0,
                       .n_nodes = (int32_t)n};
    for (size_t i = 0; i < n; i++) {
        const int32_t rack = dls_place_rack(index, part[i].node);
        bool seen = false;
        for (size_t k = i; k-- > 0 && !seen;) { /* most often it is that of the part before */
            seen = dls_place_rack(index, part[k].node) == rack;
        }
        add(&shape.gpus, part[i].gpus);
        shape.n_racks += !seen;
    }
    return shape;
}

bool dls_grant_shape(const dls_grant *grant, const dls_place_index *index, dls_shape *out)
{
    size_t n;
    const dls_place_part *part = dls_grant_parts(grant, &n);
    if (n > 0) {
        *out = dls_place_shape(index, part, n);
    }
    return n > 0;
}
