/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * `dlsim operators measure`: times the distinct operations of a training graph on this machine and
 * adds the results to a file of operation times.
 */
#include "predictor/cli/operators.h"

#include "base/own.h"
#include "cli/ui.h"
#include "workload/graph/zoo.h"
#include "workload/operator/from_graph.h"
#include "workload/operator/measure.h"

#include <stdio.h>
#include <unistd.h>

static dls_status open_graph(const dls_operators *o, dls_opgraph **g, dls_error *err)
{
    if (o->graph) {
        return dls_opgraph_load(o->graph, g, err);
    }
    const dls_zoo_model *model = dls_zoo_find(o->model);
    if (!model) {
        return dls_fail(err, DLS_EINPUT, o->model, "no model of the zoo (dlsim graph zoo)");
    }
    dls_zoo_options options = dls_zoo_defaults(model);
    options.batch = (int32_t)o->batch;
    options.numeric = o->numeric;
    return dls_zoo_build(model, &options, g, err);
}

static void draw(void *user, size_t done, size_t n)
{
    char text[64];
    snprintf(text, sizeof text, "%zu of %zu operations", done, n);
    dls_progress_draw(user, (double)done / (double)n, text);
}

static dls_status run(const dls_operators *o, const char *gpu, const dls_meter *meter,
                      const dls_workload *w, const dls_opgraph_info *info, dls_op_times *times,
                      dls_error *err)
{
    dls_measure_report report;
    dls_progress bar;
    const dls_measure_options options = {.gpu = gpu,
                                         .numeric = info->numeric,
                                         .batch = info->batch,
                                         .budget_s = o->seconds,
                                         .most_flops = 1e9 * o->most_gflop,
                                         .progress = draw,
                                         .user = &bar};
    dls_progress_start(&bar, DLS_UI_AUTO, false, "measure");
    const dls_status status = dls_measure_workload(meter, w, &options, times, &report, err);
    dls_progress_stop(&bar);
    if (status == DLS_OK) {
        printf("device      %s\nmeasured    %zu operations of %s@%d %s\nleft out    %zu too large, "
               "%zu "
               "kernels of unknown size\n",
               meter->name, report.n_measured, w->name, (int)info->batch,
               dls_numeric_name((int)info->numeric), report.n_left_out, report.n_nameless);
    }
    return status;
}

dls_status dls_operators_measure(const dls_operators *o, dls_error *err)
{
    const dls_hw_gpu *gpu;
    DLS_HOLD(dls_opgraph_destroy) dls_opgraph *g = NULL;
    DLS_OWN(dls_op_times_fini) dls_op_times times = {0};
    DLS_OWN(dls_workload_fini) dls_workload w = {0};
    DLS_OWN(dls_meter_close) dls_meter meter = {0};
    DLS_TRY(dls_operators_gpu(o, &gpu, err));
    DLS_TRY(open_graph(o, &g, err));
    DLS_TRY(access(o->output, F_OK) == 0 ? dls_op_times_load(o->output, &times, err) : DLS_OK);
    DLS_TRY(dls_workload_from_graph(g, &w, err));
    DLS_TRY(dls_meter_open(o->device, &meter, err));
    DLS_TRY(run(o, gpu->name, &meter, &w, &g->info, &times, err));
    return dls_op_times_save(&times, o->output, err);
}
