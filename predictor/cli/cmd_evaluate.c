/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim evaluate: how good an inspector is on a dataset, and what it is measured by.
 */
#include "base/alloc.h"
#include "base/atomicfile.h"
#include "base/json.h"
#include "base/own.h"
#include "predictor/cli/evaluate.h"
#include "predictor/sources/setting_files.h"
#include "predictor/training/fit.h"
#include "predictor/training/judge.h"

#include <string.h>

#define SETTINGS_MAX 1024

typedef struct judged {
    const char *name;
    dls_judgement j;
    dls_baseline_errors other; /* --baselines */
} judged;

typedef struct session {
    const dls_evaluation *req;
    dls_inspector *insp;
    dls_dataset *set;
    dls_predictor *predictor;
    judged *result; /* [SETTINGS_MAX] */
    dls_baselines baselines;
    size_t n;
} session;

/* ---- --rows: every label of a split beside its prediction, as CSV ---------------------------- */

static void put_labels(const dls_dataset *set, size_t setting, const dls_yardsticks *y, size_t i,
                       const double *predicted, FILE *out)
{
    const dls_dataset_setting *s = &set->setting[setting];
    const dls_dataset_origin *o = &set->origin[s->graph[y->row[i]]];
    for (int k = 0; k <= DLS_METRICS; k++) {
        const bool step = k == DLS_METRICS; /* idle and active time of the GPU together */
        const size_t at = i * DLS_METRICS + (step ? DLS_GPU_IDLE : (size_t)k);
        const double p = predicted[at] + (step ? predicted[at + 1] : 0);
        const double nearest = y->nearest[at] + (step ? y->nearest[at + 1] : 0);
        fprintf(out, "%s,%s,%s,%d,%s,%.9g,%.9g,%.9g\n", s->name, o->model, o->family, (int)o->batch,
                step ? "iteration_s" : dls_metric_name(k), step ? y->iteration_s[i] : y->label[at],
                p, nearest);
    }
}

static dls_status put_rows(const session *s, size_t setting, int32_t as, FILE *out, dls_error *err)
{
    DLS_HOLD(dls_yardsticks_destroy) dls_yardsticks *y = NULL;
    DLS_FREED double *predicted = NULL;
    DLS_TRY(dls_yardsticks_create(s->set, setting, s->req->split, &y, err));
    DLS_TRY(dls_alloc_array(&predicted, y->n * DLS_METRICS, sizeof *predicted, "predictions", err));
    DLS_TRY(dls_judge_predict(s->predictor, y, as, predicted, err));
    for (size_t i = 0; i < y->n; i++) {
        put_labels(s->set, setting, y, i, predicted, out);
    }
    return DLS_OK;
}

/* ---- judging --------------------------------------------------------------------------------- */

static dls_status judge(session *s, size_t setting, FILE *rows, dls_error *err)
{
    const char *name = s->set->setting[setting].name;
    const int32_t as = dls_inspector_find(s->insp, s->req->as ? s->req->as : name);
    if (as == -2) {
        return s->req->setting.n || s->req->as
                   ? dls_fail(err, DLS_EINPUT, s->req->weights, "no setting \"%s\"",
                              s->req->as ? s->req->as : name)
                   : DLS_OK;
    }
    if (rows) {
        DLS_TRY(put_rows(s, setting, as, rows, err));
    }
    judged *result = &s->result[s->n++];
    result->name = name;
    DLS_TRY(dls_judge(s->predictor, s->set, setting, as, s->req->split, &result->j, err));
    return s->req->baselines
               ? dls_baselines_judge(&s->baselines, setting, s->req->split, &result->other, err)
               : DLS_OK;
}

static dls_status load(session *s, dls_error *err)
{
    const dls_evaluation *req = s->req;
    DLS_TRY(dls_inspector_load(req->weights, &s->insp, err));
    DLS_TRY(dls_dataset_load(req->dataset, req->setting.at, req->setting.n, &s->set, err));
    DLS_TRY(dls_fit_check(s->insp, s->set, err));
    return dls_setting_files_settle_set(s->insp, s->set, NULL, 0, req->hardware, err);
}

/* rows: NULL, or where every label goes. */
static dls_status judge_settings(FILE *rows, void *session_, dls_error *err)
{
    session *s = session_;
    if (rows) {
        fputs("setting,model,family,batch,metric,label,predicted,nearest\n", rows);
    }
    for (size_t i = 0; i < s->set->n_settings && i < SETTINGS_MAX; i++) {
        DLS_TRY(judge(s, i, rows, err));
    }
    return DLS_OK;
}

static dls_status judge_all(session *s, dls_error *err)
{
    const dls_evaluation *req = s->req;
    const dls_predictor_options o = {.backend = DLS_BACKEND_CPU, .threads = req->threads};
    DLS_TRY(dls_alloc_array(&s->result, SETTINGS_MAX, sizeof *s->result, "results", err));
    DLS_TRY(dls_predictor_create(s->insp, &o, &s->predictor, err));
    if (req->baselines) {
        DLS_TRY(dls_baselines_open(s->set, req->hardware, req->learned.at, req->learned.n,
                                   &s->baselines, err));
    }
    DLS_TRY(req->rows ? dls_atomicfile_write(req->rows, judge_settings, s, err)
                      : judge_settings(NULL, s, err));
    return s->n ? DLS_OK
                : dls_fail(err, DLS_EINPUT, req->weights,
                           "the inspector has no setting that is in %s", req->dataset);
}

/* ---- printing -------------------------------------------------------------------------------- */

/* Learned baselines are shown if their file was given, Habitat's if there is the setting that it scales. */
static bool has_column(const session *s, int kind)
{
    const bool scales = s->baselines.v100 >= 0;
    return kind == DLS_BASELINE_JUSTUS         ? s->baselines.has[DLS_LEARNED_JUSTUS]
           : kind == DLS_BASELINE_HABITAT_NETS ? s->baselines.has[DLS_LEARNED_HABITAT] && scales
           : kind == DLS_BASELINE_HABITAT      ? scales
                                               : true;
}

static void json_column(json_object *to, const char *name, const dls_column_error *e)
{
    DLS_JSON(dls_json_object(to, name), "counted", e->counted, "rmse", e->rmse, "by_range",
             e->by_range, "by_mean", e->by_mean, "by_max", e->by_max, "percent", e->percent);
}

static void json_table(json_object *to, const char *who, const dls_error_table *t)
{
    json_object *obj = dls_json_object(to, who);
    DLS_JSON(obj, "graphs", t->n, "nrmse", t->by_range, "by_mean", t->by_mean, "by_max", t->by_max,
             "percent", t->percent);
    for (int k = 0; k < DLS_METRICS; k++) {
        json_column(obj, dls_metric_name(k), &t->metric[k]);
    }
    json_column(obj, "iteration", &t->iteration);
}

static dls_status print_json(const session *s, dls_error *err)
{
    json_object *top = json_object_new_object();
    dls_json_text(top, "split", dls_split_name((int)s->req->split));
    json_object *list = dls_json_list(top, "settings");
    for (size_t i = 0; i < s->n; i++) {
        const dls_judgement *j = &s->result[i].j;
        json_object *obj = dls_json_next(list);
        DLS_JSON(obj, "setting", s->result[i].name, "graphs", j->table[0].n);
        for (int k = 0; k < DLS_WHO_COUNT; k++) {
            if (j->has[k]) {
                json_table(obj, dls_who_names[k], &j->table[k]);
            }
        }
        for (int k = 0; s->req->baselines && k < DLS_BASELINE_KINDS; k++) {
            char name[64];
            if (has_column(s, k)) {
                snprintf(name, sizeof name, "%s_iteration", dls_baseline_names[k]);
                json_column(obj, name, &s->result[i].other.error[k]);
            }
        }
    }
    return dls_json_print(stdout, top, err);
}

static void print_metrics(const dls_judgement *j)
{
    for (int k = 0; k <= DLS_METRICS; k++) {
        const bool last = k == DLS_METRICS;
        printf("  %-20s", last ? "iteration" : dls_metric_name(k));
        for (int w = 0; w < DLS_WHO_COUNT; w++) {
            const dls_column_error *e = last ? &j->table[w].iteration : &j->table[w].metric[k];
            if (e->counted) {
                printf(" %8.4f %7.1f%%", e->by_range, e->percent);
            } else {
                printf(" %17s", "-");
            }
        }
        putchar('\n');
    }
}

/* Columns of a setting's line: whose error, of all metrics or of the step alone. */
static const struct {
    const char *head;
    int who;
    bool iteration;
    int width;
} columns[] = {{"NRMSE", DLS_WHO_INSPECTOR, false, 9}, {"floor", DLS_WHO_FLOOR, false, 7},
               {"operat.", DLS_WHO_MODEL, false, 7},   {"nearest", DLS_WHO_NEAREST, false, 7},
               {"mean", DLS_WHO_MEAN, false, 7},       {"iter", DLS_WHO_INSPECTOR, true, 9},
               {"floor", DLS_WHO_FLOOR, true, 7},      {"operat.", DLS_WHO_MODEL, true, 7},
               {"nearest", DLS_WHO_NEAREST, true, 7}};
enum { COLUMNS = sizeof columns / sizeof *columns };

static void print_all_errors(const session *s)
{
    double sum[COLUMNS] = {0};
    printf("%-22s %4s", "setting", "n");
    for (int k = 0; k < COLUMNS; k++) {
        printf(" %*s", columns[k].width, columns[k].head);
    }
    putchar('\n');
    for (size_t i = 0; i < s->n; i++) {
        const dls_judgement *j = &s->result[i].j;
        printf("%-22s %4zu", s->result[i].name, j->table[0].n);
        for (int k = 0; k < COLUMNS; k++) {
            const dls_error_table *t = &j->table[columns[k].who];
            const double x = columns[k].iteration ? t->iteration.by_range : t->by_range;
            sum[k] += x / (double)s->n;
            printf(" %*.4f", columns[k].width, x);
        }
        putchar('\n');
        if (s->req->metrics) {
            print_metrics(j);
        }
    }
    if (s->n > 1) {
        printf("%-22s %4s", "average", "");
        for (int k = 0; k < COLUMNS; k++) {
            printf(" %*.4f", columns[k].width, sum[k]);
        }
        putchar('\n');
    }
}

/* Families are the same in every setting; one whose graphs do not fit a GPU counts where they do.
 */
static void print_families(const session *s)
{
    dls_family_error sum[DLS_FAMILIES_MAX];
    double in[DLS_FAMILIES_MAX] = {0};
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++) {
        const dls_judgement *j = &s->result[i].j;
        for (size_t f = 0; f < j->n_families; f++) {
            const dls_family_error *e = &j->family[f];
            size_t at = 0;
            while (at < n && strcmp(sum[at].name, e->name) != 0) {
                at++;
            }
            if (at == DLS_FAMILIES_MAX) {
                continue;
            }
            if (at == n) {
                sum[n++] = (dls_family_error){0};
                memcpy(sum[at].name, e->name, sizeof sum[at].name);
            }
            in[at] += 1;
            sum[at].n += e->n;
            sum[at].by_range += e->by_range;
            sum[at].iteration += e->iteration;
            sum[at].percent += e->percent;
            sum[at].share += e->share;
        }
    }
    printf("%-22s %6s %9s %9s %7s %7s\n", "family", "graphs", "NRMSE", "iter", "iter%", "share");
    for (size_t f = 0; f < n; f++) {
        printf("%-22s %6.1f %9.4f %9.4f %6.1f%% %6.1f%%\n", sum[f].name, (double)sum[f].n / in[f],
               sum[f].by_range / in[f], sum[f].iteration / in[f], sum[f].percent / in[f],
               100 * sum[f].share / (double)s->n);
    }
}

/* The step time alone, by range and in percent. */
static void print_step_errors(const dls_column_error *e, const bool *shown)
{
    for (int k = 0; k < 2 + DLS_BASELINE_KINDS; k++) {
        if (shown[k]) {
            printf(" %7.4f %6.1f%%", e[k].by_range, e[k].percent);
        }
    }
    putchar('\n');
}

static void print_baselines(const session *s)
{
    dls_column_error sum[2 + DLS_BASELINE_KINDS] = {{0}};
    bool shown[2 + DLS_BASELINE_KINDS] = {true, true};
    printf("%-22s %4s %15s %15s", "step time", "n", "inspector", "operator model");
    for (int k = 0; k < DLS_BASELINE_KINDS; k++) {
        shown[2 + k] = has_column(s, k);
        if (shown[2 + k]) {
            printf(" %15s", dls_baseline_names[k]);
        }
    }
    putchar('\n');
    for (size_t i = 0; i < s->n; i++) {
        const judged *r = &s->result[i];
        dls_column_error e[2 + DLS_BASELINE_KINDS] = {r->j.table[DLS_WHO_INSPECTOR].iteration,
                                                      r->j.table[DLS_WHO_MODEL].iteration};
        memcpy(e + 2, r->other.error, sizeof r->other.error);
        for (int k = 0; k < 2 + DLS_BASELINE_KINDS; k++) {
            sum[k].by_range += e[k].by_range / (double)s->n;
            sum[k].percent += e[k].percent / (double)s->n;
        }
        printf("%-22s %4zu", r->name, r->j.table[0].n);
        print_step_errors(e, shown);
    }
    if (s->n > 1) {
        printf("%-22s %4s", "average", "");
        print_step_errors(sum, shown);
    }
}

static void session_fini(session *s)
{
    dls_baselines_close(&s->baselines);
    dls_predictor_destroy(s->predictor);
    dls_inspector_destroy(s->insp);
    dls_dataset_destroy(s->set);
    dls_free(s->result);
}

static dls_status run(dls_call *call, dls_error *err)
{
    dls_evaluation *req = call->request;
    DLS_OWN(session_fini) session s = {.req = req};
    req->baselines = req->baselines || req->learned.n > 0;
    DLS_TRY(load(&s, err));
    if (req->nearest) {
        return dls_unseen_print(s.insp, s.set, req, err);
    }
    DLS_TRY(judge_all(&s, err));
    if (req->json) {
        return print_json(&s, err);
    }
    if (req->baselines) {
        print_baselines(&s);
    } else if (req->families) {
        print_families(&s);
    } else {
        print_all_errors(&s);
    }
    return DLS_OK;
}

static const dls_arg args[] = {
    DLS_TEXT(dls_evaluation, weights, "weights", 0, "W.h5", "inspector file (see dlsim train)"),
    DLS_TEXT(dls_evaluation, dataset, "dataset", 0, "D.h5", "see dlsim dataset"),
    DLS_REPEAT(dls_evaluation, setting, "setting", 0, "NAME", "only this one; may be repeated"),
    DLS_TEXT(dls_evaluation, as, "as", 0, "NAME",
             "predict all of them as this setting of the file, or \"base\""),
    DLS_CHOICE(dls_evaluation, split, "split", 0, "train|val|test", "of the dataset"),
    DLS_SWITCH(dls_evaluation, metrics, "metrics", 0, "the errors of every metric"),
    DLS_OUTPUT(dls_evaluation, rows, "rows", 0, "FILE.csv",
             "every label beside the inspector's answer and the nearest training graph's"),
    DLS_SWITCH(dls_evaluation, families, "families", 0,
               "the errors of every model family, averaged over the settings"),
    DLS_SWITCH(dls_evaluation, baselines, "baselines", 0,
               "the step time beside Paleo's and, if the dataset has V100-w1, Habitat's scaling of "
               "that"),
    DLS_REPEAT(dls_evaluation, learned, "learned", 0, "J.h5",
               "the same beside a learned baseline (dlsim train --baseline); may be given for each "
               "method"),
    DLS_TEXT(dls_evaluation, nearest, "nearest", 0, "N.h5",
             "the settings that an inspector of all was not trained on (dlsim train --together), "
             "beside the nearest setting's and the own inspector of this file"),
    DLS_TEXT(dls_evaluation, hardware, "hardware", 0, "DIR",
             "folder of gpus.cfg, links.cfg and operator.cfg"),
    DLS_SWITCH(dls_evaluation, json, "json", 0, "all numbers as JSON"),
    DLS_INT(dls_evaluation, threads, "threads", 0, 1, 256, "one per core if left out"),
    DLS_ARGS_END};

/* evaluate_measured.c */
extern const dls_command dls_evaluate_measured;
static const dls_command *const parts[] = {&dls_evaluate_measured, NULL};

const dls_command dls_command_evaluate = {
    .name = "evaluate",
    .group = DLS_LABORATORY,
    .summary = "how good an inspector is on a dataset",
    .usage = "--weights=W.h5 --dataset=D.h5 [OPTION]...",
    .about = "Errors of an inspector on the test split of every setting that file and dataset "
             "share, beside the labels' own noise, the mean of the training split and the nearest "
             "training graph.",
    .notes = "NRMSE: root of the mean squared error over the labels' range (by mean and by maximum "
             "in JSON), averaged over the metrics that vary. iter: of the time of one step, GPU "
             "idle and active. share: of the squared error of that time.",
    .args = args,
    .part = parts,
    .needs = "weights dataset",
    .size = sizeof(dls_evaluation),
    .initial = &(const dls_evaluation){.split = DLS_SPLIT_TEST},
    .run = run,
};
