/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Rotations of jobs on a link: ten cases worked by hand (C = 1, times in ms, (period, burst,
 * rate)), every table of published scores to 1e-12, and random links against their definition on a
 * grid.
 */
#include "base/rng.h"
#include "placement/rotation.h"
#include "support/shared.h"
#include "support/test.h"

#include <math.h>
#include <string.h>

static dls_rotor rotor(int64_t period, double burst, double rate)
{
    return (dls_rotor){.period = period, .phase = {{0, burst, rate}}, .n = 1};
}

static void near(double a, double b)
{
    if (!(fabs(a - b) <= 1e-12)) {
        fail_msg("%.17g, expected %.17g", a, b);
    }
}

/* The last job may be turned: its best shifts are those of from[k] .. to[k], every half ms. */
static void check_last(dls_rotor *r, int32_t n, double best, int32_t ranges, const double *from,
                       const double *to)
{
    for (int32_t j = 0; j + 1 < n; j++) {
        r[j].fixed = true;
    }
    near(dls_rotation_turn(r, n), best);
    near(dls_rotation_score(r, n), best);
    for (int32_t half = 0; half < 2 * r[n - 1].period; half++) {
        bool good = false;
        r[n - 1].shift = half / 2.0;
        for (int32_t k = 0; k < ranges; k++) {
            good = good || (r[n - 1].shift >= from[k] && r[n - 1].shift <= to[k]);
        }
        const double score = dls_rotation_score(r, n);
        assert_true(good ? fabs(score - best) <= 1e-12 : score < best - 1e-12);
    }
}

static void pair(dls_rotor a, dls_rotor b, double at_zero, double best, int32_t ranges,
                 const double *from, const double *to)
{
    dls_rotor r[2] = {a, b};
    near(dls_rotation_score(r, 2), at_zero);
    near(dls_rotation_turn(r, 2), best); /* both may be turned */
    near(r[0].shift, 0);
    r[1].shift = 0;
    check_last(r, 2, best, ranges, from, to);
}

#define LIST(...)                                                                                  \
    (const double[])                                                                               \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
TEST(test_pairs)
{
    pair(rotor(100, 40, 1), rotor(100, 40, 1), 0.6, 1, 1, LIST(40), LIST(60));          /* E1 */
    pair(rotor(100, 60, 1), rotor(100, 60, 1), 0.4, 0.8, 1, LIST(40), LIST(60));        /* E2 */
    pair(rotor(40, 10, 1), rotor(60, 20, 1), 11. / 12, 11. / 12, 1, LIST(0), LIST(60)); /* E3 */
    pair(rotor(40, 10, 1), rotor(60, 10, 1), 11. / 12, 1, 3, LIST(10, 30, 50),
         LIST(10, 30, 50));                                                               /* E4 */
    pair(rotor(100, 50, 0.7), rotor(100, 70, 0.6), 0.85, 0.94, 1, LIST(30), LIST(50));    /* E5 */
    pair(rotor(70, 30, 1), rotor(110, 40, 1), 65. / 77, 65. / 77, 1, LIST(0), LIST(110)); /* E8 */
    pair(rotor(60, 15, 1), rotor(90, 40, 1), 31. / 36, 11. / 12, 3, LIST(15, 45, 75),
         LIST(20, 50, 80)); /* E10 */
}

/* E6: three that fill the circle; only the last is turned: 1/12 is lost. */
TEST(test_three)
{
    dls_rotor r[3] = {rotor(120, 40, 1), rotor(120, 40, 1), rotor(120, 40, 1)};
    near(dls_rotation_score(r, 3), 1. / 3);
    near(dls_rotation_turn(r, 3), 1);
    near(r[0].shift, 0);
    near(r[1].shift, 40);
    near(r[2].shift, 80);
    check_last(r, 3, 1, 1, LIST(80), LIST(80));
    r[1].shift = 50;
    check_last(r, 3, 11. / 12, 1, LIST(80), LIST(90));
}

/* E7: a job on two links, whose other jobs stand at 0 and 50. If all may move, both links are free
 * of excess; if it alone may, the best that the worse link can be is 0.85. */
TEST(test_two_links)
{
    dls_rotor a[2] = {rotor(100, 40, 1), rotor(100, 40, 1)}, b[2] = {a[0], a[1]};
    const double period[3] = {100, 100, 100};
    double shift[3] = {0, 0, 50}, most = 0; /* of the newcomer, of A's, of B's */
    near(dls_rotation_turn(a, 2), 1);
    near(dls_rotation_turn(b, 2), 1);
    const dls_affinity_edge edge[4] = {
        {0, 0, a[0].shift}, {1, 0, a[1].shift}, {0, 1, b[0].shift}, {2, 1, b[1].shift}};
    assert_true(dls_affinity_shifts(edge, 4, period, 3, shift));
    for (int32_t l = 0; l < 2; l++) {
        dls_rotor both[2] = {rotor(100, 40, 1), rotor(100, 40, 1)};
        both[0].shift = shift[0];
        both[1].shift = shift[1 + l];
        near(dls_rotation_score(both, 2), 1);
    }
    b[0].shift = 50;
    a[0].shift = 0;
    for (int32_t s = 0; s < 100; s++) {
        a[1].shift = b[1].shift = s;
        const double worse = fmin(dls_rotation_score(a, 2), dls_rotation_score(b, 2));
        most = fmax(most, worse);
        assert_true(worse <= 0.85 + 1e-12);
        assert_true((fabs(worse - 0.85) < 1e-12) == (s == 25 || s == 75));
    }
    near(most, 0.85);
}

/* E9. */
TEST(test_affinity)
{
    const double period[3] = {100, 100, 100};
    double shift[3] = {0, -1, -1};
    const dls_affinity_edge edge[6] = {{0, 0, 0},  {1, 0, 40}, {1, 1, 0},
                                       {2, 1, 30}, {0, 2, 0},  {2, 2, 10}};
    assert_true(dls_affinity_shifts(edge, 4, period, 3, shift));
    near(shift[0], 0);
    near(shift[1], 40);
    near(shift[2], 70);
    shift[1] = 7;
    assert_false(dls_affinity_shifts(edge, 6, period, 3, shift));
    near(shift[1], 7);
    /* Two components; the first of each stays. */
    const dls_affinity_edge apart[4] = {{0, 0, 10}, {1, 0, 20}, {2, 1, 5}, {3, 1, 90}};
    const double periods[4] = {100, 100, 50, 60};
    double of[4] = {3, 0, 4, 0};
    assert_true(dls_affinity_shifts(apart, 4, periods, 4, of));
    near(of[0], 3);
    near(of[1], 13);
    near(of[2], 4);
    near(of[3], 29); /* 4 - 5 + 90 modulo 60 */
}

/* Rows of `example,jobs,score at shift 0,best score,..`: published with the definition. */
static double fraction(const char *text)
{
    char *end;
    const double x = strtod(text, &end);
    return *end == '/' ? x / strtod(end + 1, NULL) : x;
}

static void check_row(char *line)
{
    char *field[6], *at = line;
    dls_rotor r[3];
    int32_t n = 0;
    for (int i = 0; i < 6; i++) {
        field[i] = strsep(&at, ",");
        assert_non_null(field[i]);
    }
    for (char *job; (job = strsep(&field[1], " ")) && n < 3; n++) {
        double v[3];
        assert_int_equal(3, sscanf(job, "%lf:%lf:%lf", &v[0], &v[1], &v[2]));
        r[n] = rotor((int64_t)v[0], v[1], v[2]);
    }
    if (*field[2]) {
        near(dls_rotation_score(r, n), fraction(field[2]));
    }
    if (strstr(field[5], "fixed at 0 and 50")) {
        r[0].fixed = r[1].fixed = true;
        r[1].shift = 50;
    }
    near(dls_rotation_turn(r, n), fraction(field[3]));
}

TEST(test_published)
{
    char path[512], line[256];
    SHARED_OR_SKIP("golden/cassini/examples.csv", path);
    FILE *f = fopen(path, "r");
    int32_t rows = 0;
    assert_non_null(f);
    assert_non_null(fgets(line, sizeof line, f));
    for (; fgets(line, sizeof line, f); rows++) {
        check_row(line);
    }
    fclose(f);
    assert_int_equal(9, rows);
}

static double load_at(const dls_rotor *r, double t)
{
    double load = 0;
    for (int32_t p = 0; p < r->n; p++) {
        const double at =
            fmod(t - r->shift - r->phase[p].start + 4 * (double)r->period, (double)r->period);
        load += at < r->phase[p].length ? r->phase[p].rate : 0;
    }
    return load;
}

/* All is in whole ticks: half a tick beside each is the definition, exactly. */
TEST(test_random)
{
    static const int64_t periods[] = {12, 12, 24, 36, 18};
    dls_rng rng = dls_rng_stream(5, DLS_RNG_TEST, 3);
    for (int trial = 0; trial < 300; trial++) {
        dls_rotor r[4];
        const int32_t n = 2 + (int32_t)dls_rng_below(&rng, 3);
        for (int32_t j = 0; j < n; j++) {
            const int64_t period = periods[dls_rng_below(&rng, 5)];
            const double half = (double)(period / 2);
            r[j] = (dls_rotor){.period = period, .n = 1 + (int32_t)dls_rng_below(&rng, 2)};
            for (int32_t p = 0; p < r[j].n; p++) {
                r[j].phase[p] = (dls_rotor_phase){p * half, 1 + (double)dls_rng_below(&rng, 5),
                                                  0.25 * (1 + (double)dls_rng_below(&rng, 4))};
            }
            r[j].shift = (double)dls_rng_below(&rng, (uint64_t)period);
        }
        double excess = 0;
        for (int t = 0; t < 72; t++) {
            double load = 0;
            for (int32_t j = 0; j < n; j++) {
                load += load_at(&r[j], t + 0.5);
            }
            excess += fmax(0, load - 1);
        }
        near(dls_rotation_score(r, n), 1 - excess / 72);
        /* Of two, the optimum over every shift; of more, no job alone can gain. */
        const double found = dls_rotation_turn(r, n);
        near(dls_rotation_score(r, n), found);
        for (int32_t j = 0; j < n; j++) {
            const double shift = r[j].shift;
            for (int64_t s = 0; s < r[j].period; s++) {
                r[j].shift = (double)s;
                assert_true(dls_rotation_score(r, n) <= found + 1e-9);
            }
            r[j].shift = shift;
        }
    }
}

TEST(test_too_long)
{
    dls_rotor r[2] = {rotor(1009, 3, 1), rotor(1013, 3, 1)};
    assert_true(isnan(dls_rotation_turn(r, 2)));
    assert_true(isnan(dls_rotation_score(r, 2)));
}
