/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * paleo: Paleo's step on one GPU (predictor/baselines/paleo.h) and, as there, the exchange after
 * it, hidden behind nothing. How long the exchange takes comes from the operator model.
 */
#include "predictor/baselines/paleo.h"

#include "base/alloc.h"
#include "base/own.h"
#include "predictor/sources/baseline.h"

typedef struct paleo {
    dls_baseline base;
    dls_paleo model;
} paleo;

static void paleo_close(void *state)
{
    if (state) {
        dls_baseline_fini(&((paleo *)state)->base);
        dls_free(state);
    }
}
DLS_OWNER(paleo, paleo_close)

static dls_status calibrate(paleo *s, dls_error *err)
{
    DLS_OWN(dls_pointset_fini) dls_pointset points = {0};
    DLS_TRY(dls_pointset_create(&s->base.hw, &points, err));
    return dls_paleo_calibrate(&points, &s->model, err);
}

static dls_status paleo_open(const dls_prediction_params *p, const dls_kinds *kinds, void **state,
                             dls_error *err)
{
    DLS_HOLD(paleo_close) paleo *s = NULL;
    DLS_TRY(dls_alloc_array(&s, 1, sizeof *s, "paleo", err));
    DLS_TRY(dls_baseline_init(&s->base, p, kinds, err));
    DLS_TRY(calibrate(s, err));
    *state = dls_take(&s);
    return DLS_OK;
}

static dls_status paleo_answer(void *state, const dls_predictions_ask *ask, size_t n,
                               dls_prediction *out, dls_error *err)
{
    paleo *s = state;
    for (size_t i = 0; i < n; i++) {
        const dls_workload *w;
        const double batch = (double)s->base.kinds->kind[ask[i].kind].batch;
        DLS_TRY(dls_baseline_work(&s->base, ask[i].kind, &w, err));
        const double one_s =
            dls_paleo_step_s(&s->model, w, &s->base.gpu[ask[i].shape.type], s->base.numeric, batch);
        DLS_TRY(dls_baseline_prediction(&s->base, &ask[i], one_s, false, &out[i], err));
    }
    return DLS_OK;
}

const dls_prediction_source dls_prediction_source_paleo = {
    .name = "paleo",
    .summary = "Paleo: floating-point operations and bytes at a fraction of the data sheet",
    .open = paleo_open,
    .close = paleo_close,
    .answer = paleo_answer,
};
