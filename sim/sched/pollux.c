/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * pollux: every round the numbers of GPUs whose speed-ups over a fair share have the greatest
 * harmonic mean (Qiao et al., OSDI 2021). Their search at random is replaced by the exact choice
 * (sched/choice.h): the mean is a sum over jobs. The fair share is spread over as many nodes as it
 * needs.
 */
#include "sched/offers.h"

#include <math.h>

enum { OPT_INTERVAL, OPT_RESTART, OPT_GAP };

static const dls_option options[] = {
    [OPT_INTERVAL] = {"interval", DLS_OPT_TIME, 1, 1e7, "60 s", "", "time between two rounds",
                      NULL},
    [OPT_RESTART] = {"restart", DLS_OPT_TIME, 0, 1e7, "30 s", "",
                     "what a restart is taken to cost a job", NULL},
    [OPT_GAP] = {"gap", DLS_OPT_F64, 0, 0.1, "1e-4", "",
                 "relative distance from the best choice that will do", NULL},
    {0},
};

struct pollux {
    dls_allot allot;
    double restart_s, gap;
    double nodes_per_gpu;
    int64_t fair; /* GPUs of a fair share */
};

static dls_status init(void *state, const dls_view *view, const dls_option_value *values,
                       dls_error *err)
{
    *(struct pollux *)state =
        (struct pollux){.allot = {.ledger = {.interval_us = llround(values[OPT_INTERVAL].f * 1e6)}},
                        .restart_s = values[OPT_RESTART].f,
                        .gap = values[OPT_GAP].f,
                        .nodes_per_gpu = (double)dls_place_nodes(dls_view_index(view)) /
                                         fmax((double)view->total_gpus, 1)};
    return DLS_OK;
}

/* The goodput of a fair share, on the type on which that is best: of the offers around it. */
static double fair_goodput(const dls_offer *offer, int32_t n, int64_t fair)
{
    double best = 0;
    for (int32_t i = 0; i < n; i++) {
        const bool last = i + 1 == n || offer[i + 1].type != offer[i].type;
        const bool first = i == 0 || offer[i - 1].type != offer[i].type;
        double goodput = 0;
        if (offer[i].gpus >= fair) {
            /* Below the least a share counts as that part of it. */
            goodput = first ? offer[i].goodput * (double)fair / offer[i].gpus : 0;
            goodput = offer[i].gpus == fair ? offer[i].goodput : goodput;
        } else if (last) {
            goodput = offer[i].goodput;
        } else if (offer[i + 1].gpus > fair) {
            const double part =
                (double)(fair - offer[i].gpus) / (offer[i + 1].gpus - offer[i].gpus);
            goodput = offer[i].goodput + part * (offer[i + 1].goodput - offer[i].goodput);
        }
        best = fmax(best, goodput);
    }
    return best;
}

static void cost(const void *policy, const dls_view *view, int32_t job, dls_offer *offer, int32_t n,
                 double *none)
{
    const struct pollux *s = policy;
    const double factor = dls_restart_factor(view, job, s->restart_s);
    const double fair = fair_goodput(offer, n, s->fair);
    *none = 1 / 1e-3; /* as published, so that the mean is not 0 with a job that waits */
    for (int32_t i = 0; i < n; i++) {
        const double speedup = offer[i].goodput / fair * (offer[i].present ? 1 : factor);
        offer[i].cost =
            1 / (speedup * s->nodes_per_gpu + 1e-3) + (offer[i].present ? 0 : 1e-9 * (i + 1));
    }
}

static dls_status round_(void *state, const dls_view *view, dls_plan *plan, dls_error *err)
{
    struct pollux *s = state;
    const int64_t jobs = view->running_jobs + view->waiting_jobs;
    s->fair = jobs > 0 ? (view->total_gpus + jobs - 1) / jobs : 1;
    return dls_allot_round(&s->allot, view, true, s->gap, cost, s, plan, err);
}

const dls_sched_ops dls_sched_ops_pollux = {
    .abi = DLS_POLICY_ABI,
    .name = "pollux",
    .summary = "the greatest harmonic mean of the jobs' speed-ups over a fair share",
    .options = options,
    .state_bytes = sizeof(struct pollux),
    .init = init,
    .fini = dls_allot_fini,
    .clone = dls_allot_clone,
    .round = round_,
    .timing = dls_ledger_timing,
};
