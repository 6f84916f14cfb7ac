/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * DLS_HOLD (base/own.h) of what the public headers hand out, which themselves include no other.
 */
#ifndef DLS_BASE_OWNERS_H
#define DLS_BASE_OWNERS_H

#include "base/own.h"
#include "dlsim/results.h"
#include "dlsim/study.h"

DLS_OWNER(dls_trace, dls_trace_destroy)
DLS_OWNER(dls_trace_builder, dls_trace_builder_destroy)
DLS_OWNER(dls_setup, dls_setup_destroy)
DLS_OWNER(dls_simulation, dls_simulation_destroy)
DLS_OWNER(dls_saved, dls_saved_close)
DLS_OWNER(dls_study, dls_study_destroy)
DLS_OWNER(dls_comparison, dls_comparison_destroy)

#endif
