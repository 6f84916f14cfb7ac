/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The clock of the published ElasticFlow simulator (replay.h).
 *
 *      event = time, arrivals, ends
 *      progress ──> ends ──> admission, plans, spare GPUs ──> seats ──> overheads ──> put off what
 *      comes within a slot ──> next event
 */
#include "elasticflow/replay.h"

#include "base/alloc.h"
#include "elasticflow/seats.h"

#include <math.h>
#include <string.h>

typedef struct run_job {
    dls_ef_job ef; /* first: lists of these are lists of ef */
    double submit, end; /* end: that of the plan, moved by overheads; then the recorded one */
    double overhead, old_end;
    bool planned, waiting, seated, cached;
} run_job;

typedef struct jobs {
    int32_t *id;
    size_t n, cap;
} jobs;

typedef struct event {
    double t;
    jobs starts, ends;
} event;

typedef struct replay {
    const dls_elasticflow_params *p;
    dls_record *rec;
    dls_ef_planner plans;
    dls_ef_seats seats;
    run_job *job;
    size_t n_jobs;
    event *ev; /* [n_ev] ascending but between two steps */
    size_t n_ev, cap_ev;
    dls_ef_job **list; /* [n] runnable, in the order that the published program keeps */
    dls_ef_job **trial;
    bool *cached;
    dls_elasticflow_share *share;
    size_t n;
    double now, dt;
    int64_t count;
    dls_error *err;
} replay;

static run_job *of(dls_ef_job *j)
{
    return (run_job *)j;
}

/* ---- events ---------------------------------------------------------------------------------- */

static size_t find_event(const replay *r, double t)
{
    size_t i = 0;
    while (i < r->n_ev && r->ev[i].t != t) {
        i++;
    }
    return i;
}

static dls_status event_at(replay *r, double t, event **out)
{
    const size_t i = find_event(r, t);
    if (i == r->n_ev) {
        DLS_TRY(dls_grow(&r->ev, &r->cap_ev, r->n_ev + 1, sizeof *r->ev, r->err));
        r->ev[r->n_ev++] = (event){.t = t};
    }
    *out = &r->ev[i];
    return DLS_OK;
}

static void event_fini(event *e)
{
    DLS_FREE_ALL(e->starts.id, e->ends.id);
}

static void remove_event(replay *r, size_t i)
{
    event_fini(&r->ev[i]);
    r->n_ev--;
    memmove(r->ev + i, r->ev + i + 1, (r->n_ev - i) * sizeof *r->ev);
}

static void sort_events(replay *r)
{
    for (size_t i = 1; i < r->n_ev; i++) {
        const event x = r->ev[i];
        size_t k = i;
        for (; k > 0 && r->ev[k - 1].t > x.t; k--) {
            r->ev[k] = r->ev[k - 1];
        }
        r->ev[k] = x;
    }
}

static size_t index_of(const jobs *list, int32_t id)
{
    size_t i = 0;
    while (i < list->n && list->id[i] != id) {
        i++;
    }
    return i;
}

static dls_status append(jobs *list, int32_t id, dls_error *err)
{
    DLS_TRY(dls_grow(&list->id, &list->cap, list->n + 1, sizeof *list->id, err));
    list->id[list->n++] = id;
    return DLS_OK;
}

static dls_status add_end(replay *r, const run_job *j)
{
    event *e;
    DLS_TRY(event_at(r, j->end, &e));
    return index_of(&e->ends, j->ef.id) == e->ends.n ? append(&e->ends, j->ef.id, r->err) : DLS_OK;
}

static void drop_end(replay *r, const run_job *j, double at)
{
    const size_t i = find_event(r, at);
    if (i == r->n_ev) {
        return;
    }
    event *e = &r->ev[i];
    const size_t k = index_of(&e->ends, j->ef.id);
    if (k < e->ends.n) {
        e->ends.n--;
        memmove(e->ends.id + k, e->ends.id + k + 1, (e->ends.n - k) * sizeof *e->ends.id);
    }
    if (e->ends.n == 0 && e->starts.n == 0) {
        remove_event(r, i);
    }
}

static dls_status move_end(replay *r, const run_job *j, double old)
{
    if (old == j->end) {
        return DLS_OK;
    }
    drop_end(r, j, old);
    return add_end(r, j);
}

/* ---- what happens ---------------------------------------------------------------------------- */

/* Work since the last event. A job that has less left ends when it is done, as if the overhead had
 * not been; others when their plan says. */
static dls_status advance(replay *r)
{
    for (size_t i = 0; i < r->n; i++) {
        run_job *j = of(r->list[i]);
        if (j->ef.gpus == 0) {
            continue;
        }
        const double speed = dls_ef_speed(&j->ef, j->ef.gpus);
        const double limit = j->planned ? j->ef.plan.real_end : j->end;
        double run = r->dt;
        run -= r->now > limit ? r->now - limit : 0;
        run = run < j->overhead ? 0 : run - j->overhead;
        double work = run * speed;
        if (j->ef.left <= work && j->end > r->now) {
            const double old = j->end, end = r->now - r->dt + ceil(j->ef.left / speed);
            work = (old - r->now + r->dt) * speed;
            j->end = r->now;
            DLS_TRY(move_end(r, j, old));
            j->end = end;
        }
        j->ef.left -= work;
        j->overhead = 0;
    }
    return DLS_OK;
}

static void end_job(replay *r, run_job *j, size_t *late)
{
    size_t k = 0;
    while (r->list[k] != &j->ef) {
        k++;
    }
    r->n--;
    memmove(r->list + k, r->list + k + 1, (r->n - k) * sizeof *r->list);
    j->seated = false;
    r->rec->state[j->ef.id] = DLS_JOB_FINISHED;
    r->rec->end_us[j->ef.id] = llround(j->end * 1e6);
    *late += j->ef.plan.real_end > j->ef.deadline;
}

/* The newcomers of an event come in together, or none of them does. */
static void admit(replay *r, const jobs *starts)
{
    bool in = starts->n > 0;
    if (r->p->edf) {
        for (size_t i = 0; i < starts->n; i++) {
            run_job *j = &r->job[starts->id[i]];
            r->rec->state[j->ef.id] = DLS_JOB_PENDING;
            j->waiting = true;
            r->list[r->n++] = &j->ef;
        }
        return;
    }
    if (in) { /* n counts them only when they are in */
        memcpy(r->trial, r->list, r->n * sizeof *r->list);
        for (size_t i = 0; i < starts->n; i++) {
            r->trial[r->n + i] = &r->job[starts->id[i]].ef;
        }
        in = dls_ef_plan_all(&r->plans, r->trial, r->n + starts->n, r->now, true);
    }
    for (size_t i = 0; i < starts->n; i++) {
        run_job *j = &r->job[starts->id[i]];
        r->rec->state[j->ef.id] = in ? DLS_JOB_PENDING : DLS_JOB_DECLINED;
        j->waiting = in;
        r->n += in;
    }
    if (in) {
        memcpy(r->list, r->trial, r->n * sizeof *r->list);
    } else {
        dls_ef_plan_all(&r->plans, r->list, r->n, r->now, true);
    }
}

static void begin(replay *r, run_job *j)
{
    if (j->waiting && j->ef.gpus > 0) {
        j->waiting = false;
        r->rec->start_us[j->ef.id] = llround(r->now * 1e6);
        r->rec->state[j->ef.id] = DLS_JOB_RUNNING;
    }
}

static double by_deadline(const dls_ef_job *j)
{
    return j->deadline;
}

/* In order of deadlines each job gets the greatest level that is left, until it is done or the next
 * event. */
static dls_status plan_edf(replay *r)
{
    int32_t left = r->plans.gpus;
    dls_ef_sort(r->list, r->n, by_deadline);
    for (size_t i = 0; i < r->n; i++) {
        run_job *j = of(r->list[i]);
        j->ef.gpus = 0;
        for (int32_t k = 0; k < j->ef.n_levels && j->ef.gpus_at[k] <= left; k++) {
            j->ef.gpus = j->ef.gpus_at[k];
        }
        left -= j->ef.gpus;
        j->end = -1;
        if (j->ef.gpus > 0) {
            j->end = r->now + ceil(j->ef.left / dls_ef_speed(&j->ef, j->ef.gpus));
        }
        j->ef.plan.real_end = j->end;
        if (j->old_end != j->end) {
            drop_end(r, j, j->old_end);
        }
        if (j->ef.gpus > 0) {
            DLS_TRY(add_end(r, j));
        }
        begin(r, j);
    }
    return DLS_OK;
}

static dls_status plan(replay *r)
{
    if (r->p->edf) {
        return plan_edf(r);
    }
    for (size_t i = 0; i < r->n; i++) {
        run_job *j = of(r->list[i]);
        j->planned = true;
        j->end = j->ef.plan.end;
        DLS_TRY(move_end(r, j, j->old_end));
        if (j->waiting && j->ef.gpus > 0) {
            DLS_TRY(add_end(r, j));
        }
    }
    dls_ef_spread(&r->plans, r->list, r->n, r->now);
    for (size_t i = 0; i < r->n; i++) {
        run_job *j = of(r->list[i]);
        const double old = j->end;
        j->end = j->ef.plan.end;
        DLS_TRY(move_end(r, j, old));
        begin(r, j);
    }
    return r->plans.failed ? dls_nomem(r->err, "plans", 0) : DLS_OK;
}

static double by_share(const dls_ef_job *j)
{
    return -j->gpus;
}

static dls_status take_seats(replay *r)
{
    dls_ef_sort(r->list, r->n, by_share);
    DLS_TRY(dls_ef_seat_all(&r->seats, r->list, r->n, r->cached, r->err));
    for (size_t i = 0; i < r->n; i++) {
        of(r->list[i])->seated = r->list[i]->gpus > 0;
        of(r->list[i])->cached = r->cached[i];
    }
    return DLS_OK;
}

DLS_BY(by_job, dls_elasticflow_share, DLS_UP(job));

static dls_status report_shares(replay *r)
{
    size_t n = 0;
    for (size_t i = 0; i < r->n && r->p->on_event; i++) {
        if (r->list[i]->gpus > 0) {
            r->share[n++] = (dls_elasticflow_share){r->list[i]->id, r->list[i]->gpus};
        }
    }
    dls_sort(r->share, n, sizeof *r->share, by_job);
    return r->p->on_event ? r->p->on_event(r->p->user, r->now, r->share, n, r->err) : DLS_OK;
}

/* The first change that any plan has coming. */
static double next_change(const replay *r)
{
    double first = (double)INFINITY;
    for (size_t i = 0; i < r->n; i++) {
        const dls_ef_steps *s = &r->list[i]->plan.gpus;
        for (size_t k = 0; k < s->n; k++) {
            if (s->t[k] > r->now) {
                first = fmin(first, s->t[k]);
                break;
            }
        }
    }
    return first;
}

/* Every event restarts all jobs; every so many events (the slot's seconds, as published) all groups
 * are made anew. */
static dls_status pay_overheads(replay *r)
{
    const bool again = r->count > 0 && r->count % r->p->slot_s == 0;
    const bool big = r->plans.gpus >= 256;
    r->count++;
    if (again) {
        dls_ef_seats_forget(&r->seats);
    }
    for (size_t i = 0; i < r->n; i++) {
        run_job *j = of(r->list[i]);
        const double old = j->end;
        j->overhead = 0;
        if (j->ef.gpus > 0 && !r->p->edf) {
            j->overhead = big ? 7 : 2;
            if (!j->cached) {
                j->overhead += (big ? 47 : 27) * again + (log(j->ef.gpus) / log(2) + 1) * 2;
            }
            j->end += j->overhead;
            DLS_TRY(move_end(r, j, old));
        }
    }
    return DLS_OK;
}

/* Nothing happens within a slot of what happened last, unless nothing comes after it. */
static dls_status put_off(replay *r)
{
    const double slot = r->p->slot_s;
    double next = r->ev[0].t;
    while (trunc(next - r->now) <= slot && r->n_ev > 1) {
        event *e = r->ev;
        e[0].t = r->now + slot;
        if (e[1].t - r->now > slot) {
            break;
        }
        next = e[1].t;
        for (size_t i = 0; i < e[1].starts.n; i++) {
            DLS_TRY(append(&e[0].starts, e[1].starts.id[i], r->err));
        }
        for (size_t i = 0; i < e[1].ends.n; i++) {
            DLS_TRY(append(&e[0].ends, e[1].ends.id[i], r->err));
        }
        remove_event(r, 1);
    }
    r->dt = trunc(r->ev[0].t - r->now);
    r->now = r->ev[0].t;
    return DLS_OK;
}

static dls_status to_next(replay *r)
{
    const double change = next_change(r);
    event *unused;
    sort_events(r);
    if (isfinite(change) && (r->n_ev == 0 || change < r->ev[0].t)) {
        DLS_TRY(event_at(r, change, &unused));
        sort_events(r);
    }
    if (r->n_ev == 0) {
        return r->n == 0 ? DLS_OK
                         : dls_fail(r->err, DLS_ERUN, NULL,
                                    "%zu jobs are left and nothing is to happen", r->n);
    }
    DLS_TRY(pay_overheads(r));
    sort_events(r);
    return put_off(r);
}

static dls_status apply_event(replay *r, const event *e, size_t *late)
{
    for (size_t i = 0; i < e->ends.n; i++) {
        run_job *j = &r->job[e->ends.id[i]];
        if (j->seated) {
            end_job(r, j, late);
        }
    }
    for (size_t i = 0; i < r->n; i++) {
        of(r->list[i])->old_end = of(r->list[i])->end;
    }
    admit(r, &e->starts);
    DLS_TRY(plan(r));
    DLS_TRY(take_seats(r));
    DLS_TRY(report_shares(r));
    return to_next(r);
}

static dls_status run(replay *r, size_t *late)
{
    r->now = r->n_ev > 0 ? r->ev[0].t : 0;
    while (r->n_ev > 0) {
        DLS_TRY(advance(r));
        const size_t i = find_event(r, r->now);
        if (i == r->n_ev) {
            return dls_fail(r->err, DLS_ERUN, NULL, "the published program loses its clock here");
        }
        event e = r->ev[i];
        r->ev[i] = (event){0};
        remove_event(r, i);
        r->rec->events++;
        r->rec->end_us_of_run = llround(r->now * 1e6);
        const bool nothing = r->n == 0 && e.ends.n == 0 && e.starts.n == 0;
        const dls_status status = nothing ? DLS_OK : apply_event(r, &e, late);
        event_fini(&e);
        DLS_TRY(status);
    }
    r->rec->complete = true;
    return DLS_OK;
}

/* ---- jobs ------------------------------------------------------------------------------------ */

/* The published program's list of what a model may get at most: where its speed stops growing, but
 * for a few. */
static int32_t most_gpus(const char *gpu, const char *model, int64_t batch)
{
    static const struct {
        const char *gpu, *model;
        int64_t batch; /* -1: any */
        int32_t most;
    } rows[] = {
        {"T4", "bert", -1, 16},          {"T4", "cifar10", -1, 16},
        {"T4", "yolov3", -1, 4},         {"T4", "ncf", -1, 1},
        {"T4", "deepspeech2", 320, 32},  {"A100", "gpt2", 128, 16},
        {"A100", "gpt2", 256, 32},       {"A100", "bert", 64, 8},
        {"A100", "bert", -1, 16},        {"A100", "inception3", 64, 16},
        {"A100", "inception3", 128, 32}, {"A100", "resnet50", 64, 32},
        {"A100", "vgg16", 64, 32},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(rows[i].gpu, gpu) == 0 && strcmp(rows[i].model, model) == 0 &&
            (rows[i].batch < 0 || rows[i].batch == batch)) {
            return rows[i].most;
        }
    }
    return strcmp(gpu, "T4") == 0 || batch > 64 ? 64 : (int32_t)batch;
}

static dls_status read_job(replay *r, const dls_trace *trace, int32_t id)
{
    const dls_trace_columns *c = dls_trace_cols(trace);
    run_job *j = &r->job[id];
    const char *model = dls_trace_model(trace, c->model[id]);
    const int64_t deadline_us = dls_trace_i64(c->deadline_us, (size_t)id);
    const int64_t iterations = dls_trace_i64(c->iterations, (size_t)id);
    const int64_t batch = dls_trace_i64(c->batch, (size_t)id);
    int32_t gpus[DLS_EF_LEVELS];
    double speed[DLS_EF_LEVELS];
    const size_t n = dls_elastic_curve(r->p->speeds, id, 0, gpus, speed, DLS_EF_LEVELS);
    const char *what = iterations < 1    ? "no iterations"
                       : deadline_us < 0 ? "no deadline"
                       : n == 0          ? "a model or a batch that the table does not have"
                       : c->submit_us[id] % DLS_US_PER_S || deadline_us % DLS_US_PER_S
                           ? "a time that is not whole seconds"
                           : NULL;
    if (what) {
        return dls_fail(r->err, DLS_EINPUT, NULL, "job %s has %s", dls_trace_id(trace, (size_t)id),
                        what);
    }
    j->submit = (double)(c->submit_us[id] / DLS_US_PER_S);
    j->ef.id = id;
    j->ef.deadline = (double)(deadline_us / DLS_US_PER_S);
    j->ef.left = (double)iterations;
    const int32_t most = most_gpus(r->p->gpu, model, batch);
    for (size_t i = 0; i < n && i < DLS_EF_LEVELS; i++) {
        if (gpus[i] <= most || r->p->edf) {
            dls_ef_job_level(&j->ef, gpus[i], speed[i]);
        }
    }
    event *e;
    DLS_TRY(event_at(r, j->submit, &e));
    return append(&e->starts, id, r->err);
}

static dls_status create(replay *r, const dls_trace *trace)
{
    const size_t n = r->n_jobs;
    DLS_TRY(DLS_ALLOC_ALL("jobs", r->err, DLS_ARRAY(r->job, n), DLS_ARRAY(r->list, n),
                          DLS_ARRAY(r->trial, n), DLS_ARRAY(r->cached, n), DLS_ARRAY(r->share, n)));
    for (size_t j = 0; j < n; j++) {
        DLS_TRY(read_job(r, trace, (int32_t)j));
    }
    sort_events(r);
    return dls_ef_seats_init(&r->seats, r->p->nodes, r->p->gpus_per_node, r->err);
}

dls_status dls_elasticflow_replay(const dls_elasticflow_params *p, const dls_trace *trace,
                                  dls_record *rec, size_t *late, dls_error *err)
{
    const int32_t gpus = p->nodes * p->gpus_per_node;
    replay r = {.p = p,
                .rec = rec,
                .plans = {.gpus = gpus, .slot_s = p->slot_s, .upstream = true},
                .n_jobs = dls_trace_cols(trace)->n,
                .err = err};
    *late = 0;
    rec->total_gpus = gpus;
    dls_status status = create(&r, trace);
    DLS_THEN(status, run(&r, late));
    for (size_t j = 0; r.job && j < r.n_jobs; j++) {
        dls_ef_job_fini(&r.job[j].ef);
    }
    for (size_t i = 0; i < r.n_ev; i++) {
        event_fini(&r.ev[i]);
    }
    dls_ef_planner_fini(&r.plans);
    dls_ef_seats_fini(&r.seats);
    DLS_FREE_ALL(r.ev, r.job, r.list, r.trial, r.cached, r.share);
    return status;
}
