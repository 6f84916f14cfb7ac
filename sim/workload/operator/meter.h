/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A device on which operations are timed: the CPU, or a GPU through a module that is opened at run
 * time, so that nothing else links to CUDA.
 */
#ifndef DLS_OPERATOR_METER_H
#define DLS_OPERATOR_METER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DLS_METER_ABI 1u

/* Precisions as numbers, the same in the module: fp32, tf32, fp16. */
enum { DLS_METER_FP32, DLS_METER_TF32, DLS_METER_FP16 };

/* All return 0, or another number with a message in err[err_size]. */
typedef struct dls_meter_ops {
    unsigned abi;
    const char *method; /* "cpu", "cuda" */
    int (*open)(void **device, char *name, size_t name_size, char *err, size_t err_size);
    void (*close)(void *device);
    /* Median time of one run of count products C[m][n] = A[m][k] B[k][n], repeated for about
     * budget_s. */
    int (*product)(void *device, int precision, int64_t count, int64_t m, int64_t n, int64_t k,
                   double budget_s, double *seconds, char *err, size_t err_size);
    /* The same of reading bytes / 2 and writing as many. */
    int (*move)(void *device, int64_t bytes, double budget_s, double *seconds, char *err,
                size_t err_size);
} dls_meter_ops;

/* What a module exports as "dls_meter_module": its table, or NULL for another interface. */
typedef const dls_meter_ops *(*dls_meter_module_fn)(unsigned abi);

#ifdef __cplusplus
}
#else

#include "dlsim/error.h"

typedef struct dls_meter {
    const dls_meter_ops *ops;
    void *device;
    void *module;
    char name[256]; /* of the device, as it calls itself */
} dls_meter;

/* fp32 only, one core: OpenBLAS's products, or what BLAS there is; times of the processor. */
extern const dls_meter_ops dls_meter_cpu;

/* "cpu" or "cuda". The CUDA module is DLSIM_METER_MODULE, or dlsim-meter.so beside the program or
 * where it was installed. Errors: EPREDICTOR (no module, no device). *meter needs dls_meter_close
 * only on success. */
dls_status dls_meter_open(const char *method, dls_meter *meter, dls_error *err) DLS_MUST_CHECK;
void dls_meter_close(dls_meter *meter); /* NULL-safe */

#endif
#endif
