/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Rates that change with who else runs: the engine against a naive simulator that advances every job
 * at every event, and against itself when stretches are split and it is woken for nothing. Every run
 * is audited after every event.
 */
#include "support/fake_world.h"
#include "support/sim_setup.h"
#include "support/test.h"

#define MAX_JOBS 36

enum rule { FIFO, FJF, SJF_DURATION, SRTF, SRSF, N_RULES };
static const char *const rule_name[] = {"fifo", "fjf", "sjf-duration", "srtf", "srsf"};

typedef struct naive_job {
    int64_t submit, duration, start, end, since, anchor, rate;
    dls_work left; /* 2^-20 us */
    int gpus, preempts;
    enum { NEW, WAITING, RUNNING, DONE } state;
} naive_job;

typedef struct naive {
    naive_job job[MAX_JOBS];
    int n, total;
    enum rule rule;
    int64_t now, restore;
} naive;

static int64_t time_left(const naive_job *j)
{
    return j->left <= 0 ? 0 : (int64_t)((j->left + j->rate - 1) / j->rate);
}

/* Remaining time at the present or last rate, which falls while the job holds GPUs. */
static int64_t remaining(const naive *s, const naive_job *j)
{
    int64_t held_idle = 0;
    if (j->state == RUNNING) {
        held_idle = (s->now < j->anchor ? s->now : j->anchor) - j->since;
    }
    return time_left(j) - held_idle;
}

static int64_t key(const naive *s, int i)
{
    const naive_job *j = &s->job[i];
    switch (s->rule) {
    case SRTF:
        return remaining(s, j);
    case SRSF:
        return remaining(s, j) * j->gpus;
    case SJF_DURATION:
        return j->duration;
    default:
        return j->submit;
    }
}

static void start(naive *s, naive_job *j)
{
    j->anchor = s->now + (j->start >= 0 ? s->restore : 0);
    j->start = j->start < 0 ? s->now : j->start;
    j->since = s->now;
    j->state = RUNNING;
}

static void pass(naive *s)
{
    const bool preempts = s->rule == SRTF || s->rule == SRSF;
    int order[MAX_JOBS], n = 0, free_gpus = s->total;
    for (int i = 0; i < s->n; i++) {
        if (s->job[i].state == RUNNING && !preempts) {
            free_gpus -= s->job[i].gpus;
        } else if (s->job[i].state == WAITING || s->job[i].state == RUNNING) {
            int at = n++;
            for (; at > 0 && key(s, i) < key(s, order[at - 1]); at--) {
                order[at] = order[at - 1];
            }
            order[at] = i;
        }
    }
    bool taken[MAX_JOBS] = {false};
    for (int k = 0; k < n; k++) {
        taken[order[k]] = s->job[order[k]].gpus <= free_gpus;
        free_gpus -= taken[order[k]] ? s->job[order[k]].gpus : 0;
        if (!taken[order[k]] && s->rule == FIFO) {
            break;
        }
    }
    for (int k = 0; k < n; k++) {
        naive_job *j = &s->job[order[k]];
        if (j->state == RUNNING && !taken[order[k]]) {
            j->state = WAITING;
            j->preempts++;
        }
    }
    for (int k = 0; k < n; k++) {
        naive_job *j = &s->job[order[k]];
        if (j->state == WAITING && taken[order[k]]) {
            start(s, j);
        }
    }
}

static void settle(naive *s)
{
    for (int i = 0; i < s->n; i++) {
        int others = 0;
        for (int k = 0; k < s->n; k++) {
            others += s->job[k].state == RUNNING && fake_shares(i, k);
        }
        if (s->job[i].state == RUNNING) {
            s->job[i].rate = fake_rate(i, others);
        }
    }
}

static void run_naive(naive *s)
{
    s->now = 0;
    for (;;) {
        int64_t next = INT64_MAX;
        for (int i = 0; i < s->n; i++) {
            const naive_job *j = &s->job[i];
            int64_t t = INT64_MAX;
            if (j->state == NEW) {
                t = j->submit;
            } else if (j->state == RUNNING) {
                t = (s->now > j->anchor ? s->now : j->anchor) + time_left(j);
            }
            next = t < next ? t : next;
        }
        if (next == INT64_MAX) {
            return;
        }
        for (int i = 0; i < s->n; i++) { /* everyone goes on to the next event */
            naive_job *j = &s->job[i];
            const int64_t from = s->now > j->anchor ? s->now : j->anchor;
            if (j->state == RUNNING && next > from) {
                j->left -= (dls_work)(next - from) * j->rate;
            }
            if (j->state == RUNNING && j->left <= 0 && next >= j->anchor) {
                j->state = DONE;
                j->end = next;
            } else if (j->state == NEW && j->submit == next) {
                j->state = WAITING;
            }
        }
        s->now = next;
        pass(s);
        settle(s);
    }
}

static void draw(naive *s, case_job *jobs, dls_rng *rng)
{
    static const int sizes[] = {1, 1, 1, 2, 2, 3, 4, 5, 8};
    s->n = 2 + (int)dls_rng_below(rng, MAX_JOBS - 1);
    s->total = 8;
    const uint64_t span = 1 + dls_rng_below(rng, 200);
    int64_t t = 0;
    for (int i = 0; i < s->n; i++) {
        t += (int64_t)dls_rng_below(rng, 1 + span / 10);
        const int64_t duration = dls_rng_below(rng, 10) ? 1 + (int64_t)dls_rng_below(rng, 60) : 0;
        jobs[i] = (case_job){.submit_s = (double)t,
                             .duration_s = (double)duration,
                             .gpus = sizes[dls_rng_below(rng, sizeof sizes / sizeof *sizes)]};
        s->job[i] = (naive_job){.submit = t * DLS_US_PER_S,
                                .duration = duration * DLS_US_PER_S,
                                .left = (dls_work)duration * DLS_US_PER_S << DLS_RATE_SHIFT,
                                .rate = DLS_RATE_ONE,
                                .start = -1,
                                .end = -1,
                                .gpus = jobs[i].gpus};
    }
}

static void one_case(uint64_t seed)
{
    naive s;
    case_job jobs[MAX_JOBS];
    DLS_OWN(setup_fini) sim_setup setup = {0};
    fake_world world;
    dls_rng rng = dls_rng_stream(seed, DLS_RNG_TEST, 1);
    memset(&s, 0, sizeof s);
    s.rule = (enum rule)(seed % N_RULES);
    draw(&s, jobs, &rng);
    s.restore = dls_rng_below(&rng, 2) ? (int64_t)dls_rng_below(&rng, 9) * DLS_US_PER_S : 0;
    setup_init(&setup, case_cluster(2, 4, 0), case_trace(jobs, (size_t)s.n), rule_name[s.rule],
               "count");
    const dls_pace pace = fake_pace(&world, setup.trace);
    setup.p.pace = &pace;
    setup.p.restore_us = s.restore;
    world.split = seed / N_RULES % 2;
    DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&setup.p);
    run_naive(&s);
    for (int i = 0; i < s.n; i++) {
        const naive_job *j = &s.job[i];
        if (rec->start_us[i] != j->start || rec->end_us[i] != j->end ||
            rec->preempts[i] != j->preempts) {
            fail_msg("seed %llu %s job %d: start %lld/%lld end %lld/%lld preempts %d/%d "
                     "(engine/naive)",
                     (unsigned long long)seed, rule_name[s.rule], i, (long long)rec->start_us[i],
                     (long long)j->start, (long long)rec->end_us[i], (long long)j->end,
                     rec->preempts[i], j->preempts);
        }
    }
    assert_int_equal(world.starts, world.stops);
}

TEST(test_naive)
{
    for (uint64_t seed = 0; seed < FEWER(2000); seed++) {
        one_case(seed);
    }
}

/* ---- splitting --------------------------------------------------------------------------------- */

static const dls_sched_ops *inner; /* of the policy below */

/* The inner policy, with wake-ups that change nothing. */
static void woken_priority(void *state, const dls_view *view, int32_t job, dls_job_event why,
                           dls_priority *out)
{
    inner->priority(state, view, job, why, out);
    const int64_t wake_us = view->now_us + 1 + (int64_t)(dls_mix64((uint64_t)(view->now_us + job)) %
                                                         (uint64_t)(20 * DLS_US_PER_S));
    if (view->running[job] && out->alarm != DLS_ALARM_YIELD &&
        (out->alarm == DLS_ALARM_NONE || wake_us < out->alarm_us)) {
        out->alarm = DLS_ALARM_RESCHEDULE;
        out->alarm_us = wake_us;
    }
}

TEST(test_split)
{
    for (uint64_t seed = 0; seed < FEWER(200); seed++) {
        DLS_OWN(setup_fini) sim_setup s = {0};
        fake_world world;
        setup_init(&s, case_cluster(3, 4, 2), random_trace(seed, 40, 6, 8, NULL, NULL),
                   rule_name[seed % N_RULES], "consolidated");
        const dls_pace pace = fake_pace(&world, s.trace);
        s.p.pace = &pace;
        s.p.restore_us = seed / N_RULES % 2 ? S(2) : 0;
        DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
        const uint64_t digest = dls_record_digest(rec);
        const uint64_t events = rec->events;
        const size_t rows = rec->allocs.n;
        dls_record_destroy(rec);

        dls_sched_ops woken = *s.p.sched;
        inner = s.p.sched;
        woken.priority = woken_priority;
        s.p.sched = &woken;
        (void)fake_pace(&world, s.trace);
        world.split = true;
        rec = case_run(&s.p);
        assert_true(dls_record_digest(rec) == digest);
        assert_true(rec->events > events);
        assert_true(rec->allocs.n > rows);
    }
}

/* ---- rows -------------------------------------------------------------------------------------- */

/* Rate x time over a job's rows is its work, to what a float can hold. */
TEST(test_rows)
{
    for (uint64_t seed = 0; seed < FEWER(60); seed++) {
        DLS_OWN(setup_fini) sim_setup s = {0};
        fake_world world;
        setup_init(&s, case_cluster(3, 4, 2), random_trace(seed, 40, 6, 8, NULL, NULL),
                   rule_name[seed % N_RULES], "consolidated");
        const dls_pace pace = fake_pace(&world, s.trace);
        s.p.pace = &pace;
        s.p.restore_us = S(2);
        DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
        double work[FAKE_JOBS] = {0}, held[FAKE_JOBS] = {0};
        const dls_alloc_rows *a = &rec->allocs;
        for (size_t i = 0; i < a->n; i++) {
            const double gpu_us = (double)(a->end_us[i] - a->start_us[i]) * a->gpus[i];
            work[a->job[i]] += gpu_us * (double)a->rate[i];
            held[a->job[i]] += gpu_us;
        }
        for (size_t j = 0; j < rec->n_jobs; j++) {
            const double gpus = dls_trace_cols(s.trace)->gpus[j];
            const double want = (double)dls_trace_cols(s.trace)->duration_us[j] * gpus;
            assert_true(fabs(work[j] - want) <= 1e-6 * want + 10);
            assert_true(fabs(held[j] - (double)(rec->executed_us[j] + rec->overhead_us[j]) * gpus) < 1);
        }
    }
}

/* ---- worlds that are wrong --------------------------------------------------------------------- */

static dls_status settle_wrong(dls_world *w, const dls_rate_change **changed, size_t *n, dls_error *err)
{
    static const dls_rate_change never[] = {{0, 0}}, other[] = {{1, DLS_RATE_ONE}};
    *changed = w->split ? never : other;
    *n = 1;
    return DLS_OK;
}

TEST(test_wrong_world)
{
    const case_job jobs[] = {{0, 5, 1, NULL, NULL}, {3, 5, 1, NULL, NULL}};
    for (int split = 0; split < 2; split++) {
        DLS_OWN(setup_fini) sim_setup s = {0};
        fake_world world;
        dls_record *rec = NULL;
        dls_error err;
        setup_init(&s, case_cluster(1, 4, 0), case_trace(jobs, 2), "fifo", "consolidated");
        dls_pace pace = fake_pace(&world, s.trace);
        pace.settle = settle_wrong;
        world.split = split == 1;
        s.p.pace = &pace;
        assert_int_equal(dls_sim_run(&s.p, &rec, &err), DLS_ERUN);
        assert_non_null(strstr(err.msg, split ? "would not end" : "does not run"));
        assert_null(rec);
    }
}
