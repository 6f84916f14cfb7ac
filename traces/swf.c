/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Standard Workload Format 2.2 (Feitelson's Parallel Workloads Archive): lines of 18 blank
 * separated numbers, -1 for unknown, comments behind ';'. The format counts processors; that one
 * processor is one GPU has to be asked for (swf_processor_is_gpu).
 */
#include "base/decimal.h"
#include "base/own.h"
#include "traces/date.h"
#include "traces/table.h"
#include "traces/trace_impl.h"

#include <stdio.h>
#include <string.h>

/* Fields, 0-based. */
enum {
    SWF_ID,
    SWF_SUBMIT,
    SWF_WAIT,
    SWF_RUN,
    SWF_ALLOCATED,
    SWF_CPU_TIME,
    SWF_MEM_USED,
    SWF_REQUESTED,
    SWF_LIMIT,
    SWF_MEM_KB,
    SWF_STATUS,
    SWF_USER,
    SWF_GROUP,
    SWF_EXECUTABLE,
    SWF_QUEUE,
    SWF_PARTITION,
    SWF_PRECEDING,
    SWF_THINK_TIME,
    SWF_FIELDS
};

static dls_status opt_us(const dls_csv *csv, int col, int64_t *us, dls_error *err)
{
    DLS_TRY(dls_csv_i64(csv, col, "seconds with at most 6 decimals", 6, INT64_MIN, DLS_TIME_MAX_US,
                        us, err));
    *us = *us < 0 ? DLS_ABSENT : *us;
    return DLS_OK;
}

/* NULL for -1. */
static const char *opt_str(dls_csv *csv, int col)
{
    return csv->cell[col].s[0] == '-' ? NULL : dls_csv_str(csv, col);
}

static dls_status read_mem(const dls_csv *csv, int64_t processors, int64_t *mem_mib, dls_error *err)
{
    int64_t kb;
    DLS_TRY(dls_csv_i64(csv, SWF_MEM_KB, "KB per processor", 0, INT64_MIN,
                        INT64_MAX / (2 * DLS_GPUS_MAX), &kb, err));
    *mem_mib = kb > 0 ? (kb * processors + 1023) / 1024 : DLS_ABSENT;
    return DLS_OK;
}

static dls_status row(dls_csv *csv, const void *user, dls_trace_builder *b, dls_error *err)
{
    if (csv->n_cells != SWF_FIELDS) {
        return dls_csv_fail(csv, -1, err, "%zu fields, expected 18", csv->n_cells);
    }
    static const dls_outcome outcomes[] = {
        [0] = DLS_OUTCOME_FAILED,
        [1] = DLS_OUTCOME_COMPLETED,
        [5] = DLS_OUTCOME_KILLED,
    };
    dls_job_rec rec;
    dls_job_rec_init(&rec);
    int64_t requested, allocated, status;
    DLS_TRY(dls_csv_i64(csv, SWF_REQUESTED, "a number of processors", 0, INT64_MIN, DLS_GPUS_MAX,
                        &requested, err));
    DLS_TRY(dls_csv_i64(csv, SWF_ALLOCATED, "a number of processors", 0, INT64_MIN, DLS_GPUS_MAX,
                        &allocated, err));
    DLS_TRY(dls_csv_i64(csv, SWF_STATUS, "a status from -1 to 5", 0, -1, 5, &status, err));
    DLS_TRY(opt_us(csv, SWF_RUN, &rec.duration_us, err));
    const int64_t processors = requested > 0 ? requested : allocated;
    const char *skip = status >= 2 && status <= 4 ? "part of a checkpointed job"
                       : rec.duration_us <= 0 && allocated <= 0 && status == 5
                           ? "cancelled before it started"
                       : processors <= 0               ? "no processors"
                       : rec.duration_us == DLS_ABSENT ? "no run time"
                                                       : NULL;
    if (skip) {
        dls_trace_builder_skipped(b, skip);
        return DLS_OK;
    }
    rec.gpus_milli = processors * 1000;
    rec.outcome = status < 0 ? DLS_OUTCOME_UNKNOWN : outcomes[status];
    DLS_TRY(dls_csv_us(csv, SWF_SUBMIT, DLS_SECONDS, &rec.submit_us, err));
    DLS_TRY(opt_us(csv, SWF_WAIT, &rec.queue_us, err));
    DLS_TRY(opt_us(csv, SWF_LIMIT, &rec.limit_us, err));
    DLS_TRY(read_mem(csv, processors, &rec.mem_mib, err));
    rec.id = dls_csv_str(csv, SWF_ID);
    rec.user = opt_str(csv, SWF_USER);
    rec.model = opt_str(csv, SWF_EXECUTABLE);
    rec.vc = opt_str(csv, SWF_QUEUE);
    if (!rec.vc) {
        rec.vc = opt_str(csv, SWF_PARTITION);
    }
    return dls_csv_add(csv, b, &rec, err);
}

/* The value of "; Key: value" in the comments at the top; its length, 0 if there is none. */
static size_t find_key(const dls_trace_source *src, const char *key, const char **value)
{
    const size_t key_len = strlen(key);
    const char *p = src->text;
    while (*p == ';') {
        const size_t len = strcspn(p, "\n");
        const char *s = p + 1 + strspn(p + 1, " \t");
        if (strncmp(s, key, key_len) == 0 && s[key_len] == ':') {
            *value = s + key_len + 1 + strspn(s + key_len + 1, " \t");
            return strcspn(*value, " \t\r\n");
        }
        p += len + (p[len] == '\n');
    }
    return 0;
}

static void read_epoch(const dls_trace_source *src, dls_trace_info *info)
{
    const char *start, *zone;
    const size_t start_len = find_key(src, "UnixStartTime", &start);
    const size_t zone_len = find_key(src, "TimeZoneString", &zone);
    int64_t us;
    if (start_len && dls_decimal_parse(start, start_len, 6, &us) == DLS_DECIMAL_EXACT && us >= 0 &&
        us <= DLS_TIME_MAX_US) {
        char date[32];
        dls_date_format(us, date);
        /* The date is in UTC; the zone is where the log comes from. */
        const bool utc = zone_len == 0 || (zone_len == 3 && memcmp(zone, "UTC", 3) == 0);
        snprintf(info->epoch, sizeof info->epoch, utc ? "%sZ" : "%sZ (%.*s)", date,
                 (int)(zone_len < 15 ? zone_len : 15), zone);
    }
}

static dls_status read_swf(const dls_trace_source *src, dls_trace_builder *b, dls_error *err)
{
    if (!dls_trace_builder_options(b)->swf_processor_is_gpu) {
        return dls_fail(err, DLS_EUSAGE, src->path,
                        "SWF counts processors, not GPUs; set swf_processor_is_gpu to take one "
                        "processor for one GPU");
    }
    read_epoch(src, dls_trace_builder_info(b));
    DLS_OWN(dls_csv_fini) dls_csv csv = {0};
    dls_csv_init(&csv, src->path, src->text, src->len, ' ');
    csv.comment = ';';
    return dls_trace_rows_read(&csv, row, NULL, b, err);
}

static int sniff(const dls_trace_source *src)
{
    dls_csv csv;
    dls_csv_init(&csv, src->path, src->text, src->len, ' ');
    csv.comment = ';';
    bool more = false;
    int score = 0;
    if (dls_csv_cells(&csv, &more, NULL) == DLS_OK && more && csv.n_cells == SWF_FIELDS) {
        score = 80;
        for (size_t i = 0; i < csv.n_cells; i++) {
            int64_t value;
            if (dls_decimal_parse(csv.cell[i].s, csv.cell[i].len, 3, &value) >=
                DLS_DECIMAL_OVERFLOW) {
                score = 0;
            }
        }
    }
    return score;
}

const dls_trace_format dls_trace_format_swf = {
    .name = "swf",
    .summary = "Standard Workload Format 2.2 (one processor = one GPU, if asked for)",
    .sniff = sniff,
    .read = read_swf,
};
