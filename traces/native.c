/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The native format: a CSV whose columns are a superset of Tiresias's (docs/traces.md).
 */
#include "traces/native.h"

#include "traces/csv.h"
#include "traces/outcome.h"
#include "traces/trace_impl.h"

#include <stdio.h>
#include <string.h>

const char *const dls_native_flags[DLS_JOB_FLAG_COUNT] = {
#define XX(name, bit, text) [bit] = #name,
    DLS_JOB_FLAG_MAP(XX)
#undef XX
};

typedef struct native_cols {
    int id, gpus, submit, duration, iterations, model, batch, user, vc, status, gpu_type, cpu, mem;
    int priority, job_class, deadline, limit, estimate, queue, nodes, attempts, flags;
} native_cols;

/* A column that nobody reads is no error, but a mistyped name should be seen. */
static dls_status note_unread(const dls_trace_source *src, const dls_csv_bind *binds, size_t n,
                              dls_trace_builder *b, dls_error *err)
{
    dls_csv csv;
    dls_csv_init(&csv, src, ',');
    DLS_TRY(dls_csv_header(&csv, err));
    DLS_TRY(dls_csv_bind_all(&csv, binds, n, err));
    for (size_t i = 0; i < csv.n_header; i++) {
        bool read = false;
        for (size_t k = 0; k < n && !read; k++) {
            read = *binds[k].col == (int)i;
        }
        if (!read) {
            char note[80];
            snprintf(note, sizeof note, "column '%.*s' not used",
                     (int)(csv.header[i].len < 50 ? csv.header[i].len : 50), csv.header[i].s);
            dls_trace_builder_noted(b, note);
        }
    }
    return DLS_OK;
}

static dls_status read_flags(const dls_csv *csv, int col, uint32_t *flags, dls_error *err)
{
    *flags = 0;
    if (col < 0 || csv->cell[col].len == 0) {
        return DLS_OK;
    }
    const char *p = csv->cell[col].s, *end = p + csv->cell[col].len;
    while (p < end) {
        const char *bar = memchr(p, '|', (size_t)(end - p));
        const size_t len = (size_t)((bar ? bar : end) - p);
        int bit = 0;
        while (bit < DLS_JOB_FLAG_COUNT && (strlen(dls_native_flags[bit]) != len ||
                                            memcmp(dls_native_flags[bit], p, len) != 0)) {
            bit++;
        }
        if (bit == DLS_JOB_FLAG_COUNT) {
            return dls_csv_fail(csv, col, err, "'%.*s' is not a flag", (int)(len < 40 ? len : 40),
                                p);
        }
        *flags |= 1u << bit;
        p += len + 1;
    }
    return DLS_OK;
}

static dls_status row(dls_csv *csv, const void *cols, dls_trace_builder *b, dls_error *err)
{
    const native_cols *c = cols;
    dls_job_rec rec;
    dls_job_rec_init(&rec);
    rec.id = dls_csv_str(csv, c->id);
    DLS_TRY(dls_csv_gpus(csv, c->gpus, &rec.gpus_milli, err));
    DLS_TRY(dls_csv_us(csv, c->submit, "a time in seconds", 6, &rec.submit_us, err));
    if (!dls_csv_missing(csv, c->duration)) {
        DLS_TRY(dls_csv_duration(csv, c->duration, 6, &rec.duration_us, err));
    }
    DLS_TRY(dls_csv_opt_i64(csv, c->iterations, "a whole number", 0, &rec.iterations, err));
    DLS_TRY(dls_csv_opt_i64(csv, c->batch, "a whole number", 0, &rec.batch, err));
    rec.model = dls_csv_str(csv, c->model);
    rec.user = dls_csv_str(csv, c->user);
    rec.vc = dls_csv_str(csv, c->vc);
    rec.gpu_types = dls_csv_str(csv, c->gpu_type);
    rec.job_class = dls_csv_str(csv, c->job_class);
    rec.outcome = dls_outcome_cell(csv, c->status, b);
    DLS_TRY(dls_csv_opt_i64(csv, c->cpu, "a number of cores", 3, &rec.cpu_milli, err));
    DLS_TRY(dls_csv_opt_i64(csv, c->mem, "a whole number of MiB", 0, &rec.mem_mib, err));
    DLS_TRY(dls_csv_opt_i64(csv, c->priority, "a whole number, 0 or more", 0, &rec.priority, err));
    DLS_TRY(dls_csv_opt_us(csv, c->deadline, "a time in seconds", 6, &rec.deadline_us, err));
    DLS_TRY(dls_csv_opt_us(csv, c->limit, "seconds", 6, &rec.limit_us, err));
    DLS_TRY(dls_csv_opt_us(csv, c->estimate, "seconds", 6, &rec.estimate_us, err));
    DLS_TRY(dls_csv_opt_us(csv, c->queue, "seconds", 6, &rec.queue_us, err));
    DLS_TRY(dls_csv_opt_i64(csv, c->nodes, "a whole number", 0, &rec.nodes, err));
    DLS_TRY(dls_csv_opt_i64(csv, c->attempts, "a whole number", 0, &rec.attempts, err));
    DLS_TRY(read_flags(csv, c->flags, &rec.flags, err));
    return dls_csv_add(csv, b, &rec, err);
}

/* The epoch, if the first line tells it. */
static void read_epoch(const dls_trace_source *src, dls_trace_builder *b)
{
    const size_t skip = sizeof DLS_NATIVE_EPOCH - 1;
    if (src->len > skip && memcmp(src->text, DLS_NATIVE_EPOCH, skip) == 0) {
        const char *s = src->text + skip;
        const size_t len = strcspn(s, "\r\n");
        dls_trace_info *info = dls_trace_builder_info(b);
        snprintf(info->epoch, sizeof info->epoch, "%.*s", (int)(len < 39 ? len : 39), s);
    }
}

static dls_status read_native(const dls_trace_source *src, dls_trace_builder *b, dls_error *err)
{
    native_cols c;
    const dls_csv_bind binds[] = {
        {"job_id", &c.id, false},
        {"num_gpu|num_gpus|gpus", &c.gpus, true},
        {"submit_time|submit_s", &c.submit, true},
        {"duration|duration_s", &c.duration, false},
        {"iterations", &c.iterations, false},
        {"model_name|model", &c.model, false},
        {"batch_size", &c.batch, false},
        {"user", &c.user, false},
        {"vc", &c.vc, false},
        {"status", &c.status, false},
        {"gpu_type", &c.gpu_type, false},
        {"num_cpu", &c.cpu, false},
        {"mem_mib", &c.mem, false},
        {"priority", &c.priority, false},
        {"class", &c.job_class, false},
        {"deadline", &c.deadline, false},
        {"limit", &c.limit, false},
        {"estimate", &c.estimate, false},
        {"queue", &c.queue, false},
        {"nodes", &c.nodes, false},
        {"attempts", &c.attempts, false},
        {"flags", &c.flags, false},
    };
    const size_t n = sizeof binds / sizeof binds[0];
    read_epoch(src, b);
    DLS_TRY(note_unread(src, binds, n, b, err));
    return dls_csv_read(src, ',', binds, n, row, &c, b, err);
}

static int sniff(const dls_trace_source *src)
{
    return dls_csv_sniff(src, ',', "num_gpu,submit_time") ? 50 : 0;
}

const dls_trace_format dls_trace_format_native = {
    .name = "native",
    .summary = "CSV of dlsim itself: Tiresias's columns and more, times in seconds",
    .sniff = sniff,
    .read = read_native,
};
