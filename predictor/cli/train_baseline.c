/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * `dlsim train --baseline`: trains the networks of habitat or justus on kernel times of a dataset,
 * reports their errors and saves them.
 */
#include "predictor/cli/train_baseline.h"

#include "base/own.h"
#include "cli/command.h"
#include "workload/operator/op_times.h"
#include "workload/operator/residual.h"

#include <math.h>

/* ---- training -------------------------------------------------------------------------------- */

static void begin(void *user, dls_kernel_net net)
{
    dls_learn_bar_next(user, dls_kernel_net_names[net]);
}

static dls_status learn(const dls_train_baselines *req, const dls_kernel_data *data,
                        dls_kernel_nets *nets, dls_error *err)
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

static dls_status train_and_save(const dls_train_baselines *req, const dls_dataset *set,
                                 const dls_kernel_data_options *o, dls_error *err)
{
    DLS_OWN(dls_kernel_data_fini) dls_kernel_data data = {0};
    DLS_OWN(dls_kernel_nets_fini) dls_kernel_nets nets = {0};
    DLS_TRY(dls_kernel_data_collect(set, o, &data, err));
    DLS_TRY(learn(req, &data, &nets, err));
    snprintf(nets.command, sizeof nets.command, "%s", req->command);
    snprintf(nets.data_command, sizeof nets.data_command, "%s", set->command);
    DLS_TRY(dls_kernel_nets_save(&nets, req->output, err));
    if (!req->quiet) {
        print_report(&nets);
    }
    return DLS_OK;
}

static dls_status train(const dls_train_baselines *req, dls_error *err)
{
    DLS_OWN(dls_hardware_fini) dls_hardware hw = {0};
    DLS_OWN(dls_op_times_fini) dls_op_times times = {0};
    DLS_HOLD(dls_dataset_destroy) dls_dataset *set = NULL;
    dls_opmodel model;
    dls_kernel_data_options o = req->data;
    const dls_hw_gpu *gpu;
    DLS_TRY(dls_hardware_load(req->hardware, &hw, err));
    DLS_TRY(dls_opmodel_of(hw.folder, NULL, &model, err));
    if (req->operators) {
        DLS_TRY(dls_op_times_load(req->operators, &times, err));
        model.measured = &times;
    }
    if (o.without_gpu) {
        DLS_TRY(dls_hardware_gpu(&hw, o.without_gpu, &gpu, err));
    }
    DLS_TRY(dls_dataset_load(req->dataset, NULL, 0, &set, err));
    o.model = &model;
    o.hw = &hw;
    return train_and_save(req, set, &o, err);
}

/* ---- the command ----------------------------------------------------------------------------- */

static dls_status run(void *user, dls_call *call, dls_error *err)
{
    dls_train_baselines *req = user;
    dls_call_text(call, req->command, sizeof req->command);
    req->nets.fit.seed = req->data.seed;
    if (!req->profiles) {
        return req->dataset && req->output
                   ? train(req, err)
                   : dls_fail(err, DLS_EUSAGE, NULL, "--baseline needs --dataset and --output");
    }
    if (!req->gpu || req->dataset || req->output || req->nets.how != DLS_LEARNED_JUSTUS) {
        return dls_fail(err, DLS_EUSAGE, NULL,
                        "--profiles is for --baseline=justus, needs --gpu and takes no --dataset "
                        "and no --output");
    }
    return dls_train_layers(req, err);
}

static void defaults(void *user)
{
    dls_train_baselines *req = user;
    req->nets = dls_kernel_nets_default(DLS_LEARNED_JUSTUS);
    req->data =
        (dls_kernel_data_options){.sigma = DLS_RESIDUAL_NODE_SIGMA, .most = 20000, .seed = 42};
}

static const dls_arg args[] = {
    DLS_CHOICE(dls_train_baselines, nets.how, "baseline", 0, "justus|habitat",
               "justus: a step is the sum of its kernels; habitat: networks for convolutions and "
               "products scale a measured step"),
    DLS_TEXT(dls_train_baselines, dataset, "dataset", 0, "D.h5", "see dlsim dataset"),
    DLS_TEXT(dls_train_baselines, profiles, "profiles", 0, "DIR",
             "instead: measured layers, DIR/MODEL/graph.txt as PipeDream has them; prints what "
             "networks that learned from other families say"),
    DLS_TEXT(dls_train_baselines, gpu, "gpu", 0, "NAME", "on which they were measured"),
    DLS_TEXT(dls_train_baselines, operators, "operators", 0, "FILE",
             "measured times where they exist (dlsim operators measure)"),
    DLS_TEXT(dls_train_baselines, hardware, "hardware", 0, "DIR",
             "folder of gpus.cfg and operator.cfg"),
    DLS_TEXT(dls_train_baselines, data.without_gpu, "without-gpu", 0, "NAME",
             "keep this GPU out of training and validation"),
    DLS_INT(dls_train_baselines, data.most, "rows", 0, 1, INT32_MAX,
            "kernels of a network, drawn from all that there are"),
    DLS_INT(dls_train_baselines, nets.width, "width", 0, 1, 4096, "of a hidden layer"),
    DLS_INT(dls_train_baselines, nets.depth, "depth", 0, 1, 64, "hidden layers"),
    DLS_INT(dls_train_baselines, nets.fit.epochs, "epochs", 0, 1, INT32_MAX,
            "the best of them by validation error"),
    DLS_INT(dls_train_baselines, nets.fit.batch, "batch", 0, 1, INT32_MAX, "kernels a step"),
    DLS_REAL(dls_train_baselines, nets.fit.adam.lr, "lr", 0, DLS_ABOVE_0, (double)INFINITY,
             "learning rate of Adam until half of the epochs, then a fifth"),
    DLS_INT(dls_train_baselines, data.seed, "seed", 0, 0, INT64_MAX,
            "rows, initial weights, order"),
    DLS_TEXT(dls_train_baselines, output, "output", 'o', "J.h5", "where to write"),
    DLS_PROGRESS(dls_train_baselines, when),
    DLS_SWITCH(dls_train_baselines, quiet, "quiet", 'q', "no progress, no summary"),
    DLS_ARGS_END};

const dls_command dls_train_baseline = {
    .name = "train --baseline",
    .group = DLS_LABORATORY,
    .summary = "networks of a learned baseline",
    .usage = "justus|habitat --dataset=D.h5 -o J.h5 [OPTION]...\n"
             "justus --profiles=DIR --gpu=NAME [OPTION]...",
    .about = "Train the networks of a learned baseline (docs/predictors.md) on the times of single "
             "kernels: of the dataset's graphs, divided as there, on the GPUs of its settings, as "
             "the operator model and the dataset's residual have them. Prints how far the networks "
             "are off, kernel by kernel.",
    .args = args,
    .needs = "baseline",
    .size = sizeof(dls_train_baselines),
    .defaults = defaults,
    .run = run,
};
