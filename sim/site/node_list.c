/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Expands Slurm's lists of nodes.
 */
#include "site/node_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME 256

typedef struct expanding {
    dls_site_node_fn one;
    void *user;
    int steps; /* names and beginnings of names: a bracket may hold nothing */
} expanding;

/* "rack[1-2]n[01-16,20]" from its first bracket on; what is in front of that is in name. */
static dls_status expand(expanding *e, char name[NAME], size_t len, const char *item,
                         const char *end, dls_error *err)
{
    const size_t plain = strcspn(item, "[");
    const size_t take = item + plain < end ? plain : (size_t)(end - item);
    e->steps++;
    if (len + take >= NAME) {
        return e->one(e->user, "", err);
    }
    memcpy(name + len, item, take);
    len += take;
    name[len] = '\0';
    if (item + take >= end) {
        return e->one(e->user, name, err);
    }
    const char *p = item + take + 1;
    const char *close = memchr(p, ']', (size_t)(end - p));
    while (close && p < close) {
        char *stop;
        const long from = strtol(p, &stop, 10);
        const int width = (int)(stop - p);
        const long to = *stop == '-' ? strtol(stop + 1, &stop, 10) : from;
        for (long i = from; i <= to && e->steps < DLS_SITE_NODE_LIST_MAX && width < 20; i++) {
            const int n = snprintf(name + len, NAME - len, "%0*ld", width, i);
            DLS_TRY(expand(e, name, len + (size_t)n, close + 1, end, err));
        }
        p = stop > p ? stop : p + 1;
        p += *p == ',';
    }
    return DLS_OK;
}

dls_status dls_site_node_list(const char *list, dls_site_node_fn one, void *user, dls_error *err)
{
    expanding e = {one, user, 0};
    char name[NAME];
    for (const char *p = list; *p;) {
        const char *end = p;
        for (int depth = 0; *end && (*end != ',' || depth > 0); end++) {
            depth += (*end == '[') - (*end == ']');
        }
        DLS_TRY(expand(&e, name, 0, p, end, err));
        p = end + (*end == ',');
    }
    return DLS_OK;
}
