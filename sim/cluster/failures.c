/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reads files of failures in three formats (events, instances, counts of nodes) into one list of
 * events by time, and draws random times between failures.
 */
#include "cluster/failures.h"

#include "base/csv.h"
#include "base/own.h"
#include "base/rng.h"
#include "base/suggest.h"
#include "base/units.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
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

int64_t dls_failure_job_us(const dls_failure_params *p, uint64_t seed, uint64_t component,
                           int64_t nodes, uint32_t n)
{
    dls_rng rng = dls_rng_stream(seed, DLS_RNG_FAILURE, component << 32 | n);
    const double part = nodes < p->job_nodes ? (double)nodes / (double)p->job_nodes : 1;
    const double us = -log1p(-dls_rng_unit(&rng)) * p->job_mtbf_s / part * 1e6;
    return us < 1 ? 1 : us < 0x1p61 ? (int64_t)us : INT64_MAX;
}

bool dls_failure_lemon(const dls_failure_params *p, uint64_t seed, uint64_t node)
{
    dls_rng rng = dls_rng_stream(seed, DLS_RNG_FAILURE, node << 32 | UINT32_MAX);
    return p->lemons > 0 && dls_rng_unit(&rng) < p->lemons;
}

/* The stream that has said when it fails has a second number. */
bool dls_failure_is_seen(const dls_failure_params *p, uint64_t seed, uint64_t node, uint32_t n)
{
    dls_rng rng = dls_rng_stream(seed, DLS_RNG_FAILURE, node << 32 | n);
    (void)dls_rng_unit(&rng);
    return p && p->drains > 0 && dls_rng_unit(&rng) < p->drains;
}

bool dls_failure_happens(double mtbf_s)
{
    return mtbf_s > 0 && !isinf(mtbf_s);
}

/* ---- presets --------------------------------------------------------------------------------- */

/* Facts: RSC-1 and RSC-2 have 6.50 and 2.34 failures in 1,000 node-days (Kokolis et al., HPCA
 * 2025), Llama 3 had 419 in 54 days on 2,048 nodes of 8 GPUs (Llama Team 2024, table 5). Of these
 * 69 are of the job and no node: software 54, time-outs of collectives 7, silent corruption 6,
 * dependencies 2; 262 of GPUs and their memory; 88 of the rest of nodes and their network. The
 * shares of job and nodes at that size are taken for RSC, too. */
#define DAY_S 86400.0
#define NODES 2048.0
#define OF_JOBS (69.0 / 419)
#define RSC(per_node_day)                                                                          \
    .node_mtbf_s = DAY_S / ((per_node_day) * (1 - OF_JOBS)),                                       \
    .job_mtbf_s = DAY_S / ((per_node_day)*NODES * OF_JOBS), .job_nodes = 128

const dls_failure_preset *dls_failure_preset_of(const char *name)
{
    static const dls_failure_preset presets[] = {
        {.name = "rsc-1", RSC(6.50e-3)},
        {.name = "rsc-2", RSC(2.34e-3)},
        {.name = "llama-3",
         .gpu_mtbf_s = 54 * DAY_S * 8 * NODES / 262,
         .node_mtbf_s = 54 * DAY_S * NODES / 88,
         .job_mtbf_s = 54 * DAY_S / 69,
         .job_nodes = 128},
    };
    const size_t i = DLS_NAMED(presets, name);
    return i < sizeof presets / sizeof presets[0] ? &presets[i] : NULL;
}

/* ---- files ----------------------------------------------------------------------------------- */

typedef enum format { EVENTS, INSTANCES, COUNTS } format;

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

static bool parse_seconds(const char *text, double unit_s, int64_t *t_us)
{
    double value;
    if (!dls_units_f64(text, &value) || !(value >= 0) || value * unit_s > 1e12) {
        return false;
    }
    *t_us = llround(value * unit_s * 1e6);
    return true;
}

static dls_status parse_event(const reader *r, dls_csv *csv, line *out, dls_error *err)
{
    int64_t node;
    if (csv->n_cells < 3 || !parse_seconds(dls_csv_text(csv, 0), 1, &out->t_us)) {
        return dls_csv_fail(csv, -1, err, "expected time_s,node,event, of which the first are seconds from 0 to 1e12");
    }
    if (!dls_units_i64(dls_csv_text(csv, 1), &node) || node < 0 || node >= r->n_nodes) {
        return dls_csv_fail(csv, -1, err, "the cluster has no such node");
    }
    out->node = (int32_t)node;
    out->part = 1;
    if (dls_csv_is(csv, 2, "fail")) {
        out->what = DLS_NODE_FAILS;
    } else if (dls_csv_is(csv, 2, "repair")) {
        out->what = DLS_NODE_REPAIRED;
    } else if (dls_csv_is(csv, 2, "drain")) {
        out->what = DLS_NODE_DRAINS;
    } else if (dls_csv_is(csv, 2, "link")) {
        out->what = DLS_LINK_SCALED;
        if (csv->n_cells < 4 || !dls_units_f64(dls_csv_text(csv, 3), &out->part) ||
            !(out->part > 0 && out->part <= 1)) {
            return dls_csv_fail(csv, -1, err,
                                "link needs the part of its bandwidth that is left, "
                                "above 0 and at most 1");
        }
    } else {
        return dls_csv_fail(csv, -1, err, "expected fail, drain, repair or link");
    }
    return DLS_OK;
}

static dls_status parse_instance(const reader *r, dls_csv *csv, line *out, dls_error *err)
{
    if (csv->n_cells != 3 || !parse_seconds(dls_csv_text(csv, 0), 1e-3, &out->t_us) ||
        csv->cell[2].len == 0 || csv->cell[2].len >= sizeof out->name) {
        return dls_csv_fail(csv, -1, err, "expected milliseconds,add|remove,name");
    }
    const bool add = dls_csv_is(csv, 1, "add");
    if (!add && !dls_csv_is(csv, 1, "remove")) {
        return dls_csv_fail(csv, -1, err, "expected add or remove");
    }
    out->what = add ? DLS_NODE_REPAIRED : DLS_NODE_FAILS;
    snprintf(out->name, sizeof out->name, "%s", dls_csv_text(csv, 2));
    return DLS_OK;
}

static dls_status parse_count(const reader *r, dls_csv *csv, line *out, dls_error *err)
{
    char text[40];
    struct tm tm = {0};
    int64_t alive;
    if (csv->n_cells != 3) {
        return dls_csv_fail(csv, -1, err, "expected date, time, instances alive");
    }
    snprintf(text, sizeof text, "%s %s", dls_csv_text(csv, 0), dls_csv_text(csv, 1));
    const char *end = strptime(text, "%Y-%m-%d %H:%M:%S", &tm);
    if (!end || *end || tm.tm_year < 70 || !dls_units_i64(dls_csv_text(csv, 2), &alive) ||
        alive < 0 || alive > INT32_MAX) {
        return dls_csv_fail(csv, -1, err, "expected date, time, instances alive");
    }
    out->t_us = (int64_t)timegm(&tm) * 1000000;
    out->node = (int32_t)alive;
    return DLS_OK;
}

static dls_status recognise(reader *r, const dls_csv *csv, dls_error *err)
{
    struct tm tm;
    if (csv->n_cells > 2 && dls_csv_is(csv, 0, "time_s") && dls_csv_is(csv, 1, "node") &&
        dls_csv_is(csv, 2, "event")) {
        r->format = EVENTS;
    } else if (csv->n_cells > 1 && (dls_csv_is(csv, 1, "add") || dls_csv_is(csv, 1, "remove"))) {
        r->format = INSTANCES;
    } else if (strptime(csv->cell[0].s, "%Y-%m-%d", &tm)) {
        r->format = COUNTS;
    } else {
        return dls_csv_fail(
            csv, -1, err,
            "not a file of failures: expected the header time_s,node,event,part, or "
            "lines such as 480000,add,node1 or 2021-12-11, 11:11:30, 55");
    }
    return DLS_OK;
}

static dls_status read_lines(reader *r, dls_csv *csv, dls_error *err)
{
    static dls_status (*const parse[])(const reader *, dls_csv *, line *, dls_error *) = {
        [EVENTS] = parse_event, [INSTANCES] = parse_instance, [COUNTS] = parse_count};
    for (bool known = false, more;; known = true) {
        DLS_TRY(dls_csv_next(csv, &more, err));
        if (!more) {
            return known ? DLS_OK : dls_fail(err, DLS_EINPUT, r->path, "is empty");
        }
        if (!known) {
            DLS_TRY(recognise(r, csv, err));
            if (r->format == EVENTS) {
                continue;
            }
        }
        DLS_TRY(dls_grow(&r->lines, &r->cap, r->n + 1, sizeof *r->lines, err));
        r->lines[r->n] = (line){.number = csv->line};
        DLS_TRY(parse[r->format](r, csv, &r->lines[r->n], err));
        r->n++;
    }
}

DLS_BY(by_time, line, DLS_UP(t_us), DLS_UP(number));

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
    DLS_FREED const char **holder = NULL;
    DLS_TRY(dls_alloc_array(&holder, (size_t)r->n_nodes, sizeof *holder, "nodes", err));
    for (int32_t k = 0; k < r->n_nodes; k++) {
        DLS_TRY(emit(r, 0, k, DLS_NODE_FAILS, 1, err));
    }
    for (size_t i = 0; i < r->n; i++) {
        const line *l = &r->lines[i];
        const bool add = l->what == DLS_NODE_REPAIRED;
        int32_t k = 0;
        while (k < r->n_nodes &&
               (add ? holder[k] != NULL : !holder[k] || strcmp(holder[k], l->name) != 0)) {
            k++;
        }
        if (k == r->n_nodes) {
            r->out->left_out++;
            continue;
        }
        holder[k] = add ? l->name : NULL;
        DLS_TRY(emit(r, l->t_us, k, l->what, 1, err));
    }
    return DLS_OK;
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
    dls_sort(r->lines, r->n, sizeof *r->lines, by_time);
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
    DLS_OWN(dls_csv_fini) dls_csv csv = {0};
    *out = (dls_failure_trace){0};
    DLS_TRY(dls_csv_open(&csv, path, err));
    dls_status status = read_lines(&r, &csv, err);
    DLS_THEN(status, place_lines(&r, err));
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
