/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Workloads of Pollux and Sia: what was submitted when, with the hand-tuned GPUs and batch size.
 * There is no duration: it follows from the application's profile.
 */
#include "traces/csv.h"

typedef struct pollux_cols {
    int name, time, application, replicas, batch, category;
} pollux_cols;

static dls_status row(dls_csv *csv, const void *cols, dls_trace_builder *b, dls_error *err)
{
    const pollux_cols *c = cols;
    dls_job_rec rec;
    dls_job_rec_init(&rec);
    rec.id = dls_csv_str(csv, c->name);
    rec.model = dls_csv_str(csv, c->application);
    rec.job_class = dls_csv_str(csv, c->category);
    DLS_TRY(dls_csv_us(csv, c->time, "a time in seconds", 6, &rec.submit_us, err));
    DLS_TRY(dls_csv_gpus(csv, c->replicas, &rec.gpus_milli, err));
    DLS_TRY(dls_csv_opt_i64(csv, c->batch, "a whole number", 0, &rec.batch, err));
    return dls_csv_add(csv, b, &rec, err);
}

static dls_status read_pollux(const dls_trace_source *src, dls_trace_builder *b, dls_error *err)
{
    pollux_cols c;
    const dls_csv_bind binds[] = {
        {"name", &c.name, false},
        {"time", &c.time, true},
        {"application", &c.application, true},
        {"num_replicas", &c.replicas, true},
        {"batch_size", &c.batch, false},
        {"category", &c.category, false},
    };
    return dls_csv_read(src, ',', binds, sizeof binds / sizeof binds[0], row, &c, b, err);
}

static int sniff(const dls_trace_source *src)
{
    return dls_csv_sniff(src, ',', "name,time,application,num_replicas") ? 90 : 0;
}

const dls_trace_format dls_trace_format_pollux = {
    .name = "pollux",
    .summary = "Pollux and Sia workloads (no durations)",
    .sniff = sniff,
    .read = read_pollux,
};
