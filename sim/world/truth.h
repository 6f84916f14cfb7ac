/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A truth model: the iteration time of a kind of job alone on a shape. One file under sim/world that
 * defines `const dls_truth_ops dls_truth_ops_X = {` is found by the build. The world keeps the answers,
 * multiplies them by the residual and adds contention.
 */
#ifndef DLS_WORLD_TRUTH_H
#define DLS_WORLD_TRUTH_H

#include "world/world.h"

/* Bandwidth that programs see of a network link, part of what is specified: TCP on Ethernet, as in
 * configs/hardware/links.cfg. */
#define DLS_LINK_GOODPUT 0.92

typedef struct dls_truth_ask {
    const dls_kind *kind;
    int32_t type; /* index into the types given to open */
    int32_t gpus, n_nodes;
    bool spread;     /* over more nodes than the gang needs on this type */
    double line_bps; /* goodput of the slowest link between its nodes; 0: one node, or unlimited */
    int32_t domains; /* NVLink domains of racks that they are in; 0: there are none, or one node */
    double domain_bps; /* of a node, within */
    double inner_bps; /* of that between its NVLink domains in a node; 0: it is in one */
} dls_truth_ask;

/* What is guessed in one answer. */
typedef struct dls_truth_note {
    bool unknown;  /* the model */
    bool stand_in; /* another model in its place */
    bool unmeasured, extrapolated, split_batch;
    bool each; /* no guess: jobs count the iterations of every GPU */
} dls_truth_note;

typedef struct dls_truth_ops {
    const char *name;
    const char *summary;
    bool unit_rate; /* every job runs as the trace says: nothing else is asked */
    bool durations; /* rates are against what the trace says in time: no reference is asked for */
    bool modelled;  /* computed, not measured: carries the residual */
    /* types: those of the cluster, followed by the reference GPU if it is not among them. */
    dls_status (*open)(const dls_world_params *p, const dls_gpu_type *types, int32_t n_types,
                       void **state, dls_error *err);
    void (*close)(void *state);
    /* Fill *out without residual; iteration_s follows from the rest (dls_solo). *note is zero. */
    dls_status (*solo)(void *state, const dls_truth_ask *ask, dls_solo *out, dls_truth_note *note,
                       dls_error *err);
    /* Optional: can the kind run on so many GPUs of the type at all; 0: on as few as it takes? NULL: every
     * kind on every type. */
    dls_status (*fits)(void *state, const dls_kind *kind, int32_t type, int32_t gpus, bool *fits,
                       dls_error *err);
} dls_truth_ops;

/* By name, ended by NULL. */
const dls_truth_ops *const *dls_truths(void);

/* Iteration time when each node's link gives the job x bytes per second; no network: whatever x. */
double dls_solo_time(const dls_solo *solo, double x_bps);

#endif
