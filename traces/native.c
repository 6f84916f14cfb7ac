/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The native format: a CSV whose columns are a superset of Tiresias's (docs/traces.md).
 */
#include "traces/native.h"

#include "traces/table.h"

#include <stdio.h>
#include <string.h>

const char *const dls_native_flags[DLS_JOB_FLAG_COUNT] = {
#define XX(name, bit, text) [bit] = #name,
    DLS_JOB_FLAG_MAP(XX)
#undef XX
};

const dls_field dls_native_fields[DLS_NATIVE_FIELDS] = {
    DLS_MAY(TEXT, "job_id", id, 0),
    DLS_MUST(GPUS, "num_gpu|num_gpus|gpus", gpus_milli, 3),
    DLS_MUST(TIME, "submit_time|submit_s", submit_us, DLS_SECONDS),
    DLS_MAY(OPT_DURATION, "duration|duration_s", duration_us, DLS_SECONDS),
    DLS_MAY(TEXT, "model_name|model", model, 0),
    DLS_MAY(TEXT, "user", user, 0),
    DLS_MAY(TEXT, "vc", vc, 0),
    DLS_MAY(TEXT, "gpu_type", gpu_types, 0),
    DLS_MAY(TEXT, "class", job_class, 0),
    DLS_MAY(COUNT, "iterations", iterations, 0),
    DLS_MAY(COUNT, "batch_size", batch, 0),
    DLS_COLUMN(COUNT, "num_cpu", false, cpu_milli, 3, "a number of cores"),
    DLS_COLUMN(COUNT, "mem_mib", false, mem_mib, 0, "a whole number of MiB"),
    DLS_COLUMN(COUNT, "priority", false, priority, 0, "a whole number, 0 or more"),
    DLS_MAY(OPT_TIME, "deadline", deadline_us, DLS_SECONDS),
    DLS_MAY(OPT_TIME, "limit", limit_us, DLS_SECONDS),
    DLS_MAY(OPT_TIME, "estimate", estimate_us, DLS_SECONDS),
    DLS_MAY(OPT_TIME, "queue", queue_us, DLS_SECONDS),
    DLS_MAY(COUNT, "nodes", nodes, 0),
    DLS_MAY(COUNT, "min_gpus", min_gpus, 0),
    DLS_MAY(COUNT, "max_gpus", max_gpus, 0),
    DLS_MAY(COUNT, "attempts", attempts, 0),
    DLS_MAY(OUTCOME, "status", outcome, 0),
    DLS_OTHER("flags", false),
};

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

static dls_status row(dls_csv *csv, const int *col, dls_job_rec *rec, dls_trace_builder *b,
                      const char **skip, dls_error *err)
{
    return read_flags(csv, col[DLS_NATIVE_FIELDS - 1], &rec->flags, err);
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

static const struct dls_trace_table table = {
    .score = 50,
    .header = {"num_gpu,submit_time"},
    .fields = dls_native_fields,
    .n_fields = DLS_NATIVE_FIELDS,
    .notes_rest = true,
    .row = row,
};

static dls_status read_native(const dls_trace_source *src, dls_trace_builder *b, dls_error *err)
{
    read_epoch(src, b);
    return dls_trace_table_read(&table, src, b, err);
}

const dls_trace_format dls_trace_format_native = {
    .name = "native",
    .summary = "CSV of dlsim itself: Tiresias's columns and more, times in seconds",
    .table = &table,
    .read = read_native,
};
