/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * sjf, shortest, shortest-gpu and shortest-expected with yarn placement, as the original does it:
 * at every event the list is sorted stably, the cluster is emptied and every job placed anew. O(n)
 * per event; a job may move at no cost. Memory is emptied too (the original forgets to, and drops
 * jobs).
 */
#include "tiresias/yarn.h"

#include <string.h>

enum key_kind { KEY_GPUS, KEY_TIME, KEY_GPU_TIME, KEY_EXPECTED };

typedef struct sorted_yarn {
    dls_tir *s;
    dls_tir_yarn yarn;
    enum key_kind kind;
    int32_t *list; /* [n] jobs that arrived and did not end, in the order of the last sort */
    int32_t n_list;
    int64_t *key; /* [n] */
    bool *misfit; /* [n_sizes] of this pass: room only shrinks */
    int32_t newest;
} sorted_yarn;

static dls_status init(void *state, dls_tir *s, dls_error *err)
{
    sorted_yarn *x = state;
    const char *schedule = s->p->schedule;
    const size_t n = (size_t)s->n;
    *x = (sorted_yarn){.s = s, .newest = -1};
    x->kind = strcmp(schedule, "sjf") == 0            ? KEY_GPUS
              : strcmp(schedule, "shortest") == 0     ? KEY_TIME
              : strcmp(schedule, "shortest-gpu") == 0 ? KEY_GPU_TIME
                                                      : KEY_EXPECTED;
    s->preemptive = true;
    x->list = dls_tir_array(s, n, sizeof *x->list);
    x->key = dls_tir_array(s, n, sizeof *x->key);
    x->misfit = dls_tir_array(s, (size_t)s->n_sizes, sizeof *x->misfit);
    DLS_TRY(dls_tir_arrays_got(s, err));
    DLS_TRY(dls_tir_yarn_init(&x->yarn, s, err));
    s->node = x->yarn.node;
    return DLS_OK;
}

static void end_and_arrive(sorted_yarn *x)
{
    dls_tir *s = x->s;
    int32_t kept = 0;
    for (int32_t i = 0; i < x->n_list; i++) {
        const int32_t j = x->list[i];
        if (s->job[j].status == DLS_JOB_RUNNING && dls_tir_end_s(s, j) == s->now_s) {
            dls_tir_finish(s, j);
        } else {
            x->list[kept++] = j;
        }
    }
    x->n_list = kept;
    while (dls_tir_next_arrival(s) == s->now_s) {
        const int32_t j = dls_tir_arrive(s);
        x->list[x->n_list++] = x->newest = j;
        if (x->kind == KEY_EXPECTED) {
            x->key[j] = dls_tir_samples_expected(&s->samples, 0);
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
                x->key[x->newest] = dls_tir_samples_expected(&s->samples, dls_tir_service_s(s, j));
            }
            break;
        }
    }
}

/* Stable. Jobs move little from event to event: what the list costs, but for arrivals, is the pairs
 * that change places. */
static void sort_list(sorted_yarn *x)
{
    for (int32_t i = 1; i < x->n_list; i++) {
        const int32_t j = x->list[i];
        int32_t to = i;
        for (; to > 0 && x->key[x->list[to - 1]] > x->key[j]; to--) {
            x->list[to] = x->list[to - 1];
        }
        x->list[to] = j;
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
        *misfit = *misfit || !dls_tir_yarn_place(&x->yarn, s, j);
        if (!*misfit && s->job[j].status == DLS_JOB_PENDING) {
            DLS_TRY(dls_tir_start(s, j, err));
        } else if (*misfit && s->job[j].status == DLS_JOB_RUNNING) {
            dls_tir_suspend(s, j);
        }
    }
    return DLS_OK;
}

static dls_status event(void *state, dls_error *err)
{
    sorted_yarn *x = state;
    DLS_TRY(dls_tir_advance(x->s, err));
    end_and_arrive(x);
    refresh_keys(x);
    sort_list(x);
    DLS_TRY(place_all(x, err));
    return dls_tir_event(x->s, err);
}

const dls_tir_family dls_tir_family_sorted_yarn = {sizeof(sorted_yarn), init, event, NULL};
