/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The generator against its own published tables. GPU counts are stratified, so their shares hold
 * to a job; durations are stratified and then moved by at most the batch spread s, so the number of
 * m jobs below a quantile has a standard deviation under sqrt(m s / 2). Tolerances are four of
 * those.
 */

#include "base/alloc.h"
#include "base/rng.h"
#include "dlsim/traces.h"
#include "support/must.h"
#include "support/refuse.h"
#include "traces/synth_profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static dls_synth_params params_of(const char *profile, int64_t n_jobs)
{
    dls_synth_params params;
    dls_synth_params_init(&params);
    params.profile = profile;
    params.n_jobs = n_jobs;
    return params;
}

static dls_trace *generate(const dls_synth_params *params, dls_synth_report *report)
{
    dls_trace *trace = NULL;
    MUST(dls_synth_generate(params, &trace, report, &e));
    return trace;
}

static int64_t milli_of(const dls_trace_columns *c, size_t i)
{
    return c->gpus_milli ? c->gpus_milli[i] : c->gpus[i] * INT64_C(1000);
}

/* ---- marginals ------------------------------------------------------------------------------- */

static void gpu_mix(const dls_synth_profile *profile, const dls_trace_columns *c)
{
    double total = 0;
    for (int s = 0; s < profile->n_sizes; s++) {
        total += profile->sizes[s].weight;
    }
    for (int s = 0; s < profile->n_sizes; s++) {
        double jobs = 0;
        for (size_t i = 0; i < c->n; i++) {
            jobs += milli_of(c, i) == profile->sizes[s].gpus_milli;
        }
        const double expected = (double)c->n * profile->sizes[s].weight / total;
        if (fabs(jobs - expected) > 1.001) {
            fail_msg("%s: %d/1000 GPUs: %g jobs, expected %g", profile->name,
                     profile->sizes[s].gpus_milli, jobs, expected);
        }
    }
}

/* Values are rounded to seconds: with v the value at probability p, P(<= v) >= p >= P(< v). */
static void duration_quantiles(const dls_synth_profile *profile, const dls_trace_columns *c)
{
    for (int k = 0; k < DLS_SYNTH_CLASSES; k++) {
        const dls_synth_quantiles *q = &profile->durations[k];
        double members = 0;
        for (size_t i = 0; i < c->n; i++) {
            members += dls_synth_class(c->gpus[i]) == k;
        }
        const double spread = profile->batch_exponent > 0 ? profile->batch_spread : 0;
        const double tolerance = 4 * sqrt(members * spread / 2) + 1;
        for (int v = 0; v < q->n && members > 0; v++) {
            const double value = floor(q->seconds[v] * profile->scale[k] + .5);
            double below = 0, upto = 0;
            for (size_t i = 0; i < c->n; i++) {
                const double s = (double)(c->duration_us[i] / DLS_US_PER_S);
                below += dls_synth_class(c->gpus[i]) == k && s < value;
                upto += dls_synth_class(c->gpus[i]) == k && s <= value;
            }
            if (upto < q->p[v] * members - tolerance || below > q->p[v] * members + tolerance) {
                fail_msg("%s, class %d: %g of %g jobs below and %g up to %g s, p = %g",
                         profile->name, k, below, members, upto, value, q->p[v]);
            }
        }
    }
}

TEST(marginals)
{
    for (int i = 0; dls_synth_profile_name(i); i++) {
        const dls_synth_profile *profile = dls_synth_profile_find(dls_synth_profile_name(i));
        const dls_synth_params params = params_of(profile->name, 40000);
        dls_synth_params wide = params;
        wide.cluster_gpus = 10000; /* no gang is cut */
        DLS_HOLD(dls_trace_destroy) dls_trace *trace = generate(&wide, NULL);
        gpu_mix(profile, dls_trace_cols(trace));
        duration_quantiles(profile, dls_trace_cols(trace));
    }
}

TEST(profiles_are_sound)
{
    assert_null(dls_synth_profile_name(-1));
    assert_null(dls_synth_profile_summary(99));
    for (int i = 0; dls_synth_profile_at(i); i++) {
        const dls_synth_profile *profile = dls_synth_profile_at(i);
        for (int k = 0; k < DLS_SYNTH_CLASSES; k++) {
            const dls_synth_quantiles *q = &profile->durations[k];
            assert_in_range(q->n, 2, DLS_SYNTH_KNOTS_MAX);
            assert_true(q->p[0] == 0 && q->p[q->n - 1] == 1 && q->seconds[0] >= 1);
            for (int v = 1; v < q->n; v++) {
                assert_true(q->p[v] > q->p[v - 1] && q->seconds[v] >= q->seconds[v - 1]);
            }
        }
        for (int s = 1; s < profile->n_sizes; s++) {
            assert_true(profile->sizes[s].gpus_milli > profile->sizes[s - 1].gpus_milli);
        }
        for (int h = 0; h < 24; h++) {
            assert_true(profile->hour[h] > 0);
        }
    }
    static const int64_t gpus[] = {1, 2, 3, 4, 5, 8, 9, 16, 17, 32, 33, 1000};
    static const int classes[] = {0, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6};
    for (int i = 0; i < 12; i++) {
        assert_int_equal(dls_synth_class(gpus[i]), classes[i]);
    }
}

/* Virtual clusters, outcomes: conditional shares with four standard errors; a batch shares its
 * virtual cluster, so the number of independent draws is the jobs / 50. */
TEST(conditionals)
{
    dls_synth_params params = params_of("philly", 60000);
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = generate(&params, NULL);
    const dls_trace_columns *c = dls_trace_cols(trace);
    double jobs = 0, first = 0, longer = 0, completed = 0;
    for (size_t i = 0; i < c->n; i++) {
        const int64_t s = c->duration_us[i] / DLS_US_PER_S;
        const char *user = dls_trace_user(trace, c->user[i]), *vc = dls_trace_vc(trace, c->vc[i]);
        assert_int_equal(strncmp(user, vc, strlen(vc)), 0);
        if (c->gpus[i] == 1 && s >= 600 && s < 3600) {
            jobs++;
            first += strcmp(vc, "6214e9") == 0;
        }
        if (s >= 21600) {
            longer++;
            completed += c->outcome[i] == DLS_OUTCOME_COMPLETED;
        }
    }
    assert_true(fabs(first / jobs - .571) < 4 * sqrt(.571 * .429 / (jobs / 50)));
    assert_true(fabs(completed / longer - .3081) < 4 * sqrt(.3081 * .6919 / longer));
    assert_int_equal(dls_trace_n_vcs(trace), 11);
}

TEST(tiresias_models)
{
    dls_synth_params params = params_of("tiresias", 6000);
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = generate(&params, NULL);
    const dls_trace_columns *c = dls_trace_cols(trace);
    assert_int_equal(dls_trace_n_models(trace), 10);
    double count[10] = {0};
    for (size_t i = 0; i < c->n; i++) {
        count[c->model[i]]++;
        assert_int_equal(c->batch[i], 32 * c->gpus[i]);
        assert_true(c->iterations[i] > 0);
        assert_true(c->flags[i] & DLS_JOB_SYNTHETIC_MODEL);
        const double per_iteration_s = (double)c->duration_us[i] * 1e-6 / (double)c->iterations[i];
        assert_true(per_iteration_s >= .054 && per_iteration_s < 1.2);
    }
    for (int m = 0; m < 10; m++) {
        assert_true(fabs(count[m] - 600) < 4 * sqrt(600 * .9));
    }
}

TEST(pai_fractions)
{
    dls_synth_params params = params_of("pai", 10000);
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = generate(&params, NULL);
    const dls_trace_columns *c = dls_trace_cols(trace);
    double mean = 0;
    for (size_t i = 0; i < c->n; i++) {
        mean += (double)milli_of(c, i) / 1e3 / (double)c->n;
    }
    assert_true(fabs(mean - .683) < .02); /* the published mean request */
    assert_in_range(dls_trace_about(trace)->flag_count[6], 5400, 5460);
}

/* ---- arrivals -------------------------------------------------------------------------------- */

/* Gaps of Philly: published coefficient of variation 2.1 (Poisson: 1), 9 % zeros, GPU count
 * repeated within 60 s with probability 0.91 (0.76 if independent). */
TEST(philly_bursts)
{
    dls_synth_params params = params_of("philly", 98044);
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = generate(&params, NULL);
    const dls_trace_columns *c = dls_trace_cols(trace);
    double sum = 0, squares = 0, zeros = 0, close = 0, same = 0;
    for (size_t i = 1; i < c->n; i++) {
        const double gap_s = (double)(c->submit_us[i] - c->submit_us[i - 1]) * 1e-6;
        sum += gap_s;
        squares += gap_s * gap_s;
        zeros += gap_s == 0;
        close += gap_s <= 60;
        same += gap_s <= 60 && c->gpus[i] == c->gpus[i - 1];
    }
    const double n = (double)(c->n - 1), mean = sum / n;
    assert_true(fabs(mean - 86400 / 1401.) < .1);
    const double cv = sqrt(squares / n - mean * mean) / mean;
    assert_true(cv > 2.1 && cv < 3.8);
    assert_true(zeros / n > .04 && zeros / n < .1);
    assert_true(fabs(same / close - .91) < .02);
}

/* Jobs by hour of the day over whole weeks. Published variance / mean of hourly counts: 39.5. */
TEST(helios_day)
{
    const dls_synth_profile *profile = dls_synth_profile_find("helios");
    dls_synth_params params = params_of("helios", 7 * 684 * 24 + 1);
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = generate(&params, NULL);
    const dls_trace_columns *c = dls_trace_cols(trace);
    double count[24] = {0}, total = 0;
    for (size_t i = 0; i < c->n; i++) {
        count[c->submit_us[i] / DLS_US_PER_S / 3600 % 24]++;
    }
    for (int h = 0; h < 24; h++) {
        total += profile->hour[h];
    }
    for (int h = 0; h < 24; h++) {
        const double expected = (double)c->n * profile->hour[h] / total;
        if (fabs(count[h] - expected) > 4 * sqrt(40 * expected)) {
            fail_msg("hour %d: %g jobs, expected %g", h, count[h], expected);
        }
    }
}

TEST(poisson)
{
    dls_synth_params params = params_of("tiresias", 20000);
    params.stamp_us = 1;
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = generate(&params, NULL);
    const dls_trace_columns *c = dls_trace_cols(trace);
    double squares = 0, longer = 0;
    for (size_t i = 1; i < c->n; i++) {
        const double gap_s = (double)(c->submit_us[i] - c->submit_us[i - 1]) * 1e-6;
        squares += gap_s * gap_s / (double)(c->n - 1);
        longer += gap_s > 60;
    }
    const double n = (double)(c->n - 1), p = exp(-2);
    assert_true(fabs((double)c->submit_us[c->n - 1] * 1e-6 / n - 30) < .01);
    assert_true(fabs(squares - 1800) < 4 * 900 * sqrt(20 / n)); /* Var(X^2) = 20 mean^4 */
    assert_true(fabs(longer - n * p) < 4 * sqrt(n * p * (1 - p)));
}

/* ---- load and limits ------------------------------------------------------------------------- */

TEST(load_is_met)
{
    for (int i = 0; dls_synth_profile_name(i); i++) {
        dls_synth_params params = params_of(dls_synth_profile_name(i), 3000);
        dls_synth_report report;
        params.cluster_gpus = 64;
        params.load = .8;
        DLS_HOLD(dls_trace_destroy) dls_trace *trace = generate(&params, &report);
        const dls_trace_columns *c = dls_trace_cols(trace);
        double gpu_s = 0;
        for (size_t k = 0; k < c->n; k++) {
            assert_in_range(c->gpus[k], 1, 64);
            gpu_s += (double)c->gpus[k] * (double)c->duration_us[k] * 1e-6;
        }
        const double span_s = (double)(c->submit_us[c->n - 1] - c->submit_us[0]) * 1e-6;
        assert_int_equal(c->submit_us[0], 0);
        assert_true(fabs(gpu_s / (64 * span_s) - .8) < .001);
        assert_true(fabs(report.load - gpu_s / (64 * span_s)) < 1e-9);
        assert_true(fabs(report.gpu_s - gpu_s) < 1e-6 * gpu_s);
    }
}

/* Limiting durations keeps the shape below the limit: the share under 1 min among those under 1 h.
 */
TEST(limited_durations)
{
    double share[2];
    for (int limited = 0; limited < 2; limited++) {
        dls_synth_params params = params_of("philly", 20000);
        params.duration_max_s = limited ? 3600 : 0;
        DLS_HOLD(dls_trace_destroy) dls_trace *trace = generate(&params, NULL);
        const dls_trace_columns *c = dls_trace_cols(trace);
        double minute = 0, hour = 0;
        for (size_t i = 0; i < c->n; i++) {
            if (c->gpus[i] == 1) {
                assert_true(!limited || c->duration_us[i] <= 3600 * DLS_US_PER_S);
                minute += c->duration_us[i] < 60 * DLS_US_PER_S;
                hour += c->duration_us[i] <= 3600 * DLS_US_PER_S;
            }
        }
        share[limited] = minute / hour;
    }
    assert_true(fabs(share[0] - share[1]) < .015);
}

TEST(queueing_is_reached)
{
    for (int i = 0; dls_synth_profile_name(i); i++) {
        dls_synth_params params = params_of(dls_synth_profile_name(i), 3000);
        dls_synth_report report;
        params.cluster_gpus = 300;
        assert_int_equal(dls_synth_parse_queueing("heavy", &params, NULL), DLS_OK);
        dls_trace_destroy(generate(&params, &report));
        assert_int_equal(report.waiting_jobs, 300);
        assert_true(report.oldest_first.time_frac >= 1. / 3);
        assert_true(report.least_first.span_frac >= 1. / 3);
        assert_true(report.oldest_first.time_frac + report.least_first.time_frac >= 2. / 3);
        assert_true(report.least_first.peak_jobs >= 300);
    }
}

TEST(parse_queueing)
{
    dls_synth_params params = params_of("philly", 100);
    assert_int_equal(dls_synth_parse_queueing("0.05:0.5", &params, NULL), DLS_OK);
    assert_true(params.waiting_frac == .05 && params.time_frac == .5);
    assert_int_equal(dls_synth_parse_queueing("none", &params, NULL), DLS_OK);
    assert_true(params.waiting_frac == 0 && params.time_frac == 0);
    static const char *const bad[] = {"",         "some",    ":",        "0.1",
                                      "0.1:",     ":0.1",    "0:0.5",    "0.1:1",
                                      "-0.1:0.5", "nan:0.5", "0.1:0.5x", "0.1:0.5:0.5"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(dls_synth_parse_queueing(bad[i], &params, NULL), DLS_EUSAGE);
    }
}

static void refused(const dls_synth_params *params, dls_status status, const char *part)
{
    dls_trace *trace = NULL;
    dls_error err;
    assert_int_equal(dls_synth_generate(params, &trace, NULL, &err), status);
    assert_null(trace);
    if (!strstr(err.msg, part)) {
        fail_msg("\"%s\" does not say \"%s\"", err.msg, part);
    }
}

TEST(bad_parameters)
{
    const dls_synth_params good = params_of("philly", 1000);
#define WRONG(status, part, ...)                                                                   \
    do {                                                                                           \
        dls_synth_params p = good;                                                                 \
        __VA_ARGS__;                                                                               \
        refused(&p, status, part);                                                                 \
    } while (0)
    WRONG(DLS_EUSAGE, "did you mean 'philly'", p.profile = "philyl");
    WRONG(DLS_EUSAGE, "no profile \"moon\"", p.profile = "moon");
    WRONG(DLS_EUSAGE, "no profile", p.profile = NULL);
    WRONG(DLS_EUSAGE, "jobs", p.n_jobs = 1);
    WRONG(DLS_EUSAGE, "jobs", p.n_jobs = DLS_SYNTH_JOBS_MAX + 1);
    WRONG(DLS_EUSAGE, "GPUs", p.cluster_gpus = -1);
    WRONG(DLS_EUSAGE, "GPUs", p.cluster_gpus = DLS_GPUS_MAX + 1);
    WRONG(DLS_EUSAGE, "load", p.load = -1);
    WRONG(DLS_EUSAGE, "load", p.load = (double)NAN);
    WRONG(DLS_EUSAGE, "load", p.load = 1e6);
    WRONG(DLS_EUSAGE, "100", p.load = 1e-9);
    WRONG(DLS_EUSAGE, "at least 1", (p.load = 1000, p.cluster_gpus = 1000000));
    WRONG(DLS_EUSAGE, "negative", p.duration_max_s = -1);
    WRONG(DLS_EUSAGE, "as short as 119 s, but 120 s", (p.profile = "tiresias", p.duration_max_s = 119));
    WRONG(DLS_EUSAGE, "seconds", p.stamp_us = 0);
    WRONG(DLS_EUSAGE, "between 0 and 1", p.waiting_frac = .1);
    WRONG(DLS_EUSAGE, "between 0 and 1", (p.waiting_frac = .1, p.time_frac = 1.5));
    WRONG(DLS_EUSAGE, "not both", (p.waiting_frac = .1, p.time_frac = .1, p.load = 1));
    WRONG(DLS_ERUN, "cannot be reached",
            (p.waiting_frac = .9, p.time_frac = .9, p.cluster_gpus = 100000, p.n_jobs = 50));
}

/* ---- determinism, memory --------------------------------------------------------------------- */

static uint64_t digest(const dls_trace *trace)
{
    const dls_trace_columns *c = dls_trace_cols(trace);
    uint64_t h = 0;
    for (size_t i = 0; i < c->n; i++) {
        h = dls_mix64(h ^ (uint64_t)c->submit_us[i]);
        h = dls_mix64(h ^ (uint64_t)c->duration_us[i]);
        h = dls_mix64(h ^ (uint64_t)milli_of(c, i));
        h = dls_mix64(h ^ (uint64_t)(c->model[i] + 1));
        h = dls_mix64(h ^ (uint64_t)(c->vc[i] + 1));
        h = dls_mix64(h ^ c->outcome[i]);
    }
    return h;
}

/* The same bytes from every compiler and optimisation level: a change here changes every trace. */
TEST(pinned_digests)
{
    static const struct {
        const char *profile;
        uint64_t digest;
    } pinned[] = {
        {"philly", 0x3211bcd98eeee651},
        {"helios", 0x562897ce73e9c252},
        {"pai", 0x28ae52146f66cbbd},
        {"tiresias", 0x324e4551a7e6f296},
    };
    for (size_t i = 0; i < sizeof pinned / sizeof pinned[0]; i++) {
        dls_synth_params params = params_of(pinned[i].profile, 2000);
        params.seed = 9;
        params.load = .7;
        dls_trace *a = generate(&params, NULL), *b = generate(&params, NULL);
        assert_true(digest(a) == digest(b));
        if (digest(a) != pinned[i].digest) {
            fail_msg("%s: %#llx", pinned[i].profile, (unsigned long long)digest(a));
        }
        params.seed = 9 + (UINT64_C(1) << 32);
        DLS_HOLD(dls_trace_destroy) dls_trace *other = generate(&params, NULL);
        assert_true(digest(other) != digest(a));
        dls_trace_destroy(a);
        dls_trace_destroy(b);
    }
}

TEST(failed_allocations)
{
    dls_synth_params params = params_of("philly", 60);
    params.cluster_gpus = 2;
    params.waiting_frac = .05;
    params.time_frac = .05;
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = NULL;
    EACH_REFUSED_THEN(19, dls_synth_generate(&params, &trace, NULL, NULL), assert_null(trace));
    assert_non_null(trace);
}
