/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Lagrange multipliers of the multiple-choice knapsack (choice.h): the prices of GPUs with which
 * the bound is greatest.
 */
#include "sched/choice.h"

#include <math.h>
#include <string.h>

enum { ASCENTS = 60, ROUNDS = 4, THOROUGH = 3, HALVINGS = 50 };

/* The bound, and what the cheapest options use; of equally cheap ones the first counts. */
static double bound_at(const dls_choice *c, const double *price, int64_t *used)
{
    double sum = 0;
    memset(used, 0, (size_t)c->types * sizeof *used);
    for (int32_t g = 0; g < c->groups; g++) {
        int32_t best = c->first[g];
        double least = (double)INFINITY;
        for (int32_t o = c->first[g]; o < c->first[g + 1]; o++) {
            const dls_choice_option *x = &c->option[o];
            const double cost = x->cost + price[x->type] * x->gpus;
            best = cost < least ? o : best;
            least = cost < least ? cost : least;
        }
        sum += least;
        used[c->option[best].type] += c->option[best].gpus;
    }
    for (int32_t t = 0; t < c->types; t++) {
        sum -= price[t] * (double)c->capacity[t];
    }
    return sum;
}

/* The best price of one type, the others given: where what is used crosses the capacity. */
static void halve(const dls_choice *c, double *price, int32_t t, double most, double close)
{
    double low = 0, high = most;
    int64_t used[DLS_TYPES_MAX];
    for (double at = price[t] * 1.1; at > 0 && at < most; at = 0) { /* near where it was? */
        const double before = price[t];
        price[t] = at;
        bound_at(c, price, used);
        high = used[t] <= c->capacity[t] ? at : high;
        price[t] = before * 0.9;
        bound_at(c, price, used);
        low = used[t] > c->capacity[t] ? price[t] : low;
    }
    price[t] = 0;
    if (low == 0) {
        bound_at(c, price, used);
        if (used[t] <= c->capacity[t]) {
            return;
        }
    }
    for (int i = 0; i < HALVINGS && high - low > close * high; i++) {
        price[t] = (low + high) / 2;
        bound_at(c, price, used);
        if (used[t] > c->capacity[t]) {
            low = price[t];
        } else {
            high = price[t];
        }
    }
    price[t] = high;
}

/* One price of all types: where all that is used crosses all there is. Jobs that any type will do
 * for change type at any difference of prices, so that looking for one price after the other from
 * zero gets stuck. */
static void start_together(const dls_choice *c, double *price, double most)
{
    double low = 0, high = most;
    for (int i = 0; i < HALVINGS && high - low > 1e-3 * high; i++) {
        const double at = i == 0 ? 0 : (low + high) / 2;
        int64_t used[DLS_TYPES_MAX], all = 0;
        for (int32_t t = 0; t < c->types; t++) {
            price[t] = at;
        }
        bound_at(c, price, used);
        for (int32_t t = 0; t < c->types; t++) {
            all += used[t] - c->capacity[t];
        }
        if (all <= 0) {
            high = at;
        } else {
            low = at;
        }
    }
}

/* With several types, steps along what is used too much (Polyak), as one price after the other
 * gets stuck where two types must move together. */
static double ascend(const dls_choice *c, double *price, double best, double above, int32_t steps)
{
    double at[DLS_TYPES_MAX];
    int64_t used[DLS_TYPES_MAX];
    memcpy(at, price, (size_t)c->types * sizeof *at);
    double f = bound_at(c, at, used), step = 1;
    for (int32_t i = 0, idle = 0; i < steps; i++) {
        double norm = 0;
        for (int32_t t = 0; t < c->types; t++) {
            const double g = (double)(used[t] - c->capacity[t]);
            norm += at[t] > 0 || g > 0 ? g * g : 0;
        }
        if (norm == 0) {
            break;
        }
        for (int32_t t = 0; t < c->types; t++) {
            at[t] = fmax(0, at[t] + step * (above - f) / norm * (double)(used[t] - c->capacity[t]));
        }
        f = bound_at(c, at, used);
        if (f > best) {
            best = f;
            idle = 0;
            memcpy(price, at, (size_t)c->types * sizeof *at);
        } else if (++idle == 5) {
            idle = 0;
            step /= 2;
            memcpy(at, price, (size_t)c->types * sizeof *at);
            f = bound_at(c, at, used);
        }
    }
    return best;
}

void dls_choice_find_prices(dls_choice *c, double above, bool thorough)
{
    double least = (double)INFINITY, most = -(double)INFINITY;
    int64_t used[DLS_TYPES_MAX];
    for (size_t o = 0; o < c->n_options; o++) {
        least = fmin(least, c->option[o].cost);
        most = fmax(most, c->option[o].cost);
    }
    if (c->types > 1 && !thorough) {
        start_together(c, c->price, most - least + 1);
    }
    double best = bound_at(c, c->price, used);
    for (int round = 0; round < (thorough ? THOROUGH * ROUNDS : ROUNDS); round++) {
        double price[DLS_TYPES_MAX];
        memcpy(price, c->price, sizeof price);
        for (int32_t t = 0; t < c->types; t++) {
            halve(c, price, t, most - least + 1, c->types > 1 && !thorough ? 1e-5 : 1e-9);
        }
        double f = bound_at(c, price, used);
        if (c->types > 1 && above > f) {
            f = ascend(c, price, f, above, thorough ? THOROUGH * ASCENTS : ASCENTS);
        }
        const double won = f - best;
        if (won > 0) {
            best = f;
            memcpy(c->price, price, sizeof price);
        }
        if (c->types == 1 || won <= (thorough ? 1e-9 : 1e-6) * fabs(best)) {
            break;
        }
    }
    c->bound = best;
}
