/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the operator model does not know. A simulated measurement differs from the model by a factor
 * that is frozen for a model on a GPU with a link: the same whenever and wherever it is asked for
 * with one seed, so that what was learned from simulated measurements holds in a simulated cluster.
 */
#ifndef DLS_OPERATOR_RESIDUAL_H
#define DLS_OPERATOR_RESIDUAL_H

#include <stdint.h>

/* The operator model's mean error on judged points (docs/operator.md, `dlsim operators validate`)
 * as standard deviations of a logarithm, mean / sqrt(2 / pi): 7.8 % for the GPUs of one node, 12.5
 * % with parameter servers and 13.5 % over several nodes. */
#define DLS_RESIDUAL_NODE_SIGMA 0.10
#define DLS_RESIDUAL_NETWORK_SIGMA 0.16

/* What a real model gets wrong is alike for like jobs: a class of models on a GPU, all models on
 * it, a framework on it. Of the residual's variance `shared` (0 to 1) is drawn once for each of
 * these three, in equal parts; the rest is each (model, GPU, link)'s own. */
typedef struct dls_residual_key {
    const char *model, *gpu, *link;
    const char *family, *framework; /* of the model; of the cluster */
} dls_residual_key;
/* Log-normal with median 1, the logarithm's standard deviation sigma whatever is shared; shared 0:
 * dls_residual. */
double dls_residual_shared(uint64_t seed, const dls_residual_key *key, double sigma, double shared);

/* Log-normal with median 1. The names are those of the model zoo, gpus.cfg and links.cfg, "" for no
 * link; case does not count. sigma 0: exactly 1. */
double dls_residual(uint64_t seed, const char *model, const char *gpu, const char *link,
                    double sigma);

#endif
