/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Groups of jobs that are alike, and the run time that those which have ended tell of the next.
 */
#include "workload/history.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/strdict.h"

#include <math.h>
#include <string.h>

#define FIRST_S 3600.0 /* believed of a job when none has ended and it has no limit */

/* What jobs of a group have in common, from coarse to fine. */
enum { GPUS = 1, VC = 2, USER = 4, MODEL = 8 };
static const int level[] = {
    0, GPUS, MODEL, VC, VC | GPUS, USER, USER | GPUS, USER | MODEL, USER | MODEL | GPUS};
#define LEVELS (sizeof level / sizeof *level)

struct dls_history {
    const dls_trace_columns *col;
    int32_t *group; /* [jobs][LEVELS]; -1: the job lacks what they have in common */
    dls_past_runs *past;
    size_t n_groups;
};

/* What a history is made with: the distinct groups, and the names that both traces use. */
typedef struct making {
    dls_strdict groups, names;
    int32_t *past_group;
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

/* ---- run times ------------------------------------------------------------------------------- */

static void see(dls_past_runs *seen, const int32_t *group, int64_t run_us)
{
    const double log_s = log(fmax(1, (double)run_us / (double)DLS_US_PER_S));
    for (size_t l = 0; l < LEVELS; l++) {
        if (group[l] >= 0) {
            seen[group[l]].n++;
            seen[group[l]].sum_log_s += log_s;
        }
    }
}

void dls_history_see(const dls_history *h, dls_past_runs *seen, int32_t job, int64_t run_us)
{
    DLS_DEBUG_ASSERT(job >= 0 && (size_t)job < h->col->n && run_us >= 0);
    see(seen, &h->group[(size_t)job * LEVELS], run_us);
}

int64_t dls_history_estimate_us(const dls_history *h, const dls_past_runs *seen, int32_t job)
{
    DLS_DEBUG_ASSERT(job >= 0 && (size_t)job < h->col->n);
    const int32_t *group = &h->group[(size_t)job * LEVELS];
    const double limit_s =
        (double)dls_trace_i64(h->col->limit_us, (size_t)job) / (double)DLS_US_PER_S;
    double log_s = log(limit_s > 0 ? limit_s : FIRST_S);
    for (size_t l = 0; l < LEVELS; l++) {
        if (group[l] >= 0) {
            const dls_past_runs *of = &seen[group[l]];
            log_s = (of->sum_log_s + log_s) / (double)(of->n + 1);
        }
    }
    const double s = exp(log_s), us = (limit_s > 0 ? fmin(s, limit_s) : s) * (double)DLS_US_PER_S;
    return us < (double)DLS_TIME_MAX_US ? (int64_t)fmax(1, us) : DLS_TIME_MAX_US;
}

/* ---- a history ------------------------------------------------------------------------------- */

static dls_status make(dls_history *h, making *m, const dls_trace *trace, const dls_trace *past,
                       dls_error *err)
{
    DLS_TRY(group_jobs(m, trace, &h->group, err));
    DLS_TRY(past ? group_jobs(m, past, &m->past_group, err) : DLS_OK);
    h->n_groups = m->groups.n;
    DLS_TRY(dls_alloc_array(&h->past, h->n_groups + 1, sizeof *h->past, "what was seen", err));
    for (size_t j = 0; past && j < dls_trace_cols(past)->n; j++) {
        const int64_t run_us = dls_trace_cols(past)->duration_us[j];
        if (run_us >= 0) {
            see(h->past, &m->past_group[j * LEVELS], run_us);
        }
    }
    return DLS_OK;
}

dls_status dls_history_create(const dls_trace *trace, const dls_trace *past, dls_history **out,
                              dls_error *err)
{
    making m = {.past_group = NULL};
    dls_history *h;
    DLS_TRY(dls_alloc_array(&h, 1, sizeof *h, "history", err));
    h->col = dls_trace_cols(trace);
    dls_strdict_init(&m.groups);
    dls_strdict_init(&m.names);
    const dls_status status = make(h, &m, trace, past, err);
    dls_strdict_fini(&m.groups);
    dls_strdict_fini(&m.names);
    dls_free(m.past_group);
    if (status != DLS_OK) {
        dls_history_destroy(h);
        return status;
    }
    *out = h;
    return DLS_OK;
}

dls_status dls_history_copy(const dls_history *from, dls_history **out, dls_error *err)
{
    const size_t n = from->col->n * LEVELS + 1, groups = from->n_groups + 1;
    dls_history *h;
    DLS_TRY(dls_duplicate(&h, from, 1, 1, sizeof *h, err));
    h->group = NULL;
    h->past = NULL;
    dls_status status = dls_duplicate(&h->group, from->group, n, n, sizeof *h->group, err);
    DLS_THEN(status, dls_duplicate(&h->past, from->past, groups, groups, sizeof *h->past, err));
    if (status != DLS_OK) {
        dls_history_destroy(h);
        return status;
    }
    *out = h;
    return DLS_OK;
}

void dls_history_destroy(dls_history *h)
{
    if (!h) {
        return;
    }
    dls_free(h->group);
    dls_free(h->past);
    dls_free(h);
}

size_t dls_history_groups(const dls_history *h)
{
    return h ? h->n_groups : 0;
}

const dls_past_runs *dls_history_past(const dls_history *h)
{
    return h->past;
}
