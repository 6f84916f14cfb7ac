/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Finds files that come with the program: where they were installed, else in the source around a
 * build folder.
 */
#include "base/datapath.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Relative to the folder of the program: a build folder lies one to three below the source. */
static const char *const around[] = {"..", "../..", "../../.."};

const char *dls_data_path(const char *source, const char *installed, char *buf, size_t size)
{
    char exe[2048];
    snprintf(buf, size, "%s", source);
    const ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    if (n <= 0 || access(buf, R_OK) == 0) {
        return buf;
    }
    exe[n] = '\0';
    *strrchr(exe, '/') = '\0';
    snprintf(buf, size, "%s/../share/dlsim/%s", exe, installed);
    bool found = access(buf, R_OK) == 0;
    for (size_t i = 0; i < sizeof around / sizeof around[0] && !found; i++) {
        snprintf(buf, size, "%s/%s/%s", exe, around[i], source);
        found = access(buf, R_OK) == 0;
    }
    if (!found) {
        snprintf(buf, size, "%s/../share/dlsim/%s", exe, installed);
    }
    return buf;
}
