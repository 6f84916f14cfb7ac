/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A profiler's list of kernels as counters of busy time: reads the events, sorts their ends,
 * sweeps.
 */
#include "predictor/measure/profiler.h"

#include "base/alloc.h"
#include "base/csv.h"
#include "base/file.h"
#include "base/json.h"
#include "base/own.h"
#include "predictor/measure/source.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAX_US 1e13 /* four months, and sums of bytes stay exact */

enum { GPUS = 16 }; /* of one process */
enum { BUSY, COMPUTE, EXCHANGE, COPY, TRACKS, STEP = TRACKS, OTHER };

static const char *const track_names[TRACKS] = {"busy", "compute", "exchange", "copy"};

/* One end of an event. */
typedef struct edge {
    double time_us;
    double rate; /* of bytes per us, from here on more or less */
    int gpu, track, change;
} edge;

typedef struct profile {
    edge *edge;
    double *step_us;
    size_t n, cap, n_steps, step_cap;
    int64_t device[GPUS]; /* [n_gpus] their numbers, in the order in which they came */
    int n_gpus;
    size_t events[GPUS][TRACKS];
    bool sizes[GPUS]; /* some exchange says how many bytes */
} profile;

/* NaN: it has no number. */
static dls_status gpu_of(const char *path, profile *p, double number, int *gpu, dls_error *err)
{
    const int64_t device = number >= 0 && number <= INT32_MAX ? (int64_t)number : 0;
    for (*gpu = 0; *gpu < p->n_gpus && p->device[*gpu] != device; (*gpu)++) {
    }
    if (*gpu == GPUS) {
        return dls_fail(err, DLS_EINPUT, path, "more than %d GPUs", GPUS);
    }
    if (*gpu == p->n_gpus) {
        p->device[p->n_gpus++] = device;
    }
    return DLS_OK;
}

static dls_status add(profile *p, int gpu, int track, double start_us, double duration_us, double bytes,
                      dls_error *err)
{
    if (track == OTHER) {
        return DLS_OK;
    }
    if (track == STEP) {
        DLS_TRY(dls_grow(&p->step_us, &p->step_cap, p->n_steps + 1, sizeof *p->step_us, err));
        p->step_us[p->n_steps++] = duration_us;
        return DLS_OK;
    }
    DLS_TRY(dls_grow(&p->edge, &p->cap, p->n + 2, sizeof *p->edge, err));
    const double rate = duration_us > 0 && bytes > 0 ? bytes / duration_us : 0;
    p->edge[p->n++] = (edge){start_us, rate, gpu, track, 1};
    p->edge[p->n++] = (edge){start_us + duration_us, -rate, gpu, track, -1};
    p->events[gpu][track]++;
    p->sizes[gpu] = p->sizes[gpu] || (track == EXCHANGE && rate > 0);
    return DLS_OK;
}

/* ---- table ----------------------------------------------------------------------------------- */

static int track_of_kind(const char *kind)
{
    return strcmp(kind, "compute") == 0 || strcmp(kind, "memset") == 0 ? COMPUTE
           : strcmp(kind, "exchange") == 0                             ? EXCHANGE
           : strncmp(kind, "copy", 4) == 0                             ? COPY
           : strcmp(kind, "step") == 0                                 ? STEP
                                                                       : OTHER;
}

enum { START, DURATION, KIND, BYTES, N_COLUMNS };

static dls_status read_row(dls_csv *csv, const int *col, void *user, dls_error *err)
{
    const int64_t most_ns = (int64_t)(1e3 * MAX_US);
    int64_t at_ns, length_ns, size = 0;
    DLS_TRY(dls_csv_scaled(csv, col[START], "microseconds", 3, true, 0, most_ns, &at_ns, err));
    DLS_TRY(dls_csv_scaled(csv, col[DURATION], "microseconds", 3, true, 0, most_ns, &length_ns, err));
    if (!dls_csv_missing(csv, col[BYTES])) {
        DLS_TRY(dls_csv_scaled(csv, col[BYTES], "bytes", 0, true, 0, INT64_C(1) << 52, &size, err));
    }
    const int track = track_of_kind(dls_csv_text(csv, col[KIND]));
    return track == OTHER
               ? dls_csv_fail(csv, col[KIND], err, "not compute, exchange, copy..., memset or step")
               : add(user, 0, track, 1e-3 * (double)at_ns, 1e-3 * (double)length_ns, (double)size, err);
}

static dls_status read_table(const char *path, const char *text, size_t len, profile *p,
                             dls_error *err)
{
    static const char *const names[N_COLUMNS] = {"start_us", "duration_us", "kind", "bytes"};
    DLS_OWN(dls_csv_fini) dls_csv csv = {0};
    dls_csv_init(&csv, path, text, len, ',');
    p->n_gpus = 1;
    return dls_csv_read(&csv, names, N_COLUMNS, BYTES, read_row, p, err);
}

/* ---- trace events ---------------------------------------------------------------------------- */

static const char *text_of(json_object *event, const char *name)
{
    json_object *value;
    return json_object_object_get_ex(event, name, &value) &&
                   json_object_is_type(value, json_type_string)
               ? json_object_get_string(value)
               : "";
}

/* NaN: there is none */
static double number_of(json_object *event, const char *name)
{
    json_object *value;
    return json_object_object_get_ex(event, name, &value) &&
                   (json_object_is_type(value, json_type_double) ||
                    json_object_is_type(value, json_type_int))
               ? json_object_get_double(value)
               : (double)NAN;
}

/* Bytes of an element of PyTorch's type; 0: none that is known. */
static int size_of_type(const char *name)
{
    static const struct {
        const char *name;
        int bytes;
    } type[] = {{"Half", 2},  {"BFloat16", 2}, {"Float8", 1}, {"Float", 4}, {"Double", 8}, {"Byte", 1},
                {"Char", 1},  {"Bool", 1},     {"Short", 2},  {"Int", 4},   {"Long", 8},   {"UInt16", 2},
                {"UInt32", 4}, {"UInt64", 8}};
    for (size_t i = 0; i < sizeof type / sizeof *type; i++) {
        const size_t n = strlen(type[i].name);
        if (strncmp(name, type[i].name, n) == 0 && (name[n] == '\0' || name[n] == '_')) { /* Float8_e4m3fn */
            return type[i].bytes;
        }
    }
    return 0;
}

/* What a kernel moves, or a collective is handed; NaN: the profiler does not say. */
static double bytes_of(json_object *args)
{
    const double said = number_of(args, "bytes");
    const int size = size_of_type(text_of(args, "dtype"));
    return isnan(said) && size > 0 ? size * number_of(args, "In msg nelems") : said;
}

/* Categories as Kineto writes them; before PyTorch 1.12 they were capitalised. */
static int track_of_event(json_object *event)
{
    const char *category = text_of(event, "cat"), *name = text_of(event, "name");
    if (strcasecmp(category, "kernel") == 0) {
        return strncasecmp(name, "nccl", 4) == 0 ? EXCHANGE : COMPUTE;
    }
    if (strcasecmp(category, "gpu_memcpy") == 0 || strcmp(category, "Memcpy") == 0) {
        return COPY;
    }
    if (strcasecmp(category, "gpu_memset") == 0 || strcmp(category, "Memset") == 0) {
        return COMPUTE;
    }
    /* The same annotation stands on the GPU's line, too. */
    return strncmp(name, "ProfilerStep#", 13) == 0 && strncmp(category, "gpu_", 4) != 0 ? STEP
                                                                                        : OTHER;
}

static dls_status read_events(const char *path, json_object *list, profile *p, dls_error *err)
{
    const size_t n = json_object_array_length(list);
    for (size_t i = 0; i < n; i++) {
        json_object *event = json_object_array_get_idx(list, i), *args = NULL;
        const int track = strcmp(text_of(event, "ph"), "X") == 0 ? track_of_event(event) : OTHER;
        if (track == OTHER) {
            continue;
        }
        const double start = number_of(event, "ts"), duration = number_of(event, "dur");
        if (!isfinite(start) || !(duration >= 0 && duration <= MAX_US)) {
            return dls_fail(err, DLS_EINPUT, path, "event %zu: no time or no duration", i);
        }
        (void)json_object_object_get_ex(event, "args", &args);
        const double bytes = args ? bytes_of(args) : (double)NAN;
        int gpu = 0;
        if (track < TRACKS) {
            DLS_TRY(gpu_of(path, p, args ? number_of(args, "device") : (double)NAN, &gpu, err));
        }
        DLS_TRY(add(p, gpu, track, start, duration, bytes > 0 && bytes < 1e15 ? bytes : 0, err));
    }
    return DLS_OK;
}

static dls_status read_trace(const char *path, const char *text, size_t len, profile *p,
                             dls_error *err)
{
    json_object *list;
    json_tokener *tokener = json_tokener_new();
    if (!tokener || len > INT32_MAX) {
        json_tokener_free(tokener);
        return tokener ? dls_fail(err, DLS_EINPUT, path, "larger than 2 GiB")
                       : dls_nomem(err, "JSON", sizeof tokener);
    }
    json_object *root = json_tokener_parse_ex(tokener, text, (int)len);
    const enum json_tokener_error why = json_tokener_get_error(tokener);
    char where[512];
    (void)dls_file_where(path, text, json_tokener_get_parse_end(tokener), where, sizeof where);
    json_tokener_free(tokener);
    if (!root) {
        return dls_fail(err, DLS_EINPUT, where, "not a whole JSON file: %s",
                        why == json_tokener_continue ? "it ends early"
                                                     : json_tokener_error_desc(why));
    }
    dls_status status;
    if (!json_object_object_get_ex(root, "traceEvents", &list)) {
        list = root;
    }
    if (json_object_is_type(list, json_type_array)) {
        status = read_events(path, list, p, err);
    } else {
        status = dls_fail(err, DLS_EINPUT, path, "no list of trace events");
    }
    json_object_put(root);
    return status;
}

/* ---- sweep ----------------------------------------------------------------------------------- */

DLS_BY(earlier, edge, DLS_UP(time_us));

/* GPUs in the order of their numbers. */
static void by_number(const profile *p, int gpu[GPUS])
{
    for (int g = 0; g < p->n_gpus; g++) {
        int before = 0;
        for (int other = 0; other < p->n_gpus; other++) {
            before += p->device[other] < p->device[g];
        }
        gpu[before] = g;
    }
}

/* Of each GPU columns in the order of the tracks that have events, then the bytes. */
static dls_status columns(const profile *p, const int *gpu, dls_recording *out, dls_error *err)
{
    for (int k = 0; k < p->n_gpus; k++) {
        for (int t = 0; t < TRACKS; t++) {
            if (t == BUSY || p->events[gpu[k]][t] > 0) {
                DLS_TRY(dls_recording_add(out, DLS_COLUMN_COUNTER, 1, err, "gpu%d.%s_seconds", k,
                                          track_names[t]));
            }
        }
        if (p->sizes[gpu[k]]) {
            DLS_TRY(dls_recording_add(out, DLS_COLUMN_COUNTER, 0, err, "gpu%d.exchange_bytes", k));
        }
    }
    return DLS_OK;
}

/* What a GPU does, and what it has done. */
typedef struct state {
    int64_t active[TRACKS];
    double seconds[TRACKS], bytes, rate;
} state;

static dls_status put_row(const profile *p, const int *gpu, const state *of, int64_t time_ns, dls_recording *out,
                          dls_error *err)
{
    DLS_TRY(dls_grow(&out->time_ns, &out->time_cap, out->n + 1, sizeof *out->time_ns, err));
    DLS_TRY(dls_grow(&out->value, &out->value_cap, (out->n + 1) * out->n_columns, sizeof *out->value, err));
    double *row = out->value + out->n * out->n_columns;
    for (int k = 0; k < p->n_gpus; k++) {
        const state *s = &of[gpu[k]];
        for (int t = 0; t < TRACKS; t++) {
            if (t == BUSY || p->events[gpu[k]][t] > 0) {
                *row++ = s->seconds[t];
            }
        }
        if (p->sizes[gpu[k]]) {
            *row++ = s->bytes;
        }
    }
    out->time_ns[out->n++] = time_ns;
    return DLS_OK;
}

/* path: for errors. */
static dls_status sweep(const char *path, profile *p, const int *gpu, dls_recording *out, dls_error *err)
{
    state of[GPUS] = {0};
    qsort(p->edge, p->n, sizeof *p->edge, earlier);
    const double begin_us = p->edge[0].time_us;
    if (p->edge[p->n - 1].time_us - begin_us > 2 * MAX_US) {
        return dls_fail(err, DLS_EINPUT, path, "events that are more than %g s apart",
                        2e-6 * MAX_US);
    }
    double before_us = begin_us;
    for (size_t i = 0; i < p->n;) {
        const double now_us = p->edge[i].time_us, span_us = now_us - before_us;
        for (state *s = of; s < of + p->n_gpus; s++) {
            for (int t = 0; t < TRACKS; t++) {
                s->seconds[t] += s->active[t] > 0 ? 1e-6 * span_us : 0;
            }
            s->bytes += s->rate * span_us;
        }
        for (; i < p->n && !(p->edge[i].time_us > now_us); i++) {
            const edge *e = &p->edge[i];
            state *s = &of[e->gpu];
            s->active[e->track] += e->change;
            s->active[BUSY] += e->change;
            s->rate = e->track == EXCHANGE ? s->rate + e->rate : s->rate;
        }
        for (state *s = of; s < of + p->n_gpus; s++) {
            s->rate = s->active[EXCHANGE] > 0 ? s->rate : 0; /* no rounding stays behind */
        }
        before_us = now_us;
        DLS_TRY(put_row(p, gpu, of, (int64_t)llround(1e3 * (now_us - begin_us)), out, err));
    }
    return DLS_OK;
}

static dls_status record(const char *path, profile *p, dls_recording *out, dls_error *err)
{
    if (p->n == 0) {
        return dls_fail(err, DLS_EINPUT, path, "no work of a GPU in it");
    }
    int gpu[GPUS];
    by_number(p, gpu);
    DLS_TRY(columns(p, gpu, out, err));
    DLS_TRY(sweep(path, p, gpu, out, err));
    if (p->n_steps > 0) {
        gsl_sort(p->step_us, 1, p->n_steps);
        dls_recording_note(out, "the profiler's steps: %zu, median %.6g s", p->n_steps,
                           1e-6 * gsl_stats_median_from_sorted_data(p->step_us, 1, p->n_steps));
    }
    return DLS_OK;
}

dls_status dls_recording_of_profile(const char *path, double interval_s, dls_recording *out,
                                    dls_error *err)
{
    profile p = {0};
    char *text;
    size_t len;
    *out = (dls_recording){.interval_s = interval_s};
    snprintf(out->command, sizeof out->command, "profile of %s", path);
    DLS_TRY(dls_file_read_plain(path, DLS_FILE_GRAPH, &text, &len, err));
    const size_t blanks = strspn(text, " \t\r\n");
    dls_status status = text[blanks] == '{' || text[blanks] == '['
                            ? read_trace(path, text, len, &p, err)
                            : read_table(path, text, len, &p, err);
    DLS_THEN(status, record(path, &p, out, err));
    DLS_FREE_ALL(text, p.edge, p.step_us);
    return status;
}
