/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cluster/failures.h"

#include "base/alloc.h"
#include "base/rng.h"
#include "base/units.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

int64_t dls_failure_draw_us(const dls_failure_params *p, uint64_t seed, uint64_t component,
                            double mtbf_s, uint32_t n)
{
    const bool works = n % 2 == 0;
    const double mean_s = works ? mtbf_s : p->repair_s;
    if (isinf(mean_s)) {
        return INT64_MAX;
    }
    dls_rng rng = dls_rng_stream(seed, DLS_RNG_FAILURE, component << 32 | n);
    const double e = -log1p(-dls_rng_unit(&rng)); /* exponential of mean 1 */
    const double shape = works ? p->shape : 1;
    /* Weibull by inversion; the mean of scale 1 is Gamma(1 + 1/shape). */
    const double us = mean_s / tgamma(1 + 1 / shape) * pow(e, 1 / shape) * 1e6;
    return us < 1 ? 1 : us < 0x1p61 ? (int64_t)us : INT64_MAX;
}

/* ---- files ------------------------------------------------------------------------------------- */

typedef enum format {
    EVENTS,
    INSTANCES,
    COUNTS
} format;

typedef struct line {
    int64_t t_us;
    dls_failure_what what;
    int32_t node; /* EVENTS: node; COUNTS: how many are alive */
    double part;
    char name[48]; /* INSTANCES */
    size_t number; /* in the file */
} line;

typedef struct reader {
    const char *path;
    format format;
    line *lines;
    size_t n, cap;
    dls_failure_trace *out;
    size_t out_cap;
    int32_t n_nodes;
} reader;

static dls_status bad_line(const reader *r, size_t number, const char *why, dls_error *err)
{
    char where[300];
    snprintf(where, sizeof where, "%.240s:%zu", r->path, number);
    return dls_fail(err, DLS_EINPUT, where, "%s", why);
}

/* "a, b ,c" in place; how many fields, at most `most`. */
static size_t split(char *text, char **field, size_t most)
{
    size_t n = 0;
    for (char *p = text; p && n < most; n++) {
        char *comma = strchr(p, ',');
        if (comma) {
            *comma++ = '\0';
        }
        p += strspn(p, " \t");
        char *end = p + strlen(p);
        while (end > p && strchr(" \t\r\n", end[-1])) {
            *--end = '\0';
        }
        field[n] = p;
        p = comma;
    }
    return n;
}

static bool parse_seconds(const char *text, double unit_s, int64_t *t_us)
{
    double value;
    if (!dls_units_f64(text, &value) || !(value >= 0) || value * unit_s > 1e12) {
        return false;
    }
    *t_us = llround(value * unit_s * 1e6);
    return true;
}

static dls_status parse_event(const reader *r, char **field, size_t n, line *out, dls_error *err)
{
    int64_t node;
    if (n < 3 || !parse_seconds(field[0], 1, &out->t_us)) {
        return bad_line(r, out->number, "expected time_s,node,event", err);
    }
    if (!dls_units_i64(field[1], &node) || node < 0 || node >= r->n_nodes) {
        return bad_line(r, out->number, "the cluster has no such node", err);
    }
    out->node = (int32_t)node;
    out->part = 1;
    if (strcmp(field[2], "fail") == 0) {
        out->what = DLS_NODE_FAILS;
    } else if (strcmp(field[2], "repair") == 0) {
        out->what = DLS_NODE_REPAIRED;
    } else if (strcmp(field[2], "link") == 0) {
        out->what = DLS_LINK_SCALED;
        if (n < 4 || !dls_units_f64(field[3], &out->part) || !(out->part > 0 && out->part <= 1)) {
            return bad_line(r, out->number, "link needs the part of its bandwidth that is left, "
                                            "above 0 and at most 1", err);
        }
    } else {
        return bad_line(r, out->number, "expected fail, repair or link", err);
    }
    return DLS_OK;
}

static dls_status parse_instance(const reader *r, char **field, size_t n, line *out, dls_error *err)
{
    if (n != 3 || !parse_seconds(field[0], 1e-3, &out->t_us) || !*field[2] ||
        strlen(field[2]) >= sizeof out->name) {
        return bad_line(r, out->number, "expected milliseconds,add|remove,name", err);
    }
    const bool add = strcmp(field[1], "add") == 0;
    if (!add && strcmp(field[1], "remove") != 0) {
        return bad_line(r, out->number, "expected add or remove", err);
    }
    out->what = add ? DLS_NODE_REPAIRED : DLS_NODE_FAILS;
    memcpy(out->name, field[2], strlen(field[2]) + 1);
    return DLS_OK;
}

static dls_status parse_count(const reader *r, char **field, size_t n, line *out, dls_error *err)
{
    struct tm tm = {0};
    int64_t alive;
    if (n != 3 || sscanf(field[0], "%d-%d-%d", &tm.tm_year, &tm.tm_mon, &tm.tm_mday) != 3 ||
        sscanf(field[1], "%d:%d:%d", &tm.tm_hour, &tm.tm_min, &tm.tm_sec) != 3 ||
        tm.tm_year < 1970 || tm.tm_year > 9999 || tm.tm_mon < 1 || tm.tm_mon > 12 ||
        tm.tm_mday < 1 || tm.tm_mday > 31 || tm.tm_hour < 0 || tm.tm_hour > 23 || tm.tm_min < 0 ||
        tm.tm_min > 59 || tm.tm_sec < 0 || tm.tm_sec > 60 || !dls_units_i64(field[2], &alive) ||
        alive < 0 || alive > INT32_MAX) {
        return bad_line(r, out->number, "expected date, time, instances alive", err);
    }
    tm.tm_year -= 1900;
    tm.tm_mon--;
    out->t_us = (int64_t)timegm(&tm) * 1000000;
    out->node = (int32_t)alive;
    return DLS_OK;
}

static dls_status recognise(reader *r, const char *first, dls_error *err)
{
    int year, month, day;
    if (strncmp(first, "time_s", 6) == 0) {
        r->format = EVENTS;
    } else if (strstr(first, ",add,") || strstr(first, ",remove,")) {
        r->format = INSTANCES;
    } else if (sscanf(first, "%4d-%2d-%2d,", &year, &month, &day) == 3) {
        r->format = COUNTS;
    } else {
        return bad_line(r, 1, "not a file of failures: expected the header time_s,node,event,part, "
                              "or lines such as 480000,add,node1 or 2021-12-11, 11:11:30, 55", err);
    }
    return DLS_OK;
}

static dls_status read_lines(reader *r, FILE *f, char **text, size_t *size, dls_error *err)
{
    static dls_status (*const parse[])(const reader *, char **, size_t, line *, dls_error *) = {
        [EVENTS] = parse_event, [INSTANCES] = parse_instance, [COUNTS] = parse_count};
    bool known = false;
    for (size_t number = 1; getline(text, size, f) > 0; number++) {
        char *field[5];
        const char *p = *text + strspn(*text, " \t\r\n");
        if (!*p || *p == '#') {
            continue;
        }
        if (!known) {
            DLS_TRY(recognise(r, p, err));
            known = true;
            if (r->format == EVENTS) {
                continue;
            }
        }
        DLS_TRY(dls_grow(&r->lines, &r->cap, r->n + 1, sizeof *r->lines, err));
        line *l = &r->lines[r->n];
        *l = (line){.number = number};
        DLS_TRY(parse[r->format](r, field, split(*text, field, 5), l, err));
        r->n++;
    }
    if (ferror(f)) {
        return dls_fail(err, DLS_EINPUT, r->path, "cannot be read: %s", strerror(errno));
    }
    return known ? DLS_OK : dls_fail(err, DLS_EINPUT, r->path, "is empty");
}

static int by_time(const void *a, const void *b)
{
    const line *x = a, *y = b;
    if (x->t_us != y->t_us) {
        return x->t_us < y->t_us ? -1 : 1;
    }
    return x->number < y->number ? -1 : 1;
}

static dls_status emit(reader *r, int64_t t_us, int32_t node, dls_failure_what what, double part,
                       dls_error *err)
{
    DLS_TRY(dls_grow(&r->out->event, &r->out_cap, r->out->n + 1, sizeof *r->out->event, err));
    r->out->event[r->out->n++] = (dls_failure_event){t_us, node, what, part};
    return DLS_OK;
}

/* An instance takes the lowest absent node. */
static dls_status place_instances(reader *r, dls_error *err)
{
    const char **holder = dls_alloc_zero((size_t)r->n_nodes, sizeof *holder);
    dls_status status = holder ? DLS_OK : dls_nomem(err, "nodes", (size_t)r->n_nodes);
    for (int32_t k = 0; k < r->n_nodes && status == DLS_OK; k++) {
        status = emit(r, 0, k, DLS_NODE_FAILS, 1, err);
    }
    for (size_t i = 0; i < r->n && status == DLS_OK; i++) {
        const line *l = &r->lines[i];
        const bool add = l->what == DLS_NODE_REPAIRED;
        int32_t k = 0;
        while (k < r->n_nodes && (add ? holder[k] != NULL
                                      : !holder[k] || strcmp(holder[k], l->name) != 0)) {
            k++;
        }
        if (k == r->n_nodes) {
            r->out->left_out++;
            continue;
        }
        holder[k] = add ? l->name : NULL;
        status = emit(r, l->t_us, k, l->what, 1, err);
    }
    dls_free(holder);
    return status;
}

/* The lowest nodes are alive. */
static dls_status place_counts(reader *r, dls_error *err)
{
    int32_t alive = r->n_nodes;
    for (size_t i = 0; i < r->n; i++) {
        const int32_t more = r->lines[i].node > r->n_nodes ? r->lines[i].node - r->n_nodes : 0;
        const int32_t now = r->lines[i].node - more;
        const int64_t t_us = r->lines[i].t_us - r->lines[0].t_us;
        r->out->left_out = (size_t)more > r->out->left_out ? (size_t)more : r->out->left_out;
        for (; alive > now; alive--) {
            DLS_TRY(emit(r, t_us, alive - 1, DLS_NODE_FAILS, 1, err));
        }
        for (; alive < now; alive++) {
            DLS_TRY(emit(r, t_us, alive, DLS_NODE_REPAIRED, 1, err));
        }
    }
    return DLS_OK;
}

static dls_status place_lines(reader *r, dls_error *err)
{
    qsort(r->lines, r->n, sizeof *r->lines, by_time);
    if (r->format == INSTANCES) {
        return place_instances(r, err);
    }
    if (r->format == COUNTS) {
        return place_counts(r, err);
    }
    for (size_t i = 0; i < r->n; i++) {
        const line *l = &r->lines[i];
        DLS_TRY(emit(r, l->t_us, l->node, l->what, l->part, err));
    }
    return DLS_OK;
}

dls_status dls_failure_trace_load(const char *path, int32_t n_nodes, dls_failure_trace *out,
                                  dls_error *err)
{
    reader r = {.path = path, .out = out, .n_nodes = n_nodes};
    char *text = NULL; /* of getline: the C library's */
    size_t size = 0;
    struct stat info;
    *out = (dls_failure_trace){0};
    FILE *f = fopen(path, "re");
    if (!f || fstat(fileno(f), &info) != 0 || S_ISDIR(info.st_mode)) {
        const int why = f ? EISDIR : errno;
        if (f) {
            fclose(f);
        }
        return dls_fail(err, DLS_EINPUT, path, "cannot be read: %s", strerror(why));
    }
    dls_status status = read_lines(&r, f, &text, &size, err);
    if (status == DLS_OK) {
        status = place_lines(&r, err);
    }
    free(text);
    fclose(f);
    dls_free(r.lines);
    if (status != DLS_OK) {
        dls_failure_trace_fini(out);
    }
    return status;
}

void dls_failure_trace_fini(dls_failure_trace *trace)
{
    dls_free(trace->event);
    *trace = (dls_failure_trace){0};
}
