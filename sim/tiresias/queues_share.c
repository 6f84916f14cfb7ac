/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * multi-dlas-gpu: every 600 s the cluster's GPUs are reserved for the job sizes by their demand.
 */
#include "tiresias/queues.h"

#include <math.h>

/* Python's x // y for doubles (x >= 0, y > 0), which corrects the rounding of the quotient. */
static double floor_divide(double x, double y)
{
    const double quotient = (x - fmod(x, y)) / y;
    const double whole = floor(quotient);
    return quotient - whole > 0.5 ? whole + 1 : whole;
}

static int64_t demand_of(const dls_tir_queues *q, int32_t c)
{
    return dls_order_sum(&q->sel.table, q->sel.waiting[c]) +
           dls_order_sum(&q->sel.table, q->sel.group[c].running);
}

/* Sizes with less demand come first, equal ones ascending; q->joins is the scratch list. */
static void sort_by_demand(const dls_tir_queues *q, int32_t *sizes, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        int32_t k = i;
        for (; k > 0 && demand_of(q, i) < demand_of(q, sizes[k - 1]); k--) {
            sizes[k] = sizes[k - 1];
        }
        sizes[k] = i;
    }
}

void dls_tir_queues_share(dls_tir_queues *q)
{
    const dls_tir *s = q->s;
    dls_tir_group *const group = q->sel.group;
    int64_t demand = 0, left = s->total_gpus;
    for (int32_t c = 0; c < s->n_sizes; c++) {
        demand += demand_of(q, c);
    }
    if (demand == 0) {
        return; /* reservations stay as they are */
    }
    for (int32_t c = 0; c < s->n_sizes; c++) {
        group[c].limit_gpus = dls_order_sum(&q->sel.table, group[c].running);
        left -= group[c].limit_gpus;
    }
    sort_by_demand(q, q->joins, s->n_sizes);
    for (int32_t i = 0; i < s->n_sizes; i++) {
        const int32_t c = q->joins[i];
        const int64_t g = s->size[c], mine = demand_of(q, c);
        const double exact = (double)mine / (double)demand;
        const double ratio = (double)dls_tir_round_scaled(exact, 100, s->p->python3) / 100;
        const int64_t share = (int64_t)floor_divide(ratio * (double)s->total_gpus, (double)g) * g;
        int64_t more = (mine < share ? mine : share) - group[c].limit_gpus;
        more = more < left ? more : left;
        more = more > 0 ? more / g * g : 0;
        group[c].limit_gpus += more;
        left -= more;
    }
    bool given = true;
    while (given) {
        given = false;
        for (int32_t c = 0; c < s->n_sizes; c++) {
            if (s->size[c] <= left && group[c].limit_gpus < demand_of(q, c)) {
                group[c].limit_gpus += s->size[c];
                left -= s->size[c];
                given = true;
            }
        }
    }
}
