/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Minimum satisfactory shares and the distribution of spare GPUs (elasticflow_plan.h). Written from
 * a specification of the authors' simulator (github.com/gudiandian/ElasticFlow, commit b3f5ea4):
 * every comparison of times is as there, since equality with its results depends on them.
 */
#include "sched/elasticflow_plan.h"

#include <math.h>

enum { MARK = 64 }; /* jobs between two copies of what is free before them */

static void set_step(dls_ef_planner *p, dls_ef_steps *s, double t, int32_t v)
{
    p->failed = p->failed || !dls_ef_set_step(s, t, v);
}

static void copy(dls_ef_planner *p, dls_ef_steps *to, const dls_ef_steps *from)
{
    p->failed = p->failed || !dls_ef_copy_steps(to, from);
}

void dls_ef_planner_fini(dls_ef_planner *p)
{
    dls_ef_steps_fini(&p->free);
    dls_ef_steps_fini(&p->work);
    dls_ef_steps_fini(&p->future);
    for (size_t i = 0; i < p->n_marks; i++) {
        dls_ef_steps_fini(&p->mark[i]);
    }
    DLS_FREE_ALL(p->mark, p->done);
}

void dls_ef_job_fini(dls_ef_job *j)
{
    dls_ef_steps_fini(&j->plan.gpus);
    dls_ef_steps_fini(&j->offer.gpus);
    dls_ef_steps_fini(&j->offer_free);
}

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

static int32_t up(const dls_ef_job *j, int32_t gpus)
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
    dls_ef_steps *free;         /* in the end: with it */
    dls_ef_plan *plan;
    double now, at;       /* from when on there is a choice */
    double late;          /* the deadline, up to whole slots */
    double left;          /* work */
    int32_t given;        /* share that it has anyway until `at`, 0: none */
    int32_t quota, lower; /* tried now, and before */
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
    set_step(s->p, &s->plan->gpus, s->at, s->given);
    const double real = whole(s->p, s->at + s->left / speed), end = align(s->p, s->now, real);
    if (next >= end && s->j->deadline >= real) {
        const int32_t free_now = dls_ef_value_at(s->future, s->at);
        const int32_t last = dls_ef_value_before(s->future, end, s->p->gpus);
        dls_ef_subtract(s->free, s->at, end, s->given);
        if (s->at != end) {
            set_step(s->p, s->free, s->at, free_now - s->given);
        }
        if (!dls_ef_has_step(s->future, end)) {
            set_step(s->p, s->free, end, last);
        }
        finish(s, end, real);
        return true;
    }
    s->left -= ((next == s->late ? s->j->deadline : next) - s->at) * speed;
    set_step(s->p, s->free, s->at, dls_ef_value_at(s->free, s->at) - s->given);
    s->at = next;
    set_step(s->p, &s->plan->gpus, s->at, 0);
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
        set_step(s->p, gpus, from, share);
    }
    s->free->v[i] -= share;
}

/* Forwards with the quota from `since` on, where there is a step, and the one before until then. */
static void fill_forwards(search *s, double since)
{
    const dls_ef_steps *free = s->free;
    double end = -1, real = 0;
    int32_t share = 0;
    size_t i = dls_ef_first_step(free, s->at);
    for (const size_t first = i; end < 0 && i < free->n && free->t[i] <= s->late; i++) {
        const double t = free->t[i];
        if (i > first) {
            const double from = free->t[i - 1], speed = share > 0 ? dls_ef_speed(s->j, share) : 0;
            const double work = ((t == s->late ? s->j->deadline : t) - from) * speed;
            put_share(s, i - 1, share);
            if (share > 0 && from >= since && work >= s->left) {
                const double run = whole(s->p, s->left / speed);
                end = from + align(s->p, 0, run);
                real = from + run;
                if (t < s->late) { /* what it has until the next step may be longer than its plan */
                    set_step(s->p, &s->plan->gpus, t, 0);
                }
                continue;
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
    if (!dls_ef_has_step(s->future, end)) {
        const size_t k = dls_ef_first_step(s->future, end);
        const bool within = k > 0 && s->future->t[k - 1] >= s->at;
        set_step(s->p, s->free, end, within ? s->future->v[k - 1] : s->p->gpus);
    }
    finish(s, end, real);
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
        set_step(s->p, &s->plan->gpus, from, share);
        if (share > 0 && (t - from) * speed >= s->left) {
            const double real = whole(s->p, from + s->left / speed);
            const double end = align(s->p, s->now, real);
            for (size_t k = dls_ef_first_step(s->free, s->late); k < s->free->n && s->free->t[k] < end;
                 k++) {
                last = dls_ef_has_step(s->future, s->free->t[k]) ? dls_ef_value_at(s->future, s->free->t[k]) : last;
            }
            dls_ef_subtract(s->free, from, end, share);
            if (from != end) {
                set_step(s->p, s->free, from, last - share);
            }
            if (!dls_ef_has_step(s->future, end)) {
                set_step(s->p, s->free, end, last);
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
    set_step(s->p, &s->plan->gpus, from, share);
    const double real = whole(s->p, from + s->left / dls_ef_speed(s->j, share));
    const double end = align(s->p, s->now, real);
    set_step(s->p, s->free, from, s->p->gpus - share);
    set_step(s->p, s->free, end, s->p->gpus);
    finish(s, end, real);
}

/* A plan in `future`, with a share now or without; `free` gets what it leaves. true: in time. */
static bool make(dls_ef_planner *p, const dls_ef_job *j, double now, const dls_ef_steps *future,
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
    copy(p, free, future);
    plan->gpus.n = 0;
    set_step(p, &plan->gpus, now, 0);
    if (!dls_ef_has_step(free, s.late) && s.late >= now) {
        set_step(p, free, s.late, dls_ef_value_before(free, s.late, p->gpus));
    }
    if (given > 0 && (p->failed || hold_given(&s))) {
        return plan->real_end <= j->deadline;
    }
    plan->quota = j->floor;
    for (s.quota = j->floor > 0 ? j->floor : up(j, 0); s.quota <= p->gpus && !p->failed;
         s.quota = up(j, s.quota)) {
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
    if (!p->failed) {
        fall_behind(&s);
        be_late(&s);
    }
    return plan->real_end <= j->deadline;
}

/* ---- all jobs -------------------------------------------------------------------------------- */

void dls_ef_sort(dls_ef_job **job, size_t n, double (*key)(const dls_ef_job *))
{
    for (size_t i = 1; i < n; i++) {
        dls_ef_job *x = job[i];
        size_t k = i;
        for (; k > 0 && key(job[k - 1]) > key(x); k--) {
            job[k] = job[k - 1];
        }
        job[k] = x;
    }
}

static double by_deadline(const dls_ef_job *j)
{
    return j->deadline;
}

static double by_worth(const dls_ef_job *j)
{
    return -j->worth;
}

static int by_deadline_and_id(const void *x, const void *y)
{
    const dls_ef_job *const *a = x, *const *b = y;
    return (*a)->deadline != (*b)->deadline ? ((*a)->deadline > (*b)->deadline) - ((*a)->deadline < (*b)->deadline)
                                            : ((*a)->id > (*b)->id) - ((*a)->id < (*b)->id);
}

/* How many of the first jobs have the plans that they would get; p->free is what is free behind them. */
static size_t keep_plans(dls_ef_planner *p, dls_ef_job **job, size_t n, double now_s)
{
    size_t kept = 0;
    if (p->upstream || p->done_s != now_s || p->done_gpus != p->gpus) {
        p->n_done = 0;
    }
    while (kept < n && kept < p->n_done && job[kept] == p->done[kept] && job[kept]->planned) {
        kept++;
    }
    if (kept > 0 && kept == p->n_done) {
        return kept;
    }
    kept -= kept % MARK;
    if (kept > 0) {
        copy(p, &p->free, &p->mark[kept / MARK]);
        return kept;
    }
    p->free.n = 0;
    set_step(p, &p->free, now_s, p->gpus);
    return 0;
}

/* What is free before job i. */
static void put_mark(dls_ef_planner *p, size_t i)
{
    dls_error err;
    const size_t k = i / MARK;
    p->failed = p->failed || dls_grow(&p->mark, &p->cap_marks, k + 1, sizeof *p->mark, &err) != DLS_OK;
    if (p->failed) {
        return;
    }
    if (k == p->n_marks) {
        p->mark[p->n_marks++] = (dls_ef_steps){0};
    }
    copy(p, &p->mark[k], &p->free);
}

bool dls_ef_plan_all(dls_ef_planner *p, dls_ef_job **job, size_t n, double now_s)
{
    bool in_time = true;
    if (p->upstream) {
        dls_ef_sort(job, n, by_deadline);
    } else {
        dls_sort(job, n, sizeof *job, by_deadline_and_id);
    }
    dls_error err;
    const size_t kept = keep_plans(p, job, n, now_s);
    p->failed = p->failed || dls_grow(&p->done, &p->cap_done, n, sizeof *p->done, &err) != DLS_OK;
    for (size_t i = 0; i < n && !p->failed; i++) {
        if (i >= kept) {
            if (i % MARK == 0) {
                put_mark(p, i);
            }
            make(p, job[i], now_s, &p->free, 0, &job[i]->plan, &p->work);
            const dls_ef_steps swap = p->free;
            p->free = p->work;
            p->work = swap;
            job[i]->gpus = p->failed ? 0 : dls_ef_value_at(&job[i]->plan.gpus, now_s);
            job[i]->planned = true;
            p->done[i] = job[i];
        }
        in_time &= job[i]->plan.real_end <= job[i]->deadline;
    }
    p->n_done = p->failed ? 0 : n;
    p->done_s = now_s;
    p->done_gpus = p->gpus;
    return in_time;
}

static double gpu_seconds(const dls_ef_plan *plan)
{
    const dls_ef_steps *s = &plan->gpus;
    double sum = 0;
    for (size_t i = 0; i < s->n; i++) {
        sum += s->v[i] * ((i + 1 < s->n ? s->t[i + 1] : plan->end) - s->t[i]);
    }
    return sum;
}

/* The plan with the next level now. */
static void offer(dls_ef_planner *p, dls_ef_job *j, double now)
{
    dls_ef_steps *future = &p->future;
    int32_t last = 0;
    /* What is free without its present plan. */
    copy(p, future, &p->free);
    if (!dls_ef_has_step(future, j->plan.end)) {
        set_step(p, future, j->plan.end, dls_ef_value_before(future, j->plan.end, p->gpus));
    }
    for (size_t i = 0; i < j->plan.gpus.n; i++) {
        const double t = j->plan.gpus.t[i];
        if (!dls_ef_has_step(future, t)) {
            set_step(p, future, t, dls_ef_value_before(future, t, p->gpus));
        }
        dls_ef_subtract(future, t, j->plan.end, last - j->plan.gpus.v[i]);
        last = j->plan.gpus.v[i];
    }
    dls_ef_merge(future);
    make(p, j, now, future, j->next, &j->offer, &j->offer_free);
}

static bool can_grow(const dls_ef_job *j, int32_t spare)
{
    const int32_t next = up(j, j->gpus);
    return next > j->gpus && next - j->gpus <= spare;
}

/* What the next level is worth. A job without GPUs comes first, its plan when it is its turn. */
static void judge(dls_ef_planner *p, dls_ef_job *j, int32_t spare, double now)
{
    j->next = up(j, j->gpus);
    if (!can_grow(j, spare)) {
        j->worth = -(double)INFINITY;
    } else if (j->gpus == 0) {
        j->worth = (double)INFINITY;
    } else {
        offer(p, j, now);
        const double more = gpu_seconds(&j->offer) - gpu_seconds(&j->plan);
        j->worth = (p->upstream ? more : -more) / (j->next - j->gpus);
    }
}

/* While somebody has none, nobody else gets any: what it is worth to them need not be known. As
 * published it is, since ties go by the order that it leaves. */
static void judge_all(dls_ef_planner *p, dls_ef_job **job, size_t n, int32_t spare, double now,
                      bool first)
{
    bool hungry = false;
    for (size_t k = 0; k < n; k++) {
        hungry |= job[k]->gpus == 0 && can_grow(job[k], spare);
    }
    for (size_t k = 0; k < n; k++) {
        if (hungry && !p->upstream && job[k]->gpus > 0) {
            job[k]->worth = -(double)INFINITY;
        } else if (first || up(job[k], job[k]->gpus) > job[k]->gpus) {
            judge(p, job[k], spare, now);
        }
    }
}

void dls_ef_spread(dls_ef_planner *p, dls_ef_job **job, size_t n, double now_s)
{
    int32_t spare = p->gpus;
    p->n_done = 0;
    for (size_t i = 0; i < n; i++) {
        spare -= job[i]->gpus;
    }
    for (bool first = true; (spare > 0 || !first) && !p->failed; first = false) {
        size_t i = 0;
        judge_all(p, job, n, spare, now_s, first);
        dls_ef_sort(job, n, by_worth); /* also behind the last GPU: the order is what later ties go by */
        while (i < n && !can_grow(job[i], spare)) {
            i++;
        }
        if (i == n || spare == 0 || p->failed) {
            return;
        }
        dls_ef_job *j = job[i];
        if (j->gpus == 0) {
            offer(p, j, now_s);
        }
        const dls_ef_plan plan = j->plan;
        const dls_ef_steps free = p->free;
        spare -= j->next - j->gpus;
        j->gpus = j->next;
        j->plan = j->offer;
        j->offer = plan;
        p->free = j->offer_free;
        j->offer_free = free;
    }
}
