/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Scripts of plots/ and others behind subcommands. They draw; what they draw comes out of results
 * files.
 */
#ifndef DLS_CLI_SCRIPT_H
#define DLS_CLI_SCRIPT_H

#include "cli/command.h"

#include <limits.h>

/* The path of the program. Errors: ERUN. */
dls_status dls_script_program(char program[PATH_MAX], dls_error *err) DLS_MUST_CHECK;

/* Runs `with` PATH WORD... in place of this process, so it returns only if it cannot be run: ERUN.
 * The script finds this program in $DLSIM, and the command that it stands for in $DLSIM_COMMAND. */
dls_status dls_script_exec(const char *command, const char *with, const char *path,
                           const dls_words *words, dls_error *err) DLS_MUST_CHECK;
/* The same with sh for a script of the folder plots, to whose words those of the call are added;
 * EINPUT without the folder. It is $DLSIM_PLOTS, else the installed one, else that of the source
 * tree in which the program was built; never one of the current folder, whose scripts nobody asked
 * to run. */
dls_status dls_script_plots(const char *command, const char *script, dls_words *words,
                            const dls_call *call, dls_error *err) DLS_MUST_CHECK;
/* Before anything is done: `output` is called what it will be. Errors: EUSAGE (another ending). */
dls_status dls_script_check_report(const char *output, dls_error *err) DLS_MUST_CHECK;
/* The page or picture of the call's results files; runs: names of those wanted, none: all. */
dls_status dls_script_report(const char *command, const dls_words *runs, const char *output,
                             const dls_call *call, dls_error *err) DLS_MUST_CHECK;

#endif
