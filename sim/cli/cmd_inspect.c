/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim inspect: what a results file holds; its jobs; the life of one job.
 */
#include "base/alloc.h"
#include "base/printable.h"
#include "cli/command.h"
#include "results/json_out.h"
#include "results/read.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

typedef struct request {
    const char *run_id, *job_id;
    bool jobs, config, json;
    int64_t n_jobs; /* 0: all */
} request;

/* ---- jobs ------------------------------------------------------------------------------------ */

typedef struct job_row {
    const dls_run_jobs *jobs;
    const dls_record *rec;
    size_t j;
} job_row;

static double seconds(int64_t us)
{
    return us < 0 ? -1 : (double)us / (double)DLS_US_PER_S;
}

static const char *state_name(const dls_record *rec, size_t j)
{
    const char *name = dls_state_name(rec->state[j]);
    return name ? name : "?";
}

/* The jobs' columns by name; times in seconds, -1 where there is none. */
static json_object *job_json(const job_row *r)
{
    const size_t j = r->j;
    json_object *obj = json_object_new_object();
    const char *outcome = dls_outcome_name(r->jobs->outcome[j]);
    dls_json_text(obj, "id", dls_run_job_id(r->jobs, j));
    dls_json_int(obj, "gpus", r->jobs->gpus[j]);
    dls_json_text(obj, "state", state_name(r->rec, j));
    dls_json_text(obj, "outcome", outcome ? outcome : "?");
    const struct {
        const char *name;
        int64_t us;
    } times[] = {
        {"submit_s", r->jobs->submit_us[j]},    {"duration_s", r->jobs->duration_us[j]},
        {"start_s", r->rec->start_us[j]},       {"end_s", r->rec->end_us[j]},
        {"pending_s", r->rec->pending_us[j]},   {"executed_s", r->rec->executed_us[j]},
        {"overhead_s", r->rec->overhead_us[j]},
    };
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        dls_json_real(obj, times[i].name, seconds(times[i].us));
    }
    dls_json_int(obj, "preempts", r->rec->preempts[j]);
    dls_json_int(obj, "resumes", r->rec->resumes[j]);
    dls_json_int(obj, "promotes", r->rec->promotes[j]);
    return obj;
}

static void print_job_head(void)
{
    printf("%-34s %5s %12s %12s %12s %12s %12s %9s  %s\n", "id", "gpus", "submit_s", "duration_s",
           "start_s", "end_s", "pending_s", "preempts", "state");
}

static void print_job(const job_row *r)
{
    const size_t j = r->j;
    char id[DLS_PRINTABLE_BYTES];
    printf("%-34s %5" PRId32 " %12.10g %12.10g %12.10g %12.10g %12.10g %9" PRId32 "  %s\n",
           dls_printable(dls_run_job_id(r->jobs, j), id), r->jobs->gpus[j],
           seconds(r->jobs->submit_us[j]), seconds(r->jobs->duration_us[j]),
           seconds(r->rec->start_us[j]), seconds(r->rec->end_us[j]), seconds(r->rec->pending_us[j]),
           r->rec->preempts[j], state_name(r->rec, j));
}

static dls_status show_jobs(const request *req, const dls_run_jobs *jobs, const dls_record *rec,
                            dls_error *err)
{
    size_t n = jobs->n;
    if (req->n_jobs > 0 && (uint64_t)req->n_jobs < n) {
        n = (size_t)req->n_jobs;
    }
    json_object *list = req->json ? json_object_new_array() : NULL;
    if (!req->json) {
        print_job_head();
    }
    for (size_t j = 0; j < n; j++) {
        const job_row row = {jobs, rec, j};
        if (req->json) {
            json_object_array_add(list, job_json(&row));
        } else {
            print_job(&row);
        }
    }
    if (req->json) {
        return dls_json_print(stdout, list, err);
    }
    if (n < jobs->n) {
        fprintf(stderr, "dlsim: %zu of %zu jobs shown\n", n, jobs->n);
    }
    return DLS_OK;
}

/* ---- one job --------------------------------------------------------------------------------- */

static json_object *alloc_json(const dls_alloc_rows *a, size_t i)
{
    json_object *obj = json_object_new_object();
    dls_json_real(obj, "start_s", seconds(a->start_us[i]));
    dls_json_real(obj, "end_s", seconds(a->end_us[i]));
    dls_json_int(obj, "node", a->node[i]);
    dls_json_int(obj, "gpus", a->gpus[i]);
    json_object_object_add(obj, "gpu_mask", json_object_new_uint64(a->gpu_mask[i]));
    dls_json_real(obj, "rate", (double)a->rate[i]);
    return obj;
}

static void print_alloc(const dls_alloc_rows *a, size_t i)
{
    char end[32];
    snprintf(end, sizeof end, "%.10g", seconds(a->end_us[i]));
    printf("  %12.10g s .. %12s s  ", seconds(a->start_us[i]), a->end_us[i] < 0 ? "?" : end);
    if (a->node[i] < 0) {
        printf("%" PRId32 " GPUs", a->gpus[i]);
    } else {
        printf("node %" PRId32 ", GPUs", a->node[i]);
        for (int g = 0; g < 64; g++) {
            if (a->gpu_mask[i] >> g & 1) {
                printf(" %d", g);
            }
        }
    }
    if (a->rate[i] > 0) {
        printf(", rate %.4g\n", (double)a->rate[i]);
    } else {
        puts(", restoring");
    }
}

static dls_status print_life(const dls_run *run, const job_row *row, dls_error *err)
{
    print_job_head();
    print_job(row);
    static const char *const dicts[] = {"model", "vc", "user"};
    for (size_t d = 0; d < sizeof dicts / sizeof dicts[0]; d++) {
        char *name = NULL;
        DLS_TRY(dls_run_read_name(run, dicts[d], row->j, &name, err));
        if (*name) {
            char buf[DLS_PRINTABLE_BYTES];
            printf("%s: %s\n", dicts[d], dls_printable(name, buf));
        }
        dls_free(name);
    }
    const dls_alloc_rows *a = &row->rec->allocs;
    puts(a->n ? "allocations:" : "allocations were not recorded");
    for (size_t i = 0; i < a->n; i++) {
        if ((size_t)a->job[i] == row->j) {
            print_alloc(a, i);
        }
    }
    return DLS_OK;
}

static dls_status show_job(const request *req, const dls_run *run, const dls_run_jobs *jobs,
                           const dls_record *rec, dls_error *err)
{
    job_row row = {jobs, rec, 0};
    while (row.j < jobs->n && strcmp(dls_run_job_id(jobs, row.j), req->job_id) != 0) {
        row.j++;
    }
    if (row.j == jobs->n) {
        return dls_fail(err, DLS_EINPUT, NULL, "run '%s' has no job '%s' (--jobs lists them)",
                        dls_run_id(run), req->job_id);
    }
    if (!req->json) {
        return print_life(run, &row, err);
    }
    json_object *obj = job_json(&row), *list = json_object_new_array();
    for (size_t i = 0; i < rec->allocs.n; i++) {
        if ((size_t)rec->allocs.job[i] == row.j) {
            json_object_array_add(list, alloc_json(&rec->allocs, i));
        }
    }
    json_object_object_add(obj, "allocations", list);
    return dls_json_print(stdout, obj, err);
}

static dls_status show_rows(const request *req, const dls_run *run, dls_error *err)
{
    dls_run_jobs jobs;
    dls_record *rec = NULL;
    DLS_TRY(dls_run_read_jobs(run, &jobs, err));
    dls_status status = dls_run_read_record(run, req->job_id != NULL, false, &rec, err);
    DLS_THEN(status,
             req->job_id ? show_job(req, run, &jobs, rec, err) : show_jobs(req, &jobs, rec, err));
    dls_record_destroy(rec);
    dls_run_jobs_fini(&jobs);
    return status;
}

/* ---- a whole run ----------------------------------------------------------------------------- */

static json_object *run_json(const dls_run *run)
{
    json_object *obj = json_object_new_object(), *attrs = json_object_new_object();
    dls_json_text(obj, "run", dls_run_id(run));
    for (size_t i = 0; i < dls_run_n_attrs(run); i++) {
        const char *name = dls_run_attr_name(run, i);
        dls_json_text(attrs, name, dls_run_attr(run, name));
    }
    json_object_object_add(obj, "attributes", attrs);
    json_object_object_add(obj, "jobs", json_object_new_uint64(dls_run_n_jobs(run)));
    json_object_object_add(obj, "allocations", json_object_new_uint64(dls_run_n_allocs(run)));
    json_object_object_add(obj, "series", json_object_new_uint64(dls_run_n_series(run)));
    json_object_object_add(obj, "summary", dls_json_summary(dls_run_summary(run)));
    return obj;
}

static void print_run(const dls_run *run)
{
    char name[DLS_PRINTABLE_BYTES], value[DLS_PRINTABLE_BYTES];
    printf("run %s\n", dls_printable(dls_run_id(run), name));
    for (size_t i = 0; i < dls_run_n_attrs(run); i++) {
        const char *attr = dls_run_attr_name(run, i), *text = dls_run_attr(run, attr);
        const char *shown = dls_printable(attr, name);
        if (strchr(text, '\n')) {
            size_t lines = 0;
            for (const char *p = text; *p; p++) {
                lines += *p == '\n';
            }
            printf("  %-20s (%zu lines%s)\n", shown, lines,
                   strcmp(attr, "config_text") == 0 ? ", see --config" : "");
        } else if (*text) {
            printf("  %-20s %s\n", shown, dls_printable(text, value));
        }
    }
    printf("  %-20s %zu jobs, %zu allocations, %zu points of the series\n\n", "rows",
           dls_run_n_jobs(run), dls_run_n_allocs(run), dls_run_n_series(run));
    dls_summary_print(stdout, dls_run_summary(run), true);
}

static dls_status show_runs(const request *req, const dls_results *file, dls_error *err)
{
    const size_t n = dls_results_n_runs(file);
    json_object *list = req->json ? json_object_new_array() : NULL;
    dls_status status = DLS_OK;
    for (size_t i = 0; i < n && status == DLS_OK; i++) {
        const char *id = dls_results_run_id(file, i);
        if (req->run_id && strcmp(id, req->run_id) != 0) {
            continue;
        }
        dls_run *run = NULL;
        status = dls_run_open(file, id, &run, err);
        DLS_THEN(status, dls_run_verify(run, err));
        if (status == DLS_OK && req->json) {
            json_object_array_add(list, run_json(run));
        } else if (status == DLS_OK) {
            printf("%s", i > 0 && !req->run_id ? "\n" : "");
            print_run(run);
        }
        dls_run_close(run);
    }
    if (req->json && status == DLS_OK) {
        status = dls_json_print(stdout, list, err);
    } else {
        json_object_put(list);
    }
    return status;
}

static dls_status inspect(const char *path, const request *req, dls_error *err)
{
    dls_results *file = NULL;
    dls_run *run = NULL;
    DLS_TRY(dls_results_open(path, &file, err));
    dls_status status = DLS_OK;
    const bool one = req->jobs || req->job_id || req->config;
    if (one || req->run_id) {
        status = dls_run_open(file, req->run_id, &run, err);
        DLS_THEN(status, dls_run_verify(run, err));
    }
    if (status == DLS_OK && req->config) {
        for (const char *p = dls_run_attr(run, "config_text"); *p; p++) {
            putchar(iscntrl((unsigned char)*p) && *p != '\n' && *p != '\t' ? '?' : *p);
        }
    } else if (status == DLS_OK) {
        status = one ? show_rows(req, run, err) : show_runs(req, file, err);
    }
    dls_run_close(run);
    dls_results_close(file);
    return status;
}

static dls_status run(void *user, dls_call *call, dls_error *err)
{
    request *req = user;
    req->jobs = dls_call_gave(call, "jobs");
    return inspect(call->word[0], req, err);
}

static const dls_arg args[] = {
    DLS_TEXT(request, run_id, "run", 0, "ID", "only the run ID"),
    {.type = DLS_ARG_INT,
     .name = "jobs",
     .metavar = "N",
     .optional = true,
     DLS_MEMBER(request, n_jobs),
     .most = INT64_MAX,
     .help = "list the first N jobs instead; 0: all"},
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
