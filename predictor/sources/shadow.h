/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The operator model's view of the cluster without the residual that no predictor sees: a world of
 * its own that is only asked, for the sources that predict by that model or take the exchange from
 * it.
 */
#ifndef DLS_SOURCES_SHADOW_H
#define DLS_SOURCES_SHADOW_H

#include "predictor/sources/predictions.h"

/* kinds is borrowed. */
dls_status dls_shadow_create(const dls_prediction_params *p, const dls_kinds *kinds, dls_world **out,
                             dls_error *err) DLS_MUST_CHECK;

#endif
