/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Shockwave's policy (Zheng et al., NSDI 2023) in the replay: what it expects of each job; its
 * program is sched/market.h.
 */
#include "gavel/market.h"

#include "base/alloc.h"

#include <math.h>
#include <stdlib.h>

enum { WINDOW = DLS_MARKET_WINDOW, REPLAN = DLS_MARKET_REPLAN };

typedef struct sample {
    int64_t round;
    double steps_per_s;
    int32_t batch;
} sample;

typedef struct forecast {
    int64_t round;
    double finish_s;
} forecast;

/* A job in the market. */
typedef struct member {
    double submit_s;
    int64_t epoch;               /* reached */
    double *epoch_s, *profile_s; /* [epochs] calibrated; as profiled, whole seconds */
    sample *seen;                /* [n_seen] */
    size_t n_seen, seen_cap;
    forecast *said; /* [n_said] */
    size_t n_said, said_cap;
} member;

struct dls_gv_market {
    member *of; /* [jobs] */
    int32_t n_jobs;
    bool replan, forecast_due, started;
    int64_t round, since_plan;
    dls_market market;
    int64_t plan_from;
};

/* ---- jobs ------------------------------------------------------------------------------------ */

static dls_status make_member(const dls_gv_profile *p, member *m, dls_error *err)
{
    DLS_TRY(
        dls_alloc_array(&m->profile_s, (size_t)p->epochs * 2, sizeof *m->profile_s, "epochs", err));
    m->epoch_s = m->profile_s + p->epochs;
    for (int32_t e = 0; e < p->epochs; e++) {
        m->profile_s[e] = m->epoch_s[e] = fmax(1, rint(p->epoch_s[e]));
    }
    return DLS_OK;
}

dls_status dls_gv_market_create(dls_gv *g, dls_gv_market **out, dls_error *err)
{
    const size_t n = (size_t)g->n;
    dls_gv_market *m = *out = dls_alloc_zero(1, sizeof *m);
    if (!m) {
        return dls_nomem(err, "market", sizeof *m);
    }
    m->n_jobs = g->n;
    DLS_TRY(dls_alloc_array(&m->of, n, sizeof *m->of, "market", err));
    m->replan = m->forecast_due = true;
    m->plan_from = -WINDOW;
    for (int32_t j = 0; j < g->n; j++) {
        DLS_TRY(make_member(g->job[j].profile, &m->of[j], err));
    }
    return DLS_OK;
}

void dls_gv_market_destroy(dls_gv_market *m)
{
    if (!m) {
        return;
    }
    for (int32_t j = 0; j < m->n_jobs && m->of; j++) {
        DLS_FREE_ALL(m->of[j].profile_s, m->of[j].seen, m->of[j].said);
    }
    dls_free(m->of);
    dls_market_fini(&m->market);
    dls_free(m);
}

void dls_gv_market_arrived(dls_gv_market *m, int32_t job, double now_s)
{
    m->of[job].submit_s = now_s;
    m->replan = m->forecast_due = true;
}

void dls_gv_market_left(dls_gv_market *m)
{
    m->replan = m->forecast_due = true;
}

dls_status dls_gv_market_measured(dls_gv *g, dls_gv_market *m, int32_t job, double steps_per_s,
                                  dls_error *err)
{
    member *of = &m->of[job];
    DLS_TRY(dls_grow(&of->seen, &of->seen_cap, of->n_seen + 1, sizeof *of->seen, err));
    of->seen[of->n_seen++] = (sample){g->round, steps_per_s, g->job[job].profile->batch};
    return DLS_OK;
}

void dls_gv_market_turn(dls_gv *g, dls_gv_market *m)
{
    if (!m->started || g->now_s == 0) {
        m->started = true;
        return;
    }
    for (size_t i = 0; i < g->now.n; i++) {
        const int32_t job = g->now.run[i].a;
        const dls_gv_profile *p = g->job[job].profile;
        if (g->job[job].active) {
            const int64_t epoch = g->job[job].done / dls_gv_epoch_steps(p, p->batch);
            m->of[job].epoch = epoch < p->epochs ? epoch : p->epochs;
        }
    }
    m->round++;
    if (++m->since_plan >= REPLAN) {
        m->since_plan = 0;
        m->replan = true;
    }
}

/* ---- what is expected of a job --------------------------------------------------------------- */

/* Samples measured that differ by more than 40 % from the profile's stretch all epochs. */
static void calibrate(const dls_gv *g, member *m, const dls_gv_profile *p)
{
    const double samples = (double)dls_gv_samples(p), round_s = g->p->round_s;
    double measured = 0, profiled = 0, at_s = 0;
    int64_t before = 0;
    int32_t e = 0;
    if (m->n_seen == 0) {
        return;
    }
    for (size_t i = 0; i < m->n_seen; i++) {
        const sample *s = &m->seen[i];
        measured += s->batch * s->steps_per_s * round_s * (double)(s->round - before);
        before = s->round;
    }
    const double span_s = round_s * (double)before;
    for (; e < p->epochs && at_s + m->profile_s[e] <= span_s; e++) {
        at_s += m->profile_s[e];
        profiled += samples;
    }
    e = e < p->epochs ? e : p->epochs - 1;
    if (span_s > at_s) {
        profiled += samples * (span_s - at_s) / m->epoch_s[e];
    }
    if (measured <= 0 || profiled <= 0 || fabs(measured - profiled) / profiled <= 0.4) {
        return;
    }
    for (int32_t i = 0; i < p->epochs; i++) {
        m->epoch_s[i] = m->profile_s[i] * (profiled / measured);
    }
}

/* The next distinct batch of the profile above one; 0: none. */
static int32_t next_batch(const dls_gv_profile *p, int32_t above)
{
    int32_t next = 0;
    for (int32_t e = 0; e < p->epochs; e++) {
        const int32_t b = p->epoch_batch[e];
        next = b > above && (next == 0 || b < next) ? b : next;
    }
    return next;
}

/* Seconds that are left, from how often each batch was seen so far with an equal prior. */
static double left_of(const member *m, const dls_gv_profile *p)
{
    const int64_t left = p->epochs - m->epoch;
    double batches = 0, total = 0, sum = 0, quantity = 0;
    if (left <= 0) {
        return 1;
    }
    for (int32_t b = next_batch(p, 0); b > 0; b = next_batch(p, b)) {
        batches++;
    }
    for (int32_t b = next_batch(p, 0); b > 0; b = next_batch(p, b)) {
        double count = p->epochs / batches;
        for (int32_t e = 0; e <= m->epoch && e < p->epochs; e++) {
            count += p->epoch_batch[e] == b;
        }
        total += count;
    }
    for (int32_t b = next_batch(p, 0); b > 0; b = next_batch(p, b)) {
        double count = p->epochs / batches, mean = 0, n = 0;
        int64_t seen = 0;
        for (int32_t e = 0; e < p->epochs; e++) {
            if (p->epoch_batch[e] == b) {
                mean += m->epoch_s[e];
                n++;
                seen += e <= m->epoch;
            }
        }
        count += (double)seen;
        double share = p->epochs * count / total;
        for (int64_t i = 0; i < seen && share >= 1; i++) {
            share -= 1;
        }
        quantity += share;
        sum += share * (mean / n);
    }
    const int64_t expected = (int64_t)(quantity + 1);
    return sum * (double)left / (double)(expected > left ? expected : left);
}

/* The end that a job may expect: a mean over the forecasts, weighted by how long each stood. */
static double goal_of(const member *m, int64_t round)
{
    double mean = 0, total = 0, longest = 0;
    for (size_t i = 0; i < m->n_said; i++) {
        const int64_t until = i + 1 < m->n_said ? m->said[i + 1].round : round;
        total += (double)(until - m->said[i].round);
        longest = fmax(longest, (double)(until - m->said[i].round));
    }
    for (size_t i = 0; i < m->n_said; i++) {
        const int64_t until = i + 1 < m->n_said ? m->said[i + 1].round : round;
        const double weight = longest > 0 ? (double)(until - m->said[i].round) / total : i == 0;
        mean += weight * m->said[i].finish_s;
    }
    return 0.9 * mean + 0.1 * m->said[m->n_said - 1].finish_s;
}

static void bid_for(const dls_gv *g, const dls_gv_market *m, int32_t job, dls_bidder *b)
{
    const member *of = &m->of[job];
    const dls_gv_profile *p = g->job[job].profile;
    double mean = 0;
    const int64_t known = of->epoch + 1 < p->epochs ? of->epoch + 1 : p->epochs;
    for (int64_t e = 0; e < known; e++) {
        mean += of->epoch_s[e];
    }
    mean /= (double)known;
    *b = (dls_bidder){.job = job,
                      .gpus = g->job[job].gpus,
                      .left_s = left_of(of, p),
                      .goal_s = goal_of(of, m->round)};
    for (int32_t c = 0; c <= WINDOW; c++) {
        const double epochs = fmin(g->p->round_s * c / mean, (double)(p->epochs - of->epoch));
        b->progress[c] = dls_market_worth(((double)of->epoch + epochs) / p->epochs);
        b->remaining[c] = fmax(0, b->left_s - epochs * mean);
    }
}

/* ---- rounds ---------------------------------------------------------------------------------- */

dls_status dls_gv_market_round(dls_gv *g, dls_gv_market *m, const int32_t **jobs, int32_t *n,
                               dls_error *err)
{
    const double gpus = g->gpus[2]; /* v100 */
    if (m->replan || m->round - m->plan_from >= WINDOW) {
        const double share = fmin(1, gpus / g->n_active);
        DLS_TRY(dls_market_begin(&m->market, g->n_active, err));
        for (int32_t i = 0; i < g->n_active; i++) {
            const int32_t job = g->active[i];
            const dls_gv_profile *p = g->job[job].profile;
            member *of = &m->of[job];
            calibrate(g, of, p);
            if (m->forecast_due) {
                double done = 0;
                for (int64_t e = 0; e < of->epoch; e++) {
                    done += of->epoch_s[e];
                }
                DLS_TRY(dls_grow(&of->said, &of->said_cap, of->n_said + 1, sizeof *of->said, err));
                of->said[of->n_said++] =
                    (forecast){m->round, of->submit_s + (done + left_of(of, p)) / share};
            }
            bid_for(g, m, job, &m->market.bid[i]);
        }
        dls_market_plan(&m->market, gpus, g->p->round_s, m->round);
        m->plan_from = m->round;
        m->replan = m->forecast_due = false;
        g->allocations++;
    }
    const int64_t r = m->round - m->plan_from;
    *jobs = m->market.plan + (size_t)r * (size_t)m->market.n;
    *n = m->market.plan_n[r];
    return DLS_OK;
}
