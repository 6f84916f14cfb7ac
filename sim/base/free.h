/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Several arrays in one call:
 *
 *      DLS_FREE_ALL(list->x, list->y, list);
 */
#ifndef DLS_BASE_FREE_H
#define DLS_BASE_FREE_H

#include "dlsim/memory.h"

#define DLS_FREE_ALL(...)                                                                          \
    dls_free_each((void *const[]){__VA_ARGS__}, sizeof((void *const[]){__VA_ARGS__}) / sizeof(void *))

static inline void dls_free_each(void *const *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        dls_free(p[i]);
    }
}

#endif
