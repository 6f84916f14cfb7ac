/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim export: a run in the format of another program.
 */
#include "base/units.h"
#include "cli/export_tables.h"
#include "cli/replay.h"

#include <math.h>
#include <string.h>

typedef struct request {
    dls_table_options out;
    const char *run_id;
    dls_table table;
    double from_s, until_s;
    bool perfetto, arrow, csv, batsim, swf;
} request;

typedef struct job {
    const request *r;
    const dls_saved *run;
    dls_perfetto span;
    size_t rows;
} job;

static dls_status put(FILE *to, void *what, dls_error *err)
{
    job *e = what;
    if (e->r->perfetto) {
        return dls_export_perfetto(to, e->run, &e->span, err);
    }
    if (e->r->arrow) {
        return dls_export_arrow(to, e->run, e->r->table, &e->rows, err);
    }
    e->rows = e->r->csv      ? dls_export_csv(to, e->run, e->r->table)
              : e->r->batsim ? dls_export_batsim(to, e->run)
                             : dls_export_swf(to, e->run);
    return DLS_OK;
}

/* Not every run has every table. */
static dls_status check_table(const request *r, const dls_saved *run, dls_error *err)
{
    dls_result_column first;
    return !(r->csv || r->arrow) || dls_saved_column_at(run, r->table, 0, &first)
               ? DLS_OK
               : dls_fail(err, DLS_EINPUT, NULL, "the run has no such table");
}

static dls_status run(dls_call *call, dls_error *err)
{
    const request *r = call->request;
    const dls_table_options *o = &r->out;
    DLS_HOLD(dls_saved_close) dls_saved *saved = NULL;
    job e = {.r = r, .span = {dls_units_us(r->from_s), dls_units_us(r->until_s), 0, 0}};
    if (r->perfetto + r->arrow + r->csv + r->batsim + r->swf != 1) {
        return dls_fail(err, DLS_EUSAGE, NULL,
                        "say in which format: --csv, --arrow, --batsim, --swf or --perfetto");
    }
    if (r->until_s <= r->from_s) {
        return dls_fail(err, DLS_EUSAGE, NULL, "--until is not behind --from");
    }
    DLS_TRY(dls_export_open(call->word[0], r->run_id, &saved, err));
    e.run = saved;
    DLS_TRY(check_table(r, saved, err));
    DLS_TRY(dls_table_put(o, put, &e, err));
    const bool tell = !o->quiet && o->output && strcmp(o->output, "-") != 0;
    if (tell && r->perfetto) {
        fprintf(stderr, "%s: %zu slices, %zu counter values\n", o->output, e.span.slices,
                e.span.counters);
    } else if (tell) {
        fprintf(stderr, "%s: %zu rows\n", o->output, e.rows);
    }
    return DLS_OK;
}

static const dls_arg args[] = {
    DLS_SWITCH(request, csv, "csv", 0, "a table as CSV: every column, names in place of codes"),
    DLS_SWITCH(request, arrow, "arrow", 0,
               "a table as an Arrow IPC file, for pandas, Polars, DuckDB"),
    DLS_CHOICE(request, table, "table", 0, "jobs|allocations|series|starts|world", "which one", .of = "--csv, --arrow"),
    DLS_SWITCH(request, batsim, "batsim", 0, "the jobs that ended as Batsim's jobs.csv"),
    DLS_SWITCH(request, swf, "swf", 0, "the jobs in the Standard Workload Format"),
    DLS_SWITCH(request, perfetto, "perfetto", 0, "Trace Event JSON, for a trace viewer"),
    DLS_TEXT(request, run_id, "run", 0, "ID", "which run, if the file holds several"),
    DLS_TIME(request, from_s, "from", 0, 0, (double)INFINITY,
             "only from this simulated time on, e.g. 2d", .of = "--perfetto"),
    DLS_TIME(request, until_s, "until", 0, 0, (double)INFINITY,
             "only until this simulated time", .of = "--perfetto"),
    DLS_INCLUDE(request, out, dls_table_args),
    DLS_ARGS_END};

const dls_command dls_command_export = {
    .name = "export",
    .summary = "a run for other programs: CSV, Arrow, Batsim, SWF, a trace viewer",
    .usage = "--csv|--arrow|--batsim|--swf|--perfetto RUN.h5 [OPTION]...",
    .about = "Write a run for other programs. --csv and --arrow give a table as it is in the "
             "results file; times are microseconds. --perfetto is for a trace viewer: open the "
             "file in ui.perfetto.dev or "
             "chrome://tracing. Jobs are slices on the GPUs that they hold, the cluster's state "
             "over time is counters.",
    .args = args,
    .words = "one results file",
    .size = sizeof(request),
    .initial = &(const request){.until_s = (double)INFINITY},
    .run = run,
};
