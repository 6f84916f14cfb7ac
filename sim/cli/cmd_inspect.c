/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim inspect: what a results file holds; its jobs; the life of one job.
 */
#include "base/json.h"
#include "base/printable.h"
#include "cli/command.h"
#include "cli/export_tables.h"
#include "dlsim/memory.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

typedef struct request {
    const char *run_id, *job_id;
    bool jobs, config, json;
    int64_t n_jobs; /* 0: all */
} request;

/* ---- rows ------------------------------------------------------------------------------------ */

typedef struct shown {
    const char *column; /* a time is called "_s" and given in seconds, -1 where there is none */
    int width;          /* in the table for people; 0: it is in JSON alone */
} shown;

static const shown of_job[] = {
    {"gpus", 5},        {"submit_us", 12},  {"duration_us", 12}, {"start_us", 12}, {"end_us", 12},
    {"executed_us", 0}, {"pending_us", 12}, {"overhead_us", 0},  {"resumes", 0},   {"promotes", 0},
    {"preempts", 9},    {"outcome", 0},     {"state", 11},       {NULL, 0}};
static const shown of_alloc[] = {{"start_us", 0}, {"end_us", 0}, {"node", 0}, {"gpus", 0},
                                 {"gpu_mask", 0}, {"rate", 0},   {NULL, 0}};

/* "start_us" is a time: "start_s" into name. */
static bool is_time(const char *column, char name[32])
{
    const size_t n = strlen(column);
    const bool time = n > 3 && strcmp(column + n - 3, "_us") == 0;
    snprintf(name, 32, "%.*s%s", (int)(time ? n - 3 : n), column, time ? "_s" : "");
    return time;
}

/* The columns of a row that the table has, into obj, which is returned. */
static json_object *put_row(json_object *obj, const dls_saved *run, dls_table table,
                            const shown *columns, size_t row)
{
    for (const shown *s = columns; s->column; s++) {
        char name[32];
        dls_result_column c;
        if (!dls_saved_column(run, table, s->column, &c)) {
            continue;
        }
        if (c.type == DLS_VALUE_F32) {
            dls_json_real(obj, s->column, (double)((const float *)c.data)[row]);
            continue;
        }
        const int64_t value = dls_export_at(&c, row);
        if (is_time(s->column, name)) {
            dls_json_real(obj, name, value < 0 ? -1 : (double)value / (double)DLS_US_PER_S);
        } else if (dls_saved_name(run, c.name, 0)) {
            const char *word = dls_saved_name(run, c.name, (uint32_t)value);
            dls_json_text(obj, name, word ? word : "?");
        } else if (c.type == DLS_VALUE_U64) {
            json_object_object_add(obj, name, json_object_new_uint64((uint64_t)value));
        } else {
            dls_json_int(obj, name, value);
        }
    }
    return obj;
}

/* ---- jobs ------------------------------------------------------------------------------------ */

static json_object *job_row(const dls_saved *run, size_t job)
{
    json_object *obj = json_object_new_object();
    dls_json_text(obj, "id", dls_saved_id(run, job));
    return put_row(obj, run, DLS_TABLE_JOBS, of_job, job);
}

static void print_heads(void)
{
    printf("%-34s", "id");
    for (const shown *s = of_job; s->column; s++) {
        char name[32];
        is_time(s->column, name);
        if (s->width) {
            printf(" %*s", s->width, name);
        }
    }
    putchar('\n');
}

/* ENOMEM: the row lacks something, as there was no memory for it. */
static dls_status print_job(json_object *row, dls_error *err)
{
    const char *value = json_object_get_string(json_object_object_get(row, "id"));
    if (value) {
        dls_printable_cell(stdout, value, 34);
    }
    for (const shown *s = of_job; s->column && value; s++) {
        char name[32];
        is_time(s->column, name);
        if (s->width && (value = json_object_get_string(json_object_object_get(row, name)))) {
            printf(" %*s", s->width, value);
        }
    }
    if (!value) {
        return dls_nomem(err, "a job's row", 0);
    }
    putchar('\n');
    return DLS_OK;
}

static dls_status show_jobs(const request *req, const dls_saved *run, dls_error *err)
{
    const size_t all = dls_saved_rows(run, DLS_TABLE_JOBS);
    const size_t n = req->n_jobs > 0 && (uint64_t)req->n_jobs < all ? (size_t)req->n_jobs : all;
    if (req->json) {
        json_object *list = json_object_new_array();
        for (size_t j = 0; j < n; j++) {
            json_object_array_add(list, job_row(run, j));
        }
        return dls_json_print(stdout, list, err);
    }
    print_heads();
    for (size_t j = 0; j < n; j++) {
        DLS_HOLD(json_object_put) json_object *row = job_row(run, j);
        DLS_TRY(print_job(row, err));
    }
    if (n < all) {
        fprintf(stderr, "dlsim: %zu of %zu jobs shown\n", n, all);
    }
    return DLS_OK;
}

static void print_alloc(json_object *row)
{
    const int64_t node = json_object_get_int64(json_object_object_get(row, "node"));
    const uint64_t mask = json_object_get_uint64(json_object_object_get(row, "gpu_mask"));
    const double rate = json_object_get_double(json_object_object_get(row, "rate"));
    const char *end = json_object_get_string(json_object_object_get(row, "end_s"));
    printf("  %12s s .. %12s s  ", json_object_get_string(json_object_object_get(row, "start_s")),
           strcmp(end, "-1") == 0 ? "?" : end);
    if (node < 0) {
        printf("%s GPUs", json_object_get_string(json_object_object_get(row, "gpus")));
    } else {
        printf("node %" PRId64 ", GPUs", node);
        for (int g = 0; g < 64; g++) {
            if (mask >> g & 1) {
                printf(" %d", g);
            }
        }
    }
    printf(rate > 0 ? ", rate %.4g\n" : ", restoring\n", rate);
}

static dls_status print_life(const dls_saved *run, size_t job, json_object *row,
                             json_object *allocs, dls_error *err)
{
    static const char *const dicts[] = {"model", "vc", "user"};
    print_heads();
    DLS_TRY(print_job(row, err));
    for (size_t d = 0; d < sizeof dicts / sizeof *dicts; d++) {
        char buf[DLS_PRINTABLE_BYTES];
        dls_result_column c;
        const int64_t code =
            dls_saved_column(run, DLS_TABLE_JOBS, dicts[d], &c) ? dls_export_at(&c, job) : -1;
        if (code >= 0) {
            printf("%s: %s\n", dicts[d],
                   dls_printable(dls_saved_name(run, dicts[d], (uint32_t)code), buf));
        }
    }
    puts(dls_saved_rows(run, DLS_TABLE_ALLOCATIONS) ? "allocations:"
                                                    : "allocations were not recorded");
    for (size_t i = 0; i < json_object_array_length(allocs); i++) {
        print_alloc(json_object_array_get_idx(allocs, i));
    }
    return DLS_OK;
}

static dls_status show_job(const request *req, const dls_saved *run, dls_error *err)
{
    const size_t n = dls_saved_rows(run, DLS_TABLE_JOBS);
    dls_result_column of;
    size_t job = 0;
    while (job < n && strcmp(dls_saved_id(run, job), req->job_id) != 0) {
        job++;
    }
    if (job == n) {
        return dls_fail(err, DLS_EINPUT, NULL, "the run has no job '%s' (--jobs lists them)",
                        req->job_id);
    }
    DLS_HOLD(json_object_put) json_object *row = job_row(run, job);
    json_object *allocs = dls_json_list(row, "allocations");
    const bool recorded = dls_saved_column(run, DLS_TABLE_ALLOCATIONS, "job", &of);
    for (size_t i = 0; recorded && i < of.n; i++) {
        if (dls_export_at(&of, i) == (int64_t)job) {
            put_row(dls_json_next(allocs), run, DLS_TABLE_ALLOCATIONS, of_alloc, i);
        }
    }
    return req->json ? dls_json_print(stdout, dls_take(&row), err)
                     : print_life(run, job, row, allocs, err);
}

/* ---- a whole run ----------------------------------------------------------------------------- */

static dls_status add_run(dls_saved *run, const char *id, json_object *list, dls_error *err)
{
    const char *report, *name;
    DLS_TRY(dls_saved_report(run, true, &report, err));
    json_object *obj = dls_json_next(list);
    dls_json_text(obj, "run", id);
    json_object *attrs = dls_json_object(obj, "attributes");
    for (size_t i = 0; (name = dls_saved_attribute(run, i)); i++) {
        dls_json_text(attrs, name, dls_saved_text(run, name));
    }
    DLS_JSON(obj, "jobs", (int64_t)dls_saved_rows(run, DLS_TABLE_JOBS), "allocations",
             (int64_t)dls_saved_rows(run, DLS_TABLE_ALLOCATIONS), "series",
             (int64_t)dls_saved_rows(run, DLS_TABLE_SERIES));
    json_object_object_add(obj, "summary", json_tokener_parse(report));
    return DLS_OK;
}

static dls_status print_run(dls_saved *run, const char *id, dls_error *err)
{
    char name[DLS_PRINTABLE_BYTES], value[DLS_PRINTABLE_BYTES];
    const char *attr, *report;
    DLS_TRY(dls_saved_report(run, false, &report, err));
    printf("run %s\n", dls_printable(id, name));
    for (size_t i = 0; (attr = dls_saved_attribute(run, i)); i++) {
        const char *text = dls_saved_text(run, attr);
        const char *shown_name = dls_printable(attr, name);
        if (strchr(text, '\n')) {
            size_t lines = 0;
            for (const char *p = text; *p; p++) {
                lines += *p == '\n';
            }
            printf("  %-20s (%zu lines%s)\n", shown_name, lines,
                   strcmp(attr, "config_text") == 0 ? ", see --config" : "");
        } else if (*text) {
            printf("  %-20s %s\n", shown_name, dls_printable(text, value));
        }
    }
    printf("  %-20s %zu jobs, %zu allocations, %zu points of the series\n\n%s", "rows",
           dls_saved_rows(run, DLS_TABLE_JOBS), dls_saved_rows(run, DLS_TABLE_ALLOCATIONS),
           dls_saved_rows(run, DLS_TABLE_SERIES), report);
    return DLS_OK;
}

/* The run that is asked for, or all of the file, one after the other. */
static dls_status show_runs(const request *req, const char *path, dls_error *err)
{
    DLS_HOLD(dls_saved_close) dls_saved *saved = NULL;
    DLS_HOLD(json_object_put) json_object *list = req->json ? json_object_new_array() : NULL;
    DLS_TRY(dls_saved_open(path, req->run_id, &saved, err));
    for (size_t i = 0; i == 0 || (!req->run_id && dls_saved_run(saved, i)); i++) {
        const char *id = req->run_id ? req->run_id : dls_saved_run(saved, i);
        DLS_TRY(i ? dls_saved_turn(saved, id, err) : DLS_OK);
        fputs(list || i == 0 ? "" : "\n", stdout);
        DLS_TRY(list ? add_run(saved, id, list, err) : print_run(saved, id, err));
    }
    return list ? dls_json_print(stdout, dls_take(&list), err) : DLS_OK;
}

static dls_status run(dls_call *call, dls_error *err)
{
    request *req = call->request;
    req->jobs = dls_call_gave(call, "jobs");
    if (req->jobs + (req->job_id != NULL) + req->config > 1 || (req->config && req->json)) {
        return dls_fail(err, DLS_EUSAGE, NULL, "one of --jobs, --job and --config, --config as text");
    }
    if (!req->jobs && !req->job_id && !req->config) {
        return show_runs(req, call->word[0], err);
    }
    DLS_HOLD(dls_saved_close) dls_saved *one = NULL;
    DLS_TRY(dls_export_open(call->word[0], req->run_id, &one, err));
    if (!req->config) {
        return req->job_id ? show_job(req, one, err) : show_jobs(req, one, err);
    }
    for (const char *p = dls_saved_text(one, "config_text"); *p; p++) {
        putchar(iscntrl((unsigned char)*p) && *p != '\n' && *p != '\t' ? '?' : *p);
    }
    return DLS_OK;
}

static const dls_arg args[] = {
    DLS_TEXT(request, run_id, "run", 0, "ID", "only the run ID"),
    DLS_ARG(DLS_ROW(DLS_ARG_INT, 1, request, n_jobs, "jobs", 0, "N",
                    "list the first N jobs instead; 0: all"),
            .optional = true, .most = INT64_MAX),
    DLS_TEXT(request, job_id, "job", 0, "ID",
             "show the life of a job instead: waits, allocations, rates"),
    DLS_SWITCH(request, config, "config", 0, "print the configuration of the run instead"),
    DLS_SWITCH(request, json, "json", 0, "print JSON"),
    DLS_ARGS_END};

const dls_command dls_command_inspect = {
    .name = "inspect",
    .summary = "show what a results file holds",
    .usage = "[OPTION]... FILE.h5",
    .about = "Show what a results file holds: where each run comes from, its tables and its "
             "summary.",
    .args = args,
    .words = "a results file",
    .size = sizeof(request),
    .initial = &(const request){.n_jobs = 20},
    .run = run,
};
