/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Leaves out steps that are faster than possible, and doubts files that are far from the operator
 * model as a whole.
 */
#include "predictor/measured/possible.h"

#include "base/alloc.h"
#include "base/own.h"
#include "predictor/measured/judge.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Is the row faster than possible? Else its measured / predicted goes to *ratio, NAN if unanswered.
 */
static dls_status weigh(const dls_measured_steps *s, size_t i, dls_whatif *w, bool *faster,
                        double *ratio, dls_error *err)
{
    const dls_measured_step *row = &s->row[i];
    dls_whatif_question q;
    dls_whatif_answer a;
    *ratio = (double)NAN;
    if (!dls_measured_step_asked(row, w, &q)) {
        return DLS_OK;
    }
    DLS_TRY(dls_whatif_ask(w, &q, &a, err));
    /* Steps of workers that do not wait may be counted by all of them. */
    const double workers = strcmp(row->exchange, "ps-async") == 0 ? row->gpus : 1;
    *faster = !s->memory && row->step_s * workers < a.least_s;
    if (s->memory || !a.refused[0]) {
        *ratio = row->step_s / (s->memory ? a.prediction.mem_bytes : a.prediction.iteration_s);
    }
    return DLS_OK;
}

static dls_status doubt(dls_measured_steps *s, const char *path, double ratio, size_t n,
                        dls_error *err)
{
    dls_error what = {.status = DLS_EINPUT};
    snprintf(what.where, sizeof what.where, "%.200s", path);
    snprintf(what.msg, sizeof what.msg,
             "the median of %zu rows is %.3g times what the operator model says: %s?", n, ratio,
             s->memory   ? "another unit than MiB"
             : ratio > 1 ? "microseconds for milliseconds"
                         : "seconds for milliseconds");
    return dls_complain(&s->doubts, &what, err);
}

dls_status dls_measured_steps_check(dls_measured_steps *s, size_t first, const char *path,
                                    dls_whatif *w, dls_error *err)
{
    size_t n = 0;
    DLS_FREED bool *faster = NULL;
    DLS_FREED double *ratio = NULL;
    DLS_TRY(dls_alloc_array(&faster, s->n + 1, sizeof *faster, "rows", err));
    DLS_TRY(dls_alloc_array(&ratio, s->n + 1, sizeof *ratio, "rows", err));
    for (size_t i = first; i < s->n; i++) {
        DLS_TRY(weigh(s, i, w, &faster[i], &ratio[n], err));
        n += !faster[i] && ratio[n] > 0;
    }
    DLS_TRY(dls_measured_steps_drop(
        s, first, faster, path, "is faster than the GPU's data sheet lets it be: seconds?", err));
    gsl_sort(ratio, 1, n);
    const double median = n > 0 ? gsl_stats_median_from_sorted_data(ratio, 1, n) : 1;
    return fabs(log(median)) > log(DLS_MEASURED_SLIP) ? doubt(s, path, median, n, err) : DLS_OK;
}
