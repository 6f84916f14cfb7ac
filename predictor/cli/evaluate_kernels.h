/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim evaluate --measured with files of kernels: models of single kernels against measured ones.
 */
#ifndef DLS_CLI_EVALUATE_KERNELS_H
#define DLS_CLI_EVALUATE_KERNELS_H

#include "predictor/measured/kernels.h"

#include <json-c/json.h>

typedef struct dls_kernel_report {
    const char *hardware; /* folder of the tables, or NULL */
    double least_ms;      /* kernels that took less are left out */
    bool by_gpu;
    bool markdown;    /* as a table of a document */
    json_object *json; /* lines go there as objects of a list "kernels"; NULL: to stdout */
} dls_kernel_report;

/* A line for each family and set, by the operator model and by the data sheet. Errors: ECONFIG,
 * ENOMEM. */
dls_status dls_kernels_report(const dls_measured_kernels *s, const dls_kernel_report *o,
                              dls_error *err) DLS_MUST_CHECK;

#endif
