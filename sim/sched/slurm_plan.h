/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What Slurm's backfill expects of the future: when running jobs give their GPUs back by their time
 * limits, and which nodes are reserved for waiting jobs of higher priority, and when.
 *
 * Formulas: Slurm 22.05, sched/backfill (_attempt_backfill, _add_reservation, _test_resv_overlap)
 * and select/cons_tres (_will_run_test), described in its guide to scheduling configuration
 * (https://slurm.schedmd.com/sched_config.html); written anew from what they do.
 */
#ifndef DLS_SCHED_SLURM_PLAN_H
#define DLS_SCHED_SLURM_PLAN_H

#include "sched/slurm_outage.h"

/* A running job, by its end as the time limit has it. */
typedef struct dls_slurm_run {
    int64_t end_us;
    int32_t job;
    int32_t first_part, n_parts; /* in parts[] */
    int64_t cpus_per_gpu;        /* 1/1000 */
    int64_t mem_per_gpu;         /* MiB */
    int64_t cpus, mem;           /* 1/1000, MiB, on each node, of one without GPUs */
    int64_t until_us;            /* when that one ends; of others DLS_NEVER: the view says it */
} dls_slurm_run;

/* From begin to end these nodes may be used. */
typedef struct dls_slurm_span {
    int64_t begin_us, end_us;
    size_t nodes; /* offset of a set in sets[] */
} dls_slurm_span;

/* What is free on a node. */
typedef struct dls_slurm_room {
    int32_t gpus;
    int64_t cpus, mem; /* 1/1000, MiB */
} dls_slurm_room;

/* The end of a part of a run on a node. */
typedef struct dls_slurm_on {
    dls_slurm_room room; /* free there when that and what ends before it has ended */
    int64_t end_us;
    int32_t run, part; /* in p->run[], p->parts[] */
} dls_slurm_on;

/* What is known of each node's future by the limits of what runs (slurm_when.c). */
typedef struct dls_slurm_when {
    int32_t most_gpus; /* of a node */
    int64_t *ready_us; /* [most_gpus + 1][nodes] from then on so many are free; INT64_MIN: now */
    int32_t *order;    /* [most_gpus + 1][nodes] nodes by that */
    int64_t *first_us; /* [nodes] scratch */
    dls_slurm_on *on;  /* by node, then by end */
    int32_t *begin;    /* [nodes + 2] in on[] */
    uint64_t *stale;   /* nodes of which that is no longer so; any_stale: there are some */
    bool any_stale;
    size_t on_cap;
} dls_slurm_when;

typedef struct dls_slurm_plan {
    int32_t n_nodes, n_types, words; /* words: of a set of nodes */
    dls_slurm_run *run;              /* by end; as of the last turn */
    dls_place_part *parts;
    size_t n_run, run_cap, n_parts, parts_cap;
    dls_slurm_span
        *span; /* in order of time, from the resolution's last multiple to the window's end */
    uint64_t *sets;
    size_t n_span, span_cap, n_sets, sets_cap; /* sets: words used */
    dls_slurm_room *room, *later;              /* [n_nodes] now; at a time in the future, scratch */
    dls_slurm_room *idle; /* [n_nodes] as the run began */
    dls_slurm_room *held; /* [n_nodes] by jobs without GPUs */
    dls_slurm_room unaccounted; /* what a node counts for where nothing is accounted; else 0 */
    const dls_slurm_outages *outages; /* borrowed */
    int64_t now_us;                   /* as the plan began */
    int64_t clock_us;                 /* that a clock shows at time 0 */
    int64_t resolution_us, window_us; /* of the table of reservations */
    uint64_t *avail, *chosen, *may;   /* may: of a job, scratch */
    uint64_t *usable;                 /* nodes of avail with room for a job that is looked at */
    uint64_t *having; /* [DLS_GPUS_PER_NODE_MAX + 2][words] nodes with so many free GPUs or more now */
    uint64_t *closed;                 /* nodes that the main scheduler gives nobody any more */
    uint64_t *of_type;                /* [types + 1][words], all nodes last */
    int32_t *with; /* [types][DLS_GPUS_PER_NODE_MAX + 2] nodes with so many free GPUs or more as the
                      plan begins */
    bool lacks;    /* services have GPUs as the plan begins, or they have failed: then */
    int32_t *able; /* as `with`, of GPUs that are free or held by jobs */
    dls_place_part *want; /* [n_nodes] */
    uint8_t *near;        /* [n_nodes] GPUs of a node that the job wanted which was last looked for there; 0: none */
    bool cpu_jobs, marks; /* there are jobs without GPUs, which go by that; some come later in this turn */
    dls_slurm_when when;
} dls_slurm_plan;

/* What a job asks for: GPUs on each of some nodes of one type, for a time. */
typedef struct dls_slurm_ask {
    int32_t type;         /* -1: any, of a job without GPUs */
    const uint64_t *only; /* a partition's nodes; NULL: all */
    int32_t nodes;        /* 0: on any that together have the gang's GPUs */
    int32_t gpus; /* free on each; of a gang that does not divide evenly what the first nodes get */
    int32_t gang;
    int64_t cpus, mem; /* 1/1000, MiB, free on each */
    int64_t limit_us;
    int32_t reservation; /* in the outages; -1: none */
} dls_slurm_ask;

/* Nodes are taken as select/cons_tres does: of the runs of consecutive nodes that have room for the
 * job the one with the fewest free processors that holds it, from its first node on (for one node:
 * that with the fewest free processors in it); if none does, the one with the most, and so on for
 * the rest. Slurm weighs a node by the GPUs that a job of GPUs finds there and takes the heaviest first: all that the
 * job may be on weigh the same. Its backfill does not begin anew with each job, so that a job without GPUs is planned by what
 * those before it left (p->near): consecutive nodes of one weight, the heaviest first. */

/* Room for the cluster, of which nobody holds anything yet; resolution_us and the like are set. Errors:
 * ENOMEM. */
dls_status dls_slurm_plan_init(dls_slurm_plan *p, const dls_view *view,
                               dls_error *err) DLS_MUST_CHECK;
/* Has the idle cluster the nodes that a job asks for, of those that are not gone for good by now? O(nodes). */
bool dls_slurm_plan_holds(const dls_slurm_plan *p, const dls_slurm_ask *ask, const dls_slurm_outages *outages,
                          int64_t now_us);
/* A plan without reservations of the cluster as it is. The plan keeps what runs from turn to turn:
 * what was started goes when it runs no more. O(running + nodes). Errors: ENOMEM. */
dls_status dls_slurm_plan_begin(dls_slurm_plan *p, const dls_view *view,
                                dls_error *err) DLS_MUST_CHECK;
/* What points to memory of `from` is copied; its outages are the caller's. Errors: ENOMEM. */
dls_status dls_slurm_plan_clone(dls_slurm_plan *p, const dls_slurm_plan *from, const dls_view *view,
                                dls_error *err) DLS_MUST_CHECK;
/* The plan keeps its memory between turns. */
void dls_slurm_plan_fini(dls_slurm_plan *p);

/* Had so few nodes the GPUs for jobs as the plan began that a job cannot start there, however many jobs end? O(1). */
static inline bool dls_slurm_plan_lacks(const dls_slurm_plan *p, const dls_slurm_ask *ask)
{
    return p->lacks && p->able[ask->type * (DLS_GPUS_PER_NODE_MAX + 2) + ask->gpus] < ask->nodes;
}
/* Had enough nodes the GPUs for a job as the plan began? No: it cannot start now. O(1). */
bool dls_slurm_plan_has_room(const dls_slurm_plan *p, const dls_slurm_ask *ask);
/* Can a job start now, reservations aside? The nodes stand in p->chosen. */
bool dls_slurm_plan_now(dls_slurm_plan *p, const dls_slurm_ask *ask);
/* The same were the running jobs `victim` gone, which give way in that order; those that are needed stand
 * first then. unreserved: without touching a reservation. Returns how many; -1: it cannot. */
int32_t dls_slurm_plan_preempt(dls_slurm_plan *p, const dls_slurm_ask *ask, bool unreserved, int32_t *victim,
                               int32_t n);
/* From now to the end of the turn no job starts `now` on these nodes. */
void dls_slurm_plan_close(dls_slurm_plan *p, const uint64_t *nodes);
/* The parts that a gang gets on p->chosen: borrowed until the next call. Returns how many. */
int32_t dls_slurm_plan_parts(dls_slurm_plan *p, const dls_slurm_ask *ask,
                             const dls_place_part **parts);

/* Can a job start now without touching a reservation? As dls_slurm_plan_start finds it. */
bool dls_slurm_plan_unreserved(dls_slurm_plan *p, const dls_view *view, const dls_slurm_ask *ask);
/* The earliest time from now on at which a job can start without touching a reservation; the nodes
 * stand in p->chosen. DLS_NEVER: not within what the plan sees, or not before now + window.
 * O(spans x (running x nodes / 64 + nodes)) at worst. */
int64_t dls_slurm_plan_start(dls_slurm_plan *p, const dls_view *view, const dls_slurm_ask *ask);
/* Backfill starts a job that was planned for now: Slurm looks once more on p->avail and begins anew there. */
void dls_slurm_plan_again(dls_slurm_plan *p, const dls_slurm_ask *ask);
/* Reserve p->chosen from then on for the job's limit, both ends cut to the table's resolution and
 * one of it at least: whole multiples of it on a clock that shows clock_us at time 0. Errors:
 * ENOMEM. */
dls_status dls_slurm_plan_reserve(dls_slurm_plan *p, int64_t start_us, int64_t limit_us,
                                  dls_error *err) DLS_MUST_CHECK;
/* A job that was started on p->chosen holds GPUs now; one without (ask->type < 0) holds its
 * processors until until_us, which is else DLS_NEVER. Errors: ENOMEM. */
dls_status dls_slurm_plan_started(dls_slurm_plan *p, const dls_view *view, int32_t job,
                                  const dls_slurm_ask *ask, int64_t until_us,
                                  dls_error *err) DLS_MUST_CHECK;

/* ---- slurm_reserve.c, for slurm_plan.c ---- */

/* Cut to whole multiples of the resolution on the clock. */
int64_t dls_slurm_plan_cut(const dls_slurm_plan *p, int64_t us);
/* A set of nodes behind the others; *at is its offset. Errors: ENOMEM. */
dls_status dls_slurm_plan_new_set(dls_slurm_plan *p, size_t *at, dls_error *err) DLS_MUST_CHECK;

/* ---- slurm_plan.c, for slurm_when.c ---- */

/* p->usable: the nodes of p->avail with room now for one of the job's parts. Returns how many. */
int32_t dls_slurm_fitting(dls_slurm_plan *p, const dls_slurm_ask *ask);

/* ---- slurm_when.c, for slurm_plan.c ---- */

/* Room for the nodes of a plan that has its own. Errors: ENOMEM. */
dls_status dls_slurm_when_init(dls_slurm_plan *p, const dls_place_index *index,
                               dls_error *err) DLS_MUST_CHECK;
void dls_slurm_when_fini(dls_slurm_when *w);
/* Room for the parts of all that runs: to be called when there are more. Errors: ENOMEM. */
dls_status dls_slurm_when_grow(dls_slurm_plan *p, dls_error *err) DLS_MUST_CHECK;
/* What is free on a node, or what runs there, is not what it was. */
void dls_slurm_when_stale(dls_slurm_plan *p, int32_t node);
/* When the job can start on p->avail: now_us, or when enough of the running jobs have ended by their limits. Ends
 * are taken together that lie within a window behind the first, which is cut to half a minute of
 * the clock; it doubles until it holds the next end each time that those before do not suffice. The
 * start is the last end taken; the nodes stand in p->chosen. DLS_NEVER, too, if it is after `until`.
 * O(nodes) where it can be seen that it is, else O(running + windows x nodes); O(running) more
 * where something has changed since. */
int64_t dls_slurm_when_starts(dls_slurm_plan *p, const dls_slurm_ask *ask, int64_t now_us, int64_t until_us);
/* A part gives back what it holds: of processors whole ones, divided by GPUs and cut to thousandths
 * before. */
static inline void dls_slurm_give_back(dls_slurm_room *room, const dls_slurm_run *r,
                                       const dls_place_part *part)
{
    room->gpus += part->gpus;
    room->cpus += part->gpus > 0 ? (r->cpus_per_gpu * part->gpus + part->gpus) / 10 * 10 : r->cpus;
    room->mem += part->gpus > 0 ? r->mem_per_gpu * part->gpus : r->mem;
}
/* Does a running job hold something on these nodes? */
static inline bool dls_slurm_touches(const dls_slurm_plan *p, const dls_slurm_run *r,
                                     const uint64_t *nodes)
{
    for (int32_t k = 0; k < r->n_parts; k++) {
        const int32_t node = p->parts[r->first_part + k].node;
        if (nodes[node / 64] >> node % 64 & 1) {
            return true;
        }
    }
    return false;
}

/* ---- slurm_choose.c, for slurm_plan.c ---- */

/* A job was looked for on p->avail, where room[] is free: p->near of those that have its GPUs, if they are enough. */
void dls_slurm_mark(dls_slurm_plan *p, const dls_slurm_room *room, const dls_slurm_ask *ask);
/* The same where Slurm begins anew: on these nodes, all where NULL, of which those without its GPUs weigh nothing. */
void dls_slurm_mark_anew(dls_slurm_plan *p, const uint64_t *nodes, const dls_slurm_room *room,
                         const dls_slurm_ask *ask);

static inline bool dls_slurm_is_avail(const dls_slurm_plan *p, int32_t node)
{
    return p->avail[node / 64] >> node % 64 & 1;
}
/* Has a node room for one of the job's parts? */
static inline bool dls_slurm_holds(const dls_slurm_room *room, const dls_slurm_ask *ask)
{
    return room->gpus >= ask->gpus && room->cpus >= ask->cpus && room->mem >= ask->mem;
}
/* Nodes of p->usable, into p->chosen; false: there are too few. Of p->avail where any nodes will do. */
bool dls_slurm_choose(dls_slurm_plan *p, const dls_slurm_room *room, const dls_slurm_ask *ask);

#endif
