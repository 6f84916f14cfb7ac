/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An environment variable: "PID MODULE\nPROGRAM". The number tells this process from those that it starts.
 */
#include "base/in_python.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool dls_is_in_python(dls_in_python *out)
{
    char *module = NULL;
    const char *told = getenv("DLSIM_IN_PYTHON");
    if (!told || strtol(told, &module, 10) != (long)getpid() || *module++ != ' ') {
        return false;
    }
    const char *end = strchr(module, '\n');
    if (!end || end - module >= PATH_MAX || strlen(end) > PATH_MAX) {
        return false;
    }
    snprintf(out->module, sizeof out->module, "%.*s", (int)(end - module), module);
    snprintf(out->program, sizeof out->program, "%s", end + 1);
    return true;
}
