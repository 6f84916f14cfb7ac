/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reads the profiles of applications (app.h).
 */
#include "pollux/app.h"

#include "base/csv.h"
#include "base/file.h"
#include "base/own.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What no file says: how many epochs there are, the most samples on a GPU if they are fewer than
 * were measured, and Sia's constants. */
static const struct known {
    const char *name;
    int32_t epochs, local_cap;
    dls_pollux_sia sia;
} known[] = {{"bert", 2, 0, {120, 120, 1.2}},       {"cifar10", 100, 0, {50, 30, 1.8}},
             {"deepspeech2", 80, 0, {25, 25, 1.2}}, {"imagenet", 90, 0, {250, 250, 1.2}},
             {"ncf", 10, 0, {15, 30, 1.5}},         {"yolov3", 50, 8, {80, 45, 1.2}}};

#define APPS (sizeof known / sizeof *known)

/* ---- validation-<batch>.csv ------------------------------------------------------------------ */

static dls_status read_epochs(const char *path, int32_t epochs, double *row, dls_error *err)
{
    int col[DLS_POLLUX_COLS];
    const dls_csv_bind binds[] = {{"progress", &col[DLS_POLLUX_PROGRESS], true},
                                  {"iteration", &col[DLS_POLLUX_ITERATION], true},
                                  {"grad_sqr", &col[DLS_POLLUX_SQR], true},
                                  {"grad_var", &col[DLS_POLLUX_VAR], true}};
    DLS_OWN(dls_csv_fini) dls_csv table = {0};
    dls_csv *csv = &table;
    DLS_TRY(dls_csv_open(csv, path, err));
    DLS_TRY(dls_csv_header(csv, err));
    DLS_TRY(dls_csv_bind_all(csv, binds, DLS_POLLUX_COLS, err));
    for (int32_t e = 0; e < epochs; e++) {
        bool more;
        DLS_TRY(dls_csv_next(csv, &more, err));
        if (!more) {
            return dls_csv_fail(csv, -1, err, "expected %d epochs, found %d", epochs, e);
        }
        double *r = row + (size_t)e * DLS_POLLUX_COLS;
        for (int c = 0; c < DLS_POLLUX_COLS; c++) {
            DLS_TRY(dls_csv_real(csv, col[c], "a number, 0 or more", 0, &r[c], err));
        }
        if (!(r[DLS_POLLUX_SQR] + r[DLS_POLLUX_VAR] > 0)) {
            return dls_csv_fail(csv, col[DLS_POLLUX_SQR], err,
                                "gradients without size and without noise");
        }
        if (e > 0 && r[DLS_POLLUX_PROGRESS] < r[DLS_POLLUX_PROGRESS - DLS_POLLUX_COLS]) {
            return dls_csv_fail(csv, col[DLS_POLLUX_PROGRESS], err, "falls");
        }
    }
    return DLS_OK;
}

static dls_status add_size(dls_pollux_app *a, const char *path, int32_t batch, dls_error *err)
{
    int32_t at = a->n_sizes;
    if (at == DLS_POLLUX_SIZES) {
        return dls_fail(err, DLS_EINPUT, path, "more than %d batch sizes", DLS_POLLUX_SIZES);
    }
    double *row = dls_alloc_zero((size_t)a->epochs * DLS_POLLUX_COLS, sizeof *row);
    if (!row) {
        return dls_nomem(err, "epochs", (size_t)a->epochs * DLS_POLLUX_COLS * sizeof *row);
    }
    for (; at > 0 && a->sizes[at - 1] > batch; at--) {
        a->sizes[at] = a->sizes[at - 1];
        a->row[at] = a->row[at - 1];
    }
    a->sizes[at] = batch;
    a->row[at] = row;
    a->n_sizes++;
    return read_epochs(path, a->epochs, row, err);
}

/* Done with an epoch when the least of the batch sizes' progress is reached. */
static dls_status find_progress(dls_pollux_app *a, dls_error *err)
{
    DLS_TRY(
        dls_alloc_array(&a->progress, (size_t)a->epochs + 1, sizeof *a->progress, "progress", err));
    for (int32_t e = 1; e <= a->epochs; e++) {
        a->progress[e] = (double)INFINITY;
        for (int32_t s = 0; s < a->n_sizes; s++) {
            a->progress[e] =
                fmin(a->progress[e], a->row[s][(e - 1) * DLS_POLLUX_COLS + DLS_POLLUX_PROGRESS]);
        }
    }
    return DLS_OK;
}

static dls_status read_sizes(dls_pollux_app *a, const char *folder, dls_error *err)
{
    struct dirent **name;
    int n;
    DLS_TRY(dls_file_names(folder, &name, &n, err));
    dls_status status = DLS_OK;
    for (int i = 0; i < n && status == DLS_OK; i++) {
        int batch, end = 0;
        if (sscanf(name[i]->d_name, "validation-%9d.csv%n", &batch, &end) == 1 && end > 0 &&
            name[i]->d_name[end] == '\0' && batch > 0) {
            char path[4800];
            snprintf(path, sizeof path, "%s/%s", folder, name[i]->d_name);
            status = add_size(a, path, batch, err);
        }
    }
    dls_file_free_names(name, n);
    if (status == DLS_OK && a->n_sizes == 0) {
        status = dls_fail(err, DLS_EINPUT, folder, "has no validation-<batch>.csv");
    }
    return status == DLS_OK ? find_progress(a, err) : status;
}

/* ---- times ----------------------------------------------------------------------------------- */

static dls_status add_time(dls_pollux_curves *c, const char *key, int32_t nodes, int32_t replicas,
                           dls_pollux_sample sample, dls_error *err)
{
    dls_pollux_curve *of = NULL;
    for (size_t i = c->n; i-- > 0 && !of;) {
        of = strcmp(c->of[i].key, key) == 0 && c->of[i].nodes == nodes &&
                     c->of[i].replicas == replicas
                 ? &c->of[i]
                 : NULL;
    }
    if (!of) {
        DLS_TRY(dls_grow(&c->of, &c->cap, c->n + 1, sizeof *c->of, err));
        of = &c->of[c->n++];
        *of = (dls_pollux_curve){.nodes = nodes, .replicas = replicas};
        memcpy(of->key, key, strlen(key) + 1);
    }
    DLS_TRY(dls_grow(&of->at, &of->cap, of->n + 1, sizeof *of->at, err));
    of->at[of->n++] = sample;
    return DLS_OK;
}

DLS_BY(by_local, dls_pollux_sample, DLS_UP(local));

DLS_BY(by_place, dls_pollux_curve, strcmp(x->key, y->key), DLS_UP(nodes), DLS_UP(replicas));

/* Ascending; samples of one local batch become their mean. */
static void sort(dls_pollux_curves *c)
{
    for (size_t i = 0; i < c->n; i++) {
        dls_pollux_curve *of = &c->of[i];
        size_t kept = 0;
        qsort(of->at, of->n, sizeof *of->at, by_local);
        for (size_t k = 0, end; k < of->n; k = end) {
            dls_pollux_sample mean = {.local = of->at[k].local};
            for (end = k; end < of->n && of->at[end].local == mean.local; end++) {
                mean.t.step += of->at[end].t.step;
                mean.t.sync += of->at[end].t.sync;
            }
            mean.t.step /= (double)(end - k);
            mean.t.sync /= (double)(end - k);
            of->at[kept++] = mean;
        }
        of->n = kept;
    }
    dls_sort(c->of, c->n, sizeof *c->of, by_place);
}

enum { APP, PLACEMENT, NODES, REPLICAS, LOCAL, STEP, SYNC, TIME_COLS };

static dls_status read_digits(dls_csv *csv, int col, int32_t *gpus, int32_t *nodes,
                              int32_t *replicas, dls_error *err)
{
    const char *text = dls_csv_text(csv, col);
    *nodes = *replicas = 0;
    for (; text[*nodes] >= '1' && text[*nodes] <= '9' && *nodes < DLS_POLLUX_REPLICAS; ++*nodes) {
        gpus[*nodes] = text[*nodes] - '0';
        *replicas += gpus[*nodes];
    }
    return *nodes > 0 && text[*nodes] == '\0'
               ? DLS_OK
               : dls_csv_fail(csv, col, err, "expected the GPUs on each node as digits from 1 on");
}

/* One row of any of the three tables, for its application. */
static dls_status read_time(dls_csv *csv, const int *col, dls_pollux_app *a, dls_error *err)
{
    int64_t local, nodes = 0, replicas = 0;
    int32_t gpus[DLS_POLLUX_REPLICAS], n, r;
    char key[DLS_POLLUX_REPLICAS + 1] = "";
    dls_pollux_sample s;
    DLS_TRY(dls_csv_i64(csv, col[LOCAL], "a local batch, 1 or more", 0, 1, 1 << 24, &local, err));
    s.local = (int32_t)local;
    DLS_TRY(dls_csv_real(csv, col[SYNC], "seconds", 0, &s.t.sync, err));
    DLS_TRY(dls_csv_real(csv, col[STEP], "seconds, no less than what synchronising takes",
                 fmax(s.t.sync, 1e-12), &s.t.step, err));
    if (col[PLACEMENT] < 0) {
        DLS_TRY(dls_csv_i64(csv, col[NODES], "nodes", 0, 1, 1 << 16, &nodes, err));
        DLS_TRY(dls_csv_i64(csv, col[REPLICAS], "replicas", 0, nodes, 1 << 20, &replicas, err));
        return add_time(&a->lattice, "", (int32_t)nodes, (int32_t)replicas, s, err);
    }
    DLS_TRY(read_digits(csv, col[PLACEMENT], gpus, &n, &r, err));
    dls_pollux_key(gpus, n, key);
    if (col[APP] >= 0) {
        return add_time(&a->points, key, n, r, s, err);
    }
    a->local_min = a->local_min && a->local_min < s.local ? a->local_min : s.local;
    a->local_max = a->local_max > s.local ? a->local_max : s.local;
    DLS_TRY(add_time(&a->lattice, "", n, r, s, err));
    return add_time(&a->placements, key, n, r, s, err);
}

/* a: the application of a table without the column `app`. */
static dls_status read_file(const char *path, dls_pollux_apps *apps, dls_pollux_app *a,
                            dls_error *err)
{
    int col[TIME_COLS];
    dls_csv_bind binds[] = {{"app", &col[APP], !a},
                            {"placement", &col[PLACEMENT], !a},
                            {"num_nodes", &col[NODES], false},
                            {"num_replicas", &col[REPLICAS], false},
                            {"local_bsz", &col[LOCAL], true},
                            {"step_time", &col[STEP], true},
                            {"sync_time", &col[SYNC], true}};
    DLS_OWN(dls_csv_fini) dls_csv table = {0};
    dls_csv *csv = &table;
    DLS_TRY(dls_csv_open(csv, path, err));
    DLS_TRY(dls_csv_header(csv, err));
    binds[NODES].required = binds[REPLICAS].required = dls_csv_find(csv, "placement") < 0;
    DLS_TRY(dls_csv_bind_all(csv, binds, TIME_COLS, err));
    for (bool more;;) {
        DLS_TRY(dls_csv_next(csv, &more, err));
        if (!more) {
            return DLS_OK;
        }
        dls_pollux_app *of = a;
        for (size_t i = 0; i < apps->n && !of; i++) {
            of = dls_csv_is(csv, col[APP], apps->app[i].name) ? &apps->app[i] : NULL;
        }
        if (of) {
            DLS_TRY(read_time(csv, col, of, err));
        }
    }
}

/* ---- all ------------------------------------------------------------------------------------- */

static dls_status read_app(dls_pollux_apps *apps, dls_pollux_app *a, const char *folder,
                           dls_error *err)
{
    char path[4400];
    DLS_TRY(read_sizes(a, folder, err));
    snprintf(path, sizeof path, "%s/placements.csv", folder);
    DLS_TRY(read_file(path, apps, a, err));
    snprintf(path, sizeof path, "%s/scalability.csv", folder);
    DLS_TRY(read_file(path, apps, a, err));
    sort(&a->placements);
    sort(&a->lattice);
    return DLS_OK;
}

static dls_status read_all(const char *folder, const char *points, dls_pollux_apps *out,
                           dls_error *err)
{
    for (size_t i = 0; i < APPS; i++) {
        char path[4300];
        struct stat st;
        snprintf(path, sizeof path, "%s/%s", folder, known[i].name);
        if (stat(path, &st) == 0) {
            dls_pollux_app *a = &out->app[out->n++];
            *a = (dls_pollux_app){
                .name = known[i].name, .epochs = known[i].epochs, .sia = &known[i].sia};
            DLS_TRY(read_app(out, a, path, err));
            a->local_cap = known[i].local_cap && known[i].local_cap < a->local_max
                               ? known[i].local_cap
                               : a->local_max;
        }
    }
    if (out->n == 0) {
        return dls_fail(err, DLS_EINPUT, folder, "has none of the applications' folders");
    }
    if (points) {
        DLS_TRY(read_file(points, out, NULL, err));
        for (size_t i = 0; i < out->n; i++) {
            sort(&out->app[i].points);
        }
    }
    return DLS_OK;
}

dls_status dls_pollux_apps_load(const char *folder, const char *points, dls_pollux_apps *out,
                                dls_error *err)
{
    if (strlen(folder) > 4096) {
        return dls_fail(err, DLS_EINPUT, NULL, "the name of the folder is too long");
    }
    *out = (dls_pollux_apps){.app = dls_alloc_zero(APPS, sizeof *out->app)};
    if (!out->app) {
        return dls_nomem(err, "applications", APPS * sizeof *out->app);
    }
    return read_all(folder, points, out, err);
}

static void curves_fini(dls_pollux_curves *c)
{
    for (size_t i = 0; i < c->n; i++) {
        dls_free(c->of[i].at);
    }
    dls_free(c->of);
}

void dls_pollux_apps_fini(dls_pollux_apps *apps)
{
    for (size_t i = 0; i < apps->n; i++) {
        dls_pollux_app *a = &apps->app[i];
        for (int32_t s = 0; s < a->n_sizes; s++) {
            dls_free(a->row[s]);
        }
        dls_free(a->progress);
        curves_fini(&a->placements);
        curves_fini(&a->points);
        curves_fini(&a->lattice);
    }
    dls_free(apps->app);
    *apps = (dls_pollux_apps){0};
}
