/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The axes of a sweep: lists, ranges, rows and samples, all of them tables in the end.
 */
#include "sweep/read.h"

#include "base/own.h"

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

static dls_status new_axis(const dls_sweep_reader *r, const config_setting_t *group,
                           dls_sweep_axis **axis)
{
    char where[DLS_PLACE_BYTES];
    dls_config_place(group, &r->from, where, sizeof where);
    return dls_sweep_add_axis(r->sweep, where, axis, r->err);
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
    DLS_TRY(new_axis(r, group, &axis));
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

/* A range, or a dimension of a sample: a span, or a list to draw from. */
typedef struct dimension {
    const char *key, *scale;
    bool whole;
    int64_t steps; /* of a range */
    dls_sweep_span span;
    const config_setting_t *values; /* NULL: the span */
} dimension;

static bool read_span(const dls_sweep_reader *r, const config_setting_t *group, dimension *d)
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
    const bool log = strcmp(d->scale, "log") == 0;
    dls_error bad = {.msg = "'scale' is \"linear\" or \"log\""};
    if ((!log && strcmp(d->scale, "linear") != 0) ||
        dls_sweep_span_init(&d->span, d->key, from_text ? from_text : "", to_text ? to_text : "",
                            log, d->whole, &bad) != DLS_OK) {
        dls_sweep_problem(r, group, "%s", bad.msg);
        return false;
    }
    return true;
}

static bool read_dimension(const dls_sweep_reader *r, const config_setting_t *group, bool range,
                           dimension *d)
{
    *d = (dimension){.scale = "linear"};
    const dls_sweep_member members[] = {
        {"key", DLS_SWEEP_TEXT, &d->key, 0, 0},
        {"from", DLS_SWEEP_ANY, NULL, 0, 0},
        {"to", DLS_SWEEP_ANY, NULL, 0, 0},
        {"scale", DLS_SWEEP_TEXT, &d->scale, 0, 0},
        {"whole", DLS_SWEEP_BOOL, &d->whole, 0, 0},
        range ? (dls_sweep_member){"steps", DLS_SWEEP_I64, &d->steps, 2, DLS_STUDY_POINTS_MAX}
              : (dls_sweep_member){"values", DLS_SWEEP_LIST, &d->values, 0, 0},
        {.name = NULL}};
    if (config_setting_type(group) != CONFIG_TYPE_GROUP) {
        dls_sweep_problem(r, group, "a dimension is a group { key = ...; from = ...; to = ...; }");
        return false;
    }
    const bool good =
        dls_sweep_take(r, group, range ? "an axis with 'from' and 'to'" : "a dimension", members);
    if (good && !d->key) {
        dls_sweep_problem(r, group, "a dimension needs a 'key'");
    }
    const bool read = good && d->key && (d->values || read_span(r, group, d));
    d->span.sampled = !range;
    return read;
}

/* An axis whose rows lie at u[points * dims]. */
static dls_status add_points(const dls_sweep_reader *r, const config_setting_t *group,
                             const dimension *dim, size_t dims, const double *u, size_t points)
{
    dls_sweep_axis *axis;
    DLS_TRY(new_axis(r, group, &axis));
    for (size_t d = 0; d < dims; d++) {
        DLS_TRY(dls_sweep_add_key(axis, dim[d].key, r->err));
    }
    for (size_t i = 0; i < points * dims; i++) {
        const dimension *d = &dim[i % dims];
        const int n = d->values ? config_setting_length(d->values) : 0;
        char buf[TEXT_MAX];
        const char *text =
            n ? value_text(r, config_setting_get_elem(d->values, (unsigned)(u[i] * n)), buf,
                           sizeof buf)
              : dls_sweep_span_text(&d->span, u[i], buf, sizeof buf);
        if (!text) {
            return DLS_OK;
        }
        DLS_TRY(dls_sweep_add_value(axis, i, text, r->err));
    }
    return DLS_OK;
}

static dls_status read_range(const dls_sweep_reader *r, const config_setting_t *group)
{
    dimension d;
    if (!read_dimension(r, group, true, &d)) {
        return DLS_OK;
    }
    if (d.steps == 0) {
        dls_sweep_problem(r, group, "a range needs 'steps', how many values it has");
        return DLS_OK;
    }
    const size_t n = (size_t)d.steps;
    DLS_FREED double *u = NULL;
    DLS_TRY(dls_alloc_array(&u, n, sizeof *u, "range", r->err));
    for (size_t i = 0; i < n; i++) {
        u[i] = (double)i / (double)(n - 1);
    }
    return add_points(r, group, &d, 1, u, n);
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
    const size_t dims = (size_t)config_setting_length(over);
    for (size_t d = 0; d < dims; d++) {
        if (!read_dimension(r, config_setting_get_elem(over, (unsigned)d), false, &dim[d])) {
            return DLS_OK;
        }
    }
    DLS_FREED double *u = NULL;
    DLS_TRY(dls_alloc_array(&u, (size_t)points * dims, sizeof *u, "sample", r->err));
    if (lhs) {
        dls_sweep_lhs((size_t)points, dims, (uint64_t)seed, u);
    } else {
        DLS_TRY(dls_sweep_sobol((size_t)points, dims, u, r->err));
    }
    return add_points(r, group, dim, dims, u, (size_t)points);
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
                                                      : read_range(r, group);
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
