/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Allocation through one hook, which tests use to make the n-th allocation fail; arrays grow by
 * doubling. Large blocks ask for huge pages: an event of a job looks into some twenty arrays, and
 * with pages of 4 KiB the address translations of a million jobs do not fit the processor's tables.
 */
#include "base/alloc.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { HUGE_PAGE = 1 << 21, PAGE = 1 << 12 };

static dls_alloc_hook the_hook;
static void *the_user;

void dls_alloc_set_hook(dls_alloc_hook hook, void *user)
{
    the_hook = hook;
    the_user = user;
}

static int allowed(size_t bytes)
{
    return !the_hook || the_hook(the_user, bytes);
}

/* Advice: where it is not taken nothing is lost. */
static void *in_huge_pages(void *p, size_t bytes)
{
#ifdef MADV_HUGEPAGE
    if (p && bytes >= 2 * (size_t)HUGE_PAGE) {
        const size_t skip = -(uintptr_t)p % PAGE;
        (void)madvise((char *)p + skip, (bytes - skip) / PAGE * PAGE, MADV_HUGEPAGE);
    }
#endif
    return p;
}

void *dls_alloc(size_t bytes)
{
    return allowed(bytes) ? in_huge_pages(malloc(bytes ? bytes : 1), bytes) : NULL;
}

void *dls_alloc_zero(size_t n, size_t size)
{
    if (size && n > SIZE_MAX / size) {
        return NULL;
    }
    return allowed(n * size) ? in_huge_pages(calloc(n ? n : 1, size ? size : 1), n * size) : NULL;
}

dls_status dls_alloc_array(void *p, size_t n, size_t size, const char *what, dls_error *err)
{
    void *const array = dls_alloc_zero(n, size);
    memcpy(p, &array, sizeof array);
    return array ? DLS_OK : dls_nomem(err, what, n * size);
}

dls_status dls_alloc_each(const dls_array *array, size_t n, const char *what, dls_error *err)
{
    for (size_t i = 0; i < n; i++) {
        memcpy(array[i].at, &(void *){NULL}, sizeof(void *));
    }
    for (size_t i = 0; i < n; i++) {
        DLS_TRY(dls_alloc_array(array[i].at, array[i].n, array[i].size, what, err));
    }
    return DLS_OK;
}

void *dls_alloc_aligned(size_t bytes)
{
    void *p = NULL;
    if (bytes > SIZE_MAX - 64 || !allowed(bytes)) {
        return NULL;
    }
    return posix_memalign(&p, 64, (bytes + 63) / 64 * 64 + (bytes == 0) * 64) == 0
               ? in_huge_pages(p, bytes)
               : NULL;
}

dls_status dls_alloc_lines(void *p, size_t n, size_t size, const char *what, dls_error *err)
{
    const size_t bytes = size && n > SIZE_MAX / size ? SIZE_MAX : n * size;
    void *const array = dls_alloc_aligned(bytes);
    memcpy(p, &array, sizeof array);
    if (!array) {
        return dls_nomem(err, what, bytes);
    }
    memset(array, 0, bytes);
    return DLS_OK;
}

void *dls_realloc(void *p, size_t bytes)
{
    return allowed(bytes) ? in_huge_pages(realloc(p, bytes ? bytes : 1), bytes) : NULL;
}

void dls_free(void *p)
{
    free(p);
}

char *dls_strdup(const char *s)
{
    const size_t n = strlen(s) + 1;
    char *copy = dls_alloc(n);
    return copy ? memcpy(copy, s, n) : NULL;
}

dls_status dls_grow_more(void *p, size_t *cap, size_t need, size_t size, dls_error *err)
{
    size_t n = *cap ? *cap : 16;
    while (n < need) {
        if (n > SIZE_MAX / 2 / size) {
            return dls_nomem(err, "growing an array", SIZE_MAX);
        }
        n *= 2;
    }
    void *old;
    memcpy(&old, p, sizeof old);
    void *grown = dls_realloc(old, n * size);
    if (!grown) {
        return dls_nomem(err, "growing an array", n * size);
    }
    memcpy(p, &grown, sizeof grown);
    *cap = n;
    return DLS_OK;
}

dls_status dls_duplicate(void *p, const void *from, size_t n, size_t room, size_t size,
                         dls_error *err)
{
    void *copy = NULL;
    memcpy(p, &copy, sizeof copy);
    if (!from) {
        return DLS_OK;
    }
    copy = dls_alloc_aligned(room * size);
    if (!copy) {
        return dls_nomem(err, "copy", room * size);
    }
    memcpy(copy, from, n * size);
    memcpy(p, &copy, sizeof copy);
    return DLS_OK;
}

dls_status dls_copy_each(const dls_copying *copy, size_t n, dls_error *err)
{
    for (size_t i = 0; i < n; i++) {
        memcpy(copy[i].at, &(void *){NULL}, sizeof(void *));
    }
    for (size_t i = 0; i < n; i++) {
        DLS_TRY(dls_duplicate(copy[i].at, copy[i].from, copy[i].n, copy[i].room, copy[i].size, err));
    }
    return DLS_OK;
}

dls_status dls_nomem(dls_error *err, const char *what, size_t bytes)
{
    return dls_fail(err, DLS_ENOMEM, NULL, "out of memory (%s, %zu bytes)", what, bytes);
}

void dls_sort(void *at, size_t n, size_t size, int (*order)(const void *, const void *))
{
    if (n > 1) {
        qsort(at, n, size, order);
    }
}
