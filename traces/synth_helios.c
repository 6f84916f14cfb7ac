/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Helios: SenseTime's Venus cluster, 133 nodes x 8 GPUs, 2020. Numbers computed from the released
 * trace (S-Lab-System-Group/HeliosData, CC-BY-4.0; described by Hu et al., "Characterization and
 * Prediction of Deep Learning Workloads in Large-Scale GPU Datacenters", SC 2021), 24 whole weeks
 * from 2020-04-06, 114,976 GPU jobs.
 *
 * The copy at hand cuts durations off at 48 h. Beyond, each class continues with a bounded Pareto
 * distribution (exponent 1.867, at most 50 days, the site's limit), whose exponent makes the mean
 * over all jobs the published 13,041 s; the last six knots of each row are that tail.
 */
#include "traces/synth_profile.h"

#define HEAD 0, .01, .05, .10, .20, .25, .30, .40, .50, .60, .70, .75, .80, .90
/* from probability q on, the six knots split the rest at 1/4, 1/2, 3/4, 9/10, 97/100 and 1 */
#define TAIL(q)                                                                                    \
    (q), (q) + .25 * (1 - (q)), (q) + .5 * (1 - (q)), (q) + .75 * (1 - (q)), (q) + .9 * (1 - (q)), \
        (q) + .97 * (1 - (q)), 1
#define TAIL_S 172800, 201499, 250156, 361669, 586244, 1085070, 4320000

static const double p1[] = {HEAD, .95, .975, TAIL(.988)};
static const double s1[] = {1,   1,   5,    17,   45,   67,    88,    130,   193,
                            327, 784, 1318, 2124, 9349, 34087, 71784, TAIL_S};
static const double p2[] = {HEAD, TAIL(.946)};
static const double s2[] = {1, 1, 6, 17, 47, 72, 97, 141, 204, 334, 940, 1686, 5980, 80879, TAIL_S};
static const double p4[] = {HEAD, .95, .975, TAIL(.976)};
static const double s4[] = {1,   1,   5,    14,   38,    57,    74,     109,   167,
                            301, 889, 1928, 4714, 32923, 85341, 167052, TAIL_S};
static const double p8[] = {HEAD, .95, .975, TAIL(.981)};
static const double s8[] = {1,   1,   8,    26,   71,    100,   124,    166,   213,
                            378, 733, 1161, 2537, 25700, 66051, 136779, TAIL_S};
static const double p16[] = {HEAD, .95, TAIL(.969)};
static const double s16[] = {1,   1,   6,    20,    69,    106,   152,    240,
                             412, 977, 4866, 11865, 20077, 62508, 113152, TAIL_S};
static const double p32[] = {HEAD, .95, TAIL(.961)};
static const double s32[] = {1,   1,   8,   11,   45,   67,    69,     103,
                             195, 377, 798, 1568, 4471, 54285, 136889, TAIL_S};
static const double p64[] = {HEAD, .95, .975, TAIL(.986)};
static const double s64[] = {1,   1,   5,   5,   6,    11,    23,    68,    121,
                             208, 337, 444, 681, 3682, 27401, 95293, TAIL_S};

_Static_assert(sizeof s1 == sizeof p1 && sizeof s2 == sizeof p2 && sizeof s4 == sizeof p4 &&
                   sizeof s8 == sizeof p8 && sizeof s16 == sizeof p16 && sizeof s32 == sizeof p32 &&
                   sizeof s64 == sizeof p64,
               "a value for each probability");

static const dls_synth_size sizes[] = {
    {1000, 51.43},  {2000, 5.36},   {3000, .152},   {4000, 7.428},  {5000, .152},   {6000, .152},
    {7000, .152},   {8000, 24.795}, {16000, 4.26},  {24000, .932},  {32000, 2.828}, {40000, .284},
    {48000, .275},  {56000, .190},  {64000, .254},  {72000, .030},  {80000, .155},  {88000, .030},
    {96000, .030},  {104000, .030}, {112000, .030}, {120000, .162}, {128000, .392}, {136000, .030},
    {144000, .030}, {152000, .096}, {160000, .176}, {168000, .030}, {176000, .030}, {184000, .030},
    {192000, .030}, {200000, .030},
};

/* Completed and killed by GPU count, read off the published figure (+- 2 points), at any duration.
 */
/* clang-format off */
#define OUTCOME(completed, killed) {{completed, killed}, {completed, killed}}
/* clang-format on */
static const double outcome[DLS_SYNTH_CLASSES][2][2] = {
    OUTCOME(.66, .19), OUTCOME(.41, .32), OUTCOME(.57, .20), OUTCOME(.55, .29),
    OUTCOME(.43, .46), OUTCOME(.44, .41), OUTCOME(.21, .69)};

#define ROW(p, s)                                                                                  \
    {                                                                                              \
        sizeof p / sizeof p[0], p, s                                                               \
    }

const dls_synth_profile dls_synth_helios = {
    .name = "helios",
    .summary = "SenseTime Helios (Venus) 2020: half the jobs have several GPUs, strong nights",
    .cluster_gpus = 1064,
    .jobs_per_day = 684,
    .hour = {.93, .53,  .31,  .22,  .09,  .09,  .09,  .09,  .31,  .75,  1.28, 1.54,
             .99, 1.37, 1.67, 1.85, 2.05, 1.92, 1.37, 1.39, 1.45, 1.41, 1.23, 1.08},
    .weekday = {1.06, 1.11, 1.27, 1.23, .92, .69, .72},
    /* jobs per day vary by 0.46, of which weekdays explain 0.22 */
    .day_cv = .40,
    /* fitted by hand to the gaps between submissions; published and generated: zeros 9 and 5 %,
     * median 45 and 12 s, 90 % 251 and 311 s, 99 % 1,236 and 1,427 s, coefficient of variation 4.3
     * and 3.4, GPU count repeated within 60 s 0.57 and 0.56 */
    .batch_exponent = 2.5,
    .batch_max = 500,
    .batch_gap_s = 5,
    .batch_stray_frac = .31,
    .batch_spread = .05,
    .sizes = sizes,
    .n_sizes = sizeof sizes / sizeof sizes[0],
    .durations = {ROW(p1, s1), ROW(p2, s2), ROW(p4, s4), ROW(p8, s8), ROW(p16, s16), ROW(p32, s32),
                  ROW(p64, s64)},
    .scale = {1, 1, 1, 1, 1, 1, 1},
    .users_per_vc = 200,
    .outcome = outcome,
};
