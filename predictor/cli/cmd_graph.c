/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim graph: training graphs of known models, their groups as the inspector reads them, pictures.
 */
#include "base/alloc.h"
#include "base/json.h"
#include "base/own.h"
#include "base/suggest.h"
#include "cli/command.h"
#include "dlsim/predictor.h"
#include "workload/graph/dot.h"
#include "workload/graph/features.h"
#include "workload/graph/import.h"
#include "workload/graph/input.h"
#include "workload/graph/zoo.h"

#include <inttypes.h>
#include <string.h>

DLS_OWNER(dls_inspector, dls_inspector_destroy)

typedef struct request {
    dls_zoo_options zoo;
    bool has_numeric, has_optimiser, json, training;
    dls_import_device device;
    dls_grouping_kind grouping;
    int64_t batch, sequence, groups, group_batch, seed;
    int64_t features; /* a dls_features_version */
    const char *output, *dot, *weights;
} request;

/* ---- one graph ------------------------------------------------------------------------------- */

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
    return dls_fail(err, DLS_EINPUT, word, "neither a model nor a graph file%s",
                    DLS_DID_YOU_MEAN(dls_zoo_near(word)));
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
    if (dls_graph_is_imported(word)) {
        return import_file(word, req, out, err);
    }
    return strpbrk(word, "./") ? dls_opgraph_load(word, out, err) : unknown_model(word, err);
}

/* What the request says beside its members. */
static dls_status take_given(request *req, const dls_call *call, dls_error *err)
{
    static const char *const told[] = {"grouping", "groups", "group-batch", "seed", "features"};
    req->has_numeric = dls_call_gave(call, "precision");
    req->has_optimiser = dls_call_gave(call, "optimiser");
    for (size_t i = 0; i < sizeof told / sizeof told[0]; i++) {
        if (req->weights && dls_call_gave(call, told[i])) {
            return dls_fail(err, DLS_EUSAGE, NULL,
                            "--weights says how graphs are grouped and described: without "
                            "--grouping, --groups, --group-batch, --seed, --features");
        }
    }
    return DLS_OK;
}

/* ---- zoo ------------------------------------------------------------------------------------- */

/* all: NULL for text. */
static dls_status list_row(const dls_zoo_model *m, const request *req, json_object *all,
                           dls_error *err)
{
    DLS_HOLD(dls_opgraph_destroy) dls_opgraph *g = NULL;
    DLS_TRY(build(m, req, &g, err));
    dls_opgraph_totals t;
    dls_opgraph_sum(g, &t);
    const double per_sample = t.matrix_flops[DLS_PHASE_FORWARD] / g->info.batch * 1e-9;
    if (all) {
        DLS_JSON(dls_json_next(all), "model", m->name, "family", m->family, "dataset",
                 g->info.dataset, "batch", g->info.batch, "sequence", g->info.sequence, "params",
                 t.n_params, "forward_gflop_per_sample", per_sample, "nodes", g->n_nodes, "edges",
                 g->n_edges);
    } else {
        printf("%-17s %-13s %-14s %6" PRId32 " %6" PRId32 " %12" PRId64 " %12.5g %7" PRId32
               " %7" PRId32 "\n",
               m->name, m->family, g->info.dataset, g->info.batch, g->info.sequence, t.n_params,
               per_sample, g->n_nodes, g->n_edges);
    }
    return DLS_OK;
}

static dls_status list_models(const request *req, dls_error *err)
{
    DLS_HOLD(json_object_put) json_object *all = req->json ? json_object_new_array() : NULL;
    if (!all) {
        printf("%-17s %-13s %-14s %6s %6s %12s %12s %7s %7s\n", "model", "family", "dataset",
               "batch", "tokens", "parameters", "GFLOP/sample", "nodes", "edges");
    }
    for (size_t i = 0; i < dls_zoo_size(); i++) {
        DLS_TRY(list_row(dls_zoo_at(i), req, all, err));
    }
    return all ? dls_json_print(stdout, dls_take(&all), err) : DLS_OK;
}

static dls_status cmd_import(dls_call *call, dls_error *err)
{
    const request *req = call->request;
    DLS_HOLD(dls_opgraph_destroy) dls_opgraph *g = NULL;
    DLS_TRY(import_file(call->word[0], req, &g, err));
    return dls_opgraph_save(g, req->output, err);
}

/* ---- show ------------------------------------------------------------------------------------ */

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

static dls_status show_json(const dls_opgraph *g, const dls_opgraph_totals *t, dls_error *err)
{
    json_object *top = json_object_new_object();
    DLS_JSON(top, "model", g->info.model, "dataset", g->info.dataset, "batch", g->info.batch,
             "sequence", g->info.sequence, "precision", dls_numeric_name(g->info.numeric));
    DLS_JSON(top, "optimiser", dls_optimiser_name(g->info.optimiser), "params", t->n_params,
             "param_tensors", t->n_param_tensors, "activation_bytes", t->activation_bytes, "nodes",
             g->n_nodes, "edges", g->n_edges);
    json_object *phases = dls_json_object(top, "phases");
    for (int i = 0; i < DLS_PHASE_COUNT; i++) {
        DLS_JSON(dls_json_object(phases, dls_phase_name(i)), "nodes", t->n_nodes[i], "flops",
                 t->flops[i], "traffic_bytes", t->traffic_bytes[i]);
    }
    return dls_json_print(stdout, top, err);
}

static dls_status cmd_show(dls_call *call, dls_error *err)
{
    request *req = call->request;
    DLS_HOLD(dls_opgraph_destroy) dls_opgraph *g = NULL;
    DLS_TRY(take_given(req, call, err));
    DLS_TRY(open_graph(call->word[0], req, &g, err));
    dls_opgraph_totals t;
    dls_opgraph_sum(g, &t);
    if (req->json) {
        DLS_TRY(show_json(g, &t, err));
    } else {
        show_text(g, &t);
    }
    if (!req->dot) {
        return DLS_OK;
    }
    DLS_OWN(dls_grouping_fini) dls_grouping grouping = {0};
    DLS_TRY(dls_grouping_create(g, req->grouping, (int32_t)req->groups, (uint64_t)req->seed,
                                &grouping, err));
    return dls_grouping_dot(g, &grouping, req->dot, err);
}

/* ---- group ----------------------------------------------------------------------------------- */

typedef struct corpus {
    size_t n;
    dls_opgraph **graph;
    dls_grouping *grouping;
    dls_grouped *view;
} corpus;

static void corpus_fini(corpus *c)
{
    for (size_t i = 0; i < c->n && c->graph && c->grouping; i++) {
        dls_grouping_fini(&c->grouping[i]);
        dls_opgraph_destroy(c->graph[i]);
    }
    DLS_FREE_ALL(c->graph, c->grouping, c->view);
}

/* How an inspector's input is made; *spec needs dls_input_spec_fini on success. */
static dls_status recipe(const char *weights, dls_input_spec *spec, dls_error *err)
{
    DLS_HOLD(dls_inspector_destroy) dls_inspector *insp = NULL;
    DLS_TRY(dls_inspector_load(weights, &insp, err));
    const char *features = dls_inspector_features(insp);
    return *features
               ? dls_input_spec_parse(features, spec, err)
               : dls_fail(err, DLS_EINPUT, weights, "does not say what its input was made of");
}

/* of: how, if an inspector says it; else NULL. */
static dls_status group_all(corpus *c, char **words, const request *req, const dls_input_spec *of,
                            dls_error *err)
{
    const dls_grouping_how how =
        of ? dls_input_how(of)
           : (dls_grouping_how){req->grouping, (int32_t)req->groups, false,
                                (size_t)req->group_batch, (uint64_t)req->seed};
    for (size_t i = 0; i < c->n; i++) {
        DLS_TRY(open_graph(words[i], req, &c->graph[i], err));
    }
    DLS_TRY(dls_groupings_create(c->graph, c->n, &how, c->grouping, err));
    for (size_t i = 0; i < c->n; i++) {
        const dls_grouping *g = &c->grouping[i];
        int32_t n_kept = 0;
        for (int32_t k = 0; k < g->n_nodes; k++) {
            n_kept += g->group[k] >= 0;
        }
        c->view[i] = (dls_grouped){c->graph[i], g};
        printf("%-17s %7" PRId32 " operations %7" PRId32 " kept %5" PRId32 " groups\n",
               c->graph[i]->info.model, c->graph[i]->n_nodes, n_kept, g->n_groups);
    }
    if (of) {
        return dls_grouped_save(req->output, of->features, c->view, c->n, err);
    }
    DLS_HOLD(dls_feature_spec_destroy) dls_feature_spec *spec = NULL;
    DLS_TRY(dls_feature_spec_create((dls_features_version)req->features, &spec, err));
    DLS_TRY(dls_feature_spec_fit(spec, c->view, c->n, err));
    return dls_grouped_save(req->output, spec, c->view, c->n, err);
}

static dls_status cmd_group(dls_call *call, dls_error *err)
{
    request *req = call->request;
    const size_t n = call->n_words;
    DLS_OWN(corpus_fini) corpus c = {.n = n};
    DLS_OWN(dls_input_spec_fini) dls_input_spec spec = {.features = NULL};
    DLS_TRY(take_given(req, call, err));
    DLS_TRY(DLS_ALLOC_ALL("graphs", err, DLS_ARRAY(c.graph, n), DLS_ARRAY(c.grouping, n),
                          DLS_ARRAY(c.view, n)));
    if (req->weights) {
        DLS_TRY(recipe(req->weights, &spec, err));
    }
    return group_all(&c, call->word, req, req->weights ? &spec : NULL, err);
}

/* ---- the command ----------------------------------------------------------------------------- */

static dls_status cmd_zoo(dls_call *call, dls_error *err)
{
    request *req = call->request;
    DLS_TRY(take_given(req, call, err));
    if ((call->n_words == 1) != (req->output != NULL)) {
        return dls_fail(err, DLS_EUSAGE, NULL, "expected 'zoo' alone or 'zoo MODEL -o FILE'");
    }
    if (!req->output) {
        return list_models(req, err);
    }
    const dls_zoo_model *model = dls_zoo_find(call->word[0]);
    DLS_HOLD(dls_opgraph_destroy) dls_opgraph *g = NULL;
    DLS_TRY(model ? build(model, req, &g, err) : unknown_model(call->word[0], err));
    return dls_opgraph_save(g, req->output, err);
}

static const dls_verb verbs[] = {
    {"zoo", "[MODEL -o G.h5]", "the models and their sizes, or the training graph of one", 0, 1,
     NULL, cmd_zoo},
    {"import", "FILE -o G.h5", "a TensorFlow GraphDef or ONNX file", 1, 1, "output", cmd_import},
    {"show", "GRAPH", "what a graph holds", 1, 1, NULL, cmd_show},
    {"group", "GRAPH... -o OUT.h5", "group graphs for dlsim predict", 1, DLS_ANY_NUMBER, "output",
     cmd_group},
    {.name = NULL}};

static const dls_arg args[] = {
    DLS_INT(request, batch, "batch", 0, 1, 1 << 20,
            "samples per worker, if not what is usual for the model; import: what an unknown first "
            "dimension of an input is"),
    DLS_INT(request, sequence, "sequence", 0, 1, 1 << 20,
            "tokens per sample; import: other unknown dimensions of inputs"),
    DLS_TEXT(request, zoo.dataset, "dataset", 0, "NAME", "label of the data set"),
    DLS_CHOICE(request, zoo.numeric, "precision", 0, "fp32|tf32|fp16|bf16",
               "what numbers are, if not what is usual for the model", .of = "zoo, show, group"),
    DLS_CHOICE(request, zoo.optimiser, "optimiser", 0, "sgd|momentum|rmsprop|adam",
               "the same of the optimiser"),
    DLS_CHOICE(request, device, "device", 0, "auto|file|gpu",
               "of a file that is no graph of dlsim's: what runs on a GPU (as the file says, else "
               "everything)",
               .of = "import, show, group"),
    DLS_SWITCH(request, training, "training", 0,
               "of such a file: add loss, gradients and optimiser", .of = "import, show, group"),
    DLS_OUTPUT(request, output, "output", 'o', "FILE", "where to write", .of = "zoo, import, group"),
    DLS_SWITCH(request, json, "json", 0, "print JSON", .of = "zoo, show"),
    DLS_OUTPUT(request, dot, "dot", 0, "FILE", "picture of the grouped graph for Graphviz",
             .of = "show"),
    DLS_OF("show, group"),
    DLS_CHOICE(request, grouping, "grouping", 0, "none|uniform|proportional",
               "how operations are grouped"),
    DLS_INT(request, groups, "groups", 0, 1, 1 << 20, "groups per graph"),
    DLS_INT(request, seed, "seed", 0, 0, INT64_MAX, "of the grouping"),
    DLS_OF("group"),
    DLS_INT(request, group_batch, "group-batch", 0, 1, 1 << 20,
            "proportional: graphs that share a number of groups"),
    DLS_INT(request, features, "features", 0, 1, DLS_FEATURES_VERSION_END - 1,
            "columns per group: Driple's three, eight, fifteen"),
    DLS_TEXT(request, weights, "weights", 0, "W.h5",
             "groups and features as this inspector was trained on; in place of the five above"),
    DLS_ARGS_END};

const dls_command dls_command_graph = {
    .name = "graph",
    .group = DLS_LABORATORY,
    .summary = "training graphs of known models, grouped for the inspector",
    .about = "A GRAPH is a file of `dlsim graph zoo` or `import`, a .pb, .pbtxt or .onnx file, or "
             "the name of a model.",
    .args = args,
    .verbs = verbs,
    .size = sizeof(request),
    .initial = &(const request){.grouping = DLS_GROUPING_UNIFORM,
                                .groups = DLS_GROUPS_DEFAULT,
                                .group_batch = 32,
                                .seed = DLS_GROUPING_SEED,
                                .features = DLS_FEATURES_DRIPLE},
};
