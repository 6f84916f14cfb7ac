/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Prepares the published measurements: builds each point's network and GPU once, and predicts its
 * step with a given model.
 */
#include "workload/operator/pointset.h"

#include "base/alloc.h"
#include "workload/operator/timeline.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define WORD_BYTES 4.0

void dls_pointset_fini(dls_pointset *set)
{
    if (set) {
        for (size_t i = 0; i < set->n_nets; i++) {
            dls_workload_fini(&set->net[i]);
        }
        DLS_FREE_ALL(set->point, set->net, set->of, set->gpu);
        *set = (dls_pointset){0};
    }
}

static dls_status network_of(dls_pointset *set, size_t i, dls_error *err)
{
    const char *name = set->point[i].model;
    size_t k = 0;
    while (k < set->n_nets && strcmp(set->net[k].name, name) != 0) {
        k++;
    }
    if (k == set->n_nets) {
        DLS_TRY(dls_workload_build(name, &set->net[k], err));
        set->n_nets++;
    }
    set->of[i] = &set->net[k];
    return DLS_OK;
}

dls_status dls_pointset_create(const dls_hardware *hw, dls_pointset *set, dls_error *err)
{
    size_t most = 0;
    *set = (dls_pointset){.hw = hw};
    DLS_TRY(dls_point_read_all(&set->point, &set->n, err));
    while (dls_workload_names()[most]) {
        most++;
    }
    set->net = dls_alloc_zero(most, sizeof *set->net);
    set->of = dls_alloc_zero(set->n, sizeof *set->of);
    set->gpu = dls_alloc_zero(set->n, sizeof *set->gpu);
    dls_status status = set->net && set->of && set->gpu
                            ? DLS_OK
                            : dls_nomem(err, "points", set->n * sizeof *set->of);
    for (size_t i = 0; status == DLS_OK && i < set->n; i++) {
        status = dls_hardware_gpu(hw, set->point[i].gpu, &set->gpu[i], err);
        if (status == DLS_OK) {
            status = network_of(set, i, err);
        }
    }
    if (status != DLS_OK) {
        dls_pointset_fini(set);
    }
    return status;
}

const char *dls_point_host(const dls_point *p, char *buf, size_t size)
{
    *buf = '\0';
    if (p->source == DLS_POINT_SIA) {
        snprintf(buf, size, "sia_%s_%s", p->model, p->gpu);
    } else if (p->source == DLS_POINT_EFL) {
        snprintf(buf, size, "elasticflow_%s", p->model);
    }
    return buf;
}

const char *dls_point_fabric(const dls_point *p)
{
    const char *fabric = dls_point_places[p->source].fabric;
    const bool own = strcmp(p->gpu, "RTX2080TI") == 0;
    const bool pcie = strncmp(p->gpu, "RTX", 3) == 0 || strcmp(p->gpu, "A100-PCIE") == 0;
    return fabric ? fabric : own ? "pcie_2080ti" : pcie ? "pcie" : "nvswitch";
}

double dls_point_one_s(const dls_pointset *set, size_t i, const dls_opmodel *model)
{
    char host[2 * DLS_HW_NAME];
    const dls_point *p = &set->point[i];
    const dls_rates rates = dls_opmodel_rates(model, set->gpu[i], p->numeric);
    dls_step step = dls_step_time(set->of[i], &rates, p->batch);
    if (p->source == DLS_POINT_U39) {
        step.gpu_s -= step.update_s; /* it times forward and backward */
    }
    return dls_step_host_s(&step, set->of[i],
                           dls_opmodel_host(model, dls_point_host(p, host, sizeof host)));
}

double dls_point_measured_one_s(const dls_pointset *set, size_t i)
{
    const dls_point *p = &set->point[i];
    for (size_t k = 0; k < set->n; k++) {
        const dls_point *q = &set->point[k];
        if (q->n_gpus == 1 && q->source == p->source && q->numeric == p->numeric &&
            q->batch == p->batch && strcmp(q->gpu, p->gpu) == 0 && set->of[k] == set->of[i]) {
            return q->step_ms / 1e3;
        }
    }
    return 0;
}

/* A host makes the step of one GPU one_s. */
static double in_buckets_s(const dls_pointset *set, size_t i, const dls_opmodel *model,
                           const dls_fabric *fabric, double one_s)
{
    const dls_point *p = &set->point[i];
    const dls_rates rates = dls_opmodel_rates(model, set->gpu[i], p->numeric);
    const dls_step one = dls_step_time(set->of[i], &rates, p->batch);
    const dls_host host = {.slowdown = one_s / one.gpu_s};
    const dls_work_setting s = {.gpu = set->gpu[i],
                                .numeric = p->numeric,
                                .batch = p->batch,
                                .n_workers = p->n_gpus,
                                .buckets = true,
                                .fabric = fabric,
                                .host = &host};
    dls_step_in_setting step;
    dls_error err = {0};
    return dls_setting_step(model, set->of[i], &s, &step, &err) == DLS_OK ? step.step_s
                                                                          : (double)NAN;
}

double dls_point_step_s(const dls_pointset *set, size_t i, const dls_opmodel *model, double one_s)
{
    const dls_point *p = &set->point[i];
    const dls_workload *w = set->of[i];
    const dls_fabric *f = dls_opmodel_fabric(model, dls_point_fabric(p));
    if (p->n_gpus < 2 || !f) {
        return one_s;
    }
    if (set->buckets && !dls_point_places[p->source].servers) {
        return in_buckets_s(set, i, model, f, one_s);
    }
    const double bytes = WORD_BYTES * w->params;
    const double exchange_s = dls_point_places[p->source].servers
                                  ? dls_fabric_ps_s(f, p->n_gpus, bytes, 0, w->n_tensors)
                                  : dls_fabric_allreduce_s(f, p->n_gpus, bytes, w->n_tensors);
    return dls_fabric_step_s(f, p->n_gpus, one_s, exchange_s);
}
