/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Nodes, GPUs and links that fail and are repaired.
 *
 * A GPU that has failed, or whose node has, is withheld from the placement index, for no job, until
 * it is repaired; the jobs that held it lose their GPUs and the work since their last checkpoint.
 * What is lost to failures is missing first in what the quotas leave, then in the virtual clusters
 * in their order. Each component draws from a stream of its own, so what fails when does not depend
 * on the policies.
 *
 * A node that drains keeps its jobs and gets no others: what is free there, or becomes it, is withheld.
 * When its jobs have left it is down like one that has failed.
 */
#include "base/alloc.h"
#include "base/assert.h"
#include "engine/engine.h"

/* Why a node is down, or drains and then will be. */
enum { AT_RANDOM = 1, BY_FILE = 2, WITH_RACK = 4, STANDBY = 8 };
enum { DRAINS_AT_RANDOM = 16, DRAINS_BY_FILE = 32, DRAINS_TO_STAND_BY = 64 };
#define DRAINS (DRAINS_AT_RANDOM | DRAINS_BY_FILE | DRAINS_TO_STAND_BY)

/* Slots: nodes, GPUs, the file, racks, jobs where these fail by themselves, services. */
static uint32_t file_slot(const dls_engine *e)
{
    return (uint32_t)(e->index->n_nodes + e->index->total_gpus);
}

static uint32_t rack_slot(const dls_engine *e, int32_t rack)
{
    return file_slot(e) + 1 + (uint32_t)rack;
}

static uint32_t job_slot(const dls_engine *e, int32_t job)
{
    return rack_slot(e, e->index->n_racks) + (uint32_t)job;
}

static bool jobs_fail(const dls_engine *e)
{
    return e->params->failures && dls_failure_happens(e->params->failures->job_mtbf_s);
}

static uint32_t service_slot(const dls_engine *e, int32_t service)
{
    return job_slot(e, jobs_fail(e) ? e->n : 0) + (uint32_t)service;
}

size_t dls_failure_slots(const dls_engine *e)
{
    return service_slot(e, e->serving.on ? e->params->services->n : 0);
}

/* ---- when ------------------------------------------------------------------------------------ */

/* The next failure or repair of a component: a node, or GPU number component - nodes. */
static dls_status draw(dls_engine *e, uint32_t component, dls_error *err)
{
    const dls_failure_params *p = e->params->failures;
    dls_failure_state *f = &e->failures;
    const bool node = component < (uint32_t)e->index->n_nodes;
    const uint32_t n = f->draws[component]++;
    double mtbf_s = node                       ? p->node_mtbf_s
                    : component > file_slot(e) ? p->rack_mtbf_s
                                               : p->gpu_mtbf_s;
    const bool replaced = p->replace_after > 0 && n / 2 >= (uint64_t)p->replace_after;
    if (node && !replaced && dls_failure_lemon(p, e->params->seed, component)) {
        mtbf_s /= p->lemon_factor;
    }
    const int64_t wait_us = dls_failure_draw_us(p, e->params->seed, component, mtbf_s, n);
    if (wait_us > INT64_MAX / 4 - e->clock.now_us) {
        return DLS_OK; /* never */
    }
    return dls_evq_set(&f->events, component, e->clock.now_us + wait_us,
                       n % 2 == 0 ? DLS_EV_FAIL : DLS_EV_REPAIR, err);
}

static dls_status queue_file(dls_engine *e, dls_error *err)
{
    const dls_failure_trace *t = e->params->failure_trace;
    if (!t || e->failures.cursor >= t->n) {
        return DLS_OK;
    }
    const dls_failure_event *next = &t->event[e->failures.cursor];
    return dls_evq_set(&e->failures.events, file_slot(e), e->failures.origin_us + next->t_us,
                       next->what == DLS_NODE_FAILS || next->what == DLS_NODE_DRAINS
                           ? DLS_EV_FAIL
                           : DLS_EV_REPAIR,
                       err);
}

static bool fail_at_random(const dls_engine *e, bool nodes)
{
    const dls_failure_params *p = e->params->failures;
    return p && dls_failure_happens(nodes ? p->node_mtbf_s : p->gpu_mtbf_s);
}

bool dls_failures_wanted(const dls_engine *e)
{
    const dls_failure_params *p = e->params->failures;
    const dls_failure_trace *t = e->params->failure_trace;
    return fail_at_random(e, true) || fail_at_random(e, false) || jobs_fail(e) ||
           (p && dls_failure_happens(p->rack_mtbf_s)) || (t && t->n > 0) || e->serving.on;
}

static bool any_drain(const dls_engine *e)
{
    const dls_failure_trace *t = e->params->failure_trace;
    bool any = e->params->failures && e->params->failures->drains > 0;
    for (size_t i = 0; t && i < t->n && !any; i++) {
        any = t->event[i].what == DLS_NODE_DRAINS;
    }
    return any;
}

static dls_status stand_by(dls_engine *e, int32_t node, bool yes, dls_error *err);

dls_status dls_failures_init(dls_engine *e, dls_error *err)
{
    dls_failure_state *f = &e->failures;
    const dls_failure_params *p = e->params->failures;
    const int32_t n = e->index->n_nodes;
    if (!f->on) {
        return DLS_OK;
    }
    if (e->params->sched->share) {
        return dls_fail(
            err, DLS_ECONFIG, e->params->sched->name,
            "divides the cluster among gang sizes and so cannot bear failures or services");
    }
    if (e->index->parts && any_drain(e)) {
        return dls_fail(err, DLS_ECONFIG, "failures",
                        "nodes on which jobs have parts of GPUs cannot be drained");
    }
    for (int32_t i = 0; i < n; i++) {
        f->on_node[i] = DLS_NONE;
        f->first_gpu[i + 1] = f->first_gpu[i] + e->index->node[i].capacity;
    }
    f->origin_us = e->n > 0 ? e->col->submit_us[0] : 0;
    e->clock.now_us = f->origin_us;
    for (int32_t i = 0; i < n && fail_at_random(e, true); i++) {
        DLS_TRY(draw(e, (uint32_t)i, err));
    }
    for (int32_t i = 0; i < e->index->total_gpus && fail_at_random(e, false); i++) {
        DLS_TRY(draw(e, (uint32_t)(n + i), err));
    }
    for (int32_t i = 0; i < e->index->n_racks && p && dls_failure_happens(p->rack_mtbf_s); i++) {
        DLS_TRY(draw(e, rack_slot(e, i), err));
    }
    e->clock.now_us = 0;
    for (int64_t i = 0; p && i < p->spares; i++) {
        const dls_node *spare = &e->index->node[n - 1 - i];
        f->spare_gpus[spare->type] += spare->capacity;
        DLS_TRY(stand_by(e, n - 1 - (int32_t)i, true, err));
    }
    DLS_TRY(dls_services_init(e, err));
    return queue_file(e, err);
}

bool dls_failures_any_down(const dls_engine *e)
{
    for (int32_t t = 0; t < e->select.n_types; t++) {
        if (e->failures.down_gpus[t] > e->failures.standby_gpus[t] || e->serving.part[t] > 0) {
            return true;
        }
    }
    return false;
}

/* ---- who ------------------------------------------------------------------------------------- */

dls_status dls_failures_hold(dls_engine *e, int32_t job, dls_error *err)
{
    DLS_DEBUG_ASSERT(e->failures.on && e->job[job].parts >= 0);
    dls_failure_state *f = &e->failures;
    DLS_TRY(dls_grow(&f->link, &f->link_cap, e->hold.n_parts, sizeof *f->link, err));
    int32_t nodes = 0;
    for (int32_t p = e->job[job].parts; p >= 0; p = e->hold.part[p].next) {
        nodes++;
        int32_t *first = &f->on_node[e->hold.part[p].node];
        f->held_nodes += *first == DLS_NONE;
        f->link[p] = (dls_link_on){.job = job, .next = *first, .prev = DLS_NONE};
        if (*first != DLS_NONE) {
            f->link[*first].prev = p;
        }
        *first = p;
    }
    if (!jobs_fail(e)) {
        return DLS_OK;
    }
    const uint32_t slot = job_slot(e, job);
    const int64_t wait_us = dls_failure_job_us(e->params->failures, e->params->seed, slot, nodes,
                                               (uint32_t)e->rec->resumes[job]);
    const bool never = wait_us > INT64_MAX / 4 - e->clock.now_us;
    return never ? DLS_OK : dls_evq_set(&f->events, slot, e->clock.now_us + wait_us, DLS_EV_FAIL, err);
}

void dls_failures_leave(dls_engine *e, int32_t job, int32_t parts)
{
    DLS_DEBUG_ASSERT(e->failures.on && parts >= 0);
    dls_failure_state *f = &e->failures;
    if (jobs_fail(e)) {
        dls_evq_cancel(&f->events, job_slot(e, job));
    }
    for (int32_t p = parts; p >= 0; p = e->hold.part[p].next) {
        const dls_link_on *l = &f->link[p];
        if (l->prev != DLS_NONE) {
            f->link[l->prev].next = l->next;
        } else {
            f->on_node[e->hold.part[p].node] = l->next;
            f->held_nodes -= l->next == DLS_NONE;
        }
        if (l->next != DLS_NONE) {
            f->link[l->next].prev = l->prev;
        }
    }
}

void dls_failures_nodes(const dls_engine *e, int32_t *busy, int32_t *full)
{
    const dls_failure_state *f = &e->failures;
    *busy = f->held_nodes;
    *full = e->index->full_nodes - f->down_nodes - e->serving.full_alone;
    for (int32_t i = 0; i < f->n_drains; i++) { /* left just now, and not yet down */
        const int32_t node = f->drains[i];
        *full -= f->on_node[node] == DLS_NONE && f->withheld[node] != dls_node_gpus(&e->index->node[node]);
    }
}

dls_status dls_failures_stop(dls_engine *e, int32_t job, bool failed, dls_error *err)
{
    if (dls_is_guest(e, job)) {
        return dls_guest_stop(e, job, failed, err);
    }
    const dls_work left = failed ? dls_job_saved(e, job) : dls_job_work_left(e, job);
    dls_count_mixed(e, job, e->job[job].parts, -1);
    dls_select_deselect(&e->select, job, e->clock.now_us,
                        dls_estimate_left_us(e, job, left) + e->params->restore_us);
    dls_give_back(e, job, e->job[job].parts);
    return dls_job_lose(e, job, failed, err);
}

/* Guests before their hosts: both have been running there. */
static dls_status fail_jobs(dls_engine *e, int32_t node, uint64_t mask, dls_error *err)
{
    dls_failure_state *f = &e->failures;
    size_t n = 0;
    for (int32_t p = f->on_node[node]; p != DLS_NONE; p = f->link[p].next) {
        if (e->hold.part[p].mask & mask) {
            DLS_TRY(dls_grow(&f->victims, &f->victims_cap, n + 1, sizeof *f->victims, err));
            f->victims[n++] = f->link[p].job;
        }
    }
    for (int32_t guests = 1; guests >= 0; guests--) {
        for (size_t i = 0; i < n; i++) {
            const int32_t job = f->victims[i];
            if (e->jobs.running[job] && dls_is_guest(e, job) == (guests == 1)) {
                DLS_TRY(dls_failures_stop(e, job, true, err));
            }
        }
    }
    return DLS_OK;
}

/* ---- what ------------------------------------------------------------------------------------ */

uint64_t dls_failures_down(const dls_engine *e, int32_t node)
{
    const dls_failure_state *f = &e->failures;
    const dls_node *at = &e->index->node[node];
    if (f->node_down[node] & ~DRAINS) {
        return dls_node_gpus(at);
    }
    const uint64_t serves = e->serving.on ? e->serving.mask[node] : 0;
    return f->gpu_down[node] |
           (f->node_down[node] ? at->free_mask | f->kept[node] | (f->withheld[node] & ~serves) : 0);
}

/* A program or a round counts on what the pools may have within its pass; orders are passed again after it. */
static void divide_at_once(dls_engine *e, int32_t node)
{
    const int32_t type = e->index->node[node].type;
    if (e->walk.on && e->failures.spare_gpus[type] > 0) {
        dls_pools_divide(e, type, e->failures.down_gpus[type]);
    }
}

void dls_drain_keep(dls_engine *e, int32_t node, uint64_t mask)
{
    if (e->failures.on && e->failures.node_down[node] & DRAINS &&
        dls_place_retake(e->index, node, mask, 0, 0)) {
        e->failures.kept[node] |= mask;
        divide_at_once(e, node);
    }
}

int32_t dls_drains_kept(const dls_engine *e)
{
    int32_t gpus = 0;
    for (int32_t i = 0; i < e->failures.n_drains; i++) {
        gpus += __builtin_popcountll(e->failures.kept[e->failures.drains[i]]);
    }
    return gpus;
}

void dls_drain_lend(dls_engine *e, int32_t node, uint64_t mask)
{
    if (e->failures.on && e->failures.kept[node] & mask) {
        dls_place_give(e->index, node, e->failures.kept[node] & mask, 0, 0);
        e->failures.kept[node] &= ~mask;
        divide_at_once(e, node);
    }
}

int64_t dls_spares_excess(const dls_engine *e, int32_t type)
{
    const dls_failure_state *f = &e->failures;
    int64_t gpus = f->n_drains > 0 ? f->spare_gpus[type] - f->down_gpus[type] : 0;
    for (int32_t k = 0; k < e->index->n_nodes && f->n_drains > 0 && e->serving.on; k++) {
        const uint64_t serves = e->serving.mask[k] & ~dls_failures_down(e, k);
        gpus += e->index->node[k].type == type ? __builtin_popcountll(serves) : 0;
    }
    return gpus > 0 ? gpus : 0;
}

void dls_failures_divide(dls_engine *e, int32_t type)
{
    dls_pools_divide(e, type, e->failures.down_gpus[type]);
    for (int32_t k = 0; k < e->select.n_pools; k++) {
        dls_select_mark(&e->select, k);
    }
}

static uint64_t must_withhold(const dls_engine *e, int32_t node)
{
    return dls_failures_down(e, node) | (e->serving.on ? e->serving.mask[node] : 0);
}

dls_status dls_failures_withhold(dls_engine *e, int32_t node, dls_error *err)
{
    DLS_DEBUG_ASSERT(node >= 0 && node < e->index->n_nodes);
    dls_failure_state *f = &e->failures;
    const dls_node *at = &e->index->node[node];
    dls_drain_lend(e, node, f->kept[node]);
    const uint64_t all = dls_node_gpus(at), old = f->withheld[node];
    uint64_t now = must_withhold(e, node);
    if (now & ~old) {
        DLS_TRY(fail_jobs(e, node, now & ~old, err));
        now = must_withhold(e, node); /* where it drains, also what these jobs had beside */
        dls_drain_lend(e, node, f->kept[node]);
        dls_services_yield(e, node, now & ~old);
        if (!dls_place_retake(e->index, node, now & ~old, 0, 0)) {
            return dls_fail(err, DLS_ERUN, NULL, "GPUs of node %d are held by nobody", node);
        }
    }
    if (old & ~now) {
        dls_place_give(e->index, node, old & ~now, 0, 0);
        e->select.releases++;
        dls_walk_forget_refusals(e);
    }
    f->withheld[node] = now;
    f->down_gpus[at->type] += __builtin_popcountll(now) - __builtin_popcountll(old);
    f->down_nodes += (now == all) - (old == all);
    dls_failures_divide(e, at->type);
    return DLS_OK;
}

/* A node stands by, or is called. */
static dls_status stand_by(dls_engine *e, int32_t node, bool yes, dls_error *err)
{
    dls_failure_state *f = &e->failures;
    const dls_node *at = &e->index->node[node];
    f->node_down[node] =
        (uint8_t)(yes ? f->node_down[node] | STANDBY : f->node_down[node] & ~STANDBY);
    f->standby_gpus[at->type] += yes ? at->capacity : -at->capacity;
    return dls_failures_withhold(e, node, err);
}

/* It drains no more for that reason. */
static void end_drain(dls_engine *e, int32_t node, uint8_t why)
{
    dls_failure_state *f = &e->failures;
    int32_t n = 0;
    const bool was = f->node_down[node] & DRAINS;
    f->node_down[node] = (uint8_t)(f->node_down[node] & ~why);
    for (int32_t i = 0; was && !(f->node_down[node] & DRAINS) && i < f->n_drains; i++) {
        f->drains[n] = f->drains[i];
        n += f->drains[i] != node;
    }
    f->n_drains = was && !(f->node_down[node] & DRAINS) ? n : f->n_drains;
}

/* Why a node is down begins or ends to hold. As many of its kind work as are no spares, or all that
 * can: a spare takes the place of a node that fails, and what is repaired then stands by. */
static dls_status change_node(dls_engine *e, int32_t node, uint8_t why, bool down, dls_error *err)
{
    uint8_t *is_down = e->failures.node_down;
    const int64_t spares = e->params->failures ? e->params->failures->spares : 0;
    const dls_node *all = e->index->node, *at = &all[node];
    int32_t beyond = 0, ready = DLS_NONE, leaves = DLS_NONE;
    is_down[node] = (uint8_t)(down ? is_down[node] | why : is_down[node] & ~why);
    for (int32_t k = 0; k < e->index->n_nodes && spares > 0; k++) {
        if (all[k].type == at->type && all[k].capacity == at->capacity) {
            beyond += (is_down[k] == 0) - (k < e->index->n_nodes - spares);
            ready = is_down[k] == STANDBY ? k : ready;
            leaves = is_down[k] == DRAINS_TO_STAND_BY ? k : leaves;
        }
    }
    if (beyond > 0 && !is_down[node] && e->failures.on_node[node] == DLS_NONE) {
        return stand_by(e, node, true, err);
    }
    if (beyond > 0 && !is_down[node]) { /* it was to drain, and still has jobs */
        is_down[node] = DRAINS_TO_STAND_BY;
        e->failures.drains[e->failures.n_drains++] = node;
    }
    DLS_TRY(dls_failures_withhold(e, node, err));
    if (beyond < 0 && ready < 0 && leaves >= 0) {
        end_drain(e, leaves, DRAINS_TO_STAND_BY);
        return dls_failures_withhold(e, leaves, err);
    }
    return beyond < 0 && ready >= 0 ? stand_by(e, ready, false, err) : DLS_OK;
}

/* ---- draining -------------------------------------------------------------------------------- */

static dls_status begin_drain(dls_engine *e, int32_t node, uint8_t why, dls_error *err)
{
    dls_failure_state *f = &e->failures;
    e->rec->node_drains += f->node_down[node] == 0;
    if (!(f->node_down[node] & DRAINS)) {
        f->drains[f->n_drains++] = node;
    }
    return change_node(e, node, why, true, err);
}

/* Nobody is left on it: it is down, and one that was to fail is being repaired. */
static dls_status drained(dls_engine *e, int32_t node, dls_error *err)
{
    const uint8_t why = e->failures.node_down[node] & DRAINS;
    end_drain(e, node, DRAINS);
    e->failures.node_down[node] |= (uint8_t)((why & DRAINS_AT_RANDOM ? AT_RANDOM : 0) |
                                             (why & DRAINS_BY_FILE ? BY_FILE : 0));
    DLS_TRY(why & DRAINS_TO_STAND_BY ? stand_by(e, node, true, err) : dls_failures_withhold(e, node, err));
    return why & DRAINS_AT_RANDOM ? draw(e, (uint32_t)node, err) : DLS_OK;
}

/* What nodes that drain have kept is withheld; those without jobs are down. */
static dls_status settle(dls_engine *e, dls_error *err)
{
    const dls_failure_state *f = &e->failures;
    for (int32_t i = f->n_drains - 1; i >= 0; i--) {
        const int32_t node = f->drains[i];
        if (f->on_node[node] == DLS_NONE) {
            DLS_TRY(drained(e, node, err));
        } else if (f->kept[node]) {
            DLS_TRY(dls_failures_withhold(e, node, err));
        }
    }
    return DLS_OK;
}

dls_status dls_drains_wake(dls_engine *e, dls_error *err)
{
    for (int32_t i = 0; i < e->failures.n_drains; i++) {
        const int32_t node = e->failures.drains[i];
        if (e->failures.kept[node] && e->failures.node_down[node] & DRAINS_AT_RANDOM) {
            DLS_TRY(dls_evq_set(&e->failures.events, (uint32_t)node, e->clock.now_us + 1,
                                DLS_EV_REPAIR, err));
        }
    }
    return DLS_OK;
}

/* ---- events ---------------------------------------------------------------------------------- */

static dls_status next_of_file(dls_engine *e, dls_error *err)
{
    dls_failure_state *f = &e->failures;
    const dls_failure_event *now = &e->params->failure_trace->event[f->cursor++];
    const dls_pace *pace = e->params->pace;
    const uint8_t was = f->node_down[now->node];
    switch (now->what) {
    case DLS_NODE_FAILS:
        e->rec->node_failures += !(was & ~DRAINS);
        break;
    case DLS_NODE_DRAINS:
        DLS_TRY(begin_drain(e, now->node, DRAINS_BY_FILE, err));
        return queue_file(e, err);
    case DLS_NODE_REPAIRED:
        end_drain(e, now->node, DRAINS_BY_FILE);
        break;
    case DLS_LINK_SCALED:
        if (pace) {
            pace->link_scale(pace->world, now->node, now->part);
        }
        return queue_file(e, err);
    }
    DLS_TRY(change_node(e, now->node, BY_FILE, now->what == DLS_NODE_FAILS, err));
    return queue_file(e, err);
}

static int32_t node_of_gpu(const dls_engine *e, int32_t gpu)
{
    int32_t node;
    DLS_BISECT(node, e->index->n_nodes - 1, e->failures.first_gpu[node + 1] <= gpu);
    return node;
}

static dls_status apply_rack(dls_engine *e, int32_t rack, bool fail, dls_error *err)
{
    const dls_rack *r = &e->index->rack[rack];
    e->rec->rack_failures += fail;
    for (int32_t node = r->first; node < r->end; node++) {
        DLS_TRY(change_node(e, node, WITH_RACK, fail, err));
    }
    return draw(e, rack_slot(e, rack), err);
}

/* A job fails by itself; its GPUs are sound. */
static dls_status apply_job(dls_engine *e, int32_t job, dls_error *err)
{
    DLS_DEBUG_ASSERT(e->jobs.running[job]);
    e->rec->job_failures++;
    e->select.releases++;
    dls_mark_dirty(e, job);
    return dls_failures_stop(e, job, true, err);
}

static dls_status apply_event(dls_engine *e, dls_event event, dls_error *err)
{
    dls_failure_state *f = &e->failures;
    const uint32_t slot = dls_event_slot(event);
    const bool fail = dls_event_class_of(event) == DLS_EV_FAIL;
    int32_t node = (int32_t)slot;
    if (slot >= service_slot(e, 0)) {
        return DLS_OK; /* its turn comes when all has failed */
    }
    if (slot == file_slot(e)) {
        return next_of_file(e, err);
    }
    if (slot >= job_slot(e, 0)) {
        return apply_job(e, (int32_t)(slot - job_slot(e, 0)), err);
    }
    if (slot >= rack_slot(e, 0)) {
        return apply_rack(e, (int32_t)(slot - rack_slot(e, 0)), fail, err);
    }
    if (node < e->index->n_nodes) {
        const dls_failure_params *p = e->params->failures;
        if (f->node_down[node] & DRAINS_AT_RANDOM) {
            return DLS_OK; /* jobs left it in the last pass */
        }
        if (fail && dls_failure_is_seen(p, e->params->seed, slot, f->draws[slot] - 1)) {
            return begin_drain(e, node, DRAINS_AT_RANDOM, err);
        }
        e->rec->node_failures += fail && !(f->node_down[node] & ~DRAINS);
        DLS_TRY(change_node(e, node, AT_RANDOM, fail, err));
    } else {
        const int32_t gpu = node - e->index->n_nodes;
        node = node_of_gpu(e, gpu);
        const uint64_t bit = UINT64_C(1) << (gpu - f->first_gpu[node]);
        f->gpu_down[node] = fail ? f->gpu_down[node] | bit : f->gpu_down[node] & ~bit;
        e->rec->gpu_failures += fail;
        DLS_TRY(dls_failures_withhold(e, node, err));
    }
    return draw(e, slot, err);
}

dls_status dls_failures_now(dls_engine *e, dls_error *err)
{
    dls_evq *q = &e->failures.events;
    const uint64_t before = e->rec->events;
    while (!dls_evq_empty(q) && dls_evq_top(q).time_us <= e->clock.now_us) {
        e->rec->events++;
        DLS_TRY(apply_event(e, dls_evq_pop(q), err));
    }
    DLS_TRY(settle(e, err));
    return e->serving.on && e->rec->events > before ? dls_services_turn(e, err) : DLS_OK;
}

dls_status dls_failures_wake_service(dls_engine *e, int32_t service, int64_t at_us, dls_error *err)
{
    dls_evq_cancel(&e->failures.events, service_slot(e, service));
    return at_us == INT64_MAX
               ? DLS_OK
               : dls_evq_set(&e->failures.events, service_slot(e, service), at_us, DLS_EV_REPAIR, err);
}
