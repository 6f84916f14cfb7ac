/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim evaluate: how good an inspector is on a dataset, and what it is measured by.
 */
#include "base/alloc.h"
#include "cli/command.h"
#include "predictor/cli/evaluate_baselines.h"
#include "predictor/cli/evaluate_unseen.h"
#include "predictor/cli/together.h"
#include "cli/ui.h"
#include "predictor/training/fit.h"
#include "predictor/training/judge.h"

#include <string.h>

#define SETTINGS_MAX 1024

static const char help[] =
    "Usage: dlsim evaluate --weights=W.h5 --dataset=D.h5 [OPTION]...\n"
    "\n"
    "Errors of an inspector on the test split of every setting that file and dataset share, "
    "beside\n"
    "the labels' own noise, the mean of the training split and the nearest training graph.\n"
    "\n"
    "      --weights=W.h5      inspector file (see dlsim train)\n"
    "      --dataset=D.h5      see dlsim dataset\n"
    "      --setting=NAME      only this one; may be repeated\n"
    "      --as=NAME           predict all of them as this setting of the file, or \"base\"\n"
    "      --split=test|val|train   (test)\n"
    "      --metrics           the errors of every metric\n"
    "      --families          the errors of every model family, averaged over the settings\n"
    "      --baselines         the step time beside Paleo's and, if the dataset has V100-w1,\n"
    "                          Habitat's scaling of that\n"
    "      --learned=J.h5      the same beside a learned baseline (dlsim train --baseline); may "
    "be\n"
    "                          given for each method\n"
    "      --nearest=N.h5      the settings that an inspector of all was not trained on (dlsim "
    "train\n"
    "                          --together), beside the nearest setting's and the own inspector of\n"
    "                          this file\n"
    "      --hardware=DIR      folder of gpus.cfg, links.cfg and operator.cfg\n"
    "      --json              all numbers as JSON\n"
    "      --threads=N         (one per core)\n"
    "  -h, --help              show this and leave\n"
    "\n"
    "NRMSE: root of the mean squared error over the labels' range (by mean and by maximum in "
    "JSON),\n"
    "averaged over the metrics that vary. iter: of the time of one step, GPU idle and active.\n"
    "share: of the squared error of that time.\n";

typedef struct request {
    const char *weights, *dataset, *as, *hardware, *nearest;
    const char *setting[SETTINGS_MAX];
    size_t n_settings;
    dls_split split;
    const char *learned[DLS_LEARNED_COUNT];
    size_t n_learned;
    bool json, metrics, families, baselines;
    int32_t threads;
} request;

typedef struct judged {
    const char *name;
    dls_judgement j;
    dls_baseline_errors other; /* --baselines */
} judged;

typedef struct session {
    const request *req;
    dls_inspector *insp;
    dls_dataset *set;
    dls_predictor *predictor;
    judged *result; /* [SETTINGS_MAX] */
    dls_baselines baselines;
    size_t n;
} session;

/* ---- judging --------------------------------------------------------------------------------- */

static dls_status judge(session *s, size_t setting, dls_error *err)
{
    const char *name = s->set->setting[setting].name;
    const int32_t as = dls_inspector_find(s->insp, s->req->as ? s->req->as : name);
    if (as == -2) {
        return s->req->n_settings || s->req->as
                   ? dls_fail(err, DLS_EINPUT, s->req->weights, "no setting \"%s\"",
                              s->req->as ? s->req->as : name)
                   : DLS_OK;
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
    const request *req = s->req;
    DLS_TRY(dls_inspector_load(req->weights, &s->insp, err));
    DLS_TRY(dls_dataset_load(req->dataset, req->n_settings ? req->setting : NULL, req->n_settings,
                             &s->set, err));
    DLS_TRY(dls_fit_check(s->insp, s->set, err));
    return dls_together_settle(s->insp, s->set, NULL, 0, req->hardware, err);
}

static dls_status print_unseen(session *s, dls_error *err)
{
    const dls_unseen_options o = {.nearest = s->req->nearest,
                                  .hardware = s->req->hardware,
                                  .split = s->req->split,
                                  .threads = s->req->threads};
    DLS_TRY(load(s, err));
    return dls_unseen_print(s->insp, s->set, &o, err);
}

static dls_status judge_all(session *s, dls_error *err)
{
    const request *req = s->req;
    const dls_predictor_options o = {.backend = DLS_BACKEND_CPU, .threads = req->threads};
    DLS_TRY(load(s, err));
    DLS_TRY(dls_predictor_create(s->insp, &o, &s->predictor, err));
    if (req->baselines) {
        DLS_TRY(dls_baselines_open(s->set, req->hardware, req->learned, req->n_learned,
                                   &s->baselines, err));
    }
    for (size_t i = 0; i < s->set->n_settings && i < SETTINGS_MAX; i++) {
        DLS_TRY(judge(s, i, err));
    }
    return s->n ? DLS_OK
                : dls_fail(err, DLS_EINPUT, req->weights,
                           "the inspector has no setting that is in %s", req->dataset);
}

/* ---- printing -------------------------------------------------------------------------------- */

/* Learned baselines are shown if their file was given. */
static bool has_column(const session *s, int kind)
{
    return kind == DLS_BASELINE_JUSTUS         ? s->baselines.has[DLS_LEARNED_JUSTUS]
           : kind == DLS_BASELINE_HABITAT_NETS ? s->baselines.has[DLS_LEARNED_HABITAT]
                                               : true;
}

static void json_column(const dls_column_error *e)
{
    printf("{\"counted\": %s", e->counted ? "true" : "false");
    dls_ui_json_number("rmse", e->rmse);
    dls_ui_json_number("by_range", e->by_range);
    dls_ui_json_number("by_mean", e->by_mean);
    dls_ui_json_number("by_max", e->by_max);
    dls_ui_json_number("percent", e->percent);
    putchar('}');
}

static void json_table(const char *who, const dls_error_table *t)
{
    printf(",\n   \"%s\": {\"graphs\": %zu", who, t->n);
    dls_ui_json_number("nrmse", t->by_range);
    dls_ui_json_number("by_mean", t->by_mean);
    dls_ui_json_number("by_max", t->by_max);
    dls_ui_json_number("percent", t->percent);
    for (int k = 0; k < DLS_METRICS; k++) {
        printf(",\n     \"%s\": ", dls_metric_name(k));
        json_column(&t->metric[k]);
    }
    printf(",\n     \"iteration\": ");
    json_column(&t->iteration);
    putchar('}');
}

static void print_json(const session *s)
{
    printf("{\"split\": \"%s\", \"settings\": [", dls_split_name((int)s->req->split));
    for (size_t i = 0; i < s->n; i++) {
        const dls_judgement *j = &s->result[i].j;
        printf("%s\n  {\"setting\": ", i ? "," : "");
        dls_ui_json_string(stdout, s->result[i].name);
        printf(", \"graphs\": %zu", j->table[0].n);
        for (int k = 0; k < DLS_WHO_COUNT; k++) {
            if (j->has[k]) {
                json_table(dls_who_names[k], &j->table[k]);
            }
        }
        for (int k = 0; s->req->baselines && k < DLS_BASELINE_KINDS; k++) {
            if (has_column(s, k)) {
                printf(",\n   \"%s_iteration\": ", dls_baseline_names[k]);
                json_column(&s->result[i].other.error[k]);
            }
        }
        putchar('}');
    }
    printf("\n]}\n");
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

/* n 0: of no one setting. */
static void print_errors(const char *name, size_t n, const double *all, const double *iteration)
{
    char graphs[24] = "";
    if (n) {
        snprintf(graphs, sizeof graphs, "%zu", n);
    }
    printf("%-22s %4s %9.4f %7.4f %7.4f %7.4f %7.4f %9.4f %7.4f %7.4f %7.4f\n", name, graphs,
           all[DLS_WHO_INSPECTOR], all[DLS_WHO_FLOOR], all[DLS_WHO_MODEL], all[DLS_WHO_NEAREST],
           all[DLS_WHO_MEAN], iteration[DLS_WHO_INSPECTOR], iteration[DLS_WHO_FLOOR],
           iteration[DLS_WHO_MODEL], iteration[DLS_WHO_NEAREST]);
}

static void print_all_errors(const session *s)
{
    double sum[DLS_WHO_COUNT] = {0};
    double iteration_sum[DLS_WHO_COUNT] = {0};
    printf("%-22s %4s %9s %7s %7s %7s %7s %9s %7s %7s %7s\n", "setting", "n", "NRMSE", "floor",
           "operat.", "nearest", "mean", "iter", "floor", "operat.", "nearest");
    for (size_t i = 0; i < s->n; i++) {
        const dls_judgement *j = &s->result[i].j;
        double all[DLS_WHO_COUNT];
        double iteration[DLS_WHO_COUNT];
        for (int k = 0; k < DLS_WHO_COUNT; k++) {
            all[k] = j->table[k].by_range;
            iteration[k] = j->table[k].iteration.by_range;
            sum[k] += all[k] / (double)s->n;
            iteration_sum[k] += iteration[k] / (double)s->n;
        }
        print_errors(s->result[i].name, j->table[0].n, all, iteration);
        if (s->req->metrics) {
            print_metrics(j);
        }
    }
    if (s->n > 1) {
        print_errors("average", 0, sum, iteration_sum);
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

/* The step time alone, by range and in percent; n 0: of no one setting. */
static void print_step_errors(const char *name, size_t n, const dls_column_error *e,
                              const bool *shown)
{
    printf("%-22s", name);
    if (n) {
        printf(" %4zu", n);
    } else {
        printf("     ");
    }
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
        print_step_errors(r->name, r->j.table[0].n, e, shown);
    }
    if (s->n > 1) {
        print_step_errors("average", 0, sum, shown);
    }
}

static void print_text(const session *s)
{
    if (s->req->baselines) {
        print_baselines(s);
        return;
    }
    if (s->req->families) {
        print_families(s);
        return;
    }
    print_all_errors(s);
}

static int evaluate(const request *req)
{
    dls_error err = {0};
    session s = {.req = req, .result = dls_alloc_zero(SETTINGS_MAX, sizeof(judged))};
    dls_status status = !s.result      ? dls_nomem(&err, "results", SETTINGS_MAX * sizeof(judged))
                        : req->nearest ? print_unseen(&s, &err)
                                       : judge_all(&s, &err);
    if (status != DLS_OK || req->nearest) {
        /* nothing more to print */
    } else if (req->json) {
        print_json(&s);
    } else {
        print_text(&s);
    }
    dls_baselines_close(&s.baselines);
    dls_predictor_destroy(s.predictor);
    dls_inspector_destroy(s.insp);
    dls_dataset_destroy(s.set);
    dls_free(s.result);
    return status == DLS_OK ? 0 : dls_ui_fail(&err);
}

/* ---- options --------------------------------------------------------------------------------- */

enum {
    OPT_WEIGHTS = 256,
    OPT_DATASET,
    OPT_SETTING,
    OPT_AS,
    OPT_SPLIT,
    OPT_THREADS,
    OPT_HARDWARE,
    OPT_NEAREST,
    OPT_LEARNED
};

static bool take(int opt, request *req)
{
    int64_t n = 0;
    switch (opt) {
    case OPT_WEIGHTS:
        req->weights = optarg;
        return true;
    case OPT_DATASET:
        req->dataset = optarg;
        return true;
    case OPT_AS:
        req->as = optarg;
        return true;
    case OPT_SETTING:
        if (req->n_settings == SETTINGS_MAX) {
            dls_ui_usage("evaluate", "--setting: more than %d", SETTINGS_MAX);
            return false;
        }
        req->setting[req->n_settings++] = optarg;
        return true;
    case OPT_SPLIT:
        for (int i = 0; i < DLS_SPLITS; i++) {
            if (strcmp(optarg, dls_split_name(i)) == 0) {
                req->split = (dls_split)i;
                return true;
            }
        }
        dls_ui_usage("evaluate", "--split=%s: train, val or test", optarg);
        return false;
    case OPT_THREADS:
        if (!dls_ui_i64("evaluate", "--threads", optarg, 1, 256, &n)) {
            return false;
        }
        req->threads = (int32_t)n;
        return true;
    case OPT_NEAREST:
        req->nearest = optarg;
        return true;
    case OPT_HARDWARE:
        req->hardware = optarg;
        return true;
    case OPT_LEARNED:
        if (req->n_learned == DLS_LEARNED_COUNT) {
            dls_ui_usage("evaluate", "--learned: more than %d", DLS_LEARNED_COUNT);
            return false;
        }
        req->learned[req->n_learned++] = optarg;
        req->baselines = true;
        return true;
    case 'b':
        req->baselines = true;
        return true;
    case 'f':
        req->families = true;
        return true;
    case 'm':
        req->metrics = true;
        return true;
    case 'j':
        req->json = true;
        return true;
    default:
        return false;
    }
}

static int legacy(int argc, char **argv)
{
    static const struct option longs[] = {{"weights", required_argument, NULL, OPT_WEIGHTS},
                                          {"dataset", required_argument, NULL, OPT_DATASET},
                                          {"setting", required_argument, NULL, OPT_SETTING},
                                          {"as", required_argument, NULL, OPT_AS},
                                          {"split", required_argument, NULL, OPT_SPLIT},
                                          {"threads", required_argument, NULL, OPT_THREADS},
                                          {"hardware", required_argument, NULL, OPT_HARDWARE},
                                          {"nearest", required_argument, NULL, OPT_NEAREST},
                                          {"learned", required_argument, NULL, OPT_LEARNED},
                                          {"baselines", no_argument, NULL, 'b'},
                                          {"metrics", no_argument, NULL, 'm'},
                                          {"families", no_argument, NULL, 'f'},
                                          {"json", no_argument, NULL, 'j'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    static request req;
    req = (request){.split = DLS_SPLIT_TEST};
    for (int opt; (opt = dls_ui_getopt(argc, argv, "h", longs, "evaluate")) != -1;) {
        if (opt == 'h') {
            fputs(help, stdout);
            return 0;
        }
        if (!take(opt, &req)) {
            return dls_status_exit_code(DLS_EUSAGE);
        }
    }
    if (!req.weights || !req.dataset || optind != argc) {
        return dls_ui_usage("evaluate", "--weights and --dataset are needed, and no other word");
    }
    return evaluate(&req);
}

const dls_command dls_command_evaluate = {
    .name = "evaluate", .group = DLS_LABORATORY, .summary = "how good an inspector is on a dataset", .legacy = legacy};
