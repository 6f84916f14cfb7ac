/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Least squares over measured steps for two constants of a host.
 */
#include "predictor/measured/host_fit.h"

#include "base/alloc.h"
#include "workload/operator/fit.h"

#include <math.h>
#include <string.h>

#define RESIDUAL_SCALE 0.1
#define USUAL_S 50e-6
#define SIGMA 2.0

void dls_host_fit_fini(dls_host_fit *f)
{
    dls_free(f->row);
}

static dls_status take(dls_host_fit *f, const dls_measured_step *whole, double busy_s,
                       dls_error *err)
{
    const dls_hw_gpu *gpu;
    DLS_OWN(dls_workload_fini) dls_workload work = {0};
    DLS_TRY(dls_hardware_gpu(f->hw, whole->gpu, &gpu, err));
    DLS_TRY(dls_measured_step_work(whole, &work, err));
    DLS_TRY(dls_grow(&f->row, &f->cap, f->n + 1, sizeof *f->row, err));
    const dls_rates rates = dls_opmodel_rates(f->model, gpu, whole->numeric);
    dls_step step = dls_step_time(&work, &rates, whole->batch);
    step.gpu_s = busy_s;
    f->row[f->n++] = (struct dls_host_row){step, whole->step_s};
    return DLS_OK;
}

dls_status dls_host_fit_read(dls_host_fit *f, const char *path, const char *host, dls_error *err)
{
    const char *const fits[] = {"fitted=1"};
    const dls_measured_defaults all = {fits, 1, NULL};
    DLS_OWN(dls_measured_steps_fini) dls_measured_steps steps = {0};
    DLS_OWN(dls_measured_steps_fini) dls_measured_steps busy = {.busy = true};
    DLS_TRY(dls_measured_steps_read(&steps, path, f->hw, &all, err));
    DLS_TRY(dls_measured_steps_read(&busy, path, f->hw, &all, err));
    for (size_t i = 0, k = 0; i < steps.n; i++) {
        const dls_measured_step *row = &steps.row[i];
        while (k < busy.n && busy.row[k].line < row->line) {
            k++;
        }
        if (k < busy.n && busy.row[k].line == row->line && row->fitted && row->update &&
            !row->compiled && row->gpus == 1 && row->numeric != DLS_NUMERIC_FP16 &&
            strcmp(row->host, host) == 0) {
            DLS_TRY(take(f, row, busy.row[k].step_s, err));
        }
    }
    return DLS_OK;
}

static void residuals(void *user, const double *x, double *residual)
{
    const dls_host_fit *f = user;
    const dls_workload none = {0};
    const dls_host host = {.slowdown = 1, .launch_s = exp(x[0]), .tensor_s = exp(x[1])};
    for (size_t i = 0; i < f->n; i++) {
        const double s = dls_step_host_s(&f->row[i].step, &none, &host);
        residual[i] = log(s / f->row[i].step_s) / RESIDUAL_SCALE;
    }
}

dls_status dls_host_fit_run(dls_host_fit *f, dls_host *host, dls_error *err)
{
    double x[2];
    const dls_fit fit = {.residuals = residuals,
                         .user = f,
                         .n = 2,
                         .n_residuals = f->n,
                         .mean = {log(USUAL_S), log(USUAL_S)},
                         .sigma = {SIGMA, SIGMA}};
    if (f->n == 0) {
        return dls_fail(err, DLS_EINPUT, host->name,
                        "no step of it in fp32, tf32 or bf16 with step_ms and busy_ms");
    }
    DLS_TRY(dls_fit_run(&fit, x, err));
    host->launch_s = exp(x[0]);
    host->tensor_s = exp(x[1]);
    return DLS_OK;
}
