/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Alibaba's spot GPU jobs (2026), job_info_df.csv: requests per worker, all workers of a job
 * together. Spot jobs may be preempted: priority 0, the others 1. Jobs without GPUs are left out.
 */
#include "traces/csv.h"
#include "traces/trace_impl.h"

typedef struct spot_cols {
    int name, organization, model, cpu, gpus, workers, submit, duration, type;
} spot_cols;

#define WORKERS_MAX 1000000

static dls_status row(dls_csv *csv, const void *cols, dls_trace_builder *b, dls_error *err)
{
    const spot_cols *c = cols;
    dls_job_rec rec;
    dls_job_rec_init(&rec);
    int64_t workers, milli;
    DLS_TRY(dls_csv_i64(csv, c->workers, "a number of workers", 0, 1, WORKERS_MAX, &workers, err));
    DLS_TRY(dls_csv_gpus(csv, c->gpus, &milli, err));
    if (milli == 0) {
        dls_trace_builder_skipped(b, "no GPU");
        return DLS_OK;
    }
    rec.gpus_milli = workers * milli;
    DLS_TRY(dls_csv_us(csv, c->submit, "a time in seconds", 6, &rec.submit_us, err));
    DLS_TRY(dls_csv_duration(csv, c->duration, 6, &rec.duration_us, err));
    DLS_TRY(dls_csv_opt_i64(csv, c->cpu, "a number of cores", 3, &rec.cpu_milli, err));
    if (rec.cpu_milli > INT64_MAX / WORKERS_MAX) {
        return dls_csv_fail(csv, c->cpu, err, "too many cores");
    }
    rec.cpu_milli = rec.cpu_milli > 0 ? rec.cpu_milli * workers : rec.cpu_milli;
    rec.id = dls_csv_str(csv, c->name);
    rec.vc = dls_csv_str(csv, c->organization);
    rec.gpu_types = dls_csv_str(csv, c->model);
    if (c->type >= 0) {
        rec.priority = dls_csv_is(csv, c->type, "Spot") ? 0 : 1;
        rec.job_class = dls_csv_str(csv, c->type);
    }
    return dls_csv_add(csv, b, &rec, err);
}

static dls_status read_spot(const dls_trace_source *src, dls_trace_builder *b, dls_error *err)
{
    spot_cols c;
    const dls_csv_bind binds[] = {
        {"job_name", &c.name, true},      {"organization", &c.organization, false},
        {"gpu_model", &c.model, false},   {"cpu_request", &c.cpu, false},
        {"gpu_request", &c.gpus, true},   {"worker_num", &c.workers, true},
        {"submit_time", &c.submit, true}, {"duration", &c.duration, true},
        {"job_type", &c.type, false},
    };
    return dls_csv_read(src, ',', binds, sizeof binds / sizeof binds[0], row, &c, b, err);
}

static int sniff(const dls_trace_source *src)
{
    return dls_csv_sniff(src, ',', "job_name,organization,gpu_model,worker_num") ? 90 : 0;
}

const dls_trace_format dls_trace_format_spot = {
    .name = "spot",
    .summary = "Alibaba spot GPU jobs (2026), job_info_df.csv",
    .sniff = sniff,
    .read = read_spot,
};
