/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Training step in float32 with AVX-512 F, DQ, VL and BW: step.inc.h compiled for that instruction
 * set.
 */
#define ENGINE_AVX512
#define REAL float
#define ENGINE_NAME dls_step_f32_avx512
#define ENGINE_ISA "avx512"
#include "predictor/training/step.inc.h"
