/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Ranges and speeds of elastic jobs (elastic.h).
 */
#include "workload/elastic.h"

#include "base/assert.h"
#include "base/csv.h"
#include "workload/kinds.h"
#include "workload/throughputs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

typedef struct row {
    char model[DLS_MODEL_KEY];
    int32_t type;  /* of the cluster, -1: any */
    int64_t batch; /* DLS_ABSENT: any */
    int32_t gpus;
    double speed;
    int64_t restore_us; /* -1 */
} row;

struct dls_elastic_jobs {
    const dls_trace_columns *cols;
    int32_t *min_gpus, *max_gpus;
    row *row; /* sorted by all but speed and restoring time */
    size_t n, cap;
    double unit;         /* of the rows' speeds */
    size_t *first, *end; /* [models + 1] rows of a model code; the last for jobs without a model */
    uint64_t unprofiled, other_batch; /* jobs */
};

/* ---- the table ------------------------------------------------------------------------------- */

DLS_BY(by_place, row, strcmp(x->model, y->model), DLS_UP(type), DLS_UP(batch), DLS_UP(gpus));

static dls_status read_number(const dls_csv *csv, int col, const char *what, int scale,
                              int64_t least, int64_t *out, dls_error *err)
{
    return dls_csv_missing(csv, col) ? DLS_OK
                                     : dls_csv_scaled(csv, col, what, scale, true, least,
                                                      INT64_C(1000000000000000), out, err);
}

/* type: its name, NULL for any. Rows of a GPU that this cluster does not have are passed over. */
static dls_status add_row(dls_elastic_jobs *e, row *r, const char *type,
                          const dls_cluster_spec *cluster, dls_error *err)
{
    for (int32_t t = 0; type && t < cluster->n_types && r->type < 0; t++) {
        r->type = strcasecmp(cluster->types[t].name, type) == 0 ? t : -1;
    }
    if (type && r->type < 0) {
        return DLS_OK;
    }
    DLS_TRY(dls_grow(&e->row, &e->cap, e->n + 1, sizeof *e->row, err));
    e->row[e->n++] = *r;
    return DLS_OK;
}

/* Whose table is read. */
typedef struct reading {
    dls_elastic_jobs *e;
    const dls_cluster_spec *cluster;
} reading;

static dls_status read_row(dls_csv *csv, const int *col, void *user, dls_error *err)
{
    const reading *of = user;
    row r = {.type = -1, .batch = DLS_ABSENT, .restore_us = -1};
    int64_t gpus = 0, speed = 0;
    if (dls_csv_missing(csv, col[0])) {
        return dls_csv_fail(csv, col[0], err, "expected the name of a model");
    }
    dls_model_key(dls_csv_text(csv, col[0]), r.model);
    DLS_TRY(dls_csv_i64(csv, col[1], "a number of GPUs", 0, 1, DLS_GPUS_MAX, &gpus, err));
    DLS_TRY(dls_csv_scaled(csv, col[2], "a speed above 0", 9, true, 1, INT64_C(1000000000000000000),
                           &speed, err));
    DLS_TRY(read_number(csv, col[4], "a batch size", 0, 1, &r.batch, err));
    DLS_TRY(read_number(csv, col[5], "seconds", 6, 0, &r.restore_us, err));
    r.gpus = (int32_t)gpus;
    r.speed = (double)speed;
    return add_row(of->e, &r, dls_csv_missing(csv, col[3]) ? NULL : dls_csv_text(csv, col[3]),
                   of->cluster, err);
}

static dls_status add_throughput(void *user, const dls_throughput *t, dls_error *err)
{
    const reading *of = user;
    row r = {.type = -1, .batch = t->batch, .gpus = t->gpus, .speed = t->per_s, .restore_us = -1};
    dls_model_key(t->model, r.model);
    return add_row(of->e, &r, t->gpu, of->cluster, err);
}

static dls_status read_folder(const char *path, reading *of, dls_error *err)
{
    bool found = false;
    DLS_TRY(dls_throughputs_read(path, add_throughput, of, &found, err));
    return found
               ? DLS_OK
               : dls_fail(err, DLS_EINPUT, path, "the folder has no throughputs_<GPU>/<model>.csv");
}

static dls_status read_table(dls_elastic_jobs *e, const char *path, const dls_cluster_spec *cluster,
                             dls_error *err)
{
    static const char *const names[] = {"model", "gpus", "speed", "gpu", "batch", "restore_s"};
    struct stat st;
    reading of = {e, cluster};
    const bool is_folder = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
    e->unit = is_folder ? 1 : 1e9; /* files are read in decimal fixed point */
    DLS_TRY(is_folder ? read_folder(path, &of, err)
                      : dls_csv_rows(path, names, 6, 3, read_row, &of, err));
    if (e->n > 1) {
        qsort(e->row, e->n, sizeof *e->row, by_place);
    }
    for (size_t i = 1; i < e->n; i++) {
        if (by_place(&e->row[i - 1], &e->row[i]) == 0) {
            return dls_fail(err, DLS_EINPUT, path, "model '%s' has two speeds on %d GPUs",
                            e->row[i].model, e->row[i].gpus);
        }
    }
    return DLS_OK;
}

/* The rows of every model of the trace. */
static dls_status find_models(dls_elastic_jobs *e, const dls_trace *trace, dls_error *err)
{
    const size_t n = dls_trace_n_models(trace) + 1;
    DLS_TRY(DLS_ALLOC_ALL("elastic models", err, DLS_ARRAY(e->first, n), DLS_ARRAY(e->end, n)));
    for (size_t m = 0; m + 1 < n; m++) {
        char key[DLS_MODEL_KEY];
        dls_model_key(dls_trace_model(trace, (int32_t)m), key);
        while (e->first[m] < e->n && strcmp(e->row[e->first[m]].model, key) != 0) {
            e->first[m]++;
        }
        e->end[m] = e->first[m];
        while (e->end[m] < e->n && strcmp(e->row[e->end[m]].model, key) == 0) {
            e->end[m]++;
        }
    }
    return DLS_OK;
}

/* ---- jobs ------------------------------------------------------------------------------------ */

static size_t model_of(const dls_elastic_jobs *e, int32_t job, size_t *end)
{
    const int32_t code = e->cols->model[job];
    *end = code < 0 ? 0 : e->end[code];
    return code < 0 ? 0 : e->first[code];
}

static dls_status find_ranges(dls_elastic_jobs *e, dls_error *err)
{
    const size_t n = e->cols->n;
    DLS_TRY(dls_alloc_array(&e->min_gpus, n, sizeof *e->min_gpus, "elastic jobs", err));
    DLS_TRY(dls_alloc_array(&e->max_gpus, n, sizeof *e->max_gpus, "elastic jobs", err));
    for (size_t j = 0; j < n; j++) {
        size_t end;
        const int32_t gang = e->cols->gpus[j];
        const size_t first = model_of(e, (int32_t)j, &end);
        const int64_t batch = dls_trace_i64(e->cols->batch, j);
        int32_t least = gang, most = gang;
        bool has_batch = batch == DLS_ABSENT;
        for (size_t i = first; i < end; i++) {
            has_batch |= e->row[i].batch < 0 || e->row[i].batch == batch;
            least = e->row[i].gpus < least ? e->row[i].gpus : least;
            most = e->row[i].gpus > most ? e->row[i].gpus : most;
        }
        e->unprofiled += e->n > 0 && first == end;
        e->other_batch += first < end && !has_batch;
        const int64_t own_min = dls_trace_i64(e->cols->min_gpus, j);
        const int64_t own_max = dls_trace_i64(e->cols->max_gpus, j);
        e->min_gpus[j] = own_min != DLS_ABSENT   ? (int32_t)own_min
                         : own_max != DLS_ABSENT ? gang
                                                 : least;
        e->max_gpus[j] = own_max != DLS_ABSENT   ? (int32_t)own_max
                         : own_min != DLS_ABSENT ? gang
                                                 : most;
    }
    return DLS_OK;
}

dls_status dls_elastic_create(const char *path, const dls_trace *trace,
                              const dls_cluster_spec *cluster, dls_elastic_jobs **out,
                              dls_error *err)
{
    const dls_trace_columns *cols = dls_trace_cols(trace);
    *out = NULL;
    if (!path && !cols->min_gpus && !cols->max_gpus) {
        return DLS_OK;
    }
    DLS_HOLD(dls_elastic_destroy) dls_elastic_jobs *e = NULL;
    DLS_TRY(dls_alloc_array(&e, 1, sizeof *e, "elastic jobs", err));
    e->cols = cols;
    DLS_TRY(path ? read_table(e, path, cluster, err) : DLS_OK);
    DLS_TRY(find_models(e, trace, err));
    DLS_TRY(find_ranges(e, err));
    *out = dls_take(&e);
    return DLS_OK;
}

void dls_elastic_destroy(dls_elastic_jobs *e)
{
    if (e) {
        DLS_FREE_ALL(e->min_gpus, e->max_gpus, e->row, e->first, e->end, e);
    }
}

void dls_elastic_about(const dls_elastic_jobs *e, uint64_t *unprofiled, uint64_t *other_batch)
{
    *unprofiled = e->unprofiled;
    *other_batch = e->other_batch;
}

const int32_t *dls_elastic_min_gpus(const dls_elastic_jobs *e)
{
    return e->min_gpus;
}

const int32_t *dls_elastic_max_gpus(const dls_elastic_jobs *e)
{
    return e->max_gpus;
}

/* The rows of one curve: of the type rather than of any, of the nearest batch. Empty: there is
 * none. */
static size_t curve_of(const dls_elastic_jobs *e, int32_t job, int32_t type, int64_t batch,
                       size_t *end)
{
    size_t last;
    const size_t first = model_of(e, job, &last);
    size_t best = last;
    double nearest = (double)INFINITY;
    for (size_t i = first; i < last; i++) {
        const row *r = &e->row[i];
        const bool head = i == first || r->type != r[-1].type || r->batch != r[-1].batch;
        if (!head || (r->type >= 0 && r->type != type)) {
            continue;
        }
        const double far = r->batch == batch || r->batch < 0 || batch < 0
                               ? 0
                               : fabs(log((double)r->batch / (double)batch));
        if (far < nearest || (far == nearest && r->type >= 0)) {
            nearest = far;
            best = i;
        }
    }
    *end = best;
    while (*end < last && e->row[*end].type == e->row[best].type &&
           e->row[*end].batch == e->row[best].batch) {
        ++*end;
    }
    return best;
}

static double on_curve(const row *r, size_t n, int32_t gpus)
{
    size_t i = 0;
    while (i < n && r[i].gpus < gpus) {
        i++;
    }
    if (i == n) {
        return r[n - 1].speed;
    }
    if (i == 0 || r[i].gpus == gpus) {
        return r[i].speed * gpus / r[i].gpus;
    }
    const double part = (double)(gpus - r[i - 1].gpus) / (r[i].gpus - r[i - 1].gpus);
    return r[i - 1].speed + part * (r[i].speed - r[i - 1].speed);
}

double dls_elastic_speed(const dls_elastic_jobs *e, int32_t job, const dls_shape *shape,
                         int64_t batch)
{
    const int64_t own = dls_trace_i64(e->cols->batch, (size_t)job);
    const int32_t gang = e->cols->gpus[job];
    size_t end, own_end;
    DLS_DEBUG_ASSERT(shape->gpus >= 1);
    const size_t first = curve_of(e, job, shape->type, batch == DLS_ABSENT ? own : batch, &end);
    if (first == end) {
        return (double)shape->gpus / gang;
    }
    const size_t own_first = curve_of(e, job, shape->type, own, &own_end);
    return on_curve(e->row + first, end - first, shape->gpus) /
           on_curve(e->row + own_first, own_end - own_first, gang);
}

size_t dls_elastic_curve(const dls_elastic_jobs *e, int32_t job, int32_t type, int32_t *gpus,
                         double *speed, size_t most)
{
    const int64_t own = dls_trace_i64(e->cols->batch, (size_t)job);
    size_t end;
    const size_t first = curve_of(e, job, type, own, &end);
    if (first == end || (e->row[first].batch >= 0 && e->row[first].batch != own)) {
        return 0;
    }
    for (size_t i = first; i < end && i - first < most; i++) {
        gpus[i - first] = e->row[i].gpus;
        speed[i - first] = e->row[i].speed / e->unit;
    }
    return end - first;
}

int64_t dls_elastic_restore_us(const dls_elastic_jobs *e, int32_t job, const dls_shape *shape)
{
    size_t end;
    int64_t restore_us = -1;
    int32_t nearest = INT32_MAX;
    for (size_t i = curve_of(e, job, shape->type, DLS_ABSENT, &end); i < end; i++) {
        const int32_t far = abs(e->row[i].gpus - shape->gpus);
        if (e->row[i].restore_us >= 0 && far < nearest) {
            nearest = far;
            restore_us = e->row[i].restore_us;
        }
    }
    return restore_us;
}
