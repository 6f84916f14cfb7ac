/* SPDX-License-Identifier: GPL-3.0-or-later */
/* float32 on any machine. */
#define REAL float
#define ENGINE_NAME dls_cpu_f32_scalar
#define ENGINE_ISA "scalar"
#include "predictor/driple/cpu_engine.inc.h"
