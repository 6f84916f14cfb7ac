/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Error reports, colour by terminal and environment, and the progress bar of the commands.
 */
#include "cli/ui.h"

#include "base/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static dls_ui_when color_when = DLS_UI_AUTO;

int dls_ui_fail(const dls_error *err)
{
    fprintf(stderr, "%sdlsim:%s %s%s%s\n", dls_ui_style(stderr, DLS_UI_RED),
            dls_ui_style(stderr, DLS_UI_RESET), err->where, *err->where ? ": " : "",
            *err->msg ? err->msg : dls_status_str(err->status));
    return err->status == DLS_OK ? 1 : dls_status_exit_code(err->status); /* a failure is never 0 */
}

int dls_ui_fail_of(const char *command, const dls_error *err)
{
    const int code = dls_ui_fail(err);
    if (err->status == DLS_EUSAGE) {
        fprintf(stderr, "Try 'dlsim %s%s--help'.\n", command, *command ? " " : "");
    }
    return code;
}

/* ---- colour ---------------------------------------------------------------------------------- */

dls_status dls_ui_take_color(void *member, const dls_arg *arg, const char *value, dls_error *err)
{
    int place;
    DLS_TRY(dls_arg_word(arg, value, &place, err));
    color_when = (dls_ui_when)place;
    return DLS_OK;
}

static bool colored(FILE *to)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    if (color_when != DLS_UI_AUTO) {
        return color_when == DLS_UI_ALWAYS;
    }
    return !(no_color && *no_color) && term && strcmp(term, "dumb") != 0 && isatty(fileno(to));
}

const char *dls_ui_style(FILE *to, const char *escape)
{
    return colored(to) ? escape : "";
}

/* ---- progress -------------------------------------------------------------------------------- */

const char *dls_ui_duration(double seconds, char *buf, size_t n)
{
    if (!isfinite(seconds) || seconds < 0) {
        snprintf(buf, n, "-");
    } else if (seconds < 60) {
        snprintf(buf, n, "%.1f s", seconds);
    } else if (seconds < 3600) {
        snprintf(buf, n, "%d min %02d s", (int)(seconds / 60), (int)fmod(seconds, 60));
    } else if (seconds < 86400) {
        snprintf(buf, n, "%d h %02d min", (int)(seconds / 3600), (int)fmod(seconds / 60, 60));
    } else {
        snprintf(buf, n, "%.0f d %02d h", floor(seconds / 86400), (int)fmod(seconds / 3600, 24));
    }
    return buf;
}

void dls_progress_start(dls_progress *bar, dls_ui_when when, bool quiet, const char *label)
{
    struct winsize size;
    *bar = (dls_progress){.label = label, .width = 80, .started_s = dls_clock_s()};
    bar->on = when == DLS_UI_ALWAYS || (when == DLS_UI_AUTO && !quiet && isatty(STDERR_FILENO));
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40) {
        bar->width = size.ws_col;
    }
}

void dls_progress_draw(dls_progress *bar, double done_frac, const char *detail)
{
    const double now = dls_clock_s();
    if (!bar->on || now - bar->drawn_s < 0.1) {
        return;
    }
    char left[32] = "", line[200];
    const double frac = fmin(fmax(done_frac, 0), 1);
    if (frac > 0.01 && now - bar->started_s > 0.5) {
        dls_ui_duration((now - bar->started_s) * (1 - frac) / frac, left, sizeof left);
    }
    const int cells = 20, full = (int)(frac * cells);
    snprintf(line, sizeof line, "%s [%.*s%*s] %3d%%  %s%s%s", bar->label, full,
             "====================", cells - full, "", (int)(frac * 100), detail,
             *left ? "  ETA " : "", left);
    fprintf(stderr, "\r%-*.*s", bar->width - 1, bar->width - 1, line);
    fflush(stderr);
    bar->drawn_s = now;
    bar->drawn = true;
}

void dls_progress_stop(dls_progress *bar)
{
    if (bar->drawn) {
        fprintf(stderr, "\r%*s\r", bar->width - 1, "");
        fflush(stderr);
    }
    bar->on = false;
}
