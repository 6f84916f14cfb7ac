/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a GPU type does to run times, by the operator model: one job of each model of a mix, alone
 * on one GPU, whose time on the reference is known.
 */
#include "site/whatif_impl.h"

#include "traces/trace_impl.h"

#include <math.h>
#include <stdio.h>

/* Models of the assignment table `zoo`, with 16-bit matrix units where there are any. */
static const char *const models[] = {
    "resnet50",  "resnet152",        "vgg16",      "inception3",    "densenet121", "mobilenet_v2",
    "bert_base", "transformer_base", "gpt2_small", "seq2seq_medium"};
enum { MODELS = sizeof models / sizeof models[0] };
#define RUN_S 100000

static dls_status make_trace(const char *type, dls_trace **out, dls_error *err)
{
    DLS_HOLD(dls_trace_builder_destroy) dls_trace_builder *b = NULL;
    DLS_TRY(dls_trace_builder_create(NULL, &b, err));
    for (int i = 0; i < MODELS; i++) {
        dls_job_rec job;
        dls_job_rec_init(&job);
        job.submit_us = 0;
        job.duration_us = RUN_S * DLS_US_PER_S;
        job.gpus_milli = 1000;
        job.model = models[i];
        job.gpu_types = type;
        DLS_TRY(dls_trace_builder_add(b, &job, "speeds", err));
    }
    return dls_trace_builder_end(dls_take(&b), DLS_OK, out, err);
}

static dls_status look(const dls_simulation *sim, dls_whatif_speed *out, dls_error *err)
{
    dls_result_column executed;
    double sum = 0;
    if (!dls_simulation_column(sim, DLS_TABLE_JOBS, "executed_us", &executed)) {
        return dls_fail(err, DLS_ERUN, NULL, "results without run times");
    }
    out->least = (double)INFINITY;
    for (size_t i = 0; i < executed.n; i++) {
        const double speed = RUN_S * 1e6 / (double)((const int64_t *)executed.data)[i];
        sum += log(speed);
        out->least = fmin(out->least, speed);
        out->most = fmax(out->most, speed);
    }
    out->speed = exp(sum / (double)executed.n);
    return DLS_OK;
}

dls_status dls_whatif_predict(const char *type, const char *reference, dls_whatif_speed *out,
                              dls_error *err)
{
    char text[900];
    DLS_HOLD(dls_setup_destroy) dls_setup *setup = NULL;
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = NULL;
    DLS_HOLD(dls_simulation_destroy) dls_simulation *sim = NULL;
    *out = (dls_whatif_speed){0};
    snprintf(out->type, sizeof out->type, "%s", type);
    snprintf(out->reference, sizeof out->reference, "%s", reference);
    snprintf(text, sizeof text,
             "schema_version = 1;\n"
             "cluster: { nodes = ({ count = %d; gpus = 1; gpu_type = \"%s\"; }); };\n"
             "placement: { name = \"first-fit\"; };\n"
             "perf: { model = \"operator\"; numeric = \"fp16\"; reference_gpu = \"%s\";\n"
             "        residual_sigma = 0; network_residual_sigma = 0; };\n",
             (int)MODELS, type, reference);
    dls_status status = dls_setup_create(&setup, err);
    DLS_THEN(status, dls_setup_text(setup, text, err));
    DLS_THEN(status, make_trace(type, &trace, err));
    DLS_THEN(status, dls_simulation_create(setup, trace, &sim, err));
    DLS_THEN(status, dls_simulation_run(sim, err));
    DLS_THEN(status, look(sim, out, err));
    if (status == DLS_ECONFIG) {
        return dls_fail(err, DLS_EUSAGE, NULL,
                        "no speed of %s against %s can be predicted, as one of them is not among "
                        "'dlsim list gpus': give --speed %s=X",
                        type, reference, type);
    }
    return status;
}
