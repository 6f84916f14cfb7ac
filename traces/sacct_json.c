/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Slurm's accounting as JSON becomes the table that `sacct -P` prints, so that both have one
 * reader.
 */
#include "traces/sacct_json.h"

#include "base/csv.h"
#include "base/file.h"
#include "base/own.h"
#include "traces/walk.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A member that is a number, or since 23.02 {"set": true, "infinite": false, "number": 60}; *out
 * stays as it is where it is not set. */
static dls_status number(const dls_walk *w, json_object *of, const char *name, const char *what,
                         int64_t *out, dls_error *err)
{
    json_object *member = NULL;
    if (!json_object_object_get_ex(of, name, &member) ||
        !json_object_is_type(member, json_type_object)) {
        return dls_walk_number(w, of, name, what, 0, 0, INT64_C(1) << 53, out, err);
    }
    if (json_object_get_boolean(json_object_object_get(member, "infinite")) ||
        !json_object_get_boolean(json_object_object_get(member, "set"))) {
        return DLS_OK;
    }
    return dls_walk_number(w, member, "number", what, 0, 0, INT64_C(1) << 53, out, err);
}

/* A member that is a string; "" for anything else. */
static const char *text_in(json_object *of, const char *name)
{
    json_object *member = json_object_object_get(of, name);
    return json_object_is_type(member, json_type_string) ? json_object_get_string(member) : "";
}

/* "COMPLETED", or since 23.02 ["COMPLETED"]. */
static const char *state_of(json_object *job)
{
    json_object *state = json_object_object_get(job, "state");
    json_object *current = json_object_object_get(state, "current");
    if (json_object_is_type(current, json_type_array)) {
        current = json_object_array_get_idx(current, 0);
    }
    return json_object_is_type(current, json_type_string) ? json_object_get_string(current) : "";
}

/* ---- the table ------------------------------------------------------------------------------- */

static const char header[] =
    "JobID|Submit|Eligible|Start|End|ElapsedRaw|TimelimitRaw|NNodes|NCPUS|Priority|Restarts|Flags|"
    "ReqTRES|AllocTRES|User|Account|Partition|QOS|State|NodeList|Reservation|SubmitLine|JobName";

typedef struct table {
    char *text;
    size_t n, cap, line;
    const char *counted; /* of the file: up to here `lines` */
    size_t lines;
} table;

static dls_status add_text(table *t, const char *s, size_t len, dls_error *err)
{
    DLS_TRY(dls_grow(&t->text, &t->cap, t->n + len + 1, 1, err));
    memcpy(t->text + t->n, s, len);
    t->n += len;
    t->text[t->n] = '\0';
    return DLS_OK;
}

/* What parts cells and lines of the table becomes '_'; cells are cut where they would be refused.
 */
static dls_status add_cell(table *t, const char *s, dls_error *err)
{
    const size_t from = t->n, len = strlen(s);
    DLS_TRY(add_text(t, "|", 1, err));
    DLS_TRY(add_text(t, s, len < DLS_CSV_MAX_CELL ? len : DLS_CSV_MAX_CELL - 1, err));
    for (char *p = t->text + from + 1; (p = strpbrk(p, "|\r\n"));) {
        *p = '_';
    }
    return DLS_OK;
}

/* least: below it the cell is empty. */
static dls_status add_number(table *t, int64_t value, int64_t least, dls_error *err)
{
    char text[32] = "";
    if (value >= least) {
        snprintf(text, sizeof text, "%" PRId64, value);
    }
    return add_cell(t, text, err);
}

/* Of a list of {"type", "name", "count"} what is read of "cpu=4,gres/gpu:a100=8,mem=500M"; *cpus: 0
 * if not told. */
static dls_status tres_of(const dls_walk *w, json_object *job, const char *which, char *out,
                          size_t size, int64_t *cpus, dls_error *err)
{
    json_object *list = json_object_object_get(json_object_object_get(job, "tres"), which);
    size_t n = 0;
    *cpus = 0;
    out[0] = '\0';
    for (size_t i = 0;
         json_object_is_type(list, json_type_array) && i < json_object_array_length(list); i++) {
        json_object *tres = json_object_array_get_idx(list, i);
        const char *type = text_in(tres, "type"), *name = text_in(tres, "name");
        const bool gpu =
            strcmp(type, "gres") == 0 && strncmp(name, "gpu", 3) == 0 && strchr(":", name[3]);
        const bool cpu = strcmp(type, "cpu") == 0, mem = strcmp(type, "mem") == 0;
        int64_t count = DLS_ABSENT;
        if (!gpu && !cpu && !mem) {
            continue; /* energy and others may be of any sign */
        }
        DLS_TRY(number(w, tres, "count", "a count", &count, err));
        *cpus = cpu && count > 0 ? count : *cpus;
        if (count > 0 && n < size) {
            n += (size_t)snprintf(out + n, size - n, "%s%s%s%.60s=%" PRId64 "%s", n ? "," : "",
                                  type, gpu ? "/" : "", gpu ? name : "", count, mem ? "M" : "");
        }
    }
    return DLS_OK;
}

/* "12", "12_3" of an array, "12+3" of a heterogeneous job. */
static dls_status add_id(const dls_walk *w, json_object *job, table *t, dls_error *err)
{
    static const struct {
        const char *of, *part, *sign;
    } kinds[] = {{"array", "task_id", "_"}, {"het", "job_offset", "+"}};
    int64_t id = DLS_ABSENT;
    char text[48];
    DLS_TRY(number(w, job, "job_id", "a number", &id, err));
    if (id == DLS_ABSENT) {
        return dls_walk_fail(w, err, "this job lacks 'job_id'");
    }
    snprintf(text, sizeof text, "%" PRId64, id);
    for (size_t i = 0; i < 2; i++) {
        json_object *of = json_object_object_get(job, kinds[i].of);
        int64_t whole = DLS_ABSENT, part = DLS_ABSENT;
        if (json_object_is_type(of, json_type_object)) {
            DLS_TRY(number(w, of, "job_id", "a number", &whole, err));
            DLS_TRY(number(w, of, kinds[i].part, "a number", &part, err));
        }
        if (whole > 0 && part >= 0) {
            snprintf(text, sizeof text, "%" PRId64 "%s%" PRId64, whole, kinds[i].sign, part);
        }
    }
    return add_text(t, text, strlen(text), err);
}

/* Seconds since 1970, 0 as Slurm prints it in the table; a limit in minutes. */
static dls_status add_times(const dls_walk *w, json_object *job, table *t, dls_error *err)
{
    static const char *const names[] = {"submission", "eligible", "start", "end"};
    json_object *time = json_object_object_get(job, "time");
    int64_t elapsed = DLS_ABSENT, limit = DLS_ABSENT;
    if (!json_object_is_type(time, json_type_object)) {
        return dls_walk_fail(w, err, "this job lacks 'time'");
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int64_t at = DLS_ABSENT;
        DLS_TRY(number(w, time, names[i], "seconds", &at, err));
        DLS_TRY(at > 0 ? add_number(t, at, 1, err) : add_cell(t, "Unknown", err));
    }
    DLS_TRY(number(w, time, "elapsed", "seconds", &elapsed, err));
    DLS_TRY(number(w, time, "limit", "minutes", &limit, err));
    DLS_TRY(add_number(t, elapsed, 0, err));
    return add_number(t, limit < INT64_C(1) << 30 ? limit : 0, 1, err);
}

static bool by_backfill(json_object *job)
{
    json_object *flags = json_object_object_get(job, "flags");
    for (size_t i = 0;
         json_object_is_type(flags, json_type_array) && i < json_object_array_length(flags); i++) {
        const char *flag = json_object_get_string(json_object_array_get_idx(flags, i));
        if (flag && strcmp(flag, "STARTED_ON_BACKFILL") == 0) {
            return true;
        }
    }
    return false;
}

/* In the order of the header. */
static dls_status add_job(const dls_walk *w, json_object *job, table *t, dls_error *err)
{
    int64_t nodes = DLS_ABSENT, cpus, priority = DLS_ABSENT, restarts = DLS_ABSENT, asked;
    char requested[1024], allocated[1024];
    DLS_TRY(add_id(w, job, t, err));
    DLS_TRY(add_times(w, job, t, err));
    DLS_TRY(number(w, job, "allocation_nodes", "a number of nodes", &nodes, err));
    DLS_TRY(number(w, job, "priority", "a priority", &priority, err));
    DLS_TRY(number(w, job, "restart_cnt", "a number of restarts", &restarts, err));
    DLS_TRY(tres_of(w, job, "requested", requested, sizeof requested, &asked, err));
    DLS_TRY(tres_of(w, job, "allocated", allocated, sizeof allocated, &cpus, err));
    DLS_TRY(add_number(t, nodes, 1, err));
    DLS_TRY(add_number(t, cpus, 1, err));
    DLS_TRY(add_number(t, priority, 0, err));
    DLS_TRY(add_number(t, restarts, 0, err));
    const char *texts[] = {by_backfill(job) ? "SchedBackfill" : "",
                           requested,
                           allocated,
                           text_in(job, "user"),
                           text_in(job, "account"),
                           text_in(job, "partition"),
                           text_in(job, "qos"),
                           state_of(job),
                           text_in(job, "nodes"),
                           text_in(json_object_object_get(job, "reservation"), "name"),
                           text_in(job, "submit_line"),
                           text_in(job, "name")};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        DLS_TRY(add_cell(t, texts[i], err));
    }
    return DLS_OK;
}

/* A row stands in the line that its job ends in, if no other does, so that messages name it. */
static dls_status add_row(void *user, dls_walk *w, json_object *job, dls_error *err)
{
    table *t = user;
    for (; (t->counted = memchr(t->counted, '\n', (size_t)(w->at - t->counted))); t->counted++) {
        t->lines++;
    }
    t->counted = w->at;
    do {
        DLS_TRY(add_text(t, "\n", 1, err));
    } while (++t->line < t->lines);
    return add_job(w, job, t, err);
}

static dls_status read_all(dls_walk *w, table *t, dls_error *err)
{
    bool found = false;
    DLS_TRY(dls_walk_enter(w, '{', err));
    for (bool more;;) {
        char key[DLS_WALK_TEXT];
        DLS_TRY(dls_walk_key(w, key, &more, err));
        if (!more) {
            break;
        }
        if (strcmp(key, "jobs") == 0) {
            found = true;
            DLS_TRY(dls_walk_objects(w, add_row, t, err));
        } else {
            DLS_TRY(dls_walk_skip(w, err));
        }
    }
    DLS_TRY(dls_walk_end(w, err));
    return found ? add_text(t, "\n", 1, err)
                 : dls_fail(err, DLS_EINPUT, w->src->path, "has no list 'jobs'");
}

bool dls_sacct_is_json(const char *text)
{
    return text[strspn(text, " \t\r\n")] == '{';
}

static void table_fini(table *t)
{
    dls_free(t->text);
}

dls_status dls_sacct_table(const dls_trace_source *src, char **text, size_t *len, dls_error *err)
{
    DLS_OWN(dls_walk_fini) dls_walk w = {0};
    DLS_OWN(table_fini) table t = {.line = 1, .counted = src->text, .lines = 1};
    DLS_TRY(dls_walk_init(&w, src, err));
    w.p = src->text;
    DLS_TRY(add_text(&t, header, sizeof header - 1, err));
    DLS_TRY(read_all(&w, &t, err));
    *len = t.n;
    *text = dls_take(&t.text);
    return DLS_OK;
}

dls_status dls_sacct_text(const char *path, char **text, size_t *len, dls_error *err)
{
    static const dls_trace_options none;
    DLS_TRY(dls_file_read_plain(path, DLS_FILE_TRACE, text, len, err));
    const char *begin = dls_past_mark(*text);
    *len -= (size_t)(begin - *text);
    memmove(*text, begin, *len + 1);
    if (!dls_sacct_is_json(*text)) {
        return DLS_OK;
    }
    DLS_FREED char *json = *text;
    const dls_trace_source src = {path, json, *len, &none};
    *text = NULL;
    return dls_sacct_table(&src, text, len, err);
}

dls_status dls_sacct_rows(const dls_trace_source *sacct, const char *const *names, int n,
                          int n_required, dls_csv_row_fn row, void *user, dls_error *err)
{
    DLS_OWN(dls_csv_fini) dls_csv csv = {0};
    dls_csv_init(&csv, sacct->path, sacct->text, sacct->len, '|');
    csv.any_cells = true;
    return dls_csv_read(&csv, names, n, n_required, row, user, err);
}
