/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The program as a function: finds the command and runs it.
 */
#include "dlsim/program.h"

#include "base/suggest.h"
#include "cli/command.h"
#include "cli/ui.h"

#include <signal.h>
#include <string.h>

enum { COMMANDS_MAX = 64 };

/* dlsim help [COMMAND | --json | --mdoc] */
static int help(int argc, char **argv)
{
    dls_error err;
    if (argc < 2) {
        dls_help_program(stdout);
    } else if (strcmp(argv[1], "--json") == 0) {
        return dls_help_json(stdout, &err) == DLS_OK ? 0 : dls_ui_fail(&err);
    } else if (strcmp(argv[1], "--mdoc") == 0) {
        dls_help_manual(stdout);
    } else {
        return -1;
    }
    return 0;
}

static int unknown(const char *word)
{
    const char *names[COMMANDS_MAX + 2];
    size_t n = 0;
    for (const dls_command *const *c = dls_commands(); *c && n < COMMANDS_MAX; c++) {
        names[n++] = (*c)->name;
    }
    names[n++] = "help";
    names[n] = NULL;
    return dls_ui_usage("", "unknown command '%s'%s", word,
                        DLS_DID_YOU_MEAN(dls_suggest(word, names)));
}

static int dispatch(int argc, char **argv)
{
    static char flag[] = "--help", version[] = "version";
    if (argc < 2) {
        dls_help_program(stderr);
        return dls_status_exit_code(DLS_EUSAGE);
    }
    const char *word = argv[1];
    if (strcmp(word, "help") == 0 || strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        const int code = help(argc - 1, argv + 1);
        if (code >= 0) {
            return code;
        }
        argv[1] = argv[2];
        argv[2] = flag;
        argc = 3;
    } else if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        argv[1] = version;
    } else if (*word == '-') {
        return dls_command_main(dls_command_find("run"), argc, argv);
    }
    const dls_command *c = dls_command_find(argv[1]);
    return c ? dls_command_main(c, argc - 1, argv + 1) : unknown(argv[1]);
}

int dls_main(int argc, char **argv)
{
    /* A closed pipe or a full disk is an error that is reported, not a death. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    int code = dispatch(argc, argv);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fputs("dlsim: standard output could not be written\n", stderr);
        code = code ? code : dls_status_exit_code(DLS_EOUTPUT);
    }
    return code;
}
