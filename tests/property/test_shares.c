/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Max-min fair shares against a brute-force solver on random small networks; against the definition;
 * and the tabled curve against the formula.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "perf/shares.h"
#include "perf/truth.h"

#include <math.h>
#include <stdio.h>

#define FLOWS 8
#define LINKS 6
#define CASES 400

typedef struct network {
    int32_t n_flows, n_links;
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

/* Links at least as wide as each job's line, as a job's line is its narrowest link; two thirds of the
 * jobs uncoordinated. */
static network random_network(dls_rng *rng)
{
    network n = {.n_flows = 1 + (int32_t)dls_rng_below(rng, FLOWS),
                 .n_links = 1 + (int32_t)dls_rng_below(rng, LINKS)};
    for (int32_t l = 0; l < n.n_links; l++) {
        n.capacity[l] = pick(rng, 1e8, 1e10);
    }
    for (int32_t j = 0; j < n.n_flows; j++) {
        n.solo[j] = random_solo(rng);
        for (int32_t l = 0; l < n.n_links; l++) {
            n.on[j][l] = dls_rng_below(rng, 2);
        }
        n.on[j][dls_rng_below(rng, (uint64_t)n.n_links)] = true;
        n.line[j] = (double)INFINITY;
        for (int32_t l = 0; l < n.n_links; l++) {
            n.line[j] = n.on[j][l] ? fmin(n.line[j], n.capacity[l]) : n.line[j];
        }
        n.solo[j].line_bps = n.line[j];
        n.speed[j] = dls_rng_below(rng, 3) ? 1 : 0.4 + 0.6 * dls_rng_unit(rng);
        n.overlap[j] = dls_rng_below(rng, 3) ? 1 : dls_rng_unit(rng);
        dls_curve_make(&n.curve[j], &n.solo[j]);
    }
    return n;
}

static void solve(const network *n, double *x)
{
    int32_t flow_first[FLOWS + 1] = {0}, links_of[FLOWS * LINKS], link_first[LINKS + 1] = {0};
    int32_t flows_of[FLOWS * LINKS], heap[LINKS];
    double first_level[LINKS], level[LINKS], used[FLOWS];
    uint8_t stale[LINKS], done[FLOWS];
    dls_flow flow[FLOWS];
    int32_t at = 0;
    for (int32_t j = 0; j < n->n_flows; j++) {
        flow[j] = (dls_flow){&n->curve[j], n->speed[j], n->overlap[j], n->line[j]};
        for (int32_t l = 0; l < n->n_links; l++) {
            if (n->on[j][l]) {
                links_of[at++] = l;
            }
        }
        flow_first[j + 1] = at;
    }
    at = 0;
    for (int32_t l = 0; l < n->n_links; l++) {
        for (int32_t j = 0; j < n->n_flows; j++) {
            if (n->on[j][l]) {
                flows_of[at++] = j;
            }
        }
        link_first[l + 1] = at;
    }
    for (int32_t l = 0; l < n->n_links; l++) {
        first_level[l] = (double)NAN;
    }
    dls_net net = {.first_level = first_level, .n_flows = n->n_flows, .n_links = n->n_links, .flow = flow,
                   .capacity = n->capacity, .flow_first = flow_first, .links_of = links_of,
                   .link_first = link_first, .flows_of = flows_of, .level = level, .used = used,
                   .heap = heap, .stale = stale, .done = done};
    dls_shares_solve(&net);
    for (int32_t j = 0; j < n->n_flows; j++) {
        x[j] = flow[j].x;
    }
}

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

static void test_brute_force(void **state)
{
    (void)state;
    int shared = 0;
    for (uint64_t c = 0; c < CASES; c++) {
        dls_rng rng = dls_rng_stream(1, DLS_RNG_TEST, c);
        const network n = random_network(&rng);
        double got[FLOWS], want[FLOWS];
        solve(&n, got);
        brute(&n, want);
        for (int32_t j = 0; j < n.n_flows; j++) {
            if (fabs(got[j] - want[j]) > 1e-7 * want[j]) {
                fail_msg("case %d, job %d: %.9g instead of %.9g", (int)c, (int)j, got[j], want[j]);
            }
            shared += got[j] < 0.999 * n.line[j];
        }
    }
    assert_true(shared > CASES); /* most cases are crowded */
}

/* Nobody's share can grow: it is at its line, or on a full link where nobody has more. */
static void test_definition(void **state)
{
    (void)state;
    for (uint64_t c = 0; c < CASES; c++) {
        dls_rng rng = dls_rng_stream(2, DLS_RNG_TEST, c);
        const network n = random_network(&rng);
        double x[FLOWS];
        solve(&n, x);
        assert_true(feasible(&n, x, 1e-9));
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
                held = n.on[j][l] && fullest >= n.capacity[l] * (1 - 1e-9) &&
                       x[j] >= most * (1 - 1e-9);
            }
            assert_true(held);
            assert_true(x[j] > 0 && x[j] <= n.line[j]);
        }
    }
}

/* More capacity on one link or less traffic of one job: the least share does not shrink. */
static void test_least_share_grows(void **state)
{
    (void)state;
    for (uint64_t c = 0; c < CASES; c++) {
        dls_rng rng = dls_rng_stream(3, DLS_RNG_TEST, c);
        network n = random_network(&rng);
        double x[FLOWS], wider[FLOWS], least = (double)INFINITY, least_wider = (double)INFINITY;
        solve(&n, x);
        n.capacity[dls_rng_below(&rng, (uint64_t)n.n_links)] *= 1.5;
        solve(&n, wider);
        for (int32_t j = 0; j < n.n_flows; j++) {
            least = fmin(least, x[j]);
            least_wider = fmin(least_wider, wider[j]);
        }
        assert_true(least_wider >= least * (1 - 1e-9));
    }
}

static void test_curve(void **state)
{
    (void)state;
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
static void test_by_hand(void **state)
{
    (void)state;
    network n = {.n_flows = 2, .n_links = 1, .capacity = {1e9}};
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
    assert_true(fabs(x[0] / 1e9 - 0.6180339887) < 1e-9 && x[0] == x[1]);
    /* Bursts that never meet: each has the link, as half the time suffices for both. */
    n.overlap[0] = n.overlap[1] = 0;
    solve(&n, x);
    assert_true(x[0] == 1e9 && x[1] == 1e9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_brute_force), cmocka_unit_test(test_definition),
        cmocka_unit_test(test_least_share_grows), cmocka_unit_test(test_curve),
        cmocka_unit_test(test_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
