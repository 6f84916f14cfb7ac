/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The group "sweep" of a file, as axes. What is wrong is listed with its line; whether keys and
 * values suit the configuration is found out when the points are resolved.
 */
#include "sweep/read.h"

#include "base/alloc.h"
#include "base/suggest.h"
#include "base/units.h"
#include "config/load.h"
#include "config/tree.h"

#include <stdio.h>
#include <string.h>

#define TEXT_MAX 4096 /* of one value */

typedef struct reader {
    dls_sweep *sweep;
    dls_config_source from;
    dls_problems *problems;
    dls_error *err;
    bool has_output;
} reader;

static void problem(const reader *r, const config_setting_t *at, const char *text)
{
    char where[DLS_PLACE_BYTES];
    dls_problems_add(r->problems, dls_config_place(at, &r->from, where, sizeof where), "%s", text);
}

/* Whether every member of the group is one of the names; others are problems. */
static bool members(const reader *r, const config_setting_t *group, const char *shown,
                    const char *const *names)
{
    bool good = true;
    for (int i = 0; i < config_setting_length(group); i++) {
        const config_setting_t *member = config_setting_get_elem(group, (unsigned)i);
        const char *name = config_setting_name(member);
        bool known = false;
        for (const char *const *n = names; *n; n++) {
            known = known || strcmp(*n, name) == 0;
        }
        if (!known) {
            char text[300];
            const char *near = dls_suggest(name, names);
            snprintf(text, sizeof text, "unknown key '%.100s' of %s%s%s%s", name, shown,
                     near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
            problem(r, member, text);
            good = false;
        }
    }
    return good;
}

/* ---- members of one type; false: a problem, and *out as it was; not there: true ----------------
 */

static bool get_text(const reader *r, const config_setting_t *group, const char *name,
                     const char **out)
{
    const config_setting_t *member = config_setting_get_member(group, name);
    if (member && config_setting_type(member) != CONFIG_TYPE_STRING) {
        char text[200];
        snprintf(text, sizeof text, "'%s' is %s: expected text", name,
                 dls_config_type_name(member));
        problem(r, member, text);
        return false;
    }
    *out = member ? config_setting_get_string(member) : *out;
    return true;
}

static bool get_i64(const reader *r, const config_setting_t *group, const char *name, int64_t min,
                    int64_t max, int64_t *out)
{
    const config_setting_t *member = config_setting_get_member(group, name);
    if (!member) {
        return true;
    }
    const int type = config_setting_type(member);
    const int64_t value = type == CONFIG_TYPE_INT || type == CONFIG_TYPE_INT64
                              ? config_setting_get_int64(member)
                              : min - 1;
    if (value < min || value > max) {
        char text[200];
        snprintf(text, sizeof text, "'%s': expected an integer %lld..%lld", name, (long long)min,
                 (long long)max);
        problem(r, member, text);
        return false;
    }
    *out = value;
    return true;
}

static bool get_bool(const reader *r, const config_setting_t *group, const char *name, bool *out)
{
    const config_setting_t *member = config_setting_get_member(group, name);
    if (member && config_setting_type(member) != CONFIG_TYPE_BOOL) {
        problem(r, member, "expected true or false");
        return false;
    }
    *out = member ? config_setting_get_bool(member) : *out;
    return true;
}

/* A member that is a list; NULL: not there, or a problem (*good is then false). */
static const config_setting_t *get_list(const reader *r, const config_setting_t *group,
                                        const char *name, bool *good)
{
    const config_setting_t *member = config_setting_get_member(group, name);
    const int type = member ? config_setting_type(member) : CONFIG_TYPE_NONE;
    char text[200];
    if (!member) {
        return NULL;
    }
    if (type != CONFIG_TYPE_ARRAY && type != CONFIG_TYPE_LIST) {
        snprintf(text, sizeof text, "'%s' is %s: expected a list", name,
                 dls_config_type_name(member));
    } else if (config_setting_length(member) == 0) {
        snprintf(text, sizeof text, "'%s' is empty", name);
    } else {
        return member;
    }
    problem(r, member, text);
    *good = false;
    return NULL;
}

/* One value: a scalar, or a list of numbers for an option that takes one. */
static const char *value_text(const reader *r, const config_setting_t *value, char *buf, size_t n)
{
    const char *text = dls_config_scalar(value, buf, n);
    text = text ? text : dls_config_scalars(value, buf, n);
    if (!text) {
        problem(r, value, "a value is a number, a text, true, false or a list of numbers");
    }
    return text;
}

/* ---- axes --------------------------------------------------------------------------------------
 */

/* A new axis over one key. */
static dls_status axis_of_key(const reader *r, const config_setting_t *group, const char *key,
                              dls_sweep_axis **axis)
{
    char where[DLS_PLACE_BYTES];
    dls_config_place(group, &r->from, where, sizeof where);
    DLS_TRY(dls_sweep_add_axis(r->sweep, where, axis, r->err));
    return key ? dls_sweep_add_key(*axis, key, r->err) : DLS_OK;
}

static dls_status read_list(const reader *r, const config_setting_t *group, const char *key,
                            const config_setting_t *values)
{
    static const char *const names[] = {"key", "values", NULL};
    dls_sweep_axis *axis;
    if (!members(r, group, "an axis with 'values'", names)) {
        return DLS_OK;
    }
    DLS_TRY(axis_of_key(r, group, key, &axis));
    for (int i = 0; i < config_setting_length(values); i++) {
        char buf[TEXT_MAX];
        const char *text =
            value_text(r, config_setting_get_elem(values, (unsigned)i), buf, sizeof buf);
        if (text) {
            DLS_TRY(dls_sweep_add_value(axis, (size_t)i, text, r->err));
        }
    }
    return DLS_OK;
}

static dls_status read_zip(const reader *r, const config_setting_t *group)
{
    static const char *const names[] = {"keys", "values", NULL};
    bool good = members(r, group, "an axis with 'keys'", names);
    const config_setting_t *keys = get_list(r, group, "keys", &good);
    const config_setting_t *values = get_list(r, group, "values", &good);
    dls_sweep_axis *axis;
    if (!good || !keys || !values) {
        if (good) {
            problem(r, group, "an axis with 'keys' has 'values', a list of lists");
        }
        return DLS_OK;
    }
    DLS_TRY(axis_of_key(r, group, NULL, &axis));
    const int n_keys = config_setting_length(keys);
    for (int k = 0; k < n_keys; k++) {
        const config_setting_t *key = config_setting_get_elem(keys, (unsigned)k);
        const bool text = config_setting_type(key) == CONFIG_TYPE_STRING;
        if (!text || n_keys > DLS_SWEEP_AXES_MAX) {
            problem(r, key, text ? "too many keys" : "a key is a text");
            return DLS_OK;
        }
        DLS_TRY(dls_sweep_add_key(axis, config_setting_get_string(key), r->err));
    }
    for (int i = 0; i < config_setting_length(values); i++) {
        const config_setting_t *row = config_setting_get_elem(values, (unsigned)i);
        const int type = config_setting_type(row);
        if ((type != CONFIG_TYPE_LIST && type != CONFIG_TYPE_ARRAY) ||
            config_setting_length(row) != n_keys) {
            char text[200];
            snprintf(text, sizeof text, "a row is a list with a value for each of the %d keys",
                     n_keys);
            problem(r, row, text);
            return DLS_OK;
        }
        for (int k = 0; k < n_keys; k++) {
            char buf[TEXT_MAX];
            const char *text =
                value_text(r, config_setting_get_elem(row, (unsigned)k), buf, sizeof buf);
            if (text) {
                DLS_TRY(dls_sweep_add_value(axis, (size_t)(i * n_keys + k), text, r->err));
            }
        }
    }
    return DLS_OK;
}

/* The ends and the scale of a range or of a dimension that is sampled. */
static bool read_span(const reader *r, const config_setting_t *group, const char *key,
                      dls_sweep_span *span)
{
    const config_setting_t *from = config_setting_get_member(group, "from");
    const config_setting_t *to = config_setting_get_member(group, "to");
    const char *scale = "linear";
    char low[64], high[64];
    bool whole = false;
    if (!from || !to) {
        problem(r, group, "expected 'values', or both 'from' and 'to'");
        return false;
    }
    const char *from_text = dls_config_scalar(from, low, sizeof low);
    const char *to_text = dls_config_scalar(to, high, sizeof high);
    if (!get_text(r, group, "scale", &scale) || !get_bool(r, group, "whole", &whole)) {
        return false;
    }
    const bool log = strcmp(scale, "log") == 0;
    dls_error bad = {.msg = "'scale' is \"linear\" or \"log\""};
    if ((!log && strcmp(scale, "linear") != 0) ||
        dls_sweep_span_init(span, key, from_text ? from_text : "", to_text ? to_text : "", log,
                            whole, &bad) != DLS_OK) {
        problem(r, group, bad.msg);
        return false;
    }
    return true;
}

static dls_status read_range(const reader *r, const config_setting_t *group, const char *key)
{
    static const char *const names[] = {"key", "from", "to", "steps", "scale", "whole", NULL};
    dls_sweep_span span;
    dls_sweep_axis *axis;
    int64_t steps = 0;
    bool good = members(r, group, "an axis with 'from' and 'to'", names);
    good = good && read_span(r, group, key, &span) &&
           get_i64(r, group, "steps", 2, DLS_SWEEP_POINTS_MAX, &steps);
    if (good && steps == 0) {
        problem(r, group, "a range needs 'steps', how many values it has");
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

static bool read_dimension(const reader *r, const config_setting_t *group, dimension *out,
                           const char **key)
{
    static const char *const names[] = {"key", "from", "to", "scale", "whole", "values", NULL};
    bool good = config_setting_type(group) == CONFIG_TYPE_GROUP;
    if (!good) {
        problem(r, group, "a dimension is a group { key = ...; from = ...; to = ...; }");
        return false;
    }
    *key = NULL;
    good = members(r, group, "a dimension", names) && get_text(r, group, "key", key);
    if (good && !*key) {
        problem(r, group, "a dimension needs a 'key'");
        return false;
    }
    out->values = good ? get_list(r, group, "values", &good) : NULL;
    if (good && !out->values) {
        good = read_span(r, group, *key, &out->span);
        out->span.sampled = true;
    }
    return good;
}

static dls_status fill_sample(const reader *r, dls_sweep_axis *axis, const dimension *dim,
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

static dls_status read_sample(const reader *r, const config_setting_t *group, const char *method)
{
    static const char *const names[] = {"sample", "points", "over", "seed", NULL};
    dimension dim[DLS_SWEEP_AXES_MAX];
    int64_t points = 0, seed = 1;
    const bool lhs = strcmp(method, "lhs") == 0;
    const int most = lhs ? DLS_SWEEP_AXES_MAX : DLS_SWEEP_SOBOL_DIMS;
    bool good = members(r, group, "an axis with 'sample'", names) &&
                get_i64(r, group, "points", 1, DLS_SWEEP_POINTS_MAX, &points) &&
                get_i64(r, group, "seed", 0, INT64_MAX, &seed);
    const config_setting_t *over = get_list(r, group, "over", &good);
    if (good && ((!lhs && strcmp(method, "sobol") != 0) || points == 0 || !over)) {
        problem(r, group,
                "a sample is { sample = \"lhs\" or \"sobol\"; points = N; over = (...); }");
        good = false;
    }
    if (good && config_setting_length(over) > most) {
        problem(r, over,
                lhs ? "too many dimensions" : "Sobol sequences have at most 40 dimensions");
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
    double *u = dls_alloc_zero((size_t)points * dims, sizeof *u);
    if (!u) {
        return dls_nomem(r->err, "sample", (size_t)points * dims * sizeof *u);
    }
    dls_status status = DLS_OK;
    if (lhs) {
        dls_sweep_lhs((size_t)points, dims, (uint64_t)seed, u);
    } else {
        status = dls_sweep_sobol((size_t)points, dims, u, r->err);
    }
    status = status == DLS_OK ? fill_sample(r, axis, dim, u, (size_t)points) : status;
    dls_free(u);
    return status;
}

static dls_status read_axis(const reader *r, const config_setting_t *group)
{
    const char *key = NULL, *method = NULL;
    if (config_setting_type(group) != CONFIG_TYPE_GROUP) {
        problem(r, group, "an axis is a group { key = ...; values = ...; }");
        return DLS_OK;
    }
    bool good = get_text(r, group, "key", &key) && get_text(r, group, "sample", &method);
    if (!good) {
        return DLS_OK;
    }
    if (method) {
        return read_sample(r, group, method);
    }
    if (config_setting_get_member(group, "keys")) {
        return read_zip(r, group);
    }
    if (!key) {
        problem(r, group, "an axis needs a 'key' (or 'keys', or 'sample')");
        return DLS_OK;
    }
    const config_setting_t *values = get_list(r, group, "values", &good);
    if (!good) {
        return DLS_OK;
    }
    return values ? read_list(r, group, key, values) : read_range(r, group, key);
}

static dls_status read_axes(const reader *r, const config_setting_t *group)
{
    bool good = true;
    const config_setting_t *axes = get_list(r, group, "axes", &good);
    if (axes && config_setting_length(axes) > DLS_SWEEP_AXES_MAX) {
        problem(r, axes, "at most 64 axes");
        return DLS_OK;
    }
    for (int i = 0; axes && i < config_setting_length(axes); i++) {
        DLS_TRY(read_axis(r, config_setting_get_elem(axes, (unsigned)i)));
    }
    return DLS_OK;
}

/* ---- the rest of the group ---------------------------------------------------------------------
 */

static dls_status read_set(const reader *r, const config_setting_t *group)
{
    dls_sweep *s = r->sweep;
    bool good = true;
    const config_setting_t *list = get_list(r, group, "set", &good);
    for (int i = 0; list && i < config_setting_length(list); i++) {
        const config_setting_t *one = config_setting_get_elem(list, (unsigned)i);
        const bool text = config_setting_type(one) == CONFIG_TYPE_STRING;
        char where[DLS_PLACE_BYTES];
        if (!text || !strchr(config_setting_get_string(one), '=')) {
            problem(r, one, "expected \"key=value\"");
            continue;
        }
        dls_config_place(one, &r->from, where, sizeof where);
        DLS_TRY(dls_grow(&s->set, &s->set_cap, s->n_set + 1, sizeof *s->set, r->err));
        DLS_TRY(
            dls_grow(&s->set_where, &s->set_where_cap, s->n_set + 1, sizeof *s->set_where, r->err));
        s->set[s->n_set] = s->set_where[s->n_set] = NULL;
        s->n_set++;
        DLS_TRY(dls_sweep_text(config_setting_get_string(one), &s->set[s->n_set - 1], r->err));
        DLS_TRY(dls_sweep_text(where, &s->set_where[s->n_set - 1], r->err));
    }
    return DLS_OK;
}

static dls_status read_seeds(const reader *r, const config_setting_t *group)
{
    dls_sweep *s = r->sweep;
    int64_t replicas = 0;
    bool good = get_i64(r, group, "replicas", 1, DLS_SWEEP_POINTS_MAX, &replicas);
    const config_setting_t *list = get_list(r, group, "seeds", &good);
    if (good && list && replicas) {
        problem(r, list, "either 'replicas' or 'seeds'");
        return DLS_OK;
    }
    s->n_seeds = (size_t)replicas;
    for (int i = 0; list && i < config_setting_length(list); i++) {
        const config_setting_t *one = config_setting_get_elem(list, (unsigned)i);
        if (!config_setting_is_number(one) || config_setting_type(one) == CONFIG_TYPE_FLOAT ||
            config_setting_get_int64(one) < 0) {
            problem(r, one, "a seed is an integer, 0 or more");
            continue;
        }
        DLS_TRY(dls_grow(&s->seed, &s->seeds_cap, s->n_seeds + 1, sizeof *s->seed, r->err));
        s->seed[s->n_seeds++] = config_setting_get_int64(one);
    }
    return DLS_OK;
}

/* The configuration: another file, or the rest of this one. */
static dls_status read_base(const reader *r, const config_setting_t *root, const char *base)
{
    dls_sweep *s = r->sweep;
    s->own_base = false;
    for (int i = 0; i < config_setting_length(root); i++) {
        const config_setting_t *other = config_setting_get_elem(root, (unsigned)i);
        if (strcmp(config_setting_name(other), DLS_CONFIG_SWEEP) != 0) {
            problem(r, other,
                    "a sweep with 'base' takes its configuration from there: leave this "
                    "key out, or 'base'");
        }
    }
    const bool as_it_is = *base == '/' || strcmp(r->from.folder, ".") == 0;
    const size_t n = strlen(r->from.folder) + strlen(base) + 2;
    char *path = dls_alloc(n);
    if (!path) {
        return dls_nomem(r->err, "sweep", n);
    }
    snprintf(path, n, "%s%s%s", as_it_is ? "" : r->from.folder, as_it_is ? "" : "/", base);
    dls_free(s->base);
    s->base = path;
    return DLS_OK;
}

/* One or several, a line each. */
static dls_status read_baselines(const reader *r, const config_setting_t *group)
{
    const config_setting_t *member = config_setting_get_member(group, "baseline");
    const int n = member && config_setting_is_aggregate(member) ? config_setting_length(member) : 1;
    char lines[TEXT_MAX];
    size_t len = 0;
    for (int i = 0; member && i < n; i++) {
        const config_setting_t *one = config_setting_is_aggregate(member)
                                          ? config_setting_get_elem(member, (unsigned)i)
                                          : member;
        if (config_setting_type(one) != CONFIG_TYPE_STRING ||
            len + strlen(config_setting_get_string(one)) + 2 > sizeof lines) {
            problem(r, one,
                    "'baseline' is the label of a design or a part of one, or a list of "
                    "them");
            return DLS_OK;
        }
        len += (size_t)snprintf(lines + len, sizeof lines - len, "%s%s", i ? "\n" : "",
                                config_setting_get_string(one));
    }
    return len ? dls_sweep_text(lines, &r->sweep->baseline, r->err) : DLS_OK;
}

static dls_status read_group(const reader *r, const config_setting_t *root,
                             const config_setting_t *group)
{
    static const char *const names[] = {"base",     "name",   "set",      "axes", "seeds",
                                        "replicas", "output", "baseline", NULL};
    const char *base = NULL, *name = NULL, *output = NULL;
    members(r, group, "'sweep'", names);
    get_text(r, group, "base", &base);
    get_text(r, group, "name", &name);
    get_text(r, group, "output", &output);
    if (name && (*name == '\0' || strchr(name, '/') || *name == '.' || strlen(name) > 100)) {
        problem(r, config_setting_get_member(group, "name"),
                "'name' is the beginning of a file's name: no '/'");
    } else if (name) {
        DLS_TRY(dls_sweep_text(name, &r->sweep->name, r->err));
    }
    if (output) {
        DLS_TRY(dls_sweep_text(output, &r->sweep->output, r->err));
    }
    DLS_TRY(read_baselines(r, group));
    if (base) {
        DLS_TRY(read_base(r, root, base));
    }
    DLS_TRY(read_set(r, group));
    DLS_TRY(read_seeds(r, group));
    return read_axes(r, group);
}

/* A key of two axes would be set twice. */
static void check_keys(const dls_sweep *s, dls_problems *problems)
{
    const size_t n = dls_sweep_n_keys(s);
    for (size_t a = 0, k = 0; a < s->n_axes; a++) {
        for (size_t c = 0; c < s->axis[a].n_keys; c++, k++) {
            const char *key = s->axis[a].key[c];
            for (size_t j = k + 1; j < n; j++) {
                if (strcmp(key, dls_sweep_key(s, j)) == 0) {
                    dls_problems_add(problems, s->axis[a].where, "'%s' is varied twice", key);
                }
            }
            if (s->n_seeds && strcmp(key, "run.seed") == 0) {
                dls_problems_add(problems, s->axis[a].where,
                                 "'run.seed' is varied twice: by this axis and by %s",
                                 s->seed ? "'seeds'" : "'replicas'");
            }
        }
    }
}

static dls_status read_text(dls_sweep *sweep, const char *text, size_t len, const char *folder,
                            dls_problems *problems, dls_error *err)
{
    const reader r = {
        .sweep = sweep, .from = {sweep->path, folder}, .problems = problems, .err = err};
    config_t tree;
    config_init(&tree);
    dls_status status = DLS_OK;
    if (dls_config_tree_read(&tree, text, len, &r.from, problems)) {
        const config_setting_t *root = config_root_setting(&tree);
        const config_setting_t *group = config_setting_get_member(root, DLS_CONFIG_SWEEP);
        if (!group || config_setting_type(group) != CONFIG_TYPE_GROUP) {
            dls_problems_add(problems, sweep->path, "has no group 'sweep': see docs/sweeps.md");
        } else {
            status = read_group(&r, root, group);
        }
    }
    config_destroy(&tree);
    return status;
}

dls_status dls_sweep_load(const char *path, dls_problems *problems, dls_sweep **out, dls_error *err)
{
    const size_t before = problems->n;
    dls_sweep *sweep;
    char *text = NULL, *folder = NULL;
    size_t len;
    DLS_TRY(dls_sweep_create(path, &sweep, err));
    dls_status status = dls_config_read_text(path, &text, &len, err);
    status = status == DLS_OK ? dls_config_folder(path, &folder, err) : status;
    status = status == DLS_OK ? read_text(sweep, text, len, folder, problems, err) : status;
    dls_free(text);
    dls_free(folder);
    if (status == DLS_OK && problems->n == before) {
        check_keys(sweep, problems);
    }
    if (status == DLS_OK && problems->n == before &&
        dls_sweep_n_points(sweep) > DLS_SWEEP_POINTS_MAX) {
        dls_problems_add(problems, path, "has more than a million points");
    }
    if (status == DLS_OK && problems->nomem) {
        status = dls_nomem(err, "list of problems", 0);
    }
    if (status == DLS_OK && problems->n > before) {
        const size_t n = problems->n - before;
        status = dls_fail(err, DLS_ECONFIG, path, "%zu problem%s", n, n == 1 ? "" : "s");
    }
    if (status != DLS_OK) {
        dls_sweep_destroy(sweep);
        return status;
    }
    *out = sweep;
    return DLS_OK;
}
