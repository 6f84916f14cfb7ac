/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * By count, preemptive, the least first: shortest and shortest-gpu (remaining time, times GPUs),
 * whose keys age, sjf (GPUs) and shortest-expected, whose do not.
 *
 * Remaining time falls while a job runs, so the order changes by itself. Jobs that age at one rate
 * keep their order: waiting jobs (rate 0), and running jobs of one rate (1, or the GPUs), which are
 * ranked by their predicted end. At an instant any two jobs are compared by
 *
 *      (remaining x weight at this instant, rate, tie)
 *
 * The rate decides equals because the original sorts stably: of two jobs that are equal now, the
 * one that aged more slowly was ahead before. A job that arrives now is last of its equals. Within
 * a rate, a tie keeps the order in which jobs came together there: waiting jobs that start step
 * before the running ones they are equal to, suspended ones behind the waiting ones.
 *
 * Several events may share an instant (jobs of no duration end at once). The order stays what it
 * was at the first of them, so a job that starts or stops changes its rate class only when time
 * moves:
 *
 *      aged 0:    waiting[size]     taken          aged rate r:   running[r]     lost[size]
 *                 (not selected)    (selected)                    (selected)     (not selected)
 *
 * Keys that do not age have rate 0 for ever, and the order of arrival decides equals. But
 * shortest-expected writes the estimate of the last running job of the list to the job that arrived
 * last, whether it has ended or not; among equals that job then stands before those it came to from
 * a smaller key and behind those it came to from a larger one.
 */
#include "base/order.h"
#include "tiresias/core.h"

#include <stdlib.h>
#include <string.h>

typedef struct shortest {
    dls_tir *s;
    bool by_gpu, ages, expected;
    dls_order table;
    dls_order_set *waiting, *lost; /* [n_sizes] */
    dls_order_set *running;        /* [n_rates] */
    dls_order_set taken;
    int32_t n_rates;
    int64_t
        *key; /* [n] aged 0: remaining x weight, or what does not age; aged: the predicted end */
    int64_t *tie;     /* [n] */
    bool *aged;       /* [n] was running when this instant began */
    bool *fresh;      /* [n] arrived at this instant */
    bool *touched;    /* [n] in changed */
    int32_t *changed; /* [n] started, suspended or arrived at this instant */
    int32_t n_changed;
    int64_t instant; /* number of this instant */
    int32_t newest;  /* the last job of the latest arrival, -1 */
    int64_t front, back; /* the next ties of keys that do not age */
} shortest;

#define RATE_FRESH INT64_MAX

/* Where a job stands at an instant. */
typedef struct place {
    int64_t key, rate, tie;
} place;

static int place_cmp(const place *a, const place *b)
{
    if (a->key != b->key) {
        return a->key < b->key ? -1 : 1;
    }
    if (a->rate != b->rate) {
        return a->rate < b->rate ? -1 : 1;
    }
    return a->tie < b->tie ? -1 : a->tie > b->tie;
}

/* Ties of an instant: what arrives at it stands behind what merely stops. */
static int64_t instant_tie(const shortest *x)
{
    return x->instant << 32;
}
static int64_t fresh_tie(const shortest *x)
{
    return instant_tie(x) + (INT64_C(1) << 31);
}

static int64_t weight(const shortest *x, int32_t j)
{
    return x->by_gpu ? x->s->job[j].gpus : 1;
}

static int32_t rate_of(const shortest *x, int32_t j)
{
    return x->by_gpu ? x->s->job[j].cls : 0;
}

static place place_of(const shortest *x, int32_t j, int64_t now_s)
{
    if (x->aged[j]) {
        return (place){(x->key[j] - now_s) * weight(x, j), weight(x, j), x->tie[j]};
    }
    return (place){x->key[j], x->fresh[j] ? RATE_FRESH : 0, x->tie[j]};
}

static dls_order_set *set_of(shortest *x, int32_t j)
{
    const dls_tir_job *job = &x->s->job[j];
    if (job->status == DLS_JOB_RUNNING) {
        return x->aged[j] ? &x->running[rate_of(x, j)] : &x->taken;
    }
    return x->aged[j] ? &x->lost[job->cls] : &x->waiting[job->cls];
}

static void insert(shortest *x, int32_t j)
{
    const dls_rank rank = {.key = x->key[j], .tie = x->tie[j]};
    dls_order_insert(&x->table, set_of(x, j), j, rank, x->s->job[j].gpus, 0);
}

static void touch(shortest *x, int32_t j)
{
    if (!x->touched[j]) {
        x->touched[j] = true;
        x->changed[x->n_changed++] = j;
    }
}

static dls_status init(void *state, dls_tir *s, dls_error *err)
{
    shortest *x = state;
    const size_t n = (size_t)s->n, m = (size_t)s->n_sizes;
    const char *schedule = s->p->schedule;
    *x = (shortest){.s = s, .taken = DLS_ORDER_SET_EMPTY, .newest = -1, .front = -1};
    s->preemptive = true;
    x->by_gpu = strcmp(schedule, "shortest-gpu") == 0;
    x->ages = x->by_gpu || strcmp(schedule, "shortest") == 0;
    x->expected = strcmp(schedule, "shortest-expected") == 0;
    x->n_rates = x->by_gpu ? s->n_sizes : 1;
    x->waiting = dls_tir_array(s, m, sizeof *x->waiting);
    x->lost = dls_tir_array(s, m, sizeof *x->lost);
    x->running = dls_tir_array(s, m, sizeof *x->running);
    x->key = dls_tir_array(s, n, sizeof *x->key);
    x->tie = dls_tir_array(s, n, sizeof *x->tie);
    x->aged = dls_tir_array(s, n, sizeof *x->aged);
    x->fresh = dls_tir_array(s, n, sizeof *x->fresh);
    x->touched = dls_tir_array(s, n, sizeof *x->touched);
    x->changed = dls_tir_array(s, n, sizeof *x->changed);
    DLS_TRY(dls_tir_arrays_got(s, err));
    for (size_t c = 0; c < m; c++) {
        x->waiting[c] = x->lost[c] = x->running[c] = (dls_order_set)DLS_ORDER_SET_EMPTY;
    }
    return dls_order_init(&x->table, s->n, 3 * s->n_sizes + 1, err);
}

static void fini(void *state)
{
    shortest *x = state;
    dls_order_fini(&x->table);
}

/* GPUs of the selected jobs of one rate that stand before a place. */
static int64_t sum_before_rate(shortest *x, int32_t rate, const place *p)
{
    const int64_t w = x->by_gpu ? x->s->size[rate] : 1, now_s = x->s->now_s;
    dls_rank bound = {.tie = INT64_MIN};
    if (p->rate == w) {
        bound.key = now_s + p->key / w;
        bound.tie = p->tie;
    } else if (p->rate < w) { /* equals stand behind */
        bound.key = now_s + (p->key + w - 1) / w;
    } else {
        bound.key = now_s + p->key / w + 1;
    }
    return dls_order_sum_before(&x->table, x->running[rate], &bound);
}

static int64_t sum_before(shortest *x, const place *p)
{
    dls_rank bound = {.key = p->key, .tie = p->tie};
    if (p->rate != 0 && p->rate != RATE_FRESH) {
        bound.tie = fresh_tie(x); /* before those that arrived now */
    }
    int64_t sum = dls_order_sum_before(&x->table, x->taken, &bound);
    for (int32_t r = 0; r < x->n_rates; r++) {
        if (x->running[r].root != DLS_NONE) {
            sum += sum_before_rate(x, r, p);
        }
    }
    return sum;
}

/* The first selected job up to which more than the cluster is taken: going back from the last one,
 * where the excess is covered. */
static int32_t first_over(shortest *x, place *at)
{
    int64_t excess = x->s->busy_gpus - x->s->total_gpus;
    int32_t *tail = x->s->due, found = DLS_NONE;
    for (int32_t r = 0; r < x->n_rates; r++) {
        tail[r] = dls_order_last(&x->table, x->running[r]);
    }
    int32_t taken = dls_order_last(&x->table, x->taken);
    while (excess > 0) {
        int32_t *from = &taken;
        found = taken;
        if (found != DLS_NONE) {
            *at = place_of(x, found, x->s->now_s);
        }
        for (int32_t r = 0; r < x->n_rates; r++) {
            if (tail[r] == DLS_NONE) {
                continue;
            }
            const place p = place_of(x, tail[r], x->s->now_s);
            if (found == DLS_NONE || place_cmp(&p, at) > 0) {
                found = tail[r];
                *at = p;
                from = &tail[r];
            }
        }
        *from = dls_order_prev(&x->table, *set_of(x, found), found);
        excess -= x->s->job[found].gpus;
    }
    return found;
}

/* The first job that is not selected, fits where it stands, and stands before `best`. */
static int32_t first_that_fits(shortest *x, int32_t best, place *at)
{
    dls_tir *s = x->s;
    int32_t found = DLS_NONE;
    for (int32_t c = 0; c < s->n_sizes && s->size[c] <= s->total_gpus; c++) {
        const dls_order_set sets[] = {x->waiting[c], x->lost[c]};
        for (int i = 0; i < 2; i++) {
            const int32_t head = dls_order_first(&x->table, sets[i]);
            if (head == DLS_NONE) {
                continue;
            }
            const place p = place_of(x, head, s->now_s);
            if (best != DLS_NONE && place_cmp(at, &p) < 0) {
                continue;
            }
            if (s->busy_gpus + s->size[c] <= s->total_gpus ||
                sum_before(x, &p) + s->size[c] <= s->total_gpus) {
                best = found = head;
                *at = p;
            }
        }
    }
    return found;
}

static dls_status pass(shortest *x, dls_error *err)
{
    dls_tir *s = x->s;
    for (;;) {
        place at = {0, 0, 0};
        const int32_t over = first_over(x, &at);
        const int32_t fits = first_that_fits(x, over, &at);
        const int32_t j = fits != DLS_NONE ? fits : over;
        if (j == DLS_NONE) {
            return DLS_OK;
        }
        dls_order_remove(&x->table, set_of(x, j), j);
        if (fits != DLS_NONE) {
            DLS_TRY(dls_tir_start(s, j, err));
        } else {
            dls_tir_suspend(s, j);
        }
        insert(x, j);
        touch(x, j);
    }
}

typedef struct ordering {
    const shortest *x;
    int64_t now_s;
} ordering;

static int compare_place(const void *a, const void *b, void *user)
{
    const ordering *o = user;
    const place p = place_of(o->x, *(const int32_t *)a, o->now_s);
    const place q = place_of(o->x, *(const int32_t *)b, o->now_s);
    return place_cmp(&p, &q);
}

static void sort_places(const shortest *x, int32_t *jobs, int32_t n, int64_t now_s)
{
    ordering o = {x, now_s};
    if (n > 1) {
        qsort_r(jobs, (size_t)n, sizeof *jobs, compare_place, &o);
    }
}

/* Time moves on from then_s: jobs that changed take their places in their new rate classes. */
static void settle(shortest *x, int64_t then_s)
{
    dls_tir *s = x->s;
    sort_places(x, x->changed, x->n_changed, then_s);
    for (int32_t i = 0; i < x->n_changed; i++) {
        const int32_t j = x->changed[i];
        const dls_tir_job *job = &s->job[j];
        const bool runs = job->status == DLS_JOB_RUNNING;
        x->touched[j] = false;
        if (job->status == DLS_JOB_FINISHED) {
            continue;
        }
        if (x->aged[j] != runs) {
            dls_order_remove(&x->table, set_of(x, j), j);
            if (x->fresh[j]) {
                x->tie[j] = fresh_tie(x) + i;
            } else {
                x->tie[j] = (runs ? -instant_tie(x) : instant_tie(x)) + i;
            }
            x->aged[j] = runs;
            x->key[j] =
                runs ? dls_tir_end_s(s, j) : (job->duration_s - job->service_s) * weight(x, j);
            insert(x, j);
        }
        x->fresh[j] = false;
    }
    x->n_changed = 0;
    x->instant++;
}

/* Ends of this instant in the order of the list of the previous event (last_s). */
static void end_jobs(shortest *x)
{
    dls_tir *s = x->s;
    const int32_t n = dls_tir_due(s, s->now_s, s->due);
    sort_places(x, s->due, n, s->last_s);
    for (int32_t i = 0; i < n; i++) {
        dls_order_remove(&x->table, set_of(x, s->due[i]), s->due[i]);
        dls_tir_finish(s, s->due[i]);
    }
}

static void arrive(shortest *x)
{
    dls_tir *s = x->s;
    const int32_t j = x->newest = dls_tir_arrive(s);
    if (x->ages) {
        x->key[j] = s->job[j].duration_s * weight(x, j);
        x->tie[j] = fresh_tie(x) + x->n_changed;
        x->fresh[j] = true;
        touch(x, j);
    } else {
        x->key[j] = x->expected ? dls_tir_samples_expected(&s->samples, 0) : s->job[j].gpus;
        x->tie[j] = x->back++;
    }
    insert(x, j);
}

/* The estimate goes to the wrong job; fresh: it arrived at this event and is the list's last. */
static void misplace_estimate(shortest *x, bool fresh)
{
    dls_tir *s = x->s;
    const int32_t last = dls_order_last(&x->table, x->taken), j = x->newest;
    if (last == DLS_NONE || j < 0 || s->job[j].status == DLS_JOB_FINISHED) {
        return;
    }
    const int64_t key = dls_tir_samples_expected(&s->samples, dls_tir_service_s(s, last));
    if (key != x->key[j]) {
        dls_order_remove(&x->table, set_of(x, j), j);
        x->tie[j] = key > x->key[j] && !fresh ? x->front-- : x->back++;
        x->key[j] = key;
        insert(x, j);
    }
}

static dls_status event(void *state, dls_error *err)
{
    shortest *x = state;
    dls_tir *s = x->s;
    DLS_TRY(dls_tir_advance(s, err));
    const bool fresh = dls_tir_next_arrival(s) == s->now_s;
    end_jobs(x);
    if (x->ages && s->now_s > s->last_s) {
        settle(x, s->last_s);
    }
    while (dls_tir_next_arrival(s) == s->now_s) {
        arrive(x);
    }
    if (x->expected) {
        misplace_estimate(x, fresh);
    }
    DLS_TRY(pass(x, err));
    return dls_tir_event(s, err);
}

const dls_tir_family dls_tir_family_shortest = {sizeof(shortest), init, event, fini};
