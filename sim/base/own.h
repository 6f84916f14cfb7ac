/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Locals that are released when their block is left, by a failed DLS_TRY as well as at its end:
 *
 *      DLS_OWN(dls_csv_fini) dls_csv csv = {0};               given to the function by its address
 *      DLS_HOLD(dls_opgraph_destroy) dls_opgraph *g = NULL;   a pointer, of a type with a DLS_OWNER
 *      DLS_FREED double *x = NULL;                            memory of dlsim/memory.h
 *
 * The last one declared goes first. Each has its empty value from the start, of which nothing is to
 * be released; what shall outlive the block is taken: `*out = dls_take(&x)`.
 */
#ifndef DLS_BASE_OWN_H
#define DLS_BASE_OWN_H

#include "dlsim/memory.h"

#include <string.h>

#define DLS_OWN(fini) __attribute__((cleanup(fini)))
#define DLS_HOLD(destroy) __attribute__((cleanup(destroy##_at)))
#define DLS_FREED __attribute__((cleanup(dls_free_at)))

/* For DLS_HOLD: beside the declaration of what releases a T *, which takes NULL as well. */
#define DLS_OWNER(T, destroy)                                                                      \
    static inline void destroy##_at(T *const *at)                                                  \
    {                                                                                              \
        destroy(*at);                                                                              \
    }

/* at: of a pointer */
static inline void *dls_take(void *at)
{
    void *taken, *none = NULL;
    memcpy(&taken, at, sizeof taken);
    memcpy(at, &none, sizeof none);
    return taken;
}

static inline void dls_free_at(void *at)
{
    dls_free(dls_take(at));
}

#endif
