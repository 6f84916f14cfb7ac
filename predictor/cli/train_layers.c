/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * `dlsim train --baseline=justus --profiles`: reads a folder of measured layer profiles and prints
 * the errors on families of models that were left out of the training.
 */
#include "predictor/cli/train_baseline.h"

#include "base/alloc.h"
#include "base/own.h"
#include "predictor/baselines/layer_study.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static int by_name(const void *a, const void *b)
{
    const dls_layer_profile *x = a, *y = b;
    return strcmp(x->w.name, y->w.name);
}

/* Every folder that has a graph.txt, in order of the names. */
static dls_status read_all(const char *folder, profiles *p, dls_error *err)
{
    char path[4096];
    DIR *dir = opendir(folder);
    if (!dir) {
        return dls_fail(err, DLS_EINPUT, folder, "not a folder that can be read");
    }
    dls_status status = DLS_OK;
    for (struct dirent *e; status == DLS_OK && (e = readdir(dir));) {
        snprintf(path, sizeof path, "%s/%s/graph.txt", folder, e->d_name);
        if (*e->d_name != '.' && access(path, F_OK) == 0) {
            status = dls_grow(&p->at, &p->cap, p->n + 1, sizeof *p->at, err);
            DLS_THEN(status, dls_layer_profile_read(path, e->d_name, &p->at[p->n], err));
            p->n += status == DLS_OK;
        }
    }
    closedir(dir);
    if (p->n) {
        qsort(p->at, p->n, sizeof *p->at, by_name);
    }
    return status;
}

void dls_learn_bar_next(dls_learn_bar *b, const char *label)
{
    dls_progress_stop(&b->bar);
    dls_progress_start(&b->bar, b->when, b->quiet, label);
}

bool dls_learn_bar_epoch(void *learn_bar, int32_t epoch, double train_loss, double val_loss)
{
    dls_learn_bar *b = learn_bar;
    char detail[80];
    snprintf(detail, sizeof detail, "epoch %d, loss %.3g, validation %.3g", (int)epoch, train_loss,
             val_loss);
    dls_progress_draw(&b->bar, (double)epoch / (double)b->epochs, detail);
    return true;
}

static void begin(void *user, const char *model)
{
    dls_learn_bar_next(user, model);
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

dls_status dls_train_layers(const dls_train_baselines *t, dls_error *err)
{
    DLS_OWN(dls_hardware_fini) dls_hardware hw = {0};
    DLS_OWN(profiles_fini) profiles p = {0};
    dls_learn_bar d = {.when = t->when, .quiet = t->quiet, .epochs = t->nets.fit.epochs};
    dls_layer_study_options o = {.nets = t->nets, .begin = begin, .user = &d};
    DLS_TRY(dls_hardware_load(t->hardware, &hw, err));
    DLS_TRY(dls_hardware_gpu(&hw, t->gpu, &o.gpu, err));
    DLS_TRY(read_all(t->profiles, &p, err));
    DLS_FREED dls_layer_verdict *verdict = NULL;
    DLS_TRY(dls_alloc_array(&verdict, p.n + 1, sizeof *verdict, "profiles", err));
    o.profile = p.at;
    o.n = p.n;
    o.nets.fit.progress = dls_learn_bar_epoch;
    o.nets.fit.user = &d;
    const dls_status status = dls_layer_study_run(&o, verdict, err);
    dls_progress_stop(&d.bar);
    if (status == DLS_OK) {
        print_verdicts(&p, verdict);
    }
    return status;
}
