/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Exports a run as Trace Event JSON: one slice for each GPU that a job holds, in row order by
 * start, and counters of the cluster; written as a stream, without a tree in memory.
 */
#include "results/perfetto.h"

#include "base/alloc.h"
#include "results/json_out.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    GPUS = 64, /* bits of a mask */
    LANES = 8  /* threads of a GPU; jobs beyond share the last */
};

typedef struct writer {
    FILE *out;
    const dls_perfetto_options *options;
    const dls_run_jobs *jobs;
    const dls_alloc_rows *rows;
    int64_t
        *lane_end; /* [n_nodes * GPUS * LANES] until when each is taken; INT64_MIN: never used */
    size_t n_nodes;
    bool first;
    dls_perfetto_counts counts;
} writer;

/* Process 0 is the cluster. */
static int pid_of(int32_t node)
{
    return node + 1;
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
static int lane_of(writer *w, int32_t node, int gpu, int64_t start_us, int64_t end_us)
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
    const dls_alloc_rows *r = w->rows;
    const double rate = (double)r->rate[row];
    begin(w);
    fputs("{\"ph\": \"X\", \"cat\": \"job\", \"name\": ", w->out);
    const bool good = put_text(w->out, dls_run_job_id(w->jobs, (size_t)r->job[row]));
    fprintf(w->out,
            ", \"pid\": %d, \"tid\": %d, \"ts\": %" PRId64 ", \"dur\": %" PRId64
            ", \"args\": {\"gpus\": %d, \"rate\": %.6g}}",
            pid, tid, r->start_us[row], r->end_us[row] - r->start_us[row],
            (int)w->jobs->gpus[r->job[row]], isfinite(rate) ? rate : 0);
    w->counts.slices++;
    return good;
}

static int by_start(const void *a, const void *b, void *user)
{
    const dls_alloc_rows *rows = user;
    const size_t i = *(const size_t *)a, k = *(const size_t *)b;
    if (rows->start_us[i] != rows->start_us[k]) {
        return rows->start_us[i] < rows->start_us[k] ? -1 : 1;
    }
    return (i > k) - (i < k);
}

/* A row on each of its GPUs; one whose GPUs are only counted, on a thread of the cluster. */
static bool put_row(writer *w, size_t row)
{
    const dls_alloc_rows *r = w->rows;
    const int64_t start = r->start_us[row], end = r->end_us[row];
    if (r->node[row] < 0) {
        return put_slice(w, row, 0, 1 + r->job[row]);
    }
    bool good = true;
    for (int gpu = 0; gpu < GPUS && good; gpu++) {
        if (r->gpu_mask[row] >> gpu & 1) {
            good =
                put_slice(w, row, pid_of(r->node[row]), lane_of(w, r->node[row], gpu, start, end));
        }
    }
    return good;
}

static dls_status put_slices(writer *w, dls_error *err)
{
    const dls_alloc_rows *r = w->rows;
    size_t *order = dls_alloc((r->n ? r->n : 1) * sizeof *order);
    for (size_t i = 0; i < r->n; i++) {
        const size_t nodes = r->node[i] < 0 ? 0 : (size_t)r->node[i] + 1;
        w->n_nodes = nodes > w->n_nodes ? nodes : w->n_nodes;
    }
    const size_t n_lanes = w->n_nodes * GPUS * LANES;
    w->lane_end = dls_alloc((n_lanes ? n_lanes : 1) * sizeof *w->lane_end);
    if (!order || !w->lane_end) {
        dls_free(order);
        return dls_nomem(err, "slices", r->n * sizeof *order);
    }
    for (size_t i = 0; i < n_lanes; i++) {
        w->lane_end[i] = INT64_MIN;
    }
    for (size_t i = 0; i < r->n; i++) {
        order[i] = i;
    }
    qsort_r(order, r->n, sizeof *order, by_start, (void *)(uintptr_t)r);
    for (size_t node = 0; node < w->n_nodes; node++) {
        char name[32];
        snprintf(name, sizeof name, "node %zu", node);
        put_name(w, "process_name", pid_of((int32_t)node), 0, name);
    }
    bool good = true;
    for (size_t i = 0; i < r->n && good; i++) {
        if (r->end_us[order[i]] > w->options->from_us &&
            r->start_us[order[i]] < w->options->until_us) {
            good = put_row(w, order[i]);
        }
    }
    dls_free(order);
    return good ? DLS_OK : dls_nomem(err, "names", 0);
}

/* ---- counters -------------------------------------------------------------------------------- */

static void put_counter(writer *w, int64_t t_us, const char *name, const char *one, int32_t a,
                        const char *other, int32_t b)
{
    begin(w);
    fprintf(w->out,
            "{\"ph\": \"C\", \"name\": \"%s\", \"pid\": 0, \"ts\": %" PRId64
            ", \"args\": {\"%s\": %d, \"%s\": %d}}",
            name, t_us, one, (int)a, other, (int)b);
    w->counts.counters++;
}

static void put_series(writer *w, const dls_series_rows *s, int64_t total_gpus)
{
    for (size_t i = 0; i < s->n; i++) {
        if (s->t_us[i] >= w->options->from_us && s->t_us[i] < w->options->until_us) {
            put_counter(w, s->t_us[i], "GPUs", "busy", s->busy_gpus[i], "free",
                        (int32_t)total_gpus - s->busy_gpus[i]);
            put_counter(w, s->t_us[i], "jobs", "running", s->running_jobs[i], "waiting",
                        s->pending_jobs[i]);
        }
    }
}

dls_status dls_perfetto_write(FILE *out, const dls_run *run, const dls_perfetto_options *options,
                              dls_perfetto_counts *counts, dls_error *err)
{
    dls_run_jobs jobs;
    dls_record *rec;
    if (dls_run_n_allocs(run) == 0 && dls_run_n_series(run) == 0) {
        return dls_fail(err, DLS_EINPUT, NULL,
                        "run '%s' holds neither allocations nor a series to show: see "
                        "'results.allocations' and 'results.series'",
                        dls_run_id(run));
    }
    DLS_TRY(dls_run_read_jobs(run, &jobs, err));
    dls_status status = dls_run_read_record(run, true, true, &rec, err);
    if (status != DLS_OK) {
        dls_run_jobs_fini(&jobs);
        return status;
    }
    writer w = {.out = out, .options = options, .jobs = &jobs, .rows = &rec->allocs, .first = true};
    fputs("{\"displayTimeUnit\": \"ms\", \"traceEvents\": [", out);
    put_name(&w, "process_name", 0, 0, "cluster");
    status = put_slices(&w, err);
    put_series(&w, &rec->series, dls_run_summary(run)->total_gpus);
    fputs("\n]}\n", out);
    if (status == DLS_OK && ferror(out)) {
        status = dls_fail(err, DLS_EOUTPUT, NULL, "cannot be written");
    }
    *counts = w.counts;
    dls_free(w.lane_end);
    dls_record_destroy(rec);
    dls_run_jobs_fini(&jobs);
    return status;
}
