/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * sjf and shortest-expected by count: preemptive, keys that do not age.
 *
 * The original sorts its list stably at every event. sjf's key (GPUs) never changes, so ties stay
 * in order of arrival. shortest-expected writes the estimate of the last running job of the list to
 * the job that arrived last, whether it has ended or not; among equals that job then stands before
 * those it came to from a smaller key and behind those it came to from a larger one.
 */
#include "tiresias/select.h"

#include <string.h>

typedef struct sorted {
    dls_tir *s;
    dls_tir_select sel;
    bool expected;
    int32_t newest;      /* shortest-expected: the last job of the latest arrival, -1 */
    int64_t front, back; /* next ties */
} sorted;

static dls_status init(void *state, dls_tir *s, dls_error *err)
{
    sorted *x = state;
    *x = (sorted){.s = s, .newest = -1, .front = -1};
    s->preemptive = true;
    x->expected = strcmp(s->p->schedule, "shortest-expected") == 0;
    return dls_tir_select_init(&x->sel, s, false, err);
}

static void fini(void *state)
{
    sorted *x = state;
    dls_tir_select_fini(&x->sel);
}

/* Ends of this instant, in list order. */
static void end_jobs(sorted *x)
{
    dls_tir *s = x->s;
    const int32_t n = dls_tir_due(s, s->now_s, s->due);
    dls_tir_select_sort(&x->sel, s->due, n);
    for (int32_t i = 0; i < n; i++) {
        dls_tir_select_drop(&x->sel, s, s->due[i]);
        dls_tir_finish(s, s->due[i]);
    }
}

static void arrive(sorted *x)
{
    dls_tir *s = x->s;
    const int32_t j = dls_tir_arrive(s);
    dls_rank rank = {.key = s->job[j].gpus, .tie = x->back++};
    if (x->expected) {
        rank.key = dls_tir_samples_expected(&s->samples, 0);
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
    const int64_t key = dls_tir_samples_expected(&s->samples, dls_tir_service_s(s, last));
    dls_rank rank = x->sel.table.member[j].rank;
    if (key == rank.key) {
        return;
    }
    rank.tie = key > rank.key && !fresh ? x->front-- : x->back++;
    rank.key = key;
    dls_tir_select_rerank(&x->sel, s, j, rank);
}

static dls_status event(void *state, dls_error *err)
{
    sorted *x = state;
    dls_tir *s = x->s;
    DLS_TRY(dls_tir_advance(s, err));
    const bool fresh = dls_tir_next_arrival(s) == s->now_s;
    end_jobs(x);
    while (dls_tir_next_arrival(s) == s->now_s) {
        arrive(x);
    }
    if (x->expected) {
        misplace_estimate(x, fresh);
    }
    DLS_TRY(dls_tir_select_pass(&x->sel, s, err));
    return dls_tir_event(s, err);
}

const dls_tir_family dls_tir_family_sorted = {sizeof(sorted), init, event, fini};
