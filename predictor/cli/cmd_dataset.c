/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim dataset: what inspectors are trained on.
 */
#include "cli/command.h"
#include "predictor/cli/dataset_facts.h"
#include "predictor/cli/dataset_show.h"
#include "predictor/cli/setting_files.h"
#include "cli/ui.h"
#include "predictor/dataset/build.h"
#include "predictor/dataset/measured.h"
#include "workload/operator/hardware.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "Usage: dlsim dataset build -o D.h5 [OPTION]...   graphs of the model zoo with simulated "
    "labels\n"
    "       dlsim dataset build -o D.h5 --perf-result=CSV --graphs=DIR [OPTION]...   from "
    "measurements\n"
    "       dlsim dataset show D.h5 [--setting=NAME]  what a dataset holds, and\n"
    "                                                 how well it could be predicted\n"
    "       dlsim dataset facts [OPTION]...           published facts of real jobs beside those "
    "of\n"
    "                                                 simulated ones, as a table (Markdown)\n"
    "\n"
    "build, facts:\n"
    "      --settings=paper|clusters|all|FILE   settings to build for (paper)\n"
    "      --setting=NAME       only this one of them; may be repeated\n"
    "      --graphs=N           graphs, drawn from the zoo (320)\n"
    "      --random-models=N    graphs of random models beside them, for train and val (0)\n"
    "      --seed=N             of graphs, division, residual and noise (1)\n"
    "      --split=family|random   how graphs are divided into train, val and test (family)\n"
    "      --grouping=none|uniform|proportional   (uniform)\n"
    "      --groups=N           groups per graph (100)\n"
    "      --group-batch=N      graphs that share a number of groups (proportional; 32)\n"
    "      --features=driple|work|total|kernels   3, 8, 15 or 23 columns per group (work)\n"
    "      --weights=W.h5       groups and features as this inspector takes them, to ask it\n"
    "      --interval=SECONDS   between samples (default: a 64th of the step)\n"
    "      --samples=N          per label (1024)\n"
    "      --noise=X            standard deviation of a sample's factor (0.02)\n"
    "      --residual=X         of the residual's logarithm (default: the operator model's own\n"
    "                           error, 0.10 in a node and 0.16 between nodes)\n"
    "      --perf-result=CSV    measured metrics, one row for each job and resource; then "
    "--graphs\n"
    "                           is a folder of graphs, GPU_Data_Model_Sync_Hyper_Job.pbtxt, and "
    "of\n"
    "                           the options only those of groups and features count\n"
    "      --operators=FILE     measured times of operations in place of the formula, where they "
    "are\n"
    "                           (dlsim operators measure)\n"
    "      --hardware=DIR       folder of gpus.cfg, links.cfg and operator.cfg\n"
    "  -o, --output=FILE        where to write\n"
    "  -q, --quiet              no progress\n"
    "\n"
    "show:\n"
    "      --json               print JSON\n"
    "\n"
    "  -h, --help               show this and leave\n";

#define MAX_SETTINGS 256

typedef struct request {
    dls_corpus_options corpus;
    dls_label_options label;
    const char *settings, *hardware, *output, *graphs, *perf_result, *operators, *weights;
    const char *only[MAX_SETTINGS];
    size_t n_only;
    bool quiet, json;
    char command[1024];
} request;

/* ---- build -------------------------------------------------------------------------------------
 */

/* Those that --setting names, in the order of the list. */
static dls_status select_settings(const request *req, dls_setting_list *list, dls_error *err)
{
    size_t kept = 0;
    bool found[MAX_SETTINGS] = {false};
    for (size_t i = 0; i < list->n && req->n_only > 0; i++) {
        for (size_t k = 0; k < req->n_only; k++) {
            if (strcmp(list->spec[i].name, req->only[k]) == 0 && !found[k]) {
                list->spec[kept++] = list->spec[i];
                found[k] = true;
                break;
            }
        }
    }
    for (size_t k = 0; k < req->n_only; k++) {
        if (!found[k]) {
            return dls_fail(err, DLS_EINPUT, req->settings, "no setting \"%s\", or named twice",
                            req->only[k]);
        }
    }
    list->n = req->n_only > 0 ? kept : list->n;
    return DLS_OK;
}

static void draw_progress(void *user, size_t done, size_t n)
{
    char text[64];
    snprintf(text, sizeof text, "%zu of %zu settings", done, n);
    dls_progress_draw(user, (double)done / (double)n, text);
}

static dls_status write_set(const request *req, dls_build_options *options, dls_error *err)
{
    dls_dataset *set;
    dls_progress bar;
    options->progress = draw_progress;
    options->user = &bar;
    dls_progress_start(&bar, DLS_UI_AUTO, req->quiet, "dataset");
    dls_status status = dls_dataset_build(options, &set, err);
    dls_progress_stop(&bar);
    if (status == DLS_OK) {
        status = dls_dataset_save(set, req->output, err);
        dls_dataset_destroy(set);
    }
    return status;
}

static dls_status print_facts(const dls_build_options *options, dls_error *err)
{
    dls_facts facts;
    DLS_TRY(dls_facts_find(options, &facts, err));
    dls_dataset_facts_print(&facts);
    return DLS_OK;
}

static dls_status simulate(const request *req, const char *hardware, const dls_hardware *hw,
                           dls_setting_list *list, dls_error *err)
{
    dls_opmodel model;
    char path[4096];
    snprintf(path, sizeof path, "%s/operator.cfg", hardware);
    DLS_TRY(dls_opmodel_load(path, &model, err));
    DLS_TRY(dls_setting_files_load(req->settings, hardware, hw, list, err));
    DLS_TRY(select_settings(req, list, err));
    dls_build_options options = {.corpus = req->corpus,
                                 .label = req->label,
                                 .model = &model,
                                 .hw = hw,
                                 .setting = list->spec,
                                 .n_settings = list->n,
                                 .command = req->command};
    dls_op_times measured = {0};
    if (req->operators) {
        DLS_TRY(dls_op_times_load(req->operators, &measured, err));
        model.measured = &measured;
    }
    const dls_status status =
        req->output ? write_set(req, &options, err) : print_facts(&options, err);
    dls_op_times_fini(&measured);
    return status;
}

/* With the input of an inspector, which stands until the end. */
static dls_status simulate_for(const request *req, const char *hardware, const dls_hardware *hw,
                               dls_setting_list *list, dls_error *err)
{
    dls_inspector *insp = NULL;
    request with = *req;
    if (!req->weights) {
        return simulate(req, hardware, hw, list, err);
    }
    DLS_TRY(dls_inspector_load(req->weights, &insp, err));
    with.corpus.input_text = dls_inspector_features(insp);
    const dls_status status =
        *with.corpus.input_text
            ? simulate(&with, hardware, hw, list, err)
            : dls_fail(err, DLS_EINPUT, req->weights, "does not say how its input is made");
    dls_inspector_destroy(insp);
    return status;
}

/* Without an output: the facts. */
static dls_status build(const request *req, dls_error *err)
{
    char folder[4096];
    dls_hardware hw;
    dls_setting_list list = {0};
    const char *hardware = dls_hardware_folder(req->hardware, folder, sizeof folder);
    DLS_TRY(dls_hardware_load(hardware, &hw, err));
    const dls_status status = simulate_for(req, hardware, &hw, &list, err);
    dls_setting_list_fini(&list);
    dls_hardware_fini(&hw);
    return status;
}

static dls_status build_measured(const request *req, dls_error *err)
{
    dls_dataset *set;
    dls_measured_report report;
    DLS_TRY(dls_dataset_measured(req->perf_result, req->graphs, &req->corpus, &set, &report, err));
    snprintf(set->command, sizeof set->command, "%s", req->command);
    const dls_status status = dls_dataset_save(set, req->output, err);
    dls_dataset_destroy(set);
    if (status == DLS_OK && !req->quiet) {
        fprintf(stderr,
                "%zu jobs out of %zu graphs; %zu graphs misnamed, %zu without their four rows; %zu "
                "rows without a graph; %lld unknown operations\n",
                report.n_jobs, report.n_files, report.n_misnamed, report.n_unmeasured,
                report.n_rows_left, (long long)report.n_unknown);
    }
    return status;
}

/* ---- options -----------------------------------------------------------------------------------
 */

static bool take_real(const char *option, double least, double most, double *out)
{
    char *end;
    const double value = strtod(optarg, &end);
    if (!*optarg || *end || !(value >= least && value <= most)) {
        dls_ui_usage("dataset", "%s=%s: not a number in %g..%g", option, optarg, least, most);
        return false;
    }
    *out = value;
    return true;
}

enum {
    OPT_SETTINGS = 256,
    OPT_SETTING,
    OPT_GRAPHS,
    OPT_RANDOM,
    OPT_SEED,
    OPT_SPLIT,
    OPT_GROUPING,
    OPT_GROUPS,
    OPT_GROUP_BATCH,
    OPT_FEATURES,
    OPT_INTERVAL,
    OPT_SAMPLES,
    OPT_NOISE,
    OPT_RESIDUAL,
    OPT_HARDWARE,
    OPT_JSON,
    OPT_PERF_RESULT,
    OPT_OPERATORS,
    OPT_WEIGHTS
};

/* false: reported. */
static bool take_word(int opt, request *req)
{
    if (opt == OPT_GROUPING) {
        return dls_grouping_find(optarg, &req->corpus.grouping) ||
               (dls_ui_usage("dataset", "unknown grouping '%s' (none, uniform, proportional)",
                             optarg),
                false);
    }
    if (opt == OPT_FEATURES) {
        for (int v = DLS_FEATURES_DRIPLE; v < DLS_FEATURES_VERSION_END; v++) {
            if (strcmp(optarg, dls_features_version_name(v)) == 0) {
                req->corpus.features = (dls_features_version)v;
                return true;
            }
        }
        dls_ui_usage("dataset", "--features=%s: driple, work, total or kernels", optarg);
        return false;
    }
    const bool by_family = strcmp(optarg, "family") == 0;
    if (!by_family && strcmp(optarg, "random") != 0) {
        dls_ui_usage("dataset", "--split=%s: family or random", optarg);
        return false;
    }
    req->corpus.split = by_family ? DLS_SPLIT_BY_FAMILY : DLS_SPLIT_AT_RANDOM;
    return true;
}

static bool take_number(int opt, request *req)
{
    int64_t n = 0;
    bool good;
    switch (opt) {
    case OPT_SEED:
        good = dls_ui_i64("dataset", "--seed", optarg, 0, INT64_MAX, &n);
        req->corpus.seed = req->label.seed = (uint64_t)n;
        return good;
    case OPT_RANDOM:
        good = dls_ui_i64("dataset", "--random-models", optarg, 0, 1 << 20, &n);
        req->corpus.n_random = (size_t)n;
        return good;
    case OPT_GROUPS:
        good = dls_ui_i64("dataset", "--groups", optarg, 1, 1 << 20, &n);
        req->corpus.n_groups = (int32_t)n;
        return good;
    case OPT_GROUP_BATCH:
        good = dls_ui_i64("dataset", "--group-batch", optarg, 1, 1 << 20, &n);
        req->corpus.group_batch = (size_t)n;
        return good;
    default:
        good = dls_ui_i64("dataset", "--samples", optarg, 10, 1 << 24, &n);
        req->label.n_samples = (size_t)n;
        return good;
    }
}

static bool take(int opt, request *req)
{
    switch (opt) {
    case OPT_SETTINGS:
        req->settings = optarg;
        return true;
    case OPT_SETTING:
        if (req->n_only == MAX_SETTINGS) {
            dls_ui_usage("dataset", "--setting: more than %d", MAX_SETTINGS);
            return false;
        }
        req->only[req->n_only++] = optarg;
        return true;
    case OPT_HARDWARE:
        req->hardware = optarg;
        return true;
    case OPT_GRAPHS: /* a number or a folder: --perf-result says which */
        req->graphs = optarg;
        return true;
    case OPT_OPERATORS:
        req->operators = optarg;
        return true;
    case OPT_PERF_RESULT:
        req->perf_result = optarg;
        return true;
    case OPT_WEIGHTS:
        req->weights = optarg;
        return true;
    case 'o':
        req->output = optarg;
        return true;
    case 'q':
        req->quiet = true;
        return true;
    case OPT_JSON:
        req->json = true;
        return true;
    case OPT_INTERVAL:
        return take_real("--interval", 1e-6, 1e6, &req->label.interval_s);
    case OPT_NOISE:
        return take_real("--noise", 0, 0.99, &req->label.noise_frac);
    case OPT_RESIDUAL: {
        const bool good = take_real("--residual", 0, 2, &req->label.node_sigma);
        req->label.network_sigma = req->label.node_sigma;
        return good;
    }
    case OPT_SPLIT:
    case OPT_FEATURES:
    case OPT_GROUPING:
        return take_word(opt, req);
    case OPT_SEED:
    case OPT_RANDOM:
    case OPT_GROUPS:
    case OPT_GROUP_BATCH:
    case OPT_SAMPLES:
        return take_number(opt, req);
    default:
        return false;
    }
}

static bool take_graphs(request *req)
{
    int64_t n = 0;
    const bool good = dls_ui_i64("dataset", "--graphs", req->graphs, 1, 1 << 20, &n);
    req->corpus.n_graphs = (size_t)n;
    return good;
}

static int legacy(int argc, char **argv)
{
    static const struct option longs[] = {{"settings", required_argument, NULL, OPT_SETTINGS},
                                          {"setting", required_argument, NULL, OPT_SETTING},
                                          {"graphs", required_argument, NULL, OPT_GRAPHS},
                                          {"random-models", required_argument, NULL, OPT_RANDOM},
                                          {"seed", required_argument, NULL, OPT_SEED},
                                          {"split", required_argument, NULL, OPT_SPLIT},
                                          {"grouping", required_argument, NULL, OPT_GROUPING},
                                          {"groups", required_argument, NULL, OPT_GROUPS},
                                          {"group-batch", required_argument, NULL, OPT_GROUP_BATCH},
                                          {"features", required_argument, NULL, OPT_FEATURES},
                                          {"interval", required_argument, NULL, OPT_INTERVAL},
                                          {"samples", required_argument, NULL, OPT_SAMPLES},
                                          {"noise", required_argument, NULL, OPT_NOISE},
                                          {"residual", required_argument, NULL, OPT_RESIDUAL},
                                          {"hardware", required_argument, NULL, OPT_HARDWARE},
                                          {"perf-result", required_argument, NULL, OPT_PERF_RESULT},
                                          {"operators", required_argument, NULL, OPT_OPERATORS},
                                          {"weights", required_argument, NULL, OPT_WEIGHTS},
                                          {"output", required_argument, NULL, 'o'},
                                          {"quiet", no_argument, NULL, 'q'},
                                          {"json", no_argument, NULL, OPT_JSON},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    request req = {.settings = "paper"};
    dls_corpus_options_init(&req.corpus);
    dls_label_options_init(&req.label);
    dls_ui_command_line(argc, argv, req.command, sizeof req.command);
    for (int opt; (opt = dls_ui_getopt(argc, argv, "o:qh", longs, "dataset")) != -1;) {
        if (opt == 'h') {
            fputs(help, stdout);
            return 0;
        }
        if (!take(opt, &req)) {
            return dls_status_exit_code(DLS_EUSAGE);
        }
    }
    const char *action = optind < argc ? argv[optind] : "";
    if (req.graphs && !req.perf_result && !take_graphs(&req)) {
        return dls_status_exit_code(DLS_EUSAGE);
    }
    dls_error err = {0};
    if (strcmp(action, "build") == 0) {
        if (!req.output || optind + 1 != argc) {
            return dls_ui_usage("dataset", "build needs --output and no other word");
        }
        if (req.perf_result && !req.graphs) {
            return dls_ui_usage("dataset", "--perf-result needs --graphs, a folder");
        }
        if (req.perf_result) {
            return build_measured(&req, &err) == DLS_OK ? 0 : dls_ui_fail(&err);
        }
        return build(&req, &err) == DLS_OK ? 0 : dls_ui_fail(&err);
    }
    if (strcmp(action, "facts") == 0) {
        if (req.output || optind + 1 != argc) {
            return dls_ui_usage("dataset", "facts takes no --output and no other word");
        }
        return build(&req, &err) == DLS_OK ? 0 : dls_ui_fail(&err);
    }
    if (strcmp(action, "show") == 0) {
        if (optind + 2 != argc) {
            return dls_ui_usage("dataset", "show needs one file");
        }
        return dls_dataset_show(argv[optind + 1], req.only, req.n_only, req.json, &err) == DLS_OK
                   ? 0
                   : dls_ui_fail(&err);
    }
    return dls_ui_usage("dataset", "one of build, show, facts");
}

const dls_command dls_command_dataset = {
    .name = "dataset", .group = DLS_LABORATORY, .summary = "what inspectors are trained on", .legacy = legacy};
