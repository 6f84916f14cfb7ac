/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Comparison of designs: means, intervals and paired ratios against numbers worked out by hand.
 */
#include "base/json.h"
#include "results/compare.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 6 };

/* Design 0 has replicas 1, 2, 3, design 1 has 2, 3, 9; neither stands together or in order. */
static const struct {
    const char *label;
    size_t design;
    int64_t replica;
    double jct_s;
} given[RUNS] = {
    {"fifo/a", 0, 3, 130}, {"srtf/a", 1, 9, 50},  {"fifo/a", 0, 1, 100},
    {"srtf/a", 1, 3, 390}, {"srtf/a", 1, 2, 220}, {"fifo/a", 0, 2, 110},
};

static dls_summary summaries[RUNS];
static dls_compare_run members[RUNS];

static int setup(void **state)
{
    for (int i = 0; i < RUNS; i++) {
        summaries[i].part[0].jct.mean_s = given[i].jct_s;
        summaries[i].makespan_s = 7; /* the same in all: an interval of width 0 */
        summaries[i].part[0].jct.p95_s = i == 1 ? (double)NAN : 1; /* a run without */
        summaries[i].part[0].preemptions = i == 5 || i == 4;
        members[i] = (dls_compare_run){given[i].label, "", &summaries[i], given[i].design,
                                       given[i].replica};
    }
    return 0;
}

static json_object *compared(const char *baseline)
{
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    const dls_compare_options options = {&baseline, baseline ? 1 : 0};
    assert_int_equal(dls_compare_designs_json(out, members, RUNS, &options, NULL), DLS_OK);
    fclose(out);
    json_object *top = json_tokener_parse(text);
    assert_non_null(top);
    free(text);
    return top;
}

static json_object *at(json_object *obj, const char *path)
{
    json_object *found;
    if (json_pointer_get(obj, path, &found) != 0) {
        fail_msg("no %s", path);
    }
    return found;
}

static void assert_number(json_object *obj, const char *path, double want)
{
    const double got = json_object_get_double(at(obj, path));
    if (!(fabs(got - want) <= 1e-5 * fabs(want))) {
        fail_msg("%s: %.9g, not %.9g", path, got, want);
    }
}

/* 100, 110, 130: s = sqrt(466.667 / 2), t(0.975; 2) = 4.302653, half = t s / sqrt(3). */
TEST(mean_and_interval)
{
    DLS_HOLD(json_object_put) json_object *top = compared(NULL);
    assert_string_equal(json_object_get_string(at(top, "/designs/0/label")), "fifo/a");
    assert_number(top, "/designs/0/figures/jct_mean/mean", 113.333333);
    assert_number(top, "/designs/0/figures/jct_mean/half_width", 37.9458);
    assert_number(top, "/designs/1/figures/jct_mean/mean", 220);
    /* s = 170, half = 4.302653 x 170 / sqrt(3) */
    assert_number(top, "/designs/1/figures/jct_mean/half_width", 422.303);
    assert_number(top, "/designs/1/figures/makespan/half_width", 0);
}

/* Replicas 2 and 3 are in both: 220 / 110 = 2 and 390 / 130 = 3, t(0.975; 1) = 12.706205, and half
 * of the difference is s / sqrt(2). */
TEST(ratios_by_replica)
{
    static const char *const baselines[] = {NULL, "fifo/a", "fifo"};
    for (int i = 0; i < 3; i++) {
        DLS_HOLD(json_object_put) json_object *top = compared(baselines[i]);
        assert_number(top, "/designs/1/ratios/0/figures/jct_mean/mean", 2.5);
        assert_number(top, "/designs/1/ratios/0/figures/jct_mean/half_width", 12.706205 * 0.5);
        assert_number(top, "/designs/0/ratios/0/figures/jct_mean/mean", 1);
    }
}

/* Letters of two bytes take one place. */
TEST(table_of_other_letters)
{
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    const dls_compare_run runs[] = {
        {.label = "M\xc3\xbcnchen, \xc3\xa4lter", .summary = &summaries[0]},
        {.label = "Muenchen, neuer", .summary = &summaries[0]},
    };
    dls_compare_print(out, runs, 2);
    fclose(out);
    assert_non_null(strstr(text, "\nM\xc3\xbcnchen, \xc3\xa4lter           0 "));
    assert_non_null(strstr(text, "\nMuenchen, neuer          0 "));
    free(text);
}

/* What a mean is of is said: a run has no such number, pairs have 0 below, replicas no partner. */
TEST(means_of_some)
{
    DLS_HOLD(json_object_put) json_object *top = compared(NULL);
    assert_number(top, "/designs/1/figures/jct_mean/n", 3);
    assert_number(top, "/designs/1/figures/jct_p95/n", 2);
    assert_number(top, "/designs/1/figures/jct_p95/mean", 1);
    assert_number(top, "/designs/1/ratios/0/figures/jct_mean/n", 2);
    assert_number(top, "/designs/1/ratios/0/figures/preemptions/n", 1);
}

/* Intervals of width 0 say that the seeds changed nothing, not that the numbers are certain. */
TEST(seeds_that_change_nothing)
{
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    const dls_compare_options options = {NULL, 0};
    const dls_compare_run same[] = {{"fifo/a", "", &summaries[0], 0, 1}, {"fifo/a", "", &summaries[0], 0, 2}};
    assert_int_equal(dls_compare_designs_print(out, same, 2, &options, NULL), DLS_OK);
    assert_int_equal(dls_compare_designs_print(out, members, RUNS, &options, NULL), DLS_OK);
    fclose(out);
    const char *said = strstr(text, "All seeds gave the same numbers");
    assert_non_null(said);
    assert_null(strstr(said + 1, "All seeds gave the same numbers"));
    free(text);
}

TEST(table)
{
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    const dls_compare_options options = {NULL, 0};
    assert_int_equal(dls_compare_designs_print(out, members, RUNS, &options, NULL), DLS_OK);
    fclose(out);
    assert_non_null(strstr(text, "+- 33.48 %")); /* 37.9458 / 113.3333 */
    assert_non_null(strstr(text, " *    2.500x")); /* replica 1 has no partner */
    assert_non_null(strstr(text, " *    1.00 s"));
    assert_non_null(strstr(text, "     0.333\n")); /* a mean of counts */
    assert_non_null(strstr(text, "\n* Of some of the runs or pairs"));
    assert_non_null(strstr(text, "+-  6.353"));
    free(text);
}

GROUP(setup, NULL)
