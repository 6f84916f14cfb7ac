/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Slurm's accounting: what `sacct --parsable2 --allocations --allusers` prints, columns by their
 * names (sacct(1)). A job is submitted when it became eligible: before that Slurm did not consider
 * it. Odd rows are left out and counted, for a site's history is never clean.
 */
#include "base/own.h"
#include "traces/date.h"
#include "traces/outcome.h"
#include "traces/sacct_json.h"
#include "traces/table.h"
#include "traces/trace_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS                                                                                    \
    XX(JOB_ID, "JobID|JobIDRaw", true)                                                             \
    XX(SUBMIT, "Submit", true)                                                                     \
    XX(ELIGIBLE, "Eligible", false)                                                                \
    XX(START, "Start", true)                                                                       \
    XX(END, "End", true)                                                                           \
    XX(ELAPSED, "ElapsedRaw|Elapsed", false)                                                       \
    XX(STATE, "State", false)                                                                      \
    XX(USER, "User", false)                                                                        \
    XX(ACCOUNT, "Account", false)                                                                  \
    XX(PARTITION, "Partition", false)                                                              \
    XX(LIMIT, "TimelimitRaw|Timelimit", false)                                                     \
    XX(NODES, "NNodes|AllocNodes", false)                                                          \
    XX(CPUS, "NCPUS|AllocCPUS", false)                                                             \
    XX(ALLOC_TRES, "AllocTRES", false)                                                             \
    XX(REQ_TRES, "ReqTRES", false)                                                                 \
    XX(PRIORITY, "Priority", false)                                                                \
    XX(RESTARTS, "Restarts", false)                                                                \
    XX(RESERVATION, "Reservation", false)

enum {
#define XX(name, names, required) name,
    COLUMNS
#undef XX
        N_COLUMNS
};

typedef struct layout {
    int col[N_COLUMNS];
    size_t n_cells;
} layout;

static bool known(const dls_csv *csv, int col)
{
    return !dls_csv_missing(csv, col) && !dls_csv_is(csv, col, "Unknown");
}

static bool read_time(const dls_csv *csv, int col, int64_t *us)
{
    return dls_date_or_seconds(csv->cell[col].s, csv->cell[col].len, us);
}

/* UNLIMITED and Partition_Limit are no limit. */
static int64_t limit_us(const char *text)
{
    double seconds;
    return dls_date_span(text, &seconds) && seconds > 0 && seconds < 1e-6 * DLS_TIME_MAX_US
               ? (int64_t)(1e6 * seconds)
               : DLS_ABSENT;
}

/* The number behind "name=" in "cpu=4,gres/gpu:a100=8,mem=500G", with a unit of 1024 MiB and the
 * like; -1: not there, -2: not a number of things. With type, the sum of those behind "name:TYPE=", and
 * which type; "" if they are several. */
static int64_t tres(const char *text, const char *name, char *type, size_t size)
{
    const size_t len = strlen(name);
    int64_t sum = -1;
    for (const char *p = text; *p; p += strcspn(p, ","), p += *p == ',') {
        const char *equal = p + len;
        if (strncmp(p, name, len) != 0 || (*equal == ':') != (type != NULL)) {
            continue;
        }
        if (type) {
            const size_t word = strcspn(equal + 1, "=,");
            snprintf(type, sum < 0 ? size : 1, "%.*s", (int)word, equal + 1);
            equal += 1 + word;
        }
        if (*equal == '=') {
            char *end;
            const double value = strtod(equal + 1, &end);
            const double unit = *end == 'K'   ? 1.0 / 1024
                                : *end == 'G' ? 1024
                                : *end == 'T' ? 1048576
                                : *end == 'P' ? 1073741824
                                              : 1;
            if (end == equal + 1 || !(value >= 0 && value * unit < 1e15)) {
                return -2;
            }
            sum = (sum < 0 ? 0 : sum) + (int64_t)(value * unit);
            if (!type) {
                break;
            }
        }
    }
    return sum;
}

/* GPUs (below 0: a number that none can be) and memory, as allocated or, failing that, as asked for; the type that
 * was asked for or, where that is not known, that was given. */
static void read_tres(dls_csv *csv, const layout *at, dls_job_rec *rec, char type[64])
{
    static const int columns[] = {ALLOC_TRES, REQ_TRES};
    for (int k = 0; k < 2; k++) {
        const char *text = dls_csv_text(csv, at->col[columns[k]]);
        char named[64] = "";
        int64_t gpus = tres(text, "gres/gpu", NULL, 0);
        const int64_t typed = tres(text, "gres/gpu", named, sizeof named);
        const int64_t mem_mib = tres(text, "mem", NULL, 0);
        gpus = gpus == -1 ? typed : gpus;
        if (gpus > 0) {
            memcpy(type, named, sizeof named);
        }
        if (rec->gpus_milli == 0) {
            rec->gpus_milli = gpus < -1 || gpus > DLS_GPUS_MAX ? -1 : gpus > 0 ? gpus * 1000 : 0;
            rec->mem_mib = mem_mib > 0 ? mem_mib : DLS_ABSENT;
        }
    }
    rec->gpu_types = type[0] ? type : NULL;
}

/* Why a row is not a job that ran; NULL: it is one. */
static const char *why_not(const dls_csv *csv, const layout *at)
{
    if (csv->n_cells != at->n_cells) {
        return "a row with more or fewer cells than the header (a name with '|', or cut off)";
    }
    const dls_csv_cell *id = &csv->cell[at->col[JOB_ID]];
    if (id->len == 0) {
        return "no job id";
    }
    if (memchr(id->s, '.', id->len)) {
        return "a step of a job";
    }
    if (!known(csv, at->col[START])) {
        return "never started (pending, or cancelled while it was)";
    }
    return NULL;
}

/* A date of the site's clock, and not of UTC: neither an offset behind it nor seconds. */
static bool is_local(const dls_csv *csv, int col)
{
    return csv->cell[col].len == sizeof "2024-03-10T01:00:00" - 1;
}

/* Seconds that it ran, by Slurm's count: local dates are an hour off where the clock was changed
 * meanwhile. Any other difference is time that it was suspended. */
static int64_t ran_us(const char *elapsed, int64_t span_us, bool local)
{
    double seconds;
    char *end;
    if (!local) {
        return span_us;
    }
    seconds = strtod(elapsed, &end);
    if (end == elapsed || (*end && !dls_date_span(elapsed, &seconds)) || !(seconds >= 0)) {
        return span_us;
    }
    const double off = seconds - 1e-6 * (double)span_us;
    const bool changed = off == 3600 || off == -3600 || off == 1800 || off == -1800;
    return changed ? (int64_t)seconds * DLS_US_PER_S : span_us;
}

/* A number that is none is absent. */
static void optional(const dls_csv *csv, int col, int scale, int64_t max, int64_t *out,
                     dls_trace_builder *b)
{
    if (!dls_csv_missing(csv, col) &&
        dls_csv_i64(csv, col, "a number", scale, 0, max, out, NULL) != DLS_OK) {
        *out = DLS_ABSENT;
        dls_trace_builder_changed(b, "a number of nodes, processors or priority that is none");
    }
}

/* The first word: "CANCELLED by 1000". */
static dls_outcome outcome_of(dls_csv *csv, int col, dls_trace_builder *b)
{
    const char *blank = col >= 0 ? memchr(csv->cell[col].s, ' ', csv->cell[col].len) : NULL;
    if (blank) {
        csv->cell[col].len = (uint32_t)(blank - csv->cell[col].s);
    }
    return dls_outcome_cell(csv, col, b);
}

static void note_kind(const dls_csv *csv, const layout *at, const dls_job_rec *rec,
                      dls_trace_builder *b)
{
    if (!dls_csv_missing(csv, at->col[RESTARTS]) && !dls_csv_is(csv, at->col[RESTARTS], "0")) {
        dls_trace_builder_noted(b, "requeued: the accounting shows its last run");
    }
    if (!dls_csv_missing(csv, at->col[RESERVATION])) {
        dls_trace_builder_noted(b, "ran in a reservation");
    }
    if (strchr(rec->id, '+')) {
        dls_trace_builder_noted(b, "a part of a heterogeneous job, replayed on its own");
    }
    if (strchr(rec->id, ':')) {
        dls_trace_builder_noted(b, "an id again (sacct -D, or ids that wrapped): a run of its own");
    }
}

static dls_status row(dls_csv *csv, const void *user, dls_trace_builder *b, dls_error *err)
{
    const layout *at = user;
    const char *skip = why_not(csv, at);
    dls_job_rec rec;
    int64_t submit_us, start_us, end_us = 0, ran = 0;
    char type[64] = "", again[96];
    dls_job_rec_init(&rec);
    dls_trace_builder_line(b, csv->line);
    if (!skip && (!read_time(csv, at->col[SUBMIT], &submit_us) ||
                  !read_time(csv, at->col[START], &start_us) ||
                  (known(csv, at->col[END]) && !read_time(csv, at->col[END], &end_us)))) {
        skip = "a time that is none";
    }
    if (!skip && !known(csv, at->col[END])) {
        skip = "no end (still running, or lost)";
    }
    if (!skip) {
        read_tres(csv, at, &rec, type);
        ran = ran_us(dls_csv_text(csv, at->col[ELAPSED]), end_us - start_us,
                     is_local(csv, at->col[START]));
        skip = rec.gpus_milli < 0    ? "a number of GPUs that is none"
               : rec.gpus_milli == 0 ? "no GPU"
               : ran < 0             ? "ended before it started: the clock was set back"
                                     : NULL;
    }
    if (skip) {
        dls_trace_builder_skipped(b, skip);
        return DLS_OK;
    }
    dls_trace_builder_rebase(b, is_local(csv, at->col[START]) ? "" : "Z");
    int64_t eligible_us;
    if (at->col[ELIGIBLE] < 0 || !known(csv, at->col[ELIGIBLE]) ||
        !read_time(csv, at->col[ELIGIBLE], &eligible_us)) {
        dls_trace_builder_noted(b, "eligible when it was submitted, for Eligible is not known");
    } else if (eligible_us > submit_us) {
        submit_us = eligible_us;
        dls_trace_builder_changed(b, "submitted when it became eligible");
    }
    if (start_us < submit_us) {
        submit_us = start_us;
        dls_trace_builder_changed(b, "started before it was submitted: the clock was set back");
    }
    rec.submit_us = submit_us;
    rec.queue_us = start_us - submit_us;
    rec.duration_us = ran;
    if (ran != end_us - start_us) {
        dls_trace_builder_changed(b, "ran over a change of the clock: as long as Elapsed says");
    }
    rec.limit_us = at->col[LIMIT] >= 0 ? limit_us(dls_csv_text(csv, at->col[LIMIT])) : DLS_ABSENT;
    rec.outcome = outcome_of(csv, at->col[STATE], b);
    rec.id = dls_trace_builder_new_id(b, dls_csv_str(csv, at->col[JOB_ID]), again, sizeof again);
    note_kind(csv, at, &rec, b);
    rec.user = dls_csv_str(csv, at->col[USER]);
    rec.job_class = dls_csv_str(csv, at->col[ACCOUNT]);
    rec.vc = dls_csv_str(csv, at->col[PARTITION]);
    optional(csv, at->col[NODES], 0, INT32_MAX, &rec.nodes, b);
    optional(csv, at->col[CPUS], 3, INT64_C(1) << 40, &rec.cpu_milli, b);
    optional(csv, at->col[PRIORITY], 0, INT64_C(1) << 53, &rec.priority, b);
    return dls_csv_add(csv, b, &rec, err);
}

static dls_status read_table(const dls_trace_source *src, dls_trace_builder *b, dls_error *err)
{
    layout at;
    if (!dls_csv_sniff(src->text, src->len, '|', "JobID") &&
        !dls_csv_sniff(src->text, src->len, '|', "JobIDRaw")) {
        return dls_fail(err, DLS_EINPUT, src->path,
                        "no header with JobID and '|': it takes what `sacct -P` prints, its header "
                        "too");
    }
    const dls_csv_bind binds[] = {
#define XX(name, names, required) {names, &at.col[name], required},
        COLUMNS
#undef XX
    };
    DLS_OWN(dls_csv_fini) dls_csv csv = {0};
    dls_csv_init(&csv, src->path, src->text, src->len, '|');
    DLS_TRY(dls_csv_header(&csv, err));
    DLS_TRY(dls_csv_bind_all(&csv, binds, N_COLUMNS, err));
    if (at.col[ALLOC_TRES] < 0 && at.col[REQ_TRES] < 0) {
        return dls_fail(err, DLS_EINPUT, src->path,
                        "the header has neither AllocTRES nor ReqTRES, which say the GPUs");
    }
    at.n_cells = csv.n_header;
    csv.any_cells = true;
    dls_trace_builder_rebase(b, "");
    return dls_trace_rows_read(&csv, row, &at, b, err);
}

static dls_status read_sacct(const dls_trace_source *src, dls_trace_builder *b, dls_error *err)
{
    dls_trace_source table = *src;
    DLS_FREED char *text = NULL;
    if (dls_sacct_is_json(src->text)) {
        DLS_TRY(dls_sacct_table(src, &text, &table.len, err));
        table.text = text;
    }
    return read_table(&table, b, err);
}

static int sniff(const dls_trace_source *src)
{
    if (dls_sacct_is_json(src->text)) {
        char head[2048];
        snprintf(head, sizeof head, "%.2000s", src->text);
        return strstr(head, "\"Slurm\"") || strstr(head, "\"slurm\"") ? 95 : 0;
    }
    return dls_csv_sniff(src->text, src->len, '|', "JobID,Submit,Start,End") ? 95 : 0;
}

const dls_trace_format dls_trace_format_sacct = {
    .name = "sacct",
    .summary = "Slurm's accounting: sacct --parsable2 --allocations --allusers, or --json",
    .sniff = sniff,
    .read = read_sacct,
};
