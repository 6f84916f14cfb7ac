/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Exchange of gradients. Messages cost a latency and their bytes over a bandwidth.
 *
 *      ring       2 (n-1)/n bytes/B + 2 (n-1) latency     (Patarasuk and Yuan 2009)
 *
 * A fabric is what a cluster makes of this for a whole step, with constants that are fitted:
 *
 *      exchange   2 (n-1)/n bytes/B + per_tensor * tensors + per_doubling * log2 n
 *      step       T/3 + ((2T/3)^gamma + exchange^gamma)^(1/gamma) + straggle * T * (1 - 1/n)
 *
 * where T is the step of one GPU, two thirds of it the backward pass that hides the exchange:
 * fully for a large gamma, not at all for gamma = 1. Parameter servers: a worker sends its
 * gradients and fetches the weights, and the server with the most bytes serves all workers:
 *
 *      exchange   (n-1)/n (2 bytes/B + per_tensor * tensors), at least dls_ps_served_bytes / B_server
 */
#ifndef DLS_OPERATOR_COMM_H
#define DLS_OPERATOR_COMM_H

#include <stddef.h>

/* n >= 1 participants; 0 for one. Trees and hierarchies: topology.h. */
double dls_ring_s(int n, double bytes, double bps, double latency_s);

/* Bytes of the fullest of n_servers when tensors are dealt out in turn (TensorFlow's default). */
double dls_ps_hot_bytes(const double *tensor_elements, size_t n_tensors, int n_servers);

/* What passes the link of the fullest server in a step: workers on other machines send their
 * gradients and fetch the weights. Fabrics have servers on machines of their own: all workers;
 * worlds one on each node of the job, whose own workers do not use its link. */
double dls_ps_served_bytes(double workers_elsewhere, double hot_bytes);

typedef struct dls_fabric {
    double bps;            /* goodput of the slowest link in the ring, or of a worker */
    double per_tensor_s;   /* for each parameter tensor */
    double per_doubling_s; /* for each doubling of the participants */
    double gamma;          /* overlap, >= 1 */
    double straggle;       /* waiting for each other, part of a step */
    double server_bps;     /* of one parameter server; 0: never limits */
    /* Where processors compute and send, as schedule.h has it; 0 where GPUs compute. */
    double message_s; /* of a worker's processor for each tensor, half on its way out, half back */
    double byte_s;    /* of a processor for each byte that it sends or receives */
    double beside;    /* a byte of memory costs so much more where others compute, too */
    double shared;    /* 1: a worker and a server have one processor; tensors are dealt by bytes */
} dls_fabric;

double dls_fabric_allreduce_s(const dls_fabric *f, int n, double bytes, size_t n_tensors);
/* Part of the parameters that a worker sends to servers and fetches from them: its own share stays
 * with the server beside it; of one worker alone all travels to where the servers are. */
double dls_ps_remote_frac(int n_workers);
/* hot_bytes: dls_ps_hot_bytes */
double dls_fabric_ps_s(const dls_fabric *f, int n_workers, double bytes, double hot_bytes,
                       size_t n_tensors);
/* A synchronous step: step_s of one GPU, exchange_s beside its backward pass. */
double dls_fabric_step_s(const dls_fabric *f, int n, double step_s, double exchange_s);
/* Asynchronous parameter servers: the mean time between two steps of one worker. Nothing waits for
 * other workers, but the fullest server can be the bottleneck of all. */
double dls_fabric_async_s(const dls_fabric *f, int n_workers, double step_s, double bytes,
                          double hot_bytes, size_t n_tensors);

#endif
