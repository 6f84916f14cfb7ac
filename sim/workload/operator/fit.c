/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The robust loss and the priors as residuals of GSL's non-linear least squares: with
 * w = r sqrt(2 / (1 + sqrt(1 + r^2))), w^2 = 2 (sqrt(1 + r^2) - 1).
 */
#include "workload/operator/fit.h"

#include "base/alloc.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_multifit_nlinear.h>
#include <math.h>

#define ROUNDS 200
#define STEP 1e-5
#define STILL 1e-9 /* relative change of a parameter, or gradient, that ends the search */

typedef struct problem {
    const dls_fit *fit;
    double *residual; /* [n_residuals] */
} problem;

/* `out` may be a column of the Jacobian, that is, have a stride. */
static int residuals(const gsl_vector *at, void *user, gsl_vector *out)
{
    const problem *p = user;
    const dls_fit *fit = p->fit;
    double x[DLS_FIT_MAX];
    for (size_t k = 0; k < fit->n; k++) {
        x[k] = gsl_vector_get(at, k);
        gsl_vector_set(out, fit->n_residuals + k, (x[k] - fit->mean[k]) / fit->sigma[k]);
    }
    fit->residuals(fit->user, x, p->residual);
    for (size_t i = 0; i < fit->n_residuals; i++) {
        const double r = p->residual[i];
        if (!isfinite(r)) {
            return GSL_EBADFUNC;
        }
        gsl_vector_set(out, i, r * sqrt(2 / (1 + sqrt(1 + r * r))));
    }
    return GSL_SUCCESS;
}

/* A search that makes no more progress, or has taken long enough, ends at its best point. */
static int search(gsl_multifit_nlinear_fdf *fdf, const dls_fit *fit, double *x)
{
    gsl_multifit_nlinear_parameters how = gsl_multifit_nlinear_default_parameters();
    const gsl_vector_const_view start = gsl_vector_const_view_array(fit->mean, fit->n);
    int info = 0;
    how.h_df = STEP;
    gsl_multifit_nlinear_workspace *w =
        gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &how, fdf->n, fdf->p);
    if (!w) {
        return GSL_ENOMEM;
    }
    int failed = gsl_multifit_nlinear_init(&start.vector, fdf, w);
    if (!failed) {
        failed = gsl_multifit_nlinear_driver(ROUNDS, STILL, STILL, 0, NULL, NULL, &info, w);
        failed = failed == GSL_EBADFUNC || failed == GSL_ENOMEM ? failed : 0;
    }
    for (size_t k = 0; k < fit->n; k++) {
        x[k] = gsl_vector_get(w->x, k);
    }
    gsl_multifit_nlinear_free(w);
    return failed;
}

dls_status dls_fit_run(const dls_fit *fit, double *x, dls_error *err)
{
    if (fit->n == 0 || fit->n > DLS_FIT_MAX) {
        return dls_fail(err, DLS_EINPUT, NULL, "%zu parameters to fit", fit->n);
    }
    problem p = {fit, dls_alloc((fit->n_residuals + 1) * sizeof *p.residual)};
    if (!p.residual) {
        return dls_nomem(err, "fit", (fit->n_residuals + 1) * sizeof *p.residual);
    }
    gsl_multifit_nlinear_fdf fdf = {
        .f = residuals, .n = fit->n_residuals + fit->n, .p = fit->n, .params = &p};
    gsl_error_handler_t *old = gsl_set_error_handler_off(); /* it would abort */
    const int failed = search(&fdf, fit, x);
    gsl_set_error_handler(old);
    dls_free(p.residual);
    if (failed == GSL_ENOMEM) {
        return dls_nomem(err, "fit", fdf.n * fdf.p * sizeof(double));
    }
    return failed ? dls_fail(err, DLS_EINPUT, NULL, "a residual is not finite") : DLS_OK;
}
