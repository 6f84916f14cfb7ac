/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Collects training data of learned baselines: inputs and simulated times of every kernel of a
 * dataset's graphs on every GPU where they fit, divided into splits as the graphs are.
 */
#include "predictor/baselines/kernel_data.h"

#include "base/alloc.h"
#include "base/own.h"
#include "base/rng.h"
#include "predictor/dataset/origin.h"
#include "workload/operator/residual.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define GPUS_MAX 64
#define NO_SPLIT DLS_SPLITS

typedef struct collecting {
    const dls_dataset *set;
    const dls_kernel_data_options *o;
    dls_kernel_data *data;
    dls_rng rng;
    const dls_hw_gpu *gpu[GPUS_MAX];
    size_t n_gpus;
    uint8_t *split; /* [n_graphs] owned */
} collecting;

void dls_kernel_data_fini(dls_kernel_data *data)
{
    for (int k = 0; k < DLS_KERNEL_NETS; k++) {
        for (int s = 0; s < DLS_SPLITS; s++) {
            DLS_FREE_ALL(data->rows[k][s].x, data->rows[k][s].y);
        }
    }
    *data = (dls_kernel_data){0};
}

dls_status dls_kernel_rows_keep(dls_kernel_rows *r, dls_kernel_net net, const double *x,
                                double seconds, size_t most, dls_rng *rng, dls_error *err)
{
    const size_t width = (size_t)dls_kernel_features(net);
    size_t at = r->n;
    r->seen++;
    if (r->n == most) {
        at = (size_t)dls_rng_below(rng, r->seen);
        if (at >= most) {
            return DLS_OK;
        }
    } else {
        DLS_TRY(dls_grow(&r->x, &r->cap, (r->n + 1) * width, sizeof *r->x, err));
        DLS_TRY(dls_grow(&r->y, &r->cap_y, r->n + 1, sizeof *r->y, err));
        r->n++;
    }
    memcpy(r->x + at * width, x, width * sizeof *x);
    r->y[at] = log(seconds);
    return DLS_OK;
}

static dls_status keep(collecting *c, dls_kernel_net net, uint8_t split, const double *x,
                       double seconds, dls_error *err)
{
    const size_t most = split == DLS_SPLIT_TRAIN ? c->o->most : c->o->most / 4 + 1;
    return dls_kernel_rows_keep(&c->data->rows[net][split], net, x, seconds, most, &c->rng, err);
}

static dls_status graph_on_gpu(collecting *c, const dls_workload *w, const dls_hw_gpu *gpu,
                               dls_numeric numeric, double batch, uint8_t split, dls_error *err)
{
    double x[DLS_KERNEL_FEATURES_MAX];
    const dls_rates rates = dls_opmodel_rates(c->o->model, gpu, numeric);
    const double residual = dls_residual(c->set->seed, w->name, gpu->name, "", c->o->sigma);
    for (size_t i = 0; i < w->n_kernels; i++) {
        const dls_kernel *k = &w->kernel[i];
        DLS_TRY(dls_kernel_describe(k, gpu, numeric, batch, x, err));
        DLS_TRY(keep(c, dls_kernel_net_of(k), split, x,
                     residual * dls_kernel_s(k, &rates, batch) / k->repeats, err));
    }
    DLS_TRY(dls_update_describe(w, gpu, numeric, x, err));
    return keep(c, DLS_NET_UPDATE, split, x, residual * dls_step_time(w, &rates, batch).update_s,
                err);
}

static dls_status graph_on_all(collecting *c, size_t graph, dls_error *err)
{
    const dls_dataset_origin *o = &c->set->origin[graph];
    const uint8_t split = c->split[graph];
    DLS_OWN(dls_workload_fini) dls_workload w = {0};
    dls_numeric numeric = DLS_NUMERIC_FP32;
    DLS_TRY(dls_dataset_workload(o, c->set->seed, &w, &numeric, err));
    for (size_t g = 0; g < c->n_gpus; g++) {
        const dls_hw_gpu *gpu = c->gpu[g];
        const bool left_out = c->o->without_gpu && split != DLS_SPLIT_TEST &&
                              strcasecmp(gpu->name, c->o->without_gpu) == 0;
        if (!left_out && dls_step_memory_bytes(&w, numeric, o->batch) <= gpu->mem_bytes) {
            DLS_TRY(graph_on_gpu(c, &w, gpu, numeric, o->batch, split, err));
        }
    }
    return DLS_OK;
}

static dls_status find_gpus(collecting *c, dls_error *err)
{
    for (size_t s = 0; s < c->set->n_settings; s++) {
        const dls_hw_gpu *gpu = NULL;
        DLS_TRY(dls_hardware_gpu(c->o->hw, c->set->setting[s].gpu_type, &gpu, err));
        size_t i = 0;
        while (i < c->n_gpus && c->gpu[i] != gpu) {
            i++;
        }
        const size_t used = strlen(c->data->gpus);
        if (i == GPUS_MAX || used + strlen(gpu->name) + 2 > sizeof c->data->gpus) {
            return dls_fail(err, DLS_EINPUT, gpu->name, "more than %d kinds of GPU", GPUS_MAX);
        }
        if (i == c->n_gpus) {
            c->gpu[c->n_gpus++] = gpu;
            snprintf(c->data->gpus + used, sizeof c->data->gpus - used, "%s%s", used ? "," : "",
                     gpu->name);
        }
    }
    return DLS_OK;
}

static dls_status find_splits(collecting *c, dls_error *err)
{
    memset(c->split, NO_SPLIT, c->set->n_graphs);
    for (size_t s = 0; s < c->set->n_settings; s++) {
        const dls_dataset_setting *x = &c->set->setting[s];
        for (size_t i = 0; i < x->n; i++) {
            uint8_t *split = &c->split[x->graph[i]];
            if (*split != NO_SPLIT && *split != x->split[i]) {
                return dls_fail(
                    err, DLS_EINPUT, x->name, "graph %d is in %s here and in %s in another setting",
                    (int)x->graph[i], dls_split_name(x->split[i]), dls_split_name(*split));
            }
            *split = x->split[i];
        }
    }
    return DLS_OK;
}

dls_status dls_kernel_data_collect(const dls_dataset *set, const dls_kernel_data_options *o,
                                   dls_kernel_data *data, dls_error *err)
{
    collecting c = {.set = set,
                    .o = o,
                    .data = data,
                    .rng = dls_rng_stream(o->seed, DLS_RNG_TRAIN, UINT64_MAX)};
    *data = (dls_kernel_data){0};
    DLS_FREED uint8_t *split = NULL;
    DLS_TRY(dls_alloc_array(&split, set->n_graphs + 1, 1, "splits", err));
    c.split = split;
    DLS_TRY(find_gpus(&c, err));
    DLS_TRY(find_splits(&c, err));
    for (size_t g = 0; g < set->n_graphs; g++) {
        DLS_TRY(c.split[g] == NO_SPLIT ? DLS_OK : graph_on_all(&c, g, err));
    }
    return DLS_OK;
}
