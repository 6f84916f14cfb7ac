/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Statistics of traces small enough to work out by hand.
 */

#include "base/alloc.h"
#include "dlsim/traces.h"
#include "support/refuse.h"
#include "support/trace_of.h"

#include <math.h>
#include <string.h>

typedef struct row {
    int64_t submit_s, duration_s, gpus_milli; /* duration_s DLS_ABSENT: none */
    const char *vc;
    dls_outcome outcome;
} row;

static dls_trace *build(const row *rows, size_t n)
{
    dls_trace *trace;
    EACH_JOB(job, n, &trace) {
        job.rec.submit_us = rows[job.i].submit_s * DLS_US_PER_S;
        job.rec.gpus_milli = rows[job.i].gpus_milli;
        if (rows[job.i].duration_s != DLS_ABSENT) {
            job.rec.duration_us = rows[job.i].duration_s * DLS_US_PER_S;
        }
        job.rec.vc = rows[job.i].vc;
        job.rec.outcome = rows[job.i].outcome;
    }
    return trace;
}

static void near(double ours, double theirs)
{
    if (!(fabs(ours - theirs) <= 1e-9 * fmax(1, fabs(theirs)))) {
        fail_msg("%.12g is not %.12g", ours, theirs);
    }
}

/*   GPUs in use:  job 0: 2 in [0,100)   job 1: 1.5 in [50,150)   job 2: 4 in [100,300)
 *                 job 3: none (0 s)     job 4: unknown length    */
TEST(by_hand)
{
    static const row rows[] = {
        {0, 100, 2000, "a", DLS_OUTCOME_COMPLETED},
        {50, 100, 1500, "b", DLS_OUTCOME_FAILED},
        {100, 200, 4000, "b", DLS_OUTCOME_COMPLETED},
        {100, 0, 64000, "b", DLS_OUTCOME_KILLED},
        {400, DLS_ABSENT, 2000, NULL, DLS_OUTCOME_UNKNOWN},
    };
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = build(rows, 5);
    DLS_OWN(dls_trace_stats_fini) dls_trace_stats s = {0};
    assert_int_equal(dls_trace_stats_compute(trace, &s, NULL), DLS_OK);
    assert_int_equal(s.jobs, 5);
    assert_int_equal(s.zero_duration, 1);
    assert_int_equal(s.no_duration, 1);
    near(s.span_s, 400);
    near(s.mean_gpus, 73.5 / 5);
    assert_int_equal(s.max_gpus_milli, 64000);
    near(s.gpu_h, (2 * 100 + 1.5 * 100 + 4 * 200) / 3600.);
    near(s.busy_gpus, 1150. / 400);
    near(s.peak_gpus, 5.5); /* job 0 ends before job 2 starts */
    /* durations 0 100 100 200 */
    assert_int_equal(s.duration_s.n, 4);
    near(s.duration_s.q[0], 3); /* 0 + 0.03 x 100 */
    near(s.duration_s.q[3], 100);
    near(s.duration_s.q[5], 170); /* position 2.7 */
    near(s.duration_s.q[8], 200);
    near(s.duration_s.mean, 100);
    near(s.duration_s.cv, sqrt(5000) / 100);
    /* gaps 50 50 0 300 */
    near(s.gap_s.q[3], 50);
    near(s.gap_s.mean, 100);
    near(s.gap_s.cv, sqrt((2500 + 2500 + 10000 + 40000) / 4.) / 100);
    assert_int_equal(s.n_sizes, 4);
    assert_int_equal(s.sizes[0].gpus_milli, 1500);
    assert_int_equal(s.sizes[1].gpus_milli, 2000);
    assert_int_equal(s.sizes[1].jobs, 2);
    near(s.sizes[1].gpu_h, 200 / 3600.);
    assert_int_equal(s.n_vcs, 3);
    assert_string_equal(dls_trace_vc(trace, s.vcs[0].code), "b");
    assert_int_equal(s.vcs[0].jobs, 3);
    near(s.vcs[0].median_s, 100);
    assert_int_equal(s.vcs[0].max_gpus_milli, 64000);
    assert_int_equal(s.vcs[1].code, -1);
    assert_true(isnan(s.vcs[1].median_s));
    assert_string_equal(dls_trace_vc(trace, s.vcs[2].code), "a");
    assert_int_equal(s.outcomes[DLS_OUTCOME_COMPLETED], 2);
    assert_int_equal(s.outcomes[DLS_OUTCOME_KILLED], 1);
    assert_int_equal(s.flags[1], 1); /* zero duration */
    assert_int_equal(s.flags[6], 1); /* fractional GPUs */
    assert_int_equal(s.flags[8], 1); /* no duration */
}

TEST(one_job)
{
    static const row rows[] = {{5, 10, 3000, NULL, DLS_OUTCOME_UNKNOWN}};
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = build(rows, 1);
    DLS_OWN(dls_trace_stats_fini) dls_trace_stats s = {0};
    assert_int_equal(dls_trace_stats_compute(trace, &s, NULL), DLS_OK);
    near(s.span_s, 0);
    assert_true(isnan(s.busy_gpus)); /* no span to average over */
    near(s.peak_gpus, 3);
    near(s.duration_s.q[0], 10);
    near(s.duration_s.q[8], 10);
    assert_int_equal(s.gap_s.n, 0);
    assert_true(isnan(s.gap_s.q[3]));
    assert_int_equal(s.n_vcs, 0);
}

TEST(failed_allocations)
{
    static const row rows[] = {{0, 1, 1000, "a", DLS_OUTCOME_UNKNOWN},
                               {1, 1, 2000, "b", DLS_OUTCOME_UNKNOWN}};
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = build(rows, 2);
    DLS_OWN(dls_trace_stats_fini) dls_trace_stats s = {0};
    dls_error err;
    EACH_REFUSED_THEN(4, dls_trace_stats_compute(trace, &s, &err),
                      assert_non_null(strstr(err.msg, "memory")));
}
