/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * fifo, fjf and lpjf: jobs run to their end once started.
 *
 * Waiting jobs are kept in one list per GPU count, in order of arrival. Free resources only shrink
 * within a pass, so a size that did not fit once does not fit again: a pass asks each size at most
 * once more than it starts jobs of it.
 */
#include "tiresias/yarn.h"

#include <stdlib.h>
#include <string.h>

typedef struct batch {
    dls_tir *s;
    dls_tir_yarn yarn;
    bool by_yarn;
    bool strict; /* fifo, lpjf: the first misfit ends the pass */
    bool skips;  /* lpjf: the job behind a start is not looked at */
    int64_t free_gpus;
    int32_t *next, *prev; /* [n] the waiting jobs, in order of arrival */
    int32_t first, last;
    int32_t *head, *tail, *after; /* [n_sizes], [n_sizes], [n]: by size */
    bool *misfit;                 /* [n_sizes] in this pass or since the last release */
} batch;

static dls_status init(void *state, dls_tir *s, dls_error *err)
{
    batch *b = state;
    const size_t n = (size_t)s->n, m = (size_t)s->n_sizes;
    *b = (batch){.s = s, .first = -1, .last = -1, .free_gpus = s->total_gpus};
    b->by_yarn = strcmp(s->p->scheme, "yarn") == 0;
    b->strict = strcmp(s->p->schedule, "fjf") != 0;
    b->skips = strcmp(s->p->schedule, "lpjf") == 0;
    b->next = dls_tir_array(s, n, sizeof *b->next);
    b->prev = dls_tir_array(s, n, sizeof *b->prev);
    b->after = dls_tir_array(s, n, sizeof *b->after);
    b->head = dls_tir_array(s, m, sizeof *b->head);
    b->tail = dls_tir_array(s, m, sizeof *b->tail);
    b->misfit = dls_tir_array(s, m, sizeof *b->misfit);
    DLS_TRY(dls_tir_arrays_got(s, err));
    for (size_t c = 0; c < m; c++) {
        b->head[c] = b->tail[c] = -1;
    }
    if (b->by_yarn) {
        DLS_TRY(dls_tir_yarn_init(&b->yarn, s, err));
        s->node = b->yarn.node;
    }
    return DLS_OK;
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
    *started = b->by_yarn ? dls_tir_yarn_place(&b->yarn, s, j) : s->job[j].gpus <= b->free_gpus;
    if (!*started) {
        return DLS_OK;
    }
    b->free_gpus -= s->job[j].gpus;
    dequeue(b, j);
    DLS_TRY(dls_tir_start(s, j, err));
    /* An end at this very event is lost there: a job of no duration never ends. */
    if (s->job[j].duration_s == 0) {
        dls_evq_cancel(&s->ends, (uint32_t)j);
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

/* Within a pass jobs start in order of arrival. */
static int compare_start(const void *a, const void *b, void *jobs)
{
    const dls_tir_job *job = jobs;
    const int32_t i = *(const int32_t *)a, j = *(const int32_t *)b;
    const int order = DLS_ORDER(job[i].start_s, job[j].start_s);
    return order ? order : DLS_ORDER(i, j);
}

static dls_status event(void *state, dls_error *err)
{
    batch *b = state;
    dls_tir *s = b->s;
    DLS_TRY(dls_tir_advance(s, err));
    const int32_t n = dls_tir_due(s, s->now_s, s->due);
    qsort_r(s->due, (size_t)n, sizeof *s->due, compare_start, s->job);
    for (int32_t i = 0; i < n; i++) {
        const int32_t j = s->due[i];
        dls_tir_finish(s, j);
        b->free_gpus += s->job[j].gpus;
        if (b->by_yarn) {
            dls_tir_yarn_release(&b->yarn, j);
        }
        memset(b->misfit, 0, (size_t)s->n_sizes * sizeof *b->misfit);
    }
    while (dls_tir_next_arrival(s) == s->now_s) {
        enqueue(b, dls_tir_arrive(s));
    }
    DLS_TRY(b->strict ? pass_strict(b, err) : pass_fit(b, err));
    return dls_tir_event(s, err);
}

const dls_tir_family dls_tir_family_batch = {sizeof(batch), init, event, NULL};
