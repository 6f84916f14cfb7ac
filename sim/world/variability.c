/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Speeds of single GPUs: read or drawn, and which models feel them.
 */
#include "world/variability.h"

#include "base/csv.h"
#include "base/own.h"
#include "base/rng.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CLASS, SLOWDOWN, QUANTILE, NODE, GPU, N_COLS };
#define POINTS 64 /* of a class's distribution */

typedef struct reader {
    dls_variability *v;
    int32_t n_nodes;
    struct {
        double at[POINTS], slowdown[POINTS];
        int n;
        bool listed; /* GPU by GPU */
    } of[DLS_VARIABILITY_CLASSES];
} reader;

static int32_t find_class(const dls_variability *v, const char *name)
{
    int32_t c = v->n;
    while (--c >= 0 && strcmp(v->name[c], name) != 0) {
    }
    return c;
}

static dls_status class_of_row(reader *r, dls_csv *csv, int col, int32_t *out, dls_error *err)
{
    dls_variability *v = r->v;
    const char *name = dls_csv_text(csv, col);
    const size_t n_gpus = (size_t)v->first[r->n_nodes], len = strlen(name);
    *out = find_class(v, name);
    if (*out >= 0) {
        return DLS_OK;
    }
    if (len == 0 || len >= sizeof v->name[0] || strpbrk(name, "=; ")) {
        return dls_csv_fail(csv, col, err, "expected the name of a class, without blanks");
    }
    if (v->n == DLS_VARIABILITY_CLASSES) {
        return dls_csv_fail(csv, col, err, "more than %d classes", DLS_VARIABILITY_CLASSES);
    }
    *out = v->n++;
    memcpy(v->name[*out], name, len + 1);
    return dls_alloc_array(&v->speed[*out], n_gpus + 1, sizeof **v->speed, "GPUs", err);
}

static dls_status read_point(reader *r, dls_csv *csv, const int *col, int32_t c, double slowdown,
                             dls_error *err)
{
    int64_t at;
    const int n = r->of[c].n;
    DLS_TRY(dls_csv_scaled(csv, col[QUANTILE], "a quantile from 0 to 1", 9, true, 0, 1000000000,
                           &at, err));
    const double quantile = (double)at / 1e9;
    if (n == POINTS) {
        return dls_csv_fail(csv, col[QUANTILE], err, "more than %d quantiles of a class", POINTS);
    }
    if (n == 0 ? at != 0
               : !(quantile > r->of[c].at[n - 1] && slowdown >= r->of[c].slowdown[n - 1])) {
        return dls_csv_fail(csv, col[QUANTILE], err,
                            "quantiles begin with 0 and ascend, as slowdowns do");
    }
    r->of[c].at[n] = quantile;
    r->of[c].slowdown[n] = slowdown;
    r->of[c].n++;
    return DLS_OK;
}

static dls_status read_row(dls_csv *csv, const int *col, void *user, dls_error *err)
{
    reader *r = user;
    int32_t c;
    int64_t micro, node, gpu;
    DLS_TRY(class_of_row(r, csv, col[CLASS], &c, err));
    DLS_TRY(dls_csv_scaled(csv, col[SLOWDOWN], "a slowdown from 0.01 to 100", 6, true, 10000,
                           100000000, &micro, err));
    const double slowdown = (double)micro / 1e6;
    const bool listed = dls_csv_missing(csv, col[QUANTILE]);
    if (r->of[c].n > 0 ? listed : r->of[c].listed && !listed) {
        return dls_csv_fail(csv, col[CLASS], err, "a class has GPUs or quantiles, not both");
    }
    if (!listed) {
        return read_point(r, csv, col, c, slowdown, err);
    }
    if (col[NODE] < 0 || col[GPU] < 0) {
        return dls_csv_fail(csv, -1, err, "neither a quantile, nor node and GPU");
    }
    r->of[c].listed = true;
    DLS_TRY(dls_csv_i64(csv, col[NODE], "a node of the cluster", 0, 0, r->n_nodes - 1, &node, err));
    const int64_t *first = r->v->first + node;
    DLS_TRY(
        dls_csv_i64(csv, col[GPU], "a GPU of that node", 0, 0, first[1] - first[0] - 1, &gpu, err));
    if (r->v->speed[c][first[0] + gpu] > 0) {
        return dls_csv_fail(csv, col[GPU], err, "this GPU is listed twice");
    }
    r->v->speed[c][first[0] + gpu] = slowdown;
    return DLS_OK;
}

/* What has been read, or is drawn of what has been read, becomes speeds. */
static dls_status finish(const dls_world_params *p, reader *r, int32_t c, dls_error *err)
{
    double *x = r->v->speed[c], least = (double)INFINITY;
    const double *at = r->of[c].at, *slowdown = r->of[c].slowdown;
    if (r->of[c].n > 0 && !(at[r->of[c].n - 1] >= 1)) {
        return dls_fail(err, DLS_EINPUT, p->variability_path, "class '%s' has no quantile 1",
                        r->v->name[c]);
    }
    for (int64_t g = 0; g < r->v->first[r->n_nodes]; g++) {
        dls_rng rng = dls_rng_stream(p->seed, DLS_RNG_GPU, (uint64_t)g);
        const double rank = r->of[c].n > 0 ? dls_rng_unit(&rng) : 0;
        int i = 1;
        while (i < r->of[c].n - 1 && rank > at[i]) {
            i++;
        }
        if (r->of[c].n > 0) {
            x[g] = slowdown[i - 1] +
                   (rank - at[i - 1]) / (at[i] - at[i - 1]) * (slowdown[i] - slowdown[i - 1]);
        }
        x[g] = x[g] > 0 ? x[g] : 1;
        least = fmin(least, x[g]);
    }
    for (int64_t g = 0; g < r->v->first[r->n_nodes]; g++) {
        x[g] = least / x[g];
    }
    return DLS_OK;
}

/* ---- who feels it ---------------------------------------------------------------------------- */

/* Whether a configuration's name of a model means this kind; "*": whatever no other name means. */
static bool means(const char *name, const dls_kind *kind)
{
    char key[DLS_MODEL_KEY], own[DLS_MODEL_KEY];
    const dls_model_names names = dls_model_lookup(name);
    dls_model_key(name, key);
    dls_model_key(kind->model, own);
    return names.match == DLS_MODEL_KNOWN
               ? kind->names.match != DLS_MODEL_UNKNOWN && names.zoo == kind->names.zoo
               : strcmp(key, own) == 0;
}

static dls_status read_classes(const char *text, const dls_kinds *kinds, dls_variability *v,
                               dls_error *err)
{
    int8_t others = -1;
    for (int32_t k = 0; k < kinds->n; k++) {
        v->class_of[k] = -1;
    }
    for (const char *at = text; *(at += strspn(at, "; "));) {
        char name[128], class_name[128], rest;
        const int len = (int)strcspn(at, ";");
        const int n = sscanf(at, " %127[^=; ] = %127[^=; ] %c", name, class_name, &rest);
        const int32_t c = n >= 2 && (n == 2 || rest == ';') ? find_class(v, class_name) : -1;
        if (c < 0) {
            return dls_fail(err, DLS_ECONFIG, "perf.variability_classes",
                            "\"%.*s\" is not MODEL=CLASS with a class of perf.variability",
                            len < 80 ? len : 80, at);
        }
        others = strcmp(name, "*") == 0 ? (int8_t)c : others;
        for (int32_t k = 0; k < kinds->n; k++) {
            v->class_of[k] = means(name, &kinds->kind[k]) ? (int8_t)c : v->class_of[k];
        }
        at += len;
    }
    for (int32_t k = 0; k < kinds->n; k++) {
        v->class_of[k] = v->class_of[k] < 0 ? others : v->class_of[k];
    }
    return DLS_OK;
}

dls_status dls_variability_load(const dls_world_params *p, const dls_kinds *kinds,
                                dls_variability *out, dls_error *err)
{
    static const char *const names[N_COLS] = {"class", "slowdown", "quantile", "node", "gpu"};
    DLS_FREED reader *r = NULL;
    int32_t node = 0, n_nodes = 0;
    for (int32_t g = 0; g < p->cluster->n_groups; g++) {
        n_nodes += p->cluster->groups[g].nodes;
    }
    DLS_TRY(
        dls_alloc_array(&out->first, (size_t)n_nodes + 1, sizeof *out->first, "variability", err));
    DLS_TRY(dls_alloc_array(&out->class_of, (size_t)kinds->n + 1, 1, "variability", err));
    for (int32_t g = 0; g < p->cluster->n_groups; g++) {
        for (int32_t i = 0; i < p->cluster->groups[g].nodes; i++, node++) {
            out->first[node + 1] = out->first[node] + p->cluster->groups[g].gpus_per_node;
        }
    }
    DLS_TRY(dls_alloc_array(&r, 1, sizeof *r, "variability", err));
    r->v = out;
    r->n_nodes = n_nodes;
    DLS_TRY(dls_csv_rows(p->variability_path, names, N_COLS, 2, read_row, r, err));
    for (int32_t c = 0; c < out->n; c++) {
        DLS_TRY(finish(p, r, c, err));
    }
    return read_classes(p->variability_classes, kinds, out, err);
}

void dls_variability_fini(dls_variability *v)
{
    DLS_FREE_ALL(v->first, v->class_of);
    for (int32_t c = 0; c < v->n; c++) {
        dls_free(v->speed[c]);
    }
}
