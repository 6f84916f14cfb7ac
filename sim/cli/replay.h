/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What 'run', 'sweep' and 'study' share: the options of a run, loading its parts, running it,
 * writing it.
 */
#ifndef DLS_CLI_REPLAY_H
#define DLS_CLI_REPLAY_H

#include "base/atomicfile.h"
#include "cli/ui.h"
#include "config/config.h"
#include "dlsim/trace.h"
#include "config/registry.h"
#include "record/record.h"
#include "results/summary.h"

/* The command line of a run. */
typedef struct dls_replay_options {
    const char *config_path;
    dls_override *overrides; /* owned, in the order of the command line */
    size_t n_overrides, overrides_cap;
    bool json, quiet, force;
    double watchdog_s;      /* 0: none */
    dls_ui_when progress;
    const char *cmdline;    /* for the results */
    char *own_cmdline;      /* owned */
    dls_registry *registry; /* owned */
} dls_replay_options;

/* An option that sets a key; NULL: the value says which. offset: of the dls_replay_options. The
 * name with its dashes is what problems are told of. */
#define DLS_OVERRIDE(offset, long_name, letter_, var, key_, called, text)                          \
    {                                                                                              \
        .type = DLS_ARG_CALL, .name = &("--" long_name)[2], .letter = letter_, .metavar = var,     \
        .help = text, .at = offset, .key = key_, .names = called, .set = dls_replay_take           \
    }
dls_status dls_replay_take(void *options, const dls_arg *arg, const char *value,
                           dls_error *err) DLS_MUST_CHECK;
#define DLS_PLUGIN(T, registry)                                                                    \
    DLS_CALL(T, registry, "plugin", 0, "FILE.so", dls_replay_take_plugin,                          \
             "load policies of a plug-in; may be repeated")
dls_status dls_replay_take_plugin(void *registry, const dls_arg *arg, const char *value,
                                  dls_error *err) DLS_MUST_CHECK;

/* Options of a dls_replay_options: of keys and plug-ins; of what is told. */
extern const dls_arg dls_replay_args[], dls_replay_talk_args[];

/* Names for completion. */
const char *dls_names_scheduler(size_t i);
const char *dls_names_placement(size_t i);
const char *dls_names_predictor(size_t i);
const char *dls_names_format(size_t i);
const char *dls_names_key(size_t i); /* of a configuration, outside lists */

/* The init and fini of a command whose request begins with a dls_replay_options. */
dls_status dls_replay_init(void *options, dls_call *call, dls_error *err) DLS_MUST_CHECK;
void dls_replay_fini(void *options);

/* Print what is wrong with a configuration, and forget it. */
void dls_replay_problems(dls_problems *problems);
/* Load the configuration; its problems go to stderr. */
dls_status dls_replay_config(const dls_replay_options *o, dls_config **out,
                             dls_error *err) DLS_MUST_CHECK;
/* Load the trace that the configuration names, give its jobs models if asked to, and say what the
 * reader saw. */
dls_status dls_replay_trace(dls_replay_options *o, const dls_config *config, dls_trace **out,
                            dls_error *err) DLS_MUST_CHECK;

/* Run one simulation with a progress bar; a signal that is noted (cli/signals.h) makes an
 * incomplete record (status OK). wall_s: what the simulation took. */
dls_status dls_replay_run(const dls_replay_options *o, const dls_config *config,
                          const dls_trace *trace, dls_record **out, double *wall_s,
                          dls_error *err) DLS_MUST_CHECK;

/* May a results file be written there? Asked before a run, so that no run is lost. */
dls_status dls_replay_check_output(const char *path, bool force, dls_error *err) DLS_MUST_CHECK;
/* Of commands that write a table: the same, and writing it; NULL and "-" are standard output. */
dls_status dls_replay_check_table(const char *path, bool force, dls_error *err) DLS_MUST_CHECK;
dls_status dls_replay_put_table(const char *path, dls_atomicfile_put_fn put, void *what,
                                dls_error *err) DLS_MUST_CHECK;

#endif
