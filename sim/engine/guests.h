/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Sharing of GPUs: who is whose guest (guests.c). Without sharing the functions do nothing.
 */
#ifndef DLS_ENGINE_GUESTS_H
#define DLS_ENGINE_GUESTS_H

#include "base/bitmap.h"
#include "dlsim/policy.h"

typedef struct dls_guest {
    int32_t host;         /* whose GPUs it shares, DLS_NONE */
    int32_t guest;        /* the first that shares its GPUs, in order of joining; DLS_NONE */
    int32_t next;         /* of the guests of one host */
    int32_t older, newer; /* in a list of hosts */
    uint64_t offer;       /* number of its last offer to be a host */
    uint64_t seen; /* while waiting: it has been asked about with the hosts up to this offer */
    bool offered;
} dls_guest;

enum { DLS_GUEST_HEADS = 4 }; /* of a class that wait and are asked for in a pass, beside those that were refused */

typedef struct dls_guests {
    bool on;
    dls_guest *job;  /* [n]; NULL: without sharing of GPUs */
    bool asks;       /* the placement says who shares, else the scheduler does */
    int32_t *newest; /* [class][type] lists of hosts without a guest */
    dls_bitmap lists; /* of those, the ones that are not empty */
    int32_t *asking; /* the jobs of a pass, in their order: scratch */
    uint64_t offers;
    int32_t n; /* guests now */
    bool news; /* a new host, or a job newly waiting, since the last pass; never without sharing */
    bool evicted; /* a guest has lost its host in this pass */
    bool left;    /* a job that may have held up others has become a guest in this pass */
} dls_guests;

#define DLS_GUEST_ARRAYS(XX)                                                                       \
    XX(guests.job, e->n, e->guests.on)                                                             \
    XX(guests.newest, e->select.n_classes * e->select.n_types, e->guests.on)                       \
    XX(guests.asking, e->select.n_classes * (DLS_PARKED_MAX + DLS_GUEST_HEADS),                    \
       e->guests.on && e->params->placement->share)

/* ---- guests.c ----------------------------------------------------------------------------------
 */

dls_status dls_guests_init(dls_engine *e, dls_error *err) DLS_MUST_CHECK;
/* A job has started: unless it is a guest it can be a host. */
void dls_guest_offer(dls_engine *e, int32_t job);
/* A job has come to wait. */
void dls_guest_wanted(dls_engine *e, int32_t job);
/* A guest has finished. */
void dls_guest_finished(dls_engine *e, int32_t guest);
/* A guest loses its share, preempted or failed, and waits. */
dls_status dls_guest_stop(dls_engine *e, int32_t guest, bool failed, dls_error *err) DLS_MUST_CHECK;
/* Account for a guest since state_since_us. */
void dls_guest_account(dls_engine *e, int32_t job);
/* A host has finished and its GPUs are free: they are its guest's. */
dls_status dls_guest_inherit(dls_engine *e, int32_t host, dls_error *err) DLS_MUST_CHECK;
/* A host is about to lose its GPUs: so does its guest. */
dls_status dls_guest_evict(dls_engine *e, int32_t host, dls_error *err) DLS_MUST_CHECK;
/* A waiting job joins a host, as the scheduler wants; the memory of the GPUs is for the caller to
 * ask. */
dls_status dls_guest_join(dls_engine *e, int32_t guest, int32_t host,
                          dls_error *err) DLS_MUST_CHECK;
/* If there is news: find hosts for waiting jobs that the pass has left without GPUs. */
dls_status dls_guest_pass(dls_engine *e, dls_error *err) DLS_MUST_CHECK;

#endif
