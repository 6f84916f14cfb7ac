/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Throughputs of Gavel (OSDI 2020) and of what follows it (Shockwave): a JSON object
 *
 *      GPU type [+ "_unconsolidated"] -> "('Model (batch size N)', GPUs)" ->
 *          "null" -> steps per second alone, "('Other ...', GPUs)" -> [own, other's] side by side
 *
 * Steps are those of every worker, added up, as Gavel's traces count them: of g GPUs one takes g
 * times as long as between two of them; 0: does not fit into the memory.
 */
#include "world/table.h"

#include "base/alloc.h"
#include "base/decimal.h"
#include "base/file.h"
#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

_Static_assert(DLS_FILE_TABLE <= INT32_MAX, "json-c counts in int");

static const char spread_mark[] = "_unconsolidated";

static const char batch_mark[] = "(batch size ";

/* A whole number from 1 on and ")", and nothing else. */
static bool whole_in(const char *text, int32_t *out)
{
    const size_t len = strcspn(text, ")");
    int64_t value;
    if (strcmp(text + len, ")") != 0 ||
        dls_decimal_parse(text, len, 0, &value) != DLS_DECIMAL_EXACT || value < 1 ||
        value > INT32_MAX) {
        return false;
    }
    *out = (int32_t)value;
    return true;
}

/* "('Model', GPUs)" */
static bool name_in(const char *self, char *model, size_t size, int32_t *gpus)
{
    const char *end = strncmp(self, "('", 2) == 0 ? strchr(self + 2, '\'') : NULL;
    const size_t len = end ? (size_t)(end - self) - 2 : 0;
    if (len == 0 || len >= size || strncmp(end, "', ", 3) != 0) {
        return false;
    }
    memcpy(model, self + 2, len);
    model[len] = '\0';
    return whole_in(end + 3, gpus);
}

static double number(struct json_object *value)
{
    return json_object_is_type(value, json_type_double) || json_object_is_type(value, json_type_int)
               ? json_object_get_double(value)
               : 0;
}

static double seconds(double per_s)
{
    return per_s > 0 ? 1 / per_s : (double)INFINITY;
}

/* Time beside an equal job; 0 if that was not measured. */
static double beside(struct json_object *job, const char *self)
{
    struct json_object *pair;
    if (!json_object_object_get_ex(job, self, &pair) ||
        !json_object_is_type(pair, json_type_array) || json_object_array_length(pair) != 2) {
        return 0;
    }
    return seconds(number(json_object_array_get_idx(pair, 0)));
}

static dls_status add_job(dls_speed_table *out, const char *path, const char *gpu, bool spread,
                          const char *self, struct json_object *job, dls_error *err)
{
    char model[96];
    dls_table_row row = {.nodes = spread ? DLS_TABLE_SPREAD : DLS_TABLE_PACKED};
    struct json_object *alone;
    if (!name_in(self, model, sizeof model, &row.gpus)) {
        return dls_fail(err, DLS_EINPUT, path, "%s: expected \"('Model', GPUs)\", not \"%.60s\"",
                        gpu, self);
    }
    const char *batch = strstr(model, batch_mark);
    if (batch && !whole_in(batch + strlen(batch_mark), &row.batch)) {
        return dls_fail(err, DLS_EINPUT, path, "%s: no batch size in \"%.60s\"", gpu, self);
    }
    if (!json_object_object_get_ex(job, "null", &alone)) {
        return DLS_OK;
    }
    row.iteration_s = row.gpus * seconds(number(alone));
    row.beside_s = row.gpus * beside(job, self);
    return dls_table_add(out, model, gpu, row, err);
}

static dls_status add_gpu(dls_speed_table *out, const char *path, const char *name,
                          struct json_object *jobs, dls_error *err)
{
    char gpu[64];
    snprintf(gpu, sizeof gpu, "%s", name);
    char *mark = strstr(gpu, spread_mark);
    if (mark) {
        *mark = '\0';
    }
    if (!json_object_is_type(jobs, json_type_object)) {
        return dls_fail(err, DLS_EINPUT, path, "\"%.40s\": expected an object of jobs", name);
    }
    const struct json_object_iterator end = json_object_iter_end(jobs);
    struct json_object_iterator at = json_object_iter_begin(jobs);
    for (; !json_object_iter_equal(&at, &end); json_object_iter_next(&at)) {
        const char *self = json_object_iter_peek_name(&at);
        struct json_object *job = json_object_iter_peek_value(&at);
        if (!json_object_is_type(job, json_type_object)) {
            return dls_fail(err, DLS_EINPUT, path, "%s: \"%.60s\": expected an object", gpu, self);
        }
        DLS_TRY(add_job(out, path, gpu, mark != NULL, self, job, err));
    }
    return DLS_OK;
}

static dls_status add_all(dls_speed_table *out, const char *path, struct json_object *root,
                          dls_error *err)
{
    if (!json_object_is_type(root, json_type_object)) {
        return dls_fail(err, DLS_EINPUT, path, "expected an object of GPU types");
    }
    const struct json_object_iterator end = json_object_iter_end(root);
    struct json_object_iterator at = json_object_iter_begin(root);
    for (; !json_object_iter_equal(&at, &end); json_object_iter_next(&at)) {
        DLS_TRY(add_gpu(out, path, json_object_iter_peek_name(&at),
                        json_object_iter_peek_value(&at), err));
    }
    return DLS_OK;
}

dls_status dls_table_read_gavel(const char *path, const char *text, size_t len, dls_speed_table *out,
                                dls_error *err)
{
    struct json_tokener *tokener = json_tokener_new();
    if (!tokener) {
        return dls_nomem(err, "JSON reader", 0);
    }
    DLS_HOLD(json_object_put) json_object *root = json_tokener_parse_ex(tokener, text, (int)len);
    const enum json_tokener_error why = json_tokener_get_error(tokener);
    const size_t at = json_tokener_get_parse_end(tokener);
    json_tokener_free(tokener);
    if (!root && why == json_tokener_success) {
        return dls_nomem(err, "JSON table", len);
    }
    if (!root) {
        char where[256];
        return dls_fail(err, DLS_EINPUT, dls_file_where(path, text, at, where, sizeof where),
                        "not a JSON table of throughputs: %s", json_tokener_error_desc(why));
    }
    out->each = true;
    return add_all(out, path, root, err);
}
