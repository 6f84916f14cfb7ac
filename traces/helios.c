/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Logs of sites that date submission, start and end: SenseTime's Helios (Hu et al., SC 2021), two
 * tables made of it, and Shanghai AI Lab's Acme (Hu et al., NSDI 2024).
 */
#include "traces/table.h"

/* ---- the run of a job ------------------------------------------------------------------------ */

/* Where the dates stand in the fields of Helios and of Acme. */
enum { LOG_SUBMIT = 1, LOG_START, LOG_END, LOG_DURATION, LOG_QUEUE };

#define LOG_FIELDS                                                                                 \
    DLS_MUST(GPUS_OR_SKIP, "gpu_num", gpus_milli, 0), DLS_MUST(DATE, "submit_time", submit_us, 0), \
        DLS_OTHER("start_time", false), DLS_OTHER("end_time", false), DLS_OTHER("duration", true), \
        DLS_OTHER("queue", false), DLS_MUST(TEXT, "job_id", id, 0),                                \
        DLS_MAY(TEXT, "user", user, 0), DLS_MAY(OUTCOME, "state", outcome, 0),                     \
        DLS_COLUMN(COUNT, "cpu_num", false, cpu_milli, 3, "a number of cores"),                    \
        DLS_MAY(COUNT, "node_num", nodes, 0)

/* The duration is end - start; where one of them is missing, the column, with column_flags set.
 * With an end missing CENSORED is set. */
static dls_status read_run(const dls_csv *csv, const int *col, uint32_t column_flags,
                           dls_job_rec *rec, const char **skip, dls_error *err)
{
    int64_t start_us, end_us;
    DLS_TRY(dls_csv_opt_date(csv, col[LOG_START], &start_us, err));
    DLS_TRY(dls_csv_opt_date(csv, col[LOG_END], &end_us, err));
    if (start_us != DLS_ABSENT) {
        rec->queue_us = start_us > rec->submit_us ? start_us - rec->submit_us : 0;
    } else {
        DLS_TRY(dls_csv_opt_us(csv, col[LOG_QUEUE], DLS_SECONDS, &rec->queue_us, err));
    }
    rec->flags |= end_us == DLS_ABSENT ? DLS_JOB_CENSORED : 0u;
    if (start_us != DLS_ABSENT && end_us != DLS_ABSENT) {
        rec->duration_us = end_us > start_us ? end_us - start_us : 0;
    } else if (!dls_csv_missing(csv, col[LOG_DURATION])) {
        DLS_TRY(dls_csv_duration(csv, col[LOG_DURATION], DLS_SECONDS, &rec->duration_us, err));
        rec->flags |= column_flags;
        if (start_us == DLS_ABSENT && rec->duration_us == 0) { /* cancelled while it waited */
            *skip = "never started";
        }
    } else {
        *skip = start_us == DLS_ABSENT ? "never started" : "no end time";
    }
    return DLS_OK;
}

/* ---- Helios ---------------------------------------------------------------------------------- */

static const dls_field helios_fields[] = {
    LOG_FIELDS,
    DLS_MAY(TEXT, "vc", vc, 0),
};

static dls_status helios_row(dls_csv *csv, const int *col, dls_job_rec *rec, dls_trace_builder *b,
                             const char **skip, dls_error *err)
{
    return read_run(csv, col, 0, rec, skip, err);
}

const dls_trace_format dls_trace_format_helios =
    DLS_TABLE_FORMAT("helios", "Helios, the published cluster_log.csv", helios_fields, .score = 90,
                     .header = {"vc,gpu_num,state,queue,submit_time"}, .not_header = "type",
                     .zone = "", /* the site's clock */
                     .row = helios_row);

/* ---- Helios Venus, converted ----------------------------------------------------------------- */

/* Whoever made it cut the service off at two days. */
#define CLAMP_US (INT64_C(172800) * DLS_US_PER_S)

static const dls_field conv_fields[] = {
    DLS_MUST(TEXT, "job_id", id, 0),
    DLS_MUST(TIME, "arrival_s", submit_us, DLS_SECONDS),
    DLS_MUST(DURATION, "service_sec", duration_us, DLS_SECONDS),
    DLS_MUST(GPUS, "gpu_count", gpus_milli, 0),
};

static dls_status conv_row(dls_csv *csv, const int *col, dls_job_rec *rec, dls_trace_builder *b,
                           const char **skip, dls_error *err)
{
    (void)csv, (void)col, (void)b, (void)skip, (void)err;
    rec->flags = rec->duration_us == CLAMP_US ? DLS_JOB_CLAMPED : 0u;
    return DLS_OK;
}

const dls_trace_format dls_trace_format_helios_conv = DLS_TABLE_FORMAT(
    "helios-conv", "Helios Venus, converted: job_id,arrival_s,service_sec,gpu_count", conv_fields,
    .score = 90, .header = {"job_id,arrival_s,service_sec,gpu_count"}, .row = conv_row);

/* ---- Helios Venus, two virtual clusters ------------------------------------------------------ */

/* Submissions in microseconds, durations in seconds. The run time limit merely repeats the duration
 * and is not read. */
static const dls_field slice_fields[] = {
    DLS_MUST(TEXT, "job_id", id, 0),
    DLS_MAY(TEXT, "user", user, 0),
    DLS_MUST(TEXT, "tenant", vc, 0),
    DLS_MAY(TEXT, "class", job_class, 0),
    DLS_MUST(TIME, "submit_time", submit_us, 0),
    DLS_MUST(GPUS, "num_chips", gpus_milli, 0),
    DLS_MAY(TEXT, "chip_type", gpu_types, 0),
    DLS_MAY(COUNT, "num_nodes", nodes, 0),
    DLS_MUST(DURATION, "duration_s", duration_us, DLS_SECONDS),
    DLS_MAY(OUTCOME, "final_status", outcome, 0),
};

const dls_trace_format dls_trace_format_helios_2vc = DLS_TABLE_FORMAT(
    "helios-2vc", "Helios Venus, two virtual clusters: job_id,user,tenant,class,submit_time,...",
    slice_fields, .score = 90, .header = {"tenant,num_chips,duration_s,final_status"});

/* ---- Acme ------------------------------------------------------------------------------------ */

enum { ACME_POD_MEM = 11, ACME_FAIL_TIME = 13 };

/* trace_seren.csv and trace_kalos.csv. A pod is a node in Kalos. */
static const dls_field acme_fields[] = {
    LOG_FIELDS,
    DLS_COLUMN(COUNT, "mem_per_pod_GB", false, mem_mib, 3, "GB with at most 3 decimals"),
    DLS_MAY(TEXT, "type", job_class, 0),
    DLS_OTHER("fail_time", false),
};

static dls_status acme_row(dls_csv *csv, const int *col, dls_job_rec *rec, dls_trace_builder *b,
                           const char **skip, dls_error *err)
{
    /* The column `duration` of Kalos contains the wait. */
    const bool is_kalos = col[ACME_FAIL_TIME] >= 0;
    DLS_TRY(read_run(csv, col, is_kalos ? DLS_JOB_DURATION_INCLUDES_QUEUE : 0u, rec, skip, err));
    const int64_t pod_gb_milli = rec->mem_mib;
    rec->mem_mib = DLS_ABSENT;
    if (pod_gb_milli >= 0 && rec->nodes > 0) {
        if (rec->nodes > 1000000 || pod_gb_milli > INT64_C(1000000000)) {
            return dls_csv_fail(csv, col[ACME_POD_MEM], err, "more than 1000000 GB or nodes");
        }
        rec->mem_mib = pod_gb_milli * rec->nodes * 1024 / 1000;
    }
    return DLS_OK;
}

const dls_trace_format dls_trace_format_acme = DLS_TABLE_FORMAT(
    "acme", "Acme, the published trace_seren.csv and trace_kalos.csv", acme_fields, .score = 90,
    .header = {"node_num,gpu_num,type,gpu_time,submit_time"}, .zone = "Z", .row = acme_row);
