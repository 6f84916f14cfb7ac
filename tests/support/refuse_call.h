/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the libraries share that refuse one call: its number, from 0, is REFUSE_AT; how many there were goes to the file
 * REFUSE_COUNT when the process ends.
 */
#ifndef TESTS_SUPPORT_REFUSE_CALL_H
#define TESTS_SUPPORT_REFUSE_CALL_H

#include <stdio.h>
#include <stdlib.h>

static long at = -1, seen;

static void refuse_begin(void)
{
    const char *n = getenv("REFUSE_AT");
    at = n ? strtol(n, NULL, 10) : -1;
    seen = 0;
}

__attribute__((destructor)) static void finish(void)
{
    const char *path = getenv("REFUSE_COUNT");
    const long n = seen;
    FILE *f = path ? fopen(path, "w") : NULL;
    if (f) {
        fprintf(f, "%ld\n", n);
        fclose(f);
    }
}

/* Is this call the one? */
static int refuse_this(void)
{
    return __atomic_fetch_add(&seen, 1, __ATOMIC_RELAXED) == at;
}

#endif
