/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Predictions for a test, on top of a world for a test. Include cmocka first.
 */
#ifndef DLS_TESTS_FORESIGHT_SETUP_H
#define DLS_TESTS_FORESIGHT_SETUP_H

#include "predictor/sources/predictions.h"
#include "support/must.h"
#include "support/world_setup.h"

static inline dls_prediction_params predictions_params(world_setup *s, const char *source)
{
    return (dls_prediction_params){.cluster = &s->cluster,
                                   .trace = s->trace,
                                   .world = s->w,
                                   .source = source,
                                   .hardware_dir = s->hardware,
                                   .threads = 1,
                                   .seed = 1,
                                   .sigma = 0.2,
                                   .sized = true,
                                   .backend = "auto",
                                   .max_candidates = 16,
                                   .exchange = "allreduce",
                                   .allreduce = "hierarchical",
                                   .numeric = "fp32"};
}

static inline dls_predictions *predictions_open(const dls_prediction_params *p)
{
    dls_predictions *f;
    MUST(dls_predictions_create(p, &f, &e));
    return f;
}

static inline void predictions_prepare(dls_predictions *f, int32_t first, int32_t end)
{
    int32_t jobs[64];
    assert_true(end - first <= 64);
    for (int32_t j = first; j < end; j++) {
        jobs[j - first] = j;
    }
    MUST(dls_predictions_prepare(f, jobs, (size_t)(end - first), &e));
}

static inline dls_prediction predictions_get(const dls_predictions *f, int32_t job, int32_t type,
                                         int32_t gpus, int32_t nodes, int32_t racks)
{
    const dls_shape shape = {type, gpus, nodes, racks};
    dls_prediction out;
    dls_predictions_get(f, job, &shape, 1000000000, &out);
    return out;
}

#endif
