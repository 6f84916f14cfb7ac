/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The programs that train a trace's models, where they are known: what a predictor is told of them
 * beyond the model's name (predictor.software, docs/predictors.md). A text of entries,
 *
 *      bert: pytorch sequence=384 backward=11,80 after=15,92; imagenet: pytorch fp16
 *
 *      pytorch            as PyTorch runs it, whatever description of its own the model has
 *      zoo=NAME           another model of the zoo
 *      image=N sequence=N pixels of an edge; tokens
 *      fp32 tf32 fp16     what it computes with
 *      backward=L,B       kernels for each parameter tensor that the training loop adds to the
 *                         backward pass, and bytes that these move for each parameter
 *      after=L,B          the same when the gradients of all GPUs are there: the host has waited for
 *                         them, and waits for what it makes of them
 *      alone=L,B          the same in place of `after` on one GPU
 */
#ifndef DLS_WORKLOAD_SOFTWARE_H
#define DLS_WORKLOAD_SOFTWARE_H

#include "workload/kinds.h"
#include "workload/operator/model.h"

/* What a training loop adds to a step. */
typedef struct dls_loop_work {
    double launches; /* for each parameter tensor */
    double bytes;    /* read and written for each parameter */
} dls_loop_work;

typedef struct dls_software {
    dls_model_names names;
    dls_numeric numeric;
    dls_loop_work backward, after, alone;
} dls_software;

/* What `text` (NULL: nothing) says of a job's model, as the trace spells it; names and numeric are
 * what holds of all else. The whole text is checked. Errors: ECONFIG. */
dls_status dls_software_of(const char *text, const char *model, const dls_model_names *names,
                           dls_numeric numeric, dls_software *out, dls_error *err) DLS_MUST_CHECK;

/* Add the backward pass's part to a step of w. */
void dls_software_add(const dls_software *s, const dls_workload *w, const dls_rates *rates,
                      dls_step *step);
/* Seconds that a step takes when its gradients are there; host may be NULL. */
double dls_software_after_s(const dls_software *s, const dls_workload *w, const dls_rates *rates,
                            const dls_host *host, bool alone);

#endif
