/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What 'run', 'sweep' and 'study' share: the options of a run, loading its parts, running it,
 * writing it.
 */
#ifndef DLS_CLI_REPLAY_H
#define DLS_CLI_REPLAY_H

#include "cli/ui.h"
#include "config/config.h"
#include "dlsim/trace.h"
#include "engine/registry.h"
#include "record/record.h"
#include "results/summary.h"

/* The command line of a run. */
typedef struct dls_replay_options {
    const char *command; /* "run", "sweep" or "study", for messages */
    const char *config_path;
    dls_override *overrides; /* owned, in the order of the command line */
    size_t n_overrides, overrides_cap;
    bool json, quiet, force;
    dls_ui_when progress;
    const char *cmdline;    /* for the results */
    char *own_cmdline;      /* owned */
    dls_registry *registry; /* owned */
} dls_replay_options;

/* Options that both take, as (long option, its letter or number): see dls_replay_option. */
#define DLS_REPLAY_SHORTS "c:o:qh"
#define DLS_REPLAY_LONGS                                                                           \
    {"config", required_argument, NULL, 'c'}, {"trace", required_argument, NULL, 'T'},             \
        {"trace-format", required_argument, NULL, 'F'}, {"seed", required_argument, NULL, 'S'},    \
        {"set", required_argument, NULL, 's'}, {"until", required_argument, NULL, 'U'},            \
        {"plugin", required_argument, NULL, 'P'}, {"json", no_argument, NULL, 'J'},                \
        {"quiet", no_argument, NULL, 'q'}, {"force", no_argument, NULL, 'f'},                      \
        {"progress", required_argument, NULL, 'B'}, {"color", required_argument, NULL, 'C'},       \
        {"output", required_argument, NULL, 'o'},                                                  \
    {                                                                                              \
        "help", no_argument, NULL, 'h'                                                             \
    }

dls_status dls_replay_init(dls_replay_options *o, const char *command, int argc, char **argv,
                           dls_error *err) DLS_MUST_CHECK;
void dls_replay_fini(dls_replay_options *o);

/* Add an override "key = text", told of as `where`. */
dls_status dls_replay_set(dls_replay_options *o, const char *key, const char *text,
                          const char *where, dls_error *err) DLS_MUST_CHECK;

/* One of the shared options, but -o and -h; -1: good, else the exit code (it has been reported). */
int dls_replay_option(dls_replay_options *o, int letter, const char *value);

/* Print what is wrong with a configuration, and forget it. */
void dls_replay_problems(dls_problems *problems);
/* Load the configuration; its problems go to stderr. -1 or the exit code. */
int dls_replay_config(const dls_replay_options *o, dls_config **out);
/* Load the trace that the configuration names, give its jobs models if asked to, and say what the
 * reader saw. -1 or the exit code. */
int dls_replay_trace(dls_replay_options *o, const dls_config *config, dls_trace **out);

/* On stderr what is odd about the jobs, because every public trace breaks some assumption. */
void dls_replay_report_trace(const dls_trace *trace);

/* Run one simulation with a progress bar; a signal that is
 * noted (cli/signals.h) makes an incomplete record (status OK). wall_s:
 * what the simulation took. */
dls_status dls_replay_run(const dls_replay_options *o, const dls_config *config,
                          const dls_trace *trace, dls_record **out, double *wall_s,
                          dls_error *err) DLS_MUST_CHECK;

/* May a results file be written there? Asked before a run, so that no run is lost. */
dls_status dls_replay_check_output(const char *path, bool force, dls_error *err) DLS_MUST_CHECK;

#endif
