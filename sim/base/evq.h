/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The event queue. Each slot (a small integer that names who waits) has at most one event, which can
 * be moved or cancelled.
 *
 *      run    the next few, sorted       popped from the front; who they are is known in advance
 *      heap   set later, before `limit`  few
 *      far    the rest, unsorted         buckets by the first hexadecimal digit in which a time
 *                                        differs from `base`: the first bucket holds the earliest
 *
 * As the run gets short, the first bucket is spread over finer ones until what it holds fits. A slot
 * says when its event is; an entry that says otherwise has been moved or cancelled and is dropped
 * when it is met, or when half of all are such. Where the heap grows, because the run reached far when
 * events were few, all is filed anew. So a job that is far from being due costs an append,
 * whatever the number of events, and is not touched as others come and go.
 *
 * Order: time, then class, then slot: total, so that no two runs differ. O(log n) per event, no
 * allocation but in dls_evq_set, when the entries outgrow the room, which doubles.
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

enum {
    DLS_EVQ_RUN = 63,      /* of a run, and of a chunk */
    DLS_EVQ_SOON = 8,      /* at least so many are in the run, if there are */
    DLS_EVQ_LEVELS = 16    /* hexadecimal digits of a time */
};

typedef struct dls_evq_chunk {
    int32_t n, next; /* chunk of the same bucket, 0: none */
    dls_event event[DLS_EVQ_RUN];
} dls_evq_chunk;

typedef struct dls_evq {
    uint64_t *due;        /* [n_slots] the slot's time and class (dls_evq_key), 0: no event */
    dls_event top;        /* the first */
    size_t n, n_slots;
    size_t peak;          /* most events at once */
    size_t filed, cap;    /* entries below, also of events that are no more; there is room for */
    uint64_t base, limit; /* times, as in keys; base <= limit */
    size_t run_at, run_end;
    dls_event run[DLS_EVQ_RUN];
    dls_event *heap;
    size_t n_heap, most_in_heap;
    dls_evq_chunk *chunk; /* [0] is not used */
    int32_t n_chunks;     /* used so far, of which .. */
    int32_t free_chunk;   /* .. these are free: a list, 0 ends it */
    uint32_t levels;      /* bit l: a bucket of level l holds something */
    uint32_t digits[DLS_EVQ_LEVELS];      /* bit d: the bucket of digit d does */
    int32_t bucket[DLS_EVQ_LEVELS][16];   /* its chunks; all but the first are full */
} dls_evq;

/* Times count to 2^61 in both directions, and as that beyond. */
#define DLS_EVQ_FAR (INT64_C(1) << 61)

static inline uint64_t dls_evq_key(dls_event e)
{
    return (uint64_t)(e.time_us + DLS_EVQ_FAR) << 2 | e.who >> 56;
}

dls_status dls_evq_init(dls_evq *q, size_t n_slots, dls_error *err) DLS_MUST_CHECK;
void dls_evq_fini(dls_evq *q);
/* *q becomes a queue with the same events; all zero after a failure. O(slots). */
dls_status dls_evq_copy(dls_evq *q, const dls_evq *from, dls_error *err) DLS_MUST_CHECK;

/* Set the event of a slot, moving it if it has one. As many as have been popped since can be set again without
 * an allocation. */
dls_status dls_evq_set(dls_evq *q, uint32_t slot, int64_t time_us, dls_event_class cls,
                       dls_error *err) DLS_MUST_CHECK;
static inline bool dls_evq_has(const dls_evq *q, uint32_t slot)
{
    DLS_DEBUG_ASSERT(slot < q->n_slots);
    return q->due[slot] != 0;
}
/* When the slot's event is; it must have one. */
static inline int64_t dls_evq_time(const dls_evq *q, uint32_t slot)
{
    DLS_DEBUG_ASSERT(dls_evq_has(q, slot));
    return (int64_t)(q->due[slot] >> 2) - DLS_EVQ_FAR;
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
    return q->top;
}
/* To fetch what it will touch: the event that will be popped after k others, if nothing happens before
 * and it is in the run. */
static inline const dls_event *dls_evq_soon(const dls_evq *q, size_t k)
{
    return q->run_at + k < q->run_end ? &q->run[q->run_at + k] : NULL;
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
