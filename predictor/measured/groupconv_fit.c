/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Least squares over the measured steps of a few families, for the constants of grouped.cfg.
 */
#include "predictor/measured/groupconv_fit.h"

#include "base/alloc.h"
#include "base/own.h"
#include "workload/graph/zoo.h"
#include "workload/kinds.h"
#include "workload/operator/fit.h"

#include <math.h>
#include <string.h>

#define RESIDUAL_SCALE 0.1

static const struct {
    double mean, sigma;
} expected[DLS_GROUPCONV_N] = {
#define XX(id, key, mean, sigma) {mean, sigma},
    DLS_GROUPCONV_CONSTANTS(XX)
#undef XX
};

bool dls_groupconv_fits(const dls_measured_step *row)
{
    static const char *const families[] = {"regnetx", "resnext", "mobilenetv2", "mnasnet",
                                           "semnasnet"};
    const dls_model_names names = dls_model_lookup(row->model);
    char key[DLS_MODEL_KEY];
    bool fits = false;
    dls_model_key(names.zoo->name, key);
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        fits = fits || strncmp(key, families[i], strlen(families[i])) == 0;
    }
    return fits && names.match == DLS_MODEL_KNOWN && strcmp(row->gpu, "RTX3090") == 0 &&
           row->numeric == DLS_NUMERIC_FP16 && row->gpus == 1 && row->update && !row->compiled;
}

typedef struct problem {
    dls_opmodel *model;
    struct problem_row {
        const dls_measured_step *step;
        const dls_hw_gpu *gpu;
        dls_workload work;
    } * row; /* [n] owned */
    size_t n;
} problem;

static void residuals(void *user, const double *x, double *residual)
{
    problem *p = user;
    for (int i = 0; i < DLS_GROUPCONV_N; i++) {
        p->model->groupconv.c[i] = exp(x[i]);
    }
    for (size_t i = 0; i < p->n; i++) {
        const dls_measured_step *step = p->row[i].step;
        const dls_rates rates = dls_opmodel_rates(p->model, p->row[i].gpu, step->numeric);
        const double s = dls_step_time(&p->row[i].work, &rates, step->batch).gpu_s;
        residual[i] = log(s / step->step_s) / RESIDUAL_SCALE;
    }
}

static dls_status take(problem *p, const dls_measured_step *step, const dls_hardware *hw,
                       dls_error *err)
{
    struct problem_row *row = &p->row[p->n];
    dls_model_names names = dls_model_lookup(step->model);
    dls_model_resize(&names, step->image, 0);
    names.runner = DLS_RUN_EAGER | (strcmp(step->layout, "nchw") == 0 ? DLS_RUN_CHANNELS_FIRST : 0);
    row->step = step;
    DLS_TRY(dls_hardware_gpu(hw, step->gpu, &row->gpu, err));
    DLS_TRY(dls_model_workload(&names, step->numeric, &row->work, err));
    p->n++;
    return DLS_OK;
}

static dls_status fit(problem *p, dls_error *err)
{
    dls_fit f = {.residuals = residuals, .user = p, .n = DLS_GROUPCONV_N, .n_residuals = p->n};
    double x[DLS_FIT_MAX];
    for (int i = 0; i < DLS_GROUPCONV_N; i++) {
        f.mean[i] = log(expected[i].mean);
        f.sigma[i] = expected[i].sigma;
    }
    DLS_TRY(dls_fit_run(&f, x, err));
    for (int i = 0; i < DLS_GROUPCONV_N; i++) {
        p->model->groupconv.c[i] = exp(x[i]);
    }
    return DLS_OK;
}

static void problem_fini(problem *p)
{
    for (size_t i = 0; i < p->n; i++) {
        dls_workload_fini(&p->row[i].work);
    }
    dls_free(p->row);
}

dls_status dls_groupconv_fit(const dls_measured_steps *steps, const dls_hardware *hw,
                             dls_opmodel *model, dls_error *err)
{
    DLS_OWN(problem_fini) problem p = {.model = model};
    DLS_TRY(dls_alloc_array(&p.row, steps->n + 1, sizeof *p.row, "measured steps", err));
    for (size_t i = 0; i < steps->n; i++) {
        DLS_TRY(dls_groupconv_fits(&steps->row[i]) ? take(&p, &steps->row[i], hw, err) : DLS_OK);
    }
    return p.n > 0
               ? fit(&p, err)
               : dls_fail(err, DLS_EINPUT, "measured steps",
                          "no network of RegNetX, ResNeXt, MobileNetV2 or MnasNet on an RTX3090");
}
