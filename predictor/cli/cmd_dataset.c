/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim dataset: what inspectors are trained on.
 */
#include "base/json.h"
#include "base/own.h"
#include "base/units.h"
#include "cli/ui.h"
#include "predictor/sources/setting_files.h"
#include "predictor/dataset/benched.h"
#include "predictor/dataset/build.h"
#include "predictor/dataset/facts.h"
#include "predictor/dataset/measured.h"
#include "predictor/dataset/summary.h"
#include "workload/operator/hardware.h"

#include <inttypes.h>
#include <string.h>

DLS_OWNER(dls_inspector, dls_inspector_destroy)

enum { SETTINGS_MAX = 256 };

typedef struct request {
    dls_corpus_options corpus;
    dls_label_options label;
    const char *settings, *hardware, *output, *graphs, *perf_result, *labels, *operators, *weights;
    dls_words only;
    bool quiet, json, sized, buckets;
    bool relative; /* the inspector of --weights: what its answers are relative to is to be known */
    char command[1024];
} request;

/* ---- facts ----------------------------------------------------------------------------------- */

static void row_patterns(const dls_facts *f, int resource, const char *name, const char *published)
{
    const double *p = f->pattern[resource];
    printf("| %s: bursts and pauses / pause only / burst only, %% | %s | %.1f / %.1f / %.1f |\n",
           name, published, 100 * p[DLS_PATTERN_BIB], 100 * p[DLS_PATTERN_I],
           100 * p[DLS_PATTERN_B]);
}

static void row_workload(const dls_fact_workload *w, const char *published)
{
    const dls_burst *b = &w->burst;
    if (w->resource == DLS_RES_NET_RX || w->resource == DLS_RES_NET_TX) {
        printf("| %s: received, burst; pause | %s | %.0f MB/s, %.2f s; %.1f MB/s, %.2f s |\n",
               w->name, published, 1e-6 * b->burst_amount, b->burst_s, 1e-6 * b->idle_amount,
               b->idle_s);
    } else {
        printf("| %s: %s, burst; pause | %s | %.1f %%, %.2f s; %.1f %%, %.2f s |\n", w->name,
               w->resource == DLS_RES_GPU ? "GPU" : "GPU memory", published, 100 * b->burst_amount,
               b->burst_s, 100 * b->idle_amount, b->idle_s);
    }
}

/* Published facts of real jobs beside those of simulated ones, as a table in Markdown. */
static void facts_print(const dls_facts *f)
{
    static const char *const kinds[DLS_FACT_KINDS] = {"burst amount", "burst duration",
                                                      "pause duration", "pause amount"};
    static const char *const by_workload[DLS_FACT_KINDS] = {"most", "-", "-", "least"};
    static const char *const by_setting[DLS_FACT_KINDS] = {"-", "changes", "changes", "-"};
    puts("| fact | published | here |\n|---|---|---|");
    row_patterns(f, DLS_RES_GPU, "GPU", "92.0 / 7.8 / 0.2");
    row_patterns(f, DLS_RES_GPU_MEM, "GPU memory", "90.6 / 9.3 / 0.1");
    row_patterns(f, DLS_RES_NET_RX, "received", "100 / 0 / 0");
    row_patterns(f, DLS_RES_NET_TX, "sent", "100 / 0 / 0");
    printf("| burst shorter than pause, sent, %% | 88 | %.0f |\n",
           100 * f->shorter[DLS_RES_NET_TX]);
    printf("| burst shorter than pause, received, %% | - | %.0f |\n",
           100 * f->shorter[DLS_RES_NET_RX]);
    for (int k = 0; k < DLS_FACT_KINDS; k++) {
        printf("| workloads of a setting: spread of %s over its mean | %s | %.2f |\n", kinds[k],
               by_workload[k], f->by_workload[k]);
    }
    for (int k = 0; k < DLS_FACT_KINDS; k++) {
        printf("| settings of a workload: spread of %s over its mean | %s | %.2f |\n", kinds[k],
               by_setting[k], f->by_setting[k]);
    }
    row_workload(&f->workload[0], "374.3 MB/s, 0.33 s; 4.5 MB/s, 0.70 s");
    row_workload(&f->workload[1], "98.8 %, 0.19 s; 84.6 %, 0.21 s");
    row_workload(&f->workload[2], "54.4 %, 0.64 s; 16.8 %, 0.28 s");
}

static const char *const resources[] = {"gpu_mem", "gpu", "net_rx", "net_tx"};

/* ---- show: text ------------------------------------------------------------------------------ */

/* How many graphs each family has in each split. */
static void show_families(const dls_dataset *set)
{
    const dls_dataset_setting *s = &set->setting[0];
    printf("\n%-14s %5s   of the first setting in\n", "family", "");
    for (size_t i = 0; i < s->n; i++) {
        const char *family = set->origin[s->graph[i]].family;
        size_t in[DLS_SPLITS] = {0};
        bool first = true;
        for (size_t k = 0; k < s->n; k++) {
            const bool same = strcmp(set->origin[s->graph[k]].family, family) == 0;
            first = first && !(same && k < i);
            in[s->split[k]] += same;
        }
        for (int split = 0; first && split < DLS_SPLITS; split++) {
            if (in[split] > 0) {
                printf("%-14s %5zu %s\n", family, in[split], dls_split_name(split));
            }
        }
    }
}

static void show_row(const dls_dataset_setting *s, const dls_dataset_summary *m)
{
    printf("%-22s %-10s %-9s %-7s %2" PRId32 " %3" PRId32 " %2" PRId32
           " %5zu %4zu %4zu %4zu %8.3g %8.3g %8.3g %4.0f %4.0f %4.0f %4.0f %6.3f %6.3f %6.3f %6.3f "
           "%6.3f%s\n",
           s->name, s->gpu_type, s->topology, *s->network ? s->network : "-", s->n_ps, s->n_workers,
           s->n_nodes, m->n_split[DLS_SPLIT_TRAIN], m->n_split[DLS_SPLIT_VAL],
           m->n_split[DLS_SPLIT_TEST], m->n_left_out, m->least_s, m->median_s, m->most_s,
           100 * m->pattern[0].both, 100 * m->pattern[1].both, 100 * m->pattern[2].both,
           100 * m->pattern[3].both, m->floor, m->neighbour_any, m->neighbour_test, m->mean_test,
           m->model_error, s->measured ? " measured" : "");
}

static dls_status show_text(const dls_dataset *set, dls_error *err)
{
    printf("%zu graphs, %" PRId32 " features a group (%s), seed %" PRIu64 "\n%s\n\n", set->n_graphs,
           set->n_features, set->feature_version, set->seed, set->command);
    printf("%-22s %-10s %-9s %-7s %2s %3s %2s %5s %4s %4s %4s %8s %8s %8s %4s %4s %4s %4s %6s %6s "
           "%6s %6s %6s\n",
           "setting", "GPU", "exchange", "link", "ps", "w", "n", "train", "val", "test", "left",
           "least s", "median s", "most s", "mem%", "gpu%", "rx%", "tx%", "floor", "nn any", "nn",
           "mean", "model");
    for (size_t i = 0; i < set->n_settings; i++) {
        dls_dataset_summary m;
        DLS_TRY(dls_dataset_summarise(set, i, &m, err));
        show_row(&set->setting[i], &m);
    }
    if (set->n_settings > 0) {
        show_families(set);
    }
    puts("\nleft: graphs that do not fit the GPU. least, median, most: of the iteration.\n"
         "mem% gpu% rx% tx%: labels with bursts and pauses. Errors of test labels over their "
         "range,\n"
         "mean of the metrics: floor, labels without noise; nn any, the nearest other graph; nn, "
         "the\n"
         "nearest train graph; mean, the train labels' mean. model: |iteration / operator model - "
         "1|.");
    return DLS_OK;
}

/* ---- show: JSON ------------------------------------------------------------------------------ */

static void put_metrics(json_object *to, const char *name, const double x[DLS_METRICS])
{
    json_object *obj = dls_json_object(to, name);
    for (int k = 0; k < DLS_METRICS; k++) {
        dls_json_real(obj, dls_metric_name(k), x[k]);
    }
}

static void put_setting(json_object *list, const dls_dataset_setting *s,
                        const dls_dataset_summary *m)
{
    json_object *obj = dls_json_next(list);
    DLS_JSON(obj, "name", s->name, "gpu", s->gpu_type, "exchange", s->topology, "link", s->network,
             "measured", s->measured);
    DLS_JSON(obj, "n_ps", s->n_ps, "n_workers", s->n_workers, "n_nodes", s->n_nodes, "train",
             m->n_split[DLS_SPLIT_TRAIN], "val", m->n_split[DLS_SPLIT_VAL], "test",
             m->n_split[DLS_SPLIT_TEST], "left_out", m->n_left_out);
    DLS_JSON(obj, "iteration_least_s", m->least_s, "iteration_median_s", m->median_s,
             "iteration_most_s", m->most_s, "nrmse_floor", m->floor, "nrmse_neighbour_any",
             m->neighbour_any, "nrmse_neighbour", m->neighbour_test, "nrmse_mean", m->mean_test,
             "model_error", m->model_error);
    json_object *patterns = dls_json_object(obj, "patterns");
    for (int r = 0; r < DLS_METRICS / 3; r++) {
        DLS_JSON(dls_json_object(patterns, resources[r]), "I", m->pattern[r].idle, "B",
                 m->pattern[r].burst, "BIB", m->pattern[r].both);
    }
    put_metrics(obj, "label_least", m->least);
    put_metrics(obj, "label_most", m->most);
}

static dls_status show_json(const dls_dataset *set, dls_error *err)
{
    DLS_HOLD(json_object_put) json_object *top = json_object_new_object();
    DLS_JSON(top, "graphs", set->n_graphs, "features", set->feature_version, "seed", set->seed,
             "command", set->command);
    json_object *settings = dls_json_list(top, "settings");
    for (size_t i = 0; i < set->n_settings; i++) {
        dls_dataset_summary m;
        DLS_TRY(dls_dataset_summarise(set, i, &m, err));
        put_setting(settings, &set->setting[i], &m);
    }
    return dls_json_print(stdout, dls_take(&top), err);
}

/* ---- build ----------------------------------------------------------------------------------- */

/* Those that --setting names, in the order of the list. */
static dls_status select_settings(const request *req, dls_setting_list *list, dls_error *err)
{
    size_t kept = 0;
    bool found[SETTINGS_MAX] = {false};
    if (req->only.n > SETTINGS_MAX) {
        return dls_fail(err, DLS_EUSAGE, NULL, "--setting: more than %d", SETTINGS_MAX);
    }
    for (size_t i = 0; i < list->n && req->only.n > 0; i++) {
        for (size_t k = 0; k < req->only.n; k++) {
            if (strcmp(list->spec[i].name, req->only.at[k]) == 0 && !found[k]) {
                list->spec[kept++] = list->spec[i];
                found[k] = true;
                break;
            }
        }
    }
    for (size_t k = 0; k < req->only.n; k++) {
        if (!found[k]) {
            return dls_fail(err, DLS_EINPUT, req->settings, "no setting \"%s\", or named twice",
                            req->only.at[k]);
        }
    }
    list->n = req->only.n > 0 ? kept : list->n;
    return DLS_OK;
}

/* What labels are made with. */
typedef struct tables {
    dls_hardware hw;
    dls_setting_list list;
    dls_opmodel model;
    dls_sized_table kernels;
} tables;

static dls_status open_tables(const request *req, bool model, tables *t, dls_error *err)
{
    DLS_TRY(dls_hardware_load(req->hardware, &t->hw, err));
    DLS_TRY(dls_setting_files_load(req->settings, &t->hw, &t->list, err));
    DLS_TRY(select_settings(req, &t->list, err));
    return model ? dls_opmodel_of(t->hw.folder, req->sized ? &t->kernels : NULL, &t->model, err)
                 : DLS_OK;
}

static void close_tables(tables *t)
{
    dls_sized_table_fini(&t->kernels);
    dls_setting_list_fini(&t->list);
    dls_hardware_fini(&t->hw);
}

static void draw_progress(void *user, size_t done, size_t n)
{
    char text[64];
    snprintf(text, sizeof text, "%zu of %zu settings", done, n);
    dls_progress_draw(user, (double)done / (double)n, text);
}

static dls_status write_set(const request *req, dls_build_options *options, dls_error *err)
{
    DLS_HOLD(dls_dataset_destroy) dls_dataset *set = NULL;
    DLS_OWN(dls_progress_stop) dls_progress bar = {0};
    options->progress = draw_progress;
    options->user = &bar;
    dls_progress_start(&bar, DLS_UI_AUTO, req->quiet, "dataset");
    DLS_TRY(dls_dataset_build(options, &set, err));
    return dls_dataset_save(set, req->output, err);
}

/* Without an output: the facts. */
static dls_status simulate(const request *req, tables *t, dls_error *err)
{
    for (size_t i = 0; req->buckets && i < t->list.n; i++) {
        t->list.spec[i].buckets = strcmp(t->list.spec[i].exchange, "allreduce") == 0;
    }
    dls_build_options options = {.corpus = req->corpus,
                                 .label = req->label,
                                 .model = &t->model,
                                 .hw = &t->hw,
                                 .setting = t->list.spec,
                                 .n_settings = t->list.n,
                                 .command = req->command};
    dls_facts facts;
    DLS_OWN(dls_op_times_fini) dls_op_times measured = {0};
    DLS_TRY(req->operators ? dls_op_times_load(req->operators, &measured, err) : DLS_OK);
    t->model.measured = req->operators ? &measured : NULL;
    if (req->output) {
        return write_set(req, &options, err);
    }
    DLS_TRY(dls_facts_find(&options, &facts, err));
    facts_print(&facts);
    return DLS_OK;
}

static dls_status save(const request *req, dls_dataset *set, dls_error *err)
{
    snprintf(set->command, sizeof set->command, "%s", req->command);
    return dls_dataset_save(set, req->output, err);
}

static dls_status build_measured(const request *req, dls_error *err)
{
    DLS_HOLD(dls_dataset_destroy) dls_dataset *set = NULL;
    dls_measured_report report;
    DLS_TRY(dls_dataset_measured(req->perf_result, req->graphs, &req->corpus, &set, &report, err));
    DLS_TRY(save(req, set, err));
    if (!req->quiet) {
        fprintf(stderr,
                "%zu jobs out of %zu graphs; %zu graphs misnamed, %zu without their four rows; %zu "
                "rows without a graph; %lld unknown operations\n",
                report.n_jobs, report.n_files, report.n_misnamed, report.n_unmeasured,
                report.n_rows_left, (long long)report.n_unknown);
    }
    return DLS_OK;
}

static dls_status build_any(const request *req, dls_error *err)
{
    DLS_OWN(close_tables) tables t = {.list = {0}};
    DLS_HOLD(dls_dataset_destroy) dls_dataset *set = NULL;
    if (!req->labels && req->perf_result) {
        return build_measured(req, err);
    }
    DLS_TRY(open_tables(req, !req->labels || req->relative, &t, err));
    if (!req->labels) {
        return simulate(req, &t, err);
    }
    DLS_TRY(dls_dataset_benched(req->labels, req->graphs, &t.list, &req->corpus,
                                req->relative ? &t.model : NULL, &t.hw, &set, err));
    return save(req, set, err);
}

/* With the input of an inspector, if one was given. */
static dls_status build_for(const request *req, dls_error *err)
{
    DLS_HOLD(dls_inspector_destroy) dls_inspector *insp = NULL;
    request with = *req;
    if (!req->weights) {
        return build_any(req, err);
    }
    DLS_TRY(dls_inspector_load(req->weights, &insp, err));
    with.corpus.input_text = dls_inspector_features(insp);
    with.relative = dls_inspector_is_relative(insp);
    return *with.corpus.input_text
               ? build_any(&with, err)
               : dls_fail(err, DLS_EINPUT, req->weights, "does not say how its input is made");
}

/* ---- the command ---------------------------------------------------------------------------- */

/* What one option says of several members, and --graphs as a number. */
static dls_status settle(request *req, const dls_call *call, dls_error *err)
{
    int64_t n = (int64_t)req->corpus.n_graphs;
    dls_call_text(call, req->command, sizeof req->command);
    req->label.seed = req->corpus.seed;
    if (dls_call_gave(call, "residual")) {
        req->label.network_sigma = req->label.node_sigma;
    }
    if (req->graphs && !req->perf_result && !req->labels &&
        (!dls_units_i64(req->graphs, &n) || n < 1 || n > 1 << 20)) {
        return dls_fail(err, DLS_EUSAGE, NULL,
                        "option '--graphs' is \"%s\": expected an integer 1..%d", req->graphs,
                        1 << 20);
    }
    req->corpus.n_graphs = (size_t)n;
    return DLS_OK;
}

static dls_status cmd_build(dls_call *call, dls_error *err)
{
    request *req = call->request;
    DLS_TRY(settle(req, call, err));
    if ((req->perf_result || req->labels) && (!req->graphs || (req->perf_result && req->labels))) {
        return dls_fail(err, DLS_EUSAGE, NULL,
                        "--perf-result, or --labels, needs --graphs, a folder");
    }
    return build_for(req, err);
}

static dls_status cmd_facts(dls_call *call, dls_error *err)
{
    request *req = call->request;
    DLS_TRY(settle(req, call, err));
    return build_for(req, err);
}

static dls_status cmd_show(dls_call *call, dls_error *err)
{
    const request *req = call->request;
    DLS_HOLD(dls_dataset_destroy) dls_dataset *set = NULL;
    DLS_TRY(dls_dataset_load(call->word[0], req->only.at, req->only.n, &set, err));
    return req->json ? show_json(set, err) : show_text(set, err);
}

static void defaults(void *user)
{
    request *req = user;
    dls_corpus_options_init(&req->corpus);
    dls_label_options_init(&req->label);
}

static const dls_verb verbs[] = {
    {"build", "-o D.h5 [--perf-result=CSV|--labels=CSV --graphs=DIR]",
     "graphs of the model zoo with simulated labels, or from measurements", 0, 0, "output",
     cmd_build},
    {"show", "D.h5 [--setting=NAME]", "what a dataset holds, and how well it could be predicted", 1,
     1, NULL, cmd_show},
    {"facts", NULL,
     "published facts of real jobs beside those of simulated ones, as a table (Markdown)", 0, 0,
     NULL, cmd_facts},
    {.name = NULL}};

static const dls_arg args[] = {
    DLS_REPEAT(request, only, "setting", 0, "NAME",
               "only this one of the settings; may be repeated"),
    DLS_SWITCH(request, json, "json", 0, "print JSON", .of = "show"),
    DLS_OF("build"),
    DLS_OUTPUT(request, output, "output", 'o', "FILE", "where to write"),
    DLS_SWITCH(request, quiet, "quiet", 'q', "no progress"),
    DLS_TEXT(request, perf_result, "perf-result", 0, "CSV",
             "measured metrics, one row for each job and resource; then --graphs is a folder of "
             "graphs, GPU_Data_Model_Sync_Hyper_Job.pbtxt, and of the options only those of groups "
             "and features count"),
    DLS_TEXT(
        request, labels, "labels", 0, "CSV",
        "labels of dlsim perf bench; then --graphs is the folder of its networks, "
        "--settings=bench, "
        "and --seed says which fifth of the families, with --split=random of the networks, is for "
        "test"),
    DLS_OF("build, facts"),
    DLS_TEXT(request, settings, "settings", 0, "NAME",
             "settings to build for: paper, clusters, all, bench, or a file"),
    DLS_TEXT(
        request, graphs, "graphs", 0, "N",
        "graphs, drawn from the zoo; 320 if left out. With --perf-result: the folder of graphs"),
    DLS_INT(request, corpus.n_random, "random-models", 0, 0, 1 << 20,
            "graphs of random models beside them, for train and val"),
    DLS_INT(request, corpus.seed, "seed", 0, 0, INT64_MAX,
            "of graphs, division, residual and noise"),
    DLS_CHOICE(request, corpus.split, "split", 0, "family|random",
               "how graphs are divided into train, val and test"),
    DLS_CHOICE(request, corpus.grouping, "grouping", 0, "none|uniform|proportional",
               "how operations are grouped"),
    DLS_INT(request, corpus.n_groups, "groups", 0, 1, 1 << 20, "groups per graph"),
    DLS_INT(request, corpus.group_batch, "group-batch", 0, 1, 1 << 20,
            "proportional: graphs that share a number of groups"),
    DLS_CHOICE_FROM(request, corpus.features, "features", 0, DLS_FEATURES_DRIPLE,
                    "driple|work|total|kernels|own", "3, 8, 15, 23 or 23 columns per group"),
    DLS_TEXT(request, weights, "weights", 0, "W.h5",
             "groups and features as this inspector takes them, to ask it"),
    DLS_REAL(request, label.interval_s, "interval", 0, 1e-6, 1e6,
             "seconds between samples; a 64th of the step if left out"),
    DLS_INT(request, label.n_samples, "samples", 0, 10, 1 << 24, "per label"),
    DLS_REAL(request, label.noise_frac, "noise", 0, 0, 0.99,
             "standard deviation of a sample's factor"),
    DLS_REAL(
        request, label.node_sigma, "residual", 0, 0, 2,
        "of the residual's logarithm; if left out the operator model's own error in a node and, "
        "0.16, between nodes"),
    DLS_TEXT(
        request, operators, "operators", 0, "FILE",
        "measured times of operations in place of the formula, where they are (dlsim operators "
        "measure)"),
    DLS_SWITCH(request, sized, "sized", 0,
               "labels by the operator model that knows sizes of kernels"),
    DLS_SWITCH(request, buckets, "buckets", 0,
               "labels with all-reduce as PyTorch's DistributedDataParallel: gradients in buckets"),
    DLS_TEXT(request, hardware, "hardware", 0, "DIR",
             "folder of gpus.cfg, links.cfg and operator.cfg"),
    DLS_ARGS_END};

const dls_command dls_command_dataset = {
    .name = "dataset",
    .group = DLS_LABORATORY,
    .summary = "what inspectors are trained on",
    .args = args,
    .verbs = verbs,
    .size = sizeof(request),
    .initial = &(const request){.settings = "paper"},
    .defaults = defaults,
};
