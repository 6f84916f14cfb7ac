/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The GPUs that jobs hold: a list of parts per job, one for each node, in one table with a free list.
 */
#ifndef DLS_ENGINE_HOLD_H
#define DLS_ENGINE_HOLD_H

#include "dlsim/policy.h"

/* GPUs that a job holds on one node. */
typedef struct dls_held {
    uint64_t mask;
    int32_t node, next;
} dls_held;

typedef struct dls_holding {
    int8_t *type;          /* [n] of the GPUs held, -1 */
    dls_held *part;
    size_t n_parts, parts_cap;
    int32_t free_part;

    uint64_t *rack_seen;   /* [racks + 1] scratch: in which count a rack was last seen; the last: number of the count */
    int32_t rack_nodes[DLS_TYPES_MAX]; /* most nodes of the type in a rack */
} dls_holding;

#define DLS_HOLD_ARRAYS(XX)                                                                        \
    XX(hold.type, e->n, true)                                                                      \
    XX(hold.rack_seen, e->index->n_racks + 1, true)

/* XX(member of the engine, elements in use, elements that there is room for) */
#define DLS_HOLD_LISTS(XX) XX(hold.part, e->hold.n_parts, e->hold.parts_cap)

/* ---- hold.c ------------------------------------------------------------------------------------ */

/* No job holds anything. */
void dls_hold_init(dls_engine *e);
/* *out: a part in front of the list `next`. */
dls_status dls_new_part(dls_engine *e, int32_t node, uint64_t mask, int32_t next, int32_t *out,
                        dls_error *err) DLS_MUST_CHECK;
void dls_free_parts(dls_engine *e, int32_t parts);
/* What a job that wants a part of a GPU would have of this one. */
struct dls_part dls_part_on(dls_engine *e, int32_t job, int32_t node, int32_t gpu);
/* Give a list of parts back to the index; the list itself stays. */
void dls_give_back(dls_engine *e, int32_t job, int32_t parts);
/* Take the GPUs that a job holds from the index again, all or none. */
bool dls_retake(dls_engine *e, int32_t job);

/* The shape of a list of parts, not empty; of what a job holds. O(nodes). */
dls_shape dls_shape_of_parts(const dls_engine *e, int32_t parts);
dls_shape dls_shape_of(const dls_engine *e, int32_t job);

#endif
