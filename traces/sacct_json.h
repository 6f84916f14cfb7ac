/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What `sacct --json` prints (data_parser and openapi/dbv0.0.38 and later).
 */
#ifndef DLS_TRACES_SACCT_JSON_H
#define DLS_TRACES_SACCT_JSON_H

#include "dlsim/trace.h"

/* The jobs that ran on GPUs, under the same rules as those of the table; steps, which stand within
 * their jobs, are not looked at. Times are seconds since 1970 UTC. Errors: EINPUT with the place,
 * ENOMEM. */
dls_status dls_sacct_read_json(const dls_trace_source *src, dls_trace_builder *b,
                               dls_error *err) DLS_MUST_CHECK;

#endif
