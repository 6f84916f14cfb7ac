/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim train: inspectors from datasets.
 */
#include "predictor/cli/training.h"

#include <string.h>

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
    const dls_together_choice *c = &req->choice;
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

static dls_status run(void *user, dls_call *call, dls_error *err)
{
    dls_training *req = user;
    const bool tuned = req->transfer || dls_call_gave(call, "tune");
    req->tune = req->transfer ? DLS_TUNE_CONV_MLP : req->tune;
    req->data.seed = req->choice.from = req->train.seed;
    req->arch = req->arch ? req->arch : "";
    const char *wrong = req->study ? wrong_study(req) : wrong_training(req, tuned);
    if (wrong) {
        return dls_fail(err, DLS_EUSAGE, NULL, "%s", wrong);
    }
    return req->study ? dls_train_study(req, err) : dls_training_run(req, err);
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
    DLS_TEXT(dls_training, train.checkpoint, "checkpoint", 0, "C.h5",
             "keep the state there, now and then and when it is interrupted"),
    DLS_INT(dls_training, train.checkpoint_every, "checkpoint-every", 0, 1, INT32_MAX, "epochs"),
    DLS_SWITCH(dls_training, train.resume, "resume", 0,
               "go on from the checkpoint if it is there; with several settings, from the output: "
               "settings that it has are not trained again"),
    DLS_TEXT(dls_training, curves, "curves", 0, "L.h5", "write the learning curves"),
    DLS_TEXT(dls_training, study, "study", 0, "NAME",
             "depth, readout, conv, init, data or transfer: train variants and print their errors "
             "instead of writing weights; data: each --dataset, which may be repeated; transfer: "
             "from scratch and from --base, with all training graphs and with --share of them"),
    DLS_INT(dls_training, seeds, "seeds", 0, 1, INT32_MAX,
            "of --study=transfer: trainings of each, and their spread"),
    DLS_TEXT(dls_training, output, "output", 'o', "W.h5", "where to write"),
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
