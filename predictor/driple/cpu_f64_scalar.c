/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * CPU engine of predictions in float64 for any processor, the reference that the float32 engines
 * are checked against.
 */
#define REAL double
#define ENGINE_NAME dls_cpu_f64_scalar
#define ENGINE_ISA "scalar"
#include "predictor/driple/cpu_engine.inc.h"
