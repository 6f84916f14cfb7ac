/* SPDX-License-Identifier: GPL-3.0-or-later */
/* float32 with AVX2 and FMA. */
#if defined(__x86_64__)
#define ENGINE_AVX2
#define REAL float
#define ENGINE_NAME dls_step_f32_avx2
#define ENGINE_ISA "avx2"
#include "predictor/training/step.inc.h"
#endif
