/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Rates of the jobs that were touched, and of all that are connected to them through links that bind.
 * A component is solved from its jobs and links alone, in their order: rates do not depend on what
 * ran before.
 */
#include "perf/interleave.h"
#include "perf/world_impl.h"

#include "base/alloc.h"

#include <math.h>

/* ---- shared GPUs --------------------------------------------------------------------------------- */

#define UTIL_ONE 1048576.0 /* utilisations add up as integers: in any order the same */

/* Speed of one GPU of a node under all that run on it. */
static double gpu_speed(const dls_world *w, int32_t node, uint64_t gpu)
{
    int64_t sum = 0;
    int32_t jobs = 0;
    for (int32_t c = w->link[node].first; c >= 0; c = w->crossing[c].next) {
        if (w->crossing[c].mask & gpu) {
            const int32_t shape = w->slot[w->crossing[c].slot].shape;
            sum += shape < 0 ? 0 : llround(w->shapes.entry[shape].solo.gpu_util * UTIL_ONE);
            jobs++;
        }
    }
    if (jobs < 2) {
        return 1;
    }
    const double over = fmax(0, (double)sum / UTIL_ONE - w->p.interference_knee);
    return fmin(1, fmax(1 - w->p.interference_slope * over, 1.0 / jobs));
}

static double speed_of(const dls_world *w, const dls_slot *s)
{
    double speed = 1;
    for (int32_t c = s->crossing; c >= 0; c = w->crossing[c].next_of_job) {
        const dls_crossing *x = &w->crossing[c];
        if (x->mask) {
            for (uint64_t left = x->mask & w->node[x->link].shared; left; left &= left - 1) {
                speed = fmin(speed, gpu_speed(w, x->link, left & -left));
            }
        }
    }
    return speed;
}

/* ---- order --------------------------------------------------------------------------------------- */

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

/* ---- one job ------------------------------------------------------------------------------------- */

/* Bandwidth and rate that a job now has. */
static dls_status assign(dls_world *w, int32_t slot, double x, dls_error *err)
{
    dls_slot *s = &w->slot[slot];
    int64_t rate = DLS_RATE_ONE;
    s->x = x;
    if (s->shape >= 0) {
        const dls_shape_entry *e = &w->shapes.entry[s->shape];
        double iteration_s = e->solo.iteration_s / s->speed;
        if (e->curve) {
            if (x < e->curve->line || s->speed < 1) {
                iteration_s = fmax(e->solo.iteration_s, dls_curve_iteration_s(e->curve, x, s->speed));
            }
            const double used = e->curve->bytes / iteration_s;
            for (int32_t c = s->crossing; c >= 0; c = w->crossing[c].next_of_job) {
                if (w->crossing[c].network) {
                    dls_world_set_load(w, &w->crossing[c], used);
                }
            }
        }
        rate = dls_world_rate(w, s->job, iteration_s);
    }
    if (rate != s->rate) {
        s->rate = rate;
        DLS_TRY(dls_grow(&w->moved, &w->moved_cap, w->n_moved + 1, sizeof *w->moved, err));
        w->moved[w->n_moved++] = slot;
    }
    return DLS_OK;
}

/* ---- a component --------------------------------------------------------------------------------- */

static dls_status meet_slot(dls_world *w, int32_t slot, dls_error *err)
{
    struct dls_component *k = &w->component;
    if (w->slot[slot].seen != w->search) {
        w->slot[slot].seen = w->search;
        DLS_TRY(dls_grow(&k->slot, &k->slot_cap, k->n_slots + 1, sizeof *k->slot, err));
        k->slot[k->n_slots++] = slot;
    }
    return DLS_OK;
}

static dls_status meet_link(dls_world *w, int32_t link, dls_error *err)
{
    struct dls_component *k = &w->component;
    if (w->link[link].seen == w->search || !dls_link_binds(&w->link[link])) {
        return DLS_OK;
    }
    w->link[link].seen = w->search;
    DLS_TRY(dls_grow(&k->link, &k->link_cap, k->n_links + 1, sizeof *k->link, err));
    k->link[k->n_links++] = link;
    for (int32_t c = w->link[link].first; c >= 0; c = w->crossing[c].next) {
        if (w->crossing[c].network) {
            DLS_TRY(meet_slot(w, w->crossing[c].slot, err));
        }
    }
    return DLS_OK;
}

/* All that the job is connected to. */
static dls_status explore(dls_world *w, int32_t slot, dls_error *err)
{
    struct dls_component *k = &w->component;
    k->n_slots = k->n_links = 0;
    DLS_TRY(meet_slot(w, slot, err));
    for (size_t i = 0; i < k->n_slots; i++) {
        for (int32_t c = w->slot[k->slot[i]].crossing; c >= 0; c = w->crossing[c].next_of_job) {
            if (w->crossing[c].network) {
                DLS_TRY(meet_link(w, w->crossing[c].link, err));
            }
        }
    }
    return DLS_OK;
}

/* Number jobs and links and count their crossings: link_first[l + 1], flow_first[j + 1]. */
static size_t count_crossings(dls_world *w, int32_t *flow_first, int32_t *link_first)
{
    struct dls_component *k = &w->component;
    size_t n = 0;
    for (size_t l = 0; l < k->n_links; l++) {
        w->link[k->link[l]].local = (int32_t)l;
        link_first[l + 1] = 0;
    }
    flow_first[0] = link_first[0] = 0;
    for (size_t j = 0; j < k->n_slots; j++) {
        const dls_slot *s = &w->slot[k->slot[j]];
        for (int32_t c = s->crossing; c >= 0; c = w->crossing[c].next_of_job) {
            const dls_link *link = &w->link[w->crossing[c].link];
            if (w->crossing[c].network && link->seen == w->search) {
                link_first[link->local + 1]++;
                n++;
            }
        }
        flow_first[j + 1] = (int32_t)n;
    }
    for (size_t l = 0; l < k->n_links; l++) {
        link_first[l + 1] += link_first[l];
    }
    return n;
}

/* Crossings of a job on links of the component, at most. */
static size_t most_crossings(const dls_world *w)
{
    size_t n = 0;
    for (size_t j = 0; j < w->component.n_slots; j++) {
        for (int32_t c = w->slot[w->component.slot[j]].crossing; c >= 0;
             c = w->crossing[c].next_of_job) {
            n++;
        }
    }
    return n;
}

static dls_status make_net(dls_world *w, dls_net *net, dls_error *err)
{
    struct dls_component *k = &w->component;
    const size_t n = k->n_slots, m = k->n_links, crossings = most_crossings(w);
    DLS_TRY(dls_grow(&k->index, &k->index_cap, 2 * crossings + n + 3 * m + 2, sizeof *k->index, err));
    DLS_TRY(dls_grow(&k->number, &k->number_cap, n + 3 * m, sizeof *k->number, err));
    DLS_TRY(dls_grow(&k->flag, &k->flag_cap, n + m, sizeof *k->flag, err));
    DLS_TRY(dls_grow(&k->flow, &k->flow_cap, n, sizeof *k->flow, err));
    int32_t *flow_first = k->index, *link_first = flow_first + n + 1;
    int32_t *heap = link_first + m + 1, *place = heap + m;
    int32_t *links_of = place + m, *flows_of = links_of + crossings;
    double *capacity = k->number, *first_level = capacity + m, *level = first_level + m;
    double *used = level + m;
    count_crossings(w, flow_first, link_first);
    for (size_t l = 0; l < m; l++) {
        place[l] = link_first[l];
        capacity[l] = w->link[k->link[l]].capacity;
        first_level[l] = w->link[k->link[l]].level;
    }
    for (size_t j = 0; j < n; j++) {
        const dls_slot *s = &w->slot[k->slot[j]];
        const dls_curve *curve = w->shapes.entry[s->shape].curve;
        int32_t at = flow_first[j];
        k->flow[j] = (dls_flow){curve, s->speed, 1, curve->line};
        for (int32_t c = s->crossing; c >= 0; c = w->crossing[c].next_of_job) {
            const dls_link *link = &w->link[w->crossing[c].link];
            if (w->crossing[c].network && link->seen == w->search) {
                links_of[at++] = link->local;
                flows_of[place[link->local]++] = (int32_t)j;
            }
        }
    }
    *net = (dls_net){.n_flows = (int32_t)n,
                     .n_links = (int32_t)m,
                     .flow = k->flow,
                     .capacity = capacity,
                     .flow_first = flow_first,
                     .links_of = links_of,
                     .link_first = link_first,
                     .flows_of = flows_of,
                     .first_level = first_level,
                     .level = level,
                     .used = used,
                     .heap = heap,
                     .stale = k->flag,
                     .done = k->flag + m};
    return DLS_OK;
}

/* ---- shifted bursts ------------------------------------------------------------------------------ */

static dls_burst burst_of(const dls_world *w, int32_t slot)
{
    const dls_slot *s = &w->slot[slot];
    const dls_solo *solo = &w->shapes.entry[s->shape].solo;
    return (dls_burst){solo->iteration_s, solo->link_bytes / solo->line_bps, s->shift_s};
}

/* Of the traffic that a job's neighbours on a link have alone, the part that meets its bursts. */
static double met_on_link(const dls_world *w, const dls_net *net, int32_t link, int32_t me)
{
    const int32_t *slots = w->component.slot;
    const dls_burst mine = burst_of(w, slots[me]);
    double met = 0, all = 0;
    for (int32_t i = net->link_first[link]; i < net->link_first[link + 1]; i++) {
        const int32_t k = net->flows_of[i];
        if (k != me) {
            const dls_burst other = burst_of(w, slots[k]);
            const double used = net->flow[k].curve->bytes / other.period_s;
            met += used * dls_interleave(&mine, &other);
            all += used;
        }
    }
    return all > 0 ? met / all : 0;
}

/* For each shifted job, on the link where it meets most. */
static void interleave(const dls_world *w, dls_net *net)
{
    for (int32_t j = 0; j < net->n_flows; j++) {
        if (!isnan(w->slot[w->component.slot[j]].shift_s)) {
            double most = 0;
            for (int32_t i = net->flow_first[j]; i < net->flow_first[j + 1]; i++) {
                most = fmax(most, met_on_link(w, net, net->links_of[i], j));
            }
            net->flow[j].overlap = most;
            for (int32_t i = net->flow_first[j]; i < net->flow_first[j + 1]; i++) {
                net->first_level[net->links_of[i]] = (double)NAN; /* depends on other links, too */
            }
        }
    }
}

static dls_status solve(dls_world *w, dls_error *err)
{
    struct dls_component *k = &w->component;
    dls_net net;
    sort(k->slot, k->n_slots, w->slot);
    sort(k->link, k->n_links, NULL);
    DLS_TRY(make_net(w, &net, err));
    interleave(w, &net);
    dls_shares_solve(&net);
    w->cost.links += net.solved;
    for (size_t l = 0; l < k->n_links; l++) {
        w->link[k->link[l]].level = net.first_level[l];
    }
    for (size_t j = 0; j < k->n_slots; j++) {
        DLS_TRY(assign(w, k->slot[j], k->flow[j].x, err));
    }
    return DLS_OK;
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

static dls_status settle_with(dls_world *w, int32_t slot, dls_error *err)
{
    const dls_slot *s = &w->slot[slot];
    DLS_TRY(explore(w, slot, err));
    w->cost.jobs += w->component.n_slots;
    if (w->component.n_links > 0) {
        return solve(w, err);
    }
    const dls_curve *curve = s->shape < 0 ? NULL : w->shapes.entry[s->shape].curve;
    return assign(w, slot, curve ? curve->line : 0, err);
}

dls_status dls_world_settle(dls_world *w, const dls_rate_change **changed, size_t *n,
                            dls_error *err)
{
    w->n_moved = 0;
    w->search++;
    w->cost.settles++;
    for (size_t i = 0; i < w->n_touched; i++) {
        dls_slot *s = &w->slot[w->touched[i]];
        s->touched = false;
        if (s->job >= 0 && s->stale_speed) {
            s->speed = speed_of(w, s);
            s->stale_speed = false;
            dls_world_demand_changed(w, w->touched[i]);
        }
    }
    for (size_t i = 0; i < w->n_touched; i++) {
        const dls_slot *s = &w->slot[w->touched[i]];
        if (s->job >= 0 && s->seen != w->search) {
            DLS_TRY(settle_with(w, w->touched[i], err));
        }
    }
    w->n_touched = 0;
    DLS_TRY(report(w, err));
    *changed = w->changed;
    *n = w->n_moved;
    return DLS_OK;
}
