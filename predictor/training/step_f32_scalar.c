/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Training step in float32 for any processor: step.inc.h without vector instructions.
 */
#define REAL float
#define ENGINE_NAME dls_step_f32_scalar
#define ENGINE_ISA "scalar"
#include "predictor/training/step.inc.h"
