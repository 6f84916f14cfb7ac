/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the commands share: error reports, colour, progress.
 */
#ifndef DLS_CLI_UI_H
#define DLS_CLI_UI_H

#include "cli/command.h"

/* The report on stderr, with its place; returns the exit code of err->status. */
int dls_ui_fail(const dls_error *err);
/* The same, for EUSAGE with "Try 'dlsim COMMAND --help'." behind it. */
int dls_ui_fail_of(const char *command, const dls_error *err);

/* ---- colour ---------------------------------------------------------------------------------- */

typedef enum dls_ui_when { DLS_UI_AUTO, DLS_UI_ALWAYS, DLS_UI_NEVER } dls_ui_when;

/* The options of talk; when: a member of type dls_ui_when. */
#define DLS_COLOR                                                                                  \
    DLS_ARG(.type = DLS_ARG_CALL, .name = "color", .metavar = "auto|always|never",                 \
            .set = dls_ui_take_color, .help = "colour on a terminal, or as told")
#define DLS_PROGRESS(T, when)                                                                      \
    DLS_CHOICE(T, when, "progress", 0, "auto|always|never", "a bar on a terminal, or as told")
dls_status dls_ui_take_color(void *member, const dls_arg *arg, const char *value,
                             dls_error *err) DLS_MUST_CHECK;
/* The escape sequence, "" without colour. Auto: colour on a terminal, if TERM is not "dumb" and
 * NO_COLOR is unset or empty. */
#define DLS_UI_BOLD "\033[1m"
#define DLS_UI_RED "\033[1;31m"
#define DLS_UI_RESET "\033[0m"
const char *dls_ui_style(FILE *to, const char *escape);

/* ---- progress -------------------------------------------------------------------------------- */

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

#endif
