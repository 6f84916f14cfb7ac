/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The files that a command line names to be written: one rule for all commands. Nothing that is there
 * is replaced without --force, and no input ever.
 */
#include "base/assert.h"
#include "base/file.h"
#include "cli/command.h"

#include <errno.h>
#include <libgen.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Behind the last file to write, or in front of all where a heading would say that it goes with some only. */
size_t dls_arg_rows_force(dls_arg_row row[DLS_ARGS_MAX], size_t n)
{
    static const dls_arg force = {
        .type = DLS_ARG_SWITCH, .name = "force", .help = "replace a file that is there"};
    size_t to = 0;
    bool below = false;
    for (size_t i = 0; i < n; i++) {
        if (row[i].arg->name && strcmp(row[i].arg->name, "force") == 0) {
            return n;
        }
        to = row[i].arg->writes ? i + 1 : to;
    }
    for (size_t i = 0; i < to; i++) {
        below = below || row[i].arg->type == DLS_ARG_HEADING;
    }
    if (to == 0) {
        return n;
    }
    DLS_ASSERT(n < DLS_ARGS_MAX);
    to = below ? 0 : to;
    memmove(row + to + 1, row + to, (n - to) * sizeof *row);
    row[to] = (dls_arg_row){&force, 0, NULL};
    return n + 1;
}

bool dls_call_goes_with(const dls_call *call, const char *of)
{
    for (const char *word = of; *word;) {
        char name[64];
        const size_t len = strcspn(word, ",");
        snprintf(name, sizeof name, "%.*s", (int)len, word);
        if (call->verb ? strcmp(name, call->verb->name) == 0 : dls_call_gave(call, name + 2)) {
            return true;
        }
        word += len + strspn(word + len, ", ");
    }
    return false;
}

dls_status dls_output_check(const char *path, bool force, dls_error *err)
{
    struct stat info;
    char folder[4096];
    if (strlen(path) >= sizeof folder) {
        return dls_fail(err, DLS_EOUTPUT, NULL, "the name of the file to write is too long");
    }
    if (strcmp(path, "-") == 0) {
        return dls_fail(err, DLS_EUSAGE, NULL,
                        "'-': this is written to a file, not to standard output: give its name");
    }
    if (stat(path, &info) == 0) {
        if (!S_ISREG(info.st_mode)) {
            return dls_fail(err, DLS_EOUTPUT, path, "is there and not a file");
        }
        if (!force) {
            return dls_fail(err, DLS_EOUTPUT, path, "is there already (--force replaces it)");
        }
    }
    memcpy(folder, path, strlen(path) + 1);
    const char *into = dirname(folder);
    return access(into, W_OK | X_OK) == 0
               ? DLS_OK
               : dls_fail(err, DLS_EOUTPUT, path, "cannot be written: folder %s: %s", into,
                          strerror(errno));
}

/* What is written is none of the files that are read, nor written twice. */
static dls_status check_distinct(const dls_call *call, const dls_arg *arg, const char *path, dls_error *err)
{
    const dls_given *by = call->given;
    for (size_t k = 0; k < call->n_words + call->n_given; k++) {
        const char *in = k < call->n_words ? call->word[k] : by->arg != arg ? by->value : NULL;
        by += k >= call->n_words;
        const bool writes = k >= call->n_words && by[-1].arg->writes;
        if (in && (dls_file_same(path, in) || (writes && strcmp(path, in) == 0))) {
            const char *what = writes ? "another option writes it, too" : "is also an input";
            return dls_fail(err, DLS_EOUTPUT, path, "%s: it would be replaced", what);
        }
    }
    return DLS_OK;
}

static bool is_stream(const char *path)
{
    struct stat info;
    return strcmp(path, "-") == 0 ||
           (stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode));
}

dls_status dls_call_check_outputs(const dls_call *call, const dls_arg_row *row, size_t n, dls_error *err)
{
    for (size_t i = 0; i < n; i++) {
        const dls_arg *arg = row[i].arg;
        const char *path = NULL;
        if (arg->writes && (!row[i].of || dls_call_goes_with(call, row[i].of))) {
            memcpy(&path, (const char *)call->request + row[i].base + arg->at, sizeof path);
        }
        if (path) {
            const bool gone_on = arg->adds && dls_call_goes_with(call, arg->adds);
            DLS_TRY(check_distinct(call, arg, path, err));
            DLS_TRY(arg->streams && is_stream(path)
                        ? DLS_OK
                        : dls_output_check(path, gone_on || dls_call_gave(call, "force"), err));
        }
    }
    return DLS_OK;
}
