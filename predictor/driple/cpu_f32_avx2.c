/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * CPU engine of predictions in float32 with AVX2 and FMA: cpu_engine.inc.h compiled for that
 * instruction set.
 */
#define ENGINE_AVX2
#define REAL float
#define ENGINE_NAME dls_cpu_f32_avx2
#define ENGINE_ISA "avx2"
#include "predictor/driple/cpu_engine.inc.h"
