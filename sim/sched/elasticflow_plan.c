/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Plans of all jobs, and the distribution of spare GPUs (elasticflow_plan.h).
 */
#include "sched/elasticflow_plan.h"

#include "sched/elasticflow_make.h"

#include <math.h>

enum { MARK = 64 }; /* jobs between two copies of what is free before them */

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
        dls_ef_put_copy(p, &p->free, &p->mark[kept / MARK]);
        return kept;
    }
    p->free.n = 0;
    dls_ef_put_step(p, &p->free, now_s, p->gpus);
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
    dls_ef_put_copy(p, &p->mark[k], &p->free);
}

static int32_t first_quota(const dls_ef_job *j)
{
    return j->floor > 0 ? j->floor : dls_ef_up(j, 0);
}

/* The first job from i on that has to be planned: it has a deadline, could have GPUs now, or is too large for what will
 * be free in the end; n: there is none. Plans of those before it change nothing now, and nothing before others' do. */
static size_t next_to_plan(const dls_ef_planner *p, dls_ef_job *const *job, size_t i, size_t n)
{
    const int32_t now = p->free.v[0], in_the_end = p->free.v[p->free.n - 1];
    while (i < n && job[i]->deadline == DLS_EF_NO_DEADLINE && job[i]->gpus_at[0] > now &&
           first_quota(job[i]) <= in_the_end) {
        i++;
    }
    return i;
}

static void leave_waiting(dls_ef_job *j, double now_s)
{
    j->plan.gpus.n = 0;
    j->plan.quota = first_quota(j);
    j->plan.real_end = now_s;
    j->plan.end = (double)INFINITY;
    j->gpus = 0;
    j->planned = false;
}

/* When so many GPUs will be free. Plans need not change then: who is late leaves its GPUs free behind its deadline. */
static double room_for(const dls_ef_steps *free, int32_t gpus)
{
    size_t i = 0;
    while (i < free->n && free->v[i] < gpus) {
        i++;
    }
    return i < free->n ? free->t[i] : (double)INFINITY;
}

bool dls_ef_plan_all(dls_ef_planner *p, dls_ef_job **job, size_t n, double now_s, bool all)
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
    size_t due = kept, i = 0; /* job `due` is the next that has to be planned, and so are all before it */
    for (; i < n && !p->failed; i++) {
        if (i >= due && !all && !p->upstream) {
            due = next_to_plan(p, job, i, n);
            if (due == n) {
                break;
            }
            due++;
        }
        if (i >= kept) {
            if (i % MARK == 0) {
                put_mark(p, i);
            }
            dls_ef_make(p, job[i], now_s, &p->free, 0, &job[i]->plan,
                        p->upstream ? &p->work : &p->free);
            if (p->upstream) {
                dls_ef_swap_free(p);
            }
            job[i]->gpus = p->failed ? 0 : dls_ef_value_at(&job[i]->plan.gpus, now_s);
            job[i]->planned = true;
            p->done[i] = job[i];
        }
        in_time &= job[i]->plan.real_end <= job[i]->deadline;
    }
    p->n_done = p->failed ? 0 : i;
    int32_t least = INT32_MAX;
    for (; i < n; i++) {
        leave_waiting(job[i], now_s);
        least = job[i]->gpus_at[0] < least ? job[i]->gpus_at[0] : least;
    }
    p->room_s = room_for(&p->free, least);
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
    dls_ef_put_copy(p, future, &p->free);
    if (!dls_ef_has_step(future, j->plan.end)) {
        dls_ef_put_step(p, future, j->plan.end, dls_ef_value_before(future, j->plan.end, p->gpus));
    }
    for (size_t i = 0; i < j->plan.gpus.n; i++) {
        const double t = j->plan.gpus.t[i];
        if (!dls_ef_has_step(future, t)) {
            dls_ef_put_step(p, future, t, dls_ef_value_before(future, t, p->gpus));
        }
        dls_ef_subtract(future, t, j->plan.end, last - j->plan.gpus.v[i]);
        last = j->plan.gpus.v[i];
    }
    dls_ef_merge(future);
    dls_ef_make(p, j, now, future, j->next, &j->offer, &j->offer_free);
}

static bool can_grow(const dls_ef_job *j, int32_t spare)
{
    const int32_t next = dls_ef_up(j, j->gpus);
    return next > j->gpus && next - j->gpus <= spare;
}

/* What the next level is worth. A job without GPUs comes first, its plan when it is its turn. */
static void judge(dls_ef_planner *p, dls_ef_job *j, int32_t spare, double now)
{
    j->next = dls_ef_up(j, j->gpus);
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
        } else if (first || dls_ef_up(job[k], job[k]->gpus) > job[k]->gpus) {
            judge(p, job[k], spare, now);
        }
    }
}

void dls_ef_spread(dls_ef_planner *p, dls_ef_job **job, size_t n, double now_s)
{
    int32_t spare = p->gpus;
    bool grows = false;
    for (size_t i = 0; i < n; i++) {
        spare -= job[i]->gpus;
    }
    for (size_t i = 0; i < n && !grows; i++) {
        grows = can_grow(job[i], spare);
    }
    if (grows && !p->upstream) { /* what it is worth depends on the plans of all */
        dls_ef_plan_all(p, job, n, now_s, true);
    }
    p->n_done = 0;
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
