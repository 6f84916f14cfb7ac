/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the placement is asked, what it may know, and what it and the world are told.
 */
#include "base/alloc.h"
#include "base/assert.h"
#include "base/rng.h"
#include "engine/engine.h"

#include <math.h>

/* ---- what may be known ---------------------------------------------------------------------- */

/* The gang is known from the submission on, other numbers of GPUs from the first question. An error
 * ends the run when the policy has returned. */
static bool size_is_known(dls_engine *e, int32_t job, int32_t gpus)
{
    const dls_prediction_ops *a = e->params->predictions;
    if (gpus == e->col->gpus[job]) {
        return true;
    }
    if (!a->prepare_size || gpus < e->view.min_gpus[job] || gpus > e->view.max_gpus[job] ||
        e->ask.predicting.status != DLS_OK) {
        return false;
    }
    e->ask.predicting.status = a->prepare_size(a->from, job, gpus, &e->ask.predicting);
    return e->ask.predicting.status == DLS_OK;
}

static bool prediction(void *user, int32_t job, const dls_shape *shape, dls_prediction *out)
{
    dls_engine *e = user;
    const dls_prediction_ops *a = e->params->predictions;
    const bool there =
        dls_fault_check(e->index->fault, "dls_place_predict", job, e->n) &&
        dls_fault_check(e->index->fault, "dls_place_predict", shape->type, e->select.n_types);
    const uint8_t state = there ? e->rec->state[job] : DLS_JOB_NEW;
    if ((state != DLS_JOB_PENDING && state != DLS_JOB_RUNNING) ||
        shape->gpus > dls_most_gpus_now(e, job, shape->type) || !size_is_known(e, job, shape->gpus)) {
        return false;
    }
    a->get(a->from, job, shape, dls_work_to_us(dls_job_work_left(e, job)), out);
    if (shape->gpus != e->col->gpus[job] && e->params->elastic) {
        const dls_elastic *elastic = e->params->elastic;
        out->remaining_s /= elastic->speed(elastic->user, job, shape, DLS_ABSENT);
    }
    return out->iteration_s > 0;
}

static const dls_shape *candidates(void *user, int32_t job, int32_t gpus, size_t *n)
{
    dls_engine *e = user;
    const dls_prediction_ops *a = e->params->predictions;
    const bool there = dls_fault_check(e->index->fault, "dls_place_candidates", job, e->n);
    *n = 0;
    return there && size_is_known(e, job, gpus) ? a->shapes(a->from, job, gpus, n) : NULL;
}

static void turn(void *user, int32_t job, double shift_s)
{
    dls_engine *e = user;
    if (!isfinite(shift_s)) {
        dls_policy_fail(e->index, "turns job %d by %g s", job, shift_s);
    } else if (dls_fault_check(e->index->fault, "dls_place_turn", job, e->n) && e->ask.shift_s) {
        e->ask.shift_s[job] = shift_s; /* of the job that starts: the world does not know it yet */
        if (e->jobs.running[job]) {
            e->params->pace->set_shift(e->params->pace->world, job, shift_s);
            e->ask.shift_s[job] = (double)NAN;
        }
    }
}

void dls_place_turn(const dls_request *r, int32_t job, double shift_s)
{
    if (r->pace && r->pace->turn) {
        r->pace->turn(r->pace->engine, job, shift_s);
    }
}

/* An error ends the run when the policy has returned. */
static void route(void *user, int32_t job, int32_t path, int32_t level)
{
    dls_engine *e = user;
    const dls_pace *pace = e->params->pace;
    if (dls_fault_check(e->index->fault, "dls_place_route", job, e->n) &&
        dls_fault_check(e->index->fault, "dls_place_route", path, e->index->paths) &&
        dls_fault_check(e->index->fault, "dls_place_route", level, DLS_LINK_LEVELS) && pace &&
        pace->set_route && e->ask.predicting.status == DLS_OK) {
        e->ask.predicting.status =
            pace->set_route(pace->world, job, path, level, &e->ask.predicting);
    }
}

void dls_place_route(const dls_request *r, int32_t job, int32_t path, int32_t level)
{
    if (r->pace && r->pace->route) {
        r->pace->route(r->pace->engine, job, path, level);
    }
}

double dls_place_gpu_speed(const dls_place_index *index, const dls_request *r, int32_t node,
                           int32_t gpu)
{
    const dls_pace *pace = r->pace;
    return dls_fault_check(index->fault, __func__, node, index->n_nodes) &&
                   dls_fault_check(index->fault, __func__, gpu, index->node[node].capacity) &&
                   pace && pace->gpu_speed
               ? pace->gpu_speed(pace->world, r->job, node, gpu)
               : 1;
}

bool dls_place_predict(const dls_request *r, int32_t job, const dls_shape *shape,
                       dls_prediction *out)
{
    const dls_place_predictor *p = r->predictor;
    if (p && p->prediction(p->user, job, shape, out)) {
        return true;
    }
    out->iteration_s = out->remaining_s = out->link_bps = out->mem_bytes = out->distance =
        (double)NAN;
    for (size_t i = 0; i < sizeof out->metric / sizeof out->metric[0]; i++) {
        out->metric[i] = (double)NAN;
    }
    return false;
}

const dls_shape *dls_place_candidates(const dls_request *r, size_t *n)
{
    *n = 0;
    return r->predictor ? r->predictor->candidates(r->predictor->user, r->job, r->gpus, n) : NULL;
}

dls_rng dls_place_random(const dls_request *r)
{
    return dls_rng_stream(r->seed + (uint64_t)r->attempt, DLS_RNG_PLACEMENT, (uint64_t)r->job);
}

dls_status dls_predict_arrivals(dls_engine *e, size_t first, size_t end, dls_error *err)
{
    const dls_prediction_ops *a = e->params->predictions;
    size_t n = 0;
    DLS_TRY(dls_grow(&e->ask.arrivals, &e->ask.arrivals_cap, end - first, sizeof *e->ask.arrivals,
                     err));
    for (size_t j = first; j < end; j++) {
        if (e->rec->state[j] != DLS_JOB_INFEASIBLE) {
            e->ask.arrivals[n++] = (int32_t)j;
        }
    }
    if (n == 0) {
        return DLS_OK;
    }
    DLS_TRY(a->prepare(a->from, e->ask.arrivals, n, err));
    for (size_t i = 0; i < n && e->params->estimates_predicted && !e->params->history; i++) {
        e->jobs.believed_us[e->ask.arrivals[i]] = a->estimate_us(a->from, e->ask.arrivals[i]);
    }
    return DLS_OK;
}

/* ---- requests ------------------------------------------------------------------------------- */

static dls_request request(const dls_engine *e, int32_t job, int32_t type)
{
    const dls_sim_params *p = e->params;
    const dls_class *c = &e->select.cls[e->job[job].cls];
    const uint8_t state = e->rec->state[job];
    return (dls_request){
        .job = job,
        .gpus = e->select.size[job],
        .type = type,
        .attempt = e->rec->resumes[job],
        .cpu_milli_per_gpu = c->cpu_milli,
        .mem_mib_per_gpu = c->mem_mib,
        .gpu_milli = c->weight < e->select.unit ? c->weight : DLS_GPU_MILLI,
        .types = c->types,
        .seed = p->seed,
        .now_us = e->clock.now_us,
        .waiting_since_us =
            state == DLS_JOB_PENDING ? e->jobs.state_since_us[job] : e->clock.now_us,
        .tensor_skew = p->kinds ? p->kinds->kind[p->kinds->of[job]].tensor_skew : (double)NAN,
        /* Before it is submitted, when only the empty cluster is tried, nothing is known of a job.
         */
        .pace = p->pace ? &e->ask.pace : NULL,
        .predictor = p->predictions && state != DLS_JOB_NEW ? &e->ask.predictor : NULL,
    };
}

/* A grant must name nodes of the type (of any, if mixed) with so many GPUs, CPU and memory free,
 * and be complete. */
static dls_status check_grant(const dls_engine *e, const dls_request *r, const char *who,
                              bool mixed, dls_error *err)
{
    const dls_grant *g = &e->ask.grant;
    if (g->failed) {
        return dls_nomem(err, "a grant", g->n * sizeof *g->part);
    }
    if (g->gpus != r->gpus) {
        return dls_fail(err, DLS_EPOLICY, who, "job %d: granted %lld GPUs to a gang of %d",
                        r->job, (long long)g->gpus, r->gpus);
    }
    if (isinf(g->shift_s)) {
        return dls_fail(err, DLS_EPOLICY, who, "job %d: is to be held back by %g s", r->job, g->shift_s);
    }
    for (size_t i = 0; i < g->n; i++) {
        const dls_place_part *p = &g->part[i];
        if (p->node < 0 || p->node >= e->index->n_nodes || p->gpus < 1) {
            return dls_fail(err, DLS_EPOLICY, who, "job %d: granted %d GPUs of node %d", r->job,
                            p->gpus, p->node);
        }
        const dls_node *node = &e->index->node[p->node];
        if ((node->type != r->type && !mixed) || node->free < p->gpus ||
            node->free_cpu_milli < r->cpu_milli_per_gpu * p->gpus ||
            node->free_mem_mib < r->mem_mib_per_gpu * p->gpus) {
            return dls_fail(err, DLS_EPOLICY, who,
                            "job %d: granted %d GPUs of node %d, which has %d free of the wanted "
                            "type, or not the CPU or memory",
                            r->job, p->gpus, p->node, node->type == r->type ? node->free : 0);
        }
        if (g->mask[i] &&
            (g->mask[i] & ~node->free_mask || __builtin_popcountll(g->mask[i]) != p->gpus)) {
            return dls_fail(err, DLS_EPOLICY, who,
                            "job %d: named GPUs of node %d that are not free, or not all", r->job,
                            p->node);
        }
    }
    return DLS_OK;
}

/* The GPUs of the grant of a part: one, of a node of the type. */
static dls_status check_part(const dls_engine *e, const dls_request *r, const char *who,
                             dls_error *err)
{
    const dls_grant *g = &e->ask.grant;
    if (g->failed) {
        return dls_nomem(err, "a grant", g->n * sizeof *g->part);
    }
    const int32_t node = g->n == 1 && g->gpus == 1 ? g->part[0].node : -1;
    if (node < 0 || node >= e->index->n_nodes || e->index->node[node].type != r->type ||
        (g->mask[0] & ~dls_node_gpus(&e->index->node[node]))) {
        return dls_fail(err, DLS_EPOLICY, who,
                        "job %d: granted %lld GPUs on %zu nodes, but wants a part of one", r->job,
                        (long long)g->gpus, g->n);
    }
    return DLS_OK;
}

/* Take a part of one GPU for a job; *parts -1: it does not fit, or the GPU has not the memory. */
static dls_status take_part(dls_engine *e, int32_t job, int32_t node, int32_t gpu, int32_t *parts,
                            dls_error *err)
{
    const dls_pace *pace = e->params->pace;
    const dls_part part = dls_part_on(e, job, node, gpu);
    const dls_seat seat = {.mask = UINT64_C(1) << gpu, .node = node};
    /* The index knows who has a part, and not their guests. */
    const bool beside_guests = !e->guests.on || !pace || !pace->shares ||
                               pace->shares(pace->world, job, e->index->node[node].type, &seat, 1);
    *parts = -1;
    return beside_guests && dls_parts_take(e->index, &part)
               ? dls_new_part(e, node, seat.mask, -1, parts, err)
               : DLS_OK;
}

/* The fullest GPU with a part taken that has this one, too; of one node, or of the type. */
static dls_status take_tightest(dls_engine *e, int32_t job, int32_t type, int32_t node,
                                int32_t *parts, dls_error *err)
{
    const dls_gpu_parts *p = e->index->parts;
    *parts = -1;
    for (int32_t g = dls_parts_tightest(e->index, type, dls_part_of(e, job), -1);
         g >= 0 && *parts < 0; g = dls_parts_tightest(e->index, type, 0, g)) {
        if (node < 0 || p->node_of[g] == node) {
            DLS_TRY(take_part(e, job, p->node_of[g], g - p->first[p->node_of[g]], parts, err));
        }
    }
    return DLS_OK;
}

/* A part of the GPU that was granted: of any of the node, if none is named. */
static dls_status take_granted_part(dls_engine *e, const dls_request *r, const char *who,
                                    int32_t *parts, dls_error *err)
{
    const dls_grant *g = &e->ask.grant;
    DLS_TRY(check_part(e, r, who, err));
    const int32_t node = g->part[0].node;
    uint64_t mask = g->mask[0];
    if (!mask) {
        DLS_TRY(take_tightest(e, r->job, r->type, node, parts, err));
        mask = e->index->node[node].free_mask;
    }
    return *parts < 0 && mask ? take_part(e, r->job, node, __builtin_ctzll(mask), parts, err)
                              : DLS_OK;
}

/* The placement wants to be asked again about a job of the class at a time of its own. job: which, if the
 * time is not in the future. */
static dls_status set_retry(dls_engine *e, int32_t cls, int32_t job, int64_t at_us, dls_error *err)
{
    if (at_us <= e->clock.now_us) {
        return dls_fail(err, DLS_EPOLICY, e->params->placement->name,
                        "job %d: wants to be asked again at a time that is not in the future", job);
    }
    const uint32_t slot = (uint32_t)cls;
    if (dls_evq_has(&e->clock.retries, slot) && dls_evq_time(&e->clock.retries, slot) <= at_us) {
        return DLS_OK;
    }
    return dls_evq_set(&e->clock.retries, slot, at_us, DLS_EV_TICK, err);
}

/* The GPUs of a checked grant out of the index, into a list of parts. */
static dls_status take_grant(dls_engine *e, int32_t job, int32_t *parts, dls_error *err)
{
    for (size_t i = e->ask.grant.n; i-- > 0;) {
        const dls_place_part *p = &e->ask.grant.part[i];
        int64_t cpu, mem;
        dls_side_resources(e, job, p->gpus, &cpu, &mem);
        DLS_TRY(dls_new_part(e, p->node, 0, *parts, parts, err));
        uint64_t mask = e->ask.grant.mask[i];
        if (!mask) {
            mask = dls_place_take(e->index, p->node, p->gpus, cpu, mem);
        } else {
            const bool free = dls_place_retake(e->index, p->node, mask, cpu, mem);
            DLS_ASSERT(free); /* the grant was checked */
        }
        e->hold.part[*parts].mask = mask;
    }
    return DLS_OK;
}

dls_status dls_place_trial(dls_engine *e, int32_t job, int32_t type, int64_t at_us, bool *fits, dls_error *err)
{
    DLS_DEBUG_ASSERT(!e->index->parts);
    int64_t retry_us = DLS_NEVER;
    const dls_placement_ops *ops = e->params->placement;
    dls_request r = request(e, job, type);
    r.now_us = at_us;
    r.retry_us = &retry_us;
    dls_grant_reset(&e->ask.grant);
    *fits = e->index->type[type].free_gpus >= r.gpus &&
            ops->place(e->ask.placement_state, e->index, &r, &e->ask.grant);
    DLS_TRY(dls_policy_check(e, ops->name, job, err));
    return *fits ? check_grant(e, &r, ops->name, false, err) : DLS_OK;
}

dls_status dls_place_job(dls_engine *e, int32_t job, int32_t type, int32_t *parts, bool *placed,
                         dls_error *err)
{
    DLS_DEBUG_ASSERT(type >= 0 && type < e->select.n_types);
    int64_t retry_us = DLS_NEVER;
    dls_request r = request(e, job, type);
    r.retry_us = &retry_us;
    const dls_placement_ops *ops = e->params->placement;
    const bool part = r.gpu_milli < DLS_GPU_MILLI;
    *parts = -1;
    dls_grant_reset(&e->ask.grant);
    if (part && !ops->parts) {
        DLS_TRY(take_tightest(e, job, type, -1, parts, err));
        *placed = *parts >= 0;
        if (*placed) {
            return DLS_OK;
        }
    }
    /* By number there is room; with parts of GPUs it may lie in pieces, and nodes may be short of CPU or memory. */
    const bool asked = (part && ops->parts) || (e->index->type[type].free_gpus >= r.gpus &&
                                                dls_place_has_room(e->index, &r));
    *placed = asked && ops->place(e->ask.placement_state, e->index, &r, &e->ask.grant);
    DLS_TRY(dls_policy_check(e, ops->name, job, err));
    if (*placed && part) {
        DLS_TRY(take_granted_part(e, &r, ops->name, parts, err));
        *placed = *parts >= 0;
    }
    if (!*placed) {
        e->rec->refusals++;
        DLS_TRY(asked ? dls_place_refused(e->index, &r, err) : DLS_OK);
        return retry_us == DLS_NEVER ? DLS_OK
                                     : set_retry(e, e->job[job].cls, job, retry_us, err);
    }
    if (!part) {
        DLS_TRY(check_grant(e, &r, ops->name, false, err));
    }
    if (e->ask.shift_s) {
        e->ask.shift_s[job] = e->ask.grant.shift_s;
    }
    return part ? DLS_OK : take_grant(e, job, parts, err);
}

dls_status dls_place_on(dls_engine *e, int32_t job, const dls_place_part *nodes, int32_t n,
                        int32_t *parts, dls_error *err)
{
    DLS_DEBUG_ASSERT(n > 0);
    const dls_request r = request(e, job, e->index->node[nodes[0].node].type);
    *parts = -1;
    dls_grant_reset(&e->ask.grant);
    for (int32_t i = 0; i < n; i++) {
        dls_grant_add(&e->ask.grant, nodes[i].node, nodes[i].gpus);
    }
    if (r.gpu_milli < DLS_GPU_MILLI) {
        DLS_TRY(take_granted_part(e, &r, e->params->sched->name, parts, err));
        return *parts >= 0 ? DLS_OK
                           : dls_illegal(e, job, err,
                                         "is to get a part of a GPU of node %d, which has not so "
                                         "much left, or not the CPU or memory",
                                         nodes[0].node);
    }
    DLS_TRY(check_grant(e, &r, e->params->sched->name, e->params->sched->mixes, err));
    return take_grant(e, job, parts, err);
}

/* The GPUs of a job by node into the scratch arrays. */
static dls_status list_seats(dls_engine *e, int32_t parts, dls_error *err)
{
    size_t n = 0;
    for (int32_t p = parts; p >= 0; p = e->hold.part[p].next, n++) {
        DLS_TRY(dls_grow(&e->ask.seat, &e->ask.seat_cap, n + 1, sizeof *e->ask.seat, err));
        DLS_TRY(dls_grow(&e->ask.seat_node, &e->ask.seat_node_cap, n + 1, sizeof *e->ask.seat_node,
                         err));
        DLS_TRY(dls_grow(&e->ask.seat_gpus, &e->ask.seat_gpus_cap, n + 1, sizeof *e->ask.seat_gpus,
                         err));
        e->ask.seat[n] = (dls_seat){.mask = e->hold.part[p].mask, .node = e->hold.part[p].node};
        e->ask.seat_node[n] = e->hold.part[p].node;
        e->ask.seat_gpus[n] = dls_gpus_of(e->hold.part[p].mask);
    }
    e->ask.n_seats = n;
    return DLS_OK;
}

dls_status dls_shares_memory(dls_engine *e, int32_t job, int32_t host, bool *fits, dls_error *err)
{
    DLS_DEBUG_ASSERT(e->job[host].parts >= 0);
    const dls_pace *pace = e->params->pace;
    *fits = true;
    if (pace && pace->shares) {
        DLS_TRY(list_seats(e, e->job[host].parts, err));
        *fits = pace->shares(pace->world, job, e->hold.type[host], e->ask.seat, e->ask.n_seats);
    }
    return DLS_OK;
}

dls_status dls_ask_share(dls_engine *e, int32_t job, int32_t host, double *value, dls_error *err)
{
    DLS_DEBUG_ASSERT(!e->jobs.running[job] && e->jobs.running[host]);
    const dls_request r = request(e, job, e->hold.type[host]);
    const dls_shape shape = dls_shape_of(e, host);
    bool fits = true;
    *value = e->params->placement->share(e->ask.placement_state, e->index, &r, host, &shape);
    DLS_TRY(dls_policy_check(e, e->params->placement->name, job, err));
    if (isnan(*value)) {
        return dls_fail(err, DLS_EPOLICY, e->params->placement->name,
                        "job %d: the worth of sharing GPUs with job %d is not a number", job, host);
    }
    if (*value > 0) { /* last, as it looks at every GPU */
        DLS_TRY(dls_shares_memory(e, job, host, &fits, err));
    }
    *value = fits ? *value : 0;
    return DLS_OK;
}

/* Whether a callback of the placement runs: what it asks wrongly is its fault, whoever looks next. */
static void placement_runs(dls_engine *e, bool runs)
{
    dls_fault *f = e->index->fault;
    if (!f->query) {
        f->who = runs ? e->params->placement->name : NULL;
    }
}

/* The type of `types` (bits, not 0) that the placement finds cheapest to start the job on now; -1:
 * it would rather wait. */
static int32_t cheapest_type(void *engine, int32_t job, uint32_t types)
{
    DLS_DEBUG_ASSERT(types != 0);
    dls_engine *e = engine;
    const dls_placement_ops *ops = e->params->placement;
    double least = (double)INFINITY;
    int64_t retry_us = DLS_NEVER;
    int32_t best = -1;
    placement_runs(e, true);
    for (int32_t t = 0; t < e->select.n_types; t++) {
        if (!(types >> t & 1)) {
            continue;
        }
        dls_request r = request(e, job, t);
        r.retry_us = &retry_us;
        const double cost = ops->cost(e->ask.placement_state, e->index, &r);
        if (cost < least) {
            least = cost;
            best = t;
        } else if (isnan(cost)) {
            dls_policy_fail(e->index, "the cost of starting job %d is not a number", job);
        }
    }
    placement_runs(e, false);
    int64_t *at_us = &e->ask.retry_us[e->job[job].cls];
    if (best < 0 && retry_us < *at_us) {
        *at_us = retry_us;
        e->ask.any_retry = true;
        e->ask.early_job = retry_us <= e->clock.now_us ? job : e->ask.early_job;
    }
    return best;
}

void dls_ask_bind(dls_engine *e)
{
    e->ask.predictor =
        (dls_place_predictor){.prediction = prediction, .candidates = candidates, .user = e};
    e->ask.pace = e->params->pace ? *e->params->pace : (dls_pace){0};
    e->ask.pace.turn = turn;
    e->ask.pace.route = route;
    e->ask.pace.engine = e;
    e->select.fetch = dls_fetch_job;
    e->select.user = e;
    e->select.choose = e->params->placement->cost ? cheapest_type : NULL;
}

void dls_ask_init(dls_engine *e)
{
    for (int32_t c = 0; e->ask.retry_us && c < e->select.n_classes; c++) {
        e->ask.retry_us[c] = DLS_NEVER;
    }
    for (int32_t j = 0; e->ask.shift_s && j < e->n; j++) {
        e->ask.shift_s[j] = (double)NAN;
    }
    for (int32_t j = 0; e->select.refusal && j < e->n; j++) {
        e->select.refusal[j].pass = e->select.refusal[j].releases = UINT64_MAX;
    }
    dls_ask_bind(e);
}

dls_status dls_set_retries(dls_engine *e, dls_error *err)
{
    for (int32_t c = 0; c < e->select.n_classes && e->ask.any_retry; c++) {
        const int64_t at_us = e->ask.retry_us[c];
        e->ask.retry_us[c] = DLS_NEVER;
        if (at_us < DLS_NEVER) {
            DLS_TRY(set_retry(e, c, e->ask.early_job, at_us, err));
        }
    }
    e->ask.any_retry = false;
    return DLS_OK;
}

/* ---- what happened -------------------------------------------------------------------------- */

static dls_status notify_started(dls_engine *e, int32_t job, dls_error *err)
{
    const dls_placement_ops *ops = e->params->placement;
    const dls_pace *pace = e->params->pace;
    DLS_TRY(list_seats(e, e->job[job].parts, err));
    if (pace) { /* first, so that the placement can give the job a route */
        DLS_TRY(pace->start(pace->world, job, e->hold.type[job], e->ask.seat, e->ask.n_seats, err));
    }
    if (ops->started) {
        const dls_request r = request(e, job, e->hold.type[job]);
        placement_runs(e, true);
        ops->started(e->ask.placement_state, e->index, &r, e->ask.seat_node, e->ask.seat_gpus,
                     e->ask.n_seats);
        placement_runs(e, false);
    }
    if (e->ask.shift_s && !isnan(e->ask.shift_s[job])) {
        pace->set_shift(pace->world, job, e->ask.shift_s[job]);
        e->ask.shift_s[job] = (double)NAN; /* of this grant alone */
    }
    return DLS_OK;
}

dls_status dls_tell_started(dls_engine *e, int32_t job, dls_error *err)
{
    if (e->jobs.work_at_start) {
        e->jobs.work_at_start[job] = e->job[job].work;
    }
    return e->params->pace || e->params->placement->started ? notify_started(e, job, err) : DLS_OK;
}

void dls_tell_stopped(dls_engine *e, int32_t job)
{
    const dls_placement_ops *ops = e->params->placement;
    const dls_pace *pace = e->params->pace;
    if (ops->stopped) {
        const int64_t worked_us = dls_work_to_us(e->jobs.work_at_start[job] - e->job[job].work);
        placement_runs(e, true);
        ops->stopped(e->ask.placement_state, e->index, job, e->clock.now_us, worked_us);
        placement_runs(e, false);
    }
    if (pace) {
        pace->stop(pace->world, job);
    }
}
