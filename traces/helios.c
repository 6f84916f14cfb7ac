/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * SenseTime's Helios logs (Hu et al., SC 2021), cluster_log.csv of Venus, Earth, Saturn or Uranus:
 * Slurm jobs with dates of the site's clock. Jobs without GPUs are left out.
 */
#include "traces/outcome.h"
#include "traces/trace_impl.h"
#include "traces/wallclock.h"

typedef struct helios_cols {
    int id, user, vc, gpus, cpus, nodes, state;
    dls_wallclock_cols clock;
} helios_cols;

static dls_status row(dls_csv *csv, const void *cols, dls_trace_builder *b, dls_error *err)
{
    const helios_cols *c = cols;
    dls_job_rec rec;
    dls_job_rec_init(&rec);
    DLS_TRY(dls_csv_gpus(csv, c->gpus, &rec.gpus_milli, err));
    if (rec.gpus_milli == 0) {
        dls_trace_builder_skipped(b, "no GPU");
        return DLS_OK;
    }
    const char *skip;
    DLS_TRY(dls_wallclock_read(csv, &c->clock, 0, &rec, &skip, err));
    if (skip) {
        dls_trace_builder_skipped(b, skip);
        return DLS_OK;
    }
    rec.id = dls_csv_str(csv, c->id);
    rec.user = dls_csv_str(csv, c->user);
    rec.vc = dls_csv_str(csv, c->vc);
    rec.outcome = dls_outcome_cell(csv, c->state, b);
    DLS_TRY(dls_csv_opt_i64(csv, c->cpus, "a number of cores", 3, &rec.cpu_milli, err));
    DLS_TRY(dls_csv_opt_i64(csv, c->nodes, "a whole number", 0, &rec.nodes, err));
    return dls_csv_add(csv, b, &rec, err);
}

static dls_status read_helios(const dls_trace_source *src, dls_trace_builder *b, dls_error *err)
{
    helios_cols c;
    const dls_csv_bind binds[] = {
        {"job_id", &c.id, true},
        {"user", &c.user, false},
        {"vc", &c.vc, false},
        {"gpu_num", &c.gpus, true},
        {"cpu_num", &c.cpus, false},
        {"node_num", &c.nodes, false},
        {"state", &c.state, false},
        {"submit_time", &c.clock.submit, true},
        {"start_time", &c.clock.start, false},
        {"end_time", &c.clock.end, false},
        {"duration", &c.clock.duration, true},
        {"queue", &c.clock.queue, false},
    };
    dls_trace_builder_rebase(b, "");
    return dls_csv_read(src, ',', binds, sizeof binds / sizeof binds[0], row, &c, b, err);
}

static int sniff(const dls_trace_source *src)
{
    return dls_csv_sniff(src, ',', "vc,gpu_num,state,queue,submit_time") &&
                   !dls_csv_sniff(src, ',', "type")
               ? 90
               : 0;
}

const dls_trace_format dls_trace_format_helios = {
    .name = "helios",
    .summary = "Helios, the published cluster_log.csv",
    .sniff = sniff,
    .read = read_helios,
};
