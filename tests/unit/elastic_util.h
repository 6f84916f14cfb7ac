/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the tests of programs and rounds share: a policy that does what a script says, jobs that are
 * as fast as they have GPUs.
 */
#ifndef TESTS_UNIT_ELASTIC_UTIL_H
#define TESTS_UNIT_ELASTIC_UTIL_H

#include "support/sim_setup.h"
#include "support/test.h"

/* ---- scripts: what a policy of the tests does at which time ---------------------------------- */

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
    act(view, out);
    return DLS_OK;
}

static const dls_sched_ops scripted = {.abi = DLS_POLICY_ABI,
                                       .name = "scripted",
                                       .summary = "as the test says",
                                       .joins = true,
                                       .pass = pass};

/* As fast as it has GPUs; half as well on twice the batch. */
static int32_t least[DLS_GROUP_MAX + 1], most[DLS_GROUP_MAX + 1];
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

/* EPOLICY of the scheduler, with a message that begins and ends so and says the text. */
static void refused(sim_setup *s, const char *begin, const char *text, const char *end)
{
    dls_record *rec;
    dls_error err = {0};
    assert_int_equal(dls_sim_run(&s->p, &rec, &err), DLS_EPOLICY);
    assert_string_equal(err.where, s->p.sched->name);
    const size_t n = strlen(err.msg), n_end = strlen(end);
    if (strncmp(err.msg, begin, strlen(begin)) != 0 || !strstr(err.msg, text) || n < n_end ||
        strcmp(err.msg + n - n_end, end) != 0) {
        fail_msg("'%s' is not '%s'..'%s'..'%s'", err.msg, begin, text, end);
    }
    setup_fini(s);
}

/* What is illegal about a job names it and the time. */
static void refused_job(sim_setup *s, int32_t job, double at_s, const char *text)
{
    char begin[32], end[32];
    snprintf(begin, sizeof begin, "job %d: ", job);
    snprintf(end, sizeof end, " (at %.6f s)", at_s);
    refused(s, begin, text, end);
}

#endif
