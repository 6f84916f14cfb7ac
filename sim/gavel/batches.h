/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Batch sizes that change while a job trains, as Shockwave's simulator has them: Accordion (Agarwal
 * et al., MLSys 2021) and gradient noise (McCandlish et al., 2018) as fixed rules by model and
 * epoch, and the profile of epochs that follows from them.
 */
#ifndef DLS_GAVEL_BATCHES_H
#define DLS_GAVEL_BATCHES_H

#include "gavel/core.h"

typedef enum dls_gv_mode { DLS_GV_STATIC, DLS_GV_ACCORDION, DLS_GV_NOISE } dls_gv_mode;
typedef enum dls_gv_wished { DLS_GV_SAME, DLS_GV_BIGGER, DLS_GV_SMALLER } dls_gv_wished;

struct dls_gv_profile {
    int32_t model; /* index of the rules' models */
    dls_gv_mode mode;
    dls_gv_wished wish;
    int32_t first, batch; /* per GPU */
    int32_t epochs;
    int32_t *epoch_batch; /* [epochs] */
    double *epoch_s;      /* [epochs] alone on v100 */
    double exclusive_s;   /* their sum */
};

/* The profile of a job of the trace: the fork runs on v100. Errors: EINPUT (a model without rules,
 * a batch that the table has no speed for), ENOMEM. */
dls_status dls_gv_profile_create(dls_gv *g, int32_t job, const char *model, int64_t batch,
                                 const char *mode, dls_error *err) DLS_MUST_CHECK;
void dls_gv_profile_destroy(dls_gv_profile *p);

/* After how many seconds of running a job is ended by force. */
int64_t dls_gv_patience_s(const dls_gv_profile *p);
/* What the job asks for, after a round; it is carried out after the next that it completes. */
void dls_gv_wish(dls_gv_job *j);
void dls_gv_rescale(dls_gv *g, int32_t job);
/* Samples of the data set. */
int32_t dls_gv_samples(const dls_gv_profile *p);
/* Steps of an epoch with a batch. */
int64_t dls_gv_epoch_steps(const dls_gv_profile *p, int32_t batch);

#endif
