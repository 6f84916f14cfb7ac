/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * `dlsim train --baseline`: trains the networks of habitat or justus on kernel times of a dataset,
 * reports their errors and saves them; or learns from measured layers of all families of models but
 * one, which it is asked about.
 */
#include "base/alloc.h"
#include "base/file.h"
#include "base/own.h"
#include "cli/ui.h"
#include "predictor/baselines/kernel_nets.h"
#include "predictor/baselines/layer_study.h"
#include "workload/operator/op_times.h"
#include "workload/operator/residual.h"

#include <dirent.h>
#include <math.h>
#include <unistd.h>

typedef struct request {
    const char *dataset, *output, *operators, *hardware, *profiles, *gpu;
    bool quiet;
    dls_ui_when when;
    dls_kernel_data_options data;
    dls_kernel_nets_options nets;
    char command[1024];
} request;

/* Progress of several trainings, one after the other: the user of a dls_mlp_fit. */
typedef struct learn_bar {
    dls_progress bar;
    dls_ui_when when;
    bool quiet;
    int32_t epochs;
} learn_bar;

static void next_bar(learn_bar *b, const char *label)
{
    dls_progress_stop(&b->bar);
    dls_progress_start(&b->bar, b->when, b->quiet, label);
}

/* As dls_mlp_fit.progress; goes on. */
static bool draw_epoch(void *user, int32_t epoch, double train_loss, double val_loss)
{
    learn_bar *b = user;
    char detail[80];
    snprintf(detail, sizeof detail, "epoch %d, loss %.3g, validation %.3g", (int)epoch, train_loss,
             val_loss);
    dls_progress_draw(&b->bar, (double)epoch / (double)b->epochs, detail);
    return true;
}

/* ---- training -------------------------------------------------------------------------------- */

static void begin(void *user, dls_kernel_net net)
{
    next_bar(user, dls_kernel_net_names[net]);
}

static dls_status learn(const request *req, const dls_kernel_data *data, dls_kernel_nets *nets,
                        dls_error *err)
{
    learn_bar d = {.when = req->when, .quiet = req->quiet, .epochs = req->nets.fit.epochs};
    dls_kernel_nets_options o = req->nets;
    o.begin = begin;
    o.fit.progress = draw_epoch;
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

static dls_status train(const request *req, dls_error *err)
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

/* ---- measured layers ------------------------------------------------------------------------- */

typedef struct profiles {
    dls_layer_profile *at; /* owned */
    size_t n, cap;
} profiles;

static void profiles_fini(profiles *p)
{
    for (size_t i = 0; i < p->n; i++) {
        dls_layer_profile_fini(&p->at[i]);
    }
    dls_free(p->at);
}

/* Every folder that has a graph.txt, in order of the names. */
static dls_status read_all(const char *folder, profiles *p, dls_error *err)
{
    char path[4096];
    struct dirent **name;
    int n;
    DLS_TRY(dls_file_names(folder, &name, &n, err));
    dls_status status = DLS_OK;
    for (int i = 0; status == DLS_OK && i < n; i++) {
        snprintf(path, sizeof path, "%s/%s/graph.txt", folder, name[i]->d_name);
        if (access(path, F_OK) == 0) {
            status = dls_grow(&p->at, &p->cap, p->n + 1, sizeof *p->at, err);
            DLS_THEN(status, dls_layer_profile_read(path, name[i]->d_name, &p->at[p->n], err));
            p->n += status == DLS_OK;
        }
    }
    dls_file_free_names(name, n);
    return status;
}

static void begin_model(void *user, const char *model)
{
    next_bar(user, model);
}

static void print_verdicts(const profiles *p, const dls_layer_verdict *v)
{
    double sum[4] = {0};
    printf("%-14s %6s %6s %9s %9s %7s %7s %9s %7s %7s\n", "left out", "batch", "layers", "measured",
           "justus", "step", "layer", "roofline", "step", "layer");
    for (size_t i = 0; i < p->n; i++) {
        const double justus = v[i].justus_s / v[i].measured_s - 1;
        const double roofline = v[i].roofline_s / v[i].measured_s - 1;
        const double off[4] = {fabs(justus), v[i].justus_layer, fabs(roofline),
                               v[i].roofline_layer};
        for (int k = 0; k < 4; k++) {
            sum[k] += 100 * off[k] / (double)p->n;
        }
        printf("%-14s %6g %6zu %6.1f ms %6.1f ms %+6.1f%% %6.1f%% %6.1f ms %+6.1f%% %6.1f%%\n",
               v[i].model, p->at[i].batch, p->at[i].w.n_kernels, 1e3 * v[i].measured_s,
               1e3 * v[i].justus_s, 100 * justus, 100 * v[i].justus_layer, 1e3 * v[i].roofline_s,
               100 * roofline, 100 * v[i].roofline_layer);
    }
    printf("%-38s %9s %6.1f%% %6.1f%% %9s %6.1f%% %6.1f%%\n", "mean of the errors", "", sum[0],
           sum[1], "", sum[2], sum[3]);
}

static dls_status train_layers(const request *t, dls_error *err)
{
    DLS_OWN(dls_hardware_fini) dls_hardware hw = {0};
    DLS_OWN(profiles_fini) profiles p = {0};
    learn_bar d = {.when = t->when, .quiet = t->quiet, .epochs = t->nets.fit.epochs};
    dls_layer_study_options o = {.nets = t->nets, .begin = begin_model, .user = &d};
    DLS_TRY(dls_hardware_load(t->hardware, &hw, err));
    DLS_TRY(dls_hardware_gpu(&hw, t->gpu, &o.gpu, err));
    DLS_TRY(read_all(t->profiles, &p, err));
    DLS_FREED dls_layer_verdict *verdict = NULL;
    DLS_TRY(dls_alloc_array(&verdict, p.n + 1, sizeof *verdict, "profiles", err));
    o.profile = p.at;
    o.n = p.n;
    o.nets.fit.progress = draw_epoch;
    o.nets.fit.user = &d;
    const dls_status status = dls_layer_study_run(&o, verdict, err);
    dls_progress_stop(&d.bar);
    if (status == DLS_OK) {
        print_verdicts(&p, verdict);
    }
    return status;
}

/* ---- the command ----------------------------------------------------------------------------- */

static dls_status run(dls_call *call, dls_error *err)
{
    request *req = call->request;
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
    return train_layers(req, err);
}

static void defaults(void *user)
{
    request *req = user;
    req->nets = dls_kernel_nets_default(DLS_LEARNED_JUSTUS);
    req->data =
        (dls_kernel_data_options){.sigma = DLS_RESIDUAL_NODE_SIGMA, .most = 20000, .seed = 42};
}

static const dls_arg args[] = {
    DLS_CHOICE(request, nets.how, "baseline", 0, "justus|habitat",
               "justus: a step is the sum of its kernels; habitat: networks for convolutions and "
               "products scale a measured step"),
    DLS_TEXT(request, dataset, "dataset", 0, "D.h5", "see dlsim dataset"),
    DLS_TEXT(request, profiles, "profiles", 0, "DIR",
             "instead: measured layers, DIR/MODEL/graph.txt as PipeDream has them; prints what "
             "networks that learned from other families say"),
    DLS_TEXT(request, gpu, "gpu", 0, "NAME", "on which they were measured"),
    DLS_TEXT(request, operators, "operators", 0, "FILE",
             "measured times where they exist (dlsim operators measure)"),
    DLS_TEXT(request, hardware, "hardware", 0, "DIR", "folder of gpus.cfg and operator.cfg"),
    DLS_TEXT(request, data.without_gpu, "without-gpu", 0, "NAME",
             "keep this GPU out of training and validation"),
    DLS_INT(request, data.most, "rows", 0, 1, INT32_MAX,
            "kernels of a network, drawn from all that there are"),
    DLS_INT(request, nets.width, "width", 0, 1, 4096, "of a hidden layer"),
    DLS_INT(request, nets.depth, "depth", 0, 1, 64, "hidden layers"),
    DLS_INT(request, nets.fit.epochs, "epochs", 0, 1, INT32_MAX,
            "the best of them by validation error"),
    DLS_INT(request, nets.fit.batch, "batch", 0, 1, INT32_MAX, "kernels a step"),
    DLS_REAL(request, nets.fit.adam.lr, "lr", 0, DLS_ABOVE_0, (double)INFINITY,
             "learning rate of Adam until half of the epochs, then a fifth"),
    DLS_INT(request, data.seed, "seed", 0, 0, INT64_MAX, "rows, initial weights, order"),
    DLS_OUTPUT(request, output, "output", 'o', "J.h5", "where to write"),
    DLS_PROGRESS(request, when),
    DLS_SWITCH(request, quiet, "quiet", 'q', "no progress, no summary"),
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
    .size = sizeof(request),
    .defaults = defaults,
    .run = run,
};
