/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim operators profile: sample the modelled resources of a worker, print their phases, and
 * write the samples.
 */
#ifndef DLS_CLI_OPERATORS_PROFILE_H
#define DLS_CLI_OPERATORS_PROFILE_H

#include "workload/operator/series.h"

/* Print one line per resource on stdout, and the 12 metrics. path: the samples go there, too, as a
 * recording (docs/perf.md); NULL: nowhere. */
dls_status dls_operators_profile(const dls_opmodel *model, const dls_workload *w,
                                 const dls_work_setting *setting, const dls_series_options *opts,
                                 const char *path, dls_error *err) DLS_MUST_CHECK;

#endif
