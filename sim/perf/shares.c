/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "perf/shares.h"

#include <math.h>

#define PRECISE 1e-11 /* of a level, relative; rates are told in steps of 1e-6 */
#define ROUNDS_MAX 200

static double least(double a, double b)
{
    return a < b ? a : b;
}

static double greatest(double a, double b)
{
    return a > b ? a : b;
}

/* The fullest of a link's constraints when each of its jobs has min(level, what it can get). */
static double load(const dls_net *net, int32_t link, double level)
{
    const int32_t *flow = net->flows_of + net->link_first[link];
    const int32_t n = net->link_first[link + 1] - net->link_first[link];
    double sum = 0, most = 0;
    for (int32_t i = 0; i < n; i++) {
        const dls_flow *f = &net->flow[flow[i]];
        net->used[i] = dls_curve_used(f->curve, least(level, f->x), f->speed);
        sum += net->used[i];
    }
    for (int32_t i = 0; i < n; i++) {
        const dls_flow *f = &net->flow[flow[i]];
        most = greatest(most, least(level, f->x) + f->overlap * (sum - net->used[i]));
    }
    return greatest(most, sum);
}

/* The level at which the link is full; INFINITY if it never is. False position, halving the weight
 * of the end that stays (Illinois), on the side where everything still fits. */
static double full_level(const dls_net *net, int32_t link)
{
    const double capacity = net->capacity[link];
    double high = 0;
    for (int32_t i = net->link_first[link]; i < net->link_first[link + 1]; i++) {
        high = greatest(high, net->flow[net->flows_of[i]].x);
    }
    double excess = load(net, link, high) - capacity;
    if (excess <= PRECISE * capacity) {
        return (double)INFINITY;
    }
    /* An equal part for each always fits: nobody moves more than it has. */
    double low = least(high, capacity / (net->link_first[link + 1] - net->link_first[link]));
    double room = capacity - load(net, link, low);
    int side = 0;
    for (int round = 0; round < ROUNDS_MAX && high - low > PRECISE * high; round++) {
        double middle = low + (high - low) * (room / (room + excess));
        if (!(middle > low && middle < high)) {
            middle = 0.5 * (low + high);
        }
        const double over = load(net, link, middle) - capacity;
        if (over > 0) {
            high = middle;
            excess = over;
            room *= side > 0 ? 0.5 : 1;
            side = 1;
        } else {
            low = middle;
            room = -over;
            excess *= side < 0 ? 0.5 : 1;
            side = -1;
            if (room <= PRECISE * capacity) {
                break;
            }
        }
    }
    return low;
}

/* ---- a heap of links, the lowest level on top, of equals the first link -------------------------- */

static bool before(const dls_net *net, int32_t a, int32_t b)
{
    return net->level[a] < net->level[b] || (net->level[a] == net->level[b] && a < b);
}

static void sink(dls_net *net, int32_t n, int32_t at)
{
    const int32_t link = net->heap[at];
    for (int32_t child = 2 * at + 1; child < n; child = 2 * at + 1) {
        if (child + 1 < n && before(net, net->heap[child + 1], net->heap[child])) {
            child++;
        }
        if (!before(net, net->heap[child], link)) {
            break;
        }
        net->heap[at] = net->heap[child];
        at = child;
    }
    net->heap[at] = link;
}

/* Jobs of a full link stay where the level is, or where they stopped before. */
static void stop_at(dls_net *net, int32_t link, double level)
{
    for (int32_t i = net->link_first[link]; i < net->link_first[link + 1]; i++) {
        const int32_t j = net->flows_of[i];
        if (net->done[j]) {
            continue;
        }
        net->done[j] = 1;
        if (net->flow[j].x > level) {
            net->flow[j].x = level;
            for (int32_t k = net->flow_first[j]; k < net->flow_first[j + 1]; k++) {
                net->stale[net->links_of[k]] = 1;
            }
        }
    }
}

void dls_shares_solve(dls_net *net)
{
    int32_t n = net->n_links;
    memset(net->done, 0, (size_t)net->n_flows);
    net->solved = 0;
    for (int32_t l = 0; l < n; l++) {
        if (isnan(net->first_level[l])) {
            net->first_level[l] = full_level(net, l);
            net->solved++;
        }
        net->level[l] = net->first_level[l];
        net->stale[l] = 0;
        net->heap[l] = l;
    }
    for (int32_t at = n / 2; at-- > 0;) {
        sink(net, n, at);
    }
    while (n > 0 && isfinite(net->level[net->heap[0]])) {
        const int32_t link = net->heap[0];
        if (net->stale[link]) { /* its level can only have risen */
            net->stale[link] = 0;
            net->level[link] = greatest(net->level[link], full_level(net, link));
            net->solved++;
        } else {
            stop_at(net, link, net->level[link]);
            net->heap[0] = net->heap[--n];
        }
        sink(net, n, 0);
    }
}
