/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * driple-net: as `driple`, but a gang on several nodes is placed by how its network bursts fit into
 * the pauses of the jobs that it will share links with (CASSINI's compatibility score, cassini.h):
 * of the ways to place it now, that with the least predicted remaining time divided by the score.
 * The time shift that the score assumes is asked for with the grant.
 */
#include "placement/choose.h"
#include "placement/fit.h"

#include <math.h>

#define RACKS 4    /* that are tried */
#define WORST 0.01 /* a score below counts as this */

static const dls_option options[] = {DLS_CHOOSE_WAIT_ROWS, {0}};

static dls_status init(void *state, const dls_place_index *index, const dls_option_value *values,
                       dls_error *err)
{
    return dls_choose_init(state, index, values, err);
}

/* One way to place the gang. */
typedef struct way {
    int32_t way; /* of dls_choose_fill */
    int32_t n_nodes;
    double predicted_s; /* remaining time over score */
    double shift_s;
} way;

static void consider(dls_choose *c, const dls_place_index *index, const dls_request *r, int32_t how,
                     way *best)
{
    dls_cassini_link links[DLS_CASSINI_LINKS];
    dls_prediction f;
    dls_shape shape;
    if (!dls_choose_fill(index, r, how, c->trial) || !dls_grant_shape(c->trial, index, &shape) ||
        !dls_place_predict(r, r->job, &shape, &f) || !(f.remaining_s < best->predicted_s)) {
        return; /* a score of 1 would not make it the best */
    }
    const dls_pulse mine = dls_pulse_of(&f);
    double score = 1, shift_s = (double)NAN;
    if (mine.period_s > 0 && shape.n_nodes > 1) {
        const size_t n = dls_traffic_links(&c->traffic, index, c->trial, &shape, links);
        const double above = f.remaining_s / best->predicted_s; /* or it is not the best */
        score = fmax(
            WORST, dls_cassini_score(links, n, &mine, above < WORST ? -HUGE_VAL : above, &shift_s));
    }
    if (f.remaining_s / score < best->predicted_s) {
        *best = (way){how, shape.n_nodes, f.remaining_s / score, shift_s};
    }
}

/* No way is possible: predicted_s stays INFINITY. The racks tried are those with most nodes of some
 * number of free GPUs. */
static way choose(dls_choose *c, const dls_place_index *index, const dls_request *r)
{
    way best = {
        .way = DLS_WAY_CONSOLIDATED, .predicted_s = (double)INFINITY, .shift_s = (double)NAN};
    consider(c, index, r, DLS_WAY_CONSOLIDATED, &best);
    if (!(best.predicted_s < (double)INFINITY) || best.n_nodes < 2) {
        return best;
    }
    int32_t last = -1, tried = 0;
    for (int32_t f = dls_place_max_gpus(index, r->type); f >= 1 && tried < RACKS; f--) {
        int32_t nodes;
        const int32_t rack = dls_place_fullest_rack(index, r->type, f, &nodes);
        if (rack >= 0 && rack != last) {
            consider(c, index, r, rack, &best);
            last = rack;
            tried++;
        }
    }
    consider(c, index, r, DLS_WAY_LEFTOVERS, &best);
    return best;
}

static bool place(void *state, const dls_place_index *index, const dls_request *r, dls_grant *grant)
{
    dls_choose *c = state;
    if (r->gpus < 2) {
        return dls_choose_place(c, index, r, grant);
    }
    const way best = choose(c, index, r);
    if (!(best.predicted_s < (double)INFINITY)) { /* does not fit, or nothing is known of the job */
        return dls_fit_consolidated(index, r, grant);
    }
    if (dls_choose_wait(c, index, r, best.predicted_s) ||
        !dls_choose_fill(index, r, best.way, grant)) {
        return false;
    }
    dls_traffic_set_shift(&c->traffic, r->job, best.shift_s);
    if (!isnan(best.shift_s)) {
        dls_grant_shift(grant, best.shift_s);
    }
    return true;
}

/* By the same choice, so that a start that is not refused here is not refused by place. */
static double cost(void *state, const dls_place_index *index, const dls_request *r)
{
    dls_choose *c = state;
    const way best = r->gpus < 2 || !r->predictor ? (way){.predicted_s = (double)INFINITY}
                                                  : choose(c, index, r);
    if (!(best.predicted_s < (double)INFINITY)) {
        return dls_choose_cost(c, index, r);
    }
    return dls_choose_wait(c, index, r, best.predicted_s) ? (double)INFINITY : best.predicted_s;
}

const dls_placement_ops dls_placement_ops_driple_net = {
    .abi = DLS_POLICY_ABI,
    .name = "driple-net",
    .summary = "driple, with network bursts placed and shifted into each other's pauses",
    .options = options,
    .needs_prediction = true,
    .state_bytes = sizeof(dls_choose),
    .init = init,
    .fini = dls_choose_fini,
    .clone = dls_choose_clone,
    .place = place,
    .cost = cost,
    .started = dls_traffic_started,
    .stopped = dls_traffic_stopped,
};
