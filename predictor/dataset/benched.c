/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reads the labels of measured jobs and the networks that ran, and makes them a dataset whose
 * graphs are shared by the settings.
 */
#include "predictor/dataset/benched.h"

#include "base/alloc.h"
#include "base/csv.h"
#include "base/own.h"
#include "predictor/measure/burst.h"
#include "workload/graph/import.h"
#include "workload/operator/fit.h"
#include "workload/operator/from_graph.h"
#include "workload/operator/op_rates.h"
#include "workload/operator/schedule.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COL_NETWORK, COL_FAMILY, COL_BATCH, COL_SETTING, COL_ITERATION, COL_METRIC };
enum { N_COLUMNS = COL_METRIC + DLS_METRICS };

typedef struct job {
    int32_t graph;   /* in origin */
    int32_t setting; /* in list */
    double iteration_s, label[DLS_METRICS];
} job;

typedef struct benched {
    const dls_setting_list *list;
    const dls_opmodel *model; /* with hw: by which a step and its bytes are known; NULL: not known */
    const dls_hardware *hw;
    job *job;
    dls_dataset_origin *origin; /* of each graph, one for a network and a batch */
    uint8_t *split;
    dls_opgraph **graph;
    size_t n, n_graphs, job_cap, origin_cap;
} benched;

static void benched_fini(benched *b)
{
    for (size_t i = 0; b->graph && i < b->n_graphs; i++) {
        dls_opgraph_destroy(b->graph[i]);
    }
    DLS_FREE_ALL(b->graph, b->split, b->origin, b->job);
}

/* ---- the table ------------------------------------------------------------------------------- */

static dls_status text(dls_csv *csv, int col, char out[DLS_DATASET_NAME], dls_error *err)
{
    if (csv->cell[col].len == 0 || csv->cell[col].len >= DLS_DATASET_NAME) {
        return dls_csv_fail(csv, col, err, "expected a text of 1 to %d bytes",
                            DLS_DATASET_NAME - 1);
    }
    snprintf(out, DLS_DATASET_NAME, "%s", dls_csv_text(csv, col));
    return DLS_OK;
}

static dls_status find_graph(benched *b, const dls_dataset_origin *o, int32_t *graph,
                             dls_error *err)
{
    for (size_t i = 0; i < b->n_graphs; i++) {
        if (b->origin[i].batch == o->batch && strcmp(b->origin[i].model, o->model) == 0) {
            *graph = (int32_t)i;
            return DLS_OK;
        }
    }
    *graph = (int32_t)b->n_graphs;
    DLS_TRY(dls_grow(&b->origin, &b->origin_cap, b->n_graphs + 1, sizeof *b->origin, err));
    b->origin[b->n_graphs++] = *o;
    return DLS_OK;
}

static dls_status read_row(dls_csv *csv, const int *col, void *user, dls_error *err)
{
    benched *b = user;
    job j = {.setting = -1};
    char setting[DLS_DATASET_NAME];
    int64_t batch;
    dls_dataset_origin o = {.data = "bench", .numeric = "fp32", .optimiser = "sgd"};
    DLS_TRY(text(csv, col[COL_NETWORK], o.model, err));
    DLS_TRY(text(csv, col[COL_FAMILY], o.family, err));
    DLS_TRY(text(csv, col[COL_SETTING], setting, err));
    DLS_TRY(dls_csv_i64(csv, col[COL_BATCH], "a batch", 0, 1, INT32_MAX, &batch, err));
    DLS_TRY(dls_csv_real(csv, col[COL_ITERATION], "a number, at least 0", 0, &j.iteration_s, err));
    for (int k = 0; k < DLS_METRICS; k++) {
        DLS_TRY(dls_csv_real(csv, col[COL_METRIC + k], "a number, at least 0", 0, &j.label[k], err));
    }
    for (size_t i = 0; i < b->list->n; i++) {
        j.setting = strcmp(b->list->spec[i].name, setting) == 0 ? (int32_t)i : j.setting;
    }
    if (j.setting < 0) {
        return dls_csv_fail(csv, col[COL_SETTING], err, "a setting that --settings does not have");
    }
    o.batch = (int32_t)batch;
    DLS_TRY(find_graph(b, &o, &j.graph, err));
    for (size_t i = 0; i < b->n; i++) {
        if (b->job[i].graph == j.graph && b->job[i].setting == j.setting) {
            return dls_csv_fail(csv, col[COL_NETWORK], err, "this job is there twice");
        }
    }
    DLS_TRY(dls_grow(&b->job, &b->job_cap, b->n + 1, sizeof *b->job, err));
    b->job[b->n++] = j;
    return DLS_OK;
}

static dls_status read_table(const char *path, benched *b, dls_error *err)
{
    const char *names[N_COLUMNS] = {"network", "family", "batch", "setting", "iteration_s"};
    for (int k = 0; k < DLS_METRICS; k++) {
        names[COL_METRIC + k] = dls_metric_name(k);
    }
    DLS_TRY(dls_csv_rows(path, names, N_COLUMNS, N_COLUMNS, read_row, b, err));
    return b->n > 0 ? DLS_OK : dls_fail(err, DLS_EINPUT, path, "no job");
}

/* ---- graphs ---------------------------------------------------------------------------------- */

/* What stays together: a family, or one network with all its batches. */
static const char *member(const dls_dataset_origin *o, dls_split_rule rule)
{
    return rule == DLS_SPLIT_BY_FAMILY ? o->family : o->model;
}

/* The division: where a graph's family stands among all, by name. */
static void divide(benched *b, dls_split_rule rule, uint64_t seed)
{
    for (size_t i = 0; i < b->n_graphs; i++) {
        size_t place = 0;
        for (size_t k = 0; k < b->n_graphs; k++) {
            const char *name = member(&b->origin[k], rule);
            bool first = strcmp(name, member(&b->origin[i], rule)) < 0;
            for (size_t before = 0; before < k && first; before++) {
                first = strcmp(member(&b->origin[before], rule), name) != 0;
            }
            place += first;
        }
        const uint64_t part =
            (place + DLS_BENCHED_FOLDS - seed % DLS_BENCHED_FOLDS) % DLS_BENCHED_FOLDS;
        b->split[i] = part == 0 ? DLS_SPLIT_TEST : part == 1 ? DLS_SPLIT_VAL : DLS_SPLIT_TRAIN;
    }
}

static dls_status read_graphs(const char *folder, benched *b, dls_error *err)
{
    DLS_TRY(dls_alloc_array(&b->graph, b->n_graphs, sizeof(dls_opgraph *), "graphs", err));
    DLS_TRY(dls_alloc_array(&b->split, b->n_graphs, sizeof *b->split, "graphs", err));
    for (size_t i = 0; i < b->n_graphs; i++) {
        char path[4096];
        const dls_import_options how = {.model = b->origin[i].model,
                                        .dataset = b->origin[i].data,
                                        .batch = b->origin[i].batch,
                                        .training = true,
                                        .optimiser = DLS_OPTIMISER_SGD};
        snprintf(path, sizeof path, "%s/%s.onnx", folder, b->origin[i].model);
        DLS_TRY(dls_graph_import(path, &how, &b->graph[i], NULL, err));
    }
    return DLS_OK;
}

/* ---- the set --------------------------------------------------------------------------------- */

DLS_BY(by_graph, job, DLS_UP(graph));

/* What the operator model says of a job. */
static dls_status know(const benched *b, const dls_setting_spec *spec, const job *j,
                       dls_dataset_setting *s, dls_error *err)
{
    DLS_OWN(dls_workload_fini) dls_workload w = {0};
    dls_fabric fabric;
    dls_work_setting work;
    DLS_OWN(dls_timeline_fini) dls_timeline timeline = {0};
    DLS_TRY(dls_workload_from_graph(b->graph[j->graph], &w, err));
    DLS_TRY(dls_setting_work(spec, b->model, b->hw, &w, b->origin[j->graph].batch, DLS_NUMERIC_FP32,
                             &fabric, &work, err));
    DLS_TRY(dls_timeline_build(b->model, &w, &work, &timeline, err));
    s->model_s[s->n] = timeline.step_s;
    s->link_bytes[s->n] = dls_track_integral(&timeline.track[DLS_TRACK_TX], timeline.step_s);
    return DLS_OK;
}

static dls_status fill_setting(const benched *b, int32_t which, dls_dataset_setting *s,
                               dls_error *err)
{
    dls_dataset_setting_describe(&b->list->spec[which], s);
    s->measured = true;
    DLS_TRY(DLS_ALLOC_ALL("labels", err, DLS_ARRAY(s->graph, b->n), DLS_ARRAY(s->split, b->n),
                          DLS_ARRAY(s->label, b->n * DLS_METRICS),
                          DLS_ARRAY(s->iteration_s, b->n)));
    if (b->model) {
        DLS_TRY(dls_alloc_array(&s->model_s, b->n, sizeof *s->model_s, "labels", err));
        DLS_TRY(dls_alloc_array(&s->link_bytes, b->n, sizeof *s->link_bytes, "labels", err));
    }
    for (size_t i = 0; i < b->n; i++) { /* in order of their graphs */
        const job *j = &b->job[i];
        if (j->setting == which) {
            if (b->model) {
                DLS_TRY(know(b, &b->list->spec[which], j, s, err));
            }
            s->graph[s->n] = j->graph;
            s->split[s->n] = b->split[j->graph];
            s->iteration_s[s->n] = j->iteration_s;
            memcpy(s->label + s->n * DLS_METRICS, j->label, sizeof j->label);
            s->n++;
        }
    }
    return DLS_OK;
}

static dls_status fill_settings(benched *b, dls_dataset *set, dls_error *err)
{
    qsort(b->job, b->n, sizeof *b->job, by_graph);
    DLS_TRY(dls_alloc_array(&set->setting, b->list->n + 1, sizeof *set->setting, "settings", err));
    for (size_t i = 0; i < b->list->n; i++) {
        bool any = false;
        for (size_t k = 0; k < b->n; k++) {
            any = any || b->job[k].setting == (int32_t)i;
        }
        if (any) {
            DLS_TRY(fill_setting(b, (int32_t)i, &set->setting[set->n_settings++], err));
        }
    }
    return DLS_OK;
}

static dls_status fill(benched *b, const dls_corpus_options *o, dls_dataset *set, dls_error *err)
{
    DLS_OWN(dls_input_spec_fini) dls_input_spec input = {0};
    DLS_TRY(dls_alloc_array(&set->graph, b->n_graphs, sizeof *set->graph, "dataset", err));
    DLS_TRY(dls_alloc_array(&set->origin, b->n_graphs, sizeof *set->origin, "dataset", err));
    set->n_graphs = b->n_graphs;
    set->seed = o->seed;
    memcpy(set->origin, b->origin, b->n_graphs * sizeof *set->origin);
    DLS_TRY(dls_corpus_describe(o, b->graph, b->n_graphs, b->split, set->graph, &input, err));
    set->n_features = input.features->n_features;
    snprintf(set->feature_version, sizeof set->feature_version, "%s",
             dls_features_version_name((int)input.features->version));
    DLS_TRY(dls_input_spec_text(&input, &set->features_text, err));
    return fill_settings(b, set, err);
}

dls_status dls_dataset_benched(const char *csv_path, const char *graphs_dir,
                               const dls_setting_list *list, const dls_corpus_options *o,
                               const dls_opmodel *model, const dls_hardware *hw, dls_dataset **out,
                               dls_error *err)
{
    DLS_OWN(benched_fini) benched b = {.list = list, .model = model, .hw = hw};
    DLS_HOLD(dls_dataset_destroy) dls_dataset *set = NULL;
    *out = NULL;
    DLS_TRY(dls_alloc_array(&set, 1, sizeof *set, "dataset", err));
    DLS_TRY(read_table(csv_path, &b, err));
    DLS_TRY(read_graphs(graphs_dir, &b, err));
    divide(&b, o->split, o->seed);
    DLS_TRY(fill(&b, o, set, err));
    *out = dls_take(&set);
    return DLS_OK;
}

/* ---- calibration ----------------------------------------------------------------------------- */

static const char *const fabric_name[] = {"jobs-allreduce", "jobs-servers"};

typedef struct calibration {
    const benched *b;
    const dls_hardware *hw;
    dls_opmodel *model;
    const dls_workload *work; /* [graphs] */
    bool servers;             /* whose jobs are fitted */
    dls_status status;        /* of the first job that could not be asked */
    dls_error *err;
} calibration;

static bool is_asked(const calibration *c, const dls_setting_spec *spec)
{
    return spec->workers > 1 && (spec->servers > 0) == c->servers;
}

/* What is fitted to jobs of several workers: a fabric's waiting, costs and computing beside others.
 */
enum { WAITING, PER_TENSOR, MESSAGE, BYTE, BESIDE, EXCHANGE };

static void set_exchange(dls_fabric *f, const double *x, bool servers)
{
    f->straggle = exp(x[WAITING]);
    f->per_tensor_s = exp(x[PER_TENSOR]);
    f->message_s = exp(x[MESSAGE]);
    f->byte_s = exp(x[BYTE]);
    f->beside = exp(x[BESIDE]);
    f->shared = servers;
}

/* A job's step and its processor's time in it. */
static dls_status step_of(const calibration *c, const job *j, const double *x, double *step_s,
                          double *used_s)
{
    const dls_setting_spec *spec = &c->b->list->spec[j->setting];
    const dls_workload *w = &c->work[j->graph];
    dls_work_setting s;
    dls_fabric fabric;
    dls_step_in_setting step;
    DLS_TRY(dls_setting_work(spec, c->model, c->hw, w, c->b->origin[j->graph].batch,
                             DLS_NUMERIC_FP32, &fabric, &s, c->err));
    set_exchange(&fabric, x, c->servers);
    DLS_TRY(dls_setting_step(c->model, w, &s, &step, c->err));
    *step_s = step.step_s;
    *used_s = step.gpu.gpu_s + dls_handling_s(w, &s);
    return DLS_OK;
}

static void residuals(void *user, const double *x, double *residual)
{
    calibration *c = user;
    size_t n = 0;
    for (size_t i = 0; i < c->b->n; i++) {
        const job *j = &c->b->job[i];
        double step_s = 1, used_s = 1;
        if (is_asked(c, &c->b->list->spec[j->setting])) {
            const double was_s = j->label[3 * DLS_RES_GPU + 1] * j->label[3 * DLS_RES_GPU + 2];
            c->status = c->status == DLS_OK ? step_of(c, j, x, &step_s, &used_s) : c->status;
            residual[n++] = log(step_s / j->iteration_s) / 0.1;
            residual[n++] = was_s > 0 ? log(used_s / was_s) / 0.1 : 0;
        }
    }
}

/* The row of the model with that name, or a new one. */
static dls_fabric_row *fabric_row(dls_opmodel *model, const char *name)
{
    for (size_t i = 0; i < model->n_fabrics; i++) {
        if (strcmp(model->fabric[i].name, name) == 0) {
            return &model->fabric[i];
        }
    }
    return model->n_fabrics < DLS_OPMODEL_ROWS ? &model->fabric[model->n_fabrics++] : NULL;
}

static dls_status fit_exchange(calibration *c, bool servers, dls_error *err)
{
    /* A tenth of a step, 0.1 ms, 0.5 ns, 3 %; what jobs do not show stays about there. */
    dls_fit fit = {.residuals = residuals,
                   .user = c,
                   .n = EXCHANGE,
                   .mean = {log(0.1), log(1e-4), log(1e-4), log(5e-10), log(0.03)},
                   .sigma = {2, 2, 2, 2, 2}};
    double x[DLS_FIT_MAX];
    c->servers = servers;
    for (size_t i = 0; i < c->b->n; i++) {
        fit.n_residuals += 2 * is_asked(c, &c->b->list->spec[c->b->job[i].setting]);
    }
    if (fit.n_residuals == 0) {
        return DLS_OK;
    }
    const dls_status status = dls_fit_run(&fit, x, err);
    DLS_TRY(c->status);
    DLS_TRY(status);
    dls_fabric_row *row = fabric_row(c->model, fabric_name[servers]);
    if (!row) {
        return dls_fail(err, DLS_EINPUT, "fabrics", "more than %d", DLS_OPMODEL_ROWS);
    }
    *row = (dls_fabric_row){.fabric = {.bps = 1, .gamma = 1}};
    set_exchange(&row->fabric, x, servers);
    snprintf(row->name, sizeof row->name, "%s", fabric_name[servers]);
    return DLS_OK;
}

static dls_status fit_operations(const benched *b, const dls_workload *work, const dls_hw_gpu *gpu,
                                 dls_opmodel *model, dls_error *err)
{
    dls_op_job *alone;
    size_t n = 0, at = 0;
    while (at < model->n_rates && strcmp(model->rates[at].gpu, gpu->name) != 0) {
        at++;
    }
    if (at == DLS_OPMODEL_ROWS) {
        return dls_fail(err, DLS_EINPUT, "rates", "more than %d", DLS_OPMODEL_ROWS);
    }
    DLS_TRY(dls_alloc_array(&alone, b->n, sizeof *alone, "jobs", err));
    for (size_t i = 0; i < b->n; i++) {
        const job *j = &b->job[i];
        const dls_setting_spec *spec = &b->list->spec[j->setting];
        if (spec->workers == 1 && spec->servers == 0) {
            alone[n++] = (dls_op_job){&work[j->graph], b->origin[j->graph].batch, j->iteration_s};
        }
    }
    dls_rates formula = dls_opmodel_rates(model, gpu, DLS_NUMERIC_FP32);
    dls_op_rates found;
    const dls_status status = dls_op_rates_fit(alone, n, &formula, &found, err);
    dls_free(alone);
    DLS_TRY(status);
    snprintf(found.gpu, sizeof found.gpu, "%s", gpu->name);
    model->rates[at] = found;
    model->n_rates += at == model->n_rates;
    return DLS_OK;
}

static dls_status calibrate(benched *b, dls_workload *work, const dls_hardware *hw,
                            const char *gpu_name, dls_opmodel *model, dls_error *err)
{
    const dls_hw_gpu *gpu;
    calibration c = {.b = b, .hw = hw, .model = model, .work = work, .err = err};
    DLS_TRY(dls_hardware_gpu(hw, gpu_name, &gpu, err));
    for (size_t i = 0; i < b->n; i++) {
        const dls_setting_spec *spec = &b->list->spec[b->job[i].setting];
        if (strcmp(spec->gpu, gpu->name) != 0) {
            return dls_fail(err, DLS_EINPUT, spec->name, "runs on %s, not on %s", spec->gpu,
                            gpu->name);
        }
        if (!(b->job[i].iteration_s > 0)) {
            return dls_fail(err, DLS_EINPUT, spec->name, "a step of no time");
        }
    }
    for (size_t i = 0; i < b->n_graphs; i++) {
        DLS_TRY(dls_workload_from_graph(b->graph[i], &work[i], err));
    }
    DLS_TRY(fit_operations(b, work, gpu, model, err));
    DLS_TRY(fit_exchange(&c, false, err));
    return fit_exchange(&c, true, err);
}

dls_status dls_benched_calibrate(const char *csv_path, const char *graphs_dir,
                                 const dls_setting_list *list, const dls_hardware *hw,
                                 const char *gpu, dls_opmodel *model, dls_error *err)
{
    DLS_OWN(benched_fini) benched b = {.list = list};
    DLS_FREED dls_workload *work = NULL;
    DLS_TRY(read_table(csv_path, &b, err));
    DLS_TRY(read_graphs(graphs_dir, &b, err));
    DLS_TRY(dls_alloc_array(&work, b.n_graphs, sizeof *work, "jobs", err));
    const dls_status status = calibrate(&b, work, hw, gpu, model, err);
    for (size_t i = 0; i < b.n_graphs; i++) {
        dls_workload_fini(&work[i]);
    }
    return status;
}
