/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * shortest-expected: least expected remaining service first, E[S - a | S > a] over the service of
 * past jobs. Knows the distribution and the attained service a, not the job's own run time. Between
 * the knots (16 quantiles of the samples) the expectation falls as the job is served.
 */
#include "sched/service_dist.h"

enum { OPT_SAMPLES };
static const dls_option options[] = {
    DLS_SERVICE_SAMPLES,
    {0},
};

#define KNOTS 16

struct expected {
    dls_service_dist dist; /* first: dls_service_dist_fini */
    int64_t knot_us[KNOTS]; /* ascending */
};

static dls_status init(void *state, const dls_view *view, const dls_option_value *values,
                       dls_error *err)
{
    struct expected *x = state;
    DLS_TRY(dls_service_dist_load(&x->dist, view, values[OPT_SAMPLES].s, err));
    for (int32_t i = 0; i < KNOTS; i++) {
        const double at_s = dls_service_quantile(&x->dist, (double)i / (KNOTS - 1));
        x->knot_us[i] = at_s < 4e12 ? (int64_t)(at_s * 1e6) : INT64_C(4000000000000000000);
    }
    return DLS_OK;
}

/* The last knot at or before an attained service, 0 before the first; *next: the one behind it. Beyond
 * all samples, where the expectation rises with the service, there are 16 to 32 in every doubling. */
static int64_t knot_before(const struct expected *x, int64_t a_us, int64_t *next)
{
    int32_t i = 0;
    while (i < KNOTS && x->knot_us[i] <= a_us) {
        i++;
    }
    int64_t knot_us = i > 0 ? x->knot_us[i - 1] : 0;
    if (i == KNOTS) {
        const int bits = 64 - __builtin_clzll((uint64_t)a_us | 16);
        const int64_t step_us = INT64_C(1) << (bits - 5);
        const int64_t at_us = a_us / step_us * step_us;
        knot_us = at_us > knot_us ? at_us : knot_us;
        *next = at_us + step_us;
    } else {
        *next = x->knot_us[i];
    }
    return knot_us;
}

static void priority(void *state, const dls_view *view, int32_t job, dls_job_event why,
                     dls_priority *out)
{
    const struct expected *x = state;
    const int32_t gpus = view->gpus[job];
    const int64_t a_us = dls_service_us(dls_view_executed_us(view, job), gpus);
    int64_t next_us;
    const int64_t knot_us = knot_before(x, a_us, &next_us);
    /* A knot that has been passed counts as of the knot, whenever that is noticed. */
    const int64_t at_us = why == DLS_EVENT_DUE ? knot_us : a_us;
    const double left_s = dls_service_residual(&x->dist, (double)at_us / 1e6);
    out->key = left_s < 4e12 ? (int64_t)(left_s * 1e6) - (a_us - at_us) : INT64_C(4000000000000000000);
    if (view->running[job]) {
        out->valid_until_us = view->now_us + (next_us - a_us + gpus - 1) / gpus;
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
    .fini = dls_service_dist_fini,
    .clone = dls_service_dist_clone,
    .priority = priority,
};
