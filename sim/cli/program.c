/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The program as a function: finds the command and runs it.
 */
#include "dlsim/program.h"

#include "base/in_python.h"
#include "base/suggest.h"
#include "cli/command.h"
#include "cli/ui.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COMMANDS_MAX = 64 };

/* dlsim help [COMMAND | --json] */
static int help(int argc, char **argv)
{
    dls_error err;
    if (argc < 2) {
        dls_help_program(stdout);
    } else if (strcmp(argv[1], "--json") == 0) {
        return dls_help_json(stdout, &err) == DLS_OK ? 0 : dls_ui_fail(&err);
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
    dls_error err;
    (void)dls_fail(&err, DLS_EUSAGE, NULL, "unknown command '%s'%s", word,
                   DLS_DID_YOU_MEAN(dls_suggest(word, names)));
    return dls_ui_fail_of("", &err);
}

/* Policies in Python are run by Python, which then is this program (python/dlsim/__main__.py).
 * Returns only if there are none, or if it cannot be run. */
static int hand_to_python(int argc, char **argv)
{
    static const char call[] =
        "import sys\n"
        "try:\n"
        "    from dlsim.__main__ import main\n"
        "except ImportError as error:\n"
        "    sys.exit(f'dlsim: policies in Python need the package dlsim-cluster "
        "(docs/python.md): {error}')\n"
        "sys.exit(main(sys.argv[1:]))\n";
    dls_in_python in;
    bool any = false;
    for (int i = 1; i < argc && !any && !dls_is_in_python(&in); i++) {
        any = (strncmp(argv[i], "--plugin=", 9) == 0 && dls_ends_with(argv[i] + 9, ".py")) ||
              (strcmp(argv[i], "--plugin") == 0 && i + 1 < argc && dls_ends_with(argv[i + 1], ".py"));
    }
    if (!any) {
        return 0;
    }
    const char *given = getenv("DLSIM_PYTHON");
    const char *python = given && *given ? given : "python3";
    const char **words = calloc((size_t)argc + 3, sizeof *words);
    if (words) {
        words[0] = python;
        words[1] = "-c";
        words[2] = call;
        memcpy(words + 3, argv + 1, ((size_t)argc - 1) * sizeof *words);
        execvp(python, (char *const *)(void *)words); /* changes no word */
    }
    dls_error err;
    free(words);
    (void)dls_fail(&err, DLS_ERUN, python, "cannot be run, which policies in Python need: %s",
                   strerror(errno));
    return dls_ui_fail(&err);
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

/* Whether standard output is a pipe that nobody reads any more: `head` has had enough. */
static bool reader_left(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&out, 1, 0) == 1 && (out.revents & POLLERR);
}

int dls_main(int argc, char **argv)
{
    /* A closed pipe or a full disk is an error of the exit code, not a death. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    int code = hand_to_python(argc, argv);
    code = code ? code : dispatch(argc, argv);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        if (!reader_left()) {
            fputs("dlsim: standard output could not be written\n", stderr);
        }
        code = code ? code : dls_status_exit_code(DLS_EOUTPUT);
    }
    return code;
}
