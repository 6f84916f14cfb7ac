/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Alibaba's published traces: PAI (Weng et al., NSDI 2022), openb (Weng et al., ATC 2023) and spot
 * GPU jobs (2026). Jobs without GPUs are left out.
 */
#include "traces/outcome.h"
#include "traces/table.h"

#include <string.h>

#define WORKERS_MAX 1000000

/* Requests are per instance or worker, of which the cell at `at` has the number: all together. */
static dls_status multiply(const dls_csv *csv, int at, int cpu, const char *what, dls_job_rec *rec,
                           dls_error *err)
{
    int64_t n;
    DLS_TRY(dls_csv_i64(csv, at, what, 0, 1, WORKERS_MAX, &n, err));
    if (rec->cpu_milli > INT64_MAX / WORKERS_MAX) {
        return dls_csv_fail(csv, cpu, err, "too many cores");
    }
    rec->gpus_milli *= n;
    rec->cpu_milli = rec->cpu_milli > 0 ? rec->cpu_milli * n : rec->cpu_milli;
    return DLS_OK;
}

/* ---- PAI: samples for its simulator ---------------------------------------------------------- */

enum { PAI_GPUS, PAI_CPU = 5, PAI_INSTANCES = 7, PAI_ESTIMATE };

static const dls_field pai_fields[] = {
    DLS_OTHER("num_gpu", true),
    DLS_MAY(TEXT, "job_id", id, 0),
    DLS_MUST(TIME, "submit_time", submit_us, DLS_SECONDS),
    DLS_MAY(TEXT, "gpu_type", gpu_types, 0),
    DLS_MUST(DURATION, "duration", duration_us, DLS_SECONDS),
    DLS_COLUMN(COUNT, "num_cpu", false, cpu_milli, 3, "a number of cores"),
    DLS_MAY(TEXT, "user", user, 0),
    DLS_OTHER("num_inst", false),
    DLS_OTHER("group_gpu_dur", false),
    DLS_OTHER("group_dur", false),
    DLS_OTHER("user_dur", false),
    DLS_MAY(OPT_TIME, "wait_time", queue_us, DLS_SECONDS),
};

static dls_status pai_row(dls_csv *csv, const int *col, dls_job_rec *rec, dls_trace_builder *b,
                          const char **skip, dls_error *err)
{
    rec->gpus_milli = 0;
    if (!dls_csv_missing(csv, col[PAI_GPUS])) {
        DLS_TRY(dls_csv_gpus(csv, col[PAI_GPUS], &rec->gpus_milli, err));
    }
    if (rec->gpus_milli == 0) {
        *skip = "no GPU";
        return DLS_OK;
    }
    if (!dls_csv_missing(csv, col[PAI_INSTANCES])) {
        DLS_TRY(multiply(csv, col[PAI_INSTANCES], col[PAI_CPU], "a number of instances", rec, err));
    }
    for (int i = PAI_ESTIMATE; i < PAI_ESTIMATE + 3 && rec->estimate_us == DLS_ABSENT; i++) {
        DLS_TRY(dls_csv_opt_us(csv, col[i], DLS_SECONDS, &rec->estimate_us, err));
    }
    return DLS_OK;
}

const dls_trace_format dls_trace_format_pai_sim = DLS_TABLE_FORMAT(
    "pai-sim", "Alibaba PAI (2020) simulator samples, pai_job_*.csv", pai_fields, .score = 80,
    .header = {"num_inst,submit_time,num_gpu,duration"}, .row = pai_row);

/* ---- openb: Kubernetes pods with whole GPUs or a share of one -------------------------------- */

enum {
    OPENB_GPUS,
    OPENB_MILLI,
    OPENB_CREATED,
    OPENB_DELETED,
    OPENB_SCHEDULED,
    OPENB_PHASE,
    OPENB_SPEC
};

/* With 11 columns a pod runs from scheduled to deleted; the 5-column variants are packing sequences
 * without times. Pods that were never scheduled are left out. */
static const dls_field openb_fields[] = {
    DLS_OTHER("num_gpu", true),
    DLS_OTHER("gpu_milli", true),
    DLS_OTHER("creation_time", false),
    DLS_OTHER("deletion_time", false),
    DLS_OTHER("scheduled_time", false),
    DLS_OTHER("pod_phase", false),
    DLS_OTHER("gpu_spec", false),
    DLS_MUST(TEXT, "name", id, 0),
    DLS_MAY(TEXT, "qos", job_class, 0),
    DLS_COLUMN(COUNT, "cpu_milli", false, cpu_milli, 0, "thousandths of a core"),
    DLS_COLUMN(COUNT, "memory_mib", false, mem_mib, 0, "MiB"),
};

/* "V100M16|V100M32|V100M32" to "V100M16|V100M32", in place. */
static void drop_repeats(char *text)
{
    size_t kept = 0; /* text[0..kept): those that are seen, each once */
    for (const char *p = text; *p;) {
        const size_t len = strcspn(p, "|"), step = len + (p[len] == '|');
        bool seen = len == 0;
        for (size_t q = 0; q < kept && !seen; q += strcspn(text + q, "|") + 1) {
            seen = strncmp(text + q, p, len) == 0 && (q + len == kept || text[q + len] == '|');
        }
        if (!seen) {
            if (kept > 0) {
                text[kept++] = '|';
            }
            memmove(text + kept, p, len);
            kept += len;
        }
        p += step;
    }
    text[kept] = '\0';
}

static dls_status openb_times(const dls_csv *csv, const int *col, dls_job_rec *rec,
                              dls_trace_builder *b, const char **skip, dls_error *err)
{
    int64_t scheduled_us, deleted_us;
    if (dls_csv_missing(csv, col[OPENB_SCHEDULED])) {
        *skip = "never scheduled";
        return DLS_OK;
    }
    DLS_TRY(dls_csv_us(csv, col[OPENB_CREATED], DLS_SECONDS, &rec->submit_us, err));
    DLS_TRY(dls_csv_us(csv, col[OPENB_SCHEDULED], DLS_SECONDS, &scheduled_us, err));
    DLS_TRY(dls_csv_us(csv, col[OPENB_DELETED], DLS_SECONDS, &deleted_us, err));
    rec->duration_us = deleted_us > scheduled_us ? deleted_us - scheduled_us : 0;
    rec->queue_us = scheduled_us > rec->submit_us ? scheduled_us - rec->submit_us : 0;
    rec->outcome = dls_outcome_cell(csv, col[OPENB_PHASE], b);
    rec->flags |= rec->outcome == DLS_OUTCOME_RUNNING ? DLS_JOB_CENSORED : 0u;
    return DLS_OK;
}

static dls_status openb_row(dls_csv *csv, const int *col, dls_job_rec *rec, dls_trace_builder *b,
                            const char **skip, dls_error *err)
{
    int64_t gpus, milli;
    DLS_TRY(dls_csv_i64(csv, col[OPENB_GPUS], "a whole number of GPUs", 0, 0, DLS_GPUS_MAX, &gpus,
                        err));
    DLS_TRY(dls_csv_i64(csv, col[OPENB_MILLI], "0 to 1000 thousandths of a GPU", 0, 0, 1000, &milli,
                        err));
    if (gpus == 0) {
        *skip = "no GPU";
        return DLS_OK;
    }
    rec->gpus_milli = gpus * milli;
    if (!dls_csv_missing(csv, col[OPENB_SPEC])) {
        char *types = dls_csv_str(csv, col[OPENB_SPEC]);
        drop_repeats(types);
        rec->gpu_types = types;
    }
    return col[OPENB_CREATED] < 0 ? DLS_OK : openb_times(csv, col, rec, b, skip, err);
}

static const struct dls_trace_table openb = {
    .score = 90,
    .header = {"name,cpu_milli,memory_mib,num_gpu,gpu_milli"},
    .fields = openb_fields,
    .n_fields = sizeof openb_fields / sizeof *openb_fields,
    .row = openb_row,
};

/* With one time all are needed. */
static dls_status read_openb(const dls_trace_source *src, dls_trace_builder *b, dls_error *err)
{
    dls_field fields[sizeof openb_fields / sizeof *openb_fields];
    struct dls_trace_table table = openb;
    memcpy(fields, openb_fields, sizeof fields);
    fields[OPENB_DELETED].required = fields[OPENB_SCHEDULED].required =
        dls_csv_sniff(src->text, src->len, ',', "creation_time");
    table.fields = fields;
    return dls_trace_table_read(&table, src, b, err);
}

const dls_trace_format dls_trace_format_openb = {
    .name = "openb",
    .summary = "Alibaba openb (2023) pod lists, with or without times",
    .table = &openb,
    .read = read_openb,
};

/* ---- spot ------------------------------------------------------------------------------------ */

enum { SPOT_WORKERS = 4, SPOT_CPU, SPOT_TYPE };

/* job_info_df.csv */
static const dls_field spot_fields[] = {
    DLS_MUST(GPUS_OR_SKIP, "gpu_request", gpus_milli, 0),
    DLS_MUST(TEXT, "job_name", id, 0),
    DLS_MAY(TEXT, "organization", vc, 0),
    DLS_MAY(TEXT, "gpu_model", gpu_types, 0),
    DLS_OTHER("worker_num", true),
    DLS_COLUMN(COUNT, "cpu_request", false, cpu_milli, 3, "a number of cores"),
    DLS_MAY(TEXT, "job_type", job_class, 0),
    DLS_MUST(TIME, "submit_time", submit_us, DLS_SECONDS),
    DLS_MUST(DURATION, "duration", duration_us, DLS_SECONDS),
};

/* Spot jobs may be preempted: priority 0, the others 1. */
static dls_status spot_row(dls_csv *csv, const int *col, dls_job_rec *rec, dls_trace_builder *b,
                           const char **skip, dls_error *err)
{
    if (col[SPOT_TYPE] >= 0) {
        rec->priority = dls_csv_is(csv, col[SPOT_TYPE], "Spot") ? 0 : 1;
    }
    return multiply(csv, col[SPOT_WORKERS], col[SPOT_CPU], "a number of workers", rec, err);
}

const dls_trace_format dls_trace_format_spot = DLS_TABLE_FORMAT(
    "spot", "Alibaba spot GPU jobs (2026), job_info_df.csv", spot_fields, .score = 90,
    .header = {"job_name,organization,gpu_model,worker_num"}, .row = spot_row);
