/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Memory and files for policies and readers. These calls are those of the library itself: a test that makes
 * the n-th allocation fail reaches a policy that uses them. malloc and free work as well.
 *
 *      #include <dlsim/memory.h>
 *
 *      struct list {
 *          double *x;
 *          size_t n, cap;
 *      };
 *
 *      dls_status append(struct list *list, double x, dls_error *err)
 *      {
 *          DLS_TRY(dls_grow(&list->x, &list->cap, list->n + 1, sizeof *list->x, err));
 *          list->x[list->n++] = x;
 *          return DLS_OK;
 *      }
 */
#ifndef DLSIM_MEMORY_H
#define DLSIM_MEMORY_H

#include "dlsim/error.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* As malloc, calloc, realloc and free; n * size is checked for overflow. */
DLS_API void *dls_alloc(size_t bytes);
DLS_API void *dls_alloc_zero(size_t n, size_t size);
DLS_API void *dls_realloc(void *p, size_t bytes);
DLS_API void dls_free(void *p);
/* Several arrays in one call: DLS_FREE_ALL(list->x, list->y, list); */
#define DLS_FREE_ALL(...)                                                                          \
    dls_free_each((void *const[]){__VA_ARGS__}, sizeof((void *const[]){__VA_ARGS__}) / sizeof(void *))
static inline void dls_free_each(void *const *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        dls_free(p[i]);
    }
}
/* *(void **)p becomes an array of n elements of `size` bytes, zeroed; NULL after a failure. `what` is for the
 * error's message. */
DLS_API dls_status dls_alloc_array(void *p, size_t n, size_t size, const char *what,
                                   dls_error *err) DLS_MUST_CHECK;
/* Several in one call, which is over at the first that cannot be had; that and those behind it are NULL then,
 * whatever they were:
 * DLS_TRY(DLS_ALLOC_ALL("list", err, DLS_ARRAY(list->x, n), DLS_ARRAY(list->y, n + 1))); */
#define DLS_ARRAY(p, n) {&(p), n, sizeof *(p)}
#define DLS_ALLOC_ALL(what, err, ...)                                                              \
    dls_alloc_each((const dls_array[]){__VA_ARGS__},                                               \
                   sizeof((const dls_array[]){__VA_ARGS__}) / sizeof(dls_array), what, err)
typedef struct dls_array {
    void *at; /* a T ** */
    size_t n, size;
} dls_array;
DLS_API dls_status dls_alloc_each(const dls_array *array, size_t n, const char *what, dls_error *err) DLS_MUST_CHECK;

/* Grow *(void **)p, an array of elements of `size` bytes with room for *cap, to hold `need`:
 * doubling, so appending is O(1) amortised. New elements are not zeroed. On failure *p and *cap are
 * as before. */
static inline dls_status dls_grow(void *p, size_t *cap, size_t need, size_t size,
                                  dls_error *err) DLS_MUST_CHECK;

/* What dls_grow does where there is no room, out of line so that the common case stays inline. */
DLS_API dls_status dls_grow_more(void *p, size_t *cap, size_t need, size_t size,
                                 dls_error *err) DLS_MUST_CHECK;
static inline dls_status dls_grow(void *p, size_t *cap, size_t need, size_t size, dls_error *err)
{
    return need <= *cap ? DLS_OK : dls_grow_more(p, cap, need, size, err);
}

/* *(void **)p becomes a copy of n elements at `from`, with room for `room` of them, at least n; NULL where
 * `from` is NULL, and after a failure. For state that is cloned. */
DLS_API dls_status dls_duplicate(void *p, const void *from, size_t n, size_t room, size_t size,
                                 dls_error *err) DLS_MUST_CHECK;
/* The same of arrays that are still those of another, as after *to = *from. All are NULL before the first is
 * copied, so that whatever fails leaves none of the other's to be freed:
 * DLS_TRY(DLS_COPY_ALL(err, DLS_COPY(to->x, from->n, from->cap), DLS_COPY(to->y, from->n, from->n))); */
#define DLS_COPY(p, n, room) {&(p), p, n, room, sizeof *(p)}
#define DLS_COPY_ALL(err, ...)                                                                     \
    dls_copy_each((const dls_copying[]){__VA_ARGS__},                                              \
                  sizeof((const dls_copying[]){__VA_ARGS__}) / sizeof(dls_copying), err)
typedef struct dls_copying {
    void *at; /* a T ** */
    const void *from;
    size_t n, room, size;
} dls_copying;
DLS_API dls_status dls_copy_each(const dls_copying *copy, size_t n, dls_error *err) DLS_MUST_CHECK;

/* "out of memory (<what>, n bytes)" */
DLS_API dls_status dls_nomem(dls_error *err, const char *what, size_t bytes);

/* For functions that qsort calls: below 0 if x comes before y, above 0 if behind it. */
#define DLS_ORDER(x, y) (((x) > (y)) - ((x) < (y)))

/* A function `name` for qsort of elements of a type, which its keys call *x and *y: the first key that is not 0 tells
 * their order, of 6 at most. A key by a member, with the smallest or the largest first, is DLS_UP or DLS_DOWN:
 * DLS_BY(by_name, struct person, strcmp(x->name, y->name), DLS_DOWN(age)); */
#define DLS_UP(member) DLS_ORDER(x->member, y->member)
#define DLS_DOWN(member) DLS_ORDER(y->member, x->member)
#define DLS_FIRST_KEY(a, b, c, d, e, f, ...)                                                       \
    ((a) ? (a) : (b) ? (b) : (c) ? (c) : (d) ? (d) : (e) ? (e) : (f))
#define DLS_BY(name, type, ...)                                                                    \
    static int name(const void *dls_one, const void *dls_other)                                    \
    {                                                                                              \
        const type *x = dls_one, *y = dls_other;                                                   \
        return DLS_FIRST_KEY(__VA_ARGS__, 0, 0, 0, 0, 0, 0);                                       \
    }                                                                                              \
    _Static_assert(sizeof(type) > 0, "")

/* qsort, which may not be called without an array, where n == 0 may be one. */
DLS_API void dls_sort(void *at, size_t n, size_t size, int (*order)(const void *, const void *));

/* All of a text file, plain or gzip, with a '\0' behind it and no byte order mark before: what an option of type
 * DLS_OPT_PATH names. *text is to be freed by dls_free, NULL on failure. Errors: EINPUT with the path (it cannot be
 * read, holds a NUL byte or more than 256 MiB), ENOMEM. */
DLS_API dls_status dls_read_text(const char *path, char **text, dls_error *err) DLS_MUST_CHECK;

/* A stable sort by 64-bit keys. Sorts a [n] by key, equal keys as they are; returns a or spare [n], where
 * the result lies. O(n) for each of the eight bytes in which the keys differ. n: at most UINT32_MAX. */
typedef struct dls_keyed {
    uint64_t key;
    uint32_t value; /* what the key belongs to */
} dls_keyed;
DLS_API dls_keyed *dls_radix_sort(dls_keyed *a, dls_keyed *spare, size_t n);

/* `at`, a variable for indices, becomes the first of 0..n-1 for which `in_front`, an expression of
 * it that holds for some first ones alone, does not hold; n if there is none. O(log n):
 * DLS_BISECT(at, n, time[at] < now). */
#define DLS_BISECT(at, n, in_front)                                                                \
    do {                                                                                           \
        size_t dls_from = 0, dls_to = (n) > 0 ? (size_t)(n) : 0;                                   \
        while (dls_from < dls_to) {                                                                \
            (at) = (__typeof__(at))(dls_from + (dls_to - dls_from) / 2);                           \
            if (in_front) {                                                                        \
                dls_from = (size_t)(at) + 1;                                                       \
            } else {                                                                               \
                dls_to = (size_t)(at);                                                             \
            }                                                                                      \
        }                                                                                          \
        (at) = (__typeof__(at))dls_from;                                                           \
    } while (0)

#ifdef __cplusplus
}
#endif
#endif
