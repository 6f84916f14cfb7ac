/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The one door to the heap: every allocation of the library goes through it, so that tests can make
 * the n-th one fail and count what the hot loop allocates. Thread safe when the hook is.
 */
#ifndef DLS_BASE_ALLOC_H
#define DLS_BASE_ALLOC_H

#include "dlsim/error.h"

#include <stddef.h>

/* Asked before each allocation; returning false makes it fail. NULL (the default): always allowed. */
typedef int (*dls_alloc_hook)(void *user, size_t bytes);
void dls_alloc_set_hook(dls_alloc_hook hook, void *user);

/* As malloc, calloc, realloc and free; n * size is checked for overflow. 64-byte alignment is what
 * dls_alloc_aligned gives, also freed by dls_free. */
void *dls_alloc(size_t bytes);
void *dls_alloc_zero(size_t n, size_t size);
void *dls_alloc_aligned(size_t bytes);
void *dls_realloc(void *p, size_t bytes);
void dls_free(void *p);
char *dls_strdup(const char *s);

/* Grow *p, an array of elements of `size` bytes with room for *cap, to hold `need`: doubling, so
 * appending is O(1) amortised. On failure *p and *cap are as before. */
static inline dls_status dls_grow(void *p, size_t *cap, size_t need, size_t size,
                                  dls_error *err) DLS_MUST_CHECK;

/* What dls_grow does where there is no room: a call less for all the times when there is. */
dls_status dls_grow_more(void *p, size_t *cap, size_t need, size_t size, dls_error *err) DLS_MUST_CHECK;
static inline dls_status dls_grow(void *p, size_t *cap, size_t need, size_t size, dls_error *err)
{
    return need <= *cap ? DLS_OK : dls_grow_more(p, cap, need, size, err);
}

/* "out of memory (<what>, n bytes)" */
dls_status dls_nomem(dls_error *err, const char *what, size_t bytes);

#endif
