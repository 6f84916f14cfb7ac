/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the tests of predictions share: a small world, a folder for files, answers compared.
 */
#ifndef TESTS_UNIT_PREDICTIONS_UTIL_H
#define TESTS_UNIT_PREDICTIONS_UTIL_H

#include "support/predictions_setup.h"
#include "support/test.h"

#include <unistd.h>

static const world_group groups[] = {{"V100", 8, 4, 4, 10}, {"A100", 4, 8, 0, 100}};
static const world_job jobs[] = {
    {"vgg16", 8, 32, 1000, 0},   {"resnet50", 8, 32, 1000, 0}, {"vgg16", 8, 32, 500, 0},
    {"vgg16", 8, 64, 500, 0},    {"resnet50", 1, 32, 100, 0},  {"mystery", 4, 32, 100, 0},
    {"bert_base", 4, 8, 100, 0},
};
#define N_JOBS ((int32_t)(sizeof jobs / sizeof jobs[0]))

static char folder[] = "/tmp/dlsim-predictions-XXXXXX";
static char file[128];

static void open_world(world_setup *s)
{
    world_init(s, "operator", groups, 2, jobs, (size_t)N_JOBS);
    s->p.residual_sigma = s->p.network_residual_sigma = 0.2;
    world_open(s);
}

/* Jobs 0 .. end-1 get the same answers, NAN for NAN, from both. */
static void same_answers(dls_predictions *a, dls_predictions *b, int32_t end)
{
    for (int32_t j = 0; j < end; j++) {
        size_t n, m;
        const dls_shape *shape = dls_predictions_shapes(a, j, 0, &n);
        const dls_shape *other = dls_predictions_shapes(b, j, 0, &m);
        assert_int_equal(n, m);
        assert_memory_equal(shape, other, n * sizeof *shape);
        for (size_t i = 0; i < n; i++) {
            dls_prediction x, y;
            dls_predictions_get(a, j, &shape[i], 1000, &x);
            dls_predictions_get(b, j, &shape[i], 1000, &y);
            assert_memory_equal(&x, &y, sizeof x);
        }
    }
}

static int make_folder(void **state)
{
    if (!mkdtemp(folder)) {
        return -1;
    }
    snprintf(file, sizeof file, "%s/answers", folder);
    return 0;
}

static int drop_folder(void **state)
{
    return rmdir(folder);
}

#endif
