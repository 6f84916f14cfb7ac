/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Fits costs of operations to steps: a job is a row of amounts, a cost for each amount.
 */
#include "workload/operator/op_rates.h"

#include "base/alloc.h"
#include "workload/operator/fit.h"

#include <math.h>

#define SPREAD 4.0 /* of the logarithm of a cost: jobs say what it is, not the formula */
#define NOISE 0.1  /* as fit.h has it */

enum { RUNS, FLOPS, BYTES = FLOPS + DLS_FAMILY_COUNT, AMOUNTS = BYTES + DLS_FAMILY_COUNT };

typedef struct problem {
    const dls_op_job *job;
    const double *amount; /* [jobs][AMOUNTS] */
    size_t n;
    int column[DLS_FIT_MAX]; /* of each parameter */
    size_t n_columns;
} problem;

static void amounts_of(const dls_op_job *job, const dls_rates *formula, double amount[AMOUNTS])
{
    amount[RUNS] = dls_update_runs(job->w);
    amount[BYTES + DLS_FAMILY_OPTIMISER] = dls_update_bytes(job->w);
    for (size_t i = 0; i < job->w->n_kernels; i++) {
        const dls_kernel *k = &job->w->kernel[i];
        amount[RUNS] += k->repeats;
        amount[FLOPS + k->op_family] += k->repeats * job->batch * k->flops;
        amount[BYTES + k->op_family] += dls_kernel_bytes(k, formula, job->batch);
    }
}

static void residuals(void *user, const double *x, double *residual)
{
    const problem *p = user;
    for (size_t i = 0; i < p->n; i++) {
        double s = 0;
        for (size_t k = 0; k < p->n_columns; k++) {
            s += exp(x[k]) * p->amount[i * AMOUNTS + (size_t)p->column[k]];
        }
        residual[i] = log(s / p->job[i].step_s) / NOISE;
    }
}

static double *cost(dls_op_rates *rates, int column)
{
    return column == RUNS   ? &rates->run_s
           : column < BYTES ? &rates->flop_s[column - FLOPS]
                            : &rates->byte_s[column - BYTES];
}

static dls_status fit(problem *p, const dls_rates *formula, dls_op_rates *out, dls_error *err)
{
    dls_fit fit = {.residuals = residuals, .user = p, .n_residuals = p->n};
    double x[DLS_FIT_MAX];
    for (int c = 0; c < AMOUNTS; c++) {
        bool any = false;
        for (size_t i = 0; i < p->n; i++) {
            any = any || p->amount[i * AMOUNTS + (size_t)c] > 0;
        }
        double *const prior = cost(out, c);
        *prior = c == RUNS   ? fmax(formula->launch_s, 1e-9)
                 : c < BYTES ? 1 / formula->own.flops[DLS_KERNEL_MATMUL]
                             : 1 / formula->mem_bps;
        if (any && p->n_columns == DLS_FIT_MAX) {
            return dls_fail(err, DLS_EINPUT, "rates", "more than %d costs", DLS_FIT_MAX);
        }
        if (any) {
            fit.mean[p->n_columns] = log(*prior);
            fit.sigma[p->n_columns] = SPREAD;
            p->column[p->n_columns++] = c;
        }
    }
    fit.n = p->n_columns;
    DLS_TRY(dls_fit_run(&fit, x, err));
    for (size_t k = 0; k < p->n_columns; k++) {
        *cost(out, p->column[k]) = exp(x[k]);
    }
    return DLS_OK;
}

dls_status dls_op_rates_fit(const dls_op_job *job, size_t n, const dls_rates *formula,
                            dls_op_rates *out, dls_error *err)
{
    for (size_t i = 0; i < n; i++) {
        if (!(job[i].step_s > 0)) {
            return dls_fail(err, DLS_EINPUT, job[i].w->name, "a step of no time");
        }
    }
    if (n == 0) {
        return dls_fail(err, DLS_EINPUT, "rates", "no job of one worker");
    }
    double *amount = dls_alloc_zero(n * AMOUNTS, sizeof *amount);
    if (!amount) {
        return dls_nomem(err, "jobs", n * AMOUNTS * sizeof *amount);
    }
    for (size_t i = 0; i < n; i++) {
        amounts_of(&job[i], formula, amount + i * AMOUNTS);
    }
    problem p = {.job = job, .amount = amount, .n = n};
    const dls_status status = fit(&p, formula, out, err);
    dls_free(amount);
    return status;
}
