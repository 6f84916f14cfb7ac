/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The worked example of Tiresias (Gu et al., NSDI 2019): two GPUs and three jobs that are there
 * from the start, J1 = (2 GPUs, 2 units), J2 = (1, 8), J3 = (2, 6). Mean completion times of the
 * paper: SRSF 9.3, 2D-LAS 11.7 units.
 *
 * 2D-LAS is defined there in time slices: the jobs of least attained service run for a unit, then
 * all are ranked anew. Here it is first a policy of its own that is asked again every unit, which
 * gives the paper's number exactly. dlas-gpu is the discretised form: it ranks by queue, and gives
 * the same finish times with a threshold every 2 GPU-units when J3 comes before J2 among equals;
 * with J2 first a slice of J2 lasts 2 units instead of 1 and J2 ends a unit earlier.
 */
#include "support/sim_case.h"
#include "support/test.h"

#define UNIT_S 1000
#define UNIT_US (UNIT_S * DLS_US_PER_S)

static const case_job in_order[] = {
    {.duration_s = 2 * UNIT_S, .gpus = 2},
    {.duration_s = 8 * UNIT_S, .gpus = 1},
    {.duration_s = 6 * UNIT_S, .gpus = 2},
};
static const case_job j3_before_j2[] = {
    {.duration_s = 2 * UNIT_S, .gpus = 2},
    {.duration_s = 6 * UNIT_S, .gpus = 2},
    {.duration_s = 8 * UNIT_S, .gpus = 1},
};

/* Least attained service, looked at every unit. */
static void las_priority(void *state, const dls_view *view, int32_t job, dls_job_event why,
                         dls_priority *out)
{
    out->key = dls_view_executed_us(view, job) * view->gpus[job];
    out->alarm = DLS_ALARM_RESCHEDULE;
    out->alarm_us = (view->now_us / UNIT_US + 1) * UNIT_US;
}

static const dls_sched_ops unit_slices = {
    .abi = DLS_POLICY_ABI,
    .name = "las-in-unit-slices",
    .summary = "least attained service first, in slices of a unit",
    .discipline = DLS_PREEMPT,
    .priority = las_priority,
};

/* Finish times in units, and the mean. */
static void expect(const dls_sched_ops *sched, const dls_option_value *values, const case_job *jobs,
                   int end0, int end1, int end2, double mean)
{
    const int want[] = {end0, end1, end2};
    dls_cluster_spec cluster = case_cluster(1, 2, 0);
    dls_trace *trace = case_trace(jobs, 3);
    dls_sim_params p;
    dls_sim_params_init(&p);
    p.cluster = &cluster;
    p.trace = trace;
    p.sched = sched;
    p.sched_values = values;
    p.placement = case_placement("consolidated");
    p.audit = true;
    dls_record *rec = case_run(&p);
    for (int j = 0; j < 3; j++) {
        if (rec->end_us[j] != want[j] * UNIT_US) {
            fail_msg("%s: job %d ends at %g, not %d", sched->name, j,
                     (double)rec->end_us[j] / (double)UNIT_US, want[j]);
        }
    }
    assert_true(fabs(case_mean_jct_s(trace, rec) / UNIT_S - mean) < 1e-3);
    dls_record_destroy(rec);
    dls_trace_destroy(trace);
    free(cluster.groups);
}

TEST(test_srsf)
{
    expect(case_sched("srsf"), NULL, in_order, 2, 10, 16, 9.3333);
}

TEST(test_srtf)
{
    expect(case_sched("srtf"), NULL, in_order, 2, 16, 8, 8.6667);
}

TEST(test_smallest_first)
{
    expect(case_sched("sjf"), NULL, in_order, 10, 8, 16, 11.3333);
}

TEST(test_2d_las)
{
    expect(&unit_slices, NULL, in_order, 5, 14, 16, 11.6667);
}

TEST(test_dlas_gpu)
{
    const dls_sched_ops *dlas_gpu = case_sched("dlas-gpu");
    DLS_FREED dls_option_value *values = case_defaults(dlas_gpu->options);
    values[0].n_list = 8;
    for (int i = 0; i < 8; i++) {
        values[0].list[i] = 2.0 * UNIT_S * (i + 1);
    }
    expect(dlas_gpu, values, j3_before_j2, 5, 16, 14, 11.6667);
    expect(dlas_gpu, values, in_order, 5, 13, 16, 11.3333);
}
