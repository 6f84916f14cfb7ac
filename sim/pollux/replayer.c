/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The replayer `pollux`: what the published simulator of Pollux says of a workload, job by job.
 */
#include "dlsim/replayer.h"

#include "base/own.h"
#include "pollux/pollux.h"

#include <math.h>

enum { SCHEDULE, PROFILES, POINTS, NODES, GPUS, TYPE, INTERVAL, SEED };

static const dls_option options[] = {
    {"schedule", DLS_OPT_STR, 0, 0, "pollux", "NAME", "see below", NULL},
    {"profiles", DLS_OPT_PATH, 0, 0, "", "FOLDER",
     "applications: <name>/validation-<batch>.csv, placements.csv, scalability.csv", NULL},
    {"points", DLS_OPT_PATH, 0, 0, "", "FILE.csv",
     "step times of placements that were not measured, instead of interpolating", NULL},
    {"nodes", DLS_OPT_I64, 1, 256, "16", "", "nodes", NULL},
    {"gpus", DLS_OPT_I64, 1, DLS_POLLUX_GPUS, "4", "", "GPUs per node", NULL},
    {"type", DLS_OPT_STR, 0, 0, "", "NODESxGPUS:FOLDER",
     "nodes of a further GPU type and its profiles (sia)", NULL},
    {"interval", DLS_OPT_I64, 1, 86400, "60", "", "seconds of a round", NULL},
    {"seed", DLS_OPT_I64, 0, 9e18, "1", "", "of Pollux's random search", NULL},
    {0}};

/* NODESxGPUS:FOLDER */
static dls_status add_type(dls_pollux_type *of, const char *text, dls_error *err)
{
    int nodes, gpus, end = 0;
    if (sscanf(text, "%3dx%1d:%n", &nodes, &gpus, &end) != 2 || end == 0 || text[end] == '\0' ||
        nodes < 1 || nodes > 256 || gpus < 1) {
        return dls_fail(err, DLS_EINPUT, "--type",
                        "\"%s\": expected NODESxGPUS:FOLDER, 1 to 256 nodes of 1 to %d GPUs", text,
                        DLS_POLLUX_GPUS);
    }
    *of = (dls_pollux_type){.nodes = nodes, .gpus_per_node = gpus};
    return dls_pollux_apps_load(text + end, NULL, &of->apps, err);
}

static void write_jobs(const dls_replayer_output *to, const dls_pollux_trace *t, int64_t rounds)
{
    double jct = 0, last = 0, gpu_s = 0;
    int64_t restarts = 0;
    fputs("name,submit,first_start,completion,jct,restarts,gpu_seconds,epochs\n", to->rows);
    for (size_t i = 0; i < t->n; i++) {
        const dls_pollux_job *j = &t->job[i];
        fprintf(to->rows, "%s,%lld,%lld,%lld,%lld,%d,%lld,%d\n", j->id, (long long)j->submit_s,
                (long long)j->first_s, (long long)j->end_s, (long long)(j->end_s - j->submit_s),
                (int)j->restarts, (long long)j->gpu_s, (int)j->epochs);
        jct += (double)(j->end_s - j->submit_s);
        last = fmax(last, (double)j->end_s);
        gpu_s += (double)j->gpu_s;
        restarts += j->restarts;
    }
    if (to->report) {
        fprintf(to->report,
                "jobs ended   %zu\naverage JCT  %.3f s\nlast end     %.0f s\nGPU time     %.1f h\n"
                "restarts     %lld\nrounds       %lld\n",
                t->n, t->n ? jct / (double)t->n : 0, last, gpu_s / 3600, (long long)restarts,
                (long long)rounds);
    }
}

/* The GPU types: the options', then those of --type. */
typedef struct types {
    dls_pollux_apps apps;
    dls_pollux_type more[DLS_POLLUX_TYPES];
} types;

static void types_fini(types *t)
{
    for (size_t i = 0; i < DLS_POLLUX_TYPES; i++) {
        dls_pollux_apps_fini(&t->more[i].apps);
    }
    dls_pollux_apps_fini(&t->apps);
}

static dls_status run(const dls_replayer_call *call, dls_error *err)
{
    const dls_option_value *v = call->value;
    DLS_OWN(types_fini) types of = {.apps = {0}};
    DLS_OWN(dls_pollux_trace_fini) dls_pollux_trace trace = {0};
    const dls_pollux_params params = {.nodes = (int32_t)v[NODES].i,
                                      .gpus_per_node = (int32_t)v[GPUS].i,
                                      .interval_s = (int32_t)v[INTERVAL].i,
                                      .schedule = v[SCHEDULE].s,
                                      .seed = (uint64_t)v[SEED].i,
                                      .more = of.more,
                                      .n_more = (int32_t)call->n_repeated};
    int64_t rounds = 0;
    if (call->n_repeated >= DLS_POLLUX_TYPES) {
        return dls_fail(err, DLS_EINPUT, "--type", "at most %d types", DLS_POLLUX_TYPES);
    }
    DLS_TRY(dls_pollux_apps_load(v[PROFILES].s, *v[POINTS].s ? v[POINTS].s : NULL, &of.apps, err));
    for (size_t i = 0; i < call->n_repeated; i++) {
        DLS_TRY(add_type(&of.more[i], call->repeated[i], err));
    }
    DLS_TRY(dls_pollux_load(call->input, &of.apps, &trace, err));
    DLS_TRY(dls_pollux_run(&params, &trace, &rounds, err));
    write_jobs(call->to, &trace, rounds);
    return DLS_OK;
}

const dls_replayer dls_replayer_pollux = {
    .name = "pollux",
    .summary = "what the published simulator of Pollux says",
    .about =
        "Replay a workload of Pollux's simulator with its results, job by job, defects "
        "included: rows of name,submit,first_start,completion,jct,restarts,gpu_seconds,epochs.",
    .input = "WORKLOAD.csv",
    .needs = "profiles",
    .repeats = "type",
    .options = options,
    .chosen = "schedule",
    .choice = dls_pollux_schedule_at,
    .run = run,
};
