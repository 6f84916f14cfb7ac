/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * oracle: the truth itself, of the job alone on the shape, residual included. What nobody can know
 * in advance, the neighbours that a job will have, it does not know either.
 */
#include "predictor/sources/from_solo.h"

#include "base/alloc.h"
#include "predictor/sources/predictions.h"

typedef struct oracle {
    dls_world *world; /* NULL: every shape runs as the trace says */
    const dls_kinds *kinds;
} oracle;

static dls_status oracle_open(const dls_prediction_params *p, const dls_kinds *kinds, void **state,
                              dls_error *err)
{
    oracle *o;
    DLS_TRY(dls_alloc_array(&o, 1, sizeof *o, "oracle", err));
    *o = (oracle){p->world, kinds};
    *state = o;
    return DLS_OK;
}

static dls_status oracle_answer(void *state, const dls_predictions_ask *ask, size_t n,
                                dls_prediction *out, dls_error *err)
{
    const oracle *o = state;
    for (size_t i = 0; i < n; i++) {
        dls_solo solo = {.iteration_s = 1, .gamma = 1};
        if (o->world) {
            DLS_TRY(dls_world_solo(o->world, o->kinds->kind[ask[i].kind].first_job, &ask[i].shape,
                                   &solo, err));
        }
        dls_prediction_of_solo(&solo, &out[i]);
    }
    return DLS_OK;
}

const dls_prediction_source dls_prediction_source_oracle = {
    .name = "oracle",
    .summary = "the truth of the job alone on the placement: the best that a prediction can be",
    .open = oracle_open,
    .close = dls_free,
    .answer = oracle_answer,
};
