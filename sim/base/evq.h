/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The event queue: an indexed 4-ary heap. Each slot (a small integer that names who waits) has at
 * most one event, which can be moved or cancelled in place.
 *
 * Order: time, then class, then slot: total, so that no two runs differ. Four children of 16 bytes
 * share a cache line. O(log4 n) per operation; no allocation after creation unless the number of
 * pending events outgrows the heap, which doubles.
 */
#ifndef DLS_BASE_EVQ_H
#define DLS_BASE_EVQ_H

#include "base/assert.h"
#include "dlsim/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What happens at one instant, in this order; arrivals, which are a cursor over the trace, lie between
 * repairs and ticks, the scheduling pass behind them all. */
typedef enum dls_event_class {
    DLS_EV_FINISH = 0,
    DLS_EV_FAIL = 1,
    DLS_EV_REPAIR = 2,
    DLS_EV_TICK = 3
} dls_event_class;

typedef struct dls_event {
    int64_t time_us;
    uint64_t who; /* class << 56 | slot */
} dls_event;

typedef struct dls_evq {
    dls_event *base;  /* allocation; heap = base + 3, so that siblings start on a cache line */
    dls_event *heap;
    int32_t *pos;     /* [n_slots] place in the heap or -1 */
    size_t n, cap;
    size_t n_slots;
    size_t peak;      /* most events at once */
} dls_evq;

dls_status dls_evq_init(dls_evq *q, size_t n_slots, dls_error *err) DLS_MUST_CHECK;
void dls_evq_fini(dls_evq *q);
/* *q becomes a queue with the same events; all zero after a failure. O(slots). */
dls_status dls_evq_copy(dls_evq *q, const dls_evq *from, dls_error *err) DLS_MUST_CHECK;

/* Set the event of a slot, moving it if it has one. */
dls_status dls_evq_set(dls_evq *q, uint32_t slot, int64_t time_us, dls_event_class cls,
                       dls_error *err) DLS_MUST_CHECK;
static inline bool dls_evq_has(const dls_evq *q, uint32_t slot)
{
    DLS_DEBUG_ASSERT(slot < q->n_slots);
    return q->pos[slot] >= 0;
}
/* When the slot's event is; it must have one. */
static inline int64_t dls_evq_time(const dls_evq *q, uint32_t slot)
{
    DLS_DEBUG_ASSERT(dls_evq_has(q, slot));
    return q->heap[q->pos[slot]].time_us;
}
static inline bool dls_evq_empty(const dls_evq *q)
{
    return q->n == 0;
}
/* Take the slot's event out; it must have one. */
void dls_evq_remove(dls_evq *q, uint32_t slot);
/* The same where it may have none: an empty queue is not even looked up. */
static inline void dls_evq_cancel(dls_evq *q, uint32_t slot)
{
    if (!dls_evq_empty(q) && dls_evq_has(q, slot)) {
        dls_evq_remove(q, slot);
    }
}
/* The first event; the queue must not be empty. */
static inline dls_event dls_evq_top(const dls_evq *q)
{
    DLS_DEBUG_ASSERT(!dls_evq_empty(q));
    return q->heap[0];
}
/* The first (0) or one of the four among which the second is (1 to 4), if it is there: to fetch
 * what it will touch. */
static inline const dls_event *dls_evq_soon(const dls_evq *q, size_t k)
{
    return k < q->n ? &q->heap[k] : NULL;
}
static inline dls_event_class dls_event_class_of(dls_event e)
{
    return (dls_event_class)(e.who >> 56);
}
static inline uint32_t dls_event_slot(dls_event e)
{
    return (uint32_t)e.who;
}
dls_event dls_evq_pop(dls_evq *q);

#endif
