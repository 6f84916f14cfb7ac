/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Groups of jobs that are alike, and the run time that those which have ended tell of the next:
 * by the groups themselves, and by trees on what was known of them.
 */
#include "workload/history.h"

#include "base/assert.h"
#include "dlsim/memory.h"
#include "base/strdict.h"

#include <math.h>
#include <string.h>

#define FIRST_S 3600.0 /* believed of a job when none has ended and it has no limit */

/* What jobs of a group have in common, from coarse to fine. */
enum { GPUS = 1, VC = 2, USER = 4, MODEL = 8 };
static const int level[] = {
    0, GPUS, MODEL, VC, VC | GPUS, USER, USER | GPUS, USER | MODEL, USER | MODEL | GPUS};
#define LEVELS DLS_HISTORY_LEVELS
_Static_assert(sizeof level / sizeof *level == LEVELS, "features of each");

struct dls_history {
    const dls_trace_columns *col;
    int32_t *group; /* [jobs][LEVELS]; -1: the job lacks what they have in common */
    dls_learned past;
    size_t n_groups;
};

/* A job as it teaches: its groups, and what only its trace has. */
typedef struct pupil {
    const int32_t *group;
    int32_t gpus;
    double limit_s; /* <= 0: none */
} pupil;

/* What a history is made with: the distinct groups, and the names that both traces use. */
typedef struct making {
    dls_strdict groups, names;
    int32_t *past_group;
    dls_keyed *end;   /* of the jobs of the past that have one */
    dls_asked *asked; /* of the past */
} making;

/* ---- groups ---------------------------------------------------------------------------------- */

typedef struct key {
    int32_t level, gpus, vc, user, model;
} key;

static dls_status code_of(dls_strdict *names, bool wanted, const char *name, int32_t *code,
                          bool *whole, dls_error *err)
{
    *code = 0;
    *whole = *whole && (!wanted || *name != '\0');
    return wanted && *whole ? dls_strdict_put(names, name, strlen(name), code, err) : DLS_OK;
}

static dls_status find_group(making *m, const dls_trace *trace, size_t job, size_t l, int32_t *out,
                             dls_error *err)
{
    const dls_trace_columns *c = dls_trace_cols(trace);
    const int32_t user = c->user ? c->user[job] : -1;
    bool whole = true;
    key k = {.level = (int32_t)l, .gpus = level[l] & GPUS ? c->gpus[job] : 0};
    DLS_TRY(code_of(&m->names, level[l] & VC, dls_trace_vc(trace, c->vc[job]), &k.vc, &whole, err));
    DLS_TRY(code_of(&m->names, level[l] & USER, dls_trace_user(trace, user), &k.user, &whole, err));
    DLS_TRY(code_of(&m->names, level[l] & MODEL, dls_trace_model(trace, c->model[job]), &k.model,
                    &whole, err));
    *out = -1;
    return whole ? dls_strdict_put(&m->groups, (const char *)&k, sizeof k, out, err) : DLS_OK;
}

static dls_status group_jobs(making *m, const dls_trace *trace, int32_t **out, dls_error *err)
{
    const size_t n = dls_trace_cols(trace)->n;
    DLS_TRY(dls_alloc_array(out, n * LEVELS + 1, sizeof **out, "groups of jobs", err));
    for (size_t i = 0; i < n * LEVELS; i++) {
        DLS_TRY(find_group(m, trace, i / LEVELS, i % LEVELS, &(*out)[i], err));
    }
    return DLS_OK;
}

static pupil pupil_of(const dls_trace_columns *c, const int32_t *group, size_t job)
{
    return (pupil){.group = group + job * LEVELS,
                   .gpus = c->gpus[job],
                   .limit_s = (double)dls_trace_i64(c->limit_us, job) / (double)DLS_US_PER_S};
}

/* ---- run times ------------------------------------------------------------------------------- */

static uint8_t bin_of(double x)
{
    return (uint8_t)fmin(x, DLS_TREES_BINS - 1);
}

/* Bins by a third, from one second to two years; 0: not known. */
static uint8_t bin_of_log_s(double log_s)
{
    return bin_of(1 + 3.4 * log_s);
}

static void learn(dls_lessons *of)
{
    const size_t rows = of->ended < DLS_HISTORY_ROWS ? of->ended : DLS_HISTORY_ROWS;
    memcpy(of->left, of->target, rows * sizeof *of->left);
    dls_trees_fit(&of->trees, of->x[0], DLS_HISTORY_FEATURES, DLS_HISTORY_ROWS, rows, of->left,
                  of->at);
    of->fitted = of->ended;
}

#define DAY_US (86400 * DLS_US_PER_S)

static double ask_trees(dls_learned *l, const dls_asked *a, int64_t now_us)
{
    dls_lessons *of = l->lessons;
    const size_t rows = of->ended < DLS_HISTORY_ROWS ? of->ended : DLS_HISTORY_ROWS;
    if (now_us >= of->next_us && 2 * (of->ended - of->fitted) >= rows) {
        learn(of);
        of->next_us = now_us + DAY_US;
    }
    return (double)dls_trees_of(&of->trees, a->x) / DLS_TREES_ONE;
}

/* The logarithm of the seconds that are believed; *a is what is known. */
static double ask_groups(const dls_learned *l, const pupil *p, dls_asked *a)
{
    double log_s = log(p->limit_s > 0 ? p->limit_s : FIRST_S);
    *a = (dls_asked){.x[0] = bin_of(3 * log2(1 + p->gpus))};
    for (size_t k = 0; k < LEVELS; k++) {
        if (p->group[k] >= 0) {
            const dls_past_runs *of = &l->runs[p->group[k]];
            log_s = (of->sum + log_s) / (double)(of->n + 1);
            a->x[2 + 2 * k] = of->n > 0 ? bin_of_log_s(of->last) : 0;
            a->x[3 + 2 * k] = of->n > 0 ? bin_of_log_s(of->recent) : 0;
        }
    }
    a->log_s = (float)log_s;
    a->x[1] = bin_of_log_s(fmax(0, log_s));
    return log_s;
}

static double ask(dls_learned *l, const pupil *p, size_t job, int64_t now_us)
{
    dls_asked a;
    const double log_s = ask_groups(l, p, &a);
    if (!l->lessons) {
        return log_s;
    }
    l->asked[job] = a;
    return fmax(0, log_s + ask_trees(l, &a, now_us));
}

static void see(dls_learned *l, const pupil *p, size_t job, int64_t run_us)
{
    const double log_s = log(fmax(1, (double)run_us / (double)DLS_US_PER_S));
    for (size_t k = 0; k < LEVELS; k++) {
        if (p->group[k] >= 0) {
            dls_past_runs *of = &l->runs[p->group[k]];
            of->recent = of->n > 0 ? 0.8 * of->recent + 0.2 * log_s : log_s;
            of->last = log_s;
            of->sum += log_s;
            of->n++;
        }
    }
    if (l->lessons) {
        const size_t row = l->lessons->ended++ % DLS_HISTORY_ROWS;
        const dls_asked *a = &l->asked[job];
        for (size_t f = 0; f < DLS_HISTORY_FEATURES; f++) {
            l->lessons->x[f][row] = a->x[f];
        }
        l->lessons->target[row] = llround((log_s - (double)a->log_s) * DLS_TREES_ONE);
    }
}

int64_t dls_history_ask_us(const dls_history *h, dls_learned *l, int32_t job, int64_t now_us)
{
    DLS_DEBUG_ASSERT(job >= 0 && (size_t)job < h->col->n);
    const pupil p = pupil_of(h->col, h->group, (size_t)job);
    const double s = exp(ask(l, &p, (size_t)job, now_us));
    const double us = (p.limit_s > 0 ? fmin(s, p.limit_s) : s) * (double)DLS_US_PER_S;
    return us < (double)DLS_TIME_MAX_US ? (int64_t)fmax(1, us) : DLS_TIME_MAX_US;
}

void dls_history_see(const dls_history *h, dls_learned *l, int32_t job, int64_t run_us)
{
    DLS_DEBUG_ASSERT(job >= 0 && (size_t)job < h->col->n && run_us >= 0);
    const pupil p = pupil_of(h->col, h->group, (size_t)job);
    see(l, &p, (size_t)job, run_us);
}

void dls_history_begin(const dls_history *h, dls_learned *to)
{
    memcpy(to->runs, h->past.runs, h->n_groups * sizeof *to->runs);
    if (to->lessons) {
        *to->lessons = *h->past.lessons;
    }
}

/* ---- a history ------------------------------------------------------------------------------- */

/* Jobs of the past, each at its end, before the first that comes then. */
static void relive(const dls_trace_columns *c, const int32_t *group, dls_learned *l,
                   const dls_keyed *end, size_t n_ends)
{
    size_t seen = 0;
    for (size_t j = 0; j <= c->n; j++) {
        for (; seen < n_ends && (j == c->n || end[seen].key <= (uint64_t)c->submit_us[j]); seen++) {
            const pupil p = pupil_of(c, group, end[seen].value);
            see(l, &p, end[seen].value, c->duration_us[end[seen].value]);
        }
        if (j < c->n) {
            const pupil p = pupil_of(c, group, j);
            (void)ask(l, &p, j, c->submit_us[j]);
        }
    }
    if (l->lessons) {
        learn(l->lessons);
        l->lessons->next_us = 0; /* of another clock */
    }
}

static dls_status learn_past(dls_history *h, making *m, const dls_trace *past, dls_error *err)
{
    const dls_trace_columns *c = dls_trace_cols(past);
    dls_learned l = h->past;
    size_t n = 0;
    DLS_TRY(dls_alloc_array(&m->end, 2 * c->n + 1, sizeof *m->end, "ends of jobs", err));
    DLS_TRY(dls_alloc_array(&m->asked, c->n + 1, sizeof *m->asked, "jobs of the past", err));
    l.asked = m->asked;
    for (size_t j = 0; j < c->n; j++) {
        if (c->duration_us[j] >= 0) {
            m->end[n++] = (dls_keyed){(uint64_t)(c->submit_us[j] + c->duration_us[j]), (uint32_t)j};
        }
    }
    relive(c, m->past_group, &l, dls_radix_sort(m->end, m->end + c->n, n), n);
    return DLS_OK;
}

static dls_status make(dls_history *h, making *m, const dls_trace *trace, const dls_trace *past,
                       bool trees, dls_error *err)
{
    DLS_TRY(group_jobs(m, trace, &h->group, err));
    DLS_TRY(past ? group_jobs(m, past, &m->past_group, err) : DLS_OK);
    h->n_groups = m->groups.n;
    dls_learned *l = &h->past;
    DLS_TRY(dls_alloc_array(&l->runs, h->n_groups + 1, sizeof *l->runs, "what was seen", err));
    DLS_TRY(trees ? dls_alloc_array(&l->lessons, 1, sizeof *l->lessons, "lessons", err) : DLS_OK);
    return past ? learn_past(h, m, past, err) : DLS_OK;
}

static void making_fini(making *m)
{
    dls_strdict_fini(&m->groups);
    dls_strdict_fini(&m->names);
    DLS_FREE_ALL(m->past_group, m->end, m->asked);
}

dls_status dls_history_create(const dls_trace *trace, const dls_trace *past, bool trees,
                              dls_history **out, dls_error *err)
{
    DLS_OWN(making_fini) making m = {.past_group = NULL};
    DLS_HOLD(dls_history_destroy) dls_history *h = NULL;
    DLS_TRY(dls_alloc_array(&h, 1, sizeof *h, "history", err));
    h->col = dls_trace_cols(trace);
    DLS_TRY(make(h, &m, trace, past, trees, err));
    *out = dls_take(&h);
    return DLS_OK;
}

dls_status dls_history_copy(const dls_history *from, dls_history **out, dls_error *err)
{
    const size_t n = from->col->n * LEVELS + 1, groups = from->n_groups + 1;
    DLS_HOLD(dls_history_destroy) dls_history *h = NULL;
    DLS_TRY(dls_duplicate(&h, from, 1, 1, sizeof *h, err));
    h->group = NULL;
    h->past = (dls_learned){0};
    DLS_TRY(dls_duplicate(&h->group, from->group, n, n, sizeof *h->group, err));
    const dls_learned *l = &from->past;
    DLS_TRY(dls_duplicate(&h->past.runs, l->runs, groups, groups, sizeof *l->runs, err));
    DLS_TRY(dls_duplicate(&h->past.lessons, l->lessons, 1, 1, sizeof *l->lessons, err));
    *out = dls_take(&h);
    return DLS_OK;
}

void dls_history_destroy(dls_history *h)
{
    if (!h) {
        return;
    }
    DLS_FREE_ALL(h->group, h->past.runs, h->past.lessons, h);
}

size_t dls_history_groups(const dls_history *h)
{
    return h ? h->n_groups : 0;
}

bool dls_history_trees(const dls_history *h)
{
    return h && h->past.lessons;
}
