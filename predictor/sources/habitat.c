/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * habitat: a step measured on one GPU, here one of the cluster's first type in the true world,
 * scaled to the others by Habitat's rule (predictor/baselines/habitat.h), or with the networks of
 * predictor.weights (habitat_nets.h). The exchange, of which Habitat says nothing, and how it hides
 * come from the operator model. Without a world the step of the first type is the operator model's.
 */
#include "predictor/baselines/habitat.h"

#include "predictor/sources/networks.h"
#include "predictor/baselines/habitat_nets.h"

static dls_status habitat_open(const dls_prediction_params *p, const dls_kinds *kinds, void **state,
                               dls_error *err)
{
    dls_networks *n;
    DLS_TRY(dls_networks_open(p, kinds, DLS_LEARNED_HABITAT, &n, err));
    *state = n;
    return DLS_OK;
}

static dls_status measured_s(dls_baseline *b, int32_t kind, double *seconds, dls_error *err)
{
    const dls_shape first = {0, 1, 1, 1};
    dls_solo solo;
    DLS_TRY(b->p->world
                ? dls_world_solo(b->p->world, b->kinds->kind[kind].first_job, &first, &solo, err)
                : dls_baseline_solo(b, kind, &first, &solo, err));
    *seconds = solo.iteration_s;
    return DLS_OK;
}

static dls_status scaled_s(dls_networks *s, int32_t kind, int32_t type, double seconds,
                           double *one_s, dls_error *err)
{
    dls_baseline *b = &s->base;
    const double batch = (double)b->kinds->kind[kind].batch;
    const dls_workload *w;
    if (!s->learned) {
        DLS_TRY(dls_baseline_work(b, kind, &w, err));
        *one_s = dls_habitat_step_s(w, &b->gpu[0], &b->gpu[type], b->numeric, batch, seconds);
        return DLS_OK;
    }
    double *known_s = &s->one_s[type];
    DLS_TRY(dls_networks_turn_to(s, kind, err));
    if (*known_s == 0) {
        DLS_TRY(dls_habitat_nets_step_s(&s->nets, &s->work, &b->gpu[0], &b->gpu[type], b->numeric,
                                        batch, seconds, known_s, err));
    }
    *one_s = *known_s;
    return DLS_OK;
}

static dls_status habitat_answer(void *state, const dls_predictions_ask *ask, size_t n,
                                 dls_prediction *out, dls_error *err)
{
    dls_networks *s = state;
    for (size_t i = 0; i < n; i++) {
        double seconds, one_s;
        DLS_TRY(measured_s(&s->base, ask[i].kind, &seconds, err));
        DLS_TRY(scaled_s(s, ask[i].kind, ask[i].shape.type, seconds, &one_s, err));
        DLS_TRY(dls_baseline_prediction(&s->base, &ask[i], one_s, true, &out[i], err));
    }
    return DLS_OK;
}

const dls_prediction_source dls_prediction_source_habitat = {
    .name = "habitat",
    .summary =
        "a step measured on the cluster's first GPU type, scaled to the others as Habitat does",
    .open = habitat_open,
    .close = dls_networks_close,
    .answer = habitat_answer,
};
