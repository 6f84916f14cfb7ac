/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Published data and outputs of published programs, which are not part of the source tree. What is
 * skipped without them says so in a line that tests/skipped.sh collects.
 */
#ifndef DLS_TESTS_SHARED_H
#define DLS_TESTS_SHARED_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* path = $DLSIM_SHARED/name; false: it is not there. */
static inline bool shared_path(const char *name, char *path, size_t size)
{
    const char *shared = getenv("DLSIM_SHARED");
    snprintf(path, size, "%s/%s", shared ? shared : "", name);
    if (shared && access(path, R_OK) == 0) {
        return true;
    }
    printf("skipped: published data not found (DLSIM_SHARED): %s\n", name);
    return false;
}

#define SHARED_OR_SKIP(name, path)                                                                 \
    do {                                                                                           \
        if (!shared_path(name, path, sizeof path)) {                                               \
            skip();                                                                                \
        }                                                                                          \
    } while (0)

/* A program that is skipped without this. */
#define NEEDS_SHARED(name)                                                                         \
    __attribute__((constructor)) static void find_shared(void)                                     \
    {                                                                                              \
        char path[4096];                                                                           \
        if (!shared_path(name, path, sizeof path)) {                                               \
            exit(77);                                                                              \
        }                                                                                          \
    }

#endif
