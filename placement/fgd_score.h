/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a node is worth to a request for GPUs or a part of one, under FGD (Weng et al., "Beware of
 * Fragmentation", ATC 2023) and the policies that it was compared with. The replay of the published
 * experiments (sim/fgd) and the placement `fgd` go by it.
 */
#ifndef DLS_PLACEMENT_FGD_SCORE_H
#define DLS_PLACEMENT_FGD_SCORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DLS_FGD_GPUS 16    /* of a node, at most */
#define DLS_FGD_MODELS 64  /* of GPUs */
#define DLS_FGD_MILLI 1000 /* a whole GPU */

/* What a pod asks for. Pods of equal requests are one kind. */
typedef struct dls_fgd_request {
    int64_t cpu_milli, mem_mib;
    int32_t gpus, gpu_milli; /* of each GPU; 1000 if gpus > 1; 0 and 0: none */
    int32_t spec;            /* text of the allowed models */
    uint64_t models;         /* a bit each, all: any */
} dls_fgd_request;

/* ---- fragmentation --------------------------------------------------------------------------- */

typedef struct dls_fgd_typical {
    dls_fgd_request request;
    double frequency;
} dls_fgd_typical;

/* A request and how many ask for it; spec: text by which equals are put in order. */
typedef struct dls_fgd_counted {
    dls_fgd_request request;
    const char *spec;
    int64_t pods;
} dls_fgd_counted;
/* Of n requests the typical ones: most frequent first, until 95 % of all are covered; frequencies
 * add up to 1. all[] is put in another order, out[n] has room. Returns how many. O(n log n). */
size_t dls_fgd_pick_typical(dls_fgd_counted *all, size_t n, dls_fgd_typical *out);

/* What a node has left. */
typedef struct dls_fgd_left {
    int64_t cpu_milli, mem_mib;
    int32_t gpus, model, pods;
    int32_t milli[DLS_FGD_GPUS];
} dls_fgd_left;

double dls_fgd_fragmentation(const dls_fgd_left *node, const dls_fgd_typical *typical, size_t n);

typedef struct dls_fgd_policy {
    const char *name, *summary;
} dls_fgd_policy;
/* The i-th, NULL past the last. */
const char *dls_fgd_policy_at(size_t i, const char **summary);

/* Score of GpuPacking for a pod on a node where it fits. */
int32_t dls_fgd_packing_score(const dls_fgd_left *node, int32_t gpus, int32_t gpu_milli);

/* What the policies know of a node beside what it has left. */
typedef struct dls_fgd_held {
    int32_t shares, gangs[DLS_FGD_GPUS + 1]; /* pods with a part of a GPU; with so many GPUs */
    double fragmentation;                    /* as it is; kept up by policies that ask for it */
} dls_fgd_held;

typedef struct dls_fgd_world {
    const dls_fgd_typical *typical;
    size_t n_typical;
    bool exact;
} dls_fgd_world;

typedef struct dls_fgd_score {
    double value; /* greatest wins */
    int32_t gpu;  /* that a part of a GPU would be taken from; -1: the tightest */
} dls_fgd_score;

typedef struct dls_fgd_scheme {
    dls_fgd_policy policy;
    bool fragmentation; /* asks for held->fragmentation */
    bool stretched;     /* scores of the nodes that fit are stretched to 0..100 */
    bool drawn;         /* a node is drawn from those that fit */
    dls_fgd_score (*score)(const dls_fgd_world *w, const dls_fgd_left *left,
                           const dls_fgd_held *held, const dls_fgd_request *r); /* NULL if drawn */
} dls_fgd_scheme;

/* NULL: there is none of that name. */
const dls_fgd_scheme *dls_fgd_find_scheme(const char *name);

bool dls_fgd_fits(const dls_fgd_left *left, const dls_fgd_request *r);
/* GPUs that a pod takes, a bit each: the lowest free ones, or the tightest that has the part. */
uint32_t dls_fgd_choose_gpus(const dls_fgd_left *left, const dls_fgd_request *r);
/* *left with the pod on these GPUs. */
void dls_fgd_take(dls_fgd_left *left, const dls_fgd_request *r, uint32_t gpus);

#endif
