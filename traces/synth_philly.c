/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Philly: Microsoft's cluster of 321 nodes x 2 and 231 x 8 GPUs. Numbers computed from the released
 * trace (msr-fiddle/philly-traces, CC-BY-4.0; described by Jeon et al., "Analysis of Large-Scale
 * Multi-Tenant GPU Clusters for DNN Training Workloads", USENIX ATC 2019), ten whole weeks from
 * 2017-10-03, 98,044 jobs. A duration runs from the first start to the last end of a job.
 */
#include "traces/synth_profile.h"

static const double p[] = {0,   .01, .05, .10, .20, .25,  .30, .40,  .50,   .60,
                           .70, .75, .80, .90, .95, .975, .99, .999, .9999, 1};
static const double s1[] = {1,     16,     44,     60,      82,      173,    321,
                            768,   1398,   2048,   2870,    4145,    5806,   14933,
                            44756, 131889, 399142, 1842350, 4159788, 5185940};
static const double s2[] = {2,      5,      10,     13,      17,      18,     20,
                            23,     32,     117,    1212,    11625,   36881,  192961,
                            413808, 584326, 822205, 1744150, 2470229, 2583252};
static const double s4[] = {1,      17,     42,      100,     428,     702,    941,
                            1951,   8479,   21461,   60555,   84662,   110339, 217826,
                            417111, 801459, 1676206, 2655406, 4013519, 4014063};
static const double s8[] = {1,      16,     42,      84,      481,     854,    1222,
                            4297,   12652,  27129,   76759,   115988,  174163, 352703,
                            595772, 934372, 1489851, 3634150, 4260551, 4335130};
static const double s16[] = {9,      24,     40,      50,      252,     529,    945,
                             2959,   12731,  23849,   49268,   70401,   103437, 230626,
                             461233, 722618, 1346568, 3321916, 3403813, 3412913};
static const double s32[] = {12,     14,     26,      50,      203,     310,    654,
                             1261,   3788,   14394,   27355,   45382,   53227,  71505,
                             129847, 241681, 1219861, 2733327, 3061618, 3098095};
/* Of 20 jobs only. */
static const double s64[] = {53,   53,   55,   129,  460,  568,   606,   760,   1200,  1572,
                             1921, 2048, 2372, 5497, 9458, 19152, 24969, 28459, 28808, 28847};

_Static_assert(sizeof s1 == sizeof p && sizeof s2 == sizeof p && sizeof s4 == sizeof p &&
                   sizeof s8 == sizeof p && sizeof s16 == sizeof p && sizeof s32 == sizeof p &&
                   sizeof s64 == sizeof p,
               "a value for each probability");

static const dls_synth_size sizes[] = {
    {1000, 86.91},  {2000, 2.24},   {4000, 4.98},   {8000, 4.89},   {12000, .012}, {16000, .718},
    {20000, .0012}, {24000, .0350}, {32000, .1939}, {48000, .0020}, {64000, .017}, {128000, .001},
};

static const char *const vcs[] = {"6214e9", "11cb48", "6c71a0", "b436b2", "103959", "0e4a51",
                                  "ee9e8c", "ed69ec", "7f04ca", "2869ce", "e13805"};

/* Share per mille of each virtual cluster in the jobs of a GPU group and a duration band; computed
 * from the copy of the trace that names virtual clusters (73,062 jobs of the same ten weeks). */
/* clang-format off */
static const int16_t vc_weight[] = {
    /* 1 GPU */
    536, 383, 58, 4, 11, 1, 0, 7, 0, 0, 0,
    365, 449, 80, 18, 43, 39, 2, 2, 1, 0, 1,
    571, 16, 153, 236, 2, 0, 1, 18, 1, 0, 1,
    734, 53, 157, 7, 11, 0, 10, 15, 7, 3, 4,
    278, 94, 234, 24, 121, 21, 92, 115, 8, 2, 12,
    230, 83, 263, 36, 1, 160, 60, 83, 52, 0, 33,
    /* 2 GPUs */
    0, 997, 2, 2, 0, 0, 0, 0, 0, 0, 0,
    328, 427, 221, 0, 0, 0, 0, 0, 0, 8, 15,
    267, 267, 133, 0, 267, 0, 0, 0, 0, 67, 0,
    130, 217, 0, 0, 0, 43, 522, 0, 0, 87, 0,
    0, 0, 0, 0, 20, 255, 725, 0, 0, 0, 0,
    0, 6, 0, 6, 95, 823, 63, 0, 0, 0, 6,
    /* 3-4 GPUs */
    21, 62, 750, 104, 0, 0, 21, 0, 21, 0, 21,
    30, 3, 689, 6, 0, 0, 0, 0, 239, 3, 30,
    240, 15, 245, 0, 102, 15, 41, 0, 286, 10, 46,
    113, 23, 80, 39, 270, 13, 199, 0, 113, 6, 145,
    89, 13, 13, 38, 144, 227, 236, 0, 192, 0, 48,
    40, 48, 0, 24, 371, 213, 90, 0, 213, 0, 0,
    /* more than 4 GPUs */
    61, 30, 152, 61, 0, 0, 667, 0, 0, 0, 30,
    209, 13, 525, 47, 0, 0, 56, 0, 30, 60, 60,
    83, 22, 232, 66, 0, 0, 72, 0, 77, 403, 44,
    212, 21, 340, 7, 0, 0, 90, 0, 177, 135, 17,
    121, 24, 282, 36, 0, 0, 323, 0, 48, 145, 20,
    14, 11, 100, 63, 0, 0, 476, 0, 102, 214, 21,
};
/* clang-format on */
_Static_assert(sizeof vc_weight / sizeof vc_weight[0] ==
                   4 * DLS_SYNTH_BANDS * (sizeof vcs / sizeof vcs[0]),
               "a weight for each group, band and virtual cluster");

/* 60.4 % of the jobs completed and 9.0 % were killed, with 32.1 % and 29.4 % of the GPU time (the
 * cluster summary of InternLM/AcmeTrace). Jobs of 6 h and more are 11.6 % of the jobs and 96.1 % of
 * the GPU time; the two rates below and above 6 h are the solution of these four equations. */
/* clang-format off */
#define OUTCOME {{.6427, .0621}, {.3081, .3033}}
/* clang-format on */
static const double outcome[DLS_SYNTH_CLASSES][2][2] = {OUTCOME, OUTCOME, OUTCOME, OUTCOME,
                                                        OUTCOME, OUTCOME, OUTCOME};

#define ROW(seconds)                                                                               \
    {                                                                                              \
        sizeof p / sizeof p[0], p, seconds                                                         \
    }

const dls_synth_profile dls_synth_philly = {
    .name = "philly",
    .summary = "Microsoft Philly 2017: 87 % single-GPU jobs, heavy tails, 11 virtual clusters",
    .cluster_gpus = 2490,
    .jobs_per_day = 1401,
    /* median over days of the count in the hour: robust against single bursts */
    .hour = {1.09, 1.11, 1.24, 1.11, .91, 1.26, 1.41, 1.28, 1.20, 1.13, .81,  .65,
             .61,  .59,  .54,  .63,  .76, .96,  1.11, .94,  1.05, 1.09, 1.28, 1.24},
    .weekday = {.90, 1.08, 1.18, 1.27, 1.45, .61, .51},
    /* jobs per day vary by 0.71, of which weekdays explain 0.33 */
    .day_cv = .50,
    /* fitted by hand to the gaps between submissions; published and generated: zeros 9 and 6 %,
     * median 8 and 6 s, 90 % 204 and 170 s, 99 % 600 and 904 s, coefficient of variation 2.1 and
     * 3.0, GPU count repeated within 60 s 0.91 and 0.90, variance / mean of the counts per 5 min,
     * hour and day 38, 148, 699 and 20, 79, 623 */
    .batch_exponent = 2.0,
    .batch_max = 300,
    .batch_gap_s = 7,
    .batch_stray_frac = .13,
    .batch_spread = .05,
    .sizes = sizes,
    .n_sizes = sizeof sizes / sizeof sizes[0],
    .durations = {ROW(s1), ROW(s2), ROW(s4), ROW(s8), ROW(s16), ROW(s32), ROW(s64)},
    .scale = {1, 1, 1, 1, 1, 1, 1},
    .n_vcs = sizeof vcs / sizeof vcs[0],
    .vcs = vcs,
    .vc_weight = vc_weight,
    .users_per_vc = 30,
    .outcome = outcome,
};
