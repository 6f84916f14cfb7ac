/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Numbers of GPUs over time, of ElasticFlow's plans (elasticflow_steps.h).
 */
#include "sched/elasticflow_steps.h"

#include <string.h>

void dls_ef_steps_fini(dls_ef_steps *s)
{
    DLS_FREE_ALL(s->t, s->v);
    *s = (dls_ef_steps){0};
}

static bool make_room(dls_ef_steps *s, size_t n)
{
    dls_error err;
    return dls_grow(&s->t, &s->cap_t, n, sizeof *s->t, &err) == DLS_OK &&
           dls_grow(&s->v, &s->cap_v, n, sizeof *s->v, &err) == DLS_OK;
}

bool dls_ef_set_step(dls_ef_steps *s, double t, int32_t v)
{
    const size_t i = dls_ef_first_step(s, t);
    if (i < s->n && s->t[i] == t) {
        s->v[i] = v;
        return true;
    }
    if (!make_room(s, s->n + 1)) {
        return false;
    }
    memmove(s->t + i + 1, s->t + i, (s->n - i) * sizeof *s->t);
    memmove(s->v + i + 1, s->v + i, (s->n - i) * sizeof *s->v);
    s->t[i] = t;
    s->v[i] = v;
    s->n++;
    return true;
}

bool dls_ef_copy_steps(dls_ef_steps *to, const dls_ef_steps *from)
{
    if (!make_room(to, from->n)) {
        return false;
    }
    to->n = from->n;
    if (from->n > 0) {
        memcpy(to->t, from->t, from->n * sizeof *to->t);
        memcpy(to->v, from->v, from->n * sizeof *to->v);
    }
    return true;
}

void dls_ef_subtract(dls_ef_steps *s, double from, double until, int32_t g)
{
    for (size_t i = dls_ef_first_step(s, from); i < s->n && s->t[i] < until; i++) {
        s->v[i] -= g;
    }
}

void dls_ef_merge(dls_ef_steps *s)
{
    dls_ef_merge_from(s, 0, s->n);
}

void dls_ef_merge_from(dls_ef_steps *s, size_t from, size_t until)
{
    const size_t end = until < s->n ? until : s->n;
    size_t n = from;
    for (size_t i = from; i < end; i++) {
        const bool other = i == 0 || s->v[i] != s->v[i - 1]; /* which is there still: n <= i */
        s->t[n] = s->t[i];
        s->v[n] = s->v[i];
        n += other;
    }
    if (n < end) {
        memmove(s->t + n, s->t + end, (s->n - end) * sizeof *s->t);
        memmove(s->v + n, s->v + end, (s->n - end) * sizeof *s->v);
        s->n -= end - n;
    }
}

void dls_ef_drop_step(dls_ef_steps *s, size_t i)
{
    memmove(s->t + i, s->t + i + 1, (s->n - i - 1) * sizeof *s->t);
    memmove(s->v + i, s->v + i + 1, (s->n - i - 1) * sizeof *s->v);
    s->n--;
}
