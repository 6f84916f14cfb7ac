/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Placements that grant what they may not, orders that ask to be woken in the past, shares that do
 * not add up, tables that are no policy: each ends the run with EPOLICY and the name of the policy.
 */
#include "support/must.h"
#include "support/sim_setup.h"
#include "support/test.h"

static void refuse(const sim_setup *s, const char *who)
{
    dls_record *rec = NULL;
    dls_error err;
    assert_int_equal(dls_sim_run(&s->p, &rec, &err), DLS_EPOLICY);
    assert_null(rec);
    assert_int_equal(err.status, DLS_EPOLICY);
    assert_string_equal(err.where, who);
    assert_true(strlen(err.msg) > 10);
}

/* ---- placement ------------------------------------------------------------------------------- */

enum grant_wrong {
    TOO_MANY,
    TOO_FEW,
    NONE,
    NODE_MINUS,
    NODE_BEYOND,
    NEGATIVE,
    BEYOND_32_BITS,
    TAKEN,
    NAMED,
    OTHER_TYPE
};
static enum grant_wrong grant_wrong;
static int good_grants; /* before the wrong one */
static bool granted_wrong;
static int32_t granted_job;

static bool place_wrong(void *state, const dls_place_index *x, const dls_request *r, dls_grant *g)
{
    if (good_grants-- > 0) {
        return case_placement("consolidated")->place(NULL, x, r, g);
    }
    granted_wrong = true;
    granted_job = r->job;
    switch (grant_wrong) {
    case TOO_MANY:
        dls_grant_add(g, dls_place_best(x, r, 1), r->gpus + 1);
        break;
    case TOO_FEW:
        if (r->gpus > 1) {
            dls_grant_add(g, dls_place_best(x, r, 1), r->gpus - 1);
        }
        break;
    case NONE:
        break;
    case NODE_MINUS:
        dls_grant_add(g, -1, r->gpus);
        break;
    case NODE_BEYOND:
        dls_grant_add(g, dls_place_nodes(x), r->gpus);
        break;
    case NEGATIVE:
        dls_grant_add(g, 0, -1);
        dls_grant_add(g, 1, r->gpus + 1);
        break;
    case BEYOND_32_BITS:
        dls_grant_add(g, 0, INT32_MAX);
        dls_grant_add(g, 0, INT32_MAX);
        dls_grant_add(g, 1, INT32_MAX);
        (void)dls_grant_shape(g, x, &(dls_shape){0});
        break;
    case TAKEN:
        for (int32_t node = 0; node < dls_place_nodes(x); node++) {
            if (dls_place_free(x, node) < r->gpus) {
                dls_grant_add(g, node, r->gpus);
                return true;
            }
        }
        granted_wrong = false;
        dls_grant_add(g, dls_place_best(x, r, r->gpus), r->gpus);
        break;
    case NAMED: /* a GPU that the node has not got */
        dls_grant_add(g, dls_place_best(x, r, 1), r->gpus - 1);
        dls_grant_add_gpus(g, dls_place_best(x, r, 1), UINT64_C(1) << 63);
        break;
    case OTHER_TYPE:
        granted_wrong = r->type == 0;
        dls_grant_add(g, dls_place_nodes(x) - 1, r->gpus);
        break;
    }
    return true;
}

TEST(test_placement)
{
    const dls_placement_ops ops = {.abi = DLS_POLICY_ABI, .name = "askew", .place = place_wrong};
    for (int wrong = TOO_MANY; wrong <= OTHER_TYPE; wrong++) {
        int done = 0;
        for (int good = 0; good < 12; good++) {
            DLS_OWN(setup_fini) sim_setup s = {0};
            setup_small(&s, 17 + (uint64_t)good);
            if (wrong == OTHER_TYPE) {
                free(s.cluster.groups);
                s.cluster = two_types(3, 3, 4, 2);
            }
            s.p.sched = case_sched(good % 2 ? "srtf" : "fifo");
            s.p.placement = &ops;
            grant_wrong = (enum grant_wrong)wrong;
            /* TAKEN needs a cluster in use: the first grants are for the empty one. */
            good_grants = good + (wrong == TAKEN ? 8 : 0);
            granted_wrong = false;
            DLS_HOLD(dls_record_destroy) dls_record *rec = NULL;
            dls_error err;
            const dls_status status = dls_sim_run(&s.p, &rec, &err);
            if (granted_wrong) {
                assert_int_equal(status, DLS_EPOLICY);
                assert_string_equal(err.where, "askew");
                char job[32];
                snprintf(job, sizeof job, "job %d: ", granted_job);
                /* Of a trial before the run there is no time to name. */
                if (strncmp(err.msg, job, strlen(job)) != 0 ||
                    (wrong == TAKEN && !strstr(err.msg, " (at "))) {
                    fail_msg("%d: '%s' does not begin with '%s'", wrong, err.msg, job);
                }
                assert_null(rec);
                done++;
            } else {
                assert_int_equal(status, DLS_OK);
            }
        }
        assert_true(done >= 10);
    }
}

/* What a placement's other callbacks ask or answer wrongly is said of it, whoever is looked at next. */
static enum { ASK_STARTED, ASK_STOPPED, ASK_COST, COST_NAN, SHIFT_INF } askew;

static bool place_well(void *state, const dls_place_index *x, const dls_request *r, dls_grant *g)
{
    if (askew == SHIFT_INF) {
        dls_grant_shift(g, -(double)INFINITY);
    }
    return case_placement("first-fit")->place(NULL, x, r, g);
}

static void started_askew(void *state, const dls_place_index *x, const dls_request *r, const int32_t *nodes,
                          const int32_t *gpus, size_t n)
{
    (void)dls_place_free(x, askew == ASK_STARTED ? -1 : nodes[0]);
}

static void stopped_askew(void *state, const dls_place_index *x, int32_t job, int64_t now_us, int64_t worked_us)
{
    (void)dls_place_free(x, askew == ASK_STOPPED ? -1 : 0);
}

static double cost_askew(void *state, const dls_place_index *x, const dls_request *r)
{
    return askew == COST_NAN ? (double)NAN : dls_place_free(x, askew == ASK_COST ? -1 : 0);
}

TEST(test_callbacks_of_placement)
{
    const dls_placement_ops ops = {.abi = DLS_POLICY_ABI,
                                   .name = "askew",
                                   .place = place_well,
                                   .started = started_askew,
                                   .stopped = stopped_askew,
                                   .cost = cost_askew};
    for (askew = ASK_STARTED; askew <= SHIFT_INF; askew++) {
        for (int program = 0; program < 2; program++) {
            DLS_OWN(setup_fini) sim_setup s = {0};
            setup_small(&s, 5);
            setup_policy(&s, program ? "lucid" : "srtf", "consolidated");
            s.p.placement = &ops;
            refuse(&s, "askew");
        }
    }
}

/* Programs and rounds that want nothing; and programs on two types of GPUs, one that goes by the GPUs that are free in
 * all, and one by those that a job could have of one type. */
static bool goes_by_all;

static dls_status null_pass(void *state, const dls_view *v, dls_actions *out, dls_error *err)
{
    dls_act_allocate(out, dls_view_first_waiting(v), NULL);
    return DLS_OK;
}

static dls_status null_round(void *state, const dls_view *v, dls_plan *plan, dls_error *err)
{
    dls_plan_set(plan, dls_view_first_waiting(v), NULL);
    return DLS_OK;
}

static void every_minute(const void *state, dls_round_timing *out)
{
    out->interval_us = 60 * DLS_US_PER_S;
}

static dls_status start_pass(void *state, const dls_view *v, dls_actions *out, dls_error *err)
{
    for (int32_t j = dls_view_first_waiting(v); j >= 0; j = dls_view_next_waiting(v, j)) {
        const int64_t first = dls_view_quota_gpus(v, j, 0), second = dls_view_quota_gpus(v, j, 1);
        assert_int_equal(dls_view_room(v, j), first > second ? first : second);
        if (v->gpus[j] <= (goes_by_all ? v->free_gpus : dls_view_room(v, j))) {
            dls_act_start(out, j);
        }
    }
    return DLS_OK;
}

TEST(test_wants)
{
    const dls_sched_ops ops[] = {
        {.abi = DLS_POLICY_ABI, .name = "wants", .pass = null_pass},
        {.abi = DLS_POLICY_ABI, .name = "wants", .round = null_round, .timing = every_minute},
        {.abi = DLS_POLICY_ABI, .name = "wants", .pass = start_pass}};
    static const char *const said[] = {"what it is to get is NULL", "what it is to get is NULL",
                                       "of one type that it can use it may have "};
    for (int k = 0; k < 4; k++) {
        DLS_OWN(setup_fini) sim_setup s = {0};
        dls_record *rec = NULL;
        setup_init(&s, two_types(1, 1, 4, 1), random_trace(19, 200, 4, 20, NULL, NULL), "fifo", "first-fit");
        s.p.sched = &ops[k < 3 ? k : 2];
        goes_by_all = k == 2;
        if (k == 3) {
            rec = case_run(&s.p);
            assert_true(rec->complete);
            dls_record_destroy(rec);
        } else {
            MUST_FAIL(DLS_EPOLICY, said[k], dls_sim_run(&s.p, &rec, &e));
        }
    }
}

/* ---- orders ---------------------------------------------------------------------------------- */

static int64_t wake_offset, stale_offset, turn_offset;

static void hasty(void *state, const dls_view *v, int32_t job, dls_job_event why, dls_priority *out)
{
    if (why == DLS_EVENT_STARTED) {
        out->valid_until_us = stale_offset == DLS_NEVER ? DLS_NEVER : v->now_us + stale_offset;
        out->alarm = wake_offset != DLS_NEVER   ? DLS_ALARM_RESCHEDULE
                     : turn_offset != DLS_NEVER ? DLS_ALARM_YIELD
                                                : DLS_ALARM_NONE;
        const int64_t offset = wake_offset != DLS_NEVER ? wake_offset : turn_offset;
        out->alarm_us = offset == DLS_NEVER ? DLS_NEVER : v->now_us + offset;
    }
}

TEST(test_order_in_the_past)
{
    static const int64_t bad[] = {0, -1};
    const dls_sched_ops ops = {
        .abi = DLS_POLICY_ABI, .name = "hasty", .discipline = DLS_PREEMPT, .priority = hasty};
    for (int which = 0; which < 7; which++) {
        DLS_OWN(setup_fini) sim_setup s = {0};
        setup_small(&s, 23);
        s.p.sched = &ops;
        wake_offset = stale_offset = turn_offset = DLS_NEVER;
        int64_t *const offset[] = {&wake_offset, &stale_offset, &turn_offset};
        if (which < 6) {
            *offset[which / 2] = bad[which % 2];
            refuse(&s, "hasty");
        } else {
            wake_offset = 1;
            DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p); /* the next microsecond is not the past */
            assert_true(rec->complete);
        }
    }
}

static enum {
    SHARE_ALL,
    SHARE_TOO_MUCH,
    SHARE_WILD,
    SHARE_TOO_LITTLE,
    SHARE_IN_THE_PAST
} share_how;

static void share(void *state, const dls_view *v, dls_groups *g)
{
    int64_t left = g->total_gpus;
    for (int32_t k = 0; k < g->n; k++) {
        left -= g->used[k];
        g->reserved[k] = g->used[k];
    }
    for (int32_t k = 0; k < g->n; k++) {
        const int64_t more = g->demand[k] - g->used[k] < left ? g->demand[k] - g->used[k] : left;
        g->reserved[k] += more;
        left -= more;
    }
    g->next_us = v->now_us + 10 * DLS_US_PER_S;
    if (v->now_us > 20 * DLS_US_PER_S) {
        g->reserved[0] += share_how == SHARE_TOO_MUCH ? left + 1 : 0;
        for (int32_t k = 0; k < g->n && share_how == SHARE_WILD; k++) {
            g->reserved[k] = INT64_MAX;
        }
        g->next_us = share_how == SHARE_IN_THE_PAST ? v->now_us : g->next_us;
        for (int32_t k = 0; k < g->n && share_how == SHARE_TOO_LITTLE; k++) {
            g->reserved[k] -= g->used[k] > 0 && g->reserved[k] == g->used[k];
        }
    }
}

TEST(test_share)
{
    const dls_sched_ops ops = {.abi = DLS_POLICY_ABI,
                               .name = "sharer",
                               .discipline = DLS_PREEMPT,
                               .priority = hasty,
                               .share = share};
    wake_offset = stale_offset = turn_offset = DLS_NEVER;
    for (int how = SHARE_ALL; how <= SHARE_IN_THE_PAST; how++) {
        DLS_OWN(setup_fini) sim_setup s = {0};
        setup_small(&s, 29);
        s.p.sched = &ops;
        share_how = how;
        if (how == SHARE_ALL) {
            DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
            assert_true(rec->complete);
        } else {
            refuse(&s, "sharer");
        }
    }
}

/* ---- errors without a word ------------------------------------------------------------------- */

static dls_status silent_status;

static dls_status silent_init(void *state, const dls_view *v, const dls_option_value *values,
                              dls_error *err)
{
    return silent_status;
}

static dls_status silent_place_init(void *state, const dls_place_index *x,
                                    const dls_option_value *values, dls_error *err)
{
    return silent_init(state, NULL, values, err);
}

static dls_status silent_pass(void *state, const dls_view *v, dls_actions *out, dls_error *err)
{
    return v->now_us > S(30) ? silent_init(state, v, NULL, err) : DLS_OK;
}

TEST(test_silent)
{
    const dls_sched_ops init = {
        .abi = DLS_POLICY_ABI, .name = "mute", .priority = hasty, .init = silent_init};
    const dls_sched_ops pass = {.abi = DLS_POLICY_ABI, .name = "mute", .pass = silent_pass};
    dls_placement_ops place = *case_placement("first-fit");
    place.name = "mute";
    place.init = silent_place_init;
    wake_offset = stale_offset = turn_offset = DLS_NEVER;
    static const dls_status statuses[] = {DLS_ENOMEM, DLS_ERUN, DLS_EPOLICY, (dls_status)77,
                                          (dls_status)-1};
    for (size_t k = 0; k < 15; k++) {
        DLS_OWN(setup_fini) sim_setup s = {0};
        setup_small(&s, 3);
        s.p.sched = k / 5 == 0 ? &init : k / 5 == 1 ? &pass : s.p.sched;
        s.p.placement = k / 5 == 2 ? &place : s.p.placement;
        silent_status = statuses[k % 5];
        dls_record *rec = NULL;
        dls_error err = {.status = DLS_OK};
        const dls_status status = dls_sim_run(&s.p, &rec, &err);
        assert_int_equal(status, k % 5 < 3 ? silent_status : DLS_EPOLICY);
        assert_int_equal(err.status, status);
        assert_string_equal(err.where, "mute");
        assert_true(strlen(err.msg) > 10 && dls_status_exit_code(err.status) != 0);
        assert_null(rec);
        assert_int_equal(dls_sim_run(&s.p, &rec, NULL), status);
    }
}

/* ---- getting nowhere ------------------------------------------------------------------------- */

static enum { IDLE_SLOWLY, EVERY_US, SWAP, LOOP, SERVE } nowhere;

/* Programs: sleep for an hour; wake every microsecond with a job running; swap two jobs every
 * microsecond; start and preempt in one pass for ever; and a good one that wakes far too often. */
static dls_status nowhere_pass(void *state, const dls_view *v, dls_actions *out, dls_error *err)
{
    const int32_t first = dls_view_first_running(v), next = dls_view_first_waiting(v);
    dls_act_wake(out, v->now_us + (nowhere == IDLE_SLOWLY ? S(3600) : nowhere == SERVE ? 2000 : 1));
    switch (nowhere) {
    case IDLE_SLOWLY:
        break;
    case SWAP:
        if (first >= 0 && next >= 0) {
            dls_act_preempt(out, first);
        }
        if (next >= 0) {
            dls_act_start(out, next);
        }
        break;
    case LOOP:
        while (next >= 0 && dls_act_start(out, next)) {
            dls_act_preempt(out, next);
        }
        break;
    case EVERY_US:
    case SERVE:
        if (first < 0 && next >= 0) {
            dls_act_start(out, next);
        }
        break;
    }
    return DLS_OK;
}

TEST(test_nowhere)
{
    const dls_sched_ops ops = {.abi = DLS_POLICY_ABI, .name = "sleepy", .pass = nowhere_pass};
    const case_job jobs[] = {{0, 40, 4, NULL, NULL}, {0, 40, 4, NULL, NULL}};
    for (nowhere = IDLE_SLOWLY; nowhere <= SERVE; nowhere++) {
        DLS_OWN(setup_fini) sim_setup s = {0};
        setup_init(&s, case_cluster(1, 4, 0), case_trace(jobs, 2), "fifo", "consolidated");
        s.p.sched = &ops;
        s.p.audit = false;
        s.p.want_series = s.p.want_allocs = false;
        assert_int_equal(s.p.patience, 1000000);
        s.p.patience = 20000;
        if (nowhere == SERVE) {
            DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
            assert_int_equal(rec->end_us[1], S(80));
            assert_true(rec->passes > 39000);
        } else {
            refuse(&s, "sleepy");
        }
        if (nowhere == LOOP) { /* names the job that it last acted on, and the time */
            dls_record *rec = NULL;
            MUST_FAIL(DLS_EPOLICY, "job 0: does not come to an end", dls_sim_run(&s.p, &rec, &e));
            MUST_FAIL(DLS_EPOLICY, " (at 0.000000 s)", dls_sim_run(&s.p, &rec, &e));
        }
    }
}

/* Time slices that lose all that a job did: two jobs of an hour take turns of a minute on the same GPUs. A third,
 * that keeps its own GPUs for longer than all turns that patience allows, finishes first. */
TEST(test_in_vain)
{
    const case_job jobs[] = {{0, 3600, 4, NULL, NULL}, {0, 3600, 4, NULL, NULL}, {0, 200000, 2, NULL, NULL}};
    DLS_OWN(setup_fini) sim_setup s = {0};
    setup_init(&s, case_cluster(1, 6, 0), case_trace(jobs, 3), "gandiva", "consolidated");
    s.p.want_series = s.p.want_allocs = false;
    s.p.preempt_loses = true;
    s.p.patience = 2000;
    const dls_failure_params hourly = {.node_mtbf_s = 3600, .shape = 1, .repair_s = 60};
    dls_record *rec = NULL;
    for (int failing = 0; failing < 2; failing++) {
        s.p.failures = failing ? &hourly : NULL;
        MUST_FAIL(DLS_EPOLICY, "gets nowhere", dls_sim_run(&s.p, &rec, &e));
        MUST_FAIL(DLS_EPOLICY, "checkpoint.lost_on_preemption", dls_sim_run(&s.p, &rec, &e));
    }
    /* Checkpoints within a slice save the run. */
    s.p.checkpoint_period_us = S(20);
    rec = case_run(&s.p);
    assert_true(rec->complete && rec->preempts[0] > 50 && rec->failures[0] > 0);
    dls_record_destroy(rec);
    /* Failures alone. */
    s.p.preempt_loses = false;
    s.p.checkpoint_period_us = 0;
    setup_policy(&s, "fifo", "consolidated");
    MUST_FAIL(DLS_EPOLICY, "a failure takes a job back", dls_sim_run(&s.p, &rec, &e));
}

static double as_fast(void *user, int32_t job, const dls_shape *shape, int64_t batch)
{
    return 1;
}

/* A job that could do with 4 GPUs, a placement that has no rack for 12, and a program that goes on trying. */
TEST(test_refused_for_ever)
{
    const dls_sched_ops ops = {.abi = DLS_POLICY_ABI, .name = "stubborn", .pass = nowhere_pass};
    const case_job jobs[] = {{0, 40, 12, NULL, NULL}};
    DLS_OWN(setup_fini) sim_setup s = {0};
    setup_init(&s, case_cluster(4, 4, 2), case_trace(jobs, 1), "fifo", "yarn");
    const int32_t least[] = {4}, most[] = {12};
    const dls_elastic elastic = {.min_gpus = least, .max_gpus = most, .speed = as_fast};
    s.p.elastic = &elastic;
    s.p.sched = &ops;
    s.p.patience = 2000;
    nowhere = SERVE;
    dls_record *rec = NULL;
    MUST_FAIL(DLS_EPOLICY, "the last of job 0 on 12 GPUs with 16 free", dls_sim_run(&s.p, &rec, &e));
}

/* ---- tables ---------------------------------------------------------------------------------- */

static dls_status idle_pass(void *state, const dls_view *v, dls_actions *out, dls_error *err)
{
    return DLS_OK;
}

TEST(test_broken_tables)
{
    const dls_sched_ops neither = {.abi = DLS_POLICY_ABI, .name = "neither"};
    const dls_sched_ops both = {
        .abi = DLS_POLICY_ABI, .name = "both", .priority = hasty, .pass = idle_pass};
    const dls_sched_ops program = {.abi = DLS_POLICY_ABI, .name = "program", .pass = idle_pass};
    const dls_sched_ops old = {.abi = DLS_POLICY_ABI + 1, .name = "old", .priority = hasty};
    const dls_sched_ops joins = {.abi = DLS_POLICY_ABI, .name = "joins", .priority = hasty, .joins = true};
    const dls_sched_ops mixes = {.abi = DLS_POLICY_ABI, .name = "mixes", .priority = hasty, .mixes = true};
    const dls_sched_ops *const broken[] = {&neither, &both, &old, &joins, &mixes};
    DLS_OWN(setup_fini) sim_setup s = {0};
    setup_small(&s, 1);
    for (size_t k = 0; k < 5; k++) {
        s.p.sched = broken[k];
        refuse(&s, broken[k]->name);
    }
    /* A program has no discipline to be overruled. */
    dls_record *rec = NULL;
    dls_error err;
    s.p.sched = &program;
    s.p.discipline = DLS_FIT;
    assert_int_equal(dls_sim_run(&s.p, &rec, &err), DLS_ECONFIG);
    assert_null(rec);
}
