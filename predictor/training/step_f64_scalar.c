/* SPDX-License-Identifier: GPL-3.0-or-later */
/* float64 on any machine: for checking. */
#define REAL double
#define ENGINE_NAME dls_step_f64_scalar
#define ENGINE_ISA "scalar"
#include "predictor/training/step.inc.h"
