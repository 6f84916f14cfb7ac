/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Traces, pair tables and forecasts of Lucid's simulator.
 */
#include "lucid/lucid.h"

#include "base/alloc.h"
#include "base/csv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PREDICTED_MOST (INT64_C(1) << 40)
#define WORKLOADS_MAX 4096

static dls_status real(dls_csv *csv, int col, const char *what, int64_t least, double *out,
                       dls_error *err)
{
    int64_t millionths;
    DLS_TRY(dls_csv_scaled(csv, col, what, 6, true, least, INT64_C(1) << 52, &millionths, err));
    *out = (double)millionths / 1e6;
    return DLS_OK;
}

/* What tells workloads apart, as one text. */
static dls_status workload_name(dls_csv *csv, const int *col, char name[256], dls_error *err)
{
    char part[4][64];
    for (int i = 0; i < 4; i++) {
        const char *text = dls_csv_text(csv, col[i]);
        if (strlen(text) >= sizeof part[i]) {
            return dls_csv_fail(csv, col[i], err, "longer than %zu characters", sizeof part[i] - 1);
        }
        memcpy(part[i], text, strlen(text) + 1);
    }
    snprintf(name, 256, "%.60s,%.60s,%.60s,%.60s", part[0], part[1], part[2], part[3]);
    return DLS_OK;
}

/* Models that the original takes to be as fast beside any other. */
static bool never_slower(const char *workload)
{
    static const char *const models[] = {"NeuMF", "ResNet50", "BERT", "Transformer"};
    const size_t len = strcspn(workload, ",");
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        if (strlen(models[i]) == len && strncmp(models[i], workload, len) == 0) {
            return true;
        }
    }
    return false;
}

/* ---- jobs */

enum { ID, VC, GPUS, SUBMIT, DURATION, MODEL, DATA, BATCH, AMP, GMEM, SCORE, LUCID, QSSF, N_COLS };
static const char *const names[N_COLS] = {
    "job_id",    "vc",  "gpu_num", "submit",     "duration",   "model",    "dataset",
    "batchsize", "amp", "gmem",    "sharescore", "pred_lucid", "pred_qssf"};

static dls_status read_profile(dls_csv *csv, const int *col, dls_lucid_trace *t, dls_lucid_job *j,
                               dls_error *err)
{
    char name[256];
    int64_t score;
    if (col[MODEL] >= 0) {
        DLS_TRY(workload_name(csv, &col[MODEL], name, err));
        DLS_TRY(dls_strdict_put(&t->workloads, name, strlen(name), &j->workload, err));
        if (j->workload >= WORKLOADS_MAX) {
            return dls_csv_fail(csv, col[MODEL], err, "more than %d workloads", WORKLOADS_MAX);
        }
        j->never_slower = never_slower(name);
    }
    if (col[GMEM] >= 0) {
        DLS_TRY(real(csv, col[GMEM], "MiB", 0, &j->gmem_mib, err));
    }
    if (col[SCORE] >= 0) {
        DLS_TRY(dls_csv_i64(csv, col[SCORE], "0, 1 or 2", 0, 0, 2, &score, err));
        j->share_score = (int32_t)score;
    }
    if (col[LUCID] >= 0) {
        DLS_TRY(dls_csv_i64(csv, col[LUCID], "seconds", 0, -PREDICTED_MOST, PREDICTED_MOST,
                            &j->lucid_s, err));
        j->lucid_s = j->lucid_s < 0 ? 1000 : j->lucid_s;
    }
    if (col[QSSF] >= 0) {
        DLS_TRY(dls_csv_i64(csv, col[QSSF], "seconds", 0, -PREDICTED_MOST, PREDICTED_MOST,
                            &j->qssf_s, err));
    }
    return DLS_OK;
}

static dls_status read_job(dls_csv *csv, const int *col, void *user, dls_error *err)
{
    dls_lucid_trace *t = user;
    dls_lucid_job j = {.start_s = -1, .end_s = -1, .shared_s = -1, .rate = 1, .first_node = -1};
    int64_t gpus;
    const char *id = dls_csv_text(csv, col[ID]);
    DLS_TRY(dls_strdict_put(&t->ids, id, strlen(id), &j.id, err));
    const char *vc = dls_csv_text(csv, col[VC]);
    DLS_TRY(dls_strdict_put(&t->vcs, vc, strlen(vc), &j.vc, err));
    DLS_TRY(dls_csv_i64(csv, col[GPUS], "GPUs, at least 1", 0, 1,
                        DLS_LUCID_NODES_MAX * DLS_LUCID_GPUS, &gpus, err));
    j.gpus = (int32_t)gpus;
    DLS_TRY(
        dls_csv_i64(csv, col[SUBMIT], "whole seconds", 0, 0, INT64_C(1) << 40, &j.submit_s, err));
    DLS_TRY(dls_csv_i64(csv, col[DURATION], "whole seconds, at least 1", 0, 1, INT64_C(1) << 40,
                        &j.duration_s, err));
    if (t->n > 0 && j.submit_s < t->job[t->n - 1].submit_s) {
        return dls_csv_fail(csv, col[SUBMIT], err, "before the job above it");
    }
    DLS_TRY(read_profile(csv, col, t, &j, err));
    DLS_TRY(dls_grow(&t->job, &t->job_cap, t->n + 1, sizeof j, err));
    t->job[t->n++] = j;
    return DLS_OK;
}

/* ---- tables */

dls_status dls_lucid_load(const char *path, dls_lucid_trace *out, dls_error *err)
{
    *out = (dls_lucid_trace){0};
    return dls_csv_rows(path, names, N_COLS, MODEL, read_job, out, err);
}

static dls_status read_pair(dls_csv *csv, const int *col, void *user, dls_error *err)
{
    dls_lucid_trace *t = user;
    char name[256];
    int32_t w[2];
    double speed[2];
    for (int k = 0; k < 2; k++) {
        DLS_TRY(workload_name(csv, &col[5 * k], name, err));
        w[k] = dls_strdict_find(&t->workloads, name, strlen(name));
        DLS_TRY(real(csv, col[5 * k + 4], "a speed above 0", 1, &speed[k], err));
    }
    if (w[0] >= 0 && w[0] == w[1] && isnan(t->speed_of_host[w[0]])) {
        t->speed_of_host[w[0]] = speed[1];
        speed[1] = speed[0];
    }
    t->n_strange += w[0] < 0 || w[1] < 0;
    for (int k = 0; k < 2 && w[0] >= 0 && w[1] >= 0; k++) {
        double *known = &t->speed[(size_t)w[k] * t->n_speed + (size_t)w[1 - k]];
        *known = isnan(*known) ? speed[k] : *known; /* the first row counts */
    }
    return DLS_OK;
}

dls_status dls_lucid_load_pairs(const char *path, dls_lucid_trace *t, dls_error *err)
{
    static const char *const columns[] = {"model1", "dataset1", "batchsize1", "amp1", "speed1",
                                          "model2", "dataset2", "batchsize2", "amp2", "speed2"};
    t->n_speed = t->workloads.n;
    DLS_FREE_ALL(t->speed, t->speed_of_host);
    DLS_TRY(DLS_ALLOC_ALL("pairs", err, DLS_ARRAY(t->speed, t->n_speed * t->n_speed + 1),
                          DLS_ARRAY(t->speed_of_host, t->n_speed + 1)));
    for (size_t i = 0; i < t->n_speed * t->n_speed; i++) {
        t->speed[i] = (double)NAN;
    }
    for (size_t i = 0; i < t->n_speed; i++) {
        t->speed_of_host[i] = (double)NAN;
    }
    return dls_csv_rows(path, columns, 10, 10, read_pair, t, err);
}

static dls_status read_forecast(dls_csv *csv, const int *col, void *user, dls_error *err)
{
    dls_lucid_trace *t = user;
    dls_lucid_forecast f;
    DLS_TRY(dls_csv_i64(csv, col[0], "whole seconds", 0, 0, INT64_C(1) << 40, &f.time_s, err));
    DLS_TRY(real(csv, col[1], "jobs", -(INT64_C(1) << 52), &f.jobs, err));
    DLS_TRY(real(csv, col[2], "GPUs", -(INT64_C(1) << 52), &f.gpus, err));
    if (t->n_forecast > 0 && f.time_s <= t->forecast[t->n_forecast - 1].time_s) {
        return dls_csv_fail(csv, col[0], err, "not after the row above it");
    }
    DLS_TRY(dls_grow(&t->forecast, &t->forecast_cap, t->n_forecast + 1, sizeof f, err));
    t->forecast[t->n_forecast++] = f;
    return DLS_OK;
}

dls_status dls_lucid_load_forecast(const char *path, dls_lucid_trace *t, dls_error *err)
{
    static const char *const columns[] = {"time", "pred_gpu_job", "pred_gpu_num"};
    return dls_csv_rows(path, columns, 3, 3, read_forecast, t, err);
}

void dls_lucid_trace_fini(dls_lucid_trace *t)
{
    dls_strdict_fini(&t->ids);
    dls_strdict_fini(&t->vcs);
    dls_strdict_fini(&t->workloads);
    DLS_FREE_ALL(t->job, t->speed, t->speed_of_host, t->forecast);
    *t = (dls_lucid_trace){0};
}
