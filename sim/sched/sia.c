/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * sia: every round each job gets one of its configurations, or none, so that the sum of powers of
 * their goodputs, each over the job's least, is best (Jayaram Subramanya et al., SOSP 2023). Rigid
 * jobs have one size. The cheapest choice is found exactly (sched/choice.h), without the rounding
 * of costs that leaves the authors' program with many optima.
 */
#include "sched/offers.h"

#include <math.h>

enum { OPT_INTERVAL, OPT_POWER, OPT_LAMBDA, OPT_RESTART, OPT_GAP };

static const dls_option options[] = {
    [OPT_INTERVAL] = {"interval", DLS_OPT_TIME, 1, 1e7, "60 s", "", "time between two rounds",
                      NULL},
    [OPT_POWER] = {"power", DLS_OPT_F64, -10, 10, "-0.5", "",
                   "of goodputs: fairness below 0, throughput above; not 0", NULL},
    [OPT_LAMBDA] = {"lambda", DLS_OPT_F64, 0, 1e6, "1.1", "",
                    "what a job without GPUs costs, when one on its least configuration costs 1",
                    NULL},
    [OPT_RESTART] = {"restart", DLS_OPT_TIME, 0, 1e7, "30 s", "",
                     "what a restart is taken to cost a job", NULL},
    [OPT_GAP] = {"gap", DLS_OPT_F64, 0, 0.1, "1e-4", "",
                 "relative distance from the best choice that will do", NULL},
    {0},
};

struct sia {
    dls_allot allot;
    double power, lambda, restart_s, gap;
};

static dls_status init(void *state, const dls_view *view, const dls_option_value *values,
                       dls_error *err)
{
    *(struct sia *)state =
        (struct sia){.allot = {.ledger = {.interval_us = llround(values[OPT_INTERVAL].f * 1e6)}},
                     .power = values[OPT_POWER].f,
                     .lambda = values[OPT_LAMBDA].f,
                     .restart_s = values[OPT_RESTART].f,
                     .gap = values[OPT_GAP].f};
    return values[OPT_POWER].f != 0
               ? DLS_OK
               : dls_fail(err, DLS_ECONFIG, "sia", "power = 0 makes all configurations equal");
}

static void cost(const void *policy, const dls_view *view, int32_t job, dls_offer *offer, int32_t n,
                 double *none)
{
    const struct sia *s = policy;
    const double factor = dls_restart_factor(view, job, s->restart_s);
    double least = (double)INFINITY;
    for (int32_t i = 0; i < n; i++) {
        least = fmin(least, offer[i].goodput);
    }
    for (int32_t i = 0; i < n; i++) {
        const double value = offer[i].goodput / least * (offer[i].present ? 1 : factor);
        const double power = fmin(pow(value, s->power), 3000);
        /* Of equals what is there, then the earlier offer. */
        offer[i].cost = (s->power < 0 ? power : -power) + (offer[i].present ? 0 : 1e-9 * (i + 1));
    }
    *none = s->power < 0 ? s->lambda : 0;
}

static dls_status round_(void *state, const dls_view *view, dls_plan *plan, dls_error *err)
{
    struct sia *s = state;
    return dls_allot_round(&s->allot, view, false, s->gap, cost, s, plan, err);
}

const dls_sched_ops dls_sched_ops_sia = {
    .abi = DLS_POLICY_ABI,
    .name = "sia",
    .summary = "goodput of all jobs over GPU types and numbers, by an integer programme",
    .options = options,
    .state_bytes = sizeof(struct sia),
    .init = init,
    .fini = dls_allot_fini,
    .clone = dls_allot_clone,
    .round = round_,
    .timing = dls_ledger_timing,
};
