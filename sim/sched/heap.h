/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A binary heap of numbers, of jobs or bidders; `before` says which of two is nearer the top.
 */
#ifndef DLS_SCHED_HEAP_H
#define DLS_SCHED_HEAP_H

#include <stdbool.h>
#include <stdint.h>

typedef bool (*dls_heap_before)(const void *of, int32_t a, int32_t b);

/* The number at place `at` of n goes down until none below is before it. */
static inline void dls_heap_sink(int32_t *heap, int32_t n, int32_t at, dls_heap_before before, const void *of)
{
    const int32_t moved = heap[at];
    for (int32_t child = 2 * at + 1; child < n; child = 2 * at + 1) {
        child += child + 1 < n && before(of, heap[child + 1], heap[child]);
        if (!before(of, heap[child], moved)) {
            break;
        }
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moved;
}

/* n numbers in any order become a heap. O(n). */
static inline void dls_heap_make(int32_t *heap, int32_t n, dls_heap_before before, const void *of)
{
    for (int32_t at = n / 2; at-- > 0;) {
        dls_heap_sink(heap, n, at, before, of);
    }
}

#endif
