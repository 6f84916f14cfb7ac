/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * PAI: Alibaba's cluster of 6,742 GPUs, July and August 2020 (Weng et al., "MLaaS in the Wild",
 * NSDI 2022; alibaba/clusterdata). GPU mix and durations are the curves that Hu et al. (NSDI 2024,
 * the Acme paper) published for comparison; the share of fractional requests is the PAI paper's.
 *
 * Assumed, because published as figures only or not at all: the shape of the day (trough 03-08 h,
 * spike at midnight, range as plotted), a flat week, Helios-like batches, the fractions themselves.
 */
#include "traces/synth_profile.h"

static const double p[] = {0,    .001, .004, .030, .119, .211, .289, .396, .509,
                           .608, .698, .785, .871, .932, .971, .990, .997, 1};
/* powers of two, where the published curve is given */
static const double s[] = {1,    4,    8,    16,   32,    64,    128,   256,    512,
                           1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072, 262144};

_Static_assert(sizeof s == sizeof p, "a value for each probability");

/* under a quarter 14.6, under a half 26.4, under one 13.2, one 42.8 % of the requests, scaled to
 * the 97.1 % of jobs with at most one GPU; the representatives give the published mean of 0.68 */
static const dls_synth_size sizes[] = {
    {100, 14.62}, {250, 26.43}, {500, 13.21}, {1000, 42.84}, {2000, 1.5}, {4000, .5}, {8000, .9},
};

#define ROW                                                                                        \
    {                                                                                              \
        sizeof p / sizeof p[0], p, s                                                               \
    }

const dls_synth_profile dls_synth_pai = {
    .name = "pai",
    .summary = "Alibaba PAI 2020: 97 % at most one GPU, more than half of them a fraction",
    .cluster_gpus = 6742,
    .jobs_per_day = 16900, /* 1,037,085 GPU jobs in 61 days */
    .hour = {1.7, 1.0, .8,  .6,  .5,  .5,  .5,  .55, .7,  1.0, 1.2, 1.2,
             1.1, 1.1, 1.2, 1.2, 1.2, 1.2, 1.1, 1.1, 1.2, 1.2, 1.2, 1.2},
    .weekday = {1, 1, 1, 1, 1, 1, 1},
    .batch_exponent = 2.6,
    .batch_max = 500,
    .batch_gap_s = 2,
    .batch_stray_frac = .31,
    .batch_spread = .05,
    .sizes = sizes,
    .n_sizes = sizeof sizes / sizeof sizes[0],
    .durations = {ROW, ROW, ROW, ROW, ROW, ROW, ROW},
    /* from the shares of GPU time: 68.1, 4.8, 5.8 and 21.3 % in jobs of 1, 2, 4 and 8 GPUs */
    .scale = {1, 2.3, 4.1, 4.2, 4.2, 4.2, 4.2},
    .users_per_vc = 1300,
};
