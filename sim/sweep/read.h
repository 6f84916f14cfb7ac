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
void dls_sweep_problem(const dls_sweep_reader *r, const config_setting_t *at, const char *fmt, ...)
    DLS_PRINTF(3, 4);

/* A member of a group, and where its value goes; that stays as it was if there is no such member. */
typedef enum dls_sweep_type {
    DLS_SWEEP_ANY,  /* looked at elsewhere */
    DLS_SWEEP_TEXT, /* const char * */
    DLS_SWEEP_I64,  /* least .. most */
    DLS_SWEEP_BOOL,
    DLS_SWEEP_LIST /* const config_setting_t *, with something in it */
} dls_sweep_type;
typedef struct dls_sweep_member {
    const char *name; /* NULL: the end */
    dls_sweep_type type;
    void *to;
    int64_t least, most;
} dls_sweep_member;
/* Take the members; those that suit none of the table are problems unless shown, what the group is
 * called, is NULL. Returns whether all is well. */
bool dls_sweep_take(const dls_sweep_reader *r, const config_setting_t *group, const char *shown,
                    const dls_sweep_member *members);

/* The list of axes; NULL: there is none. */
dls_status dls_sweep_read_axes(const dls_sweep_reader *r,
                               const config_setting_t *axes) DLS_MUST_CHECK;

/* *out becomes a copy of s; what it was is released. */
dls_status dls_sweep_text(const char *s, char **out, dls_error *err) DLS_MUST_CHECK;

/* Build an axis: first its keys, then its values row by row (at: row * n_keys + column). */
dls_status dls_sweep_add_axis(dls_sweep *sweep, const char *where, dls_sweep_axis **out,
                              dls_error *err) DLS_MUST_CHECK;
dls_status dls_sweep_add_key(dls_sweep_axis *axis, const char *key, dls_error *err) DLS_MUST_CHECK;
dls_status dls_sweep_add_value(dls_sweep_axis *axis, size_t at, const char *text,
                               dls_error *err) DLS_MUST_CHECK;

/* A number, or a quantity of any kind: its type, and its value in that one's base unit. */
bool dls_sweep_number(const char *text, double *out, dls_option_type *type);

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
