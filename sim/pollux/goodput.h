/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Goodput as Pollux (Qiao et al., OSDI 2021, section 3) models it: examples per second times what
 * an example is worth at a batch size, and how the model is fitted to observed step times. On N
 * nodes with r replicas, m samples on each, a steps of accumulation:
 *
 *      T_acc = alpha_c + beta_c m
 *      T_net = alpha + beta max(r - 2, 1e-8)     alpha_n, beta_n on several nodes, alpha_r, beta_r on one, about 0 alone
 *      T_opt = (T_acc^gamma + T_net^gamma)^(1 / gamma)
 *      throughput = r m (a + 1) / (a T_acc + T_opt)
 */
#ifndef DLS_POLLUX_GOODPUT_H
#define DLS_POLLUX_GOODPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    DLS_ALPHA_C,
    DLS_BETA_C,
    DLS_ALPHA_N,
    DLS_BETA_N,
    DLS_ALPHA_R,
    DLS_BETA_R,
    DLS_GAMMA,
    DLS_GOODPUT_PARAMS
};

typedef struct dls_goodput_seen {
    int32_t nodes, replicas, local;
    double step, sync; /* seconds, step > sync >= 0 */
} dls_goodput_seen;

typedef struct dls_goodput_model {
    double p[DLS_GOODPUT_PARAMS];
    bool fitted;
} dls_goodput_model;

/* What the batch may be, and the latest statistics of gradients. */
typedef struct dls_goodput_job {
    int32_t least, most;          /* total batch; least: to which goodput is relative */
    int32_t local_min, local_max; /* samples on a GPU */
    double sqr, var;
    bool fixed; /* only the greatest batch */
} dls_goodput_job;

/* RMS errors of the logarithms of T_acc and T_opt plus priors; gradient[DLS_GOODPUT_PARAMS] may be
 * NULL. n >= 1. O(n). */
double dls_goodput_error(const dls_goodput_seen *seen, size_t n, const double *p, double *gradient);
/* Fit to n >= 1 distinct observations, always from the published start: there are several local
 * optima, and which one is found tells how far a model trusts what it has not seen. Allocates
 * nothing. O(n) a step, at most a few hundred steps. */
void dls_goodput_fit(dls_goodput_model *model, const dls_goodput_seen *seen, size_t n);
/* The best batch on so many replicas among 50 from the least to the greatest; 0: there is none.
 * local, accum: how it is split; they may be NULL. */
double dls_goodput_best(const dls_goodput_model *model, const dls_goodput_job *job, int32_t nodes,
                        int32_t replicas, int32_t *local, int32_t *accum);

#endif
