/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Traces of the public ElasticFlow simulator (Gu et al., ASPLOS 2023): seconds, absolute deadlines,
 * global batch sizes; models drawn at random. A best-effort job has no deadline.
 */
#include "traces/csv.h"

typedef struct elasticflow_cols {
    int id, gpus, submit, iterations, model, batch, duration, deadline, best_effort;
} elasticflow_cols;

static dls_status row(dls_csv *csv, const void *cols, dls_trace_builder *b, dls_error *err)
{
    const elasticflow_cols *c = cols;
    dls_job_rec rec;
    dls_job_rec_init(&rec);
    rec.id = dls_csv_str(csv, c->id);
    rec.model = dls_csv_str(csv, c->model);
    rec.flags = DLS_JOB_SYNTHETIC_MODEL;
    DLS_TRY(dls_csv_gpus(csv, c->gpus, &rec.gpus_milli, err));
    DLS_TRY(dls_csv_us(csv, c->submit, "a time in seconds", 6, &rec.submit_us, err));
    DLS_TRY(dls_csv_duration(csv, c->duration, 6, &rec.duration_us, err));
    DLS_TRY(dls_csv_opt_i64(csv, c->iterations, "a whole number", 0, &rec.iterations, err));
    DLS_TRY(dls_csv_opt_i64(csv, c->batch, "a whole number", 0, &rec.batch, err));
    int64_t best_effort = 0;
    if (!dls_csv_missing(csv, c->best_effort)) {
        DLS_TRY(dls_csv_i64(csv, c->best_effort, "0 or 1", 0, 0, 1, &best_effort, err));
        rec.job_class = best_effort ? "best_effort" : "slo";
    }
    if (!best_effort) {
        DLS_TRY(dls_csv_opt_us(csv, c->deadline, "a time in seconds", 6, &rec.deadline_us, err));
    }
    return dls_csv_add(csv, b, &rec, err);
}

static dls_status read_elasticflow(const dls_trace_source *src, dls_trace_builder *b,
                                   dls_error *err)
{
    elasticflow_cols c;
    const dls_csv_bind binds[] = {
        {"job_id", &c.id, false},
        {"num_gpu", &c.gpus, true},
        {"submit_time|submission_time", &c.submit, true},
        {"iteration|num_iteration|real_iteration", &c.iterations, false},
        {"model_name", &c.model, false},
        {"batch_size", &c.batch, false},
        {"duration|real_duration", &c.duration, true},
        {"ddl|deadline", &c.deadline, true},
        {"best_effort", &c.best_effort, false},
    };
    return dls_csv_read(src, ',', binds, sizeof binds / sizeof binds[0], row, &c, b, err);
}

static int sniff(const dls_trace_source *src)
{
    /* A native file may have a deadline too, but calls its work `iterations`. */
    const bool is_it = dls_csv_sniff(src, ',', "num_gpu,ddl") ||
                       dls_csv_sniff(src, ',', "num_gpu,deadline,iteration") ||
                       dls_csv_sniff(src, ',', "num_gpu,deadline,num_iteration");
    return is_it ? 80 : 0;
}

const dls_trace_format dls_trace_format_elasticflow = {
    .name = "elasticflow",
    .summary = "ElasticFlow simulator: CSV with deadlines, seconds",
    .sniff = sniff,
    .read = read_elasticflow,
};
