/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Gavel's table of throughputs: steps per second of a job alone and of pairs that share GPUs, by
 * type of GPU. What the file says of gangs that are spread over servers is not read, as there.
 */
#include "gavel/core.h"

#include "base/alloc.h"
#include "base/csv.h"
#include "base/file.h"
#include "base/json.h"
#include "base/suggest.h"

#include <stdio.h>
#include <string.h>

const char *const dls_gavel_type_name[DLS_GAVEL_TYPES] = {"k80", "p100", "v100"};

/* Every type's object in turn; `each` may stop by an error. */
typedef dls_status (*reader)(dls_gv_speeds *s, int32_t type, const char *self, json_object *of,
                             dls_error *err);

static dls_status walk(json_object *root, const char *path, dls_gv_speeds *s, reader each,
                       dls_error *err)
{
    for (int32_t t = 0; t < DLS_GV_TYPES; t++) {
        json_object *jobs;
        if (!json_object_object_get_ex(root, dls_gavel_type_name[t], &jobs)) {
            continue;
        }
        if (!json_object_is_type(jobs, json_type_object)) {
            return dls_fail(err, DLS_EINPUT, path, "\"%s\": expected an object of jobs",
                            dls_gavel_type_name[t]);
        }
        struct json_object_iter at;
        json_object_object_foreachC(jobs, at)
        {
            if (!json_object_is_type(at.val, json_type_object)) {
                return dls_fail(err, DLS_EINPUT, path, "%s: \"%.60s\": expected an object",
                                dls_gavel_type_name[t], at.key);
            }
            DLS_TRY(each(s, t, at.key, at.val, err));
        }
    }
    return DLS_OK;
}

static dls_status name_it(dls_gv_speeds *s, int32_t type, const char *self, json_object *of,
                          dls_error *err)
{
    int32_t code;
    return dls_strdict_put(&s->key, self, strlen(self), &code, err);
}

static double number(json_object *v)
{
    const double x =
        json_object_is_type(v, json_type_double) || json_object_is_type(v, json_type_int)
            ? json_object_get_double(v)
            : -1;
    return x >= 0 && x < 1e12 ? x : -1;
}

static dls_status read_pairs(dls_gv_speeds *s, int32_t type, const char *self, json_object *of,
                             dls_error *err)
{
    const size_t n = s->key.n, own = (size_t)dls_strdict_find(&s->key, self, strlen(self));
    struct json_object_iter at;
    json_object_object_foreachC(of, at)
    {
        const char *other = at.key;
        json_object *v = at.val;
        const int32_t code = dls_strdict_find(&s->key, other, strlen(other));
        if (strcmp(other, "null") == 0) {
            s->alone[(size_t)type * n + own] = number(v);
        } else if (code >= 0 && json_object_is_type(v, json_type_array) &&
                   json_object_array_length(v) == 2) {
            double *to = &s->pair[(((size_t)type * n + own) * n + (size_t)code) * 2];
            to[0] = number(json_object_array_get_idx(v, 0));
            to[1] = number(json_object_array_get_idx(v, 1));
        }
    }
    return DLS_OK;
}

static dls_status load(json_object *root, const char *path, dls_gv_speeds *s, dls_error *err)
{
    if (!json_object_is_type(root, json_type_object)) {
        return dls_fail(err, DLS_EINPUT, path, "expected a table of throughputs in JSON");
    }
    DLS_TRY(walk(root, path, s, name_it, err));
    if (s->key.n == 0 || s->key.n > 4096) {
        return dls_fail(err, DLS_EINPUT, path, "%zu kinds of jobs on k80, p100 and v100", s->key.n);
    }
    const size_t n = s->key.n, cells = DLS_GV_TYPES * n * (1 + 2 * n);
    DLS_TRY(dls_alloc_array(&s->alone, cells, sizeof *s->alone, "throughputs", err));
    s->pair = s->alone + DLS_GV_TYPES * n;
    for (size_t i = 0; i < cells; i++) {
        s->alone[i] = -1;
    }
    return walk(root, path, s, read_pairs, err);
}

dls_status dls_gv_speeds_load(const char *path, dls_gv_speeds *out, dls_error *err)
{
    DLS_FREED char *text = NULL;
    size_t len;
    *out = (dls_gv_speeds){0};
    DLS_TRY(dls_file_read_text(path, DLS_FILE_TABLE, &text, &len, err));
    DLS_HOLD(json_object_put) json_object *root = json_tokener_parse(text);
    return load(root, path, out, err);
}

void dls_gv_speeds_fini(dls_gv_speeds *s)
{
    dls_strdict_fini(&s->key);
    dls_free(s->alone);
}

int32_t dls_gv_key(const dls_gv_speeds *s, const char *model, int64_t batch, int32_t gpus)
{
    char text[192], size[40] = "";
    if (batch > 0) {
        snprintf(size, sizeof size, " (batch size %lld)", (long long)batch);
    }
    const int len = snprintf(text, sizeof text, "('%.120s%s', %d)", model, size, (int)gpus);
    return dls_strdict_find(&s->key, text, (size_t)len);
}

/* ---- factors --------------------------------------------------------------------------------- */

static dls_status scale_row(dls_csv *csv, const int *col, void *user, dls_error *err)
{
    dls_gv_speeds *s = user;
    char model[128];
    int64_t batch, gpus, thousandths;
    const size_t type = DLS_NAMED(dls_gavel_type_name, dls_csv_text(csv, col[0]));
    if (type == DLS_GV_TYPES) {
        return dls_csv_fail(csv, col[0], err, "expected k80, p100 or v100");
    }
    snprintf(model, sizeof model, "%s", dls_csv_text(csv, col[1]));
    DLS_TRY(dls_csv_i64(csv, col[2], "a batch size, 0: none", 0, 0, INT32_MAX, &batch, err));
    DLS_TRY(dls_csv_i64(csv, col[3], "GPUs, at least 1", 0, 1, INT32_MAX, &gpus, err));
    DLS_TRY(dls_csv_i64(csv, col[4], "a factor of three decimals, 0.001 to 1000", 3, 1, 1000000,
                        &thousandths, err));
    const int32_t key = dls_gv_key(s, model, batch, (int32_t)gpus);
    if (key < 0) {
        return dls_csv_fail(csv, col[1], err, "the throughputs have no such job");
    }
    double *speed = &s->alone[type * s->key.n + (size_t)key];
    *speed *= *speed > 0 ? (double)thousandths / 1000 : 1;
    return DLS_OK;
}

dls_status dls_gv_speeds_scale(dls_gv_speeds *s, const char *path, dls_error *err)
{
    static const char *const names[] = {"gpu", "model", "batch", "gpus", "factor"};
    return dls_csv_rows(path, names, 5, 5, scale_row, s, err);
}
