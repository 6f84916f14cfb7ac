/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Trees of quotas against the numbers that Kueue's own test of what a ClusterQueue may use expects (kubernetes-sigs/kueue,
 * pkg/cache/resource_test.go, TestAvailable): the cases' quotas, limits, usage and answers.
 */
#include "sched/quota_tree.h"
#include "support/test.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char *write_table(const char *header, const char *rows)
{
    static const char path[] = "quotas_case.csv";
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
        dls_quota_tree t = {0};
        dls_error err;
        assert_int_equal(
            dls_quota_tree_read(&t, write_table("name,parent,gpus,borrow,lend", cases[i].rows), &err),
            DLS_OK);
        for (int busy = 0; busy < 2; busy++) {
            dls_quota_clear(&t);
            for (const use *u = cases[i].uses; busy && u < cases[i].uses + 4 && u->queue; u++) {
                dls_quota_use(&t, dls_quota_find(&t, u->queue), u->used);
            }
            for (const use *u = cases[i].uses; u < cases[i].uses + 4 && u->queue; u++) {
                /* Kueue tells less than nothing as nothing. */
                const double may = fmax(0, dls_quota_free(&t, dls_quota_find(&t, u->queue), t.depth));
                if (may != (busy ? u->busy : u->idle)) {
                    fail_msg("case %zu: %s may use %g", i, u->queue, may);
                }
            }
        }
        dls_quota_tree_fini(&t);
    }
}

/* A member comes before its parent wherever it stands in the table, and depths are those of the tree. */
TEST(test_order)
{
    dls_quota_tree t = {0};
    dls_error err;
    assert_int_equal(dls_quota_tree_read(&t,
                                         write_table("name,parent,gpus,borrow,lend",
                                                     "top,,1,,\na,mid,2,,\nmid,top,3,,1\nb,low,4,,\nlow,mid,,,\n"),
                                         &err),
                     DLS_OK);
    bool seen[5] = {false};
    for (size_t k = 0; k < t.n; k++) {
        const dls_quota *q = &t.at[t.at[k].order];
        seen[t.at[k].order] = true;
        assert_true(q->parent < 0 ? q->depth == 0 : !seen[q->parent] && q->depth == t.at[q->parent].depth + 1);
    }
    assert_true(seen[0] && seen[1] && seen[2] && seen[3] && seen[4]);
    assert_int_equal(t.depth, 3);
    assert_true(t.at[dls_quota_find(&t, "mid")].all == 9 && t.at[dls_quota_find(&t, "top")].all == 2);
    dls_quota_tree_fini(&t);
}

GROUP(NULL, NULL)
