/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * sjf and shortest-expected by count: preemptive, keys that do not age.
 *
 * The original sorts its list stably at every event. sjf's key (GPUs) never changes, so ties stay
 * in order of arrival. shortest-expected writes the estimate of the last running job of the list to
 * the job that arrived last, whether it has ended or not; among equals that job then stands before
 * those it came to from a smaller key and behind those it came to from a larger one.
 */
#include "base/alloc.h"
#include "tiresias/gittins.h"
#include "tiresias/select.h"

#include <stdlib.h>
#include <string.h>

typedef struct sorted {
    dls_tir *s;
    dls_tir_select sel;
    dls_evq ends; /* in seconds */
    int32_t *due; /* [n] scratch: jobs that end now */
    bool expected;
    dls_tir_samples samples;
    int32_t newest;      /* shortest-expected: the last job of the latest arrival, -1 */
    int64_t front, back; /* next ties */
} sorted;

static dls_status init(sorted *x, dls_tir *s, dls_error *err)
{
    *x = (sorted){.s = s, .newest = -1, .front = -1};
    s->preemptive = true;
    x->expected = strcmp(s->p->schedule, "shortest-expected") == 0;
    x->due = dls_alloc_zero((size_t)s->n, sizeof *x->due);
    if (!x->due) {
        return dls_nomem(err, "queues", (size_t)s->n * sizeof *x->due);
    }
    if (x->expected) {
        DLS_TRY(
            dls_tir_samples_init(&x->samples, s->p->samples, s->p->n_samples, s->p->python3, err));
    }
    DLS_TRY(dls_tir_select_init(&x->sel, s, false, err));
    return dls_evq_init(&x->ends, (size_t)s->n, err);
}

static void fini(sorted *x)
{
    dls_evq_fini(&x->ends);
    dls_tir_select_fini(&x->sel);
    dls_tir_samples_fini(&x->samples);
    dls_free(x->due);
}

static int compare_rank(const void *a, const void *b, void *nodes)
{
    const dls_order_node *node = nodes;
    return dls_rank_cmp(&node[*(const int32_t *)a].rank, &node[*(const int32_t *)b].rank);
}

/* Ends of this instant, in list order. */
static void end_jobs(sorted *x)
{
    dls_tir *s = x->s;
    size_t n = 0;
    while (!dls_evq_empty(&x->ends) && dls_evq_top(&x->ends).time_us == s->now_s) {
        x->due[n++] = (int32_t)dls_event_slot(dls_evq_pop(&x->ends));
    }
    qsort_r(x->due, n, sizeof *x->due, compare_rank, x->sel.table.node);
    for (size_t i = 0; i < n; i++) {
        dls_tir_select_drop(&x->sel, s, x->due[i]);
        dls_tir_finish(s, x->due[i]);
    }
}

static void arrive(sorted *x)
{
    dls_tir *s = x->s;
    const int32_t j = dls_tir_arrive(s);
    dls_rank rank = {.key = s->job[j].gpus, .tie = x->back++};
    if (x->expected) {
        rank.key = dls_tir_samples_expected(&x->samples, 0);
        x->newest = j;
    }
    dls_tir_select_add(&x->sel, s, j, rank);
}

/* The estimate goes to the wrong job; fresh: it arrived at this event and is the list's last. */
static void misplace_estimate(sorted *x, bool fresh)
{
    dls_tir *s = x->s;
    const int32_t last = dls_order_last(&x->sel.table, x->sel.group[0].running);
    const int32_t j = x->newest;
    if (last == DLS_NONE || j < 0 || s->job[j].status == DLS_JOB_FINISHED) {
        return;
    }
    const int64_t key = dls_tir_samples_expected(&x->samples, dls_tir_service_s(s, last));
    dls_rank rank = x->sel.table.node[j].rank;
    if (key == rank.key) {
        return;
    }
    rank.tie = key > rank.key && !fresh ? x->front-- : x->back++;
    rank.key = key;
    dls_tir_select_rerank(&x->sel, s, j, rank);
}

static dls_status event(sorted *x, dls_error *err)
{
    dls_tir *s = x->s;
    const int64_t arrival_s = dls_tir_next_arrival(s);
    const int64_t end_s = dls_evq_empty(&x->ends) ? DLS_TIR_NEVER : dls_evq_top(&x->ends).time_us;
    DLS_TRY(dls_tir_clock(s, arrival_s < end_s ? arrival_s : end_s, err));
    end_jobs(x);
    while (dls_tir_next_arrival(s) == s->now_s) {
        arrive(x);
    }
    if (x->expected) {
        misplace_estimate(x, arrival_s == s->now_s);
    }
    DLS_TRY(dls_tir_select_pass(&x->sel, s, err));
    for (int32_t i = 0; i < x->sel.n_flips; i++) {
        const int32_t j = x->sel.flip[i];
        if (s->job[j].status == DLS_JOB_RUNNING) {
            DLS_TRY(dls_evq_set(&x->ends, (uint32_t)j, dls_tir_end_s(s, j), DLS_EV_FINISH, err));
        } else {
            dls_evq_cancel(&x->ends, (uint32_t)j);
        }
    }
    return dls_tir_event(s, err);
}

dls_status dls_tir_run_sorted(dls_tir *s, dls_error *err)
{
    sorted x;
    dls_status status = init(&x, s, err);
    while (status == DLS_OK && !s->stop && (s->next < s->n || !dls_evq_empty(&x.ends))) {
        status = event(&x, err);
    }
    if (status == DLS_OK) {
        s->rec->peak_queue = x.ends.peak;
    }
    fini(&x);
    return status;
}
