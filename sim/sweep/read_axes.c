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

static bool get_bool(const dls_sweep_reader *r, const config_setting_t *group, const char *name,
                     bool *out)
{
    const config_setting_t *member = config_setting_get_member(group, name);
    if (member && config_setting_type(member) != CONFIG_TYPE_BOOL) {
        dls_sweep_problem(r, member, "expected true or false");
        return false;
    }
    *out = member ? config_setting_get_bool(member) : *out;
    return true;
}

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
            dls_sweep_problem(r, one, text ? "too many keys" : "a key is a text");
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
    const char *const names[] = {key ? "key" : "keys", "values", NULL};
    bool good =
        dls_sweep_members(r, group, key ? "an axis with 'values'" : "an axis with 'keys'", names);
    const config_setting_t *keys = key ? NULL : dls_sweep_get_list(r, group, "keys", &good);
    const config_setting_t *values = dls_sweep_get_list(r, group, "values", &good);
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
            char text[200];
            snprintf(text, sizeof text, "a row is a list with a value for each of the %d keys",
                     n_keys);
            dls_sweep_problem(r, row, text);
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
static bool read_span(const dls_sweep_reader *r, const config_setting_t *group, const char *key,
                      dls_sweep_span *span)
{
    const config_setting_t *from = config_setting_get_member(group, "from");
    const config_setting_t *to = config_setting_get_member(group, "to");
    const char *scale = "linear";
    char low[64], high[64];
    bool whole = false;
    if (!from || !to) {
        dls_sweep_problem(r, group, "expected 'values', or both 'from' and 'to'");
        return false;
    }
    const char *from_text = dls_config_scalar(from, low, sizeof low);
    const char *to_text = dls_config_scalar(to, high, sizeof high);
    if (!dls_sweep_get_text(r, group, "scale", &scale) || !get_bool(r, group, "whole", &whole)) {
        return false;
    }
    const bool log = strcmp(scale, "log") == 0;
    dls_error bad = {.msg = "'scale' is \"linear\" or \"log\""};
    if ((!log && strcmp(scale, "linear") != 0) ||
        dls_sweep_span_init(span, key, from_text ? from_text : "", to_text ? to_text : "", log,
                            whole, &bad) != DLS_OK) {
        dls_sweep_problem(r, group, bad.msg);
        return false;
    }
    return true;
}

static dls_status read_range(const dls_sweep_reader *r, const config_setting_t *group,
                             const char *key)
{
    static const char *const names[] = {"key", "from", "to", "steps", "scale", "whole", NULL};
    dls_sweep_span span;
    dls_sweep_axis *axis;
    int64_t steps = 0;
    bool good = dls_sweep_members(r, group, "an axis with 'from' and 'to'", names);
    good = good && read_span(r, group, key, &span) &&
           dls_sweep_get_i64(r, group, "steps", 2, DLS_STUDY_POINTS_MAX, &steps);
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
    dls_sweep_span span;
    const config_setting_t *values; /* NULL: the span */
} dimension;

static bool read_dimension(const dls_sweep_reader *r, const config_setting_t *group, dimension *out,
                           const char **key)
{
    static const char *const names[] = {"key", "from", "to", "scale", "whole", "values", NULL};
    bool good = config_setting_type(group) == CONFIG_TYPE_GROUP;
    if (!good) {
        dls_sweep_problem(r, group, "a dimension is a group { key = ...; from = ...; to = ...; }");
        return false;
    }
    *key = NULL;
    good = dls_sweep_members(r, group, "a dimension", names) &&
           dls_sweep_get_text(r, group, "key", key);
    if (good && !*key) {
        dls_sweep_problem(r, group, "a dimension needs a 'key'");
        return false;
    }
    out->values = good ? dls_sweep_get_list(r, group, "values", &good) : NULL;
    if (good && !out->values) {
        good = read_span(r, group, *key, &out->span);
        out->span.sampled = true;
    }
    return good;
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
    static const char *const names[] = {"sample", "points", "over", "seed", NULL};
    dimension dim[DLS_SWEEP_AXES_MAX];
    int64_t points = 0, seed = 1;
    const bool lhs = strcmp(method, "lhs") == 0;
    const int most = lhs ? DLS_SWEEP_AXES_MAX : DLS_SWEEP_SOBOL_DIMS;
    bool good = dls_sweep_members(r, group, "an axis with 'sample'", names) &&
                dls_sweep_get_i64(r, group, "points", 1, DLS_STUDY_POINTS_MAX, &points) &&
                dls_sweep_get_i64(r, group, "seed", 0, INT64_MAX, &seed);
    const config_setting_t *over = dls_sweep_get_list(r, group, "over", &good);
    if (good && ((!lhs && strcmp(method, "sobol") != 0) || points == 0 || !over)) {
        dls_sweep_problem(
            r, group, "a sample is { sample = \"lhs\" or \"sobol\"; points = N; over = (...); }");
        good = false;
    }
    if (good && config_setting_length(over) > most) {
        dls_sweep_problem(
            r, over, lhs ? "too many dimensions" : "Sobol sequences have at most 40 dimensions");
        good = false;
    }
    if (!good) {
        return DLS_OK;
    }
    dls_sweep_axis *axis;
    const size_t dims = (size_t)config_setting_length(over);
    DLS_TRY(axis_of_key(r, group, NULL, &axis));
    for (size_t d = 0; d < dims; d++) {
        const char *key;
        if (!read_dimension(r, config_setting_get_elem(over, (unsigned)d), &dim[d], &key)) {
            return DLS_OK;
        }
        DLS_TRY(dls_sweep_add_key(axis, key, r->err));
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
    bool good = dls_sweep_get_text(r, group, "key", &key) &&
                dls_sweep_get_text(r, group, "sample", &method);
    if (!good) {
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

dls_status dls_sweep_read_axes(const dls_sweep_reader *r, const config_setting_t *group)
{
    bool good = true;
    const config_setting_t *axes = dls_sweep_get_list(r, group, "axes", &good);
    if (axes && config_setting_length(axes) > DLS_SWEEP_AXES_MAX) {
        dls_sweep_problem(r, axes, "at most 64 axes");
        return DLS_OK;
    }
    for (int i = 0; axes && i < config_setting_length(axes); i++) {
        DLS_TRY(read_axis(r, config_setting_get_elem(axes, (unsigned)i)));
    }
    return DLS_OK;
}
