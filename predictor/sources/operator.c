/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * operator: the operator model (docs/operator.md) without the residual, in the version that knows
 * sizes or in the one of the modelled truth; there the residual is all that it gets wrong.
 */
#include "predictor/sources/from_solo.h"
#include "predictor/sources/shadow.h"

#include "base/alloc.h"
#include "base/own.h"

#include <stdio.h>

typedef struct operator_source {
    dls_world *shadow;
    bool sized;
    const dls_kinds *kinds;
} operator_source;

dls_status dls_shadow_create(const dls_prediction_params *p, const dls_kinds *kinds, dls_world **out,
                             dls_error *err)
{
    dls_world_params w;
    dls_world_params_init(&w);
    w.cluster = p->cluster;
    w.trace = p->trace;
    w.stand_ins = p->stand_ins;
    w.kinds = kinds;
    w.seed = p->seed;
    w.model = "operator";
    w.hardware_dir = p->hardware_dir;
    w.software = p->software;
    w.host = p->host;
    w.fabric = p->fabric;
    w.exchange = p->exchange;
    w.allreduce = p->allreduce;
    w.numeric = p->numeric;
    w.residual_sigma = w.network_residual_sigma = 0;
    w.contention = false;
    w.sized = p->sized;
    return dls_world_create(&w, out, err);
}

static void operator_close(void *state)
{
    operator_source *s = state;
    dls_world_destroy(s->shadow);
    dls_free(s);
}

static dls_status operator_open(const dls_prediction_params *p, const dls_kinds *kinds,
                                void **state, dls_error *err)
{
    DLS_FREED operator_source *s = NULL;
    DLS_TRY(dls_alloc_array(&s, 1, sizeof *s, "operator predictor", err));
    s->kinds = kinds;
    s->sized = p->sized;
    DLS_TRY(dls_shadow_create(p, kinds, &s->shadow, err));
    *state = dls_take(&s);
    return DLS_OK;
}

static dls_status operator_answer(void *state, const dls_predictions_ask *ask, size_t n,
                                  dls_prediction *out, dls_error *err)
{
    const operator_source *s = state;
    for (size_t i = 0; i < n; i++) {
        dls_solo solo;
        DLS_TRY(dls_world_solo(s->shadow, s->kinds->kind[ask[i].kind].first_job, &ask[i].shape,
                               &solo, err));
        dls_prediction_of_solo(&solo, &out[i]);
    }
    return DLS_OK;
}

/* Answers of the two versions are not the same. */
static void operator_identity(const void *state, char *text, size_t size)
{
    snprintf(text, size, "%s", ((const operator_source *)state)->sized ? "sized" : "");
}

const dls_prediction_source dls_prediction_source_operator = {
    .name = "operator",
    .summary = "the operator-level model of the step and of the exchange",
    .open = operator_open,
    .close = operator_close,
    .identity = operator_identity,
    .answer = operator_answer,
};
