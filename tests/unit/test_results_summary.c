/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The summary against numbers worked out by hand, and against a slow version of itself.
 */

#include "base/alloc.h"
#include "results/compare.h"
#include "results/summary.h"
#include "support/must.h"
#include "support/refuse.h"
#include "support/results_sample.h"
#include "support/trace_of.h"

#include <math.h>
#include <stdlib.h>

#define S DLS_US_PER_S

/* Four jobs on two GPUs:
 *      job  submit  gpus  duration  start  end  waits  restores  preempts
 *       0     10     1       100      10    110     0      0        0
 *       1     10     2        40     110    150   100      0        0
 *       2     20     1       900      20   1000    70     10        1     1000 - 20 - 900 - 80 = 0
 *       3     30     8        50     never: infeasible                                          */
static dls_trace *four_jobs(void)
{
    static const int64_t submit_s[] = {10, 10, 20, 30}, duration_s[] = {100, 40, 900, 50};
    static const int64_t gpus[] = {1, 2, 1, 8};
    dls_trace *trace = NULL;
    EACH_JOB(job, 4, &trace) {
        job.rec.submit_us = submit_s[job.i] * S;
        job.rec.duration_us = duration_s[job.i] * S;
        job.rec.gpus_milli = gpus[job.i] * 1000;
        job.rec.outcome = job.i == 2 ? DLS_OUTCOME_KILLED : DLS_OUTCOME_COMPLETED;
    }
    return trace;
}

static dls_record *four_records(void)
{
    dls_record *rec = NULL;
    assert_int_equal(dls_record_create(4, &rec, NULL), DLS_OK);
    static const int64_t start_s[] = {10, 110, 20}, end_s[] = {110, 150, 1000};
    static const int64_t pending_s[] = {0, 100, 70}, executed_s[] = {100, 40, 900};
    for (int i = 0; i < 3; i++) {
        rec->state[i] = DLS_JOB_FINISHED;
        rec->start_us[i] = start_s[i] * S;
        rec->end_us[i] = end_s[i] * S;
        rec->pending_us[i] = pending_s[i] * S;
        rec->executed_us[i] = executed_s[i] * S;
        rec->resumes[i] = 1 + (i == 2);
    }
    rec->overhead_us[2] = 10 * S;
    rec->preempts[2] = 1;
    rec->state[3] = DLS_JOB_INFEASIBLE;
    rec->total_gpus = 2;
    rec->complete = true;
    rec->events = 10;
    rec->positions = 25;
    rec->end_us_of_run = 1000 * S;
    /* Nobody waits, then one job for 100 s, then nobody. */
    const dls_series_point points[] = {
        {.t_us = 10 * S, .pending_jobs = 1}, {.t_us = 110 * S}, {.t_us = 1000 * S, .busy_gpus = 1}};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(dls_record_series(rec, &points[i], NULL), DLS_OK);
    }
    return rec;
}

static const dls_summary_part *part(const dls_summary *s, const char *name)
{
    for (int p = 0; p < DLS_SUMMARY_PARTS; p++) {
        if (strcmp(s->part[p].name, name) == 0) {
            return &s->part[p];
        }
    }
    fail_msg("no part %s", name);
    return NULL;
}

static void near(double got, double want)
{
    if (!(fabs(got - want) <= 1e-9 * fabs(want) + 1e-12)) {
        fail_msg("got %.17g, expected %.17g", got, want);
    }
}

/* A job that the scheduler ends holds its GPUs until then, also behind the last end. */
TEST(ended_by_scheduler)
{
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = four_jobs();
    DLS_HOLD(dls_record_destroy) dls_record *rec = four_records();
    dls_summary s;
    rec->state[2] = DLS_JOB_DECLINED;
    rec->end_us[2] = -1;
    assert_int_equal(dls_summary_make(trace, rec, 0, 0, 0.5, &s, NULL), DLS_OK);
    near(s.makespan_s, 140);
    near(s.span_s, 990);
    near(s.utilisation, (100.0 + 2 * 40 + 910) / (2 * 990));
}

TEST(by_hand)
{
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = four_jobs();
    DLS_HOLD(dls_record_destroy) dls_record *rec = four_records();
    dls_summary s;
    assert_int_equal(dls_summary_make(trace, rec, 0, 0, 0.5, &s, NULL), DLS_OK);
    const dls_summary_part *all = &s.part[0];
    assert_int_equal(all->jobs, 4);
    assert_int_equal(all->completed, 3);
    assert_int_equal(all->infeasible, 1);
    assert_int_equal(all->unfinished, 0);
    assert_int_equal(all->preemptions, 1);
    assert_int_equal(all->resumes, 4);
    /* Completion times 100, 140, 980. */
    near(all->jct.mean_s, 1220.0 / 3);
    near(all->jct.median_s, 140);
    near(all->jct.p95_s, 140 + 0.9 * 840);
    near(all->jct.p99_s, 140 + 0.98 * 840);
    near(all->jct.max_s, 980);
    near(all->queue.mean_s, 170.0 / 3);
    near(all->first_start.mean_s, 100.0 / 3);
    near(all->slowdown_mean, (1.0 + 140.0 / 40 + 980.0 / 900) / 3);
    near(s.makespan_s, 990);
    near(s.span_s, 990);
    near(s.utilisation, (100 + 80 + 910) / (2 * 990.0));
    near(s.useful_utilisation, (100 + 80 + 900) / (2 * 990.0));
    near(s.waiting_mean, 100.0 / 990);
    near(s.tenth_waiting_frac, 100.0 / 990);
    assert_int_equal(s.waiting_peak, 1);
    near(s.positions_per_event, 2.5);
    near(s.events_per_s, 20);
    assert_int_equal(part(&s, "1")->completed, 2);
    near(part(&s, "1")->jct.mean_s, 540);
    assert_int_equal(part(&s, "5-8")->infeasible, 1);
    assert_true(isnan(part(&s, "5-8")->jct.mean_s));
    assert_int_equal(part(&s, "small-long")->jobs, 1);
    assert_int_equal(part(&s, "small-short")->jobs, 2);
    assert_int_equal(part(&s, "large-short")->jobs, 1);
    near(part(&s, "killed")->jct.mean_s, 980);
}

TEST(trimming)
{
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = four_jobs();
    DLS_HOLD(dls_record_destroy) dls_record *rec = four_records();
    dls_summary s;
    /* Submissions at 10, 10, 20, 30: from 11 s on only job 2 is left. */
    assert_int_equal(dls_summary_make(trace, rec, 1 * S, 0, 0, &s, NULL), DLS_OK);
    assert_int_equal(s.part[0].jct.n, 1);
    near(s.part[0].jct.median_s, 980);
    near(s.part[0].jct.p99_s, 980);
    assert_int_equal(s.part[0].completed, 3);
    /* Up to 15 s: jobs 0 and 1. */
    assert_int_equal(dls_summary_make(trace, rec, 0, 15 * S, 0, &s, NULL), DLS_OK);
    assert_int_equal(s.part[0].jct.n, 2);
    near(s.part[0].jct.mean_s, 120);
    assert_int_equal(dls_summary_make(trace, rec, 100 * S, 0, 0, &s, NULL), DLS_OK);
    assert_int_equal(s.part[0].jct.n, 0);
    assert_true(isnan(s.part[0].slowdown_mean));
}

TEST(wrong_input)
{
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = four_jobs();
    DLS_HOLD(dls_record_destroy) dls_record *rec = four_records(), *other = NULL;
    dls_summary s;
    dls_error err;
    assert_int_equal(dls_record_create(3, &other, NULL), DLS_OK);
    MUST_FAIL(DLS_EINPUT, "3 jobs", dls_summary_make(trace, other, 0, 0, 0, &s, &e));
    assert_int_equal(dls_summary_make(trace, rec, -1, 0, 0, &s, &err), DLS_EINPUT);
    rec->pending_us[1] = -5;
    MUST_FAIL(DLS_EINPUT, "waiting time", dls_summary_make(trace, rec, 0, 0, 0, &s, &e));
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The definition: linear interpolation at position q (n - 1). */
static double quantile(const double *sorted, size_t n, double q)
{
    const double at = q * (double)(n - 1);
    const size_t i = (size_t)at;
    return i + 1 < n ? sorted[i] + (at - (double)i) * (sorted[i + 1] - sorted[i]) : sorted[n - 1];
}

TEST(against_sorting)
{
    enum { N = 3000 };
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = NULL;
    DLS_HOLD(dls_record_destroy) dls_record *rec = NULL;
    dls_summary s;
    assert_int_equal(sample_trace(N, &trace, NULL), DLS_OK);
    assert_int_equal(sample_record(trace, 1, 1, &rec, NULL), DLS_OK);
    assert_int_equal(dls_summary_make(trace, rec, 0, 0, 0, &s, NULL), DLS_OK);
    const dls_trace_columns *t = dls_trace_cols(trace);
    static const struct {
        const char *name;
        int32_t least, most;
    } sizes[] = {{"all", 1, 1 << 20}, {"1", 1, 1},     {"2", 2, 2},       {"3-4", 3, 4},
                 {"5-8", 5, 8},       {"9-16", 9, 16}, {"17-32", 17, 32}, {">32", 33, 1 << 20}};
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        static double jct[N], queue[N];
        double sum = 0;
        size_t n = 0;
        for (size_t j = 0; j < N; j++) {
            if (t->gpus[j] >= sizes[k].least && t->gpus[j] <= sizes[k].most &&
                rec->state[j] == DLS_JOB_FINISHED) {
                jct[n] = (double)(rec->end_us[j] - t->submit_us[j]) / (double)S;
                queue[n] = (double)rec->pending_us[j] / (double)S;
                sum += jct[n++];
            }
        }
        assert_true(n > 100);
        qsort(jct, n, sizeof jct[0], ascending);
        qsort(queue, n, sizeof queue[0], ascending);
        const dls_summary_part *p = part(&s, sizes[k].name);
        assert_int_equal(p->jct.n, n);
        near(p->jct.mean_s, sum / (double)n);
        near(p->jct.median_s, quantile(jct, n, 0.5));
        near(p->jct.p95_s, quantile(jct, n, 0.95));
        near(p->jct.p99_s, quantile(jct, n, 0.99));
        near(p->queue.median_s, quantile(queue, n, 0.5));
        near(p->queue.p95_s, quantile(queue, n, 0.95));
        near(p->queue.max_s, queue[n - 1]);
    }
    /* Each kind of part holds every job once. */
    uint64_t jobs[4] = {0};
    double held[4] = {0};
    for (int p = 0; p < DLS_SUMMARY_PARTS; p++) {
        jobs[s.part[p].kind] += s.part[p].jobs;
        held[s.part[p].kind] += s.part[p].held_gpu_s;
    }
    for (int k = 0; k < 4; k++) {
        assert_int_equal(jobs[k], N);
        near(held[k], held[0]);
    }
}

TEST(unfinished_run)
{
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = four_jobs();
    DLS_HOLD(dls_record_destroy) dls_record *rec = four_records();
    dls_summary s;
    rec->state[2] = DLS_JOB_RUNNING;
    rec->end_us[2] = -1;
    rec->end_us_of_run = 210 * S;
    rec->executed_us[2] = 100 * S;
    rec->complete = false;
    assert_int_equal(dls_summary_make(trace, rec, 0, 0, 0, &s, NULL), DLS_OK);
    assert_int_equal(s.part[0].unfinished, 1);
    assert_false(s.complete);
    near(s.makespan_s, 140);
    near(s.span_s, 200);
    near(s.utilisation, (100 + 80 + 110) / 400.0);
}

TEST(seconds_text)
{
    static const struct {
        double s;
        const char *text;
    } cases[] = {{0, "0 s"},        {0.0123, "12.3 ms"},   {45.23, "45.2 s"},  {119.9, "119.9 s"},
                 {750, "12.5 min"}, {12312, "3.42 h"},     {864000, "10.0 d"}, {181440, "2.10 d"},
                 {-5, "-5.00 s"},   {8.64e10, "1000000 d"}};
    char text[DLS_SECONDS_TEXT];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_string_equal(dls_format_seconds(text, cases[i].s), cases[i].text);
    }
    assert_string_equal(dls_format_seconds(text, (double)NAN), "-");
}

/* What a formatter writes, owned (free). */
static char *printed(const dls_summary *s, int what)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    assert_non_null(out);
    const dls_compare_run runs[] = {{"first", "aa", s, 0, 0}, {"second", "bb", s, 1, 0}};
    switch (what) {
    case 0:
        dls_summary_print(out, s, true);
        break;
    case 1:
        assert_int_equal(dls_summary_json(out, s, NULL), DLS_OK);
        break;
    case 2:
        dls_compare_print(out, runs, 2);
        break;
    default:
        assert_int_equal(dls_compare_json(out, runs, 2, NULL), DLS_OK);
    }
    assert_int_equal(fclose(out), 0);
    return text;
}

static void assert_has(const char *text, const char *part_of_it)
{
    if (!text || !strstr(text, part_of_it)) {
        fail_msg("no \"%s\" in:\n%s", part_of_it, text ? text : "(nothing)");
    }
}

/* Deadlines of jobs 0, 1 and 3: kept to the microsecond, missed by one, never run since declined. */
TEST(deadlines)
{
    static const int64_t deadline_us[] = {110 * S, 150 * S - 1, DLS_ABSENT, 500 * S};
    dls_trace *trace = NULL, *four = four_jobs();
    DLS_HOLD(dls_record_destroy) dls_record *rec = four_records();
    dls_summary s;
    assert_int_equal(dls_summary_make(four, rec, 0, 0, 0.5, &s, NULL), DLS_OK);
    assert_int_equal(s.part[0].deadlines + s.part[0].declined, 0);
    char *text = printed(&s, 0);
    assert_null(strstr(text, "deadlines met"));
    assert_null(strstr(text, "declined"));
    free(text);
    EACH_JOB(job, 4, &trace) {
        job.rec.submit_us = dls_trace_cols(four)->submit_us[job.i];
        job.rec.duration_us = dls_trace_cols(four)->duration_us[job.i];
        job.rec.gpus_milli = dls_trace_cols(four)->gpus[job.i] * 1000;
        job.rec.deadline_us = deadline_us[job.i];
    }
    rec->state[3] = DLS_JOB_DECLINED;
    assert_int_equal(dls_summary_make(trace, rec, 0, 0, 0.5, &s, NULL), DLS_OK);
    assert_int_equal(s.part[0].declined, 1);
    assert_int_equal(s.part[0].infeasible, 0);
    assert_int_equal(s.part[0].deadlines, 3);
    assert_int_equal(s.part[0].deadlines_met, 1);
    text = printed(&s, 0);
    assert_has(text, "jobs declined           1\n");
    assert_has(text, "deadlines met           1 of 3 (33.3 %)\n");
    free(text);
    dls_trace_destroy(four);
    dls_trace_destroy(trace);
}

TEST(formats)
{
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = four_jobs();
    DLS_HOLD(dls_record_destroy) dls_record *rec = four_records();
    dls_summary s;
    assert_int_equal(dls_summary_make(trace, rec, 0, 0, 0.5, &s, NULL), DLS_OK);
    char *text = printed(&s, 0);
    assert_has(text, "4: 3 completed, 1 infeasible, 0 unfinished");
    assert_has(text, "55.1 % of 2 GPUs (54.5 % without restoring)");
    assert_has(text, "16.3 min"); /* 980 s */
    assert_has(text, "small-long");
    free(text);
    text = printed(&s, 1);
    assert_has(text, "\"jct_median_s\": 140");
    assert_has(text, "\"makespan_s\": 990");
    assert_has(text, "\"jct_mean_s\": null"); /* of the infeasible gang's part */
    assert_null(strstr(text, "nan"));
    free(text);
    text = printed(&s, 2);
    assert_has(text, "1.000x");
    assert_has(text, "2 GPUs");
    assert_null(strstr(text, "9-16"));
    free(text);
    text = printed(&s, 3);
    assert_has(text, "\"trace_sha256\": \"bb\"");
    assert_has(text, "\"jct_p99\": 1");
    free(text);
}

TEST(failed_allocations)
{
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = four_jobs();
    DLS_HOLD(dls_record_destroy) dls_record *rec = four_records();
    dls_summary s;
    EACH_REFUSED(4, dls_summary_make(trace, rec, 0, 0, 0, &s, NULL));
}
