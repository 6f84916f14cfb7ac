/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What fails in a cluster, and when: at random, or as a file says.
 */
#ifndef DLS_CLUSTER_FAILURES_H
#define DLS_CLUSTER_FAILURES_H

#include "dlsim/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* At random. Each node and each GPU fails on its own: it works for a time that is Weibull
 * distributed with the given mean and shape, is repaired for an exponential time, and so on. */
typedef struct dls_failure_params {
    double node_mtbf_s, gpu_mtbf_s; /* mean time between failures while it works; INFINITY: never */
    double shape;                   /* 1: exponential */
    double repair_s;                /* mean time to repair */
    double rack_mtbf_s;             /* all nodes of a rack at once */
    double job_mtbf_s; /* of a running job on job_nodes nodes or more, beside its GPUs and nodes;
                          on fewer it fails in proportion less often; exponential */
    int64_t job_nodes;
    double lemons, lemon_factor; /* part of the nodes that fail so many times as often */
    int64_t replace_after; /* failures after which a lemon is replaced by a sound node; 0: never */
    double drains;         /* part of the failures of nodes that are seen before: the node drains */
    int64_t spares;        /* nodes, the last of the cluster, that stand by for nodes that fail */
} dls_failure_params;

/* Rates as published, by name (docs/failures.md). A member of 0 is not said. */
typedef struct dls_failure_preset {
    const char *name;
    double node_mtbf_s, gpu_mtbf_s, job_mtbf_s;
    int64_t job_nodes;
} dls_failure_preset;
/* NULL: none of that name. */
const dls_failure_preset *dls_failure_preset_of(const char *name);

/* A mean time of 0 or infinity means never. */
bool dls_failure_happens(double mtbf_s);
/* Is a node a lemon to begin with? The same for the same seed. */
bool dls_failure_lemon(const dls_failure_params *p, uint64_t seed, uint64_t node);
/* Is the n-th failure of a node seen before? The same for the same seed, node and n. */
bool dls_failure_is_seen(const dls_failure_params *p, uint64_t seed, uint64_t node, uint32_t n);
/* Microseconds, >= 1, until a job fails that has just started for the n-th time on so many nodes.
 */
int64_t dls_failure_job_us(const dls_failure_params *p, uint64_t seed, uint64_t component,
                           int64_t nodes, uint32_t n);

/* Microseconds, >= 1, until the n-th failure (even n: it works) or repair (odd n) of a component;
 * INT64_MAX: never. The same for the same seed, component and n. */
int64_t dls_failure_draw_us(const dls_failure_params *p, uint64_t seed, uint64_t component,
                            double mtbf_s, uint32_t n);

typedef enum dls_failure_what {
    DLS_NODE_FAILS,
    DLS_NODE_DRAINS, /* no more jobs; down when those that it has are gone */
    DLS_NODE_REPAIRED,
    DLS_LINK_SCALED /* the node's network link keeps a part of its bandwidth */
} dls_failure_what;

typedef struct dls_failure_event {
    int64_t t_us; /* since the first submission */
    int32_t node;
    dls_failure_what what;
    double part; /* 0 < part <= 1; DLS_LINK_SCALED only */
} dls_failure_event;

typedef struct dls_failure_trace {
    dls_failure_event *event; /* [n] by time, within an instant as in the file; owned */
    size_t n;
    size_t left_out; /* instances beyond the cluster's nodes, or with no node of their own */
} dls_failure_trace;

/* Read one of three formats, told apart by the first line:
 *
 *      time_s,node,event,part     ours: fail, drain, repair, link (with part); 0-based nodes, which work
 *                                 at first
 *      480000,add,node1           milliseconds; instances that come and go: an instance takes the
 *                                 lowest absent node; all nodes are absent at first
 *      2021-12-11, 11:11:30, 55   how many instances are alive: the lowest nodes; counted from the
 *                                 first line on
 *
 * Lines need not be in order of time. Errors: EINPUT (file, line), ENOMEM. O(n log n + n x nodes).
 */
dls_status dls_failure_trace_load(const char *path, int32_t n_nodes, dls_failure_trace *out,
                                  dls_error *err) DLS_MUST_CHECK;
void dls_failure_trace_fini(dls_failure_trace *trace);

#endif
