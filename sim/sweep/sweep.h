/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a sweep varies (docs/sweeps.md): a configuration, and axes over its keys.
 *
 * Every axis is a table: a column per key, a row per value. A list and a range are one column, a
 * zipped list is several, and so is a Latin hypercube or a Sobol sequence. The designs are the
 * product of the axes, the last one fastest; a point is a design with one of the seeds, seeds
 * fastest. So a number names the same point as long as the axes stay as they are.
 *
 *      point = ((row of axis 0 * rows of axis 1 + row of axis 1) * ... ) * n_seeds + replica
 */
#ifndef DLS_SWEEP_SWEEP_H
#define DLS_SWEEP_SWEEP_H

#include "base/own.h"
#include "base/strdict.h"
#include "config/config.h"
#include "dlsim/study.h"

#define DLS_SWEEP_AXES_MAX 64 /* also the most keys of an axis */

typedef struct dls_sweep_axis {
    char *where;   /* "sweep.cfg:12", owned */
    char **key;    /* [n_keys] of the configuration: "scheduler.name"; owned */
    int32_t *code; /* [n_rows * n_keys] the values as --set takes them: codes of texts */
    dls_strdict texts;
    size_t n_keys, keys_cap, n_rows, code_cap;
} dls_sweep_axis;

typedef struct dls_sweep {
    char *path; /* the file, or that of the configuration if there is none */
    char *base; /* the configuration; the same as path if the file has both */
    char *name;
    char *output;   /* folder, relative to the current one; "" to be chosen */
    char *baseline; /* what a comparison is relative to, a line each; "" the first design */
    char **set;     /* [n_set] "key=value" of every point */
    char **set_where;
    size_t n_set, set_cap, set_where_cap;
    dls_sweep_axis *axis;
    size_t n_axes, axes_cap;
    int64_t *seed; /* [n_seeds] NULL: run.seed and those that follow it */
    size_t seeds_cap;
    size_t n_seeds; /* 0: the configuration's own */
    bool own_base;  /* path and base are the same file */
} dls_sweep;

/* Read a sweep. Problems are appended to the list as dls_config_load does; the keys and values of
 * the configuration are for dls_sweep_plan_make to check. Errors: ECONFIG, ENOMEM. */
dls_status dls_sweep_load(const char *path, dls_problems *problems, dls_sweep **out,
                          dls_error *err) DLS_MUST_CHECK;
/* One without axes over a configuration, for dls_sweep_add_list. */
dls_status dls_sweep_create(const char *config_path, dls_sweep **out,
                            dls_error *err) DLS_MUST_CHECK;
void dls_sweep_destroy(dls_sweep *sweep); /* NULL-safe */
DLS_OWNER(dls_sweep, dls_sweep_destroy)

/* An axis over one key: n values. where names it in messages. */
dls_status dls_sweep_add_list(dls_sweep *sweep, const char *key, const char *const *values,
                              size_t n, const char *where, dls_error *err) DLS_MUST_CHECK;

/* Product of the axes' rows; at most DLS_STUDY_POINTS_MAX + 1, which stands for all above. */
size_t dls_sweep_n_designs(const dls_sweep *sweep);
size_t dls_sweep_n_points(const dls_sweep *sweep);
/* Keys of all axes, and the k-th of them. */
size_t dls_sweep_n_keys(const dls_sweep *sweep);
const char *dls_sweep_key(const dls_sweep *sweep, size_t k);
/* Where the axis of the k-th key stands: "sweep.cfg:12". */
const char *dls_sweep_key_where(const dls_sweep *sweep, size_t k);
/* Value of the k-th key in a design, borrowed. */
const char *dls_sweep_value(const dls_sweep *sweep, size_t design, size_t k);

#endif
