/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Traces of the public Rubick scheduler: run times and steps under a given execution plan. Jobs
 * with a service level (is_sla) are the more important ones. The plan and the bandwidth are not
 * read.
 */
#include "traces/csv.h"

typedef struct rubick_cols {
    int name, submit, duration, application, gpus, cpus, steps, sla;
} rubick_cols;

static dls_status row(dls_csv *csv, const void *cols, dls_trace_builder *b, dls_error *err)
{
    const rubick_cols *c = cols;
    dls_job_rec rec;
    dls_job_rec_init(&rec);
    rec.id = dls_csv_str(csv, c->name);
    rec.model = dls_csv_str(csv, c->application);
    DLS_TRY(dls_csv_us(csv, c->submit, "a time in seconds", 6, &rec.submit_us, err));
    DLS_TRY(dls_csv_duration(csv, c->duration, 6, &rec.duration_us, err));
    DLS_TRY(dls_csv_gpus(csv, c->gpus, &rec.gpus_milli, err));
    DLS_TRY(dls_csv_opt_i64(csv, c->cpus, "a number of cores", 3, &rec.cpu_milli, err));
    DLS_TRY(dls_csv_opt_i64(csv, c->steps, "a whole number", 0, &rec.iterations, err));
    if (!dls_csv_missing(csv, c->sla)) {
        DLS_TRY(dls_csv_i64(csv, c->sla, "0 or 1", 0, 0, 1, &rec.priority, err));
    }
    return dls_csv_add(csv, b, &rec, err);
}

static dls_status read_rubick(const dls_trace_source *src, dls_trace_builder *b, dls_error *err)
{
    rubick_cols c;
    const dls_csv_bind binds[] = {
        {"name", &c.name, false},        {"submission_time", &c.submit, true},
        {"duration", &c.duration, true}, {"application", &c.application, true},
        {"num_gpus", &c.gpus, true},     {"num_cpus", &c.cpus, false},
        {"steps", &c.steps, false},      {"is_sla", &c.sla, false},
    };
    return dls_csv_read(src, ',', binds, sizeof binds / sizeof binds[0], row, &c, b, err);
}

static int sniff(const dls_trace_source *src)
{
    return dls_csv_sniff(src, ',', "submission_time,duration,application,num_gpus,exec_plan") ? 90
                                                                                              : 0;
}

const dls_trace_format dls_trace_format_rubick = {
    .name = "rubick",
    .summary = "Rubick workloads",
    .sniff = sniff,
    .read = read_rubick,
};
