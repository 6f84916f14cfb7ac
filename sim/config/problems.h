/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A growing list of what is wrong with a configuration, so that all of it is said at once.
 */
#ifndef DLS_CONFIG_PROBLEMS_H
#define DLS_CONFIG_PROBLEMS_H

#include "dlsim/error.h"

#include <stdbool.h>
#include <stddef.h>

/* More than so many are counted and not kept. */
#define DLS_PROBLEMS_KEPT 100

typedef struct dls_problems {
    char **text; /* [kept] "file:line: message", owned */
    size_t kept, cap;
    size_t n;
    bool nomem; /* a problem was lost for want of memory */
} dls_problems;

void dls_problems_fini(dls_problems *list);
/* where: "file:line", "--set", ...; "" or NULL: no place. */
void dls_problems_add(dls_problems *list, const char *where, const char *fmt, ...) DLS_PRINTF(3, 4);
/* ECONFIG, with their number, if there are more than `before`; ENOMEM if one was lost. */
dls_status dls_problems_since(const dls_problems *list, size_t before, const char *where,
                              dls_error *err) DLS_MUST_CHECK;

#endif
