/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * shockwave: Shockwave's market (Zheng et al., NSDI 2023; sched/market.h) on any trace, with batch
 * sizes that grow as jobs train. A plan covers 20 rounds and is made anew when jobs come or end,
 * and after 8 rounds.
 *
 * Batches grow by a general form of the two rules that Shockwave's jobs follow: `accordion` has the
 * batch of the trace for the first 30 % of a job's work and then the largest; `gns` doubles it at
 * every fifth of the work. Doublings end where the job's profile (perf.elastic) gets no faster. The
 * policy changes the batches and knows when it will.
 */
#include "dlsim/memory.h"
#include "sched/gangs.h"
#include "sched/market.h"

#include <math.h>
#include <stdlib.h>

enum { OPT_INTERVAL, OPT_BATCHES };
enum { STATIC, ACCORDION, NOISE };
#define STAGES 5 /* the trace's batch and up to four doublings */

static const dls_option options[] = {
    [OPT_INTERVAL] = {"interval", DLS_OPT_TIME, 1, 1e7, "2 min", "", "length of a round", NULL},
    [OPT_BATCHES] = {"batches", DLS_OPT_STR, 0, 0, "static", "", "how batches grow as jobs train",
                     "static|accordion|gns"},
    {0},
};

/* A job's bytes. */
typedef struct member {
    bool known, chosen;
    int8_t stage; /* of the batch that it has, or had last */
    int8_t n;     /* stages */
    float speed[STAGES];
    float until[STAGES]; /* part of the work up to which a stage lasts */
    int64_t
        said_round; /* forecasts of the end: the last, and those before by how long they stood */
    double said_s, sum, weight;
} member;

struct shockwave {
    dls_ledger ledger;
    double interval_s;
    int batches;
    int64_t round, plan_from, gpus;
    bool planned;
    dls_market market; /* owned; its plan is kept */
    int32_t *list;
};

static dls_status init(void *state, const dls_view *view, const dls_option_value *values,
                       dls_error *err)
{
    *(struct shockwave *)state = (struct shockwave){.ledger = {.interval_us = llround(values[OPT_INTERVAL].f * 1e6)},
                                                    .interval_s = values[OPT_INTERVAL].f,
                                                    .batches = (int)values[OPT_BATCHES].i};
    return DLS_OK;
}

static void fini(void *state)
{
    struct shockwave *s = state;
    dls_market_fini(&s->market);
    dls_scratch_fini(s);
}

static dls_status clone(void *state, const void *from, const dls_view *view, dls_error *err)
{
    const struct shockwave *of = from;
    struct shockwave *s = state;
    DLS_TRY(dls_scratch_clone(s, from, view, err));
    return dls_market_clone(&s->market, &of->market, err);
}

/* ---- what a job will do ---------------------------------------------------------------------- */

static int64_t batch_of(const dls_view *view, int32_t job, int stage)
{
    return view->batch && view->batch[job] != DLS_ABSENT ? view->batch[job] << stage : DLS_ABSENT;
}

/* Its stages and their speeds, over that of the batch of the trace. */
static void meet(const struct shockwave *s, const dls_view *view, int32_t job, member *m)
{
    static const float fifths[STAGES] = {0.2F, 0.4F, 0.6F, 0.8F, 1};
    const uint32_t types = dls_view_types(view, job);
    *m = (member){.known = true, .n = 1, .speed = {1}, .until = {1}};
    if (s->batches == STATIC || !types || batch_of(view, job, 0) == DLS_ABSENT) {
        return;
    }
    const dls_shape shape = dls_view_packed(view, __builtin_ctz(types), view->gpus[job]);
    for (int k = 1; k < STAGES; k++) {
        const double speed = dls_view_speed(view, job, &shape, batch_of(view, job, k));
        if (!(speed > (double)m->speed[k - 1] * 1.0001)) {
            break;
        }
        m->speed[k] = (float)speed;
        m->n++;
    }
    if (s->batches == ACCORDION && m->n > 1) {
        for (int k = 0; k < m->n; k++) {
            m->until[k] = k + 1 < m->n ? 0.3F : 1; /* those between last no time */
        }
        return;
    }
    for (int k = 0; k < m->n; k++) {
        m->until[k] = k + 1 < m->n ? fifths[k] : 1;
    }
}

/* Part of the work that is done: what is left at the speed of the job's batch, over all of it. */
static double done_of(const dls_view *view, int32_t job, const member *m)
{
    const double left_s =
        (double)dls_view_remaining_us(view, job) / 1e6 * (double)m->speed[m->stage];
    const double all_s = fmax((double)view->duration_us[job] / 1e6, 1e-6);
    return fmin(fmax(1 - left_s / all_s, 0), 1);
}

static int stage_at(const member *m, double done)
{
    int k = 0;
    while (k + 1 < m->n && done + 1e-6 >= (double)m->until[k]) {
        k++;
    }
    return k;
}

/* Part of the work that is done after so many seconds more; with INFINITY, *took: how long all
 * takes. */
static double advance(const member *m, double all_s, double done, double seconds, double *took)
{
    *took = 0;
    for (int k = stage_at(m, done); k < m->n && done < 1; k++) {
        const double speed = (double)m->speed[k] / all_s;
        const double need = fmax(0, ((double)m->until[k] - done) / speed);
        if (*took + need >= seconds) {
            done += (seconds - *took) * speed;
            *took = seconds;
            return fmin(done, 1);
        }
        *took += need;
        done = fmax(done, (double)m->until[k]);
    }
    return 1;
}

static void bid_for(const struct shockwave *s, const dls_view *view, int32_t job, dls_bidder *b)
{
    member *m = dls_view_job_state(view, job);
    const double all_s = fmax((double)view->duration_us[job] / 1e6, 1e-6);
    const double share = fmin(1, (double)s->gpus / s->market.n);
    const double done = done_of(view, job, m);
    double took, stood;
    *b = (dls_bidder){.job = job, .gpus = view->gpus[job]};
    advance(m, all_s, done, (double)INFINITY, &b->left_s);
    for (int c = 0; c <= DLS_MARKET_WINDOW; c++) {
        b->progress[c] = dls_market_worth(advance(m, all_s, done, c * s->interval_s, &took));
        b->remaining[c] = fmax(0, b->left_s - c * s->interval_s);
    }
    /* A fair end: the mean of what has been expected, by how long it stood, and the last. */
    stood = (double)(s->round - m->said_round);
    m->sum += stood * m->said_s;
    m->weight += stood;
    m->said_round = s->round;
    m->said_s = (double)view->submit_us[job] / 1e6 +
                ((double)dls_view_executed_us(view, job) / 1e6 + b->left_s) / share;
    b->goal_s = m->weight > 0 ? 0.9 * m->sum / m->weight + 0.1 * m->said_s : m->said_s;
    b->goal_s = fmax(b->goal_s, 1e-6);
}

/* ---- rounds ---------------------------------------------------------------------------------- */

static dls_status list_jobs(struct shockwave *s, const dls_view *view, dls_plan *plan, int32_t *n, dls_error *err)
{
    const size_t all = (size_t)view->running_jobs + (size_t)view->waiting_jobs;
    DLS_TRY(dls_scratch_array(&s->ledger.scratch, 1, &s->list, all + 1, sizeof *s->list, err));
    *n = 0;
    for (int32_t j = dls_view_first_running(view); j >= 0; j = dls_view_next_running(view, j)) {
        member *m = dls_view_job_state(view, j);
        m->chosen = dls_plan_guest(plan, view, j);
        if (!m->chosen) {
            s->list[(*n)++] = j;
        }
    }
    for (int32_t j = dls_view_first_waiting(view); j >= 0; j = dls_view_next_waiting(view, j)) {
        s->list[(*n)++] = j;
    }
    for (int32_t i = 0; i < *n; i++) {
        member *m = dls_view_job_state(view, s->list[i]);
        if (!m->known) {
            meet(s, view, s->list[i], m);
            m->said_round = s->round;
        }
        m->chosen = false;
    }
    return DLS_OK;
}

DLS_BY(by_number, int32_t, DLS_ORDER(*x, *y));

static dls_status make_plan(struct shockwave *s, const dls_view *view, int32_t n, dls_error *err)
{
    qsort(s->list, (size_t)n, sizeof *s->list, by_number);
    DLS_TRY(dls_market_begin(&s->market, n, err));
    for (int32_t i = 0; i < n; i++) {
        bid_for(s, view, s->list[i], &s->market.bid[i]);
    }
    /* The market's clock begins with the rounds. */
    dls_market_plan(&s->market, (double)s->gpus, s->interval_s,
                    (int64_t)((double)view->now_us / 1e6 / s->interval_s));
    s->plan_from = s->round;
    s->planned = true;
    return DLS_OK;
}

/* A job that is chosen runs where it does, or on the type on which it is fastest, with its batch.
 */
static void choose(struct shockwave *s, const dls_view *view, dls_plan *plan, int32_t job)
{
    member *m = dls_view_job_state(view, job);
    const int32_t held = view->held_type[job];
    if (m->chosen) {
        return;
    }
    const bool stays =
        view->running[job] && dls_ledger_room(&s->ledger, view, job, held) >= view->gpus[job];
    const int32_t type = stays ? held : dls_ledger_type(&s->ledger, view, job);
    if (type < 0) {
        return;
    }
    dls_want want = {.type = type};
    if (m->n > 1) {
        m->stage = (int8_t)stage_at(m, done_of(view, job, m));
        want.batch = batch_of(view, job, m->stage);
    }
    dls_ledger_take(&s->ledger, view, job, type, view->gpus[job]);
    dls_plan_set(plan, job, &want);
    m->chosen = true;
}

static dls_status round_(void *state, const dls_view *view, dls_plan *plan, dls_error *err)
{
    struct shockwave *s = state;
    int64_t gpus = 0;
    int32_t n;
    DLS_TRY(dls_ledger_begin(&s->ledger, view, err));
    DLS_TRY(list_jobs(s, view, plan, &n, err));
    for (int32_t t = 0; t < view->n_types; t++) {
        gpus += s->ledger.left[t];
    }
    const bool stale = !s->planned || s->round - s->plan_from >= DLS_MARKET_REPLAN ||
                       view->arrived + view->ended > 0 || gpus != s->gpus;
    s->gpus = gpus;
    if (n == 0 || gpus == 0) {
        s->round++;
        return DLS_OK;
    }
    if (stale) {
        DLS_TRY(make_plan(s, view, n, err));
    }
    const dls_market *m = &s->market;
    const int64_t r = s->round++ - s->plan_from; /* a plan is made anew before it ends */
    for (int32_t i = 0; i < m->plan_n[r]; i++) {
        choose(s, view, plan, m->plan[r * m->n + i]);
    }
    for (int32_t i = 0; i < n; i++) { /* what the nodes' types or quotas left over */
        choose(s, view, plan, s->list[i]);
    }
    return DLS_OK;
}

const dls_sched_ops dls_sched_ops_shockwave = {
    .abi = DLS_POLICY_ABI,
    .name = "shockwave",
    .summary = "a market over 20 rounds: progress of all, the last end, fair ends (Shockwave)",
    .options = options,
    .state_bytes = sizeof(struct shockwave),
    .job_state_bytes = sizeof(member),
    .init = init,
    .fini = fini,
    .clone = clone,
    .round = round_,
    .timing = dls_ledger_timing,
    .rigid = true,
};
