/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/hardware.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

const char *dls_hardware_folder(const char *given, char *buf, size_t size)
{
    static const char here[] = "configs/hardware";
    char exe[2048];
    if (given) {
        return given;
    }
    const ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    if (access(here, R_OK) == 0 || n <= 0) {
        return here;
    }
    exe[n] = '\0';
    char *slash = strrchr(exe, '/');
    *slash = '\0';
    snprintf(buf, size, "%s/../share/dlsim/configs/hardware", exe);
    return buf;
}
