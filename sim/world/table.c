/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Table of measured iteration times: loads the published formats, merges repeats, and finds the
 * nearest setting, interpolated over the batch.
 */
#include "world/table.h"

#include "base/own.h"
#include "base/file.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

void dls_table_fini(dls_speed_table *table)
{
    if (table) {
        dls_free(table->row);
        dls_strdict_fini(&table->models);
        dls_strdict_fini(&table->gpus);
        *table = (dls_speed_table){0};
    }
}

dls_status dls_table_add(dls_speed_table *table, const char *model, const char *gpu, dls_table_row row,
                         dls_error *err)
{
    char key[DLS_MODEL_KEY];
    if (!(row.iteration_s > 0) || !isfinite(row.iteration_s)) {
        return DLS_OK;
    }
    dls_model_key(model, key);
    DLS_TRY(dls_strdict_put(&table->models, key, strlen(key), &row.model, err));
    DLS_TRY(dls_strdict_put(&table->gpus, gpu, strlen(gpu), &row.gpu, err));
    DLS_TRY(dls_grow(&table->row, &table->cap, table->n + 1, sizeof *table->row, err));
    row.weight = 1;
    table->row[table->n++] = row;
    return DLS_OK;
}

/* ---- loading --------------------------------------------------------------------------------- */

DLS_BY(compare, dls_table_row, DLS_UP(model), DLS_UP(gpu), DLS_UP(gpus), DLS_UP(nodes),
       DLS_UP(batch), DLS_UP(iteration_s));

/* What was measured more than once becomes its mean. */
static void merge(dls_speed_table *t)
{
    size_t n = 0;
    qsort(t->row, t->n, sizeof *t->row, compare);
    for (size_t i = 0; i < t->n; i++) {
        const dls_table_row *r = &t->row[i];
        dls_table_row *last = n ? &t->row[n - 1] : NULL;
        if (last && last->model == r->model && last->gpu == r->gpu && last->gpus == r->gpus &&
            last->nodes == r->nodes && last->batch == r->batch) {
            last->weight++;
            last->iteration_s += (r->iteration_s - last->iteration_s) / last->weight;
        } else {
            t->row[n++] = *r;
        }
    }
    t->n = n;
}

static dls_status read_folder(const char *path, dls_speed_table *out, dls_error *err)
{
    bool pollux = false, elasticflow = false;
    DLS_TRY(dls_table_read_pollux(path, out, &pollux, err));
    DLS_TRY(dls_table_read_elasticflow(path, out, &elasticflow, err));
    return pollux || elasticflow
               ? DLS_OK
               : dls_fail(err, DLS_EINPUT, path,
                          "expected <application>/placements.csv or throughputs_<GPU>/<model>.csv "
                          "in the folder");
}

static dls_status read_any(const char *path, dls_speed_table *out, dls_error *err)
{
    struct stat about;
    DLS_FREED char *text = NULL;
    size_t len;
    if (stat(path, &about) != 0) {
        return dls_fail(err, DLS_EINPUT, path, "the table of throughputs cannot be read: %s",
                        strerror(errno));
    }
    if (S_ISDIR(about.st_mode)) {
        return read_folder(path, out, err);
    }
    DLS_TRY(dls_file_read(path, DLS_FILE_TABLE, &text, &len, err));
    if (dls_file_is_gzip(text, len)) {
        DLS_FREED char *packed = dls_take(&text);
        DLS_TRY(dls_file_gunzip(path, packed, len, DLS_FILE_TABLE, &text, &len, err));
    }
    const bool h5 = len >= 8 && memcmp(text, "\211HDF\r\n\032\n", 8) == 0;
    return h5 ? dls_table_read_h5(path, out, err)
              : dls_table_read_gavel(path, text, len, out, err);
}

dls_status dls_table_load(const char *path, dls_speed_table *out, dls_error *err)
{
    *out = (dls_speed_table){0};
    dls_status status = read_any(path, out, err);
    if (status == DLS_OK && out->n == 0) {
        status = dls_fail(err, DLS_EINPUT, path, "no measurement in the table");
    }
    if (status != DLS_OK) {
        dls_table_fini(out);
        return status;
    }
    merge(out);
    return DLS_OK;
}

/* ---- names ----------------------------------------------------------------------------------- */

int32_t dls_table_gpu(const dls_speed_table *table, const char *name)
{
    char cut[64];
    char *dash;
    snprintf(cut, sizeof cut, "%s", name);
    do {
        for (size_t i = 0; i < table->gpus.n; i++) {
            if (strcasecmp(dls_strdict_get(&table->gpus, (int32_t)i), cut) == 0) {
                return (int32_t)i;
            }
        }
        dash = strrchr(cut, '-');
        if (dash) {
            *dash = '\0';
        }
    } while (dash);
    return -1;
}

int32_t dls_table_model(const dls_speed_table *table, const dls_kind *kind)
{
    char key[DLS_MODEL_KEY];
    dls_model_key(kind->model, key);
    const int32_t code = dls_strdict_find(&table->models, key, strlen(key));
    if (code >= 0 || kind->names.match != DLS_MODEL_KNOWN) {
        return code;
    }
    for (size_t i = 0; i < table->models.n; i++) {
        const dls_model_names names = dls_model_lookup(dls_strdict_get(&table->models, (int32_t)i));
        if (names.match == DLS_MODEL_KNOWN && names.zoo == kind->names.zoo) {
            return (int32_t)i;
        }
    }
    return -1;
}

/* ---- looking up ------------------------------------------------------------------------------ */

static bool of_model(const dls_table_row *r, const dls_table_ask *ask)
{
    return r->model == ask->model && r->gpu == ask->gpu;
}

static double ratio(double a, double b)
{
    return a > b ? a / b : b / a;
}

/* How far a row's spread is from the one asked for: 0 the same. */
static int32_t spread_distance(const dls_table_row *r, const dls_table_ask *ask)
{
    const int32_t other_side = 1 << 20;
    if (r->nodes == DLS_TABLE_PACKED) {
        return ask->spread ? other_side : 0;
    }
    if (r->nodes == DLS_TABLE_SPREAD) {
        return ask->spread ? 0 : other_side;
    }
    return abs(r->nodes - ask->nodes) + ((r->nodes == 1) != (ask->nodes == 1) ? other_side : 0);
}

/* The group of rows, all with the same GPUs and nodes, that is nearest; false: none of the model.
 */
static bool nearest_group(const dls_speed_table *t, const dls_table_ask *ask, size_t *first, size_t *end)
{
    size_t best = t->n;
    for (size_t i = 0; i < t->n; i++) {
        if (!of_model(&t->row[i], ask)) {
            continue;
        }
        const double far = ratio(t->row[i].gpus, ask->gpus);
        if (best == t->n || far < ratio(t->row[best].gpus, ask->gpus) ||
            (t->row[i].gpus == t->row[best].gpus &&
             spread_distance(&t->row[i], ask) < spread_distance(&t->row[best], ask))) {
            best = i;
        }
    }
    *first = *end = best;
    while (*end < t->n && of_model(&t->row[*end], ask) && t->row[*end].gpus == t->row[best].gpus &&
           t->row[*end].nodes == t->row[best].nodes) {
        ++*end;
    }
    return best < t->n;
}

/* Linear between the rows around the batch, in proportion beyond them. */
static double at_batch(const dls_table_row *low, const dls_table_row *high, double batch, double a,
                       double b)
{
    if (isinf(a) || isinf(b)) {
        return (double)INFINITY;
    }
    if (low->batch == high->batch) {
        return low->batch > 0 ? a * batch / low->batch : a;
    }
    return a + (b - a) * (batch - low->batch) / (high->batch - low->batch);
}

bool dls_table_find(const dls_speed_table *t, const dls_table_ask *ask, dls_table_answer *out)
{
    size_t first, end;
    if (!nearest_group(t, ask, &first, &end)) {
        return false;
    }
    size_t high = first;
    while (high < end && t->row[high].batch < ask->batch) {
        high++;
    }
    const size_t low =
        high == first || (high < end && t->row[high].batch == ask->batch) ? high : high - 1;
    const dls_table_row *a = &t->row[low], *b = &t->row[high < end ? high : low];
    const double batch = (double)ask->batch;
    *out = (dls_table_answer){
        .iteration_s = at_batch(a, b, batch, a->iteration_s, b->iteration_s),
        .beside_s = a->beside_s > 0 && b->beside_s > 0
                        ? at_batch(a, b, batch, a->beside_s, b->beside_s)
                        : 0,
        .unmeasured = spread_distance(a, ask) > 0 || (a->batch > 0 && a->batch != ask->batch),
        .extrapolated = a->gpus != ask->gpus};
    return true;
}
