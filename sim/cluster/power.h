/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Power of GPUs: at rest, at work, under a power limit (docs/energy.md).
 *
 *      at utilisation u        static + u (most - static)
 *      duty of a job           d = ((mean - static) / (most - static))^0.619: the part of its time in which it
 *                              draws its peak, static + (mean - static) / d, and static else
 *      limit below the peak    the peak becomes the limit, and its part of the time longer by
 *                              ((limit - static) / (peak - static))^(-1 / 2.151)
 *
 * The two exponents are fitted to measured runs (tests/golden/test_power.c).
 */
#ifndef DLS_CLUSTER_POWER_H
#define DLS_CLUSTER_POWER_H

#include "cluster/cluster.h"

typedef struct dls_gpu_power {
    double static_w; /* on, nothing to do */
    double most_w;   /* the board's limit as it comes */
} dls_gpu_power;

/* What a run is to account for. Texts are borrowed. */
typedef struct dls_energy_params {
    bool on;
    const char
        *gpus; /* "MYGPU=50:300; V100=40:250": static and most of types, W; NULL: the table */
    double utilisation;                   /* of GPUs that jobs hold and work on, 0..1 */
    const char *profiles; /* table of jobs in its place (dlsim import dcgm); NULL: none */
    double limit_w;                       /* of every GPU; 0: none */
    double node_w;                        /* of a node beside its GPUs */
    double pue;                           /* energy at the meter over that of the machines */
    double price;                         /* a kWh */
    double carbon_g;                      /* CO2 equivalents of a kWh */
    const char *price_path, *carbon_path; /* tables of time in their place; NULL: none */
} dls_energy_params;

/* By name, ignoring case: of `own` (dls_energy_params.gpus, may be NULL), else of the table
 * (dls_gpu_find). Errors: ECONFIG (own is malformed, or nobody knows the type). */
dls_status dls_gpu_power_of(const char *own, const char *type, dls_gpu_power *out,
                            dls_error *err) DLS_MUST_CHECK;
double dls_gpu_power_at(const dls_gpu_power *gpu, double utilisation);
/* Mean power of a job under a limit that draws mean_w without one; *slower: what its time is
 * multiplied by, >= 1. */
double dls_gpu_power_limited(const dls_gpu_power *gpu, double mean_w, double limit_w,
                             double *slower);

#endif
