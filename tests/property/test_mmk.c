/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Queueing theory: k GPUs, jobs of one GPU, exponential inter-arrival and service times, first
 * come, first served, is M/M/k. The mean wait must be that of Erlang's C formula,
 *
 *      Wq = C(k, a) / (k mu - lambda),  a = lambda / mu,
 *      C = (a^k / k!) (k / (k - a)) / (sum_{i<k} a^i / i! + (a^k / k!) (k / (k - a)))
 *
 * (Kleinrock, Queueing Systems I, 1975, section 3.5), within the 99.9 % confidence interval of 40
 * batch means; and the time series must obey Little's law exactly: the integral of the jobs waiting
 * is the sum of all waiting times, that of the jobs in the system the sum of all completion times.
 */
#include "base/rng.h"
#include "support/sim_case.h"
#include "support/test.h"

#define JOBS 240000
#define WARM_UP 20000 /* jobs before the first batch: the system starts empty */
#define BATCHES 40
/* Student's t with 39 degrees of freedom at 0.9995. */
#define T_39 3.558
#define SERVICE_S 1000.0

static double exponential(dls_rng *rng, double mean)
{
    return -mean * log1p(-dls_rng_unit(rng));
}

static double erlang_c_wait_s(int k, double a)
{
    double term = 1, sum = 0; /* a^i / i! */
    for (int i = 0; i < k; i++) {
        sum += term;
        term *= a / (i + 1);
    }
    const double tail = term * k / (k - a);
    return tail / (sum + tail) * SERVICE_S / (k - a);
}

static void check_wait(const dls_record *rec, int k, double load)
{
    double batch[BATCHES], mean = 0, var = 0;
    const size_t size = (JOBS - WARM_UP) / BATCHES;
    for (size_t b = 0; b < BATCHES; b++) {
        batch[b] = 0;
        for (size_t j = 0; j < size; j++) {
            batch[b] += (double)rec->pending_us[WARM_UP + b * size + j] / 1e6 / (double)size;
        }
        mean += batch[b] / BATCHES;
    }
    for (size_t b = 0; b < BATCHES; b++) {
        var += (batch[b] - mean) * (batch[b] - mean) / (BATCHES - 1);
    }
    const double half = T_39 * sqrt(var / BATCHES), want = erlang_c_wait_s(k, k * load);
    print_message("k %2d load %.2f: mean wait %9.3f s, Erlang C %9.3f s, +- %.3f\n", k, load, mean,
                  want, half);
    /* An interval too wide to refute anything would be no test. */
    assert_true(half < 0.2 * want);
    assert_true(fabs(mean - want) < half);
}

static void check_little(const dls_trace *trace, const dls_record *rec)
{
    const dls_series_rows *s = &rec->series;
    const dls_trace_columns *col = dls_trace_cols(trace);
    int64_t waiting = 0, in_system = 0, waited = 0, stayed = 0;
    for (size_t i = 0; i < s->n; i++) {
        const int64_t until = i + 1 < s->n ? s->t_us[i + 1] : rec->end_us_of_run;
        waiting += s->pending_jobs[i] * (until - s->t_us[i]);
        in_system += (s->pending_jobs[i] + s->running_jobs[i]) * (until - s->t_us[i]);
    }
    for (size_t j = 0; j < rec->n_jobs; j++) {
        waited += rec->pending_us[j];
        stayed += rec->end_us[j] - col->submit_us[j];
    }
    assert_int_equal(waiting, waited);
    assert_int_equal(in_system, stayed);
}

static void one_case(int k, double load)
{
    dls_rng rng = dls_rng_stream((uint64_t)(100 * k), DLS_RNG_TEST, (uint64_t)(load * 1000));
    dls_cluster_spec cluster = case_cluster(k, 1, 0);
    dls_sim_params p;
    case_job *jobs = calloc(JOBS, sizeof *jobs);
    assert_non_null(jobs);
    double t = 0;
    for (size_t j = 0; j < JOBS; j++) {
        t += exponential(&rng, SERVICE_S / (k * load));
        jobs[j] = (case_job){.submit_s = t, .duration_s = exponential(&rng, SERVICE_S), .gpus = 1};
    }
    dls_trace *trace = case_trace(jobs, JOBS);
    free(jobs);
    dls_sim_params_init(&p);
    p.cluster = &cluster;
    p.trace = trace;
    p.sched = case_sched("fifo");
    p.placement = case_placement("count");
    p.want_allocs = false;
    dls_record *rec = case_run(&p);
    assert_true(rec->complete);
    check_wait(rec, k, load);
    check_little(trace, rec);
    dls_record_destroy(rec);
    dls_trace_destroy(trace);
    free(cluster.groups);
}

TEST(test_one_server)
{
    one_case(1, 0.5);
    one_case(1, 0.8);
}

TEST(test_four_servers)
{
    one_case(4, 0.6);
    one_case(4, 0.85);
}

TEST(test_sixteen_servers)
{
    one_case(16, 0.85);
}
