/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * gittins: Tiresias-G, discretised two-dimensional Gittins index (NSDI 2019, section 3). Queues as
 * in dlas-gpu; within a queue the highest index first. The index of a job is taken from the
 * distribution of the service of past jobs, with the quantum `delta` in every queue, as in the public
 * simulator. With `delta` 0 the quantum is the queue's upper threshold, and the last queue, which has
 * none, is first come, first served: where jobs wait only there, that is dlas-gpu.
 *
 * The index moves while a job runs. It is taken at knots: 8 to a bounded queue, 64 quantiles beyond.
 */
#include "dlsim/memory.h"
#include "sched/mlfq.h"
#include "sched/service_dist.h"

enum { OPT_LIMITS, OPT_KNOB, OPT_SAMPLES, OPT_DELTA };
static const dls_option options[] = {
    DLS_MLFQ_LIMITS(DLS_OPT_F64_LIST, "3250,7200", "GPU-s"),
    DLS_MLFQ_KNOB,
    DLS_SERVICE_SAMPLES,
    {.name = "delta",
     .type = DLS_OPT_F64,
     .min = 0,
     .max = 1e12,
     .def = "3250",
     .unit = "GPU-s",
     .doc = "quantum of the index in every queue; 0: each queue's upper threshold, and the last "
            "queue first come, first served"},
    {0},
};

#define STEPS 8
#define TAIL 64
#define MAX_KNOTS ((DLS_OPT_LIST_MAX + 1) * STEPS + TAIL)

struct gittins {
    dls_service_dist dist; /* first: dls_service_dist_fini */
    dls_mlfq queues;
    int64_t knot_us[MAX_KNOTS]; /* ascending attained service */
    int64_t key[MAX_KNOTS];     /* minus the index, scaled */
    int32_t n_knots;
};

static void add_knot(struct gittins *g, int64_t at_us, double delta_s)
{
    if (g->n_knots == MAX_KNOTS || (g->n_knots > 0 && g->knot_us[g->n_knots - 1] >= at_us)) {
        return;
    }
    const double index = delta_s > 0 ? dls_service_gittins(&g->dist, (double)at_us / 1e6, delta_s)
                                     : 0;
    g->knot_us[g->n_knots] = at_us;
    g->key[g->n_knots++] = index < 9e6 ? -(int64_t)(index * 1e12) : -INT64_C(9000000000000000000);
}

static dls_status init(void *state, const dls_view *view, const dls_option_value *values,
                       dls_error *err)
{
    struct gittins *g = state;
    const double delta_s = values[OPT_DELTA].f;
    DLS_TRY(dls_mlfq_init(&g->queues, &values[OPT_LIMITS], values[OPT_KNOB].f, true, "gittins",
                          err));
    DLS_TRY(dls_service_dist_load(&g->dist, view, values[OPT_SAMPLES].s, err));
    int64_t low_us = 0;
    for (int32_t q = 0; q < g->queues.n_limits; q++) {
        const int64_t high_us = g->queues.limit_us[q];
        for (int32_t i = 0; i < STEPS; i++) {
            add_knot(g, low_us + (high_us - low_us) * i / STEPS,
                     delta_s > 0 ? delta_s : (double)high_us / 1e6);
        }
        low_us = high_us;
    }
    add_knot(g, low_us, delta_s);
    for (int32_t i = 0; i < TAIL && delta_s > 0; i++) {
        const double at_s = dls_service_quantile(&g->dist, (double)i / TAIL);
        if (at_s < 9e12) {
            add_knot(g, (int64_t)(at_s * 1e6), delta_s);
        }
    }
    return DLS_OK;
}

static void priority(void *state, const dls_view *view, int32_t job, dls_job_event why,
                     dls_priority *out)
{
    struct gittins *g = state;
    const int64_t attained_us =
        dls_mlfq_priority(&g->queues, view, job, why, dls_view_job_state(view, job), out);
    int32_t lo;
    DLS_BISECT(lo, g->n_knots - 1, g->knot_us[lo + 1] <= attained_us);
    out->tie = out->key; /* equal indices: the order of the queue */
    out->key = g->key[lo];
    if (view->running[job] && lo + 1 < g->n_knots) {
        out->valid_until_us =
            view->now_us +
            (g->knot_us[lo + 1] - attained_us + view->gpus[job] - 1) / view->gpus[job];
    }
}

const dls_sched_ops dls_sched_ops_gittins = {
    .abi = DLS_POLICY_ABI,
    .name = "gittins",
    .summary = "highest Gittins index of attained service first, in queues: Tiresias-G",
    .options = options,
    .state_bytes = sizeof(struct gittins),
    .job_state_bytes = sizeof(dls_mlfq_job),
    .discipline = DLS_PREEMPT,
    .init = init,
    .fini = dls_service_dist_fini,
    .clone = dls_service_dist_clone,
    .priority = priority,
};
