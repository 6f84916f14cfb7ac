/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Finds files that come with the program: where it or the library was installed, else in the source
 * around a build folder.
 */
#include "base/datapath.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Relative to the folder of the program or library: a build folder lies in the source, or has a link to it
 * (cmake/data.cmake). */
static const char *const around[] = {"..", "../..", "../../..", "source", "../source", "../../source"};

/* The folder of the program, or of the library that this code is part of; false: not known. */
static bool own_folder(bool of_library, char folder[PATH_MAX])
{
    Dl_info info;
    const ssize_t n = readlink("/proc/self/exe", folder, PATH_MAX - 1);
    folder[n > 0 ? n : 0] = '\0';
    if (of_library) {
        *folder = '\0';
        if (dladdr(around, &info) != 0 && info.dli_fname) {
            snprintf(folder, PATH_MAX, "%s", info.dli_fname);
        }
    }
    char *slash = strrchr(folder, '/');
    if (slash) {
        *slash = '\0';
    }
    return slash;
}

static bool find_beside(const char *folder, const char *source, const char *installed, char *buf,
                        size_t size)
{
    snprintf(buf, size, "%s/../share/dlsim/%s", folder, installed);
    bool found = access(buf, R_OK) == 0;
    for (size_t i = 0; i < sizeof around / sizeof around[0] && !found; i++) {
        snprintf(buf, size, "%s/%s/%s", folder, around[i], source);
        found = access(buf, R_OK) == 0;
    }
    return found;
}

const char *dls_data_path(const char *source, const char *installed, char *buf, size_t size)
{
    char folder[PATH_MAX];
    snprintf(buf, size, "%s", source);
    if (access(buf, R_OK) == 0 ||
        (own_folder(false, folder) && find_beside(folder, source, installed, buf, size)) ||
        (own_folder(true, folder) && find_beside(folder, source, installed, buf, size))) {
        return buf;
    }
    if (own_folder(false, folder)) {
        snprintf(buf, size, "%s/../share/dlsim/%s", folder, installed);
    }
    return buf;
}
