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
    uint8_t near; /* as p->near, for a job without GPUs */
} block;

/* The next block behind *node; false: there is none. */
static bool next_block(const dls_slurm_plan *p, const dls_slurm_room *room, const dls_slurm_ask *ask,
                       int32_t *node, block *out)
{
    *out = (block){.first = -1};
    for (int32_t w = *node / 64; w < p->words; w++) {
        uint64_t bits = p->usable[w] & ~p->chosen[w];
        bits &= w == *node / 64 ? UINT64_MAX << *node % 64 : UINT64_MAX;
        for (; bits; bits &= bits - 1) {
            const int32_t n = 64 * w + __builtin_ctzll(bits);
            const uint8_t near = ask->type < 0 ? p->near[n] : 0;
            if (out->nodes > 0 && (n != *node || near != out->near)) {
                return true;
            }
            out->first = out->nodes == 0 ? n : out->first;
            out->near = near;
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

/* Is a block better than the best so far, of which there is one? */
static bool is_better(const block *b, const block *best, int32_t left)
{
    const bool enough = b->nodes >= left, was = best->nodes >= left;
    return b->near != best->near ? b->near > best->near
                                 : (enough && (!was || b->cpus < best->cpus)) ||
                                       (!enough && !was && b->cpus > best->cpus);
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
        block best = {.first = -1}, b;
        for (int32_t node = 0; next_block(p, room, ask, &node, &b);) {
            best = best.nodes == 0 || is_better(&b, &best, left) ? b : best;
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

/* Has a node the GPUs of a job that asks for some? */
static bool has_gpus(const dls_slurm_plan *p, const dls_slurm_room *room, const dls_slurm_ask *ask,
                     int32_t node)
{
    return ask->type >= 0 && p->of_type[ask->type * p->words + node / 64] >> node % 64 & 1 &&
           room[node].gpus >= ask->gpus;
}

void dls_slurm_mark_anew(dls_slurm_plan *p, const uint64_t *nodes, const dls_slurm_room *room,
                         const dls_slurm_ask *ask)
{
    for (int32_t n = 0; p->cpu_jobs && n < p->n_nodes; n++) {
        if (!nodes || nodes[n / 64] >> n % 64 & 1) {
            p->near[n] = has_gpus(p, room, ask, n) ? (uint8_t)ask->gpus : 0;
        }
    }
}

void dls_slurm_mark(dls_slurm_plan *p, const dls_slurm_room *room, const dls_slurm_ask *ask)
{
    int32_t n_have = 0;
    for (int32_t n = 0; n < p->n_nodes; n++) {
        n_have += dls_slurm_is_avail(p, n) && has_gpus(p, room, ask, n);
    }
    for (int32_t n = 0; n < p->n_nodes && n_have >= ask->nodes; n++) {
        if (dls_slurm_is_avail(p, n) && has_gpus(p, room, ask, n)) {
            p->near[n] = (uint8_t)ask->gpus;
        }
    }
}
