/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Microsoft's Philly trace (Jeon et al., ATC 2019) as filtered by the Pollux authors: dates, run
 * times, GPUs and virtual clusters, in no order. The dates are of one unnamed clock; they are not
 * converted.
 */
#include "traces/csv.h"
#include "traces/trace_impl.h"

typedef struct philly_cols {
    int submit, duration, gpus, vc;
} philly_cols;

static dls_status row(dls_csv *csv, const void *cols, dls_trace_builder *b, dls_error *err)
{
    const philly_cols *c = cols;
    dls_job_rec rec;
    dls_job_rec_init(&rec);
    DLS_TRY(dls_csv_date(csv, c->submit, &rec.submit_us, err));
    DLS_TRY(dls_csv_duration(csv, c->duration, 6, &rec.duration_us, err));
    DLS_TRY(dls_csv_gpus(csv, c->gpus, &rec.gpus_milli, err));
    rec.vc = dls_csv_str(csv, c->vc);
    return dls_csv_add(csv, b, &rec, err);
}

static dls_status read_philly(const dls_trace_source *src, dls_trace_builder *b, dls_error *err)
{
    philly_cols c;
    const dls_csv_bind binds[] = {
        {"timestamp", &c.submit, true},
        {"duration", &c.duration, true},
        {"num_gpus", &c.gpus, true},
        {"cluster", &c.vc, false},
    };
    dls_trace_builder_rebase(b, "");
    return dls_csv_read(src, ',', binds, sizeof binds / sizeof binds[0], row, &c, b, err);
}

static int sniff(const dls_trace_source *src)
{
    return dls_csv_sniff(src, ',', "timestamp,duration,num_gpus,cluster") ? 90 : 0;
}

const dls_trace_format dls_trace_format_philly_csv = {
    .name = "philly-csv",
    .summary = "Philly, the Pollux authors' CSV: timestamp,duration,num_gpus,gpu_time,cluster",
    .sniff = sniff,
    .read = read_philly,
};
