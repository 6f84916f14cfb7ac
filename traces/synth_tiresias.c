/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The testbed workload of Tiresias (Gu et al., NSDI 2019), 15 nodes x 4 P100: Poisson arrivals,
 * ten models in equal shares, two classes of duration. GPU mix and the body of the short durations
 * are those of the 60-job trace that the authors published; long means 800 s and more, up to 2 h,
 * with the published shares (small-short 63.5, small-long 12.5, large-short 16.5, large-long
 * 7.5 %), small being 1 or 2 GPUs.
 */
#include "traces/synth_profile.h"

/* short with probability 63.5 / 76 and 16.5 / 24 */
#define SHORT(f) 0, .25 * (f), .5 * (f), .75 * (f), .9 * (f), .97 * (f), (f), 1
static const double p_small[] = {SHORT(.8355)};
static const double p_large[] = {SHORT(.6875)};
static const double s[] = {120, 121, 125, 145, 220, 350, 800, 7200};

_Static_assert(sizeof s == sizeof p_small && sizeof s == sizeof p_large,
               "a value for each probability");

static const dls_synth_size sizes[] = {{1000, 3}, {2000, 1}, {4000, 1}, {8000, 1}};

static const char *const models[] = {"vgg11",      "vgg16",     "vgg19",     "alexnet",
                                     "resnet50",   "resnet101", "resnet152", "inception3",
                                     "inception4", "googlenet"};
/* seconds per iteration, implied by durations and iterations of the 60-job trace */
static const double iteration_s[][4] = {
    {.156, .632, .846, 1.105}, {.236, .660, .877, 1.071}, {.271, .662, .858, 1.110},
    {.054, .269, .366, .445},  {.153, .300, .332, .337},  {.260, .469, .521, .527},
    {.371, .646, .703, .720},  {.232, .442, .472, .479},  {.478, .809, .847, .857},
    {.14, .14, .14, .14},
};

#define SMALL                                                                                      \
    {                                                                                              \
        sizeof p_small / sizeof p_small[0], p_small, s                                             \
    }
#define LARGE                                                                                      \
    {                                                                                              \
        sizeof p_large / sizeof p_large[0], p_large, s                                             \
    }

const dls_synth_profile dls_synth_tiresias = {
    .name = "tiresias",
    .summary = "Tiresias testbed 2019: 1/2/4/8 GPUs 3:1:1:1, ten models, Poisson, 2 min to 2 h",
    .cluster_gpus = 60,
    .jobs_per_day = 2880, /* one in 30 s */
    .hour = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
    .weekday = {1, 1, 1, 1, 1, 1, 1},
    .sizes = sizes,
    .n_sizes = sizeof sizes / sizeof sizes[0],
    .durations = {SMALL, SMALL, LARGE, LARGE, LARGE, LARGE, LARGE},
    .scale = {1, 1, 1, 1, 1, 1, 1},
    .n_models = sizeof models / sizeof models[0],
    .models = models,
    .iteration_s = iteration_s,
    .batch_per_gpu = 32, /* consistent with the iteration times on P100 */
};
