/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Indexed 4-ary heap of events: sifting moves 16-byte events and keeps each slot's position, so an
 * event is moved or cancelled in place.
 */
#include "base/evq.h"

#include "base/alloc.h"
#include "base/assert.h"

#include <string.h>

static inline bool before(const dls_event *a, const dls_event *b)
{
    return a->time_us != b->time_us ? a->time_us < b->time_us : a->who < b->who;
}

static inline void put(dls_evq *q, size_t i, dls_event e)
{
    q->heap[i] = e;
    q->pos[dls_event_slot(e)] = (int32_t)i;
}

static void sift_up(dls_evq *q, size_t i, dls_event e)
{
    while (i > 0) {
        const size_t parent = (i - 1) / 4;
        if (!before(&e, &q->heap[parent])) {
            break;
        }
        put(q, i, q->heap[parent]);
        i = parent;
    }
    put(q, i, e);
}

static void sift_down(dls_evq *q, size_t i, dls_event e)
{
    for (;;) {
        const size_t first = 4 * i + 1;
        if (first >= q->n) {
            break;
        }
        const size_t end = first + 4 < q->n ? first + 4 : q->n;
        size_t least = first;
        for (size_t c = first + 1; c < end; c++) {
            least = before(&q->heap[c], &q->heap[least]) ? c : least;
        }
        if (!before(&q->heap[least], &e)) {
            break;
        }
        put(q, i, q->heap[least]);
        i = least;
    }
    put(q, i, e);
}

/* heap[1] .. heap[4] are siblings: with three elements of padding they start a cache line. */
#define PAD 3

static dls_status reserve(dls_evq *q, size_t cap, dls_error *err)
{
    dls_event *base = dls_alloc_aligned((cap + PAD) * sizeof *base);
    if (!base) {
        return dls_nomem(err, "event queue", (cap + PAD) * sizeof *base);
    }
    if (q->n) {
        memcpy(base + PAD, q->heap, q->n * sizeof *base);
    }
    dls_free(q->base);
    q->base = base;
    q->heap = base + PAD;
    q->cap = cap;
    return DLS_OK;
}

dls_status dls_evq_init(dls_evq *q, size_t n_slots, dls_error *err)
{
    memset(q, 0, sizeof *q);
    q->n_slots = n_slots;
    DLS_TRY(dls_alloc_array(&q->pos, n_slots ? n_slots : 1, sizeof *q->pos, "event queue", err));
    for (size_t i = 0; i < n_slots; i++) {
        q->pos[i] = -1;
    }
    const dls_status status = reserve(q, 1024, err);
    if (status != DLS_OK) {
        dls_evq_fini(q);
    }
    return status;
}

void dls_evq_fini(dls_evq *q)
{
    dls_free(q->base);
    dls_free(q->pos);
    memset(q, 0, sizeof *q);
}

dls_status dls_evq_copy(dls_evq *q, const dls_evq *from, dls_error *err)
{
    memset(q, 0, sizeof *q);
    if (!from->pos) {
        return DLS_OK;
    }
    DLS_TRY(dls_duplicate(&q->pos, from->pos, from->n_slots, from->n_slots, sizeof *q->pos, err));
    const dls_status status = reserve(q, from->cap, err);
    if (status != DLS_OK) {
        dls_evq_fini(q);
        return status;
    }
    memcpy(q->heap, from->heap, from->n * sizeof *q->heap);
    q->n = from->n;
    q->n_slots = from->n_slots;
    q->peak = from->peak;
    return DLS_OK;
}

dls_status dls_evq_set(dls_evq *q, uint32_t slot, int64_t time_us, dls_event_class cls,
                       dls_error *err)
{
    DLS_DEBUG_ASSERT(slot < q->n_slots);
    const dls_event e = {time_us, (uint64_t)cls << 56 | slot};
    if (q->pos[slot] >= 0) {
        const size_t i = (size_t)q->pos[slot];
        if (before(&e, &q->heap[i])) {
            sift_up(q, i, e);
        } else {
            sift_down(q, i, e);
        }
        return DLS_OK;
    }
    if (q->n == q->cap) {
        DLS_TRY(reserve(q, q->cap * 2, err));
    }
    q->n++;
    q->peak = q->n > q->peak ? q->n : q->peak;
    sift_up(q, q->n - 1, e);
    return DLS_OK;
}

void dls_evq_remove(dls_evq *q, uint32_t slot)
{
    DLS_DEBUG_ASSERT(dls_evq_has(q, slot));
    const size_t i = (size_t)q->pos[slot];
    const dls_event last = q->heap[--q->n];
    q->pos[slot] = -1;
    if (i == q->n) {
        return;
    }
    if (i > 0 && before(&last, &q->heap[(i - 1) / 4])) {
        sift_up(q, i, last);
    } else {
        sift_down(q, i, last);
    }
}

dls_event dls_evq_pop(dls_evq *q)
{
    DLS_DEBUG_ASSERT(!dls_evq_empty(q));
    const dls_event top = q->heap[0];
    dls_evq_remove(q, dls_event_slot(top));
    return top;
}
