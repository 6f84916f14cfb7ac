/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Inference services beside training: a load over the day, a bound on latency, and the GPUs that
 * keep it (docs/services.md).
 *
 * A service has c equal replicas, each of which answers one request at a time, in request_s.
 * Requests come at random at a rate that is constant between the steps of its day, and wait in one
 * queue. One of them waits longer than t with the probability
 *
 *      C(c, a) exp(-(c - a) t / request_s),    a = rate x request_s < c
 *      C(c, a) = B(c) / (1 - a / c (1 - B(c))),    B(0) = 1,  B(k) = a B(k - 1) / (k + a B(k - 1))
 *
 * which is Erlang's for exponential service times (M/M/c: Gross, Shortle, Thompson and Harris,
 * Fundamentals of Queueing Theory, 4th edition 2008, section 2.3): requests that all take the same
 * wait less.
 */
#ifndef DLS_CLUSTER_SERVICES_H
#define DLS_CLUSTER_SERVICES_H

#include "cluster/cluster.h"

#define DLS_SERVICES_MAX 64
#define DLS_SERVICE_STEPS 288

typedef struct dls_service {
    char name[DLS_NAME_MAX];
    int32_t type;     /* of GPUs */
    double request_s; /* that a replica takes for a request, > 0 */
    double bound_s;   /* on waiting and answering together */
    double share;     /* of the requests that are to keep it, 0..1 */
    int32_t per_gpu;  /* replicas on a piece */
    double part;      /* of a GPU that a piece is, above 0; 1: whole GPUs */
    int32_t milli;    /* thousandths of a GPU that a piece has, where GPUs are divided; else 1000 */
    int32_t pieces;   /* on a GPU */
    int64_t gpus;     /* its own, most that it ever has; 0: what the busiest step needs */
    int64_t start_us; /* from getting a GPU to serving on it */
    int32_t n_steps;  /* of a day, ascending; the last holds on until the first of the next day */
    int64_t from_us[DLS_SERVICE_STEPS];
    double rate[DLS_SERVICE_STEPS];  /* requests per second */
    int32_t need[DLS_SERVICE_STEPS]; /* pieces */
} dls_service;

typedef struct dls_services {
    dls_service *service;
    int32_t n;
    bool lend;        /* what is not needed; else each keeps all of its GPUs */
    int64_t ahead_us; /* they have from so long before on what they will need */
} dls_services;

/* Fill the steps from "HOUR=RATE; HOUR=RATE" and what follows from the members before them; `parts`
 * says how GPUs are divided (DLS_PARTS_*). Errors: ECONFIG (the text, a load of nothing, a bound
 * that no number of GPUs keeps). O(steps x replicas). */
dls_status dls_service_make(dls_service *s, const char *load, int32_t parts,
                            dls_error *err) DLS_MUST_CHECK;

/* Part of the requests that miss the bound when so many come per second. O(replicas). */
double dls_service_late(const dls_service *s, double rate, int64_t replicas);
/* Do so many pieces keep the bound at a time, of which each day begins with a whole one? */
bool dls_service_keeps(const dls_service *s, int64_t t_us, int32_t pieces);
/* Pieces, at most what its own GPUs have, that keep it from then until ahead_us later. */
int32_t dls_service_need(const dls_service *s, int64_t t_us, int64_t ahead_us);
/* The least of a day. */
int32_t dls_service_least(const dls_service *s);
/* When that may next change, > t_us; INT64_MAX: never. */
int64_t dls_service_next_us(const dls_service *s, int64_t t_us, int64_t ahead_us);

#endif
