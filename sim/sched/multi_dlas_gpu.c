/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * multi-dlas-gpu: dlas-gpu for every gang size apart. Each size has its own queues and its own share
 * of the cluster, divided anew every period in proportion to the GPUs that the jobs of the size
 * want; what proportion leaves goes round, a gang at a time. A share never falls below what is held.
 */
#include "sched/mlfq.h"

#include "dlsim/memory.h"

#include <stdlib.h>

enum { OPT_LIMITS, OPT_PERIOD };
static const dls_option options[] = {
    DLS_MLFQ_LIMITS(DLS_OPT_F64_LIST, "3600", "GPU-s"),
    {.name = "period",
     .type = DLS_OPT_TIME,
     .min = 1,
     .max = 1e9,
     .def = "600 s",
     .unit = "",
     .doc = "how often the cluster is divided among the gang sizes"},
    {0},
};

struct wish {
    int64_t demand;
    int32_t group;
};

struct multi {
    dls_mlfq queues;
    int64_t period_us;
    struct wish *wish; /* [gang sizes] scratch: groups whose jobs wait */
};

static dls_status make_room(struct multi *m, const dls_view *view, dls_error *err)
{
    int32_t n_sizes = 0; /* at most */
    for (int32_t j = 0; j < view->n_jobs; j++) {
        n_sizes = view->gpus[j] > n_sizes ? view->gpus[j] : n_sizes;
    }
    n_sizes = n_sizes < view->n_jobs ? n_sizes : view->n_jobs;
    return dls_alloc_array(&m->wish, (size_t)n_sizes, sizeof *m->wish, "gang sizes", err);
}

static dls_status init(void *state, const dls_view *view, const dls_option_value *values,
                       dls_error *err)
{
    struct multi *m = state;
    DLS_TRY(make_room(m, view, err));
    m->period_us = (int64_t)(values[OPT_PERIOD].f * 1e6);
    return dls_mlfq_init(&m->queues, &values[OPT_LIMITS], 0, true, "multi-dlas-gpu", err);
}

static void fini(void *state)
{
    dls_free(((struct multi *)state)->wish);
}

static dls_status clone(void *state, const void *from, const dls_view *view, dls_error *err)
{
    return make_room(state, view, err);
}

static void priority(void *state, const dls_view *view, int32_t job, dls_job_event why,
                     dls_priority *out)
{
    struct multi *m = state;
    dls_mlfq_priority(&m->queues, view, job, why, dls_view_job_state(view, job), out);
}

DLS_BY(by_demand, struct wish, DLS_UP(demand), DLS_UP(group));

static void share(void *state, const dls_view *view, dls_groups *g)
{
    const struct multi *m = state;
    int64_t left = g->total_gpus, demand = 0;
    size_t n = 0;
    for (int32_t k = 0; k < g->n; k++) {
        demand += g->demand[k];
        left -= g->used[k];
        g->reserved[k] = g->used[k];
        if (g->demand[k] > g->used[k]) {
            m->wish[n++] = (struct wish){g->demand[k], k};
        }
    }
    qsort(m->wish, n, sizeof *m->wish, by_demand);
    g->next_us = view->now_us + m->period_us;
    for (size_t i = 0; i < n; i++) {
        const int32_t k = m->wish[i].group;
        const int64_t size = g->gpus[k];
        /* The product first: a share that is a whole number is not cut to one less. */
        const double fair = (double)g->total_gpus * (double)g->demand[k] / (double)demand;
        int64_t want = (int64_t)fair / size * size;
        want = want < g->demand[k] ? want : g->demand[k];
        int64_t more = want - g->used[k];
        more = (more < left ? more : left) / size * size;
        if (more > 0) {
            g->reserved[k] += more;
            left -= more;
        }
    }
    for (bool given = true; given;) {
        given = false;
        for (int32_t k = 0; k < g->n; k++) {
            if (g->gpus[k] <= left && g->reserved[k] < g->demand[k]) {
                g->reserved[k] += g->gpus[k];
                left -= g->gpus[k];
                given = true;
            }
        }
    }
}

const dls_sched_ops dls_sched_ops_multi_dlas_gpu = {
    .abi = DLS_POLICY_ABI,
    .name = "multi-dlas-gpu",
    .summary = "dlas-gpu for every gang size apart, on shares in proportion to demand",
    .options = options,
    .state_bytes = sizeof(struct multi),
    .job_state_bytes = sizeof(dls_mlfq_job),
    .discipline = DLS_PREEMPT,
    .init = init,
    .fini = fini,
    .clone = clone,
    .priority = priority,
    .share = share,
};
