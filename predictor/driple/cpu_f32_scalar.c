/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * CPU engine of predictions in float32 for any processor: cpu_engine.inc.h without vector
 * instructions.
 */
#define REAL float
#define ENGINE_NAME dls_cpu_f32_scalar
#define ENGINE_ISA "scalar"
#include "predictor/driple/cpu_engine.inc.h"
