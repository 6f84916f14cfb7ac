/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Least squares over measured kernels, and over the measured steps of a few families, for the
 * constants of grouped.cfg.
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
#define LEAST_S 20e-6 /* of a kernel that fits: shorter ones are launches */

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
    for (int i = 0; i < DLS_GROUPCONV_HALF; i++) {
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
    row->step = step;
    DLS_TRY(dls_hardware_gpu(hw, step->gpu, &row->gpu, err));
    DLS_TRY(dls_measured_step_work(step, &row->work, err));
    p->n++;
    return DLS_OK;
}

/* Constants from `first` on, as many as f has. */
static dls_status fit(dls_fit *f, int first, dls_groupconv *g, dls_error *err)
{
    double x[DLS_FIT_MAX];
    for (size_t i = 0; i < f->n; i++) {
        f->mean[i] = log(expected[first + (int)i].mean);
        f->sigma[i] = expected[first + (int)i].sigma;
    }
    DLS_TRY(dls_fit_run(f, x, err));
    for (size_t i = 0; i < f->n; i++) {
        g->c[first + (int)i] = exp(x[i]);
    }
    return DLS_OK;
}

/* ---- kernels --------------------------------------------------------------------------------- */

typedef struct kernels {
    dls_groupconv *g;
    struct kernels_row {
        const dls_measured_kernel *measured;
        double launch_s;
    } * row; /* [n] owned */
    size_t n;
} kernels;

/* Without its launch; 0: none that is fitted to kernels. */
static double part_s(const dls_groupconv *g, const dls_measured_kernel *r, dls_kernel_part part)
{
    const dls_sized_gpu gpu = dls_sized_gpu_of(r->gpu, r->units);
    dls_kernel k = dls_measured_kernel_of(r);
    const double bytes = gpu.element_bytes * (k.moved + k.moved_once);
    k.part = (uint8_t)part;
    return r->units == DLS_NUMERIC_FP16
               ? dls_groupconv9_s(g, &k, 1, bytes, gpu.mem_bps, r->gpu->fp32_flops, gpu.flops)
               : dls_groupconv32_s(g, &k, 1, bytes, gpu.mem_bps, r->gpu->fp32_flops, gpu.flops);
}

static bool kernel_fits(const dls_groupconv *g, const dls_measured_kernel *r)
{
    return r->work.groups > 1 && !r->judge && r->seconds >= LEAST_S && r->backward_s >= LEAST_S &&
           part_s(g, r, DLS_PART_FORWARD) > 0;
}

static void kernel_residuals(void *user, const double *x, double *residual)
{
    kernels *k = user;
    for (int i = DLS_GROUPCONV_HALF; i < DLS_GROUPCONV_N; i++) {
        k->g->c[i] = exp(x[i - DLS_GROUPCONV_HALF]);
    }
    for (size_t i = 0; i < k->n; i++) {
        const dls_measured_kernel *r = k->row[i].measured;
        const double launch_s = k->row[i].launch_s;
        const double forward_s = launch_s + part_s(k->g, r, DLS_PART_FORWARD);
        const double backward_s =
            2 * launch_s + part_s(k->g, r, DLS_PART_DATA) + part_s(k->g, r, DLS_PART_WEIGHT);
        residual[2 * i] = log(forward_s / r->seconds) / RESIDUAL_SCALE;
        residual[2 * i + 1] = log(backward_s / r->backward_s) / RESIDUAL_SCALE;
    }
}

static dls_status fit_kernels(const dls_measured_kernels *rows, dls_opmodel *model, size_t *n,
                              dls_error *err)
{
    dls_groupconv *g = &model->groupconv;
    kernels k = {.g = g};
    DLS_TRY(dls_alloc_array(&k.row, rows->n + 1, sizeof *k.row, "kernels", err));
    for (size_t i = 0; i < rows->n; i++) {
        const dls_measured_kernel *r = &rows->row[i];
        if (kernel_fits(g, r)) {
            k.row[k.n++] = (struct kernels_row){r, dls_opmodel_rates(model, r->gpu, r->numeric).launch_s};
        }
    }
    *n = k.n;
    dls_fit f = {.residuals = kernel_residuals,
                 .user = &k,
                 .n = DLS_GROUPCONV_N - DLS_GROUPCONV_HALF,
                 .n_residuals = 2 * k.n};
    const dls_status status = k.n > 0 ? fit(&f, DLS_GROUPCONV_HALF, g, err) : DLS_OK;
    dls_free(k.row);
    return status;
}

static void problem_fini(problem *p)
{
    for (size_t i = 0; i < p->n; i++) {
        dls_workload_fini(&p->row[i].work);
    }
    dls_free(p->row);
}

dls_status dls_groupconv_fit(const dls_measured_steps *steps, const dls_measured_kernels *rows,
                             const dls_hardware *hw, dls_opmodel *model, dls_error *err)
{
    DLS_OWN(problem_fini) problem p = {.model = model};
    size_t n_kernels = 0;
    DLS_TRY(fit_kernels(rows, model, &n_kernels, err));
    DLS_TRY(dls_alloc_array(&p.row, steps->n + 1, sizeof *p.row, "measured steps", err));
    for (size_t i = 0; i < steps->n; i++) {
        DLS_TRY(dls_groupconv_fits(&steps->row[i]) ? take(&p, &steps->row[i], hw, err) : DLS_OK);
    }
    if (p.n + n_kernels == 0) {
        return dls_fail(err, DLS_EINPUT, "measured rows",
                        "no network of RegNetX, ResNeXt, MobileNetV2 or MnasNet on an RTX3090, and "
                        "no convolution of groups that takes 20 us");
    }
    dls_fit f = {.residuals = residuals, .user = &p, .n = DLS_GROUPCONV_HALF, .n_residuals = p.n};
    return p.n > 0 ? fit(&f, 0, &model->groupconv, err) : DLS_OK;
}
