/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * gandiva's time slicing in node sets, ticks of 10 s. Jobs of one size share sets of nodes; the
 * first `capacity` jobs of a set make progress, and every full minute these go to the back. Each
 * tick walks all sets, as the original does: the cost is that of the simulated time, not of the
 * events.
 */
#include "base/alloc.h"
#include "tiresias/core.h"

#include <string.h>

#define N_SIZES 9
#define TICK_S 10
#define SLICE_S 60

typedef struct node_set {
    int32_t nodes, capacity;
    int32_t utilisation; /* placements so far; ends do not lower it */
    int32_t *job;
    int32_t n;
    size_t cap;
} node_set;

typedef struct set_list {
    int32_t gpus; /* of each job */
    node_set *set;
    int32_t n;
    size_t cap;
    int64_t placed; /* jobs in the sets */
    int64_t held;   /* nodes of the sets */
} set_list;

typedef struct gandiva {
    dls_tir *s;
    set_list list[N_SIZES]; /* in the order of the original's dictionary */
    int32_t free_nodes;
    int64_t *served;  /* [n] seconds of progress */
    int32_t *pending; /* [n] */
    int32_t n_pending;
    int32_t *moved; /* scratch, grows */
    size_t moved_cap;
    int64_t next_s, elapsed_s;
    bool released; /* nodes came back at this tick */
} gandiva;

static const int32_t python2_order[N_SIZES] = {16, 1, 2, 4, 24, 32, 8, 64, 12};
static const int32_t python3_order[N_SIZES] = {1, 2, 4, 8, 12, 16, 24, 32, 64};

static set_list *list_of(gandiva *x, int32_t gpus)
{
    for (int i = 0; i < N_SIZES; i++) {
        if (x->list[i].gpus == gpus) {
            return &x->list[i];
        }
    }
    return NULL;
}

static dls_status init(void *state, dls_tir *s, dls_error *err)
{
    gandiva *x = state;
    const size_t n = (size_t)s->n;
    *x = (gandiva){.s = s, .free_nodes = s->n_nodes, .next_s = dls_tir_next_arrival(s)};
    for (int i = 0; i < N_SIZES; i++) {
        x->list[i].gpus = s->p->python3 ? python3_order[i] : python2_order[i];
    }
    s->sliced = true;
    x->served = dls_tir_array(s, n, sizeof *x->served);
    x->pending = dls_tir_array(s, n, sizeof *x->pending);
    DLS_TRY(dls_tir_arrays_got(s, err));
    for (int32_t c = 0; c < s->n_sizes; c++) {
        if (!list_of(x, s->size[c])) {
            return dls_fail(
                err, DLS_EINPUT, NULL,
                "a job of %d GPUs: gandiva has node sets for 1, 2, 4, 8, 12, 16, 24, 32 "
                "and 64",
                s->size[c]);
        }
    }
    return DLS_OK;
}

static void fini(void *state)
{
    gandiva *x = state;
    for (int i = 0; i < N_SIZES; i++) {
        for (int32_t k = 0; k < x->list[i].n; k++) {
            dls_free(x->list[i].set[k].job);
        }
        dls_free(x->list[i].set);
    }
    dls_free(x->moved);
}

static int32_t nodes_for(const gandiva *x, int32_t gpus)
{
    const int32_t per_node = x->s->p->cluster.gpus_per_node;
    return gpus / per_node + (gpus % per_node != 0);
}

static dls_status new_set(gandiva *x, set_list *l, dls_error *err)
{
    const int32_t nodes = nodes_for(x, l->gpus);
    DLS_TRY(dls_grow(&l->set, &l->cap, (size_t)l->n + 1, sizeof *l->set, err));
    const int64_t gpus = (int64_t)nodes * x->s->p->cluster.gpus_per_node;
    l->set[l->n++] = (node_set){.nodes = nodes, .capacity = (int32_t)(gpus / l->gpus)};
    l->held += nodes;
    x->free_nodes -= nodes;
    return DLS_OK;
}

/* Take set i out of the list; its nodes are free. */
static void drop_set(gandiva *x, set_list *l, int32_t i)
{
    x->free_nodes += l->set[i].nodes;
    l->held -= l->set[i].nodes;
    dls_free(l->set[i].job);
    l->n--;
    memmove(&l->set[i], &l->set[i + 1], (size_t)(l->n - i) * sizeof *l->set);
}

static void first_to_back(set_list *l)
{
    const node_set first = l->set[0];
    memmove(&l->set[0], &l->set[1], (size_t)(l->n - 1) * sizeof *l->set);
    l->set[l->n - 1] = first;
}

/* Job j enters set i; then the list is sorted stably by utilisation. */
static dls_status join(set_list *l, int32_t i, int32_t j, dls_error *err)
{
    node_set *set = &l->set[i];
    DLS_TRY(dls_grow(&set->job, &set->cap, (size_t)set->n + 1, sizeof *set->job, err));
    set->job[set->n++] = j;
    set->utilisation++;
    l->placed++;
    for (int32_t k = 1; k < l->n; k++) {
        const node_set moving = l->set[k];
        int32_t to = k;
        for (; to > 0 && l->set[to - 1].utilisation > moving.utilisation; to--) {
            l->set[to] = l->set[to - 1];
        }
        l->set[to] = moving;
    }
    return DLS_OK;
}

static dls_status place(gandiva *x, int32_t j, bool *placed, dls_error *err)
{
    set_list *l = list_of(x, x->s->job[j].gpus);
    bool fits = false;
    *placed = true;
    if (l->n > 0) {
        fits = l->set[0].utilisation + 1 < l->set[0].capacity;
        first_to_back(l); /* refused or not, and unsorted when refused */
    }
    if (!fits) {
        if (nodes_for(x, l->gpus) <= x->free_nodes) {
            DLS_TRY(new_set(x, l, err));
        } else if (l->n > 0) {
            first_to_back(l);
        } else {
            *placed = false;
            return DLS_OK;
        }
    }
    DLS_TRY(join(l, l->n - 1, j, err));
    return dls_tir_start(x->s, j, err);
}

/* Copy a set's jobs to the scratch list and empty it. */
static dls_status take_jobs(gandiva *x, set_list *l, node_set *set, int32_t *n, dls_error *err)
{
    DLS_TRY(dls_grow(&x->moved, &x->moved_cap, (size_t)(*n + set->n), sizeof *x->moved, err));
    if (set->n > 0) {
        memcpy(&x->moved[*n], set->job, (size_t)set->n * sizeof *set->job);
    }
    *n += set->n;
    l->placed -= set->n;
    set->n = 0;
    set->utilisation = 0;
    return DLS_OK;
}

/* Bring the nodes held by a size to its share; more: GPUs that it lacks or has too many. */
static dls_status resize(gandiva *x, set_list *l, int64_t more, dls_error *err)
{
    const int32_t nodes = nodes_for(x, l->gpus);
    int32_t n = 0;
    if (more > 0) {
        bool spread = false;
        for (int64_t i = 0; i < (more + l->gpus - 1) / l->gpus; i++) {
            spread = nodes > 1 || nodes > x->free_nodes;
            if (nodes > x->free_nodes) {
                break; /* and so would all further attempts */
            }
            DLS_TRY(new_set(x, l, err));
        }
        for (int32_t i = 0; spread && i < l->n; i++) {
            DLS_TRY(take_jobs(x, l, &l->set[i], &n, err));
        }
    } else {
        int64_t gone = (-more + l->gpus - 1) / l->gpus;
        gone = gone < l->n - 1 ? gone : l->n - 1;
        for (int64_t i = 0; i < gone; i++) {
            DLS_TRY(take_jobs(x, l, &l->set[0], &n, err));
            drop_set(x, l, 0);
        }
    }
    for (int32_t i = 0; i < n; i++) {
        DLS_TRY(join(l, 0, x->moved[i], err));
    }
    return DLS_OK;
}

static dls_status rebalance(gandiva *x, dls_error *err)
{
    int64_t demand[N_SIZES], held[N_SIZES], sum = 0;
    for (int i = 0; i < N_SIZES; i++) {
        demand[i] = x->list[i].placed * x->list[i].gpus;
        held[i] = x->list[i].held * x->s->p->cluster.gpus_per_node;
        sum += demand[i];
    }
    for (int i = 0; i < N_SIZES; i++) {
        if (demand[i] > 0) {
            const double part = (double)demand[i] / (double)sum;
            const int64_t share = (int64_t)(part * (double)x->s->total_gpus);
            DLS_TRY(resize(x, &x->list[i], (share < demand[i] ? share : demand[i]) - held[i], err));
        }
    }
    return DLS_OK;
}

/* Progress of one set; its first `capacity` jobs, which the rotation moves to the back. */
static void run_set(gandiva *x, set_list *l, node_set *set)
{
    dls_tir *s = x->s;
    const int32_t head = set->n < set->capacity ? set->n : set->capacity;
    int32_t first = 0, kept = 0;
    for (int32_t i = 0; i < head; i++) {
        x->served[set->job[i]] += x->elapsed_s;
    }
    if (s->now_s % SLICE_S == 0 && head < set->n) {
        memcpy(x->moved, set->job, (size_t)head * sizeof *set->job);
        first = set->n - head;
        memmove(set->job, &set->job[head], (size_t)first * sizeof *set->job);
        memcpy(&set->job[first], x->moved, (size_t)head * sizeof *set->job);
    }
    for (int32_t i = 0; i < set->n; i++) {
        const int32_t j = set->job[i];
        if (i >= first && i < first + head && x->served[j] >= s->job[j].duration_s) {
            dls_tir_finish(s, j);
            s->job[j].service_s = x->served[j];
            l->placed--;
        } else {
            set->job[kept++] = j;
        }
    }
    set->n = kept;
}

static dls_status run_slice(gandiva *x, dls_error *err)
{
    x->released = false;
    for (int i = 0; i < N_SIZES; i++) {
        set_list *l = &x->list[i];
        int32_t kept = 0;
        DLS_TRY(dls_grow(&x->moved, &x->moved_cap, (size_t)l->placed, sizeof *x->moved, err));
        for (int32_t k = 0; k < l->n; k++) {
            run_set(x, l, &l->set[k]);
        }
        while (kept < l->n) {
            if (l->set[kept].n == 0) {
                drop_set(x, l, kept);
                x->released = true;
            } else {
                kept++;
            }
        }
    }
    return DLS_OK;
}

static dls_status arrive(gandiva *x, dls_error *err)
{
    dls_tir *s = x->s;
    while (dls_tir_next_arrival(s) == s->now_s) {
        const int32_t j = dls_tir_arrive(s);
        bool placed;
        DLS_TRY(place(x, j, &placed, err));
        if (!placed) {
            x->pending[x->n_pending++] = j;
        }
    }
    return DLS_OK;
}

/* The list shrinks under the original's loop: each success skips the next entry. */
static dls_status place_pending(gandiva *x, dls_error *err)
{
    int32_t kept = 0;
    for (int32_t i = 0; i < x->n_pending; i++) {
        bool placed;
        DLS_TRY(place(x, x->pending[i], &placed, err));
        if (!placed) {
            x->pending[kept++] = x->pending[i];
        } else if (i + 1 < x->n_pending) {
            x->pending[kept++] = x->pending[++i];
        }
    }
    x->n_pending = kept;
    return DLS_OK;
}

/* What observers see: GPUs in use without the jobs that wait for their slice. */
static dls_status report_sets(gandiva *x, dls_error *err)
{
    static const int32_t shown[DLS_TIRESIAS_GANDIVA_SETS] = {1, 2, 4, 8, 16, 32, 64};
    dls_tir *s = x->s;
    const int64_t claimed = s->busy_gpus;
    int64_t busy = 0;
    for (int i = 0; i < N_SIZES; i++) {
        const set_list *l = &x->list[i];
        for (int32_t k = 0; k < l->n; k++) {
            const node_set *set = &l->set[k];
            busy += (int64_t)(set->n < set->capacity ? set->n : set->capacity) * l->gpus;
        }
    }
    for (int i = 0; i < DLS_TIRESIAS_GANDIVA_SETS; i++) {
        s->sets[i] = list_of(x, shown[i])->n;
    }
    s->idle_nodes = x->free_nodes;
    s->busy_gpus = busy;
    DLS_TRY(dls_tir_event(s, err));
    s->busy_gpus = claimed;
    return DLS_OK;
}

/* The original goes on for ever while jobs wait that can never be placed: here it is over when
 * nobody runs. */
static dls_status event(void *state, dls_error *err)
{
    gandiva *x = state;
    dls_tir *s = x->s;
    x->elapsed_s = s->events == 0 ? 0 : x->next_s - s->now_s;
    DLS_TRY(dls_tir_clock(s, x->next_s, err));
    DLS_TRY(rebalance(x, err));
    DLS_TRY(run_slice(x, err));
    DLS_TRY(arrive(x, err));
    if (x->released) {
        DLS_TRY(place_pending(x, err));
    }
    DLS_TRY(report_sets(x, err));
    const int64_t arrival_s = dls_tir_next_arrival(s), tick_s = s->now_s + TICK_S;
    x->next_s = arrival_s < tick_s ? arrival_s : tick_s;
    for (int32_t j = 0; s->stop && j < s->n; j++) {
        if (s->job[j].status == DLS_JOB_RUNNING) {
            s->job[j].service_s = x->served[j];
            s->job[j].anchor_s = s->last_s;
        }
    }
    return DLS_OK;
}

const dls_tir_family dls_tir_family_gandiva = {sizeof(gandiva), init, event, fini};
