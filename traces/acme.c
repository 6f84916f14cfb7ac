/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Shanghai AI Lab's Acme logs (Hu et al., NSDI 2024), trace_seren.csv and trace_kalos.csv. The
 * column `duration` of Kalos contains the wait, so run times are taken from start and end. A pod is
 * a node in Kalos; jobs without GPUs are left out.
 */
#include "traces/outcome.h"
#include "traces/trace_impl.h"
#include "traces/wallclock.h"

typedef struct acme_cols {
    int id, user, nodes, gpus, cpus, pod_mem, type, state, fail_time;
    dls_wallclock_cols clock;
} acme_cols;

static dls_status row(dls_csv *csv, const void *cols, dls_trace_builder *b, dls_error *err)
{
    const acme_cols *c = cols;
    const bool is_kalos = c->fail_time >= 0;
    dls_job_rec rec;
    dls_job_rec_init(&rec);
    DLS_TRY(dls_csv_gpus(csv, c->gpus, &rec.gpus_milli, err));
    if (rec.gpus_milli == 0) {
        dls_trace_builder_skipped(b, "no GPU");
        return DLS_OK;
    }
    const char *skip;
    DLS_TRY(dls_wallclock_read(csv, &c->clock, is_kalos ? DLS_JOB_DURATION_INCLUDES_QUEUE : 0u,
                               &rec, &skip, err));
    if (skip) {
        dls_trace_builder_skipped(b, skip);
        return DLS_OK;
    }
    rec.id = dls_csv_str(csv, c->id);
    rec.user = dls_csv_str(csv, c->user);
    rec.job_class = dls_csv_str(csv, c->type);
    rec.outcome = dls_outcome_cell(csv, c->state, b);
    DLS_TRY(dls_csv_opt_i64(csv, c->cpus, "a number of cores", 3, &rec.cpu_milli, err));
    DLS_TRY(dls_csv_opt_i64(csv, c->nodes, "a whole number", 0, &rec.nodes, err));
    int64_t pod_gb_milli;
    DLS_TRY(dls_csv_opt_i64(csv, c->pod_mem, "GB with at most 3 decimals", 3, &pod_gb_milli, err));
    if (pod_gb_milli >= 0 && rec.nodes > 0) {
        if (rec.nodes > 1000000 || pod_gb_milli > INT64_C(1000000000)) {
            return dls_csv_fail(csv, c->pod_mem, err, "more than 1000000 GB or nodes");
        }
        rec.mem_mib = pod_gb_milli * rec.nodes * 1024 / 1000;
    }
    return dls_csv_add(csv, b, &rec, err);
}

static dls_status read_acme(const dls_trace_source *src, dls_trace_builder *b, dls_error *err)
{
    acme_cols c;
    const dls_csv_bind binds[] = {
        {"job_id", &c.id, true},
        {"user", &c.user, false},
        {"node_num", &c.nodes, false},
        {"gpu_num", &c.gpus, true},
        {"cpu_num", &c.cpus, false},
        {"mem_per_pod_GB", &c.pod_mem, false},
        {"type", &c.type, false},
        {"state", &c.state, false},
        {"fail_time", &c.fail_time, false},
        {"submit_time", &c.clock.submit, true},
        {"start_time", &c.clock.start, false},
        {"end_time", &c.clock.end, false},
        {"duration", &c.clock.duration, true},
        {"queue", &c.clock.queue, false},
    };
    dls_trace_builder_rebase(b, "Z");
    return dls_csv_read(src, ',', binds, sizeof binds / sizeof binds[0], row, &c, b, err);
}

static int sniff(const dls_trace_source *src)
{
    return dls_csv_sniff(src, ',', "node_num,gpu_num,type,gpu_time,submit_time") ? 90 : 0;
}

const dls_trace_format dls_trace_format_acme = {
    .name = "acme",
    .summary = "Acme, the published trace_seren.csv and trace_kalos.csv",
    .sniff = sniff,
    .read = read_acme,
};
