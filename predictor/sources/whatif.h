/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Questions about one workload without a cluster: how would it run on another GPU, with one more
 * parameter server or worker, with another batch? Asked of the predictors that need no truth.
 */
#ifndef DLS_SOURCES_WHATIF_H
#define DLS_SOURCES_WHATIF_H

#include "dlsim/policy.h"
#include "workload/kinds.h"
#include "predictor/dataset/setting.h"

typedef struct dls_whatif_params {
    const char *source;       /* one of dls_whatif_sources */
    const char *model;        /* as in a trace (dls_model_lookup) */
    const char *hardware_dir; /* NULL: the usual places */
    const char *weights;      /* driple; NULL: the shipped ones */
    const char *backend;      /* driple: "auto", "cpu", "cuda"; NULL: auto */
    const char *settings_map; /* driple; NULL: the nearest setting */
    dls_numeric numeric;
    const char *measured_gpu; /* habitat: where a step on one GPU was measured; NULL: V100 */
    double measured_s;        /* and how long it took; 0: what the operator model says */
    int32_t measured_batch;
} dls_whatif_params;

typedef struct dls_whatif_question {
    dls_setting_spec setting; /* its name is not read */
    int32_t batch;            /* per worker */
} dls_whatif_question;

typedef struct dls_whatif_answer {
    dls_prediction prediction; /* remaining_s is NAN */
    char setting[64];      /* driple: that answered; else "" */
} dls_whatif_answer;

typedef struct dls_whatif dls_whatif;

/* "driple", "operator", "paleo", "habitat", NULL behind the last */
const char *const *dls_whatif_sources(void);

/* EINPUT (an unknown model, an unknown source), ECONFIG, EPREDICTOR. */
dls_status dls_whatif_create(const dls_whatif_params *p, dls_whatif **out,
                             dls_error *err) DLS_MUST_CHECK;
void dls_whatif_destroy(dls_whatif *w); /* NULL-safe */
const dls_hardware *dls_whatif_hardware(const dls_whatif *w);
/* Answer n questions in one batch. EINPUT: an unknown GPU or link, workers that do not fit
 * together; EPREDICTOR. */
dls_status dls_whatif_ask(dls_whatif *w, const dls_whatif_question *question, size_t n,
                          dls_whatif_answer *out, dls_error *err) DLS_MUST_CHECK;

#endif
