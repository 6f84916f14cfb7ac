/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Samples of Alibaba's PAI trace for its simulator (Weng et al., NSDI 2022): requests per instance,
 * all instances of a job together. Jobs without GPUs are left out.
 */
#include "traces/csv.h"
#include "traces/trace_impl.h"

typedef struct pai_cols {
    int id, instances, submit, cpu, gpus, type, duration, user, wait;
    int group_gpu_dur, group_dur, user_dur;
} pai_cols;

#define INSTANCES_MAX 1000000

static dls_status row(dls_csv *csv, const void *cols, dls_trace_builder *b, dls_error *err)
{
    const pai_cols *c = cols;
    dls_job_rec rec;
    dls_job_rec_init(&rec);
    int64_t instances = 1, milli = 0;
    if (!dls_csv_missing(csv, c->instances)) {
        DLS_TRY(dls_csv_i64(csv, c->instances, "a number of instances", 0, 1, INSTANCES_MAX,
                            &instances, err));
    }
    if (!dls_csv_missing(csv, c->gpus)) {
        DLS_TRY(dls_csv_gpus(csv, c->gpus, &milli, err));
    }
    if (milli == 0) {
        dls_trace_builder_skipped(b, "no GPU");
        return DLS_OK;
    }
    rec.gpus_milli = instances * milli;
    rec.id = dls_csv_str(csv, c->id);
    rec.user = dls_csv_str(csv, c->user);
    rec.gpu_types = dls_csv_str(csv, c->type);
    DLS_TRY(dls_csv_us(csv, c->submit, "a time in seconds", 6, &rec.submit_us, err));
    DLS_TRY(dls_csv_duration(csv, c->duration, 6, &rec.duration_us, err));
    DLS_TRY(dls_csv_opt_i64(csv, c->cpu, "a number of cores", 3, &rec.cpu_milli, err));
    if (rec.cpu_milli > INT64_MAX / INSTANCES_MAX) {
        return dls_csv_fail(csv, c->cpu, err, "too many cores");
    }
    rec.cpu_milli = rec.cpu_milli > 0 ? rec.cpu_milli * instances : rec.cpu_milli;
    DLS_TRY(dls_csv_opt_us(csv, c->wait, "seconds", 6, &rec.queue_us, err));
    const int estimates[] = {c->group_gpu_dur, c->group_dur, c->user_dur};
    for (int i = 0; i < 3 && rec.estimate_us == DLS_ABSENT; i++) {
        DLS_TRY(dls_csv_opt_us(csv, estimates[i], "seconds", 6, &rec.estimate_us, err));
    }
    return dls_csv_add(csv, b, &rec, err);
}

static dls_status read_pai(const dls_trace_source *src, dls_trace_builder *b, dls_error *err)
{
    pai_cols c;
    const dls_csv_bind binds[] = {
        {"job_id", &c.id, false},           {"num_inst", &c.instances, false},
        {"submit_time", &c.submit, true},   {"num_cpu", &c.cpu, false},
        {"num_gpu", &c.gpus, true},         {"gpu_type", &c.type, false},
        {"duration", &c.duration, true},    {"user", &c.user, false},
        {"wait_time", &c.wait, false},      {"group_gpu_dur", &c.group_gpu_dur, false},
        {"group_dur", &c.group_dur, false}, {"user_dur", &c.user_dur, false},
    };
    return dls_csv_read(src, ',', binds, sizeof binds / sizeof binds[0], row, &c, b, err);
}

static int sniff(const dls_trace_source *src)
{
    return dls_csv_sniff(src, ',', "num_inst,submit_time,num_gpu,duration") ? 80 : 0;
}

const dls_trace_format dls_trace_format_pai_sim = {
    .name = "pai-sim",
    .summary = "Alibaba PAI (2020) simulator samples, pai_job_*.csv",
    .sniff = sniff,
    .read = read_pai,
};
