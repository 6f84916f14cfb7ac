/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The rules of Crux (Cao et al., "Crux: GPU-Efficient Communication Scheduling for Deep Learning
 * Training", SIGCOMM 2024) for jobs that share links:
 *
 *      intensity   I_j = W_j / t_j: floating-point operations of an iteration over the time that
 *                  its exchange takes alone on its slowest link
 *      path        jobs by falling intensity; each takes, of its equal paths, the one whose fullest
 *                  link is emptiest
 *      priority    P_j = k_j I_j, k_j from playing j against a reference, the job with most
 *                  traffic: what the GPUs do less when j is served second, over what they do less
 *                  when the reference is,
 *
 *                      P_j / P_ref = (W_j / T_j) s_j / ((W_ref / T_ref) s_ref)
 *
 *                  with s the part of its speed that a job loses when the other is served first
 *      levels      switches have few: those that lose least by being served as equals share one
 */
#ifndef DLS_PLACEMENT_CRUX_RULE_H
#define DLS_PLACEMENT_CRUX_RULE_H

#include "dlsim/random.h"

#include <stddef.h>

typedef struct dls_crux_flow {
    double work;      /* W, operations of an iteration on all its GPUs; > 0 */
    double period_s;  /* T; > 0 */
    double bytes;     /* of an iteration, over each of its links; > 0 */
    double line_bps;  /* capacity of the slowest; > 0 */
    double exposed_s; /* of T, what computing does not hide of the exchange */
} dls_crux_flow;

double dls_crux_intensity(const dls_crux_flow *f);
/* s: the part of its speed that a job loses when others that are served first use so much of its
 * slowest link on average, 0 <= bps. An exchange that computing hides is in the way only once it
 * takes longer than the iteration. */
double dls_crux_loss(const dls_crux_flow *f, double bps);
/* priority[n], on any scale. One job: 1. O(n). */
void dls_crux_priorities(const dls_crux_flow *flow, int32_t n, double *priority);
/* load[rack * paths + path]: of the links from racks to paths. The path whose fullest link to the
 * given racks is emptiest, the first of equals. O(racks x paths). */
int32_t dls_crux_path(const double *load, int32_t paths, const int32_t *rack, int32_t n_racks);
/* n jobs in the order of their priorities; harm[i * n + j], i < j: of serving the two as equals,
 * 0 if they share no link. level[n] in [0, levels): of orders that keep who shares a link in order,
 * this one and `orders` - 1 drawn ones, the cuts that leave least harm in all. scratch:
 * dls_crux_scratch(n, levels) doubles. O(orders x levels x n^2). */
size_t dls_crux_scratch(int32_t n, int32_t levels);
void dls_crux_levels(const double *harm, int32_t n, int32_t levels, int32_t orders, dls_rng *rng,
                     double *scratch, int32_t *level);

#endif
