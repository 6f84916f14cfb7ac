/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * profiles: what somebody measured of single models, time, use, bursts and memory, as a table of
 * text. It knows the models that it lists, whatever they are called, and no others.
 */
#include "base/alloc.h"
#include "base/csv.h"
#include "base/units.h"
#include "dlsim/predictor.h"
#include "predictor/sources/predictions.h"

#include <math.h>
#include <string.h>
#include <strings.h>

enum {
    MODEL,
    ITERATION,
    GPUS,
    NODES,
    BATCH,
    GPU_TYPE,
    USE,
    PEAK,
    MEM_USE,
    BURST,
    RATE,
    MEMORY,
    N_COLS
};
static const char *const names[N_COLS] = {"model",    "iteration_s", "gpus",      "nodes",
                                          "batch",    "gpu_type",    "gpu_util",  "gpu_peak",
                                          "mem_util", "burst_s",     "burst_bps", "mem_bytes"};

typedef struct profile {
    char model[DLS_MODEL_KEY], gpu_type[64]; /* "" any type */
    int64_t at[3];                           /* GPUs, nodes, batch per GPU; 0: any */
    double v[N_COLS];                        /* NAN: not said */
} profile;

typedef struct profiles {
    const dls_kinds *kinds;
    const dls_cluster_spec *cluster;
    profile *row;
    size_t n, room;
} profiles;

/* ---- the table ------------------------------------------------------------------------------- */

static dls_status number(dls_csv *csv, const int *col, int which, double least, double most,
                         profile *p, dls_error *err)
{
    p->v[which] = (double)NAN;
    if (dls_csv_missing(csv, col[which])) {
        return DLS_OK;
    }
    if (!dls_units_f64(dls_csv_text(csv, col[which]), &p->v[which]) ||
        !(p->v[which] >= least && p->v[which] <= most)) {
        return dls_csv_fail(csv, col[which], err, "expected a number from %g to %g", least, most);
    }
    return DLS_OK;
}

static dls_status check(const dls_csv *csv, const int *col, const profiles *t, const profile *p,
                        dls_error *err)
{
    if (isnan(p->v[ITERATION])) {
        return dls_csv_fail(csv, col[ITERATION], err, "expected seconds");
    }
    if (p->v[USE] > p->v[PEAK]) {
        return dls_csv_fail(csv, col[USE], err, "the mean use is above the peak");
    }
    if (p->v[BURST] > p->v[ITERATION]) {
        return dls_csv_fail(csv, col[BURST], err, "a burst is longer than the iteration");
    }
    if (isnan(p->v[BURST]) != isnan(p->v[RATE])) {
        return dls_csv_fail(csv, col[BURST], err, "burst_s and burst_bps go together");
    }
    for (size_t i = 0; i < t->n; i++) {
        if (memcmp(t->row[i].at, p->at, sizeof p->at) == 0 &&
            strcmp(t->row[i].model, p->model) == 0 &&
            strcasecmp(t->row[i].gpu_type, p->gpu_type) == 0) {
            return dls_csv_fail(csv, col[MODEL], err, "this profile is listed twice");
        }
    }
    return DLS_OK;
}

static dls_status read_row(dls_csv *csv, const int *col, void *user, dls_error *err)
{
    static const struct {
        int which;
        double least, most;
    } numbers[] = {{ITERATION, 1e-9, 1e9}, {USE, 0, 1},     {PEAK, 1e-9, 1},  {MEM_USE, 0, 1},
                   {BURST, 1e-9, 1e9},     {RATE, 1, 1e15}, {MEMORY, 1, 1e15}};
    profiles *t = user;
    DLS_TRY(dls_grow(&t->row, &t->room, t->n + 1, sizeof *t->row, err));
    profile *p = &t->row[t->n];
    *p = (profile){.model = ""};
    dls_model_key(dls_csv_text(csv, col[MODEL]), p->model);
    if (!p->model[0]) {
        return dls_csv_fail(csv, col[MODEL], err, "expected the name of a model");
    }
    const char *gpu_type = dls_csv_text(csv, col[GPU_TYPE]);
    if (strlen(gpu_type) >= sizeof p->gpu_type) {
        return dls_csv_fail(csv, col[GPU_TYPE], err, "expected the name of a GPU type");
    }
    memcpy(p->gpu_type, gpu_type, strlen(gpu_type));
    for (int k = 0; k < 3; k++) {
        if (!dls_csv_missing(csv, col[GPUS + k])) {
            DLS_TRY(dls_csv_i64(csv, col[GPUS + k], "a whole number from 1 on", 0, 1, 1 << 24,
                                &p->at[k], err));
        }
    }
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
        DLS_TRY(number(csv, col, numbers[k].which, numbers[k].least, numbers[k].most, p, err));
    }
    DLS_TRY(check(csv, col, t, p, err));
    t->n++;
    return DLS_OK;
}

static void profiles_close(void *state)
{
    dls_free(((profiles *)state)->row);
    dls_free(state);
}

static dls_status profiles_open(const dls_prediction_params *p, const dls_kinds *kinds,
                                void **state, dls_error *err)
{
    profiles *t;
    if (!p->table || !*p->table) {
        return dls_fail(err, DLS_ECONFIG, "predictor.table",
                        "the source \"profiles\" needs a table");
    }
    DLS_TRY(dls_alloc_array(&t, 1, sizeof *t, "profiles", err));
    *t = (profiles){.kinds = kinds, .cluster = p->cluster};
    const dls_status status = dls_csv_rows(p->table, names, N_COLS, 2, read_row, t, err);
    if (status != DLS_OK) {
        profiles_close(t);
        return status;
    }
    *state = t;
    return DLS_OK;
}

/* ---- answers --------------------------------------------------------------------------------- */

/* Nearest in GPUs, then nodes, then batch, by ratio; what a row leaves open is as good as equal,
 * but behind it. NULL: the model is not there for this type. O(rows). */
static const profile *find(const profiles *t, int32_t kind, int32_t type, const int64_t at[3])
{
    char model[DLS_MODEL_KEY];
    const profile *best = NULL;
    double least[4] = {0};
    dls_model_key(t->kinds->kind[kind].model, model);
    for (size_t i = 0; i < t->n; i++) {
        const profile *p = &t->row[i];
        const bool any = !p->gpu_type[0];
        double far[4] = {any, 0, 0, 0};
        if (strcmp(p->model, model) != 0 ||
            (!any && strcasecmp(p->gpu_type, t->cluster->types[type].name) != 0)) {
            continue;
        }
        int k = 0;
        for (; k < 3; k++) {
            far[k + 1] =
                p->at[k] > 0 && at[k] > 0 ? fabs(log((double)p->at[k] / (double)at[k])) : 1e-9;
        }
        for (k = 0; best && k < 3 && far[k] == least[k]; k++) {
        }
        if (!best || far[k] < least[k]) {
            best = p;
            memcpy(least, far, sizeof least);
        }
    }
    return best;
}

static const profile *row_for(const profiles *t, int32_t kind, const dls_shape *shape)
{
    const int64_t at[3] = {shape->gpus, shape->n_nodes, t->kinds->kind[kind].batch_per_gpu};
    return find(t, kind, shape->type, at);
}

static void say(const profile *p, dls_prediction *out)
{
    const double t = p->v[ITERATION], peak = isnan(p->v[PEAK]) ? 1 : p->v[PEAK];
    const double busy_s = t * p->v[USE] / peak, burst_s = p->v[BURST];
    double *m = out->metric;
    out->iteration_s = t;
    out->distance = 0;
    out->link_bps = p->v[RATE];
    m[DLS_GPU_ACTIVE] = m[DLS_GPU_MEM_ACTIVE] = busy_s;
    m[DLS_GPU_IDLE] = m[DLS_GPU_MEM_IDLE] = t - busy_s;
    m[DLS_GPU_PEAK] = isnan(busy_s) ? busy_s : peak;
    m[DLS_GPU_MEM_PEAK] = p->v[MEM_USE] * t > busy_s ? 1 : p->v[MEM_USE] * t / busy_s;
    m[DLS_NET_TX_ACTIVE] = m[DLS_NET_RX_ACTIVE] = burst_s;
    m[DLS_NET_TX_IDLE] = m[DLS_NET_RX_IDLE] = t - burst_s;
    m[DLS_NET_TX_PEAK] = m[DLS_NET_RX_PEAK] = p->v[RATE];
}

static dls_status profiles_answer(void *state, const dls_predictions_ask *ask, size_t n,
                                  dls_prediction *out, dls_error *err)
{
    const profiles *t = state;
    for (size_t i = 0; i < n; i++) {
        const profile *p = row_for(t, ask[i].kind, &ask[i].shape);
        out[i] = (dls_prediction){.iteration_s = 0}; /* no answer */
        if (p) {
            say(p, &out[i]);
        }
    }
    return DLS_OK;
}

/* Of what is not in the table the time at the reference is the answer. */
static dls_status profiles_knows(void *state, const dls_predictions_ask *ask, bool *known,
                                 dls_error *err)
{
    *known = true;
    return DLS_OK;
}

static double profiles_memory(void *state, int32_t kind, const dls_shape *shape)
{
    const profile *p = row_for(state, kind, shape);
    return p ? p->v[MEMORY] : (double)NAN;
}

const dls_prediction_source dls_prediction_source_profiles = {
    .name = "profiles",
    .summary = "measured profiles of models (predictor.table): time, use, bursts, memory",
    .open = profiles_open,
    .close = profiles_close,
    .answer = profiles_answer,
    .knows = profiles_knows,
    .memory = profiles_memory,
};
