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
    int64_t left_us[KNOTS + 1]; /* expected at 0 and at each knot */
};

/* What was last expected of a job. */
struct answer {
    int64_t a_us, left_us;
};

#define FOR_EVER INT64_C(4000000000000000000)

static int64_t expected_us(const struct expected *x, int64_t a_us)
{
    const double left_s = dls_service_residual(&x->dist, (double)a_us / 1e6);
    return left_s < 4e12 ? (int64_t)(left_s * 1e6) : FOR_EVER;
}

static dls_status init(void *state, const dls_view *view, const dls_option_value *values,
                       dls_error *err)
{
    struct expected *x = state;
    DLS_TRY(dls_service_dist_load(&x->dist, view, values[OPT_SAMPLES].s, err));
    for (int32_t i = 0; i < KNOTS; i++) {
        const double at_s = dls_service_quantile(&x->dist, (double)i / (KNOTS - 1));
        x->knot_us[i] = at_s < 4e12 ? (int64_t)(at_s * 1e6) : FOR_EVER;
    }
    for (int32_t i = 0; i <= KNOTS; i++) {
        x->left_us[i] = expected_us(x, i > 0 ? x->knot_us[i - 1] : 0);
    }
    return DLS_OK;
}

/* The last knot at or before an attained service, 0 before the first; *next: the one behind it; *left: what
 * is expected there. Beyond all samples, where the expectation rises with the service, there are 16 to 32 in
 * every doubling. */
static int64_t knot_before(const struct expected *x, int64_t a_us, int64_t *next, int64_t *left)
{
    int32_t i = 0;
    for (int32_t k = 0; k < KNOTS; k++) {
        i += x->knot_us[k] <= a_us;
    }
    int64_t knot_us = i > 0 ? x->knot_us[i - 1] : 0;
    *left = x->left_us[i];
    if (i < KNOTS) {
        *next = x->knot_us[i];
        return knot_us;
    }
    const int bits = 64 - __builtin_clzll((uint64_t)a_us | 16);
    const int64_t step_us = INT64_C(1) << (bits - 5);
    const int64_t at_us = a_us / step_us * step_us;
    *next = at_us + step_us;
    if (at_us > knot_us) {
        knot_us = at_us;
        *left = expected_us(x, at_us);
    }
    return knot_us;
}

static void priority(void *state, const dls_view *view, int32_t job, dls_job_event why,
                     dls_priority *out)
{
    const struct expected *x = state;
    struct answer *last = dls_view_job_state(view, job);
    const int32_t gpus = view->gpus[job];
    const int64_t a_us = dls_service_us(dls_view_executed_us(view, job), gpus);
    int64_t next_us, left_us;
    /* A knot that has been passed counts as of the knot, whenever that is noticed. */
    int64_t at_us = knot_before(x, a_us, &next_us, &left_us);
    if (why == DLS_EVENT_DUE && at_us < last->a_us) { /* restores, or writes a checkpoint: no knot since it started */
        at_us = last->a_us;
        left_us = last->left_us;
    } else if (why != DLS_EVENT_DUE && at_us != a_us) {
        if (last->a_us != a_us) { /* who starts has the service with which it was preempted */
            *last = (struct answer){a_us, expected_us(x, a_us)};
        }
        at_us = a_us;
        left_us = last->left_us;
    }
    out->key = left_us < FOR_EVER ? left_us - (a_us - at_us) : FOR_EVER;
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
    .job_state_bytes = sizeof(struct answer),
    .discipline = DLS_PREEMPT,
    .ageing = DLS_AGE_SERVICE,
    .init = init,
    .fini = dls_service_dist_fini,
    .clone = dls_service_dist_clone,
    .priority = priority,
};
