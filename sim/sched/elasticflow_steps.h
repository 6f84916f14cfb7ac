/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Numbers of GPUs over time, of ElasticFlow's plans: a list of steps.
 */
#ifndef DLS_SCHED_ELASTICFLOW_STEPS_H
#define DLS_SCHED_ELASTICFLOW_STEPS_H

#include "dlsim/memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A piecewise constant number of GPUs: v[i] from t[i] until t[i + 1]; ascending. */
typedef struct dls_ef_steps {
    double *t;
    int32_t *v;
    size_t n, cap_t, cap_v;
} dls_ef_steps;

void dls_ef_steps_fini(dls_ef_steps *s);

/* Of the first step at or after t. */
static inline size_t dls_ef_first_step(const dls_ef_steps *s, double t)
{
    size_t at;
    DLS_BISECT(at, s->n, s->t[at] < t);
    return at;
}

static inline bool dls_ef_has_step(const dls_ef_steps *s, double t)
{
    const size_t i = dls_ef_first_step(s, t);
    return i < s->n && s->t[i] == t;
}

/* The value of the last step before t; `otherwise` if there is none. */
static inline int32_t dls_ef_value_before(const dls_ef_steps *s, double t, int32_t otherwise)
{
    const size_t i = dls_ef_first_step(s, t);
    return i > 0 ? s->v[i - 1] : otherwise;
}

/* At the step t itself, which is there. */
static inline int32_t dls_ef_value_at(const dls_ef_steps *s, double t)
{
    const size_t i = dls_ef_first_step(s, t);
    return i < s->n ? s->v[i] : 0;
}

/* A step at t, new or not, gets this value. false: out of memory. */
bool dls_ef_set_step(dls_ef_steps *s, double t, int32_t v);
bool dls_ef_copy_steps(dls_ef_steps *to, const dls_ef_steps *from);
/* Less g in the steps of [from, until). */
void dls_ef_subtract(dls_ef_steps *s, double from, double until, int32_t g);
/* Equal neighbours become one. */
void dls_ef_merge(dls_ef_steps *s);
/* The same where only steps from, .., until - 1 may equal those before them. */
void dls_ef_merge_from(dls_ef_steps *s, size_t from, size_t until);
void dls_ef_drop_step(dls_ef_steps *s, size_t i);

#endif
