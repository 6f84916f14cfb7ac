/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A conversion of Helios Venus: job_id,arrival_s,service_sec,gpu_count. Whoever made it cut the
 * service off at two days; jobs that reach that are flagged.
 */
#include "traces/csv.h"

#define CLAMP_US (INT64_C(172800) * DLS_US_PER_S)

typedef struct conv_cols {
    int id, arrival, service, gpus;
} conv_cols;

static dls_status row(dls_csv *csv, const void *cols, dls_trace_builder *b, dls_error *err)
{
    const conv_cols *c = cols;
    dls_job_rec rec;
    dls_job_rec_init(&rec);
    rec.id = dls_csv_str(csv, c->id);
    DLS_TRY(dls_csv_us(csv, c->arrival, "a time in seconds", 6, &rec.submit_us, err));
    DLS_TRY(dls_csv_duration(csv, c->service, 6, &rec.duration_us, err));
    DLS_TRY(dls_csv_gpus(csv, c->gpus, &rec.gpus_milli, err));
    rec.flags = rec.duration_us == CLAMP_US ? DLS_JOB_CLAMPED : 0u;
    return dls_csv_add(csv, b, &rec, err);
}

static dls_status read_conv(const dls_trace_source *src, dls_trace_builder *b, dls_error *err)
{
    conv_cols c;
    const dls_csv_bind binds[] = {
        {"job_id", &c.id, true},
        {"arrival_s", &c.arrival, true},
        {"service_sec", &c.service, true},
        {"gpu_count", &c.gpus, true},
    };
    return dls_csv_read(src, ',', binds, sizeof binds / sizeof binds[0], row, &c, b, err);
}

static int sniff(const dls_trace_source *src)
{
    return dls_csv_sniff(src, ',', "job_id,arrival_s,service_sec,gpu_count") ? 90 : 0;
}

const dls_trace_format dls_trace_format_helios_conv = {
    .name = "helios-conv",
    .summary = "Helios Venus, converted: job_id,arrival_s,service_sec,gpu_count",
    .sniff = sniff,
    .read = read_conv,
};
