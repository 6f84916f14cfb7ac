/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Growing list of problems, each with its place in the file; memory that runs out is itself a
 * problem of the list.
 */
#include "config/problems.h"

#include "base/alloc.h"

#include <stdio.h>

void dls_problems_fini(dls_problems *list)
{
    for (size_t i = 0; i < list->kept; i++) {
        dls_free(list->text[i]);
    }
    dls_free(list->text);
    *list = (dls_problems){0};
}

void dls_problems_add(dls_problems *list, const char *where, const char *fmt, ...)
{
    char text[1400];
    int len = 0;
    list->n++;
    if (list->kept == DLS_PROBLEMS_KEPT) {
        return;
    }
    if (where && *where) {
        len = snprintf(text, 300, "%s: ", where);
        len = len < 300 ? len : 299;
    }
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text + len, sizeof text - (size_t)len, fmt, ap);
    va_end(ap);
    char *copy = dls_strdup(text);
    if (!copy ||
        dls_grow(&list->text, &list->cap, list->kept + 1, sizeof *list->text, NULL) != DLS_OK) {
        dls_free(copy);
        list->nomem = true;
        return;
    }
    list->text[list->kept++] = copy;
}

dls_status dls_problems_since(const dls_problems *list, size_t before, const char *where,
                              dls_error *err)
{
    const size_t n = list->n - before;
    if (list->nomem) {
        return dls_nomem(err, "list of problems", 0);
    }
    return n == 0 ? DLS_OK
                  : dls_fail(err, DLS_ECONFIG, where, "%zu problem%s", n, n == 1 ? "" : "s");
}
