/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * sia, pollux and optimus on cases worked out by hand: two jobs on four GPUs.
 */
#include "support/must.h"
#include "support/sim_setup.h"
#include "support/trace_of.h"

#include <math.h>

#define MOST 4

typedef struct one_job {
    double submit_s, work_s; /* on as many GPUs as it asks for, */
    double speed[MOST];      /* on 1, 2, .. GPUs: the first on which it is 1 */
    double end_s;
} one_job;

static const one_job *jobs;
static const int32_t least[] = {1, 1, 1}, most[] = {MOST, MOST, MOST};

static double speed(void *user, int32_t job, const dls_shape *shape, int64_t batch)
{
    return jobs[job].speed[shape->gpus - 1];
}

static const dls_elastic elastic = {.min_gpus = least, .max_gpus = most, .speed = speed};

static void set_up(sim_setup *s, const one_job *of, size_t n, int nodes, int gpus,
                   const char *sched)
{
    dls_trace *trace;
    jobs = of;
    EACH_JOB(job, n, &trace) {
        job.rec.submit_us = S(of[job.i].submit_s);
        job.rec.duration_us = S(of[job.i].work_s);
        job.rec.gpus_milli = 1000;
        for (int k = 0; of[job.i].speed[k] < 1; k++) {
            job.rec.gpus_milli += 1000;
        }
    }
    setup_init(s, case_cluster(nodes, gpus, 0), trace, sched, "consolidated");
    s->p.elastic = &elastic;
    s->p.audit = true;
}

static void expect(sim_setup *s, const one_job *of, size_t n)
{
    dls_record *rec = case_run(&s->p);
    for (size_t j = 0; j < n; j++) {
        assert_int_equal(rec->state[j], DLS_JOB_FINISHED);
        if (fabs((double)rec->end_us[j] / 1e6 - of[j].end_s) > 1e-3) {
            fail_msg("job %zu ends at %.6f s and not at %.6f", j, (double)rec->end_us[j] / 1e6,
                     of[j].end_s);
        }
    }
    dls_record_destroy(rec);
    setup_fini(s);
}

#define LINEAR                                                                                     \
    {                                                                                              \
        1, 2, 3, 4                                                                                 \
    }
#define FLAT                                                                                       \
    {                                                                                              \
        1, 1, 1, 1                                                                                 \
    }

/* Four GPUs and none cost 0.5 + 1.1, two and one 0.707 + 1: job 1 waits for the next round. If
 * nothing costs 2, it does not, and job 0 has two GPUs. With power = 1 the sum of goodputs is greatest:
 * 4 and none. */
TEST(sia)
{
    static const one_job waits[] = {{0, 100, LINEAR, 25}, {0, 100, FLAT, 160}};
    static const one_job runs[] = {{0, 100, LINEAR, 50}, {0, 100, FLAT, 100}};
    sim_setup s;
    set_up(&s, waits, 2, 1, 4, "sia");
    expect(&s, waits, 2);
    set_up(&s, runs, 2, 1, 4, "sia");
    setup_option(&s, "lambda")->f = 2;
    expect(&s, runs, 2);
    set_up(&s, waits, 2, 1, 4, "sia");
    setup_option(&s, "power")->f = 1;
    expect(&s, waits, 2);
}

/* A fair share is two GPUs. The harmonic mean wants both to run: three and one. */
TEST(pollux)
{
    static const one_job of[] = {{0, 100, LINEAR, 100. / 3}, {0, 100, FLAT, 100}};
    sim_setup s;
    set_up(&s, of, 2, 1, 4, "pollux");
    expect(&s, of, 2);
}

/* One each, then the second and third GPU to job 0. */
TEST(optimus)
{
    static const one_job of[] = {{0, 100, LINEAR, 100. / 3}, {0, 100, FLAT, 100}};
    /* The second GPU alone would slow it down; three are worth it. */
    static const one_job dip[] = {{0, 100, {1, 0.8, 2, 2}, 50}, {0, 100, FLAT, 100}};
    sim_setup s;
    set_up(&s, of, 2, 1, 4, "optimus");
    expect(&s, of, 2);
    set_up(&s, dip, 2, 1, 4, "optimus");
    expect(&s, dip, 2);
    /* What is left of a gang of four counts as four GPUs do it, though three are left to give: 67 s gained by its third
     * GPU, 55 by the second of job 0. */
    static const one_job gang[] = {{0, 100, {1, 2.2, 3.8, 9.5}, 100}, {0, 100, {0.25, 0.5, 0.75, 1}, 400. / 3}};
    set_up(&s, gang, 2, 1, 4, "optimus");
    expect(&s, gang, 2);
}

/* Rounds of 60 s, restoring takes 62 s: in the round after a restart a job is left alone, and who has come waits for
 * another round. Job 0 has 4, 3 (60 s), 2 (180), 3 (360) and 4 GPUs (480). */
TEST(optimus_restoring)
{
    static const one_job of[] = {{0, 1000, LINEAR, 586}, {50, 300, FLAT, 360}, {70, 300, FLAT, 480}};
    sim_setup s;
    set_up(&s, of, 3, 1, 4, "optimus");
    setup_option(&s, "interval")->f = 60;
    s.p.restore_us = S(62);
    expect(&s, of, 3);
}

/* Job 0 has four GPUs for 60 s of its 1,000; then it is left three, as job 1 has come, which runs from
 * 60 to 160 s. A change is taken to cost 30 s: at 180 s it has had one, and four GPUs are worth
 * 4 (180 - 30) / (180 + 30) < 3 of them; at 240 s 4 (240 - 30) / (240 + 30) > 3. */
TEST(restarts)
{
    static const one_job of[] = {{0, 1000, LINEAR, 0}, {30, 100, FLAT, 160}};
    DLS_OWN(setup_fini) sim_setup s = {0};
    set_up(&s, of, 2, 1, 4, "pollux");
    s.p.restore_us = S(20);
    DLS_HOLD(dls_record_destroy) dls_record *rec = case_run(&s.p);
    assert_int_equal(rec->end_us[1], S(160));
    assert_int_equal(rec->preempts[0], 2);
    /* 240 done at 60; 20 s restoring, 160 s at 3: 720 at 240; 20 s; the rest at 4. */
    assert_int_equal(rec->end_us[0], S(260 + 280. / 4));
}

TEST(wrong_options)
{
    static const one_job of[] = {{0, 100, LINEAR, 25}};
    DLS_OWN(setup_fini) sim_setup s = {0};
    dls_record *rec;
    set_up(&s, of, 1, 1, 4, "sia");
    setup_option(&s, "power")->f = 0;
    MUST_FAIL(DLS_ECONFIG, "power", dls_sim_run(&s.p, &rec, &e));
}
