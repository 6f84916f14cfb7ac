/* SPDX-License-Identifier: GPL-3.0-or-later */
/* float32 on any machine. */
#define REAL float
#define ENGINE_NAME dls_step_f32_scalar
#define ENGINE_ISA "scalar"
#include "predictor/training/step.inc.h"
