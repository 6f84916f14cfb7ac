/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Opens the device that operations are timed on: the CPU's own functions, or a GPU module loaded at
 * run time.
 */
#include "workload/operator/meter.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MODULE_FILE "dlsim-meter.so"
#ifndef DLS_MODULE_DIR
#define DLS_MODULE_DIR "/usr/local/lib/dlsim"
#endif

static dls_status open_module(const char *path, dls_meter *meter, dls_error *err)
{
    meter->module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!meter->module) {
        const char *why = dlerror();
        return dls_fail(err, DLS_EPREDICTOR, path, "the module does not open: %s",
                        why ? why : "unknown reason");
    }
    dls_meter_module_fn entry = NULL;
    void *symbol = dlsym(meter->module, "dls_meter_module");
    memcpy(&entry, &symbol, sizeof entry);
    meter->ops = entry ? entry(DLS_METER_ABI) : NULL;
    return meter->ops && meter->ops->abi == DLS_METER_ABI
               ? DLS_OK
               : dls_fail(err, DLS_EPREDICTOR, path, "not a module of this version (interface %u)",
                          DLS_METER_ABI);
}

/* Beside the program, then beside the libraries that were installed with it. */
static dls_status find_module(dls_meter *meter, dls_error *err)
{
    static const char *const places[] = {"/" MODULE_FILE, "/../lib/dlsim/" MODULE_FILE};
    char folder[3072], path[4096];
    const char *named = getenv("DLSIM_METER_MODULE");
    if (named && *named) {
        return open_module(named, meter, err);
    }
    const ssize_t n = readlink("/proc/self/exe", folder, sizeof folder - 1);
    folder[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(folder, '/');
    if (slash) {
        *slash = '\0';
    }
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        snprintf(path, sizeof path, "%s%s", folder, places[i]);
        if (access(path, R_OK) == 0) {
            return open_module(path, meter, err);
        }
    }
    if (access(DLS_MODULE_DIR "/" MODULE_FILE, R_OK) == 0) {
        return open_module(DLS_MODULE_DIR "/" MODULE_FILE, meter, err);
    }
    return dls_fail(err, DLS_EPREDICTOR, NULL,
                    "no %s beside the program or in %s (built without CUDA, or not installed); "
                    "DLSIM_METER_MODULE names another place",
                    MODULE_FILE, DLS_MODULE_DIR);
}

dls_status dls_meter_open(const char *method, dls_meter *meter, dls_error *err)
{
    char why[256] = "";
    *meter = (dls_meter){.ops = &dls_meter_cpu};
    dls_status status = strcmp(method, "cpu") == 0 ? DLS_OK : find_module(meter, err);
    if (status == DLS_OK &&
        meter->ops->open(&meter->device, meter->name, sizeof meter->name, why, sizeof why) != 0) {
        status = dls_fail(err, DLS_EPREDICTOR, method, "%s", why);
    }
    if (status != DLS_OK) {
        if (meter->module) {
            dlclose(meter->module);
        }
        *meter = (dls_meter){0}; /* its table was the module's */
    }
    return status;
}

void dls_meter_close(dls_meter *meter)
{
    if (meter && meter->ops) {
        meter->ops->close(meter->device);
        if (meter->module) {
            dlclose(meter->module);
        }
        *meter = (dls_meter){0};
    }
}
