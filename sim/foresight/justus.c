/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * justus: the step on one GPU as networks predict it kernel by kernel
 * (predictor/baselines/justus.h). The exchange and how it hides come from the operator model.
 */
#include "predictor/baselines/justus.h"

#include "base/alloc.h"
#include "foresight/networks.h"

typedef struct justus {
    dls_baseline base;
    dls_networks networks;
} justus;

static void justus_close(void *state)
{
    justus *s = state;
    dls_networks_fini(&s->networks);
    dls_baseline_fini(&s->base);
    dls_free(s);
}

static dls_status justus_open(const dls_foresight_params *p, const dls_kinds *kinds, void **state,
                              dls_error *err)
{
    justus *s = dls_alloc_zero(1, sizeof *s);
    if (!s) {
        return dls_nomem(err, "justus", sizeof *s);
    }
    dls_status status = dls_networks_init(&s->networks, p->weights, DLS_LEARNED_JUSTUS, err);
    if (status == DLS_OK) {
        status = dls_baseline_init(&s->base, p, kinds, err);
        if (status != DLS_OK) {
            dls_networks_fini(&s->networks);
        }
    }
    if (status != DLS_OK) {
        dls_free(s);
        return status;
    }
    *state = s;
    return DLS_OK;
}

static dls_status justus_answer(void *state, const dls_foresight_ask *ask, size_t n,
                                dls_forecast *out, dls_error *err)
{
    justus *s = state;
    dls_baseline *b = &s->base;
    for (size_t i = 0; i < n; i++) {
        const int32_t type = ask[i].shape.type;
        double *one_s = &s->networks.one_s[type];
        DLS_TRY(dls_networks_turn_to(&s->networks, b, ask[i].kind, err));
        if (*one_s == 0) {
            DLS_TRY(dls_justus_step_s(&s->networks.nets, &s->networks.work, &b->gpu[type],
                                      b->numeric, (double)b->kinds->kind[ask[i].kind].batch, one_s,
                                      err));
        }
        DLS_TRY(dls_baseline_forecast(b, &ask[i], *one_s, true, &out[i], err));
    }
    return DLS_OK;
}

const dls_foresight_ops dls_foresight_ops_justus = {
    .name = "justus",
    .summary = "Justus et al.: networks predict every kernel (predictor.weights)",
    .open = justus_open,
    .close = justus_close,
    .answer = justus_answer,
};
