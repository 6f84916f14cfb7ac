/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Finding and opening the CUDA module, so that a build with CUDA runs on a machine without.
 */
#include "predictor/driple/backend.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MODULE_FILE "dlsim-cuda.so"
#ifndef DLS_MODULE_DIR
#define DLS_MODULE_DIR "/usr/local/lib/dlsim"
#endif

/* The executable's folder, or "" */
static void program_folder(char *path, size_t size)
{
    const ssize_t n = readlink("/proc/self/exe", path, size - 1);
    path[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(path, '/');
    if (slash) {
        *slash = '\0';
    }
}

static dls_status open_file(const char *path, const dls_driple_ops **ops, void **handle,
                            dls_error *err)
{
    void *h = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!h) {
        const char *why = dlerror();
        return dls_fail(err, DLS_EPREDICTOR, path, "the CUDA module does not open: %s",
                        why ? why : "unknown reason");
    }
    dls_driple_module_fn entry = NULL;
    void *symbol = dlsym(h, "dls_driple_module");
    memcpy(&entry, &symbol, sizeof entry);
    *ops = entry ? entry(DLS_DRIPLE_ABI) : NULL;
    if (!*ops || (*ops)->abi != DLS_DRIPLE_ABI) {
        dlclose(h);
        return dls_fail(err, DLS_EPREDICTOR, path,
                        "not a CUDA module of this version (interface %u)", DLS_DRIPLE_ABI);
    }
    *handle = h;
    return DLS_OK;
}

dls_status dls_driple_module_open(const char *path, const dls_driple_ops **ops, void **handle,
                                  dls_error *err)
{
    *ops = NULL;
    *handle = NULL;
    if (!path || !path[0]) {
        path = getenv("DLSIM_CUDA_MODULE");
    }
    if (path && path[0]) {
        return open_file(path, ops, handle, err);
    }
    char folder[3072];
    char candidate[3][4096];
    program_folder(folder, sizeof folder);
    snprintf(candidate[0], sizeof candidate[0], "%s/%s", folder, MODULE_FILE);
    snprintf(candidate[1], sizeof candidate[1], "%s/../lib/dlsim/%s", folder, MODULE_FILE);
    snprintf(candidate[2], sizeof candidate[2], "%s/%s", DLS_MODULE_DIR, MODULE_FILE);
    for (int i = 0; i < 3; i++) {
        if (access(candidate[i], R_OK) == 0) {
            return open_file(candidate[i], ops, handle, err);
        }
    }
    return dls_fail(err, DLS_EPREDICTOR, NULL,
                    "no CUDA module: %s is neither beside the program nor in %s (built without "
                    "CUDA, or not installed); DLSIM_CUDA_MODULE names another place",
                    MODULE_FILE, DLS_MODULE_DIR);
}

bool dls_driple_driver_present(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (driver) {
        dlclose(driver);
    }
    return driver != NULL;
}

void dls_driple_module_close(void *handle)
{
    if (handle) {
        dlclose(handle);
    }
}
