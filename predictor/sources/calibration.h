/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What jobs that ran have shown: how far a source's answers were off, for jobs of the same model,
 * GPU type and spread. A later answer is scaled by it (option predictor.calibrate):
 *
 *      factor = exp(e),  e = e' + sum(r - e') / (n + 1)     from coarse to fine
 *
 * r: logarithm of observed over answered step time; the sums run over what was seen of the model,
 * of the model on the GPU type, the same with the spread, and the same with the batch; e' is the
 * estimate of the coarser level, 0 at first. One observation more of the coarser level's opinion is
 * the shrinkage.
 *
 * Jobs whose model has no name go by their user. Sums of logarithms in the order of observations:
 * the same run gives the same factors.
 */
#ifndef DLS_SOURCES_CALIBRATION_H
#define DLS_SOURCES_CALIBRATION_H

#include "base/own.h"
#include "dlsim/policy.h"
#include "workload/kinds.h"

typedef struct dls_calibration dls_calibration;

/* kinds and trace are borrowed. Errors: ENOMEM. */
dls_status dls_calibration_create(const dls_kinds *kinds, const dls_trace *trace, int32_t n_types,
                                  dls_calibration **out, dls_error *err) DLS_MUST_CHECK;
void dls_calibration_destroy(dls_calibration *c); /* NULL-safe */
DLS_OWNER(dls_calibration, dls_calibration_destroy)
/* to was created for the same jobs and cluster. */
void dls_calibration_copy(dls_calibration *to, const dls_calibration *from);

/* A job ran on a shape with steps that took `ratio` > 0 times as long as the source's answer. */
void dls_calibration_see(dls_calibration *c, int32_t job, const dls_shape *shape, double ratio);
/* What to multiply an answer with; 1 without observations of the model. */
double dls_calibration_factor(const dls_calibration *c, int32_t job, const dls_shape *shape);
/* Has anything been seen of the job's model? */
bool dls_calibration_knows(const dls_calibration *c, int32_t job);
/* Grows with every observation. */
uint64_t dls_calibration_version(const dls_calibration *c);

#endif
