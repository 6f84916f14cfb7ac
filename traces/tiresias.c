/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Traces of the public Tiresias simulator (Gu et al., NSDI 2019), CSV or blank separated .txt, with
 * either of the two headers of its repository. As there, submissions are whole seconds, the
 * duration is cut to whole seconds, and iterations are for information.
 */
#include "traces/csv.h"
#include "traces/trace_impl.h"

#include <string.h>

typedef struct tiresias_cols {
    int id, gpus, submit, duration, iterations, model, scale;
} tiresias_cols;

static dls_status row(dls_csv *csv, const void *cols, dls_trace_builder *b, dls_error *err)
{
    const tiresias_cols *c = cols;
    dls_job_rec rec;
    dls_job_rec_init(&rec);
    int64_t submit_s, gpus;
    rec.id = dls_csv_str(csv, c->id);
    DLS_TRY(dls_csv_i64(csv, c->gpus, "a whole number of GPUs, at least 1", 0, 1, DLS_GPUS_MAX,
                        &gpus, err));
    DLS_TRY(dls_csv_i64(csv, c->submit, "whole seconds, 0 or more", 0, 0,
                        DLS_TIME_MAX_US / DLS_US_PER_S, &submit_s, err));
    DLS_TRY(dls_csv_duration(csv, c->duration, 6, &rec.duration_us, err));
    DLS_TRY(dls_csv_opt_i64(csv, c->iterations, "a whole number", 0, &rec.iterations, err));
    rec.gpus_milli = gpus * 1000;
    rec.submit_us = submit_s * DLS_US_PER_S;
    rec.model = dls_csv_str(csv, c->model);
    const int64_t part_us = rec.duration_us % DLS_US_PER_S;
    if (part_us) {
        rec.duration_us -= part_us;
        dls_trace_builder_changed(b, "duration cut to whole seconds");
    }
    if (!dls_csv_missing(csv, c->scale) && !dls_csv_is(csv, c->scale, "1")) {
        dls_trace_builder_noted(b, "model_scale not used");
    }
    return dls_csv_add(csv, b, &rec, err);
}

/* Blank separated unless the first line has a comma. */
static char separator(const dls_trace_source *src)
{
    const size_t len = strcspn(src->text, "\n");
    return memchr(src->text, ',', len) ? ',' : ' ';
}

static dls_status read_tiresias(const dls_trace_source *src, dls_trace_builder *b, dls_error *err)
{
    tiresias_cols c;
    const dls_csv_bind binds[] = {
        {"job_id", &c.id, false},
        {"num_gpu", &c.gpus, true},
        {"submit_time", &c.submit, true},
        {"duration", &c.duration, true},
        {"iterations", &c.iterations, false},
        {"model_name", &c.model, false},
        {"model_scale", &c.scale, false},
    };
    return dls_csv_read(src, separator(src), binds, sizeof binds / sizeof binds[0], row, &c, b,
                        err);
}

static int sniff(const dls_trace_source *src)
{
    static const char *const headers[] = {
        "job_id,num_gpu,submit_time,iterations,model_name,duration,interval",
        "job_id,num_gpu,submit_time,start_time,duration,model_size,aggr_interval",
    };
    const char sep = separator(src);
    /* Muri's superset is in milliseconds; other columns mean an extended table, which is native. */
    static const char *const others[] = {"resource_time_0", "batch_size", "user",     "vc",
                                         "status",          "gpu_type",   "priority", "class",
                                         "deadline",        "limit",      "estimate", "flags"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (dls_csv_sniff(src, sep, others[i])) {
            return 0;
        }
    }
    if (dls_csv_sniff(src, sep, headers[0]) || dls_csv_sniff(src, sep, headers[1])) {
        return 80;
    }
    return sep == ' ' && dls_csv_sniff(src, ' ', "num_gpu,submit_time,duration") ? 60 : 0;
}

const dls_trace_format dls_trace_format_tiresias = {
    .name = "tiresias",
    .summary = "Tiresias simulator: CSV or blank separated, seconds",
    .sniff = sniff,
    .read = read_tiresias,
};
