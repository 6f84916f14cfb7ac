/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Trees of quotas against the numbers that Kueue's own test of what a ClusterQueue may use expects (kubernetes-sigs/kueue,
 * pkg/cache/resource_test.go, TestAvailable), and KAI's of how queues share (kai-scheduler/KAI-Scheduler,
 * pkg/scheduler/plugins/proportion/resource_division/resource_division_test.go): the cases' numbers.
 */
#include "sched/quota_tree.h"
#include "support/scratch.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

static const char *write_table(const char *header, const char *rows)
{
    const char *path = in_folder("quotas.csv");
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "%s\n%s", header, rows);
    assert_int_equal(fclose(f), 0);
    return path;
}

typedef struct use {
    const char *queue;
    double used, idle, busy; /* what it uses; what it may use beside when nobody uses anything, and then */
} use;

TEST(test_kueue_available)
{
    static const struct {
        const char *rows;
        use uses[4];
    } cases[] = {
        {"cq1,,0,,\ncq2,,5,,\n", {{"cq1", 1, 0, 0}, {"cq2", 2.5, 5, 2.5}}},
        {"cq1,cohort,10,,\ncq2,cohort,10,,9\ncohort,,10,,\n", {{"cq1", 1, 29, 28}, {"cq2", 0.5, 30, 28.5}}},
        {"cq1,cohort,10,,\ncohort,,10,,\n", {{"cq1", 11, 20, 9}}},
        {"cq1,cohort,10,,\ncq2,cohort,10,0,0\ncohort,,10,,\n", {{"cq1", 31, 20, 0}, {"cq2", 0, 10, 0}}},
        {"cq1,cohort,10,,\ncq2,cohort,10,2,\ncq3,cohort,10,,5\ncohort,,10,,\n",
         {{"cq1", 20, 35, 4}, {"cq2", 10, 12, 2}, {"cq3", 6, 40, 4}}},
        {"cq1,left,10,,\ncq2,right,10,,0\nroot,,,,\nleft,root,10,,\nright,root,10,,\n",
         {{"cq1", 10, 30, 20}, {"cq2", 5, 40, 25}}},
        {"left-cq1,left,10,,\nleft-cq2,left,10,5,\nright-cq,right,10,,\nleft,root,10,5,\nright,root,10,,\n",
         {{"left-cq1", 0, 35, 35}, {"left-cq2", 0, 15, 15}, {"right-cq", 0, 50, 50}}},
        {"left-cq1,left,10,,5\nleft-cq2,left,10,,\nright-cq,right,0,,\nroot-cq,root,0,,\nleft,root,0,,5\nright,root,0,,\n",
         {{"left-cq1", 0, 20, 20}, {"left-cq2", 0, 15, 15}, {"right-cq", 0, 5, 5}, {"root-cq", 0, 5, 5}}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        DLS_OWN(dls_quota_tree_fini) dls_quota_tree t = {0};
        dls_error err;
        assert_int_equal(
            dls_quota_cohorts_read(&t, write_table("name,parent,gpus,borrow,lend", cases[i].rows), &err),
            DLS_OK);
        for (int busy = 0; busy < 2; busy++) {
            dls_quota_clear(&t);
            for (const use *u = cases[i].uses; busy && u < cases[i].uses + 4 && u->queue; u++) {
                dls_quota_use(&t, dls_quota_find(&t, u->queue), u->used);
            }
            for (const use *u = cases[i].uses; u < cases[i].uses + 4 && u->queue; u++) {
                /* Kueue tells less than nothing as nothing. */
                const double may = fmax(0, dls_quota_free(&t, dls_quota_find(&t, u->queue), t.steps));
                if (may != (busy ? u->busy : u->idle)) {
                    fail_msg("case %zu: %s may use %g", i, u->queue, may);
                }
            }
        }
    }
}

/* A member comes before its parent wherever it stands in the table, and depths are those of the tree. */
TEST(test_order)
{
    DLS_OWN(dls_quota_tree_fini) dls_quota_tree t = {0};
    dls_error err;
    assert_int_equal(dls_quota_cohorts_read(&t,
                                         write_table("name,parent,gpus,borrow,lend",
                                                     "top,,1,,\na,mid,2,,\nmid,top,3,,1\nb,low,4,,\nlow,mid,,,\n"), &err),
                     DLS_OK);
    bool seen[5] = {false};
    for (size_t k = 0; k < t.n; k++) {
        const dls_quota *q = &t.at[t.at[k].order];
        seen[t.at[k].order] = true;
        assert_true(q->parent < 0 ? q->depth == 0 : !seen[q->parent] && q->depth == t.at[q->parent].depth + 1);
    }
    assert_true(seen[0] && seen[1] && seen[2] && seen[3] && seen[4]);
    assert_int_equal(t.steps, 3);
    assert_true(t.at[dls_quota_find(&t, "mid")].all == 9 && t.at[dls_quota_find(&t, "top")].all == 2);
}

/* Queues of one level; `asked` each; what each gets of so many GPUs, with its quota in it. */
TEST(test_kai_shares)
{
    static const struct {
        const char *rows;
        double gpus, asked[3], share[3];
    } cases[] = {
        {"1,,3,,0,\n", 2, {2}, {2}},
        {"1,,3,,0,\n", 1, {2}, {2}}, /* more is promised than there is */
        {"1,,3,2,0,\n", 3, {5}, {2}},
        {"1,,3,,0,\n", 7, {5}, {3}},
        {"1,,1.5,,0,\n", 2, {2}, {1.5}},
        {"1,,0,,0,\n", 2, {2}, {0}},
        {"1,,3,,1,\n", 5, {5}, {5}},
        {"1,,3,4,1,\n", 5, {5}, {4}},
        {"1,,3,,1,\n", 5, {4.5}, {4.5}},
        {"1,,3,,1,\n", 3.5, {5}, {3.5}},
        {"1,,0,,1,\n", 6, {5}, {5}},
        {"1,,2,,2,\n2,,2,,2,\n", 15, {6, 6}, {6, 6}},
        {"1,,2,,2,\n2,,2,,2,\n", 12, {6, 6}, {6, 6}},
        {"1,,2,,1,\n2,,2,,3,\n", 8, {6, 6}, {3, 5}},
        {"1,,2,5,2,\n2,,2,,2,\n", 12, {6, 6}, {5, 6}},
        {"1,,2,,1,\n2,,2,,4,\n", 11, {10, 10}, {3, 8}},
        {"1,,2,,2,\n2,,2,,2,\n", 11, {6, 6}, {6, 5}},
        {"1,,2,,2,1\n2,,2,,2,2\n", 4, {6, 6}, {2, 2}},
        {"1,,2,,2,1\n2,,2,,2,2\n", 6, {6, 6}, {2, 4}},
        {"1,,2,,100,1\n2,,2,,1,2\n", 6, {6, 6}, {2, 4}},
        {"1,,2,,2,2\n2,,2,,2,2\n3,,1,,2,1\n", 5, {5, 5, 0}, {3, 2, 0}},
        {"1,,1,,1,2\n2,,1,,1,2\n3,,1,,1,1\n", 6, {5, 5, 5}, {3, 2, 1}},
        {"1,,5000,,5000,\n2,,0,,0,\n", 10000, {10000, 5000}, {10000, 0}},
        {"1,,5000,,5000,\n2,,5000,,5000,\n3,,5000,,5000,\n", 10000, {7000, 2000, 2000}, {6000, 2000, 2000}},
        {"1,,5000,,5000,\n2,,5000,,5000,\n3,,5000,,5000,\n", 10000, {7000, 5000, 2000}, {5000, 5000, 2000}},
        {"1,,5000,,5000,\n2,,0,,5000,\n3,,5000,,5000,\n", 10000, {5000, 5000, 5000}, {5000, 0, 5000}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        DLS_OWN(dls_quota_tree_fini) dls_quota_tree t = {0};
        dls_error err;
        assert_int_equal(dls_quota_shares_read(
                             &t, write_table("name,parent,gpus,limit,weight,priority", cases[i].rows), &err),
                         DLS_OK);
        for (size_t k = 0; k < t.n; k++) {
            dls_quota_ask(&t, (int32_t)k, cases[i].asked[k]);
        }
        dls_quota_divide(&t, cases[i].gpus);
        for (size_t k = 0; k < t.n; k++) {
            if (t.at[k].share != cases[i].share[k]) {
                fail_msg("case %zu: queue %zu has %g", i, k + 1, t.at[k].share);
            }
        }
    }
}

/* Worked by hand: a level divides what the one above it has; who comes first; what is left at each step. */
TEST(test_levels)
{
    DLS_OWN(dls_quota_tree_fini) dls_quota_tree t = {0};
    dls_error err;
    /* Blanks and quotes around cells are no part of them. */
    const char *rows = "a,x,2,,1,\n b ,\tx, 1 ,,3,\n\"c\", \"y\" ,0,\"3\",1,\r\nx,,4,,1,\ny,,-1,6,0,\n";
    assert_int_equal(dls_quota_shares_read(&t, write_table("name,parent,gpus,limit,weight,priority", rows), &err),
                     DLS_OK);
    const int32_t a = dls_quota_find(&t, "a"), b = dls_quota_find(&t, "b"), c = dls_quota_find(&t, "c"),
                  x = dls_quota_find(&t, "x"), y = dls_quota_find(&t, "y");
    dls_quota_ask(&t, a, 9);
    dls_quota_ask(&t, b, 9);
    dls_quota_ask(&t, c, 9);
    dls_quota_divide(&t, 14);
    /* y has all it may use, 6; x its 4 and the other 4: of these 8 three are quotas, and 5 go 1.25 to 3.75. */
    assert_true(t.at[y].share == 6 && t.at[c].share == 3);
    assert_true(t.at[x].share == 8 && t.at[a].share == 3 && t.at[b].share == 5);
    assert_true(dls_quota_free(&t, a, 0) == 2 && dls_quota_free(&t, a, 1) == 3 && isinf(dls_quota_free(&t, a, 2)));
    assert_true(dls_quota_free(&t, c, 0) == 0 && dls_quota_free(&t, c, 1) == 3 && dls_quota_free(&t, c, 2) == 3);
    dls_quota_use(&t, b, 4);
    assert_true(dls_quota_free(&t, a, 0) == 0 && dls_quota_free(&t, b, 1) == 1);
    assert_true(dls_quota_before(&t, a, b) && !dls_quota_before(&t, b, a));
    assert_true(dls_quota_before(&t, c, a) && !dls_quota_before(&t, a, c));
}

GROUP(make_folder, drop_folder)
