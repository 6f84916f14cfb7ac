/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Mean and maximum load over a set of links, kept up to date in O(1): loads are integers, so that the
 * sum has no history, and the maximum comes from counts in steps of 1/1024.
 */
#ifndef DLS_WORLD_LOAD_GAUGE_H
#define DLS_WORLD_LOAD_GAUGE_H

#include <stdint.h>

#define DLS_LOAD_ONE (INT64_C(1) << 30) /* the whole capacity */
#define DLS_LOAD_STEPS 1024

typedef struct dls_load_gauge {
    int64_t sum;
    int32_t links;                     /* that any job crosses */
    int32_t count[DLS_LOAD_STEPS + 1]; /* of them by load, rounded to a step */
    uint64_t some[DLS_LOAD_STEPS / 64 + 1]; /* which counts are not 0 */
} dls_load_gauge;

/* A link enters with no load, leaves with no load, changes its load. */
void dls_load_gauge_enter(dls_load_gauge *g);
void dls_load_gauge_leave(dls_load_gauge *g);
void dls_load_gauge_move(dls_load_gauge *g, int64_t from, int64_t to);
/* 0 without links. */
float dls_load_gauge_mean(const dls_load_gauge *g);
float dls_load_gauge_max(const dls_load_gauge *g);

#endif
