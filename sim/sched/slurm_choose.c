/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which nodes a job gets of those that may be had, as select/cons_tres chooses them.
 */
#include "sched/slurm_plan.h"

#include <string.h>

/* A run of consecutive nodes that have room for a job. */
typedef struct block {
    int32_t first, nodes;
    int64_t cpus;
} block;

/* The next block behind *node; false: there is none. */
static bool next_block(const dls_slurm_plan *p, const dls_slurm_room *room, int32_t *node, block *out)
{
    *out = (block){-1, 0, 0};
    for (int32_t w = *node / 64; w < p->words; w++) {
        uint64_t bits = p->usable[w] & ~p->chosen[w];
        bits &= w == *node / 64 ? UINT64_MAX << *node % 64 : UINT64_MAX;
        for (; bits; bits &= bits - 1) {
            const int32_t n = 64 * w + __builtin_ctzll(bits);
            if (out->nodes > 0 && n != *node) {
                return true;
            }
            out->first = out->nodes == 0 ? n : out->first;
            out->nodes++;
            out->cpus += room[n].cpus;
            *node = n + 1;
        }
    }
    return out->nodes > 0;
}

static void take(dls_slurm_plan *p, int32_t node)
{
    p->chosen[node / 64] |= UINT64_C(1) << node % 64;
}

/* A job that wants one more node takes that of a block with the fewest free processors. */
static void take_one(dls_slurm_plan *p, const dls_slurm_room *room, const block *b)
{
    int32_t best = b->first;
    for (int32_t n = b->first + 1; n < b->first + b->nodes; n++) {
        best = room[n].cpus < room[best].cpus ? n : best;
    }
    take(p, best);
}

/* All nodes of p->avail that have anything, if that is enough. */
static bool choose_any(dls_slurm_plan *p, const dls_slurm_room *room, const dls_slurm_ask *ask)
{
    int64_t gpus = 0;
    for (int32_t n = 0; n < p->n_nodes; n++) {
        if (dls_slurm_is_avail(p, n) && room[n].gpus > 0) {
            take(p, n);
            gpus += room[n].gpus;
        }
    }
    return gpus >= ask->gang;
}

bool dls_slurm_choose(dls_slurm_plan *p, const dls_slurm_room *room, const dls_slurm_ask *ask)
{
    memset(p->chosen, 0, (size_t)p->words * sizeof *p->chosen);
    if (ask->nodes == 0) {
        return choose_any(p, room, ask);
    }
    for (int32_t left = ask->nodes; left > 0;) {
        block best = {-1, 0, 0}, b;
        for (int32_t node = 0; next_block(p, room, &node, &b);) {
            const bool enough = b.nodes >= left, was = best.nodes >= left;
            if (best.nodes == 0 || (enough && (!was || b.cpus < best.cpus)) ||
                (!enough && !was && b.cpus > best.cpus)) {
                best = b;
            }
        }
        if (best.nodes == 0) {
            return false;
        }
        if (left == 1) {
            take_one(p, room, &best);
            return true;
        }
        for (int32_t n = best.first; n < best.first + best.nodes && left > 0; n++, left--) {
            take(p, n);
        }
    }
    return true;
}
