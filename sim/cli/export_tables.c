/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Runs of results files as tables of text.
 */
#include "cli/export_tables.h"

#include "base/csv.h"
#include "base/own.h"
#include "base/suggest.h"

#include <inttypes.h>
#include <string.h>

enum { COLUMNS_MAX = 64 };

dls_status dls_export_open(const char *path, const char *run_id, dls_saved **out, dls_error *err)
{
    DLS_HOLD(dls_saved_close) dls_saved *saved = NULL;
    DLS_TRY(dls_saved_open(path, run_id, &saved, err));
    if (!run_id && dls_saved_run(saved, 1)) {
        return dls_fail(err, DLS_EUSAGE, path, "holds several runs: --run says which");
    }
    *out = dls_take(&saved);
    return DLS_OK;
}

void dls_export_find(const dls_saved *run, dls_table table, const char *const *names, size_t n,
                     dls_result_column *c)
{
    for (size_t i = 0; i < n; i++) {
        if (!dls_saved_column(run, table, names[i], &c[i])) {
            c[i] = (dls_result_column){.name = names[i]};
        }
    }
}

int64_t dls_export_at(const dls_result_column *c, size_t row)
{
    if (!c->data) {
        return -1;
    }
    switch (c->type) {
    case DLS_VALUE_I32:
        return ((const int32_t *)c->data)[row];
    case DLS_VALUE_U32:
        return ((const uint32_t *)c->data)[row];
    case DLS_VALUE_U8:
        return ((const uint8_t *)c->data)[row];
    default:
        return ((const int64_t *)c->data)[row];
    }
}

size_t dls_export_width(dls_value_type type)
{
    return type == DLS_VALUE_U8                                                      ? 1
           : type == DLS_VALUE_I32 || type == DLS_VALUE_U32 || type == DLS_VALUE_F32 ? 4
                                                                                     : 8;
}

static void put_cell(FILE *to, const dls_saved *run, const dls_result_column *c, bool codes,
                     size_t row)
{
    if (codes) {
        const char *name = dls_saved_name(run, c->name, (uint32_t)dls_export_at(c, row));
        dls_csv_put(to, name ? name : "");
        return;
    }
    switch (c->type) {
    case DLS_VALUE_F32:
        fprintf(to, "%.9g", (double)((const float *)c->data)[row]);
        break;
    case DLS_VALUE_F64:
        fprintf(to, "%.17g", ((const double *)c->data)[row]);
        break;
    case DLS_VALUE_U64:
        fprintf(to, "%" PRIu64, ((const uint64_t *)c->data)[row]);
        break;
    default:
        fprintf(to, "%" PRId64, dls_export_at(c, row));
    }
}

bool dls_export_is_code(const char *name)
{
    static const char *const codes[] = {"state", "outcome", "model",    "vc",
                                        "user",  "class",   "gpu_types"};
    return DLS_NAMED(codes, name) < sizeof codes / sizeof *codes;
}

size_t dls_export_csv(FILE *to, const dls_saved *run, dls_table table)
{
    dls_result_column c[COLUMNS_MAX];
    const bool jobs = table == DLS_TABLE_JOBS;
    size_t n = 0;
    fputs(jobs ? "id" : "", to);
    while (n < COLUMNS_MAX && dls_saved_column_at(run, table, n, &c[n])) {
        fprintf(to, "%s%s", jobs || n > 0 ? "," : "", c[n].name);
        n++;
    }
    fputc('\n', to);
    const size_t rows = n > 0 ? c[0].n : 0;
    for (size_t row = 0; row < rows && !ferror(to); row++) {
        if (jobs) {
            dls_csv_put(to, dls_saved_id(run, row));
        }
        for (size_t i = 0; i < n; i++) {
            fputs(jobs || i > 0 ? "," : "", to);
            put_cell(to, run, &c[i], jobs && dls_export_is_code(c[i].name), row);
        }
        fputc('\n', to);
    }
    return rows;
}

/* ---- formats of others ----------------------------------------------------------------------- */

static void put_seconds(FILE *to, int64_t us)
{
    fputc(',', to);
    dls_csv_put_scaled(to, us, 6);
}

enum { SUBMIT, GPUS, START, END, LIMIT, STATE, USER, VC, MODEL, PENDING, EXECUTED, OVERHEAD, USED };

static const char *const used[USED] = {"submit_us", "gpus", "start_us", "end_us",     "limit_us",    "state",
                                       "user",      "vc",   "model",    "pending_us", "executed_us", "overhead_us"};

/* What a code means; NULL without data. */
static const char *word(const dls_saved *run, const dls_result_column *c, size_t row)
{
    return c->data ? dls_saved_name(run, c->name, (uint32_t)dls_export_at(c, row)) : NULL;
}

static bool is(const dls_saved *run, const dls_result_column *c, size_t row, const char *name)
{
    const char *text = word(run, c, row);
    return text && strcmp(text, name) == 0;
}

size_t dls_export_batsim(FILE *to, const dls_saved *run)
{
    dls_result_column c[USED];
    size_t rows = 0;
    dls_export_find(run, DLS_TABLE_JOBS, used, USED, c);
    fputs(
        "job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,"
        "success,final_state,starting_time,execution_time,finish_time,waiting_time,turnaround_time,"
        "stretch\n",
        to);
    for (size_t j = 0; j < c[SUBMIT].n && !ferror(to); j++) {
        if (!is(run, &c[STATE], j, "finished")) {
            continue;
        }
        const char *model = word(run, &c[MODEL], j);
        const int64_t submit = dls_export_at(&c[SUBMIT], j), start = dls_export_at(&c[START], j),
                      end = dls_export_at(&c[END], j);
        dls_csv_put(to, dls_saved_id(run, j));
        fputs(",dlsim,", to);
        dls_csv_put(to, model ? model : "");
        put_seconds(to, submit);
        fprintf(to, ",%" PRId64, dls_export_at(&c[GPUS], j));
        if (dls_export_at(&c[LIMIT], j) >= 0) {
            put_seconds(to, dls_export_at(&c[LIMIT], j));
        } else {
            fputs(",-1", to);
        }
        fputs(",1,COMPLETED_SUCCESSFULLY", to);
        put_seconds(to, start);
        put_seconds(to, end - start);
        put_seconds(to, end);
        put_seconds(to, start - submit);
        put_seconds(to, end - submit);
        if (end > start) {
            fprintf(to, ",%.9g\n", (double)(end - submit) / (double)(end - start));
        } else {
            fputs(",\n", to);
        }
        rows++;
    }
    return rows;
}

static int64_t whole(int64_t us)
{
    return us < 0 ? -1 : (us + 500000) / 1000000;
}

size_t dls_export_swf(FILE *to, const dls_saved *run)
{
    dls_result_column c[USED];
    dls_export_find(run, DLS_TABLE_JOBS, used, USED, c);
    fprintf(to,
            "; Version: 2.2\n; Computer: simulated by dlsim, scheduler %s\n; Note: processors are "
            "GPUs; executable numbers are models, queues virtual clusters\n; MaxJobs: %zu\n",
            dls_saved_text(run, "scheduler"), c[SUBMIT].n);
    for (size_t j = 0; j < c[SUBMIT].n && !ferror(to); j++) {
        const int64_t submit = dls_export_at(&c[SUBMIT], j), start = dls_export_at(&c[START], j);
        const bool finished = is(run, &c[STATE], j, "finished"), declined = is(run, &c[STATE], j, "declined");
        /* One that the scheduler ended has no end, but accounts until then. */
        const int64_t there = dls_export_at(&c[PENDING], j) + dls_export_at(&c[EXECUTED], j) +
                              dls_export_at(&c[OVERHEAD], j);
        const bool ended = finished || (declined && start >= 0);
        const int64_t user = dls_export_at(&c[USER], j), vc = dls_export_at(&c[VC], j),
                      model = dls_export_at(&c[MODEL], j), gpus = dls_export_at(&c[GPUS], j);
        const bool refused = declined || is(run, &c[STATE], j, "infeasible");
        const int status = finished ? 1 : refused ? 5 : -1; /* -1: when the run stopped it was not done */
        fprintf(to,
                "%zu %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " -1 -1 %" PRId64 " %" PRId64
                " -1 %d %" PRId64 " -1 %" PRId64 " %" PRId64 " -1 -1 -1\n",
                j + 1, whole(submit), start < 0 ? -1 : whole(start - submit),
                ended ? whole(submit + there - start) : -1, start < 0 ? -1 : gpus, gpus,
                whole(dls_export_at(&c[LIMIT], j)), status, user < 0 ? -1 : user + 1,
                model < 0 ? -1 : model + 1, vc < 0 ? -1 : vc + 1);
    }
    return c[SUBMIT].n;
}
