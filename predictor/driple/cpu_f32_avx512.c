/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * CPU engine of predictions in float32 with AVX-512 F, DQ, VL and BW: cpu_engine.inc.h compiled for
 * that instruction set.
 */
#define ENGINE_AVX512
#define REAL float
#define ENGINE_NAME dls_cpu_f32_avx512
#define ENGINE_ISA "avx512"
#include "predictor/driple/cpu_engine.inc.h"
