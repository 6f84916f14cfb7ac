/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Exports a run as Trace Event JSON: one slice for each GPU that a job holds, in row order by
 * start, and counters of the cluster; written as a stream, without a tree in memory.
 */
#include "base/json.h"
#include "base/own.h"
#include "cli/export_tables.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum {
    GPUS = 64, /* bits of a mask */
    LANES = 8  /* threads of a GPU; jobs beyond share the last */
};

/* Columns of allocations, and of the series. */
enum { JOB, NODE, START, END, RATE, MASK, TIME = 0, BUSY, RUNNING, PENDING, USED = 6 };

typedef struct writer {
    FILE *out;
    const dls_saved *run;
    dls_perfetto *span;
    dls_result_column row[USED], series[USED], gpus; /* .data NULL: was not recorded */
    int64_t
        *lane_end; /* [n_nodes * GPUS * LANES] until when each is taken; INT64_MIN: never used */
    size_t n_nodes;
    bool first;
} writer;

/* Process 0 is the cluster. */
static int pid_of(int64_t node)
{
    return (int)node + 1;
}

static void begin(writer *w)
{
    fputs(w->first ? "\n" : ",\n", w->out);
    w->first = false;
}

/* s as a JSON string; false without memory. */
static bool put_text(FILE *out, const char *s)
{
    json_object *text = dls_json_utf8(s);
    if (!text) {
        return false;
    }
    fputs(json_object_to_json_string_ext(text, JSON_C_TO_STRING_NOSLASHESCAPE), out);
    json_object_put(text);
    return true;
}

/* Names of processes and threads. */
static void put_name(writer *w, const char *what, int pid, int tid, const char *name)
{
    begin(w);
    fprintf(
        w->out,
        "{\"ph\": \"M\", \"name\": \"%s\", \"pid\": %d, \"tid\": %d, \"args\": {\"name\": \"%s\"}}",
        what, pid, tid, name);
}

/* ---- slices ---------------------------------------------------------------------------------- */

/* The thread of a GPU that is free from start on. */
static int lane_of(writer *w, int64_t node, int gpu, int64_t start_us, int64_t end_us)
{
    int64_t *end = w->lane_end + ((size_t)node * GPUS + (size_t)gpu) * LANES;
    int lane = 0;
    while (lane < LANES - 1 && end[lane] > start_us) {
        lane++;
    }
    if (end[lane] == INT64_MIN) {
        char name[48];
        snprintf(name, sizeof name, lane ? "GPU %d (%d)" : "GPU %d", gpu, lane + 1);
        put_name(w, "thread_name", pid_of(node), gpu * LANES + lane, name);
    }
    end[lane] = end_us;
    return gpu * LANES + lane;
}

static bool put_slice(writer *w, size_t row, int pid, int tid)
{
    const dls_result_column *c = w->row;
    const size_t job = (size_t)dls_export_at(&c[JOB], row);
    const double rate = (double)((const float *)c[RATE].data)[row];
    begin(w);
    fputs("{\"ph\": \"X\", \"cat\": \"job\", \"name\": ", w->out);
    const bool good = put_text(w->out, dls_saved_id(w->run, job));
    fprintf(w->out,
            ", \"pid\": %d, \"tid\": %d, \"ts\": %" PRId64 ", \"dur\": %" PRId64
            ", \"args\": {\"gpus\": %d, \"rate\": %.6g}}",
            pid, tid, dls_export_at(&c[START], row),
            dls_export_at(&c[END], row) - dls_export_at(&c[START], row),
            job < w->gpus.n ? (int)dls_export_at(&w->gpus, job) : 0, isfinite(rate) ? rate : 0);
    w->span->slices++;
    return good;
}

static int by_start(const void *a, const void *b, void *user)
{
    const dls_result_column *start = user;
    const size_t i = *(const size_t *)a, k = *(const size_t *)b;
    const int64_t x = dls_export_at(start, i), y = dls_export_at(start, k);
    return x != y ? (x > y) - (x < y) : (i > k) - (i < k);
}

/* A row on each of its GPUs; one whose GPUs are only counted, on a thread of the cluster. */
static bool put_row(writer *w, size_t row)
{
    const dls_result_column *c = w->row;
    const int64_t start = dls_export_at(&c[START], row), end = dls_export_at(&c[END], row),
                  node = dls_export_at(&c[NODE], row);
    const uint64_t mask = (uint64_t)dls_export_at(&c[MASK], row);
    if (node < 0) {
        return put_slice(w, row, 0, 1 + (int)dls_export_at(&c[JOB], row));
    }
    bool good = true;
    for (int gpu = 0; gpu < GPUS && good; gpu++) {
        if (mask >> gpu & 1) {
            good = put_slice(w, row, pid_of(node), lane_of(w, node, gpu, start, end));
        }
    }
    return good;
}

static dls_status put_slices(writer *w, dls_error *err)
{
    const dls_result_column *c = w->row;
    const size_t n = c[START].n;
    DLS_FREED size_t *order = NULL;
    for (size_t i = 0; i < n; i++) {
        const size_t nodes = (size_t)(dls_export_at(&c[NODE], i) + 1);
        w->n_nodes = nodes > w->n_nodes ? nodes : w->n_nodes;
    }
    const size_t n_lanes = w->n_nodes * GPUS * LANES;
    DLS_TRY(dls_alloc_array(&w->lane_end, n_lanes + 1, sizeof *w->lane_end, "slices", err));
    DLS_TRY(dls_alloc_array(&order, n + 1, sizeof *order, "slices", err));
    for (size_t i = 0; i < n_lanes; i++) {
        w->lane_end[i] = INT64_MIN;
    }
    for (size_t i = 0; i < n; i++) {
        order[i] = i;
    }
    qsort_r(order, n, sizeof *order, by_start, &w->row[START]);
    for (size_t node = 0; node < w->n_nodes; node++) {
        char name[32];
        snprintf(name, sizeof name, "node %zu", node);
        put_name(w, "process_name", pid_of((int64_t)node), 0, name);
    }
    bool good = true;
    for (size_t i = 0; i < n && good; i++) {
        if (dls_export_at(&c[END], order[i]) > w->span->from_us &&
            dls_export_at(&c[START], order[i]) < w->span->until_us) {
            good = put_row(w, order[i]);
        }
    }
    return good ? DLS_OK : dls_nomem(err, "names", 0);
}

/* ---- counters -------------------------------------------------------------------------------- */

static void put_counter(writer *w, int64_t t_us, const char *name, const char *one, int64_t a,
                        const char *other, int64_t b)
{
    begin(w);
    fprintf(w->out,
            "{\"ph\": \"C\", \"name\": \"%s\", \"pid\": 0, \"ts\": %" PRId64
            ", \"args\": {\"%s\": %" PRId64 ", \"%s\": %" PRId64 "}}",
            name, t_us, one, a, other, b);
    w->span->counters++;
}

static void put_series(writer *w, int64_t total_gpus)
{
    const dls_result_column *c = w->series;
    for (size_t i = 0; i < c[TIME].n; i++) {
        const int64_t at_us = dls_export_at(&c[TIME], i), busy = dls_export_at(&c[BUSY], i),
                      from_us = w->span->from_us, t_us = at_us > from_us ? at_us : from_us;
        /* What held when the span begins holds on in it. */
        const bool over = i + 1 < c[TIME].n && dls_export_at(&c[TIME], i + 1) <= from_us;
        if (!over && t_us < w->span->until_us) {
            put_counter(w, t_us, "GPUs", "busy", busy, "free", total_gpus - busy);
            put_counter(w, t_us, "jobs", "running", dls_export_at(&c[RUNNING], i), "waiting",
                        dls_export_at(&c[PENDING], i));
        }
    }
}

dls_status dls_export_perfetto(FILE *to, const dls_saved *run, dls_perfetto *span, dls_error *err)
{
    static const char *const row[] = {"job", "node", "start_us", "end_us", "rate", "gpu_mask"};
    static const char *const series[] = {"t_us", "busy_gpus", "running_jobs", "pending_jobs"};
    writer w = {.out = to, .run = run, .span = span, .first = true};
    dls_export_find(run, DLS_TABLE_ALLOCATIONS, row, 6, w.row);
    dls_export_find(run, DLS_TABLE_SERIES, series, 4, w.series);
    if (!w.row[START].data && !w.series[TIME].data) {
        return dls_fail(err, DLS_EINPUT, NULL,
                        "the run holds neither allocations nor a series to show: see "
                        "'results.allocations' and 'results.series'");
    }
    dls_saved_column(run, DLS_TABLE_JOBS, "gpus", &w.gpus);
    fputs("{\"displayTimeUnit\": \"ms\", \"traceEvents\": [", to);
    put_name(&w, "process_name", 0, 0, "cluster");
    const dls_status status = put_slices(&w, err);
    put_series(&w, strtoll(dls_saved_text(run, "total_gpus"), NULL, 10));
    fputs("\n]}\n", to);
    dls_free(w.lane_end);
    return status;
}
