/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The program of sched/market.h: numbers of rounds, and the rounds themselves.
 */
#include "sched/market.h"

#include "dlsim/memory.h"
#include "sched/heap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW DLS_MARKET_WINDOW
static const double makespan_weight = 1e-3, urgency = 12, longest_ratio = 1;

typedef struct dls_market_turn { /* a bidder's */
    double urgent, gpus;
    int32_t bidder;
} turn;

dls_status dls_market_begin(dls_market *m, int32_t n, dls_error *err)
{
    const size_t bids = (size_t)n, cells = bids * (WINDOW + 1);
    size_t *cap = m->cap;
    DLS_TRY(dls_grow(&m->bid, &cap[0], bids, sizeof *m->bid, err));
    DLS_TRY(dls_grow(&m->candidate, &cap[1], cells, sizeof *m->candidate, err));
    DLS_TRY(dls_grow(&m->order, &cap[2], 2 * bids, sizeof *m->order, err));
    DLS_TRY(dls_grow(&m->heap, &cap[3], bids, sizeof *m->heap, err));
    DLS_TRY(dls_grow(&m->gain, &cap[4], bids, sizeof *m->gain, err));
    DLS_TRY(dls_grow(&m->turn, &cap[5], bids, sizeof *m->turn, err));
    DLS_TRY(dls_grow(&m->plan, &cap[6], cells, sizeof *m->plan, err));
    m->n = n;
    return DLS_OK;
}

dls_status dls_market_clone(dls_market *m, const dls_market *from, dls_error *err)
{
    const size_t n = (size_t)from->n * WINDOW;
    *m = (dls_market){.n = from->n};
    memcpy(m->plan_n, from->plan_n, sizeof m->plan_n);
    m->cap[6] = n;
    return dls_duplicate(&m->plan, from->plan, n, n, sizeof *m->plan, err);
}

void dls_market_fini(dls_market *m)
{
    DLS_FREE_ALL(m->bid, m->candidate, m->order, m->heap, m->gain, m->plan, m->turn);
    memset(m, 0, sizeof *m);
}

double dls_market_worth(double progress)
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

/* ---- the program ----------------------------------------------------------------------------- */

DLS_BY(ascending, double, DLS_ORDER(*x, *y));

/* Who gains most per GPU by one more round, of equals the first, is on top of the heap. */
static bool above(const void *market, int32_t a, int32_t b)
{
    const dls_market *m = market;
    return m->gain[a] != m->gain[b] ? m->gain[a] > m->gain[b] : a < b;
}

static void set_gain(dls_market *m, int32_t i)
{
    const dls_bidder *b = &m->bid[i];
    m->gain[i] = b->weight * (b->progress[b->rounds + 1] - b->progress[b->rounds]) / b->gpus;
}

static void fill_heap(dls_market *m)
{
    for (int32_t i = 0; i < m->n; i++) {
        if (m->bid[i].open) {
            set_gain(m, i);
            m->heap[m->heap_n++] = i;
        }
    }
    dls_heap_make(m->heap, m->heap_n, above, m);
}

/* The one on top has got a round, or can get none. */
static void renew_top(dls_market *m)
{
    if (m->bid[m->heap[0]].open) {
        set_gain(m, m->heap[0]);
    } else {
        m->heap[0] = m->heap[--m->heap_n];
    }
    if (m->heap_n > 0) {
        dls_heap_sink(m->heap, m->heap_n, 0, above, m);
    }
}

/* The best numbers of rounds if no remaining time may exceed `longest`; -INFINITY: impossible. */
static double value_of(dls_market *m, double longest, double capacity)
{
    double used = 0, value = 0, last = 0;
    for (int32_t i = 0; i < m->n; i++) {
        dls_bidder *b = &m->bid[i];
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
    for (int32_t i = 0; i < m->n && m->plenty; i++) {
        m->bid[i].rounds = WINDOW;
    }
    m->heap_n = 0;
    if (!m->plenty) {
        fill_heap(m);
    }
    while (m->heap_n > 0) {
        dls_bidder *best = &m->bid[m->heap[0]];
        if (used + best->gpus <= capacity) {
            used += best->gpus;
            best->open = ++best->rounds < WINDOW;
        } else {
            best->open = false;
        }
        renew_top(m);
    }
    last = 0;
    for (int32_t i = 0; i < m->n; i++) {
        value += m->bid[i].weight * m->bid[i].progress[m->bid[i].rounds];
        last = fmax(last, m->bid[i].remaining[m->bid[i].rounds]);
    }
    return value / (m->n * (double)WINDOW) - makespan_weight * last;
}

static void give(dls_market *m)
{
    for (int32_t i = 0; i < m->n; i++) {
        m->bid[i].given = m->bid[i].rounds;
    }
}

/* Search for the longest remaining time; false: nothing is possible. The answer is in `given`. */
static bool optimise(dls_market *m, double capacity)
{
    int32_t n = 0, low = 0;
    double best = -(double)INFINITY;
    if (m->plenty) { /* whatever is left then is the longest */
        const bool possible = isfinite(value_of(m, (double)INFINITY, capacity));
        if (possible) {
            give(m);
        }
        return possible;
    }
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
        /* Equal: both are longer than the best numbers need without a bound, and all beyond. */
        if (!isfinite(at_a) || at_b > at_a) {
            low = a + 1;
        } else {
            high = b - 1;
        }
    }
    for (int32_t i = low > 2 ? low - 2 : 0; i < k && i < high + 3; i++) {
        const double value = value_of(m, m->candidate[i], capacity);
        if (value > best) {
            best = value;
            give(m);
        }
    }
    return isfinite(best);
}

/* A fair end for all if that can be; else those that are late weigh more. */
static void decide(dls_market *m, double gpus, double round_s, int64_t round)
{
    const double share = fmin(1, gpus / m->n);
    double least = 0;
    bool fair = true;
    for (int32_t i = 0; i < m->n; i++) {
        dls_bidder *b = &m->bid[i];
        while (b->least <= WINDOW &&
               round_s * (double)(round + WINDOW) + b->remaining[b->least] / share >
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
        dls_bidder *b = &m->bid[i];
        const double ratio = (round_s * (double)round + b->left_s / share) / b->goal_s;
        b->least = 0;
        b->weight = ratio > longest_ratio ? pow(ratio, b->left_s < round_s ? 100.0 : urgency) : 1;
    }
    (void)optimise(m, gpus * WINDOW);
}

/* ---- rounds ---------------------------------------------------------------------------------- */

DLS_BY(by_turn, turn, DLS_DOWN(urgent), DLS_DOWN(gpus), DLS_UP(bidder));

/* Bidders by urgency, or by what they have left. */
static void sort_by(dls_market *m, int32_t *order, bool left)
{
    for (int32_t i = 0; i < m->n; i++) {
        const dls_bidder *b = &m->bid[i];
        m->turn[i] = left ? (turn){.urgent = b->left_s, .bidder = i}
                          : (turn){b->weight / (b->given > 1 ? b->given : 1), b->gpus, i};
    }
    qsort(m->turn, (size_t)m->n, sizeof *m->turn, by_turn);
    for (int32_t i = 0; i < m->n; i++) {
        order[i] = m->turn[i].bidder;
    }
}

/* Who is to run in every round that is left goes first, then who has rounds, the most urgent first; what is free then
 * goes to who has most left. */
enum { MUST, MAY, FILLING };

static bool takes_part(const dls_bidder *b, int step, int32_t left)
{
    const bool must = b->rounds >= left;
    return !b->chosen && (step == FILLING || (must ? step == MUST : step == MAY && b->rounds > 0));
}

static void lay_out(dls_market *m, double gpus)
{
    int32_t *by_left = m->order + m->n;
    sort_by(m, m->order, false);
    sort_by(m, by_left, true);
    for (int32_t i = 0; i < m->n; i++) {
        m->bid[i].rounds = m->bid[i].given;
    }
    for (int32_t r = 0; r < WINDOW; r++) {
        int32_t *jobs = m->plan + (size_t)r * (size_t)m->n;
        double room = gpus;
        m->plan_n[r] = 0;
        for (int step = MUST; step <= FILLING; step++) {
            const int32_t *order = step == FILLING ? by_left : m->order;
            for (int32_t k = 0; k < m->n && room > 0 && m->plan_n[r] < m->n; k++) {
                dls_bidder *b = &m->bid[order[k]];
                if (b->gpus <= room && takes_part(b, step, WINDOW - r)) {
                    room -= b->gpus;
                    b->rounds -= step != FILLING;
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

void dls_market_plan(dls_market *m, double gpus, double round_s, int64_t round)
{
    double all = 0;
    for (int32_t i = 0; i < m->n; i++) {
        m->bid[i].weight = 1;
        m->bid[i].least = m->bid[i].rounds = m->bid[i].given = 0;
        m->bid[i].open = m->bid[i].chosen = false;
        all += m->bid[i].gpus;
    }
    m->plenty = all <= gpus;
    decide(m, gpus, round_s, round);
    lay_out(m, gpus);
}
