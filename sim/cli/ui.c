/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/ui.h"

#include "base/clock.h"
#include "base/suggest.h"
#include "base/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define OPTIONS_MAX 64

static dls_ui_when color_when = DLS_UI_AUTO;

int dls_ui_usage(const char *command, const char *fmt, ...)
{
    va_list ap;
    fputs("dlsim: ", stderr);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fprintf(stderr, "\nTry 'dlsim %s%s--help'.\n", command, *command ? " " : "");
    return dls_status_exit_code(DLS_EUSAGE);
}

int dls_ui_fail(const dls_error *err)
{
    fprintf(stderr, "%sdlsim:%s %s%s%s\n", dls_ui_red(stderr), dls_ui_reset(stderr), err->where,
            *err->where ? ": " : "", *err->msg ? err->msg : dls_status_str(err->status));
    return err->status == DLS_OK ? 1 : dls_status_exit_code(err->status); /* a failure is never 0 */
}

static void unknown_option(const struct option *longs, const char *command, const char *word)
{
    char name[64];
    const char *names[OPTIONS_MAX + 1];
    size_t n = 0;
    for (; longs->name && n < OPTIONS_MAX; longs++) {
        names[n++] = longs->name;
    }
    names[n] = NULL;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 2, "="), word + 2);
    const char *near = dls_suggest(name, names);
    dls_ui_usage(command, "unknown option '--%s'%s%s%s", name, near ? " (did you mean '--" : "",
                 near ? near : "", near ? "'?)" : "");
}

/* Why getopt_long has refused the word at argv[at]. */
static void explain(int argc, char **argv, int at, bool no_value, const struct option *longs,
                    const char *command)
{
    const char *word = at < argc ? argv[at] : "";
    if (strncmp(word, "--", 2) != 0) {
        dls_ui_usage(command, no_value ? "option '-%c' needs a value" : "unknown option '-%c'",
                     optopt);
        return;
    }
    const size_t len = strcspn(word + 2, "=");
    const struct option *found = NULL;
    int n = 0;
    for (const struct option *o = longs; o->name; o++) {
        if (strncmp(o->name, word + 2, len) == 0) {
            n++;
            found = strlen(o->name) == len ? o : (n == 1 ? o : found);
        }
    }
    if (n == 0) {
        unknown_option(longs, command, word);
    } else if (n > 1 && strlen(found->name) != len) {
        dls_ui_usage(command, "option '%.*s' is ambiguous: --%s and others begin so", (int)len + 2,
                     word, found->name);
    } else if (found->has_arg == no_argument && word[2 + len] == '=') {
        dls_ui_usage(command, "option '--%s' takes no value", found->name);
    } else {
        dls_ui_usage(command, "option '--%s' needs a value", found->name);
    }
}

int dls_ui_getopt(int argc, char **argv, const char *shorts, const struct option *longs,
                  const char *command)
{
    /* A leading ':' tells an option without its value from an unknown one. */
    char spec[64];
    snprintf(spec, sizeof spec, ":%s", shorts);
    opterr = 0;
    optopt = 0;
    const int before = optind;
    const int c = getopt_long(argc, argv, spec, longs, NULL);
    if (c == ':' || c == '?') {
        /* The word is the one just passed, but for a letter inside "-abc", where optind stays. */
        const int at = optind > 1 && optind > before ? optind - 1 : optind;
        explain(argc, argv, at, c == ':', longs, command);
        return '?';
    }
    return c;
}

void dls_ui_command_line(int argc, char **argv, char *out, size_t size)
{
    size_t used = (size_t)snprintf(out, size, "dlsim");
    for (int i = 0; i < argc && used < size; i++) {
        used += (size_t)snprintf(out + used, size - used, " %s", argv[i]);
    }
}

bool dls_ui_i64(const char *command, const char *option, const char *text, int64_t min, int64_t max,
                int64_t *out)
{
    int64_t value;
    if (!dls_units_i64(text, &value) || value < min || value > max) {
        dls_ui_usage(command, "option '%s' is \"%s\": expected an integer %lld..%lld", option, text,
                     (long long)min, (long long)max);
        return false;
    }
    *out = value;
    return true;
}

bool dls_ui_when_parse(const char *command, const char *option, const char *text, dls_ui_when *out)
{
    static const char *const words[] = {"auto", "always", "never"};
    for (int i = 0; i < 3; i++) {
        if (strcmp(words[i], text) == 0) {
            *out = (dls_ui_when)i;
            return true;
        }
    }
    dls_ui_usage(command, "option '%s' is \"%s\": expected auto, always or never", option, text);
    return false;
}

/* ---- colour ------------------------------------------------------------------------------------
 */

void dls_ui_color(dls_ui_when when)
{
    color_when = when;
}

dls_status dls_ui_take_color(void *member, const dls_arg *arg, const char *value, dls_error *err)
{
    int place;
    (void)member;
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

const char *dls_ui_bold(FILE *to)
{
    return colored(to) ? "\033[1m" : "";
}

const char *dls_ui_red(FILE *to)
{
    return colored(to) ? "\033[1;31m" : "";
}

const char *dls_ui_reset(FILE *to)
{
    return colored(to) ? "\033[0m" : "";
}

/* ---- progress ----------------------------------------------------------------------------------
 */

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

void dls_ui_json_string(FILE *to, const char *s)
{
    fputc('"', to);
    for (; *s; s++) {
        const unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\') {
            fprintf(to, "\\%c", c);
        } else if (c < 0x20) {
            fprintf(to, "\\u%04x", c);
        } else {
            fputc(c, to);
        }
    }
    fputc('"', to);
}

void dls_ui_json_number(const char *name, double value)
{
    printf(isfinite(value) ? ", \"%s\": %.9g" : ", \"%s\": null", name, value);
}
