/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Chooses among the ways to place a gang now, and between placing now and waiting, by predicted
 * completion; remembers each answer until GPUs of that type or the jobs on them change.
 */
#include "placement/choose.h"

#include "dlsim/memory.h"
#include "placement/fit.h"

#include <math.h>
#include <string.h>

dls_status dls_choose_init(dls_choose *c, const dls_place_index *index,
                           const dls_option_value *values, dls_error *err)
{
    c->gain = values[DLS_CHOOSE_GAIN].f;
    c->max_wait_us = (int64_t)(values[DLS_CHOOSE_MAX_WAIT].f * 1e6);
    c->relax = c->alike = 0;
    c->link_part = 1;
    c->trial = dls_grant_create();
    return c->trial ? dls_traffic_init(&c->traffic, index, err) : dls_nomem(err, "placement", 0);
}

dls_status dls_choose_init_all(void *state, const dls_place_index *index,
                               const dls_option_value *values, dls_error *err)
{
    dls_choose *c = state;
    DLS_TRY(dls_choose_init(c, index, values, err));
    c->relax = values[DLS_CHOOSE_RELAX].f;
    c->link_part = values[DLS_CHOOSE_LINK].f;
    c->alike = values[DLS_CHOOSE_ALIKE].f;
    return DLS_OK;
}

void dls_choose_fini(void *state)
{
    dls_choose *c = state;
    dls_traffic_fini(&c->traffic);
    dls_grant_destroy(c->trial);
}

dls_status dls_choose_clone(void *state, const void *from, const dls_place_index *index,
                            dls_error *err)
{
    dls_choose *c = state;
    const dls_choose *of = from;
    c->trial = dls_grant_create();
    DLS_TRY(dls_traffic_clone(&c->traffic, &of->traffic, index, err));
    return c->trial ? DLS_OK : dls_nomem(err, "placement", 0);
}

/* ---- ways to place -------------------------------------------------------------------------- */

bool dls_choose_fill(const dls_place_index *index, const dls_request *r, int32_t way,
                     dls_grant *grant)
{
    dls_grant_reset(grant);
    return way == DLS_WAY_CONSOLIDATED ? dls_fit_consolidated(index, r, grant)
           : way == DLS_WAY_LEFTOVERS  ? dls_fit_fragments(index, r, grant)
                                       : dls_fit_rack(index, r, way, grant);
}

/* Predicted remaining time of one way; INFINITY: not possible; NAN: nothing is known of the job. */
static double remaining_s(const dls_place_index *index, const dls_request *r, int32_t way,
                          dls_grant *grant, dls_shape *shape, dls_prediction *f)
{
    if (!dls_choose_fill(index, r, way, grant) || !dls_grant_shape(grant, index, shape)) {
        return (double)INFINITY;
    }
    return dls_place_predict(r, r->job, shape, f) ? f->remaining_s : (double)NAN;
}

static dls_choice weigh(dls_choose *c, const dls_place_index *index, const dls_request *r)
{
    dls_shape shape, fewest;
    dls_prediction f;
    dls_choice best = {DLS_WAY_CONSOLIDATED,
                       remaining_s(index, r, DLS_WAY_CONSOLIDATED, c->trial, &fewest, &f)};
    if (!(best.best_s < (double)INFINITY) || r->gpus < 2) {
        return best; /* one GPU: the tightest node is a leftover */
    }
    const int32_t rack = fewest.n_racks > 1 ? dls_fit_find_rack(index, r) : -1;
    if (rack >= 0) {
        const double s = remaining_s(index, r, rack, c->trial, &shape, &f);
        best = s < best.best_s ? (dls_choice){rack, s} : best;
    }
    const double s = remaining_s(index, r, DLS_WAY_LEFTOVERS, c->trial, &shape, &f);
    if (s <= best.best_s * (1 + c->relax) &&
        dls_traffic_fits(&c->traffic, index, c->trial, &shape, &f, c->link_part)) {
        best = (dls_choice){DLS_WAY_LEFTOVERS, fmin(s, best.best_s)};
    }
    return best;
}

/* ---- what is kept --------------------------------------------------------------------------- */

/* The memo, in a table of DLS_CHOOSE_MEMOS that each begin with their key, of what is asked; it is
 * emptied if it was that of something else. */
static void *memo_of(void *table, size_t size, const dls_request *r, int32_t type)
{
    const dls_choose_key key = {r->job + 1, type, r->waiting_since_us};
    const uint32_t x = (uint32_t)r->job * DLS_TYPES_MAX + (uint32_t)(type + 1);
    /* Fibonacci hashing */
    char *memo = (char *)table + (x * UINT32_C(2654435761) >> 16) % DLS_CHOOSE_MEMOS * size;
    const dls_choose_key *k = (const dls_choose_key *)memo;
    if (k->job != key.job || k->type != type || k->since_us != key.since_us) {
        memset(memo, 0, size);
        memcpy(memo, &key, sizeof key);
    }
    return memo;
}

static double ideal_s(dls_choose *c, const dls_place_index *index, const dls_request *r)
{
    dls_choice_memo *m = memo_of(c->choice, sizeof *m, r, r->type);
    if (!m->has_ideal) {
        m->ideal_s = dls_fit_ideal_s(index, r);
        m->has_ideal = true;
    }
    return m->ideal_s;
}

static dls_choice choose(dls_choose *c, const dls_place_index *index, const dls_request *r)
{
    if (dls_place_free_gpus(index, r->type) < r->gpus) {
        return (dls_choice){DLS_WAY_CONSOLIDATED, (double)INFINITY};
    }
    if (r->gpus == 1 && r->cpu_milli_per_gpu == 0 && r->mem_mib_per_gpu == 0) {
        return (dls_choice){DLS_WAY_CONSOLIDATED, ideal_s(c, index, r)}; /* any free GPU is that */
    }
    const uint64_t gpus = dls_place_changes(index, r->type), jobs = c->traffic.changes[r->type];
    dls_choice_memo *m = memo_of(c->choice, sizeof *m, r, r->type);
    if (!m->chosen || m->gpus_version != gpus || m->jobs_version != jobs) {
        m->choice = weigh(c, index, r);
        m->chosen = true;
        m->gpus_version = gpus;
        m->jobs_version = jobs;
    }
    return m->choice;
}

static double predict(const dls_request *r, const dls_shape *shape)
{
    dls_prediction p;
    return dls_place_predict(r, r->job, shape, &p) ? p.remaining_s : (double)NAN;
}

/* ---- waiting -------------------------------------------------------------------------------- */

bool dls_choose_wait(dls_choose *c, const dls_place_index *index, const dls_request *r,
                     double best_s)
{
    const double enough_s = best_s * (1 - c->gain);
    const int64_t waited_us = r->now_us - r->waiting_since_us;
    int64_t retry_us = DLS_NEVER;
    double least_s = enough_s;
    size_t n;
    const dls_shape *shape = dls_place_candidates(r, &n);
    dls_candidates_memo *known = memo_of(c->candidates, sizeof *known, r, -1);
    for (; known->n < n && known->n < DLS_CHOOSE_SHAPES; known->n++) {
        known->remaining_s[known->n] = predict(r, &shape[known->n]);
    }
    for (size_t i = 0; i < n; i++) {
        const double remaining_s = i < known->n ? known->remaining_s[i] : predict(r, &shape[i]);
        if (isnan(remaining_s)) {
            break;
        }
        /* Time already waited counts as well: no job waits longer than a better place saves. */
        const double spare_us = (least_s - remaining_s) * 1e6 - (double)waited_us;
        const int64_t most_us = c->max_wait_us - waited_us;
        const int64_t limit_us = spare_us < (double)most_us ? (int64_t)spare_us : most_us;
        if (limit_us <= 0) {
            break; /* the best come first */
        }
        const int64_t wait_us =
            dls_traffic_wait_us(&c->traffic, index, &shape[i], r->now_us, limit_us);
        /* What is free now was among the ways, or cannot be had for another reason. */
        if (wait_us > 0 && wait_us < limit_us) {
            least_s = (double)(waited_us + wait_us) / 1e6 + remaining_s;
            retry_us = r->now_us + wait_us;
        }
    }
    if (retry_us < DLS_NEVER && r->retry_us && retry_us < *r->retry_us) {
        *r->retry_us = retry_us;
    }
    return retry_us < DLS_NEVER;
}

/* ---- for the table of a policy -------------------------------------------------------------- */

bool dls_choose_place(void *state, const dls_place_index *index, const dls_request *r,
                      dls_grant *grant)
{
    if (!r->predictor) {
        return dls_fit_consolidated(index, r, grant); /* and nothing is kept */
    }
    const dls_choice best = choose(state, index, r);
    if (isinf(best.best_s) ||
        (!isnan(best.best_s) && dls_choose_wait(state, index, r, best.best_s))) {
        return false;
    }
    return dls_choose_fill(index, r, best.way, grant);
}

/* What taking the type costs others, as a part of the run time. */
static double worth_of_type(const dls_choose *c, const dls_place_index *index, int32_t type)
{
    double most = 0;
    for (int32_t t = 0; c->alike > 0 && t < dls_place_types(index); t++) {
        most = fmax(most, dls_place_gpu_flops(index, t));
    }
    return most > 0 ? c->alike * dls_place_gpu_flops(index, type) / most : 0;
}

double dls_choose_cost(void *state, const dls_place_index *index, const dls_request *r)
{
    if (!r->predictor) {
        return 0;
    }
    const double best_s = choose(state, index, r).best_s;
    const double cost_s = isinf(best_s) ? ideal_s(state, index, r) : best_s;
    if (isnan(cost_s)) {
        return 0;
    }
    return dls_choose_wait(state, index, r, cost_s)
               ? (double)INFINITY
               : cost_s * (1 + worth_of_type(state, index, r->type));
}
