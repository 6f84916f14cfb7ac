/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One plan of ElasticFlow (elasticflow_make.h): levels, and the search for the minimum satisfactory share. Written from
 * a specification of the authors' simulator (github.com/gudiandian/ElasticFlow, commit b3f5ea4):
 * every comparison of times is as there, since equality with its results depends on them.
 */
#include "sched/elasticflow_make.h"

#include <math.h>

/* ---- levels ---------------------------------------------------------------------------------- */

void dls_ef_job_level(dls_ef_job *j, int32_t gpus, double speed)
{
    if (j->n_levels < DLS_EF_LEVELS && speed > 0) {
        j->gpus_at[j->n_levels] = gpus;
        j->speed_at[j->n_levels++] = speed;
    }
}

double dls_ef_speed(const dls_ef_job *j, int32_t gpus)
{
    for (int32_t i = 0; i < j->n_levels; i++) {
        if (j->gpus_at[i] == gpus) {
            return j->speed_at[i];
        }
    }
    return 0;
}

int32_t dls_ef_up(const dls_ef_job *j, int32_t gpus)
{
    for (int32_t i = 0; i < j->n_levels; i++) {
        if (j->gpus_at[i] > gpus) {
            return j->gpus_at[i];
        }
    }
    return gpus;
}

static int32_t down(const dls_ef_job *j, int32_t free)
{
    int32_t best = 0;
    for (int32_t i = 0; i < j->n_levels && j->gpus_at[i] <= free; i++) {
        best = j->gpus_at[i];
    }
    return best;
}

static int32_t most(const dls_ef_job *j)
{
    return j->gpus_at[j->n_levels - 1];
}

/* t_s; as published base_s + whole slots, at or after t_s. */
static double align(const dls_ef_planner *p, double base_s, double t_s)
{
    if (!p->upstream) {
        return t_s;
    }
    double part = fmod(t_s - base_s, p->slot_s);
    part += part < 0 ? p->slot_s : 0;
    const double slots = round((t_s - base_s - part) / p->slot_s);
    return base_s + (slots + (part > 0)) * p->slot_s;
}

static double whole(const dls_ef_planner *p, double t_s)
{
    return p->upstream ? ceil(t_s) : t_s;
}

/* ---- one plan -------------------------------------------------------------------------------- */

typedef struct search {
    dls_ef_planner *p;
    const dls_ef_job *j;
    const dls_ef_steps *future; /* free GPUs without this job */
    dls_ef_steps *free;         /* in the end: with it; may be `future` itself until somebody is late */
    dls_ef_plan *plan;
    double now, at;       /* from when on there is a choice */
    double late;          /* the deadline, up to whole slots */
    double left;          /* work */
    int32_t given;        /* share that it has anyway until `at`, 0: none */
    int32_t quota, lower; /* tried now, and before */
    size_t first;         /* step of `free` that a plan forwards looks at */
    bool late_is_new;     /* `free` got a step at `late` that `future` does not have */
} search;

static void finish(search *s, double end, double real)
{
    s->plan->end = end;
    s->plan->real_end = real;
    dls_ef_merge(&s->plan->gpus);
    dls_ef_merge(s->free);
}

/* A given share until the next step; true: that does it. */
static bool hold_given(search *s)
{
    const double speed = dls_ef_speed(s->j, s->given);
    double next = s->late;
    size_t i = dls_ef_first_step(s->future, s->at);
    i += i < s->future->n && s->future->t[i] == s->at;
    if (i < s->future->n) {
        next = s->future->t[i];
    }
    dls_ef_put_step(s->p, &s->plan->gpus, s->at, s->given);
    const double real = whole(s->p, s->at + s->left / speed), end = align(s->p, s->now, real);
    if (next >= end && s->j->deadline >= real) {
        const int32_t free_now = dls_ef_value_at(s->future, s->at);
        const int32_t last = dls_ef_value_before(s->future, end, s->p->gpus);
        dls_ef_subtract(s->free, s->at, end, s->given);
        if (s->at != end) {
            dls_ef_put_step(s->p, s->free, s->at, free_now - s->given);
        }
        if (!dls_ef_has_step(s->future, end)) {
            dls_ef_put_step(s->p, s->free, end, last);
        }
        finish(s, end, real);
        return true;
    }
    s->left -= ((next == s->late ? s->j->deadline : next) - s->at) * speed;
    dls_ef_put_step(s->p, s->free, s->at, dls_ef_value_at(s->free, s->at) - s->given);
    s->at = next;
    dls_ef_put_step(s->p, &s->plan->gpus, s->at, 0);
    return false;
}

static int32_t share_of(const search *s, int32_t quota, int32_t free)
{
    return free >= quota ? quota : down(s->j, free);
}

/* From where on the quota does the work if it is filled in backwards; -1: it does not. */
static double fill_backwards(const search *s)
{
    double stop = s->late, got = 0;
    for (size_t i = dls_ef_first_step(s->free, s->late); i > 0 && s->free->t[i - 1] >= s->at; i--) {
        const double from = s->free->t[i - 1];
        const int32_t share = share_of(s, s->quota, s->free->v[i - 1]);
        if (share > 0) {
            const double until = stop == s->late ? s->j->deadline : stop;
            got += (until - from) * dls_ef_speed(s->j, share);
            if (got >= s->left) {
                return from;
            }
        }
        stop = from;
    }
    return -1;
}

/* The share of free step i, which is known once the next has been seen. */
static void put_share(search *s, size_t i, int32_t share)
{
    dls_ef_steps *gpus = &s->plan->gpus;
    const double from = s->free->t[i];
    if (gpus->n == 0 || gpus->t[gpus->n - 1] >= from || gpus->v[gpus->n - 1] != share) {
        dls_ef_put_step(s->p, gpus, from, share);
    }
    s->free->v[i] -= share;
}

/* Equal neighbours among the steps from `first` to `last` and those that the plan has put behind it become one. */
static void merge_touched(search *s, size_t last, double end)
{
    dls_ef_steps *free = s->free;
    const size_t at_end = dls_ef_first_step(free, end);
    dls_ef_merge_from(free, s->first, (at_end > last ? at_end : last) + 2);
    if (s->late_is_new) {
        const size_t late = dls_ef_first_step(free, s->late);
        dls_ef_merge_from(free, late, late + 1);
    }
}

/* The plan ends; step `last` of `free` is the last with a share. */
static void end_forwards(search *s, size_t last, int32_t share, double end, double real)
{
    dls_ef_steps *free = s->free;
    s->plan->end = end;
    s->plan->real_end = real;
    dls_ef_merge(&s->plan->gpus);
    if (s->future != free) {
        if (!dls_ef_has_step(s->future, end)) {
            const size_t k = dls_ef_first_step(s->future, end);
            const bool within = k > 0 && s->future->t[k - 1] >= s->at;
            dls_ef_put_step(s->p, free, end, within ? s->future->v[k - 1] : s->p->gpus);
        }
        dls_ef_merge(free);
        return;
    }
    if (!dls_ef_has_step(free, end) || (s->late_is_new && end == s->late)) {
        const size_t k = dls_ef_first_step(free, end);
        const bool behind = k > last + 1; /* nothing was taken from the step before the end */
        dls_ef_put_step(s->p, free, end, behind ? free->v[k - 1] : free->v[last] + share);
    }
    merge_touched(s, last, end);
}

/* Forwards with the quota from `since` on, where there is a step, and the one before until then. */
static void fill_forwards(search *s, double since)
{
    const dls_ef_steps *free = s->free;
    double end = -1, real = 0;
    int32_t share = 0;
    size_t i = s->first = dls_ef_first_step(free, s->at);
    for (; i < free->n && free->t[i] <= s->late; i++) {
        const double t = free->t[i];
        if (i > s->first) {
            const double from = free->t[i - 1], speed = share > 0 ? dls_ef_speed(s->j, share) : 0;
            const double work = ((t == s->late ? s->j->deadline : t) - from) * speed;
            put_share(s, i - 1, share);
            if (share > 0 && from >= since && work >= s->left) {
                const double run = whole(s->p, s->left / speed);
                end = from + align(s->p, 0, run);
                real = from + run;
                if (t < s->late) { /* what it has until the next step may be longer than its plan */
                    dls_ef_put_step(s->p, &s->plan->gpus, t, 0);
                }
                break;
            }
            s->left -= work;
        }
        share = share_of(s, t >= since ? s->quota : s->lower, free->v[i]);
    }
    if (end < 0) {
        const double from = free->t[i - 1], speed = dls_ef_speed(s->j, share);
        const double run = speed > 0 ? whole(s->p, s->left / speed) : 0; /* rounding left nothing */
        put_share(s, i - 1, share);
        end = from + align(s->p, 0, run);
        real = from + run;
    }
    end_forwards(s, i - 1, share, end, real);
}

/* No quota will do: the greatest until the deadline. */
static void fall_behind(search *s)
{
    const dls_ef_steps *free = s->free;
    int32_t share = 0;
    size_t i = dls_ef_first_step(free, s->at);
    for (const size_t first = i; i < free->n && free->t[i] <= s->late; i++) {
        const double t = free->t[i];
        if (i > first) {
            put_share(s, i - 1, share);
            s->left -= ((t == s->late ? s->j->deadline : t) - free->t[i - 1]) * dls_ef_speed(s->j, share);
        }
        share = share_of(s, s->lower, free->v[i]);
    }
}

/* Whatever is free behind the deadline, and in the end the whole cluster. */
static void be_late(search *s)
{
    double from = fmax(s->late, s->at);
    int32_t last = s->p->gpus;
    for (size_t i = dls_ef_first_step(s->free, nextafter(s->late, (double)INFINITY)); i < s->free->n;
         i++) {
        const double t = s->free->t[i];
        const int32_t share = down(s->j, dls_ef_value_at(s->free, from));
        const double speed = dls_ef_speed(s->j, share);
        dls_ef_put_step(s->p, &s->plan->gpus, from, share);
        if (share > 0 && (t - from) * speed >= s->left) {
            const double real = whole(s->p, from + s->left / speed);
            const double end = align(s->p, s->now, real);
            for (size_t k = dls_ef_first_step(s->free, s->late); k < s->free->n && s->free->t[k] < end;
                 k++) {
                last = dls_ef_has_step(s->future, s->free->t[k]) ? dls_ef_value_at(s->future, s->free->t[k]) : last;
            }
            dls_ef_subtract(s->free, from, end, share);
            if (from != end) {
                dls_ef_put_step(s->p, s->free, from, last - share);
            }
            if (!dls_ef_has_step(s->future, end)) {
                dls_ef_put_step(s->p, s->free, end, last);
            }
            finish(s, end, real);
            return;
        }
        if (share > 0) {
            s->left -= (t - from) * speed;
            if (dls_ef_first_step(s->future, from) > 0) {
                const double u = s->future->t[dls_ef_first_step(s->future, from) - 1];
                last = dls_ef_has_step(s->free, u) ? dls_ef_value_at(s->free, u) : last;
            }
            dls_ef_subtract(s->free, from, t, share);
        }
        from = t;
    }
    const int32_t share = s->given > 0 ? s->given : down(s->j, s->p->gpus);
    dls_ef_put_step(s->p, &s->plan->gpus, from, share);
    const double real = whole(s->p, from + s->left / dls_ef_speed(s->j, share));
    const double end = align(s->p, s->now, real);
    dls_ef_put_step(s->p, s->free, from, s->p->gpus - share);
    dls_ef_put_step(s->p, s->free, end, s->p->gpus);
    finish(s, end, real);
}

/* Who is late asks for what was free without it: so far p->free was changed where it lies. */
static void be_late_apart(search *s)
{
    dls_ef_planner *p = s->p;
    dls_ef_put_copy(p, &p->work, &p->free);
    if (s->late_is_new && !p->failed) {
        dls_ef_drop_step(&p->free, dls_ef_first_step(&p->free, s->late));
    }
    s->free = &p->work;
    fall_behind(s);
    be_late(s);
    dls_ef_swap_free(p);
}

bool dls_ef_make(dls_ef_planner *p, const dls_ef_job *j, double now, const dls_ef_steps *future,
                 int32_t given, dls_ef_plan *plan, dls_ef_steps *free)
{
    search s = {.p = p,
                .j = j,
                .future = future,
                .free = free,
                .plan = plan,
                .now = now,
                .at = now,
                .late = align(p, now, j->deadline),
                .left = j->left,
                .given = given};
    if (free != future) {
        dls_ef_put_copy(p, free, future);
    }
    plan->gpus.n = 0;
    dls_ef_put_step(p, &plan->gpus, now, 0);
    if (given == 0 && down(j, p->gpus) == 0) { /* failures have left too few GPUs: it takes none, and never ends */
        plan->quota = j->floor;
        plan->end = now;
        plan->real_end = (double)INFINITY;
        return false;
    }
    s.late_is_new = !dls_ef_has_step(free, s.late) && s.late >= now;
    if (s.late_is_new) {
        dls_ef_put_step(p, free, s.late, dls_ef_value_before(free, s.late, p->gpus));
    }
    if (given > 0 && (p->failed || hold_given(&s))) {
        return plan->real_end <= j->deadline;
    }
    plan->quota = j->floor;
    for (s.quota = j->floor > 0 ? j->floor : dls_ef_up(j, 0); s.quota <= p->gpus && !p->failed;
         s.quota = dls_ef_up(j, s.quota)) {
        const double since = fill_backwards(&s);
        if (since >= 0) {
            plan->quota = s.quota;
            fill_forwards(&s, p->upstream ? since : s.at);
            return plan->real_end <= j->deadline;
        }
        s.lower = s.quota;
        if (s.quota == most(j)) {
            break;
        }
    }
    if (!p->failed && free == future) {
        be_late_apart(&s);
    } else if (!p->failed) {
        fall_behind(&s);
        be_late(&s);
    }
    return plan->real_end <= j->deadline;
}
