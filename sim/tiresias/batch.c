/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * fifo, fjf and lpjf: jobs run to their end once started.
 *
 * Waiting jobs are kept in one list per GPU count, in order of arrival. Free resources only shrink
 * within a pass, so a size that did not fit once does not fit again: a pass asks each size at most
 * once more than it starts jobs of it.
 */
#include "base/alloc.h"
#include "tiresias/core.h"
#include "tiresias/yarn.h"

#include <string.h>

typedef struct batch {
    dls_tir *s;
    dls_tir_yarn yarn;
    bool by_yarn;
    bool strict; /* fifo, lpjf: the first misfit ends the pass */
    bool skips;  /* lpjf: the job behind a start is not looked at */
    int64_t free_gpus;
    dls_evq ends;     /* in seconds; slot: how many jobs started before */
    int32_t *started; /* [n] job of each slot */
    int32_t n_started;
    int32_t *next, *prev; /* [n] the waiting jobs, in order of arrival */
    int32_t first, last;
    int32_t *head, *tail, *after; /* [n_sizes], [n_sizes], [n]: by size */
    bool *misfit;                 /* [n_sizes] in this pass or since the last release */
} batch;

static dls_status init(batch *b, dls_tir *s, dls_error *err)
{
    const size_t n = (size_t)s->n, m = (size_t)s->n_sizes;
    *b = (batch){.s = s, .first = -1, .last = -1, .free_gpus = s->total_gpus};
    b->by_yarn = strcmp(s->p->scheme, "yarn") == 0;
    b->strict = strcmp(s->p->schedule, "fjf") != 0;
    b->skips = strcmp(s->p->schedule, "lpjf") == 0;
    b->started = dls_alloc(n * sizeof *b->started);
    b->next = dls_alloc(n * sizeof *b->next);
    b->prev = dls_alloc(n * sizeof *b->prev);
    b->after = dls_alloc(n * sizeof *b->after);
    b->head = dls_alloc(m * sizeof *b->head);
    b->tail = dls_alloc(m * sizeof *b->tail);
    b->misfit = dls_alloc_zero(m, sizeof *b->misfit);
    if (!b->started || !b->next || !b->prev || !b->after || !b->head || !b->tail || !b->misfit) {
        return dls_nomem(err, "waiting lists", n * 16);
    }
    for (size_t c = 0; c < m; c++) {
        b->head[c] = b->tail[c] = -1;
    }
    if (b->by_yarn) {
        DLS_TRY(dls_tir_yarn_init(&b->yarn, s, err));
        s->node = b->yarn.node;
        s->counts_gpus = false;
    }
    return dls_evq_init(&b->ends, n, err);
}

static void fini(batch *b)
{
    dls_evq_fini(&b->ends);
    dls_tir_yarn_fini(&b->yarn);
    dls_free(b->started);
    dls_free(b->next);
    dls_free(b->prev);
    dls_free(b->after);
    dls_free(b->head);
    dls_free(b->tail);
    dls_free(b->misfit);
}

static void enqueue(batch *b, int32_t j)
{
    const int32_t c = b->s->job[j].cls;
    b->next[j] = -1;
    b->prev[j] = b->last;
    *(b->last < 0 ? &b->first : &b->next[b->last]) = j;
    b->last = j;
    b->after[j] = -1;
    *(b->head[c] < 0 ? &b->head[c] : &b->after[b->tail[c]]) = j;
    b->tail[c] = j;
}

/* Unlink from the list of all; fjf also takes the head of the size's list. */
static void dequeue(batch *b, int32_t j)
{
    const int32_t c = b->s->job[j].cls, before = b->prev[j], behind = b->next[j];
    *(before < 0 ? &b->first : &b->next[before]) = behind;
    *(behind < 0 ? &b->last : &b->prev[behind]) = before;
    if (!b->strict) {
        b->head[c] = b->after[j];
    }
}

static dls_status try_start(batch *b, int32_t j, bool *started, dls_error *err)
{
    dls_tir *s = b->s;
    s->rec->positions++;
    *started = b->by_yarn ? dls_tir_yarn_place(&b->yarn, s, j) : s->job[j].gpus <= b->free_gpus;
    if (!*started) {
        return DLS_OK;
    }
    b->free_gpus -= s->job[j].gpus;
    dequeue(b, j);
    DLS_TRY(dls_tir_start(s, j, err));
    if (b->by_yarn) {
        DLS_TRY(dls_tir_yarn_seat(&b->yarn, s, j, err));
    }
    /* An end at this very event is lost there: a job of no duration never ends. */
    if (s->job[j].duration_s > 0) {
        const int32_t slot = b->n_started++;
        b->started[slot] = j;
        DLS_TRY(dls_evq_set(&b->ends, (uint32_t)slot, s->now_s + s->job[j].duration_s,
                            DLS_EV_FINISH, err));
    }
    return DLS_OK;
}

static dls_status pass_strict(batch *b, dls_error *err)
{
    int32_t j = b->first;
    while (j >= 0 && b->free_gpus > 0) {
        int32_t behind = b->next[j];
        bool started;
        DLS_TRY(try_start(b, j, &started, err));
        if (!started) {
            return DLS_OK;
        }
        if (b->skips && behind >= 0) {
            behind = b->next[behind];
        }
        j = behind;
    }
    return DLS_OK;
}

static dls_status pass_fit(batch *b, dls_error *err)
{
    const dls_tir *s = b->s;
    while (b->free_gpus > 0) {
        int32_t j = -1;
        for (int32_t c = 0; c < s->n_sizes && s->size[c] <= b->free_gpus; c++) {
            const int32_t head = b->head[c];
            if (head >= 0 && !b->misfit[c] && (j < 0 || head < j)) {
                j = head;
            }
        }
        if (j < 0) {
            return DLS_OK;
        }
        bool started;
        DLS_TRY(try_start(b, j, &started, err));
        b->misfit[s->job[j].cls] = !started;
    }
    return DLS_OK;
}

static dls_status event(batch *b, dls_error *err)
{
    dls_tir *s = b->s;
    const int64_t arrival_s = dls_tir_next_arrival(s);
    const int64_t end_s = dls_evq_empty(&b->ends) ? DLS_TIR_NEVER : dls_evq_top(&b->ends).time_us;
    DLS_TRY(dls_tir_clock(s, arrival_s < end_s ? arrival_s : end_s, err));
    while (!dls_evq_empty(&b->ends) && dls_evq_top(&b->ends).time_us == s->now_s) {
        const int32_t j = b->started[dls_event_slot(dls_evq_pop(&b->ends))];
        dls_tir_finish(s, j);
        b->free_gpus += s->job[j].gpus;
        if (b->by_yarn) {
            dls_tir_yarn_release(&b->yarn, s, j);
        }
        memset(b->misfit, 0, (size_t)s->n_sizes * sizeof *b->misfit);
    }
    while (dls_tir_next_arrival(s) == s->now_s) {
        enqueue(b, dls_tir_arrive(s));
    }
    DLS_TRY(b->strict ? pass_strict(b, err) : pass_fit(b, err));
    s->busy_nodes = b->yarn.busy_nodes;
    s->full_nodes = b->yarn.full_nodes;
    return dls_tir_event(s, err);
}

dls_status dls_tir_run_batch(dls_tir *s, dls_error *err)
{
    batch b;
    dls_status status = init(&b, s, err);
    while (status == DLS_OK && !s->stop && (s->next < s->n || !dls_evq_empty(&b.ends))) {
        status = event(&b, err);
    }
    for (int32_t j = 0; status == DLS_OK && b.by_yarn && j < s->n; j++) {
        dls_tir_yarn_leave(&b.yarn, s, j);
    }
    if (status == DLS_OK) {
        s->rec->peak_queue = b.ends.peak;
    }
    fini(&b);
    return status;
}
