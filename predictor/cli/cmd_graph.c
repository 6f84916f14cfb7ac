/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim graph: training graphs of known models, their groups as the inspector reads them, pictures.
 */
#include "base/alloc.h"
#include "base/suggest.h"
#include "cli/command.h"
#include "cli/ui.h"
#include "dlsim/predictor.h"
#include "workload/graph/dot.h"
#include "workload/graph/features.h"
#include "workload/graph/import.h"
#include "workload/graph/input.h"
#include "workload/graph/zoo.h"

#include <inttypes.h>
#include <string.h>

static const char help[] =
    "Usage: dlsim graph zoo                            the models and their sizes\n"
    "       dlsim graph zoo MODEL -o G.h5 [OPTION]...  write the training graph of a model\n"
    "       dlsim graph import FILE -o G.h5 [OPTION]...\n"
    "                                                  a TensorFlow GraphDef or ONNX file\n"
    "       dlsim graph show GRAPH [OPTION]...         what a graph holds\n"
    "       dlsim graph group GRAPH... -o OUT.h5 [OPTION]...\n"
    "                                                  group graphs for dlsim predict\n"
    "\n"
    "A GRAPH is a file of `dlsim graph zoo` or `import`, a .pb, .pbtxt or .onnx file, or the name "
    "of\n"
    "a model.\n"
    "\n"
    "      --batch=N           samples per worker (default: usual for the model)\n"
    "                          import: what an unknown first dimension of an input is\n"
    "      --sequence=N        tokens per sample; import: other unknown dimensions of inputs\n"
    "      --dataset=NAME      label of the data set\n"
    "      --precision=fp32|tf32|fp16|bf16\n"
    "      --optimiser=sgd|momentum|rmsprop|adam\n"
    "      --device=auto|file|gpu\n"
    "                          import: what runs on a GPU (as the file says, else everything)\n"
    "      --training          import: add loss, gradients and optimiser\n"
    "      --grouping=none|uniform|proportional   (uniform)\n"
    "      --groups=N          groups per graph (100)\n"
    "      --group-batch=N     graphs that share a number of groups (proportional; 32)\n"
    "      --seed=N            of the grouping (42)\n"
    "      --features=1|2|3    columns per group: Driple's three, eight, fifteen (1)\n"
    "      --weights=W.h5      group: groups and features as this inspector was trained on; in "
    "place\n"
    "                          of the five above\n"
    "      --dot=FILE          picture of the grouped graph for Graphviz (show)\n"
    "      --json              print JSON (zoo, show)\n"
    "  -o, --output=FILE       where to write\n"
    "  -h, --help              show this and leave\n";

typedef struct request {
    dls_zoo_options zoo;
    bool has_numeric, has_optimiser, json, training;
    bool has_groups; /* how to group or describe was said */
    dls_import_device device;
    dls_grouping_kind grouping;
    int64_t batch, sequence, groups, group_batch, seed, features;
    const char *output, *dot, *weights;
} request;

/* ---- one graph ---------------------------------------------------------------------------------
 */

static dls_status build(const dls_zoo_model *model, const request *req, dls_opgraph **out,
                        dls_error *err)
{
    dls_zoo_options o = dls_zoo_defaults(model);
    o.dataset = req->zoo.dataset ? req->zoo.dataset : o.dataset;
    o.batch = req->batch ? (int32_t)req->batch : o.batch;
    o.sequence = req->sequence ? (int32_t)req->sequence : o.sequence;
    o.numeric = req->has_numeric ? req->zoo.numeric : o.numeric;
    o.optimiser = req->has_optimiser ? req->zoo.optimiser : o.optimiser;
    return dls_zoo_build(model, &o, out, err);
}

static dls_status unknown_model(const char *word, dls_error *err)
{
    const char *names[128];
    size_t n = 0;
    for (; n < dls_zoo_size() && n < 127; n++) {
        names[n] = dls_zoo_at(n)->name;
    }
    names[n] = NULL;
    const char *near = dls_suggest(word, names);
    return dls_fail(err, DLS_EINPUT, word, "neither a model nor a graph file%s%s%s",
                    near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
}

static bool ends_with(const char *word, const char *end)
{
    const size_t n = strlen(word);
    const size_t k = strlen(end);
    return n >= k && strcmp(word + n - k, end) == 0;
}

/* What the readers noticed, once, where it disturbs no output. */
static void tell(const char *path, const dls_import_report *report)
{
    if (report->n_unknown > 0) {
        fprintf(stderr, "dlsim: %s: %d operations of %d unknown kinds count as no work: %s\n", path,
                (int)report->n_unknown, (int)report->n_unknown_ops, report->unknown);
    }
    if (report->n_shapeless > 0) {
        fprintf(stderr, "dlsim: %s: %d operations have no known shape and count as no work\n", path,
                (int)report->n_shapeless);
    }
}

static dls_status import_file(const char *path, const request *req, dls_opgraph **out,
                              dls_error *err)
{
    const dls_import_options options = {.dataset = req->zoo.dataset,
                                        .batch = (int32_t)req->batch,
                                        .sequence = (int32_t)req->sequence,
                                        .device = req->device,
                                        .training = req->training,
                                        .optimiser = req->zoo.optimiser};
    dls_import_report report;
    DLS_TRY(dls_graph_import(path, &options, out, &report, err));
    tell(path, &report);
    return DLS_OK;
}

/* A word with a '.' or a '/' is a file. */
static dls_status open_graph(const char *word, const request *req, dls_opgraph **out,
                             dls_error *err)
{
    const dls_zoo_model *model = dls_zoo_find(word);
    if (model) {
        return build(model, req, out, err);
    }
    if (ends_with(word, ".pb") || ends_with(word, ".pbtxt") || ends_with(word, ".onnx")) {
        return import_file(word, req, out, err);
    }
    return strpbrk(word, "./") ? dls_opgraph_load(word, out, err) : unknown_model(word, err);
}

/* FLOPs in convolutions and matrix products: what published tables count, twice. */
static double matrix_flops(const dls_opgraph *g, dls_phase phase)
{
    double sum = 0;
    for (int32_t i = 0; i < g->n_nodes; i++) {
        const dls_op_node *x = &g->nodes[i];
        const dls_op_family family = dls_op_family_of(x->kind);
        if (x->phase == (int32_t)phase &&
            (family == DLS_FAMILY_CONV || family == DLS_FAMILY_MATMUL)) {
            sum += x->flops * x->repeat;
        }
    }
    return sum;
}

/* ---- zoo ---------------------------------------------------------------------------------------
 */

static dls_status list_row(const dls_zoo_model *m, const request *req, bool first, dls_error *err)
{
    dls_opgraph *g;
    DLS_TRY(build(m, req, &g, err));
    dls_opgraph_totals t;
    dls_opgraph_sum(g, &t);
    const double per_sample = matrix_flops(g, DLS_PHASE_FORWARD) / g->info.batch * 1e-9;
    if (req->json) {
        printf(
            "%s\n  {\"model\": \"%s\", \"family\": \"%s\", \"dataset\": \"%s\", \"batch\": %" PRId32
            ", \"sequence\": %" PRId32 ", \"params\": %" PRId64
            ", \"forward_gflop_per_sample\": %.6g, \"nodes\": %" PRId32 ", \"edges\": %" PRId32 "}",
            first ? "[" : ",", m->name, m->family, g->info.dataset, g->info.batch, g->info.sequence,
            t.n_params, per_sample, g->n_nodes, g->n_edges);
    } else {
        printf("%-17s %-13s %-14s %6" PRId32 " %6" PRId32 " %12" PRId64 " %12.5g %7" PRId32
               " %7" PRId32 "\n",
               m->name, m->family, g->info.dataset, g->info.batch, g->info.sequence, t.n_params,
               per_sample, g->n_nodes, g->n_edges);
    }
    dls_opgraph_destroy(g);
    return DLS_OK;
}

static dls_status list_models(const request *req, dls_error *err)
{
    if (!req->json) {
        printf("%-17s %-13s %-14s %6s %6s %12s %12s %7s %7s\n", "model", "family", "dataset",
               "batch", "tokens", "parameters", "GFLOP/sample", "nodes", "edges");
    }
    for (size_t i = 0; i < dls_zoo_size(); i++) {
        DLS_TRY(list_row(dls_zoo_at(i), req, i == 0, err));
    }
    if (req->json) {
        puts("\n]");
    }
    return DLS_OK;
}

static dls_status write_model(const char *name, const request *req, dls_error *err)
{
    const dls_zoo_model *model = dls_zoo_find(name);
    if (!model) {
        return unknown_model(name, err);
    }
    dls_opgraph *g;
    DLS_TRY(build(model, req, &g, err));
    const dls_status status = dls_opgraph_save(g, req->output, err);
    dls_opgraph_destroy(g);
    return status;
}

static dls_status write_import(const char *path, const request *req, dls_error *err)
{
    dls_opgraph *g;
    DLS_TRY(import_file(path, req, &g, err));
    const dls_status status = dls_opgraph_save(g, req->output, err);
    dls_opgraph_destroy(g);
    return status;
}

/* ---- show --------------------------------------------------------------------------------------
 */

static void show_text(const dls_opgraph *g, const dls_opgraph_totals *t)
{
    printf("model       %s\ndataset     %s\nbatch       %" PRId32 "\n", g->info.model,
           g->info.dataset, g->info.batch);
    if (g->info.sequence) {
        printf("tokens      %" PRId32 "\n", g->info.sequence);
    }
    printf("precision   %s\noptimiser   %s\nparameters  %" PRId64 " in %" PRId64 " tensors\n",
           dls_numeric_name(g->info.numeric), dls_optimiser_name(g->info.optimiser), t->n_params,
           t->n_param_tensors);
    printf("activations %.6g MB\nnodes       %" PRId32 "\nedges       %" PRId32 "\n\n",
           (double)t->activation_bytes * 1e-6, g->n_nodes, g->n_edges);
    printf("%-10s %8s %14s %14s\n", "phase", "nodes", "GFLOP", "traffic GB");
    for (int i = 0; i < DLS_PHASE_COUNT; i++) {
        printf("%-10s %8" PRId32 " %14.6g %14.6g\n", dls_phase_name(i), t->n_nodes[i],
               t->flops[i] * 1e-9, t->traffic_bytes[i] * 1e-9);
    }
    printf("\n%-12s %8s\n", "family", "nodes");
    for (int i = 0; i < DLS_FAMILY_COUNT; i++) {
        if (t->n_family[i] > 0) {
            printf("%-12s %8" PRId32 "\n", dls_op_family_name(i), t->n_family[i]);
        }
    }
}

static void show_json(const dls_opgraph *g, const dls_opgraph_totals *t)
{
    fputs("{\"model\": ", stdout);
    dls_ui_json_string(stdout, g->info.model);
    fputs(", \"dataset\": ", stdout);
    dls_ui_json_string(stdout, g->info.dataset);
    printf(", \"batch\": %" PRId32 ", \"sequence\": %" PRId32 ", \"precision\": \"%s\", "
           "\"optimiser\": \"%s\",\n \"params\": %" PRId64 ", \"param_tensors\": %" PRId64
           ", \"activation_bytes\": %" PRId64 ", \"nodes\": %" PRId32 ", \"edges\": %" PRId32
           ",\n \"phases\": {",
           g->info.batch, g->info.sequence, dls_numeric_name(g->info.numeric),
           dls_optimiser_name(g->info.optimiser), t->n_params, t->n_param_tensors,
           t->activation_bytes, g->n_nodes, g->n_edges);
    for (int i = 0; i < DLS_PHASE_COUNT; i++) {
        printf("%s\"%s\": {\"nodes\": %" PRId32 ", \"flops\": %.17g, \"traffic_bytes\": %.17g}",
               i ? ", " : "", dls_phase_name(i), t->n_nodes[i], t->flops[i], t->traffic_bytes[i]);
    }
    puts("}}");
}

static dls_status show(const char *word, const request *req, dls_error *err)
{
    dls_opgraph *g;
    DLS_TRY(open_graph(word, req, &g, err));
    dls_opgraph_totals t;
    dls_opgraph_sum(g, &t);
    if (req->json) {
        show_json(g, &t);
    } else {
        show_text(g, &t);
    }
    dls_status status = DLS_OK;
    if (req->dot) {
        dls_grouping grouping;
        status = dls_grouping_create(g, req->grouping, (int32_t)req->groups, (uint64_t)req->seed,
                                     &grouping, err);
        if (status == DLS_OK) {
            status = dls_grouping_dot(g, &grouping, req->dot, err);
        }
        dls_grouping_fini(&grouping);
    }
    dls_opgraph_destroy(g);
    return status;
}

/* ---- group -------------------------------------------------------------------------------------
 */

typedef struct corpus {
    size_t n;
    dls_opgraph **graph;
    dls_grouping *grouping;
    dls_grouped *view;
    int32_t *n_kept, *n_groups;
} corpus;

static void corpus_fini(corpus *c)
{
    for (size_t i = 0; i < c->n && c->graph && c->grouping; i++) {
        dls_grouping_fini(&c->grouping[i]);
        dls_opgraph_destroy(c->graph[i]);
    }
    dls_free(c->graph);
    dls_free(c->grouping);
    dls_free(c->view);
    dls_free(c->n_kept);
    dls_free(c->n_groups);
}

/* How an inspector's input is made; *spec needs dls_input_spec_fini on success. */
static dls_status recipe(const char *weights, dls_input_spec *spec, dls_error *err)
{
    dls_inspector *insp;
    DLS_TRY(dls_inspector_load(weights, &insp, err));
    const char *features = dls_inspector_features(insp);
    const dls_status status =
        *features ? dls_input_spec_parse(features, spec, err)
                  : dls_fail(err, DLS_EINPUT, weights, "does not say what its input was made of");
    dls_inspector_destroy(insp);
    return status;
}

/* of: how, if an inspector says it; else NULL. */
static dls_status count_groups(corpus *c, const request *req, const dls_input_spec *of,
                               dls_error *err)
{
    for (size_t i = 0; i < c->n; i++) {
        dls_kept kept;
        DLS_TRY(dls_kept_create(c->graph[i], &kept, err));
        c->n_kept[i] = kept.adjacency.n;
        c->n_groups[i] = (int32_t)req->groups;
        dls_kept_fini(&kept);
        if (of) {
            DLS_TRY(dls_input_groups(of, c->graph[i], &c->n_groups[i], err));
        }
    }
    return !of && req->grouping == DLS_GROUPING_PROPORTIONAL
               ? dls_grouping_proportional(c->n_kept, c->n, (size_t)req->group_batch, c->n_groups,
                                           err)
               : DLS_OK;
}

static dls_status group_all(corpus *c, char **words, const request *req, const dls_input_spec *of,
                            dls_error *err)
{
    const dls_grouping_kind kind = of ? of->grouping : req->grouping;
    const uint64_t seed = of ? of->seed : (uint64_t)req->seed;
    for (size_t i = 0; i < c->n; i++) {
        DLS_TRY(open_graph(words[i], req, &c->graph[i], err));
    }
    DLS_TRY(count_groups(c, req, of, err));
    for (size_t i = 0; i < c->n; i++) {
        DLS_TRY(dls_grouping_create(c->graph[i], kind, c->n_groups[i], seed, &c->grouping[i], err));
        c->view[i] = (dls_grouped){c->graph[i], &c->grouping[i]};
        printf("%-17s %7" PRId32 " operations %7" PRId32 " kept %5" PRId32 " groups\n",
               c->graph[i]->info.model, c->graph[i]->n_nodes, c->n_kept[i],
               c->grouping[i].n_groups);
    }
    if (of) {
        return dls_grouped_save(req->output, of->features, c->view, c->n, err);
    }
    dls_feature_spec *spec;
    DLS_TRY(dls_feature_spec_create((dls_features_version)req->features, &spec, err));
    dls_status status = dls_feature_spec_fit(spec, c->view, c->n, err);
    if (status == DLS_OK) {
        status = dls_grouped_save(req->output, spec, c->view, c->n, err);
    }
    dls_feature_spec_destroy(spec);
    return status;
}

static dls_status group(char **words, size_t n, const request *req, dls_error *err)
{
    corpus c = {.n = n,
                .graph = dls_alloc_zero(n, sizeof *c.graph),
                .grouping = dls_alloc_zero(n, sizeof *c.grouping),
                .view = dls_alloc_zero(n, sizeof *c.view),
                .n_kept = dls_alloc_zero(n, sizeof *c.n_kept),
                .n_groups = dls_alloc_zero(n, sizeof *c.n_groups)};
    const bool ok = c.graph && c.grouping && c.view && c.n_kept && c.n_groups;
    dls_input_spec spec = {.features = NULL};
    dls_status status = ok ? DLS_OK : dls_nomem(err, "graphs", n * sizeof *c.grouping);
    if (status == DLS_OK && req->weights) {
        status = recipe(req->weights, &spec, err);
    }
    if (status == DLS_OK) {
        status = group_all(&c, words, req, req->weights ? &spec : NULL, err);
    }
    dls_input_spec_fini(&spec);
    corpus_fini(&c);
    return status;
}

/* ---- options -----------------------------------------------------------------------------------
 */

enum {
    OPT_BATCH = 256,
    OPT_SEQUENCE,
    OPT_DATASET,
    OPT_PRECISION,
    OPT_OPTIMISER,
    OPT_GROUPING,
    OPT_GROUPS,
    OPT_GROUP_BATCH,
    OPT_SEED,
    OPT_FEATURES,
    OPT_DEVICE,
    OPT_TRAINING,
    OPT_WEIGHTS,
    OPT_DOT,
    OPT_JSON
};

/* false: reported. */
static bool take(int opt, request *req)
{
    req->has_groups |= opt == OPT_GROUPING || opt == OPT_GROUPS || opt == OPT_GROUP_BATCH ||
                       opt == OPT_SEED || opt == OPT_FEATURES;
    switch (opt) {
    case OPT_BATCH:
        return dls_ui_i64("graph", "--batch", optarg, 1, 1 << 20, &req->batch);
    case OPT_SEQUENCE:
        return dls_ui_i64("graph", "--sequence", optarg, 1, 1 << 20, &req->sequence);
    case OPT_GROUPS:
        return dls_ui_i64("graph", "--groups", optarg, 1, 1 << 20, &req->groups);
    case OPT_GROUP_BATCH:
        return dls_ui_i64("graph", "--group-batch", optarg, 1, 1 << 20, &req->group_batch);
    case OPT_SEED:
        return dls_ui_i64("graph", "--seed", optarg, 0, INT64_MAX, &req->seed);
    case OPT_FEATURES:
        return dls_ui_i64("graph", "--features", optarg, 1, DLS_FEATURES_VERSION_END - 1,
                          &req->features);
    case OPT_DATASET:
        req->zoo.dataset = optarg;
        return true;
    case OPT_DEVICE:
        return dls_import_device_find(optarg, &req->device) ||
               (dls_ui_usage("graph", "unknown device '%s' (auto, file, gpu)", optarg), 0);
    case OPT_TRAINING:
        req->training = true;
        return true;
    case OPT_WEIGHTS:
        req->weights = optarg;
        return true;
    case OPT_DOT:
        req->dot = optarg;
        return true;
    case OPT_JSON:
        req->json = true;
        return true;
    case 'o':
        req->output = optarg;
        return true;
    case OPT_PRECISION:
        req->has_numeric = dls_numeric_find(optarg, &req->zoo.numeric);
        return req->has_numeric ||
               (dls_ui_usage("graph", "unknown precision '%s' (fp32, tf32, fp16, bf16)", optarg),
                0);
    case OPT_OPTIMISER:
        req->has_optimiser = dls_optimiser_find(optarg, &req->zoo.optimiser);
        return req->has_optimiser ||
               (dls_ui_usage("graph", "unknown optimiser '%s' (sgd, momentum, rmsprop, adam)",
                             optarg),
                0);
    case OPT_GROUPING:
        return dls_grouping_find(optarg, &req->grouping) ||
               (dls_ui_usage("graph", "unknown grouping '%s' (none, uniform, proportional)",
                             optarg),
                0);
    default:
        return false;
    }
}

static int legacy(int argc, char **argv)
{
    static const struct option longs[] = {{"batch", required_argument, NULL, OPT_BATCH},
                                          {"sequence", required_argument, NULL, OPT_SEQUENCE},
                                          {"dataset", required_argument, NULL, OPT_DATASET},
                                          {"precision", required_argument, NULL, OPT_PRECISION},
                                          {"optimiser", required_argument, NULL, OPT_OPTIMISER},
                                          {"grouping", required_argument, NULL, OPT_GROUPING},
                                          {"groups", required_argument, NULL, OPT_GROUPS},
                                          {"group-batch", required_argument, NULL, OPT_GROUP_BATCH},
                                          {"seed", required_argument, NULL, OPT_SEED},
                                          {"features", required_argument, NULL, OPT_FEATURES},
                                          {"device", required_argument, NULL, OPT_DEVICE},
                                          {"training", no_argument, NULL, OPT_TRAINING},
                                          {"weights", required_argument, NULL, OPT_WEIGHTS},
                                          {"dot", required_argument, NULL, OPT_DOT},
                                          {"json", no_argument, NULL, OPT_JSON},
                                          {"output", required_argument, NULL, 'o'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    request req = {.grouping = DLS_GROUPING_UNIFORM,
                   .groups = DLS_GROUPS_DEFAULT,
                   .group_batch = 32,
                   .seed = DLS_GROUPING_SEED,
                   .features = DLS_FEATURES_DRIPLE};
    for (int opt; (opt = dls_ui_getopt(argc, argv, "ho:", longs, "graph")) != -1;) {
        if (opt == 'h') {
            fputs(help, stdout);
            return 0;
        }
        if (!take(opt, &req)) {
            return dls_status_exit_code(DLS_EUSAGE);
        }
    }
    if (req.weights && req.has_groups) {
        return dls_ui_usage("graph", "--weights says how graphs are grouped and described: without "
                                     "--grouping, --groups, --group-batch, --seed, --features");
    }
    const int n = argc - optind - 1; /* words after the verb */
    const char *verb = n >= 0 ? argv[optind] : "";
    char **words = argv + optind + 1;
    dls_error err;
    dls_status status;
    if (strcmp(verb, "zoo") == 0 && n == 0 && !req.output) {
        status = list_models(&req, &err);
    } else if (strcmp(verb, "zoo") == 0 && n == 1 && req.output) {
        status = write_model(words[0], &req, &err);
    } else if (strcmp(verb, "import") == 0 && n == 1 && req.output) {
        status = write_import(words[0], &req, &err);
    } else if (strcmp(verb, "show") == 0 && n == 1) {
        status = show(words[0], &req, &err);
    } else if (strcmp(verb, "group") == 0 && n >= 1 && req.output) {
        status = group(words, (size_t)n, &req, &err);
    } else {
        return dls_ui_usage("graph", "expected 'zoo', 'zoo MODEL -o FILE', 'import FILE -o FILE', "
                                     "'show GRAPH' or 'group GRAPH... -o FILE'");
    }
    return status == DLS_OK ? 0 : dls_ui_fail(&err);
}

const dls_command dls_command_graph = {
    .name = "graph", .group = DLS_LABORATORY, .summary = "training graphs of known models, grouped for the inspector", .legacy = legacy};
