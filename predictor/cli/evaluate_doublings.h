/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim evaluate --measured --doublings: what sources say of twice the batch.
 */
#ifndef DLS_CLI_EVALUATE_DOUBLINGS_H
#define DLS_CLI_EVALUATE_DOUBLINGS_H

#include "predictor/sources/whatif.h"

#include <json-c/json.h>

/* One line for a source: over all networks of the zoo and all GPUs of the table, how many doublings
 * of the batch on one GPU in fp32, from 1 sample to 512, it answers; of how many it says that they
 * take more than 2.1 times as long, and of how many less time. Batches that do not fit the GPU are
 * not asked about. `list`: an object goes there; NULL: to stdout. Errors: those of dls_whatif. */
dls_status dls_doublings_report(const dls_whatif_params *p, json_object *list,
                                dls_error *err) DLS_MUST_CHECK;
void dls_doublings_head(void); /* of the table */

#endif
