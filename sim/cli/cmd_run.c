/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim run: one simulation.
 */
#include "api/write_results.h"
#include "cli/replay.h"
#include "cli/signals.h"

static dls_status finish(const dls_replay_options *o, const dls_config *config,
                         const dls_trace *trace, const dls_record *rec, double wall_s,
                         dls_error *err)
{
    dls_summary summary;
    DLS_TRY(dls_summary_make(trace, rec, config->warmup_us, config->cooldown_us, wall_s, &summary,
                             err));
    if (*config->results_path) {
        const dls_written_by by = {.command = o->cmdline};
        DLS_TRY(
            dls_config_write_results(config, config->results_path, &by, trace, rec, &summary, err));
        if (!o->quiet) {
            fprintf(stderr, "results: %s%s\n", config->results_path,
                    rec->complete ? "" : " (incomplete)");
        }
    }
    if (o->json) {
        DLS_TRY(dls_summary_json(stdout, &summary, err));
    } else if (!o->quiet) {
        dls_summary_print(stdout, &summary, false);
    }
    return dls_signals_noted()
               ? dls_fail(err, DLS_EINTERRUPTED, NULL, "interrupted: the results are incomplete")
               : DLS_OK;
}

static dls_status simulate(dls_replay_options *o, const dls_config *config, dls_trace **trace,
                           dls_record **rec, dls_error *err)
{
    double wall_s;
    if (*config->results_path) {
        DLS_TRY(dls_replay_check_output(config->results_path, o->force, err));
    }
    DLS_TRY(dls_replay_trace(o, config, trace, err));
    dls_signals_catch();
    const dls_status status = dls_replay_run(o, config, *trace, rec, &wall_s, err);
    dls_signals_release();
    return status == DLS_OK ? finish(o, config, *trace, *rec, wall_s, err) : status;
}

static dls_status run(void *user, dls_call *call, dls_error *err)
{
    dls_replay_options *o = user;
    dls_config *config = NULL;
    dls_trace *trace = NULL;
    dls_record *rec = NULL;
    (void)call;
    if (!o->config_path) {
        return dls_fail(err, DLS_EUSAGE, NULL, "no configuration: give --config=FILE");
    }
    dls_status status = dls_replay_config(o, &config, err);
    if (status == DLS_OK) {
        status = simulate(o, config, &trace, &rec, err);
    }
    dls_record_destroy(rec);
    dls_trace_destroy(trace);
    dls_config_destroy(config);
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
