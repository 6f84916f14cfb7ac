/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Rates of the jobs that were touched, and of those whose share of a link is another one for that.
 */
#include "world/world_impl.h"

#include "base/alloc.h"
#include "workload/operator/residual.h"

#include <math.h>
#include <stdio.h>

/* ---- shared GPUs ----------------------------------------------------------------------------- */

#define LEAST_LEFT 0.02    /* of its speed, for a job behind others that leave nothing */
#define LEAST_SPEED 0.5    /* of an equal part, for a job that suffers more than the law says */
#define UTIL_ONE 1048576.0 /* utilisations add up as integers: in any order the same */
#define OWN_ONE 0x1p40     /* so does what the law does not know */

/* What the law does not know of a job beside another: the same whenever these models meet. */
static double beside(const dls_world *w, int32_t slot, int32_t other)
{
    char name[128];
    snprintf(name, sizeof name, "beside %s", w->kinds.kind[w->kinds.of[w->slot[other].job]].model);
    return log(dls_residual(w->p.seed, w->kinds.kind[w->kinds.of[w->slot[slot].job]].model,
                            w->types[w->slot[slot].type].name, name, w->p.interference_sigma));
}

/* Speed of a job on one GPU of a node that has what those who were there before it leave. */
static double speed_behind(const dls_world *w, int32_t node, uint64_t gpu, int32_t slot)
{
    const dls_crossing *crossing = w->shares.crossing;
    int64_t elder = 0;
    for (int32_t c = w->shares.link[node].first; c >= 0; c = crossing[c].next) {
        const dls_slot *s = &w->slot[crossing[c].flow];
        if (crossing[c].mask & gpu && s->born < w->slot[slot].born && s->shape >= 0) {
            elder += llround(w->shapes.entry[s->shape].solo.gpu_util * UTIL_ONE);
        }
    }
    const int32_t shape = w->slot[slot].shape;
    const double mine = shape < 0 ? 0 : w->shapes.entry[shape].solo.gpu_util;
    const double left = 1 - (double)elder / UTIL_ONE;
    return elder == 0 || mine <= left ? 1 : fmax(left / mine, LEAST_LEFT);
}

/* Speed of a job on one GPU of a node under all that run on it. */
static double gpu_speed(const dls_world *w, int32_t node, uint64_t gpu, int32_t slot)
{
    int64_t sum = 0, memory = 0, own = 0;
    int32_t jobs = 0;
    const dls_crossing *crossing = w->shares.crossing;
    if (w->p.guests_yield) {
        return speed_behind(w, node, gpu, slot);
    }
    for (int32_t c = w->shares.link[node].first; c >= 0; c = crossing[c].next) {
        if (crossing[c].mask & gpu) {
            const int32_t shape = w->slot[crossing[c].flow].shape;
            sum += shape < 0 ? 0 : llround(w->shapes.entry[shape].solo.gpu_util * UTIL_ONE);
            memory += shape < 0 ? 0 : llround(w->shapes.entry[shape].solo.mem_util * UTIL_ONE);
            jobs++;
            if (w->p.interference_sigma > 0 && crossing[c].flow != slot) {
                own += llround(beside(w, slot, crossing[c].flow) * OWN_ONE);
            }
        }
    }
    if (jobs < 2) {
        return 1;
    }
    const double over = fmax(0, (double)sum / UTIL_ONE - w->p.interference_knee);
    const double wide = w->p.memory_bandwidth ? fmax(1, (double)memory / UTIL_ONE) : 1;
    const double law = fmin(1 / wide, fmax(1 - w->p.interference_slope * over, 1.0 / jobs));
    return own == 0 ? law : fmin(1, fmax(law + (double)own / OWN_ONE, LEAST_SPEED / jobs));
}

/* Speed of a job in step with those on its GPUs: they are the same on all of its nodes. */
static double speed_in_step(const dls_world *w, int32_t slot)
{
    const dls_stage_row *member[DLS_GROUP_MAX];
    const dls_crossing *crossing = w->shares.crossing;
    int32_t own = w->shares.flow[slot].crossing, n = 0;
    while (!crossing[own].mask) {
        own = crossing[own].next_of_flow;
    }
    const uint64_t gpu = crossing[own].mask & -crossing[own].mask;
    for (int32_t c = w->shares.link[crossing[own].link].first; c >= 0; c = crossing[c].next) {
        if (crossing[c].mask & gpu && n < DLS_GROUP_MAX) {
            member[n++] = w->stages.of[w->slot[crossing[c].flow].job];
        }
    }
    return w->stages.of[w->slot[slot].job]->iteration_s /
           dls_stage_group_s(member, n, w->p.stages_overlap);
}

static double speed_of(const dls_world *w, int32_t slot)
{
    double speed = 1;
    if (w->stages.n > 0) {
        return speed_in_step(w, slot);
    }
    for (int32_t c = w->shares.flow[slot].crossing; c >= 0;
         c = w->shares.crossing[c].next_of_flow) {
        const dls_crossing *x = &w->shares.crossing[c];
        const uint64_t shared = x->mask ? w->node[x->link].shared : 0; /* uplinks have no GPUs */
        for (uint64_t left = x->mask & (w->variability.n > 0 ? x->mask : shared); left;
             left &= left - 1) {
            const uint64_t gpu = left & -left;
            const double beside = gpu & shared ? gpu_speed(w, x->link, gpu, slot) : 1;
            speed = fmin(speed, beside * dls_world_gpu_speed(w, w->slot[slot].job, x->link,
                                                             __builtin_ctzll(gpu)));
        }
    }
    return speed;
}

/* ---- order ----------------------------------------------------------------------------------- */

static int32_t key_of(const dls_slot *slots, int32_t x)
{
    return slots ? slots[x].job : x;
}

/* Ascending by job of the slots, or by the numbers themselves for NULL. A heap sort in place: the C
 * library's sort may allocate. */
static void sort(int32_t *a, size_t n, const dls_slot *slots)
{
    for (size_t build = n / 2, end = n; end > 1;) {
        size_t at = 0, child;
        int32_t x;
        if (build > 0) {
            at = --build;
            x = a[at];
        } else {
            x = a[--end];
            a[end] = a[0];
        }
        for (; (child = 2 * at + 1) < end; at = child) {
            if (child + 1 < end && key_of(slots, a[child + 1]) > key_of(slots, a[child])) {
                child++;
            }
            if (key_of(slots, a[child]) <= key_of(slots, x)) {
                break;
            }
            a[at] = a[child];
        }
        a[at] = x;
    }
}

/* ---- one job --------------------------------------------------------------------------------- */

/* What a job is pulled back from now on, at that iteration time. */
static void count_pull_backs(dls_world *w, dls_slot *s, double iteration_s)
{
    const double per_s = 2 * s->pause / iteration_s; /* each costs half an iteration alone */
    const double lost = s->pause / (1 + s->pause) * w->shapes.entry[s->shape].key.gpus;
    w->pull_backs += llround(per_s * DLS_PULL_ONE) - s->pull_backs;
    w->pulled_gpus += llround(lost * DLS_PULL_ONE) - s->pulled_gpus;
    s->pull_backs = llround(per_s * DLS_PULL_ONE);
    s->pulled_gpus = llround(lost * DLS_PULL_ONE);
}

/* What a job that is not on shared links can send: its line, or what is left of the narrowest of its nodes' links. */
static double own_bps(const dls_world *w, const dls_slot *s, const dls_flow *f, double line)
{
    for (int32_t c = s->own_links ? f->crossing : -1; c >= 0; c = w->shares.crossing[c].next_of_flow) {
        const double left = w->shares.link[w->shares.crossing[c].link].capacity;
        line = left > 0 ? fmin(line, left) : line;
    }
    return line;
}

/* The rate that a job now has. */
static dls_status assign(dls_world *w, int32_t slot, dls_error *err)
{
    dls_slot *s = &w->slot[slot];
    dls_shares *shares = dls_level_shares(w, s->level);
    const dls_flow *f = &shares->flow[slot];
    int64_t rate = DLS_RATE_ONE;
    w->cost.jobs++;
    if (s->shape >= 0) {
        const dls_shape_entry *e = &w->shapes.entry[s->shape];
        double iteration_s = e->solo.iteration_s / f->speed;
        if (f->curve) {
            if (f->x < f->curve->line || f->speed < 1) {
                iteration_s =
                    fmax(e->solo.iteration_s, dls_curve_iteration_s(f->curve, f->x, f->speed));
            }
            if (w->drift.jitter > 0) {
                iteration_s *= 1 + s->pause;
                count_pull_backs(w, s, iteration_s);
            }
            const double used = f->curve->bytes / iteration_s;
            for (int32_t c = f->crossing; c >= 0; c = shares->crossing[c].next_of_flow) {
                if (shares->crossing[c].network) {
                    dls_world_set_load(w, s->level, &shares->crossing[c], used);
                }
            }
        } else if (e->curve) {
            const double bps = own_bps(w, s, f, e->curve->line);
            if (bps < e->curve->line || f->speed < 1) {
                iteration_s = fmax(e->solo.iteration_s, dls_curve_iteration_s(e->curve, bps, f->speed));
            }
        }
        rate = dls_world_rate(w, s->job, iteration_s);
    } else if (f->speed < 1) {
        rate = llround(fmax(1, f->speed * (double)DLS_RATE_ONE));
    }
    if (rate != s->rate) {
        s->rate = rate;
        DLS_TRY(dls_grow(&w->moved, &w->moved_cap, w->n_moved + 1, sizeof *w->moved, err));
        w->moved[w->n_moved++] = slot;
    }
    return DLS_OK;
}

/* ---- shifted bursts -------------------------------------------------------------------------- */

static dls_burst burst_of(const dls_world *w, int32_t slot)
{
    const dls_slot *s = &w->slot[slot];
    const dls_solo *solo = &w->shapes.entry[s->shape].solo;
    return (dls_burst){solo->iteration_s, solo->link_bytes / solo->line_bps, s->shift_s,
                       (double)w->work_us[s->job] / 1e6};
}

/* Of the traffic that a job's neighbours on a link have alone, the part that meets its bursts: sums
 * of whole bytes, in any order the same. */
static double met_on_link(const dls_world *w, int32_t link, int32_t me)
{
    const dls_crossing *crossing = w->shares.crossing;
    const dls_burst mine = burst_of(w, me);
    int64_t met = 0, all = 0;
    for (int32_t c = w->shares.link[link].first; c >= 0; c = crossing[c].next) {
        if (crossing[c].network && crossing[c].flow != me) {
            const dls_burst other = burst_of(w, crossing[c].flow);
            const int64_t alone = w->shares.flow[crossing[c].flow].alone;
            met += llround((double)alone * dls_interleave(&mine, &other, &w->drift));
            all += alone;
        }
    }
    return all > 0 ? (double)met / (double)all : 0;
}

/* On the link where it meets most, of those that could hold it up; *pause: of an iteration, what pull-backs
 * cost on average. A job whose shift spares nobody anything is not kept in step. */
static double overlap_of(const dls_world *w, int32_t slot, double *pause)
{
    double most = 0, least = 1;
    *pause = 0;
    if (isnan(w->slot[slot].shift_s)) {
        return 1;
    }
    for (int32_t c = w->shares.flow[slot].crossing; c >= 0;
         c = w->shares.crossing[c].next_of_flow) {
        const dls_crossing *x = &w->shares.crossing[c];
        if (x->network && dls_link_binds(&w->shares.link[x->link])) {
            most = fmax(most, x->met);
            least = fmin(least, x->met);
        }
    }
    *pause = least < 1 ? 0.5 / w->drift.iterations : 0;
    return most;
}

/* Of all jobs on the links that have changed. Those of other links meet the same as before. */
static void interleave(dls_world *w)
{
    dls_shares *s = &w->shares;
    const int32_t n = s->n_changed; /* what a new overlap changes has no new neighbours */
    for (int32_t i = 0; i < n; i++) {
        const dls_link *l = &s->link[s->changed[i]];
        for (int32_t c = dls_link_binds(l) ? l->first : -1; c >= 0; c = s->crossing[c].next) {
            dls_crossing *x = &s->crossing[c];
            if (x->network && !isnan(w->slot[x->flow].shift_s)) {
                x->met = met_on_link(w, x->link, x->flow);
            }
        }
    }
    for (int32_t i = 0; i < n; i++) {
        for (int32_t c = s->link[s->changed[i]].first; c >= 0; c = s->crossing[c].next) {
            const int32_t slot = s->crossing[c].flow;
            double pause;
            if (s->crossing[c].network) {
                dls_shares_set_overlap(s, slot, overlap_of(w, slot, &pause));
                if (pause != w->slot[slot].pause) {
                    w->slot[slot].pause = pause;
                    dls_world_touch(w, slot);
                }
            }
        }
    }
}

/* The jobs whose rate has changed, in their order. */
static dls_status report(dls_world *w, dls_error *err)
{
    sort(w->moved, w->n_moved, w->slot);
    DLS_TRY(dls_grow(&w->changed, &w->changed_cap, w->n_moved, sizeof *w->changed, err));
    for (size_t i = 0; i < w->n_moved; i++) {
        const dls_slot *s = &w->slot[w->moved[i]];
        w->changed[i] = (dls_rate_change){s->job, s->rate};
    }
    return DLS_OK;
}

/* Of the jobs touched, those that still run: their speed is worked out before any share is. */
static void refresh(dls_world *w)
{
    size_t kept = 0;
    for (size_t i = 0; i < w->n_touched; i++) {
        const int32_t slot = w->touched[i];
        dls_slot *s = &w->slot[slot];
        s->touched = s->job >= 0;
        if (s->touched) {
            w->touched[kept++] = slot;
            if (s->stale_speed) {
                dls_shares_set_speed(dls_level_shares(w, s->level), slot, speed_of(w, slot));
                s->stale_speed = false;
            }
        }
    }
    w->n_touched = kept;
}

/* Those of a level, when all before it know what they use. */
static dls_status settle_level(dls_world *w, int32_t level, dls_error *err)
{
    dls_shares *shares = dls_level_shares(w, level);
    const int32_t *slot;
    size_t n_slots;
    DLS_TRY(dls_shares_settle(shares, &slot, &n_slots, err));
    w->cost.links += shares->solved;
    for (size_t i = 0; i < w->n_touched; i++) {
        if (w->slot[w->touched[i]].level == level) {
            DLS_TRY(assign(w, w->touched[i], err));
        }
    }
    for (size_t i = 0; i < n_slots; i++) {
        if (!w->slot[slot[i]].touched) {
            DLS_TRY(assign(w, slot[i], err));
        }
    }
    return DLS_OK;
}

dls_status dls_world_settle(dls_world *w, const dls_rate_change **changed, size_t *n,
                            dls_error *err)
{
    w->n_moved = 0;
    w->cost.settles++;
    refresh(w);
    if (w->n_shifted > 0) {
        interleave(w);
    }
    w->cost.links = 0;
    for (int32_t level = 0; level < w->n_levels; level++) {
        DLS_TRY(settle_level(w, level, err));
    }
    for (size_t i = 0; i < w->n_touched; i++) {
        w->slot[w->touched[i]].touched = false;
    }
    w->n_touched = 0;
    DLS_TRY(report(w, err));
    *changed = w->changed;
    *n = w->n_moved;
    return DLS_OK;
}
