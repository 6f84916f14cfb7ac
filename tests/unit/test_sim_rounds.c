/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Rounds: plans of all allocations, of which the engine takes the difference; times worked out by
 * hand. Every illegal plan is refused.
 */
#include "elastic_util.h"

/* ---- rounds ---------------------------------------------------------------------------------- */

static dls_round_timing round_timing;
static void timing(const void *state, dls_round_timing *out)
{
    *out = round_timing;
}

/* fjf, as a plan. */
static dls_status fit_all(void *state, const dls_view *view, dls_plan *plan, dls_error *err)
{
    int64_t free = view->free_gpus;
    dls_plan_keep_all(plan);
    for (int32_t j = dls_view_first_waiting(view); j >= 0; j = dls_view_next_waiting(view, j)) {
        const dls_want want = {.type = -1};
        if (view->gpus[j] <= free) {
            free -= view->gpus[j];
            dls_plan_set(plan, j, &want);
        }
    }
    return DLS_OK;
}

static const dls_sched_ops fjf_in_rounds = {.abi = DLS_POLICY_ABI,
                                            .name = "fjf-in-rounds",
                                            .summary = "first come, first served, by plans",
                                            .round = fit_all,
                                            .timing = timing};

TEST(test_rounds_are_fjf)
{
    for (uint64_t seed = 0; seed < 100; seed++) {
        DLS_OWN(setup_fini) sim_setup s = {0};
        setup_init(&s, case_cluster(4, 4, 2), random_trace(seed, 60, 8, 20, NULL, NULL), "fjf",
                   "count");
        dls_record *order = case_run(&s.p);
        s.p.sched = &fjf_in_rounds;
        round_timing =
            (dls_round_timing){.interval_us = S(1000), .on_arrival = true, .on_end = true};
        DLS_HOLD(dls_record_destroy) dls_record *rounds = case_run(&s.p);
        assert_int_equal(dls_record_digest(order), dls_record_digest(rounds));
        dls_record_destroy(order);
    }
}

/* Rounds at 3, 13, 23, ... s: the first submission begins the first. */
TEST(test_round_grid)
{
    static const case_job jobs[] = {{3, 14, 4, NULL, NULL},
                                    {4, 5, 4, NULL, NULL},
                                    {100, 1, 1, NULL, NULL},
                                    {104, 1, 1, NULL, NULL}};
    DLS_OWN(setup_fini) sim_setup s = {0};
    setup_init(&s, case_cluster(1, 4, 0), case_trace(jobs, 4), "fifo", "consolidated");
    s.p.sched = &fjf_in_rounds;
    round_timing = (dls_round_timing){.interval_us = S(10)};
    DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
    assert_true(rec->complete);
    assert_int_equal(rec->start_us[0], S(3));
    assert_int_equal(rec->end_us[0], S(17)); /* its GPUs idle until the round */
    assert_int_equal(rec->start_us[1], S(23));
    assert_int_equal(rec->start_us[2], S(103));
    assert_int_equal(rec->start_us[3], S(113));
    dls_record_destroy(rec);
    round_timing.on_end = true;
    rec = case_run(&s.p);
    assert_int_equal(rec->start_us[1], S(17));
    assert_int_equal(rec->start_us[2], S(103));
    dls_record_destroy(rec);
    round_timing = (dls_round_timing){.interval_us = DLS_NEVER}; /* but the first */
    rec = case_run(&s.p);
    assert_int_equal(rec->start_us[0], S(3));
    assert_int_equal(rec->start_us[1], DLS_ABSENT);
    dls_record_destroy(rec);
    round_timing.on_arrival = round_timing.on_end = true;
    rec = case_run(&s.p);
    assert_int_equal(rec->start_us[1], S(17));
    assert_int_equal(rec->start_us[2], S(100));
}

/* What a plan says for rounds 0, 1, 2, ... */
typedef struct planned {
    int round;
    enum { SET, KEEP, KEEP_ALL, WITH, AWAY } what;
    int32_t job, host;
    dls_want want;
} planned;
static const planned *plans;
static size_t n_plans;
static int round_now;

static dls_status follow(void *state, const dls_view *view, dls_plan *plan, dls_error *err)
{
    for (size_t i = 0; i < n_plans; i++) {
        const planned *p = &plans[i];
        if (p->round != round_now) {
            continue;
        }
        switch (p->what) {
        case SET:
            dls_plan_set(plan, p->job, &p->want);
            break;
        case KEEP:
            dls_plan_keep(plan, p->job);
            break;
        case KEEP_ALL:
            dls_plan_keep_all(plan);
            break;
        case WITH:
            dls_plan_join(plan, p->job, p->host);
            break;
        case AWAY:
            dls_plan_decline(plan, p->job);
            break;
        }
    }
    round_now++;
    return DLS_OK;
}

static const dls_sched_ops planner = {.abi = DLS_POLICY_ABI,
                                      .name = "planner",
                                      .summary = "as the test says",
                                      .joins = true,
                                      .round = follow,
                                      .timing = timing};

#define PLAN(s, cluster, jobs, the_plan)                                                           \
    do {                                                                                           \
        set_up(s, cluster, jobs, sizeof(jobs) / sizeof *(jobs), NULL, 0);                          \
        (s)->p.sched = &planner;                                                                   \
        plans = the_plan;                                                                          \
        n_plans = sizeof(the_plan) / sizeof *(the_plan);                                           \
        round_now = 0;                                                                             \
        round_timing = (dls_round_timing){.interval_us = S(10)};                                   \
    } while (0)

/* Three jobs trade 8 GPUs: what shrinks frees before what grows. */
TEST(test_plan)
{
    static const case_job jobs[] = {{0, 100, 4, NULL, NULL},
                                    {0, 100, 4, NULL, NULL},
                                    {1, 20, 4, NULL, NULL},
                                    {1, 5, 1, NULL, NULL}};
    static const planned p[] = {{0, SET, 0, 0, {.type = -1, .gpus = 2}},
                                {0, SET, 1, 0, {.type = -1, .gpus = 6}},
                                {1, SET, 1, 0, {.type = -1, .gpus = 2}},
                                {1, SET, 0, 0, {.type = -1, .gpus = 6}},
                                {1, AWAY, 3, 0, {0}},
                                {2, KEEP, 0, 0, {0}},
                                {2, SET, 2, 0, {.type = -1, .gpus = 2}}, /* job 1 is not named */
                                {3, KEEP_ALL, 0, 0, {0}},
                                {4, KEEP_ALL, 0, 0, {0}},
                                {5, SET, 0, 0, {.type = -1, .gpus = 6}},
                                {5, KEEP, 2, 0, {0}},
                                {6, SET, 1, 0, {.type = -1, .gpus = 8}},
                                {7, KEEP_ALL, 0, 0, {0}},
                                {8, KEEP_ALL, 0, 0, {0}},
                                {9, KEEP_ALL, 0, 0, {0}},
                                {10, KEEP_ALL, 0, 0, {0}},
                                {11, KEEP_ALL, 0, 0, {0}},
                                {12, KEEP_ALL, 0, 0, {0}},
                                {13, SET, 0, 0, {.type = -1, .gpus = 4}},
                                {14, KEEP_ALL, 0, 0, {0}}};
    DLS_OWN(setup_fini) sim_setup s = {0};
    PLAN(&s, case_cluster(2, 4, 0), jobs, p);
    DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
    assert_true(rec->complete);
    /* Job 0: 5 s of work by 10 s, then 15 a round from 10 to 60 s: 80; stopped; the rest from 130
     * s. */
    assert_int_equal(rec->end_us[0], S(130 + 20));
    assert_int_equal(rec->resumes[0], 3);
    /* Job 1: 15 by 10 s, 5 by 20 s, then from 60 s at twice its speed. */
    assert_int_equal(rec->end_us[1], S(60 + 40));
    assert_int_equal(rec->resumes[1], 3);
    assert_int_equal(rec->end_us[2], S(60));
    assert_int_equal(rec->resumes[2], 1);
    assert_int_equal(rec->state[3], DLS_JOB_DECLINED);
}

/* Guests stay, follow a host that moves, and part. */
TEST(test_plan_joins)
{
    static const case_job jobs[] = {{0, 100, 2, NULL, NULL}, {0, 35, 2, NULL, NULL}};
    static const dls_place_part second[] = {{1, 2}};
    static const planned p[] = {
        {0, SET, 0, 0, {.type = -1, .gpus = 2}},
        {0, WITH, 1, 0, {0}},
        {1, KEEP, 0, 0, {0}},
        {1, WITH, 1, 0, {0}},
        {2, SET, 0, 0, {.type = -1, .gpus = 2, .nodes = second, .n_nodes = 1}},
        {2, WITH, 1, 0, {0}},
        {3, KEEP, 0, 0, {0}},
        {3, SET, 1, 0, {.type = -1, .gpus = 2}},
        {4, KEEP_ALL, 0, 0, {0}},
        {5, KEEP_ALL, 0, 0, {0}},
        {6, KEEP_ALL, 0, 0, {0}},
        {7, KEEP_ALL, 0, 0, {0}},
        {8, KEEP_ALL, 0, 0, {0}},
        {9, KEEP_ALL, 0, 0, {0}}};
    DLS_OWN(setup_fini) sim_setup s = {0};
    PLAN(&s, case_cluster(2, 4, 0), jobs, p);
    DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
    assert_int_equal(rec->end_us[0], S(100));
    assert_int_equal(rec->resumes[0], 2);
    assert_int_equal(rec->end_us[1], S(35));
    assert_int_equal(rec->resumes[1], 3);
    assert_int_equal(rec->guest_us[1], S(30));
}

TEST(test_illegal_plans)
{
    static const case_job jobs[] = {
        {0, 100, 2, NULL, NULL}, {0, 35, 2, NULL, NULL}, {500, 35, 2, NULL, NULL}};
    static const struct {
        planned p[2];
        int32_t job;
        const char *text;
    } bad[] = {
        {{{0, SET, 5, 0, {.type = -1}}, {0, KEEP_ALL, 0, 0, {0}}}, 5, "neither waits nor runs"},
        {{{0, SET, 2, 0, {.type = -1}}, {0, KEEP_ALL, 0, 0, {0}}}, 2, "neither waits nor runs"},
        {{{0, SET, 0, 0, {.type = -1}}, {0, SET, 0, 0, {.type = -1}}}, 0, "planned twice"},
        {{{0, KEEP, 0, 0, {0}}, {0, KEEP_ALL, 0, 0, {0}}}, 0, "does not run"},
        {{{0, WITH, 0, 9, {0}}, {0, KEEP_ALL, 0, 0, {0}}}, 0, "is to join job 9"},
        {{{0, WITH, 0, 0, {0}}, {0, KEEP_ALL, 0, 0, {0}}}, 0, "is to join job 0"},
        {{{0, SET, 0, 0, {.type = -1, .gpus = 8}}, {0, SET, 1, 0, {.type = -1, .gpus = 8}}},
         1,
         "not free"},
        {{{0, AWAY, 2, 0, {0}}, {0, KEEP_ALL, 0, 0, {0}}}, 2, "does not wait"},
        {{{0, WITH, 0, 1, {0}}, {0, KEEP_ALL, 0, 0, {0}}}, 0, "have GPUs of its own"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        sim_setup s;
        PLAN(&s, case_cluster(2, 4, 0), jobs, bad[i].p);
        refused_job(&s, bad[i].job, 0, bad[i].text);
    }
    sim_setup s;
    dls_sched_ops mixer = planner;
    mixer.mixes = true;
    static const dls_place_part both[] = {{0, 1}, {1, 1}};
    static const planned on_mixed[] = {
        {0, SET, 0, 0, {.type = -1, .gpus = 2, .nodes = both, .n_nodes = 2}}, {0, WITH, 1, 0, {0}}};
    PLAN(&s, two_types(1, 1, 4, 0), jobs, on_mixed);
    s.p.sched = &mixer;
    refused_job(&s, 1, 0, "on a type");
    PLAN(&s, case_cluster(2, 4, 0), jobs, bad[0].p);
    round_timing.interval_us = 0;
    refused(&s, "", "microseconds apart", "");
}
