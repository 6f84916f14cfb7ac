/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * justus: the step on one GPU as networks predict it kernel by kernel
 * (predictor/baselines/justus.h). The exchange and how it hides come from the operator model.
 */
#include "predictor/baselines/justus.h"

#include "predictor/sources/networks.h"

static dls_status justus_open(const dls_prediction_params *p, const dls_kinds *kinds, void **state,
                              dls_error *err)
{
    dls_networks *n;
    if (!p->weights) {
        return dls_fail(err, DLS_ECONFIG, "predictor.weights",
                        "source justus needs a file of dlsim train --baseline=justus");
    }
    DLS_TRY(dls_networks_open(p, kinds, DLS_LEARNED_JUSTUS, &n, err));
    *state = n;
    return DLS_OK;
}

static dls_status justus_answer(void *state, const dls_predictions_ask *ask, size_t n,
                                dls_prediction *out, dls_error *err)
{
    dls_networks *s = state;
    dls_baseline *b = &s->base;
    for (size_t i = 0; i < n; i++) {
        const int32_t type = ask[i].shape.type;
        double *one_s = &s->one_s[type];
        DLS_TRY(dls_networks_turn_to(s, ask[i].kind, err));
        if (*one_s == 0) {
            DLS_TRY(dls_justus_step_s(&s->nets, &s->work, &b->gpu[type], b->numeric,
                                      (double)b->kinds->kind[ask[i].kind].batch, one_s, err));
        }
        DLS_TRY(dls_baseline_prediction(b, &ask[i], *one_s, true, &out[i], err));
    }
    return DLS_OK;
}

const dls_prediction_source dls_prediction_source_justus = {
    .name = "justus",
    .summary = "Justus et al.: networks predict every kernel (predictor.weights)",
    .open = justus_open,
    .close = dls_networks_close,
    .answer = justus_answer,
};
