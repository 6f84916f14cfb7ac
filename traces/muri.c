/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Traces of the public Muri simulator (Zhao et al., SIGCOMM 2022): Tiresias's columns with times in
 * milliseconds and measured stage times. A job runs iterations x iteration_time there; `duration`
 * serves where one of them is missing: it may differ by a factor of 5. Models were drawn at random;
 * the column `interval` contradicts the submissions and is not read. There a priority of 0 is the
 * more important one.
 */
#include "traces/csv.h"
#include "traces/reader.h"
#include "traces/trace_impl.h"

#include <stdlib.h>

typedef struct muri_cols {
    int id, gpus, submit, iterations, iteration_time, model, batch, duration, priority;
} muri_cols;

/* rec->duration_us by what Muri runs; rec->iterations are read. */
static dls_status read_work(const dls_csv *csv, const muri_cols *c, dls_trace_builder *b,
                            dls_job_rec *rec, dls_error *err)
{
    int64_t step_us;
    DLS_TRY(dls_csv_duration(csv, c->duration, 3, &rec->duration_us, err));
    DLS_TRY(dls_csv_opt_us(csv, c->iteration_time, "milliseconds", 3, &step_us, err));
    if (rec->iterations < 0 || step_us < 0) {
        return DLS_OK;
    }
    if (step_us > 0 && rec->iterations > DLS_TIME_MAX_US / step_us) {
        return dls_csv_fail(csv, c->iterations, err, "more than 1000 years of iterations");
    }
    const int64_t work_us = rec->iterations * step_us;
    if (llabs(work_us - rec->duration_us) > step_us) {
        dls_trace_builder_noted(b, "duration is not iterations x iteration_time, not used");
    }
    rec->duration_us = work_us;
    return DLS_OK;
}

static dls_status row(dls_csv *csv, const void *cols, dls_trace_builder *b, dls_error *err)
{
    const muri_cols *c = cols;
    dls_job_rec rec;
    dls_job_rec_init(&rec);
    rec.id = dls_csv_str(csv, c->id);
    rec.model = dls_csv_str(csv, c->model);
    rec.flags = DLS_JOB_SYNTHETIC_MODEL;
    DLS_TRY(dls_csv_gpus(csv, c->gpus, &rec.gpus_milli, err));
    DLS_TRY(dls_csv_us(csv, c->submit, "a time in milliseconds", 3, &rec.submit_us, err));
    DLS_TRY(dls_csv_opt_i64(csv, c->iterations, "a whole number", 0, &rec.iterations, err));
    DLS_TRY(read_work(csv, c, b, &rec, err));
    DLS_TRY(dls_csv_opt_i64(csv, c->batch, "a whole number", 0, &rec.batch, err));
    rec.batch = dls_batch_of_all(rec.batch, rec.gpus_milli);
    if (!dls_csv_missing(csv, c->priority)) {
        int64_t level;
        DLS_TRY(dls_csv_i64(csv, c->priority, "0 (guaranteed) or 1 (opportunistic)", 0, 0, 1,
                            &level, err));
        rec.priority = 1 - level;
    }
    return dls_csv_add(csv, b, &rec, err);
}

static dls_status read_muri(const dls_trace_source *src, dls_trace_builder *b, dls_error *err)
{
    muri_cols c;
    const dls_csv_bind binds[] = {
        {"job_id", &c.id, false},         {"num_gpu", &c.gpus, true},
        {"submit_time", &c.submit, true}, {"iterations", &c.iterations, false},
        {"model_name", &c.model, false},  {"batch_size", &c.batch, false},
        {"duration", &c.duration, true},  {"priority", &c.priority, false},
        {"iteration_time", &c.iteration_time, false},
    };
    return dls_csv_read(src, ',', binds, sizeof binds / sizeof binds[0], row, &c, b, err);
}

static int sniff(const dls_trace_source *src)
{
    return dls_csv_sniff(src, ',', "num_gpu,submit_time,duration,resource_time_0") ? 90 : 0;
}

const dls_trace_format dls_trace_format_muri = {
    .name = "muri",
    .summary = "Muri simulator: CSV with times in milliseconds",
    .sniff = sniff,
    .read = read_muri,
};
