/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim operators: the operator-level model of training time. Calibration from published
 * measurements, judgement against others, and answers for one step.
 */
#include "base/units.h"
#include "cli/command.h"
#include "predictor/cli/operators_measure.h"
#include "predictor/cli/operators_profile.h"
#include "cli/ui.h"
#include "predictor/baselines/validate.h"
#include "workload/operator/calibrate.h"
#include "workload/operator/from_graph.h"
#include "workload/operator/hardware.h"
#include "workload/operator/topology.h"

#include <string.h>

static const char help[] =
    "Usage: dlsim operators calibrate --output=FILE [OPTION]...\n"
    "       dlsim operators validate [--points] [OPTION]...\n"
    "       dlsim operators step --model=NAME --gpu=NAME [OPTION]...\n"
    "       dlsim operators profile --model=NAME --gpu=NAME [OPTION]...\n"
    "       dlsim operators measure --model=NAME --gpu=NAME --output=FILE [OPTION]...\n"
    "       dlsim operators list [OPTION]...\n"
    "\n"
    "calibrate  fit the constants to the calibrating points and write them\n"
    "validate   mean absolute errors on points that fitted nothing, as a table (Markdown);\n"
    "           exit code 1 if a target is missed\n"
    "step       time and memory of one training step\n"
    "profile    sample the resources of that step as a profiler would: burst and idle phases, and\n"
    "           the 12 metrics of the inspector\n"
    "measure    time the operations of a training graph on this machine's GPU and add them to a "
    "file\n"
    "list       models, GPUs, links, hosts and fabrics that the tables know\n"
    "\n"
    "      --hardware=DIR     folder of gpus.cfg, links.cfg and operator.cfg\n"
    "                         (default: configs/hardware here, then where dlsim is installed)\n"
    "      --constants=FILE   in place of operator.cfg\n"
    "  -o, --output=FILE      calibrate, measure: where the constants, the times go; profile: the\n"
    "                         samples, as a recording for dlsim perf analyze\n"
    "      --operators=FILE   step, profile: measured times in place of the formula, where they "
    "are\n"
    "      --device=cuda|cpu  measure: what to time (default cuda; cpu: to try it, fp32 only)\n"
    "      --seconds=X        measure: for each operation (default 0.05)\n"
    "      --most-gflop=X     measure: leave out products of more\n"
    "      --points           validate: every point, too\n"
    "      --model=NAME       step, profile: a network\n"
    "      --graph=FILE       in place of --model: a training graph (dlsim graph), which brings "
    "its\n"
    "                         batch and precision\n"
    "      --gpu=NAME         step, profile: a GPU\n"
    "      --batch=N          samples per GPU (default 32)\n"
    "      --precision=fp32|tf32|fp16|bf16   (default fp32)\n"
    "      --gpus=N           GPUs of the job (default 1)\n"
    "      --fabric=NAME      how gradients travel, as measured, see list\n"
    "      --link=NAME        without --fabric: between GPUs of a node (default: the GPU's own)\n"
    "      --nodes=N          without --fabric: nodes of the job (default 1)\n"
    "      --network=NAME     without --fabric: the link between them\n"
    "      --algorithm=ring|tree|hierarchical   without --fabric: of all-reduce (default ring)\n"
    "      --servers=N        parameter servers (default: all-reduce)\n"
    "      --async            workers do not wait for each other (with --servers)\n"
    "      --host=NAME        framework and input pipeline, see list\n"
    "      --interval-us=N    profile: between samples (default 10000)\n"
    "      --samples=N        profile: how many (default 3000)\n"
    "      --seed=N           profile: of the noise (default 1)\n"
    "  -h, --help             show this and leave\n";

typedef struct ask {
    const char *folder, *constants, *output;
    const char *model, *graph, *gpu, *fabric, *host, *link, *network;
    const char *operators, *device;
    double seconds, most_gflop;
    dls_op_times measured; /* of --operators */
    int64_t nodes;
    dls_allreduce algorithm;
    dls_numeric numeric;
    int64_t batch, gpus, servers;
    int64_t interval_us, samples, seed;
    bool points, async;
} ask;

static dls_status load_model(const ask *a, dls_opmodel *model, dls_error *err)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/operator.cfg", a->folder);
    DLS_TRY(dls_opmodel_load(a->constants ? a->constants : path, model, err));
    model->measured = a->operators ? &a->measured : NULL;
    return DLS_OK;
}

/* ---- validate -----------------------------------------------------------------------------------
 */

static void print_score(const dls_score *s)
{
    if (s->n) {
        printf(" %.1f (%zu) |", 100 * s->mean, s->n);
    } else {
        fputs(" - |", stdout);
    }
}

static void print_worst(const dls_pointset *set, const dls_score *s)
{
    if (s->n) {
        const dls_point *p = &set->point[s->worst_idx];
        printf(" %+.0f (%s@%d, %d x %s %s) |", 100 * s->worst, p->model, p->batch, p->n_gpus,
               p->gpu, dls_numeric_name((int)p->numeric));
    } else {
        fputs(" - |", stdout);
    }
}

static bool print_target(double value, double target, double scale)
{
    const bool met = !(target > 0) || value <= target;
    if (target > 0) {
        printf(" %g, %s |", scale * target, met ? "met" : "missed");
    } else {
        fputs(" - |", stdout);
    }
    return met;
}

static bool print_rows(const dls_pointset *set, const dls_score_row *rows, size_t n)
{
    bool met = true;
    for (size_t i = 0; i < n; i++) {
        printf("| %s |", rows[i].name);
        print_score(&rows[i].calibrated);
        print_score(&rows[i].judged);
        print_worst(set, &rows[i].judged);
        met = print_target(rows[i].judged.mean, rows[i].target, 100) && met;
        putchar('\n');
    }
    return met;
}

static bool print_versus(const dls_versus *rows, size_t n)
{
    bool met = true;
    for (size_t i = 0; i < n; i++) {
        const double ratio = rows[i].other.n ? rows[i].model.mean / rows[i].other.mean : 0;
        printf("| %s |", rows[i].name);
        print_score(&rows[i].model);
        printf(" %s", rows[i].baseline);
        print_score(&rows[i].other);
        printf(" %.2f |", ratio);
        met = print_target(ratio, rows[i].target_ratio, 1) && met;
        putchar('\n');
    }
    return met;
}

static void print_points(const dls_pointset *set, const dls_opmodel *model)
{
    puts("\n| source | GPU | numbers | GPUs | model | batch | role | measured ms | predicted ms | "
         "off % |\n|---|---|---|---|---|---|---|---|---|---|");
    for (size_t i = 0; i < set->n; i++) {
        const dls_point *p = &set->point[i];
        const double s = dls_point_step_s(set, i, model, dls_point_one_s(set, i, model));
        printf("| %s | %s | %s | %d | %s | %d | %s | %g | %.4g | %+.1f |\n",
               dls_point_source_name(p->source), p->gpu, dls_numeric_name((int)p->numeric),
               p->n_gpus, p->model, p->batch, p->role == DLS_POINT_JUDGE ? "judge" : "calibrate",
               p->step_ms, 1e3 * s, 100 * (1e3 * s / p->step_ms - 1));
    }
}

static dls_status validate(const ask *a, const dls_pointset *set, dls_error *err)
{
    dls_opmodel model;
    dls_score_row rows[DLS_SCORE_ROWS], left_out[DLS_SCORE_ROWS];
    dls_versus versus[DLS_SCORE_ROWS];
    size_t n = 0, n_left_out = 0, n_versus = 0;
    DLS_TRY(load_model(a, &model, err));
    dls_validate_rows(set, &model, rows, &n);
    DLS_TRY(dls_validate_left_out(set, left_out, &n_left_out, err));
    DLS_TRY(dls_validate_versus(set, &model, versus, &n_versus, err));
    puts("| what | calibrated % (points) | judged % (points) | worst judged % | target % |\n"
         "|---|---|---|---|---|");
    bool met = print_rows(set, rows, n);
    met = print_rows(set, left_out, n_left_out) && met;
    puts("\n| judged points | operator model % (points) | baseline % (points) | ratio | "
         "target |\n|---|---|---|---|---|");
    met = print_versus(versus, n_versus) && met;
    if (a->points) {
        print_points(set, &model);
    }
    return met ? DLS_OK : dls_fail(err, DLS_ERUN, NULL, "a target is missed");
}

/* ---- step ---------------------------------------------------------------------------------------
 */

/* A fabric out of the tables of links, into *made. */
static dls_status make_fabric(const ask *a, const dls_hardware *hw, const dls_opmodel *model,
                              const dls_hw_gpu *gpu, const dls_workload *w, dls_fabric *made,
                              dls_error *err)
{
    const dls_fabric *like = dls_opmodel_fabric(model, "pcie");
    dls_topology t = {.nodes = (int)a->nodes, .algorithm = a->algorithm};
    if (!like) {
        return dls_fail(err, DLS_ECONFIG, "fabrics", "no \"pcie\", whose overlap is taken");
    }
    if (a->gpus % a->nodes != 0) {
        return dls_fail(err, DLS_EUSAGE, "--nodes", "--gpus is not a multiple of it");
    }
    if (a->nodes > 1 && !a->network) {
        return dls_fail(err, DLS_EUSAGE, "--nodes", "several nodes need --network or --fabric");
    }
    t.per_node = (int)(a->gpus / a->nodes);
    DLS_TRY(dls_hardware_link(hw, a->link ? a->link : gpu->link, &t.inner, err));
    if (a->network) {
        DLS_TRY(dls_hardware_link(hw, a->network, &t.outer, err));
    }
    *made = dls_topology_fabric(&t, 4 * w->params, a->servers > 0, like);
    return DLS_OK;
}

static dls_status find_cluster(const ask *a, const dls_hardware *hw, const dls_opmodel *model,
                               const dls_workload *w, dls_work_setting *setting, dls_fabric *made,
                               dls_error *err)
{
    setting->host = a->host ? dls_opmodel_host(model, a->host) : NULL;
    setting->fabric = a->fabric ? dls_opmodel_fabric(model, a->fabric) : NULL;
    if (a->host && !setting->host) {
        return dls_fail(err, DLS_EINPUT, "--host", "unknown host \"%s\"", a->host);
    }
    if (a->fabric && !setting->fabric) {
        return dls_fail(err, DLS_EINPUT, "--fabric", "unknown fabric \"%s\"", a->fabric);
    }
    if (!a->fabric) {
        DLS_TRY(make_fabric(a, hw, model, setting->gpu, w, made, err));
        setting->fabric = made;
    }
    return DLS_OK;
}

static void print_step(const dls_workload *w, const dls_work_setting *setting,
                       const dls_step_in_setting *step)
{
    const double memory = dls_step_memory_bytes(w, setting->numeric, setting->batch);
    printf("forward_s %.6g\nbackward_s %.6g\nupdate_s %.6g\none_gpu_s %.6g\nexchange_s %.6g\n"
           "step_s %.6g\nsamples_per_s %.6g\nmemory_bytes %.6g\nfits %s\n",
           step->gpu.forward_s, step->gpu.backward_s, step->gpu.update_s, step->one_s,
           step->exchange_s, step->step_s, setting->n_workers * setting->batch / step->step_s,
           memory, memory <= setting->gpu->mem_bytes ? "yes" : "no");
}

/* The network of --model or --graph; the graph's batch and precision overrule. */
static dls_status load_work(const ask *a, dls_work_setting *setting, dls_workload *w,
                            dls_error *err)
{
    dls_opgraph *g = NULL;
    if (!a->graph) {
        return dls_workload_build(a->model, w, err);
    }
    DLS_TRY(dls_opgraph_load(a->graph, &g, err));
    setting->batch = g->info.batch;
    setting->numeric = g->info.numeric;
    const dls_status status = dls_workload_from_graph(g, w, err);
    dls_opgraph_destroy(g);
    return status;
}

/* step or profile */
static dls_status one_job(const ask *a, bool profile, const dls_hardware *hw, dls_error *err)
{
    dls_work_setting setting = {.numeric = a->numeric,
                                .batch = (double)a->batch,
                                .n_workers = (int)a->gpus,
                                .n_servers = (int)a->servers,
                                .async = a->async};
    const dls_series_options opts = {.interval_s = (double)a->interval_us / 1e6,
                                     .n_samples = (size_t)a->samples,
                                     .step_spread = 0.02,
                                     .jitter_frac = 0.1,
                                     .noise_frac = 0.02,
                                     .seed = (uint64_t)a->seed};
    dls_opmodel model;
    dls_workload w;
    dls_step_in_setting step;
    if (!a->model == !a->graph || !a->gpu) {
        return dls_fail(err, DLS_EUSAGE, NULL, "--gpu and one of --model and --graph are needed");
    }
    DLS_TRY(load_model(a, &model, err));
    DLS_TRY(dls_hardware_gpu(hw, a->gpu, &setting.gpu, err));
    DLS_TRY(load_work(a, &setting, &w, err));
    dls_fabric made;
    dls_status status = find_cluster(a, hw, &model, &w, &setting, &made, err);
    if (status == DLS_OK && profile) {
        status = dls_operators_profile(&model, &w, &setting, &opts, a->output, err);
    } else if (status == DLS_OK) {
        status = dls_setting_step(&model, &w, &setting, &step, err);
        if (status == DLS_OK) {
            print_step(&w, &setting, &step);
        }
    }
    dls_workload_fini(&w);
    return status;
}

static dls_status measure(const ask *a, const dls_hardware *hw, dls_error *err)
{
    const dls_hw_gpu *gpu;
    if (!a->model == !a->graph || !a->gpu || !a->output) {
        return dls_fail(err, DLS_EUSAGE, NULL,
                        "--gpu, --output and one of --model and --graph are needed");
    }
    DLS_TRY(dls_hardware_gpu(hw, a->gpu, &gpu, err));
    return dls_operators_measure(&(dls_operators_measure_ask){.model = a->model,
                                                              .graph = a->graph,
                                                              .gpu = gpu->name,
                                                              .device = a->device,
                                                              .output = a->output,
                                                              .batch = a->batch,
                                                              .numeric = a->numeric,
                                                              .seconds = a->seconds,
                                                              .most_gflop = a->most_gflop},
                                 err);
}

static dls_status list(const ask *a, const dls_hardware *hw, dls_error *err)
{
    dls_opmodel model;
    DLS_TRY(load_model(a, &model, err));
    for (const char *const *name = dls_workload_names(); *name; name++) {
        printf("model %s\n", *name);
    }
    for (size_t i = 0; i < hw->n_gpus; i++) {
        printf("gpu %s\n", hw->gpu[i].name);
    }
    for (size_t i = 0; i < hw->n_links; i++) {
        printf("link %s\n", hw->link[i].name);
    }
    for (size_t i = 0; i < model.n_hosts; i++) {
        printf("host %s\n", model.host[i].name);
    }
    for (size_t i = 0; i < model.n_fabrics; i++) {
        printf("fabric %s\n", model.fabric[i].name);
    }
    return DLS_OK;
}

static dls_status calibrate(const ask *a, const dls_pointset *set, dls_error *err)
{
    dls_opmodel model;
    if (!a->output) {
        return dls_fail(err, DLS_EUSAGE, "calibrate", "--output is needed");
    }
    DLS_TRY(dls_calibrate(set, NULL, &model, err));
    return dls_opmodel_save(&model, a->output, err);
}

static dls_status act(const char *action, ask *a, dls_error *err)
{
    dls_hardware hw;
    dls_pointset set = {0};
    if (a->operators) {
        DLS_TRY(dls_op_times_load(a->operators, &a->measured, err));
    }
    DLS_TRY(dls_hardware_load(a->folder, &hw, err));
    dls_status status = dls_pointset_create(&hw, &set, err);
    if (status == DLS_OK) {
        status = strcmp(action, "validate") == 0    ? validate(a, &set, err)
                 : strcmp(action, "calibrate") == 0 ? calibrate(a, &set, err)
                 : strcmp(action, "step") == 0      ? one_job(a, false, &hw, err)
                 : strcmp(action, "profile") == 0   ? one_job(a, true, &hw, err)
                 : strcmp(action, "measure") == 0   ? measure(a, &hw, err)
                                                    : list(a, &hw, err);
    }
    dls_pointset_fini(&set);
    dls_hardware_fini(&hw);
    return status;
}

static bool algorithm_of(const char *text, dls_allreduce *out)
{
    for (int i = 0; dls_allreduce_names()[i]; i++) {
        if (strcmp(text, dls_allreduce_names()[i]) == 0) {
            *out = (dls_allreduce)i;
            return true;
        }
    }
    dls_ui_usage("operators", "--algorithm=%s: ring, tree or hierarchical", text);
    return false;
}

/* A number above 0 in optarg. */
static bool real_of(const char *option, double *out)
{
    const bool good = dls_units_f64(optarg, out) && *out > 0;
    if (!good) {
        dls_ui_usage("operators", "%s=%s: a number above 0", option, optarg);
    }
    return good;
}

static bool parse(int argc, char **argv, ask *a, bool *leave)
{
    enum {
        O_HARDWARE = 256,
        O_CONSTANTS,
        O_POINTS,
        O_MODEL,
        O_GRAPH,
        O_GPU,
        O_BATCH,
        O_PRECISION,
        O_GPUS,
        O_FABRIC,
        O_LINK,
        O_NODES,
        O_NETWORK,
        O_ALGORITHM,
        O_SERVERS,
        O_ASYNC,
        O_INTERVAL,
        O_SAMPLES,
        O_SEED,
        O_HOST,
        O_OPERATORS,
        O_DEVICE,
        O_SECONDS,
        O_MOST_GFLOP
    };
    static const struct option longs[] = {{"hardware", required_argument, NULL, O_HARDWARE},
                                          {"constants", required_argument, NULL, O_CONSTANTS},
                                          {"output", required_argument, NULL, 'o'},
                                          {"points", no_argument, NULL, O_POINTS},
                                          {"model", required_argument, NULL, O_MODEL},
                                          {"graph", required_argument, NULL, O_GRAPH},
                                          {"gpu", required_argument, NULL, O_GPU},
                                          {"batch", required_argument, NULL, O_BATCH},
                                          {"precision", required_argument, NULL, O_PRECISION},
                                          {"gpus", required_argument, NULL, O_GPUS},
                                          {"fabric", required_argument, NULL, O_FABRIC},
                                          {"link", required_argument, NULL, O_LINK},
                                          {"nodes", required_argument, NULL, O_NODES},
                                          {"network", required_argument, NULL, O_NETWORK},
                                          {"algorithm", required_argument, NULL, O_ALGORITHM},
                                          {"servers", required_argument, NULL, O_SERVERS},
                                          {"async", no_argument, NULL, O_ASYNC},
                                          {"interval-us", required_argument, NULL, O_INTERVAL},
                                          {"samples", required_argument, NULL, O_SAMPLES},
                                          {"seed", required_argument, NULL, O_SEED},
                                          {"host", required_argument, NULL, O_HOST},
                                          {"operators", required_argument, NULL, O_OPERATORS},
                                          {"device", required_argument, NULL, O_DEVICE},
                                          {"seconds", required_argument, NULL, O_SECONDS},
                                          {"most-gflop", required_argument, NULL, O_MOST_GFLOP},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    for (int opt; (opt = dls_ui_getopt(argc, argv, "o:h", longs, "operators")) != -1;) {
        bool good = true;
        switch (opt) {
        case O_HARDWARE:
            a->folder = optarg;
            break;
        case O_CONSTANTS:
            a->constants = optarg;
            break;
        case 'o':
            a->output = optarg;
            break;
        case O_POINTS:
            a->points = true;
            break;
        case O_MODEL:
            a->model = optarg;
            break;
        case O_GRAPH:
            a->graph = optarg;
            break;
        case O_GPU:
            a->gpu = optarg;
            break;
        case O_LINK:
            a->link = optarg;
            break;
        case O_NETWORK:
            a->network = optarg;
            break;
        case O_NODES:
            good = dls_ui_i64("operators", "--nodes", optarg, 1, 1 << 20, &a->nodes);
            break;
        case O_ALGORITHM:
            good = algorithm_of(optarg, &a->algorithm);
            break;
        case O_FABRIC:
            a->fabric = optarg;
            break;
        case O_HOST:
            a->host = optarg;
            break;
        case O_OPERATORS:
            a->operators = optarg;
            break;
        case O_DEVICE:
            a->device = optarg;
            good = strcmp(optarg, "cpu") == 0 || strcmp(optarg, "cuda") == 0;
            if (!good) {
                dls_ui_usage("operators", "--device=%s: cuda or cpu", optarg);
            }
            break;
        case O_SECONDS:
            good = real_of("--seconds", &a->seconds);
            break;
        case O_MOST_GFLOP:
            good = real_of("--most-gflop", &a->most_gflop);
            break;
        case O_ASYNC:
            a->async = true;
            break;
        case O_BATCH:
            good = dls_ui_i64("operators", "--batch", optarg, 1, 1 << 20, &a->batch);
            break;
        case O_GPUS:
            good = dls_ui_i64("operators", "--gpus", optarg, 1, 1 << 20, &a->gpus);
            break;
        case O_SERVERS:
            good = dls_ui_i64("operators", "--servers", optarg, 1, 1 << 20, &a->servers);
            break;
        case O_INTERVAL:
            good = dls_ui_i64("operators", "--interval-us", optarg, 1, INT32_MAX, &a->interval_us);
            break;
        case O_SAMPLES:
            good = dls_ui_i64("operators", "--samples", optarg, 1, 1 << 26, &a->samples);
            break;
        case O_SEED:
            good = dls_ui_i64("operators", "--seed", optarg, 0, INT64_MAX, &a->seed);
            break;
        case O_PRECISION:
            good = dls_numeric_find(optarg, &a->numeric);
            if (!good) {
                dls_ui_usage("operators", "--precision=%s: fp32, tf32, fp16 or bf16", optarg);
            }
            break;
        case 'h':
            fputs(help, stdout);
            *leave = true;
            return true;
        default:
            return false;
        }
        if (!good) {
            return false;
        }
    }
    return true;
}

static int legacy(int argc, char **argv)
{
    static const char *const actions[] = {"calibrate", "validate", "step",
                                          "profile",   "measure",  "list"};
    char folder[4096];
    ask a = {.device = "cuda",
             .seconds = 0.05,
             .batch = 32,
             .gpus = 1,
             .nodes = 1,
             .interval_us = 10000,
             .samples = 3000,
             .seed = 1};
    bool leave = false, known = false;
    if (!parse(argc, argv, &a, &leave)) {
        return dls_status_exit_code(DLS_EUSAGE);
    }
    if (leave) {
        return 0;
    }
    if (optind + 1 != argc) {
        return dls_ui_usage("operators",
                            "one of calibrate, validate, step, profile, measure, list");
    }
    for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++) {
        known = known || strcmp(actions[i], argv[optind]) == 0;
    }
    if (!known) {
        return dls_ui_usage("operators",
                            "\"%s\" is not calibrate, validate, step, profile, measure or list",
                            argv[optind]);
    }
    if (a.async && !a.servers) {
        return dls_ui_usage("operators", "--async needs --servers");
    }
    a.folder = dls_hardware_folder(a.folder, folder, sizeof folder);
    dls_error err = {0};
    const dls_status status = act(argv[optind], &a, &err);
    dls_op_times_fini(&a.measured);
    return status == DLS_OK ? 0 : dls_ui_fail(&err);
}

const dls_command dls_command_operators = {
    .name = "operators", .group = DLS_LABORATORY, .summary = "operator-level model of training time, and its accuracy", .legacy = legacy};
