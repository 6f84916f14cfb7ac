/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The axes of a sweep: lists, ranges, rows and samples, all of them tables in the end.
 */
#include "sweep/read.h"

#include "base/alloc.h"
#include "base/own.h"

#include <stdio.h>
#include <string.h>

#define TEXT_MAX 4096 /* of one value */

/* One value: a scalar, or a list of numbers for an option that takes one. */
static const char *value_text(const dls_sweep_reader *r, const config_setting_t *value, char *buf,
                              size_t n)
{
    const char *text = dls_config_scalar(value, buf, n);
    text = text ? text : dls_config_scalars(value, buf, n);
    if (!text) {
        dls_sweep_problem(r, value,
                          "a value is a number, a text, true, false or a list of numbers");
    }
    return text;
}

/* A new axis over one key. */
static dls_status axis_of_key(const dls_sweep_reader *r, const config_setting_t *group,
                              const char *key, dls_sweep_axis **axis)
{
    char where[DLS_PLACE_BYTES];
    dls_config_place(group, &r->from, where, sizeof where);
    DLS_TRY(dls_sweep_add_axis(r->sweep, where, axis, r->err));
    return key ? dls_sweep_add_key(*axis, key, r->err) : DLS_OK;
}

/* The keys of an axis: `key` alone, or the list `keys`. *good false after a problem. */
static dls_status read_keys(const dls_sweep_reader *r, dls_sweep_axis *axis, const char *key,
                            const config_setting_t *keys, bool *good)
{
    if (key) {
        return dls_sweep_add_key(axis, key, r->err);
    }
    const int n = config_setting_length(keys);
    for (int k = 0; k < n && *good; k++) {
        const config_setting_t *one = config_setting_get_elem(keys, (unsigned)k);
        const bool text = config_setting_type(one) == CONFIG_TYPE_STRING;
        *good = text && n <= DLS_SWEEP_AXES_MAX;
        if (!*good) {
            dls_sweep_problem(r, one, "%s", text ? "too many keys" : "a key is a text");
            return DLS_OK;
        }
        DLS_TRY(dls_sweep_add_key(axis, config_setting_get_string(one), r->err));
    }
    return DLS_OK;
}

/* A list of values for `key`, or (NULL) of rows for 'keys'. */
static dls_status read_values(const dls_sweep_reader *r, const config_setting_t *group,
                              const char *key)
{
    const config_setting_t *keys = NULL, *values = NULL;
    const dls_sweep_member members[] = {
        {key ? "key" : "keys", key ? DLS_SWEEP_ANY : DLS_SWEEP_LIST, &keys, 0, 0},
        {"values", DLS_SWEEP_LIST, &values, 0, 0},
        {.name = NULL}};
    bool good =
        dls_sweep_take(r, group, key ? "an axis with 'values'" : "an axis with 'keys'", members);
    dls_sweep_axis *axis;
    if (good && !values) {
        dls_sweep_problem(r, group, "an axis with 'keys' has 'values', a list of lists");
    }
    if (!good || !values) {
        return DLS_OK;
    }
    DLS_TRY(axis_of_key(r, group, NULL, &axis));
    DLS_TRY(read_keys(r, axis, key, keys, &good));
    const int n_keys = (int)axis->n_keys;
    for (int i = 0; good && i < config_setting_length(values); i++) {
        const config_setting_t *row = config_setting_get_elem(values, (unsigned)i);
        const int type = config_setting_type(row);
        if (!key && ((type != CONFIG_TYPE_LIST && type != CONFIG_TYPE_ARRAY) ||
                     config_setting_length(row) != n_keys)) {
            dls_sweep_problem(r, row, "a row is a list with a value for each of the %d keys",
                              n_keys);
            return DLS_OK;
        }
        for (int k = 0; k < n_keys; k++) {
            char buf[TEXT_MAX];
            const char *text = value_text(r, key ? row : config_setting_get_elem(row, (unsigned)k),
                                          buf, sizeof buf);
            if (text) {
                DLS_TRY(dls_sweep_add_value(axis, (size_t)(i * n_keys + k), text, r->err));
            }
        }
    }
    return DLS_OK;
}

/* The ends and the scale of a range or of a dimension that is sampled. */
typedef struct ends {
    const char *key, *scale;
    bool whole;
} ends;

static bool read_span(const dls_sweep_reader *r, const config_setting_t *group, const ends *e,
                      dls_sweep_span *span)
{
    const config_setting_t *from = config_setting_get_member(group, "from");
    const config_setting_t *to = config_setting_get_member(group, "to");
    char low[64], high[64];
    if (!from || !to) {
        dls_sweep_problem(r, group, "expected 'values', or both 'from' and 'to'");
        return false;
    }
    const char *from_text = dls_config_scalar(from, low, sizeof low);
    const char *to_text = dls_config_scalar(to, high, sizeof high);
    const bool log = strcmp(e->scale, "log") == 0;
    dls_error bad = {.msg = "'scale' is \"linear\" or \"log\""};
    if ((!log && strcmp(e->scale, "linear") != 0) ||
        dls_sweep_span_init(span, e->key, from_text ? from_text : "", to_text ? to_text : "", log,
                            e->whole, &bad) != DLS_OK) {
        dls_sweep_problem(r, group, "%s", bad.msg);
        return false;
    }
    return true;
}

static dls_status read_range(const dls_sweep_reader *r, const config_setting_t *group,
                             const char *key)
{
    dls_sweep_span span;
    dls_sweep_axis *axis;
    int64_t steps = 0;
    ends e = {.key = key, .scale = "linear"};
    const dls_sweep_member members[] = {{"key", DLS_SWEEP_ANY, NULL, 0, 0},
                                        {"from", DLS_SWEEP_ANY, NULL, 0, 0},
                                        {"to", DLS_SWEEP_ANY, NULL, 0, 0},
                                        {"steps", DLS_SWEEP_I64, &steps, 2, DLS_STUDY_POINTS_MAX},
                                        {"scale", DLS_SWEEP_TEXT, &e.scale, 0, 0},
                                        {"whole", DLS_SWEEP_BOOL, &e.whole, 0, 0},
                                        {.name = NULL}};
    const bool good = dls_sweep_take(r, group, "an axis with 'from' and 'to'", members) &&
                      read_span(r, group, &e, &span);
    if (good && steps == 0) {
        dls_sweep_problem(r, group, "a range needs 'steps', how many values it has");
    }
    if (!good || steps == 0) {
        return DLS_OK;
    }
    DLS_TRY(axis_of_key(r, group, key, &axis));
    for (int64_t i = 0; i < steps; i++) {
        char buf[64];
        dls_sweep_span_text(&span, (double)i / (double)(steps - 1), buf, sizeof buf);
        DLS_TRY(dls_sweep_add_value(axis, (size_t)i, buf, r->err));
    }
    return DLS_OK;
}

/* One dimension of a sample: a span, or a list to draw from. */
typedef struct dimension {
    const char *key;
    dls_sweep_span span;
    const config_setting_t *values; /* NULL: the span */
} dimension;

static bool read_dimension(const dls_sweep_reader *r, const config_setting_t *group, dimension *out)
{
    ends e = {.scale = "linear"};
    *out = (dimension){.key = NULL};
    const dls_sweep_member members[] = {{"key", DLS_SWEEP_TEXT, &out->key, 0, 0},
                                        {"from", DLS_SWEEP_ANY, NULL, 0, 0},
                                        {"to", DLS_SWEEP_ANY, NULL, 0, 0},
                                        {"scale", DLS_SWEEP_TEXT, &e.scale, 0, 0},
                                        {"whole", DLS_SWEEP_BOOL, &e.whole, 0, 0},
                                        {"values", DLS_SWEEP_LIST, &out->values, 0, 0},
                                        {.name = NULL}};
    if (config_setting_type(group) != CONFIG_TYPE_GROUP) {
        dls_sweep_problem(r, group, "a dimension is a group { key = ...; from = ...; to = ...; }");
        return false;
    }
    const bool good = dls_sweep_take(r, group, "a dimension", members);
    if (good && !out->key) {
        dls_sweep_problem(r, group, "a dimension needs a 'key'");
    }
    e.key = out->key;
    const bool read = good && out->key && (out->values || read_span(r, group, &e, &out->span));
    out->span.sampled = true;
    return read;
}

static dls_status fill_sample(const dls_sweep_reader *r, dls_sweep_axis *axis, const dimension *dim,
                              const double *u, size_t points)
{
    const size_t dims = axis->n_keys;
    for (size_t i = 0; i < points * dims; i++) {
        const dimension *d = &dim[i % dims];
        char buf[TEXT_MAX];
        const char *text;
        if (d->values) {
            const int n = config_setting_length(d->values);
            text = value_text(r, config_setting_get_elem(d->values, (unsigned)(u[i] * n)), buf,
                              sizeof buf);
        } else {
            text = dls_sweep_span_text(&d->span, u[i], buf, sizeof buf);
        }
        if (!text) {
            return DLS_OK;
        }
        DLS_TRY(dls_sweep_add_value(axis, i, text, r->err));
    }
    return DLS_OK;
}

static dls_status read_sample(const dls_sweep_reader *r, const config_setting_t *group,
                              const char *method)
{
    dimension dim[DLS_SWEEP_AXES_MAX];
    int64_t points = 0, seed = 1;
    const config_setting_t *over = NULL;
    const dls_sweep_member members[] = {{"sample", DLS_SWEEP_ANY, NULL, 0, 0},
                                        {"points", DLS_SWEEP_I64, &points, 1, DLS_STUDY_POINTS_MAX},
                                        {"over", DLS_SWEEP_LIST, &over, 0, 0},
                                        {"seed", DLS_SWEEP_I64, &seed, 0, INT64_MAX},
                                        {.name = NULL}};
    const bool lhs = strcmp(method, "lhs") == 0;
    const int most = lhs ? DLS_SWEEP_AXES_MAX : DLS_SWEEP_SOBOL_DIMS;
    bool good = dls_sweep_take(r, group, "an axis with 'sample'", members);
    if (good && ((!lhs && strcmp(method, "sobol") != 0) || points == 0 || !over)) {
        dls_sweep_problem(
            r, group, "a sample is { sample = \"lhs\" or \"sobol\"; points = N; over = (...); }");
        good = false;
    }
    if (good && config_setting_length(over) > most) {
        dls_sweep_problem(r, over, "%s",
                          lhs ? "too many dimensions"
                              : "Sobol sequences have at most 40 dimensions");
        good = false;
    }
    if (!good) {
        return DLS_OK;
    }
    dls_sweep_axis *axis;
    const size_t dims = (size_t)config_setting_length(over);
    DLS_TRY(axis_of_key(r, group, NULL, &axis));
    for (size_t d = 0; d < dims; d++) {
        if (!read_dimension(r, config_setting_get_elem(over, (unsigned)d), &dim[d])) {
            return DLS_OK;
        }
        DLS_TRY(dls_sweep_add_key(axis, dim[d].key, r->err));
    }
    DLS_FREED double *u = NULL;
    DLS_TRY(dls_alloc_array(&u, (size_t)points * dims, sizeof *u, "sample", r->err));
    if (lhs) {
        dls_sweep_lhs((size_t)points, dims, (uint64_t)seed, u);
    } else {
        DLS_TRY(dls_sweep_sobol((size_t)points, dims, u, r->err));
    }
    return fill_sample(r, axis, dim, u, (size_t)points);
}

static dls_status read_axis(const dls_sweep_reader *r, const config_setting_t *group)
{
    const char *key = NULL, *method = NULL;
    if (config_setting_type(group) != CONFIG_TYPE_GROUP) {
        dls_sweep_problem(r, group, "an axis is a group { key = ...; values = ...; }");
        return DLS_OK;
    }
    const dls_sweep_member members[] = {{"key", DLS_SWEEP_TEXT, &key, 0, 0},
                                        {"sample", DLS_SWEEP_TEXT, &method, 0, 0},
                                        {.name = NULL}};
    if (!dls_sweep_take(r, group, NULL, members)) {
        return DLS_OK;
    }
    if (method) {
        return read_sample(r, group, method);
    }
    if (config_setting_get_member(group, "keys")) {
        return read_values(r, group, NULL);
    }
    if (!key) {
        dls_sweep_problem(r, group, "an axis needs a 'key' (or 'keys', or 'sample')");
        return DLS_OK;
    }
    return config_setting_get_member(group, "values") ? read_values(r, group, key)
                                                      : read_range(r, group, key);
}

dls_status dls_sweep_read_axes(const dls_sweep_reader *r, const config_setting_t *axes)
{
    if (axes && config_setting_length(axes) > DLS_SWEEP_AXES_MAX) {
        dls_sweep_problem(r, axes, "at most 64 axes");
        return DLS_OK;
    }
    for (int i = 0; axes && i < config_setting_length(axes); i++) {
        DLS_TRY(read_axis(r, config_setting_get_elem(axes, (unsigned)i)));
    }
    return DLS_OK;
}
