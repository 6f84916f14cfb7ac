/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim train: inspectors from datasets. Opens or creates one, trains its settings one by one or
 * together, reports progress, saves the result.
 */
#include "predictor/cli/training.h"

#include "base/alloc.h"
#include "base/own.h"
#include "cli/signals.h"
#include "predictor/driple/arch_text.h"
#include "predictor/driple/weights.h"
#include "predictor/sources/setting_files.h"
#include "predictor/training/checkpoint.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { SETTINGS_MAX = 1024 };

typedef struct session {
    const dls_training *req;
    dls_dataset *set;
    dls_inspector *insp;
    size_t setting[SETTINGS_MAX];
    size_t n_settings;
    dls_progress bar;
    size_t done; /* settings */
    dls_train_course course[SETTINGS_MAX];
    dls_named_course named[SETTINGS_MAX];
    size_t n_courses;
} session;

/* ---- which settings -------------------------------------------------------------------------- */

static bool is_called(const dls_dataset_setting *s, const char *name)
{
    return strcmp(s->name, name) == 0 || strcmp(s->gpu_type, name) == 0;
}

static bool is_left_out(const dls_training_choice *c, const dls_dataset *set, size_t setting)
{
    const dls_dataset_setting *s = &set->setting[setting];
    if (c->leave_out > 0 && setting % (uint64_t)c->leave_out == c->from % (uint64_t)c->leave_out) {
        return true;
    }
    for (size_t k = 0; k < c->without.n; k++) {
        if (is_called(s, c->without.at[k])) {
            return true;
        }
    }
    return false;
}

/* Every name that is left out must be there. */
static dls_status check_left_out(const dls_dataset *set, const dls_training_choice *c,
                                 dls_error *err)
{
    for (size_t k = 0; k < c->without.n; k++) {
        bool found = false;
        for (size_t i = 0; i < set->n_settings; i++) {
            found |= is_called(&set->setting[i], c->without.at[k]);
        }
        if (!found) {
            return dls_fail(err, DLS_EINPUT, "--without", "no setting and no GPU \"%s\"",
                            c->without.at[k]);
        }
    }
    return DLS_OK;
}

static dls_status choose(session *s, dls_error *err)
{
    const dls_training_choice *c = &s->req->choice;
    DLS_TRY(check_left_out(s->set, c, err));
    for (size_t i = 0; c->all && i < s->set->n_settings && i < SETTINGS_MAX; i++) {
        if (dls_inspector_find(s->insp, s->set->setting[i].name) == -2 &&
            !is_left_out(c, s->set, i)) {
            s->setting[s->n_settings++] = i;
        }
    }
    for (size_t i = 0; i < c->setting.n && s->n_settings < SETTINGS_MAX; i++) {
        const int32_t idx = dls_dataset_find(s->set, c->setting.at[i]);
        if (idx < 0) {
            return dls_fail(err, DLS_EINPUT, c->setting.at[i], "no setting \"%s\"",
                            c->setting.at[i]);
        }
        s->setting[s->n_settings++] = (size_t)idx;
    }
    return DLS_OK;
}

/* One inspector of them all, which is told of each setting in numbers (dataset/condition.h). */
static dls_status fit_together(const session *s, const dls_train_options *o,
                               dls_train_course *course, dls_error *err)
{
    DLS_OWN(dls_hardware_fini) dls_hardware hw = {0};
    DLS_FREED double *number = NULL;
    DLS_TRY(dls_hardware_load(s->req->hardware, &hw, err));
    DLS_TRY(dls_alloc_array(&number, (s->n_settings + 1) * DLS_CONDITIONS, sizeof *number,
                            "numbers of settings", err));
    for (size_t i = 0; i < s->n_settings; i++) {
        const dls_setting_info info = dls_dataset_setting_info(&s->set->setting[s->setting[i]]);
        DLS_TRY(dls_condition_of_setting(&hw, &info, number + i * DLS_CONDITIONS, err));
    }
    DLS_TRY(dls_inspector_condition(s->insp, dls_condition_names, DLS_CONDITIONS, err));
    const dls_fit_settings which = {s->setting, number, s->n_settings};
    return dls_fit_all(s->insp, s->set, &which, &s->req->data, o, course, err);
}

/* ---- training -------------------------------------------------------------------------------- */

static bool progress(void *user, const dls_train_epoch *e)
{
    session *s = user;
    const dls_training *req = s->req;
    char detail[120];
    double frac = (double)e->epoch / (double)req->train.epochs;
    if (req->train.patience > 0) {
        const double waited = (double)(e->epoch - e->best_epoch) / (double)req->train.patience;
        frac = waited > frac ? waited : frac;
    }
    snprintf(detail, sizeof detail, "epoch %d, loss %.3g, validation %.3g, best %.3g",
             (int)e->epoch, e->train_loss, e->val_loss, e->best_loss);
    const double n = req->together ? 1 : (double)s->n_settings;
    dls_progress_draw(&s->bar, ((double)s->done + frac) / n, detail);
    return !dls_signals_noted();
}

/* One setting, or all of the session. */
static dls_status train_one(session *s, const size_t *setting, const char *name, dls_error *err)
{
    const dls_training *req = s->req;
    dls_train_course *course = &s->course[s->n_courses];
    dls_train_options o = req->train;
    o.progress = progress;
    o.user = s;
    dls_progress_start(&s->bar, req->when, req->quiet, name);
    dls_status status;
    if (req->together) {
        status = fit_together(s, &o, course, err);
    } else {
        status = dls_setting_files_settle_set(s->insp, s->set, setting, 1, req->hardware, err);
        DLS_THEN(status, dls_fit_setting(s->insp, s->set, *setting, req->tune, &req->data, &o,
                                         course, err));
    }
    dls_progress_stop(&s->bar);
    s->named[s->n_courses++] = (dls_named_course){name, course};
    DLS_TRY(status);
    if (!req->quiet && course->n) {
        const dls_train_epoch *last = &course->epoch[course->n - 1];
        char time[32];
        fprintf(stderr, "%s: %zu epochs, best validation loss %.6g in epoch %d, %s, %.0f MB\n",
                name, course->n, last->best_loss, (int)last->best_epoch,
                dls_ui_duration(course->start_s + last->seconds, time, sizeof time),
                1e-6 * (double)course->bytes);
    }
    return DLS_OK;
}

static dls_status open_inspector(session *s, dls_error *err)
{
    const dls_training *req = s->req;
    /* Settings that an interrupted training of several has finished are in its output. */
    const bool go_on =
        req->train.resume && dls_tune_is_setting(req->tune) && access(req->output, R_OK) == 0;
    if (go_on || req->base) {
        DLS_TRY(dls_inspector_load(go_on ? req->output : req->base, &s->insp, err));
        if (req->partition >= 0) {
            DLS_TRY(dls_inspector_partition(s->insp, req->partition, err));
        }
        return dls_fit_check(s->insp, s->set, err);
    }
    dls_arch arch = dls_arch_default();
    DLS_TRY(dls_arch_parse(&arch, req->arch, err));
    return dls_fit_new(s->set, &arch, req->train.seed, req->init, &s->insp, err);
}

static dls_status train_all(session *s, dls_error *err)
{
    const dls_training *req = s->req;
    DLS_TRY(dls_dataset_load(req->dataset.at[0], req->choice.all ? NULL : req->choice.setting.at,
                             req->choice.all ? 0 : req->choice.setting.n, &s->set, err));
    DLS_TRY(open_inspector(s, err));
    DLS_TRY(choose(s, err));
    dls_status status = DLS_OK;
    const size_t rounds = req->together && s->n_settings > 0 ? 1 : s->n_settings;
    for (; status == DLS_OK && s->done < rounds; s->done++) {
        const size_t *setting = &s->setting[s->done];
        status = train_one(s, setting,
                           req->together ? "all settings" : s->set->setting[*setting].name, err);
        DLS_THEN(status, dls_inspector_save(s->insp, req->output, err));
    }
    if (req->curves && (status == DLS_OK || status == DLS_EINTERRUPTED)) {
        const dls_status curves =
            dls_courses_save(req->curves, s->named, s->n_courses, status == DLS_OK ? err : NULL);
        DLS_THEN(status, curves);
    }
    return status;
}

static void session_fini(session *s)
{
    for (size_t i = 0; i < s->n_courses; i++) {
        dls_train_course_fini(&s->course[i]);
    }
    dls_inspector_destroy(s->insp);
    dls_dataset_destroy(s->set);
}

/* Writes the inspector after every setting. */
static dls_status train(const dls_training *req, dls_error *err)
{
    DLS_OWN(session_fini) session s = {.req = req};
    dls_signals_catch(); /* the first ends the training after its epoch */
    const dls_status status = train_all(&s, err);
    dls_signals_release();
    return status;
}

/* ---- the command ----------------------------------------------------------------------------- */

/* What is wrong with a study; NULL: nothing. */
static const char *wrong_study(const dls_training *req)
{
    const bool transfer = strcmp(req->study, "transfer") == 0;
    return req->dataset.n > 0 && req->dataset.n <= DLS_STUDY_VARIANTS &&
                   req->choice.setting.n > 0 && (transfer || req->choice.setting.n == 1) &&
                   transfer == (req->base != NULL) && !req->output
               ? NULL
               : "--study takes --dataset, one --setting and how to train; transfer: --base and "
                 "one "
                 "setting or more";
}

/* The same of a training. tuned: what is trained of the base was said. */
static const char *wrong_training(const dls_training *req, bool tuned)
{
    const dls_training_choice *c = &req->choice;
    const bool several = c->all || c->setting.n > 1;
    const struct {
        bool wrong;
        const char *why;
    } rules[] = {
        {req->dataset.n > 1, "several datasets are for --study=data"},
        {req->dataset.n == 0 || !req->output || (!c->all && c->setting.n == 0),
         "--dataset, --setting and --output are needed"},
        {req->base && !tuned, "--base needs --transfer, or --tune to say what is trained"},
        {req->base && *req->arch, "--arch: the base has its architecture"},
        {!req->base && req->tune != DLS_TUNE_BASE, "--tune and --transfer need --base"},
        {(c->without.n > 0 || c->leave_out > 0) && !c->all,
         "--without and --leave-out leave out of --settings=all"},
        {req->partition >= 0 && !req->base, "--partition is for tuning a --base"},
        {req->together && (req->base || tuned),
         "--together trains a new inspector, without --base"},
        {!req->together && several && !dls_tune_is_setting(req->tune),
         "several settings in one file need --transfer or --tune=mlp"},
        {!req->together && req->train.checkpoint && several,
         "--checkpoint is for one setting; with several, --resume goes on after the last finished "
         "one"}};
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        if (rules[i].wrong) {
            return rules[i].why;
        }
    }
    return NULL;
}

static dls_status run(dls_call *call, dls_error *err)
{
    dls_training *req = call->request;
    const bool tuned = req->transfer || dls_call_gave(call, "tune");
    req->tune = req->transfer ? DLS_TUNE_CONV_MLP : req->tune;
    req->data.seed = req->choice.from = req->train.seed;
    req->arch = req->arch ? req->arch : "";
    const char *wrong = req->study ? wrong_study(req) : wrong_training(req, tuned);
    if (wrong) {
        return dls_fail(err, DLS_EUSAGE, NULL, "%s", wrong);
    }
    return req->study ? dls_train_study(req, err) : train(req, err);
}

static void defaults(void *user)
{
    dls_training *req = user;
    req->train = dls_train_default();
    req->train.seed = 42;
}

static const dls_arg args[] = {
    DLS_REPEAT(dls_training, dataset, "dataset", 0, "D.h5", "see dlsim dataset"),
    DLS_REPEAT(dls_training, choice.setting, "setting", 0, "NAME",
               "may be repeated with --transfer and --together"),
    DLS_CHOICE_FROM(dls_training, choice.all, "settings", 0, true, "all",
                    "every setting of the dataset that the base does not have"),
    DLS_REPEAT(dls_training, choice.without, "without", 0, "NAME",
               "leave out this setting, or all of this GPU; may be repeated"),
    DLS_INT(dls_training, choice.leave_out, "leave-out", 0, 2, INT32_MAX,
            "leave out every N-th setting, the first one given by the seed"),
    DLS_SWITCH(
        dls_training, together, "together", 0,
        "one inspector of all the settings: told of a setting's GPU, link, workers, nodes and "
        "servers, it answers for any other, too"),
    DLS_TEXT(dls_training, hardware, "hardware", 0, "DIR",
             "folder of gpus.cfg and links.cfg; those that came with the program if left out"),
    DLS_TEXT(dls_training, base, "base", 0, "W.h5", "start from this inspector"),
    DLS_SWITCH(dls_training, transfer, "transfer", 0, "the same as --tune=conv+mlp"),
    DLS_REAL(dls_training, partition, "partition", 0, 0, 1,
             "share of the layers after the first that a setting takes from the base; that of the "
             "base, 0.5 if it does not say, if left out"),
    DLS_CHOICE(dls_training, tune, "tune", 0, "base|conv+mlp|mlp|conv+gru|all",
               "what is trained of the base: everything; a copy of the later layers and the MLP; "
               "the MLP; ..."),
    DLS_TEXT(dls_training, arch, "arch", 0, "KEY=VALUE..",
             "of a new inspector (docs/inspector-files.md)"),
    DLS_CHOICE(dls_training, init, "init", 0, "published|residual", "how new weights are drawn"),
    DLS_REAL(dls_training, data.share, "share", 0, 1e-6, 1,
             "use this share of the training graphs"),
    DLS_SWITCH(dls_training, data.relative, "relative", 0,
               "outputs relative to the operator model's step and to the bytes of the exchange, "
               "which the dataset knows"),
    DLS_REAL(dls_training, data.log_floor, "log-floor", 0, 0, 1,
             "times are trained as logarithms, with a floor of this share of their greatest; 0: as "
             "shares of it, as published"),
    DLS_INT(dls_training, train.epochs, "epochs", 0, 1, INT32_MAX, "at most"),
    DLS_INT(dls_training, train.patience, "patience", 0, 0, INT32_MAX,
            "epochs without a better validation loss until it ends"),
    DLS_INT(dls_training, train.batch, "batch", 0, 1, INT32_MAX, "graphs a step"),
    DLS_REAL(dls_training, train.adam.lr, "lr", 0, 1e-12, 1e3, "learning rate of Adam"),
    DLS_REAL(dls_training, train.lr_floor, "lr-floor", 0, 0, 1,
             "the rate falls along a half cosine to this share; 1: it does not"),
    DLS_REAL(dls_training, train.adam.weight_decay, "weight-decay", 0, 0, 1e3,
             "added to the gradient"),
    DLS_SWITCH(dls_training, train.adam.decoupled, "adamw", 0,
               "decouple the decay from the gradient"),
    DLS_REAL(dls_training, train.adam.clip_norm, "clip", 0, 1e-12, 1e12,
             "greatest norm of a gradient; any if left out"),
    DLS_REAL(dls_training, train.dropout, "dropout", 0, 0, 0.99,
             "after every layer but the last; none if left out"),
    DLS_REAL(dls_training, train.pairs, "pairs", 0, 0, 1e6,
             "together: weight of the loss over pairs of settings of a graph, whose errors are not "
             "to differ; none if left out"),
    DLS_SWITCH(dls_training, train.in_order, "in-order", 0,
               "batches as stored, as published, instead of shuffled"),
    DLS_INT(dls_training, train.seed, "seed", 0, 0, INT64_MAX,
            "initial weights, order of the graphs, dropout"),
    DLS_CHOICE_FROM(dls_training, train.backend, "backend", 0, DLS_BACKEND_CPU, "cpu|cuda",
                    "where to compute"),
    DLS_CHOICE(dls_training, train.step.f64, "precision", 0, "f32|f64", "f64 on the CPU only"),
    DLS_INT(dls_training, train.step.threads, "threads", 0, 1, INT32_MAX,
            "one per core if left out; the result does not depend on it"),
    DLS_OUTPUT(dls_training, train.checkpoint, "checkpoint", 0, "C.h5",
             "keep the state there, now and then and when it is interrupted", .adds = "--resume"),
    DLS_INT(dls_training, train.checkpoint_every, "checkpoint-every", 0, 1, INT32_MAX, "epochs"),
    DLS_SWITCH(dls_training, train.resume, "resume", 0,
               "go on from the checkpoint if it is there; with several settings, from the output: "
               "settings that it has are not trained again"),
    DLS_OUTPUT(dls_training, curves, "curves", 0, "L.h5", "write the learning curves", .adds = "--resume"),
    DLS_TEXT(dls_training, study, "study", 0, "NAME",
             "depth, readout, conv, init, data or transfer: train variants and print their errors "
             "instead of writing weights; data: each --dataset, which may be repeated; transfer: "
             "from scratch and from --base, with all training graphs and with --share of them"),
    DLS_INT(dls_training, seeds, "seeds", 0, 1, INT32_MAX,
            "of --study=transfer: trainings of each, and their spread"),
    DLS_OUTPUT(dls_training, output, "output", 'o', "W.h5", "where to write", .adds = "--resume"),
    DLS_PROGRESS(dls_training, when),
    DLS_SWITCH(dls_training, quiet, "quiet", 'q', "no progress, no summary"),
    DLS_ARGS_END};

/* train_baseline.c */
extern const dls_command dls_train_baseline;
static const dls_command *const parts[] = {&dls_train_baseline, NULL};

const dls_command dls_command_train = {
    .name = "train",
    .group = DLS_LABORATORY,
    .summary = "inspectors from datasets, and from other inspectors",
    .usage = "--dataset=D.h5 --setting=NAME -o W.h5 [OPTION]...\n"
             "--dataset=D.h5 --setting=NAME --base=W.h5 --transfer -o OUT.h5\n"
             "--dataset=D.h5 --settings=all --together -o W.h5",
    .about = "Train an inspector on one setting of a dataset, tune a trained one to further "
             "settings, or train one on many settings that is told of the hardware.",
    .args = args,
    .part = parts,
    .size = sizeof(dls_training),
    .initial = &(const dls_training){.init = DLS_FIT_RESIDUAL,
                                     .partition = -1,
                                     .seeds = 1,
                                     .data = {.share = 1, .log_floor = 1e-3}},
    .defaults = defaults,
    .run = run,
};
