/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Inside the placement of fractional GPUs: how policies score a node.
 */
#ifndef DLS_FGD_CORE_H
#define DLS_FGD_CORE_H

#include "fgd/fgd.h"

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
