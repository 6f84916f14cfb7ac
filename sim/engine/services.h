/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * GPUs of inference services (services.c): which are theirs, which of them serve, which are lent.
 */
#ifndef DLS_ENGINE_SERVICES_H
#define DLS_ENGINE_SERVICES_H

#include "cluster/services.h"
#include "dlsim/policy.h"

typedef struct dls_service_now {
    int32_t low, high; /* nodes among which its GPUs are */
    int32_t has;       /* pieces that it is given */
    int32_t serves;    /* of these that have served since before ready_us, when all do */
    int64_t ready_us;
    int64_t kept_us; /* time in which it has kept its bound */
    bool keeps;      /* now */
} dls_service_now;

typedef struct dls_serving {
    bool on;
    dls_service_now *at;          /* [services] */
    int8_t *owner;                /* [nodes] service that has its GPUs there, -1 */
    uint64_t *own;                /* [nodes] GPUs of services */
    uint64_t *mask;               /* [nodes] of them, those that jobs must not have now */
    uint8_t *pieces;              /* [gpus] pieces there of a service that takes parts */
    int32_t *stake;               /* [jobs] scratch: thousandths of GPUs of a service that a job holds */
    int64_t least[DLS_TYPES_MAX]; /* that services always have, in units of the selection */
    int64_t part[DLS_TYPES_MAX];  /* thousandths that services have as parts now */
    int64_t in_use;               /* GPUs withheld now */
    int64_t part_milli, lent_milli; /* sum of `part`; what jobs have of their own */
    int32_t alone;                /* GPUs of which only a service has a part */
    int32_t full_alone;           /* nodes without a free GPU, for a service's parts, and without jobs */
    int64_t since_us;             /* accounts go to here */
} dls_serving;

#define DLS_SERVING_ARRAYS(XX)                                                                     \
    XX(serving.at, e->params->services->n, e->serving.on)                                          \
    XX(serving.owner, e->index->n_nodes, e->serving.on)                                            \
    XX(serving.own, e->index->n_nodes, e->serving.on)                                              \
    XX(serving.mask, e->index->n_nodes, e->serving.on)                                             \
    XX(serving.pieces, e->index->total_gpus, e->serving.on)                                        \
    XX(serving.stake, e->n, e->serving.on)

/* Lay out their GPUs, from the last node that is no spare on, with what they need least. */
dls_status dls_services_init(dls_engine *e, dls_error *err) DLS_MUST_CHECK;
/* Something has failed, is repaired, or a load has changed: all have what they need now. */
dls_status dls_services_turn(dls_engine *e, dls_error *err) DLS_MUST_CHECK;
/* GPUs of a node fail: no service has parts of them. */
void dls_services_yield(dls_engine *e, int32_t node, uint64_t gpus);
/* Bring the accounts up to now, before anything changes. */
void dls_services_account(dls_engine *e);
/* Count what is lent, when all that happens now has. O(nodes of services). */
void dls_services_count(dls_engine *e);

#endif
