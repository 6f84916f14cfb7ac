/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "predictor/cli/predict_whatif.h"

#include "base/alloc.h"
#include "cli/ui.h"
#include "dlsim/predictor.h"
#include "predictor/sources/whatif.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_QUESTIONS 24

static const char help[] =
    "Usage: dlsim predict --whatif --model=NAME [OPTION]...\n"
    "\n"
    "How one workload would run, and how if it had another GPU, one more parameter server, one "
    "more\n"
    "worker on each machine, or another batch.\n"
    "\n"
    "      --model=NAME       as in a trace; 'dlsim graph zoo' lists the zoo\n"
    "      --batch=N          samples per worker (default 32)\n"
    "      --gpu=NAME         (default V100)\n"
    "      --to-gpus=A,B,...  the other GPUs (default P100,RTX2080TI,A100,H100)\n"
    "      --workers=N        (default 1)\n"
    "      --nodes=N          machines that they share alike (default 1)\n"
    "      --ps=N             parameter servers (default 0: all-reduce)\n"
    "      --async            servers do not make workers wait for each other\n"
    "      --link=NAME        between GPUs of a machine (default: the GPU's own)\n"
    "      --network=NAME     between machines (default eth10)\n"
    "      --precision=fp32|tf32|fp16|bf16   (default fp32)\n"
    "      --source=driple|operator|paleo|habitat   who answers (default driple)\n"
    "      --weights=W.h5     driple: inspector file (default: the one that comes with dlsim)\n"
    "      --backend=auto|cpu|cuda   driple\n"
    "      --settings-map=TEXT   driple: which setting answers for what, see docs/predictors.md\n"
    "      --measured=GPU:BATCH:SECONDS   habitat: a step measured on one GPU (default: what the\n"
    "                         operator model says of a V100)\n"
    "      --hardware=DIR     folder of gpus.cfg, links.cfg and operator.cfg\n"
    "      --json             print JSON\n"
    "  -h, --help             show this and leave\n";

typedef struct request {
    dls_whatif_params p;
    dls_whatif_question base;
    char *to_gpus;
    const char *link; /* NULL: the GPU's own */
    char measured[DLS_HW_NAME];
    bool json;
} request;

typedef struct rows {
    char label[MAX_QUESTIONS][64];
    dls_whatif_question question[MAX_QUESTIONS];
    dls_whatif_answer answer[MAX_QUESTIONS];
    size_t n;
} rows;

static void add(rows *r, const dls_whatif_question *q, const char *label)
{
    if (r->n < MAX_QUESTIONS) {
        snprintf(r->label[r->n], sizeof r->label[0], "%s", label);
        r->question[r->n++] = *q;
    }
}

static void name_exchange(dls_setting_spec *s, bool async)
{
    const char *name = s->servers > 0   ? (async ? "ps-async" : "ps-sync")
                       : s->workers > 1 ? "allreduce"
                                        : "one";
    snprintf(s->exchange, sizeof s->exchange, "%s", name);
}

static dls_status use_gpu(const request *a, const dls_hardware *hw, const char *name,
                          dls_setting_spec *s, dls_error *err)
{
    const dls_hw_gpu *gpu;
    DLS_TRY(dls_hardware_gpu(hw, name, &gpu, err));
    snprintf(s->gpu, sizeof s->gpu, "%s", gpu->name);
    snprintf(s->link, sizeof s->link, "%s", a->link ? a->link : gpu->link);
    return DLS_OK;
}

/* The question itself, then its neighbours. */
static dls_status make_rows(const request *a, const dls_hardware *hw, bool async, rows *r,
                            dls_error *err)
{
    dls_whatif_question q = a->base;
    char label[64];
    DLS_TRY(use_gpu(a, hw, a->base.setting.gpu, &q.setting, err));
    name_exchange(&q.setting, async);
    const dls_whatif_question base = q;
    add(r, &base, "as asked");
    for (char *at = a->to_gpus, *next; at && *at; at = next) {
        next = strchr(at, ',');
        if (next) {
            *next++ = '\0';
        }
        q = base;
        DLS_TRY(use_gpu(a, hw, at, &q.setting, err));
        if (strcmp(q.setting.gpu, base.setting.gpu) != 0) {
            snprintf(label, sizeof label, "on %s", q.setting.gpu);
            add(r, &q, label);
        }
    }
    q = base;
    q.setting.workers += q.setting.nodes;
    name_exchange(&q.setting, async);
    add(r, &q, base.setting.nodes > 1 ? "one more worker a machine" : "one more worker");
    q = base;
    q.setting.servers++;
    name_exchange(&q.setting, async);
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
    const dls_whatif_question *q = &r->question[i];
    return q->setting.workers * q->batch / r->answer[i].prediction.iteration_s;
}

static void print_table(const request *a, const rows *r)
{
    const dls_setting_spec *s = &r->question[0].setting;
    printf("%s, batch %d a worker, %d x %s on %d machine%s, %s%s%s; %s says:\n\n", a->p.model,
           (int)r->question[0].batch, (int)s->workers, s->gpu, (int)s->nodes,
           s->nodes > 1 ? "s" : "", s->exchange, s->nodes > 1 ? " over " : "",
           s->nodes > 1 ? s->network : "", a->p.source);
    printf("%-26s %9s %10s %8s %18s %20s  %s\n", "", "step ms", "samples/s", "speed",
           "GPU burst, idle ms", "sent MB/s, for ms", "answered by");
    for (size_t i = 0; i < r->n; i++) {
        const dls_prediction *f = &r->answer[i].prediction;
        const double *m = f->metric;
        char gpu[32] = "-", net[32] = "-";
        if (!isnan(m[DLS_GPU_ACTIVE])) {
            snprintf(gpu, sizeof gpu, "%.1f, %.1f", 1e3 * m[DLS_GPU_ACTIVE], 1e3 * m[DLS_GPU_IDLE]);
            snprintf(net, sizeof net, "%.0f, %.1f", m[DLS_NET_TX_PEAK] / 1e6,
                     1e3 * m[DLS_NET_TX_ACTIVE]);
        }
        printf("%-26s %9.2f %10.1f %8.2f %18s %20s  %s", r->label[i], 1e3 * f->iteration_s,
               samples_per_s(r, i), samples_per_s(r, i) / samples_per_s(r, 0), gpu, net,
               r->answer[i].setting[0] ? r->answer[i].setting : a->p.source);
        printf(f->distance > 0 ? " (nearest, distance %.2f)\n" : "\n", f->distance);
    }
}

static void print_json(const request *a, const rows *r)
{
    fputs("{\"model\": ", stdout);
    dls_ui_json_string(stdout, a->p.model);
    fputs(", \"source\": ", stdout);
    dls_ui_json_string(stdout, a->p.source);
    fputs(", \"answers\": [", stdout);
    for (size_t i = 0; i < r->n; i++) {
        const dls_whatif_question *q = &r->question[i];
        const dls_prediction *f = &r->answer[i].prediction;
        printf("%s\n  {\"what\": ", i ? "," : "");
        dls_ui_json_string(stdout, r->label[i]);
        fputs(", \"gpu\": ", stdout);
        dls_ui_json_string(stdout, q->setting.gpu);
        printf(", \"workers\": %d, \"nodes\": %d, \"ps\": %d, \"batch\": %d, \"exchange\": \"%s\"",
               (int)q->setting.workers, (int)q->setting.nodes, (int)q->setting.servers,
               (int)q->batch, q->setting.exchange);
        dls_ui_json_number("iteration_s", f->iteration_s);
        dls_ui_json_number("samples_per_s", samples_per_s(r, i));
        dls_ui_json_number("speed", samples_per_s(r, i) / samples_per_s(r, 0));
        for (int k = 0; k < DLS_METRICS; k++) {
            dls_ui_json_number(dls_metric_name(k), f->metric[k]);
        }
        fputs(", \"setting\": ", stdout);
        dls_ui_json_string(stdout, r->answer[i].setting);
        dls_ui_json_number("distance", f->distance);
        putchar('}');
    }
    puts("\n]}");
}

static int answer(request *a, bool async)
{
    dls_whatif *w = NULL;
    dls_error err = {0};
    rows *r = dls_alloc_zero(1, sizeof *r);
    dls_status status = r ? dls_whatif_create(&a->p, &w, &err) : dls_nomem(&err, "rows", sizeof *r);
    if (status == DLS_OK) {
        status = make_rows(a, dls_whatif_hardware(w), async, r, &err);
    }
    if (status == DLS_OK) {
        status = dls_whatif_ask(w, r->question, r->n, r->answer, &err);
    }
    if (status == DLS_OK) {
        (a->json ? print_json : print_table)(a, r);
        if (fflush(stdout) != 0 || ferror(stdout)) {
            status = dls_fail(&err, DLS_EOUTPUT, "standard output", "cannot be written");
        }
    }
    dls_whatif_destroy(w);
    dls_free(r);
    return status == DLS_OK ? 0 : dls_ui_fail(&err);
}

static bool read_measured(const char *text, request *a)
{
    int64_t batch;
    char number[32];
    const char *first = strchr(text, ':'), *last = strrchr(text, ':');
    char *end = NULL;
    if (!first || last == first || first - text >= DLS_HW_NAME || last - first > 20) {
        return false;
    }
    snprintf(a->measured, sizeof a->measured, "%.*s", (int)(first - text), text);
    snprintf(number, sizeof number, "%.*s", (int)(last - first - 1), first + 1);
    batch = strtoll(number, &end, 10);
    const bool whole = end != number && *end == '\0' && batch > 0 && batch < 1 << 20;
    a->p.measured_s = strtod(last + 1, &end);
    a->p.measured_gpu = a->measured;
    a->p.measured_batch = (int32_t)batch;
    return whole && end != last + 1 && *end == '\0' && a->p.measured_s > 0;
}

int dls_predict_whatif(int argc, char **argv)
{
    enum {
        O_WHATIF = 256,
        O_MODEL,
        O_BATCH,
        O_GPU,
        O_TO_GPUS,
        O_WORKERS,
        O_NODES,
        O_PS,
        O_ASYNC,
        O_LINK,
        O_NETWORK,
        O_PRECISION,
        O_SOURCE,
        O_WEIGHTS,
        O_BACKEND,
        O_MAP,
        O_MEASURED,
        O_HARDWARE,
        O_JSON
    };
    static const struct option longs[] = {{"whatif", no_argument, NULL, O_WHATIF},
                                          {"model", required_argument, NULL, O_MODEL},
                                          {"batch", required_argument, NULL, O_BATCH},
                                          {"gpu", required_argument, NULL, O_GPU},
                                          {"to-gpus", required_argument, NULL, O_TO_GPUS},
                                          {"workers", required_argument, NULL, O_WORKERS},
                                          {"nodes", required_argument, NULL, O_NODES},
                                          {"ps", required_argument, NULL, O_PS},
                                          {"async", no_argument, NULL, O_ASYNC},
                                          {"link", required_argument, NULL, O_LINK},
                                          {"network", required_argument, NULL, O_NETWORK},
                                          {"precision", required_argument, NULL, O_PRECISION},
                                          {"source", required_argument, NULL, O_SOURCE},
                                          {"weights", required_argument, NULL, O_WEIGHTS},
                                          {"backend", required_argument, NULL, O_BACKEND},
                                          {"settings-map", required_argument, NULL, O_MAP},
                                          {"measured", required_argument, NULL, O_MEASURED},
                                          {"hardware", required_argument, NULL, O_HARDWARE},
                                          {"json", no_argument, NULL, O_JSON},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    static const char others[] = "P100,RTX2080TI,A100,H100";
    char to_gpus[1024];
    request a = {.p = {.source = "driple"}, .base = {.batch = 32}, .to_gpus = to_gpus};
    int64_t batch = 32, workers = 1, nodes = 1, servers = 0;
    bool async = false, good = true;
    snprintf(to_gpus, sizeof to_gpus, "%s", others);
    snprintf(a.base.setting.gpu, sizeof a.base.setting.gpu, "V100");
    snprintf(a.base.setting.network, sizeof a.base.setting.network, "eth10");
    for (int opt; good && (opt = dls_ui_getopt(argc, argv, "h", longs, "predict")) != -1;) {
        switch (opt) {
        case O_WHATIF:
            break;
        case O_MODEL:
            a.p.model = optarg;
            break;
        case O_BATCH:
            good = dls_ui_i64("predict", "--batch", optarg, 1, 1 << 19, &batch);
            break;
        case O_GPU:
            snprintf(a.base.setting.gpu, sizeof a.base.setting.gpu, "%s", optarg);
            break;
        case O_TO_GPUS:
            snprintf(to_gpus, sizeof to_gpus, "%s", optarg);
            break;
        case O_WORKERS:
            good = dls_ui_i64("predict", "--workers", optarg, 1, 4096, &workers);
            break;
        case O_NODES:
            good = dls_ui_i64("predict", "--nodes", optarg, 1, 4096, &nodes);
            break;
        case O_PS:
            good = dls_ui_i64("predict", "--ps", optarg, 0, 4096, &servers);
            break;
        case O_ASYNC:
            async = true;
            break;
        case O_LINK:
            a.link = optarg;
            break;
        case O_NETWORK:
            snprintf(a.base.setting.network, sizeof a.base.setting.network, "%s", optarg);
            break;
        case O_PRECISION:
            if (!dls_numeric_find(optarg, &a.p.numeric)) {
                return dls_ui_usage("predict", "--precision=%s: fp32, tf32, fp16 or bf16", optarg);
            }
            break;
        case O_SOURCE:
            a.p.source = optarg;
            break;
        case O_WEIGHTS:
            a.p.weights = optarg;
            break;
        case O_BACKEND:
            if (strcmp(optarg, "auto") != 0 && strcmp(optarg, "cpu") != 0 &&
                strcmp(optarg, "cuda") != 0) {
                return dls_ui_usage("predict", "--backend=%s: not one of the choices", optarg);
            }
            a.p.backend = optarg;
            break;
        case O_MAP:
            a.p.settings_map = optarg;
            break;
        case O_MEASURED:
            if (!read_measured(optarg, &a)) {
                return dls_ui_usage("predict", "--measured=%s: expected GPU:BATCH:SECONDS", optarg);
            }
            break;
        case O_HARDWARE:
            a.p.hardware_dir = optarg;
            break;
        case O_JSON:
            a.json = true;
            break;
        case 'h':
            fputs(help, stdout);
            return 0;
        default:
            return dls_status_exit_code(DLS_EUSAGE);
        }
    }
    if (!good) {
        return dls_status_exit_code(DLS_EUSAGE);
    }
    if (!a.p.model) {
        return dls_ui_usage("predict", "--model is needed");
    }
    if (optind < argc) {
        return dls_ui_usage("predict", "\"%s\" is not an option", argv[optind]);
    }
    if (async && servers == 0) {
        return dls_ui_usage("predict", "--async goes with --ps");
    }
    a.base.batch = (int32_t)batch;
    a.base.setting.workers = (int32_t)workers;
    a.base.setting.nodes = (int32_t)nodes;
    a.base.setting.servers = (int32_t)servers;
    return answer(&a, async);
}
