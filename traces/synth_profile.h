/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The published numbers that the generator draws from, as tables. Private to traces/synth*.c.
 */
#ifndef DLS_TRACES_SYNTH_PROFILE_H
#define DLS_TRACES_SYNTH_PROFILE_H

#include <stdint.h>

/* Classes of GPU counts: 1, 2, 3-4, 5-8, 9-16, 17-32, >32. */
#define DLS_SYNTH_CLASSES 7
#define DLS_SYNTH_KNOTS_MAX 32
/* Duration bands: < 1 min, 1-10 min, 10-60 min, 1-6 h, 6-24 h, >= 24 h. */
#define DLS_SYNTH_BANDS 6

typedef struct dls_synth_size {
    int32_t gpus_milli;
    double weight; /* share of jobs, any scale */
} dls_synth_size;

/* Quantiles of a duration: seconds[i] at probability p[i], ascending, p[0] = 0, last p = 1;
 * log(seconds) is linear in between. */
typedef struct dls_synth_quantiles {
    int n;
    const double *p, *seconds;
} dls_synth_quantiles;

typedef struct dls_synth_profile {
    const char *name, *summary;
    int64_t cluster_gpus;
    double jobs_per_day;
    double hour[24];       /* arrival rate by hour, any scale */
    double weekday[7];     /* Monday .. Sunday, any scale */
    double day_cv;         /* of a day's volume beyond hour and weekday; 0: none */
    double batch_exponent; /* P(batch of k jobs) ~ k^-exponent; 0: no batches */
    int batch_max;
    double batch_gap_s;          /* mean gap inside a batch */
    double batch_stray_frac;     /* jobs of a batch that do not share its GPU count and duration */
    double batch_spread;         /* +- probability by which a job's duration leaves its batch's */
    const dls_synth_size *sizes; /* ascending */
    int n_sizes;
    dls_synth_quantiles durations[DLS_SYNTH_CLASSES];
    double scale[DLS_SYNTH_CLASSES]; /* factor on the durations of the class */
    int n_vcs;                       /* 0: no virtual clusters */
    const char *const *vcs;
    const int16_t *vc_weight; /* [4 groups: 1, 2, 3-4, >4 GPUs][DLS_SYNTH_BANDS][n_vcs] */
    int users_per_vc;         /* 0: no users; Zipf with exponent 1 (assumed) */
    /* P(completed), P(killed), the rest failed, by class, below and from 6 h; NULL: unknown */
    const double (*outcome)[2][2];
    int n_models; /* 0: none; drawn uniformly */
    const char *const *models;
    const double (*iteration_s)[4]; /* [model][1, 2, 4, 8 GPUs] */
    int64_t batch_per_gpu;
} dls_synth_profile;

extern const dls_synth_profile dls_synth_philly, dls_synth_helios, dls_synth_pai,
    dls_synth_tiresias;

/* The profile of that name or NULL; the i-th, NULL beyond the last. */
const dls_synth_profile *dls_synth_profile_find(const char *name);
const dls_synth_profile *dls_synth_profile_at(int i);

/* 0 .. DLS_SYNTH_CLASSES - 1 */
int dls_synth_class(int64_t gpus);

#endif
