/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Training step in float64 for any processor, the reference that gradients are checked against.
 */
#define REAL double
#define ENGINE_NAME dls_step_f64_scalar
#define ENGINE_ISA "scalar"
#include "predictor/training/step.inc.h"
