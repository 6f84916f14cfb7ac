/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim run: one simulation.
 */
#include "base/printable.h"
#include "cli/replay.h"
#include "cli/signals.h"

typedef struct parts {
    dls_trace *trace;
    dls_simulation *sim;
    char results[4096]; /* "" none */
} parts;

static dls_status load(const dls_replay_options *o, parts *p, dls_error *err)
{
    const char *value;
    DLS_TRY(dls_replay_tell(o->setup, dls_setup_get(o->setup, "results.path", &value, err)));
    snprintf(p->results, sizeof p->results, "%s", value);
    if (*p->results) {
        DLS_TRY(dls_output_check(p->results, o->force, err));
    }
    DLS_TRY(dls_setup_get(o->setup, "trace.path", &value, err));
    if (*value == '\0') {
        return dls_fail(err, DLS_EUSAGE, NULL,
                        "no trace: give --trace=FILE or trace.path in the configuration");
    }
    DLS_TRY(dls_setup_trace(o->setup, &p->trace, err));
    if (!o->quiet) {
        dls_trace_print_notes(stderr, p->trace, true);
    }
    return DLS_OK;
}

static void tell_infeasible(const parts *p)
{
    const dls_counts n = dls_simulation_counts(p->sim);
    if (n.infeasible > 0) {
        fprintf(stderr, "%zu of %zu jobs can never run on this cluster and are left out:", n.infeasible, n.jobs);
        size_t jobs, first;
        const char *why;
        for (size_t i = 0; (why = dls_simulation_infeasible(p->sim, i, &jobs, &first)) != NULL; i++) {
            char id[DLS_PRINTABLE_BYTES];
            fprintf(stderr, "%s %s (%zu, the first is %s of %d GPUs)", i > 0 ? ";" : "", why, jobs,
                    dls_printable(dls_trace_id(p->trace, first), id), dls_trace_cols(p->trace)->gpus[first]);
        }
        fputc('\n', stderr);
    }
}

/* The end was reached, and jobs are left: their scheduler never starts them, or GPUs do not come back. */
static void tell_waiting(const parts *p)
{
    const dls_counts n = dls_simulation_counts(p->sim);
    const dls_view *view = dls_simulation_view(p->sim);
    const int32_t first = n.complete && n.waiting > 0 ? dls_view_first_waiting(view) : -1;
    if (first >= 0) {
        char id[DLS_PRINTABLE_BYTES];
        fprintf(stderr,
                "%zu of %zu jobs still wait when nothing is left to happen; the first is %s of %d GPUs, with %lld of %lld "
                "free\n",
                n.waiting, n.jobs, dls_printable(dls_trace_id(p->trace, (size_t)first), id), view->gpus[first],
                (long long)view->free_gpus, (long long)view->total_gpus);
    }
}

static dls_status show(const dls_replay_options *o, const parts *p, dls_error *err)
{
    const char *text;
    if (*p->results) {
        DLS_TRY(dls_simulation_write(p->sim, p->results, o->cmdline, err));
        if (!o->quiet) {
            fprintf(stderr, "results: %s%s\n", p->results,
                    dls_simulation_counts(p->sim).complete ? "" : " (incomplete)");
        }
    }
    if (o->json || !o->quiet) {
        DLS_TRY(dls_simulation_report(p->sim, o->json, &text, err));
        fputs(text, stdout);
    }
    return DLS_OK;
}

static dls_status simulate(const dls_replay_options *o, parts *p, dls_error *err)
{
    DLS_TRY(load(o, p, err));
    DLS_TRY(dls_replay_create(o, p->trace, &p->sim, err));
    if (*p->results) {
        DLS_TRY(dls_simulation_stream(p->sim, p->results, err));
    }
    if (!o->quiet) {
        tell_infeasible(p);
    }
    dls_signals_catch();
    dls_status status = dls_replay_run(o, o->quiet, p->sim, err);
    dls_signals_release();
    const bool interrupted = status == DLS_EINTERRUPTED;
    if (interrupted) {
        status = dls_simulation_finish(p->sim, err);
    }
    DLS_THEN(status, show(o, p, err));
    if (status == DLS_OK && !o->quiet) {
        tell_waiting(p);
    }
    return status == DLS_OK && interrupted
               ? dls_fail(err, DLS_EINTERRUPTED, NULL, "interrupted: the results are incomplete")
               : status;
}

static dls_status run(dls_call *call, dls_error *err)
{
    dls_replay_options *o = call->request;
    parts p = {0};
    dls_replay_watch(o);
    DLS_TRY(o->config_path
                ? dls_setup_file(o->setup, o->config_path, err)
                : dls_fail(err, DLS_EUSAGE, NULL, "no configuration: give --config=FILE"));
    const dls_status status = simulate(o, &p, err);
    dls_simulation_destroy(p.sim);
    dls_trace_destroy(p.trace);
    return status;
}

static const dls_arg args[] = {
    DLS_TEXT(dls_replay_options, config_path, "config", 'c', "FILE",
             "configuration ('dlsim config --defaults' shows all keys), '-' standard input"),
    {.type = DLS_ARG_INCLUDE, .include = dls_replay_args},
    DLS_OVERRIDE(0, "scheduler", 0, "NAME", "scheduler.name", dls_names_scheduler,
                 "one of 'dlsim list schedulers'; sets scheduler.name"),
    DLS_OVERRIDE(0, "placement", 0, "NAME", "placement.name", dls_names_placement,
                 "one of 'dlsim list placements'; sets placement.name"),
    DLS_OVERRIDE(0, "predictor", 0, "NAME", "predictor.source", dls_names_predictor,
                 "one of 'dlsim list predictors'; sets predictor.source"),
    DLS_OVERRIDE(0, "predictions", 0, "HOW", "predictor.predictions", NULL,
                 "record:FILE or replay:FILE; sets predictor.predictions"),
    DLS_OVERRIDE(0, "output", 'o', "FILE.h5", "results.path", NULL,
                 "write the results there; sets results.path"),
    DLS_SWITCH(dls_replay_options, force, "force", 0, "replace the results file if it is there"),
    DLS_SWITCH(dls_replay_options, json, "json", 0, "summary as JSON"),
    {.type = DLS_ARG_INCLUDE, .include = dls_replay_talk_args},
    DLS_ARGS_END};

const dls_command dls_command_run = {
    .name = "run",
    .summary = "replay a trace on a cluster (also without the word 'run')",
    .usage = "--config=FILE --trace=FILE [OPTION]...",
    .about = "Replay a trace on a cluster, print a summary, write the results. The word 'run' may "
             "be left out. Options of policies that the configuration gives to another policy are "
             "left out when one is named here.",
    .notes =
        "Without -o and results.path nothing is written. Ctrl-C, and the signals TERM and HUP, "
        "end the run after the current event; the results are written, marked incomplete, "
        "and the exit code is 130.",
    .args = args,
    .size = sizeof(dls_replay_options),
    .init = dls_replay_init,
    .run = run,
    .fini = dls_replay_fini,
};
