/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Questions about training steps as the library's users ask them (dlsim/steps.h), from whatif.h's.
 */
#include "dlsim/steps.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/guard.h"
#include "base/own.h"
#include "predictor/sources/whatif.h"

#include <stdio.h>

_Static_assert((int)DLS_STEP_BF16 == (int)DLS_NUMERIC_BF16 && (int)DLS_STEP_FP16 == (int)DLS_NUMERIC_FP16 &&
                   (int)DLS_STEP_TF32 == (int)DLS_NUMERIC_TF32,
               "precisions are numbered alike");

struct dls_step_predictor {
    dls_whatif *w;
};

DLS_OWNER(dls_step_predictor, dls_step_predictor_destroy)

const char *const *dls_step_sources(void)
{
    return dls_whatif_sources();
}

dls_status dls_step_predictor_create(const dls_step_predictor_params *params, dls_step_predictor **out,
                                     dls_error *err)
{
    DLS_IN_C_LOCALE;
    DLS_ASSERT(params && params->source && out);
    const dls_whatif_params p = {.source = params->source,
                                 .hardware_dir = params->hardware_dir,
                                 .weights = params->weights,
                                 .backend = params->backend,
                                 .settings_map = params->settings_map};
    DLS_HOLD(dls_step_predictor_destroy) dls_step_predictor *s = NULL;
    *out = NULL;
    DLS_TRY(dls_alloc_array(&s, 1, sizeof *s, "predictor", err));
    DLS_TRY(dls_whatif_create(&p, &s->w, err));
    *out = dls_take(&s);
    return DLS_OK;
}

void dls_step_predictor_destroy(dls_step_predictor *p)
{
    if (p) {
        dls_whatif_destroy(p->w);
        dls_free(p);
    }
}

dls_status dls_step_gpu(const dls_step_predictor *p, const char *name, const char **known, dls_error *err)
{
    const dls_hw_gpu *gpu;
    DLS_TRY(dls_hardware_gpu(dls_whatif_hardware(p->w), name, &gpu, err));
    *known = gpu->name;
    return DLS_OK;
}

static dls_status ask(dls_step_predictor *p, const dls_step_question *q, dls_step_answer *out, dls_error *err)
{
    DLS_ASSERT(q->model && q->gpu && q->precision >= DLS_STEP_FP32 && q->precision <= DLS_STEP_BF16);
    const dls_hw_gpu *gpu;
    dls_whatif_question question = {.model = q->model,
                                    .image = q->image,
                                    .sequence = q->sequence,
                                    .numeric = (dls_numeric)q->precision,
                                    .batch = q->batch,
                                    .host = q->framework,
                                    .pytorch = q->framework && dls_names_pytorch(q->framework),
                                    .channels_first = q->channels_first,
                                    .fused_attention = q->fused_attention,
                                    .measured_gpu = q->measured_gpu,
                                    .measured_s = q->measured_s,
                                    .measured_batch = q->measured_batch};
    dls_setting_spec *s = &question.setting;
    dls_whatif_answer answer;
    const dls_hardware *hw = dls_whatif_hardware(p->w);
    const dls_hw_link *link;
    DLS_TRY(dls_hardware_gpu(hw, q->gpu, &gpu, err));
    DLS_TRY(q->link ? dls_hardware_link(hw, q->link, &link, err) : DLS_OK);
    DLS_TRY(q->network ? dls_hardware_link(hw, q->network, &link, err) : DLS_OK);
    s->workers = q->workers ? q->workers : 1;
    s->nodes = q->nodes ? q->nodes : 1;
    s->servers = q->servers;
    snprintf(s->gpu, sizeof s->gpu, "%s", gpu->name);
    snprintf(s->link, sizeof s->link, "%s", q->link ? q->link : gpu->link);
    snprintf(s->network, sizeof s->network, "%s", q->network ? q->network : "eth10");
    snprintf(s->exchange, sizeof s->exchange, "%s",
             s->servers > 0   ? (q->async ? "ps-async" : "ps-sync")
             : s->workers > 1 ? "allreduce"
                              : "one");
    DLS_TRY(dls_whatif_ask(p->w, &question, &answer, err));
    *out = (dls_step_answer){.prediction = answer.prediction,
                             .image = answer.image,
                             .sequence = answer.sequence,
                             .fits = answer.fits};
    snprintf(out->network, sizeof out->network, "%s", answer.network ? answer.network : "");
    snprintf(out->gpu, sizeof out->gpu, "%s", s->gpu);
    snprintf(out->exchange, sizeof out->exchange, "%s", s->exchange);
    snprintf(out->setting, sizeof out->setting, "%s", answer.setting);
    snprintf(out->refused, sizeof out->refused, "%s", answer.refused);
    return DLS_OK;
}

dls_status dls_step_predict(dls_step_predictor *p, const dls_step_question *question, size_t n,
                            dls_step_answer *out, dls_error *err)
{
    DLS_IN_C_LOCALE;
    for (size_t i = 0; i < n; i++) {
        DLS_TRY(ask(p, &question[i], &out[i], err));
    }
    return DLS_OK;
}
