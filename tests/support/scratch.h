/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Files that a test writes, and a folder for them that goes away: GROUP(make_folder, drop_folder).
 */
#ifndef TESTS_SUPPORT_SCRATCH_H
#define TESTS_SUPPORT_SCRATCH_H

#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>

static char folder[64];

static inline int make_folder(void **state)
{
    snprintf(folder, sizeof folder, "/tmp/dlsim-test-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static inline int drop_folder(void **state)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

/* Until the next call. */
static inline const char *in_folder(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static inline void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

/* In the folder; its path until the next call. */
static inline const char *put(const char *name, const char *text)
{
    const char *path = in_folder(name);
    write_file(path, text);
    return path;
}

#endif
