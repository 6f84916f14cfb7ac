/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Finds a script beside the program and replaces this process by it.
 */
#include "cli/script.h"
#include "base/in_python.h"
#include "base/own.h"
#include "base/suggest.h"
#include "cli/replay.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Relative to the folder of the program; the last are those of a build folder. */
static const char *const places[] = {"../share/dlsim/plots", "../plots",     "../../plots",
                                     "../../../plots",       "source/plots", "../source/plots"};

dls_status dls_script_program(char program[PATH_MAX], dls_error *err)
{
    dls_in_python in;
    if (dls_is_in_python(&in) && in.program[0] == '/') {
        snprintf(program, PATH_MAX, "%s", in.program);
        return DLS_OK;
    }
    const ssize_t n = readlink("/proc/self/exe", program, PATH_MAX - 1);
    if (n <= 0) {
        return dls_fail(err, DLS_ERUN, NULL, "the program's own path is not known: %s",
                        strerror(errno));
    }
    program[n] = '\0';
    return DLS_OK;
}

/* path: of the script, of PATH_MAX bytes. */
static dls_status find(const char *program, const char *script, char *path, dls_error *err)
{
    const char *given = getenv("DLSIM_PLOTS");
    const char *slash = strrchr(program, '/');
    if (given && *given) {
        snprintf(path, PATH_MAX, "%s/%s", given, script);
        return access(path, R_OK) == 0
                   ? DLS_OK
                   : dls_fail(err, DLS_EINPUT, path, "%s (DLSIM_PLOTS)", strerror(errno));
    }
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        snprintf(path, PATH_MAX, "%.*s/%s/%s", (int)(slash - program), program, places[i], script);
        if (access(path, R_OK) == 0) {
            return DLS_OK;
        }
    }
    return dls_fail(err, DLS_EINPUT, NULL,
                    "the scripts that draw are not installed beside %s; DLSIM_PLOTS=FOLDER says "
                    "where they are",
                    program);
}

dls_status dls_script_exec(const char *command, const char *with, const char *path,
                           const dls_words *words, dls_error *err)
{
    char program[PATH_MAX];
    DLS_TRY(dls_script_program(program, err));
    DLS_FREED const char **argv = NULL;
    DLS_TRY(dls_alloc_array(&argv, words->n + 3, sizeof *argv, "words", err));
    argv[0] = with;
    argv[1] = path;
    for (size_t i = 0; i < words->n; i++) {
        argv[2 + i] = words->at[i];
    }
    fflush(stdout);
    if (setenv("DLSIM", program, 1) == 0 && setenv("DLSIM_COMMAND", command, 1) == 0) {
        execvp(with,
               (char *const *)(void *)argv); /* changes no word: its type is older than const */
    }
    return dls_fail(err, DLS_ERUN, with, "cannot be run: %s", strerror(errno));
}

dls_status dls_script_plots(const char *command, const char *script, dls_words *words,
                            const dls_call *call, dls_error *err)
{
    char program[PATH_MAX], path[PATH_MAX];
    DLS_TRY(dls_script_program(program, err));
    DLS_TRY(find(program, script, path, err));
    for (size_t i = 0; i < call->n_words; i++) {
        DLS_TRY(dls_words_add(words, call->word[i], NULL, err));
    }
    return dls_script_exec(command, "/bin/sh", path, words, err);
}

dls_status dls_script_check_report(const char *output, dls_error *err)
{
    static const char *const endings[] = {"html", "htm", "png", "svg"};
    const char *slash = strrchr(output, '/'), *dot = strrchr(slash ? slash : output, '.');
    return dot && DLS_NAMED(endings, dot + 1) == sizeof endings / sizeof *endings
               ? dls_fail(err, DLS_EUSAGE, output,
                          "a page ends in .html, a picture in .png or .svg")
               : DLS_OK;
}

dls_status dls_script_report(const char *command, const dls_words *runs, const char *output,
                             const dls_call *call, dls_error *err)
{
    DLS_OWN(dls_words_fini) dls_words words = {0};
    for (size_t i = 0; i < runs->n; i++) {
        DLS_TRY(dls_words_add(&words, "--run", runs->at[i], err));
    }
    DLS_TRY(dls_words_add(&words, "--output", output, err));
    DLS_TRY(dls_words_add(&words, "--", NULL, err));
    return dls_script_plots(command, "report.sh", &words, call, err);
}
