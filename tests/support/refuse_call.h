/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the libraries share that refuse one call of each process: its number, from 0, is REFUSE_AT; how many there were, in
 * that process of a command that had most, goes to the file REFUSE_COUNT when processes end.
 */
#ifndef TESTS_SUPPORT_REFUSE_CALL_H
#define TESTS_SUPPORT_REFUSE_CALL_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

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
    long most = -1;
    FILE *f = path ? fopen(path, "r") : NULL;
    if (f) {
        (void)!fscanf(f, "%ld", &most);
        fclose(f);
    }
    f = path && n > most ? fopen(path, "w") : NULL;
    if (f) {
        fprintf(f, "%ld\n", n);
        fclose(f);
    }
}

void _exit(int status)
{
    finish();
    syscall(SYS_exit_group, status);
    __builtin_unreachable();
}

/* Is this call the one? */
static int refuse_this(void)
{
    return __atomic_fetch_add(&seen, 1, __ATOMIC_RELAXED) == at;
}

#endif
