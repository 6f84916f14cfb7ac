/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A made-up run for the tests and benchmarks of results/: plausible numbers, no simulation. Every
 * job has `allocs_per_job` allocation rows and the series has `series_per_job` rows per job.
 */
#ifndef TESTS_RESULTS_SAMPLE_H
#define TESTS_RESULTS_SAMPLE_H

#include "base/rng.h"
#include "dlsim/trace.h"
#include "record/record.h"

#include <stdio.h>

static inline dls_status sample_trace(size_t n, dls_trace **out, dls_error *err)
{
    static const char *const models[] = {"resnet50", "vgg16", "bert", "gpt"};
    dls_trace_builder *b = NULL;
    DLS_TRY(dls_trace_builder_create(NULL, &b, err));
    dls_rng rng = dls_rng_stream(1, DLS_RNG_TEST, n);
    int64_t submit_us = 5 * DLS_US_PER_S;
    dls_status status = DLS_OK;
    for (size_t i = 0; i < n && status == DLS_OK; i++) {
        char id[64], user[24];
        dls_job_rec job;
        dls_job_rec_init(&job);
        snprintf(id, sizeof id, "application_1506638472019_%05zu", i);
        snprintf(user, sizeof user, "user%u", (unsigned)dls_rng_below(&rng, 300));
        submit_us += (int64_t)dls_rng_below(&rng, 60) * DLS_US_PER_S;
        job.id = id;
        job.submit_us = submit_us;
        job.gpus_milli = INT64_C(1000) << dls_rng_below(&rng, 7);
        job.duration_us = (int64_t)(1 + dls_rng_below(&rng, 20000)) * DLS_US_PER_S;
        job.model = models[dls_rng_below(&rng, 4)];
        job.user = user;
        job.vc = dls_rng_below(&rng, 2) ? "vc-a" : NULL;
        job.outcome = (dls_outcome)dls_rng_below(&rng, 3);
        status = dls_trace_builder_add(b, &job, "sample", err);
    }
    snprintf(dls_trace_builder_info(b)->sha256, 65, "%064zu", n);
    if (status == DLS_OK) {
        status = dls_trace_builder_finish(b, out, err);
    }
    if (status != DLS_OK) {
        dls_trace_builder_destroy(b);
    }
    return status;
}

static inline dls_status sample_rows(dls_record *rec, const dls_trace_columns *t,
                                     int allocs_per_job, int series_per_job, dls_error *err)
{
    dls_rng rng = dls_rng_stream(2, DLS_RNG_TEST, t->n);
    int64_t now_us = t->n ? t->submit_us[0] : 0;
    for (size_t j = 0; j < t->n; j++) {
        if (rec->state[j] != DLS_JOB_FINISHED) {
            continue;
        }
        const int64_t step = (rec->end_us[j] - rec->start_us[j]) / allocs_per_job;
        for (int k = 0; k < allocs_per_job; k++) {
            size_t row;
            const int64_t from = rec->start_us[j] + k * step;
            const int32_t gpus = t->gpus[j] < 8 ? t->gpus[j] : 8;
            const uint64_t mask = ((UINT64_C(1) << gpus) - 1) << dls_rng_below(&rng, 8);
            DLS_TRY(dls_record_alloc_row(rec, (int32_t)j, (int32_t)dls_rng_below(&rng, 12500), from,
                                         mask, gpus, k ? 1.0f : 0.0f, &row, err));
            rec->allocs.end_us[row] = from + step;
        }
        for (int k = 0; k < series_per_job; k++) {
            now_us += (int64_t)dls_rng_below(&rng, 20) * DLS_US_PER_S + 1;
            const dls_series_point p = {.t_us = now_us,
                                        .busy_gpus = 90000 + (int32_t)dls_rng_below(&rng, 10000),
                                        .running_jobs = 20000 + (int32_t)dls_rng_below(&rng, 500),
                                        .pending_jobs = (int32_t)dls_rng_below(&rng, 5000),
                                        .finished_jobs = (int32_t)j,
                                        .busy_nodes = 12000 + (int32_t)dls_rng_below(&rng, 500),
                                        .full_nodes = 11000 + (int32_t)dls_rng_below(&rng, 500)};
            DLS_TRY(dls_record_series(rec, &p, err));
        }
    }
    return DLS_OK;
}

/* Every 101st job is infeasible, every 97th is still running. */
static inline dls_status sample_record(const dls_trace *trace, int allocs_per_job,
                                       int series_per_job, dls_record **out, dls_error *err)
{
    const dls_trace_columns *t = dls_trace_cols(trace);
    dls_record *rec = NULL;
    DLS_TRY(dls_record_create(t->n, &rec, err));
    dls_rng rng = dls_rng_stream(3, DLS_RNG_TEST, t->n);
    for (size_t j = 0; j < t->n; j++) {
        if (j % 101 == 100) {
            rec->state[j] = DLS_JOB_INFEASIBLE;
            continue;
        }
        const bool finished = j % 97 != 96;
        const int64_t wait_us = (int64_t)dls_rng_below(&rng, 5000) * DLS_US_PER_S;
        rec->state[j] = finished ? DLS_JOB_FINISHED : DLS_JOB_RUNNING;
        rec->preempts[j] = (int32_t)dls_rng_below(&rng, 3);
        rec->resumes[j] = rec->preempts[j] + 1;
        rec->promotes[j] = j % 50 == 0;
        rec->pending_us[j] = wait_us * (1 + rec->preempts[j]);
        rec->overhead_us[j] = 62 * DLS_US_PER_S * rec->preempts[j];
        rec->start_us[j] = t->submit_us[j] + wait_us;
        rec->executed_us[j] = finished ? t->duration_us[j] : t->duration_us[j] / 2;
        if (finished) {
            rec->end_us[j] =
                t->submit_us[j] + rec->pending_us[j] + rec->overhead_us[j] + t->duration_us[j];
            rec->end_us_of_run =
                rec->end_us[j] > rec->end_us_of_run ? rec->end_us[j] : rec->end_us_of_run;
        }
    }
    rec->total_gpus = 100000;
    rec->complete = true;
    rec->events = 3 * t->n;
    rec->passes = 2 * t->n;
    rec->positions = 17 * t->n;
    rec->flips = 4 * t->n;
    rec->peak_pending = 4321;
    const dls_status status = sample_rows(rec, t, allocs_per_job, series_per_job, err);
    if (status != DLS_OK) {
        dls_record_destroy(rec);
        return status;
    }
    *out = rec;
    return DLS_OK;
}

#endif
