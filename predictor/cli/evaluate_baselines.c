/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Step times of the baselines (paleo, habitat, learned networks) on the test graphs of a dataset,
 * for `dlsim evaluate --baselines`; predictions are kept by graph and GPU.
 */
#include "predictor/cli/evaluate.h"

#include "base/alloc.h"
#include "base/own.h"
#include "predictor/baselines/habitat.h"
#include "predictor/baselines/habitat_nets.h"
#include "predictor/baselines/justus.h"
#include "predictor/sources/setting_files.h"
#include "predictor/dataset/origin.h"

#include <math.h>
#include <string.h>

#define FROM_SETTING "V100-w1"
#define FROM_GPU "V100"

const char *const dls_baseline_names[DLS_BASELINE_KINDS] = {"paleo", "habitat", "habitat_nets",
                                                            "justus"};

static dls_status load_learned(const char *path, dls_baselines *b, dls_error *err)
{
    dls_kernel_nets nets;
    DLS_TRY(dls_kernel_nets_load(path, &nets, err));
    if (b->has[nets.how]) {
        const dls_status status = dls_fail(err, DLS_EINPUT, path, "a second file of the method %s",
                                           dls_learned_names[nets.how]);
        dls_kernel_nets_fini(&nets);
        return status;
    }
    b->nets[nets.how] = nets;
    b->has[nets.how] = true;
    return DLS_OK;
}

static dls_status make_room(dls_baselines *b, dls_error *err)
{
    const size_t n = b->set->n_graphs + 1;
    b->work = dls_alloc_zero(n, sizeof *b->work);
    b->numeric = dls_alloc_zero(n, sizeof *b->numeric);
    b->one_s = dls_alloc_zero(n * b->hw.n_gpus, DLS_BASELINE_KINDS * sizeof *b->one_s);
    return b->work && b->numeric && b->one_s
               ? DLS_OK
               : dls_nomem(err, "step times", n * b->hw.n_gpus * sizeof *b->one_s);
}

dls_status dls_baselines_open(const dls_dataset *set, const char *hardware,
                              const char *const *learned, size_t n_learned, dls_baselines *b,
                              dls_error *err)
{
    DLS_OWN(dls_pointset_fini) dls_pointset points = {0};
    *b = (dls_baselines){.set = set, .v100 = dls_dataset_find(set, FROM_SETTING)};
    DLS_TRY(dls_hardware_load(hardware, &b->hw, err));
    DLS_TRY(dls_opmodel_of(b->hw.folder, NULL, &b->model, err));
    DLS_TRY(dls_setting_files_load("all", &b->hw, &b->settings, err));
    DLS_TRY(dls_pointset_create(&b->hw, &points, err));
    DLS_TRY(dls_paleo_calibrate(&points, &b->paleo, err));
    for (size_t i = 0; i < n_learned; i++) {
        DLS_TRY(load_learned(learned[i], b, err));
    }
    return make_room(b, err);
}

void dls_baselines_close(dls_baselines *b)
{
    if (!b || !b->set) {
        return;
    }
    for (size_t i = 0; b->work && i < b->set->n_graphs; i++) {
        dls_workload_fini(&b->work[i]);
    }
    for (int k = 0; k < DLS_LEARNED_COUNT; k++) {
        dls_kernel_nets_fini(&b->nets[k]);
    }
    DLS_FREE_ALL(b->work, b->numeric, b->one_s);
    dls_setting_list_fini(&b->settings);
    dls_hardware_fini(&b->hw);
    *b = (dls_baselines){0};
}

/* The measured step of a graph on one V100; false: it does not fit there. */
static bool on_v100(const dls_baselines *b, int32_t graph, double *seconds)
{
    const dls_dataset_setting *s = b->v100 >= 0 ? &b->set->setting[b->v100] : NULL;
    for (size_t i = 0; s && i < s->n; i++) {
        if (s->graph[i] == graph) {
            *seconds = s->iteration_s[i];
            return true;
        }
    }
    return false;
}

static dls_status ask_all(const dls_baselines *b, int32_t graph, const dls_hw_gpu *gpu,
                          double out[DLS_BASELINE_KINDS], dls_error *err)
{
    const dls_workload *w = &b->work[graph];
    const dls_numeric numeric = b->numeric[graph];
    const double batch = b->set->origin[graph].batch;
    const dls_hw_gpu *v100 = NULL;
    double measured = 0;
    DLS_TRY(dls_hardware_gpu(&b->hw, FROM_GPU, &v100, err));
    const bool known = on_v100(b, graph, &measured);
    for (int k = 0; k < DLS_BASELINE_KINDS; k++) {
        out[k] = (double)NAN;
    }
    out[DLS_BASELINE_PALEO] = dls_paleo_step_s(&b->paleo, w, gpu, numeric, batch);
    if (known) {
        out[DLS_BASELINE_HABITAT] = dls_habitat_step_s(w, v100, gpu, numeric, batch, measured);
    }
    if (known && b->has[DLS_LEARNED_HABITAT]) {
        DLS_TRY(dls_habitat_nets_step_s(&b->nets[DLS_LEARNED_HABITAT], w, v100, gpu, numeric, batch,
                                        measured, &out[DLS_BASELINE_HABITAT_NETS], err));
    }
    return b->has[DLS_LEARNED_JUSTUS]
               ? dls_justus_step_s(&b->nets[DLS_LEARNED_JUSTUS], w, gpu, numeric, batch,
                                   &out[DLS_BASELINE_JUSTUS], err)
               : DLS_OK;
}

/* Kernels of a graph and its predicted steps on one GPU, computed at the first question. */
static dls_status look_up(dls_baselines *b, int32_t graph, const char *gpu_name,
                          const double **one_s, dls_error *err)
{
    const dls_hw_gpu *gpu = NULL;
    DLS_TRY(dls_hardware_gpu(&b->hw, gpu_name, &gpu, err));
    double *at =
        b->one_s + ((size_t)graph * b->hw.n_gpus + (size_t)(gpu - b->hw.gpu)) * DLS_BASELINE_KINDS;
    *one_s = at;
    if (b->work[graph].n_kernels == 0) {
        DLS_TRY(dls_dataset_workload(&b->set->origin[graph], b->set->seed, &b->work[graph],
                                     &b->numeric[graph], err));
    }
    return at[DLS_BASELINE_PALEO] > 0 ? DLS_OK : ask_all(b, graph, gpu, at, err);
}

/* Of the graphs that a baseline answers for. */
typedef struct column {
    double *predicted, *label;
    size_t n;
} column;

static dls_status predict_row(dls_baselines *b, const dls_setting_spec *spec,
                              const dls_dataset_setting *s, size_t row, column *c, dls_error *err)
{
    const int32_t graph = s->graph[row];
    const double *one_s;
    dls_fabric fabric;
    dls_work_setting work;
    dls_step_in_setting step;
    DLS_TRY(look_up(b, graph, spec->gpu, &one_s, err));
    const dls_workload *w = &b->work[graph];
    DLS_TRY(dls_setting_work(spec, &b->model, &b->hw, w, b->set->origin[graph].batch,
                             b->numeric[graph], &fabric, &work, err));
    DLS_TRY(dls_setting_step(&b->model, w, &work, &step, err));
    for (int k = 0; k < DLS_BASELINE_KINDS; k++) {
        if (!isnan(one_s[k])) {
            c[k].label[c[k].n] = s->iteration_s[row];
            c[k].predicted[c[k].n++] = one_s[k] + step.exchange_s;
        }
    }
    return DLS_OK;
}

dls_status dls_baselines_judge(dls_baselines *b, size_t setting, dls_split split,
                               dls_baseline_errors *out, dls_error *err)
{
    const dls_dataset_setting *s = &b->set->setting[setting];
    const dls_setting_spec *spec = NULL;
    column c[DLS_BASELINE_KINDS] = {0};
    *out = (dls_baseline_errors){0};
    for (size_t i = 0; i < b->settings.n; i++) {
        spec = strcmp(b->settings.spec[i].name, s->name) == 0 ? &b->settings.spec[i] : spec;
    }
    if (!spec) {
        return dls_fail(err, DLS_EINPUT, s->name,
                        "setting %s is none of the shipped ones, so its links are not known",
                        s->name);
    }
    DLS_FREED double *room = NULL;
    DLS_TRY(dls_alloc_array(&room, 2 * DLS_BASELINE_KINDS * (s->n + 1), sizeof *room, "step times",
                            err));
    for (size_t k = 0; k < DLS_BASELINE_KINDS; k++) {
        c[k].predicted = room + 2 * k * s->n;
        c[k].label = room + (2 * k + 1) * s->n;
    }
    for (size_t i = 0; i < s->n; i++) {
        if (s->split[i] == (uint8_t)split) {
            DLS_TRY(predict_row(b, spec, s, i, c, err));
        }
    }
    for (int k = 0; k < DLS_BASELINE_KINDS; k++) {
        out->error[k] = dls_column_errors(c[k].predicted, c[k].label, c[k].n);
        out->n[k] = c[k].n;
    }
    return DLS_OK;
}
