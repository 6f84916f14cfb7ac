/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The generator's intermediate product: who comes together, with how many GPUs and how long, before
 * operational time is stretched to clock time. Private to traces/synth*.c.
 *
 * A batch is a set of consecutive jobs; a unit is the part of a batch that shares a GPU count and a
 * duration scale, a virtual cluster and a user (a stray job is a unit of its own).
 */
#ifndef DLS_TRACES_SYNTH_PLAN_H
#define DLS_TRACES_SYNTH_PLAN_H

#include "dlsim/error.h"
#include "traces/synth_profile.h"

#include <stddef.h>
#include <stdint.h>

typedef struct dls_synth_plan {
    const dls_synth_profile *profile;
    uint64_t seed;
    int64_t stamp_us; /* times are multiples of it: 1 s or 1 us */
    size_t n;
    int32_t *batch;      /* [n] ascending */
    float *offset_s;     /* [n] after the batch's first job */
    int32_t *unit;       /* [n] */
    int32_t *gpus_milli; /* [n] */
    double *level;       /* [n] in [0,1): the quantile of the duration within its class */
    size_t n_batches, batches_cap, n_units, units_cap;
    double *batch_at;      /* [n_batches] operational time, 0 .. 1 */
    float *batch_extent_s; /* [n_batches] offset of its last job */
    uint32_t *unit_first;  /* [n_units] its first job */
    /* log(seconds) at each knot of the profile's durations, scale included */
    double log_s[DLS_SYNTH_CLASSES][DLS_SYNTH_KNOTS_MAX];
} dls_synth_plan;

/* multi_frac: share of jobs of more than one GPU, 0: the profile's. */
dls_status dls_synth_plan_init(dls_synth_plan *plan, const dls_synth_profile *profile, size_t n,
                               double multi_frac, uint64_t seed, int64_t stamp_us,
                               dls_error *err) DLS_MUST_CHECK;
void dls_synth_plan_fini(dls_synth_plan *plan);

/* Whole GPUs of a job, at most cluster_gpus. */
int32_t dls_synth_gpus(const dls_synth_plan *plan, size_t job, int64_t cluster_gpus);

/* Duration of a job, at least 1 s, rounded to whole stamps; duration_max_s > 0 draws from the
 * distribution up to there. */
int64_t dls_synth_duration_us(const dls_synth_plan *plan, size_t job, int64_t duration_max_s);

/* Clock time of jobs 0, stride, 2 stride, ...: the first batch starts at 0, a Monday's midnight,
 * the last at span_s; batches that would end later are pressed together. submit_us is not sorted.
 * Source of the map: hours, weekdays and daily volumes of the profile. */
dls_status dls_synth_arrivals(const dls_synth_plan *plan, int64_t span_s, size_t stride,
                              int64_t *submit_us, dls_error *err) DLS_MUST_CHECK;

#endif
