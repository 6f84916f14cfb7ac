/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Running a command and reading the sources until it ends; series at a fixed interval.
 */
#include "predictor/measure/recording.h"

#include "base/alloc.h"
#include "predictor/measure/source.h"

#include <errno.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#define OFFLOADED (4 * 65536.0)

extern char **environ;

enum { WATCHED_MAX = 16, SOURCES = 2 * WATCHED_MAX + 1 };

void dls_recording_fini(dls_recording *r)
{
    DLS_FREE_ALL(r->columns, r->time_ns, r->value);
    *r = (dls_recording){0};
}

dls_status dls_recording_add(dls_recording *r, dls_column_kind kind, double capacity,
                             dls_error *err, const char *fmt, ...)
{
    va_list ap;
    DLS_TRY(dls_grow(&r->columns, &r->column_cap, r->n_columns + 1, sizeof *r->columns, err));
    dls_column *c = &r->columns[r->n_columns++];
    *c = (dls_column){.kind = kind, .capacity = capacity};
    va_start(ap, fmt);
    vsnprintf(c->name, sizeof c->name, fmt, ap);
    va_end(ap);
    return DLS_OK;
}

void dls_recording_note(dls_recording *r, const char *fmt, ...)
{
    va_list ap;
    const size_t n = strlen(r->notes);
    const size_t used =
        n + (size_t)snprintf(r->notes + n, sizeof r->notes - n, n ? "; " : "%s", "");
    if (used < sizeof r->notes) {
        va_start(ap, fmt);
        vsnprintf(r->notes + used, sizeof r->notes - used, fmt, ap);
        va_end(ap);
    }
}

/* ---- samples from elsewhere ------------------------------------------------------------------ */

/* In the columns' order. */
static const struct {
    const char *name;
    dls_column_kind kind;
    int resource;
} sampled[DLS_RESOURCES] = {{"gpu0.util_percent", DLS_COLUMN_LEVEL, DLS_RES_GPU},
                            {"gpu0.mem_util_percent", DLS_COLUMN_LEVEL, DLS_RES_GPU_MEM},
                            {"net.job.rx_bytes", DLS_COLUMN_COUNTER, DLS_RES_NET_RX},
                            {"net.job.tx_bytes", DLS_COLUMN_COUNTER, DLS_RES_NET_TX}};

dls_status dls_recording_of_samples(double *const x[DLS_RESOURCES], size_t n, double interval_s,
                                    double network_bps, dls_recording *out, dls_error *err)
{
    *out = (dls_recording){.interval_s = interval_s};
    if (n == 0 || !(interval_s > 0) || !((double)n * interval_s < 9e9)) {
        return dls_fail(err, DLS_EINPUT, "samples", "%zu at an interval of %g s", n, interval_s);
    }
    for (int k = 0; k < DLS_RESOURCES; k++) {
        const bool level = sampled[k].kind == DLS_COLUMN_LEVEL;
        DLS_TRY(dls_recording_add(out, sampled[k].kind, level ? 100 : network_bps, err, "%s",
                                  sampled[k].name));
    }
    DLS_TRY(dls_grow(&out->time_ns, &out->time_cap, n + 1, sizeof *out->time_ns, err));
    DLS_TRY(
        dls_grow(&out->value, &out->value_cap, (n + 1) * DLS_RESOURCES, sizeof *out->value, err));
    out->n = n + 1;
    /* An interval's mean is the level at its end; counters begin at 0. */
    for (size_t i = 0; i <= n; i++) {
        double *row = out->value + i * DLS_RESOURCES;
        out->time_ns[i] = (int64_t)llround((double)i * interval_s * 1e9);
        for (int k = 0; k < DLS_RESOURCES; k++) {
            const double now = x[sampled[k].resource][i > 0 ? i - 1 : 0];
            if (sampled[k].kind == DLS_COLUMN_LEVEL) {
                row[k] = 100 * now;
            } else {
                row[k] = i > 0 ? (row - DLS_RESOURCES)[k] + now * interval_s : 0;
            }
        }
    }
    return DLS_OK;
}

/* ---- the command ----------------------------------------------------------------------------- */

static dls_status start(char *const argv[], dls_recording *r, pid_t *child, dls_error *err)
{
    size_t n = 0;
    for (size_t i = 0; argv[i] && n < sizeof r->command; i++) {
        const int len =
            snprintf(r->command + n, sizeof r->command - n, "%s%s", i ? " " : "", argv[i]);
        n += len > 0 ? (size_t)len : 0;
    }
    const int code = posix_spawnp(child, argv[0], NULL, NULL, argv, environ);
    if (code != 0) {
        r->exit_code = code == ENOENT ? 127 : 126;
        return dls_fail(err, DLS_ERUN, argv[0], "the command cannot be started: %s",
                        strerror(code));
    }
    return DLS_OK;
}

/* true: it has ended, and its code is known. */
static bool ended(pid_t child, int flags, int32_t *exit_code)
{
    int status;
    pid_t got;
    do {
        got = waitpid(child, &status, flags);
    } while (got < 0 && errno == EINTR);
    if (got == 0) {
        return false;
    }
    *exit_code = got < 0 ? 1 : WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return true;
}

/* ---- readings -------------------------------------------------------------------------------- */

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static dls_status take(dls_recording *r, const dls_source *sources, int64_t began_ns,
                       dls_error *err)
{
    const size_t width = r->n_columns;
    DLS_TRY(dls_grow(&r->time_ns, &r->time_cap, r->n + 1, sizeof *r->time_ns, err));
    DLS_TRY(dls_grow(&r->value, &r->value_cap, (r->n + 1) * width + 1, sizeof *r->value, err));
    double *row = r->value + r->n * width;
    for (size_t i = 0; i < width; i++) { /* what cannot be read stays */
        row[i] = r->n > 0 ? row[(ptrdiff_t)i - (ptrdiff_t)width] : 0;
    }
    r->time_ns[r->n] = now_ns() - began_ns;
    for (int i = 0; i < SOURCES; i++) {
        if (sources[i].n_columns > 0) {
            sources[i].read(sources[i].state, row);
        }
        row += sources[i].n_columns;
    }
    r->n++;
    return DLS_OK;
}

static void sleep_until(int64_t time_ns)
{
    const struct timespec t = {.tv_sec = (time_t)(time_ns / 1000000000),
                               .tv_nsec = (long)(time_ns % 1000000000)};
    /* A signal ends the sleep early: it has to be passed on, and the reading may come early. */
    (void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

static dls_status sample(dls_recording *r, const dls_source *sources, pid_t child,
                         const dls_record_options *o, dls_error *err)
{
    const int64_t began_ns = now_ns();
    const int64_t interval_ns = (int64_t)(o->interval_s * 1e9);
    int64_t next_ns = began_ns;
    r->began_ns = began_ns;
    for (;;) {
        DLS_TRY(take(r, sources, began_ns, err));
        if (ended(child, WNOHANG, &r->exit_code)) {
            return DLS_OK;
        }
        /* Points of time that have passed are left out, not made up for. */
        const int64_t late_ns = now_ns() - next_ns;
        next_ns += (late_ns / interval_ns + 1) * interval_ns;
        sleep_until(next_ns);
        if (o->forward && *o->forward) {
            const int number = *o->forward;
            *o->forward = 0;
            kill(child, number);
        }
    }
}

/* Counters from 0. */
static void rebase(dls_recording *r)
{
    for (size_t k = 0; k < r->n_columns && r->n > 0; k++) {
        const double first = r->columns[k].kind == DLS_COLUMN_COUNTER ? r->value[k] : 0;
        for (size_t i = 0; i < r->n; i++) {
            r->value[i * r->n_columns + k] -= first;
        }
    }
}

/* "w0:123" of the list; *list behind it. */
static dls_status next_watched(const char **list, dls_watched *w, dls_error *err)
{
    int pid, used = 0;
    if (sscanf(*list, "%23[a-z0-9_-]:%d%n", w->name, &pid, &used) != 2 || pid <= 0 ||
        ((*list)[used] && (*list)[used] != ',')) {
        return dls_fail(err, DLS_EINPUT, "processes", "\"%s\": expected NAME:PID[,...]", *list);
    }
    if (kill(pid, 0) != 0) {
        return dls_fail(err, DLS_EINPUT, w->name, "process %d: %s", pid, strerror(errno));
    }
    *list += used + ((*list)[used] == ',');
    w->pid = pid;
    return DLS_OK;
}

/* Columns are in the order in which sources are opened. */
static dls_status open_watched(const dls_record_options *o, dls_recording *r, dls_source *sources,
                               size_t *n, dls_error *err)
{
    for (const char *at = o->processes; *at;) {
        dls_watched w;
        if (*n + 2 > SOURCES) {
            return dls_fail(err, DLS_EINPUT, "processes", "more than %d", WATCHED_MAX);
        }
        DLS_TRY(next_watched(&at, &w, err));
        DLS_TRY(dls_source_net(r, &w, o->interfaces, &sources[(*n)++], err));
        DLS_TRY(dls_source_cpu(r, &w, &sources[(*n)++], err));
    }
    return DLS_OK;
}

/* Everything that can fail before the command runs; its own processor time needs its number. */
static dls_status open_sources(const dls_record_options *o, dls_recording *r, dls_source *sources,
                               size_t *n, dls_error *err)
{
    if (!o->no_gpu) {
        DLS_TRY(dls_source_gpu(r, &sources[(*n)++], err));
    }
    return o->processes
               ? open_watched(o, r, sources, n, err)
               : dls_source_net(r, &(dls_watched){.pid = 0}, o->interfaces, &sources[(*n)++], err);
}

dls_status dls_record(char *const argv[], const dls_record_options *options, dls_recording *out,
                      dls_error *err)
{
    dls_source sources[SOURCES] = {{0}};
    size_t n = 0;
    dls_watched command = {.pid = 0};
    *out = (dls_recording){.interval_s = options->interval_s};
    if (!(options->interval_s >= 0.001 && options->interval_s <= 3600)) {
        return dls_fail(err, DLS_EINPUT, "interval", "an interval lies between 1 ms and an hour");
    }
    dls_status status = open_sources(options, out, sources, &n, err);
    if (status == DLS_OK) {
        status = start(argv, out, &command.pid, err);
    }
    if (status == DLS_OK) {
        if (!options->processes) {
            status = dls_source_cpu(out, &command, &sources[n++], err);
        }
        if (status == DLS_OK) {
            status = sample(out, sources, command.pid, options, err);
        }
        if (status != DLS_OK) { /* out of memory: the command goes on unrecorded */
            (void)ended(command.pid, 0, &out->exit_code);
        }
        rebase(out);
    }
    for (size_t i = 0; i < n; i++) {
        if (sources[i].close) {
            sources[i].close(sources[i].state);
        }
    }
    return status;
}

/* ---- series ---------------------------------------------------------------------------------- */

/* A counter at a time between readings i - 1 and i, on the line between them. */
static double between(const dls_recording *r, size_t column, size_t i, double time_ns)
{
    const double *v = r->value + column;
    const double b = v[i * r->n_columns];
    if (i == 0) {
        return b;
    }
    const double a = v[(i - 1) * r->n_columns];
    const double begin = (double)r->time_ns[i - 1];
    const double span = (double)r->time_ns[i] - begin;
    return span > 0 ? a + (b - a) * (time_ns - begin) / span : b;
}

/* Counters go up, those of a link no faster than it: twice its speed since they last moved, and a
 * few packets as large as offloading makes them, are allowed. A processor's jumps when a child has
 * ended. */
static dls_status check_counter(const dls_recording *r, size_t column, dls_error *err)
{
    const dls_column *c = &r->columns[column];
    const bool link = strncmp(c->name, "net.", 4) == 0 && c->capacity > 0;
    size_t moved = 0;
    for (size_t i = 1; i < r->n; i++) {
        const double up =
            r->value[i * r->n_columns + column] - r->value[(i - 1) * r->n_columns + column];
        const double at_s = (double)(r->time_ns[i - 1] - r->time_ns[0]) * 1e-9;
        if (up < 0) {
            return dls_fail(err, DLS_EINPUT, c->name, "the counter goes back after %.3f s", at_s);
        }
        const double since_s = (double)(r->time_ns[i] - r->time_ns[moved]) * 1e-9;
        if (link && up > 2 * c->capacity * since_s + OFFLOADED) {
            return dls_fail(
                err, DLS_EINPUT, c->name,
                "the counter jumps by %.3g bytes after %.3f s, the link carries %.3g a second", up,
                at_s, c->capacity);
        }
        moved = up > 0 ? i : moved;
    }
    return DLS_OK;
}

dls_status dls_recording_series(const dls_recording *r, size_t column, double interval_s,
                                double **x, size_t *n, dls_error *err)
{
    *x = NULL;
    *n = 0;
    const double step_ns = interval_s * 1e9;
    const double span_ns = r->n > 1 ? (double)(r->time_ns[r->n - 1] - r->time_ns[0]) : 0;
    if (!(step_ns > 0) || !(span_ns >= 2 * step_ns) || span_ns / step_ns > 1e9) {
        return dls_fail(err, DLS_EINPUT, r->command,
                        "a recording of %.3f s has no two intervals of %.3f s", span_ns * 1e-9,
                        interval_s);
    }
    const bool counter = r->columns[column].kind == DLS_COLUMN_COUNTER;
    DLS_TRY(counter ? check_counter(r, column, err) : DLS_OK);
    const size_t points = (size_t)floor(span_ns / step_ns + 1e-9);
    double *to = NULL;
    DLS_TRY(dls_alloc_array(&to, points, sizeof *to, "series", err));
    double before = r->value[column];
    size_t at = 0; /* the first reading at or behind the time */
    for (size_t i = 0; i < points; i++) {
        const double time_ns = (double)r->time_ns[0] + (double)(i + 1) * step_ns;
        while (at + 1 < r->n && (double)r->time_ns[at] < time_ns) {
            at++;
        }
        if (counter) {
            const double value = between(r, column, at, time_ns);
            to[i] = (value - before) / interval_s;
            before = value;
        } else {
            const bool reached = (double)r->time_ns[at] <= time_ns;
            to[i] = r->value[(at - (reached || at == 0 ? 0 : 1)) * r->n_columns + column];
        }
    }
    *x = to;
    *n = points;
    return DLS_OK;
}
