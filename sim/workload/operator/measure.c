/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Measures the distinct kernels of a workload on a device as matrix products and copies, repeated
 * for a given time.
 */
#include "workload/operator/measure.h"

#include "base/own.h"
#include "workload/operator/model.h"

#include <stdio.h>

static int precision_of(dls_numeric numeric)
{
    switch (numeric) {
    case DLS_NUMERIC_FP32:
        return DLS_METER_FP32;
    case DLS_NUMERIC_TF32:
        return DLS_METER_TF32;
    case DLS_NUMERIC_FP16:
        return DLS_METER_FP16;
    case DLS_NUMERIC_BF16:
    case DLS_NUMERIC_COUNT:
        break;
    }
    return -1;
}

static dls_status time_one(const dls_meter *meter, const dls_measure_options *o,
                           const dls_op_work *work, double *seconds, dls_error *err)
{
    char why[256] = "";
    const int failed =
        work->bytes > 0
            ? meter->ops->move(meter->device, work->bytes, o->budget_s, seconds, why, sizeof why)
            : meter->ops->product(meter->device, precision_of(o->numeric), work->count, work->m,
                                  work->n, work->k, o->budget_s, seconds, why, sizeof why);
    return failed ? dls_fail(err, DLS_EPREDICTOR, meter->ops->method, "%s", why) : DLS_OK;
}

static double flops_of(const dls_op_work *w)
{
    return 2 * (double)w->count * (double)w->m * (double)w->n * (double)w->k;
}

/* The distinct ones of w's kernels, as rows without a time. */
static dls_status collect(const dls_workload *w, const dls_meter *meter,
                          const dls_measure_options *o, dls_op_times *todo,
                          dls_measure_report *report, dls_error *err)
{
    const double element = dls_numeric_bytes(o->numeric);
    for (size_t i = 0; i < w->n_kernels; i++) {
        dls_op_time row = {.numeric = o->numeric, .seconds = 1};
        if (!dls_kernel_work(&w->kernel[i], element, o->batch, &row.work)) {
            report->n_nameless++;
            continue;
        }
        snprintf(row.gpu, sizeof row.gpu, "%s", o->gpu);
        snprintf(row.method, sizeof row.method, "%s", meter->ops->method);
        DLS_TRY(dls_op_times_put(todo, &row, err));
    }
    return DLS_OK;
}

static dls_status measure_all(const dls_meter *meter, const dls_measure_options *o,
                              const dls_op_times *todo, dls_op_times *times,
                              dls_measure_report *report, dls_error *err)
{
    for (size_t i = 0; i < todo->n; i++) {
        dls_op_time row = todo->row[i];
        if (o->progress) {
            o->progress(o->user, i, todo->n);
        }
        if (o->most_flops > 0 && flops_of(&row.work) > o->most_flops) {
            report->n_left_out++;
            continue;
        }
        DLS_TRY(time_one(meter, o, &row.work, &row.seconds, err));
        DLS_TRY(dls_op_times_put(times, &row, err));
        report->n_measured++;
    }
    return DLS_OK;
}

dls_status dls_measure_workload(const dls_meter *meter, const dls_workload *w,
                                const dls_measure_options *o, dls_op_times *times,
                                dls_measure_report *report, dls_error *err)
{
    DLS_OWN(dls_op_times_fini) dls_op_times todo = {0};
    *report = (dls_measure_report){.n_measured = 0};
    if (precision_of(o->numeric) < 0) {
        return dls_fail(err, DLS_EINPUT, "precision",
                        "%s is not measured: the model takes fp16's constants for it",
                        dls_numeric_name((int)o->numeric));
    }
    DLS_TRY(collect(w, meter, o, &todo, report, err));
    return measure_all(meter, o, &todo, times, report, err);
}
