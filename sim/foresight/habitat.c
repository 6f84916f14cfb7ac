/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * habitat: a step measured on one GPU, here one of the cluster's first type in the true world,
 * scaled to the others by Habitat's rule (predictor/baselines/habitat.h). The exchange, of which
 * Habitat says nothing, and how it hides come from the operator model. Without a world the step of
 * the first type is the operator model's.
 */
#include "predictor/baselines/habitat.h"

#include "base/alloc.h"
#include "foresight/baseline.h"

static void habitat_close(void *state)
{
    dls_baseline_fini(state);
    dls_free(state);
}

static dls_status habitat_open(const dls_foresight_params *p, const dls_kinds *kinds, void **state,
                               dls_error *err)
{
    dls_baseline *b = dls_alloc_zero(1, sizeof *b);
    if (!b) {
        return dls_nomem(err, "habitat", sizeof *b);
    }
    const dls_status status = dls_baseline_init(b, p, kinds, err);
    if (status != DLS_OK) {
        dls_free(b);
        return status;
    }
    *state = b;
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

static dls_status habitat_answer(void *state, const dls_foresight_ask *ask, size_t n,
                                 dls_forecast *out, dls_error *err)
{
    dls_baseline *b = state;
    for (size_t i = 0; i < n; i++) {
        const dls_workload *w;
        double seconds;
        const double batch = (double)b->kinds->kind[ask[i].kind].batch;
        DLS_TRY(dls_baseline_work(b, ask[i].kind, &w, err));
        DLS_TRY(measured_s(b, ask[i].kind, &seconds, err));
        const double one_s = dls_habitat_step_s(w, &b->gpu[0], &b->gpu[ask[i].shape.type],
                                                b->numeric, batch, seconds);
        DLS_TRY(dls_baseline_forecast(b, &ask[i], one_s, true, &out[i], err));
    }
    return DLS_OK;
}

const dls_foresight_ops dls_foresight_ops_habitat = {
    .name = "habitat",
    .summary =
        "a step measured on the cluster's first GPU type, scaled to the others as Habitat does",
    .open = habitat_open,
    .close = habitat_close,
    .answer = habitat_answer,
};
