/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * `dlsim predict --whatif`: step times of one workload as it is and under each small change:
 * another GPU, one more worker or server, another batch.
 */
#include "cli/command.h"

#include "base/json.h"
#include "base/own.h"
#include "dlsim/predictor.h"
#include "dlsim/steps.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define MAX_QUESTIONS 24

DLS_OWNER(dls_step_predictor, dls_step_predictor_destroy)

typedef struct request {
    dls_step_predictor_params p;
    dls_step_question base;
    dls_words to_gpus;
    char measured[48];
    bool whatif, json;
} request;

typedef struct rows {
    char label[MAX_QUESTIONS][64];
    dls_step_question question[MAX_QUESTIONS];
    dls_step_answer answer[MAX_QUESTIONS];
    size_t n;
} rows;

static void add(rows *r, const dls_step_question *q, const char *label)
{
    if (r->n < MAX_QUESTIONS) {
        snprintf(r->label[r->n], sizeof r->label[0], "%s", label);
        r->question[r->n++] = *q;
    }
}

/* The question itself, then its neighbours. */
static dls_status make_rows(const request *a, const dls_step_predictor *p, rows *r, dls_error *err)
{
    static const char *const usual[] = {"P100", "RTX2080TI", "A100", "H100"};
    const char *const *others = a->to_gpus.n ? a->to_gpus.at : usual;
    const size_t n_others = a->to_gpus.n ? a->to_gpus.n : sizeof usual / sizeof usual[0];
    dls_step_question base = a->base, q;
    char label[64];
    DLS_TRY(dls_step_gpu(p, base.gpu, &base.gpu, err));
    add(r, &base, "as asked");
    q = base;
    for (size_t i = 0; i < n_others; i++) {
        DLS_TRY(dls_step_gpu(p, others[i], &q.gpu, err));
        if (strcmp(q.gpu, base.gpu) != 0) {
            snprintf(label, sizeof label, "on %s", q.gpu);
            add(r, &q, label);
        }
    }
    q = base;
    q.workers += q.nodes;
    add(r, &q, base.nodes > 1 ? "one more worker a machine" : "one more worker");
    q = base;
    q.servers++;
    add(r, &q, "one more parameter server");
    q = base;
    q.batch *= 2;
    add(r, &q, "twice the batch");
    q.batch = base.batch / 2;
    if (q.batch > 0) {
        add(r, &q, "half the batch");
    }
    return DLS_OK;
}

static double samples_per_s(const rows *r, size_t i)
{
    const dls_step_question *q = &r->question[i];
    return q->workers * q->batch / r->answer[i].prediction.iteration_s;
}

static double gibibytes(const dls_step_answer *a)
{
    return a->prediction.mem_bytes / (1 << 30);
}

/* "" for a row with an answer, else the reason, maybe in text. */
static const char *why_not(const rows *r, size_t i, char text[64])
{
    const dls_step_answer *a = &r->answer[i];
    if (a->refused[0] || a->fits) {
        return a->refused;
    }
    snprintf(text, 64, "does not fit its memory: %.1f GiB", gibibytes(a));
    return text;
}

/* Which network a name stands for that is not its own: "resnet18" is one of small images here. */
static const char *meant(const request *a, const rows *r, char text[160])
{
    const dls_step_answer *answer = &r->answer[0];
    char image[32] = "", sequence[32] = "";
    text[0] = '\0';
    if (!*answer->network || strcmp(answer->network, a->base.model) == 0) {
        return text;
    }
    if (answer->image) {
        snprintf(image, sizeof image, ", %d pixels an edge", (int)answer->image);
    }
    if (answer->sequence) {
        snprintf(sequence, sizeof sequence, ", %d token%s", (int)answer->sequence, answer->sequence > 1 ? "s" : "");
    }
    snprintf(text, 160, " (the zoo's %s%s%s)", answer->network, image, sequence);
    return text;
}

static void print_table(const request *a, const rows *r)
{
    char network[160];
    const dls_step_question *q = r->question;
    printf("%s%s, batch %d a worker, %d x %s on %d machine%s, %s%s%s%s%s; %s says:\n\n", a->base.model,
           meant(a, r, network), (int)q->batch, (int)q->workers, q->gpu, (int)q->nodes, q->nodes > 1 ? "s" : "",
           r->answer[0].exchange, q->nodes > 1 ? " over " : "", q->nodes > 1 ? q->network : "",
           q->framework ? ", " : "", q->framework ? q->framework : "", a->p.source);
    printf("%-26s %9s %10s %8s %7s %18s %20s  %s\n", "", "step ms", "samples/s", "speed", "GiB",
           "GPU burst, idle ms", "sent MB/s, for ms", "answered by");
    for (size_t i = 0; i < r->n; i++) {
        const dls_prediction *f = &r->answer[i].prediction;
        const double *m = f->metric;
        char gpu[32] = "-", net[32] = "-", text[64];
        const char *why = why_not(r, i, text);
        if (*why) {
            printf("%-26s %s\n", r->label[i], why);
            continue;
        }
        if (!isnan(m[DLS_GPU_ACTIVE])) {
            snprintf(gpu, sizeof gpu, "%.1f, %.1f", 1e3 * m[DLS_GPU_ACTIVE], 1e3 * m[DLS_GPU_IDLE]);
            snprintf(net, sizeof net, "%.0f, %.1f", m[DLS_NET_TX_PEAK] / 1e6,
                     1e3 * m[DLS_NET_TX_ACTIVE]);
        }
        printf("%-26s %9.2f %10.1f %8.2f %7.1f %18s %20s  %s", r->label[i], 1e3 * f->iteration_s,
               samples_per_s(r, i), samples_per_s(r, i) / samples_per_s(r, 0),
               gibibytes(&r->answer[i]), gpu, net,
               r->answer[i].setting[0] ? r->answer[i].setting : a->p.source);
        printf(f->distance > 0 ? " (nearest, distance %.2f)\n" : "\n", f->distance);
    }
}

static dls_status print_json(const request *a, const rows *r, dls_error *err)
{
    json_object *top = json_object_new_object();
    DLS_JSON(top, "model", a->base.model, "source", a->p.source);
    if (*r->answer[0].network) {
        DLS_JSON(top, "network", r->answer[0].network, "image", r->answer[0].image, "sequence", r->answer[0].sequence);
    }
    if (a->base.framework) {
        dls_json_text(top, "framework", a->base.framework);
    }
    json_object *list = dls_json_list(top, "answers");
    for (size_t i = 0; i < r->n; i++) {
        const dls_step_question *q = &r->question[i];
        const dls_prediction *f = &r->answer[i].prediction;
        json_object *obj = dls_json_next(list);
        DLS_JSON(obj, "what", r->label[i], "gpu", q->gpu, "workers", q->workers, "nodes", q->nodes,
                 "ps", q->servers, "batch", q->batch, "exchange", r->answer[i].exchange);
        char text[64];
        const char *why = why_not(r, i, text);
        if (*why) {
            dls_json_text(obj, "unanswered", why);
            continue;
        }
        DLS_JSON(obj, "iteration_s", f->iteration_s, "samples_per_s", samples_per_s(r, i), "speed",
                 samples_per_s(r, i) / samples_per_s(r, 0), "mem_bytes", f->mem_bytes);
        for (int k = 0; k < DLS_METRICS; k++) {
            dls_json_real(obj, dls_metric_name(k), f->metric[k]);
        }
        DLS_JSON(obj, "setting", r->answer[i].setting, "distance", f->distance);
    }
    return dls_json_print(stdout, top, err);
}

static dls_status answer(const request *a, rows *r, dls_error *err)
{
    DLS_HOLD(dls_step_predictor_destroy) dls_step_predictor *p = NULL;
    DLS_TRY(dls_step_predictor_create(&a->p, &p, err));
    DLS_TRY(make_rows(a, p, r, err));
    DLS_TRY(dls_step_predict(p, r->question, r->n, r->answer, err));
    char text[64], network[160];
    const char *why = why_not(r, 0, text);
    if (*why) {
        return dls_fail(err, DLS_EINPUT, a->base.model, "%s%s", why, meant(a, r, network));
    }
    if (a->json) {
        return print_json(a, r, err);
    }
    print_table(a, r);
    return DLS_OK;
}

static dls_status run(dls_call *call, dls_error *err)
{
    request *a = call->request;
    if (a->base.async && a->base.servers == 0) {
        return dls_fail(err, DLS_EUSAGE, NULL, "--async goes with --ps");
    }
    DLS_FREED rows *r = dls_alloc_zero(1, sizeof *r);
    return r ? answer(a, r, err) : dls_nomem(err, "rows", sizeof *r);
}

static dls_status take_measured(void *member, const dls_arg *arg, const char *value, dls_error *err)
{
    request *a = member;
    dls_step_question *q = &a->base;
    int end = 0;
    q->measured_gpu = a->measured;
    return sscanf(value, "%47[^:]:%9" SCNd32 ":%lf%n", a->measured, &q->measured_batch,
                  &q->measured_s, &end) == 3 &&
                   !value[end] && q->measured_batch > 0 && q->measured_batch < 1 << 20 &&
                   q->measured_s >= 1e-9 && q->measured_s <= 1e9
               ? DLS_OK
               : dls_arg_wrong(arg, value, "GPU:BATCH:SECONDS", err);
}

static const dls_arg args[] = {
    DLS_ARG(DLS_ROW(DLS_ARG_SWITCH, 1, request, whatif, "whatif", 0, NULL, "this"), .hidden = true),
    DLS_TEXT(request, base.model, "model", 0, "NAME",
             "as in a trace; 'dlsim graph zoo' lists the zoo"),
    DLS_INT(request, base.batch, "batch", 0, 1, 1 << 19, "samples per worker"),
    DLS_TEXT(request, base.gpu, "gpu", 0, "NAME", "on which it runs"),
    DLS_LIST(request, to_gpus, "to-gpus", 0, "A,B,...", NULL,
             "the other GPUs; P100,RTX2080TI,A100,H100 if left out"),
    DLS_INT(request, base.workers, "workers", 0, 1, 4096, "workers"),
    DLS_INT(request, base.nodes, "nodes", 0, 1, 4096, "machines that they share alike"),
    DLS_INT(request, base.servers, "ps", 0, 0, 4096,
            "parameter servers; 0, if left out: all-reduce"),
    DLS_SWITCH(request, base.async, "async", 0, "servers do not make workers wait for each other"),
    DLS_TEXT(request, base.link, "link", 0, "NAME",
             "between GPUs of a machine; the GPU's own if left out"),
    DLS_TEXT(request, base.network, "network", 0, "NAME", "between machines"),
    DLS_CHOICE(request, base.precision, "precision", 0, "fp32|tf32|fp16|bf16", "what numbers are"),
    DLS_INT(request, base.image, "image", 0, 1, 1 << 14, "pixels of an image's side; the model's usual if left out"),
    DLS_INT(request, base.sequence, "sequence", 0, 1, 1 << 20, "tokens; the model's usual if left out"),
    DLS_TEXT(request, base.framework, "framework", 0, "NAME",
             "that runs it, or one of operator.cfg's hosts: pytorch and others with that in their names run PyTorch's kernels"),
    DLS_SWITCH(request, base.channels_first, "channels-first", 0, "images lie channel by channel"),
    DLS_SWITCH(request, base.fused_attention, "fused-attention", 0,
               "attention is one kernel that keeps no scores, as PyTorch's flash attention"),
    DLS_TEXT(request, p.source, "source", 0, "NAME",
             "who answers: driple, operator, paleo, habitat or justus"),
    DLS_TEXT(
        request, p.weights, "weights", 0, "W.h5",
        "driple: inspector file; the one that comes with dlsim if left out; justus: its networks"),
    DLS_TEXT(request, p.backend, "backend", 0, "auto|cpu|cuda", "driple: where to compute"),
    DLS_TEXT(request, p.settings_map, "settings-map", 0, "TEXT",
             "driple: which setting answers for what, see docs/predictors.md"),
    DLS_CALL(request, p, "measured", 0, "GPU:BATCH:SECONDS", take_measured,
             "habitat: a step measured on one GPU; what the operator model says of a V100 if left "
             "out"),
    DLS_TEXT(request, p.hardware_dir, "hardware", 0, "DIR",
             "folder of gpus.cfg, links.cfg and operator.cfg"),
    DLS_SWITCH(request, json, "json", 0, "print JSON"),
    DLS_ARGS_END};

const dls_command dls_predict_whatif = {
    .name = "predict --whatif",
    .group = DLS_LABORATORY,
    .summary = "questions about one workload",
    .usage = "--model=NAME [OPTION]...",
    .about =
        "How one workload would run, and how if it had another GPU, one more parameter server, "
        "one more worker on each machine, or another batch.",
    .args = args,
    .needs = "model",
    .size = sizeof(request),
    .initial = &(const request){.p = {.source = "driple"},
                                .base = {.batch = 32,
                                         .gpu = "V100",
                                         .workers = 1,
                                         .nodes = 1,
                                         .network = "eth10"}},
    .run = run,
};
