/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Lagrange multipliers of the multiple-choice knapsack (choice.h): the prices of GPUs with which
 * the bound is greatest.
 */
#include "sched/choice.h"

#include "dlsim/memory.h"

#include <math.h>
#include <string.h>

enum { ASCENTS = 60, ROUNDS = 4, THOROUGH = 3, HALVINGS = 50 };

/* Groups with the same options, of which all pick the same. */
typedef struct dls_choice_kind {
    int32_t group, count;
    double least; /* what the cheapest option costs at the prices that were tried last */
} kind;

/* The search for where what is used crosses the capacity, between a low and a high price. A kind that
 * picks the same option at both ends picks it between them, too, unless rounding decides. */
typedef struct dls_choice_open {
    int32_t kind,
        at[3]; /* its pick at either end and at the last price; -1: not known, or near a tie */
} open;
static bool same_options(const dls_choice *c, int32_t a, int32_t b)
{
    const size_t n = (size_t)(c->first[a + 1] - c->first[a]);
    return n == (size_t)(c->first[b + 1] - c->first[b]) &&
           memcmp(c->option + c->first[a], c->option + c->first[b], n * sizeof *c->option) == 0;
}

dls_status dls_choice_find_kinds(dls_choice *c, dls_error *err)
{
    const size_t n = (size_t)c->groups;
    DLS_TRY(dls_grow(&c->open, &c->cap_open, n, sizeof *c->open, err));
    DLS_TRY(dls_grow(&c->kind, &c->cap_kind, n, sizeof *c->kind, err));
    DLS_TRY(dls_grow(&c->kind_of, &c->cap_kind_of, n, sizeof *c->kind_of, err));
    DLS_TRY(dls_grow(&c->keyed, &c->cap_keyed, 2 * n, sizeof *c->keyed, err));
    for (int32_t g = 0; g < c->groups; g++) {
        uint64_t hash = 0;
        for (int32_t o = c->first[g]; o < c->first[g + 1]; o++) {
            const dls_choice_option *x = &c->option[o];
            uint64_t bits;
            memcpy(&bits, &x->cost, sizeof bits);
            hash = (hash ^ bits ^ (uint64_t)x->type << 32 ^ (uint64_t)x->gpus) * 0x9E3779B97F4A7C15;
            hash ^= hash >> 32;
        }
        c->keyed[g] = (dls_keyed){hash, (uint32_t)g};
    }
    /* Of equal ones the first stands for all; kinds are in the order of groups, as memory is. */
    const dls_keyed *sorted = dls_radix_sort(c->keyed, c->keyed + n, n);
    for (size_t i = 0, at = 0; i < n; i++) {
        at = same_options(c, (int32_t)sorted[at].value, (int32_t)sorted[i].value) ? at : i;
        c->kind_of[sorted[i].value] = (int32_t)sorted[at].value;
    }
    c->kinds = 0;
    for (int32_t g = 0; g < c->groups; g++) {
        const int32_t first = c->kind_of[g];
        if (first == g) {
            c->kind[c->kinds] = (kind){.group = g};
            c->kind_of[g] = c->kinds++;
        } else {
            c->kind_of[g] = c->kind_of[first];
        }
        c->kind[c->kind_of[g]].count++;
    }
    return DLS_OK;
}

/* The cheapest option of a group, of equally cheap ones the first; what it and the next cheapest cost. */
static int32_t cheapest(const dls_choice *c, const double *price, int32_t group, double *two)
{
    int32_t best = c->first[group];
    double least = (double)INFINITY, second = (double)INFINITY;
    for (int32_t o = best; o < c->first[group + 1]; o++) {
        const dls_choice_option *x = &c->option[o];
        const double cost = x->cost + price[x->type] * x->gpus;
        const double larger = cost < least ? least : cost;
        best = cost < least ? o : best;
        least = cost < least ? cost : least;
        second = larger < second ? larger : second;
    }
    two[0] = least;
    two[1] = second;
    return best;
}

/* The bound, and what the cheapest options use. */
static double bound_at(const dls_choice *c, const double *price, int64_t *used)
{
    double sum = 0, two[2];
    memset(used, 0, (size_t)c->types * sizeof *used);
    for (int32_t k = 0; k < c->kinds; k++) {
        const dls_choice_option *x = &c->option[cheapest(c, price, c->kind[k].group, two)];
        c->kind[k].least = two[0];
        used[x->type] += (int64_t)c->kind[k].count * x->gpus;
    }
    for (int32_t g = 0; g < c->groups; g++) {
        sum += c->kind[c->kind_of[g]].least;
    }
    for (int32_t t = 0; t < c->types; t++) {
        sum -= price[t] * (double)c->capacity[t];
    }
    return sum;
}

enum { LOW, HIGH, LAST };

typedef struct crossing {
    double cost, gpus; /* the largest of any option */
    int32_t n, end;    /* kinds that are open; which end the last price has become, LAST: none */
    int64_t settled;   /* what the others use */
} crossing;

static void begin(const dls_choice *c, crossing *x)
{
    x->n = c->kinds;
    x->end = LAST;
    x->settled = 0;
    for (int32_t k = 0; k < c->kinds; k++) {
        c->open[k] = (open){k, {-1, -1, -1}};
    }
}

/* GPUs of a type, or with -1 of all, that the cheapest options use, as bound_at has them. */
static int64_t used_at(const dls_choice *c, const double *price, int32_t type, crossing *x)
{
    double dearest = 0;
    int64_t used = 0;
    int32_t n = 0;
    for (int32_t t = 0; t < c->types; t++) {
        dearest = fmax(dearest, price[t]);
    }
    const double tie = 1e-12 * (x->cost + dearest * x->gpus);
    for (int32_t i = 0; i < x->n; i++) {
        open o = c->open[i];
        double two[2];
        o.at[x->end] = o.at[LAST];
        const bool settled = o.at[LOW] >= 0 && o.at[LOW] == o.at[HIGH];
        const int32_t best = settled ? o.at[LOW] : cheapest(c, price, c->kind[o.kind].group, two);
        const dls_choice_option *y = &c->option[best];
        const int64_t here =
            type < 0 || y->type == type ? (int64_t)c->kind[o.kind].count * y->gpus : 0;
        if (settled) {
            x->settled += here;
            continue;
        }
        used += here;
        o.at[LAST] = two[1] - two[0] > tie ? best : -1;
        c->open[n++] = o;
    }
    x->n = n;
    return used + x->settled;
}

/* The best price of one type, the others given: where what is used crosses the capacity. */
static void halve(const dls_choice *c, double *price, int32_t t, double most, double close,
                  crossing *x)
{
    double low = 0, high = most;
    begin(c, x);
    for (double at = price[t] * 1.1; at > 0 && at < most; at = 0) { /* near where it was? */
        const double before = price[t];
        price[t] = at;
        x->end = used_at(c, price, t, x) <= c->capacity[t] ? HIGH : LAST;
        high = x->end == HIGH ? at : high;
        price[t] = before * 0.9;
        x->end = used_at(c, price, t, x) > c->capacity[t] ? LOW : LAST;
        low = x->end == LOW ? price[t] : low;
    }
    price[t] = 0;
    if (low == 0) {
        if (used_at(c, price, t, x) <= c->capacity[t]) {
            return;
        }
        x->end = LOW;
    }
    for (int i = 0; i < HALVINGS && high - low > close * high; i++) {
        price[t] = (low + high) / 2;
        x->end = used_at(c, price, t, x) > c->capacity[t] ? LOW : HIGH;
        *(x->end == LOW ? &low : &high) = price[t];
    }
    price[t] = high;
}

/* One price of all types: where all that is used crosses all there is. Jobs that any type will do
 * for change type at any difference of prices, so that looking for one price after the other from
 * zero gets stuck. */
static void start_together(const dls_choice *c, double *price, double most, crossing *x)
{
    double low = 0, high = most;
    int64_t all = 0;
    begin(c, x);
    for (int32_t t = 0; t < c->types; t++) {
        all += c->capacity[t];
    }
    for (int i = 0; i < HALVINGS && high - low > 1e-3 * high; i++) {
        const double at = i == 0 ? 0 : (low + high) / 2;
        for (int32_t t = 0; t < c->types; t++) {
            price[t] = at;
        }
        x->end = used_at(c, price, -1, x) > all ? LOW : HIGH;
        *(x->end == LOW ? &low : &high) = at;
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
    crossing x = {0};
    for (size_t o = 0; o < c->n_options; o++) {
        const double cost = c->option[o].cost, gpus = c->option[o].gpus;
        least = cost < least ? cost : least;
        most = cost > most ? cost : most;
        x.gpus = gpus > x.gpus ? gpus : x.gpus;
    }
    x.cost = fmax(fabs(least), fabs(most));
    if (c->types > 1 && !thorough) {
        start_together(c, c->price, most - least + 1, &x);
    }
    double best = bound_at(c, c->price, used);
    for (int round = 0; round < (thorough ? THOROUGH * ROUNDS : ROUNDS); round++) {
        double price[DLS_TYPES_MAX];
        memcpy(price, c->price, sizeof price);
        for (int32_t t = 0; t < c->types; t++) {
            halve(c, price, t, most - least + 1, c->types > 1 && !thorough ? 1e-5 : 1e-9, &x);
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
