/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What it costs to put a task on a GPU, after Horus (Yeung et al., TPDS 2022): memory, use,
 * company.
 *
 *      cost = 1.3 (used + need) / total  +  f(U + u_max - 100) / 100  +  tasks that are there
 *      f(x) = 1.6 x for x > 0, -x else
 *
 * U is the mean use of the tasks that are there, at most 100 %, u_max the greatest use of the one
 * that comes. The public simulator adds megabytes to a fraction, so that memory in use decides
 * alone; here it is (used + need) / total.
 */
#ifndef DLS_PLACEMENT_HORUS_H
#define DLS_PLACEMENT_HORUS_H

#include <math.h>

typedef struct dls_horus_gpu {
    double total_bytes, used_bytes;
    double use;   /* percent, of the tasks that are there */
    double tasks; /* that are there */
} dls_horus_gpu;

#define DLS_HORUS_SPARE 5e8 /* bytes that must be left */

static inline double dls_horus_cost(const dls_horus_gpu *g, double need_bytes, double most_use)
{
    const double over = fmin(100, g->use) + most_use - 100;
    const double memory = fmin(g->used_bytes, g->total_bytes) + need_bytes;
    return 1.3 * memory / g->total_bytes + (over > 0 ? 1.6 * over : -over) / 100 + g->tasks;
}

#endif
