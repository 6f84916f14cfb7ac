/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The event loop of the dlas family; see queues.h for the order inside the queues.
 */
#include "tiresias/queues.h"

#include <stdlib.h>
#include <string.h>

#define SHARE_PERIOD_S 600

static dls_status init(void *state, dls_tir *s, dls_error *err)
{
    dls_tir_queues *q = state;
    const size_t n = (size_t)s->n;
    const char *schedule = s->p->schedule;
    *q = (dls_tir_queues){.s = s, .limit_s = {3250, 7200}, .n_limits = 2};
    q->by_gpu = strcmp(schedule, "dlas") != 0;
    q->per_size = strcmp(schedule, "multi-dlas-gpu") == 0;
    q->jump_s = q->tick_s = DLS_TIR_NEVER;
    q->run_front = -1;
    q->wait_front = -1;
    if (q->per_size) {
        q->limit_s[0] = 3600;
        q->n_limits = 1;
        q->tick_s = SHARE_PERIOD_S;
    }
    s->preemptive = true;
    const size_t classes = (size_t)q->n_limits * (size_t)s->n_sizes;
    q->queue = dls_tir_array(s, n, sizeof *q->queue);
    q->listed = dls_tir_array(s, n, sizeof *q->listed);
    q->tie = dls_tir_array(s, n, sizeof *q->tie);
    q->standing = dls_tir_array(s, n, sizeof *q->standing);
    q->passed = dls_tir_array(s, n, sizeof *q->passed);
    q->ending = dls_tir_array(s, n, sizeof *q->ending);
    q->overdue = dls_tir_array(s, n, sizeof *q->overdue);
    q->moves = dls_tir_array(s, n, sizeof *q->moves);
    q->joins = dls_tir_array(s, n, sizeof *q->joins);
    q->class_of = dls_tir_array(s, classes, sizeof *q->class_of);
    q->first_origin_s = dls_tir_array(s, classes, sizeof *q->first_origin_s);
    q->stay_s = dls_tir_array(s, classes, sizeof *q->stay_s);
    DLS_TRY(dls_tir_arrays_got(s, err));
    for (size_t i = 0; i < classes; i++) {
        const int64_t gpus = q->by_gpu ? s->size[i % (size_t)s->n_sizes] : 1;
        q->class_of[i] = (dls_order_set)DLS_ORDER_SET_EMPTY;
        q->first_origin_s[i] = DLS_TIR_NEVER;
        q->stay_s[i] = (q->limit_s[i / (size_t)s->n_sizes] + gpus - 1) / gpus;
    }
    if (s->samples.n > 0) {
        DLS_TRY(dls_tir_samples_rank(&s->samples, err));
        for (int i = 0; i < 4; i++) {
            DLS_TRY(dls_evq_init(&q->crossings[i], n, err));
        }
    }
    DLS_TRY(dls_tir_select_init(&q->sel, s, q->per_size, err));
    DLS_TRY(dls_evq_init(&q->promotions, n, err));
    return dls_order_init(&q->origins, s->n, (int32_t)classes, err);
}

static void fini(void *state)
{
    dls_tir_queues *q = state;
    dls_order_fini(&q->origins);
    dls_evq_fini(&q->promotions);
    for (int i = 0; i < 4; i++) {
        dls_evq_fini(&q->crossings[i]);
    }
    dls_tir_select_fini(&q->sel);
}

static int32_t class_index(const dls_tir_queues *q, int32_t j)
{
    return q->queue[j] * q->s->n_sizes + q->s->job[j].cls;
}

/* Running in a queue that has a limit: stands in its class by origin. */
static void class_add(dls_tir_queues *q, int32_t j)
{
    if (q->queue[j] < q->n_limits) {
        const dls_tir_job *job = &q->s->job[j];
        const dls_rank rank = {.key = job->anchor_s - job->executed_s, .tie = j};
        const int32_t i = class_index(q, j);
        dls_order_insert(&q->origins, &q->class_of[i], j, rank, 0, 0);
        if (rank.key < q->first_origin_s[i]) {
            q->first_origin_s[i] = rank.key;
        }
    }
}

static void class_drop(dls_tir_queues *q, int32_t j)
{
    if (dls_order_has(&q->origins, j)) {
        const int32_t i = class_index(q, j);
        dls_order_remove(&q->origins, &q->class_of[i], j);
        if (q->origins.member[j].rank.key == q->first_origin_s[i]) {
            const int32_t first = dls_order_first(&q->origins, q->class_of[i]);
            q->first_origin_s[i] =
                first == DLS_NONE ? DLS_TIR_NEVER : q->origins.member[first].rank.key;
        }
    }
}

static void forget(dls_tir_queues *q, int32_t j)
{
    class_drop(q, j);
    dls_evq_cancel(&q->promotions, (uint32_t)j);
    if (q->s->samples.order) {
        dls_tir_queues_unwatch(q, j);
    }
}

static void finish(dls_tir_queues *q, int32_t j)
{
    forget(q, j);
    q->queue_gpus[q->queue[j]] -= q->s->job[j].gpus;
    dls_tir_select_drop(&q->sel, q->s, j);
    dls_tir_finish(q->s, j);
}

/* Ends and arrivals of this instant. An arrival event ends the list that was written into it, right
 * or not by now; a plain end event ends what is due. */
static void end_and_arrive(dls_tir_queues *q, int64_t arrival_s)
{
    dls_tir *s = q->s;
    if (s->now_s == arrival_s) {
        for (int32_t i = 0; i < q->n_ending; i++) {
            finish(q, q->ending[i]);
        }
        q->n_ending = 0;
        while (dls_tir_next_arrival(s) == s->now_s) {
            const int32_t j = dls_tir_arrive(s);
            q->queue_gpus[0] += s->job[j].gpus;
            q->tie[j] = DLS_TIR_WAIT_TIE + q->wait_back++;
            q->standing[j] = s->samples.order ? s->samples.order[0] : 0;
            dls_tir_select_add(&q->sel, s, j, dls_tir_queues_rank(q, j));
        }
    } else {
        const int32_t n = dls_tir_due(s, s->now_s, s->due);
        for (int32_t i = 0; i < n; i++) {
            finish(q, s->due[i]);
        }
    }
}

/* Who is to be demoted or promoted now, in order of arrival. */
static void collect_moves(dls_tir_queues *q)
{
    const dls_tir *s = q->s;
    q->n_moves = 0;
    for (int32_t i = 0; i < q->n_limits * s->n_sizes; i++) {
        /* An empty class's first origin is beyond any time. */
        while (q->first_origin_s[i] <= s->now_s - q->stay_s[i]) {
            const int32_t j = dls_order_first(&q->origins, q->class_of[i]);
            class_drop(q, j);
            q->moves[q->n_moves++] = j;
        }
    }
    while (!dls_evq_empty(&q->promotions) && dls_evq_top(&q->promotions).time_us <= s->now_s) {
        q->moves[q->n_moves++] = (int32_t)dls_event_slot(dls_evq_pop(&q->promotions));
    }
    for (int32_t i = 0; i < q->n_overdue; i++) {
        if (s->job[q->overdue[i]].status == DLS_JOB_PENDING) {
            q->moves[q->n_moves++] = q->overdue[i];
        }
    }
    q->n_overdue = 0;
    qsort(q->moves, (size_t)q->n_moves, sizeof *q->moves, dls_tir_compare_i32);
}

static dls_status apply_moves(dls_tir_queues *q, dls_error *err)
{
    dls_tir *s = q->s;
    for (int32_t i = 0; i < q->n_moves; i++) {
        const int32_t j = q->moves[i];
        dls_tir_job *job = &s->job[j];
        q->tie[j] = DLS_TIR_WAIT_TIE + q->wait_back++;
        q->queue_gpus[q->queue[j]] -= job->gpus;
        if (job->status == DLS_JOB_RUNNING) {
            if (s->samples.order) {
                dls_tir_queues_unwatch(q, j);
            }
            q->queue[j]++;
            class_add(q, j);
            if (s->samples.order) {
                DLS_TRY(dls_tir_queues_watch(q, j, err));
                q->standing[j] = s->samples.order[q->passed[j]];
            }
        } else {
            q->queue[j] = 0;
            job->executed_s = job->waited_s = 0;
            job->promotes++;
        }
        q->queue_gpus[q->queue[j]] += job->gpus;
        dls_tir_select_rerank(&q->sel, s, j, dls_tir_queues_rank(q, j));
    }
    return DLS_OK;
}

/* Watch a job that has just been started or suspended. */
static dls_status follow(dls_tir_queues *q, int32_t j, dls_error *err)
{
    const dls_tir *s = q->s;
    const dls_tir_job *job = &s->job[j];
    if (job->status == DLS_JOB_RUNNING) {
        dls_evq_cancel(&q->promotions, (uint32_t)j);
        class_add(q, j);
        if (s->samples.order) {
            DLS_TRY(dls_tir_queues_watch(q, j, err));
        }
        return DLS_OK;
    }
    forget(q, j);
    if (s->knob2 > 0 && q->queue[j] > 0 && job->executed_s > 0) {
        const int64_t wait_s = job->executed_s * s->knob2 / 2 - job->waited_s;
        if (wait_s <= 0) {
            q->overdue[q->n_overdue++] = j;
            return DLS_OK;
        }
        return dls_evq_set(&q->promotions, (uint32_t)j, s->now_s + wait_s, DLS_EV_TICK, err);
    }
    return DLS_OK;
}

/* After the selection: running jobs before waiting ones, inside every queue. The selection keeps
 * the two in sets of their own, in which nobody changes places. */
static dls_status repartition(dls_tir_queues *q, dls_error *err)
{
    const dls_tir *s = q->s;
    int32_t n = 0, suspended = 0;
    int32_t *late = q->joins;
    for (int32_t i = 0; i < q->sel.n_flips; i++) {
        const int32_t j = q->sel.flip[i];
        if (s->job[j].status == DLS_JOB_RUNNING) {
            q->listed[j] = true; /* promoted and started: must not come twice */
            late[n++] = j;
        } else {
            suspended += q->tie[j] < 0;
        }
    }
    for (int32_t i = 0; i < q->n_moves; i++) {
        const int32_t j = q->moves[i];
        if (s->job[j].status == DLS_JOB_RUNNING && !q->listed[j]) {
            late[n++] = j;
        }
    }
    dls_tir_select_sort(&q->sel, late, n);
    for (int32_t i = 0; i < n; i++) {
        q->listed[late[i]] = false;
        q->tie[late[i]] = q->run_back++ - DLS_TIR_WAIT_TIE;
        dls_tir_select_rename(&q->sel, late[i], dls_tir_queues_rank(q, late[i]));
    }
    q->wait_front -= suspended;
    int64_t tie = DLS_TIR_WAIT_TIE + q->wait_front;
    for (int32_t i = 0; i < q->sel.n_flips; i++) {
        const int32_t j = q->sel.flip[i];
        if (s->job[j].status == DLS_JOB_PENDING && q->tie[j] < 0) {
            q->tie[j] = ++tie;
            dls_tir_select_rename(&q->sel, j, dls_tir_queues_rank(q, j));
        }
        DLS_TRY(follow(q, j, err));
    }
    return DLS_OK;
}

/* The next instant at which the original looks again although nothing ends or arrives. */
static void next_jump(dls_tir_queues *q)
{
    const dls_tir *s = q->s;
    q->jump_s = dls_evq_empty(&q->promotions) ? DLS_TIR_NEVER : dls_evq_top(&q->promotions).time_us;
    for (int32_t i = 0; i < q->n_limits * s->n_sizes; i++) {
        if (q->first_origin_s[i] == DLS_TIR_NEVER) {
            continue;
        }
        /* The original divides what is left in seconds by the GPUs, rounding down (Python 3: up).
         * Where that gives 0 before the job is due, it would stand still for ever. */
        const int64_t executed_s = s->now_s - q->first_origin_s[i];
        const int64_t gpus = q->by_gpu ? s->size[i % s->n_sizes] : 1;
        const int64_t left_s = q->limit_s[i / s->n_sizes] - executed_s;
        int64_t step_s = (left_s + (s->p->python3 ? gpus - 1 : 0)) / gpus;
        if (step_s == 0 && executed_s < q->stay_s[i]) {
            step_s = 1;
        }
        if (s->now_s + step_s < q->jump_s) {
            q->jump_s = s->now_s + step_s;
        }
    }
}

static dls_status event(void *state, dls_error *err)
{
    dls_tir_queues *q = state;
    dls_tir *s = q->s;
    const int64_t arrival_s = dls_tir_next_arrival(s), end_s = dls_tir_next_end(s);
    const int64_t extra_s = q->jump_s < q->tick_s ? q->jump_s : q->tick_s;
    const int64_t changes = s->changes;
    bool share = false, crossed = false;
    if (end_s == arrival_s) {
        q->n_ending = dls_tir_due(s, end_s, q->ending);
    }
    int64_t now_s = arrival_s < end_s ? arrival_s : end_s;
    if (now_s > extra_s) {
        share = q->tick_s < q->jump_s;
        DLS_TRY(dls_tir_clock(s, extra_s, err));
    } else {
        DLS_TRY(dls_tir_clock(s, now_s, err));
        end_and_arrive(q, arrival_s);
    }
    const bool quiet = s->changes == changes;
    collect_moves(q);
    DLS_TRY(apply_moves(q, err));
    if (s->samples.order) {
        DLS_TRY(dls_tir_queues_cross(q, &crossed, err));
    }
    if (share) {
        dls_tir_queues_share(q);
        q->tick_s += SHARE_PERIOD_S;
    }
    if (!quiet || share || crossed || q->n_moves > 0) {
        DLS_TRY(dls_tir_select_pass(&q->sel, s, err));
        DLS_TRY(repartition(q, err));
    }
    next_jump(q);
    return dls_tir_event(s, err);
}

const dls_tir_family dls_tir_family_queues = {sizeof(dls_tir_queues), init, event, fini};
