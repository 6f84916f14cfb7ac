/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Scripts of plots/ behind subcommands. They draw; what they draw comes out of results files.
 */
#ifndef DLS_CLI_SCRIPT_H
#define DLS_CLI_SCRIPT_H

#include "cli/command.h"

/* Runs a script of the folder plots with sh in place of this process, so it returns only if it
 * cannot be run: DLS_EINPUT without the folder, DLS_ERUN else. words: of the script, to which those
 * of the call are added; released, and nothing is run if status says that making them failed. The
 * script finds this program in $DLSIM, and the command that it stands for in
 * $DLSIM_COMMAND.
 *
 * The folder is $DLSIM_PLOTS, else the installed one, else that of the source tree in which the
 * program was built; never one of the current folder, whose scripts nobody asked to run. */
dls_status dls_script_exec(const char *command, const char *script, dls_words *words,
                           const dls_call *call, dls_status status, dls_error *err) DLS_MUST_CHECK;

/* The page or picture of the call's results files; runs: names of those wanted, none: all. */
dls_status dls_script_report(const char *command, const dls_words *runs, const char *output,
                             const dls_call *call, dls_error *err) DLS_MUST_CHECK;

#endif
