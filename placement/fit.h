/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Ways to fill a grant that several placement policies share. Each grants exactly the gang or says
 * that it cannot; what a grant holds after a failure is for dls_grant_reset. CPU and memory of the
 * request are respected.
 */
#ifndef DLS_PLACEMENT_FIT_H
#define DLS_PLACEMENT_FIT_H

#include "dlsim/policy.h"

/* The fewest nodes; among those the tightest; then few racks: see fit.c. Fails only if the
 * gang does not fit at all. The grant is empty before. O(nodes given x (GPUs of a node + log racks)); where CPU or
 * memory are short O(nodes x GPUs of a node). */
bool dls_fit_consolidated(const dls_place_index *index, const dls_request *r, dls_grant *grant);
/* The same inside one rack, greedily: the emptiest nodes, then the tightest for the remainder.
 * O(nodes of the rack x GPUs of a node). */
bool dls_fit_rack(const dls_place_index *index, const dls_request *r, int32_t rack,
                  dls_grant *grant);
/* A rack that holds the gang: of those with most nodes of f free GPUs, f = GPUs of a node ... 1, the first that
 * does, else the first of all; -1: none. O(GPUs of a node x nodes of a rack), and O(nodes) where none of these
 * does. */
int32_t dls_fit_find_rack(const dls_place_index *index, const dls_request *r);
/* Leftovers first: the nodes with the fewest free GPUs, whatever their number, so that whole nodes
 * stay whole for gangs that need them. O(nodes given x GPUs of a node). */
bool dls_fit_fragments(const dls_place_index *index, const dls_request *r, dls_grant *grant);

/* The first node >= from with exactly f free GPUs, whatever its CPU and memory; -1: none. */
int32_t dls_fit_exactly(const dls_place_index *index, const dls_request *r, int32_t f, int32_t from);
/* Any usable GPUs of nodes first..end-1, up to `left`; how many are lacking then. */
int32_t dls_fit_gather(const dls_place_index *index, const dls_request *r, dls_grant *grant, int32_t left,
                       int32_t first, int32_t end);

/* A node with room for so many GPUs more, each such node as likely as the others; -1: none. O(nodes over those with
 * room), at worst O(nodes). */
int32_t dls_fit_draw(const dls_place_index *index, const dls_request *r, const dls_grant *grant, int32_t gpus,
                     dls_rng *rng);

/* Fewest nodes of the type on which the gang fits when the cluster is empty, CPU and memory aside;
 * 0: on none. O(GPUs of a node). */
int32_t dls_fit_fewest_nodes(const dls_place_index *index, const dls_request *r);

/* Predicted remaining time on those nodes, in as few racks: what to expect of GPUs that are yet to
 * be taken from other jobs. NAN: nothing is known of the job; INFINITY: it fits on no empty
 * cluster.
 */
double dls_fit_ideal_s(const dls_place_index *index, const dls_request *r);

#endif
