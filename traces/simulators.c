/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Traces of published simulators and schedulers: Tiresias, Muri, ElasticFlow, Pollux and Sia,
 * Rubick.
 */
#include "traces/reader.h"
#include "traces/table.h"
#include "traces/trace_impl.h"

#include <stdlib.h>

/* ---- Tiresias (Gu et al., NSDI 2019) --------------------------------------------------------- */

enum { TIRESIAS_GPUS = 1, TIRESIAS_SUBMIT, TIRESIAS_SCALE = 6 };

static const dls_field tiresias_fields[] = {
    DLS_MAY(TEXT, "job_id", id, 0),
    DLS_OTHER("num_gpu", true),
    DLS_OTHER("submit_time", true),
    DLS_MUST(DURATION, "duration", duration_us, DLS_SECONDS),
    DLS_MAY(COUNT, "iterations", iterations, 0),
    DLS_MAY(TEXT, "model_name", model, 0),
    DLS_OTHER("model_scale", false),
};

/* As there, submissions are whole seconds, the duration is cut to whole seconds, and iterations are
 * for information. */
static dls_status tiresias_row(dls_csv *csv, const int *col, dls_job_rec *rec, dls_trace_builder *b,
                               const char **skip, dls_error *err)
{
    int64_t submit_s, gpus;
    DLS_TRY(dls_csv_i64(csv, col[TIRESIAS_GPUS], "a whole number of GPUs, at least 1", 0, 1,
                        DLS_GPUS_MAX, &gpus, err));
    DLS_TRY(dls_csv_i64(csv, col[TIRESIAS_SUBMIT], "whole seconds, 0 or more", 0, 0,
                        DLS_TIME_MAX_US / DLS_US_PER_S, &submit_s, err));
    rec->gpus_milli = gpus * 1000;
    rec->submit_us = submit_s * DLS_US_PER_S;
    const int64_t part_us = rec->duration_us % DLS_US_PER_S;
    if (part_us) {
        rec->duration_us -= part_us;
        dls_trace_builder_changed(b, "duration cut to whole seconds");
    }
    if (!dls_csv_missing(csv, col[TIRESIAS_SCALE]) && !dls_csv_is(csv, col[TIRESIAS_SCALE], "1")) {
        dls_trace_builder_noted(b, "model_scale not used");
    }
    return DLS_OK;
}

const dls_trace_format dls_trace_format_tiresias = DLS_TABLE_FORMAT(
    "tiresias", "Tiresias simulator: CSV or blank separated, seconds", tiresias_fields, .score = 80,
    .header = {"job_id,num_gpu,submit_time,iterations,model_name,duration,interval",
               "job_id,num_gpu,submit_time,start_time,duration,model_size,aggr_interval"},
    /* Muri's superset is in milliseconds; other columns mean an extended table, which is native. */
    .not_header =
        "resource_time_0,batch_size,user,vc,status,gpu_type,priority,class,deadline,limit,"
        "estimate,flags",
    .blank_header = "num_gpu,submit_time,duration", .row = tiresias_row);

/* ---- Muri (Zhao et al., SIGCOMM 2022) -------------------------------------------------------- */

enum { MURI_ITERATIONS = 3, MURI_DURATION = 6, MURI_ITERATION_TIME, MURI_PRIORITY };

static const dls_field muri_fields[] = {
    DLS_MAY(TEXT, "job_id", id, 0),
    DLS_MUST(GPUS, "num_gpu", gpus_milli, 0),
    DLS_MUST(TIME, "submit_time", submit_us, DLS_MILLISECONDS),
    DLS_MAY(COUNT, "iterations", iterations, 0),
    DLS_MAY(TEXT, "model_name", model, 0),
    DLS_MAY(COUNT, "batch_size", batch, 0),
    DLS_MUST(DURATION, "duration", duration_us, DLS_MILLISECONDS),
    DLS_OTHER("iteration_time", false),
    DLS_OTHER("priority", false),
};

/* A job runs iterations x iteration_time there; `duration` serves where one of them is missing: it
 * may differ by a factor of 5. The models were drawn at random, the column `interval` contradicts
 * the submissions, and a priority of 0 is the more important one. */
static dls_status muri_row(dls_csv *csv, const int *col, dls_job_rec *rec, dls_trace_builder *b,
                           const char **skip, dls_error *err)
{
    int64_t step_us, level;
    DLS_TRY(dls_csv_opt_us(csv, col[MURI_ITERATION_TIME], DLS_MILLISECONDS, &step_us, err));
    if (rec->iterations >= 0 && step_us >= 0) {
        if (step_us > 0 && rec->iterations > DLS_TIME_MAX_US / step_us) {
            return dls_csv_fail(csv, col[MURI_ITERATIONS], err,
                                "more than 1000 years of iterations");
        }
        const int64_t work_us = rec->iterations * step_us;
        if (llabs(work_us - rec->duration_us) > step_us) {
            dls_trace_builder_noted(b, "duration is not iterations x iteration_time, not used");
        }
        rec->duration_us = work_us;
    }
    rec->batch = dls_batch_of_all(rec->batch, rec->gpus_milli);
    if (!dls_csv_missing(csv, col[MURI_PRIORITY])) {
        DLS_TRY(dls_csv_i64(csv, col[MURI_PRIORITY], "0 (guaranteed) or 1 (opportunistic)", 0, 0, 1,
                            &level, err));
        rec->priority = 1 - level;
    }
    return DLS_OK;
}

const dls_trace_format dls_trace_format_muri =
    DLS_TABLE_FORMAT("muri", "Muri simulator: CSV with times in milliseconds", muri_fields,
                     .score = 90, .header = {"num_gpu,submit_time,duration,resource_time_0"},
                     .flags = DLS_JOB_SYNTHETIC_MODEL, .row = muri_row);

/* ---- ElasticFlow (Gu et al., ASPLOS 2023) ---------------------------------------------------- */

enum { ELASTICFLOW_DEADLINE = 7, ELASTICFLOW_BEST_EFFORT };

static const dls_field elasticflow_fields[] = {
    DLS_MAY(TEXT, "job_id", id, 0),
    DLS_MUST(GPUS, "num_gpu", gpus_milli, 0),
    DLS_MUST(TIME, "submit_time|submission_time", submit_us, DLS_SECONDS),
    DLS_MAY(COUNT, "iteration|num_iteration|real_iteration", iterations, 0),
    DLS_MAY(TEXT, "model_name", model, 0),
    DLS_MAY(COUNT, "batch_size", batch, 0),
    DLS_MUST(DURATION, "duration|real_duration", duration_us, DLS_SECONDS),
    DLS_OTHER("ddl|deadline", true),
    DLS_OTHER("best_effort", false),
};

/* Models are drawn at random; a best-effort job has no deadline. */
static dls_status elasticflow_row(dls_csv *csv, const int *col, dls_job_rec *rec,
                                  dls_trace_builder *b, const char **skip, dls_error *err)
{
    int64_t best_effort = 0;
    if (!dls_csv_missing(csv, col[ELASTICFLOW_BEST_EFFORT])) {
        DLS_TRY(
            dls_csv_i64(csv, col[ELASTICFLOW_BEST_EFFORT], "0 or 1", 0, 0, 1, &best_effort, err));
        rec->job_class = best_effort ? "best_effort" : "slo";
    }
    return best_effort ? DLS_OK
                       : dls_csv_opt_us(csv, col[ELASTICFLOW_DEADLINE], DLS_SECONDS,
                                        &rec->deadline_us, err);
}

const dls_trace_format dls_trace_format_elasticflow = DLS_TABLE_FORMAT(
    "elasticflow", "ElasticFlow simulator: CSV with deadlines, seconds", elasticflow_fields,
    .score = 80,
    /* A native file may have a deadline too, but calls its work `iterations`. */
    .header = {"num_gpu,ddl", "num_gpu,deadline,iteration", "num_gpu,deadline,num_iteration"},
    .flags = DLS_JOB_SYNTHETIC_MODEL, .row = elasticflow_row);

/* ---- Pollux (OSDI 2021) and Sia (SOSP 2023) -------------------------------------------------- */

/* What was submitted when, with the hand-tuned GPUs and batch size. There is no duration: it
 * follows from the application's profile. */
static const dls_field pollux_fields[] = {
    DLS_MAY(TEXT, "name", id, 0),
    DLS_MUST(TIME, "time", submit_us, DLS_SECONDS),
    DLS_MUST(TEXT, "application", model, 0),
    DLS_MUST(GPUS, "num_replicas", gpus_milli, 0),
    DLS_MAY(COUNT, "batch_size", batch, 0),
    DLS_MAY(TEXT, "category", job_class, 0),
};

const dls_trace_format dls_trace_format_pollux =
    DLS_TABLE_FORMAT("pollux", "Pollux and Sia workloads (no durations)", pollux_fields,
                     .score = 90, .header = {"name,time,application,num_replicas"});

/* ---- Rubick ---------------------------------------------------------------------------------- */

enum { RUBICK_SLA = 7 };

/* Run times and steps under a given execution plan; the plan and the bandwidth are not read. */
static const dls_field rubick_fields[] = {
    DLS_MAY(TEXT, "name", id, 0),
    DLS_MUST(TIME, "submission_time", submit_us, DLS_SECONDS),
    DLS_MUST(DURATION, "duration", duration_us, DLS_SECONDS),
    DLS_MUST(TEXT, "application", model, 0),
    DLS_MUST(GPUS, "num_gpus", gpus_milli, 0),
    DLS_MAY(COUNT, "num_cpus", cpu_milli, 3),
    DLS_MAY(COUNT, "steps", iterations, 0),
    DLS_OTHER("is_sla", false),
};

/* Jobs with a service level are the more important ones. */
static dls_status rubick_row(dls_csv *csv, const int *col, dls_job_rec *rec, dls_trace_builder *b,
                             const char **skip, dls_error *err)
{
    return dls_csv_missing(csv, col[RUBICK_SLA])
               ? DLS_OK
               : dls_csv_i64(csv, col[RUBICK_SLA], "0 or 1", 0, 0, 1, &rec->priority, err);
}

const dls_trace_format dls_trace_format_rubick = DLS_TABLE_FORMAT(
    "rubick", "Rubick workloads", rubick_fields, .score = 90,
    .header = {"submission_time,duration,application,num_gpus,exec_plan"}, .row = rubick_row);
