/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Shockwave's policy (Zheng et al., NSDI 2023). The authors hand its program to a solver of integer
 * programs with a limit of 15 s; here it is solved by what it is: only the number of rounds that a
 * job gets in the window counts, progress is concave in it, so for a given longest remaining time
 * the best numbers follow by marginal gain per GPU, and that time is searched for.
 */
#include "gavel/market.h"

#include "base/alloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW = 20, REPLAN = 8 }; /* rounds */
static const double makespan_weight = 1e-3, urgency = 12, longest_ratio = 1;

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

/* A job in one plan. */
typedef struct bidder {
    int32_t job;
    double gpus, left_s, goal_s, weight;
    double progress[WINDOW + 1], remaining[WINDOW + 1]; /* with so many rounds */
    int32_t least, rounds, given;                       /* rounds in the window */
    bool open, chosen;
} bidder;

struct dls_gv_market {
    member *of; /* [jobs] */
    int32_t n_jobs;
    bool replan, forecast_due, started;
    int64_t round, since_plan;
    bidder *bid; /* [n] */
    int32_t n;
    double *candidate;                            /* longest remaining times */
    int32_t *order, *best, *plan, plan_n[WINDOW]; /* plan: [WINDOW][jobs] */
    int64_t plan_from;
};

/* ---- jobs --------------------------------------------------------------------------------------
 */

static dls_status make_member(const dls_gv_profile *p, member *m, dls_error *err)
{
    m->profile_s = dls_alloc((size_t)p->epochs * 2 * sizeof *m->profile_s);
    if (!m->profile_s) {
        return dls_nomem(err, "epochs", (size_t)p->epochs * 2 * sizeof *m->profile_s);
    }
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
    m->of = dls_alloc_zero(n, sizeof *m->of);
    m->bid = dls_alloc_zero(n, sizeof *m->bid);
    m->candidate = dls_alloc_zero(n * (WINDOW + 1), sizeof *m->candidate);
    m->order = dls_alloc_zero(n * (WINDOW + 2), sizeof *m->order);
    if (!m->of || !m->bid || !m->candidate || !m->order) {
        return dls_nomem(err, "market", n * sizeof *m->bid);
    }
    m->best = m->order + n;
    m->plan = m->best + n;
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
        dls_free(m->of[j].profile_s);
        dls_free(m->of[j].seen);
        dls_free(m->of[j].said);
    }
    dls_free(m->of);
    dls_free(m->bid);
    dls_free(m->candidate);
    dls_free(m->order);
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

/* ---- what is expected of a job -----------------------------------------------------------------
 */

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

/* The logarithm of progress, interpolated between fifths; that of 0 is read as that of 1e-6. */
static double worth(double progress)
{
    static const double at[] = {0, .2, .4, .6, .8, 1};
    if (progress >= 1) {
        return 0;
    }
    int i = (int)(progress * 5);
    i = i > 4 ? 4 : i;
    while (progress > at[i + 1]) {
        i++;
    }
    while (progress < at[i]) {
        i--;
    }
    const double low = log(i == 0 ? 1e-6 : at[i]), high = log(at[i + 1]);
    return low + (progress - at[i]) / (at[i + 1] - at[i]) * (high - low);
}

static void bid_for(const dls_gv *g, const dls_gv_market *m, int32_t job, bidder *b)
{
    const member *of = &m->of[job];
    const dls_gv_profile *p = g->job[job].profile;
    double mean = 0;
    const int64_t known = of->epoch + 1 < p->epochs ? of->epoch + 1 : p->epochs;
    for (int64_t e = 0; e < known; e++) {
        mean += of->epoch_s[e];
    }
    mean /= (double)known;
    *b = (bidder){.job = job,
                  .gpus = g->job[job].gpus,
                  .left_s = left_of(of, p),
                  .goal_s = goal_of(of, m->round),
                  .weight = 1};
    for (int32_t c = 0; c <= WINDOW; c++) {
        const double epochs = fmin(g->p->round_s * c / mean, (double)(p->epochs - of->epoch));
        b->progress[c] = worth(((double)of->epoch + epochs) / p->epochs);
        b->remaining[c] = fmax(0, b->left_s - epochs * mean);
    }
}

/* ---- the program -------------------------------------------------------------------------------
 */

static int ascending(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* The best numbers of rounds if no remaining time may exceed `longest`; -INFINITY: impossible. */
static double value_of(dls_gv_market *m, double longest, double capacity)
{
    double used = 0, value = 0, last = 0;
    for (int32_t i = 0; i < m->n; i++) {
        bidder *b = &m->bid[i];
        for (b->rounds = b->least; b->rounds < WINDOW && b->remaining[b->rounds] > longest;) {
            b->rounds++;
        }
        used += b->rounds * b->gpus;
        last = fmax(last, b->remaining[b->rounds]);
        b->open = b->rounds < WINDOW;
    }
    if (used > capacity || last > longest + 1e-9) {
        return -(double)INFINITY;
    }
    for (;;) {
        bidder *best = NULL;
        double gain = 0;
        for (int32_t i = 0; i < m->n; i++) {
            bidder *b = &m->bid[i];
            const double own =
                b->open
                    ? b->weight * (b->progress[b->rounds + 1] - b->progress[b->rounds]) / b->gpus
                    : 0;
            if (b->open && (!best || own > gain)) {
                best = b;
                gain = own;
            }
        }
        if (!best) {
            break;
        }
        if (used + best->gpus <= capacity) {
            used += best->gpus;
            best->open = ++best->rounds < WINDOW;
        } else {
            best->open = false;
        }
    }
    last = 0;
    for (int32_t i = 0; i < m->n; i++) {
        value += m->bid[i].weight * m->bid[i].progress[m->bid[i].rounds];
        last = fmax(last, m->bid[i].remaining[m->bid[i].rounds]);
    }
    return value / (m->n * (double)WINDOW) - makespan_weight * last;
}

/* Search for the longest remaining time; false: nothing is possible. The answer is in `given`. */
static bool optimise(dls_gv_market *m, double capacity)
{
    int32_t n = 0, low = 0;
    double best = -(double)INFINITY;
    for (int32_t i = 0; i < m->n; i++) {
        for (int32_t c = m->bid[i].least; c <= WINDOW; c++) {
            m->candidate[n++] = m->bid[i].remaining[c];
        }
    }
    qsort(m->candidate, (size_t)n, sizeof *m->candidate, ascending);
    int32_t k = 0;
    for (int32_t i = 0; i < n; i++) {
        if (i == 0 || m->candidate[i] != m->candidate[k - 1]) {
            m->candidate[k++] = m->candidate[i];
        }
    }
    int32_t high = k - 1;
    if (!isfinite(value_of(m, m->candidate[high], capacity))) {
        return false;
    }
    while (high - low > 2) {
        const int32_t a = low + (high - low) / 3, b = high - (high - low) / 3;
        const double at_a = value_of(m, m->candidate[a], capacity);
        const double at_b = value_of(m, m->candidate[b], capacity);
        if (!isfinite(at_a) || (isfinite(at_b) && at_b >= at_a)) {
            low = a + 1;
        } else {
            high = b - 1;
        }
    }
    for (int32_t i = low > 2 ? low - 2 : 0; i < k && i < high + 3; i++) {
        const double value = value_of(m, m->candidate[i], capacity);
        if (value > best) {
            best = value;
            for (int32_t j = 0; j < m->n; j++) {
                m->bid[j].given = m->bid[j].rounds;
            }
        }
    }
    return isfinite(best);
}

/* A fair end for all if that can be; else those that are late weigh more. */
static void decide(const dls_gv *g, dls_gv_market *m, double gpus)
{
    const double share = fmin(1, gpus / m->n), round_s = g->p->round_s;
    double least = 0;
    bool fair = true;
    for (int32_t i = 0; i < m->n; i++) {
        bidder *b = &m->bid[i];
        while (b->least <= WINDOW &&
               round_s * (double)(m->round + WINDOW) + b->remaining[b->least] / share >
                   longest_ratio * b->goal_s) {
            b->least++;
        }
        fair &= b->least <= WINDOW;
        least += b->least * b->gpus;
    }
    if (fair && least <= gpus * WINDOW && optimise(m, gpus * WINDOW)) {
        return;
    }
    for (int32_t i = 0; i < m->n; i++) {
        bidder *b = &m->bid[i];
        const double ratio = (round_s * (double)m->round + b->left_s / share) / b->goal_s;
        b->least = 0;
        b->weight = ratio > longest_ratio ? pow(ratio, b->left_s < round_s ? 100.0 : urgency) : 1;
    }
    (void)optimise(m, gpus * WINDOW);
}

/* ---- rounds ------------------------------------------------------------------------------------
 */

static bool goes_first(const bidder *a, const bidder *b, int32_t left)
{
    const bool now_a = a->rounds >= left, now_b = b->rounds >= left;
    if (now_a != now_b) {
        return now_a;
    }
    const double x = a->weight / (a->given > 1 ? a->given : 1);
    const double y = b->weight / (b->given > 1 ? b->given : 1);
    if (x != y) {
        return x > y;
    }
    return a->gpus > b->gpus; /* else the earlier */
}

/* Jobs in the order of one round of the plan; insertion keeps equal ones as they are. */
static void sort_for(dls_gv_market *m, int32_t left, bool by_left)
{
    for (int32_t i = 0; i < m->n; i++) {
        int32_t at = i;
        for (; at > 0; at--) {
            const bidder *a = &m->bid[i], *b = &m->bid[m->order[at - 1]];
            if (by_left ? !(a->left_s > b->left_s) : !goes_first(a, b, left)) {
                break;
            }
            m->order[at] = m->order[at - 1];
        }
        m->order[at] = i;
    }
}

/* Every job has its rounds, the most urgent first; what is free then goes to who has most left. */
static void lay_out(dls_gv_market *m, double gpus)
{
    for (int32_t i = 0; i < m->n; i++) {
        m->bid[i].rounds = m->bid[i].given;
    }
    for (int32_t r = 0; r < WINDOW; r++) {
        int32_t *jobs = m->plan + (size_t)r * (size_t)m->n_jobs;
        double room = gpus;
        m->plan_n[r] = 0;
        for (int32_t filling = 0; filling < 2; filling++) {
            sort_for(m, WINDOW - r, filling);
            for (int32_t k = 0; k < m->n && room > 0; k++) {
                bidder *b = &m->bid[m->order[k]];
                b->chosen = filling && b->chosen;
                if (!b->chosen && (filling || b->rounds > 0) && b->gpus <= room) {
                    room -= b->gpus;
                    b->rounds -= !filling;
                    b->chosen = true;
                    jobs[m->plan_n[r]++] = b->job;
                }
            }
        }
        for (int32_t i = 0; i < m->n; i++) {
            m->bid[i].chosen = false;
        }
    }
}

dls_status dls_gv_market_round(dls_gv *g, dls_gv_market *m, const int32_t **jobs, int32_t *n,
                               dls_error *err)
{
    const double gpus = g->gpus[2]; /* v100 */
    if (m->replan || m->round - m->plan_from >= WINDOW) {
        m->n = g->n_active;
        const double share = fmin(1, gpus / m->n);
        for (int32_t i = 0; i < m->n; i++) {
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
            bid_for(g, m, job, &m->bid[i]);
        }
        decide(g, m, gpus);
        lay_out(m, gpus);
        m->plan_from = m->round;
        m->replan = m->forecast_due = false;
        g->allocations++;
    }
    const int64_t r = m->round - m->plan_from;
    *jobs = m->plan + (size_t)r * (size_t)m->n_jobs;
    *n = m->plan_n[r];
    return DLS_OK;
}
