/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * CPU engine of predictions in bf16 without a matrix unit, for tests on any machine: slower than
 * float32 and never chosen but by name.
 */
#define ENGINE_TILES
#define REAL float
#define ENGINE_NAME dls_cpu_bf16_emulated
#define ENGINE_ISA "emulated"
#include "predictor/driple/cpu_engine.inc.h"
