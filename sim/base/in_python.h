/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What python/dlsim/__main__.py says to the program that it runs in its own process.
 */
#ifndef DLS_BASE_IN_PYTHON_H
#define DLS_BASE_IN_PYTHON_H

#include <limits.h>
#include <stdbool.h>

typedef struct dls_in_python {
    char module[PATH_MAX];  /* the plug-in that stands for policies' files in Python */
    char program[PATH_MAX]; /* what this process would be without them */
} dls_in_python;

/* false: this process is none of Python's. */
bool dls_is_in_python(dls_in_python *out);

#endif
