/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Builds a trace from job records of a reader: grows columns, applies filters, counts repairs and
 * skipped rows with their reasons, and sorts by submission.
 */
#include "base/assert.h"
#include "base/csv.h"
#include "base/own.h"
#include "dlsim/memory.h"
#include "traces/date.h"
#include "traces/trace_impl.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MAX_REASONS 24

typedef struct reason {
    char text[80];
    uint64_t count;
    size_t line; /* of the first; 0: not said */
} reason;

struct dls_trace_builder {
    dls_trace *trace;
    dls_trace_options opts;
    const char *rebase_zone; /* NULL: times are relative to the trace's zero already */
    size_t line;             /* that is read; 0: not said */
    reason reasons[MAX_REASONS];
    int n_reasons;
};

static const struct {
    size_t size;
    bool always;
} col_kind[DLS_COL_COUNT] = {
#define XX(name, type, always, member) {sizeof(type), always},
    DLS_TRACE_COL_MAP(XX)
#undef XX
};

void dls_job_rec_init(dls_job_rec *rec)
{
    *rec = (dls_job_rec){.duration_us = DLS_ABSENT,
                         .outcome = DLS_OUTCOME_UNKNOWN,
#define XX(column, member, kind, what) .member = DLS_ABSENT,
                         DLS_TRACE_NUMBER_MAP(XX)
#undef XX
    };
}

dls_status dls_trace_builder_create(const dls_trace_options *opts, dls_trace_builder **out,
                                    dls_error *err)
{
    dls_trace_builder *b = dls_alloc_zero(1, sizeof *b);
    dls_trace *trace = b ? dls_alloc_zero(1, sizeof *trace) : NULL;
    if (!trace) {
        dls_free(b);
        return dls_nomem(err, "trace", sizeof *b + sizeof *trace);
    }
    b->trace = trace;
    if (opts) {
        b->opts = *opts;
    }
    *out = b;
    return DLS_OK;
}

void dls_trace_builder_destroy(dls_trace_builder *b)
{
    if (b) {
        dls_trace_destroy(b->trace);
        dls_free(b);
    }
}

dls_trace_info *dls_trace_builder_info(dls_trace_builder *b)
{
    return &b->trace->info;
}

const dls_trace_options *dls_trace_builder_options(const dls_trace_builder *b)
{
    return &b->opts;
}

bool dls_trace_builder_full(const dls_trace_builder *b)
{
    return b->opts.max_jobs > 0 && b->trace->n >= (uint64_t)b->opts.max_jobs;
}

void dls_trace_builder_rebase(dls_trace_builder *b, const char *zone)
{
    b->rebase_zone = zone;
}

void dls_trace_builder_line(dls_trace_builder *b, size_t line)
{
    b->line = line;
}

const char *dls_trace_builder_new_id(const dls_trace_builder *b, const char *id, char *out,
                                     size_t size)
{
    if (!id || dls_strdict_find(&b->trace->ids, id, strlen(id)) < 0) {
        return id;
    }
    snprintf(out, size, "%.60s:%" PRIu64, id, b->trace->info.rows_read + 1);
    return out;
}

void dls_trace_builder_noted(dls_trace_builder *b, const char *text)
{
    int i = 0;
    while (i < b->n_reasons && strncmp(b->reasons[i].text, text, sizeof b->reasons[i].text - 1)) {
        i++;
    }
    if (i == b->n_reasons) {
        if (i >= MAX_REASONS - 1) {
            i = MAX_REASONS - 1; /* the last one stands for all that have no room */
            text = "other reasons";
        }
        snprintf(b->reasons[i].text, sizeof b->reasons[i].text, "%s", text);
        b->reasons[i].line = b->line;
        b->n_reasons = i + 1;
    }
    b->reasons[i].count++;
}

void dls_trace_builder_skipped(dls_trace_builder *b, const char *text)
{
    b->trace->info.rows_read++;
    b->trace->info.rows_skipped++;
    dls_trace_builder_noted(b, text);
}

void dls_trace_builder_changed(dls_trace_builder *b, const char *text)
{
    b->trace->info.rows_changed++;
    dls_trace_builder_noted(b, text);
}

/* ---- columns --------------------------------------------------------------------------------- */

/* A whole new capacity for every column that exists. A column that grew while a later one failed
 * merely holds more than `cap` says. */
static dls_status grow_columns(dls_trace *t, dls_error *err)
{
    const size_t cap = t->cap ? t->cap * 2 : 256;
    for (int c = 0; c < DLS_COL_COUNT; c++) {
        if (!t->data[c] && !col_kind[c].always) {
            continue;
        }
        void *p = dls_realloc(t->data[c], cap * col_kind[c].size);
        if (!p) {
            return dls_nomem(err, "trace columns", cap * col_kind[c].size);
        }
        t->data[c] = p;
    }
    t->cap = cap;
    return DLS_OK;
}

/* First value of an optional column: all jobs before have none. */
static dls_status open_column(dls_trace *t, dls_trace_col c, dls_error *err)
{
    void *p = NULL;
    DLS_TRY(dls_alloc_array(&p, t->cap * col_kind[c].size, 1, "trace column", err));
    memset(p, 0xff, t->cap * col_kind[c].size); /* DLS_ABSENT, and -1 as a code */
    if (c == DLS_COL_GPUS_MILLI) {
        const int32_t *gpus = t->data[DLS_COL_GPUS];
        for (size_t i = 0; i < t->n; i++) {
            ((int64_t *)p)[i] = (int64_t)gpus[i] * 1000;
        }
    }
    t->data[c] = p;
    return DLS_OK;
}

static dls_status put_i64(dls_trace *t, dls_trace_col c, int64_t value, dls_error *err)
{
    if (!t->data[c]) {
        if (value == DLS_ABSENT) {
            return DLS_OK;
        }
        DLS_TRY(open_column(t, c, err));
    }
    ((int64_t *)t->data[c])[t->n] = value;
    return DLS_OK;
}

static dls_status put_text(dls_trace *t, dls_trace_col c, dls_strdict *dict, const char *s,
                           dls_error *err)
{
    int32_t code = -1;
    if (s && *s) {
        if (!t->data[c]) {
            DLS_TRY(open_column(t, c, err));
        }
        DLS_TRY(dls_strdict_put(dict, s, strlen(s), &code, err));
    }
    if (t->data[c]) {
        ((int32_t *)t->data[c])[t->n] = code;
    }
    return DLS_OK;
}

/* ---- adding a job ---------------------------------------------------------------------------- */

static dls_status check_time(const char *what, int64_t us, bool optional, const char *where,
                             dls_error *err)
{
    if (optional && us == DLS_ABSENT) {
        return DLS_OK;
    }
    if (us < 0) {
        return dls_fail(err, DLS_EINPUT, where, "%s is negative (%" PRId64 " us)", what, us);
    }
    if (us > DLS_TIME_MAX_US) {
        return dls_fail(err, DLS_EINPUT, where, "%s lies beyond 1000 years (%" PRId64 " us)", what,
                        us);
    }
    return DLS_OK;
}

static dls_status check_count(const char *what, int64_t value, const char *where, dls_error *err)
{
    if (value < 0 && value != DLS_ABSENT) {
        return dls_fail(err, DLS_EINPUT, where, "%s is negative (%" PRId64 ")", what, value);
    }
    return DLS_OK;
}

/* An amount that is divided among GPUs and multiplied by them again. */
static dls_status check_amount(const char *what, int64_t value, const char *where, dls_error *err)
{
    DLS_TRY(check_count(what, value, where, err));
    return value <= DLS_AMOUNT_MAX
               ? DLS_OK
               : dls_fail(err, DLS_EINPUT, where, "%s is too large (%" PRId64 ")", what, value);
}

/* What a CSV file could hold. */
static dls_status check_text(const char *what, const char *text, const char *where, dls_error *err)
{
    const size_t size = text ? strlen(text) : 0;
    return size <= DLS_CSV_MAX_CELL
               ? DLS_OK
               : dls_fail(err, DLS_EINPUT, where, "%s has %zu bytes (at most %d)", what, size,
                          DLS_CSV_MAX_CELL);
}

#define CHECK_TIME(what, value) check_time(what, value, true, where, err)
#define CHECK_COUNT(what, value) check_count(what, value, where, err)
#define CHECK_AMOUNT(what, value) check_amount(what, value, where, err)

static dls_status check_rec(const dls_job_rec *rec, const char *where, dls_error *err)
{
    if (rec->gpus_milli <= 0) {
        return dls_fail(err, DLS_EINPUT, where, "a job needs at least one GPU, this one has %s",
                        rec->gpus_milli == 0 ? "0" : "a negative number");
    }
    if (rec->gpus_milli > INT64_C(1000) * DLS_GPUS_MAX) {
        return dls_fail(err, DLS_EINPUT, where, "%" PRId64 " GPUs for one job (at most %d)",
                        rec->gpus_milli / 1000, DLS_GPUS_MAX);
    }
    if ((unsigned)rec->outcome >= DLS_OUTCOME_COUNT) {
        return dls_fail(err, DLS_EINPUT, where, "outcome %d is unknown", (int)rec->outcome);
    }
    if (rec->flags >> DLS_JOB_FLAG_COUNT) {
        return dls_fail(err, DLS_EINPUT, where, "flags 0x%x are unknown", (unsigned)rec->flags);
    }
    DLS_TRY(check_time("the submission time", rec->submit_us, false, where, err));
    DLS_TRY(check_time("the duration", rec->duration_us, true, where, err));
#define XX(column, member, kind, what) DLS_TRY(CHECK_##kind(what, rec->member));
    DLS_TRACE_NUMBER_MAP(XX)
#undef XX
    DLS_TRY(check_text("the job's id", rec->id, where, err));
#define XX(column, member, dict, one) DLS_TRY(check_text("'" #member "'", rec->member, where, err));
    DLS_TRACE_TEXT_MAP(XX)
#undef XX
    const int64_t gpus = (rec->gpus_milli + 999) / 1000;
    if ((rec->min_gpus != DLS_ABSENT && (rec->min_gpus < 1 || rec->min_gpus > gpus)) ||
        (rec->max_gpus != DLS_ABSENT && (rec->max_gpus < gpus || rec->max_gpus > DLS_GPUS_MAX))) {
        return dls_fail(err, DLS_EINPUT, where,
                        "%" PRId64 " GPUs are not within the %" PRId64 " to %" PRId64
                        " that the job is said to be able to use",
                        gpus, rec->min_gpus, rec->max_gpus);
    }
    return DLS_OK;
}

static dls_status put_id(dls_trace_builder *b, const char *id, const char *where, dls_error *err)
{
    dls_trace *t = b->trace;
    char number[24];
    if (!id || !*id) {
        snprintf(number, sizeof number, "%" PRIu64, t->info.rows_read);
        id = number;
    }
    const size_t known = t->ids.n;
    int32_t code = -1;
    DLS_TRY(dls_strdict_put(&t->ids, id, strlen(id), &code, err));
    if (t->ids.n == known && !b->opts.allow_duplicate_ids) {
        /* Without repeats the code of an id is the index of its job. */
        const uint32_t *row = t->data[DLS_COL_ROW];
        return dls_fail(err, DLS_EINPUT, where,
                        "job id '%.100s' is not unique (data row %" PRIu32
                        " has it); allow_duplicate_ids accepts that",
                        id, (size_t)code < t->n ? row[code] + 1 : 0);
    }
    ((int32_t *)t->data[DLS_COL_ID])[t->n] = code;
    if (t->data[DLS_COL_ORIGIN]) {
        ((int32_t *)t->data[DLS_COL_ORIGIN])[t->n] = -1;
    }
    return DLS_OK;
}

dls_status dls_trace_builder_add(dls_trace_builder *b, const dls_job_rec *rec, const char *where,
                                 dls_error *err)
{
    dls_trace *t = b->trace;
    DLS_TRY(check_rec(rec, where, err));
    if (t->n >= INT32_MAX || t->info.rows_read >= UINT32_MAX) {
        return dls_fail(err, DLS_EINPUT, where, "more jobs than 2^31-1");
    }
    int64_t duration_us = rec->duration_us;
    uint32_t flags = rec->flags & ~(uint32_t)DLS_JOB_NO_DURATION;
    if (duration_us == DLS_ABSENT) {
        flags |= DLS_JOB_NO_DURATION;
    } else if (duration_us == 0) {
        if (b->opts.drop_zero_duration) {
            dls_trace_builder_skipped(b, "zero or negative duration");
            return DLS_OK;
        }
        flags |= DLS_JOB_ZERO_DURATION;
        if (!b->opts.keep_zero_duration) {
            duration_us = DLS_US_PER_S;
        }
    }
    if (t->n == t->cap) {
        DLS_TRY(grow_columns(t, err));
    }
    DLS_TRY(put_id(b, rec->id, where, err));
#define XX(column, member, dict, one)                                                              \
    DLS_TRY(put_text(t, DLS_COL_##column, &t->dict, rec->member, err));
    DLS_TRACE_TEXT_MAP(XX)
#undef XX
    const int64_t gpus = (rec->gpus_milli + 999) / 1000;
    if (t->data[DLS_COL_GPUS_MILLI] || gpus * 1000 != rec->gpus_milli) {
        DLS_TRY(put_i64(t, DLS_COL_GPUS_MILLI, rec->gpus_milli, err));
        flags |= gpus * 1000 != rec->gpus_milli ? DLS_JOB_FRACTIONAL_GPUS : 0u;
    }
#define XX(column, member, kind, what) DLS_TRY(put_i64(t, DLS_COL_##column, rec->member, err));
    DLS_TRACE_NUMBER_MAP(XX)
#undef XX
    ((int64_t *)t->data[DLS_COL_SUBMIT_US])[t->n] = rec->submit_us;
    ((int64_t *)t->data[DLS_COL_DURATION_US])[t->n] = duration_us;
    ((int32_t *)t->data[DLS_COL_GPUS])[t->n] = (int32_t)gpus;
    ((uint8_t *)t->data[DLS_COL_OUTCOME])[t->n] = (uint8_t)rec->outcome;
    ((uint32_t *)t->data[DLS_COL_FLAGS])[t->n] = flags;
    ((uint32_t *)t->data[DLS_COL_ROW])[t->n] = (uint32_t)t->info.rows_read;
    t->n++;
    t->info.rows_read++;
    if (duration_us != rec->duration_us) {
        dls_trace_builder_changed(b, "zero or negative duration raised to 1 s");
    }
    return DLS_OK;
}

dls_status dls_trace_builder_copied(dls_trace_builder *b, const char *id, dls_error *err)
{
    dls_trace *t = b->trace;
    const int32_t code = dls_strdict_find(&t->ids, id, strlen(id));
    DLS_ASSERT(t->n > 0 && code >= 0);
    if (!t->data[DLS_COL_ORIGIN]) {
        DLS_TRY(open_column(t, DLS_COL_ORIGIN, err));
    }
    ((int32_t *)t->data[DLS_COL_ORIGIN])[t->n - 1] = code;
    return DLS_OK;
}

/* ---- finishing ------------------------------------------------------------------------------- */

/* The jobs by submission, equal times as they came. */
static dls_status sort_columns(dls_trace *t, dls_error *err)
{
    const int64_t *submit_us = t->data[DLS_COL_SUBMIT_US];
    bool sorted = true;
    for (size_t i = 1; i < t->n && sorted; i++) {
        sorted = submit_us[i - 1] <= submit_us[i];
    }
    if (sorted) {
        return DLS_OK;
    }
    DLS_FREED dls_keyed *jobs = dls_alloc(2 * t->n * sizeof *jobs);
    DLS_FREED unsigned char *moved = dls_alloc(t->n * sizeof(int64_t));
    if (!jobs || !moved) {
        return dls_nomem(err, "sorting a trace", t->n * (2 * sizeof *jobs + sizeof(int64_t)));
    }
    for (size_t i = 0; i < t->n; i++) {
        jobs[i] = (dls_keyed){(uint64_t)submit_us[i], (uint32_t)i};
    }
    const dls_keyed *by_submit = dls_radix_sort(jobs, jobs + t->n, t->n);
    for (int c = 0; c < DLS_COL_COUNT; c++) {
        const size_t size = col_kind[c].size;
        unsigned char *data = t->data[c];
        if (!data) {
            continue;
        }
        for (size_t i = 0; i < t->n; i++) {
            memcpy(moved + i * size, data + by_submit[i].value * size, size);
        }
        memcpy(data, moved, t->n * size);
    }
    return DLS_OK;
}

/* Move zero to the first submission; the columns are sorted. */
static void rebase(dls_trace *t, const char *zone)
{
    int64_t *submit_us = t->data[DLS_COL_SUBMIT_US];
    int64_t *deadline_us = t->data[DLS_COL_DEADLINE_US];
    const int64_t zero_us = submit_us[0];
    for (size_t i = 0; i < t->n; i++) {
        submit_us[i] -= zero_us;
        if (deadline_us && deadline_us[i] != DLS_ABSENT) {
            deadline_us[i] = deadline_us[i] > zero_us ? deadline_us[i] - zero_us : 0;
        }
    }
    char date[32];
    dls_date_format(zero_us, date);
    snprintf(t->info.epoch, sizeof t->info.epoch, "%s%s", date, zone);
}

/* Without repeats, and in order of submission as they came, the jobs' ids are numbered as the jobs. */
static void settle_ids(dls_trace *t)
{
    const int32_t *id = t->data[DLS_COL_ID];
    size_t same = 0;
    while (same < t->n && id[same] == (int32_t)same) {
        same++;
    }
    if (same == t->n) {
        dls_free(t->data[DLS_COL_ID]);
        t->data[DLS_COL_ID] = NULL;
    }
    dls_strdict_seal(&t->ids);
}

static void set_views(dls_trace *t)
{
    t->cols = (dls_trace_columns){.n = t->n,
#define XX(name, type, always, view) .view = t->data[DLS_COL_##name],
                                  DLS_TRACE_VIEW_MAP(XX)
#undef XX
    };
}

static void write_notes(const dls_trace_builder *b, dls_trace_info *info)
{
    size_t used = 0;
    for (int i = 0; i < b->n_reasons; i++) {
        char line[160], first[40] = "";
        if (b->reasons[i].line > 0) {
            snprintf(first, sizeof first, ", first in line %zu", b->reasons[i].line);
        }
        const int n = snprintf(line, sizeof line, "%s: %" PRIu64 "%s\n", b->reasons[i].text,
                               b->reasons[i].count, first);
        if (used + (size_t)n < sizeof info->notes) { /* whole lines only */
            memcpy(info->notes + used, line, (size_t)n + 1);
            used += (size_t)n;
        }
    }
}

dls_status dls_trace_builder_finish(dls_trace_builder *b, dls_trace **out, dls_error *err)
{
    dls_trace *t = b->trace;
    if (t->n == 0 && t->info.rows_skipped > 0) {
        return dls_fail(err, DLS_EINPUT, t->info.path,
                        "all %" PRIu64 " rows were left out: no job remains; the first: %s",
                        t->info.rows_skipped, b->reasons[0].text);
    }
    if (t->n == 0) {
        return dls_fail(err, DLS_EINPUT, t->info.path, "no job in the trace (0 rows left out)");
    }
    DLS_TRY(sort_columns(t, err));
    if (b->rebase_zone) {
        rebase(t, b->rebase_zone);
    }
    set_views(t);
    for (size_t i = 0; i < t->n; i++) {
        for (int bit = 0; bit < DLS_JOB_FLAG_COUNT; bit++) {
            t->info.flag_count[bit] += t->cols.flags[i] >> bit & 1;
        }
    }
    write_notes(b, &t->info);
    settle_ids(t);
    b->trace = NULL;
    dls_trace_builder_destroy(b);
    *out = t;
    return DLS_OK;
}

dls_status dls_trace_builder_end(dls_trace_builder *b, dls_status status, dls_trace **out,
                                 dls_error *err)
{
    DLS_THEN(status, dls_trace_builder_finish(b, out, err));
    if (status != DLS_OK) {
        dls_trace_builder_destroy(b);
    }
    return status;
}
