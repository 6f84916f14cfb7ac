/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim pollux: what the published simulator of Pollux says of a workload, job by job.
 */
#include "cli/replay.h"
#include "pollux/pollux.h"

#include <math.h>

typedef struct request {
    dls_pollux_params params;
    const char *profiles, *points;
    dls_words type;
    dls_table_options out;
} request;

/* Further GPU types as they were given. */
typedef struct types {
    dls_pollux_type of[DLS_POLLUX_TYPES];
    int32_t n;
} types;

/* NODESxGPUS:FOLDER */
static dls_status add_type(types *t, const char *text, dls_error *err)
{
    int nodes, gpus, end = 0;
    if (t->n + 1 == DLS_POLLUX_TYPES) {
        return dls_fail(err, DLS_EINPUT, "--type", "at most %d types", DLS_POLLUX_TYPES);
    }
    if (sscanf(text, "%3dx%1d:%n", &nodes, &gpus, &end) != 2 || end == 0 || text[end] == '\0' ||
        nodes < 1 || nodes > 256 || gpus < 1) {
        return dls_fail(err, DLS_EINPUT, "--type",
                        "\"%s\": expected NODESxGPUS:FOLDER, 1 to 256 nodes of 1 to %d GPUs", text,
                        DLS_POLLUX_GPUS);
    }
    dls_pollux_type *of = &t->of[t->n++];
    *of = (dls_pollux_type){.nodes = nodes, .gpus_per_node = gpus};
    return dls_pollux_apps_load(text + end, NULL, &of->apps, err);
}

static dls_status put(FILE *to, void *what, dls_error *err)
{
    (void)err;
    const dls_pollux_trace *t = what;
    fputs("name,submit,first_start,completion,jct,restarts,gpu_seconds,epochs\n", to);
    for (size_t i = 0; i < t->n; i++) {
        const dls_pollux_job *j = &t->job[i];
        fprintf(to, "%s,%lld,%lld,%lld,%lld,%d,%lld,%d\n", j->id, (long long)j->submit_s,
                (long long)j->first_s, (long long)j->end_s, (long long)(j->end_s - j->submit_s),
                (int)j->restarts, (long long)j->gpu_s, (int)j->epochs);
    }
    return DLS_OK;
}

static void report(const dls_pollux_trace *t, int64_t rounds)
{
    double jct = 0, last = 0, gpu_s = 0;
    int64_t restarts = 0;
    for (size_t i = 0; i < t->n; i++) {
        jct += (double)(t->job[i].end_s - t->job[i].submit_s);
        last = fmax(last, (double)t->job[i].end_s);
        gpu_s += (double)t->job[i].gpu_s;
        restarts += t->job[i].restarts;
    }
    fprintf(stderr,
            "jobs ended   %zu\naverage JCT  %.3f s\nlast end     %.0f s\nGPU time     %.1f h\n"
            "restarts     %lld\nrounds       %lld\n",
            t->n, t->n ? jct / (double)t->n : 0, last, gpu_s / 3600, (long long)restarts,
            (long long)rounds);
}

static dls_status replay(const request *r, const types *more, const dls_pollux_apps *apps,
                         const char *path, dls_error *err)
{
    dls_pollux_params params = r->params;
    params.more = more->of;
    params.n_more = more->n;
    dls_pollux_trace trace;
    int64_t rounds = 0;
    DLS_TRY(dls_pollux_load(path, apps, &trace, err));
    dls_status status = dls_pollux_run(&params, &trace, &rounds, err);
    DLS_THEN(status, dls_table_put(&r->out, put, &trace, err));
    if (status == DLS_OK && !r->out.quiet) {
        report(&trace, rounds);
    }
    dls_pollux_trace_fini(&trace);
    return status;
}

static dls_status run(void *user, dls_call *call, dls_error *err)
{
    const request *r = user;
    dls_pollux_apps apps;
    DLS_TRY(dls_table_check(&r->out, err));
    DLS_TRY(dls_pollux_apps_load(r->profiles, r->points, &apps, err));
    types more = {.n = 0};
    dls_status status = DLS_OK;
    for (size_t i = 0; i < r->type.n && status == DLS_OK; i++) {
        status = add_type(&more, r->type.at[i], err);
    }
    DLS_THEN(status, replay(r, &more, &apps, call->word[0], err));
    for (int32_t i = 0; i < more.n; i++) {
        dls_pollux_apps_fini(&more.of[i].apps);
    }
    dls_pollux_apps_fini(&apps);
    return status;
}

static const char *schedule_at(size_t i, const char **summary)
{
    *summary = dls_pollux_schedules()[i].summary;
    return dls_pollux_schedules()[i].name;
}

static const dls_arg args[] = {
    DLS_LISTED(request, params.schedule, "schedule", 0, schedule_at, "Schedules"),
    DLS_TEXT(request, profiles, "profiles", 0, "FOLDER",
             "applications: <name>/validation-<batch>.csv, placements.csv, scalability.csv"),
    DLS_TEXT(request, points, "points", 0, "FILE.csv",
             "step times of placements that were not measured, instead of interpolating"),
    DLS_INT(request, params.nodes, "nodes", 0, 1, 256, "nodes"),
    DLS_INT(request, params.gpus_per_node, "gpus", 0, 1, DLS_POLLUX_GPUS, "GPUs per node"),
    DLS_REPEAT(request, type, "type", 0, "NODESxGPUS:FOLDER",
               "nodes of a further GPU type and its profiles (sia)"),
    DLS_INT(request, params.interval_s, "interval", 0, 1, 86400, "seconds of a round"),
    DLS_INT(request, params.seed, "seed", 0, 0, INT64_MAX, "of Pollux's random search"),
    DLS_INCLUDE(request, out, dls_table_args),
    DLS_ARGS_END};

const dls_command dls_command_pollux = {
    .name = "pollux",
    .summary = "what the published simulator of Pollux says",
    .usage = "--schedule=NAME --profiles=FOLDER WORKLOAD.csv [OPTION]...",
    .about =
        "Replay a workload of Pollux's simulator with its results, job by job, defects "
        "included: rows of name,submit,first_start,completion,jct,restarts,gpu_seconds,epochs.",
    .args = args,
    .words = "one workload",
    .needs = "profiles",
    .size = sizeof(request),
    .initial = &(const request){.params = {.nodes = 16,
                                           .gpus_per_node = 4,
                                           .interval_s = 60,
                                           .schedule = "pollux",
                                           .seed = 1}},
    .run = run,
};
