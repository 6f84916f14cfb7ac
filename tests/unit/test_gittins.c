/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The Gittins index of Tiresias (Gu et al., NSDI 2019), worked by hand, and what gittins makes of
 * it with its default options.
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

GROUP(make_folder, drop_folder)
