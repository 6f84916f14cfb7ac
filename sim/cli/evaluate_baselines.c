/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/evaluate_baselines.h"

#include "base/alloc.h"
#include "predictor/baselines/habitat.h"
#include "predictor/baselines/habitat_nets.h"
#include "predictor/baselines/justus.h"
#include "predictor/dataset/origin.h"

#include <stdio.h>
#include <string.h>

#define FROM_SETTING "V100-w1"

static dls_status load(const char *folder, dls_baselines *b, dls_error *err)
{
    static const char *const files[] = {"paper", "clusters"};
    char path[4200];
    dls_pointset points;
    snprintf(path, sizeof path, "%s/operator.cfg", folder);
    DLS_TRY(dls_opmodel_load(path, &b->model, err));
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/../settings/%s.cfg", folder, files[i]);
        DLS_TRY(dls_setting_list_load(path, &b->hw, &b->settings, err));
    }
    DLS_TRY(dls_pointset_create(&b->hw, &points, err));
    const dls_status status = dls_paleo_calibrate(&points, &b->paleo, err);
    dls_pointset_fini(&points);
    return status;
}

dls_status dls_baselines_open(const dls_dataset *set, const char *hardware, dls_baselines *b,
                              dls_error *err)
{
    char folder[4096];
    const char *at = dls_hardware_folder(hardware, folder, sizeof folder);
    *b = (dls_baselines){.set = set, .v100 = dls_dataset_find(set, FROM_SETTING)};
    DLS_TRY(dls_hardware_load(at, &b->hw, err));
    const dls_status status = load(at, b, err);
    if (status != DLS_OK) {
        dls_baselines_close(b);
    }
    return status;
}

void dls_baselines_close(dls_baselines *b)
{
    if (b && b->set) {
        dls_setting_list_fini(&b->settings);
        dls_hardware_fini(&b->hw);
        *b = (dls_baselines){0};
    }
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

typedef struct columns {
    double *label, *paleo;     /* [n] */
    double *v_label, *habitat; /* [n_v] of the graphs that fit a V100 */
    size_t n, n_v;
} columns;

static dls_status predict_row(const dls_baselines *b, const dls_setting_spec *spec,
                              const dls_dataset_setting *s, size_t row, columns *c, dls_error *err)
{
    const dls_dataset_origin *o = &b->set->origin[s->graph[row]];
    dls_workload w;
    dls_numeric numeric = DLS_NUMERIC_FP32;
    dls_fabric fabric;
    dls_work_setting work;
    dls_step_in_setting step;
    const dls_hw_gpu *v100 = NULL;
    double measured = 0;
    DLS_TRY(dls_dataset_workload(o, &w, &numeric, err));
    dls_status status =
        dls_setting_work(spec, &b->model, &b->hw, &w, o->batch, numeric, &fabric, &work, err);
    if (status == DLS_OK) {
        status = dls_setting_step(&b->model, &w, &work, &step, err);
    }
    if (status == DLS_OK) {
        status = dls_hardware_gpu(&b->hw, "V100", &v100, err);
    }
    if (status == DLS_OK) {
        c->label[c->n] = s->iteration_s[row];
        c->paleo[c->n++] =
            dls_paleo_step_s(&b->paleo, &w, work.gpu, numeric, o->batch) + step.exchange_s;
        if (on_v100(b, s->graph[row], &measured)) {
            c->v_label[c->n_v] = s->iteration_s[row];
            c->habitat[c->n_v++] =
                dls_habitat_step_s(&w, v100, work.gpu, numeric, o->batch, measured) +
                step.exchange_s;
        }
    }
    dls_workload_fini(&w);
    return status;
}

dls_status dls_baselines_judge(const dls_baselines *b, size_t setting, dls_split split,
                               dls_baseline_errors *out, dls_error *err)
{
    const dls_dataset_setting *s = &b->set->setting[setting];
    const dls_setting_spec *spec = NULL;
    *out = (dls_baseline_errors){0};
    for (size_t i = 0; i < b->settings.n; i++) {
        spec = strcmp(b->settings.spec[i].name, s->name) == 0 ? &b->settings.spec[i] : spec;
    }
    if (!spec) {
        return dls_fail(err, DLS_EINPUT, s->name,
                        "setting %s is none of the shipped ones, so its links are not known",
                        s->name);
    }
    double *room = dls_alloc_zero(4 * (s->n + 1), sizeof *room);
    if (!room) {
        return dls_nomem(err, "step times", 4 * s->n * sizeof *room);
    }
    columns c = {room, room + s->n, room + 2 * s->n, room + 3 * s->n, 0, 0};
    dls_status status = DLS_OK;
    for (size_t i = 0; status == DLS_OK && i < s->n; i++) {
        if (s->split[i] == (uint8_t)split) {
            status = predict_row(b, spec, s, i, &c, err);
        }
    }
    if (status == DLS_OK) {
        out->paleo = dls_column_errors(c.paleo, c.label, c.n);
        out->habitat = dls_column_errors(c.habitat, c.v_label, c.n_v);
        out->n_habitat = c.n_v;
    }
    dls_free(room);
    return status;
}
