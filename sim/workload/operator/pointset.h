/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The measured points with their networks built and their GPUs found, and what a model says of
 * each.
 */
#ifndef DLS_OPERATOR_POINTSET_H
#define DLS_OPERATOR_POINTSET_H

#include "workload/operator/model.h"
#include "workload/operator/points.h"

typedef struct dls_pointset {
    dls_point *point; /* owned: dls_point_read_all */
    size_t n;
    dls_workload *net; /* owned: those that occur */
    size_t n_nets;
    const dls_workload **of; /* owned array: the network of each point */
    const dls_hw_gpu **gpu;  /* owned array, rows of hw */
    const dls_hardware *hw;  /* borrowed */
    bool buckets;            /* all-reduce message by message (schedule.h); else by the formula */
} dls_pointset;

/* hw is borrowed and must outlive the set. Errors: EINPUT (a GPU the tables lack; those of
 * points.h), ENOMEM. */
dls_status dls_pointset_create(const dls_hardware *hw, dls_pointset *set,
                               dls_error *err) DLS_MUST_CHECK;
void dls_pointset_fini(dls_pointset *set); /* NULL-safe */

/* Rows of the constants that a point needs: "" for no host. Returns buf. */
const char *dls_point_host(const dls_point *p, char *buf, size_t size);
const char *dls_point_fabric(const dls_point *p);

/* The step of one GPU in a job of n: predicted. */
double dls_point_one_s(const dls_pointset *set, size_t i, const dls_opmodel *model);
/* The same as measured on one GPU, 0 if no point tells. */
double dls_point_measured_one_s(const dls_pointset *set, size_t i);
/* The point itself; one_s: the step of one GPU. NAN: in buckets, and there is no memory for them.
 */
double dls_point_step_s(const dls_pointset *set, size_t i, const dls_opmodel *model, double one_s);

#endif
