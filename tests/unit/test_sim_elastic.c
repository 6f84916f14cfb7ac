/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Programs and rounds: allocations that change, GPU types and nodes that the scheduler names, jobs
 * that join others, jobs that are turned away; times worked out by hand. Every illegal action is
 * refused.
 */
#include "support/sim_setup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* ---- scripts: what a policy of the tests does at which time
 * --------------------------------------- */

typedef struct step {
    double at_s;
    enum { START, GIVE, TAKE, JOIN, DECLINE, WAKE } what;
    int32_t job, host;
    dls_want want;
} step;

static const step *script;
static size_t n_steps;
static bool last_done; /* what the last GIVE or JOIN returned */

static void act(const dls_view *view, dls_actions *out)
{
    for (size_t i = 0; i < n_steps; i++) {
        const step *s = &script[i];
        if (view->now_us != S(s->at_s)) {
            continue;
        }
        switch (s->what) {
        case START:
            last_done = dls_act_start(out, s->job);
            break;
        case GIVE:
            last_done = dls_act_allocate(out, s->job, &s->want);
            break;
        case TAKE:
            dls_act_preempt(out, s->job);
            break;
        case JOIN:
            last_done = dls_act_join(out, s->job, s->host);
            break;
        case DECLINE:
            dls_act_decline(out, s->job);
            break;
        case WAKE:
            break;
        }
    }
    for (size_t i = 0; i < n_steps; i++) {
        if (S(script[i].at_s) > view->now_us) {
            dls_act_wake(out, S(script[i].at_s));
            break;
        }
    }
}

static dls_status pass(void *state, const dls_view *view, dls_actions *out, dls_error *err)
{
    (void)state;
    (void)err;
    act(view, out);
    return DLS_OK;
}

static const dls_sched_ops scripted = {.abi = DLS_POLICY_ABI,
                                       .name = "scripted",
                                       .summary = "as the test says",
                                       .joins = true,
                                       .pass = pass};

/* As fast as it has GPUs; half as well on twice the batch. */
static int32_t least[8], most[8];
static double linear(void *user, int32_t job, const dls_shape *shape, int64_t batch)
{
    const dls_trace_columns *cols = user;
    return (double)shape->gpus / cols->gpus[job] * (batch > 0 ? 0.5 : 1);
}

static dls_elastic elastic;

static void set_up(sim_setup *s, dls_cluster_spec cluster, const case_job *jobs, size_t n,
                   const step *steps, size_t n_of_steps)
{
    setup_init(s, cluster, case_trace(jobs, n), "fifo", "consolidated");
    s->p.sched = &scripted;
    for (size_t j = 0; j < n; j++) {
        least[j] = 1;
        most[j] = 8;
    }
    elastic = (dls_elastic){.user = (void *)(uintptr_t)dls_trace_cols(s->trace),
                            .min_gpus = least,
                            .max_gpus = most,
                            .speed = linear};
    s->p.elastic = &elastic;
    script = steps;
    n_steps = n_of_steps;
}

#define RUN(s, cluster, jobs, steps)                                                               \
    set_up(s, cluster, jobs, sizeof(jobs) / sizeof *(jobs), steps, sizeof(steps) / sizeof *(steps))

static void refused(sim_setup *s, const char *text)
{
    dls_record *rec;
    dls_error err = {0};
    assert_int_equal(dls_sim_run(&s->p, &rec, &err), DLS_EPOLICY);
    assert_string_equal(err.where, s->p.sched->name);
    if (!strstr(err.msg, text)) {
        fail_msg("'%s' is not in '%s'", text, err.msg);
    }
    setup_fini(s);
}

/* ---- elastic jobs
 * --------------------------------------------------------------------------------- */

static const case_job two[] = {{0, 100, 2, NULL, NULL}, {20, 40, 2, NULL, NULL}};
static const step grow_and_shrink[] = {
    {0, GIVE, 0, 0, {.type = -1, .gpus = 4}},
    {20, GIVE, 0, 0, {.type = -1, .gpus = 2}},
    {20, START, 1, 0, {0}},
    {60, GIVE, 0, 0, {.type = -1, .gpus = 4}},
};

/* Job 0 runs at twice its speed to 20 s (60 s left), at its own to 60 s (20 s left), at twice to 70
 * s. */
static void test_resize(void **unused)
{
    (void)unused;
    sim_setup s;
    RUN(&s, case_cluster(1, 4, 0), two, grow_and_shrink);
    dls_record *rec = case_run(&s.p);
    assert_true(rec->complete);
    assert_int_equal(rec->end_us[0], S(70));
    assert_int_equal(rec->end_us[1], S(60));
    assert_int_equal(rec->resumes[0], 3);
    assert_int_equal(rec->overhead_us[0], 0);
    dls_record_destroy(rec);
    /* Each change restores for 5 s: 60 s left at 25 s, 25 s at 60 s, half of that from 65 s. */
    s.p.restore_us = S(5);
    rec = case_run(&s.p);
    assert_int_equal(rec->end_us[0], S(77.5));
    assert_int_equal(rec->end_us[1], S(60));
    assert_int_equal(rec->overhead_us[0], S(10));
    dls_record_destroy(rec);
    setup_fini(&s);
}

static int64_t restore_two(void *user, int32_t job, const dls_shape *shape)
{
    (void)user;
    return job == 0 ? S(shape->gpus) : -1;
}

static void test_restore_by_job(void **unused)
{
    (void)unused;
    sim_setup s;
    RUN(&s, case_cluster(1, 4, 0), two, grow_and_shrink);
    elastic.restore_us = restore_two;
    dls_record *rec = case_run(&s.p);
    assert_int_equal(rec->overhead_us[0], S(2 + 4));
    assert_int_equal(rec->end_us[0], S(60 + 4 + 11)); /* 22 s left at 60 s */
    dls_record_destroy(rec);
    setup_fini(&s);
}

/* Twice the batch at half the speed from 10 s on; the same again costs nothing. */
static void test_batch(void **unused)
{
    (void)unused;
    static const case_job jobs[] = {{0, 50, 2, NULL, NULL}};
    static const step steps[] = {{0, START, 0, 0, {0}},
                                 {10, GIVE, 0, 0, {.type = -1, .batch = 64}},
                                 {20, GIVE, 0, 0, {.type = -1, .batch = 64}},
                                 {30, GIVE, 0, 0, {.type = -1}}};
    sim_setup s;
    RUN(&s, case_cluster(1, 4, 0), jobs, steps);
    dls_record *rec = case_run(&s.p);
    assert_int_equal(rec->end_us[0], S(90));
    assert_int_equal(rec->resumes[0], 2);
    dls_record_destroy(rec);
    setup_fini(&s);
}

/* ---- where
 * ---------------------------------------------------------------------------------------- */

static void test_types_and_nodes(void **unused)
{
    (void)unused;
    static const dls_place_part on_two[] = {{3, 1}, {2, 2}};
    static const case_job jobs[] = {{0, 30, 2, NULL, NULL}, {0, 30, 3, NULL, NULL}};
    static const step steps[] = {
        {0, GIVE, 0, 0, {.type = 1, .gpus = 2}},
        {0, GIVE, 1, 0, {.type = 1, .nodes = on_two, .n_nodes = 2, .gpus = 3}},
        {10, GIVE, 0, 0, {.type = 0, .gpus = 2}}};
    sim_setup s;
    RUN(&s, two_types(2, 2, 4, 0), jobs, steps);
    dls_record *rec = case_run(&s.p);
    assert_int_equal(rec->end_us[0], S(30));
    assert_int_equal(rec->end_us[1], S(30));
    int32_t seen = 0;
    for (size_t i = 0; i < rec->allocs.n; i++) {
        const int32_t node = rec->allocs.node[i];
        if (rec->allocs.job[i] == 1) {
            assert_int_equal(rec->allocs.gpus[i], node == 3 ? 1 : 2);
            seen |= 1 << node;
        } else {
            assert_int_equal(node / 2, rec->allocs.start_us[i] < S(10));
        }
    }
    assert_int_equal(seen, 1 << 2 | 1 << 3);
    dls_record_destroy(rec);
    setup_fini(&s);
}

/* ---- sharing
 * -------------------------------------------------------------------------------------- */

/* Three jobs on the same two GPUs; the host goes at 10 s, the next at 30 s. */
static void test_join(void **unused)
{
    (void)unused;
    static const case_job jobs[] = {{0, 10, 2, NULL, NULL},
                                    {0, 40, 2, NULL, NULL},
                                    {0, 30, 2, NULL, NULL},
                                    {0, 5, 2, NULL, NULL}};
    static const step steps[] = {
        {0, START, 0, 0, {0}}, {0, JOIN, 2, 0, {0}}, {0, JOIN, 1, 0, {0}}, {35, START, 3, 0, {0}}};
    sim_setup s;
    RUN(&s, case_cluster(1, 4, 0), jobs, steps);
    dls_record *rec = case_run(&s.p);
    assert_int_equal(rec->end_us[0], S(10));
    assert_int_equal(rec->end_us[1], S(40));
    assert_int_equal(rec->end_us[2], S(30));
    assert_int_equal(rec->end_us[3], S(40));
    assert_int_equal(rec->guest_starts, 2);
    assert_int_equal(rec->guest_us[2], S(10));
    assert_int_equal(rec->guest_us[1], S(30)); /* of job 2 from 10 s on */
    dls_record_destroy(rec);
    setup_fini(&s);
}

/* A host that is preempted takes its guests with it; a guest that is preempted leaves the others.
 */
static void test_join_preempted(void **unused)
{
    (void)unused;
    static const case_job jobs[] = {
        {0, 40, 2, NULL, NULL}, {0, 40, 2, NULL, NULL}, {0, 40, 2, NULL, NULL}};
    static const step steps[] = {{0, START, 0, 0, {0}}, {0, JOIN, 1, 0, {0}},
                                 {0, JOIN, 2, 0, {0}},  {10, TAKE, 1, 0, {0}},
                                 {20, TAKE, 0, 0, {0}}, {30, START, 0, 0, {0}},
                                 {30, JOIN, 1, 0, {0}}, {30, START, 2, 0, {0}}};
    sim_setup s;
    RUN(&s, case_cluster(1, 4, 0), jobs, steps);
    dls_record *rec = case_run(&s.p);
    assert_int_equal(rec->end_us[0], S(50));
    assert_int_equal(rec->end_us[1], S(60));
    assert_int_equal(rec->end_us[2], S(50));
    assert_int_equal(rec->preempts[2], 1);
    dls_record_destroy(rec);
    setup_fini(&s);
}

/* ---- turned away
 * ---------------------------------------------------------------------------------- */

static bool admit_short(void *state, const dls_view *view, int32_t job)
{
    (void)state;
    return view->duration_us[job] <= S(50);
}

static void test_admit_and_decline(void **unused)
{
    (void)unused;
    static const case_job jobs[] = {
        {0, 60, 2, NULL, NULL}, {0, 40, 2, NULL, NULL}, {5, 40, 2, NULL, NULL}};
    static const step steps[] = {{0, START, 1, 0, {0}}, {5, DECLINE, 2, 0, {0}}};
    sim_setup s;
    dls_sched_ops ops = scripted;
    RUN(&s, case_cluster(1, 4, 0), jobs, steps);
    ops.admit = admit_short;
    s.p.sched = &ops;
    dls_record *rec = case_run(&s.p);
    assert_true(rec->complete);
    assert_int_equal(rec->state[0], DLS_JOB_DECLINED);
    assert_int_equal(rec->state[1], DLS_JOB_FINISHED);
    assert_int_equal(rec->state[2], DLS_JOB_DECLINED);
    dls_record_destroy(rec);
    setup_fini(&s);
}

/* ---- what is seen
 * --------------------------------------------------------------------------------- */

static dls_observation seen[16];
static size_t n_seen;
static int64_t service_at_end;

static void take_note(void *state, const dls_view *view, const dls_observation *what)
{
    (void)state;
    seen[n_seen++] = *what;
    service_at_end = dls_view_service_us(view, what->job, -1);
}

static void test_seen(void **unused)
{
    (void)unused;
    sim_setup s;
    dls_sched_ops ops = scripted;
    RUN(&s, case_cluster(1, 4, 0), two, grow_and_shrink);
    ops.seen = take_note;
    s.p.sched = &ops;
    n_seen = 0;
    dls_record_destroy(case_run(&s.p));
    assert_int_equal(n_seen, 4);
    static const struct {
        int32_t job, gpus;
        double executed_s, rate;
    } want[] = {{0, 4, 20, 2}, {1, 2, 40, 1}, {0, 2, 40, 1}, {0, 4, 10, 2}};
    for (size_t i = 0; i < n_seen; i++) {
        assert_int_equal(seen[i].job, want[i].job);
        assert_int_equal(seen[i].gpus, want[i].gpus);
        assert_int_equal(seen[i].executed_us, S(want[i].executed_s));
        assert_true(fabs(seen[i].rate - want[i].rate) < 1e-5);
        assert_true(isnan(seen[i].iteration_s));
    }
    assert_int_equal(service_at_end, S(20 * 4 + 40 * 2 + 10 * 4));
    setup_fini(&s);
}

/* ---- illegal actions
 * ------------------------------------------------------------------------------ */

static void test_illegal(void **unused)
{
    (void)unused;
    static const dls_place_part wild[] = {{7, 2}}, few[] = {{0, 1}}, none[] = {{0, 0}, {1, 2}};
    static const case_job jobs[] = {
        {0, 100, 2, NULL, NULL}, {0, 100, 2, NULL, "gpu"}, {50, 1, 1, NULL, NULL}};
    static const struct {
        step step;
        const char *text;
    } bad[] = {
        {{1, START, 9, 0, {0}}, "job 9: is to start"},
        {{1, START, -1, 0, {0}}, "job -1: is to start"},
        {{1, START, 2, 0, {0}}, "job 2: is to start"},
        {{1, START, 0, 0, {0}}, "job 0: is to start, but does not wait"},
        {{1, GIVE, 1, 0, {.type = 1}}, "is to get GPUs of type 1"},
        {{1, GIVE, 1, 0, {.type = -2}}, "of type -2"},
        {{1, GIVE, 1, 0, {.type = -1, .gpus = 9}}, "can use 1 to 8"},
        {{1, GIVE, 1, 0, {.type = -1, .gpus = -1}}, "can use 1 to 8"},
        {{1, GIVE, 1, 0, {.type = -1, .gpus = 7}}, "which are not free"},
        {{1, GIVE, 1, 0, {.type = -1, .batch = -5}}, "with a batch of -5"},
        {{1, GIVE, 1, 0, {.type = -1, .nodes = wild, .n_nodes = 1}}, "named nodes"},
        {{1, GIVE, 1, 0, {.type = -1, .nodes = few, .n_nodes = 1}}, "named nodes"},
        {{1, GIVE, 1, 0, {.type = -1, .nodes = none, .n_nodes = 2}}, "named nodes"},
        {{1, GIVE, 1, 0, {.type = -1, .nodes = few, .n_nodes = 0}}, "named nodes"},
        {{1, GIVE, 2, 0, {.type = -1}}, "neither waits nor runs"},
        {{1, TAKE, 1, 0, {0}}, "job 1: is to be preempted, but does not run"},
        {{1, TAKE, 77, 0, {0}}, "job 77: is to be preempted"},
        {{1, JOIN, 0, 1, {0}}, "is to join job 1"},
        {{1, JOIN, 1, 1, {0}}, "is to join job 1"},
        {{1, JOIN, 1, 99, {0}}, "is to join job 99"},
        {{1, DECLINE, 0, 0, {0}}, "does not wait"},
        {{1, DECLINE, 2, 0, {0}}, "does not wait"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const step steps[] = {{0, START, 0, 0, {0}}, bad[i].step};
        sim_setup s;
        RUN(&s, case_cluster(2, 4, 0), jobs, steps);
        refused(&s, bad[i].text);
    }
    /* The time and the policy are named too. */
    const step late[] = {{0, START, 0, 0, {0}}, {1, START, 0, 0, {0}}};
    sim_setup s;
    RUN(&s, case_cluster(2, 4, 0), jobs, late);
    refused(&s, "at 1.000000 s");
    /* One that does not say that it joins jobs. */
    const step join[] = {{0, START, 0, 0, {0}}, {1, JOIN, 1, 0, {0}}};
    dls_sched_ops ops = scripted;
    RUN(&s, case_cluster(2, 4, 0), jobs, join);
    ops.joins = false;
    s.p.sched = &ops;
    refused(&s, "does not say that it joins");
}

/* ---- rounds
 * --------------------------------------------------------------------------------------- */

static dls_round_timing round_timing;
static void timing(const void *state, dls_round_timing *out)
{
    (void)state;
    *out = round_timing;
}

/* fjf, as a plan. */
static dls_status fit_all(void *state, const dls_view *view, dls_plan *plan, dls_error *err)
{
    (void)state;
    (void)err;
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

static void test_rounds_are_fjf(void **unused)
{
    (void)unused;
    for (uint64_t seed = 0; seed < 100; seed++) {
        sim_setup s;
        setup_init(&s, case_cluster(4, 4, 2), random_trace(seed, 60, 8, 20, NULL, NULL), "fjf",
                   "count");
        dls_record *order = case_run(&s.p);
        s.p.sched = &fjf_in_rounds;
        round_timing =
            (dls_round_timing){.interval_us = S(1000), .on_arrival = true, .on_end = true};
        dls_record *rounds = case_run(&s.p);
        assert_int_equal(dls_record_digest(order), dls_record_digest(rounds));
        dls_record_destroy(order);
        dls_record_destroy(rounds);
        setup_fini(&s);
    }
}

/* Rounds at 3, 13, 23, ... s: the first submission begins the first. */
static void test_round_grid(void **unused)
{
    (void)unused;
    static const case_job jobs[] = {{3, 14, 4, NULL, NULL},
                                    {4, 5, 4, NULL, NULL},
                                    {100, 1, 1, NULL, NULL},
                                    {104, 1, 1, NULL, NULL}};
    sim_setup s;
    setup_init(&s, case_cluster(1, 4, 0), case_trace(jobs, 4), "fifo", "consolidated");
    s.p.sched = &fjf_in_rounds;
    round_timing = (dls_round_timing){.interval_us = S(10)};
    dls_record *rec = case_run(&s.p);
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
    setup_fini(&s);
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
    (void)state;
    (void)view;
    (void)err;
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
static void test_plan(void **unused)
{
    (void)unused;
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
    sim_setup s;
    PLAN(&s, case_cluster(2, 4, 0), jobs, p);
    dls_record *rec = case_run(&s.p);
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
    dls_record_destroy(rec);
    setup_fini(&s);
}

/* Guests stay, follow a host that moves, and part. */
static void test_plan_joins(void **unused)
{
    (void)unused;
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
    sim_setup s;
    PLAN(&s, case_cluster(2, 4, 0), jobs, p);
    dls_record *rec = case_run(&s.p);
    assert_int_equal(rec->end_us[0], S(100));
    assert_int_equal(rec->resumes[0], 2);
    assert_int_equal(rec->end_us[1], S(35));
    assert_int_equal(rec->resumes[1], 3);
    assert_int_equal(rec->guest_us[1], S(30));
    dls_record_destroy(rec);
    setup_fini(&s);
}

static void test_illegal_plans(void **unused)
{
    (void)unused;
    static const case_job jobs[] = {
        {0, 100, 2, NULL, NULL}, {0, 35, 2, NULL, NULL}, {500, 35, 2, NULL, NULL}};
    static const struct {
        planned p[2];
        const char *text;
    } bad[] = {
        {{{0, SET, 5, 0, {.type = -1}}, {0, KEEP_ALL, 0, 0, {0}}}, "job 5"},
        {{{0, SET, 2, 0, {.type = -1}}, {0, KEEP_ALL, 0, 0, {0}}}, "neither waits nor runs"},
        {{{0, SET, 0, 0, {.type = -1}}, {0, SET, 0, 0, {.type = -1}}}, "planned twice"},
        {{{0, KEEP, 0, 0, {0}}, {0, KEEP_ALL, 0, 0, {0}}}, "does not run"},
        {{{0, WITH, 0, 9, {0}}, {0, KEEP_ALL, 0, 0, {0}}}, "is to join job 9"},
        {{{0, WITH, 0, 0, {0}}, {0, KEEP_ALL, 0, 0, {0}}}, "is to join job 0"},
        {{{0, SET, 0, 0, {.type = -1, .gpus = 8}}, {0, SET, 1, 0, {.type = -1, .gpus = 8}}},
         "not free"},
        {{{0, AWAY, 2, 0, {0}}, {0, KEEP_ALL, 0, 0, {0}}}, "does not wait"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        sim_setup s;
        PLAN(&s, case_cluster(2, 4, 0), jobs, bad[i].p);
        refused(&s, bad[i].text);
    }
    sim_setup s;
    PLAN(&s, case_cluster(2, 4, 0), jobs, bad[0].p);
    round_timing.interval_us = 0;
    refused(&s, "microseconds apart");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_resize),
        cmocka_unit_test(test_restore_by_job),
        cmocka_unit_test(test_batch),
        cmocka_unit_test(test_types_and_nodes),
        cmocka_unit_test(test_join),
        cmocka_unit_test(test_join_preempted),
        cmocka_unit_test(test_admit_and_decline),
        cmocka_unit_test(test_seen),
        cmocka_unit_test(test_illegal),
        cmocka_unit_test(test_rounds_are_fjf),
        cmocka_unit_test(test_round_grid),
        cmocka_unit_test(test_plan),
        cmocka_unit_test(test_plan_joins),
        cmocka_unit_test(test_illegal_plans),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
