/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A trace of Muri's simulator: jobs with the stage times of their iterations, in milliseconds.
 */
#include "muri/core.h"

#include "base/alloc.h"
#include "base/csv.h"

#include <string.h>

enum {
    ID,
    GPUS,
    SUBMIT,
    ITERATIONS,
    MODEL,
    DURATION,
    STEP,
    DATA,
    COMPUTE,
    EXCHANGE,
    PRIORITY,
    FOURTH,
    N_COLS
};

static const char *const names[N_COLS] = {"job_id",          "num_gpu",         "submit_time",
                                          "iterations",      "model_name",      "duration",
                                          "iteration_time",  "resource_time_0", "resource_time_1",
                                          "resource_time_2", "priority",        "resource_time_3"};

/* Start-up seconds on 1, 2, 4, 8, 16 and 32 GPUs; any other model or size costs 10. */
static const struct startup {
    const char *model;
    int32_t s[6];
} startups[] = {
    {"vgg16", {7, 7, 8, 9, 9, 10}},    {"vgg19", {7, 7, 8, 9, 10, 10}},
    {"resnet18", {4, 5, 5, 7, 7, 7}},  {"shufflenet_v2_x1_0", {4, 4, 5, 5, 7, 8}},
    {"a2c", {38, 39, 39, 46, 46, 46}}, {"dqn", {5, 5, 6, 6, 8, 8}},
};

static int32_t startup_of(const char *model, int32_t gpus)
{
    for (size_t i = 0; i < sizeof startups / sizeof *startups; i++) {
        if (strcmp(startups[i].model, model) == 0) {
            for (int32_t k = 0; k < 6; k++) {
                if (gpus == 1 << k) {
                    return startups[i].s[k];
                }
            }
        }
    }
    return 10;
}

/* Milliseconds with at most three digits behind the point become seconds as the original has them:
 * the number, then divided by 1000. */
static dls_status milliseconds(const dls_csv *csv, int col, int64_t least, double *out,
                               dls_error *err)
{
    int64_t thousandths;
    DLS_TRY(dls_csv_i64(csv, col, "milliseconds, three digits behind the point at most", 3, least,
                        INT64_C(1) << 52, &thousandths, err));
    *out = (double)thousandths / 1000;
    return DLS_OK;
}

static dls_status parse_row(dls_csv *csv, const int *col, dls_muri_job *j, dls_error *err)
{
    int64_t gpus, priority = 0;
    double ms;
    *j = (dls_muri_job){.profile = -1};
    const char *id = dls_csv_text(csv, col[ID]);
    if (strlen(id) >= sizeof j->id) {
        return dls_csv_fail(csv, col[ID], err, "longer than %zu characters", sizeof j->id - 1);
    }
    memcpy(j->id, id, strlen(id));
    DLS_TRY(dls_csv_i64(csv, col[GPUS], "GPUs, 1 to 65536", 0, 1, 65536, &gpus, err));
    j->gpus = (int32_t)gpus;
    DLS_TRY(milliseconds(csv, col[SUBMIT], 0, &ms, err));
    j->submit_s = ms / 1000;
    DLS_TRY(milliseconds(csv, col[DURATION], 0, &ms, err));
    j->duration_s = (double)(int64_t)ms / 1000;
    DLS_TRY(dls_csv_i64(csv, col[ITERATIONS], "iterations, at least 1", 0, 1, INT64_C(1) << 52,
                        &j->iterations, err));
    DLS_TRY(milliseconds(csv, col[STEP], 1, &ms, err));
    j->stages.iteration = ms * DLS_STAGES_PROFILER / 1000;
    DLS_TRY(milliseconds(csv, col[DATA], 0, &ms, err));
    j->stages.data = ms / 1000;
    DLS_TRY(milliseconds(csv, col[COMPUTE], 0, &ms, err));
    j->stages.compute = ms / 1000;
    DLS_TRY(milliseconds(csv, col[EXCHANGE], 0, &ms, err));
    j->stages.exchange = ms / 1000;
    if (!(j->stages.data + j->stages.compute + j->stages.exchange > 0)) {
        return dls_csv_fail(csv, col[DATA], err, "the stages of an iteration take no time at all");
    }
    if (!dls_csv_missing(csv, col[PRIORITY])) {
        DLS_TRY(dls_csv_i64(csv, col[PRIORITY], "0 (guaranteed) or 1 (opportunistic)", 0, 0, 1,
                            &priority, err));
    }
    j->priority = (int32_t)priority;
    const char *model = dls_csv_text(csv, col[MODEL]);
    j->startup_s = startup_of(model, j->gpus);
    dls_muri_find_hardware(model, &j->measured, &j->restart_s);
    return DLS_OK;
}

/* Jobs of equal stages have one profile. */
static void find_profile(dls_muri_trace *t, int32_t job)
{
    const dls_stages *s = &t->job[job].stages;
    for (int32_t i = job; i-- > 0;) {
        const dls_stages *o = &t->job[i].stages;
        if (s->data == o->data && s->compute == o->compute && s->exchange == o->exchange &&
            s->iteration == o->iteration) {
            t->job[job].profile = t->job[i].profile;
            return;
        }
    }
    t->job[job].profile = t->n_profiles++;
}

/* By profile, which is the row until profiles are known. */
DLS_BY(by_submission, dls_muri_job, DLS_UP(submit_s), DLS_UP(profile));

static dls_status add_row(dls_csv *csv, const int *col, void *user, dls_error *err)
{
    dls_muri_trace *t = user;
    if (col[FOURTH] >= 0) {
        return dls_csv_fail(csv, col[FOURTH], err, "only three stages of an iteration are understood");
    }
    DLS_TRY(dls_grow(&t->job, &t->cap, t->n + 1, sizeof *t->job, err));
    DLS_TRY(parse_row(csv, col, &t->job[t->n], err));
    t->job[t->n].profile = (int32_t)t->n;
    t->n++;
    return DLS_OK;
}

dls_status dls_muri_load(const char *path, dls_muri_trace *out, dls_error *err)
{
    *out = (dls_muri_trace){0};
    DLS_TRY(dls_csv_rows(path, names, N_COLS, PRIORITY, add_row, out, err));
    dls_sort(out->job, out->n, sizeof *out->job, by_submission);
    for (size_t j = 0; j < out->n; j++) {
        find_profile(out, (int32_t)j);
    }
    return DLS_OK;
}

void dls_muri_trace_fini(dls_muri_trace *trace)
{
    dls_free(trace->job);
    *trace = (dls_muri_trace){0};
}
