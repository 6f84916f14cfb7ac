/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the subcommands share: option parsing with suggestions, error reports, colour, progress.
 */
#ifndef DLS_CLI_UI_H
#define DLS_CLI_UI_H

#include "cli/command.h"

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* As getopt_long, but a mistyped option is reported on stderr with a suggestion and a pointer to
 * "dlsim COMMAND --help"; the caller then returns 2. longs has no abbreviations of its own making:
 * getopt_long accepts any unambiguous prefix. */
int dls_ui_getopt(int argc, char **argv, const char *shorts, const struct option *longs,
                  const char *command);

/* "dlsim: <message>" and "Try 'dlsim COMMAND --help'." on stderr; returns 2. */
int dls_ui_usage(const char *command, const char *fmt, ...) DLS_PRINTF(2, 3);

/* The report on stderr, with its place; returns the exit code of err->status. */
int dls_ui_fail(const dls_error *err);

/* "dlsim <subcommand> <words>", as files keep what made them; cut where it does not fit. */
void dls_ui_command_line(int argc, char **argv, char *out, size_t size);

/* Text that is a number and nothing else, or a usage error that names the option (false). */
bool dls_ui_i64(const char *command, const char *option, const char *text, int64_t min, int64_t max,
                int64_t *out);

/* ---- colour ------------------------------------------------------------------------------------
 */

typedef enum dls_ui_when { DLS_UI_AUTO, DLS_UI_ALWAYS, DLS_UI_NEVER } dls_ui_when;

/* "auto", "always" or "never"; false for another word, which is reported as a usage error. */
bool dls_ui_when_parse(const char *command, const char *option, const char *text, dls_ui_when *out);
/* The options of talk; when: a member of type dls_ui_when. */
#define DLS_COLOR                                                                                  \
    {                                                                                              \
        .type = DLS_ARG_CALL, .name = "color", .metavar = "auto|always|never",                     \
        .set = dls_ui_take_color, .help = "colour on a terminal, or as told"                       \
    }
#define DLS_PROGRESS(T, when)                                                                      \
    DLS_CHOICE(T, when, "progress", 0, "auto|always|never", "a bar on a terminal, or as told")
dls_status dls_ui_take_color(void *member, const dls_arg *arg, const char *value,
                             dls_error *err) DLS_MUST_CHECK;
/* Auto: a terminal, TERM is not "dumb", NO_COLOR is unset or empty. */
void dls_ui_color(dls_ui_when when);
/* Escape sequences that are empty without colour. */
const char *dls_ui_bold(FILE *to);
const char *dls_ui_red(FILE *to);
const char *dls_ui_reset(FILE *to);

/* ---- progress ----------------------------------------------------------------------------------
 */

/* One line on stderr that is redrawn in place, at most ten times a second, and wiped at the end. */
typedef struct dls_progress {
    bool on;
    bool drawn;
    int width;
    double started_s, drawn_s; /* monotonic clock */
    const char *label;
} dls_progress;

void dls_progress_start(dls_progress *bar, dls_ui_when when, bool quiet, const char *label);
void dls_progress_draw(dls_progress *bar, double done_frac, const char *detail);
void dls_progress_stop(dls_progress *bar);

/* "3 d 4 h", "12.3 s" */
const char *dls_ui_duration(double seconds, char *buf, size_t n);

/* s as a JSON string, quotes included. */
void dls_ui_json_string(FILE *to, const char *s);

/* A member of a JSON object on stdout, after a comma; null if it is not finite, which JSON lacks.
 */
void dls_ui_json_number(const char *name, double value);

#endif
