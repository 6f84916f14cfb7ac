/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Integrates power, price and carbon over the rows of allocations.
 */
#include "results/energy.h"

#include "base/csv.h"
#include "base/own.h"
#include "base/strdict.h"
#include "dlsim/trace.h"

#include <math.h>
#include <string.h>

#define US 1e6
#define J_PER_KWH 3.6e6

/* ---- tables of time -------------------------------------------------------------------------- */

typedef struct point {
    int64_t t_us;
    double value, sum; /* sum: integral up to t_us, in value x s */
} point;

/* Piecewise constant from each time on; the first holds before it, too. */
typedef struct curve {
    point *at; /* [n] in order of time */
    size_t n, cap;
    double constant; /* without a table */
} curve;

/* Integral from the table's first time, or from 0, to t_us. */
static double up_to(const curve *c, int64_t t_us)
{
    if (c->n == 0) {
        return c->constant * (double)t_us / US;
    }
    size_t row;
    DLS_BISECT(row, c->n - 1, c->at[row + 1].t_us <= t_us);
    return c->at[row].sum + c->at[row].value * (double)(t_us - c->at[row].t_us) / US;
}

static dls_status add_point(dls_csv *csv, const int *col, void *user, dls_error *err)
{
    curve *c = user;
    int64_t t_us, value;
    DLS_TRY(dls_csv_scaled(csv, col[0], "a number of seconds", 6, true, 0, DLS_TIME_MAX_US, &t_us,
                           err));
    DLS_TRY(dls_csv_scaled(csv, col[1], "a number of at least 0", 6, true, 0,
                           INT64_C(1000000000000000), &value, err));
    if (c->n > 0 && t_us <= c->at[c->n - 1].t_us) {
        return dls_csv_fail(csv, col[0], err, "expected a time after that of the line before");
    }
    const double sum = c->n > 0 ? up_to(c, t_us) : 0;
    DLS_TRY(dls_grow(&c->at, &c->cap, c->n + 1, sizeof *c->at, err));
    c->at[c->n++] = (point){t_us, (double)value / US, sum};
    return DLS_OK;
}

static dls_status curve_read(curve *c, const char *path, double constant, dls_error *err)
{
    static const char *const names[] = {"time_s|time", "value|price|carbon"};
    c->constant = constant;
    if (!path) {
        return DLS_OK;
    }
    DLS_TRY(dls_csv_rows(path, names, 2, 2, add_point, c, err));
    return c->n > 0 ? DLS_OK : dls_fail(err, DLS_EINPUT, path, "no values");
}

static double between(const curve *c, int64_t from_us, int64_t to_us)
{
    return up_to(c, to_us) - up_to(c, from_us);
}

/* ---- power ----------------------------------------------------------------------------------- */

typedef struct accounting {
    const dls_energy_params *p;
    const dls_cluster_spec *cluster;
    dls_record *rec;
    int64_t from_us, to_us;
    dls_gpu_power power[DLS_TYPES_MAX];
    double busy_w[DLS_TYPES_MAX]; /* of a GPU of a job without a profile */
    double *used;                 /* [jobs] utilisation by its profile, NAN: none; NULL: no table */
    int8_t *type_of;                                       /* [nodes] */
    int32_t n_nodes;
    double base_w;  /* of all nodes, and of all GPUs when none works */
    double nodes_w; /* of it, beside the GPUs */
    curve price, carbon;
    double *step_w, *part_j; /* [series + 1] power above base_w that begins with a row; what of it a
                                row has not got because it began or ended within */
    double extra_j, static_j, extra_cost, extra_g;
} accounting;

static double busy_at(const accounting *a, const dls_gpu_power *gpu, double utilisation)
{
    double slower;
    return dls_gpu_power_limited(gpu, dls_gpu_power_at(gpu, utilisation), a->p->limit_w, &slower);
}

/* ---- profiles -------------------------------------------------------------------------------- */

typedef struct profiling {
    accounting *a;
    dls_strdict jobs; /* rows */
    double *used;     /* [jobs] */
    size_t cap;
} profiling;

/* Power as the part between rest and most of the type it was measured on; where the row does not say, of the first of
 * the cluster. */
static dls_status used_of(const accounting *a, dls_csv *csv, int col, double w, double *used, dls_error *err)
{
    const char *type = dls_csv_text(csv, col);
    dls_gpu_power gpu = a->power[0];
    dls_error unknown;
    if (*type && dls_gpu_power_of(a->p->gpus, type, &gpu, &unknown) != DLS_OK) {
        return dls_csv_fail(csv, col, err, "\"%.40s\" is a GPU type of which no power is known: say it in energy.gpus", type);
    }
    const double part = (w - gpu.static_w) / (gpu.most_w - gpu.static_w);
    *used = part < 0 ? 0 : part > 1 ? 1 : part;
    return DLS_OK;
}

static dls_status add_profile(dls_csv *csv, const int *col, void *user, dls_error *err)
{
    profiling *p = user;
    int64_t used = 0, w = 0;
    int32_t row;
    const size_t had = p->jobs.n;
    const dls_csv_cell *id = &csv->cell[col[0]];
    const bool power = !dls_csv_missing(csv, col[2]);
    if (!power && dls_csv_missing(csv, col[1])) {
        return DLS_OK;
    }
    if (power) {
        DLS_TRY(dls_csv_scaled(csv, col[2], "watts", 6, true, 0, INT64_C(100000000000), &w, err));
    } else {
        DLS_TRY(dls_csv_scaled(csv, col[1], "a part of 1", 6, true, 0, 1000000, &used, err));
    }
    DLS_TRY(dls_strdict_put(&p->jobs, id->s, id->len, &row, err));
    if ((size_t)row < had) {
        return dls_csv_fail(csv, col[0], err, "stands there twice");
    }
    DLS_TRY(dls_grow(&p->used, &p->cap, had + 1, sizeof *p->used, err));
    p->used[row] = (double)used / US;
    return power ? used_of(p->a, csv, col[3], (double)w / US, &p->used[row], err) : DLS_OK;
}

static dls_status read_profiles(accounting *a, const dls_trace *trace, dls_error *err)
{
    static const char *const names[] = {"job_id", "utilisation", "power_w", "gpu_type"};
    profiling p = {.a = a};
    size_t found = 0;
    if (!a->p->profiles) {
        return DLS_OK;
    }
    dls_status status = dls_csv_rows(a->p->profiles, names, 4, 1, add_profile, &p, err);
    DLS_THEN(status, dls_alloc_array(&a->used, a->rec->n_jobs + 1, sizeof *a->used, "profiles", err));
    for (size_t j = 0; status == DLS_OK && j < a->rec->n_jobs; j++) {
        const char *id = dls_trace_id(trace, j);
        int32_t row = dls_strdict_find(&p.jobs, id, strlen(id));
        const char *origin = dls_trace_origin(trace, j); /* of a what-if's copy */
        row = row < 0 && *origin ? dls_strdict_find(&p.jobs, origin, strlen(origin)) : row;
        a->used[j] = row < 0 ? (double)NAN : p.used[row];
        found += row >= 0;
    }
    if (status == DLS_OK && found == 0 && a->rec->n_jobs > 0) {
        status = dls_fail(err, DLS_EINPUT, a->p->profiles, "has none of the trace's jobs");
    }
    dls_strdict_fini(&p.jobs);
    dls_free(p.used);
    return status;
}

/* ---- the cluster ----------------------------------------------------------------------------- */

static dls_status find_powers(accounting *a, dls_error *err)
{
    const dls_cluster_spec *c = a->cluster;
    for (int32_t t = 0; t < c->n_types; t++) {
        DLS_TRY(dls_gpu_power_of(a->p->gpus, c->types[t].name, &a->power[t], err));
        a->busy_w[t] = busy_at(a, &a->power[t], a->p->utilisation);
    }
    a->n_nodes = (int32_t)dls_cluster_nodes(c);
    DLS_TRY(dls_alloc_array(&a->type_of, (size_t)a->n_nodes + 1, sizeof *a->type_of, "nodes", err));
    int32_t node = 0;
    for (int32_t g = 0; g < c->n_groups; g++) {
        const dls_node_group *group = &c->groups[g];
        for (int32_t i = 0; i < group->nodes; i++) {
            a->type_of[node++] = (int8_t)group->type;
        }
        a->nodes_w += group->nodes * a->p->node_w;
        a->base_w += (double)group->nodes * group->gpus_per_node * a->power[group->type].static_w;
    }
    a->base_w += a->nodes_w;
    return DLS_OK;
}

/* From t_us on there are so many watts more. */
static void change_power(accounting *a, int64_t t_us, double w)
{
    const dls_series_rows *s = &a->rec->series;
    if (s->n > 0 && t_us >= s->t_us[0]) {
        size_t row;
        DLS_BISECT(row, s->n - 1, s->t_us[row + 1] <= t_us);
        a->step_w[row] += w;
        a->part_j[row] -= w * (double)(t_us - s->t_us[row]) / US;
    }
}

/* One row of the allocations: to its job, and to the cluster's power. */
static dls_status add_row(accounting *a, size_t i, dls_error *err)
{
    const dls_alloc_rows *rows = &a->rec->allocs;
    const int32_t job = rows->job[i], node = rows->node[i];
    const int64_t from_us = rows->start_us[i], to_us = rows->end_us[i];
    if (node >= a->n_nodes || (node < 0 && a->cluster->n_types > 1)) {
        return dls_fail(err, DLS_EINPUT, "energy",
                        "the placement only counts GPUs, of which there are several types");
    }
    if (to_us <= from_us) {
        return DLS_OK;
    }
    const int32_t type = node < 0 ? 0 : a->type_of[node];
    const double gpus = rows->gpus[i] * (a->rec->part_milli ? a->rec->part_milli[job] / 1000.0 : 1);
    /* A guest works on GPUs that its host holds. */
    const double rest_w = rows->guest[i] ? 0 : gpus * a->power[type].static_w;
    const double busy_w = a->used && !isnan(a->used[job])
                              ? busy_at(a, &a->power[type], a->used[job])
                              : a->busy_w[type];
    const double work_w =
        rows->rate[i] > 0 ? gpus * (busy_w - a->power[type].static_w) : 0;
    const double s = (double)(to_us - from_us) / US, w = a->p->pue * (rest_w + work_w);
    const double price = between(&a->price, from_us, to_us) / J_PER_KWH;
    const double carbon = between(&a->carbon, from_us, to_us) / J_PER_KWH;
    a->rec->energy_j[job] += w * s;
    a->rec->cost[job] += w * price;
    a->rec->carbon_g[job] += w * carbon;
    a->static_j += rest_w * s;
    a->extra_j += work_w * s;
    a->extra_cost += work_w * price;
    a->extra_g += work_w * carbon;
    change_power(a, from_us, work_w);
    change_power(a, to_us, -work_w);
    return DLS_OK;
}

/* The mean power over each row of the series. */
static dls_status fill_series(accounting *a, dls_error *err)
{
    dls_series_rows *s = &a->rec->series;
    double now_w = a->base_w;
    if (s->n == 0) {
        return DLS_OK;
    }
    dls_free(s->power_w);
    s->power_w = NULL;
    DLS_TRY(dls_alloc_array(&s->power_w, s->cap, sizeof *s->power_w, "power", err));
    for (size_t i = 0; i < s->n; i++) {
        dls_record_pass(a->rec, i);
        const int64_t end_us = i + 1 < s->n ? s->t_us[i + 1] : a->rec->end_us_of_run;
        const double span_s = (double)(end_us - s->t_us[i]) / US;
        now_w += a->step_w[i];
        const double mean_w = span_s > 0 ? now_w + a->part_j[i] / span_s : now_w;
        s->power_w[i] = (float)(a->p->pue * mean_w);
    }
    return DLS_OK;
}

static dls_status account(accounting *a, const dls_trace *trace, dls_energy_summary *out,
                          dls_error *err)
{
    const dls_energy_params *p = a->p;
    DLS_TRY(curve_read(&a->price, p->price_path, p->price, err));
    DLS_TRY(curve_read(&a->carbon, p->carbon_path, p->carbon_g, err));
    DLS_TRY(find_powers(a, err));
    DLS_TRY(read_profiles(a, trace, err));
    DLS_TRY(dls_record_want(a->rec, DLS_WANT_ENERGY, err));
    const size_t rows = a->rec->series.n + 1;
    DLS_TRY(DLS_ALLOC_ALL("power", err, DLS_ARRAY(a->step_w, rows), DLS_ARRAY(a->part_j, rows)));
    for (size_t i = 0; i < a->rec->allocs.n; i++) {
        dls_record_pass(a->rec, i);
        DLS_TRY(add_row(a, i, err));
    }
    for (size_t j = 0; j < a->rec->n_jobs; j++) {
        out->jobs_cost += a->rec->cost[j];
        out->jobs_carbon_kg += a->rec->carbon_g[j] / 1000;
    }
    const double span_s = a->to_us > a->from_us ? (double)(a->to_us - a->from_us) / US : 0;
    const double kwh = p->pue / J_PER_KWH;
    out->jobs_kwh = kwh * (a->static_j + a->extra_j);
    out->nodes_kwh = kwh * a->nodes_w * span_s;
    out->energy_kwh = kwh * (a->base_w * span_s + a->extra_j);
    out->idle_kwh = out->energy_kwh - out->jobs_kwh - out->nodes_kwh;
    out->cost =
        kwh * (a->base_w * between(&a->price, a->from_us, a->to_us) + J_PER_KWH * a->extra_cost);
    out->carbon_kg =
        kwh * (a->base_w * between(&a->carbon, a->from_us, a->to_us) + J_PER_KWH * a->extra_g) /
        1000;
    out->power_mean_kw = span_s > 0 ? out->energy_kwh * 3600 / span_s : 0;
    return fill_series(a, err);
}

static void accounting_fini(accounting *a)
{
    DLS_FREE_ALL(a->price.at, a->carbon.at, a->type_of, a->used, a->step_w, a->part_j);
}

dls_status dls_energy_account(const dls_energy_params *p, const dls_cluster_spec *cluster,
                              const dls_trace *trace, dls_record *rec, int64_t from_us, int64_t to_us,
                              dls_energy_summary *out, dls_error *err)
{
    DLS_OWN(accounting_fini)
    accounting a = {.p = p, .cluster = cluster, .rec = rec, .from_us = from_us, .to_us = to_us};
    *out = (dls_energy_summary){0};
    return account(&a, trace, out, err);
}
