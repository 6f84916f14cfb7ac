/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * NVIDIA GPUs through NVML, which is opened at run time: nothing is needed to build or to run
 * without one. The declarations are the ABI of the NVML API reference
 * (https://docs.nvidia.com/deploy/nvml-api/), stable since driver 319; functions that got a second
 * version are called by its name.
 */
#include "base/alloc.h"
#include "predictor/measure/source.h"

#include <dlfcn.h>
#include <string.h>

#define LIBRARY "libnvidia-ml.so.1"
#define COLUMNS 3 /* of a GPU */

typedef int nvml_return; /* 0: success */
typedef void *nvml_device;

typedef struct nvml_utilization { /* nvmlUtilization_t: percent of the last sample period */
    unsigned int gpu, memory;
} nvml_utilization;

typedef struct nvml_memory { /* nvmlMemory_t: bytes */
    unsigned long long total, free, used;
} nvml_memory;

typedef struct nvml {
    void *library;
    bool started;
    nvml_return (*init)(void);
    nvml_return (*shutdown)(void);
    nvml_return (*count)(unsigned int *n);
    nvml_return (*handle)(unsigned int index, nvml_device *device);
    nvml_return (*utilization)(nvml_device device, nvml_utilization *to);
    nvml_return (*memory)(nvml_device device, nvml_memory *to);
    nvml_device *devices;
    unsigned int n;
} nvml;

static void read_gpu(void *state, double *value)
{
    const nvml *s = state;
    for (unsigned int i = 0; i < s->n; i++, value += COLUMNS) {
        nvml_utilization used;
        nvml_memory memory;
        if (s->utilization(s->devices[i], &used) == 0) {
            value[0] = used.gpu;
            value[1] = used.memory;
        }
        if (s->memory(s->devices[i], &memory) == 0) {
            value[2] = (double)memory.used;
        }
    }
}

static void close_gpu(void *state)
{
    nvml *s = state;
    if (s->started) {
        s->shutdown();
    }
    if (s->library) {
        dlclose(s->library);
    }
    DLS_FREE_ALL(s->devices, s);
}

/* ISO C has no conversion from an object's to a function's pointer; POSIX has this one. */
static bool find(void *library, const char *name, void *to)
{
    void *symbol = dlsym(library, name);
    memcpy(to, &symbol, sizeof symbol);
    return symbol != NULL;
}

static bool start(nvml *s, dls_recording *r)
{
    s->library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!s->library) {
        dls_recording_note(r, "no GPU: %s is not on this machine", LIBRARY);
        return false;
    }
    if (!find(s->library, "nvmlInit_v2", &s->init) ||
        !find(s->library, "nvmlShutdown", &s->shutdown) ||
        !find(s->library, "nvmlDeviceGetCount_v2", &s->count) ||
        !find(s->library, "nvmlDeviceGetHandleByIndex_v2", &s->handle) ||
        !find(s->library, "nvmlDeviceGetUtilizationRates", &s->utilization) ||
        !find(s->library, "nvmlDeviceGetMemoryInfo", &s->memory)) {
        dls_recording_note(r, "no GPU: %s lacks a function", LIBRARY);
        return false;
    }
    const nvml_return code = s->init();
    s->started = code == 0;
    if (!s->started || s->count(&s->n) != 0 || s->n == 0) {
        s->n = 0;
        dls_recording_note(r,
                           s->started ? "no GPU: the driver has none"
                                      : "no GPU: the driver does not answer (NVML error %d)",
                           code);
        return false;
    }
    return true;
}

static dls_status add_columns(nvml *s, dls_recording *r, dls_error *err)
{
    for (unsigned int i = 0; i < s->n; i++) {
        nvml_memory memory = {0};
        if (s->handle(i, &s->devices[i]) != 0) {
            dls_recording_note(r, "GPU %u does not answer", i);
            s->n = i;
            break;
        }
        (void)s->memory(s->devices[i], &memory);
        DLS_TRY(dls_recording_add(r, DLS_COLUMN_LEVEL, 100, err, "gpu%u.util_percent", i));
        DLS_TRY(dls_recording_add(r, DLS_COLUMN_LEVEL, 100, err, "gpu%u.mem_util_percent", i));
        DLS_TRY(dls_recording_add(r, DLS_COLUMN_LEVEL, (double)memory.total, err,
                                  "gpu%u.mem_used_bytes", i));
    }
    return DLS_OK;
}

dls_status dls_source_gpu(dls_recording *r, dls_source *out, dls_error *err)
{
    *out = (dls_source){0};
    nvml *s = NULL;
    DLS_TRY(dls_alloc_array(&s, 1, sizeof *s, "GPUs", err));
    *out = (dls_source){.state = s, .read = read_gpu, .close = close_gpu};
    if (!start(s, r)) {
        return DLS_OK;
    }
    DLS_TRY(dls_alloc_array(&s->devices, s->n, sizeof *s->devices, "GPUs", err));
    DLS_TRY(add_columns(s, r, err));
    out->n_columns = (size_t)s->n * COLUMNS;
    return DLS_OK;
}
