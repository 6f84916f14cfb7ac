/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Nodes, GPUs and links that fail and are repaired (failures.c): what is down, and who holds what
 * where.
 */
#ifndef DLS_ENGINE_FAILURES_H
#define DLS_ENGINE_FAILURES_H

#include "base/evq.h"
#include "dlsim/policy.h"

typedef struct dls_link_on {
    int32_t job, next, prev; /* of the parts on the same node */
} dls_link_on;

typedef struct dls_failure_state {
    bool on;
    bool undo; /* work is lost: they are on, or preemptions lose it */
    dls_evq events;     /* slots: nodes, GPUs, the file, racks, jobs, services */
    size_t cursor;      /* next event of the file */
    int64_t origin_us;  /* time 0 of the file: the first submission */
    int32_t *first_gpu; /* [nodes + 1] number of a node's first GPU, over all nodes */
    uint32_t *draws;    /* [nodes + GPUs + 1 + racks] failures and repairs so far */
    uint8_t *node_down; /* [nodes] bits: at random, by the file, with its rack, standing by, draining */
    uint64_t *gpu_down; /* [nodes] */
    uint64_t *withheld; /* [nodes] GPUs that are taken from the index for that, or serve */
    uint64_t *kept;     /* [nodes] given back since, of nodes that drain: not withheld yet */
    int32_t *drains;    /* [nodes] those that drain, n_drains of them */
    int32_t n_drains;
    int32_t *on_node;   /* [nodes] list of the parts there, DLS_NONE */
    int32_t held_nodes; /* that have one */
    dls_link_on *link;  /* [parts] */
    size_t link_cap;
    int32_t *victims; /* scratch */
    size_t victims_cap;
    int64_t down_gpus[DLS_TYPES_MAX];
    int32_t down_nodes;                  /* whole nodes */
    int64_t standby_gpus[DLS_TYPES_MAX]; /* of down_gpus */
    int64_t spare_gpus[DLS_TYPES_MAX];   /* of the spares at first: that the cluster is to do without */
} dls_failure_state;

#define DLS_FAILURE_QUEUES(XX) XX(failures.events, dls_failure_slots(e))

#define DLS_FAILURE_ARRAYS(XX)                                                                     \
    XX(failures.first_gpu, e->index->n_nodes + 1, e->failures.on)                                  \
    XX(failures.draws, e->index->n_nodes + e->index->total_gpus + 1 + e->index->n_racks,           \
       e->failures.on)                                                                             \
    XX(failures.node_down, e->index->n_nodes, e->failures.on)                                      \
    XX(failures.gpu_down, e->index->n_nodes, e->failures.on)                                       \
    XX(failures.withheld, e->index->n_nodes, e->failures.on)                                       \
    XX(failures.kept, e->index->n_nodes, e->failures.on)                                           \
    XX(failures.drains, e->index->n_nodes, e->failures.on)                                         \
    XX(failures.on_node, e->index->n_nodes, e->failures.on)

#define DLS_FAILURE_LISTS(XX)                                                                      \
    XX(failures.link, e->failures.link_cap, e->failures.link_cap)                                  \
    XX(failures.victims, 0, e->failures.victims_cap)

/* ---- failures.c ------------------------------------------------------------------------------ */

/* Whether anything will fail. */
bool dls_failures_wanted(const dls_engine *e);
dls_status dls_failures_init(dls_engine *e, dls_error *err) DLS_MUST_CHECK;
/* Everything that fails or is repaired now. */
dls_status dls_failures_now(dls_engine *e, dls_error *err) DLS_MUST_CHECK;
/* GPUs that have just become free on a node: if it drains they are nobody's. */
void dls_drain_keep(dls_engine *e, int32_t node, uint64_t mask);
/* GPUs that nodes which drain have been given since what happens now was looked at. O(nodes that drain). */
int32_t dls_drains_kept(const dls_engine *e);
/* Those of them that are nobody's for that reason are free again: for the job that had them, in the same pass. */
void dls_drain_lend(dls_engine *e, int32_t node, uint64_t mask);
/* GPUs that work beyond what the cluster is to have, while spares stand in for nodes that drain and still have jobs. */
int64_t dls_spares_excess(const dls_engine *e, int32_t type);
/* After a pass: a node that was given GPUs in it is looked at again at once. */
dls_status dls_drains_wake(dls_engine *e, dls_error *err) DLS_MUST_CHECK;
/* Nodes of which jobs hold GPUs; of them, those of which nothing that works is free. */
void dls_failures_nodes(const dls_engine *e, int32_t *busy, int32_t *full);
/* Slots of the queue of events. */
size_t dls_failure_slots(const dls_engine *e);
/* A job has got its parts, or is about to lose them. */
dls_status dls_failures_hold(dls_engine *e, int32_t job, dls_error *err) DLS_MUST_CHECK;
/* What the pools may have of a type, after what is withheld or services have of it has changed. */
void dls_failures_divide(dls_engine *e, int32_t type);
void dls_failures_leave(dls_engine *e, int32_t job, int32_t parts);
/* A running job waits again; failed: without the work since its last checkpoint. */
dls_status dls_failures_stop(dls_engine *e, int32_t job, bool failed,
                             dls_error *err) DLS_MUST_CHECK;
/* The GPUs of a node that are down. */
uint64_t dls_failures_down(const dls_engine *e, int32_t node);
/* Make the index and the pools agree with what is down on a node or serves. */
dls_status dls_failures_withhold(dls_engine *e, int32_t node, dls_error *err) DLS_MUST_CHECK;
/* The next time at which a service looks for its GPUs; INT64_MAX: none. */
dls_status dls_failures_wake_service(dls_engine *e, int32_t service, int64_t at_us,
                                     dls_error *err) DLS_MUST_CHECK;
/* Some GPU is down and may yet be repaired. */
bool dls_failures_any_down(const dls_engine *e);

#endif
