/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Max-min fair shares of random networks in which jobs come and go, links fail and speeds change: to the last bit
 * what a brute-force solver makes of the present alone; within the grid's step what one without a grid
 * does; fair by the definition. And the tabled curve against the formula.
 */

#include "base/rng.h"
#include "support/test.h"
#include "world/shares_level.h"
#include "world/truth.h"

#include <math.h>

#define FLOWS 16
#define LINKS 10
#define CASES 400
#define STEP (1.0 / (1 << DLS_LEVEL_BITS))

typedef struct network {
    int32_t n_flows, n_links;
    bool there[FLOWS];
    bool on[FLOWS][LINKS];
    double capacity[LINKS], line[FLOWS], speed[FLOWS], overlap[FLOWS];
    dls_curve curve[FLOWS];
    dls_solo solo[FLOWS];
} network;

static double pick(dls_rng *rng, double low, double high)
{
    return low * pow(high / low, dls_rng_unit(rng));
}

static dls_solo random_solo(dls_rng *rng)
{
    dls_solo s = {.compute_s = pick(rng, 1e-3, 2),
                  .gamma = dls_rng_below(rng, 3) ? 1 + 4 * dls_rng_unit(rng) : 1,
                  .fixed_s = dls_rng_below(rng, 2) ? pick(rng, 1e-4, 0.1) : 0,
                  .link_bytes = pick(rng, 1e6, 4e9),
                  .line_bps = pick(rng, 1e8, 1e10)};
    s.overlap_s = 0.667 * s.compute_s * dls_rng_unit(rng);
    return s;
}

/* A job's line is its narrowest link; two thirds of the jobs are uncoordinated. */
static void random_flow(network *n, int32_t j, dls_rng *rng)
{
    n->there[j] = true;
    n->solo[j] = random_solo(rng);
    n->line[j] = (double)INFINITY;
    const uint64_t rare = 2 + dls_rng_below(rng, 3);
    for (int32_t l = 0; l < n->n_links; l++) {
        n->on[j][l] = dls_rng_below(rng, rare) == 0;
    }
    n->on[j][dls_rng_below(rng, (uint64_t)n->n_links)] = true;
    for (int32_t l = 0; l < n->n_links; l++) {
        n->line[j] = n->on[j][l] ? fmin(n->line[j], n->capacity[l]) : n->line[j];
    }
    n->solo[j].line_bps = n->line[j];
    n->speed[j] = dls_rng_below(rng, 3) ? 1 : 0.4 + 0.6 * dls_rng_unit(rng);
    n->overlap[j] = dls_rng_below(rng, 3) ? 1 : dls_rng_unit(rng);
    dls_curve_make(&n->curve[j], &n->solo[j]);
}

static network random_network(dls_rng *rng, int32_t flows, int32_t links)
{
    network n = {.n_flows = 1 + (int32_t)dls_rng_below(rng, (uint64_t)flows),
                 .n_links = 1 + (int32_t)dls_rng_below(rng, (uint64_t)links)};
    for (int32_t l = 0; l < n.n_links; l++) {
        n.capacity[l] = pick(rng, 1e8, 1e10);
    }
    for (int32_t j = 0; j < n.n_flows; j++) {
        random_flow(&n, j, rng);
    }
    return n;
}

/* ---- the solver ---------------------------------------------------------------------------------- */

static void add(dls_shares *s, const network *n, int32_t j)
{
    assert_int_equal(dls_shares_reserve(s, j, LINKS, NULL), DLS_OK);
    dls_shares_add(s, j, &n->curve[j]);
    for (int32_t l = 0; l < n->n_links; l++) {
        if (n->on[j][l]) {
            dls_shares_cross(s, j, l, 0, true);
        }
    }
    dls_shares_set_speed(s, j, n->speed[j]);
    dls_shares_set_overlap(s, j, n->overlap[j]);
}

static void take_away(dls_shares *s, int32_t j)
{
    for (int32_t c = s->flow[j].crossing; c >= 0;) {
        c = dls_shares_leave(s, c);
    }
}

static void open_shares(dls_shares *s, const network *n)
{
    assert_int_equal(dls_shares_init(s, n->n_links, NULL), DLS_OK);
    for (int32_t l = 0; l < n->n_links; l++) {
        dls_shares_set_capacity(s, l, n->capacity[l]);
        s->link[l].widest = n->capacity[l];
    }
}

static void solve(const network *n, double *x)
{
    DLS_OWN(dls_shares_fini) dls_shares s = {0};
    const int32_t *moved;
    size_t n_moved;
    open_shares(&s, n);
    for (int32_t j = 0; j < n->n_flows; j++) {
        add(&s, n, j);
    }
    assert_int_equal(dls_shares_settle(&s, &moved, &n_moved, NULL), DLS_OK);
    assert_int_equal(n_moved, n->n_flows);
    for (int32_t j = 0; j < n->n_flows; j++) {
        x[j] = s.flow[j].x;
    }
}

/* ---- the same on the grid, from the present alone ------------------------------------------------- */

static bool overfull(const network *n, int32_t l, const double *most, double level)
{
    int64_t sum = 0, x[FLOWS] = {0}, moves[FLOWS] = {0};
    for (int32_t j = 0; j < n->n_flows; j++) {
        if (n->there[j] && n->on[j][l]) {
            x[j] = (int64_t)fmin(level, most[j]);
            moves[j] = (int64_t)dls_curve_used(&n->curve[j], (double)x[j], n->speed[j]);
            moves[j] = moves[j] < x[j] ? moves[j] : x[j];
            sum += moves[j];
        }
    }
    bool over = (double)sum > n->capacity[l];
    for (int32_t j = 0; j < n->n_flows; j++) {
        if (n->there[j] && n->on[j][l]) {
            const int64_t others = (int64_t)(n->overlap[j] * (double)(sum - moves[j]));
            over = over || (double)(x[j] + others) > n->capacity[l];
        }
    }
    return over;
}

/* Progressive filling: of the links that are left, the one that is full first stays so. */
static void brute_on_grid(const network *n, double *x)
{
    bool full[LINKS] = {false};
    double most[FLOWS];
    int32_t level[FLOWS];
    for (int32_t j = 0; j < n->n_flows; j++) {
        most[j] = n->line[j];
        level[j] = DLS_LEVEL_NONE;
    }
    for (;;) {
        int32_t first = -1, lowest = DLS_LEVEL_NONE;
        for (int32_t l = 0; l < n->n_links; l++) {
            int32_t low = 0, high = dls_level_below(1e11);
            if (full[l] || !overfull(n, l, most, 1e11)) {
                continue;
            }
            while (high - low > 1) {
                const int32_t middle = low + (high - low) / 2;
                *(overfull(n, l, most, dls_level_value(middle)) ? &high : &low) = middle;
            }
            if (high < lowest) {
                lowest = high;
                first = l;
            }
        }
        if (first < 0) {
            break;
        }
        full[first] = true;
        for (int32_t j = 0; j < n->n_flows; j++) {
            if (n->on[j][first] && lowest < level[j]) {
                level[j] = lowest;
                most[j] = fmin(n->line[j], dls_level_value(lowest));
            }
        }
    }
    for (int32_t j = 0; j < n->n_flows; j++) {
        const double below = level[j] == DLS_LEVEL_NONE ? n->line[j] : dls_level_value(level[j] - 1);
        x[j] = fmin(n->line[j], below);
    }
}

static void compare(const network *n, const dls_shares *s, int seed, int step)
{
    double x[FLOWS];
    brute_on_grid(n, x);
    for (int32_t j = 0; j < n->n_flows; j++) {
        if (n->there[j] && s->flow[j].x != x[j]) {
            fail_msg("case %d, step %d, job %d: %.17g instead of %.17g", seed, step, (int)j,
                     s->flow[j].x, x[j]);
        }
    }
}

/* One of the things that happen. */
static void happen(network *n, dls_shares *s, dls_rng *rng)
{
    const int32_t j = (int32_t)dls_rng_below(rng, (uint64_t)n->n_flows);
    const int32_t l = (int32_t)dls_rng_below(rng, (uint64_t)n->n_links);
    switch (dls_rng_below(rng, 8)) {
    case 0:
        n->capacity[l] = s->link[l].widest * (0.2 + 0.8 * dls_rng_unit(rng));
        dls_shares_set_capacity(s, l, n->capacity[l]);
        break;
    case 1:
        n->speed[j] = 0.3 + 0.7 * dls_rng_unit(rng);
        if (n->there[j]) {
            dls_shares_set_speed(s, j, n->speed[j]);
        }
        break;
    case 2:
        n->overlap[j] = dls_rng_below(rng, 2) ? 1 : dls_rng_unit(rng);
        if (n->there[j]) {
            dls_shares_set_overlap(s, j, n->overlap[j]);
        }
        break;
    default:
        if (n->there[j]) {
            take_away(s, j);
            n->there[j] = false;
        } else {
            random_flow(n, j, rng);
            add(s, n, j);
        }
    }
}

/* A life, and at every moment what the present alone gives; only those who are told of have moved. */
TEST(test_history)
{
    for (uint64_t seed = 0; seed < CASES / 4; seed++) {
        dls_rng rng = dls_rng_stream(5, DLS_RNG_TEST, seed);
        network n = random_network(&rng, FLOWS, LINKS);
        double was[FLOWS] = {0};
        DLS_OWN(dls_shares_fini) dls_shares s = {0};
        open_shares(&s, &n);
        for (int32_t j = 0; j < n.n_flows; j++) {
            add(&s, &n, j);
        }
        for (int step = 0; step < 40; step++) {
            bool told[FLOWS] = {false};
            const int32_t *moved;
            size_t n_moved;
            assert_int_equal(dls_shares_settle(&s, &moved, &n_moved, NULL), DLS_OK);
            compare(&n, &s, (int)seed, step);
            for (size_t i = 0; i < n_moved; i++) {
                told[moved[i]] = true;
            }
            for (int32_t j = 0; j < n.n_flows; j++) {
                assert_true(!n.there[j] || told[j] == (s.flow[j].x != was[j]));
                was[j] = n.there[j] ? s.flow[j].x : 0;
            }
            for (uint64_t i = 0; i <= dls_rng_below(&rng, 3); i++) {
                happen(&n, &s, &rng);
            }
            for (int32_t j = 0; j < n.n_flows; j++) {
                was[j] = n.there[j] && s.flow[j].x == was[j] ? was[j] : 0;
            }
        }
    }
}

/* ---- without a grid ------------------------------------------------------------------------------- */

static double used(const network *n, int32_t j, double x)
{
    return dls_curve_used(&n->curve[j], x, n->speed[j]);
}

/* Left side of job j's constraint on link l; j = -1: the sum alone. */
static double left(const network *n, const double *x, int32_t l, int32_t j)
{
    double sum = 0;
    for (int32_t k = 0; k < n->n_flows; k++) {
        sum += n->on[k][l] && k != j ? used(n, k, x[k]) : 0;
    }
    return j < 0 ? sum : x[j] + n->overlap[j] * sum;
}

static bool feasible(const network *n, const double *x, double slack)
{
    for (int32_t l = 0; l < n->n_links; l++) {
        for (int32_t j = -1; j < n->n_flows; j++) {
            if ((j < 0 || n->on[j][l]) && left(n, x, l, j) > n->capacity[l] * (1 + slack)) {
                return false;
            }
        }
    }
    return true;
}

/* Is job j part of a constraint that is full? */
static bool stuck(const network *n, const double *x, int32_t j)
{
    for (int32_t l = 0; l < n->n_links; l++) {
        const double full = n->capacity[l] * (1 - 1e-10);
        bool found = n->on[j][l] && (left(n, x, l, -1) >= full || left(n, x, l, j) >= full);
        for (int32_t k = 0; k < n->n_flows && n->on[j][l]; k++) {
            found = found || (n->on[k][l] && n->overlap[k] > 0 && left(n, x, l, k) >= full);
        }
        if (found) {
            return true;
        }
    }
    return false;
}

/* Water filling without any of the solver's shortcuts: raise all that are free together, by bisection
 * over all constraints at once, then see who can no longer rise. */
static void brute(const network *n, double *x)
{
    bool free_[FLOWS];
    double at = 0;
    int32_t left_over = n->n_flows;
    for (int32_t j = 0; j < n->n_flows; j++) {
        free_[j] = true;
        x[j] = 0;
    }
    while (left_over > 0) {
        double low = at, high = 2e10;
        for (int i = 0; i < 200; i++) {
            const double middle = 0.5 * (low + high);
            for (int32_t j = 0; j < n->n_flows; j++) {
                x[j] = free_[j] ? fmin(middle, n->line[j]) : x[j];
            }
            *(feasible(n, x, 0) ? &low : &high) = middle;
        }
        for (int32_t j = 0; j < n->n_flows; j++) {
            x[j] = free_[j] ? fmin(low, n->line[j]) : x[j];
        }
        const int32_t before = left_over;
        for (int32_t j = 0; j < n->n_flows; j++) {
            if (free_[j] && (x[j] >= n->line[j] || stuck(n, x, j))) {
                free_[j] = false;
                left_over--;
            }
        }
        assert_true(left_over < before);
        at = low;
    }
}

TEST(test_brute_force)
{
    int shared = 0;
    for (uint64_t c = 0; c < CASES; c++) {
        dls_rng rng = dls_rng_stream(1, DLS_RNG_TEST, c);
        const network n = random_network(&rng, 8, 6);
        double got[FLOWS], want[FLOWS];
        solve(&n, got);
        brute(&n, want);
        for (int32_t j = 0; j < n.n_flows; j++) {
            /* A step less for each of 8 jobs on the same link; others may then have as much more. */
            if (fabs(got[j] - want[j]) > 8 * STEP * want[j]) {
                fail_msg("case %d, job %d: %.9g instead of %.9g", (int)c, (int)j, got[j], want[j]);
            }
            shared += got[j] < 0.999 * n.line[j];
        }
    }
    assert_true(shared > CASES); /* most cases are crowded */
}

/* Nobody's share can grow: it is at its line, or on a full link where nobody has more. */
TEST(test_definition)
{
    for (uint64_t c = 0; c < CASES; c++) {
        dls_rng rng = dls_rng_stream(2, DLS_RNG_TEST, c);
        const network n = random_network(&rng, 8, 6);
        double x[FLOWS];
        solve(&n, x);
        assert_true(feasible(&n, x, 1e-7));
        for (int32_t j = 0; j < n.n_flows; j++) {
            bool held = x[j] >= n.line[j] * (1 - 1e-9);
            for (int32_t l = 0; l < n.n_links && !held; l++) {
                double most = 0, fullest = left(&n, x, l, -1);
                for (int32_t k = 0; k < n.n_flows; k++) {
                    if (n.on[k][l]) {
                        most = fmax(most, x[k]);
                        fullest = fmax(fullest, left(&n, x, l, k));
                    }
                }
                held = n.on[j][l] && fullest >= n.capacity[l] * (1 - 9 * STEP) &&
                       x[j] >= most * (1 - 1e-9);
            }
            assert_true(held);
            assert_true(x[j] > 0 && x[j] <= n.line[j]);
        }
    }
}

/* More capacity on one link or less traffic of one job: the least share does not shrink. */
TEST(test_least_share_grows)
{
    for (uint64_t c = 0; c < CASES; c++) {
        dls_rng rng = dls_rng_stream(3, DLS_RNG_TEST, c);
        network n = random_network(&rng, 8, 6);
        double x[FLOWS], wider[FLOWS], least = (double)INFINITY, least_wider = (double)INFINITY;
        solve(&n, x);
        n.capacity[dls_rng_below(&rng, (uint64_t)n.n_links)] *= 1.5;
        solve(&n, wider);
        for (int32_t j = 0; j < n.n_flows; j++) {
            least = fmin(least, x[j]);
            least_wider = fmin(least_wider, wider[j]);
        }
        assert_true(least_wider >= least * (1 - 8 * STEP));
    }
}

TEST(test_curve)
{
    double worst = 0;
    for (uint64_t c = 0; c < CASES; c++) {
        dls_rng rng = dls_rng_stream(4, DLS_RNG_TEST, c);
        const dls_solo s = random_solo(&rng);
        dls_curve curve;
        dls_curve_make(&curve, &s);
        const double alone = dls_solo_time(&s, s.line_bps);
        assert_true(fabs(dls_curve_iteration_s(&curve, s.line_bps, 1) / alone - 1) < 1e-12);
        double last_used = 0, last_idle = 0;
        for (double part = 1.0 / 9000; part <= 16; part *= 1.037) {
            const double x = part * s.line_bps, t = dls_curve_iteration_s(&curve, x, 1);
            const double u = dls_curve_used(&curve, x, 1);
            if (part * 4096 >= 1) { /* where the knots are */
                worst = fmax(worst, t / dls_solo_time(&s, x) - 1);
            }
            assert_true(t >= dls_solo_time(&s, x) * (1 - 1e-9));
            assert_true(u >= last_used * (1 - 1e-12) && u <= x * (1 + 1e-12));
            assert_true(x - u >= last_idle - 1e-9 * x); /* a burst waits for itself never less */
            last_used = u;
            last_idle = x - u;
        }
    }
    print_message("curve at most %.2f %% too long\n", 100 * worst);
    assert_true(worst < 0.006);
}

/* Worked by hand: two equal jobs without overlap on a link of 1 GB/s, 0.5 s of computation and 0.5 GB
 * each. x + 0.5 / (0.5 + 0.5 / x) = 1, so x^2 + x = 1: the golden section. */
TEST(test_by_hand)
{
    network n = {.n_flows = 2, .n_links = 1, .there = {true, true}, .capacity = {1e9}};
    for (int32_t j = 0; j < 2; j++) {
        n.on[j][0] = true;
        n.line[j] = 1e9;
        n.speed[j] = n.overlap[j] = 1;
        n.solo[j] =
            (dls_solo){.compute_s = 0.5, .gamma = 1, .link_bytes = 0.5e9, .line_bps = 1e9};
        dls_curve_make(&n.curve[j], &n.solo[j]);
    }
    double x[FLOWS];
    solve(&n, x);
    assert_true(fabs(x[0] / 1e9 - 0.6180339887) < STEP && x[0] == x[1]);
    /* Bursts that never meet: each has the link, as half the time suffices for both. */
    n.overlap[0] = n.overlap[1] = 0;
    solve(&n, x);
    assert_true(x[0] == 1e9 && x[1] == 1e9);
}
