/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "predictor/cli/train_baseline.h"

#include "base/units.h"
#include "predictor/cli/train_layers.h"
#include "cli/ui.h"
#include "predictor/baselines/kernel_nets.h"
#include "workload/operator/op_times.h"
#include "workload/operator/residual.h"

#include <string.h>

static const char help[] =
    "Usage: dlsim train --baseline=justus|habitat --dataset=D.h5 -o J.h5 [OPTION]...\n"
    "       dlsim train --baseline=justus --profiles=DIR --gpu=NAME [OPTION]...\n"
    "\n"
    "Train the networks of a learned baseline (docs/predictors.md) on the times of single kernels: "
    "of\n"
    "the dataset's graphs, divided as there, on the GPUs of its settings, as the operator model "
    "and "
    "the\n"
    "dataset's residual have them. Prints how far the networks are off, kernel by kernel.\n"
    "\n"
    "      --baseline=NAME     justus: a step is the sum of its kernels; habitat: networks for\n"
    "                          convolutions and products scale a measured step\n"
    "      --dataset=D.h5      see dlsim dataset\n"
    "      --profiles=DIR      instead: measured layers, DIR/MODEL/graph.txt as PipeDream has "
    "them;\n"
    "                          prints what networks that learned from other families say\n"
    "      --gpu=NAME          on which they were measured\n"
    "      --operators=FILE    measured times where they exist (dlsim operators measure)\n"
    "      --hardware=DIR      folder of gpus.cfg and operator.cfg\n"
    "      --without-gpu=NAME  keep this GPU out of training and validation\n"
    "      --rows=N            kernels of a network, drawn from all that there are (20000)\n"
    "      --width=N           of a hidden layer (64)\n"
    "      --depth=N           hidden layers (3)\n"
    "      --epochs=N          (40), the best of them by validation error\n"
    "      --batch=N           kernels a step (64)\n"
    "      --lr=X              learning rate of Adam until half of the epochs, then a fifth "
    "(0.001)\n"
    "      --seed=N            rows, initial weights, order (42)\n"
    "  -o, --output=J.h5       where to write\n"
    "      --progress=auto|always|never\n"
    "  -q, --quiet             no progress, no summary\n"
    "  -h, --help              show this and leave\n";

typedef struct request {
    const char *dataset, *output, *operators, *hardware, *profiles, *gpu;
    bool quiet, known;
    dls_ui_when when;
    dls_kernel_data_options data;
    dls_kernel_nets_options nets;
    char command[1024];
} request;

/* ---- training -------------------------------------------------------------------------------- */

static void begin(void *user, dls_kernel_net net)
{
    dls_learn_bar_next(user, dls_kernel_net_names[net]);
}

static dls_status learn(const request *req, const dls_kernel_data *data, dls_kernel_nets *nets,
                        dls_error *err)
{
    dls_learn_bar d = {.when = req->when, .quiet = req->quiet, .epochs = req->nets.fit.epochs};
    dls_kernel_nets_options o = req->nets;
    o.begin = begin;
    o.fit.progress = dls_learn_bar_epoch;
    o.fit.user = &d;
    const dls_status status = dls_kernel_nets_train(data, &o, nets, err);
    dls_progress_stop(&d.bar);
    return status;
}

static void print_report(const dls_kernel_nets *nets)
{
    printf("%-9s %8s %10s %8s %8s %8s\n", "kernels", "trained", "of", "train", "val", "test");
    for (int k = 0; k < DLS_KERNEL_NETS; k++) {
        const dls_kernel_net_report *r = &nets->report[k];
        if (nets->net[k].n_values) {
            printf("%-9s %8lld %10llu %7.1f%% %7.1f%% %7.1f%%\n", dls_kernel_net_names[k],
                   (long long)r->rows[DLS_SPLIT_TRAIN],
                   (unsigned long long)r->seen[DLS_SPLIT_TRAIN], r->percent[DLS_SPLIT_TRAIN],
                   r->percent[DLS_SPLIT_VAL], r->percent[DLS_SPLIT_TEST]);
        }
    }
}

static dls_status train_and_save(const request *req, const dls_dataset *set,
                                 const dls_kernel_data_options *o, dls_error *err)
{
    dls_kernel_data data;
    dls_kernel_nets nets = {0};
    dls_status status = dls_kernel_data_collect(set, o, &data, err);
    if (status == DLS_OK) {
        status = learn(req, &data, &nets, err);
    }
    dls_kernel_data_fini(&data);
    if (status == DLS_OK) {
        snprintf(nets.command, sizeof nets.command, "%s", req->command);
        snprintf(nets.data_command, sizeof nets.data_command, "%s", set->command);
        status = dls_kernel_nets_save(&nets, req->output, err);
    }
    if (status == DLS_OK && !req->quiet) {
        print_report(&nets);
    }
    dls_kernel_nets_fini(&nets);
    return status;
}

static dls_status run(const request *req, const char *folder, dls_hardware *hw, dls_op_times *times,
                      dls_dataset **set, dls_error *err)
{
    char path[4200];
    dls_opmodel model;
    dls_kernel_data_options o = req->data;
    const dls_hw_gpu *gpu;
    DLS_TRY(dls_hardware_load(folder, hw, err));
    snprintf(path, sizeof path, "%s/operator.cfg", folder);
    DLS_TRY(dls_opmodel_load(path, &model, err));
    if (req->operators) {
        DLS_TRY(dls_op_times_load(req->operators, times, err));
        model.measured = times;
    }
    if (o.without_gpu) {
        DLS_TRY(dls_hardware_gpu(hw, o.without_gpu, &gpu, err));
    }
    DLS_TRY(dls_dataset_load(req->dataset, NULL, 0, set, err));
    o.model = &model;
    o.hw = hw;
    return train_and_save(req, *set, &o, err);
}

static int train(const request *req)
{
    char folder[4096];
    dls_error err = {0};
    dls_hardware hw = {0};
    dls_op_times times = {0};
    dls_dataset *set = NULL;
    const dls_status status = run(req, dls_hardware_folder(req->hardware, folder, sizeof folder),
                                  &hw, &times, &set, &err);
    dls_dataset_destroy(set);
    dls_op_times_fini(&times);
    dls_hardware_fini(&hw);
    return status == DLS_OK ? 0 : dls_ui_fail(&err);
}

/* ---- options --------------------------------------------------------------------------------- */

enum {
    OPT_BASELINE = 256,
    OPT_DATASET,
    OPT_PROFILES,
    OPT_GPU,
    OPT_OPERATORS,
    OPT_HARDWARE,
    OPT_WITHOUT_GPU,
    OPT_ROWS,
    OPT_WIDTH,
    OPT_DEPTH,
    OPT_EPOCHS,
    OPT_BATCH,
    OPT_LR,
    OPT_SEED,
    OPT_PROGRESS
};

static bool take_baseline(request *req)
{
    for (int i = 0; i < DLS_LEARNED_COUNT; i++) {
        if (strcmp(optarg, dls_learned_names[i]) == 0) {
            req->nets.how = (dls_learned)i;
            req->known = true;
            return true;
        }
    }
    dls_ui_usage("train", "--baseline=%s: justus or habitat", optarg);
    return false;
}

static bool whole(const char *option, int64_t most, int32_t *out)
{
    int64_t n = 0;
    if (!dls_ui_i64("train", option, optarg, 1, most, &n)) {
        return false;
    }
    *out = (int32_t)n;
    return true;
}

static bool take_number(int opt, request *req)
{
    int64_t n = 0;
    switch (opt) {
    case OPT_WIDTH:
        return whole("--width", 4096, &req->nets.width);
    case OPT_DEPTH:
        return whole("--depth", 64, &req->nets.depth);
    case OPT_EPOCHS:
        return whole("--epochs", INT32_MAX, &req->nets.fit.epochs);
    case OPT_BATCH:
        return whole("--batch", INT32_MAX, &req->nets.fit.batch);
    case OPT_LR:
        if (!dls_units_f64(optarg, &req->nets.fit.adam.lr) || !(req->nets.fit.adam.lr > 0)) {
            dls_ui_usage("train", "--lr=%s: a number above 0", optarg);
            return false;
        }
        return true;
    case OPT_ROWS:
        if (!dls_ui_i64("train", "--rows", optarg, 1, INT32_MAX, &n)) {
            return false;
        }
        req->data.most = (size_t)n;
        return true;
    default:
        if (!dls_ui_i64("train", "--seed", optarg, 0, INT64_MAX, &n)) {
            return false;
        }
        req->data.seed = req->nets.fit.seed = (uint64_t)n;
        return true;
    }
}

static bool take(int opt, request *req)
{
    switch (opt) {
    case OPT_BASELINE:
        return take_baseline(req);
    case OPT_DATASET:
        req->dataset = optarg;
        return true;
    case OPT_PROFILES:
        req->profiles = optarg;
        return true;
    case OPT_GPU:
        req->gpu = optarg;
        return true;
    case OPT_OPERATORS:
        req->operators = optarg;
        return true;
    case OPT_HARDWARE:
        req->hardware = optarg;
        return true;
    case OPT_WITHOUT_GPU:
        req->data.without_gpu = optarg;
        return true;
    case OPT_PROGRESS:
        return dls_ui_when_parse("train", "--progress", optarg, &req->when);
    case 'o':
        req->output = optarg;
        return true;
    case 'q':
        req->quiet = true;
        return true;
    case '?':
        return false;
    default:
        return take_number(opt, req);
    }
}

int dls_train_baseline(int argc, char **argv)
{
    static const struct option longs[] = {{"baseline", required_argument, NULL, OPT_BASELINE},
                                          {"dataset", required_argument, NULL, OPT_DATASET},
                                          {"profiles", required_argument, NULL, OPT_PROFILES},
                                          {"gpu", required_argument, NULL, OPT_GPU},
                                          {"operators", required_argument, NULL, OPT_OPERATORS},
                                          {"hardware", required_argument, NULL, OPT_HARDWARE},
                                          {"without-gpu", required_argument, NULL, OPT_WITHOUT_GPU},
                                          {"rows", required_argument, NULL, OPT_ROWS},
                                          {"width", required_argument, NULL, OPT_WIDTH},
                                          {"depth", required_argument, NULL, OPT_DEPTH},
                                          {"epochs", required_argument, NULL, OPT_EPOCHS},
                                          {"batch", required_argument, NULL, OPT_BATCH},
                                          {"lr", required_argument, NULL, OPT_LR},
                                          {"seed", required_argument, NULL, OPT_SEED},
                                          {"output", required_argument, NULL, 'o'},
                                          {"progress", required_argument, NULL, OPT_PROGRESS},
                                          {"quiet", no_argument, NULL, 'q'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    request req = {.nets = dls_kernel_nets_default(DLS_LEARNED_JUSTUS),
                   .data = {.sigma = DLS_RESIDUAL_NODE_SIGMA, .most = 20000, .seed = 42}};
    dls_ui_command_line(argc, argv, req.command, sizeof req.command);
    for (int opt; (opt = dls_ui_getopt(argc, argv, "o:qh", longs, "train")) != -1;) {
        if (opt == 'h') {
            fputs(help, stdout);
            return 0;
        }
        if (!take(opt, &req)) {
            return dls_status_exit_code(DLS_EUSAGE);
        }
    }
    if (req.known && req.profiles && optind == argc) {
        const dls_train_layers layers = {.profiles = req.profiles,
                                         .gpu = req.gpu,
                                         .hardware = req.hardware,
                                         .nets = req.nets,
                                         .when = req.when,
                                         .quiet = req.quiet};
        return req.gpu && !req.dataset && !req.output && req.nets.how == DLS_LEARNED_JUSTUS
                   ? dls_train_layers_run(&layers)
                   : dls_ui_usage("train", "--profiles is for --baseline=justus, needs --gpu and "
                                           "takes no --dataset and no --output");
    }
    if (!req.known || !req.dataset || !req.output || optind != argc) {
        return dls_ui_usage("train", "--baseline needs --dataset and --output, and no other word");
    }
    return train(&req);
}
