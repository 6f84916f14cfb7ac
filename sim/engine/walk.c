/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What programs and rounds do to jobs: give them GPUs, others or fewer, take them away, let them
 * share.
 *
 * Every action is checked against the job, its virtual cluster's quota and the index before
 * anything changes; a wrong one is an error of the policy and ends the run.
 */
#include "base/assert.h"
#include "engine/engine.h"

#include <stdarg.h>
#include <stdio.h>

/* ---- state ----------------------------------------------------------------------------------- */

dls_status dls_walk_prepare(dls_engine *e, dls_error *err)
{
    dls_walk *w = &e->walk;
    e->select.size = w->on ? w->size : e->col->gpus;
    if (!w->on) {
        return DLS_OK;
    }
    if (e->n >= 1 << 24) {
        return dls_fail(err, DLS_EINPUT, e->params->sched->name,
                        "%d jobs are too many for a scheduler that is no order", e->n);
    }
    w->running = (dls_order_set)DLS_ORDER_SET_EMPTY;
    DLS_TRY(dls_order_init(&w->order, e->n, 1, err));
    DLS_TRY(dls_bitmap_init(&w->waiting, e->n, err));
    for (int32_t j = 0; j < e->n; j++) {
        w->size[j] = dls_least_gpus(e, j);
        w->batch[j] = dls_trace_i64(e->col->batch, (size_t)j);
    }
    return DLS_OK;
}

void dls_walk_started(dls_engine *e, int32_t job)
{
    DLS_DEBUG_ASSERT(e->walk.on && e->job[job].parts >= 0);
    dls_walk *w = &e->walk;
    const dls_elastic *elastic = e->params->elastic;
    dls_order_insert(&w->order, &w->running, job, (dls_rank){.key = w->next_seq++}, 1, 0);
    dls_bitmap_clear(&w->waiting, job);
    w->held_gpus[job] = w->size[job];
    if (elastic) {
        const dls_shape shape = dls_shape_of(e, job);
        w->speed[job] = elastic->speed(elastic->user, job, &shape, w->batch[job]);
    }
}

void dls_walk_stopped(dls_engine *e, int32_t job)
{
    DLS_DEBUG_ASSERT(e->walk.on && e->walk.held_gpus[job] > 0);
    dls_order_remove(&e->walk.order, &e->walk.running, job);
    e->walk.held_gpus[job] = 0;
}

void dls_walk_account(dls_engine *e, int32_t job, int32_t parts, int64_t progress_us)
{
    DLS_DEBUG_ASSERT(e->walk.on && parts >= 0 && progress_us >= 0);
    const int32_t type = e->index->node[e->hold.part[parts].node].type;
    e->walk.service_us[(size_t)job * (size_t)e->select.n_types + (size_t)type] +=
        progress_us * e->walk.held_gpus[job];
}

/* ---- what is legal --------------------------------------------------------------------------- */

dls_status dls_illegal(const dls_engine *e, int32_t job, dls_error *err, const char *fmt, ...)
{
    char what[256];
    va_list args;
    va_start(args, fmt);
    vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    return dls_fail(err, DLS_EPOLICY, e->params->sched->name, "job %d: %s", job, what);
}

static bool is_in(const dls_engine *e, int32_t job, dls_job_state state)
{
    return job >= 0 && job < e->n && e->rec->state[job] == state;
}

static int32_t gpus_wanted(const dls_engine *e, int32_t job, const dls_want *want)
{
    return want->gpus ? want->gpus : e->col->gpus[job];
}

/* GPU types of the nodes that are named, as bits; 0: they do not exist, or are of several types
 * under a policy that does not mix them. */
static uint32_t types_of_nodes(const dls_engine *e, const dls_want *want)
{
    uint32_t types = 0;
    for (int32_t i = 0; i < want->n_nodes; i++) {
        const int32_t node = want->nodes[i].node;
        if (node < 0 || node >= e->index->n_nodes || want->nodes[i].gpus < 1) {
            return 0;
        }
        types |= UINT32_C(1) << e->index->node[node].type;
    }
    return types & (types - 1) && !e->params->sched->mixes ? 0 : types;
}

dls_status dls_want_check(const dls_engine *e, int32_t job, const dls_want *want, dls_error *err)
{
    if (!is_in(e, job, DLS_JOB_PENDING) && !is_in(e, job, DLS_JOB_RUNNING)) {
        return dls_illegal(e, job, err, "is to get GPUs, but neither waits nor runs");
    }
    if (!want) {
        return dls_illegal(e, job, err, "is to get GPUs, but what it is to get is NULL");
    }
    const int32_t gpus = gpus_wanted(e, job, want);
    const dls_class *c = &e->select.cls[e->job[job].cls];
    if (gpus < e->view.min_gpus[job] || gpus > e->view.max_gpus[job]) {
        return dls_illegal(e, job, err, "is to get %d GPUs and can use %d to %d", gpus,
                           e->view.min_gpus[job], e->view.max_gpus[job]);
    }
    if (e->params->sched->rigid && gpus != e->col->gpus[job]) {
        return dls_illegal(e, job, err, "is to get %d GPUs and asks for %d, under a policy that says it is `rigid`",
                           gpus, e->col->gpus[job]);
    }
    if (want->type < -1 || want->type >= e->select.n_types ||
        (want->type >= 0 && !(c->types >> want->type & 1))) {
        return dls_illegal(e, job, err, "is to get GPUs of type %d, on which it cannot run",
                           want->type);
    }
    if (want->batch < 0) {
        return dls_illegal(e, job, err, "is to train with a batch of %lld", (long long)want->batch);
    }
    if (want->nodes) {
        const uint32_t types = types_of_nodes(e, want);
        int64_t sum = 0;
        for (int32_t i = 0; i < want->n_nodes; i++) {
            sum += want->nodes[i].gpus;
        }
        if (!types || (want->type >= 0 && types != UINT32_C(1) << want->type) ||
            types & ~c->types || sum != gpus) {
            return dls_illegal(e, job, err,
                               "is to get %lld GPUs on %d named nodes, which are not %d of "
                               "one type that it can use",
                               (long long)sum, want->n_nodes, gpus);
        }
    }
    return DLS_OK;
}

/* How many of a job's GPUs are on a node. */
static int32_t held_on(const dls_engine *e, int32_t job, int32_t node)
{
    int32_t gpus = 0;
    for (int32_t p = e->job[job].parts; p >= 0; p = e->hold.part[p].next) {
        gpus += e->hold.part[p].node == node ? __builtin_popcountll(e->hold.part[p].mask) : 0;
    }
    return gpus;
}

bool dls_want_is_held(const dls_engine *e, int32_t job, const dls_want *want)
{
    DLS_DEBUG_ASSERT(job >= 0 && job < e->n);
    if (!e->jobs.running[job] || e->walk.held_gpus[job] != gpus_wanted(e, job, want) ||
        (want->type >= 0 && e->hold.type[job] != want->type) ||
        (want->batch > 0 && e->walk.batch[job] != want->batch) || dls_is_guest(e, job)) {
        return false;
    }
    for (int32_t i = 0; want->nodes && i < want->n_nodes; i++) {
        int32_t gpus = 0;
        for (int32_t k = 0; k < want->n_nodes; k++) {
            gpus += want->nodes[k].node == want->nodes[i].node ? want->nodes[k].gpus : 0;
        }
        if (held_on(e, job, want->nodes[i].node) != gpus) {
            return false;
        }
    }
    return true;
}

/* ---- allocations ----------------------------------------------------------------------------- */

static bool has_room(const dls_engine *e, const dls_class *c, int32_t type, int64_t gpus)
{
    const dls_pool *pool = &e->select.pool[c->pool];
    const bool part = c->weight < e->select.unit;
    return pool->cap[type] - pool->used[type] >= (part ? c->weight : gpus * e->select.unit) &&
           (e->index->type[type].free_gpus >= gpus ||
            (part && dls_parts_tightest(e->index, type, c->weight, -1) >= 0));
}

/* Types on which so many GPUs are free by number, the job's quota considered; of named nodes the
 * type of the first, if there is room on all of theirs. */
static uint32_t types_with_room(const dls_engine *e, int32_t job, const dls_want *want,
                                int32_t gpus)
{
    const dls_class *c = &e->select.cls[e->job[job].cls];
    uint32_t types = 0;
    for (int32_t t = 0; t < e->select.n_types; t++) {
        int64_t named = 0;
        for (int32_t i = 0; i < want->n_nodes && want->nodes; i++) {
            named += e->index->node[want->nodes[i].node].type == t ? want->nodes[i].gpus : 0;
        }
        if (named > 0 && !has_room(e, c, t, named)) {
            return 0;
        }
        if (!want->nodes && c->types >> t & 1 && (want->type < 0 || want->type == t) &&
            has_room(e, c, t, gpus)) {
            types |= UINT32_C(1) << t;
        }
    }
    return want->nodes ? UINT32_C(1) << e->index->node[want->nodes[0].node].type : types;
}

void dls_count_mixed(dls_engine *e, int32_t job, int32_t parts, int32_t sign)
{
    if (!e->params->sched->mixes) {
        return;
    }
    const dls_held *part = e->hold.part;
    dls_pool *pool = &e->select.pool[e->select.cls[e->job[job].cls].pool];
    const int32_t first = e->index->node[part[parts].node].type;
    for (int32_t p = parts; p >= 0; p = part[p].next) {
        const int32_t gpus = sign * __builtin_popcountll(part[p].mask) * e->select.unit;
        pool->used[e->index->node[part[p].node].type] += gpus;
        pool->used[first] -= gpus;
    }
}

/* GPUs that a policy counted on, as others gave them back, stay on a node that drains. */
static bool lacks_drained(const dls_engine *e, const dls_want *want)
{
    bool lacks = false;
    for (int32_t i = 0; i < want->n_nodes && dls_drains_kept(e) > 0; i++) {
        const int32_t node = want->nodes[i].node;
        lacks = lacks || (e->failures.kept[node] && e->index->node[node].free < want->nodes[i].gpus);
    }
    return lacks;
}

/* Take GPUs for a job on the first of the types that the placement grants; *type -1: refused. */
static dls_status take_gpus(dls_engine *e, int32_t job, const dls_want *want, uint32_t types,
                            int32_t *type, int32_t *parts, dls_error *err)
{
    *type = -1;
    while (types) {
        const int32_t t = !want->nodes && e->select.choose ? e->select.choose(e, job, types)
                                                           : __builtin_ctz(types);
        bool placed = true;
        if (t < 0) {
            return DLS_OK;
        }
        if (want->nodes && lacks_drained(e, want)) {
            placed = false;
        } else if (want->nodes) {
            DLS_TRY(dls_place_on(e, job, want->nodes, want->n_nodes, parts, err));
        } else {
            DLS_TRY(dls_place_job(e, job, t, parts, &placed, err));
        }
        if (placed) {
            *type = t;
            return DLS_OK;
        }
        types &= ~(UINT32_C(1) << t);
    }
    return DLS_OK;
}

/* A running job, whose GPUs are back in the index already, waits from now on, and so do its guests.
 */
static dls_status lose(dls_engine *e, int32_t job, dls_error *err)
{
    dls_select_add_waiting(&e->select, job, (dls_rank){.id = job}, e->jobs.estimate_us[job]);
    return dls_job_lose(e, job, false, err);
}

/* A waiting job begins on GPUs that have been taken for it. */
static dls_status begin(dls_engine *e, int32_t job, int32_t type, int32_t gpus, int32_t parts,
                        dls_error *err)
{
    dls_select_remove_waiting(&e->select, job);
    e->walk.size[job] = gpus;
    dls_select_add_running(&e->select, job, type, (dls_rank){.id = job}, e->clock.now_us);
    dls_count_mixed(e, job, parts, 1);
    return dls_job_start(e, job, type, parts, err);
}

dls_status dls_shrink(dls_engine *e, int32_t job, int32_t gpus, int32_t parts, dls_error *err)
{
    DLS_DEBUG_ASSERT(e->walk.on && gpus >= e->view.min_gpus[job] && gpus < e->walk.size[job]);
    DLS_TRY(dls_failures_stop(e, job, false, err));
    e->walk.size[job] = gpus;
    e->job[job].parts = parts;
    if (!dls_retake(e, job)) {
        return dls_illegal(e, job, err, "lost its GPUs");
    }
    return begin(e, job, e->index->node[e->hold.part[parts].node].type, gpus, parts, err);
}

/* A refusal while nobody runs, and not for a while, is for what the GPUs that are left cannot give: until some come back,
 * policies are told that the job cannot use as many. */
static void note_refusal(dls_engine *e, int32_t job, const dls_want *want, uint32_t types)
{
    const int32_t cls = e->select.job[job].cls, gpus = gpus_wanted(e, job, want);
    if (!e->walk.refused || e->view.running_jobs > 0 || want->nodes || gpus <= e->view.min_gpus[job] ||
        dls_evq_has(&e->clock.retries, (uint32_t)cls)) {
        return;
    }
    for (int32_t t = 0; t < e->select.n_types; t++) {
        int32_t *refused = &e->walk.refused[cls * e->select.n_types + t];
        *refused = types >> t & 1 && (*refused == 0 || gpus < *refused) ? gpus : *refused;
    }
}

void dls_walk_forget_refusals(dls_engine *e)
{
    for (int32_t i = 0; e->walk.refused && i < e->select.n_classes * e->select.n_types; i++) {
        e->walk.refused[i] = 0;
    }
}

dls_status dls_allocate(dls_engine *e, int32_t job, const dls_want *want, bool *done,
                        dls_error *err)
{
    DLS_DEBUG_ASSERT(is_in(e, job, DLS_JOB_PENDING) || is_in(e, job, DLS_JOB_RUNNING));
    const bool guest = dls_is_guest(e, job), owns = e->jobs.running[job] && !guest;
    const int32_t gpus = gpus_wanted(e, job, want), had = e->walk.size[job];
    int32_t type, parts;
    *done = false;
    if (owns) {
        dls_count_mixed(e, job, e->job[job].parts, -1);
        dls_select_remove_running(&e->select, job);
        dls_give_back(e, job, e->job[job].parts);
    }
    uint32_t types = types_with_room(e, job, want, gpus);
    if (!types && owns && gpus < had && !want->nodes && (want->type < 0 || want->type == e->hold.type[job])) {
        types = UINT32_C(1) << e->hold.type[job]; /* gives some back, also where failures left its quota less than is used */
    }
    if (!types && dls_drains_kept(e) == 0) {
        const int64_t room = want->type >= 0 ? dls_view_quota_gpus(&e->view, job, want->type)
                                             : dls_view_room(&e->view, job);
        return dls_illegal(e, job, err,
                           "is to get %d GPUs, which are not free or beyond its quota: of one type "
                           "that it can use it may have %lld now",
                           gpus, (long long)room);
    }
    e->walk.size[job] = gpus;
    type = DLS_NONE; /* what the policy counted on may be on a node that drains */
    DLS_TRY(types ? take_gpus(e, job, want, types, &type, &parts, err) : DLS_OK);
    e->walk.size[job] = had;
    if (type < 0) {
        e->stall.refusals++;
        e->stall.refused_job = job;
        e->stall.refused_gpus = gpus;
        note_refusal(e, job, want, types);
    }
    if (type < 0 && owns) { /* as it was */
        dls_select_add_running(&e->select, job, e->hold.type[job], (dls_rank){.id = job},
                               e->clock.now_us);
        dls_count_mixed(e, job, e->job[job].parts, 1);
        return dls_retake(e, job) ? DLS_OK : dls_illegal(e, job, err, "lost its GPUs");
    }
    if (type < 0) {
        return DLS_OK;
    }
    if (guest || owns) {
        DLS_TRY(guest ? dls_guest_stop(e, job, false, err) : lose(e, job, err));
    }
    *done = true;
    e->walk.batch[job] = want->batch > 0 ? want->batch : e->walk.batch[job];
    return begin(e, job, type, gpus, parts, err);
}

dls_status dls_preempt(dls_engine *e, int32_t job, dls_error *err)
{
    DLS_DEBUG_ASSERT(is_in(e, job, DLS_JOB_RUNNING));
    if (dls_is_guest(e, job)) {
        return dls_guest_stop(e, job, false, err);
    }
    dls_count_mixed(e, job, e->job[job].parts, -1);
    dls_select_remove_running(&e->select, job);
    dls_give_back(e, job, e->job[job].parts);
    return lose(e, job, err);
}

/* ---- sharing --------------------------------------------------------------------------------- */

static bool holds_one_type(const dls_engine *e, int32_t job)
{
    bool one = true;
    for (int32_t p = e->job[job].parts; p >= 0; p = e->hold.part[p].next) {
        one = one && e->index->node[e->hold.part[p].node].type == e->hold.type[job];
    }
    return one;
}

dls_status dls_join(dls_engine *e, int32_t job, int32_t host, bool *joined, dls_error *err)
{
    const dls_select *s = &e->select;
    *joined = false;
    if (!e->params->sched->joins) {
        return dls_illegal(
            e, job, err, "is to join job %d, but the policy does not say that it joins jobs", host);
    }
    if (!is_in(e, job, DLS_JOB_PENDING) || !is_in(e, host, DLS_JOB_RUNNING) ||
        dls_is_guest(e, host)) {
        return dls_illegal(
            e, job, err, "is to join job %d: one must wait, the other have GPUs of its own", host);
    }
    const dls_class *c = &s->cls[s->job[job].cls], *other = &s->cls[s->job[host].cls];
    const int32_t gpus = e->walk.held_gpus[host], type = e->hold.type[host];
    if (!holds_one_type(e, host) || !(c->types >> type & 1) || gpus < e->view.min_gpus[job] || gpus > e->view.max_gpus[job] ||
        c->pool != other->pool) {
        return dls_illegal(e, job, err,
                           "is to join job %d, on a type or a number of GPUs or in a virtual "
                           "cluster that it cannot use",
                           host);
    }
    int32_t n = 2;
    for (int32_t g = e->guests.job[host].guest; g != DLS_NONE; g = e->guests.job[g].next) {
        n++;
    }
    if (n > DLS_GROUP_MAX) {
        return dls_illegal(e, job, err, "is to join job %d, which shares with %d already", host,
                           n - 2);
    }
    if (c->weight > other->weight || c->cpu_milli > other->cpu_milli ||
        c->mem_mib > other->mem_mib) {
        return DLS_OK; /* it could not inherit the GPUs */
    }
    DLS_TRY(dls_shares_memory(e, job, host, joined, err));
    if (!*joined) {
        return DLS_OK;
    }
    e->walk.size[job] = gpus;
    return dls_guest_join(e, job, host, err);
}

dls_status dls_decline(dls_engine *e, int32_t job, dls_error *err)
{
    if (!is_in(e, job, DLS_JOB_PENDING)) {
        return dls_illegal(e, job, err, "is to be turned away, but does not wait");
    }
    dls_select_remove_waiting(&e->select, job);
    dls_bitmap_clear(&e->walk.waiting, job);
    e->rec->pending_us[job] += e->clock.now_us - e->jobs.state_since_us[job];
    e->rec->state[job] = DLS_JOB_DECLINED;
    e->jobs.declined++;
    e->view.waiting_jobs--;
    e->jobs.done++;
    return DLS_OK;
}

/* ---- programs -------------------------------------------------------------------------------- */

/* Whether a program may go on to act, on a job or DLS_NONE. */
static bool may_act(dls_actions *out, int32_t job)
{
    dls_engine *e = out->e;
    if (out->status == DLS_OK) {
        out->status = dls_seal_check(e, out->err);
    }
    if (out->status == DLS_OK && out->n++ > e->params->patience + 4 * (uint64_t)e->n &&
        e->params->patience > 0) {
        char of_job[32] = "";
        if (job != DLS_NONE) {
            snprintf(of_job, sizeof of_job, "job %d: ", job);
        }
        out->status = dls_fail(out->err, DLS_EPOLICY, e->params->sched->name,
                               "%sdoes not come to an end: %llu actions in one pass", of_job,
                               (unsigned long long)out->n);
    }
    return out->status == DLS_OK;
}

void dls_act_wake(dls_actions *out, int64_t at_us)
{
    dls_engine *e = out->e;
    if (!may_act(out, DLS_NONE)) {
        return;
    }
    if (at_us <= e->clock.now_us) {
        out->status = dls_fail(out->err, DLS_EPOLICY, e->params->sched->name,
                               "wants to be woken at a time that is not in the future");
        return;
    }
    const uint32_t slot = DLS_SLOT_PROGRAM(e);
    if (!dls_evq_has(&e->clock.events, slot) || dls_evq_time(&e->clock.events, slot) > at_us) {
        out->status = dls_evq_set(&e->clock.events, slot, at_us, DLS_EV_TICK, out->err);
    }
}

void dls_program_begin(dls_engine *e, dls_error *err)
{
    DLS_ASSERT(e->walk.on && !e->decision.open);
    e->decision.actions = (dls_actions){.e = e, .status = DLS_OK, .err = err};
    e->select.pass++;
    e->rec->passes++;
    dls_view_update(e);
    dls_seal(e);
}

dls_status dls_program_end(dls_engine *e, dls_error *err)
{
    DLS_TRY(e->decision.actions.status);
    DLS_TRY(dls_seal_check(e, err));
    e->view.arrived = e->view.ended = 0;
    DLS_TRY(dls_policy_check(e, e->params->sched->name, DLS_NONE, err));
    DLS_TRY(dls_set_retries(e, err));
    return e->guests.news ? dls_guest_pass(e, err) : DLS_OK;
}

static bool allocate(dls_actions *out, int32_t job, const dls_want *want)
{
    dls_engine *e = out->e;
    bool done = false;
    out->status = dls_want_check(e, job, want, out->err);
    if (out->status != DLS_OK || dls_want_is_held(e, job, want)) {
        return out->status == DLS_OK;
    }
    out->status = dls_allocate(e, job, want, &done, out->err);
    return done && out->status == DLS_OK;
}

/* An action is over. */
static void acted(dls_actions *out)
{
    dls_view_update(out->e);
    dls_seal(out->e);
}

bool dls_act_allocate(dls_actions *out, int32_t job, const dls_want *want)
{
    const bool done = may_act(out, job) && allocate(out, job, want);
    acted(out);
    return done;
}

bool dls_act_start(dls_actions *out, int32_t job)
{
    static const dls_want as_asked = {.type = -1};
    bool done = false;
    if (may_act(out, job) && !is_in(out->e, job, DLS_JOB_PENDING)) {
        out->status = dls_illegal(out->e, job, out->err, "is to start, but does not wait");
    } else if (out->status == DLS_OK) {
        done = allocate(out, job, &as_asked);
    }
    acted(out);
    return done;
}

void dls_act_preempt(dls_actions *out, int32_t job)
{
    if (may_act(out, job)) {
        out->status =
            is_in(out->e, job, DLS_JOB_RUNNING)
                ? dls_preempt(out->e, job, out->err)
                : dls_illegal(out->e, job, out->err, "is to be preempted, but does not run");
    }
    acted(out);
}

bool dls_act_join(dls_actions *out, int32_t job, int32_t host)
{
    bool joined = false;
    if (may_act(out, job)) {
        out->status = dls_join(out->e, job, host, &joined, out->err);
    }
    acted(out);
    return joined && out->status == DLS_OK;
}

void dls_act_decline(dls_actions *out, int32_t job)
{
    if (may_act(out, job)) {
        out->status = dls_decline(out->e, job, out->err);
    }
    acted(out);
}
