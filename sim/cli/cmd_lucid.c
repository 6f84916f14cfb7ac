/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim lucid: what the published simulator of Lucid says of a trace, job by job.
 */
#include "base/alloc.h"
#include "base/csv.h"
#include "cli/replay.h"
#include "lucid/lucid.h"

#include <stdlib.h>
#include <string.h>

#define VCS_MAX 256

typedef struct request {
    const char *schedule, *vcs, *profiler, *pairs, *forecast;
    int32_t profile_s, profile_gpus;
    dls_table_options out;
} request;

/* ---- virtual clusters: NAME:NODES,NAME:NODES */

typedef struct vcs {
    char *text;
    dls_lucid_vc vc[VCS_MAX];
    int32_t n;
} vcs;

static dls_status read_vcs(const char *option, const char *from, vcs *out, dls_error *err)
{
    out->n = 0;
    out->text = dls_strdup(from);
    if (!out->text) {
        return dls_nomem(err, "virtual clusters", strlen(from));
    }
    for (char *at = out->text, *one; (one = strsep(&at, ",")) && out->n < VCS_MAX;) {
        char *colon = strrchr(one, ':'), *end = NULL;
        const long nodes = colon ? strtol(colon + 1, &end, 10) : 0;
        if (!colon || colon == one || end == colon + 1 || *end || nodes < 1 ||
            nodes > DLS_LUCID_NODES_MAX) {
            return dls_fail(err, DLS_EUSAGE, NULL, "%s: expected NAME:NODES, not '%s'", option,
                            one);
        }
        *colon = '\0';
        out->vc[out->n++] = (dls_lucid_vc){one, (int32_t)nodes};
    }
    return DLS_OK;
}

static dls_status find_profiler(const request *r, dls_lucid_cluster *c, dls_error *err)
{
    vcs lent;
    c->profiler_vc = -1;
    if (!r->profiler) {
        return DLS_OK;
    }
    dls_status status = read_vcs("--profiler", r->profiler, &lent, err);
    for (int32_t i = 0; i < c->n && status == DLS_OK; i++) {
        if (strcmp(lent.vc[0].name, c->vc[i].name) == 0 && lent.vc[0].nodes < c->vc[i].nodes) {
            c->profiler_vc = i;
            c->profiler_nodes = lent.vc[0].nodes;
        }
    }
    if (status == DLS_OK && (c->profiler_vc < 0 || lent.n != 1)) {
        status =
            dls_fail(err, DLS_EUSAGE, NULL,
                     "--profiler: expected a virtual cluster of --vcs and fewer nodes than it has");
    }
    dls_free(lent.text);
    return status;
}

/* ---- results */

static dls_status put(FILE *to, void *what, dls_error *err)
{
    (void)err;
    const dls_lucid_trace *t = what;
    fputs("job_id,start,end,queue,checkpoints,profiled,done_in_profiler,shared_at,rate,first_node,"
          "gpus_on_it\n",
          to);
    for (size_t i = 0; i < t->n; i++) {
        const dls_lucid_job *j = &t->job[i];
        dls_csv_put(to, dls_strdict_get(&t->ids, j->id));
        fprintf(to, ",%lld,%lld,%lld,%d,%d,%d,", (long long)j->start_s, (long long)j->end_s,
                (long long)j->queue_s, (int)j->checkpoints, j->profiled, j->done_in_profiler);
        if (j->shared_s >= 0) {
            fprintf(to, "%lld", (long long)j->shared_s);
        }
        fprintf(to, ",%.6g,%d,", j->rate, (int)j->first_node);
        for (uint32_t g = 0, first = 1; j->gpu_mask >> g; g++) {
            if (j->gpu_mask >> g & 1) {
                fprintf(to, first ? "%u" : "-%u", (unsigned)g);
                first = 0;
            }
        }
        fputc('\n', to);
    }
    return DLS_OK;
}

static void report(const dls_lucid_trace *t)
{
    double jct = 0, queue = 0;
    int64_t last = 0;
    size_t shared = 0;
    for (size_t i = 0; i < t->n; i++) {
        const dls_lucid_job *j = &t->job[i];
        jct += (double)(j->end_s - j->submit_s);
        queue += (double)j->queue_s;
        last = j->end_s > last ? j->end_s : last;
        shared += j->shared_s >= 0;
    }
    const double n = t->n > 0 ? (double)t->n : 1;
    fprintf(
        stderr,
        "jobs           %zu\naverage JCT    %.3f s\naverage queue  %.3f s\nlast end       %lld s\n"
        "joined others  %zu\n",
        t->n, jct / n, queue / n, (long long)last, shared);
    if (t->n_strange > 0) {
        fprintf(stderr, "pairs left out %zu, of workloads that no job has\n", t->n_strange);
    }
}

/* ---- the command */

static dls_status load(const request *r, const char *path, dls_lucid_trace *t, dls_error *err)
{
    DLS_TRY(dls_lucid_load(path, t, err));
    if (r->pairs) {
        DLS_TRY(dls_lucid_load_pairs(r->pairs, t, err));
    }
    return r->forecast ? dls_lucid_load_forecast(r->forecast, t, err) : DLS_OK;
}

static dls_status run(void *user, dls_call *call, dls_error *err)
{
    const request *r = user;
    dls_lucid_trace trace = {0};
    vcs known = {0};
    dls_lucid_cluster c = {.profile_s = r->profile_s, .profile_gpus = r->profile_gpus};
    if (!r->vcs) {
        return dls_fail(err, DLS_EUSAGE, NULL, "no virtual clusters: give --vcs=NAME:NODES,...");
    }
    DLS_TRY(dls_table_check(&r->out, err));
    dls_status status = read_vcs("--vcs", r->vcs, &known, err);
    c.vc = known.vc;
    c.n = known.n;
    DLS_THEN(status, find_profiler(r, &c, err));
    DLS_THEN(status, load(r, call->word[0], &trace, err));
    DLS_THEN(status, dls_lucid_run(&c, r->schedule, &trace, err));
    DLS_THEN(status, dls_table_put(&r->out, put, &trace, err));
    if (status == DLS_OK && !r->out.quiet) {
        report(&trace);
    }
    dls_free(known.text);
    dls_lucid_trace_fini(&trace);
    return status;
}

static const char *schedule_at(size_t i, const char **summary)
{
    *summary = dls_lucid_schedules()[i].summary;
    return dls_lucid_schedules()[i].name;
}

static const dls_arg args[] = {
    DLS_LISTED(request, schedule, "schedule", 0, schedule_at, "Schedules"),
    DLS_TEXT(request, vcs, "vcs", 0, "NAME:NODES,...", "virtual clusters, nodes of 8 GPUs"),
    DLS_TEXT(request, profiler, "profiler", 0, "NAME:NODES",
             "lucid: nodes of one of them that profile jobs first"),
    DLS_INT(request, profile_s, "profile", 0, 1, 1000000, "seconds that a job is profiled"),
    DLS_INT(request, profile_gpus, "profile-gpus", 0, 1, 4096, "GPUs of the largest job profiled"),
    DLS_TEXT(request, pairs, "pairs", 0, "FILE.csv", "lucid: measured speeds of pairs"),
    DLS_TEXT(request, forecast, "forecast", 0, "FILE.csv",
             "lucid: expected arrivals; without, jobs always share"),
    DLS_INCLUDE(request, out, dls_table_args),
    DLS_ARGS_END};

const dls_command dls_command_lucid = {
    .name = "lucid",
    .summary = "what the published simulator of Lucid and QSSF says",
    .usage = "--schedule=NAME --vcs=NAME:NODES,... JOBS.csv [OPTION]...",
    .about =
        "Replay jobs, job_id,vc,gpu_num,submit,duration and what a schedule knows of them, as the "
        "published simulator of Lucid does, defects included: when each starts and ends, how long "
        "it "
        "waited, what it shared, in the order of the file.",
    .args = args,
    .words = "one file of jobs",
    .size = sizeof(request),
    .initial = &(const request){.schedule = "lucid", .profile_s = 200, .profile_gpus = 8},
    .run = run,
};
