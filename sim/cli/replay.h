/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What 'run', 'sweep', 'study' and 'compare' share around the library: the options of a run, what
 * is told of traces and configurations, a run with progress and signals, a comparison.
 */
#ifndef DLS_CLI_REPLAY_H
#define DLS_CLI_REPLAY_H

#include "base/atomicfile.h"
#include "base/owners.h"
#include "cli/command.h"
#include "cli/ui.h"
#include "dlsim/study.h"

/* The command line of a run. */
typedef struct dls_replay_options {
    dls_setup *setup; /* owned */
    const char *config_path;
    bool json, quiet, force;
    double watchdog_s; /* 0: none */
    dls_ui_when progress;
    char *cmdline; /* for the results; the C library's own */
} dls_replay_options;

/* An option that sets a key; NULL: the value says which. offset: of the dls_replay_options. The
 * name with its dashes is what problems are told of. */
#define DLS_OVERRIDE(offset, long_name, letter_, var, key_, called, ...)                           \
    DLS_ARG(.type = DLS_ARG_CALL, .name = &("--" long_name)[2], .letter = letter_, .metavar = var, \
            .at = offset, .key = key_, .names = called, .set = dls_replay_take,                    \
            .help = __VA_ARGS__)
dls_status dls_replay_take(void *options, const dls_arg *arg, const char *value,
                           dls_error *err) DLS_MUST_CHECK;
#define DLS_PLUGIN(T, setup)                                                                       \
    DLS_CALL(T, setup, "plugin", 0, "FILE", dls_replay_take_plugin,                                \
             "load policies of a plug-in, compiled or FILE.py; may be repeated")
dls_status dls_replay_take_plugin(void *setup, const dls_arg *arg, const char *value,
                                  dls_error *err) DLS_MUST_CHECK;

/* Options of a dls_replay_options: of keys and plug-ins; of what is told. */
extern const dls_arg dls_replay_args[], dls_replay_talk_args[];

/* Names for completion. */
const char *dls_names_scheduler(size_t i, const char **summary);
const char *dls_names_placement(size_t i, const char **summary);
const char *dls_names_predictor(size_t i, const char **summary);
const char *dls_names_format(size_t i, const char **summary);
const char *dls_names_key(size_t i, const char **summary); /* of a configuration, outside lists */

/* The init and fini of a command whose request begins with a dls_replay_options. */
dls_status dls_replay_init(dls_call *call, dls_error *err) DLS_MUST_CHECK;
void dls_replay_fini(void *options);

/* A set-up of an imported site (its folder, or a configuration file) with KEY=VALUEs on top; *out
 * is the caller's to destroy in any case. */
dls_status dls_replay_site(dls_setup **out, const char *site, const dls_words *set,
                           dls_error *err) DLS_MUST_CHECK;
/* Print what is wrong with a configuration, if that is the status; which is returned. */
dls_status dls_replay_tell(const dls_setup *setup, dls_status status);

/* What the reader left out or mended, and the flags of the jobs, because every public trace breaks
 * some assumption; nothing, unless always, if all is plain. */
void dls_trace_print_notes(FILE *to, const dls_trace *trace, bool always);

/* The watchdog watches the set-up of policies, too: before the configuration is read. */
void dls_replay_watch(dls_replay_options *o);
/* dls_simulation_create of o->setup; a policy that calls exit() then ends the program with 70. */
dls_status dls_replay_create(const dls_replay_options *o, const dls_trace *trace, dls_simulation **out,
                             dls_error *err) DLS_MUST_CHECK;

/* Run a simulation to its end, with a progress bar unless it shall be quiet. EINTERRUPTED: by a
 * signal that is noted (cli/signals.h). */
dls_status dls_replay_run(const dls_replay_options *o, bool quiet, dls_simulation *sim,
                          dls_error *err) DLS_MUST_CHECK;

/* Print a comparison to stdout, with these baselines, and its warnings to stderr. */
dls_status dls_replay_compare(dls_comparison *c, const dls_words *baselines, bool json,
                              dls_error *err) DLS_MUST_CHECK;

/* What a command that writes a table takes: where to, standard output for NULL and "-". */
typedef struct dls_table_options {
    const char *output;
    bool quiet;
} dls_table_options;
extern const dls_arg dls_table_args[];
dls_status dls_table_put(const dls_table_options *o, dls_atomicfile_put_fn put, void *what,
                         dls_error *err) DLS_MUST_CHECK;

#endif
