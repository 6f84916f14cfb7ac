/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim operators: the operator-level model of training time. Calibration from published
 * measurements, judgement against others, and answers for one step.
 */
#include "predictor/cli/operators.h"

#include "base/alloc.h"
#include "base/own.h"
#include "cli/command.h"
#include "predictor/baselines/validate.h"
#include "predictor/dataset/benched.h"
#include "predictor/measure/recording.h"
#include "predictor/sources/setting_files.h"
#include "workload/operator/calibrate.h"
#include "workload/operator/from_graph.h"
#include "workload/operator/topology.h"

#include <math.h>

/* Of a job, which is said to have one network. */
dls_status dls_operators_gpu(const dls_operators *a, const dls_hw_gpu **gpu, dls_error *err)
{
    return !a->model == !a->graph
               ? dls_fail(err, DLS_EUSAGE, NULL, "one of --model and --graph is needed")
               : dls_hardware_gpu(&a->hw, a->gpu, gpu, err);
}

static dls_status load_model(const dls_operators *a, dls_opmodel *model, dls_error *err)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/operator%s.cfg", a->folder, a->by_size ? "-sized" : "");
    DLS_TRY(dls_opmodel_load(a->constants ? a->constants : path, model, err));
    model->sized = a->by_size ? &a->kernels : NULL;
    model->measured = a->operators ? &a->measured : NULL;
    return DLS_OK;
}

/* ---- validate -------------------------------------------------------------------------------- */

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
               dls_point_places[p->source].key, p->gpu, dls_numeric_name((int)p->numeric),
               p->n_gpus, p->model, p->batch, p->role == DLS_POINT_JUDGE ? "judge" : "calibrate",
               p->step_ms, 1e3 * s, 100 * (1e3 * s / p->step_ms - 1));
    }
}

static dls_status validate(const dls_operators *a, dls_error *err)
{
    const dls_pointset *set = &a->set;
    dls_opmodel model;
    dls_score_row rows[DLS_SCORE_ROWS], left_out[DLS_SCORE_ROWS];
    dls_versus versus[DLS_SCORE_ROWS];
    size_t n = 0, n_left_out = 0, n_versus = 0;
    DLS_TRY(load_model(a, &model, err));
    dls_validate_rows(set, &model, rows, &n);
    DLS_TRY(dls_validate_left_out(set, model.sized, left_out, &n_left_out, err));
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

/* ---- step ------------------------------------------------------------------------------------ */

/* A fabric out of the tables of links, into *made. */
static dls_status make_fabric(const dls_operators *a, const dls_opmodel *model,
                              const dls_hw_gpu *gpu, const dls_workload *w, dls_fabric *made,
                              dls_error *err)
{
    const dls_fabric *like = dls_opmodel_fabric(model, a->like ? a->like : "pcie");
    dls_topology t = {.nodes = (int)a->nodes, .algorithm = a->algorithm};
    if (!like && a->like) {
        return dls_fail(err, DLS_EINPUT, "--like", "unknown fabric \"%s\"", a->like);
    }
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
    DLS_TRY(dls_hardware_link(&a->hw, a->link ? a->link : gpu->link, &t.inner, err));
    if (a->network) {
        DLS_TRY(dls_hardware_link(&a->hw, a->network, &t.outer, err));
    }
    *made = dls_topology_fabric(&t, 4 * w->params, a->servers > 0, like);
    made->per_tensor_s = a->like ? like->per_tensor_s : 0;
    return DLS_OK;
}

static dls_status find_cluster(const dls_operators *a, const dls_opmodel *model,
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
        DLS_TRY(make_fabric(a, model, setting->gpu, w, made, err));
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

/* ---- profile: the modelled resources of a worker, sampled ------------------------------------ */

/* Tracks and resources are numbered alike: predictor/dataset/label.c asserts it. */

static void print_profile(const dls_burst burst[DLS_RESOURCES], double step_s)
{
    printf("step_s %.6g\nresource pattern idle_s burst_s idle_amount burst_amount cycle_s "
           "period_s agrees\n",
           step_s);
    for (int r = 0; r < DLS_RESOURCES; r++) {
        const dls_burst *b = &burst[r];
        printf("%s %s %.4g %.4g %.4g %.4g %.4g %.4g %s\n", dls_resource_name(r),
               dls_pattern_name(b->pattern), b->idle_s, b->burst_s, b->idle_amount, b->burst_amount,
               b->cycle_s, b->period_s, b->cycle_agrees ? "yes" : "no");
    }
    const dls_profile profile = dls_burst_profile(burst, step_s);
    fputs("metrics", stdout);
    for (int k = 0; k < DLS_METRICS; k++) {
        printf(" %.6g", profile.metric[k]);
    }
    putchar('\n');
}

static dls_status save_profile(const dls_workload *w, const dls_work_setting *setting,
                               const dls_series_options *opts, double *const x[DLS_TRACKS],
                               const char *path, dls_error *err)
{
    DLS_OWN(dls_recording_fini) dls_recording r = {0};
    DLS_TRY(dls_recording_of_samples(x, opts->n_samples, opts->interval_s,
                                     setting->fabric ? setting->fabric->bps : 0, &r, err));
    snprintf(r.command, sizeof r.command, "%s on %d %s", w->name, setting->n_workers,
             setting->gpu->name);
    snprintf(r.notes, sizeof r.notes, "simulated by the operator model");
    return dls_recording_save(&r, path, err);
}

static dls_status profile_job(const dls_opmodel *model, const dls_workload *w,
                              const dls_work_setting *setting, const dls_series_options *opts,
                              const char *path, dls_error *err)
{
    DLS_OWN(dls_timeline_fini) dls_timeline timeline = {0};
    dls_burst burst[DLS_RESOURCES];
    double *x[DLS_TRACKS];
    DLS_TRY(dls_timeline_build(model, w, setting, &timeline, err));
    DLS_FREED double *samples = NULL;
    DLS_TRY(
        dls_alloc_array(&samples, DLS_TRACKS * opts->n_samples, sizeof *samples, "samples", err));
    for (int r = 0; r < DLS_TRACKS; r++) {
        x[r] = samples + (size_t)r * opts->n_samples;
    }
    DLS_TRY(dls_series_sample(&timeline, opts, x, err));
    for (int r = 0; r < DLS_TRACKS; r++) {
        const bool network = r == DLS_TRACK_RX || r == DLS_TRACK_TX;
        const dls_burst_options how = {.interval_s = opts->interval_s,
                                       .capacity =
                                           network && setting->fabric ? setting->fabric->bps : 1};
        DLS_TRY(dls_burst_analyze(x[r], opts->n_samples, &how, &burst[r], err));
    }
    if (path) {
        DLS_TRY(save_profile(w, setting, opts, x, path, err));
    }
    print_profile(burst, timeline.step_s);
    return DLS_OK;
}

/* ---- one job --------------------------------------------------------------------------------- */

/* The network of --model or --graph; the graph's batch and precision overrule. */
static dls_status load_work(const dls_operators *a, dls_work_setting *setting, dls_workload *w,
                            dls_error *err)
{
    DLS_HOLD(dls_opgraph_destroy) dls_opgraph *g = NULL;
    if (!a->graph) {
        return dls_workload_build(a->model, w, err);
    }
    DLS_TRY(dls_opgraph_load(a->graph, &g, err));
    setting->batch = g->info.batch;
    setting->numeric = g->info.numeric;
    return dls_workload_from_graph(g, w, err);
}

/* step or profile */
static dls_status one_job(const dls_operators *a, bool profile, dls_error *err)
{
    dls_work_setting setting = {.numeric = a->numeric,
                                .batch = (double)a->batch,
                                .n_workers = (int)a->gpus,
                                .n_servers = (int)a->servers,
                                .async = a->async,
                                .buckets = a->buckets,
                                .apart = a->apart};
    const dls_series_options opts = {.interval_s = (double)a->interval_us / 1e6,
                                     .n_samples = (size_t)a->samples,
                                     .step_spread = 0.02,
                                     .jitter_frac = 0.1,
                                     .noise_frac = 0.02,
                                     .packet_bytes = (double)a->packet,
                                     .seed = (uint64_t)a->seed};
    dls_opmodel model;
    DLS_OWN(dls_workload_fini) dls_workload w = {0};
    dls_step_in_setting step;
    DLS_TRY(load_model(a, &model, err));
    DLS_TRY(dls_operators_gpu(a, &setting.gpu, err));
    DLS_TRY(load_work(a, &setting, &w, err));
    DLS_TRY(dls_gpu_knows(setting.gpu, setting.numeric, err));
    dls_fabric made;
    DLS_TRY(find_cluster(a, &model, &w, &setting, &made, err));
    if (profile) {
        return profile_job(&model, &w, &setting, &opts, a->output, err);
    }
    DLS_TRY(dls_setting_step(&model, &w, &setting, &step, err));
    print_step(&w, &setting, &step);
    return DLS_OK;
}

static dls_status list(const dls_operators *a, dls_error *err)
{
    const dls_hardware *hw = &a->hw;
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

/* The constants that are there, and those of the processor that ran the jobs. */
static dls_status calibrate_to_jobs(const dls_operators *a, dls_error *err)
{
    dls_opmodel model;
    DLS_OWN(dls_setting_list_fini) dls_setting_list list = {0};
    if (!a->graphs || !a->gpu) {
        return dls_fail(err, DLS_EUSAGE, "--jobs", "goes with --graphs and --gpu");
    }
    DLS_TRY(load_model(a, &model, err));
    DLS_TRY(dls_setting_files_load("bench", &a->hw, &list, err));
    DLS_TRY(dls_benched_calibrate(a->jobs, a->graphs, &list, &a->hw, a->gpu, &model, err));
    return dls_opmodel_save(&model, a->output, err);
}

static dls_status calibrate(const dls_operators *a, dls_error *err)
{
    dls_opmodel model;
    if (a->jobs) {
        return calibrate_to_jobs(a, err);
    }
    DLS_TRY(dls_calibrate(&a->set, NULL, a->by_size ? &a->kernels : NULL, &model, err));
    return dls_opmodel_save(&model, a->output, err);
}

/* ---- the command ----------------------------------------------------------------------------- */

/* Options that say the same twice: one of them would count for nothing. */
static dls_status check_job(const dls_call *call, dls_error *err)
{
    static const char *const made[] = {"link", "nodes", "network", "like", "algorithm"};
    const dls_operators *a = call->request;
    for (size_t i = 0; a->fabric && i < sizeof made / sizeof *made; i++) {
        if (dls_call_gave(call, made[i])) {
            return dls_fail(err, DLS_EUSAGE, NULL, "option '--%s' goes without --fabric", made[i]);
        }
    }
    if (a->buckets && a->servers) {
        return dls_fail(err, DLS_EUSAGE, NULL, "option '--buckets' goes without --servers");
    }
    return a->async && !a->servers
               ? dls_fail(err, DLS_EUSAGE, NULL, "--async needs --servers")
               : DLS_OK;
}

/* What all verbs begin with: the tables, the measured times, the points. */
static dls_status begin(dls_call *call, dls_error *err)
{
    dls_operators *a = call->request;
    a->file = call->word;
    a->n_files = call->n_words;
    DLS_TRY(check_job(call, err));
    if (a->operators) {
        DLS_TRY(dls_op_times_load(a->operators, &a->measured, err));
    }
    DLS_TRY(dls_hardware_load(a->folder, &a->hw, err));
    a->folder = a->hw.folder;
    if (a->by_size) {
        char path[4200];
        snprintf(path, sizeof path, "%s/kernels.cfg", a->folder);
        DLS_TRY(dls_sized_table_load(path, &a->kernels, err));
    }
    DLS_TRY(dls_pointset_create(&a->hw, &a->set, err));
    a->set.buckets = a->buckets;
    return DLS_OK;
}

static void fini(void *user)
{
    dls_operators *a = user;
    dls_pointset_fini(&a->set);
    dls_hardware_fini(&a->hw);
    dls_op_times_fini(&a->measured);
    dls_sized_table_fini(&a->kernels);
}

#define VERB(name, does)                                                                           \
    static dls_status cmd_##name(dls_call *call, dls_error *err)                                   \
    {                                                                                              \
        const dls_operators *a = call->request;                                                    \
        DLS_TRY(begin(call, err));                                                                 \
        return does;                                                                               \
    }
VERB(validate, validate(a, err))
VERB(calibrate, calibrate(a, err))
VERB(step, one_job(a, false, err))
VERB(profile, one_job(a, true, err))
VERB(measure, dls_operators_measure(a, err))
VERB(list, list(a, err))
VERB(fit_kernels, dls_operators_kernels(a, true, err))
VERB(fit_grouped, dls_operators_grouped(a, err))
VERB(fit_host, dls_operators_host(a, err))
VERB(kernels, dls_operators_kernels(a, false, err))
#undef VERB

static const dls_verb verbs[] = {
    {"calibrate", "[--jobs=CSV --graphs=DIR --gpu=NAME] --output=FILE",
     "fit the constants to the calibrating points and write them", 0, 0, "output", cmd_calibrate},
    {"validate", "[--points]",
     "mean absolute errors on points that fitted nothing, as a table (Markdown); exit code 1 if a "
     "target is missed",
     0, 0, NULL, cmd_validate},
    {"step", "--model=NAME --gpu=NAME", "time and memory of one training step", 0, 0, "gpu",
     cmd_step},
    {"profile", "--model=NAME --gpu=NAME",
     "sample the resources of that step as a profiler would: burst and idle phases, and the 12 "
     "metrics of the inspector",
     0, 0, "gpu", cmd_profile},
    {"measure", "--model=NAME --gpu=NAME --output=FILE",
     "time the operations of a training graph on this machine's GPU and add them to a file", 0, 0,
     "gpu output", cmd_measure},
    {"fit-kernels", "FILE... [--output=FILE] [--left-out]",
     "fit the sized model to measured kernels (CSV), write its constants, and say how far they are "
     "off on rows that fitted nothing",
     1, 64, NULL, cmd_fit_kernels},
    {"fit-grouped", "FILE... --output=FILE",
     "fit the constants of convolutions of groups (grouped.cfg) to measured steps (CSV)", 1, 64,
     "output", cmd_fit_grouped},
    {"fit-host", "FILE... --host=NAME --output=FILE",
     "fit what a host that runs PyTorch takes for a launch and for a parameter "
     "(operator-sized.cfg) "
     "to measured steps (CSV)",
     1, 64, "host output", cmd_fit_host},
    {"kernels", "FILE...", "how far the shipped constants are off on those rows", 1, 64, NULL,
     cmd_kernels},
    {"list", NULL, "models, GPUs, links, hosts and fabrics that the tables know", 0, 0, NULL,
     cmd_list},
    {.name = NULL}};

static const dls_arg args[] = {
    DLS_TEXT(dls_operators, folder, "hardware", 0, "DIR",
             "folder of gpus.cfg, links.cfg and operator.cfg; configs/hardware here, then where "
             "dlsim is installed, if left out"),
    DLS_TEXT(dls_operators, constants, "constants", 0, "FILE",
             "in place of operator.cfg; kernels: of kernels.cfg",
             .of = "calibrate, validate, step, profile, fit-kernels, kernels, list"),
    DLS_SWITCH(dls_operators, by_size, "sized", 0,
               "products and convolutions by their sizes: kernels.cfg and operator-sized.cfg",
               .of = "calibrate, validate, step, profile, list"),
    DLS_SWITCH(dls_operators, left_out, "left-out", 0,
               "judge each GPU by the constants of the others, too", .of = "fit-kernels"),
    DLS_OUTPUT(dls_operators, output, "output", 'o', "FILE",
             "where the constants or times go; profile: the samples, as a recording for dlsim perf "
             "analyze",
             .of = "calibrate, fit-kernels, fit-grouped, fit-host, measure, profile", .adds = "measure"),
    DLS_TEXT(dls_operators, jobs, "jobs", 0, "CSV",
             "the processor --gpu to jobs of dlsim perf bench, in place of points; other constants "
             "stay",
             .of = "calibrate"),
    DLS_TEXT(dls_operators, graphs, "graphs", 0, "DIR", "their networks", .of = "calibrate"),
    DLS_TEXT(dls_operators, gpu, "gpu", 0, "NAME", "a GPU",
             .of = "calibrate, step, profile, measure"),
    DLS_SWITCH(dls_operators, buckets, "buckets", 0,
               "all-reduce as PyTorch's DistributedDataParallel: gradients in buckets (not with "
               "--servers)",
               .of = "calibrate, validate, step, profile"),
    DLS_TEXT(dls_operators, host, "host", 0, "NAME", "framework and input pipeline, see list",
             .of = "step, profile, fit-host"),
    DLS_SWITCH(dls_operators, points, "points", 0, "every point, too", .of = "validate"),
    DLS_OF("step, profile, measure"),
    DLS_TEXT(dls_operators, model, "model", 0, "NAME", "a network"),
    DLS_TEXT(dls_operators, graph, "graph", 0, "FILE",
             "in place of --model: a training graph (dlsim graph), which brings its batch and "
             "precision"),
    DLS_INT(dls_operators, batch, "batch", 0, 1, 1 << 20, "samples per GPU"),
    DLS_CHOICE(dls_operators, numeric, "precision", 0, "fp32|tf32|fp16|bf16", "what numbers are"),
    DLS_OF("step, profile"),
    DLS_TEXT(dls_operators, operators, "operators", 0, "FILE",
             "measured times in place of the formula, where they are"),
    DLS_INT(dls_operators, gpus, "gpus", 0, 1, 1 << 20, "GPUs of the job"),
    DLS_TEXT(dls_operators, fabric, "fabric", 0, "NAME",
             "how gradients travel, as measured, see list"),
    DLS_TEXT(dls_operators, link, "link", 0, "NAME",
             "without --fabric: between GPUs of a node; the GPU's own if left out"),
    DLS_INT(dls_operators, nodes, "nodes", 0, 1, 1 << 20, "without --fabric: nodes of the job"),
    DLS_TEXT(dls_operators, network, "network", 0, "NAME",
             "without --fabric: the link between them"),
    DLS_TEXT(dls_operators, like, "like", 0, "NAME",
             "without --fabric: whose overlap, waiting and cost of a tensor it has (pcie's, and no "
             "cost of a tensor, if left out)"),
    DLS_SWITCH(dls_operators, apart, "apart", 0,
               "servers on machines of their own (not with --async)"),
    DLS_CHOICE(dls_operators, algorithm, "algorithm", 0, "ring|tree|hierarchical",
               "without --fabric: of all-reduce"),
    DLS_INT(dls_operators, servers, "servers", 0, 1, 1 << 20,
            "parameter servers; all-reduce if left out"),
    DLS_SWITCH(dls_operators, async, "async", 0,
               "workers do not wait for each other (with --servers)"),
    DLS_OF("profile"),
    DLS_INT(dls_operators, interval_us, "interval-us", 0, 1, INT32_MAX, "between samples"),
    DLS_INT(dls_operators, samples, "samples", 0, 1, 1 << 26, "how many"),
    DLS_INT(dls_operators, packet, "packet", 0, 0, INT32_MAX,
            "bytes that a link's counter counts at once; 0: any amount"),
    DLS_INT(dls_operators, seed, "seed", 0, 0, INT64_MAX, "of the noise"),
    DLS_OF("measure"),
    DLS_TEXT(dls_operators, device, "device", 0, "cuda|cpu",
             "what to time (cpu: one core, fp32 only)"),
    DLS_REAL(dls_operators, seconds, "seconds", 0, DLS_ABOVE_0, (double)INFINITY,
             "for each operation"),
    DLS_REAL(dls_operators, most_gflop, "most-gflop", 0, DLS_ABOVE_0, (double)INFINITY,
             "leave out products of more"),
    DLS_ARGS_END};

const dls_command dls_command_operators = {
    .name = "operators",
    .group = DLS_LABORATORY,
    .summary = "operator-level model of training time, and its accuracy",
    .args = args,
    .verbs = verbs,
    .size = sizeof(dls_operators),
    .initial = &(const dls_operators){.device = "cuda",
                                      .seconds = 0.05,
                                      .batch = 32,
                                      .gpus = 1,
                                      .nodes = 1,
                                      .interval_us = 10000,
                                      .samples = 3000,
                                      .seed = 1},
    .fini = fini,
};
