/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The replayer `lucid`: what the published simulator of Lucid says of a trace, job by job.
 */
#include "dlsim/replayer.h"

#include "base/alloc.h"
#include "base/csv.h"
#include "base/own.h"
#include "lucid/lucid.h"

#include <stdlib.h>
#include <string.h>

#define VCS_MAX 256

enum { SCHEDULE, VCS, PROFILER, PROFILE, PROFILE_GPUS, PAIRS, FORECAST };

static const dls_option options[] = {
    {"schedule", DLS_OPT_STR, 0, 0, "lucid", "NAME", "see below", NULL},
    {"vcs", DLS_OPT_STR, 0, 0, "", "NAME:NODES,...", "virtual clusters, nodes of 8 GPUs", NULL},
    {"profiler", DLS_OPT_STR, 0, 0, "", "NAME:NODES",
     "lucid: nodes of one of them that profile jobs first", NULL},
    {"profile", DLS_OPT_I64, 1, 1000000, "200", "", "seconds that a job is profiled", NULL},
    {"profile-gpus", DLS_OPT_I64, 1, 4096, "8", "", "GPUs of the largest job profiled", NULL},
    {"pairs", DLS_OPT_PATH, 0, 0, "", "FILE.csv", "lucid: measured speeds of pairs", NULL},
    {"forecast", DLS_OPT_PATH, 0, 0, "", "FILE.csv",
     "lucid: expected arrivals; without, jobs always share", NULL},
    {0}};

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

static void vcs_fini(vcs *v)
{
    dls_free(v->text);
}

static dls_status find_profiler(const char *profiler, dls_lucid_cluster *c, dls_error *err)
{
    DLS_OWN(vcs_fini) vcs lent = {0};
    c->profiler_vc = -1;
    if (!*profiler) {
        return DLS_OK;
    }
    DLS_TRY(read_vcs("--profiler", profiler, &lent, err));
    for (int32_t i = 0; i < c->n; i++) {
        if (strcmp(lent.vc[0].name, c->vc[i].name) == 0 && lent.vc[0].nodes < c->vc[i].nodes) {
            c->profiler_vc = i;
            c->profiler_nodes = lent.vc[0].nodes;
        }
    }
    return c->profiler_vc >= 0 && lent.n == 1
               ? DLS_OK
               : dls_fail(
                     err, DLS_EUSAGE, NULL,
                     "--profiler: expected a virtual cluster of --vcs and fewer nodes than it has");
}

/* ---- results */

static void write_jobs(FILE *to, const dls_lucid_trace *t)
{
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
}

static void report(FILE *to, const dls_lucid_trace *t)
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
    fprintf(to,
            "jobs           %zu\naverage JCT    %.3f s\naverage queue  %.3f s\n"
            "last end       %lld s\njoined others  %zu\n",
            t->n, jct / n, queue / n, (long long)last, shared);
    if (t->n_strange > 0) {
        fprintf(to, "pairs left out %zu, of workloads that no job has\n", t->n_strange);
    }
}

/* ---- the run */

static dls_status load(const dls_replayer_call *call, dls_lucid_trace *t, dls_error *err)
{
    const char *pairs = call->value[PAIRS].s, *forecast = call->value[FORECAST].s;
    DLS_TRY(dls_lucid_load(call->input, t, err));
    if (*pairs) {
        DLS_TRY(dls_lucid_load_pairs(pairs, t, err));
    }
    return *forecast ? dls_lucid_load_forecast(forecast, t, err) : DLS_OK;
}

static dls_status run(const dls_replayer_call *call, dls_error *err)
{
    const dls_option_value *v = call->value;
    DLS_OWN(dls_lucid_trace_fini) dls_lucid_trace trace = {0};
    DLS_OWN(vcs_fini) vcs known = {0};
    DLS_TRY(read_vcs("--vcs", v[VCS].s, &known, err));
    dls_lucid_cluster c = {.vc = known.vc,
                           .n = known.n,
                           .profile_s = (int32_t)v[PROFILE].i,
                           .profile_gpus = (int32_t)v[PROFILE_GPUS].i};
    DLS_TRY(find_profiler(v[PROFILER].s, &c, err));
    DLS_TRY(load(call, &trace, err));
    DLS_TRY(dls_lucid_run(&c, v[SCHEDULE].s, &trace, err));
    write_jobs(call->to->rows, &trace);
    if (call->to->report) {
        report(call->to->report, &trace);
    }
    return DLS_OK;
}

const dls_replayer dls_replayer_lucid = {
    .name = "lucid",
    .summary = "what the published simulator of Lucid and QSSF says",
    .about =
        "Replay jobs, job_id,vc,gpu_num,submit,duration and what a schedule knows of them, as the "
        "published simulator of Lucid does, defects included: when each starts and ends, how long "
        "it waited, what it shared, in the order of the file.",
    .input = "JOBS.csv",
    .needs = "vcs",
    .options = options,
    .chosen = "schedule",
    .choice = dls_lucid_schedule_at,
    .run = run,
};
