/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Inference services beside training: lend and reclaim.
 *
 * A GPU that a service needs is withheld from the index as one that has failed is (failures.c); the
 * others of its own are there for jobs. When it needs more it takes idle ones of its own; then
 * elastic jobs give it some of theirs, those first that can give most; then it preempts, one job
 * after the other, those whose preemption costs the fewest GPUs for each that it gains, of equal
 * ones the one that started last. Such a job keeps its work and waits.
 *
 * A service that takes parts of GPUs has them beside jobs that do, as if it were a job for each.
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

/* A service that takes parts of GPUs gets a piece of one, for which there is room, or gives it
 * back. */
static void move_piece(dls_engine *e, int32_t k, int32_t node, int32_t gpu, bool gets)
{
    const dls_service *s = service_of(e, k);
    const dls_part part = {.job = e->n + k, .node = node, .gpu = gpu, .milli = s->milli};
    uint8_t *here = &e->serving.pieces[e->failures.first_gpu[node] + gpu];
    const int32_t milli = gets ? s->milli : -s->milli;
    *here = (uint8_t)(gets ? *here + 1 : *here - 1);
    e->serving.part[s->type] += milli;
    e->serving.part_milli += milli;
    if (gets) {
        const bool fits = dls_parts_take(e->index, &part);
        DLS_ASSERT(fits);
    } else {
        dls_parts_give(e->index, &part);
        e->select.releases++;
    }
    dls_failures_divide(e, s->type);
}

static bool takes_parts(const dls_engine *e, int32_t k)
{
    return e->index->parts && service_of(e, k)->milli < DLS_GPU_MILLI;
}

void dls_services_yield(dls_engine *e, int32_t node, uint64_t gpus)
{
    for (; gpus && e->serving.on; gpus &= gpus - 1) {
        const int32_t gpu = __builtin_ctzll(gpus);
        while (e->serving.pieces[e->failures.first_gpu[node] + gpu] > 0) {
            move_piece(e, e->serving.owner[node], node, gpu, false);
        }
    }
}

/* Pieces of a service on a node. */
static int32_t pieces_on(const dls_engine *e, int32_t k, int32_t node)
{
    int32_t n = __builtin_popcountll(e->serving.mask[node]);
    for (int32_t g = e->failures.first_gpu[node];
         takes_parts(e, k) && g < e->failures.first_gpu[node + 1]; g++) {
        n += e->serving.pieces[g];
    }
    return n;
}

/* ---- reclaiming ------------------------------------------------------------------------------ */

/* As many pieces of a node as are wanted and free, from its highest GPU on. */
static void take_parts(dls_engine *e, int32_t k, int32_t node, int32_t wants)
{
    dls_service_now *at = &e->serving.at[k];
    for (uint64_t own = e->serving.own[node]; own && at->has < wants;) {
        const int32_t gpu = 63 - __builtin_clzll(own);
        own &= ~(UINT64_C(1) << gpu);
        while (at->has < wants &&
               dls_place_gpu_left(e->index, node, gpu) >= service_of(e, k)->milli) {
            move_piece(e, k, node, gpu, true);
            at->has++;
        }
    }
}

static dls_status take_idle(dls_engine *e, int32_t k, int32_t wants, dls_error *err)
{
    dls_service_now *at = &e->serving.at[k];
    for (int32_t node = at->high; node >= at->low && at->has < wants; node--) {
        if (e->serving.owner[node] == k && takes_parts(e, k)) {
            take_parts(e, k, node, wants);
        } else if (e->serving.owner[node] == k) {
            const uint64_t idle = e->index->node[node].free_mask & e->serving.own[node];
            const uint64_t taken = highest(idle, wants - at->has);
            DLS_TRY(set_mask(e, node, e->serving.mask[node] | taken, err));
            at->has += __builtin_popcountll(taken);
        }
    }
    return DLS_OK;
}

static int32_t milli_of(const dls_engine *e, int32_t job)
{
    const int32_t part = dls_part_of(e, job);
    return part > 0 ? part : DLS_GPU_MILLI;
}

/* GPUs of a service that an elastic job, which holds `stake` thousandths of them, can do without.
 */
static int32_t can_give(const dls_engine *e, int32_t job, int32_t stake)
{
    const int32_t more = e->walk.on ? e->select.size[job] - e->view.min_gpus[job] : 0;
    return more < stake / DLS_GPU_MILLI ? more : stake / DLS_GPU_MILLI;
}

/* What is wanted of whom: so many thousandths, of the GPUs `only` of a node, or of all. */
typedef struct claim {
    int32_t service, node;
    uint64_t only;
    int64_t milli;
    bool shrinks; /* of elastic jobs, which go on */
} claim;

/* Does taking from job a cost less than from b? Shrinking: that which gives more. */
static bool cheaper(const dls_engine *e, int32_t a, int32_t b, const claim *c)
{
    const int32_t *stake = e->serving.stake;
    if (c->shrinks && can_give(e, a, stake[a]) != can_give(e, b, stake[b])) {
        return can_give(e, a, stake[a]) > can_give(e, b, stake[b]);
    }
    const int64_t gain_a = stake[a] < c->milli ? stake[a] : c->milli;
    const int64_t gain_b = stake[b] < c->milli ? stake[b] : c->milli;
    const int64_t cost_a = (int64_t)e->select.size[a] * milli_of(e, a) * gain_b;
    const int64_t cost_b = (int64_t)e->select.size[b] * milli_of(e, b) * gain_a;
    if (cost_a != cost_b && !c->shrinks) {
        return cost_a < cost_b;
    }
    return e->jobs.state_since_us[a] != e->jobs.state_since_us[b]
               ? e->jobs.state_since_us[a] > e->jobs.state_since_us[b]
               : a > b;
}

/* The job to take from; DLS_NONE: none holds a GPU of the service, or none can shrink. */
static int32_t find_victim(dls_engine *e, const claim *c)
{
    const dls_service_now *at = &e->serving.at[c->service];
    int32_t best = DLS_NONE;
    for (int32_t turn = 0; turn < 3; turn++) { /* add up, compare, clear */
        for (int32_t node = at->low; node <= at->high; node++) {
            const bool here = c->node == DLS_NONE || c->node == node;
            int32_t p =
                here && e->serving.owner[node] == c->service ? e->failures.on_node[node] : DLS_NONE;
            for (; p != DLS_NONE; p = e->failures.link[p].next) {
                const int32_t job = e->failures.link[p].job;
                int32_t *stake = &e->serving.stake[job];
                if (dls_is_guest(e, job)) {
                    continue; /* goes with its host */
                }
                if (turn == 0) {
                    *stake +=
                        milli_of(e, job) *
                        __builtin_popcountll(e->hold.part[p].mask & e->serving.own[node] & c->only);
                } else if (turn == 1) {
                    const bool may = c->shrinks ? can_give(e, job, *stake) > 0 : *stake > 0;
                    best = may && (best == DLS_NONE || cheaper(e, job, best, c)) ? job : best;
                } else {
                    *stake = 0;
                }
            }
        }
    }
    return best;
}

/* An elastic job gives up at most so many GPUs of a service and goes on with the others. */
static dls_status shrink(dls_engine *e, int32_t k, int32_t job, int64_t gpus, dls_error *err)
{
    int32_t left = e->select.size[job] - e->view.min_gpus[job], parts = -1;
    left = left < gpus ? left : (int32_t)gpus;
    int32_t keeps = e->select.size[job];
    for (int32_t p = e->job[job].parts, next; p >= 0; p = next) {
        const int32_t node = e->hold.part[p].node;
        const uint64_t mask = e->hold.part[p].mask;
        const uint64_t own = e->serving.owner[node] == k ? mask & e->serving.own[node] : 0;
        const uint64_t lost = highest(own, left);
        next = e->hold.part[p].next;
        left -= __builtin_popcountll(lost);
        keeps -= __builtin_popcountll(lost);
        if (mask != lost) {
            DLS_TRY(dls_new_part(e, node, mask & ~lost, parts, &parts, err));
        }
    }
    e->rec->services.shrinks++;
    return dls_shrink(e, job, keeps, parts, err);
}

/* Elastic jobs shrink; then jobs are preempted, one after the other, those with parts GPU by GPU.
 */
static dls_status reclaim(dls_engine *e, int32_t k, int32_t wants, dls_error *err)
{
    const dls_service *s = service_of(e, k);
    const dls_service_now *at = &e->serving.at[k];
    claim c = {.service = k, .node = DLS_NONE, .only = UINT64_MAX, .shrinks = true};
    DLS_TRY(take_idle(e, k, wants, err));
    while (at->has < wants) {
        c.milli = (int64_t)(wants - at->has) * (takes_parts(e, k) ? s->milli : DLS_GPU_MILLI);
        const int32_t job = find_victim(e, &c);
        if (job == DLS_NONE && !c.shrinks && c.node == DLS_NONE) {
            return DLS_OK; /* the rest has failed */
        }
        if (job == DLS_NONE) {
            c = (claim){.service = k, .node = DLS_NONE, .only = UINT64_MAX};
            continue;
        }
        if (c.shrinks) {
            const int32_t of_gpu = takes_parts(e, k) ? s->pieces : 1;
            DLS_TRY(shrink(e, k, job, (wants - at->has + of_gpu - 1) / of_gpu, err));
        } else {
            if (dls_part_of(e, job) > 0) {
                c.node = e->hold.part[e->job[job].parts].node;
                c.only = e->hold.part[e->job[job].parts].mask;
            }
            e->rec->services.preemptions++;
            DLS_TRY(dls_failures_stop(e, job, false, err));
        }
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
        if (e->serving.owner[node] != k) {
            continue;
        }
        const int32_t n = __builtin_popcountll(e->serving.mask[node]);
        const int32_t less = at->has - wants < n ? at->has - wants : n;
        DLS_TRY(set_mask(e, node, highest(e->serving.mask[node], n - less), err));
        at->has -= less;
        for (int32_t g = 0; takes_parts(e, k) && g < e->index->node[node].capacity; g++) {
            while (at->has > wants && e->serving.pieces[e->failures.first_gpu[node] + g] > 0) {
                move_piece(e, k, node, g, false);
                at->has--;
            }
        }
    }
    return DLS_OK;
}

/* ---- in time --------------------------------------------------------------------------------- */

static int32_t own_pieces(const dls_engine *e, int32_t k)
{
    const dls_service *s = service_of(e, k);
    return (int32_t)s->gpus * s->pieces;
}

static dls_status serve(dls_engine *e, int32_t k, int32_t wants, dls_error *err)
{
    dls_service_now *at = &e->serving.at[k];
    const int64_t now_us = e->clock.now_us, start_us = service_of(e, k)->start_us;
    int32_t served = now_us >= at->ready_us ? at->has : at->serves;
    at->has = 0;
    for (int32_t node = at->low; node <= at->high; node++) {
        if (e->serving.owner[node] == k) {
            DLS_TRY(set_mask(e, node, e->serving.mask[node] & ~dls_failures_down(e, node), err));
            at->has += pieces_on(e, k, node);
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
        const int32_t wants =
            all->lend ? dls_service_need(s, now_us, all->ahead_us) : own_pieces(e, k);
        DLS_TRY(serve(e, k, wants, err));
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
        v->least[s->type] += (int64_t)(all->lend ? dls_service_least(s) : own_pieces(e, k)) *
                             (takes_parts(e, k) ? s->milli : e->select.unit);
        e->rec->services.own_gpus += s->gpus;
    }
    for (int32_t k = 0; k < all->n; k++) {
        DLS_TRY(
            serve(e, k, all->lend ? dls_service_least(service_of(e, k)) : own_pieces(e, k), err));
        DLS_TRY(dls_failures_wake_service(e, k, e->failures.origin_us, err));
    }
    e->rec->services.n = all->n;
    v->since_us = e->failures.origin_us;
    return DLS_OK;
}

/* ---- accounts -------------------------------------------------------------------------------- */

static int64_t gpu_time(int64_t milli, int64_t us)
{
    return milli / DLS_GPU_MILLI * us + milli % DLS_GPU_MILLI * us / DLS_GPU_MILLI;
}

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
    sums->used_us += v->in_use * us + gpu_time(v->part_milli, us);
    sums->lent_us += gpu_time(v->lent_milli, us);
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
    const dls_gpu_parts *parts = e->index->parts;
    v->lent_milli = v->alone = v->full_alone = 0;
    for (int32_t k = 0; k < e->rec->services.n; k++) {
        for (int32_t node = v->at[k].low; node <= v->at[k].high; node++) {
            uint64_t held = v->owner[node] == k ? v->own[node] & ~e->index->node[node].free_mask &
                                                      ~e->failures.withheld[node]
                                                : 0;
            v->full_alone += held && e->failures.on_node[node] == DLS_NONE && !e->index->node[node].free_mask;
            v->lent_milli += parts ? 0 : DLS_GPU_MILLI * __builtin_popcountll(held);
            for (; held && parts; held &= held - 1) {
                const int32_t g = e->failures.first_gpu[node] + __builtin_ctzll(held);
                const int32_t serves = v->pieces[g] * service_of(e, k)->milli;
                v->alone += serves > 0 && serves == parts->taken[g];
                v->lent_milli += (parts->taken[g] > 0 ? parts->taken[g] : DLS_GPU_MILLI) - serves;
            }
        }
    }
}
