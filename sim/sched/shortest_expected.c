/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * shortest-expected: least expected remaining service first, E[S - a | S > a] over the service of
 * past jobs. Knows the distribution and the attained service a, not the job's own run time. Between
 * the knots (16 quantiles of the samples) the expectation falls as the job is served.
 */
#include "sched/service_dist.h"

enum { OPT_SAMPLES };
static const dls_option options[] = {
    {.name = "samples",
     .type = DLS_OPT_STR,
     .def = "",
     .unit = "",
     .doc = "file of past jobs' GPU-seconds, one a line; empty: the jobs of the trace"},
    {0},
};

#define KNOTS 16

struct expected {
    dls_service_dist dist;
    double knot_s[KNOTS]; /* ascending */
};

static dls_status init(void *state, const dls_view *view, const dls_option_value *values,
                       dls_error *err)
{
    struct expected *x = state;
    DLS_TRY(dls_service_dist_load(&x->dist, view, values[OPT_SAMPLES].s, err));
    for (int32_t i = 0; i < KNOTS; i++) {
        x->knot_s[i] = dls_service_quantile(&x->dist, (double)i / (KNOTS - 1));
    }
    return DLS_OK;
}

static void fini(void *state)
{
    struct expected *x = state;
    dls_service_dist_fini(&x->dist);
}

static void priority(void *state, const dls_view *view, int32_t job, dls_job_event why,
                     dls_priority *out)
{
    const struct expected *x = state;
    (void)why;
    const int32_t gpus = view->gpus[job];
    const double a_s = (double)dls_view_executed_us(view, job) / 1e6 * gpus;
    const double left_s = dls_service_residual(&x->dist, a_s);
    out->key = left_s < 4e12 ? (int64_t)(left_s * 1e6) : INT64_C(4000000000000000000);
    for (int32_t i = 0; i < KNOTS && view->running[job]; i++) {
        if (x->knot_s[i] > a_s) {
            out->stale_us = view->now_us + 1 + (int64_t)((x->knot_s[i] - a_s) * 1e6 / gpus);
            break;
        }
    }
}

const dls_sched_ops dls_sched_ops_shortest_expected = {
    .abi = DLS_POLICY_ABI,
    .name = "shortest-expected",
    .summary = "least expected remaining service first, from the distribution of past jobs",
    .options = options,
    .state_bytes = sizeof(struct expected),
    .discipline = DLS_PREEMPT,
    .ageing = DLS_AGE_SERVICE,
    .init = init,
    .fini = fini,
    .priority = priority,
};
