/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Policies that act at random. Legal actions, however silly, must run every job to its end with all
 * accounts right; an illegal one must end the run with EPOLICY and the name of the policy, and what
 * the policy calls after it must do nothing.
 */
#include "support/sim_case.h"
#include "support/test.h"

#include "base/rng.h"

#define MAX_JOBS 30

/* What the program does wrong, once `calm` passes are over. */
enum wrong {
    NOTHING,
    START_TOO_LARGE,
    START_RUNNING,
    START_TWICE,
    START_FINISHED,
    START_UNSUBMITTED,
    START_OUT_OF_RANGE,
    PREEMPT_WAITING,
    PREEMPT_FINISHED,
    PREEMPT_OUT_OF_RANGE,
    WAKE_NOW,
    WAKE_IN_THE_PAST,
    WRONG_COUNT
};

/* One program at a time; what the test wants from it and learns of it. */
static struct {
    dls_rng rng;
    enum wrong wrong;
    int calm;
    int passes;
    bool did_wrong;
    uint8_t ever_ran[MAX_JOBS];
    int64_t acts;
} script;

static int32_t pick(const dls_view *v, bool (*good)(const dls_view *, int32_t))
{
    const int32_t from = (int32_t)dls_rng_below(&script.rng, (uint64_t)v->n_jobs);
    for (int32_t k = 0; k < v->n_jobs; k++) {
        const int32_t job = (from + k) % v->n_jobs;
        if (good(v, job)) {
            return job;
        }
    }
    return -1;
}

static bool is_waiting(const dls_view *v, int32_t job)
{
    for (int32_t j = dls_view_first_waiting(v); j >= 0; j = dls_view_next_waiting(v, j)) {
        if (j == job) {
            return true;
        }
    }
    return false;
}

static bool is_running(const dls_view *v, int32_t job)
{
    return v->running[job] != 0;
}

static bool is_too_large(const dls_view *v, int32_t job)
{
    return is_waiting(v, job) && v->gpus[job] > v->free_gpus;
}

static bool is_fitting(const dls_view *v, int32_t job)
{
    return is_waiting(v, job) && v->gpus[job] <= v->free_gpus;
}

static bool is_finished(const dls_view *v, int32_t job)
{
    return script.ever_ran[job] && !v->running[job] && !is_waiting(v, job);
}

static bool is_unsubmitted(const dls_view *v, int32_t job)
{
    return v->submit_us[job] > v->now_us;
}

/* true: the wrong thing could be done now, and was. */
static bool misbehave(const dls_view *v, dls_actions *out)
{
    static const int32_t no_job[] = {-1, INT32_MIN, INT32_MAX, 0};
    int32_t job = no_job[dls_rng_below(&script.rng, 4)];
    job = job == 0 ? v->n_jobs : job;
    switch (script.wrong) {
    case START_TOO_LARGE:
        job = pick(v, is_too_large);
        break;
    case START_RUNNING:
        job = pick(v, is_running);
        break;
    case START_TWICE:
        job = pick(v, is_fitting);
        job = job >= 0 && dls_act_start(out, job) ? job : -1; /* the placement may refuse */
        break;
    case START_FINISHED:
    case PREEMPT_FINISHED:
        job = pick(v, is_finished);
        break;
    case START_UNSUBMITTED:
        job = pick(v, is_unsubmitted);
        break;
    case PREEMPT_WAITING:
        job = pick(v, is_waiting);
        break;
    case WAKE_NOW:
        dls_act_wake(out, v->now_us);
        return true;
    case WAKE_IN_THE_PAST:
        dls_act_wake(out, dls_rng_below(&script.rng, 2) ? v->now_us - 1 : INT64_MIN);
        return true;
    case START_OUT_OF_RANGE:
        assert_false(dls_act_start(out, job));
        return true;
    case PREEMPT_OUT_OF_RANGE:
        dls_act_preempt(out, job);
        return true;
    default:
        return false;
    }
    if (job < 0) {
        return false;
    }
    if (script.wrong == PREEMPT_WAITING || script.wrong == PREEMPT_FINISHED) {
        dls_act_preempt(out, job);
    } else {
        assert_false(dls_act_start(out, job));
    }
    return true;
}

/* The lists of a view are complete and in order. */
static void check_view(const dls_view *v)
{
    int32_t waiting = 0, running = 0, last = -1;
    int64_t held = 0, since = -1;
    for (int32_t j = dls_view_first_waiting(v); j >= 0; j = dls_view_next_waiting(v, j)) {
        assert_true(j > last && !v->running[j] && v->submit_us[j] <= v->now_us);
        last = j;
        waiting++;
    }
    for (int32_t j = dls_view_first_running(v); j >= 0; j = dls_view_next_running(v, j)) {
        assert_true(v->running[j] && v->since_us[j] >= since);
        since = v->since_us[j];
        held += v->gpus[j];
        running++;
        assert_int_equal(dls_view_executed_us(v, j) + dls_view_remaining_us(v, j),
                         v->duration_us[j]);
    }
    assert_int_equal(waiting, v->waiting_jobs);
    assert_int_equal(running, v->running_jobs);
    assert_int_equal(held, v->total_gpus - v->free_gpus);
}

static dls_status random_pass(void *state, const dls_view *v, dls_actions *out, dls_error *err)
{
    check_view(v);
    for (int32_t j = 0; j < v->n_jobs; j++) {
        script.ever_ran[j] |= v->running[j];
    }
    if (script.wrong != NOTHING && script.passes++ >= script.calm && misbehave(v, out)) {
        script.did_wrong = true;
        /* From now on nothing may happen. */
        const int64_t free_gpus = v->free_gpus;
        const int32_t waiting = v->waiting_jobs;
        const int32_t fits = pick(v, is_fitting), runs = pick(v, is_running);
        if (fits >= 0) {
            assert_false(dls_act_start(out, fits));
        }
        if (runs >= 0) {
            dls_act_preempt(out, runs);
        }
        dls_act_wake(out, v->now_us + 1);
        assert_int_equal(v->free_gpus, free_gpus);
        assert_int_equal(v->waiting_jobs, waiting);
        return DLS_OK;
    }
    for (int32_t j = dls_view_first_running(v); j >= 0; j = dls_view_next_running(v, j)) {
        if (dls_rng_below(&script.rng, 6) == 0) {
            dls_act_preempt(out, j);
            script.acts++;
            assert_false(v->running[j]);
        }
    }
    for (int32_t j = dls_view_first_waiting(v); j >= 0; j = dls_view_next_waiting(v, j)) {
        if (v->gpus[j] <= v->free_gpus && dls_rng_below(&script.rng, 3) > 0) {
            const bool started = dls_act_start(out, j);
            assert_int_equal(started, v->running[j]);
            script.acts += started;
        }
    }
    if (v->waiting_jobs > 0 || dls_rng_below(&script.rng, 4) == 0) {
        dls_act_wake(out, v->now_us + 1 + (int64_t)dls_rng_below(&script.rng, 30 * DLS_US_PER_S));
    }
    return DLS_OK;
}

static const dls_sched_ops wild = {
    .abi = DLS_POLICY_ABI,
    .name = "wild",
    .summary = "acts at random",
    .pass = random_pass,
};

/* ---- cases ----------------------------------------------------------------------------------- */

typedef struct setting {
    dls_cluster_spec cluster;
    dls_trace *trace;
    dls_sim_params p;
} setting;

static void set_up(setting *s, uint64_t seed, int nodes, int per_node)
{
    dls_rng rng = dls_rng_stream(seed, DLS_RNG_TEST, 6);
    case_job jobs[MAX_JOBS];
    const size_t n = 5 + dls_rng_below(&rng, MAX_JOBS - 4);
    double t = 0;
    for (size_t j = 0; j < n; j++) {
        t += (double)dls_rng_below(&rng, 20);
        jobs[j] = (case_job){.submit_s = t,
                             .duration_s = (double)dls_rng_below(&rng, 80),
                             .gpus = 1 + (int)dls_rng_below(&rng, (uint64_t)per_node)};
    }
    memset(s, 0, sizeof *s);
    s->cluster = case_cluster(nodes, per_node, 2);
    s->trace = case_trace(jobs, n);
    dls_sim_params_init(&s->p);
    s->p.cluster = &s->cluster;
    s->p.trace = s->trace;
    s->p.placement = case_placement(seed % 3 ? "consolidated" : "yarn");
    s->p.restore_us = (int64_t)dls_rng_below(&rng, 3) * DLS_US_PER_S;
    s->p.audit = true;
    memset(&script, 0, sizeof script);
    script.rng = dls_rng_stream(seed, DLS_RNG_TEST, 7);
}

static void tear_down(setting *s)
{
    dls_trace_destroy(s->trace);
    free(s->cluster.groups);
}

TEST(test_legal)
{
    for (uint64_t seed = 0; seed < FEWER(1000); seed++) {
        setting s;
        set_up(&s, seed, 3, 4);
        s.p.sched = &wild;
        dls_record *rec = case_run(&s.p);
        const dls_trace_columns *col = dls_trace_cols(s.trace);
        int64_t got = 0, flips = 0;
        assert_true(rec->complete);
        for (size_t j = 0; j < rec->n_jobs; j++) {
            assert_int_equal(rec->state[j], DLS_JOB_FINISHED);
            assert_int_equal(rec->executed_us[j], col->duration_us[j]);
            assert_int_equal(rec->end_us[j] - col->submit_us[j],
                             rec->pending_us[j] + rec->executed_us[j] + rec->overhead_us[j]);
            assert_int_equal(rec->resumes[j], rec->preempts[j] + 1);
            assert_true(rec->overhead_us[j] <= s.p.restore_us * rec->preempts[j]);
            got += (rec->executed_us[j] + rec->overhead_us[j]) * col->gpus[j];
            flips += rec->resumes[j] + rec->preempts[j];
        }
        for (size_t i = 0; i < rec->allocs.n; i++) {
            got -= (rec->allocs.end_us[i] - rec->allocs.start_us[i]) * rec->allocs.gpus[i];
        }
        assert_int_equal(got, 0);
        assert_int_equal(flips, script.acts);
        assert_int_equal(flips, rec->flips);
        dls_record_destroy(rec);
        tear_down(&s);
    }
}

TEST(test_illegal)
{
    int done[WRONG_COUNT] = {0};
    for (uint64_t seed = 0; seed < FEWER(2000); seed++) {
        setting s;
        set_up(&s, seed, 3, 4);
        s.p.sched = &wild;
        script.wrong = (enum wrong)(1 + seed % (WRONG_COUNT - 1));
        script.calm = (int)dls_rng_below(&script.rng, 20);
        dls_record *rec = NULL;
        dls_error err;
        const dls_status status = dls_sim_run(&s.p, &rec, &err);
        if (script.did_wrong) {
            assert_int_equal(status, DLS_EPOLICY);
            assert_string_equal(err.where, "wild");
            assert_null(rec);
            done[script.wrong]++;
        } else {
            assert_int_equal(status, DLS_OK); /* never had the occasion */
        }
        dls_record_destroy(rec);
        tear_down(&s);
    }
    for (int w = 1; w < WRONG_COUNT; w++) {
        if (done[w] < 10) {
            fail_msg("wrong %d was done in %d cases only", w, done[w]);
        }
    }
}

/* Preempting and starting while walking: the walk goes on behind the job, and ends. */
static dls_status walking_pass(void *state, const dls_view *v, dls_actions *out, dls_error *err)
{
    int32_t order[MAX_JOBS], n = 0, at = 0;
    for (int32_t j = dls_view_first_running(v); j >= 0; j = dls_view_next_running(v, j)) {
        order[n++] = j;
    }
    for (int32_t j = dls_view_first_running(v); j >= 0; j = dls_view_next_running(v, j)) {
        if (at >= n || order[at++] != j) {
            fail_msg("the walk came to job %d", j);
        }
        if (dls_rng_below(&script.rng, 2)) {
            dls_act_preempt(out, j);
        }
    }
    assert_int_equal(at, n);
    n = at = 0;
    for (int32_t j = dls_view_first_waiting(v); j >= 0; j = dls_view_next_waiting(v, j)) {
        order[n++] = j;
    }
    for (int32_t j = dls_view_first_waiting(v); j >= 0; j = dls_view_next_waiting(v, j)) {
        assert_true(at < n && order[at++] == j);
        if (v->gpus[j] <= v->free_gpus && dls_rng_below(&script.rng, 4) > 0) {
            dls_act_start(out, j);
        }
    }
    assert_int_equal(at, n);
    dls_act_wake(out, v->now_us + 5 * DLS_US_PER_S);
    return DLS_OK;
}

TEST(test_walks)
{
    const dls_sched_ops walker = {.abi = DLS_POLICY_ABI, .name = "walker", .pass = walking_pass};
    for (uint64_t seed = 0; seed < FEWER(100); seed++) {
        setting s;
        set_up(&s, seed, 8, 4);
        s.p.sched = &walker;
        s.p.restore_us = 0;
        dls_record *rec = case_run(&s.p);
        assert_true(rec->complete);
        dls_record_destroy(rec);
        tear_down(&s);
    }
}

static dls_status failing_pass(void *state, const dls_view *v, dls_actions *out, dls_error *err)
{
    return v->now_us < 30 * DLS_US_PER_S ? DLS_OK
                                         : dls_fail(err, DLS_EPREDICTOR, "failing", "out of ideas");
}

/* A policy's own error is passed on as it is. */
TEST(test_policy_fails)
{
    const dls_sched_ops failing = {.abi = DLS_POLICY_ABI, .name = "failing", .pass = failing_pass};
    setting s;
    dls_record *rec = NULL;
    dls_error err;
    set_up(&s, 5, 3, 4);
    s.p.sched = &failing;
    assert_int_equal(dls_sim_run(&s.p, &rec, &err), DLS_EPREDICTOR);
    assert_string_equal(err.msg, "out of ideas");
    assert_null(rec);
    tear_down(&s);
}
