/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Inside the reader of sweeps: what an axis is made from.
 */
#ifndef DLS_SWEEP_READ_H
#define DLS_SWEEP_READ_H

#include "config/schema.h"
#include "config/tree.h"
#include "sweep/sweep.h"

typedef struct dls_sweep_reader {
    dls_sweep *sweep;
    dls_config_source from;
    dls_problems *problems;
    dls_error *err;
} dls_sweep_reader;

/* Something is wrong with this setting. */
void dls_sweep_problem(const dls_sweep_reader *r, const config_setting_t *at, const char *text);
/* Whether every member of the group is one of the names (ended by NULL); others are problems. */
bool dls_sweep_members(const dls_sweep_reader *r, const config_setting_t *group, const char *shown,
                       const char *const *names);
/* A member of one type; true with *out as it was if it is not there, false after a problem. */
bool dls_sweep_get_text(const dls_sweep_reader *r, const config_setting_t *group, const char *name,
                        const char **out);
bool dls_sweep_get_i64(const dls_sweep_reader *r, const config_setting_t *group, const char *name,
                       int64_t min, int64_t max, int64_t *out);
/* A member that is a list with something in it; NULL: not there, or a problem (*good is then
 * false). */
const config_setting_t *dls_sweep_get_list(const dls_sweep_reader *r, const config_setting_t *group,
                                           const char *name, bool *good);

/* The axes of the group "sweep". */
dls_status dls_sweep_read_axes(const dls_sweep_reader *r,
                               const config_setting_t *group) DLS_MUST_CHECK;

/* *out becomes a copy of s; what it was is released. */
dls_status dls_sweep_text(const char *s, char **out, dls_error *err) DLS_MUST_CHECK;

/* Build an axis: first its keys, then its values row by row (at: row * n_keys + column). */
dls_status dls_sweep_add_axis(dls_sweep *sweep, const char *where, dls_sweep_axis **out,
                              dls_error *err) DLS_MUST_CHECK;
dls_status dls_sweep_add_key(dls_sweep_axis *axis, const char *key, dls_error *err) DLS_MUST_CHECK;
dls_status dls_sweep_add_value(dls_sweep_axis *axis, size_t at, const char *text,
                               dls_error *err) DLS_MUST_CHECK;

/* How the values of a key lie between two ends. */
typedef struct dls_sweep_span {
    dls_option_type type; /* an option of a policy: as its first end is written */
    double from, to;   /* in the base unit of the type */
    bool log, whole;   /* equal steps of the logarithm; rounded to whole numbers */
    bool sampled;      /* whole numbers are equally likely, the ends too */
} dls_sweep_span;

/* The ends as the configuration has them. Errors (ECONFIG): the key takes no numbers, an end that
 * is none, both ends the same, a logarithm of zero or less. */
dls_status dls_sweep_span_init(dls_sweep_span *span, const char *key, const char *from,
                               const char *to, bool log, bool whole, dls_error *err) DLS_MUST_CHECK;
/* The value at u, 0 (from) to 1 (to), as --set takes it: 12 significant digits and a unit. Returns
 * buf. */
const char *dls_sweep_span_text(const dls_sweep_span *span, double u, char *buf, size_t n);

/* Points in the unit cube, u[point * dims + dim] in [0, 1).
 *
 * Latin hypercube (McKay, Beckman, Conover, Technometrics 1979): each of n equal slices of each
 * dimension holds one point, at random in it; Philox streams of the seed. O(n dims). */
void dls_sweep_lhs(size_t n, size_t dims, uint64_t seed, double *u);
/* The Sobol sequence from its second element on, GSL's. dims: at most DLS_SWEEP_SOBOL_DIMS.
 * Errors: ENOMEM. */
#define DLS_SWEEP_SOBOL_DIMS 40
dls_status dls_sweep_sobol(size_t n, size_t dims, double *u, dls_error *err) DLS_MUST_CHECK;

#endif
