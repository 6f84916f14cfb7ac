/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A slice of Helios Venus with two virtual clusters: submissions in microseconds, durations in
 * seconds. Its run time limit merely repeats the duration and is not read.
 */
#include "traces/outcome.h"
#include "traces/trace_impl.h"

typedef struct slice_cols {
    int id, user, tenant, job_class, submit, chips, chip_type, nodes, duration, status;
} slice_cols;

static dls_status row(dls_csv *csv, const void *cols, dls_trace_builder *b, dls_error *err)
{
    const slice_cols *c = cols;
    dls_job_rec rec;
    dls_job_rec_init(&rec);
    rec.id = dls_csv_str(csv, c->id);
    rec.user = dls_csv_str(csv, c->user);
    rec.vc = dls_csv_str(csv, c->tenant);
    rec.job_class = dls_csv_str(csv, c->job_class);
    rec.gpu_types = dls_csv_str(csv, c->chip_type);
    rec.outcome = dls_outcome_cell(csv, c->status, b);
    DLS_TRY(dls_csv_us(csv, c->submit, "a time in microseconds", 0, &rec.submit_us, err));
    DLS_TRY(dls_csv_duration(csv, c->duration, 6, &rec.duration_us, err));
    DLS_TRY(dls_csv_gpus(csv, c->chips, &rec.gpus_milli, err));
    DLS_TRY(dls_csv_opt_i64(csv, c->nodes, "a whole number", 0, &rec.nodes, err));
    return dls_csv_add(csv, b, &rec, err);
}

static dls_status read_slice(const dls_trace_source *src, dls_trace_builder *b, dls_error *err)
{
    slice_cols c;
    const dls_csv_bind binds[] = {
        {"job_id", &c.id, true},
        {"user", &c.user, false},
        {"tenant", &c.tenant, true},
        {"class", &c.job_class, false},
        {"submit_time", &c.submit, true},
        {"num_chips", &c.chips, true},
        {"chip_type", &c.chip_type, false},
        {"num_nodes", &c.nodes, false},
        {"duration_s", &c.duration, true},
        {"final_status", &c.status, false},
    };
    return dls_csv_read(src, ',', binds, sizeof binds / sizeof binds[0], row, &c, b, err);
}

static int sniff(const dls_trace_source *src)
{
    return dls_csv_sniff(src, ',', "tenant,num_chips,duration_s,final_status") ? 90 : 0;
}

const dls_trace_format dls_trace_format_helios_2vc = {
    .name = "helios-2vc",
    .summary = "Helios Venus, two virtual clusters: job_id,user,tenant,class,submit_time,...",
    .sniff = sniff,
    .read = read_slice,
};
