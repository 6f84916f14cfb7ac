/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The native format: a CSV whose columns are a superset of Tiresias's (docs/traces.md). Written are
 * only columns that some job fills, times in seconds with as many decimals as they need, so that
 * reading gives back the same trace.
 */
#include "base/atomicfile.h"
#include "base/guard.h"
#include "traces/outcome.h"
#include "traces/table.h"
#include "traces/trace_impl.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* A comment line that starts so holds the wall-clock text of time 0. */
#define EPOCH "# epoch: "

/* The first four columns are always written. */
enum { ALWAYS = 4, FIELDS = 24 };

/* Names in the column `flags`, by bit; several are joined by '|'. */
static const char *const flag_names[DLS_JOB_FLAG_COUNT] = {
#define XX(name, bit, text) [bit] = #name,
    DLS_JOB_FLAG_MAP(XX)
#undef XX
};

/* In the order in which they are written; the last one are the flags. */
static const dls_field fields[FIELDS] = {
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

/* ---- reading --------------------------------------------------------------------------------- */

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
        while (bit < DLS_JOB_FLAG_COUNT && (strlen(flag_names[bit]) != len ||
                                            memcmp(flag_names[bit], p, len) != 0)) {
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
    return read_flags(csv, col[FIELDS - 1], &rec->flags, err);
}

/* The epoch, if the first line tells it. */
static void read_epoch(const dls_trace_source *src, dls_trace_builder *b)
{
    const size_t skip = sizeof EPOCH - 1;
    if (src->len > skip && memcmp(src->text, EPOCH, skip) == 0) {
        const char *s = src->text + skip;
        const size_t len = strcspn(s, "\r\n");
        dls_trace_info *info = dls_trace_builder_info(b);
        snprintf(info->epoch, sizeof info->epoch, "%.*s", (int)(len < 39 ? len : 39), s);
    }
}

static const struct dls_trace_table table = {
    .score = 50,
    .header = {"num_gpu,submit_time"},
    .fields = fields,
    .n_fields = FIELDS,
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

/* ---- writing --------------------------------------------------------------------------------- */

static void put_flags(FILE *f, uint32_t flags)
{
    const char *bar = "";
    for (int bit = 0; bit < DLS_JOB_FLAG_COUNT; bit++) {
        if (flags >> bit & 1) {
            fprintf(f, "%s%s", bar, flag_names[bit]);
            bar = "|";
        }
    }
}

static bool has_value(const dls_field *field, const dls_job_rec *rec)
{
    const void *at = (const char *)rec + field->target;
    switch (field->kind) {
    case DLS_FIELD_TEXT:
        return *(const char *const *)at != NULL;
    case DLS_FIELD_OUTCOME:
        return rec->outcome != DLS_OUTCOME_UNKNOWN;
    case DLS_FIELD_OTHER:
        return rec->flags != 0;
    default:
        return *(const int64_t *)at != DLS_ABSENT;
    }
}

static void put_cell(FILE *f, const dls_field *field, const dls_job_rec *rec)
{
    const void *at = (const char *)rec + field->target;
    switch (field->kind) {
    case DLS_FIELD_TEXT:
        dls_csv_put(f, has_value(field, rec) ? *(const char *const *)at : "");
        break;
    case DLS_FIELD_OUTCOME:
        fputs(dls_outcome_text(rec->outcome), f);
        break;
    case DLS_FIELD_OTHER:
        put_flags(f, rec->flags);
        break;
    default:
        if (has_value(field, rec)) {
            dls_csv_put_scaled(f, *(const int64_t *)at, field->scale);
        }
        break;
    }
}

static dls_status write_table(FILE *f, void *what, dls_error *err)
{
    const dls_trace *trace = what;
    const size_t n = dls_trace_cols(trace)->n;
    const char *epoch = dls_trace_about(trace)->epoch;
    bool written[FIELDS] = {true, true, true, true};
    dls_job_rec rec;
    for (size_t i = 0; i < n; i++) {
        dls_trace_job(trace, i, &rec);
        for (int k = ALWAYS; k < FIELDS; k++) {
            written[k] = written[k] || has_value(&fields[k], &rec);
        }
    }
    if (*epoch) {
        fprintf(f, EPOCH "%s\n", epoch);
    }
    for (int k = 0; k < FIELDS; k++) {
        const char *names = fields[k].names;
        if (written[k]) {
            fprintf(f, "%s%.*s", k ? "," : "", (int)strcspn(names, "|"), names);
        }
    }
    fputc('\n', f);
    for (size_t i = 0; i < n; i++) {
        dls_trace_job(trace, i, &rec);
        for (int k = 0; k < FIELDS; k++) {
            if (written[k]) {
                if (k > 0) {
                    fputc(',', f);
                }
                put_cell(f, &fields[k], &rec);
            }
        }
        fputc('\n', f);
    }
    return DLS_OK;
}

dls_status dls_trace_save_csv(const dls_trace *trace, const char *path, dls_error *err)
{
    DLS_IN_C_LOCALE;
    return dls_atomicfile_stream(path, write_table, (void *)(uintptr_t)trace, err);
}
