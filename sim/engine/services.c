/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Inference services beside training: lend and reclaim.
 *
 * A GPU that a service needs is withheld from the index as one that has failed is (failures.c); the
 * others of its own are there for jobs. When it needs more it takes idle ones of its own; then, one
 * job after the other, those whose preemption costs the fewest GPUs for each that it gains, of
 * equal ones the one that started last. Such a job keeps its work and waits.
 */
#include "base/assert.h"
#include "engine/engine.h"

static const dls_service *service_of(const dls_engine *e, int32_t k)
{
    return &e->params->services->service[k];
}

/* The n highest of some GPUs, or all. */
static uint64_t highest(uint64_t gpus, int32_t n)
{
    uint64_t out = 0;
    for (; n > 0 && gpus; n--) {
        const uint64_t bit = UINT64_C(1) << (63 - __builtin_clzll(gpus));
        out |= bit;
        gpus &= ~bit;
    }
    return out;
}

static dls_status set_mask(dls_engine *e, int32_t node, uint64_t mask, dls_error *err)
{
    if (mask == e->serving.mask[node]) {
        return DLS_OK;
    }
    e->serving.in_use += __builtin_popcountll(mask) - __builtin_popcountll(e->serving.mask[node]);
    e->serving.mask[node] = mask;
    return dls_failures_withhold(e, node, err);
}

/* ---- reclaiming ------------------------------------------------------------------------------ */

static dls_status take_idle(dls_engine *e, int32_t k, int32_t wants, dls_error *err)
{
    dls_service_now *at = &e->serving.at[k];
    for (int32_t node = at->high; node >= at->low && at->has < wants; node--) {
        if (e->serving.owner[node] == k) {
            const uint64_t idle = e->index->node[node].free_mask & e->serving.own[node];
            const uint64_t taken = highest(idle, wants - at->has);
            DLS_TRY(set_mask(e, node, e->serving.mask[node] | taken, err));
            at->has += __builtin_popcountll(taken);
        }
    }
    return DLS_OK;
}

/* Does preempting job a cost less than b for the GPUs that are wanted? */
static bool cheaper(const dls_engine *e, int32_t a, int32_t b, int32_t wants)
{
    const int32_t *stake = e->serving.stake;
    const int64_t gain_a = stake[a] < wants ? stake[a] : wants;
    const int64_t gain_b = stake[b] < wants ? stake[b] : wants;
    const int64_t cost_a = e->select.size[a] * gain_b, cost_b = e->select.size[b] * gain_a;
    if (cost_a != cost_b) {
        return cost_a < cost_b;
    }
    return e->jobs.state_since_us[a] != e->jobs.state_since_us[b]
               ? e->jobs.state_since_us[a] > e->jobs.state_since_us[b]
               : a > b;
}

/* The job to preempt; DLS_NONE: none holds a GPU of the service. */
static int32_t find_victim(dls_engine *e, int32_t k, int32_t wants)
{
    const dls_service_now *at = &e->serving.at[k];
    int32_t best = DLS_NONE;
    for (int32_t turn = 0; turn < 3; turn++) { /* add up, compare, clear */
        for (int32_t node = at->low; node <= at->high; node++) {
            int32_t p = e->serving.owner[node] == k ? e->failures.on_node[node] : DLS_NONE;
            for (; p != DLS_NONE; p = e->failures.link[p].next) {
                const int32_t job = e->failures.link[p].job;
                int32_t *stake = &e->serving.stake[job];
                if (dls_is_guest(e, job)) {
                    continue; /* goes with its host */
                }
                if (turn == 0) {
                    *stake += __builtin_popcountll(e->hold.part[p].mask & e->serving.own[node]);
                } else if (turn == 1) {
                    best = *stake > 0 && (best == DLS_NONE || cheaper(e, job, best, wants)) ? job
                                                                                            : best;
                } else {
                    *stake = 0;
                }
            }
        }
    }
    return best;
}

static dls_status reclaim(dls_engine *e, int32_t k, int32_t wants, dls_error *err)
{
    const dls_service_now *at = &e->serving.at[k];
    DLS_TRY(take_idle(e, k, wants, err));
    while (at->has < wants) {
        const int32_t job = find_victim(e, k, wants - at->has);
        if (job == DLS_NONE) {
            return DLS_OK; /* the rest has failed */
        }
        e->rec->services.preemptions++;
        DLS_TRY(dls_failures_stop(e, job, false, err));
        if (e->rounds.on) {
            DLS_TRY(dls_round_wanted(e, false, err));
        }
        DLS_TRY(take_idle(e, k, wants, err));
    }
    return DLS_OK;
}

static dls_status lend(dls_engine *e, int32_t k, int32_t wants, dls_error *err)
{
    dls_service_now *at = &e->serving.at[k];
    for (int32_t node = at->low; node <= at->high && at->has > wants; node++) {
        if (e->serving.owner[node] == k) {
            const int32_t n = __builtin_popcountll(e->serving.mask[node]);
            const int32_t less = at->has - wants < n ? at->has - wants : n;
            DLS_TRY(set_mask(e, node, highest(e->serving.mask[node], n - less), err));
            at->has -= less;
        }
    }
    return DLS_OK;
}

/* ---- in time --------------------------------------------------------------------------------- */

static dls_status serve(dls_engine *e, int32_t k, int32_t wants, dls_error *err)
{
    dls_service_now *at = &e->serving.at[k];
    const int64_t now_us = e->clock.now_us, start_us = service_of(e, k)->start_us;
    int32_t served = now_us >= at->ready_us ? at->has : at->serves;
    at->has = 0;
    for (int32_t node = at->low; node <= at->high; node++) {
        if (e->serving.owner[node] == k) {
            DLS_TRY(set_mask(e, node, e->serving.mask[node] & ~dls_failures_down(e, node), err));
            at->has += __builtin_popcountll(e->serving.mask[node]);
        }
    }
    const int32_t had = at->has;
    served = served < had ? served : had;
    DLS_TRY(had < wants ? reclaim(e, k, wants, err) : lend(e, k, wants, err));
    if (at->has > had && now_us > e->failures.origin_us) {
        at->ready_us = now_us + start_us;
    }
    at->serves = served < at->has ? served : at->has;
    at->keeps =
        dls_service_keeps(service_of(e, k), now_us, now_us >= at->ready_us ? at->has : at->serves);
    return DLS_OK;
}

dls_status dls_services_turn(dls_engine *e, dls_error *err)
{
    const dls_services *all = e->params->services;
    for (int32_t k = 0; k < all->n; k++) {
        const dls_service *s = &all->service[k];
        const int64_t now_us = e->clock.now_us;
        DLS_TRY(serve(
            e, k, all->lend ? dls_service_need(s, now_us, all->ahead_us) : (int32_t)s->gpus, err));
        const int64_t next_us = dls_service_next_us(s, now_us, all->ahead_us);
        const int64_t ready_us = e->serving.at[k].ready_us;
        DLS_TRY(dls_failures_wake_service(
            e, k, ready_us > now_us && ready_us < next_us ? ready_us : next_us, err));
    }
    return DLS_OK;
}

static dls_status lay_out(dls_engine *e, int32_t k, dls_error *err)
{
    const dls_service *s = service_of(e, k);
    const int64_t spares = e->params->failures ? e->params->failures->spares : 0;
    dls_service_now *at = &e->serving.at[k];
    int64_t left = s->gpus;
    at->high = -1;
    for (int32_t node = e->index->n_nodes - 1 - (int32_t)spares; node >= 0 && left > 0; node--) {
        const dls_node *n = &e->index->node[node];
        if (n->type == s->type && e->serving.owner[node] < 0) {
            e->serving.owner[node] = (int8_t)k;
            e->serving.own[node] = highest(dls_node_gpus(n), left < 64 ? (int32_t)left : 64);
            left -= __builtin_popcountll(e->serving.own[node]);
            at->high = at->high < 0 ? node : at->high;
            at->low = node;
        }
    }
    if (left > 0) {
        return dls_fail(err, DLS_ECONFIG, s->name,
                        "is to have %lld GPUs of type \"%s\" on nodes of its own: %lld are missing",
                        (long long)s->gpus, e->params->cluster->types[s->type].name,
                        (long long)left);
    }
    return DLS_OK;
}

dls_status dls_services_init(dls_engine *e, dls_error *err)
{
    dls_serving *v = &e->serving;
    const dls_services *all = e->params->services;
    if (!v->on) {
        return DLS_OK;
    }
    for (int32_t node = 0; node < e->index->n_nodes; node++) {
        v->owner[node] = -1;
    }
    for (int32_t k = 0; k < all->n; k++) {
        const dls_service *s = &all->service[k];
        DLS_TRY(lay_out(e, k, err));
        v->least[s->type] += all->lend ? dls_service_least(s) : s->gpus;
        e->rec->services.own_gpus += s->gpus;
    }
    for (int32_t k = 0; k < all->n; k++) {
        const dls_service *s = &all->service[k];
        DLS_TRY(serve(e, k, all->lend ? dls_service_least(s) : (int32_t)s->gpus, err));
        DLS_TRY(dls_failures_wake_service(e, k, e->failures.origin_us, err));
    }
    e->rec->services.n = all->n;
    v->since_us = e->failures.origin_us;
    return DLS_OK;
}

/* ---- accounts -------------------------------------------------------------------------------- */

void dls_services_account(dls_engine *e)
{
    dls_serving *v = &e->serving;
    dls_service_sums *sums = &e->rec->services;
    const int64_t us = e->clock.now_us - v->since_us;
    if (us <= 0) {
        return;
    }
    v->since_us = e->clock.now_us;
    sums->span_us += us;
    sums->used_us += v->in_use * us;
    sums->lent_us += v->lent * us;
    sums->least_kept_us = INT64_MAX;
    for (int32_t k = 0; k < sums->n; k++) {
        int64_t *kept_us = &v->at[k].kept_us;
        *kept_us += v->at[k].keeps ? us : 0;
        sums->kept_us += v->at[k].keeps ? us : 0;
        sums->least_kept_us = *kept_us < sums->least_kept_us ? *kept_us : sums->least_kept_us;
    }
}

void dls_services_count(dls_engine *e)
{
    dls_serving *v = &e->serving;
    v->lent = 0;
    for (int32_t k = 0; k < e->rec->services.n; k++) {
        for (int32_t node = v->at[k].low; node <= v->at[k].high; node++) {
            if (v->owner[node] == k) {
                v->lent += __builtin_popcountll(v->own[node] & ~e->index->node[node].free_mask &
                                                ~e->failures.withheld[node]);
            }
        }
    }
}
