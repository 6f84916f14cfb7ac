/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A radix queue in front of which lie a sorted run and a 4-ary heap.
 */
#include "base/evq.h"

#include "base/alloc.h"
#include "base/assert.h"

#include <string.h>

enum { HEAP = 256 }; /* what a heap may hold at least */

static inline bool before(const dls_event *a, const dls_event *b)
{
    return a->time_us != b->time_us ? a->time_us < b->time_us : a->who < b->who;
}

static inline uint64_t when(dls_event e)
{
    return (uint64_t)(e.time_us + DLS_EVQ_FAR);
}

static inline bool stands(const dls_evq *q, dls_event e)
{
    return q->due[dls_event_slot(e)] == dls_evq_key(e);
}

/* ---- heap ------------------------------------------------------------------------------------ */

static void push(dls_evq *q, dls_event e)
{
    size_t i = q->n_heap++;
    while (i > 0 && before(&e, &q->heap[(i - 1) / 4])) {
        q->heap[i] = q->heap[(i - 1) / 4];
        i = (i - 1) / 4;
    }
    q->heap[i] = e;
}

static void pop(dls_evq *q)
{
    const size_t n = --q->n_heap;
    const dls_event e = q->heap[n];
    size_t i = 0;
    for (size_t first; (first = 4 * i + 1) < n;) {
        const size_t end = first + 4 < n ? first + 4 : n;
        size_t least = first;
        for (size_t c = first + 1; c < end; c++) {
            least = before(&q->heap[c], &q->heap[least]) ? c : least;
        }
        if (!before(&q->heap[least], &e)) {
            break;
        }
        q->heap[i] = q->heap[least];
        i = least;
    }
    q->heap[i] = e;
}

/* ---- buckets --------------------------------------------------------------------------------- */

/* The first digit in which two times differ. */
static inline uint32_t level_of(uint64_t a, uint64_t b)
{
    return a != b ? (63 - (uint32_t)__builtin_clzll(a ^ b)) / 4 : 0;
}

/* Into the heap or a bucket: there is room. */
static void file(dls_evq *q, dls_event e)
{
    const uint64_t t = when(e);
    q->filed++;
    if (t < q->limit) {
        push(q, e);
        return;
    }
    const uint32_t level = level_of(t, q->base);
    const uint32_t digit = t >> 4 * level & 15;
    int32_t *first = &q->bucket[level][digit];
    if (*first == 0 || q->chunk[*first].n == DLS_EVQ_RUN) {
        int32_t at = q->free_chunk;
        if (at > 0) {
            q->free_chunk = q->chunk[at].next;
        } else {
            at = q->n_chunks++;
        }
        q->chunk[at].n = 0;
        q->chunk[at].next = *first;
        *first = at;
        q->levels |= UINT32_C(1) << level;
        q->digits[level] |= UINT32_C(1) << digit;
    }
    dls_evq_chunk *c = &q->chunk[*first];
    c->event[c->n++] = e;
}

/* The chunks of a bucket, which is empty then. */
static int32_t detach(dls_evq *q, uint32_t level, uint32_t digit)
{
    const int32_t at = q->bucket[level][digit];
    q->bucket[level][digit] = 0;
    q->digits[level] &= ~(UINT32_C(1) << digit);
    q->levels &= ~((uint32_t)(q->digits[level] == 0) << level);
    return at;
}

/* Give the first chunk of a list back; the one behind it. */
static int32_t release(dls_evq *q, int32_t at)
{
    const int32_t next = q->chunk[at].next;
    q->filed -= (size_t)q->chunk[at].n;
    q->chunk[at].next = q->free_chunk;
    q->free_chunk = at;
    return next;
}

/* Whether entries stand is in as many places as there are slots. */
static void fetch(const dls_evq *q, const dls_event *event, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        __builtin_prefetch(&q->due[dls_event_slot(event[i])]);
    }
}

/* How many were there. `once`: a slot has no event after the first of its entries has been filed.
 */
static size_t file_again(dls_evq *q, int32_t at, bool once)
{
    size_t n_all = 0;
    while (at > 0) {
        dls_event event[DLS_EVQ_RUN];
        const int32_t n = q->chunk[at].n;
        memcpy(event, q->chunk[at].event, (size_t)n * sizeof *event);
        fetch(q, event, n);
        at = release(q, at); /* first: then there are always chunks enough */
        for (int32_t i = 0; i < n; i++) {
            if (stands(q, event[i])) {
                file(q, event[i]);
                if (once) {
                    q->due[dls_event_slot(event[i])] = 0;
                }
            }
        }
        n_all += (size_t)n;
    }
    return n_all;
}

/* A chunk of what is due behind all that the run holds. */
static void join(dls_evq *q, int32_t at)
{
    const dls_evq_chunk *c = &q->chunk[at];
    fetch(q, c->event, c->n);
    for (int32_t k = 0; k < c->n; k++) {
        if (stands(q, c->event[k])) {
            size_t i = q->run_end++;
            while (i > q->run_at && before(&c->event[k], &q->run[i - 1])) {
                q->run[i] = q->run[i - 1];
                i--;
            }
            q->run[i] = c->event[k];
            q->filed++;
        }
    }
    release(q, at);
}

static void fill_run(dls_evq *q)
{
    const size_t left = q->run_end - q->run_at;
    memmove(q->run, q->run + q->run_at, left * sizeof *q->run);
    q->run_at = 0;
    q->run_end = left;
    while (q->levels) {
        const uint32_t level = (uint32_t)__builtin_ctz(q->levels);
        const uint32_t digit = (uint32_t)__builtin_ctz(q->digits[level]);
        const dls_evq_chunk *c = &q->chunk[q->bucket[level][digit]];
        const uint64_t start = when(c->event[0]) >> 4 * level << 4 * level;
        if (c->next == 0 && q->run_end + (size_t)c->n <= DLS_EVQ_RUN) {
            join(q, detach(q, level, digit));
        } else if (level > 0 && (c->next > 0 || q->run_end == 0)) {
            q->base = start;
            file_again(q, detach(q, level, digit), false);
        } else if (q->run_end == 0) { /* more at one instant than a run holds */
            q->base = start;
            q->limit = start + 1;
            file_again(q, detach(q, level, digit), false);
            return;
        } else {
            break;
        }
    }
    if (q->run_end > 0 && when(q->run[q->run_end - 1]) >= q->base) {
        q->base = when(q->run[q->run_end - 1]);
        q->limit = q->base + 1;
    }
    q->limit = q->limit < q->base ? q->base : q->limit;
}

/* Find the first event. */
static void settle(dls_evq *q)
{
    if (q->n == 0) {
        q->filed = q->n_heap = q->run_at = q->run_end = 0;
        q->base = q->limit = 0;
        if (q->levels) {
            memset(q->bucket, 0, sizeof q->bucket);
            memset(q->digits, 0, sizeof q->digits);
            q->levels = 0;
            q->free_chunk = 0;
            q->n_chunks = 1;
        }
        return;
    }
    for (;;) {
        while (q->run_at < q->run_end && !stands(q, q->run[q->run_at])) {
            q->run_at++;
            q->filed--;
        }
        while (q->n_heap > 0 && !stands(q, q->heap[0])) {
            pop(q);
            q->filed--;
        }
        if (q->run_end - q->run_at < DLS_EVQ_SOON && q->levels) {
            const size_t were = q->n_heap + q->run_end - q->run_at;
            fill_run(q);
            if (were == 0) {
                continue;
            }
        }
        break;
    }
    q->top = q->run_at == q->run_end || (q->n_heap > 0 && before(&q->heap[0], &q->run[q->run_at]))
                 ? q->heap[0]
                 : q->run[q->run_at];
}

static void restore(dls_evq *q, int32_t at)
{
    for (; at > 0; at = q->chunk[at].next) {
        const dls_evq_chunk *c = &q->chunk[at];
        for (int32_t i = 0; i < c->n; i++) {
            q->due[dls_event_slot(c->event[i])] = dls_evq_key(c->event[i]);
        }
    }
}

/* File what lies in the run, in the heap and in the buckets up to a level anew, seen from the first
 * event. Entries that do not stand are gone, and all but one of equal ones, which an event leaves
 * that is moved to and fro. */
static void file_all(dls_evq *q, uint32_t upto)
{
    int32_t list[DLS_EVQ_LEVELS * 16];
    dls_event run[DLS_EVQ_RUN];
    const size_t n_run = q->run_end - q->run_at, n_heap = q->n_heap;
    size_t n = 0, moved = n_run + n_heap;
    for (uint32_t level = 0; level <= upto; level++) {
        while (q->digits[level]) {
            list[n++] = detach(q, level, (uint32_t)__builtin_ctz(q->digits[level]));
        }
    }
    memcpy(run, q->run + q->run_at, n_run * sizeof *run);
    q->base = q->limit = when(q->top);
    q->filed -= n_run + n_heap;
    q->run_at = q->run_end = q->n_heap = 0;
    for (size_t i = 0; i < n; i++) {
        moved += file_again(q, list[i], true);
    }
    for (size_t i = 0; i < n_run + n_heap; i++) {
        const dls_event e = i < n_run ? run[i] : q->heap[i - n_run];
        if (stands(q, e)) {
            file(q, e);
            q->due[dls_event_slot(e)] = 0;
        }
    }
    for (uint32_t level = 0; level <= upto; level++) {
        for (uint32_t digits = q->digits[level]; digits; digits &= digits - 1) {
            restore(q, q->bucket[level][__builtin_ctz(digits)]);
        }
    }
    settle(q);
    q->most_in_heap = q->n_heap + HEAP + moved / 8; /* so that this is seldom */
}

/* ---- room ------------------------------------------------------------------------------------ */

/* Chunks for so many entries: every bucket may have one that is not full, twice while all are filed
 * anew. */
static size_t chunks_for(size_t cap)
{
    return cap / DLS_EVQ_RUN + (size_t)DLS_EVQ_LEVELS * 32 + 1;
}

static dls_status reserve(dls_evq *q, size_t cap, dls_error *err)
{
    dls_event *heap = dls_alloc_aligned(cap * sizeof *heap);
    dls_evq_chunk *chunk = dls_alloc_aligned(chunks_for(cap) * sizeof *chunk);
    if (!heap || !chunk) {
        DLS_FREE_ALL(heap, chunk);
        return dls_nomem(err, "event queue", cap * sizeof *heap);
    }
    if (q->cap > 0) {
        memcpy(heap, q->heap, q->n_heap * sizeof *heap);
        memcpy(chunk, q->chunk, (size_t)q->n_chunks * sizeof *chunk);
    }
    DLS_FREE_ALL(q->heap, q->chunk);
    q->heap = heap;
    q->chunk = chunk;
    q->cap = cap;
    return DLS_OK;
}

dls_status dls_evq_init(dls_evq *q, size_t n_slots, dls_error *err)
{
    *q = (dls_evq){.n_slots = n_slots, .n_chunks = 1, .most_in_heap = HEAP};
    return dls_alloc_array(&q->due, n_slots ? n_slots : 1, sizeof *q->due, "event queue", err);
}

void dls_evq_fini(dls_evq *q)
{
    DLS_FREE_ALL(q->heap, q->chunk, q->due);
    memset(q, 0, sizeof *q);
}

dls_status dls_evq_copy(dls_evq *q, const dls_evq *from, dls_error *err)
{
    memset(q, 0, sizeof *q);
    if (!from->due) {
        return DLS_OK;
    }
    uint64_t *due;
    DLS_TRY(dls_duplicate(&due, from->due, from->n_slots, from->n_slots, sizeof *due, err));
    *q = *from;
    q->due = due;
    q->heap = NULL;
    q->chunk = NULL;
    q->cap = 0;
    if (from->cap == 0) {
        return DLS_OK;
    }
    const dls_status status = reserve(q, from->cap, err);
    if (status != DLS_OK) {
        dls_evq_fini(q);
        return status;
    }
    memcpy(q->heap, from->heap, from->n_heap * sizeof *q->heap);
    memcpy(q->chunk, from->chunk, (size_t)from->n_chunks * sizeof *q->chunk);
    return DLS_OK;
}

/* ---- events ---------------------------------------------------------------------------------- */

dls_status dls_evq_set(dls_evq *q, uint32_t slot, int64_t time_us, dls_event_class cls,
                       dls_error *err)
{
    DLS_DEBUG_ASSERT(slot < q->n_slots);
    const int64_t most = DLS_EVQ_FAR - 1;
    const dls_event e = {time_us > most    ? most
                         : time_us < -most ? -most
                                           : time_us,
                         (uint64_t)cls << 56 | slot};
    if (q->due[slot] == dls_evq_key(e)) {
        return DLS_OK;
    }
    if (q->filed == q->cap) {
        if (q->n < q->cap / 2) {
            file_all(q, DLS_EVQ_LEVELS - 1);
        } else {
            DLS_TRY(reserve(q, q->cap ? q->cap * 2 : 256, err));
        }
    }
    q->n += q->due[slot] == 0;
    q->peak = q->n > q->peak ? q->n : q->peak;
    q->due[slot] = dls_evq_key(e);
    file(q, e);
    if (q->n == 1 || slot == dls_event_slot(q->top) || before(&e, &q->top)) {
        settle(q);
    }
    if (q->n_heap > q->most_in_heap) {
        file_all(q, level_of(when(q->top), q->base));
    }
    return DLS_OK;
}

void dls_evq_remove(dls_evq *q, uint32_t slot)
{
    DLS_DEBUG_ASSERT(dls_evq_has(q, slot));
    q->due[slot] = 0;
    q->n--;
    if (slot == dls_event_slot(q->top)) {
        settle(q);
    }
}

dls_event dls_evq_pop(dls_evq *q)
{
    DLS_DEBUG_ASSERT(!dls_evq_empty(q));
    const dls_event top = q->top;
    dls_evq_remove(q, dls_event_slot(top));
    return top;
}
