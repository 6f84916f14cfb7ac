/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Training step in float32 with AVX2 and FMA: step.inc.h compiled for that instruction set.
 */
#define ENGINE_AVX2
#define REAL float
#define ENGINE_NAME dls_step_f32_avx2
#define ENGINE_ISA "avx2"
#include "predictor/training/step.inc.h"
