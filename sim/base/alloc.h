/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The one door to the heap: every allocation of the library goes through it and dlsim/memory.h, so
 * that tests can make the n-th one fail and count what the hot loop allocates. Thread safe when the
 * hook is.
 */
#ifndef DLS_BASE_ALLOC_H
#define DLS_BASE_ALLOC_H

#include "dlsim/memory.h"

/* Asked before each allocation; returning false makes it fail. NULL (the default): always allowed.
 */
typedef int (*dls_alloc_hook)(void *user, size_t bytes);
void dls_alloc_set_hook(dls_alloc_hook hook, void *user);

/* dls_alloc with 64-byte alignment, freed by dls_free. */
void *dls_alloc_aligned(size_t bytes);
/* dls_alloc_array so aligned, for elements that are to lie in one cache line each; all of it is touched. */
dls_status dls_alloc_lines(void *p, size_t n, size_t size, const char *what,
                           dls_error *err) DLS_MUST_CHECK;
char *dls_strdup(const char *s);

#endif
