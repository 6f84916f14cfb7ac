/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How single GPUs of one type differ: power management makes some slower than others, and jobs that
 * are bound by computation feel it more than those that wait for memory (Jain et al., "PAL", SC
 * 2024). Models belong to classes; each GPU has a speed for each class.
 */
#ifndef DLS_WORLD_VARIABILITY_H
#define DLS_WORLD_VARIABILITY_H

#include "world/world.h"

#define DLS_VARIABILITY_CLASSES 16

typedef struct dls_variability {
    int32_t n;      /* classes; 0: all GPUs of a type are alike */
    int64_t *first; /* [nodes + 1] GPUs of the nodes before; owned */
    char name[DLS_VARIABILITY_CLASSES][32];
    double *speed[DLS_VARIABILITY_CLASSES]; /* [GPUs] over that of the fastest; owned */
    int8_t *class_of;                       /* [kinds] -1: does not feel it; owned */
} dls_variability;

/* p->variability_path is a CSV of one slowdown (time over that of any one GPU) a row, either of a
 * GPU, or of a quantile of all GPUs, ascending from 0 to 1 and linear between, of which GPUs are
 * drawn, each with one rank for all classes:
 *
 *      class,node,gpu,slowdown     0-based; a GPU that is not listed has 1
 *      class,quantile,slowdown
 *
 * p->variability_classes is "MODEL=CLASS; ...", "*" for all others. Errors: EINPUT (file), ECONFIG
 * (classes), ENOMEM. O(classes x GPUs). */
dls_status dls_variability_load(const dls_world_params *p, const dls_kinds *kinds,
                                dls_variability *out, dls_error *err) DLS_MUST_CHECK;
void dls_variability_fini(dls_variability *v);

/* Of a kind of job on a GPU of a node; 1 for the fastest. */
static inline double dls_variability_speed(const dls_variability *v, int32_t kind, int32_t node,
                                           int32_t gpu)
{
    const int32_t c = v->n > 0 ? v->class_of[kind] : -1;
    return c < 0 ? 1 : v->speed[c][v->first[node] + gpu];
}

#endif
