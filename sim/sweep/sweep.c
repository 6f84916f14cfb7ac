/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A sweep in memory: its axes, and points by number.
 */
#include "sweep/sweep.h"

#include "base/alloc.h"
#include "base/own.h"
#include "sweep/read.h"

#include <string.h>

dls_status dls_sweep_text(const char *s, char **out, dls_error *err)
{
    char *copy = dls_strdup(s);
    if (!copy) {
        return dls_nomem(err, "sweep", strlen(s));
    }
    dls_free(*out);
    *out = copy;
    return DLS_OK;
}

static void texts_fini(char **texts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        dls_free(texts[i]);
    }
    dls_free(texts);
}

void dls_sweep_destroy(dls_sweep *sweep)
{
    if (!sweep) {
        return;
    }
    for (size_t i = 0; i < sweep->n_axes; i++) {
        dls_sweep_axis *axis = &sweep->axis[i];
        texts_fini(axis->key, axis->n_keys);
        DLS_FREE_ALL(axis->where, axis->code);
        dls_strdict_fini(&axis->texts);
    }
    texts_fini(sweep->set, sweep->n_set);
    texts_fini(sweep->set_where, sweep->n_set);
    DLS_FREE_ALL(sweep->axis, sweep->path, sweep->base, sweep->name, sweep->output, sweep->baseline,
                 sweep->seed, sweep);
}

/* "runs/a.cfg" -> "a" */
static dls_status stem(const char *path, char **out, dls_error *err)
{
    const char *slash = strrchr(path, '/');
    DLS_TRY(dls_sweep_text(slash ? slash + 1 : path, out, err));
    char *point = strrchr(*out, '.');
    if (point && point != *out) {
        *point = '\0';
    }
    return DLS_OK;
}

dls_status dls_sweep_create(const char *config_path, dls_sweep **out, dls_error *err)
{
    DLS_HOLD(dls_sweep_destroy) dls_sweep *sweep = NULL;
    DLS_TRY(dls_alloc_array(&sweep, 1, sizeof *sweep, "sweep", err));
    DLS_TRY(dls_sweep_text(config_path, &sweep->path, err));
    DLS_TRY(dls_sweep_text(config_path, &sweep->base, err));
    DLS_TRY(stem(config_path, &sweep->name, err));
    DLS_TRY(dls_sweep_text("", &sweep->output, err));
    DLS_TRY(dls_sweep_text("", &sweep->baseline, err));
    sweep->own_base = true;
    *out = dls_take(&sweep);
    return DLS_OK;
}

/* ---- axes ------------------------------------------------------------------------------------ */

dls_status dls_sweep_add_axis(dls_sweep *sweep, const char *where, dls_sweep_axis **out,
                              dls_error *err)
{
    DLS_TRY(dls_grow(&sweep->axis, &sweep->axes_cap, sweep->n_axes + 1, sizeof *sweep->axis, err));
    dls_sweep_axis *axis = &sweep->axis[sweep->n_axes];
    *axis = (dls_sweep_axis){0};
    sweep->n_axes++; /* from here on it is released with the sweep */
    DLS_TRY(dls_sweep_text(where, &axis->where, err));
    *out = axis;
    return DLS_OK;
}

dls_status dls_sweep_add_key(dls_sweep_axis *axis, const char *key, dls_error *err)
{
    DLS_TRY(dls_grow(&axis->key, &axis->keys_cap, axis->n_keys + 1, sizeof *axis->key, err));
    axis->key[axis->n_keys] = NULL;
    DLS_TRY(dls_sweep_text(key, &axis->key[axis->n_keys], err));
    axis->n_keys++;
    return DLS_OK;
}

dls_status dls_sweep_add_value(dls_sweep_axis *axis, size_t at, const char *text, dls_error *err)
{
    int32_t code;
    DLS_TRY(dls_strdict_put(&axis->texts, text, strlen(text), &code, err));
    DLS_TRY(dls_grow(&axis->code, &axis->code_cap, at + 1, sizeof *axis->code, err));
    axis->code[at] = code;
    axis->n_rows = (at + 1) / axis->n_keys;
    return DLS_OK;
}

dls_status dls_sweep_add_list(dls_sweep *sweep, const char *key, const char *const *values,
                              size_t n, const char *where, dls_error *err)
{
    dls_sweep_axis *axis;
    DLS_TRY(dls_sweep_add_axis(sweep, where, &axis, err));
    DLS_TRY(dls_sweep_add_key(axis, key, err));
    for (size_t i = 0; i < n; i++) {
        DLS_TRY(dls_sweep_add_value(axis, i, values[i], err));
    }
    return DLS_OK;
}

/* ---- points ---------------------------------------------------------------------------------- */

static size_t times(size_t a, size_t b)
{
    const size_t most = DLS_STUDY_POINTS_MAX + 1;
    return b && a > most / b ? most : (a * b > most ? most : a * b);
}

size_t dls_sweep_n_designs(const dls_sweep *sweep)
{
    size_t n = 1;
    for (size_t i = 0; i < sweep->n_axes; i++) {
        n = times(n, sweep->axis[i].n_rows);
    }
    return n;
}

size_t dls_sweep_n_points(const dls_sweep *sweep)
{
    return times(dls_sweep_n_designs(sweep), sweep->n_seeds ? sweep->n_seeds : 1);
}

size_t dls_sweep_n_keys(const dls_sweep *sweep)
{
    size_t n = 0;
    for (size_t i = 0; i < sweep->n_axes; i++) {
        n += sweep->axis[i].n_keys;
    }
    return n;
}

/* The axis of the k-th key; *k becomes its column there. */
static const dls_sweep_axis *axis_of(const dls_sweep *sweep, size_t *k)
{
    const dls_sweep_axis *axis = sweep->axis;
    for (; *k >= axis->n_keys; axis++) {
        *k -= axis->n_keys;
    }
    return axis;
}

const char *dls_sweep_key(const dls_sweep *sweep, size_t k)
{
    const dls_sweep_axis *axis = axis_of(sweep, &k);
    return axis->key[k];
}

const char *dls_sweep_key_where(const dls_sweep *sweep, size_t k)
{
    return axis_of(sweep, &k)->where;
}

const char *dls_sweep_value(const dls_sweep *sweep, size_t design, size_t k)
{
    const dls_sweep_axis *axis = axis_of(sweep, &k);
    for (const dls_sweep_axis *a = &sweep->axis[sweep->n_axes - 1]; a != axis; a--) {
        design /= a->n_rows;
    }
    return dls_strdict_get(&axis->texts, axis->code[design % axis->n_rows * axis->n_keys + k]);
}
