/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Placement of fractional GPUs as in the published experiments of FGD (Weng et al., "Beware of
 * Fragmentation", ATC 2023): pods come in a given order onto nodes, none leaves, and the question
 * is how much of the cluster can be given away. There is no time in it, so it is not the engine
 * (docs/schedulers-sharing.md).
 *
 *      a pod       CPU, memory, n whole GPUs or a part of one (milli), GPU models that it allows
 *      typical     the most frequent requests of a trace, that together are 95 % of it
 *      F(node)     GPU milli that a typical pod could not use, in the mean over the typical pods
 *      FGD         place where F grows least
 *
 * All quantities are whole numbers; F is a double, summed in one order. Scores are cut to whole
 * numbers as the original does, so that ties, broken by the order of the nodes, are frequent.
 */
#ifndef DLS_FGD_FGD_H
#define DLS_FGD_FGD_H

#include "base/strdict.h"
#include "placement/fgd_score.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct dls_fgd_node {
    int32_t name;
    int32_t model; /* of its GPUs */
    int64_t cpu_milli, mem_mib;
    int32_t gpus;
} dls_fgd_node;

typedef struct dls_fgd_input {
    dls_strdict names, specs, models;
    dls_fgd_node *node; /* [n_nodes] in the order of their names */
    size_t n_nodes;
    dls_fgd_request *kind; /* [n_kinds] different requests */
    size_t n_kinds;
    int32_t *pod_name, *pod_kind; /* [n_pods] in the order of the file */
    size_t n_pods, pod_cap, kind_cap, node_cap;
} dls_fgd_input;

/* Nodes: sn,cpu_milli,memory_mib,gpu,model; pods: name,cpu_milli,memory_mib,num_gpu,gpu_milli and
 * perhaps gpu_spec. Errors: EINPUT (columns, numbers out of range, a part of several GPUs), ENOMEM;
 * what was read is then freed. */
dls_status dls_fgd_load(const char *nodes, const char *pods, dls_fgd_input *out,
                        dls_error *err) DLS_MUST_CHECK;
void dls_fgd_input_fini(dls_fgd_input *in);

/* ---- fragmentation --------------------------------------------------------------------------- */

/* Most frequent first, until 95 % of the pods are covered; frequencies add up to 1. The caller
 * frees *out. O(kinds log kinds + pods). */
dls_status dls_fgd_find_typical(const dls_fgd_input *in, dls_fgd_typical **out, size_t *n,
                                dls_error *err) DLS_MUST_CHECK;

/* ---- placement -------------------------------------------------------------------------------- */

/* Where a pod went. */
typedef struct dls_fgd_place {
    int32_t node;  /* -1: it did not fit */
    uint32_t gpus; /* a bit each */
} dls_fgd_place;

/* Place pods [n] of these kinds one after the other. exact: scores of FGD are not cut. `seed` is
 * for the policy that draws. watch, if not NULL, is called after each pod, with what all nodes have
 * left. Errors: EINPUT (unknown policy), ENOMEM. O(kinds x nodes + pods x (nodes + kinds x GPUs^2 x
 * typical pods)) at worst. */
dls_status dls_fgd_run(const dls_fgd_input *in, const char *policy, bool exact, uint64_t seed,
                       const int32_t *kind, size_t n, dls_fgd_place *out,
                       void (*watch)(void *user, size_t pod), void *user,
                       dls_error *err) DLS_MUST_CHECK;

/* ---- the published experiment ---------------------------------------------------------------- */

#define DLS_FGD_PERCENT 131 /* 0 .. 130 % arrived */

/* The pods shuffled and topped up with pods drawn from them until so much of the cluster's GPU
 * milli has arrived, on nodes in random order: percent of it that is allocated by percent that has
 * arrived; of a percent that the trace does not reach, NAN. Errors as above. */
dls_status dls_fgd_experiment(const dls_fgd_input *in, const char *policy, bool exact,
                              uint64_t seed, double load, double allocated[DLS_FGD_PERCENT],
                              dls_error *err) DLS_MUST_CHECK;

#endif
