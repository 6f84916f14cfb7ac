/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The multiple-choice knapsack (choice.h).
 *
 * With prices u of GPUs every group has a cheapest option, and L = sum of these - u . capacity is a
 * bound. Any other option costs its *reduced* cost more, so a pick costs L + the reduced costs of
 * its options + u . what is left of the capacities. The dynamic programme keeps the partial picks
 * whose reduced costs are below a threshold, of those that use equally many GPUs the cheapest one.
 * If a pick below the threshold is found, none is cheaper; if not, the threshold grows.
 */
#include "sched/choice.h"

#include "dlsim/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NODES_MOST = 1 << 21, STATES_MOST = 1 << 12, MOVES = 8 };

typedef struct dls_choice_state {
    uint64_t used; /* GPUs of each type, in mixed radix */
    double more;   /* reduced costs */
    int32_t node;
} dls_choice_state;

typedef struct dls_choice_node {
    int32_t parent, option;
} dls_choice_node;

/* What the groups from one place of the order on use at least and at most. */
typedef struct dls_choice_rest {
    int64_t least[DLS_TYPES_MAX], most[DLS_TYPES_MAX];
} dls_choice_rest;

typedef struct dls_choice_key {
    double second; /* reduced cost of the second cheapest option */
    int32_t group;
} dls_choice_key;

/* ---- a problem ------------------------------------------------------------------------------- */

void dls_choice_begin(dls_choice *c, int32_t types, const int64_t *capacity)
{
    c->groups = 0;
    c->n_options = 0;
    c->types = types;
    memset(c->price, 0,
           sizeof c->price); /* the same programme has the same pick, whatever was before */
    memcpy(c->capacity, capacity, (size_t)types * sizeof *capacity);
}

dls_status dls_choice_group(dls_choice *c, dls_error *err)
{
    DLS_TRY(dls_grow(&c->first, &c->cap_first, (size_t)c->groups + 2, sizeof *c->first, err));
    c->first[c->groups++] = (int32_t)c->n_options;
    c->first[c->groups] = (int32_t)c->n_options;
    return DLS_OK;
}

dls_status dls_choice_add(dls_choice *c, double cost, int32_t type, int32_t gpus, dls_error *err)
{
    DLS_TRY(dls_grow(&c->option, &c->cap_options, c->n_options + 1, sizeof *c->option, err));
    c->option[c->n_options++] = (dls_choice_option){cost, type, gpus};
    c->first[c->groups] = (int32_t)c->n_options;
    return DLS_OK;
}

void dls_choice_fini(dls_choice *c)
{
    for (int i = 0; i < 4; i++) {
        dls_free(c->state[i]);
    }
    DLS_FREE_ALL(c->option, c->first, c->pick, c->node, c->kept, c->reduced, c->order, c->rest,
                 c->move, c->keyed, c->kind, c->open, c->kind_of, c->before);
}

/* ---- a pick ---------------------------------------------------------------------------------- */

static void reduce(dls_choice *c)
{
    for (int32_t g = 0; g < c->groups; g++) {
        double least = (double)INFINITY;
        for (int32_t o = c->first[g]; o < c->first[g + 1]; o++) {
            const dls_choice_option *x = &c->option[o];
            c->reduced[o] = x->cost + c->price[x->type] * x->gpus;
            least = fmin(least, c->reduced[o]);
        }
        for (int32_t o = c->first[g]; o < c->first[g + 1]; o++) {
            c->reduced[o] -= least;
        }
    }
}

/* Everybody on as few GPUs as can be. */
static bool start_smallest(dls_choice *c, int64_t *left)
{
    bool fits = true;
    memcpy(left, c->capacity, (size_t)c->types * sizeof *left);
    c->cost = 0;
    for (int32_t g = 0; g < c->groups; g++) {
        int32_t best = c->first[g];
        for (int32_t o = best + 1; o < c->first[g + 1]; o++) {
            const dls_choice_option *x = &c->option[o], *y = &c->option[best];
            best = x->gpus < y->gpus || (x->gpus == y->gpus && x->cost < y->cost) ? o : best;
        }
        c->pick[g] = best;
        c->cost += c->option[best].cost;
        left[c->option[best].type] -= c->option[best].gpus;
        fits = fits && left[c->option[best].type] >= 0;
    }
    return fits;
}

static void take_option(dls_choice *c, int32_t group, int32_t option, int64_t *left)
{
    const dls_choice_option *x = &c->option[option], *y = &c->option[c->pick[group]];
    left[y->type] += y->gpus;
    left[x->type] -= x->gpus;
    c->cost += x->cost - y->cost;
    c->pick[group] = option;
}

/* The cheapest option of a group at these prices; of equals the one with fewest GPUs. */
static int32_t cheapest(const dls_choice *c, int32_t group)
{
    int32_t best = c->first[group];
    for (int32_t o = best + 1; o < c->first[group + 1]; o++) {
        best = c->reduced[o] < c->reduced[best] || (c->reduced[o] == c->reduced[best] &&
                                                    c->option[o].gpus < c->option[best].gpus)
                   ? o
                   : best;
    }
    return best;
}

/* What a move loses of reduced cost for what its GPUs are worth at these prices. */
typedef struct dls_choice_move {
    double loss;
    int32_t group, from, to;
} dls_choice_move;

/* Does it help: back, out of a type of which too much is used; else to what costs less and fits? */
static bool helps(const dls_choice *c, bool back, int32_t from, int32_t to, const int64_t *left)
{
    const dls_choice_option *x = &c->option[from], *y = &c->option[to];
    if (x->type == y->type) {
        return back ? left[x->type] < 0 && y->gpus < x->gpus
                    : y->cost < x->cost && y->gpus - x->gpus <= left[x->type];
    }
    return y->gpus <= left[y->type] &&
           (back ? left[x->type] < 0 && x->gpus > 0 : y->cost < x->cost);
}

static double loss_of(const dls_choice *c, bool back, int32_t from, int32_t to)
{
    const dls_choice_option *x = &c->option[from], *y = &c->option[to];
    const double loss = c->reduced[to] - c->reduced[from];
    if (back) {
        return loss / (x->gpus - (x->type == y->type ? y->gpus : 0));
    }
    const double more = c->price[y->type] * y->gpus - c->price[x->type] * x->gpus;
    return more > 0 ? loss / more : -1;
}

/* In the order of the numbers, which are no NaN. */
static uint64_t key_of(double x)
{
    uint64_t bits;
    x += 0.0; /* -0 is 0 */
    memcpy(&bits, &x, sizeof bits);
    return bits ^ (bits >> 63 ? UINT64_MAX : UINT64_C(1) << 63);
}

/* All moves that help, those that lose least first, one for a group; of equals as they are made. */
static dls_status make_moves(dls_choice *c, bool back, int64_t *left, bool *any, dls_error *err)
{
    size_t n = 0;
    *any = false;
    for (int32_t g = 0; g < c->groups; g++) {
        const int32_t from = c->pick[g];
        for (int32_t o = c->first[g]; o < c->first[g + 1]; o++) {
            if (o != from && helps(c, back, from, o, left)) {
                DLS_TRY(dls_grow(&c->move, &c->cap_move, n + 1, sizeof *c->move, err));
                c->move[n++] = (dls_choice_move){loss_of(c, back, from, o), g, from, o};
            }
        }
    }
    DLS_TRY(dls_grow(&c->keyed, &c->cap_keyed, 2 * n + 1, sizeof *c->keyed, err));
    for (size_t i = 0; i < n; i++) {
        c->keyed[i] = (dls_keyed){key_of(c->move[i].loss), (uint32_t)i};
    }
    const dls_keyed *sorted = dls_radix_sort(c->keyed, c->keyed + n, n);
    for (size_t i = 0; i < n; i++) {
        const dls_choice_move *m = &c->move[sorted[i].value];
        if (c->pick[m->group] == m->from && helps(c, back, m->from, m->to, left)) {
            take_option(c, m->group, m->to, left);
            *any = true;
        }
    }
    return DLS_OK;
}

/* From the pick that is cheapest at these prices, back where it uses too much, then forward where
 * it still fits. Jobs that are alike change their option at one price all together, so at the best
 * prices many options cost the same; which of them are taken is what these moves settle. */
static dls_status improve(dls_choice *c, int64_t *left, dls_error *err)
{
    bool any = true;
    for (int32_t g = 0; g < c->groups; g++) {
        take_option(c, g, cheapest(c, g), left);
    }
    for (int pass = 0; pass < MOVES && any; pass++) {
        DLS_TRY(make_moves(c, true, left, &any, err));
    }
    any = true;
    for (int pass = 0; pass < MOVES && any; pass++) {
        DLS_TRY(make_moves(c, false, left, &any, err));
    }
    return DLS_OK;
}

/* ---- the dynamic programme ------------------------------------------------------------------- */

/* Numbers of GPUs of all types in one, the first type's in the lowest digits: digits of whole bits, if
 * those are enough, which takes no divisions. The order is the same. */
typedef struct radix {
    uint64_t stride[DLS_TYPES_MAX], size[DLS_TYPES_MAX];
    uint32_t shift[DLS_TYPES_MAX], bits;
} radix;

/* false: the GPUs of so many types have no common number. */
static bool make_radix(const dls_choice *c, radix *r)
{
    uint64_t stride = 1;
    r->bits = 0;
    for (int32_t t = 0; t < c->types; t++) {
        r->stride[t] = stride;
        r->size[t] = (uint64_t)c->capacity[t] + 1;
        if (stride > (UINT64_C(1) << 62) / r->size[t]) {
            return false;
        }
        stride *= r->size[t];
        r->shift[t] = r->bits;
        while (r->size[t] > UINT64_C(1) << (r->bits - r->shift[t])) {
            r->bits++;
        }
    }
    for (int32_t t = 0; t < c->types && r->bits < 64; t++) {
        r->stride[t] = UINT64_C(1) << r->shift[t];
        r->size[t] = UINT64_C(1) << ((t + 1 < c->types ? r->shift[t + 1] : r->bits) - r->shift[t]);
    }
    return true;
}

static int64_t used_of(const radix *r, uint64_t used, int32_t t)
{
    return (int64_t)(r->bits < 64 ? used >> r->shift[t] & (r->size[t] - 1)
                                  : used / r->stride[t] % r->size[t]);
}

/* What a state that has used so much costs at least more, as GPUs stay idle; infinite: the rest
 * does not fit. */
static double idle_cost(const dls_choice *c, const radix *r, uint64_t used,
                        const dls_choice_rest *rest)
{
    double cost = 0;
    for (int32_t t = 0; t < c->types; t++) {
        const int64_t left = c->capacity[t] - used_of(r, used, t);
        if (left < rest->least[t]) {
            return (double)INFINITY;
        }
        cost += left > rest->most[t] ? c->price[t] * (double)(left - rest->most[t]) : 0;
    }
    return cost;
}

DLS_BY(by_second, dls_choice_key, DLS_DOWN(second), DLS_UP(group));

/* Groups whose options differ much come first: while few options are left there are few states. */
static void sort(dls_choice *c)
{
    for (int32_t g = 0; g < c->groups; g++) {
        double two[2] = {(double)INFINITY, (double)INFINITY};
        for (int32_t o = c->first[g]; o < c->first[g + 1]; o++) {
            const double x = c->reduced[o];
            two[1] = x < two[0] ? two[0] : fmin(two[1], x);
            two[0] = fmin(two[0], x);
        }
        c->order[g] = (dls_choice_key){two[1], g};
    }
    dls_sort(c->order, (size_t)c->groups, sizeof *c->order, by_second);
}

/* Of the options below the threshold, from each place of the order on. */
static void add_up(dls_choice *c, double threshold)
{
    memset(&c->rest[c->groups], 0, sizeof *c->rest);
    for (int32_t i = c->groups; i-- > 0;) {
        const int32_t g = c->order[i].group;
        int64_t least[DLS_TYPES_MAX], most[DLS_TYPES_MAX] = {0};
        int32_t options = 0;
        memset(least, 0x3f, sizeof least);
        for (int32_t t = 0; t < c->types; t++) {
            int64_t on_other = 0, n = 0;
            for (int32_t o = c->first[g]; o < c->first[g + 1]; o++) {
                const dls_choice_option *x = &c->option[o];
                if (c->reduced[o] < threshold) {
                    options++;
                    on_other += x->type != t;
                    n = x->type == t && x->gpus > n ? x->gpus : n;
                    least[t] = x->type == t && x->gpus < least[t] ? x->gpus : least[t];
                }
            }
            most[t] = n;
            least[t] = on_other > 0 || options == 0 ? 0 : least[t];
        }
        for (int32_t t = 0; t < c->types; t++) {
            c->rest[i].least[t] = c->rest[i + 1].least[t] + least[t];
            c->rest[i].most[t] = c->rest[i + 1].most[t] + most[t];
        }
    }
}

static dls_status push_state(dls_choice *c, int which, size_t *n, dls_choice_state s,
                             dls_error *err)
{
    DLS_TRY(dls_grow(&c->state[which], &c->cap_state[which], *n + 1, sizeof s, err));
    c->state[which][(*n)++] = s;
    return DLS_OK;
}

/* Both in order of `used`; of equals the cheaper one, of equally cheap ones the first list's. */
static dls_status merge(dls_choice *c, int out, const dls_choice_state *x, size_t nx,
                        const dls_choice_state *y, size_t ny, size_t *n, dls_error *err)
{
    *n = 0;
    for (size_t i = 0, k = 0; i < nx || k < ny;) {
        if (k == ny || (i < nx && x[i].used < y[k].used)) {
            DLS_TRY(push_state(c, out, n, x[i++], err));
        } else if (i == nx || y[k].used < x[i].used) {
            DLS_TRY(push_state(c, out, n, y[k++], err));
        } else {
            DLS_TRY(push_state(c, out, n, x[i].more <= y[k].more ? x[i] : y[k], err));
            i++;
            k++;
        }
    }
    return DLS_OK;
}

/* Too many states, in order of `used`: the cheapest ones go on, of equals the first. *lost: the least that
 * one of the others costs. */
static dls_status keep_cheapest(dls_choice *c, dls_choice_state *s, size_t *n, size_t most,
                                double *lost, dls_error *err)
{
    const size_t all = *n;
    if (all <= most) {
        return DLS_OK;
    }
    DLS_TRY(dls_grow(&c->keyed, &c->cap_keyed, 2 * all, sizeof *c->keyed, err));
    for (size_t i = 0; i < all; i++) {
        c->keyed[i] = (dls_keyed){key_of(s[i].more), (uint32_t)i};
    }
    const dls_choice_state next = s[dls_radix_sort(c->keyed, c->keyed + all, all)[most].value];
    *n = 0;
    for (size_t i = 0; i < all; i++) {
        if (s[i].more < next.more || (s[i].more == next.more && s[i].used < next.used)) {
            s[(*n)++] = s[i];
        }
    }
    *lost = fmin(*lost, next.more);
    return DLS_OK;
}

/* The states behind one more group: state[0] becomes what is reached from it. A state's node is
 * that of its parent until it is known which states are kept. */
static dls_status extend(dls_choice *c, const radix *r, int32_t place, double threshold, size_t *n,
                         double *lost, dls_error *err)
{
    const int32_t g = c->order[place].group;
    const dls_choice_rest *rest = &c->rest[place + 1];
    const size_t most =
        NODES_MOST / (size_t)c->groups < STATES_MOST ? NODES_MOST / (size_t)c->groups : STATES_MOST;
    size_t n_out = 0, n_new;
    int out = 1, free = 2; /* state[out]: reached so far */
    const size_t base = c->n_nodes;
    for (int32_t o = c->first[g]; o < c->first[g + 1]; o++) {
        const dls_choice_option *x = &c->option[o];
        if (!(c->reduced[o] < threshold)) {
            continue;
        }
        n_new = 0;
        for (size_t i = 0; i < *n; i++) {
            dls_choice_state s = c->state[0][i];
            s.more += c->reduced[o];
            if (!(s.more < threshold) ||
                used_of(r, s.used, x->type) + x->gpus > c->capacity[x->type]) {
                continue;
            }
            s.used += (uint64_t)x->gpus * r->stride[x->type];
            if (s.more + idle_cost(c, r, s.used, rest) < threshold) {
                DLS_TRY(dls_grow(&c->node, &c->cap_node, c->n_nodes + 1, sizeof *c->node, err));
                c->node[c->n_nodes] = (dls_choice_node){s.node, o};
                s.node = (int32_t)c->n_nodes++;
                DLS_TRY(push_state(c, 3, &n_new, s, err));
            }
        }
        size_t merged;
        DLS_TRY(merge(c, free, c->state[out], n_out, c->state[3], n_new, &merged, err));
        n_out = merged;
        out = free;
        free = 3 - out;
    }
    DLS_TRY(keep_cheapest(c, c->state[out], &n_out, most, lost, err));
    /* Nodes of states that are gone are given back. */
    DLS_TRY(dls_grow(&c->state[0], &c->cap_state[0], n_out, sizeof *c->state[0], err));
    DLS_TRY(dls_grow(&c->kept, &c->cap_kept, n_out + 1, sizeof *c->kept, err));
    for (size_t i = 0; i < n_out; i++) {
        c->kept[i] = c->node[c->state[out][i].node];
    }
    for (size_t i = 0; i < n_out; i++) {
        c->state[0][i] = c->state[out][i];
        c->state[0][i].node = (int32_t)(base + i);
        c->node[base + i] = c->kept[i];
    }
    c->n_nodes = base + n_out;
    *n = n_out;
    return DLS_OK;
}

/* The cheapest pick that costs less than bound + threshold, if there is one. */
static dls_status explore(dls_choice *c, const radix *r, double threshold, double *lost,
                          bool *found, dls_error *err)
{
    size_t n = 0, best = 0;
    double least = threshold;
    c->n_nodes = 0;
    *found = false;
    *lost = (double)INFINITY;
    add_up(c, threshold);
    DLS_TRY(push_state(c, 0, &n, (dls_choice_state){0, 0, -1}, err));
    for (int32_t i = 0; i < c->groups && n > 0; i++) {
        DLS_TRY(extend(c, r, i, threshold, &n, lost, err));
    }
    for (size_t i = 0; i < n; i++) {
        const dls_choice_state *s = &c->state[0][i];
        const double cost = s->more + idle_cost(c, r, s->used, &c->rest[c->groups]);
        best = cost < least ? i : best;
        *found = *found || cost < least;
        least = fmin(least, cost);
    }
    if (*found) {
        int32_t at = c->state[0][best].node;
        c->cost = 0;
        for (int32_t i = c->groups; i-- > 0; at = c->node[at].parent) {
            c->pick[c->order[i].group] = c->node[at].option;
            c->cost += c->option[c->node[at].option].cost;
        }
    }
    return DLS_OK;
}

/* Thresholds grow until there is a pick below one, or what is known is good enough. Once states had
 * to be given up, what is found need not be the best: the bound stays where it was. */
static dls_status settle(dls_choice *c, double gap, bool *all, dls_error *err)
{
    const double scale = fmax(fabs(c->bound), 1e-6), tight = scale * fmax(gap, 1e-12);
    const double from = c->bound;
    double proven = 0; /* no pick costs less than `from` and this */
    radix r;
    bool found = false, sorted = false;
    *all = true;
    if (!make_radix(c, &r)) {
        return DLS_OK;
    }
    for (double above = scale * fmax(gap, 1e-6); !found && above < 1e12 * scale; above *= 4) {
        double lost;
        if (c->solved && c->cost - from - proven <= tight) {
            break;
        }
        /* What is known need not be found again. */
        const bool last = c->solved && above >= c->cost - from;
        const double threshold = last ? c->cost - from - tight : above;
        if (!sorted) {
            sort(c);
            sorted = true;
        }
        DLS_TRY(explore(c, &r, threshold, &lost, &found, err));
        c->solved = c->solved || found;
        if (*all) {
            proven = fmin(lost, found ? c->cost - from : threshold);
        }
        *all = *all && isinf(lost);
        if (last || (!*all && c->solved)) {
            break;
        }
    }
    c->bound = fmin(c->cost, from + proven);
    return DLS_OK;
}

/* The pick becomes what these prices lead to, if that is better. */
static dls_status pick_at_prices(dls_choice *c, dls_error *err)
{
    const size_t bytes = (size_t)c->groups * sizeof *c->pick;
    const double cost = c->cost;
    int64_t left[DLS_TYPES_MAX];
    bool fits = true;
    reduce(c);
    DLS_TRY(dls_grow(&c->before, &c->cap_before, (size_t)c->groups, sizeof *c->before, err));
    memcpy(c->before, c->pick, bytes);
    memcpy(left, c->capacity, (size_t)c->types * sizeof *left);
    for (int32_t g = 0; g < c->groups; g++) {
        left[c->option[c->pick[g]].type] -= c->option[c->pick[g]].gpus;
    }
    DLS_TRY(improve(c, left, err));
    for (int32_t t = 0; t < c->types; t++) {
        fits = fits && left[t] >= 0;
    }
    if (!fits || (c->solved && c->cost > cost)) {
        memcpy(c->pick, c->before, bytes);
        c->cost = cost;
    }
    c->solved = c->solved || fits;
    return DLS_OK;
}

dls_status dls_choice_solve(dls_choice *c, double gap, dls_error *err)
{
    int64_t left[DLS_TYPES_MAX];
    const size_t groups = (size_t)c->groups;
    DLS_TRY(dls_grow(&c->pick, &c->cap_pick, groups + 1, sizeof *c->pick, err));
    DLS_TRY(dls_grow(&c->reduced, &c->cap_reduced, c->n_options + 1, sizeof *c->reduced, err));
    DLS_TRY(dls_grow(&c->order, &c->cap_order, groups + 1, sizeof *c->order, err));
    DLS_TRY(dls_grow(&c->rest, &c->cap_rest, groups + 1, sizeof *c->rest, err));
    c->solved = start_smallest(c, left);
    c->bound = 0;
    if (c->groups == 0) {
        return DLS_OK;
    }
    DLS_TRY(dls_choice_find_kinds(c, err));
    dls_choice_find_prices(c, c->cost, false);
    DLS_TRY(pick_at_prices(c, err));
    bool all, thorough = c->types == 1;
    if (gap > 0 && !thorough && c->solved && c->cost - c->bound > gap * fabs(c->cost)) {
        /* The pick bounds the prices closer than `start` did. */
        dls_choice_find_prices(c, c->cost, thorough = true);
        DLS_TRY(pick_at_prices(c, err));
    }
    DLS_TRY(settle(c, gap, &all, err));
    if (all || !c->solved || thorough || c->cost - c->bound <= gap * fabs(c->cost)) {
        return DLS_OK;
    }
    dls_choice_find_prices(c, c->cost, true);
    reduce(c);
    return settle(c, gap, &all, err);
}
