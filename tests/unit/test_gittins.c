/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The Gittins index of Tiresias (Gu et al., NSDI 2019), worked by hand, what gittins makes of it with
 * its default options, and what jobs that restore are worth to it and to shortest-expected.
 */
#include "sched/service_dist.h"
#include "support/scratch.h"
#include "support/sim_setup.h"
#include "support/test.h"

static void near(double got, double want)
{
    if (!(fabs(got - want) < 1e-12)) {
        fail_msg("%.15g, not %.15g", got, want);
    }
}

/* Services of 2, 4, 4, 10 and 30 GPU-s. Of those above the attained service a: how many end within
 * the quantum, over the sum of what each of them takes of it. */
TEST(test_index)
{
    static const struct {
        double a, delta, ends, cost;
    } by_hand[] = {
        {0, 4, 3, 2 + 4 + 4 + 4 + 4}, /* two go on beyond the quantum and take all of it */
        {3, 4, 2, 1 + 1 + 4 + 4},     /* what is left of a service counts, not the whole */
        {4, 4, 0, 1},                 /* the fours have ended; nobody ends within 8 */
        {4, 6, 1, 6 + 6},             /* an end at the very end of the quantum counts */
        {4, 1e6, 2, 6 + 26},          /* no bound: one over the expected rest */
        {10, 100, 1, 20},
        {29.5, 0.25, 0, 1},
        {30, 4, 0, 1},
        {31, 4, 0, 1},
    };
    dls_service_dist d = {0};
    dls_error err;
    assert_int_equal(dls_service_dist_load(&d, NULL, put("samples.txt", "30\n4\n2\n10\n4\n"), &err), DLS_OK);
    for (size_t i = 0; i < sizeof by_hand / sizeof *by_hand; i++) {
        near(dls_service_gittins(&d, by_hand[i].a, by_hand[i].delta),
             by_hand[i].ends / by_hand[i].cost);
    }
    near(dls_service_residual(&d, 0), 10);
    near(dls_service_residual(&d, 3), (1 + 1 + 7 + 27) / 4.0);
    near(dls_service_residual(&d, 10), 20);
    near(dls_service_residual(&d, 40), 40);
    static const double quantile[][2] = {{0, 2},    {0.19, 2}, {0.2, 4},
                                         {0.6, 10}, {0.8, 30}, {1, 30}};
    for (size_t i = 0; i < sizeof quantile / sizeof *quantile; i++) {
        near(dls_service_quantile(&d, quantile[i][0]), quantile[i][1]);
    }
    dls_service_dist_fini(&d);
}

/* One GPU, default options but for `delta` (-1: the default), services of 9,000, 10,000 and twice
 * 100,000 s known. Jobs 0 and 1 take 100,000 s each. Both have left the bounded queues, with 7,200
 * s, at 14,400 s, and job 0 goes on. At 18,000 s, when job 2 comes for 10 s, job 0 has 10,800 s:
 *
 *      index of job 1    2 / (1800 + 2800 + 3250 + 3250)
 *      index of job 0    0, nobody ends between 10,800 and 14,050 s
 */
static void check_ends(double delta, double end0_s, double end1_s)
{
    static const case_job jobs[] = {{.duration_s = 100000, .gpus = 1},
                                    {.duration_s = 100000, .gpus = 1},
                                    {.submit_s = 18000, .duration_s = 10, .gpus = 1}};
    sim_setup s;
    setup_init(&s, case_cluster(1, 1, 0), case_trace(jobs, 3), "gittins", "consolidated");
    setup_option(&s, "samples")->s = put("samples.txt", "9000\n10000\n100000\n100000\n");
    if (delta >= 0) {
        setup_option(&s, "delta")->f = delta;
    }
    dls_record *rec = case_run(&s.p);
    assert_int_equal(rec->end_us[0], S(end0_s));
    assert_int_equal(rec->end_us[1], S(end1_s));
    assert_int_equal(rec->end_us[2], S(18010));
    dls_record_destroy(rec);
    setup_fini(&s);
}

/* The tail of the distribution orders the last queue. */
TEST(test_last_queue)
{
    check_ends(-1, 200010, 18010 + 100000 - 7200);
    check_ends(3250, 200010, 18010 + 100000 - 7200);
    /* Without a quantum of its own the last queue is first come, first served. */
    check_ends(0, 18010 + 100000 - 10800, 200010);
}

/* Nothing is decided at the instant at which a job that restores would have left its queue had it run at once. One
 * GPU, knots every 10 s up to 80, restoring takes 30 s; the index is 0.02 at 0, 0.0118 at 10, 0.0087 at 20 and 0 at
 * 50. Job 0 has 20 s when job 1 takes over, and job 1 has 10 when job 2 does. Job 1 is back at 35 s, progresses from
 * 65 s on and leaves the queue at 135 s. At 105 s, 70 s after it came back, its index is below that of job 0, but
 * jobs are compared only when something happens. */
TEST(test_restoring)
{
    static const case_job jobs[] = {{.duration_s = 70, .gpus = 1},
                                    {.submit_s = 20, .duration_s = 200, .gpus = 1},
                                    {.submit_s = 30, .duration_s = 5, .gpus = 1}};
    sim_setup s;
    setup_init(&s, case_cluster(1, 1, 0), case_trace(jobs, 3), "gittins", "consolidated");
    s.p.restore_us = S(30);
    setup_option(&s, "samples")->s = put("samples.txt", "5\n5\n5\n15\n25\n45\n1000\n1000\n");
    setup_option(&s, "delta")->f = 100;
    setup_limits(&s, 1, (double[]){80});
    dls_record *rec = case_run(&s.p);
    assert_int_equal(rec->end_us[2], S(35));
    assert_int_equal(rec->end_us[0], S(135 + 30 + 50));
    assert_int_equal(rec->end_us[1], S(215 + 30 + 120));
    dls_record_destroy(rec);
    setup_fini(&s);
}

/* The same of shortest-expected. Three GPUs; 15 alone of the services is no knot. Job 1 takes over at 10 s, when job 0
 * has 15 GPU-s, and is done at 20 s. Job 0 then has 270 + 240 + 5000 over 18, less 15, 291.1 GPU-s to expect, and 261.1
 * at 30 s, when job 2 comes with 251.8. From knot 5 it would be 245.8, but no knot was passed since it came back. */
TEST(test_expected_restoring)
{
    static const case_job jobs[] = {{.submit_s = 5, .duration_s = 15, .gpus = 3},
                                    {.submit_s = 10, .duration_s = 10, .gpus = 3},
                                    {.submit_s = 30, .duration_s = 60, .gpus = 1}};
    sim_setup s;
    setup_init(&s, case_cluster(1, 3, 0), case_trace(jobs, 3), "shortest-expected", "consolidated");
    s.p.restore_us = S(30);
    setup_option(&s, "samples")->s = put("samples.txt", "5\n5\n5\n15\n30\n30\n30\n30\n30\n30\n30\n30\n30\n"
                                                        "60\n60\n60\n60\n1000\n1000\n1000\n1000\n1000\n");
    dls_record *rec = case_run(&s.p);
    assert_int_equal(rec->end_us[1], S(20));
    assert_int_equal(rec->end_us[2], S(90));
    assert_int_equal(rec->end_us[0], S(90 + 30 + 10));
    dls_record_destroy(rec);
    setup_fini(&s);
}

GROUP(make_folder, drop_folder)
