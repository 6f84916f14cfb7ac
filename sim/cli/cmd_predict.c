/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim predict: ask the inspector about files of graphs. Reads a slice, predicts, writes the
 * slice, so memory does not grow with the number of graphs.
 */
#include "base/json.h"
#include "base/own.h"
#include "cli/command.h"
#include "dlsim/predictor.h"

#include <string.h>

#define SLICE_BYTES ((size_t)16 << 20)
#define SLICE_GRAPHS 4096

typedef struct ask {
    const char *weights, *input, *output, *setting, *settings, *hardware;
    dls_predictor_options predictor;
    bool json, quiet;
} ask;

typedef struct session {
    const ask *a;
    dls_inspector *insp;
    dls_predictor *predictor;
    dls_graph_reader *reader;
    dls_output_writer *writer;
    int32_t first_setting; /* of those asked */
    size_t n_settings;     /* per graph, at least 1 */
    bool all;              /* settings are a dimension of the output */
    bool printed;
} session;

static const char *setting_name(const session *s, size_t i)
{
    const int32_t idx = s->first_setting + (int32_t)i;
    return idx < 0 ? "base" : dls_inspector_setting(s->insp, idx).name;
}

/* An array that is printed element by element: there may be more than fit memory. */
static dls_status print_json(session *s, const char *group, size_t first, size_t n,
                             const dls_profile *profile, dls_error *err)
{
    for (size_t i = 0; i < n * s->n_settings; i++) {
        json_object *obj = json_object_new_object();
        DLS_JSON(obj, "group", group, "graph", (int64_t)(first + i / s->n_settings), "setting",
                 setting_name(s, i % s->n_settings));
        for (int k = 0; k < DLS_METRICS; k++) {
            dls_json_real(obj, dls_metric_name(k), profile[i].metric[k]);
        }
        dls_json_real(obj, "iteration_s", profile[i].iteration_s);
        fputs(s->printed ? "," : "", stdout);
        s->printed = true;
        DLS_TRY(dls_json_print(stdout, obj, err));
    }
    return DLS_OK;
}

static void print_text(const session *s, const char *group, size_t first, size_t n,
                       const dls_profile *profile)
{
    for (size_t i = 0; i < n * s->n_settings; i++) {
        printf("%s %zu %s", group, first + i / s->n_settings, setting_name(s, i % s->n_settings));
        for (int k = 0; k < DLS_METRICS; k++) {
            printf(" %.6g", profile[i].metric[k]);
        }
        putchar('\n');
    }
}

/* Buffers of one slice. */
typedef struct buffers {
    dls_query *query;
    dls_profile *profile;
    double *rows;
} buffers;

static void buffers_fini(buffers *b)
{
    DLS_FREE_ALL(b->query, b->profile, b->rows);
}

static dls_status slice(session *s, size_t group, const dls_group_shape *shape, size_t first,
                        size_t n, const buffers *b, dls_error *err)
{
    const dls_graph *graphs = NULL;
    const char *name = dls_graph_reader_group(s->reader, group);
    const size_t n_queries = n * s->n_settings;
    DLS_TRY(dls_graph_reader_read(s->reader, group, shape, first, n, &graphs, err));
    for (size_t i = 0; i < n_queries; i++) {
        b->query[i] = (dls_query){(int32_t)(i / s->n_settings),
                                  s->first_setting + (int32_t)(i % s->n_settings)};
    }
    const dls_status status =
        dls_predict(s->predictor, graphs, n, b->query, n_queries, b->profile, err);
    if (status != DLS_OK) {
        char inside[256];
        snprintf(inside, sizeof inside, "%s", err->where);
        snprintf(err->where, sizeof err->where, "%.120s: from graph %zu: %.100s", name, first,
                 inside);
        return status;
    }
    if (s->writer) {
        for (size_t i = 0; i < n_queries; i++) {
            memcpy(b->rows + i * DLS_METRICS, b->profile[i].metric, sizeof b->profile[i].metric);
        }
        DLS_TRY(dls_output_writer_rows(s->writer, b->rows, n, err));
    }
    if (s->a->json) {
        DLS_TRY(print_json(s, name, first, n, b->profile, err));
    } else if (!s->writer) {
        print_text(s, name, first, n, b->profile);
    }
    return DLS_OK;
}

static dls_status predict_group(session *s, size_t group, const char *setting_names, dls_error *err)
{
    dls_group_shape shape;
    DLS_TRY(dls_graph_reader_shape(s->reader, group, &shape, err));
    if (s->writer) {
        DLS_TRY(dls_output_writer_begin(s->writer, dls_graph_reader_group(s->reader, group),
                                        shape.n_graphs, s->all ? s->n_settings : 0, setting_names,
                                        err));
    }
    size_t most = dls_graph_reader_fit(&shape, SLICE_BYTES);
    most = most > SLICE_GRAPHS ? SLICE_GRAPHS : most;
    most = most > shape.n_graphs ? shape.n_graphs : most;
    const size_t n = (most ? most : 1) * s->n_settings;
    DLS_OWN(buffers_fini) buffers b = {dls_alloc(n * sizeof *b.query),
                                       dls_alloc(n * sizeof *b.profile),
                                       dls_alloc(n * DLS_METRICS * sizeof *b.rows)};
    if (!b.query || !b.profile || !b.rows) {
        return dls_nomem(err, "slice", n * sizeof *b.profile);
    }
    for (size_t first = 0; first < shape.n_graphs; first += most) {
        const size_t left = shape.n_graphs - first;
        DLS_TRY(slice(s, group, &shape, first, left < most ? left : most, &b, err));
    }
    return DLS_OK;
}

static dls_status choose_settings(session *s, dls_error *err)
{
    const int32_t n = dls_inspector_n_settings(s->insp);
    s->first_setting = DLS_SETTING_BASE;
    s->n_settings = 1;
    if (s->a->setting) {
        s->first_setting = dls_inspector_find(s->insp, s->a->setting);
        if (s->first_setting == -2) {
            return dls_fail(err, DLS_EUSAGE, "--setting",
                            "no setting \"%s\" in %s (dlsim model show lists them)", s->a->setting,
                            s->a->weights);
        }
    } else if (n > 0) {
        s->all = true;
        s->first_setting = 0;
        s->n_settings = (size_t)n;
    }
    return DLS_OK;
}

static dls_status predict_file(session *s, dls_error *err)
{
    DLS_TRY(dls_inspector_load(s->a->weights, &s->insp, err));
    DLS_TRY(dls_inspector_add_settings(s->insp, s->a->settings, s->a->hardware, s->a->setting, err));
    DLS_TRY(choose_settings(s, err));
    DLS_TRY(dls_graph_reader_open(s->a->input, &s->reader, err));
    DLS_TRY(dls_predictor_create(s->insp, &s->a->predictor, &s->predictor, err));
    if (!s->a->quiet) {
        fprintf(stderr, "dlsim: inspector on %s\n%s", dls_predictor_backend(s->predictor),
                dls_predictor_notes(s->predictor));
    }
    const size_t said = strlen(dls_predictor_notes(s->predictor));
    if (s->a->output) {
        DLS_TRY(dls_output_writer_create(s->a->output, s->a->weights,
                                         dls_predictor_backend(s->predictor), &s->writer, err));
    }
    DLS_FREED char *names = NULL;
    DLS_TRY(dls_alloc_array(&names, s->n_settings, 65, "setting names", err));
    for (size_t i = 0; i < s->n_settings; i++) {
        strcat(strcat(names, i ? "\n" : ""), setting_name(s, i));
    }
    if (s->a->json) {
        puts("[");
    }
    dls_status status = DLS_OK;
    for (size_t g = 0; status == DLS_OK && g < dls_graph_reader_n_groups(s->reader); g++) {
        status = predict_group(s, g, names, err);
    }
    if (s->a->json) {
        puts("]");
    }
    if (status == DLS_OK && s->writer) {
        status = dls_output_writer_finish(s->writer, err);
    }
    if (!s->a->quiet) {
        fputs(dls_predictor_notes(s->predictor) + said, stderr);
    }
    return status;
}

static void session_fini(session *s)
{
    dls_output_writer_destroy(s->writer);
    dls_graph_reader_close(s->reader);
    dls_predictor_destroy(s->predictor);
    dls_inspector_destroy(s->insp);
}

static dls_status run(dls_call *call, dls_error *err)
{
    DLS_OWN(session_fini) session s = {.a = call->request};
    return predict_file(&s, err);
}

static const dls_arg args[] = {
    DLS_TEXT(ask, weights, "weights", 0, "W.h5", "inspector file (see dlsim model)"),
    DLS_TEXT(ask, input, "input", 0, "G.h5",
             "graphs; those of dlsim graph zoo and import are grouped first: dlsim graph group "
             "--weights=W.h5"),
    DLS_TEXT(ask, setting, "setting", 0, "NAME",
             "one setting, or \"base\"; all settings of the file, the base if it has none, if left "
             "out"),
    DLS_TEXT(ask, settings, "settings", 0, "NAME",
             "paper, clusters, all or a file: where an inspector of all settings finds the others; "
             "they are those that it answers for without --setting, too"),
    DLS_TEXT(ask, hardware, "hardware", 0, "DIR", "folder of gpus.cfg and links.cfg, likewise"),
    DLS_CHOICE(ask, predictor.backend, "backend", 0, "auto|cpu|cuda", "where to compute"),
    DLS_CHOICE(ask, predictor.precision, "precision", 0, "f32|f64|fast",
               "fast: bf16 on matrix units, CUDA's or AMX of a CPU; float32 elsewhere"),
    DLS_INT(ask, predictor.threads, "threads", 0, 1, 256, "CPU threads; one per core if left out"),
    DLS_OUTPUT(ask, output, "output", 'o', "OUT.h5", "write predictions"),
    DLS_SWITCH(ask, json, "json", 0, "print predictions as JSON"),
    DLS_SWITCH(ask, quiet, "quiet", 'q', "no word about the backend on stderr"),
    DLS_ARGS_END};

/* predict_whatif.c */
extern const dls_command dls_predict_whatif;
static const dls_command *const parts[] = {&dls_predict_whatif, NULL};

const dls_command dls_command_predict = {
    .name = "predict",
    .group = DLS_LABORATORY,
    .summary = "ask the inspector how a job would behave",
    .usage = "--weights=W.h5 --input=G.h5 [OPTION]...",
    .about =
        "Predict the 12 metrics of every graph of a file: groups with adj [B,N,N] or [N,N] and "
        "x [B,N,F]. The output has `output` [B,12] under the same group names, or "
        "[B,settings,12].",
    .args = args,
    .part = parts,
    .needs = "weights input",
    .size = sizeof(ask),
    .initial = &(const ask){.settings = "all"},
    .run = run,
};
