/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * tiresias: consolidate a job whose greatest tensor is more than skew_limit of its parameters; any
 * other gets whatever GPUs are free, leftovers first (Gu et al., "Tiresias", NSDI 2019, section
 * 4.3). The reason: a tensor is one message, so the server that holds a great one is a hot link. Of
 * the models measured there VGG and AlexNet have skews of 0.61 to 0.77, ResNet and Inception 0.04
 * to 0.14. A job whose model is unknown is consolidated. With `learn` the limit is found from first
 * runs of jobs as the simulation goes on (skew_limit.h).
 */
#include "dlsim/memory.h"
#include "placement/fit.h"
#include "placement/skew_limit.h"

#include <math.h>
#include <string.h>

enum { OPT_LIMIT, OPT_LEARN, OPT_LOSS };

static const dls_option options[] = {
    {"skew_limit", DLS_OPT_F64, 0, 1, "0.4", "",
     "consolidate models whose greatest tensor is more than this part of all parameters", NULL},
    {"learn", DLS_OPT_BOOL, 0, 1, "false", "", "find the limit from the jobs that ran", NULL},
    {"loss", DLS_OPT_F64, 0, 1, "0.1", "",
     "learn: a model suffers that loses more than this part of its speed when spread", NULL},
    {0},
};

/* The present run of a job. */
typedef struct run {
    int64_t start_us;
    double skew;
    int32_t type, gpus;
    bool watched, spread;
} run;

typedef struct tiresias {
    dls_skew_limit limit;
    bool learn;
    run *run; /* [n_runs] by job */
    size_t n_runs, cap;
} tiresias;

static dls_status init(void *state, const dls_place_index *index, const dls_option_value *values,
                       dls_error *err)
{
    tiresias *t = state;
    t->limit.limit = values[OPT_LIMIT].f;
    t->limit.loss = values[OPT_LOSS].f;
    t->learn = values[OPT_LEARN].b;
    return DLS_OK;
}

static void fini(void *state)
{
    tiresias *t = state;
    dls_skew_limit_fini(&t->limit);
    dls_free(t->run);
}

static dls_status clone(void *state, const void *from, const dls_place_index *index, dls_error *err)
{
    tiresias *t = state;
    return DLS_COPY_ALL(err, DLS_COPY(t->limit.cell, t->limit.n, t->limit.cap), DLS_COPY(t->run, t->n_runs, t->cap));
}

static bool place(void *state, const dls_place_index *index, const dls_request *r, dls_grant *grant)
{
    const tiresias *t = state;
    if (r->tensor_skew <= t->limit.limit) {
        return dls_fit_fragments(index, r, grant);
    }
    return dls_fit_consolidated(index, r, grant);
}

/* First runs only: later ones begin with a restore, during which no work is done. */
static void started(void *state, const dls_place_index *index, const dls_request *r,
                    const int32_t *nodes, const int32_t *gpus, size_t n)
{
    tiresias *t = state;
    const size_t job = (size_t)r->job;
    if (!t->learn || r->gpus < 2 || isnan(r->tensor_skew)) {
        return;
    }
    if (job >= t->n_runs) {
        if (dls_grow(&t->run, &t->cap, job + 1, sizeof *t->run, NULL) != DLS_OK) {
            return;
        }
        memset(t->run + t->n_runs, 0, (t->cap - t->n_runs) * sizeof *t->run);
        t->n_runs = t->cap;
    }
    t->run[job] = (run){.start_us = r->now_us,
                        .skew = r->tensor_skew,
                        .type = r->type,
                        .gpus = r->gpus,
                        .watched = r->attempt == 0,
                        .spread = n > (size_t)dls_fit_fewest_nodes(index, r)};
}

static void stopped(void *state, const dls_place_index *index, int32_t job, int64_t now_us,
                    int64_t worked_us)
{
    tiresias *t = state;
    run *ran = (size_t)job < t->n_runs ? &t->run[job] : NULL;
    if (ran && ran->watched && now_us > ran->start_us) {
        dls_skew_limit_observe(&t->limit, ran->skew, ran->type, ran->gpus, ran->spread,
                               (double)worked_us / (double)(now_us - ran->start_us));
    }
    if (ran) {
        ran->watched = false;
    }
}

const dls_placement_ops dls_placement_ops_tiresias = {
    .abi = DLS_POLICY_ABI,
    .name = "tiresias",
    .summary = "consolidate models with a dominating tensor, the others anywhere",
    .options = options,
    .state_bytes = sizeof(tiresias),
    .init = init,
    .fini = fini,
    .clone = clone,
    .place = place,
    .started = started,
    .stopped = stopped,
};
