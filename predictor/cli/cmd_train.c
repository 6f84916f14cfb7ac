/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim train: inspectors from datasets.
 */
#include "base/alloc.h"
#include "base/suggest.h"
#include "cli/command.h"
#include "predictor/cli/train_baseline.h"
#include "predictor/cli/training.h"
#include "cli/ui.h"

#include <stdlib.h>
#include <string.h>

static const char help[] =
    "Usage: dlsim train --dataset=D.h5 --setting=NAME -o W.h5 [OPTION]...\n"
    "       dlsim train --dataset=D.h5 --setting=NAME --base=W.h5 --transfer -o OUT.h5\n"
    "       dlsim train --dataset=D.h5 --settings=all --together -o W.h5\n"
    "       dlsim train --baseline=justus|habitat ...   (dlsim train --baseline=justus --help)\n"
    "\n"
    "Train an inspector on one setting of a dataset, tune a trained one to further settings, or\n"
    "train one on many settings that is told of the hardware.\n"
    "\n"
    "      --dataset=D.h5      see dlsim dataset\n"
    "      --setting=NAME      may be repeated with --transfer and --together\n"
    "      --settings=all      every setting of the dataset that the base does not have\n"
    "      --without=NAME      leave out this setting, or all of this GPU; may be repeated\n"
    "      --leave-out=N       leave out every N-th setting, the first one given by the seed\n"
    "      --together          one inspector of all the settings: told of a setting's GPU,\n"
    "                          link, workers, nodes and servers, it answers for any other, too\n"
    "      --hardware=DIR      folder of gpus.cfg and links.cfg (those that came with the "
    "program)\n"
    "      --base=W.h5         start from this inspector\n"
    "      --transfer          the same as --tune=conv+mlp\n"
    "      --partition=X       share of the layers after the first that a setting takes from\n"
    "                          the base (that of the base, 0.5 if it does not say)\n"
    "      --tune=base|conv+mlp|mlp|conv+gru|all   what is trained of the base: everything;\n"
    "                          a copy of the later layers and the MLP; the MLP; ...\n"
    "      --arch=\"KEY=VALUE..\"   of a new inspector (docs/inspector-files.md)\n"
    "      --init=residual|published   how new weights are drawn (residual)\n"
    "      --share=X           use this share of the training graphs (1)\n"
    "      --log-floor=X       times are trained as logarithms, with a floor of this share of\n"
    "                          their greatest (0.001); 0: as shares of it, as published\n"
    "      --epochs=N          at most (10000)\n"
    "      --patience=N        epochs without a better validation loss until it ends (1000)\n"
    "      --batch=N           graphs a step (32)\n"
    "      --lr=X              learning rate of Adam (0.003)\n"
    "      --lr-floor=X        the rate falls along a half cosine to this share (1: it does not)\n"
    "      --weight-decay=X    (1e-6), added to the gradient\n"
    "      --adamw             decouple the decay from the gradient\n"
    "      --clip=X            greatest norm of a gradient (none)\n"
    "      --dropout=X         after every layer but the last (0)\n"
    "      --in-order          batches as stored, as published, instead of shuffled\n"
    "      --seed=N            initial weights, order of the graphs, dropout (42)\n"
    "      --backend=cpu|cuda  where to compute (cpu)\n"
    "      --precision=f32|f64   (f32); f64 on the CPU only\n"
    "      --threads=N         (one per core); the result does not depend on it\n"
    "      --checkpoint=C.h5   keep the state there, now and then and on Ctrl-C\n"
    "      --checkpoint-every=N   epochs (50)\n"
    "      --resume            go on from the checkpoint if it is there; with several settings,\n"
    "                          from the output: settings that it has are not trained again\n"
    "      --curves=L.h5       write the learning curves\n"
    "      --study=depth|readout|conv|init|data|transfer   train variants and print their errors\n"
    "                          instead of writing weights; data: each --dataset, which may be\n"
    "                          repeated; transfer: from scratch and from --base, with all\n"
    "                          training graphs and with --share of them\n"
    "      --seeds=N           of --study=transfer: trainings of each, and their spread (1)\n"
    "  -o, --output=W.h5       where to write\n"
    "      --progress=auto|always|never\n"
    "  -q, --quiet             no progress, no summary\n"
    "  -h, --help              show this and leave\n";

static int study(const dls_training *req)
{
    dls_error err = {0};
    const dls_train_study s = {.what = req->study,
                               .dataset = req->more_datasets,
                               .n_datasets = req->n_datasets,
                               .settings = req->choice.setting,
                               .n_settings = req->choice.n_settings,
                               .base = req->base,
                               .hardware = req->hardware,
                               .seeds = req->seeds,
                               .arch = req->arch ? req->arch : "",
                               .init = req->init,
                               .data = req->data,
                               .train = req->train,
                               .quiet = req->quiet,
                               .when = req->when};
    return dls_train_study_run(&s, &err) == DLS_OK ? 0 : dls_ui_fail(&err);
}

/* ---- options --------------------------------------------------------------------------------- */

enum {
    OPT_DATASET = 256,
    OPT_SETTING,
    OPT_SETTINGS,
    OPT_WITHOUT,
    OPT_LEAVE_OUT,
    OPT_TOGETHER,
    OPT_HARDWARE,
    OPT_PARTITION,
    OPT_BASE,
    OPT_TRANSFER,
    OPT_TUNE,
    OPT_ARCH,
    OPT_INIT,
    OPT_SHARE,
    OPT_LOG_FLOOR,
    OPT_EPOCHS,
    OPT_PATIENCE,
    OPT_BATCH,
    OPT_LR,
    OPT_LR_FLOOR,
    OPT_DECAY,
    OPT_ADAMW,
    OPT_CLIP,
    OPT_DROPOUT,
    OPT_IN_ORDER,
    OPT_SEED,
    OPT_BACKEND,
    OPT_PRECISION,
    OPT_THREADS,
    OPT_CHECKPOINT,
    OPT_CHECKPOINT_EVERY,
    OPT_RESUME,
    OPT_CURVES,
    OPT_STUDY,
    OPT_SEEDS,
    OPT_PROGRESS
};

static bool real(const char *option, double least, double most, double *out)
{
    char *end;
    const double value = strtod(optarg, &end);
    if (!*optarg || *end || !(value >= least && value <= most)) {
        dls_ui_usage("train", "%s=%s: not a number in %g..%g", option, optarg, least, most);
        return false;
    }
    *out = value;
    return true;
}

static bool whole(const char *option, int64_t least, int32_t *out)
{
    int64_t n = 0;
    if (!dls_ui_i64("train", option, optarg, least, INT32_MAX, &n)) {
        return false;
    }
    *out = (int32_t)n;
    return true;
}

static bool take_number(int opt, dls_training *req)
{
    dls_train_options *t = &req->train;
    int64_t n = 0;
    switch (opt) {
    case OPT_SHARE:
        return real("--share", 1e-6, 1, &req->data.share);
    case OPT_SEEDS:
        return whole("--seeds", 1, &req->seeds);
    case OPT_LEAVE_OUT:
        return whole("--leave-out", 2, &req->choice.leave_out);
    case OPT_PARTITION:
        return real("--partition", 0, 1, &req->partition);
    case OPT_LOG_FLOOR:
        return real("--log-floor", 0, 1, &req->data.log_floor);
    case OPT_LR:
        return real("--lr", 1e-12, 1e3, &t->adam.lr);
    case OPT_LR_FLOOR:
        return real("--lr-floor", 0, 1, &t->lr_floor);
    case OPT_DECAY:
        return real("--weight-decay", 0, 1e3, &t->adam.weight_decay);
    case OPT_CLIP:
        return real("--clip", 1e-12, 1e12, &t->adam.clip_norm);
    case OPT_DROPOUT:
        return real("--dropout", 0, 0.99, &t->dropout);
    case OPT_EPOCHS:
        return whole("--epochs", 1, &t->epochs);
    case OPT_PATIENCE:
        return whole("--patience", 0, &t->patience);
    case OPT_BATCH:
        return whole("--batch", 1, &t->batch);
    case OPT_THREADS:
        return whole("--threads", 1, &t->step.threads);
    case OPT_CHECKPOINT_EVERY:
        return whole("--checkpoint-every", 1, &t->checkpoint_every);
    default:
        if (!dls_ui_i64("train", "--seed", optarg, 0, INT64_MAX, &n)) {
            return false;
        }
        t->seed = req->data.seed = req->choice.from = (uint64_t)n;
        return true;
    }
}

static bool take_word(int opt, dls_training *req)
{
    if (opt == OPT_SETTINGS) {
        req->choice.all = strcmp(optarg, "all") == 0;
        return req->choice.all ||
               (dls_ui_usage("train", "--settings=%s: only \"all\"", optarg), false);
    }
    if (opt == OPT_SETTING) {
        if (req->choice.n_settings == DLS_TOGETHER_MAX) {
            dls_ui_usage("train", "--setting: more than %d", DLS_TOGETHER_MAX);
            return false;
        }
        req->choice.setting[req->choice.n_settings++] = optarg;
        return true;
    }
    if (opt == OPT_WITHOUT) {
        if (req->choice.n_without == DLS_TOGETHER_MAX) {
            dls_ui_usage("train", "--without: more than %d", DLS_TOGETHER_MAX);
            return false;
        }
        req->choice.without[req->choice.n_without++] = optarg;
        return true;
    }
    if (opt == OPT_BACKEND) {
        const bool cuda = strcmp(optarg, "cuda") == 0;
        req->train.backend = cuda ? DLS_BACKEND_CUDA : DLS_BACKEND_CPU;
        return cuda || strcmp(optarg, "cpu") == 0 ||
               (dls_ui_usage("train", "--backend=%s: cpu or cuda", optarg), false);
    }
    if (opt == OPT_PRECISION) {
        req->train.step.f64 = strcmp(optarg, "f64") == 0;
        return req->train.step.f64 || strcmp(optarg, "f32") == 0 ||
               (dls_ui_usage("train", "--precision=%s: f32 or f64", optarg), false);
    }
    if (opt == OPT_INIT) {
        const int32_t init = dls_name_index(dls_fit_init_names, optarg, strlen(optarg));
        req->init = init < 0 ? DLS_FIT_RESIDUAL : (dls_fit_init)init;
        return init >= 0 ||
               (dls_ui_usage("train", "--init=%s: residual or published", optarg), false);
    }
    const char *word = opt == OPT_TRANSFER ? "conv+mlp" : optarg;
    const int32_t tune = dls_name_index(dls_tune_names, word, strlen(word));
    if (tune < 0) {
        const char *near = dls_suggest(word, dls_tune_names);
        dls_ui_usage("train", "--tune=%s: %s%s", word,
                     near ? "did you mean " : "base, conv+mlp, mlp, conv+gru or all",
                     near ? near : "");
        return false;
    }
    req->tune = (dls_tune)tune;
    req->tune_text = word;
    return true;
}

static bool take(int opt, dls_training *req)
{
    switch (opt) {
    case OPT_DATASET:
        if (req->n_datasets == DLS_STUDY_VARIANTS) {
            dls_ui_usage("train", "--dataset: more than %d", DLS_STUDY_VARIANTS);
            return false;
        }
        req->more_datasets[req->n_datasets++] = optarg;
        req->dataset = req->more_datasets[0];
        return true;
    case OPT_STUDY:
        req->study = optarg;
        return true;
    case OPT_BASE:
        req->base = optarg;
        return true;
    case OPT_ARCH:
        req->arch = optarg;
        return true;
    case OPT_CHECKPOINT:
        req->train.checkpoint = optarg;
        return true;
    case OPT_CURVES:
        req->curves = optarg;
        return true;
    case 'o':
        req->output = optarg;
        return true;
    case OPT_TOGETHER:
        req->together = true;
        return true;
    case OPT_HARDWARE:
        req->hardware = optarg;
        return true;
    case 'q':
        req->quiet = true;
        return true;
    case OPT_ADAMW:
        req->train.adam.decoupled = true;
        return true;
    case OPT_IN_ORDER:
        req->train.in_order = true;
        return true;
    case OPT_RESUME:
        req->train.resume = true;
        return true;
    case OPT_PROGRESS:
        return dls_ui_when_parse("train", "--progress", optarg, &req->when);
    case OPT_SETTING:
    case OPT_SETTINGS:
    case OPT_WITHOUT:
    case OPT_BACKEND:
    case OPT_PRECISION:
    case OPT_INIT:
    case OPT_TRANSFER:
    case OPT_TUNE:
        return take_word(opt, req);
    case '?':
        return false;
    default:
        return take_number(opt, req);
    }
}

/* 0 or the exit code of a usage error. */
static int check(const dls_training *req)
{
    if (req->study) {
        const bool transfer = strcmp(req->study, "transfer") == 0;
        return req->dataset && req->choice.n_settings &&
                       (transfer || req->choice.n_settings == 1) &&
                       transfer == (req->base != NULL) && !req->output
                   ? 0
                   : dls_ui_usage("train", "--study takes --dataset, one --setting and how to "
                                           "train; transfer: --base and one setting or more");
    }
    if (req->n_datasets > 1) {
        return dls_ui_usage("train", "several datasets are for --study=data");
    }
    if (!req->dataset || !req->output || (!req->choice.all && req->choice.n_settings == 0)) {
        return dls_ui_usage("train", "--dataset, --setting and --output are needed");
    }
    if (req->base && !req->tune_text) {
        return dls_ui_usage("train", "--base needs --transfer, or --tune to say what is trained");
    }
    if (req->base && req->arch) {
        return dls_ui_usage("train", "--arch: the base has its architecture");
    }
    if (!req->base && req->tune != DLS_TUNE_BASE) {
        return dls_ui_usage("train", "--tune=%s needs --base", req->tune_text);
    }
    if ((req->choice.n_without > 0 || req->choice.leave_out > 0) && !req->choice.all) {
        return dls_ui_usage("train", "--without and --leave-out leave out of --settings=all");
    }
    if (req->partition >= 0 && !req->base) {
        return dls_ui_usage("train", "--partition is for tuning a --base");
    }
    if (req->together) {
        return !req->base && !req->tune_text
                   ? 0
                   : dls_ui_usage("train", "--together trains a new inspector, without --base");
    }
    if ((req->choice.all || req->choice.n_settings > 1) && !dls_tune_is_setting(req->tune)) {
        return dls_ui_usage("train", "several settings in one file need --transfer or --tune=mlp");
    }
    if (req->train.checkpoint && (req->choice.all || req->choice.n_settings > 1)) {
        return dls_ui_usage("train", "--checkpoint is for one setting; with several, --resume goes "
                                     "on after the last finished one");
    }
    return 0;
}

static int legacy(int argc, char **argv)
{
    static const struct option longs[] = {
        {"dataset", required_argument, NULL, OPT_DATASET},
        {"setting", required_argument, NULL, OPT_SETTING},
        {"settings", required_argument, NULL, OPT_SETTINGS},
        {"without", required_argument, NULL, OPT_WITHOUT},
        {"leave-out", required_argument, NULL, OPT_LEAVE_OUT},
        {"together", no_argument, NULL, OPT_TOGETHER},
        {"hardware", required_argument, NULL, OPT_HARDWARE},
        {"partition", required_argument, NULL, OPT_PARTITION},
        {"base", required_argument, NULL, OPT_BASE},
        {"transfer", no_argument, NULL, OPT_TRANSFER},
        {"tune", required_argument, NULL, OPT_TUNE},
        {"arch", required_argument, NULL, OPT_ARCH},
        {"init", required_argument, NULL, OPT_INIT},
        {"share", required_argument, NULL, OPT_SHARE},
        {"log-floor", required_argument, NULL, OPT_LOG_FLOOR},
        {"epochs", required_argument, NULL, OPT_EPOCHS},
        {"patience", required_argument, NULL, OPT_PATIENCE},
        {"batch", required_argument, NULL, OPT_BATCH},
        {"lr", required_argument, NULL, OPT_LR},
        {"lr-floor", required_argument, NULL, OPT_LR_FLOOR},
        {"weight-decay", required_argument, NULL, OPT_DECAY},
        {"adamw", no_argument, NULL, OPT_ADAMW},
        {"clip", required_argument, NULL, OPT_CLIP},
        {"dropout", required_argument, NULL, OPT_DROPOUT},
        {"in-order", no_argument, NULL, OPT_IN_ORDER},
        {"seed", required_argument, NULL, OPT_SEED},
        {"backend", required_argument, NULL, OPT_BACKEND},
        {"precision", required_argument, NULL, OPT_PRECISION},
        {"threads", required_argument, NULL, OPT_THREADS},
        {"checkpoint", required_argument, NULL, OPT_CHECKPOINT},
        {"checkpoint-every", required_argument, NULL, OPT_CHECKPOINT_EVERY},
        {"resume", no_argument, NULL, OPT_RESUME},
        {"curves", required_argument, NULL, OPT_CURVES},
        {"study", required_argument, NULL, OPT_STUDY},
        {"seeds", required_argument, NULL, OPT_SEEDS},
        {"progress", required_argument, NULL, OPT_PROGRESS},
        {"output", required_argument, NULL, 'o'},
        {"quiet", no_argument, NULL, 'q'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0}};
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "--baseline", strlen("--baseline")) == 0) {
            return dls_train_baseline(argc, argv);
        }
    }
    dls_training *req = dls_alloc_zero(1, sizeof *req);
    if (!req) {
        dls_error err = {0};
        (void)dls_nomem(&err, "options", sizeof *req);
        return dls_ui_fail(&err);
    }
    req->init = DLS_FIT_RESIDUAL;
    req->partition = -1;
    req->seeds = 1;
    req->data = (dls_data_options){.share = 1, .log_floor = 1e-3};
    req->train = dls_train_default();
    req->train.seed = req->data.seed = req->choice.from = 42;
    int code = -1;
    for (int opt; code < 0 && (opt = dls_ui_getopt(argc, argv, "o:qh", longs, "train")) != -1;) {
        if (opt == 'h') {
            fputs(help, stdout);
            code = 0;
        } else if (!take(opt, req)) {
            code = dls_status_exit_code(DLS_EUSAGE);
        }
    }
    if (code < 0 && optind != argc) {
        code = dls_ui_usage("train", "unexpected word '%s'", argv[optind]);
    }
    if (code < 0) {
        code = check(req);
        code = code ? code : req->study ? study(req) : dls_training_run(req);
    }
    dls_free(req);
    return code;
}

const dls_command dls_command_train = {
    .name = "train", .group = DLS_LABORATORY, .summary = "inspectors from datasets, and from other inspectors", .legacy = legacy};
