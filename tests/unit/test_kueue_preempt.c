/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Whom Kueue preempts: the cases of its own tests (kubernetes-sigs/kueue, pkg/scheduler/preemption: preemption_test.go,
 * preemption_hierarchical_test.go, preemption_fair_test.go), but those of several resources or flavors and of workloads that are
 * being evicted. Their numbers; names are shortened.
 */
#include "sched/kueue_preempt.h"
#include "support/scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct a_case {
    const char *rows;  /* of the table */
    const char *loads; /* "QUEUE[=GPUS][@PRIORITY][+SINCE] ..." that are admitted */
    const char *in;    /* the same of what comes; +1: it came before them */
    const char *want;  /* numbers of those that give way, from 0 */
    dls_kueue_fair fair;
} a_case;

#define HEADER "name,parent,gpus,borrow,lend,weight,within,reclaim,borrowing,order"
#define ALONE "s,,6,,,,LowerPriority,,,\n"
#define PAIR "c1,cohort,6,6,,,LowerPriority,LowerPriority,,\nc2,cohort,6,6,,,,Any,,\n"
#define FREE "d1,cohort,6,,,,LowerPriority,LowerPriority,,\nd2,cohort,6,,,,,Any,,\n"
#define SHARED                                                                                                        \
    "as,w,1,12,,,,LowerPriority,0,\nbs,w,1,12,,,LowerPriority,Any,0,\nab,w,1,12,,,,LowerPriority,0,\n"               \
    "bb,w,0,13,,,,LowerPriority,0,\nshared,w,10,,,,,,,\n"
#define LENDING "l1,w,6,,4,,LowerPriority,LowerPriority,,\nl2,w,6,,2,,LowerPriority,LowerPriority,,\n"
#define THREE "a,w,2,,,,LowerPriority,Any,,\nb,w,2,,,,,,,\nc,w,2,,,,,,,\n"

static const a_case by_policy[] = {
    {ALONE, "s=2@-1 s=2 s=2@1", "s=2@1", "0", 0},
    {ALONE, "s=2@-1 s=2 s=2@1", "s=3@1", "0 1", 0},
    {ALONE, "s=3@-1 s=3", "s=1@-1", "", 0},
    {ALONE, "s=3@-1 s=3", "s=4", "", 0},
    {ALONE, "s=1@-1 s=1 s=3@1", "s=2@1", "0", 0},
    {ALONE, "s=1@-1 s=2 s=3@1", "s=2@1", "1", 0},
    {"s,,6,,,,LowerOrNewerEqualPriority,,,\n", "s=2@2 s=2@1+1 s=2@1", "s=2@1+1", "1", 0},
    {PAIR, "c1=3@-1 c2=3 c2=6@1", "c1=3@1", "1", 0},
    {PAIR, "c1=4@1 c2=4@-1", "c1=4@1", "", 0},
    {PAIR, "c1=4@1 c2=4@-1 c2=4@-1", "c1=4@1", "", 0},
    {PAIR, "c1=4 c1=4@-1 c2=4@-1", "c1=4@1", "1", 0},
    {FREE, "d1=4 d1=4@-1 d2=4@-1", "d1=4@1", "1", 0},
    {"l1,legion,6,12,,,LowerPriority,LowerPriority,,\n", "l1=4 l1=2@-1", "l1=4@1", "0", 0},
    {PAIR, "c1=2 c2=4 c2=4", "c1=4", "", 0},
    {PAIR, "c1=4 c1=4@1 c2=2", "c2=4", "0", 0},
    {PAIR, "c1=3@-1 c1=2 c2=3@-1 c2=4", "c1=4", "0 2", 0},
    {PAIR, "c2=3@-1", "c2=4@1", "", 0},
    {SHARED, "ab=10@-1 bb=1@-1", "as=10", "0", 0},
    {SHARED, "bs=10@1", "as=10@2", "", 0},
    {SHARED, "bs=13@1", "as=1@2", "0", 0},
    {SHARED, "as=13@1", "as=1@2", "", 0},
    {SHARED, "as=10@1 as=1@1 bs=1@1 bs=1@2", "bs=1@3", "2", 0},
    {SHARED, "bs=10@2 bs=1@1 ab=1@-1 ab=1@-2", "bs=2@2", "1 3", 0},
    {LENDING, "l1=3@-1 l2=3 l2=4@1", "l1=3@1", "1", 0},
    {LENDING, "l1=3@-1 l1=2 l2=3@-1 l2=4", "l1=4", "0 2", 0},
    {LENDING, "l2=10@-1", "l1=9", "", 0},
    {THREE, "a@-2 a@-2 a@-1 b b b", "a=2", "0 1", 0},
    {THREE, "a@-1 b b b b b@-1", "a=2", "0 5", 0},
    {"a,l,10,,,,,Any,,\nb,r,0,,,,,,,\nl,root,0,,,,,,,\nr,root,0,,,,,,,\n", "b=5", "a=8", "0", 0},
};

#define REST ",,,,LowerPriority,Any,,\n"
#define LIMIT ",,,,LowerPriority,Any,0,\n"
#define COHORT(name, gpus) name "," gpus ",,,,,,,\n"

static const a_case by_place[] = {
    {COHORT("c,r", "2") "q,c,0" REST "qb,r,0" REST, "qb=2", "q=2", "0", 0},
    {COHORT("c,r", "2") "qn,r,2" REST "q,c,0" REST "qb,r,0" REST, "qn=2@-10 qb=2", "q=2", "1", 0},
    {COHORT("c,r", "2") "q,c,0" REST "qb,r,0" REST, "qb@1 qb@2", "q=2", "0 1", 0},
    {COHORT("c,r", "3") "q,c,0" LIMIT "qs,c,0" REST, "qs@1 qs q@-1", "q=2@1", "1 2", 0},
    {COHORT("c,r", "2") "q,c,0" REST "qb,r,0" REST, "qb@1 q@-2", "q=1", "0", 0},
    {COHORT("c,r", "2") "q,c,0" LIMIT "qn,r,2" REST "qs,c,0" REST, "qn=2@-10 qs=2@-1", "q=2", "1", 0},
    {COHORT("c,r", "2") "q,c,4" REST "qb,r,0" REST "qs,c,0" REST, "qb=3@10 qs=3@10", "q=4", "0 1", 0},
    {COHORT("r,", "1") COHORT("c,r", "4") "q,c,0,,,,LowerPriority,LowerPriority,0,\nqb,r,0" REST "qs,c,0" REST,
     "qb=2@-1 qs=1@-1 qb=2@1", "q=3", "0 1", 0},
    {COHORT("r,", "1") COHORT("c,r", "4") "q,c,0,,,,LowerPriority,LowerPriority,0,\nqb,r,0" REST "qs,c,0" REST,
     "qb=2@-1 q=1@-1 qb=2@1", "q=3", "0 1", 0},
    {COHORT("c,r", "3") "q,c,0" REST "qb,r,0" REST "qn,r,2" REST, "qb@8 qb@9 qb@9 qn=2@-2", "q=1", "0", 0},
    {COHORT("c,r", "2") COHORT("co,r", "2") "qo,co,0" REST "q,c,0" REST "qs,c,0" REST, "qo@-10 qo@-10 qs=2", "q=2", "", 0},
    {COHORT("c,r", "2") "q,c,3,,2,,LowerPriority,Any,,\nqb,r,0" REST, "qb=4", "q=5@-2", "0", 0},
    {COHORT("c11,r", "4") COHORT("c12,r", "4") COHORT("c21,c11", "4") COHORT("c22,c11", "4") COHORT("c23,c11", "4")
         COHORT("c31,c21", "4") COHORT("c32,c21", "4") "q1,c12,0" REST "q2,c23,0" REST "q3,c22,0" REST "q4,c32,0" REST
             "q5,c31,0" REST,
     "q1=4@-6 q1=4@-5 q2=4@-9 q2=4@-10 q3=4@-4 q3=3@-3 q4=2@4 q4=3@2", "q5=7@-2", "0 3", 0},
};

#define OF_THREE(name, weight) name ",all,3,,," weight ",LowerPriority,Any,,\n"
#define LOW(name) name ",all,3,,,,LowerPriority,Any,-3,\n"
#define BASE LOW("a") LOW("b") LOW("c") "p,all,0,,,,,,,\n"
#define FIVES "b@1 b@2 b@3 b@4 b@5 c@1 c@2 c@3 c@4 c@5 d@1 d@2 d@3 d@4 d@5 e@1 e@2 e@3 e@4 e@5"

static const a_case by_share[] = {
    {BASE, "a a a b b b b b c", "c", "3", DLS_KUEUE_BOTH},
    {BASE, "a=3 a b=2 b=3", "c=3", "0", DLS_KUEUE_BOTH},
    {BASE, "a a a b b b b b c", "a", "3", DLS_KUEUE_BOTH},
    {BASE, "a=0.5 a=0.5 a=3 b=0.5 b=0.5 b=3", "c=2", "0 3", DLS_KUEUE_BOTH},
    {BASE, "a a a b b b c c c", "c", "", DLS_KUEUE_BOTH},
    {BASE, "a a a b b b b b", "a=2", "", DLS_KUEUE_BOTH},
    {BASE, "a@-1 a@-1 a a b b b b b", "a=2", "0 1", DLS_KUEUE_BOTH},
    {BASE, "a@-1 a a b b b b b b", "a=2", "0 3", DLS_KUEUE_BOTH},
    {BASE, "b=9", "a=2", "0", DLS_KUEUE_BOTH},
    {BASE, "a=2 b=7", "a=5", "", DLS_KUEUE_BOTH},
    {BASE, "b=2 b=2 b=3", "a=6", "", DLS_KUEUE_BOTH},
    {BASE, "a=2@-1 a@-1 b=3 b=3", "a=4", "0 2", DLS_KUEUE_BOTH},
    {BASE, "b=2 b b=2 c", "a=3.5", "1", DLS_KUEUE_BOTH},
    {BASE, "b=2 b=2.5 c=2 c=2.5", "a=3.5", "0 2", DLS_KUEUE_BOTH},
    {BASE, "a=3.5 b=2.5 c=2.5", "b=2", "", DLS_KUEUE_BOTH},
    {BASE, "b=3 b=3 c=3", "a=4", "", DLS_KUEUE_BOTH},
    {BASE, "a a a b b b p@-3 p@-3 p@-3", "a=2", "", DLS_KUEUE_BOTH},
    {BASE, "a=3 b=5 b@1", "a", "1", DLS_KUEUE_INITIAL},
    {BASE, "a=3 b=5 b@1", "a", "2", DLS_KUEUE_FINAL},
    {OF_THREE("a", "2") OF_THREE("b", "") OF_THREE("c", ""), "a a a b b b b b b", "a=2", "3 4", DLS_KUEUE_BOTH},
    {OF_THREE("a", "") OF_THREE("b", "0") OF_THREE("c", ""), "a a a b b b b b b", "a=3", "3 4 5", DLS_KUEUE_BOTH},
    {OF_THREE("a", "") OF_THREE("b", "0"), "a a a b b b", "a", "", DLS_KUEUE_BOTH},
    {"l,root,0,,,,,Any,,\nr,right,0,,,0,,Any,,\nright,root,1,,,0,,,,\n", "r", "l", "", DLS_KUEUE_BOTH},
    {"a,,1,,,,LowerPriority,,,\n", "a", "a@1000", "0", DLS_KUEUE_BOTH},
    {COHORT("root,", "5") "left,root,5,,,2,,,,\n" COHORT("right,root", "5") "a,left,1,,,2,,Any,,\nb,left,1,,,,,,,\nc,root,1,,,,,,,\n"
                                                                               "d,right,1,,,,,,,\ne,right,1,,,0.99,,,,\n",
     FIVES, "a=5", "0 1 5 6 15", DLS_KUEUE_BOTH},
    {"a,root,5,,,10,LowerPriority,Any,,\nb,right,0,,,0.1,,,,\nright,root,1,,,0.1,,,,\n", "a@-1 a@-1 a@-1 b@-1", "a=5", "0 1 2",
     DLS_KUEUE_BOTH},
    {"a,root,5,,,10,LowerPriority,LowerPriority,,\nb,right,0,,,0.1,,,,\nright,root,3,,,0.1,,,,\n", "a@-1 a@-1 a@-1 b=4@100",
     "a=4", "0 1 2", DLS_KUEUE_BOTH},
    {"a,aaa,0,,,,,Any,,\nb,bbb,0,,,,,,,\nA,root,0,,,1.01,,,,\n" COHORT("aa,A", "") COHORT("aaa,aa", "") "B,root,0,,,0.99,,,,\n" COHORT(
         "bb,B", "") COHORT("bbb,bb", "") COHORT("C,root", "") COHORT("cc,C", "") COHORT("ccc,cc", "") COHORT("cccc,ccc", "1"),
     "b", "a", "0", DLS_KUEUE_BOTH},
    {"a,root,1,,,0,,Any,,\nb,root,0,,,1,,,,\n", "b", "a", "0", DLS_KUEUE_BOTH},
    {"a,A,0,,,0,,Any,,\nb,root,0,,,1,,,,\nA,root,1,,,0,,,,\n", "b", "a", "0", DLS_KUEUE_BOTH},
};

/* One word; returns what follows it. */
static const char *read_load(const char *at, const dls_quota_tree *t, dls_kueue_load *out)
{
    char name[64];
    size_t n = strcspn(at, "=@+ ");
    char *end = NULL;
    snprintf(name, sizeof name, "%.*s", (int)n, at);
    *out = (dls_kueue_load){.queue = dls_quota_find(t, name), .gpus = 1};
    assert_true(out->queue >= 0);
    for (at += n; *at && *at != ' '; at = end) {
        const double value = strtod(at + 1, &end);
        out->gpus = *at == '=' ? value : out->gpus;
        out->priority = *at == '@' ? (int64_t)value : out->priority;
        out->since_us = *at == '+' ? (int64_t)value : out->since_us;
    }
    return at + strspn(at, " ");
}

static void check(const a_case *cases, size_t n_cases)
{
    const char *path = in_folder("quotas.csv");
    DLS_OWN(dls_kueue_search_fini) dls_kueue_search s = {0};
    for (size_t i = 0; i < n_cases; i++) {
        const a_case *c = &cases[i];
        DLS_OWN(dls_quota_tree_fini) dls_quota_tree t = {0};
        dls_kueue_load load[32], in;
        dls_error err;
        size_t n = 0;
        bool found;
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        fprintf(f, "%s\n%s", HEADER, c->rows);
        assert_int_equal(fclose(f), 0);
        if (dls_quota_cohorts_read(&t, path, &err) != DLS_OK) {
            fail_msg("case %zu: %s", i, err.msg);
        }
        for (const char *at = c->loads; *at; n++) {
            at = read_load(at, &t, &load[n]);
            load[n].job = (int32_t)n;
            dls_quota_use(&t, load[n].queue, load[n].gpus);
        }
        read_load(c->in, &t, &in);
        in.submit_us = -in.since_us;
        assert_int_equal(dls_kueue_preempt(&s, &t, load, n, &in, c->fair, &found, &err), DLS_OK);
        char got[128] = "";
        for (size_t k = 0; k < n; k++) {
            const size_t length = strlen(got);
            if (load[k].gone) {
                snprintf(got + length, sizeof got - length, "%s%zu", *got ? " " : "", k);
            }
        }
        if (strcmp(got, c->want) != 0 || found != (*c->want != '\0')) {
            fail_msg("case %zu (%s <- %s): \"%s\" give way, expected \"%s\"", i, c->loads, c->in, got, c->want);
        }
        /* What is left in the tree is what has not gone. */
        dls_kueue_restore(&s, &t, load);
        for (size_t k = 0; k < n; k++) {
            assert_true(!load[k].gone);
            dls_quota_use(&t, load[k].queue, -load[k].gpus);
        }
        for (size_t k = 0; k < t.n; k++) {
            assert_true(t.at[k].used == 0);
        }
    }
}

TEST(test_policies)
{
    check(by_policy, sizeof by_policy / sizeof *by_policy);
}

TEST(test_places)
{
    check(by_place, sizeof by_place / sizeof *by_place);
}

TEST(test_shares)
{
    check(by_share, sizeof by_share / sizeof *by_share);
}

GROUP(make_folder, drop_folder)
