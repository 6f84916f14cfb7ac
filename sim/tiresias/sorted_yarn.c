/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * sjf, shortest, shortest-gpu and shortest-expected with yarn placement, as the original does it:
 * at every event the list is sorted stably, the cluster is emptied and every job placed anew. O(n)
 * per event; a job may move at no cost. Memory is emptied too (the original forgets to, and drops
 * jobs).
 */
#include "base/alloc.h"
#include "tiresias/gittins.h"
#include "tiresias/yarn.h"

#include <string.h>

enum key_kind { KEY_GPUS, KEY_TIME, KEY_GPU_TIME, KEY_EXPECTED };

typedef struct sorted_yarn {
    dls_tir *s;
    dls_tir_yarn yarn;
    dls_tir_samples samples;
    enum key_kind kind;
    int32_t *list; /* [n] jobs that arrived and did not end, in the order of the last sort */
    int32_t n_list;
    int32_t *scratch; /* [n] for the merge */
    int64_t *key;     /* [n] */
    bool *misfit;     /* [n_sizes] of this pass: room only shrinks */
    int32_t newest;
    int64_t end_s; /* earliest predicted end */
} sorted_yarn;

static dls_status init(sorted_yarn *x, dls_tir *s, dls_error *err)
{
    const char *schedule = s->p->schedule;
    const size_t n = (size_t)s->n;
    *x = (sorted_yarn){.s = s, .newest = -1, .end_s = DLS_TIR_NEVER};
    x->kind = strcmp(schedule, "sjf") == 0            ? KEY_GPUS
              : strcmp(schedule, "shortest") == 0     ? KEY_TIME
              : strcmp(schedule, "shortest-gpu") == 0 ? KEY_GPU_TIME
                                                      : KEY_EXPECTED;
    s->preemptive = true;
    s->counts_gpus = false;
    x->list = dls_alloc_zero(n, sizeof *x->list);
    x->scratch = dls_alloc_zero(n, sizeof *x->scratch);
    x->key = dls_alloc_zero(n, sizeof *x->key);
    x->misfit = dls_alloc_zero((size_t)s->n_sizes, sizeof *x->misfit);
    if (!x->list || !x->scratch || !x->key || !x->misfit) {
        return dls_nomem(err, "queues", n * 16);
    }
    if (x->kind == KEY_EXPECTED) {
        DLS_TRY(
            dls_tir_samples_init(&x->samples, s->p->samples, s->p->n_samples, s->p->python3, err));
    }
    DLS_TRY(dls_tir_yarn_init(&x->yarn, s, err));
    s->node = x->yarn.node;
    return DLS_OK;
}

static void fini(sorted_yarn *x)
{
    dls_tir_yarn_fini(&x->yarn);
    dls_tir_samples_fini(&x->samples);
    dls_free(x->list);
    dls_free(x->scratch);
    dls_free(x->key);
    dls_free(x->misfit);
}

static void end_and_arrive(sorted_yarn *x)
{
    dls_tir *s = x->s;
    int32_t kept = 0;
    for (int32_t i = 0; i < x->n_list; i++) {
        const int32_t j = x->list[i];
        if (x->end_s == s->now_s && s->job[j].status == DLS_JOB_RUNNING &&
            dls_tir_end_s(s, j) == s->now_s) {
            dls_tir_finish(s, j);
            dls_tir_yarn_leave(&x->yarn, s, j);
        } else {
            x->list[kept++] = j;
        }
    }
    x->n_list = kept;
    while (dls_tir_next_arrival(s) == s->now_s) {
        const int32_t j = dls_tir_arrive(s);
        x->list[x->n_list++] = x->newest = j;
        if (x->kind == KEY_EXPECTED) {
            x->key[j] = dls_tir_samples_expected(&x->samples, 0);
        }
    }
}

static void refresh_keys(sorted_yarn *x)
{
    const dls_tir *s = x->s;
    for (int32_t i = 0; i < x->n_list; i++) {
        const int32_t j = x->list[i];
        const dls_tir_job *job = &s->job[j];
        const int64_t left_s = job->duration_s - dls_tir_service_s(s, j);
        switch (x->kind) {
        case KEY_GPUS:
            x->key[j] = job->gpus;
            break;
        case KEY_TIME:
            x->key[j] = left_s;
            break;
        case KEY_GPU_TIME:
            x->key[j] = left_s * job->gpus;
            break;
        case KEY_EXPECTED: /* written to the wrong job there */
            if (job->status == DLS_JOB_RUNNING) {
                x->key[x->newest] = dls_tir_samples_expected(&x->samples, dls_tir_service_s(s, j));
            }
            break;
        }
    }
}

/* Bottom-up merge sort by key, stable; a list in order costs one pass. */
static void sort_list(sorted_yarn *x)
{
    bool in_order = true;
    for (int32_t i = 1; i < x->n_list; i++) {
        in_order = in_order && x->key[x->list[i - 1]] <= x->key[x->list[i]];
    }
    for (int32_t width = 1; !in_order && width < x->n_list; width *= 2) {
        for (int32_t begin = 0; begin < x->n_list; begin += 2 * width) {
            const int32_t mid = begin + width < x->n_list ? begin + width : x->n_list;
            const int32_t end = mid + width < x->n_list ? mid + width : x->n_list;
            int32_t a = begin, b = mid;
            for (int32_t k = begin; k < end; k++) {
                const bool left = b == end || (a < mid && x->key[x->list[a]] <= x->key[x->list[b]]);
                x->scratch[k] = x->list[left ? a++ : b++];
            }
        }
        int32_t *swap = x->list;
        x->list = x->scratch;
        x->scratch = swap;
    }
}

static dls_status place_all(sorted_yarn *x, dls_error *err)
{
    dls_tir *s = x->s;
    dls_tir_yarn_clear(&x->yarn);
    memset(x->misfit, 0, (size_t)s->n_sizes * sizeof *x->misfit);
    for (int32_t i = 0; i < x->n_list; i++) {
        const int32_t j = x->list[i];
        bool *misfit = &x->misfit[s->job[j].cls];
        s->rec->positions++;
        *misfit = *misfit || !dls_tir_yarn_place(&x->yarn, s, j);
        if (!*misfit && s->job[j].status == DLS_JOB_PENDING) {
            DLS_TRY(dls_tir_start(s, j, err));
        } else if (*misfit && s->job[j].status == DLS_JOB_RUNNING) {
            dls_tir_suspend(s, j);
            dls_tir_yarn_leave(&x->yarn, s, j);
        }
    }
    x->end_s = DLS_TIR_NEVER;
    for (int32_t i = 0; i < x->n_list; i++) {
        const int32_t j = x->list[i];
        if (s->job[j].status == DLS_JOB_RUNNING) {
            const int64_t end_s = dls_tir_end_s(s, j);
            x->end_s = end_s < x->end_s ? end_s : x->end_s;
            DLS_TRY(dls_tir_yarn_seat(&x->yarn, s, j, err));
        }
    }
    s->busy_nodes = x->yarn.busy_nodes;
    s->full_nodes = x->yarn.full_nodes;
    return DLS_OK;
}

dls_status dls_tir_run_sorted_yarn(dls_tir *s, dls_error *err)
{
    sorted_yarn x;
    dls_status status = init(&x, s, err);
    while (status == DLS_OK && !s->stop && (s->next < s->n || s->running > 0)) {
        const int64_t arrival_s = dls_tir_next_arrival(s);
        status = dls_tir_clock(s, arrival_s < x.end_s ? arrival_s : x.end_s, err);
        if (status == DLS_OK) {
            end_and_arrive(&x);
            refresh_keys(&x);
            sort_list(&x);
            status = place_all(&x, err);
        }
        if (status == DLS_OK) {
            status = dls_tir_event(s, err);
        }
    }
    for (int32_t j = 0; status == DLS_OK && j < s->n; j++) {
        dls_tir_yarn_leave(&x.yarn, s, j);
    }
    fini(&x);
    return status;
}
